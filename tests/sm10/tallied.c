// SPDX-License-Identifier: Apache-2.0
// Prints the emulator's totals before and after functions whose instructions can be counted by hand.
#include "vector.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

void nothing(void *memory);
// HUNDRED_HP
void matrix(void *memory);
// 1 + 50 * 3 + 1 instructions: 50 pauses and 102 others.
void pauses(void *memory);
// clang-format off
__asm__(
    ".text\n.globl nothing, matrix, pauses\n"
    "nothing: ret\n"
    "matrix:\n" WITH_V(
    HUNDRED_HP)
    "pauses:\n"
    "li t1, 50\n"
    "1: .word 0x0100000f\n"
    "addi t1, t1, -1\n"
    "bnez t1, 1b\n"
    "ret\n");
// clang-format on

static void (*const functions[])(void *) = {nothing, nothing, nothing, matrix, pauses};
enum { READINGS = sizeof functions / sizeof *functions + 1 };
static char readings[READINGS][4096];

static void take(char *reading) {
    int file = open("/proc/self/tally", O_RDONLY);
    if (file < 0) {
        perror("/proc/self/tally");
        exit(1);
    }
    if (read(file, reading, sizeof readings[0] - 1) < 0) {
        abort();
    }
    close(file);
}

// The same path for each function: what the reading itself takes is the same, too.
static void *work(void *unused) {
    static char memory[1024];
    (void)unused;
    if (make_a100(0) < 0) {
        abort();
    }
    for (int i = 0; i < READINGS; i++) {
        take(readings[i]);
        functions[i < READINGS - 1 ? i : 0](memory);
    }
    return NULL;
}

// The same on both core types.
static void *move(void *unused) {
    (void)unused;
    pauses(NULL);
    if (make_a100(0) < 0) {
        abort();
    }
    pauses(NULL);
    return NULL;
}

static void run(void *(*function)(void *), char *after) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, NULL);
    pthread_join(thread, NULL);
    take(after);
}

int main(void) {
    static char worked[4096], moved[4096];
    run(work, worked);
    run(move, moved);
    for (int i = 0; i < READINGS; i++) {
        printf("reading\n%s", readings[i]);
    }
    printf("reading\n%sreading\n%s", worked, moved);
    return 0;
}
