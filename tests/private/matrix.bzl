# SPDX-License-Identifier: Apache-2.0
"""One declaration, a cell for each environment."""

load("//tests/private:cc_cell.bzl", "cc_cell_test", "unsupported_cell_test")
load("//tests/private:environments.bzl", "ENVIRONMENTS", "environment_tags")
load("//tests/private:plan.bzl", "check_compilers", "merge", "merge_parameters", "plan_cells")
load("//tests/private:pytest_rules.bzl", "board_pytest_test", "guest_pytest_test", "host_pytest_test")
load("//toolchains/isa:levels.bzl", "BOARDS", "COMPILERS")

_UNSUPPORTED = ["@platforms//:incompatible"]

def _checked(name, answer):
    """The result of a function of plan.bzl, or the end."""
    result, problem = answer
    if problem:
        fail("matrix of '%s': %s" % (name, problem))
    return result

def _cells(name, plan, tags, parameters, make, *, compilers = COMPILERS[:1], tested_by):
    """Instantiates a target for each cell, and the test_suite `name` of those that run without a board."""
    suite = []
    for environment, cell in plan.items():
        for compiler in compilers:
            words = [name, environment] + ([compiler] if compiler != COMPILERS[0] else [])
            target = "_".join(words)
            all_tags = tags + environment_tags(environment, compiler)
            why_not = cell.why_not
            if not why_not and compiler != COMPILERS[0] and ENVIRONMENTS[environment].kind == "host":
                why_not = "there is no %s toolchain for the machine that builds" % compiler
            if why_not:
                unsupported_cell_test(
                    name = target,
                    size = "small",
                    tags = all_tags,
                    target_compatible_with = _UNSUPPORTED,
                    why_not = why_not,
                )
                continue
            suite.append(":" + target)
            attributes = merge(tested_by, parameters[environment, compiler])
            make(target, environment, cell.code, compiler, attributes | {"tags": all_tags + attributes.get("tags", [])} | _on_board(environment, attributes))
    native.test_suite(name = name, tests = suite)

def _on_board(environment, attributes):
    if ENVIRONMENTS[environment].kind != "board":
        return {}
    if "target_compatible_with" in attributes:
        fail("target_compatible_with of a cell for a board is the matrix's own\n  remedy: use `requires`")
    return {"target_compatible_with": select({
        "//tests:on_" + environment: [],
        "//conditions:default": _UNSUPPORTED,
    })}

_COMMON = ["args_for_pytest", "case_time_limit", "data", "env", "flaky", "heartbeat", "max_skipped", "shard_count", "size", "srcs", "tags", "timeout"]

def guest_pytest_matrix(name, *, requires = [], environments = None, elsewhere = "", excluded = {}, parameters = {}, tags = [], guest = None, **attributes):
    """pytest files in the emulated guest, and on a real board with --config=BOARD: `NAME_ENVIRONMENT` for each of ENVIRONMENTS, and the suite `NAME`.

    Args:
      name: of the suite, and the beginning of the cells' names.
      requires: extensions (toolchains/isa/levels.bzl) that the cores must have; where they have not, the cell is incompatible.
      environments: where it runs, if not wherever it can.
      elsewhere: why it runs nowhere else; belongs to `environments`.
      excluded: environment to the reason why it does not run there although it could.
      parameters: environment or kind (emulated, board) to attributes of these cells: lists and dicts are added, others replaced. One that no
        cell uses is an error.
      tags: of every cell, besides those that are derived from the environment.
      guest: the guest, if not the one with the wheel.
      **attributes: of guest_pytest_test.
    """
    plan = _checked(name, plan_cells(["emulated", "board"], ["riscv64"] + requires, environments, elsewhere, excluded))

    def make(target, environment, _code, _compiler, values):
        row = ENVIRONMENTS[environment]
        if row.kind == "board":
            board_pytest_test(name = target, environment = environment, **values)
        else:
            guest_pytest_test(name = target, environment = environment, level = row.level, vlen = row.vlen, **(values | ({"guest": guest} if guest else {})))

    _cells(name, plan, tags, _checked(name, merge_parameters(parameters, plan, COMPILERS[:1], _COMMON)), make, tested_by = attributes)

def host_pytest_matrix(name, *, environments = ["host_model"], elsewhere = "", excluded = {}, parameters = {}, compilers = COMPILERS[:1], tags = [], **attributes):
    """pytest files of the machine that builds, which there run the model, or drive an emulated core or board: one cell for each of ENVIRONMENTS, and the suite.

    Args:
      name: of the suite, and the beginning of the cells' names.
      environments: what they test; `parameters` say by which data and variables.
      elsewhere: why nothing else.
      excluded: environment to the reason why it does not run there although it could.
      parameters: environment, kind or compiler to attributes of these cells.
      compilers: of COMPILERS; `parameters` say what each has built.
      tags: of every cell.
      **attributes: of host_pytest_test.
    """
    plan = _checked(name, plan_cells(["host", "emulated"], [], environments, elsewhere, excluded))

    def make(target, environment, _code, _compiler, values):
        host_pytest_test(name = target, environment = environment, **values)

    _cells(name, plan, tags, _checked(name, merge_parameters(parameters, plan, compilers, _COMMON + ["imports", "overlays", "workers"])), make, compilers = compilers, tested_by = attributes)

def cc_matrix(name, *, target, requires = [], environments = None, elsewhere = "", excluded = {}, parameters = {}, compilers = COMPILERS[:1], tags = [], **attributes):
    """A cc_test or cc_binary built for and run in each of ENVIRONMENTS: `NAME_ENVIRONMENT[_clang]`, and the suite `NAME`.

    Args:
      name: of the suite, and the beginning of the cells' names.
      target: the program, as it stands: a macro that hides it would hide its copts.
      requires: words of what_it_has that its code needs: riscv64, x86_64, extensions. On a board it is built for, and started on, the first
        type of cores that has them.
      environments: where it runs, if not wherever it can.
      elsewhere: why it runs nowhere else; belongs to `environments`.
      excluded: environment to the reason why it does not run there although it could.
      parameters: environment, kind or compiler to attributes of these cells.
      compilers: of COMPILERS; all but the first stand in the cell's name.
      tags: of every cell.
      **attributes: of every test rule (size, timeout, shard_count).
    """
    _checked(name, check_compilers(compilers, COMPILERS))
    plan = _checked(name, plan_cells(["host", "emulated", "board"], requires, environments, elsewhere, excluded))

    def make(cell, environment, code, compiler, values):
        kind = ENVIRONMENTS[environment].kind
        guests = {"guest": _guest_of(environment)} if kind == "emulated" else {}
        cc_cell_test(name = cell, environment = environment, target = target, code = code or "", compiler = compiler, **(values | guests))

    _cells(name, plan, tags, _checked(name, merge_parameters(parameters, plan, compilers, ["args", "flaky", "shard_count", "size", "tags", "timeout"])), make, compilers = compilers, tested_by = attributes)

def _guest_of(environment):
    """A board needs the emulator with IME2; for a level's core Debian's does, as programs bring their own IME2 (//ime2/emulate)."""
    return "//tests/guest:ime2_guest" if ENVIRONMENTS[environment].level in BOARDS else "//toolchains/qemu:base_guest"
