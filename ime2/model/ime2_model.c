// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later
#include "ime2_model.h"

#include <string.h>

/* ---- Encoding -------------------------------------------------------------------------------------------------
 *
 *   31    30:29  28:26  25    24:20  19:15  14:12  11:7  6:0
 *   b31   DT     sub    b25   vs2    vs1    f3     vd    0101011
 */

enum {
    IME2_OPCODE = 0x2b,
    IME2_F7_VNPACK4 = 0x21,
    IME2_F7_VNPACK = 0x31,
    IME2_F7_VPACK = 0x33,
    IME2_F7_VFWMADOT = 0x4f,
    IME2_F7_MATRIX = 0x40, /* b31 */
    IME2_DT_I4 = 2,
    IME2_DT_I8 = 3,
    IME2_SUB_DOT = 0,
    IME2_SUB_SLIDE = 1,
    IME2_SUB_SP = 2,
    IME2_SUB_HP_U = 3,
    IME2_SUB_HP = 4,
    IME2_SUB_HP_SU = 5,
    IME2_SUB_HP_US = 6,
};

/* f3[1:0] of the integer forms: u 0, us 1, su 2, signed x signed 3; the first letter is A's. */
static inline unsigned ime2_sign_code(const ime2_insn *insn) {
    return (insn->a_signed ? 2u : 0u) | (insn->b_signed ? 1u : 0u);
}

static inline void ime2_set_signs(ime2_insn *insn, unsigned code) {
    insn->a_signed = (code & 2) != 0;
    insn->b_signed = (code & 1) != 0;
}

/* Sub-opcodes of .hp by sign code. */
static inline unsigned ime2_hp_sub(unsigned sign_code) {
    switch (sign_code) {
    case 0: return IME2_SUB_HP_U;
    case 1: return IME2_SUB_HP_US;
    case 2: return IME2_SUB_HP_SU;
    default: return IME2_SUB_HP;
    }
}

static inline bool ime2_vd_is_pair(const ime2_insn *insn) {
    return insn->form == IME2_DOT || insn->form == IME2_SP || insn->form == IME2_FDOT || insn->form == IME2_PACK || insn->form == IME2_UNPACK;
}

static inline bool ime2_vs1_is_pair(const ime2_insn *insn) {
    return insn->form == IME2_SP || insn->slide > 0;
}

static inline bool ime2_has_scale(const ime2_insn *insn) {
    return insn->form == IME2_SP || insn->form == IME2_HP;
}

static inline ime2_reason ime2_check_parity(const ime2_insn *insn) {
    if (ime2_vd_is_pair(insn) && insn->vd % 2 != 0) {
        return IME2_ODD_VD;
    }
    if (ime2_vs1_is_pair(insn) && insn->vs1 % 2 != 0) {
        return IME2_ODD_VS1;
    }
    return IME2_LEGAL;
}

static inline ime2_reason ime2_decode_pack(unsigned f7, unsigned f3, ime2_insn *out) {
    out->imm = (uint8_t)(f3 & 3);
    if (f7 == IME2_F7_VPACK) {
        out->form = f3 & 4 ? IME2_UNPACK : IME2_PACK;
    } else {
        out->form = f7 == IME2_F7_VNPACK ? IME2_NPACK : IME2_NPACK4;
        out->saturate = (f3 & 4) != 0;
    }
    return IME2_LEGAL;
}

/* b31 = 1: the matrix forms. bit15 and bit7 are where .sp and the slides keep immediates. */
static inline ime2_reason ime2_decode_matrix(unsigned f7, unsigned f3, unsigned bit15, unsigned bit7, ime2_insn *out) {
    const unsigned dt = f7 >> 4 & 3, sub = f7 >> 1 & 7, b25 = f7 & 1;
    if (dt < IME2_DT_I4) {
        return IME2_RESERVED_TYPE;
    }
    out->type = dt == IME2_DT_I4 ? IME2_I4 : IME2_I8;
    switch (sub) {
    case IME2_SUB_DOT:
        if (!b25) {
            return IME2_RESERVED_SUB;
        }
        if (f3 > 3) {
            return IME2_RESERVED_FUNCT3;
        }
        out->form = IME2_DOT;
        ime2_set_signs(out, f3);
        return IME2_LEGAL;
    case IME2_SUB_SLIDE:
        if (!b25 || out->type != IME2_I8) {
            return IME2_RESERVED_SUB;
        }
        out->form = IME2_DOT;
        out->slide = (uint8_t)(1 + 2 * bit15 + (f3 >> 2));
        if (out->slide > 3) {
            return IME2_RESERVED_SLIDE;
        }
        out->vs1 &= 0x1e;
        ime2_set_signs(out, f3 & 3);
        return IME2_LEGAL;
    case IME2_SUB_SP:
        if (f3 > 3) {
            return IME2_RESERVED_FUNCT3;
        }
        out->form = IME2_SP;
        out->scale = (uint8_t)b25;
        out->imm = (uint8_t)(2 * bit15 + bit7);
        if (out->type == IME2_I4 && out->imm > 1) {
            return IME2_RESERVED_SEGMENT;
        }
        out->vs1 &= 0x1e;
        out->vd &= 0x1e;
        ime2_set_signs(out, f3);
        return IME2_LEGAL;
    case IME2_SUB_HP_U:
    case IME2_SUB_HP:
    case IME2_SUB_HP_SU:
    case IME2_SUB_HP_US:
        out->form = IME2_HP;
        out->scale = (uint8_t)b25;
        out->imm = (uint8_t)f3;
        out->a_signed = sub == IME2_SUB_HP || sub == IME2_SUB_HP_SU;
        out->b_signed = sub == IME2_SUB_HP || sub == IME2_SUB_HP_US;
        return IME2_LEGAL;
    default: return IME2_RESERVED_SUB;
    }
}

