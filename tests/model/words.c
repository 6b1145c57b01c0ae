// SPDX-License-Identifier: Apache-2.0
#include "ime2/insn/ime2_insn.h"

__asm__(".pushsection .ime2.words, \"ax\", @progbits\n\t"
#include "tests/model/words.inc"
        ".popsection");
