// SPDX-License-Identifier: Apache-2.0
// clang-format Language: C
/*
 * IME2 in user mode on an emulator that lacks it: a SIGILL handler that executes the instructions by the model.
 *
 * For tests under QEMU, which keeps v0-v31 in the registers across a signal; a Linux kernel keeps them in the signal
 * frame, so this does not work on a board. There the handler would never run.
 */
#ifndef IME2_TRAP_H
#define IME2_TRAP_H

#include <stdint.h>

#include "ime2/model/ime2_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From now on, in all threads. An instruction that is illegal in strict mode ends the program with a message. */
void ime2_trap_install(void);

void ime2_trap_set_rounding(ime2_rounding rounding);

/* Instructions executed so far, by form. */
uint64_t ime2_trap_count(ime2_form form);

#ifdef __cplusplus
}
#endif

#endif
