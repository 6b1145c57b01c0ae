// SPDX-License-Identifier: Apache-2.0
// Functions whose instructions can be counted by hand, called once from each of several threads.
#include "vector.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 3 };

// HUNDRED_HP
void counted(void *memory);
// clang-format off
__asm__(
    ".text\n.globl counted\n.type counted, @function\ncounted:\n" WITH_V(
    ".option norvc\n"
    HUNDRED_HP)
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
