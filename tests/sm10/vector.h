// SPDX-License-Identifier: Apache-2.0
// clang-format Language: C
// What the guest programs of these tests share: vector instructions in programs that are built without vectors.
#ifndef TESTS_SM10_VECTOR_H
#define TESTS_SM10_VECTOR_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// smt.vmadot.hp v16, v2, v8, v0, 0, i4
#define IME2_HP ".insn r 0x2b, 0, 0x68, x16, x2, x8\n"
// smt.vmadot v16, v2, v8, i8
#define IME2_DOT_I8 ".insn r 0x2b, 3, 0x71, x16, x2, x8\n"
#define WITH_V(code) ".option push\n.option arch, +v\n" code ".option pop\n"
// 2 + 100 * 7 + 1 instructions: 203 scalar, 400 vector, 100 .hp; per turn a load of 64 bytes and a store of 128.
#define HUNDRED_HP                                                   \
    "li t1, 100\n"                                                   \
    "li t2, 64\n"                                                    \
    "1: vsetvli zero, t2, e8, m1, ta, ma\n"                          \
    "vle8.v v4, (a0)\n"                                              \
    "vsetvli t0, zero, e8, m1, ta, ma\n" IME2_HP "vs1r.v v5, (a0)\n" \
    "addi t1, t1, -1\n"                                              \
    "bnez t1, 1b\n"                                                  \
    "ret\n"

static inline unsigned long vlenb(void) {
    unsigned long value;
    __asm__ volatile(WITH_V("csrr %0, vlenb\n") : "=r"(value));
    return value;
}

// 0, or -errno.
static inline int write_set_ai_thread(const char *text) {
    int fd = open("/proc/set_ai_thread", O_WRONLY), error = 0;
    if (fd < 0) {
        return -errno;
    }
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) {
        error = -errno;
    }
    close(fd);
    return error;
}

static inline int make_a100(int tid) {
    char text[16];
    snprintf(text, sizeof text, "%d\n", tid);
    return write_set_ai_thread(text);
}

#endif
