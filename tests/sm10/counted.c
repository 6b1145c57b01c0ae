// SPDX-License-Identifier: Apache-2.0
// Functions whose instructions can be counted by hand, called once from each of several threads.
#include "vector.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3 };

// 2 + 100 * 7 + 1 instructions; per turn one .hp, one load of 64 bytes, one store of 128 bytes.
void counted(void *memory);
// clang-format off
__asm__(
    ".text\n.globl counted\n.type counted, @function\ncounted:\n" WITH_V(
    ".option norvc\n"
    "li t1, 100\n"
    "li t2, 64\n"
    "1: vsetvli zero, t2, e8, m1, ta, ma\n"
    "vle8.v v4, (a0)\n"
    "vsetvli t0, zero, e8, m1, ta, ma\n"
    IME2_HP
    "vs1r.v v5, (a0)\n"
    "addi t1, t1, -1\n"
    "bnez t1, 1b\n"
    "ret\n")
    ".size counted, .-counted\n");
// clang-format on

static void *work(void *unused) {
    static _Thread_local char memory[1024];
    (void)unused;
    if (make_a100(0) < 0) {
        abort();
    }
    counted(memory);
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
