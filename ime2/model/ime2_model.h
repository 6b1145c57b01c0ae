// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
// clang-format Language: C
/*
 * IME2 (xsmtvdotii) at VLEN 1024: decoding, legality and semantics of its 46 mnemonics over 32 registers of 128 bytes.
 *
 * Plain C17, no state, no allocation; needs two's complement and IEEE float and double. Link ime2_model.c, or include
 * it with IME2_API defined as `static inline`. ime2/README.md says what is confirmed and what is emulator-defined.
 */
#ifndef IME2_MODEL_H
#define IME2_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef IME2_API
#define IME2_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define IME2_VLENB 128
#define IME2_REGISTERS 32
/* Enough for the text of any instruction, with its terminator. */
#define IME2_TEXT_SIZE 64

typedef uint8_t ime2_vregs[IME2_REGISTERS][IME2_VLENB];

typedef enum {
    IME2_DOT,    /* vmadot, and vmadot1..3 when slide > 0 */
    IME2_SP,     /* vmadot*.sp */
    IME2_HP,     /* vmadot*.hp */
    IME2_FDOT,   /* vfwmadot, vfwmadot1..3 */
    IME2_PACK,   /* vpack.vv */
    IME2_UNPACK, /* vupack.vv */
    IME2_NPACK,  /* vnpack.vv, vnspack.vv when saturating */
    IME2_NPACK4, /* vnpack4.vv, vnspack4.vv when saturating */
    IME2_FORMS
} ime2_form;

/* Element type of the integer forms; the others have IME2_NO_TYPE. */
typedef enum { IME2_NO_TYPE, IME2_I4, IME2_I8 } ime2_type;

/* Where a sum is rounded; r3 is the default. */
typedef enum {
    IME2_R3, /* once, from the exact value */
    IME2_R1, /* after each step */
    IME2_R2  /* the dot product, then the fused result */
} ime2_rounding;

/* Fields that a form does not have are 0. */
typedef struct {
    ime2_form form;
    ime2_type type;
    bool a_signed, b_signed; /* integer dot products */
    bool saturate;           /* vnspack, vnspack4 */
    uint8_t slide;           /* 0..3 rows */
    uint8_t scale;           /* 0: v0, 1: v1; the .hp scales or the .sp mask */
    uint8_t imm;             /* .sp: 0..1 (i4), 0..3 (i8); .hp: 0..7; pack family: 0..3 */
    uint8_t vd, vs1, vs2;
} ime2_insn;

/* The part of a hart's state that decides about legality, and the choices where hardware is not known. */
typedef struct {
    uint32_t vl;
    uint32_t sew;      /* 8, 16, 32, 64 */
    int32_t log2_lmul; /* -3..3; only 0 (LMUL 1) is legal */
    uint32_t vstart;
    bool vill;
    bool strict; /* refuse overlaps, vl other than VLMAX and vstart other than 0 */
    ime2_rounding rounding;
} ime2_state;

typedef enum {
    IME2_LEGAL,
    IME2_NOT_IME2,        /* another opcode: not ours to judge */
    IME2_RESERVED_FUNCT7, /* neither pack family nor matrix form */
    IME2_RESERVED_TYPE,   /* DT 00 or 01 */
    IME2_RESERVED_SUB,    /* no form has this sub-opcode, b25 and type */
    IME2_RESERVED_FUNCT3,
    IME2_RESERVED_SLIDE,
    IME2_RESERVED_SEGMENT, /* .sp i4 has two mask segments */
    IME2_ODD_VD,
    IME2_ODD_VS1,
    IME2_VILL,
    IME2_LMUL,
    IME2_SEW,
    IME2_OVERLAP_VS1,
    IME2_OVERLAP_VS2,
    IME2_OVERLAP_SCALE, /* vd is the scale or mask register */
    IME2_VS1_IS_SCALE,
    IME2_VL,
    IME2_VSTART,
    IME2_BAD_FIELD, /* encoding only: a field out of range or one that the form does not have */
    IME2_REASONS
} ime2_reason;

/* One sentence for people, naming the culprit. */
IME2_API const char *ime2_reason_text(ime2_reason reason);

/* IME2_LEGAL and *out filled, or why the word is no instruction. */
IME2_API ime2_reason ime2_decode(uint32_t word, ime2_insn *out);

/* IME2_LEGAL and *word filled, or which rule the fields break. The inverse of ime2_decode. */
IME2_API ime2_reason ime2_encode(const ime2_insn *insn, uint32_t *word);

/* Assembly as GNU as and LLVM write it, e.g. "smt.vmadot.hp v16, v2, v8, v0, 0, i4". */
IME2_API void ime2_text(const ime2_insn *insn, char text[IME2_TEXT_SIZE]);

/* May a decoded instruction execute in this state? */
IME2_API ime2_reason ime2_check(const ime2_insn *insn, const ime2_state *state);

/* Executes an instruction that ime2_check accepts. Sources are read in full before vd is written. */
IME2_API void ime2_execute(ime2_vregs v, const ime2_insn *insn, const ime2_state *state);

/* Decodes, checks and executes; registers change only if the answer is IME2_LEGAL. */
IME2_API ime2_reason ime2_step(ime2_vregs v, uint32_t word, const ime2_state *state);

/* fp16: exact to double; from double with one rounding to nearest even. Every NaN becomes 0x7e00. */
IME2_API double ime2_half_to_double(uint16_t half);
IME2_API uint16_t ime2_double_to_half(double x);

#ifdef __cplusplus
}
#endif

#endif
