/* Random index expressions: simplified, then compared with the original by evaluation at every point, or many. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simplify/simplify.h"
#include "uop/eval.h"

enum { VARS = 3, POOL = 24, MAX_POINTS = 1500 };

static uint64_t rng;
static uint32_t rnd(uint32_t n) {
  rng ^= rng << 13;
  rng ^= rng >> 7;
  rng ^= rng << 17;
  return (uint32_t)((rng >> 11) % n);
}
static int64_t between(int64_t lo, int64_t hi) { return lo + (int64_t)rnd((uint32_t)(hi - lo + 1)); }

typedef struct program {
  un__err err;
  un__graph *g;
  const un_uop *var[VARS];
  int64_t lo[VARS], hi[VARS];
} program;

/* ---- building ---- */

static const un_uop *make_var(program *p, int i) {
  static const int64_t starts[] = {0, 0, 0, 1, -3, -7, 5};
  p->lo[i] = starts[rnd(7)];
  p->hi[i] = p->lo[i] + (rnd(4) ? between(0, 11) : between(12, 200));
  if (p->lo[i] == 0 && p->hi[i] > 0 && rnd(2))     /* a loop instead of a VAR */
    return un__range(p->g, un__idx(p->g, p->hi[i] + 1), UN__AXIS_LOOP, un__graph_fresh_range(p->g));
  int64_t name[UN__NAME_WORDS] = {'a' + i};
  return un__uop(p->g, UN__OP_VAR, 0, (const un_uop *[]){un__idx(p->g, p->lo[i]), un__idx(p->g, p->hi[i])}, 2, name, 2);
}

static int64_t small_const(void) {
  static const int64_t c[] = {1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 12, 16, 24, 60, 97, -1, -2, -3, -4, -12, 0};
  return c[rnd(22)];
}

static const un_uop *cond(program *p, const un_uop *a, const un_uop *b) {
  static const un__op ops[] = {UN__OP_LT, UN__OP_LT, UN__OP_LT, UN__OP_EQ, UN__OP_NE};
  const un_uop *right = rnd(3) ? un__idx(p->g, between(-6, 30)) : b;
  return rnd(4) ? un__binary(p->g, ops[rnd(5)], a, right) : un__binary(p->g, UN__OP_LT, right, a);
}

static const un_uop *conds(program *p, const un_uop *const *pool, uint32_t n) {
  const un_uop *c = cond(p, pool[rnd(n)], pool[rnd(n)]);
  for (uint32_t i = rnd(4); i > 0; i--) {
    const un_uop *d = cond(p, pool[rnd(n)], pool[rnd(n)]);
    if (rnd(4) == 0) d = un__unary(p->g, UN__OP_NOT, d);
    c = un__binary(p->g, rnd(3) ? UN__OP_AND : UN__OP_OR, c, d);
  }
  return c;
}

static const un_uop *scaled(program *p, const un_uop *x, int64_t by) {
  return by == 1 ? x : un__binary(p->g, UN__OP_MUL, x, un__idx(p->g, by));
}

/* What a reshape makes: x in digits, each digit scaled again, sometimes one missing or wrong, other terms between. */
static const un_uop *digits(program *p, const un_uop *x, const un_uop *other) {
  static const int64_t radix[] = {2, 3, 4, 5, 6};
  un__graph *g = p->g;
  int64_t place = 1, scale = (int64_t[]){1, 1, 2, 3, -1}[rnd(5)];
  const un_uop *sum = rnd(2) ? other : NULL;
  for (uint32_t i = 1 + rnd(3);; i--) {
    int64_t r = radix[rnd(5)];
    const un_uop *d = place == 1 ? x : un__binary(g, UN__OP_FLOORDIV, x, un__idx(g, place));
    if (i > 0) d = un__binary(g, UN__OP_FLOORMOD, d, un__idx(g, r));
    d = scaled(p, d, scale * place * (rnd(12) ? 1 : 2));
    if (rnd(12)) sum = sum ? un__binary(g, UN__OP_ADD, sum, d) : d;
    if (rnd(4) == 0 && sum) sum = un__binary(g, UN__OP_ADD, sum, scaled(p, other, small_const()));
    if (i == 0) return sum ? sum : x;
    place *= r;
  }
}

