// SPDX-License-Identifier: Apache-2.0
/*
 * int4 weights (groups of 32 along K) times float activations, as the public IME2 kernels do it: activations become
 * 8-bit integers, 256 of them share a scale, partial sums are fp16.
 *
 * Weights: qweight[n][K/32][16], byte j holds elements 2j (low nibble) and 2j + 1, each w + 8; scales[n][K/32].
 * K is a multiple of 32. See layout.h for what the packed forms hold and README.md for what this costs in accuracy.
 */
#ifndef IME2_HP_H
#define IME2_HP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ime2_hp_shape {
  size_t m, n, k;
};

/* Sizes of the packed forms in bytes; n counts only full tiles of 32 columns. */
size_t ime2_hp_activation_bytes(size_t m, size_t k);
size_t ime2_hp_weight_bytes(size_t n, size_t k);

/* a[m][k] to 4-row records followed by 1-row records. A row with NaN or Inf makes its record's results NaN. */
void ime2_hp_quantize(const float* a, size_t m, size_t k, uint8_t* packed);

/* Tiles of K32 x N32; columns past a multiple of 32 are not packed. */
void ime2_hp_pack_weight(const uint8_t* qweight, const float* scales, size_t n, size_t k, uint8_t* packed);

struct ime2_hp_operands {
  const uint8_t* activations; /* from ime2_hp_quantize */
  const uint8_t* weights;     /* from ime2_hp_pack_weight; the next two serve the columns that it left out */
  const uint8_t* qweight;
  const float* scales;
};

/* out[m][n], rows densely packed. Needs a core with VLEN 1024 and xsmtvdotii: the caller checks. */
__attribute__((visibility("hidden"))) void ime2_hp_gemm(const struct ime2_hp_operands* operands, struct ime2_hp_shape shape, float* out);

#ifdef __cplusplus
}
#endif

#endif
