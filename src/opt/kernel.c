#include "kernel.h"

#include <stdlib.h>

#include "uop/combine.h"

int32_t un__opt_axis_by_id(const un__opt_kernel *k, int64_t id) {
  for (uint32_t i = 0; i < k->naxes; i++)
    if (k->axis[i].id == id) return (int32_t)i;
  return -1;
}

uint64_t un__opt_trips(const un__opt_kernel *k, uint64_t axes) {
  uint64_t n = 1;
  for (; axes; axes &= axes - 1) n = un__opt_sat_mul(n, (uint64_t)k->axis[__builtin_ctzll(axes)].size);
  return n;
}

void un__opt_kernel_finish(un__opt_kernel *k) {
  un__topo_finish(&k->nodes);
  un__free(k->scope);
  un__free(k->value);
  un__free(k->mask);
  un__free(k->stored);
  k->scope = NULL;
  k->value = NULL;
  k->mask = NULL;
  k->stored = NULL;
}

/* ---- axes ---- */

static int by_id(const void *a, const void *b) {
  int64_t x = ((const un__opt_axis *)a)->id, y = ((const un__opt_axis *)b)->id;
  return x < y ? -1 : x > y;
}

static un_status find_axes(un__opt_kernel *k, un__err *err) {
  for (size_t i = 0; i < k->nodes.n; i++) {
    const un_uop *r = k->nodes.at[i];
    if (!un__is(r, UN__OP_RANGE)) continue;
    if (k->naxes == UN__OPT_MAX_AXES)
      return un__fail(err, UN_ERR_UNSUPPORTED, "optimise: kernel has more than %d loops", UN__OPT_MAX_AXES);
    int64_t size = un__known_size(r->src[0]);
    k->axis[k->naxes++] = (un__opt_axis){.range = r,
                                         .id = un__range_id(r),
                                         .type = un__range_axis(r),
                                         .known = size >= 0,
                                         .size = size >= 0 ? size : r->src[0]->vmax,
                                         .scope = UINT32_MAX};
  }
  qsort(k->axis, k->naxes, sizeof *k->axis, by_id);
  for (uint32_t i = 1; i < k->naxes; i++)
    if (k->axis[i].id == k->axis[i - 1].id)
      return un__fail(err, UN_ERR_INTERNAL, "optimise: two loops share range id %lld", (long long)k->axis[i].id);
  k->next_id = k->naxes ? k->axis[k->naxes - 1].id + 1 : 0;
  return UN_OK;
}

static uint64_t mask_of(const un__opt_kernel *k, const un_uop *n) {
  uint64_t m = 0;
  for (uint32_t i = 0; i < n->ranges->n; i++) {
    int32_t a = un__opt_axis_by_id(k, un__range_id(n->ranges->range[i]));
    if (a >= 0) m |= UINT64_C(1) << a;
  }
  return m;
}

/* ---- scopes ---- */

static un_status new_scope(un__opt_kernel *k, const un_uop *n, un__err *err) {
  un__opt_scope *s = &k->scope[k->nscopes];
  *s = (un__opt_scope){.node = n, .reduce = un__is(n, UN__OP_REDUCE)};
  for (uint32_t i = 1; i < n->nsrc; i++) {
    int32_t a = un__is(n->src[i], UN__OP_RANGE) ? un__opt_axis_by_id(k, un__range_id(n->src[i])) : -1;
    if (a < 0 || k->axis[a].scope != UINT32_MAX)
      return un__fail(err, UN_ERR_UNSUPPORTED, "optimise: %s closes only some of the loops of another nest",
                      un__info(n)->text);
    s->order[s->n++] = (uint8_t)a;
    s->axes |= UINT64_C(1) << a;
    k->axis[a].scope = k->nscopes;
    k->axis[a].reduce = s->reduce;
  }
  k->nscopes++;
  return UN_OK;
}

/* The scope of an END or REDUCE: a new one, or that of an earlier one with the same ranges, whose loops it shares. */
static un_status join_scope(un__opt_kernel *k, const un_uop *n, un__err *err) {
  un__opt_scope *s = NULL;
  for (uint32_t i = 0; i < k->nscopes && !s; i++)
    if (k->scope[i].node->op == n->op && un__same_ranges(k->scope[i].node, n)) s = &k->scope[i];
  if (!s) {
    UN__TRY(new_scope(k, n, err));
    s = &k->scope[k->nscopes - 1];
  }
  s->outer |= mask_of(k, n);
  s->float_order |= s->reduce && un__reduce_rounds(n);
  return UN_OK;
}