/* A row-major index of small coordinates. */
static const un_uop *flat(program *p, const un_uop *const *pool, uint32_t n) {
  const un_uop *sum = pool[rnd(n)];
  for (uint32_t i = 1 + rnd(2); i > 0; i--)
    sum = un__binary(p->g, UN__OP_ADD, scaled(p, sum, 2 + rnd(11)), pool[rnd(n)]);
  return sum;
}

static const un_uop *grow(program *p, const un_uop *const *pool, uint32_t n) {
  un__graph *g = p->g;
  const un_uop *a = pool[rnd(n)], *b = pool[rnd(n)], *k = un__idx(g, small_const());
  switch (rnd(20)) {
  case 16: case 17: return digits(p, a, b);
  case 18: case 19: return flat(p, pool, n);
  case 0: case 1: case 2: return un__binary(g, UN__OP_ADD, a, b);
  case 3: return un__binary(g, UN__OP_ADD, a, un__idx(g, between(-9, 20)));
  case 4: return un__binary(g, UN__OP_SUB, a, b);
  case 5: case 6: case 7: return un__binary(g, UN__OP_MUL, a, k);
  case 8: case 9: return un__binary(g, UN__OP_FLOORDIV, a, k);
  case 10: case 11: return un__binary(g, UN__OP_FLOORMOD, a, k);
  case 12: return un__binary(g, rnd(2) ? UN__OP_MIN : UN__OP_MAX, a, rnd(2) ? b : k);
  case 13: case 14: return un__ternary(g, UN__OP_WHERE, conds(p, pool, n), a, rnd(2) ? b : k);
  default: return rnd(3) ? un__unary(g, UN__OP_NEG, a) : un__binary(g, rnd(2) ? UN__OP_FLOORDIV : UN__OP_FLOORMOD, a, b);
  }
}

static const un_uop *make_expr(program *p) {
  const un_uop *pool[POOL];
  uint32_t n = 0;
  for (int i = 0; i < VARS; i++) pool[n++] = p->var[i] = make_var(p, i);
  uint32_t want = VARS + 2 + rnd(POOL - VARS - 2);
  while (n < want) {
    pool[n] = grow(p, pool, n);
    cr_assert(pool[n], "%s", p->err.text);
    n++;
  }
  return rnd(4) ? pool[n - 1] : conds(p, pool, n);
}

/* ---- evaluating ---- */

typedef struct plan { const un_uop **order; size_t n; un__value *value; bool *known; } plan;

static plan plan_of(program *p, const un_uop *root) {
  plan e = {.order = un__toposort(root, &e.n)};
  e.value = calloc(un__graph_id_limit(p->g), sizeof *e.value);
  e.known = calloc(un__graph_id_limit(p->g), sizeof *e.known);
  cr_assert(e.order && e.value && e.known);
  return e;
}
static void plan_free(plan *e) {
  un__free(e->order);
  free(e->value);
  free(e->known);
}

/* False: index arithmetic left int64 on the way. */
static bool eval_at(const program *p, plan *e, const int64_t *point, int64_t *out) {
  const un_uop *n = NULL;
  for (size_t i = 0; i < e->n; i++) {
    n = e->order[i];
    un__value *v = &e->value[n->id];
    bool ok = true;
    if (un__is_const(n)) *v = un__value_i(n->dtype, un__const_int(n));
    else if (n == p->var[0] || n == p->var[1] || n == p->var[2])
      *v = un__value_i(n->dtype, point[n == p->var[0] ? 0 : n == p->var[1] ? 1 : 2]);
    else {
      un__value args[3];
      for (uint32_t k = 0; k < n->nsrc && k < 3; k++) {
        args[k] = e->value[n->src[k]->id];
        ok = ok && e->known[n->src[k]->id];
      }
      ok = ok && un__eval((un__op)n->op, n->dtype, args, v);
    }
    e->known[n->id] = ok;
    cr_assert(!ok || (v->i >= n->vmin && v->i <= n->vmax), "%s: %lld outside [%lld, %lld]", un__info(n)->name,
              (long long)v->i, (long long)n->vmin, (long long)n->vmax);
  }
  *out = e->value[n->id].i;
  return e->known[n->id];
}

