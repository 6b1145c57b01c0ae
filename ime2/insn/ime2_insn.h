// SPDX-License-Identifier: Apache-2.0
/*
 * IME2 instructions for any assembler: each macro is one `.insn r` line, so neither binutils nor the compiler must know
 * xsmtvdotii. In C and C++ a macro is a string for asm(); in preprocessed assembly (.S) it is the line itself.
 *
 *   IME2_VMADOT_HP(I4, 16, 2, 8, 0, 7)       smt.vmadot.hp v16, v2, v8, v0, 7, i4
 *   asm(IME2_VMADOT_HP(I4, %N0, %N1, %N2, 0, 7) : "+vr"(c) : "vr"(a), "vr"(b))
 *
 * Registers are bare numbers, or %N operands (GCC 15 and LLVM print a register's number for them) except where a
 * register field also holds an immediate: .sp and vmadot1..3 take even numbers only. `type` is I4 or I8.
 *
 * The compiler does not know which vtype these need: put a vsetvli with LMUL 1 into the same asm() and clobber "vl" and
 * "vtype". vd must not overlap a source: early-clobber operands that are only written ("=&vr").
 */
#ifndef IME2_INSN_H
#define IME2_INSN_H

#ifdef __ASSEMBLER__
#define IME2_INSN_(f3, f7, vd, vs1, vs2) .insn r 0x2b, f3, f7, x##vd, x##vs1, x##vs2
#else
#define IME2_INSN_(f3, f7, vd, vs1, vs2) ".insn r 0x2b, " #f3 ", " #f7 ", x" #vd ", x" #vs1 ", x" #vs2 "\n\t"
#endif
#define IME2_INSN(f3, f7, vd, vs1, vs2) IME2_INSN_(f3, f7, vd, vs1, vs2)

#define IME2_PASTE_(a, b) a##b
#define IME2_PASTE(a, b) IME2_PASTE_(a, b)

/* funct7 with b31 and the data type. */
#define IME2_F7_I4 0x60
#define IME2_F7_I8 0x70

/* Even registers, and the same with the bit set that holds an immediate. */
#define IME2_EVEN0_0 0
#define IME2_EVEN0_2 2
#define IME2_EVEN0_4 4
#define IME2_EVEN0_6 6
#define IME2_EVEN0_8 8
#define IME2_EVEN0_10 10
#define IME2_EVEN0_12 12
#define IME2_EVEN0_14 14
#define IME2_EVEN0_16 16
#define IME2_EVEN0_18 18
#define IME2_EVEN0_20 20
#define IME2_EVEN0_22 22
#define IME2_EVEN0_24 24
#define IME2_EVEN0_26 26
#define IME2_EVEN0_28 28
#define IME2_EVEN0_30 30
#define IME2_EVEN1_0 1
#define IME2_EVEN1_2 3
#define IME2_EVEN1_4 5
#define IME2_EVEN1_6 7
#define IME2_EVEN1_8 9
#define IME2_EVEN1_10 11
#define IME2_EVEN1_12 13
#define IME2_EVEN1_14 15
#define IME2_EVEN1_16 17
#define IME2_EVEN1_18 19
#define IME2_EVEN1_20 21
#define IME2_EVEN1_22 23
#define IME2_EVEN1_24 25
#define IME2_EVEN1_26 27
#define IME2_EVEN1_28 29
#define IME2_EVEN1_30 31
#define IME2_EVEN(bit, r) IME2_PASTE(IME2_PASTE(IME2_PASTE(IME2_EVEN, bit), _), r)

/* The two bits of a .sp immediate. */
#define IME2_HIGH_0 0
#define IME2_HIGH_1 0
#define IME2_HIGH_2 1
#define IME2_HIGH_3 1
#define IME2_LOW_0 0
#define IME2_LOW_1 1
#define IME2_LOW_2 0
#define IME2_LOW_3 1

/* Integer dot products, C32 += A x B. */
#define IME2_VMADOTU(type, vd, vs1, vs2) IME2_INSN(0, IME2_F7_##type + 0x01, vd, vs1, vs2)
#define IME2_VMADOTUS(type, vd, vs1, vs2) IME2_INSN(1, IME2_F7_##type + 0x01, vd, vs1, vs2)
#define IME2_VMADOTSU(type, vd, vs1, vs2) IME2_INSN(2, IME2_F7_##type + 0x01, vd, vs1, vs2)
#define IME2_VMADOT(type, vd, vs1, vs2) IME2_INSN(3, IME2_F7_##type + 0x01, vd, vs1, vs2)