IME2_API ime2_reason ime2_decode(uint32_t word, ime2_insn *out) {
    const unsigned f7 = word >> 25, f3 = word >> 12 & 7;
    ime2_reason reason = IME2_LEGAL;
    if ((word & 0x7f) != IME2_OPCODE) {
        return IME2_NOT_IME2;
    }
    memset(out, 0, sizeof *out);
    out->vd = (uint8_t)(word >> 7 & 31);
    out->vs1 = (uint8_t)(word >> 15 & 31);
    out->vs2 = (uint8_t)(word >> 20 & 31);
    if (f7 == IME2_F7_VFWMADOT) {
        if (f3 < 4) {
            return IME2_RESERVED_FUNCT3;
        }
        out->form = IME2_FDOT;
        out->slide = (uint8_t)(f3 - 4);
    } else if (f7 & IME2_F7_MATRIX) {
        reason = ime2_decode_matrix(f7, f3, word >> 15 & 1, word >> 7 & 1, out);
    } else if (f7 == IME2_F7_VPACK || f7 == IME2_F7_VNPACK || f7 == IME2_F7_VNPACK4) {
        reason = ime2_decode_pack(f7, f3, out);
    } else {
        reason = IME2_RESERVED_FUNCT7;
    }
    return reason != IME2_LEGAL ? reason : ime2_check_parity(out);
}

/* Largest immediate of a form. */
static inline unsigned ime2_last_imm(const ime2_insn *insn) {
    switch (insn->form) {
    case IME2_DOT:
    case IME2_FDOT: return 0;
    case IME2_HP: return 7;
    default: return 3;
    }
}

static inline bool ime2_fields_fit(const ime2_insn *insn) {
    const bool integer = insn->form == IME2_DOT || insn->form == IME2_SP || insn->form == IME2_HP;
    const bool slides = insn->form == IME2_DOT || insn->form == IME2_FDOT;
    const bool saturates = insn->form == IME2_NPACK || insn->form == IME2_NPACK4;
    return (unsigned)insn->form < IME2_FORMS && insn->vd < 32 && insn->vs1 < 32 && insn->vs2 < 32 &&
           (integer ? insn->type == IME2_I4 || insn->type == IME2_I8 : insn->type == IME2_NO_TYPE) && (integer || (!insn->a_signed && !insn->b_signed)) &&
           (saturates || !insn->saturate) && insn->slide <= (slides ? 3 : 0) && insn->scale <= (ime2_has_scale(insn) ? 1 : 0) &&
           insn->imm <= ime2_last_imm(insn);
}

