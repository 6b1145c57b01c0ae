// SPDX-License-Identifier: Apache-2.0
// Compiled at level scalar: the handler must not touch a vector register before it has read them all.
#define _GNU_SOURCE
#include "ime2/emulate/ime2_trap.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __riscv_v
#error "ime2_trap.c must be compiled without vector instructions: use level_objects(level = \"scalar\")"
#endif

static _Atomic int rounding_mode = IME2_R3;
static _Atomic uint64_t counts[IME2_FORMS];

void ime2_trap_set_rounding(ime2_rounding rounding) {
    rounding_mode = (int)rounding;
}

uint64_t ime2_trap_count(ime2_form form) {
    return counts[form];
}

static void say(const char *text) {
    /* Nothing can be done about a failing standard error here. */
    if (write(STDERR_FILENO, text, strlen(text)) < 0) {
        return;
    }
}

static void die(uint32_t word, const char *reason) {
    char hex[] = "00000000";
    for (int i = 7; i >= 0; i--, word >>= 4) {
        hex[i] = "0123456789abcdef"[word & 15];
    }
    say("illegal instruction ");
    say(hex);
    say(": ");
    say(reason);
    say("\n");
    _exit(70);
}

static void save(uint8_t *v) {
    __asm__ volatile(".option push\n\t"
                     ".option arch, +v\n\t"
                     "vs8r.v v0, (%0)\n\t"
                     "vs8r.v v8, (%1)\n\t"
                     "vs8r.v v16, (%2)\n\t"
                     "vs8r.v v24, (%3)\n\t"
                     ".option pop"
                     :
                     : "r"(v), "r"(v + 8 * IME2_VLENB), "r"(v + 16 * IME2_VLENB), "r"(v + 24 * IME2_VLENB)
                     : "memory");
}

static void restore(const uint8_t *v, uint64_t vl, uint64_t vtype) {
    __asm__ volatile(".option push\n\t"
                     ".option arch, +v\n\t"
                     "vl8re8.v v0, (%0)\n\t"
                     "vl8re8.v v8, (%1)\n\t"
                     "vl8re8.v v16, (%2)\n\t"
                     "vl8re8.v v24, (%3)\n\t"
                     "vsetvl zero, %4, %5\n\t"
                     ".option pop"
                     :
                     : "r"(v), "r"(v + 8 * IME2_VLENB), "r"(v + 16 * IME2_VLENB), "r"(v + 24 * IME2_VLENB), "r"(vl), "r"(vtype)
                     : "memory");
}

#define READ_CSR(name)                                                                                          \
    __extension__({                                                                                             \
        uint64_t value;                                                                                         \
        __asm__ volatile(".option push\n\t.option arch, +v\n\tcsrr %0, " name "\n\t.option pop" : "=r"(value)); \
        value;                                                                                                  \
    })

static void handler(int signal, siginfo_t *info, void *context) {
    static _Thread_local ime2_vregs v;
    /* Before any call: the C library's memset and memcpy use vectors. */
    const uint64_t vl = READ_CSR("vl"), vtype = READ_CSR("vtype"), vstart = READ_CSR("vstart");
    const bool wide = READ_CSR("vlenb") == IME2_VLENB;
    if (wide) {
        save(v[0]);
    }
    ucontext_t *interrupted = context;
    unsigned long *pc = &interrupted->uc_mcontext.__gregs[REG_PC];
    const int vlmul = (int)(vtype & 7);
    const ime2_state state = {
        .vl = (uint32_t)vl,
        .sew = 8u << (vtype >> 3 & 7),
        .log2_lmul = vlmul > 4 ? vlmul - 8 : vlmul,
        .vstart = (uint32_t)vstart,
        .vill = vtype >> 63 != 0,
        .strict = true,
        .rounding = (ime2_rounding)rounding_mode,
    };
    uint32_t word;
    ime2_insn insn;
    (void)info;
    memcpy(&word, (const void *)*pc, sizeof word);
    if (ime2_decode(word, &insn) == IME2_NOT_IME2) {
        struct sigaction fatal = {.sa_handler = SIG_DFL};
        sigaction(signal, &fatal, NULL);
        return; /* the instruction is executed again, with nobody to catch it */
    }
    if (!wide) {
        die(word, "IME2 needs VLEN 1024");
    }
    const ime2_reason reason = ime2_step(v, word, &state);
    if (reason != IME2_LEGAL) {
        die(word, ime2_reason_text(reason));
    }
    counts[insn.form]++;
    *pc += 4;
    restore(v[0], vl, vtype);
}

void ime2_trap_install(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    if (sigaction(SIGILL, &action, NULL) != 0) {
        say("ime2_trap_install: sigaction failed\n");
        _exit(70);
    }
}
