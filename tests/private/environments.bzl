# SPDX-License-Identifier: Apache-2.0
"""The environments that tests run in, most of them rows of the ISA contract. To add one, add an entry to ENVIRONMENTS."""

load("//toolchains/isa:levels.bzl", "BOARDS", "COMPILERS", "LEVELS")

def _environment(*, kind, description, level = "", vlen = 0, code = None):
    """An entry of ENVIRONMENTS.

    Args:
      kind: host (the machine that builds), emulated, or board (the real thing).
      description: for the listing.
      level: level or board of the contract whose cores these are; empty for the host.
      vlen: VLEN of the cores, if it is not the level's own.
      code: levels that C and C++ is built for here, in the order in which a test takes the first that has what it needs.

    Returns:
      A struct with these.
    """
    return struct(kind = kind, description = description, level = level, vlen = vlen, code = code or [])

# Cores like level x100's, but of a width at which it is wrong.
_OTHER_WIDTHS = {
    512: "no level's",
    1024: "level a100's, without its matrix instructions",
}

# What runs on every core of a machine with cores of several types: code without vectors.
_ON_ANY_CORE = "scalar"

def _emulated_level(level):
    row = LEVELS[level]
    width = "VLEN %d" % row.vlen if row.vlen else "no vectors"
    return _environment(kind = "emulated", level = level, code = [level], description = "emulated core of level %s (%s)" % (level, width))

def _board(kind, board, words):
    return _environment(kind = kind, level = board, code = [_ON_ANY_CORE] + BOARDS[board], description = "%s %s (cores: %s)" % (words, board, ", ".join(BOARDS[board])))

ENVIRONMENTS = {
    "host_model": _environment(kind = "host", description = "the machine that builds; IME2 by the instruction model"),
} | {
    "qemu_" + level: _emulated_level(level)
    for level in sorted(LEVELS)
} | {
    "qemu_vlen%d" % vlen: _environment(kind = "emulated", level = "x100", vlen = vlen, code = [_ON_ANY_CORE], description = "emulated core like level x100's, but of VLEN %d: %s" % (vlen, whose))
    for vlen, whose in _OTHER_WIDTHS.items()
} | {
    "qemu_" + board: _board("emulated", board, "emulated board")
    for board in sorted(BOARDS)
} | {
    board: _board("board", board, "real board")
    for board in sorted(BOARDS)
}

def what_it_has(name):
    """Words for what code and cores of an environment offer; tests ask for them by `requires`.

    Args:
      name: of the environment.

    Returns:
      For each code level (one, None, on the host) the list of words: the machine and the level's extensions.
    """
    environment = ENVIRONMENTS[name]
    if environment.kind == "host":
        return {None: ["x86_64"]}
    return {level: ["riscv64"] + LEVELS[level].extensions for level in environment.code}

def environment_tags(name, compiler = COMPILERS[0]):
    """Tags of a cell, for --test_tag_filters.

    Args:
      name: of the environment.
      compiler: of COMPILERS.

    Returns:
      The environment, its kind, its level, its VLEN (vlen256), and the compiler where it is not the usual one.
    """
    environment = ENVIRONMENTS[name]
    tags = [name, environment.kind]
    if environment.kind == "emulated":
        level = LEVELS.get(environment.level)
        vlen = environment.vlen or (level.vlen if level else None)
        tags += ([environment.level] if level else []) + (["vlen%d" % vlen] if vlen else [])
    if environment.kind == "board":
        # One board, another machine, and a result that must not be taken from a cache.
        tags += ["exclusive", "external", "requires-network"]
    return tags + ([compiler] if compiler != COMPILERS[0] else [])