IME2_API ime2_reason ime2_encode(const ime2_insn *insn, uint32_t *word) {
    unsigned f7, f3, vd = insn->vd, vs1 = insn->vs1;
    const unsigned sign = ime2_sign_code(insn);
    const unsigned matrix = IME2_F7_MATRIX | (insn->type == IME2_I4 ? IME2_DT_I4 : IME2_DT_I8) << 4;
    if (!ime2_fields_fit(insn)) {
        return IME2_BAD_FIELD;
    }
    if (insn->form == IME2_DOT && insn->slide > 0 && insn->type != IME2_I8) {
        return IME2_RESERVED_SUB;
    }
    if (insn->form == IME2_SP && insn->type == IME2_I4 && insn->imm > 1) {
        return IME2_RESERVED_SEGMENT;
    }
    const ime2_reason parity = ime2_check_parity(insn);
    if (parity != IME2_LEGAL) {
        return parity;
    }
    switch (insn->form) {
    case IME2_DOT:
        if (insn->slide == 0) {
            f7 = matrix | IME2_SUB_DOT << 1 | 1;
            f3 = sign;
        } else {
            const unsigned code = insn->slide - 1u;
            f7 = matrix | IME2_SUB_SLIDE << 1 | 1;
            f3 = (code & 1) << 2 | sign;
            vs1 |= code >> 1;
        }
        break;
    case IME2_SP:
        f7 = matrix | IME2_SUB_SP << 1 | insn->scale;
        f3 = sign;
        vs1 |= insn->imm >> 1;
        vd |= insn->imm & 1;
        break;
    case IME2_HP:
        f7 = matrix | ime2_hp_sub(sign) << 1 | insn->scale;
        f3 = insn->imm;
        break;
    case IME2_FDOT:
        f7 = IME2_F7_VFWMADOT;
        f3 = 4u + insn->slide;
        break;
    case IME2_PACK:
    case IME2_UNPACK:
        f7 = IME2_F7_VPACK;
        f3 = (insn->form == IME2_UNPACK ? 4u : 0u) | insn->imm;
        break;
    default:
        f7 = insn->form == IME2_NPACK ? IME2_F7_VNPACK : IME2_F7_VNPACK4;
        f3 = (insn->saturate ? 4u : 0u) | insn->imm;
        break;
    }
    *word = (uint32_t)f7 << 25 | (uint32_t)insn->vs2 << 20 | (uint32_t)vs1 << 15 | (uint32_t)f3 << 12 | (uint32_t)vd << 7 | IME2_OPCODE;
    return IME2_LEGAL;
}

/* ---- Text --------------------------------------------------------------------------------------------------- */

static inline char *ime2_put(char *at, const char *s) {
    const size_t n = strlen(s);
    memcpy(at, s, n + 1);
    return at + n;
}

static inline char *ime2_put_number(char *at, const char *before, unsigned n) {
    at = ime2_put(at, before);
    if (n > 9) {
        *at++ = (char)('0' + n / 10);
    }
    *at++ = (char)('0' + n % 10);
    *at = '\0';
    return at;
}

IME2_API void ime2_text(const ime2_insn *insn, char text[IME2_TEXT_SIZE]) {
    static const char *const signs[] = {"u", "us", "su", ""};
    static const char *const packs[] = {"smt.vpack.vv", "smt.vupack.vv", "smt.vnpack.vv", "smt.vnpack4.vv"};
    const bool integer = insn->type != IME2_NO_TYPE;
    char *at = text;
    if (integer || insn->form == IME2_FDOT) {
        at = ime2_put(at, integer ? "smt.vmadot" : "smt.vfwmadot");
        if (insn->slide > 0) {
            at = ime2_put_number(at, "", insn->slide);
        }
        at = ime2_put(at, integer ? signs[ime2_sign_code(insn)] : "");
        at = ime2_put(at, insn->form == IME2_SP ? ".sp" : insn->form == IME2_HP ? ".hp" : "");
    } else if (insn->saturate) {
        at = ime2_put(at, insn->form == IME2_NPACK ? "smt.vnspack.vv" : "smt.vnspack4.vv");
    } else {
        at = ime2_put(at, packs[insn->form - IME2_PACK]);
    }
    at = ime2_put_number(at, " v", insn->vd);
    at = ime2_put_number(at, ", v", insn->vs1);
    at = ime2_put_number(at, ", v", insn->vs2);
    if (ime2_has_scale(insn)) {
        at = ime2_put_number(at, ", v", insn->scale);
    }
    if (ime2_last_imm(insn) > 0) {
        at = ime2_put_number(at, ", ", insn->imm);
    }
    if (integer) {
        ime2_put(at, insn->type == IME2_I4 ? ", i4" : ", i8");
    }
}

IME2_API const char *ime2_reason_text(ime2_reason reason) {
    switch (reason) {
    case IME2_LEGAL: return "legal";
    case IME2_NOT_IME2: return "opcode is not custom-1 (0x2b): not an IME2 instruction";
    case IME2_RESERVED_FUNCT7: return "funct7 is reserved: no form has it";
    case IME2_RESERVED_TYPE: return "data type (bits 30:29) is reserved: only i4 (10) and i8 (11) exist";
    case IME2_RESERVED_SUB: return "sub-opcode (bits 28:25) is reserved for this data type";
    case IME2_RESERVED_FUNCT3: return "funct3 is reserved for this form";
    case IME2_RESERVED_SLIDE: return "slide code 3 (bits 15 and 14) is reserved: slides are 1 to 3 rows";
    case IME2_RESERVED_SEGMENT: return "mask segment is reserved: .sp with i4 has segments 0 and 1";
    case IME2_ODD_VD: return "vd is odd: this form writes an even-odd register pair";
    case IME2_ODD_VS1: return "vs1 is odd: this form reads an even-odd register pair";
    case IME2_VILL: return "vtype.vill is set: execute vsetvli first";
    case IME2_LMUL: return "LMUL is not 1";
    case IME2_SEW: return "SEW is not possible here: 8, 16, 32 or 64, and at most 32 for vnpack and vnspack";
    case IME2_OVERLAP_VS1: return "vd overlaps vs1";
    case IME2_OVERLAP_VS2: return "vd overlaps vs2";
    case IME2_OVERLAP_SCALE: return "vd overlaps the scale or mask register";
    case IME2_VS1_IS_SCALE: return "vs1 is the scale register";
    case IME2_VL: return "vl is not VLMAX: what happens then is undocumented";
    case IME2_VSTART: return "vstart is not 0: what happens then is undocumented";
    case IME2_BAD_FIELD: return "a field is out of range, or this form does not have it";
    default: return "unknown reason";
    }
}

