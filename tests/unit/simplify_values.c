/* Random expressions of every scalar dtype: simplified, then compared with the original on special and random values.
 * Floats must agree bit for bit, NaNs aside: un__simplify has the licences of `precise`, which allow nothing else. */
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simplify/simplify.h"
#include "uop/eval.h"

enum { DTYPES = 13, LEAVES = 2, POINTS = 60 };

static const un_dtype dtypes[DTYPES] = {UN_BOOL, UN_BOOL, UN_I8, UN_U8, UN_I16, UN_U16, UN_I32, UN_U32, UN_I64, UN_U64,
                                        UN_F16, UN_F32, UN_F64};

static uint64_t rng;
static uint64_t next(void) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return rng;
}
static uint32_t rnd(uint32_t n) { return (uint32_t)((next() >> 11) % n); }

typedef struct program {
  un__err err;
  un__graph *g;
  const un_uop *leaf[DTYPES * LEAVES];
  uint32_t nleaves;
  const un_uop *pool[DTYPES * LEAVES + 64];
  uint32_t n;
} program;

static const un_uop *constant(program *p, un_dtype t) {
  static const int64_t c[] = {0, 0, 1, 1, -1, 2, 3, 7, 8, 100, -128, 127, 255};
  return un__const_i(p->g, UN__DT(t), c[rnd(13)]);
}

/* Something of that dtype: a pool member when there is one, else a constant. */
static const un_uop *pick(program *p, un_dtype t) {
  for (int tries = 0; tries < 40; tries++) {
    const un_uop *n = p->pool[rnd(p->n)];
    if (un__dt_scalar(n->dtype) == t) return n;
  }
  return constant(p, t);
}
static const un_uop *operand(program *p, un_dtype t) { return rnd(3) ? pick(p, t) : constant(p, t); }

static const un_uop *condition(program *p) {
  static const un__op cmp[] = {UN__OP_LT, UN__OP_EQ, UN__OP_NE};
  un_dtype t = dtypes[rnd(DTYPES)];
  switch (rnd(6)) {
  case 0: return un__unary(p->g, UN__OP_NOT, pick(p, UN_BOOL));
  case 1: return un__binary(p->g, UN__OP_AND, pick(p, UN_BOOL), pick(p, UN_BOOL));
  case 2: return un__binary(p->g, UN__OP_OR, pick(p, UN_BOOL), pick(p, UN_BOOL));
  default: return un__binary(p->g, cmp[rnd(3)], operand(p, t), operand(p, t));
  }
}

static const un_uop *arithmetic(program *p, un_dtype t) {
  static const un__op ints[] = {UN__OP_ADD, UN__OP_ADD, UN__OP_SUB, UN__OP_MUL, UN__OP_MUL, UN__OP_AND, UN__OP_OR, UN__OP_XOR,
                                UN__OP_MAX, UN__OP_MIN, UN__OP_FLOORDIV, UN__OP_FLOORMOD, UN__OP_TRUNCDIV, UN__OP_TRUNCMOD,
                                UN__OP_SHL, UN__OP_SHR};
  static const un__op floats[] = {UN__OP_ADD, UN__OP_SUB, UN__OP_MUL, UN__OP_FDIV};
  static const un__op bools[] = {UN__OP_AND, UN__OP_OR, UN__OP_XOR, UN__OP_MAX, UN__OP_MIN};
  const un_uop *a = pick(p, t), *b = operand(p, t);
  if (t == UN_BOOL) return un__binary(p->g, bools[rnd(5)], a, b);
  if (rnd(6) == 0) return un__unary(p->g, UN__OP_NEG, a);
  if (un__dt_is_float(UN__DT(t))) return un__binary(p->g, floats[rnd(4)], a, b);
  if (rnd(8) == 0) return un__unary(p->g, UN__OP_NOT, a);
  return un__binary(p->g, ints[rnd(16)], a, b);
}

static const un_uop *grow(program *p) {
  un_dtype t = dtypes[rnd(DTYPES)];
  switch (rnd(8)) {
  case 0: return condition(p);
  case 1: case 2: return un__ternary(p->g, UN__OP_WHERE, pick(p, UN_BOOL), operand(p, t), operand(p, t));
  case 3: case 4: return un__cast(p->g, UN__DT(t), p->pool[rnd(p->n)]);
  default: return arithmetic(p, t);
  }
}

static const un_uop *make(program *p) {
  for (int i = 0; i < DTYPES; i++)
    for (int k = 0; k < LEAVES; k++) {
      int64_t attrs[2] = {p->nleaves, 0};
      p->leaf[p->nleaves++] = p->pool[p->n++] = un__uop(p->g, UN__OP_BUFFER, UN__DT(dtypes[i]), NULL, 0, attrs, 2);
    }
  for (uint32_t want = p->n + 2 + rnd(50); p->n < want; p->n++) {
    const un_uop *n = grow(p);
    cr_assert(n, "%s", p->err.text);
    p->pool[p->n] = n;
  }
  return p->pool[p->n - 1];
}

