/* The decompositions against the C library in wider arithmetic: samples of every exponent and sign, the special values,
 * the hard arguments; with and without contraction. The sweep over all of f32 is tests/exec/sweep.c. */
#include <criterion/criterion.h>

#include <math.h>
#include <string.h>

#include "codegen/codegen.h"
#include "uop/eval.h"

enum { PLAIN = 0, FUSED = 1, MAX_NODES = 2048 };

/* A decomposed expression of up to two inputs, evaluated node by node. */
typedef struct program {
  const un_uop *node[MAX_NODES];
  uint32_t src[MAX_NODES][3];
  un__value value[MAX_NODES];
  size_t n;
} program;

static un__err err;
static un__graph *g;
static program prog;

static void setup(void) {
  err = (un__err){0};
  g = un__workspace_create(&err);
}
static void teardown(void) { un__workspace_destroy(g); }
TestSuite(accuracy, .init = setup, .fini = teardown, .timeout = 100);

static const un_uop *input(un__dtype dt, int64_t slot) {
  const un_uop *size = un__idx(g, 1);
  const un_uop *p = un__uop(g, UN__OP_PARAM, un__dt_ptr(un__dt_scalar(dt), UN__SPACE_GLOBAL), &size, 1, &slot, 1);
  const un_uop *at = un__uop(g, UN__OP_INDEX, p->dtype, (const un_uop *[]){p, un__idx(g, 0)}, 2, NULL, 0);
  return un__uop(g, UN__OP_LOAD, dt, &at, 1, NULL, 0);
}

static const un_uop *pass(const char *name, const un_uop *n, bool fma) {
  un__target t = *un__target_generic();
  t.fma = fma;
  t.f16_convert = false;
  for (size_t i = 0; i < un__codegen_npasses; i++)
    if (!strcmp(un__codegen_passes[i].name, name)) return un__codegen_passes[i].fn(g, n, &t, UN__LIC_PRECISE);
  return NULL;
}

static void compile(const un_uop *n, bool fma) {
  n = pass("narrow", n, fma);
  n = pass("decompose", n, fma);
  n = pass("fma", n, fma);
  cr_assert(n, "%s", err.text);
  const un_uop **order = un__toposort(n, &prog.n);
  cr_assert(order && prog.n <= MAX_NODES);
  for (size_t i = 0; i < prog.n; i++) {
    prog.node[i] = order[i];
    if (un__is_const(order[i])) prog.value[i] = un__value_from_bits(order[i]->dtype, (uint64_t)un__attr(order[i], 0));
    for (uint32_t k = 0; k < order[i]->nsrc && k < 3; k++)
      for (size_t j = 0; j < i; j++)
        if (order[j] == order[i]->src[k]) prog.src[i][k] = (uint32_t)j;
  }
  un__free(order);
}

static un__value run(const un__value *in) {
  for (size_t i = 0; i < prog.n; i++) {
    const un_uop *n = prog.node[i];
    if (un__is_const(n)) continue;
    if (un__is(n, UN__OP_LOAD)) {
      prog.value[i] = in[un__attr(n->src[0]->src[0], 0)];
      continue;
    }
    if (!un__info(n)->eval) continue;
    un__value a[3];
    for (uint32_t k = 0; k < n->nsrc; k++) a[k] = prog.value[prog.src[i][k]];
    cr_assert(un__eval((un__op)n->op, n->dtype, a, &prog.value[i]));
  }
  return prog.value[prog.n - 1];
}

/* ---- distance ---- */

/* |got - want| in units of the last place of `want` in the format; a huge number when one is special and the other not. */
static double ulps(un_dtype dt, double got, long double want) {
  const un__dtype_info *d = &un__dtype_table[dt];
  int emin = 2 - (1 << (d->exponent - 1)), e;
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : 1e9;
  if (isinf(want)) return got == (double)want ? 0 : 1e9;
  /* An infinity counts as the number after the largest one, for what is wanted as well. */
  long double top = ldexpl(1, 2 - emin), g_at = isinf(got) ? copysignl(top, got) : got;
  if (fabsl(want) > top) want = copysignl(top, want);
  frexpl(want, &e);
  if (want == 0 || --e < emin) e = emin;
  return (double)(fabsl(g_at - want) / ldexpl(1, e - d->mantissa));
}

static uint64_t state = 88172645463325252u;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(0x9e3779b97f4a7c15);
}

typedef long double (*reference)(long double);
typedef struct function { un__op op; const char *name; reference of; double bound32, bound64; } function;
static const function functions[] = {
  {UN__OP_EXP, "exp", expl, 2, 3}, {UN__OP_EXP2, "exp2", exp2l, 2, 3}, {UN__OP_LOG, "log", logl, 2, 3},
  {UN__OP_LOG2, "log2", log2l, 2, 3}, {UN__OP_SIN, "sin", sinl, 2, 3},
  {UN__OP_COS, "cos", cosl, 2, 3}, {UN__OP_TANH, "tanh", tanhl, 2, 3},
};