/* ---- Legality ----------------------------------------------------------------------------------------------- */

static inline bool ime2_overlap(unsigned a, unsigned na, unsigned b, unsigned nb) {
    return a < b + nb && b < a + na;
}

static inline ime2_reason ime2_check_overlap(const ime2_insn *insn) {
    const unsigned nd = ime2_vd_is_pair(insn) ? 2 : 1, n1 = ime2_vs1_is_pair(insn) ? 2 : 1;
    if (ime2_overlap(insn->vd, nd, insn->vs1, n1)) {
        return IME2_OVERLAP_VS1;
    }
    if (ime2_overlap(insn->vd, nd, insn->vs2, 1)) {
        return IME2_OVERLAP_VS2;
    }
    if (ime2_has_scale(insn) && ime2_overlap(insn->vd, nd, insn->scale, 1)) {
        return IME2_OVERLAP_SCALE;
    }
    if (insn->form == IME2_HP && insn->vs1 == insn->scale) {
        return IME2_VS1_IS_SCALE;
    }
    return IME2_LEGAL;
}

IME2_API ime2_reason ime2_check(const ime2_insn *insn, const ime2_state *state) {
    const uint32_t sew = state->sew;
    if (state->vill) {
        return IME2_VILL;
    }
    if (state->log2_lmul != 0) {
        return IME2_LMUL;
    }
    if ((sew != 8 && sew != 16 && sew != 32 && sew != 64) || (insn->form == IME2_NPACK && sew == 64)) {
        return IME2_SEW;
    }
    if (!state->strict) {
        return IME2_LEGAL;
    }
    if (state->vstart != 0) {
        return IME2_VSTART;
    }
    if (state->vl != 8 * IME2_VLENB / sew) {
        return IME2_VL;
    }
    return ime2_check_overlap(insn);
}

/* ---- Numbers ------------------------------------------------------------------------------------------------ */

static inline uint16_t ime2_load16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t ime2_load32(const uint8_t *p) {
    return (uint32_t)ime2_load16(p) | (uint32_t)ime2_load16(p + 2) << 16;
}

static inline void ime2_store16(uint8_t *p, uint16_t x) {
    p[0] = (uint8_t)x;
    p[1] = (uint8_t)(x >> 8);
}

static inline void ime2_store32(uint8_t *p, uint32_t x) {
    ime2_store16(p, (uint16_t)x);
    ime2_store16(p + 2, (uint16_t)(x >> 16));
}

IME2_API double ime2_half_to_double(uint16_t half) {
    const uint64_t sign = (uint64_t)(half >> 15) << 63, fraction = half & 0x3ff;
    const unsigned exponent = half >> 10 & 31;
    uint64_t bits;
    double x;
    if (exponent == 0) {
        x = (double)fraction * 0x1p-24;
        return sign ? -x : x;
    }
    bits = sign | (uint64_t)(exponent == 31 ? 0x7ff : exponent + 1008) << 52 | fraction << 42;
    memcpy(&x, &bits, sizeof x);
    return x;
}

IME2_API uint16_t ime2_double_to_half(double x) {
    uint64_t bits, significand, rest, tie;
    uint16_t sign, half;
    int exponent, drop;
    memcpy(&bits, &x, sizeof bits);
    sign = (uint16_t)(bits >> 48 & 0x8000);
    exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    significand = bits & 0xfffffffffffff;
    if (exponent == 1024 && significand != 0) {
        return 0x7e00;
    }
    if (exponent > 15) {
        return (uint16_t)(sign | 0x7c00);
    }
    if (exponent >= -14) {
        drop = 42;
        half = (uint16_t)((unsigned)(exponent + 15) << 10 | (unsigned)(significand >> 42));
    } else if (exponent >= -25) {
        significand |= 1ull << 52;
        drop = 28 - exponent;
        half = (uint16_t)(significand >> drop);
    } else {
        return sign;
    }
    /* A carry out of the fraction moves into the exponent, up to infinity, as it should. */
    tie = 1ull << (drop - 1);
    rest = significand & (2 * tie - 1);
    if (rest > tie || (rest == tie && (half & 1))) {
        half++;
    }
    return (uint16_t)(sign | half);
}

