// SPDX-License-Identifier: Apache-2.0
// Executes random custom-1 words on random registers and holds the emulator against the instruction model: the same
// registers after it, or SIGILL exactly where the model refuses the word. Arguments: how many words, seed.
#define _GNU_SOURCE
#include "ime2/model/ime2_model.h"
#include "vector.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static sigjmp_buf after_sigill;
static uint64_t state;

static void on_sigill(int signal) {
    (void)signal;
    siglongjmp(after_sigill, 1);
}

static uint32_t next(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

// Loads all registers, sets vtype, calls code, stores all registers.
void run_word(void *code, void *registers, unsigned long vtype, unsigned long vl);
// clang-format off
__asm__(
    ".text\n.globl run_word\n.type run_word, @function\nrun_word:\n" WITH_V(
    "mv t3, ra\nmv t4, a1\nli t1, 1024\n"
    "vl8re8.v v0, (a1)\nadd a1, a1, t1\nvl8re8.v v8, (a1)\nadd a1, a1, t1\n"
    "vl8re8.v v16, (a1)\nadd a1, a1, t1\nvl8re8.v v24, (a1)\n"
    "vsetvl zero, a3, a2\n"
    "jalr a0\n"
    "vs8r.v v0, (t4)\nadd t4, t4, t1\nvs8r.v v8, (t4)\nadd t4, t4, t1\n"
    "vs8r.v v16, (t4)\nadd t4, t4, t1\nvs8r.v v24, (t4)\n"
    "jr t3\n")
    ".size run_word, .-run_word\n");
// clang-format on

static bool traps(void *code, void *registers, unsigned long vtype, unsigned long vl) {
    if (sigsetjmp(after_sigill, 1)) {
        return true;
    }
    run_word(code, registers, vtype, vl);
    return false;
}

// Mostly words that look like instructions: of a form's funct7, with even registers.
static uint32_t random_word(void) {
    static const uint8_t funct7[] = {0x21, 0x31, 0x33, 0x4f, 0x61, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6a, 0x6b, 0x6c,
                                     0x6d, 0x71, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x7d};
    uint32_t word = (next() & 0xffffff80u) | 0x2b;
    if (next() % 8) {
        word = (word & 0x01ffffffu) | (uint32_t)funct7[next() % sizeof funct7] << 25;
    }
    return next() % 4 ? word & ~(1u << 7 | 1u << 15 | 1u << 20) : word;
}

static const struct {
    unsigned long vtype, vl;
    ime2_state state;
} cases[] = {
    {0xc0, 128, {.vl = 128, .sew = 8, .strict = true}},
    {0xc8, 64, {.vl = 64, .sew = 16, .strict = true}},
    {0xd0, 32, {.vl = 32, .sew = 32, .strict = true}},
    {0xc0, 100, {.vl = 100, .sew = 8, .strict = true}},
    {0xc1, 256, {.vl = 256, .sew = 8, .log2_lmul = 1, .strict = true}},
};

int main(int argc, char **argv) {
    unsigned words = argc > 1 ? (unsigned)atoi(argv[1]) : 1000, legal = 0, refused = 0, wrong = 0;
    struct sigaction action = {.sa_handler = on_sigill};
    static ime2_vregs before, expected, got;
    uint32_t *code = mmap(NULL, words * 8, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    state = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    if (code == MAP_FAILED || make_a100(0) < 0) {
        perror("words");
        return 2;
    }
    sigaction(SIGILL, &action, NULL);
    for (unsigned i = 0; i < words; i++) {
        code[2 * i] = random_word();
        code[2 * i + 1] = 0x00008067; // ret
    }
    __builtin___clear_cache((char *)code, (char *)(code + 2 * words));
    for (unsigned i = 0; i < words; i++) {
        unsigned which = next() % 8 < 6 ? next() % 3 : next() % (sizeof cases / sizeof cases[0]);
        for (unsigned r = 0; r < sizeof before / 4; r++) {
            ((uint32_t *)before)[r] = next();
        }
        memcpy(expected, before, sizeof before);
        memcpy(got, before, sizeof before);
        ime2_reason reason = ime2_step(expected, code[2 * i], &cases[which].state);
        bool trapped = traps(&code[2 * i], got, cases[which].vtype, cases[which].vl);
        if (reason == IME2_LEGAL ? trapped || memcmp(got, expected, sizeof got) != 0 : !trapped) {
            wrong++;
            printf("wrong: 0x%08x case %u: model says %s, the emulator %s\n", code[2 * i], which, ime2_reason_text(reason), trapped ? "traps" : "executes it");
        }
        legal += reason == IME2_LEGAL;
        refused += reason != IME2_LEGAL;
    }
    printf("legal %u\nrefused %u\nwrong %u\n", legal, refused, wrong);
    return wrong != 0;
}
