# SPDX-License-Identifier: Apache-2.0
"""One declaration, a cell for each environment."""

load("//tests/private:cc_cell.bzl", "cc_cell_test", "unsupported_cell_test")
load("//tests/private:environments.bzl", "ENVIRONMENTS", "environment_tags", "what_it_has")
load("//tests/private:pytest_rules.bzl", "board_pytest_test", "guest_pytest_test", "host_pytest_test")
load("//toolchains/isa:levels.bzl", "BOARDS", "COMPILERS")

_UNSUPPORTED = ["@platforms//:incompatible"]

def _refuse(name, what, remedy):
    fail("matrix of '%s': %s\n  remedy: %s" % (name, what, remedy))

def _check_names(name, what, given, known):
    for entry in given:
        if entry not in known:
            _refuse(name, "%s names '%s'" % (what, entry), "choose among %s" % ", ".join(known))

def _lacks(environment, requires):
    """(level whose code has what is required, None) or (None, why there is none)."""
    offers = what_it_has(environment)
    best = None
    for code, words in offers.items():
        missing = [word for word in requires if word not in words]
        if not missing:
            return code, None
        if best == None or len(missing) < len(best):
            best = missing
    return None, "%s has no %s" % (environment, ", ".join(best))

def _plan(name, kinds, requires, environments, elsewhere, excluded):
    """What becomes of each environment: {environment: struct(code, why_not)}."""
    _check_names(name, "excluded", excluded, ENVIRONMENTS)
    _check_names(name, "environments", environments or [], ENVIRONMENTS)
    if environments != None and not elsewhere:
        _refuse(name, "environments without elsewhere", "say in `elsewhere` why the test runs nowhere else")
    if elsewhere and environments == None:
        _refuse(name, "elsewhere without environments is not used", "remove it, or name the environments")
    plan = {}
    for environment, row in ENVIRONMENTS.items():
        code, why_not = _lacks(environment, requires)
        if row.kind not in kinds:
            why_not = "is for environments of kind %s" % " or ".join(kinds)
        elif why_not and environments and environment in environments:
            _refuse(name, "%s, which it requires" % why_not, "take it out of `environments` or of `requires`")
        elif not why_not and environment in excluded:
            why_not = excluded[environment]
        elif not why_not and environments != None and environment not in environments:
            why_not = elsewhere
        if environment in excluded and why_not != excluded[environment]:
            _refuse(name, "excluded['%s'] is not used: %s" % (environment, why_not), "remove it")
        plan[environment] = struct(code = code, why_not = why_not)
    if not [cell for cell in plan.values() if not cell.why_not]:
        _refuse(name, "it runs nowhere", "see `requires`, `environments` and `excluded`")
    return plan

def _parameters(name, parameters, plan, compilers, known):
    """{(environment, compiler): its parameters}: those of its kind, its compiler and its environment. One that no cell uses is an error."""
    kinds = {row.kind: None for row in ENVIRONMENTS.values()}
    cells = [(environment, compiler) for environment, cell in plan.items() if not cell.why_not for compiler in compilers]
    _check_names(name, "parameters", parameters, kinds.keys() + compilers + ENVIRONMENTS.keys())
    for key, values in parameters.items():
        users = [cell for cell in cells if key in (cell[0], cell[1], ENVIRONMENTS[cell[0]].kind)]
        if not users:
            _refuse(name, "parameters['%s'] is not used: no cell runs there" % key, "remove it")
        _check_names(name, "parameters['%s']" % key, values, known)
        for parameter in values:
            own = [cell for cell in users if key not in ENVIRONMENTS and parameter in parameters.get(cell[0], {}) and type(values[parameter]) not in ("list", "dict")]
            if len(own) == len(users):
                _refuse(name, "parameters['%s']['%s'] is not used: every cell has its own" % (key, parameter), "remove it")
    return {
        (environment, compiler): _merge(
            _merge(parameters.get(ENVIRONMENTS[environment].kind, {}), parameters.get(compiler, {})),
            parameters.get(environment, {}),
        )
        for environment, compiler in cells
    }

def _merge(attributes, more):
    """Lists and dicts are added to, everything else is replaced."""
    merged = dict(attributes)
    for name, value in more.items():
        if name in merged and type(value) in ("list", "dict") and type(value) == type(merged[name]):
            merged[name] = merged[name] + value if type(value) == "list" else merged[name] | value
        else:
            merged[name] = value
    return merged

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
            attributes = _merge(tested_by, parameters[environment, compiler])
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
    plan = _plan(name, ["emulated", "board"], ["riscv64"] + requires, environments, elsewhere, excluded)

    def make(target, environment, _code, _compiler, values):
        row = ENVIRONMENTS[environment]
        if row.kind == "board":
            board_pytest_test(name = target, environment = environment, **values)
        else:
            guest_pytest_test(name = target, environment = environment, level = row.level, vlen = row.vlen, **(values | ({"guest": guest} if guest else {})))

    _cells(name, plan, tags, _parameters(name, parameters, plan, COMPILERS[:1], _COMMON), make, tested_by = attributes)

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
    plan = _plan(name, ["host", "emulated"], [], environments, elsewhere, excluded)

    def make(target, environment, _code, _compiler, values):
        host_pytest_test(name = target, environment = environment, **values)

    _cells(name, plan, tags, _parameters(name, parameters, plan, compilers, _COMMON + ["imports", "overlays"]), make, compilers = compilers, tested_by = attributes)

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
    _check_names(name, "compilers", compilers, COMPILERS)
    plan = _plan(name, ["host", "emulated", "board"], requires, environments, elsewhere, excluded)

    def make(cell, environment, code, compiler, values):
        kind = ENVIRONMENTS[environment].kind
        guests = {"guest": _guest_of(environment)} if kind == "emulated" else {}
        cc_cell_test(name = cell, environment = environment, target = target, code = code or "", compiler = compiler, **(values | guests))

    _cells(name, plan, tags, _parameters(name, parameters, plan, compilers, ["args", "flaky", "shard_count", "size", "tags", "timeout"]), make, compilers = compilers, tested_by = attributes)

def _guest_of(environment):
    """A board needs the emulator with IME2; for a level's core Debian's does, as programs bring their own IME2 (//ime2/emulate)."""
    return "//tests/guest:ime2_guest" if ENVIRONMENTS[environment].level in BOARDS else "//toolchains/qemu:base_guest"
