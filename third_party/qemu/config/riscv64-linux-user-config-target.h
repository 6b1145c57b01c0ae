/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target: RISC-V, 64 bit, Linux user mode. */
#define CONFIG_ARM_COMPATIBLE_SEMIHOSTING 1
#define CONFIG_I386_DIS 1
#define CONFIG_LINUX_USER 1
#define CONFIG_QEMU_INTERP_PREFIX "/usr/gnemul/qemu-riscv64"
#define CONFIG_QEMU_RTSIG_MAP NULL
#define CONFIG_RISCV_DIS 1
#define CONFIG_SEMIHOSTING 1
#define CONFIG_TCG 1
#define CONFIG_USER_ONLY 1
#define QEMU_ARCH QEMU_ARCH_RISCV
#define TARGET_BIG_ENDIAN 0
#define TARGET_LONG_BITS 64
#define TARGET_NAME "riscv64"
#define TARGET_RISCV 1
#define TARGET_RISCV64 1
