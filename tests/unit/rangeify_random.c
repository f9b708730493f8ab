/* rangeify_random.c - random tensor programs: views, elementwise ops, reductions and gathers on top of each other, several
 * results; scheduled, verified, run, and compared with the interpreter's answer for the tensors. The seed of a failure is
 * its program's name; `RANGEIFY_SEED=n` runs only that one. */
#include <stdio.h>
#include <stdlib.h>

#include "rangeify_build.h"

enum { PROGRAMS = 500, MAX_POOL = 64, MAX_NUMEL = 600 };

typedef struct pool { T at[MAX_POOL]; int n; uint64_t rng; } pool;

static uint32_t below(pool *p, uint32_t n) {
  p->rng = p->rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(p->rng >> 33) % n;
}

static void put(pool *p, T x) {
  cr_assert(x, "building failed: %s", err.text);
  if (p->n < MAX_POOL && un__shape_known_numel(x->shape) <= MAX_NUMEL) p->at[p->n++] = x;
}

/* Newer tensors more often. */
static T any(pool *p) {
  uint32_t a = below(p, (uint32_t)p->n), b = below(p, (uint32_t)p->n);
  return p->at[a > b ? a : b];
}

static bool is_float(T x) { return un__dt_is_float(x->dtype); }
static bool is_bool(T x) { return un__dt_is_bool(x->dtype); }

static S random_shape(pool *p) {
  S s = {below(p, 4), {0}};
  for (uint32_t i = 0; i < s.rank; i++) s.d[i] = below(p, 12) == 0 ? 1 : 1 + below(p, 6);
  return s;
}

static void new_input(pool *p) {
  static const un_dtype dts[] = {UN_F32, UN_F32, UN_F32, UN_I32, UN_BOOL, UN_I64};
  put(p, in(dts[below(p, 6)], random_shape(p)));
}

static bool fits(T a, T b) {
  S x = shape_of(a), y = shape_of(b);
  for (uint32_t i = 1; i <= x.rank && i <= y.rank; i++)
    if (x.d[x.rank - i] != y.d[y.rank - i] && x.d[x.rank - i] != 1 && y.d[y.rank - i] != 1) return false;
  return a->dtype == b->dtype;
}

static T partner(pool *p, T a) {
  for (int i = 0; i < 6; i++) {
    T b = any(p);
    if (fits(a, b)) return b;
  }
  return is_float(a) ? num((int)below(p, 5) * 0.5 - 1) : un__const_i(g, a->dtype, is_bool(a) ? below(p, 2) : below(p, 5));
}

static void binary(pool *p) {
  static const un__op floats[] = {UN__OP_ADD, UN__OP_SUB, UN__OP_MUL, UN__OP_MAX, UN__OP_MIN, UN__OP_LT};
  static const un__op ints[] = {UN__OP_ADD, UN__OP_SUB, UN__OP_MUL, UN__OP_MAX, UN__OP_FLOORDIV, UN__OP_FLOORMOD, UN__OP_EQ};
  static const un__op bools[] = {UN__OP_AND, UN__OP_OR, UN__OP_XOR};
  T a = any(p), b = partner(p, a);
  put(p, op2(is_float(a) ? floats[below(p, 6)] : is_bool(a) ? bools[below(p, 3)] : ints[below(p, 7)], a, b));
}

static void unary(pool *p) {
  T a = any(p);
  if (is_bool(a)) put(p, below(p, 2) ? op1(UN__OP_NOT, a) : cast(UN_I32, a));
  else if (!is_float(a)) put(p, below(p, 2) ? op1(UN__OP_NEG, a) : cast(UN_F32, a));
  else switch (below(p, 5)) {
    case 0: put(p, op1(UN__OP_NEG, a)); break;
    case 1: put(p, op1(UN__OP_EXP, op2(UN__OP_MIN, a, num(2)))); break;
    case 2: put(p, op1(UN__OP_SQRT, op2(UN__OP_MAX, a, num(0)))); break;
    case 3: put(p, op1(UN__OP_RECIP, add(mul(a, a), num(1)))); break;
    default: put(p, relu(a));
  }
}

static void select3(pool *p) {
  T a = any(p), b = partner(p, a);
  T x = broadcast(a, common(shape_of(a), shape_of(b))), c = NULL;
  for (int i = 0; i < 8 && !c; i++) {
    T t = any(p);
    if (is_bool(t) && memcmp(t->shape, x->shape, sizeof(uint32_t)) == 0 && t->shape == x->shape) c = t;
  }
  if (!c) c = op2(UN__OP_NE, cast(UN_I32, x), whole(UN_I32, 0));
  put(p, where(c, x, b));
}

static void reshaped(pool *p) {
  T a = any(p);
  int64_t n = un__shape_known_numel(a->shape);
  S s = {0, {0}};
  while (n > 1 && s.rank < 3) {
    int64_t d = 1 + below(p, 6);
    if (n % d) continue;
    s.d[s.rank++] = d;
    n /= d;
  }
  if (n > 1 || below(p, 3) == 0) s.d[s.rank++] = n;
  put(p, reshape(a, s));
}

static void permuted(pool *p) {
  T a = any(p);
  S o = {a->shape->rank, {0}};
  for (uint32_t i = 0; i < o.rank; i++) o.d[i] = i;
  for (uint32_t i = o.rank; i-- > 1;) {
    uint32_t j = below(p, i + 1);
    int64_t t = o.d[i];
    o.d[i] = o.d[j];
    o.d[j] = t;
  }
  if (o.rank) put(p, permute(a, o));
}