/*
 * c + d*s in fp16. r3: double holds d (20 bits) times s (11 bits) exactly, and the sum too unless it is far beyond the
 * fp16 range, so the conversion is the only rounding. The same holds for the fused step of r2 and each step of r1.
 */
static inline uint16_t ime2_scaled_add(uint16_t c, int32_t d, double s, ime2_rounding rounding) {
    double product = (double)d * s;
    if (rounding != IME2_R3) {
        product = ime2_half_to_double(ime2_double_to_half((double)d)) * s;
        if (rounding == IME2_R1) {
            product = ime2_half_to_double(ime2_double_to_half(product));
        }
    }
    return ime2_double_to_half(ime2_half_to_double(c) + product);
}

/*
 * Exact sums of fp16 products and fp32 values: two's complement fixed point whose bit 0 counts 2^-149, fp32's smallest
 * step. The largest sum has bit 278.
 */
enum { IME2_WIDE_LIMBS = 10, IME2_WIDE_POINT = 149 };

typedef struct {
    uint32_t limb[IME2_WIDE_LIMBS];
    bool nan, plus_inf, minus_inf;
    bool all_minus_zero;
} ime2_wide;

/* A number as magnitude * 2^exponent. */
typedef struct {
    uint32_t magnitude;
    int exponent;
    bool negative, inf, nan;
} ime2_parts;

static inline ime2_parts ime2_split(uint32_t bits, int exponent_bits, int fraction_bits) {
    const uint32_t all_ones = (1u << exponent_bits) - 1, fraction = bits & ((1u << fraction_bits) - 1);
    const uint32_t exponent = bits >> fraction_bits & all_ones;
    const int lowest = 2 - (1 << (exponent_bits - 1)) - fraction_bits;
    ime2_parts p;
    p.negative = (bits >> (exponent_bits + fraction_bits) & 1) != 0;
    p.nan = exponent == all_ones && fraction != 0;
    p.inf = exponent == all_ones && fraction == 0;
    p.magnitude = exponent == 0 ? fraction : fraction | 1u << fraction_bits;
    p.exponent = exponent == 0 ? lowest : lowest + (int)exponent - 1;
    return p;
}

static inline ime2_parts ime2_multiply(ime2_parts a, ime2_parts b) {
    ime2_parts p;
    p.negative = a.negative != b.negative;
    p.nan = a.nan || b.nan || (a.inf && b.magnitude == 0) || (b.inf && a.magnitude == 0);
    p.inf = !p.nan && (a.inf || b.inf);
    p.magnitude = a.magnitude * b.magnitude;
    p.exponent = a.exponent + b.exponent;
    return p;
}

static inline void ime2_wide_clear(ime2_wide *w) {
    memset(w, 0, sizeof *w);
    w->all_minus_zero = true;
}

static inline void ime2_wide_add(ime2_wide *w, ime2_parts p) {
    const unsigned shift = (unsigned)(p.exponent + IME2_WIDE_POINT);
    w->nan |= p.nan;
    w->plus_inf |= p.inf && !p.negative;
    w->minus_inf |= p.inf && p.negative;
    w->all_minus_zero &= p.magnitude == 0 && p.negative;
    if (p.nan || p.inf || p.magnitude == 0) {
        return;
    }
    uint64_t add = (uint64_t)p.magnitude << (shift % 32); /* below 2^56 */
    for (unsigned i = shift / 32; i < IME2_WIDE_LIMBS; i++, add >>= 32) {
        const uint32_t part = (uint32_t)add, old = w->limb[i];
        w->limb[i] = p.negative ? old - part : old + part;
        add += (uint64_t)(p.negative ? old < part : w->limb[i] < part) << 32; /* borrow or carry */
    }
}

static inline uint32_t ime2_wide_bit(const ime2_wide *w, unsigned i) {
    return w->limb[i / 32] >> (i % 32) & 1;
}

