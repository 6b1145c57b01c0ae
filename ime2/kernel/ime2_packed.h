// SPDX-License-Identifier: Apache-2.0
/*
 * int4 weights packed once times float activations, batch-invariant: the bits of a result row depend on that row of A
 * and on the weights, not on M, the row's place, its neighbours, or how the columns are shared out to threads.
 *
 * Weights come as qweight[n][K/32][16] (byte j holds elements 2j, low nibble, and 2j + 1; each w + 8) and
 * scales[n][K/32]. K is a positive multiple of 32, N is positive. The packed form ("blob") is one byte string with a
 * header that says what it is; it can be moved and written to a file.
 *
 * Activations are quantised per row and superblock to two signed digits, q = 16*hi + lo. README.md says why, and what
 * it costs. A row of A with NaN or Inf gives a row of NaN, and changes no other row.
 */
#ifndef IME2_PACKED_H
#define IME2_PACKED_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ime2_packed_status {
  IME2_PACKED_OK,
  IME2_PACKED_TRUNCATED,  /* shorter than its header, or than the header says */
  IME2_PACKED_FOREIGN,    /* the first bytes are not ours */
  IME2_PACKED_VERSION,    /* ours, of a version that this code does not read */
  IME2_PACKED_SHAPE,      /* the header's N, K and size contradict each other */
  IME2_PACKED_NOT_FINITE, /* a scale is NaN or Inf: nothing was packed */
};

/* One sentence for each status, without a full stop. */
const char* ime2_packed_status_text(enum ime2_packed_status status);

/* Bytes of a blob. */
size_t ime2_packed_weight_bytes(size_t n, size_t k);

enum ime2_packed_status ime2_packed_weight_pack(const uint8_t* qweight, const float* scales, size_t n, size_t k, uint8_t* blob);

/* Columns of a weight. */
struct ime2_packed_columns {
  size_t first, count;
};

/* The same in two steps: _begin, and if that is OK all columns, in shares that may be packed at the same time. */
enum ime2_packed_status ime2_packed_weight_begin(const uint8_t* qweight, const float* scales, size_t n, size_t k, uint8_t* blob);
void ime2_packed_weight_columns(const uint8_t* qweight, const float* scales, struct ime2_packed_columns share, uint8_t* blob);

/* Reads the header only, at any alignment; n and k are set when OK. */
enum ime2_packed_status ime2_packed_weight_inspect(const uint8_t* blob, size_t bytes, size_t* n, size_t* k);

/* Bytes of the quantised form of m rows. */
size_t ime2_packed_activation_bytes(size_t m, size_t k);

/* a[m][k], `stride` floats from row to row, to `packed`, 64-byte aligned. The two write the same bytes; the first needs level a100. */
void ime2_packed_quantize(const float* a, size_t stride, size_t m, size_t k, uint8_t* packed);
void ime2_packed_quantize_portable(const float* a, size_t stride, size_t m, size_t k, uint8_t* packed);

/* Columns of work: tiles of 32 columns. A blob has (n + 31) / 32; the last may be partial. */
struct ime2_packed_slice {
  size_t first_tile, tiles;
};

/* Rows of A. */
struct ime2_packed_rows {
  size_t first, count;
};

/* As ime2_packed_quantize, for these rows; all of `packed` is zero before the first. Shares that do not overlap may be quantised at the same time. */
void ime2_packed_quantize_rows(const float* a, size_t stride, size_t m, size_t k, struct ime2_packed_rows rows, uint8_t* packed);

/* 16-bit types of activations and results. */
enum ime2_packed_type { IME2_PACKED_BF16, IME2_PACKED_FP16 };

/* `count` numbers to float and back, rounded to nearest even, as torch does; a NaN gives a quiet one. Need level a100. */
void ime2_packed_widen(enum ime2_packed_type type, const uint16_t* from, size_t count, float* to);
void ime2_packed_narrow(enum ime2_packed_type type, const float* from, size_t count, uint16_t* to);

/*
 * out[m][n], `stride` floats from row to row; writes the slice's columns only. Slices that do not overlap may run at the
 * same time. Blob and activations 64-byte aligned; the blob is one that _inspect accepted. The two give the same bits
 * (r3; emulator-defined); the first needs level a100 with xsmtvdotii, the caller checks.
 */
void ime2_packed_gemm(const uint8_t* activations, const uint8_t* blob, size_t m, struct ime2_packed_slice slice, float* out, size_t stride);
void ime2_packed_gemm_portable(const uint8_t* activations, const uint8_t* blob, size_t m, struct ime2_packed_slice slice, float* out, size_t stride);

#ifdef __cplusplus
}
#endif

#endif