static bool next_point(const program *p, int64_t *point, uint32_t step, uint64_t all) {
  if (all > MAX_POINTS) {
    for (int i = 0; i < VARS; i++) point[i] = between(p->lo[i], p->hi[i]);
    return step < MAX_POINTS;
  }
  for (int i = 0; i < VARS; i++) {
    if (point[i]++ < p->hi[i]) return true;
    point[i] = p->lo[i];
  }
  return false;
}

static void put(const un_uop *n, int depth) {
  if (un__is_const(n)) fprintf(stderr, "%lld", (long long)un__const_int(n));
  else if (un__is(n, UN__OP_VAR)) fprintf(stderr, "%c[%lld,%lld]", (char)un__attr(n, 0), (long long)n->vmin, (long long)n->vmax);
  else {
    fprintf(stderr, "%s", un__info(n)->name);
    if (un__is(n, UN__OP_RANGE)) fprintf(stderr, "%lld", (long long)un__range_id(n));
    for (uint32_t i = 0; i < n->nsrc; i++) {
      fprintf(stderr, i ? ", " : "(");
      if (depth < 40) put(n->src[i], depth + 1);
    }
    fprintf(stderr, ")");
  }
}

static void show(const un_uop *before, const un_uop *after) {
  put(before, 0);
  fprintf(stderr, "\n->\n");
  if (after) put(after, 0);
  fprintf(stderr, "\n");
}

/* In a workspace that remembers nothing, a normal form stays what it is. */
static void check_stable(uint64_t seed, const un_uop *before, const un_uop *after) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  const un_uop *copy = un__copy(g, after), *again = un__simplify(g, copy);
  if (again != copy) show(before, after), show(copy, again);
  cr_assert_eq(again, copy, "seed %llu: simplifying twice gives more", (unsigned long long)seed);
  un__workspace_destroy(g);
}

static void check_one(uint64_t seed) {
  program p = {0};
  rng = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  p.g = un__workspace_create(&p.err);
  const un_uop *before = make_expr(&p), *after = un__simplify(p.g, before);
  if (!after) show(before, NULL);
  cr_assert(after, "seed %llu: %s", (unsigned long long)seed, p.err.text);
  plan a = plan_of(&p, before), b = plan_of(&p, after);
  uint64_t all = 1;
  int64_t point[VARS];
  for (int i = 0; i < VARS; i++) {
    all *= (uint64_t)(p.hi[i] - p.lo[i] + 1);
    point[i] = p.lo[i];
  }
  uint32_t step = 0;
  do {
    int64_t x, y;
    if (!eval_at(&p, &a, point, &x)) continue;
    bool ok = eval_at(&p, &b, point, &y);
    if (!ok || x != y) show(before, after);
    cr_assert(ok && x == y, "seed %llu: at %lld, %lld, %lld: %lld became %lld", (unsigned long long)seed, (long long)point[0],
              (long long)point[1], (long long)point[2], (long long)x, (long long)y);
  } while (next_point(&p, point, ++step, all));
  check_stable(seed, before, after);
  plan_free(&a);
  plan_free(&b);
  un__workspace_destroy(p.g);
}

Test(simplify_fuzz, equal_at_every_point) {
  const char *env = getenv("UNIR_TEST_SEED");
  uint64_t seed = env ? strtoull(env, NULL, 10) : 1;
  uint64_t n = 0;
  for (; n < 4000; n++) check_one(seed + n);
  printf("# simplify_fuzz: seeds %llu to %llu\n", (unsigned long long)seed, (unsigned long long)(seed + n - 1));
}