/* fp32, rounded once to nearest even. */
static inline uint32_t ime2_wide_to_float(ime2_wide w) {
    uint32_t sign, bits = 0, sticky = 0, carry = 1;
    unsigned top = 32 * IME2_WIDE_LIMBS - 1, shift;
    if (w.nan || (w.plus_inf && w.minus_inf)) {
        return 0x7fc00000;
    }
    if (w.plus_inf || w.minus_inf) {
        return w.plus_inf ? 0x7f800000 : 0xff800000;
    }
    sign = ime2_wide_bit(&w, top) << 31;
    for (unsigned i = 0; sign && i < IME2_WIDE_LIMBS; i++) {
        w.limb[i] = ~w.limb[i] + carry;
        carry = carry && w.limb[i] == 0;
    }
    while (top > 0 && !ime2_wide_bit(&w, top)) {
        top--;
    }
    if (top < 24) { /* zero, subnormal or the lowest normal binade: the bits are the encoding */
        return w.limb[0] == 0 && w.all_minus_zero ? 0x80000000 : sign | w.limb[0];
    }
    shift = top - 23;
    for (unsigned i = 0; i < 24; i++) {
        bits |= ime2_wide_bit(&w, shift + i) << i;
    }
    for (unsigned i = 0; i + 1 < shift; i++) {
        sticky |= ime2_wide_bit(&w, i);
    }
    bits += shift << 23; /* the significand's own top bit makes it shift + 1 */
    bits += ime2_wide_bit(&w, shift - 1) & (sticky | bits);
    return sign | (bits > 0x7f800000 ? 0x7f800000 : bits);
}

/* ---- Dot products: A[m][k] is element m*K + k of a, B[k][n] element n*K + k of b, C[m][n] element m*8 + n ----- */

enum { IME2_TILE = 8, IME2_OUTPUTS = 64, IME2_MAX_ELEMENTS = 512 };

/* Elements per register. */
static inline unsigned ime2_elements(ime2_type type) {
    return type == IME2_I4 ? 2 * IME2_VLENB : IME2_VLENB;
}

/* `bytes` bytes of elements, extended; of two int4 elements the first is the low nibble. */
static inline void ime2_extend(int16_t *out, const uint8_t *in, unsigned bytes, ime2_type type, bool is_signed) {
    if (type == IME2_I4) {
        const int flip = is_signed ? 8 : 0;
        for (unsigned i = 0; i < bytes; i++) {
            out[2 * i] = (int16_t)(((in[i] & 15) ^ flip) - flip);
            out[2 * i + 1] = (int16_t)(((in[i] >> 4) ^ flip) - flip);
        }
    } else {
        const int flip = is_signed ? 128 : 0;
        for (unsigned i = 0; i < bytes; i++) {
            out[i] = (int16_t)((in[i] ^ flip) - flip);
        }
    }
}

static inline void ime2_products(int32_t d[IME2_OUTPUTS], const int16_t *a, const int16_t *b, unsigned k) {
    for (unsigned m = 0; m < IME2_TILE; m++) {
        for (unsigned n = 0; n < IME2_TILE; n++) {
            int32_t sum = 0;
            for (unsigned i = 0; i < k; i++) {
                sum += a[m * k + i] * b[n * k + i];
            }
            d[m * IME2_TILE + n] = sum;
        }
    }
}

/* C32 += D over the pair at vd; wraps. */
static inline void ime2_accumulate(uint8_t *c, const int32_t d[IME2_OUTPUTS]) {
    for (unsigned i = 0; i < IME2_OUTPUTS; i++) {
        ime2_store32(c + 4 * i, ime2_load32(c + 4 * i) + (uint32_t)d[i]);
    }
}

/* A register, or a pair as one array of 256 bytes. */
static inline uint8_t *ime2_register(ime2_vregs v, unsigned r) {
    return (uint8_t *)v + r * IME2_VLENB;
}

static inline void ime2_execute_dot(ime2_vregs v, const ime2_insn *insn) {
    const unsigned row_bytes = IME2_VLENB / IME2_TILE;
    int16_t a[IME2_MAX_ELEMENTS], b[IME2_MAX_ELEMENTS];
    int32_t d[IME2_OUTPUTS];
    ime2_extend(a, ime2_register(v, insn->vs1) + insn->slide * row_bytes, IME2_VLENB, insn->type, insn->a_signed);
    ime2_extend(b, ime2_register(v, insn->vs2), IME2_VLENB, insn->type, insn->b_signed);
    ime2_products(d, a, b, ime2_elements(insn->type) / IME2_TILE);
    ime2_accumulate(ime2_register(v, insn->vd), d);
}

/* B with its zeros: of each four elements the mask names the two that are stored, lowest bit first. */
static inline void ime2_spread(int16_t *dense, const int16_t *kept, const uint8_t *mask, unsigned groups) {
    for (unsigned g = 0; g < groups; g++) {
        const unsigned nibble = mask[g / 2] >> (g % 2 * 4) & 15;
        unsigned used = 0;
        for (unsigned i = 0; i < 4; i++) {
            used += nibble >> i & 1;
        }
        const bool valid = used == 2;
        used = 0;
        for (unsigned i = 0; i < 4; i++) {
            const bool here = valid && (nibble >> i & 1);
            dense[4 * g + i] = here ? kept[2 * g + used++] : 0;
        }
    }
}