static un__value special(un_dtype t) {
  static const double f[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, INFINITY, -INFINITY, NAN, 65504.0, 1e-7, 3.5, -255.0, 3e9};
  static const int64_t i[] = {0, 1, -1, 2, 3, 7, 127, -128, 255, 32767, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  if (un__dt_is_float(UN__DT(t))) return un__value_f(UN__DT(t), rnd(4) ? f[rnd(14)] : (double)(int64_t)next() / 1e15);
  return un__value_i(UN__DT(t), rnd(3) ? i[rnd(14)] : (int64_t)next() >> rnd(64));
}

typedef struct plan { const un_uop **order; size_t n; un__value *value; } plan;

static plan plan_of(program *p, const un_uop *root) {
  plan e = {.order = un__toposort(root, &e.n), .value = calloc(un__graph_id_limit(p->g), sizeof *e.value)};
  cr_assert(e.order && e.value);
  return e;
}

static void eval(const program *p, plan *e, const un__value *leaf, un__value *out) {
  const un_uop *n = NULL;
  for (size_t i = 0; i < e->n; i++) {
    n = e->order[i];
    un__value *v = &e->value[n->id], args[3];
    if (un__is(n, UN__OP_BUFFER)) *v = leaf[un__attr(n, 0)];
    else if (un__is_const(n)) *v = un__value_from_bits(n->dtype, (uint64_t)un__attr(n, 0));
    else {
      for (uint32_t k = 0; k < n->nsrc && k < 3; k++) args[k] = e->value[n->src[k]->id];
      cr_assert(un__eval((un__op)n->op, n->dtype, args, v), "%s", un__info(n)->name);
    }
    if (un__dt_is_float(n->dtype) || (un__dt_scalar(n->dtype) == UN_U64 && v->i < 0)) continue;
    cr_assert(v->i >= n->vmin && v->i <= n->vmax, "%s: %lld outside [%lld, %lld]", un__info(n)->name, (long long)v->i,
              (long long)n->vmin, (long long)n->vmax);
  }
  *out = e->value[n->id];
}

static bool same(un__value a, un__value b) {
  if (!un__dt_is_float(a.dtype)) return a.i == b.i;
  return (isnan(a.f) && isnan(b.f)) || un__value_bits(a) == un__value_bits(b);
}

static void put(const un_uop *n, int depth) {
  if (un__is_const(n) && un__dt_is_float(n->dtype)) fprintf(stderr, "%a", un__const_float(n));
  else if (un__is_const(n)) fprintf(stderr, "%lld", (long long)un__const_int(n));
  else if (un__is(n, UN__OP_BUFFER)) fprintf(stderr, "v%lld", (long long)un__attr(n, 0));
  else {
    fprintf(stderr, "%s", un__info(n)->name);
    for (uint32_t i = 0; i < n->nsrc && depth < 30; i++) {
      fprintf(stderr, i ? ", " : "(");
      put(n->src[i], depth + 1);
    }
    fprintf(stderr, ")");
  }
  fprintf(stderr, ":%s", un__dt_info(n->dtype)->name);
}

static void show(const un_uop *before, const un_uop *after) {
  put(before, 0);
  fprintf(stderr, "\n->\n");
  if (after) put(after, 0);
  fprintf(stderr, "\n");
}

static void check_one(uint64_t seed) {
  static program p;
  p = (program){0};
  rng = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  p.g = un__workspace_create(&p.err);
  const un_uop *before = make(&p), *after = un__simplify(p.g, before);
  if (!after) show(before, NULL);
  cr_assert(after, "seed %llu: %s", (unsigned long long)seed, p.err.text);
  cr_assert_eq(after->dtype, before->dtype);
  plan a = plan_of(&p, before), b = plan_of(&p, after);
  for (int i = 0; i < POINTS; i++) {
    un__value leaf[DTYPES * LEAVES], x, y;
    for (uint32_t k = 0; k < p.nleaves; k++) leaf[k] = special(un__dt_scalar(p.leaf[k]->dtype));
    eval(&p, &a, leaf, &x);
    eval(&p, &b, leaf, &y);
    if (!same(x, y)) {
      show(before, after);
      for (uint32_t k = 0; k < p.nleaves; k++)
        if (un__dt_is_float(leaf[k].dtype)) fprintf(stderr, "v%u=%a ", k, leaf[k].f);
        else fprintf(stderr, "v%u=%lld ", k, (long long)leaf[k].i);
    }
    cr_assert(same(x, y), "seed %llu: %lld (%a) became %lld (%a)", (unsigned long long)seed, (long long)x.i, x.f,
              (long long)y.i, y.f);
  }
  un__free(a.order);
  un__free(b.order);
  free(a.value);
  free(b.value);
  un__workspace_destroy(p.g);
}

Test(simplify_values, equal_on_special_values) {
  const char *env = getenv("UNIR_TEST_SEED");
  uint64_t seed = env ? strtoull(env, NULL, 10) : 1, n = 0;
  for (; n < 6000; n++) check_one(seed + n);
  printf("# simplify_values: seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)(seed + n - 1));
}