static void expanded(pool *p) {
  T a = any(p);
  S s = shape_of(a), to;
  if (s.rank >= 4) return;
  uint32_t at = below(p, s.rank + 1);
  memmove(s.d + at + 1, s.d + at, (s.rank - at) * sizeof *s.d);
  s.d[at] = 1;
  s.rank++;
  to = s;
  to.d[at] = 1 + below(p, 5);
  put(p, expand(reshape(a, s), to));
}

static void boxed(pool *p, bool grow) {
  T a = any(p);
  S s = shape_of(a), lo = s, hi = s;
  for (uint32_t i = 0; i < s.rank; i++) {
    lo.d[i] = grow ? below(p, 3) : below(p, (uint32_t)s.d[i]);
    hi.d[i] = grow ? below(p, 3) : lo.d[i] + 1 + below(p, (uint32_t)(s.d[i] - lo.d[i]));
  }
  put(p, grow ? pad(a, lo, hi) : shrink(a, lo, hi));
}

static void reduced(pool *p) {
  static const un__op floats[] = {UN__OP_ADD, UN__OP_MAX, UN__OP_MIN}, bools[] = {UN__OP_AND, UN__OP_OR};
  T a = any(p);
  S axes = {0, {0}}, s = shape_of(a);
  for (uint32_t i = 0; i < s.rank; i++)
    if (below(p, 2)) axes.d[axes.rank++] = i;
  if (!axes.rank) return;
  T r = reduce(is_bool(a) ? bools[below(p, 2)] : floats[below(p, 3)], a, axes);
  if (is_float(r) && un__attr(r, 0) == UN__OP_ADD) r = mul(r, num(0.25));
  if (below(p, 2)) {
    for (uint32_t i = 0; i < axes.rank; i++) s.d[axes.d[i]] = 1;
    r = reshape(r, s);
  }
  put(p, r);
}

static void gathered(pool *p) {
  T x = any(p);
  T i = in(UN_I32, S_(1 + below(p, 6)));
  if (x->shape->rank == 0) return;
  T flat = x->shape->rank == 1 ? x : reshape(x, S_(un__shape_known_numel(x->shape)));
  T at = in_range(i, un__shape_known_numel(flat->shape));
  if (below(p, 3) == 0) at = flip(at, 1);
  put(p, gather1(flat, at));
}

static void stacked(pool *p) {
  T a = any(p), b = a;
  for (int i = 0; i < 6; i++) {
    T t = any(p);
    if (t->shape == a->shape && t->dtype == a->dtype) b = t;
  }
  if (a->shape->rank < 4) put(p, stack((T[]){a, b, a}, 2 + below(p, 2)));
}

static void counted(pool *p) {
  T a = any(p);
  S s = shape_of(a);
  if (!s.rank || is_bool(a)) return;
  T i = iota(is_float(a) ? UN_I32 : un__dt_scalar(a->dtype), s.d[s.rank - 1]);
  put(p, is_float(a) ? where(op2(UN__OP_LT, i, whole(UN_I32, below(p, 5))), a, num(0)) : op2(UN__OP_ADD, a, i));
}

static void picked(pool *p) { /* sum of x where position == index */
  T x = any(p);
  S s = shape_of(x);
  if (!s.rank || !(is_float(x) || un__dt_scalar(x->dtype) == UN_I32)) return;
  uint32_t axis = below(p, s.rank);
  S along = s;
  for (uint32_t i = 0; i < s.rank; i++)
    if (i != axis) along.d[i] = 1;
  T is = op2(UN__OP_EQ, reshape(iota(UN_I32, s.d[axis]), along), in(UN_I32, S0));
  put(p, sum(where(is, x, un__dt_is_float(x->dtype) ? num(0) : whole(UN_I32, 0)), axis));
}

static T program(uint64_t number, pool *p) {
  *p = (pool){.rng = number * 7919 + 17};
  int inputs_wanted = 1 + (int)below(p, 4), steps = 3 + (int)below(p, 22);
  for (int i = 0; i < inputs_wanted; i++) new_input(p);
  for (int i = 0; i < steps; i++) {
    switch (below(p, 17)) {
      case 0: case 1: case 2: binary(p); break;
      case 3: case 4: unary(p); break;
      case 5: select3(p); break;
      case 6: reshaped(p); break;
      case 7: permuted(p); break;
      case 8: expanded(p); break;
      case 9: boxed(p, true); break;
      case 10: boxed(p, false); break;
      case 11: case 12: reduced(p); break;
      case 13: gathered(p); break;
      case 14: stacked(p); break;
      case 15: below(p, 2) ? counted(p) : picked(p); break;
      default: put(p, below(p, 3) ? flip(any(p), 1) : contiguous(any(p)));
    }
  }
  T out[4];
  uint32_t n = 1 + below(p, 3);
  for (uint32_t i = 0; i < n; i++) out[i] = i ? any(p) : p->at[p->n - 1];
  return un__sink(g, out, n);
}

static void run_program(uint64_t number) {
  char name[64];
  pool p;
  snprintf(name, sizeof name, "program %lu", (unsigned long)number);
  begin();
  T sink = program(number, &p);
  un__rangeify_options opt = {number % 3 ? UN__LIC_PRECISE : UN__LIC_STRICT, number % 4 == 3 ? 4 : 1,
                              number % 8 == 3 ? 1 : 1 << 14};
  check(name, sink, &opt);
  end();
}

Test(rangeify_random, programs, .timeout = 100) {
  const char *only = getenv("RANGEIFY_SEED");
  if (only) {
    run_program(strtoull(only, NULL, 10));
    return;
  }
  for (uint64_t i = 1; i <= PROGRAMS; i++) run_program(i);
}