static inline void ime2_execute_sp(ime2_vregs v, const ime2_insn *insn) {
    const unsigned stored = ime2_elements(insn->type), groups = stored / 2;
    int16_t a[IME2_MAX_ELEMENTS], kept[IME2_MAX_ELEMENTS], b[IME2_MAX_ELEMENTS];
    int32_t d[IME2_OUTPUTS];
    ime2_extend(a, ime2_register(v, insn->vs1), 2 * IME2_VLENB, insn->type, insn->a_signed);
    ime2_extend(kept, ime2_register(v, insn->vs2), IME2_VLENB, insn->type, insn->b_signed);
    ime2_spread(b, kept, ime2_register(v, insn->scale) + insn->imm * (groups / 2), groups);
    ime2_products(d, a, b, 2 * stored / IME2_TILE);
    ime2_accumulate(ime2_register(v, insn->vd), d);
}

static inline void ime2_execute_hp(ime2_vregs v, const ime2_insn *insn, ime2_rounding rounding) {
    uint8_t *c = ime2_register(v, insn->vd);
    int16_t a[IME2_MAX_ELEMENTS], b[IME2_MAX_ELEMENTS];
    int32_t d[IME2_OUTPUTS];
    double scale[IME2_TILE];
    ime2_extend(a, ime2_register(v, insn->vs1), IME2_VLENB, insn->type, insn->a_signed);
    ime2_extend(b, ime2_register(v, insn->vs2), IME2_VLENB, insn->type, insn->b_signed);
    for (unsigned n = 0; n < IME2_TILE; n++) {
        scale[n] = ime2_half_to_double(ime2_load16(ime2_register(v, insn->scale) + 2 * (insn->imm * IME2_TILE + n)));
    }
    ime2_products(d, a, b, ime2_elements(insn->type) / IME2_TILE);
    for (unsigned i = 0; i < IME2_OUTPUTS; i++) {
        ime2_store16(c + 2 * i, ime2_scaled_add(ime2_load16(c + 2 * i), d[i], scale[i % IME2_TILE], rounding));
    }
}

/* ---- vfwmadot ----------------------------------------------------------------------------------------------- */

static inline float ime2_float(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t ime2_float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fc00000 : bits;
}

/* r1: k ascending, each sum rounded to fp32 (fp16 products are exact in it). */
static inline uint32_t ime2_float_dot_stepwise(uint32_t c, const uint16_t *a, const uint16_t *b) {
    float sum = ime2_float(c);
    for (unsigned k = 0; k < IME2_TILE; k++) {
        sum += (float)(ime2_half_to_double(a[k]) * ime2_half_to_double(b[k]));
    }
    return ime2_float_bits(sum);
}

/* r3: the exact sum, rounded once. r2: the exact dot product rounded, then added. */
static inline uint32_t ime2_float_dot_exact(uint32_t c, const uint16_t *a, const uint16_t *b, bool with_c) {
    ime2_wide sum;
    ime2_wide_clear(&sum);
    for (unsigned k = 0; k < IME2_TILE; k++) {
        ime2_wide_add(&sum, ime2_multiply(ime2_split(a[k], 5, 10), ime2_split(b[k], 5, 10)));
    }
    if (with_c) {
        ime2_wide_add(&sum, ime2_split(c, 8, 23));
        return ime2_wide_to_float(sum);
    }
    return ime2_float_bits(ime2_float(c) + ime2_float(ime2_wide_to_float(sum)));
}

static inline void ime2_execute_fdot(ime2_vregs v, const ime2_insn *insn, ime2_rounding rounding) {
    const uint8_t *from_a = ime2_register(v, insn->vs1) + insn->slide * (IME2_VLENB / IME2_TILE), *from_b = ime2_register(v, insn->vs2);
    uint8_t *c = ime2_register(v, insn->vd);
    uint16_t a[IME2_OUTPUTS], b[IME2_OUTPUTS];
    for (unsigned i = 0; i < IME2_OUTPUTS; i++) {
        a[i] = ime2_load16(from_a + 2 * i);
        b[i] = ime2_load16(from_b + 2 * i);
    }
    for (unsigned i = 0; i < IME2_OUTPUTS; i++) {
        const uint16_t *row = a + i / IME2_TILE * IME2_TILE, *column = b + i % IME2_TILE * IME2_TILE;
        const uint32_t old = ime2_load32(c + 4 * i);
        ime2_store32(c + 4 * i, rounding == IME2_R1 ? ime2_float_dot_stepwise(old, row, column) : ime2_float_dot_exact(old, row, column, rounding == IME2_R3));
    }
}

/* ---- Pack family -------------------------------------------------------------------------------------------- */