/* The same on rows n to n + 7 of the pair vs1; int8 only. */
#define IME2_VMADOT1U(vd, vs1, vs2) IME2_INSN(0, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT1US(vd, vs1, vs2) IME2_INSN(1, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT1SU(vd, vs1, vs2) IME2_INSN(2, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT1(vd, vs1, vs2) IME2_INSN(3, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT2U(vd, vs1, vs2) IME2_INSN(4, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT2US(vd, vs1, vs2) IME2_INSN(5, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT2SU(vd, vs1, vs2) IME2_INSN(6, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT2(vd, vs1, vs2) IME2_INSN(7, 0x73, IME2_EVEN(0, vd), IME2_EVEN(0, vs1), vs2)
#define IME2_VMADOT3U(vd, vs1, vs2) IME2_INSN(0, 0x73, IME2_EVEN(0, vd), IME2_EVEN(1, vs1), vs2)
#define IME2_VMADOT3US(vd, vs1, vs2) IME2_INSN(1, 0x73, IME2_EVEN(0, vd), IME2_EVEN(1, vs1), vs2)
#define IME2_VMADOT3SU(vd, vs1, vs2) IME2_INSN(2, 0x73, IME2_EVEN(0, vd), IME2_EVEN(1, vs1), vs2)
#define IME2_VMADOT3(vd, vs1, vs2) IME2_INSN(3, 0x73, IME2_EVEN(0, vd), IME2_EVEN(1, vs1), vs2)

/* 2-of-4 sparse B; `mask` is 0 or 1 for v0 or v1, imm the segment in it. */
#define IME2_SP_(f3, f7, vd, vs1, vs2, high, low) IME2_INSN(f3, f7, IME2_EVEN(low, vd), IME2_EVEN(high, vs1), vs2)
#define IME2_SP(f3, f7, vd, vs1, vs2, imm) IME2_SP_(f3, f7, vd, vs1, vs2, IME2_PASTE(IME2_HIGH_, imm), IME2_PASTE(IME2_LOW_, imm))
#define IME2_VMADOTU_SP(type, vd, vs1, vs2, mask, imm) IME2_SP(0, IME2_F7_##type + 0x04 + mask, vd, vs1, vs2, imm)
#define IME2_VMADOTUS_SP(type, vd, vs1, vs2, mask, imm) IME2_SP(1, IME2_F7_##type + 0x04 + mask, vd, vs1, vs2, imm)
#define IME2_VMADOTSU_SP(type, vd, vs1, vs2, mask, imm) IME2_SP(2, IME2_F7_##type + 0x04 + mask, vd, vs1, vs2, imm)
#define IME2_VMADOT_SP(type, vd, vs1, vs2, mask, imm) IME2_SP(3, IME2_F7_##type + 0x04 + mask, vd, vs1, vs2, imm)

/* Scaled, C16 += (A x B) * scale[8*imm + n]; `scale` is 0 or 1 for v0 or v1. */
#define IME2_VMADOTU_HP(type, vd, vs1, vs2, scale, imm) IME2_INSN(imm, IME2_F7_##type + 0x06 + scale, vd, vs1, vs2)
#define IME2_VMADOT_HP(type, vd, vs1, vs2, scale, imm) IME2_INSN(imm, IME2_F7_##type + 0x08 + scale, vd, vs1, vs2)
#define IME2_VMADOTSU_HP(type, vd, vs1, vs2, scale, imm) IME2_INSN(imm, IME2_F7_##type + 0x0a + scale, vd, vs1, vs2)
#define IME2_VMADOTUS_HP(type, vd, vs1, vs2, scale, imm) IME2_INSN(imm, IME2_F7_##type + 0x0c + scale, vd, vs1, vs2)

/* fp16 dot products into fp32. */
#define IME2_VFWMADOT(vd, vs1, vs2) IME2_INSN(4, 0x4f, vd, vs1, vs2)
#define IME2_VFWMADOT1(vd, vs1, vs2) IME2_INSN(5, 0x4f, vd, vs1, vs2)
#define IME2_VFWMADOT2(vd, vs1, vs2) IME2_INSN(6, 0x4f, vd, vs1, vs2)
#define IME2_VFWMADOT3(vd, vs1, vs2) IME2_INSN(7, 0x4f, vd, vs1, vs2)

/* Interleave, de-interleave, narrow. */
#define IME2_VPACK_VV(vd, vs1, vs2, imm) IME2_INSN(0 + imm, 0x33, vd, vs1, vs2)
#define IME2_VUPACK_VV(vd, vs1, vs2, imm) IME2_INSN(4 + imm, 0x33, vd, vs1, vs2)
#define IME2_VNPACK_VV(vd, vs1, vs2, imm) IME2_INSN(0 + imm, 0x31, vd, vs1, vs2)
#define IME2_VNSPACK_VV(vd, vs1, vs2, imm) IME2_INSN(4 + imm, 0x31, vd, vs1, vs2)
#define IME2_VNPACK4_VV(vd, vs1, vs2, imm) IME2_INSN(0 + imm, 0x21, vd, vs1, vs2)
#define IME2_VNSPACK4_VV(vd, vs1, vs2, imm) IME2_INSN(4 + imm, 0x21, vd, vs1, vs2)

#endif
