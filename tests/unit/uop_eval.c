/* Evaluators: the corners that ops.def promises, checked against values from outside (papers, formats, exact
 * arithmetic). The wide table of op x dtype is in tests/exec. */
#include <criterion/criterion.h>
#include <math.h>

#include "uop/eval.h"
#include "uop/graph.h"

#define I(dt, v) un__value_i(UN__DT(dt), (v))
#define F(dt, v) un__value_f(UN__DT(dt), (v))

static un__value ev(un__op op, un_dtype dt, un__value a, un__value b) {
  un__value r, args[2] = {a, b};
  cr_assert(un__eval(op, UN__DT(dt), args, &r), "%s has a value", un__op_table[op].name);
  return r;
}

static bool none(un__op op, un_dtype dt, un__value a, un__value b) {
  un__value r, args[2] = {a, b};
  return !un__eval(op, UN__DT(dt), args, &r);
}

/* The vectors published with the Random123 paper (kat_vectors, threefry2x32 with 20 rounds). */
Test(uop_eval, threefry_known_answers) {
  static const uint32_t v[3][6] = {
      {0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
      {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xc4923a9c, 0x483df7a0},
  };
  for (int i = 0; i < 3; i++) {
    uint64_t counter = (uint64_t)v[i][1] << 32 | v[i][0], key = (uint64_t)v[i][3] << 32 | v[i][2];
    un__value r = ev(UN__OP_THREEFRY, UN_U64, I(UN_U64, (int64_t)counter), I(UN_U64, (int64_t)key));
    cr_assert_eq((uint64_t)r.i, (uint64_t)v[i][5] << 32 | v[i][4]);
  }
}

Test(uop_eval, division_by_zero_and_overflow) {
  cr_assert_eq(ev(UN__OP_FLOORDIV, UN_I32, I(UN_I32, 7), I(UN_I32, 0)).i, 0);
  cr_assert_eq(ev(UN__OP_FLOORMOD, UN_I32, I(UN_I32, 7), I(UN_I32, 0)).i, 7);
  cr_assert_eq(ev(UN__OP_TRUNCDIV, UN_I64, I(UN_I64, INT64_MIN), I(UN_I64, -1)).i, INT64_MIN);
  cr_assert_eq(ev(UN__OP_TRUNCMOD, UN_I64, I(UN_I64, INT64_MIN), I(UN_I64, -1)).i, 0);
  cr_assert_eq(ev(UN__OP_FLOORDIV, UN_I8, I(UN_I8, -128), I(UN_I8, -1)).i, -128);
  cr_assert_eq(ev(UN__OP_FLOORDIV, UN_I8, I(UN_I8, -7), I(UN_I8, 2)).i, -4);
  cr_assert_eq(ev(UN__OP_FLOORMOD, UN_I8, I(UN_I8, -7), I(UN_I8, 2)).i, 1);
  cr_assert_eq(ev(UN__OP_FLOORMOD, UN_I8, I(UN_I8, 7), I(UN_I8, -2)).i, -1);
  cr_assert_eq(ev(UN__OP_TRUNCMOD, UN_I8, I(UN_I8, -7), I(UN_I8, 2)).i, -1);
  cr_assert_eq((uint64_t)ev(UN__OP_FLOORDIV, UN_U64, I(UN_U64, -1), I(UN_U64, 2)).i, UINT64_MAX / 2);
}

Test(uop_eval, index_is_checked) {
  cr_assert(none(UN__OP_ADD, UN_INDEX, I(UN_INDEX, INT64_MAX), I(UN_INDEX, 1)));
  cr_assert(none(UN__OP_MUL, UN_INDEX, I(UN_INDEX, INT64_MAX), I(UN_INDEX, 2)));
  cr_assert(none(UN__OP_FLOORDIV, UN_INDEX, I(UN_INDEX, INT64_MIN), I(UN_INDEX, -1)));
  cr_assert(none(UN__OP_SHL, UN_INDEX, I(UN_INDEX, 1), I(UN_INDEX, 63)));
  cr_assert(none(UN__OP_CAST, UN_INDEX, I(UN_U64, -1), I(UN_U64, 0)));
  cr_assert_eq(ev(UN__OP_SHL, UN_INDEX, I(UN_INDEX, -1), I(UN_INDEX, 63)).i, INT64_MIN);
  cr_assert_eq(ev(UN__OP_FLOORMOD, UN_INDEX, I(UN_INDEX, INT64_MIN), I(UN_INDEX, -1)).i, 0);
  cr_assert_eq(ev(UN__OP_ADD, UN_I64, I(UN_I64, INT64_MAX), I(UN_I64, 1)).i, INT64_MIN, "i64 wraps");
}

Test(uop_eval, shifts_out_of_range) {
  cr_assert_eq(ev(UN__OP_SHL, UN_I32, I(UN_I32, 1), I(UN_I32, 32)).i, 0);
  cr_assert_eq(ev(UN__OP_SHL, UN_I32, I(UN_I32, 1), I(UN_I32, -1)).i, 0);
  cr_assert_eq(ev(UN__OP_SHR, UN_I32, I(UN_I32, -8), I(UN_I32, 99)).i, -1);
  cr_assert_eq(ev(UN__OP_SHR, UN_U8, I(UN_U8, 200), I(UN_U8, 8)).i, 0);
  cr_assert_eq(ev(UN__OP_SHR, UN_U8, I(UN_U8, 200), I(UN_U8, 3)).i, 25);
}

Test(uop_eval, casts_saturate_and_wrap) {
  cr_assert_eq(ev(UN__OP_CAST, UN_I8, F(UN_F32, 1e9), F(UN_F32, 0)).i, 127);
  cr_assert_eq(ev(UN__OP_CAST, UN_U8, F(UN_F32, -0.5), F(UN_F32, 0)).i, 0);
  cr_assert_eq(ev(UN__OP_CAST, UN_U8, F(UN_F32, -5), F(UN_F32, 0)).i, 0);
  cr_assert_eq(ev(UN__OP_CAST, UN_I64, F(UN_F64, 9223372036854775808.0), F(UN_F64, 0)).i, INT64_MAX);
  cr_assert_eq(ev(UN__OP_CAST, UN_I64, F(UN_F64, -9223372036854775808.0), F(UN_F64, 0)).i, INT64_MIN);
  cr_assert_eq(ev(UN__OP_CAST, UN_U64, F(UN_F64, INFINITY), F(UN_F64, 0)).i, -1);
  cr_assert_eq(ev(UN__OP_CAST, UN_I32, F(UN_F64, NAN), F(UN_F64, 0)).i, 0);
  cr_assert_eq(ev(UN__OP_CAST, UN_I8, I(UN_I32, 300), I(UN_I32, 0)).i, 44);
  cr_assert_eq(ev(UN__OP_CAST, UN_BOOL, F(UN_F32, NAN), F(UN_F32, 0)).i, 1);
  cr_assert_eq(ev(UN__OP_CAST, UN_BOOL, F(UN_F32, -0.0), F(UN_F32, 0)).i, 0);
  cr_assert_eq(ev(UN__OP_CAST, UN_F32, I(UN_U64, -1), I(UN_U64, 0)).f, 18446744073709551616.0);
}

/* 2^54 + 2^30 + 1 rounds up to f32; by way of a rounded double it would be a tie and round down. */
Test(uop_eval, integers_are_rounded_once) {
  int64_t v = (INT64_C(1) << 54) + (INT64_C(1) << 30) + 1;
  cr_assert_eq(ev(UN__OP_CAST, UN_F32, I(UN_I64, v), I(UN_I64, 0)).f, ldexp(1, 54) + ldexp(1, 31));
  cr_assert_eq(ev(UN__OP_CAST, UN_F32, I(UN_I64, v - 1), I(UN_I64, 0)).f, ldexp(1, 54));
}

Test(uop_eval, max_and_min_propagate_nan_and_order_zeros) {
  cr_assert(isnan(ev(UN__OP_MAX, UN_F32, F(UN_F32, NAN), F(UN_F32, 1)).f));
  cr_assert(isnan(ev(UN__OP_MIN, UN_F32, F(UN_F32, 1), F(UN_F32, NAN)).f));
  cr_assert(!signbit(ev(UN__OP_MAX, UN_F32, F(UN_F32, -0.0), F(UN_F32, 0.0)).f));
  cr_assert(signbit(ev(UN__OP_MIN, UN_F32, F(UN_F32, 0.0), F(UN_F32, -0.0)).f));
  cr_assert_eq(ev(UN__OP_MAX, UN_U64, I(UN_U64, -1), I(UN_U64, 1)).i, -1, "unsigned");
}

/* Every pattern of the small formats, the ties between neighbours, and one step of double beside each tie. */
Test(uop_eval, small_formats_are_exact) {
  static const un_dtype formats[] = {UN_F16, UN_BF16, UN_F8E4M3, UN_F8E5M2};
  for (size_t k = 0; k < 4; k++) {
    un_dtype dt = formats[k];
    uint64_t half = (uint64_t)1 << (8 * un__dtype_table[dt].size - 1);
    for (uint64_t bits = 0; bits < 2 * half; bits++) {
      cr_assert_eq(un__float_bits(dt, un__float_from_bits(dt, bits)), bits);
      double v = un__float_from_bits(dt, bits), w = un__float_from_bits(dt, bits + 1), tie = (v + w) / 2;
      if (bits >= half || !isfinite(v) || !isfinite(w)) continue;
      cr_assert_eq(un__float_bits(dt, tie), bits + (bits & 1));
      cr_assert_eq(un__float_bits(dt, nextafter(tie, 0)), bits);
      cr_assert_eq(un__float_bits(dt, -nextafter(tie, INFINITY)), half | (bits + 1));
    }
  }
}

Test(uop_eval, overflow_of_small_formats) {
  cr_assert_eq(un__round_float(UN_F16, 65519.99), 65504);
  cr_assert(isinf(un__round_float(UN_F16, 65520)));
  cr_assert_eq(un__round_float(UN_F8E4M3, 464), 448);
  cr_assert(isnan(un__round_float(UN_F8E4M3, 464.01)), "OCP e4m3 has no infinity");
  cr_assert(isinf(un__round_float(UN_F8E5M2, 61440)));
}

/* One rounding: a * b + c in f16 where rounding the product first gives another result. */
Test(uop_eval, mulacc_rounds_once) {
  double a = 1 + 3 * 0x1p-10, c = -1;
  un__value r, args[3] = {F(UN_F16, a), F(UN_F16, a), F(UN_F16, c)};
  cr_assert(un__eval(UN__OP_MULACC, UN__DT(UN_F16), args, &r));
  cr_assert_eq(r.f, un__round_float(UN_F16, a * a - 1));
  cr_assert_neq(r.f, un__round_float(UN_F16, un__round_float(UN_F16, a * a) - 1));
  /* 2^15 + 2^4 is a tie between f16 neighbours (step 32); the smallest product decides it. */
  un__value tie[3] = {F(UN_F16, 0x1p-24), F(UN_F16, 0x1p-24), F(UN_BF16, 0)};
  tie[2].dtype = UN__DT(UN_F16);
  tie[2].f = 0x1p15 + 0x1p4;
  cr_assert(un__eval(UN__OP_MULACC, UN__DT(UN_F16), tie, &r));
  cr_assert_eq(r.f, 0x1p15 + 0x1p5);
}

Test(uop_eval, bitcasts_and_storage_keep_nan_payloads) {
  un__value nan_bits = I(UN_U32, 0x7f801234);
  cr_assert_eq(ev(UN__OP_BITCAST, UN_U32, ev(UN__OP_BITCAST, UN_F32, nan_bits, nan_bits), nan_bits).i, 0x7f801234);
  un__value sum = ev(UN__OP_ADD, UN_F32, ev(UN__OP_BITCAST, UN_F32, I(UN_U32, 0xffc00001), nan_bits), F(UN_F32, 1));
  cr_assert_eq(un__value_bits(sum), 0x7fc00000, "arithmetic gives the canonical NaN");
  unsigned char bytes[8] = {0};
  un__value_store(I(UN_BOOL, 5), bytes);
  cr_assert_eq(bytes[0], 1);
  un__value_store(F(UN_F64, -0.0), bytes);
  cr_assert(signbit(un__value_load(UN__DT(UN_F64), bytes).f));
}

Test(uop_eval, identities_are_neutral) {
  static const un__op ops[] = {UN__OP_ADD, UN__OP_MUL, UN__OP_MAX, UN__OP_MIN, UN__OP_AND, UN__OP_OR, UN__OP_XOR};
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    for (int dt = UN_BOOL; dt <= UN_INDEX; dt++) {
      un__value id;
      if (!un__identity(ops[k], UN__DT(dt), &id)) continue;
      for (uint64_t bits = 0; bits < 256; bits++) {
        un__value v = un__value_from_bits(UN__DT(dt), bits * UINT64_C(0x0101010101010101));
        un__value r = ev(ops[k], (un_dtype)dt, id, v);
        bool same = un__value_bits(r) == un__value_bits(v) || (un__dt_is_float(v.dtype) && (isnan(v.f) || v.f == 0));
        cr_assert(same, "%s %s", un__op_table[ops[k]].name, un__dtype_table[dt].name);
      }
    }
  }
}

Test(uop_eval, folding) {
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  const un_uop *a = un__const_i(ws, UN__DT(UN_I8), 100), *x = un__range(ws, un__idx(ws, 4), UN__AXIS_LOOP, 0);
  const un_uop *sum = un__binary(ws, UN__OP_ADD, a, a);
  cr_assert_eq(un__fold(ws, sum), un__const_i(ws, UN__DT(UN_I8), -56));
  const un_uop *v = un__const_f(ws, un__dt_vec(UN_F32, 4), 1.5);
  cr_assert_eq(un__fold(ws, un__binary(ws, UN__OP_LT, v, v)), un__const_i(ws, un__dt_vec(UN_BOOL, 4), 0));
  cr_assert_null(un__fold(ws, un__binary(ws, UN__OP_ADD, x, un__idx(ws, 1))));
  cr_assert_null(
      un__fold_op(ws, UN__OP_ADD, UN__DT(UN_INDEX), (const un_uop *[]){un__idx(ws, INT64_MAX), un__idx(ws, 1)}, 2));
  cr_assert_eq(err.status, UN_OK);
  un__workspace_destroy(ws);
}
