# SPDX-License-Identifier: Apache-2.0
"""What is compiled of vLLM for riscv64: reviewed by people, held against upstream's CMake files by //third_party/vllm/tests.

Plain literals only: the test reads this file too.
"""

# Translation units of _C and the levels that have them: "all", or "rvv" for the levels with a vector unit.
KERNELS = {
    "csrc/cpu/activation.cpp": "all",
    "csrc/cpu/cpu_attn.cpp": "all",
    "csrc/cpu/cpu_fused_moe.cpp": "all",
    "csrc/cpu/cpu_isa.cpp": "all",
    "csrc/cpu/cpu_wna16.cpp": "rvv",
    "csrc/cpu/dnnl_kernels.cpp": "rvv",
    "csrc/cpu/dynamic_4bit_int_moe_cpu.cpp": "all",
    "csrc/cpu/fp8_quant.cpp": "all",
    "csrc/cpu/layernorm.cpp": "all",
    "csrc/cpu/mamba_cpu.cpp": "all",
    "csrc/cpu/mla_decode.cpp": "all",
    "csrc/cpu/pos_encoding.cpp": "all",
    "csrc/cpu/sampling_kernels.cpp": "all",
    "csrc/cpu/sgl-kernels/fla.cpp": "all",
    "csrc/cpu/sgl-kernels/gemm_int4.cpp": "all",
    "csrc/cpu/spec_decode_utils.cpp": "all",
    "csrc/cpu/utils.cpp": "all",
}

# Registers the ops; compiled once, at the scalar level.
BINDINGS = "csrc/cpu/torch_bindings.cpp"

# Units of upstream's riscv64 build that ours leaves out, with the reason.
LEFT_OUT = {
    "csrc/cpu/dnnl_helper.cpp": "needs oneDNN; vllm_patches/0102 guards its ops out",
}

# Defines of every unit of _C, as upstream's CMake sets them for riscv64...
UPSTREAM_DEFINES = [
    "Py_LIMITED_API=0x03000000",
    "TORCH_EXTENSION_NAME=_C",
    "VLLM_CPU_EXTENSION",
    "_C_EXPORTS",
]

# ...as torch's CMake package hands them to its users...
TORCH_DEFINES = [
    "USE_C10D_GLOO",
    "USE_C10D_MPI",
    "USE_DISTRIBUTED",
    "USE_RPC",
]

# ...and our own, which vllm_patches/ give their meaning.
OWN_DEFINES = [
    "VLLM_CPU_NO_ONEDNN",
]

# Of the bindings alone.
BINDINGS_DEFINES = [
    "VLLM_CPU_REGISTER_RVV_OPS",
]

# Flags of every unit of _C that upstream's CMake sets, without those of the ISA (//toolchains/isa).
UPSTREAM_FLAGS = [
    "-fPIC",
    "-fopenmp",
    "-std=gnu++20",
]

# Our own. Unique symbols cannot be made local, which levels in one library need; upstream's build type sets -O.
OWN_FLAGS = [
    "-DNDEBUG",
    "-O3",
    "-fno-gnu-unique",
]

# Libraries that upstream links _C with, and what stands in for each here.
LIBRARIES = {
    "dnnl_ext": "left out, as dnnl_helper.cpp",
    "numa": "linked",
    "torch": "bound when the library is loaded (runtime/late_binding.h)",
}

# The small extensions: file name, source and Py_LIMITED_API.
EXTENSIONS = {
    "fs_io_C": {
        "limited_api": "0x030B0000",
        "source": "csrc/fs_io.cpp",
    },
    "spinloop": {
        "limited_api": "0x030B0000",
        "source": "csrc/spinloop.cpp",
    },
}

# Peak memory of a unit's compiler in MB, where it exceeds DEFAULT_MEMORY (measured, GCC 15).
DEFAULT_MEMORY = 1500
MEMORY = {
    "csrc/cpu/cpu_attn.cpp": 2300,
    "csrc/cpu/cpu_wna16.cpp": 1700,
}
