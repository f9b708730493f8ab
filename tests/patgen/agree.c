/* agree.c - on random terms the decision tree fires the rule that trying rules one by one fires, with the same result.
 *
 * Terms are grown in a pool: random operations on random members, results of rules included, so that sources have the
 * shapes that rules look for. */
#include <stdio.h>

#include "agree.h"

enum { TERMS = 400000, POOL = 3000, MAX_RULES = 2048, MIN_FIRED = 100 };

bool agree_enabled(const un__rw *rw, uint32_t rule) { return true; }

const un_uop *agree_fire(un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to) {
  if (!to || to == from) return NULL;
  rw->state->fired = rule + 1;
  return to;
}

typedef struct pool {
  un__graph *g;
  uint64_t seed;
  const un_uop *at[POOL];
  uint32_t n;
} pool;

static uint32_t below(pool *p, uint32_t n) {
  p->seed = p->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(p->seed >> 33) % n;
}

static void add(pool *p, const un_uop *n) {
  if (!n || un__has_flag(n, UN__F_MEM)) return;
  if (p->n < POOL)
    p->at[p->n++] = n;
  else
    p->at[60 + below(p, POOL - 60)] = n; /* leaves stay */
}

static void leaves(pool *p) {
  static const un_dtype dtypes[] = {UN_BOOL, UN_I32, UN_U8, UN_F32, UN_INDEX, UN_INDEX};
  static const int64_t values[] = {0, 1, 2, 3, 4, -1};
  for (int d = 0; d < 6; d++) {
    un__dtype dt = UN__DT(dtypes[d]);
    for (int v = 0; v < 6; v++)
      add(p, dtypes[d] == UN_F32 ? un__const_f(p->g, dt, (double)values[v]) : un__const_i(p->g, dt, values[v]));
    for (int64_t k = 0; k < 3; k++) {
      const un_uop *src[2] = {un__idx(p->g, -k), un__idx(p->g, 3 * k + 2)};
      const int64_t name[UN__NAME_WORDS] = {'a' + 3 * d + k, 0}, slot[2] = {3 * d + k, 0};
      add(p, dtypes[d] == UN_INDEX ? un__uop(p->g, UN__OP_VAR, 0, src, 2, name, UN__NAME_WORDS)
                                   : un__uop(p->g, UN__OP_BUFFER, dt, NULL, 0, slot, 2));
    }
  }
}

/* A member of the pool with this dtype, or any when dt is 0. Leaves and recent terms come more often. */
static const un_uop *pick(pool *p, un__dtype dt) {
  for (int tries = 0; tries < 200; tries++) {
    uint32_t i = below(p, 3) ? below(p, p->n) : below(p, p->n < 60 ? p->n : 60);
    if (!dt || p->at[i]->dtype == dt) return p->at[i];
  }
  return NULL;
}

/* A random elementwise operation, conversion or VALID on members of the pool; NULL when it cannot be built. */
static const un_uop *grow(pool *p) {
  un__op op = (un__op)(1 + below(p, UN__OP_COUNT - 1));
  const un__op_info *info = &un__op_table[op];
  if (op == UN__OP_VALID) return un__binary(p->g, op, pick(p, UN__DT(UN_INDEX)), pick(p, UN__DT(UN_BOOL)));
  if (!(info->flags & UN__F_ELEM) || op == UN__OP_THREEFRY) return NULL;
  static const un_dtype targets[] = {UN_BOOL, UN_I32, UN_U8, UN_F32, UN_INDEX, UN_I64};
  const un_uop *a = pick(p, 0), *src[3] = {a, NULL, NULL};
  if (op == UN__OP_CAST) return un__cast(p->g, UN__DT(targets[below(p, 6)]), a);
  if (info->dtype_rule == UN__DR_GIVEN || !a || un__dt_class(a->dtype) == UN__CLASS_VOID) return NULL;
  const char *cls = un__dt_is_float(a->dtype)   ? "f"
                    : un__dt_is_bool(a->dtype)  ? "b"
                    : un__dt_is_index(a->dtype) ? "x"
                    : un__m_is_sint(a->dtype)   ? "i"
                                                : "u";
  if (info->operands[0] != '*' && !strchr(info->operands, cls[0])) return NULL;
  for (uint32_t i = 1; i < info->min_src; i++) src[i] = pick(p, a->dtype);
  if (op == UN__OP_WHERE) src[0] = pick(p, UN__DT(UN_BOOL)), src[2] = src[1] ? pick(p, src[1]->dtype) : NULL;
  for (uint32_t i = 0; i < info->min_src; i++)
    if (!src[i]) return NULL;
  return un__uop(p->g, op, 0, src, info->min_src, NULL, 0);
}

static const un_uop *match(const pool *p, const un__ruleset *set, const un_uop *n, uint32_t licences, uint32_t *fired) {
  struct un__rw_state state = {0};
  un__rw rw = {.g = p->g, .licences = licences, .set = set, .root = n, .state = &state};
  const un_uop *to = set->match[n->op] ? set->match[n->op](&rw, n) : NULL;
  *fired = to ? state.fired : 0;
  return to;
}

int main(void) {
  static pool p;
  static uint32_t count[MAX_RULES];
  un__err err = {0};
  p = (pool){.g = un__workspace_create(&err), .seed = 1};
  if (!p.g) return 2;
  leaves(&p);
  int wrong = 0, fires = 0, rules = 0;
  for (int i = 0; i < TERMS && wrong < 10; i++) {
    const un_uop *n = grow(&p);
    uint32_t licences = below(&p, 2) ? UN__LIC_FAST : UN__LIC_STRICT, a, b;
    if (!n) continue;
    const un_uop *x = match(&p, &agree_tree, n, licences, &a), *y = match(&p, &agree_linear, n, licences, &b);
    if (x != y || a != b) {
      printf("not ok - %s: tree %s, one by one %s\n", un__info(n)->name, a ? agree_tree.rules[a - 1].name : "nothing",
             b ? agree_linear.rules[b - 1].name : "nothing");
      wrong++;
    }
    fires += a != 0;
    if (a && a <= MAX_RULES) count[a - 1]++;
    add(&p, n);
    add(&p, x);
  }
  for (uint32_t r = 0; r < agree_tree.nrules && r < MAX_RULES; r++) rules += count[r] != 0;
  if (un__graph_status(p.g) != UN_OK) printf("not ok - %s\n", un__graph_err(p.g)->text), wrong++;
  if (rules < MIN_FIRED) printf("not ok - only %d rules have fired\n", rules), wrong++;
  printf("%s - %d firings of %d of %u rules\n", wrong ? "not ok" : "ok", fires, rules, (unsigned)agree_tree.nrules);
  un__workspace_destroy(p.g);
  return wrong != 0;
}