static const double special[] = {
  0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 3.0, INFINITY, -INFINITY, NAN, 0x1p-149, 0x1p-126, 0x1.fffffep-127, 0x1p-1074, 0x1p-1022,
  0x1.fffffep127, 0x1.fffffffffffffp1023, 88.72283, 88.722839, -87.33654, -103.97208, -103.972084, 128.0, -126.0, -149.0, -149.5,
  -150.0, -150.5, 1024.0, -1022.0, -1074.0, -1075.0, 709.78, 709.79, -745.13, -745.14, 0x1.921fb6p1, 0x1.921fb54442d18p1,
  0x1.99bc5cp27, 0x1.f9cbe2p7, 0x1p53, 0x1p82, 0x1p111, 0x1.6ac5b262ca1ffp849, 0x1p20, 0x1.fffffep19, 0x1.6a09e6p-1, 0x1.6a09e6p0,
};

static double sample(un_dtype dt, size_t i) {
  if (i < sizeof special / sizeof *special) return un__round_float(dt, special[i]);
  uint64_t r = next();
  if (i % 3 == 0) return un__round_float(dt, (double)(int64_t)r * 0x1p-63 * (i % 2 ? 110 : 1e5));
  if (i % 3 == 1) return un__round_float(dt, 1 + (double)(int64_t)r * ldexp(1, -64 - (int)(i % 20)));
  return un__value_from_bits(UN__DT(dt), dt == UN_F32 ? r >> 32 : r).f;
}

static void check(un_dtype dt, bool fma, size_t count) {
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    const function *fn = &functions[f];
    double bound = dt == UN_F32 ? fn->bound32 : fn->bound64, worst = 0, at = 0;
    compile(un__unary(g, fn->op, input(UN__DT(dt), 0)), fma);
    for (size_t i = 0; i < count; i++) {
      un__value x = un__value_f(UN__DT(dt), sample(dt, i));
      double u = ulps(dt, run(&x).f, fn->of(x.f));
      if (u > worst) worst = u, at = x.f;
    }
    cr_expect(worst <= bound, "%s %s: %.3f ulp at %a", un__dtype_table[dt].name, fn->name, worst, at);
    cr_log_info("%s %s%s: %.4f ulp (%a)", un__dtype_table[dt].name, fn->name, fma ? " fma" : "", worst, at);
  }
}

Test(accuracy, f32_plain) { check(UN_F32, PLAIN, 100000); }
Test(accuracy, f32_fused) { check(UN_F32, FUSED, 100000); }
Test(accuracy, f64_plain) { check(UN_F64, PLAIN, 60000); }
Test(accuracy, f64_fused) { check(UN_F64, FUSED, 60000); }

/* ---- pow ---- */

static void check_pow(un_dtype dt, bool fma, size_t count) {
  double worst = 0, at[2] = {0, 0};
  un__dtype d = UN__DT(dt);
  compile(un__binary(g, UN__OP_POW, input(d, 0), input(d, 1)), fma);
  size_t n = sizeof special / sizeof *special;
  for (size_t i = 0; i < count; i++) {
    bool listed = i < n * n;
    double x = listed ? special[i % n] : sample(dt, i), y = listed ? special[i / n] : sample(dt, i * 7 + 1);
    if (!listed && i % 3 == 0) x = fabs(x), y = (double)(int64_t)next() * 0x1p-63 * (dt == UN_F32 ? 150 : 1075) / log2(x);
    if (!listed && i % 5 == 0) y = rint(y);
    un__value in[2] = {un__value_f(d, x), un__value_f(d, y)};
    un__value r = run(in);
    long double want = powl(in[0].f, in[1].f);
    double u = ulps(dt, r.f, want);
    if (r.f == 0 && want == 0 && !signbit(r.f) != !signbit(want)) u = 1e8;
    if (u > worst) worst = u, at[0] = in[0].f, at[1] = in[1].f;
  }
  cr_expect(worst <= 4, "%s pow: %.3f ulp at (%a, %a)", un__dtype_table[dt].name, worst, at[0], at[1]);
  cr_log_info("%s pow%s: %.4f ulp (%a, %a)", un__dtype_table[dt].name, fma ? " fma" : "", worst, at[0], at[1]);
}

Test(accuracy, pow_f32_plain) { check_pow(UN_F32, PLAIN, 60000); }
Test(accuracy, pow_f32_fused) { check_pow(UN_F32, FUSED, 60000); }
Test(accuracy, pow_f64_plain) { check_pow(UN_F64, PLAIN, 60000); }
Test(accuracy, pow_f64_fused) { check_pow(UN_F64, FUSED, 60000); }

/* ---- exact ones ---- */