static un_status find_scopes(un__opt_kernel *k, un__err *err) {
  k->scope = un__calloc(k->naxes + 1, sizeof *k->scope);
  if (!k->scope) return un__fail(err, UN_ERR_NOMEM, "optimise: no memory");
  for (size_t i = 0; i < k->nodes.n; i++) {
    const un_uop *n = k->nodes.at[i];
    if (un__is(n, UN__OP_END) || un__is(n, UN__OP_REDUCE)) UN__TRY(join_scope(k, n, err));
  }
  for (uint32_t i = 0; i < k->naxes; i++)
    if (k->axis[i].scope == UINT32_MAX)
      return un__fail(err, UN_ERR_INTERNAL, "optimise: nothing closes range %lld", (long long)k->axis[i].id);
  return UN_OK;
}

/* around[a]: the axes of all loops that run around the body of loop a, a included. */
static void find_enclosing(const un__opt_kernel *k, uint64_t *around) {
  for (uint32_t i = 0; i < k->nscopes; i++) {
    uint64_t above = k->scope[i].outer;
    for (uint32_t j = 0; j < k->scope[i].n; j++)
      around[k->scope[i].order[j]] = above |= UINT64_C(1) << k->scope[i].order[j];
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t a = 0; a < k->naxes; a++)
      for (uint64_t m = around[a]; m; m &= m - 1) {
        uint64_t more = around[a] | around[__builtin_ctzll(m)];
        changed |= more != around[a];
        around[a] = more;
      }
  }
}

static uint64_t all_around(const uint64_t *around, uint64_t moves) {
  uint64_t live = 0;
  for (; moves; moves &= moves - 1) live |= around[__builtin_ctzll(moves)];
  return live;
}

static void close_scopes(un__opt_kernel *k, const uint64_t *around) {
  for (uint32_t i = 0; i < k->nscopes; i++)
    k->scope[i].outer = all_around(around, k->scope[i].outer) & ~k->scope[i].axes;
}

/* ---- values ---- */

/* Scalar operations that one execution stands for, measured against an addition. 1 where absent. */
static const uint8_t op_cost[UN__OP_COUNT] = {
    [UN__OP_RECIP] = 4,     [UN__OP_SQRT] = 4,      [UN__OP_FDIV] = 4,      [UN__OP_EXP] = 12,
    [UN__OP_EXP2] = 12,     [UN__OP_LOG] = 14,      [UN__OP_LOG2] = 14,     [UN__OP_SIN] = 20,      [UN__OP_COS] = 20,
    [UN__OP_POW] = 40,      [UN__OP_THREEFRY] = 80, [UN__OP_FLOORDIV] = 16, [UN__OP_FLOORMOD] = 16,
    [UN__OP_TRUNCDIV] = 16, [UN__OP_TRUNCMOD] = 16, [UN__OP_TANH] = 30,
};

static bool takes_time(const un_uop *n, un__opt_kind *kind) {
  if (un__is(n, UN__OP_LOAD))
    *kind = UN__OPT_LOAD;
  else if (un__is(n, UN__OP_STORE))
    *kind = UN__OPT_STORE;
  else if (un__is(n, UN__OP_REDUCE))
    *kind = UN__OPT_COMBINE;
  else if (un__has_flag(n, UN__F_ELEM))
    *kind = UN__OPT_ALU;
  else
    return false;
  /* Index arithmetic and gates ride along with the accesses. */
  return *kind != UN__OPT_ALU || (!un__dt_is_index(n->dtype) && !un__dt_is_index(n->src[0]->dtype));
}

/* A step of a tuple reduction is what its body holds. */
static un_status cost_of(const un_uop *n, uint32_t *out) {
  *out = op_cost[n->op] ? op_cost[n->op] : 1;
  if (!un__is_combined(n)) return UN_OK;
  size_t count;
  const un_uop **body = un__toposort(un__combine_body(n->src[0]), &count);
  if (!body) return UN_ERR_NOMEM;
  *out = 0;
  for (size_t i = 0; i < count; i++)
    if (un__has_flag(body[i], UN__F_ELEM)) *out += op_cost[body[i]->op] ? op_cost[body[i]->op] : 1;
  if (*out == 0) *out = 1;
  un__free(body);
  return UN_OK;
}

static uint32_t width_of_dtype(un__dtype d, un__opt_kind kind, const un__target *t) {
  un_dtype s = un__dt_scalar(d);
  bool widened = (s == UN_F16 && !t->native_f16) || (s == UN_BF16 && !t->native_bf16);
  if (widened && (kind == UN__OPT_ALU || kind == UN__OPT_COMBINE)) return 4;
  return un__dt_info(d)->size;
}

