#include "dtype.h"

const char *un_dtype_name(un_dtype dtype) {
  return (unsigned)dtype < UN_DTYPE_COUNT ? un__dtype_table[dtype].name : "?";
}

size_t un_dtype_size(un_dtype dtype) { return (unsigned)dtype < UN_DTYPE_COUNT ? un__dtype_table[dtype].size : 0; }

/* The direct successors in the promotion lattice; a dtype promotes to everything above it. */
static const un_dtype lattice[UN_DTYPE_COUNT][2] = {
  [UN_BOOL] = {UN_I8, UN_U8},
  [UN_I8] = {UN_I16},
  [UN_U8] = {UN_I16, UN_U16},
  [UN_I16] = {UN_I32},
  [UN_U16] = {UN_I32, UN_U32},
  [UN_I32] = {UN_I64},
  [UN_U32] = {UN_I64, UN_U64},
  [UN_I64] = {UN_F8E4M3, UN_F8E5M2},
  [UN_U64] = {UN_F8E4M3, UN_F8E5M2},
  [UN_F8E4M3] = {UN_F16, UN_BF16},
  [UN_F8E5M2] = {UN_F16, UN_BF16},
  [UN_F16] = {UN_F32},
  [UN_BF16] = {UN_F32},
  [UN_F32] = {UN_F64},
};

/* Everything at or above `d`, as a set of bits. */
static uint32_t upward(un_dtype d) {
  uint32_t set = 1u << d;
  for (int i = 0; i < 2; i++)
    if (lattice[d][i] != UN_VOID) set |= upward(lattice[d][i]);
  return set;
}

un_dtype un__dt_promote(un_dtype a, un_dtype b) {
  if (a == UN_VOID || b == UN_VOID || a == UN_INDEX || b == UN_INDEX) return a == b ? a : UN_VOID;
  uint32_t common = upward(a) & upward(b);
  /* The least element of the common upper bounds: the one below which no other lies. */
  for (int d = UN_BOOL; d < UN_INDEX; d++)
    if (common >> d & 1 && (upward((un_dtype)d) & common) == common) return (un_dtype)d;
  /* u64 with a signed dtype, the two 8-bit floats: several formats would do, none is the smallest. */
  return UN_F32;
}