Test(accuracy, threefry) {
  un__dtype d = UN__DT(UN_U64);
  compile(un__binary(g, UN__OP_THREEFRY, input(d, 0), input(d, 1)), PLAIN);
  for (int i = 0; i < 1000; i++) {
    un__value in[2] = {un__value_i(d, i ? (int64_t)next() : 0), un__value_i(d, i ? (int64_t)next() : 0)}, want;
    cr_assert(un__eval(UN__OP_THREEFRY, d, in, &want));
    cr_assert_eq(run(in).i, want.i);
  }
}

/* Conversions that the rules make of integer ops give the bits that the evaluator gives. */
static void check_cast(un_dtype from, un_dtype to) {
  compile(un__cast(g, UN__DT(to), input(UN__DT(from), 0)), PLAIN);
  for (size_t i = 0; i < 20000; i++) {
    uint64_t r = next() >> (i % 5 == 4 ? next() & 63 : 0);
    un__value x = un__value_from_bits(UN__DT(from), r), want;
    if (un__dt_is_float(UN__DT(from)) && i % 2) x = un__value_f(UN__DT(from), sample(UN_F64, i) * (i % 4 == 1 ? 1 : 0x1p-12));
    if (!un__dt_is_float(UN__DT(from)) && i % 3 == 0) x = un__value_i(UN__DT(from), x.i >> (next() & 63));
    cr_assert(un__eval(UN__OP_CAST, UN__DT(to), &x, &want));
    un__value got = run(&x);
    bool both_nan = un__dt_is_float(got.dtype) && isnan(got.f) && isnan(want.f);
    cr_assert(both_nan || un__value_bits(got) == un__value_bits(want), "%s %llx to %s: %llx, not %llx", un__dtype_table[from].name,
              (unsigned long long)un__value_bits(x), un__dtype_table[to].name, (unsigned long long)un__value_bits(got),
              (unsigned long long)un__value_bits(want));
  }
}

Test(accuracy, narrow_casts) {
  static const un_dtype narrow[] = {UN_F16, UN_BF16, UN_F8E4M3, UN_F8E5M2};
  for (int k = 0; k < 4; k++)
    for (int d = UN_BOOL; d < UN_INDEX; d++) {
      if (d == (int)narrow[k]) continue;
      check_cast((un_dtype)d, narrow[k]);
      check_cast(narrow[k], (un_dtype)d);
    }
}

/* f16 and bf16 arithmetic is rounded once. */
Test(accuracy, narrow_arithmetic) {
  static const un__op ops[] = {UN__OP_ADD, UN__OP_SUB, UN__OP_MUL, UN__OP_FDIV, UN__OP_MAX, UN__OP_LT};
  for (int k = 0; k < 12; k++) {
    un__dtype d = UN__DT(k % 2 ? UN_F16 : UN_BF16);
    un__op op = ops[k / 2];
    compile(un__binary(g, op, input(d, 0), input(d, 1)), PLAIN);
    for (int i = 0; i < 5000; i++) {
      un__value in[2] = {un__value_from_bits(d, next() >> 40), un__value_from_bits(d, next() >> 40)}, want;
      cr_assert(un__eval(op, op == UN__OP_LT ? UN__DT(UN_BOOL) : d, in, &want));
      un__value got = run(in);
      bool nan = op != UN__OP_LT && isnan(got.f) && isnan(want.f), zero = op == UN__OP_MAX && got.f == want.f;
      cr_assert(nan || zero || un__value_bits(got) == un__value_bits(want), "%s(%a, %a)", un__op_table[op].text, in[0].f, in[1].f);
    }
  }
}

/* Every decomposition is built on vectors as it is on scalars. */
Test(accuracy, vectors) {
  static const un__op ops[] = {UN__OP_EXP, UN__OP_EXP2, UN__OP_LOG, UN__OP_LOG2, UN__OP_SIN, UN__OP_COS, UN__OP_TANH};
  static const un_dtype dts[] = {UN_F32, UN_F64, UN_F16, UN_BF16};
  for (int d = 0; d < 4; d++)
    for (int k = 0; k < 8; k++) {
      const un_uop *x = input(un__dt_vec(dts[d], 8), 0);
      const un_uop *n = k < 7 ? un__unary(g, ops[k], x) : un__binary(g, UN__OP_POW, x, input(un__dt_vec(dts[d], 8), 1));
      n = pass("decompose", pass("narrow", n, true), true);
      cr_assert(n, "%s", err.text);
      cr_assert_eq(n->dtype, un__dt_vec(dts[d], 8));
      size_t count;
      const un_uop **order = un__toposort(n, &count);
      for (size_t i = 0; i < count; i++) cr_assert(un__info(order[i])->stages & UN__STAGE_LINEAR, "%s is left", un__info(order[i])->text);
      un__free(order);
    }
}
