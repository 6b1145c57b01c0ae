/* SPDX-License-Identifier: Apache-2.0 */
#include "ime2/insn/ime2_insn.h"

    .section .ime2.words, "ax", @progbits
#include "tests/model/words.inc"
