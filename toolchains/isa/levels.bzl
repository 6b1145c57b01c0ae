# SPDX-License-Identifier: Apache-2.0
"""The ISA contract: one row per level, from which everything else that depends on VLEN is derived.

Compiler flags, constraint values, platforms, toolchains, QEMU's CPU strings and the documentation's table come from
LEVELS; no march string stands anywhere else. VLEN is exact and never "at least": with -mrvv-vector-bits=zvl, code is
right at one VLEN only (see //tests/toolchains for what happens elsewhere).
"""

# Extensions that a level may need beyond rv64gc, in the order in which march names them.
EXTENSIONS = ["v", "zvfh", "zfbfmin", "zvfbfmin", "xsmtvdotii"]

# Extensions that GCC has no -march name for: their instructions are assembled from words.
_NOT_IN_MARCH = ["xsmtvdotii"]

def _level(*, vlen, extensions, cores):
    """One row of the contract.

    Args:
      vlen: exact VLEN in bits; None for code that uses no vectors and runs at any VLEN.
      extensions: those of EXTENSIONS that the level needs.
      cores: where the level is meant to run, for documentation.

    Returns:
      A struct with these and what follows from them.
    """
    march = "rv64gc" + ("v" if "v" in extensions else "")
    march += "".join(["_" + name for name in extensions if name not in ["v"] + _NOT_IN_MARCH])
    copts = ["-mabi=lp64d"]
    if vlen:
        march += "_zvl%db" % vlen
        copts.append("-mrvv-vector-bits=zvl")
    return struct(
        vlen = vlen,
        extensions = extensions,
        cores = cores,
        march = march,
        copts = ["-march=" + march] + copts,
    )

_RVV = ["v", "zvfh", "zfbfmin", "zvfbfmin"]

LEVELS = {
    "a100": _level(vlen = 1024, extensions = _RVV + ["xsmtvdotii"], cores = "SM10 cores 8-15"),
    "rvv128": _level(vlen = 128, extensions = _RVV, cores = "SG2044"),
    "scalar": _level(vlen = None, extensions = [], cores = "any rv64gc core"),
    "x100": _level(vlen = 256, extensions = _RVV, cores = "SM10 cores 0-7"),
}

# The first is the one that everything is built by where nothing else is said.
COMPILERS = ["gcc", "clang"]

# What every emulated core has. Ztso is off because it slows a second thread's memory accesses 6.5x; agnostic tails and
# masked-off elements are filled with ones so that code which relies on them fails.
_QEMU_BASE = ["rv64", "zba=true", "zbb=true", "zbs=true", "ztso=false"]
_QEMU_VECTOR = ["v=true", "vext_spec=v1.0", "elen=64", "zvfh=true", "zfbfmin=true", "zvfbfmin=true", "rvv_ta_all_1s=true", "rvv_ma_all_1s=true"]

def qemu_cpu(vlen, ime2 = False):
    """QEMU's -cpu value for a core of `vlen` bits; None for a core without vectors. `ime2`: for third_party/qemu, with the matrix unit."""
    if vlen == None:
        return ",".join(_QEMU_BASE + ["v=false"])
    return ",".join(_QEMU_BASE + _QEMU_VECTOR + ["vlen=%d" % vlen] + (["xsmtvdotii=true"] if ime2 else []))

def vlen_constraint(vlen):
    """Name of the constraint value in //toolchains/isa for an exact VLEN; None: code for any VLEN."""
    return "vlen_%s" % (vlen or "agnostic")

def extension_constraint(extension, present):
    """Name of the constraint value in //toolchains/isa that says whether the cores have `extension`."""
    return "%s_%s" % (extension, "present" if present else "absent")

def level_constraints(level):
    """Labels of all constraint values of a level of LEVELS, with explicit negatives."""
    row = LEVELS[level]
    return [
        "@platforms//cpu:riscv64",
        "@platforms//os:linux",
        "//toolchains/isa:" + vlen_constraint(row.vlen),
    ] + [
        "//toolchains/isa:" + extension_constraint(name, name in row.extensions)
        for name in EXTENSIONS
    ]

# Machines with cores of several levels. The first level's cores are where threads start.
BOARDS = {
    "sm10": ["x100", "a100"],
}