/* a0 b0 a1 b1 ... of blocks; `bytes` from each source. */
static inline void ime2_interleave(uint8_t *out, const uint8_t *a, const uint8_t *b, unsigned bytes, unsigned block) {
    for (unsigned i = 0; i < bytes; i += block) {
        memcpy(out + 2 * i, a + i, block);
        memcpy(out + 2 * i + block, b + i, block);
    }
}

static inline int ime2_clamp4(uint8_t byte) {
    const int x = (byte ^ 128) - 128;
    return x < -8 ? -8 : x > 7 ? 7 : x;
}

/* Bytes to nibbles, two adjacent ones a byte, the first low. */
static inline void ime2_narrow4(uint8_t out[IME2_VLENB / 2], const uint8_t *in, bool saturate) {
    for (unsigned i = 0; i < IME2_VLENB / 2; i++) {
        const int low = saturate ? ime2_clamp4(in[2 * i]) : in[2 * i];
        const int high = saturate ? ime2_clamp4(in[2 * i + 1]) : in[2 * i + 1];
        out[i] = (uint8_t)((low & 15) | (high & 15) << 4);
    }
}

/* Elements of 2*width bytes to `width` bytes: the low half, or clamped as signed numbers. */
static inline void ime2_narrow(uint8_t out[IME2_VLENB / 2], const uint8_t *in, unsigned width, bool saturate) {
    for (unsigned i = 0; i < IME2_VLENB / 2; i += width) {
        const uint8_t *element = in + 2 * i;
        const bool negative = element[2 * width - 1] >> 7;
        const uint8_t filler = negative ? 0xff : 0;
        bool fits = element[width - 1] >> 7 == negative;
        for (unsigned j = width; j < 2 * width; j++) {
            fits = fits && element[j] == filler;
        }
        if (fits || !saturate) {
            memcpy(out + i, element, width);
        } else {
            memset(out + i, negative ? 0 : 0xff, width);
            out[i + width - 1] = negative ? 0x80 : 0x7f;
        }
    }
}

static inline void ime2_execute_pack(ime2_vregs v, const ime2_insn *insn, uint32_t sew) {
    const unsigned block = insn->imm == 0 ? sew / 8 : 8u << insn->imm; /* SEW, 128, 256, 512 bits */
    const unsigned narrow_block = 4u << insn->imm;                     /* 32 to 256 output bits */
    uint8_t a[IME2_VLENB], b[IME2_VLENB], out[2 * IME2_VLENB];
    switch (insn->form) {
    case IME2_PACK:
        ime2_interleave(out, ime2_register(v, insn->vs1), ime2_register(v, insn->vs2), IME2_VLENB, block);
        memcpy(ime2_register(v, insn->vd), out, sizeof out);
        break;
    case IME2_UNPACK:
        memcpy(out, ime2_register(v, insn->vs1), IME2_VLENB);
        memcpy(out + IME2_VLENB, ime2_register(v, insn->vs2), IME2_VLENB);
        for (unsigned i = 0; i < IME2_VLENB; i += block) {
            memcpy(ime2_register(v, insn->vd) + i, out + 2 * i, block);
            memcpy(ime2_register(v, insn->vd + 1) + i, out + 2 * i + block, block);
        }
        break;
    default:
        if (insn->form == IME2_NPACK4) {
            ime2_narrow4(a, ime2_register(v, insn->vs1), insn->saturate);
            ime2_narrow4(b, ime2_register(v, insn->vs2), insn->saturate);
        } else {
            ime2_narrow(a, ime2_register(v, insn->vs1), sew / 8, insn->saturate);
            ime2_narrow(b, ime2_register(v, insn->vs2), sew / 8, insn->saturate);
        }
        ime2_interleave(ime2_register(v, insn->vd), a, b, IME2_VLENB / 2, narrow_block);
        break;
    }
}

/* ---- Execution ---------------------------------------------------------------------------------------------- */

IME2_API void ime2_execute(ime2_vregs v, const ime2_insn *insn, const ime2_state *state) {
    switch (insn->form) {
    case IME2_DOT: ime2_execute_dot(v, insn); break;
    case IME2_SP: ime2_execute_sp(v, insn); break;
    case IME2_HP: ime2_execute_hp(v, insn, state->rounding); break;
    case IME2_FDOT: ime2_execute_fdot(v, insn, state->rounding); break;
    default: ime2_execute_pack(v, insn, state->sew); break;
    }
}

IME2_API ime2_reason ime2_step(ime2_vregs v, uint32_t word, const ime2_state *state) {
    ime2_insn insn;
    ime2_reason reason = ime2_decode(word, &insn);
    if (reason == IME2_LEGAL) {
        reason = ime2_check(&insn, state);
    }
    if (reason == IME2_LEGAL) {
        ime2_execute(v, &insn, state);
    }
    return reason;
}