static uint32_t width_of(const un_uop *n, un__opt_kind kind, const un__target *t) {
  if (!un__is_combined(n)) return width_of_dtype(kind == UN__OPT_STORE ? n->src[1]->dtype : n->dtype, kind, t);
  uint32_t most = 0;
  for (uint32_t i = 0; i < un__combine_width(n->src[0]); i++) {
    uint32_t w = width_of_dtype(un__combine_element(n->src[0], i)->dtype, kind, t);
    if (w > most) most = w;
  }
  return most;
}

static int32_t innermost(const un__opt_kernel *k, uint64_t moves) {
  int32_t best = -1, depth = -1;
  for (; moves; moves &= moves - 1) {
    uint32_t s = k->axis[__builtin_ctzll(moves)].scope;
    int32_t d = __builtin_popcountll(k->scope[s].outer | k->scope[s].axes);
    if (d > depth || (d == depth && (int32_t)s < best)) best = (int32_t)s, depth = d;
  }
  return best;
}

static un_status find_values(un__opt_kernel *k, const uint64_t *around, const un__target *t) {
  for (size_t i = 0; i < k->nodes.n; i++) {
    const un_uop *n = k->nodes.at[i];
    un__opt_kind kind;
    if (!takes_time(n, &kind)) continue;
    un__opt_value *v = &k->value[k->nvalues++];
    *v = (un__opt_value){.node = n, .kind = kind, .moves = k->mask[i]};
    UN__TRY(cost_of(n, &v->cost));
    if (kind == UN__OPT_COMBINE)
      for (uint32_t j = 0; j < n->nsrc; j++) v->moves |= mask_of(k, n->src[j]);
    v->live = all_around(around, v->moves);
    v->scope = innermost(k, v->moves);
    uint32_t w = width_of(n, kind, t);
    if (w > k->width) k->width = w;
  }
  return UN_OK;
}

static void find_stored(un__opt_kernel *k) {
  for (size_t i = 0; i < k->nodes.n; i++) {
    const un_uop *n = k->nodes.at[i];
    k->stored[i] = un__is(n, UN__OP_LOAD) || un__is(n, UN__OP_REDUCE);
    for (uint32_t j = un__first_source(n); j < n->nsrc && !k->stored[i]; j++)
      k->stored[i] = k->stored[un__topo_find(&k->nodes, n->src[j])];
  }
}

un_status un__opt_kernel_of(un__opt_kernel *k, const un_uop *kernel, const un__target *t, un__err *err) {
  *k = (un__opt_kernel){.width = 1};
  uint64_t around[UN__OPT_MAX_AXES] = {0};
  if (!un__topo_of(&k->nodes, kernel)) return un__fail(err, UN_ERR_NOMEM, "optimise: no memory");
  un_status st = find_axes(k, err);
  if (st == UN_OK) st = find_scopes(k, err);
  if (st == UN_OK) {
    k->mask = un__calloc(k->nodes.n, sizeof *k->mask);
    k->value = un__calloc(k->nodes.n, sizeof *k->value);
    k->stored = un__calloc(k->nodes.n, sizeof *k->stored);
    if (!k->mask || !k->value || !k->stored) st = un__fail(err, UN_ERR_NOMEM, "optimise: no memory");
  }
  if (st == UN_OK) {
    for (size_t i = 0; i < k->nodes.n; i++) k->mask[i] = mask_of(k, k->nodes.at[i]);
    find_enclosing(k, around);
    close_scopes(k, around);
    if (find_values(k, around, t) != UN_OK) st = un__fail(err, UN_ERR_NOMEM, "optimise: no memory");
    find_stored(k);
  }
  if (st != UN_OK) un__opt_kernel_finish(k);
  return st;
}

/* ---- questions ---- */

bool un__opt_updates(const un__opt_kernel *k) {
  for (uint32_t i = 0; i < k->nvalues; i++)
    for (uint32_t j = 0; k->value[i].kind == UN__OPT_STORE && j < k->nvalues; j++) {
      const un_uop *to = k->value[i].node->src[0], *from = k->value[j].node->src[0];
      if (k->value[j].kind == UN__OPT_LOAD && un__is(from, UN__OP_INDEX) && to->src[0] == from->src[0]) return true;
    }
  return false;
}

bool un__opt_masks(const un__opt_kernel *k, const un__target *t) {
  for (uint32_t i = 0; i < k->nvalues; i++)
    if (k->value[i].kind == UN__OPT_LOAD && un__dt_info(k->value[i].node->dtype)->size < t->mask_bytes) return false;
  return t->mask_bytes != 0;
}
