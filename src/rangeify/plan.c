/* plan.c - chooses which tensors get storage: one walk up the graph, one down, one up again.
 *
 * Every choice looks at positions, sizes and ops only. Each walk is linear in the graph.
 */
#include "plan.h"

#include <string.h>

static un_status short_of_memory(un__graph *g) {
  return un__fail(un__graph_err(g), UN_ERR_NOMEM, "rangeify: out of memory");
}

uint32_t un__rf_tensor_sources(const un_uop *n) {
  switch (un__info(n)->shape_rule) {
    case UN__SR_DIMS0: return 0;
    case UN__SR_DIMS1: case UN__SR_PAD: case UN__SR_SHRINK: return 1;
    default: return n->nsrc;
  }
}

int64_t un__rf_numel(const un__shape *s) {
  int64_t total = 1;
  for (uint32_t i = 0; i < s->rank; i++)
    if (__builtin_mul_overflow(total, s->dim[i]->vmax, &total)) return INT64_MAX;
  return total;
}

/* Same elements in the same row-major order as its source. */
static bool same_order(const un_uop *n) {
  return n->op == UN__OP_RESHAPE || n->op == UN__OP_CONTIGUOUS || n->op == UN__OP_DETACH;
}

static const un_uop *storage_of(const un_uop *n) {
  while (same_order(n)) n = n->src[0];
  return n;
}

static bool storable(const un_uop *n) {
  un__class c = un__dt_class(n->dtype);
  return n->shape && !un__dt_is_ptr(n->dtype) && c != UN__CLASS_VOID && c != UN__CLASS_INDEX;
}

/* Worth a buffer of its own when it is costly: not a view, not a source of values. */
static bool computes(const un_uop *n) {
  return un__has_flag(n, UN__F_ELEM) && n->shape && n->shape->rank > 0 && storable(n);
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static un_status make_tables(un__rf_plan *p, const un_uop *sink) {
  size_t n;
  const un_uop **order = un__toposort(sink, &n);
  if (!order) return short_of_memory(p->g);
  p->ids = un__graph_id_limit(p->g);
  p->n = (uint32_t)n;
  p->nresults = sink->nsrc;
  p->fact = un__arena_alloc(p->arena, n * sizeof *p->fact);
  p->position = un__arena_alloc(p->arena, p->ids * sizeof *p->position);
  p->result = un__arena_alloc(p->arena, p->nresults * sizeof *p->result);
  if (p->fact && p->position && p->result) {
    memset(p->fact, 0, n * sizeof *p->fact);
    for (uint32_t i = 0; i < p->n; i++) {
      p->fact[i].node = order[i];
      p->fact[i].user = p->fact[i].context = UN__RF_NONE;
      p->position[order[i]->id] = i;
    }
  }
  un__free(order);
  return p->fact && p->position && p->result ? UN_OK : short_of_memory(p->g);
}

static void note_users(un__rf_plan *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const un_uop *n = p->fact[i].node;
    uint32_t count = un__rf_tensor_sources(n);
    for (uint32_t k = 0; k < count; k++) {
      un__rf_fact *s = un__rf_fact_of(p, n->src[k]);
      if (s->user != i) s->user = s->user == UN__RF_NONE ? i : UN__RF_MANY;
    }
  }
}

/* ---- devices --------------------------------------------------------------------------------------------- */

enum { ANYWHERE = -1 };

/* What a node reads says where it is computed. */
static void place_by_sources(un__rf_plan *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    un__rf_fact *f = &p->fact[i];
    f->device = ANYWHERE;
    if (f->node->op == UN__OP_BUFFER) f->device = (int32_t)un__attr(f->node, 1);
    else if (f->node->op == UN__OP_COPY) f->device = (int32_t)un__attr(f->node, 0);
    uint32_t count = un__rf_tensor_sources(f->node);
    for (uint32_t k = 0; k < count && f->device == ANYWHERE; k++) f->device = un__rf_fact_of(p, f->node->src[k])->device;
  }
}

static void place(un__rf_fact *f, int32_t device) {
  if (f->device == ANYWHERE) f->device = device;
}

/* The others are computed where they are needed; results, and what is copied, on the device that is asked for. */
static void place_by_users(un__rf_plan *p, int32_t device) {
  for (uint32_t i = 0; i < p->nresults; i++) place(&p->fact[p->result[i]], device);
  for (uint32_t i = 0; i < p->n; i++)
    if (p->fact[i].node->op == UN__OP_COPY) place(un__rf_fact_of(p, p->fact[i].node->src[0]), device);
  for (uint32_t i = p->n; i-- > 0;) {
    const un__rf_fact *f = &p->fact[i];
    uint32_t count = f->node->op == UN__OP_SINK ? 0 : un__rf_tensor_sources(f->node);
    for (uint32_t k = 0; k < count && f->device != ANYWHERE; k++) place(un__rf_fact_of(p, f->node->src[k]), f->device);
  }
  for (uint32_t i = 0; i < p->n; i++) place(&p->fact[i], device);
}

/* ---- what was asked for, and reductions ------------------------------------------------------------------ */

/* Between devices go whole buffers, so both sides have one. */
static void keep_copied(un__rf_plan *p, uint32_t i) {
  const un_uop *from = storage_of(p->fact[i].node->src[0]);
  p->fact[i].keep = UN__RF_STORED;
  if (from->op != UN__OP_BUFFER) un__rf_fact_of(p, from)->keep = UN__RF_STORED;
}

static un_status keep_wanted(un__rf_plan *p, const un_uop *sink) {
  for (uint32_t i = 0; i < sink->nsrc; i++) {
    const un_uop *at = storage_of(sink->src[i]);
    un__rf_fact *f = un__rf_fact_of(p, at);
    p->result[i] = un__rf_position(p, at);
    if (at->op == UN__OP_BUFFER) continue;
    if (!storable(at))
      return un__fail(un__graph_err(p->g), UN_ERR_DTYPE, "rangeify: result %u has a dtype that cannot be stored (%s)",
                      i, un__dt_info(at->dtype)->name);
    f->keep = UN__RF_STORED;
  }
  for (uint32_t i = 0; i < p->n; i++) {
    const un_uop *n = p->fact[i].node;
    if (n->op == UN__OP_COPY) keep_copied(p, i);
    if (n->op != UN__OP_CONTIGUOUS) continue;
    const un_uop *at = storage_of(n);
    bool free_to_make = at->op == UN__OP_BUFFER || at->op == UN__OP_CONST || at->op == UN__OP_IOTA;
    if (!free_to_make && storable(at)) un__rf_fact_of(p, at)->keep = UN__RF_STORED;
  }
  return UN_OK;
}

/* RESHAPE that only adds or drops axes of size 1. */
static bool unit_reshape(const un_uop *n) {
  const un__shape *a = n->src[0]->shape, *b = n->shape;
  uint32_t i = 0, j = 0;
  for (;;) {
    while (i < a->rank && un__is_const_int(a->dim[i], 1)) i++;
    while (j < b->rank && un__is_const_int(b->dim[j], 1)) j++;
    if (i == a->rank || j == b->rank) return i == a->rank && j == b->rank;
    if (a->dim[i++] != b->dim[j++]) return false;
  }
}

/* The position up to which the value at `i` is computed along with its reduction: elementwise users that are the only
 * ones, through views that neither drop nor repeat an element. */
static uint32_t epilogue_end(un__rf_plan *p, uint32_t i) {
  uint32_t end = i;
  while (p->fact[i].keep != UN__RF_STORED && p->fact[i].user < UN__RF_MANY) {
    i = p->fact[i].user;
    un__rf_fact *f = &p->fact[i];
    const un_uop *n = f->node;
    bool elementwise = un__has_flag(n, UN__F_ELEM) && storable(n);
    bool passes = n->op == UN__OP_PERMUTE || n->op == UN__OP_DETACH || (n->op == UN__OP_RESHAPE && unit_reshape(n));
    if (f->chained || (!elementwise && !passes)) return f->chained ? UN__RF_NONE : end;
    if (elementwise) end = i;
    f->chained = true;
  }
  return end;
}

static void keep_reductions(un__rf_plan *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    if (p->fact[i].node->op != UN__OP_REDUCE_AXIS) continue;
    uint32_t end = epilogue_end(p, i);
    if (end != UN__RF_NONE && p->fact[end].keep == UN__RF_PLAIN) p->fact[end].keep = UN__RF_OPTIONAL;
  }
}

/* ---- upwards: weight, depth and buffers of every expression ------------------------------------------------ */

static uint32_t own_weight(const un_uop *n) {
  switch (n->op) {
    case UN__OP_EXP: case UN__OP_EXP2: case UN__OP_LOG: case UN__OP_LOG2: case UN__OP_SIN: case UN__OP_COS: case UN__OP_POW:
    case UN__OP_TANH: case UN__OP_THREEFRY:
      return 8;
    case UN__OP_FDIV: case UN__OP_RECIP: case UN__OP_SQRT: case UN__OP_FLOORDIV: case UN__OP_FLOORMOD:
    case UN__OP_TRUNCDIV: case UN__OP_TRUNCMOD:
      return 4;
    case UN__OP_CAST: case UN__OP_BITCAST: return 0;
    case UN__OP_REDUCE_AXIS: return 255;
    default: return un__has_flag(n, UN__F_ELEM) ? 1 : 0;
  }
}

static const un__rf_leaves *leaf_set(un__rf_plan *p, const uint32_t *at, uint32_t n) {
  un__rf_leaves *s = un__arena_alloc(p->arena, sizeof *s + n * sizeof *at);
  if (!s) return NULL;
  s->n = n;
  memcpy(s->at, at, n * sizeof *at);
  return s;
}

static const un__rf_leaves *leaf_union(un__rf_plan *p, const un__rf_leaves *a, const un__rf_leaves *b) {
  if (!a->n || a == b) return b;
  if (!b->n) return a;
  uint32_t n = 0, i = 0, j = 0;
  un__rf_leaves *s = un__arena_alloc(p->arena, sizeof *s + (a->n + b->n) * sizeof *a->at);
  if (!s) return NULL;
  while (i < a->n || j < b->n) {
    uint32_t x = i < a->n ? a->at[i] : UINT32_MAX, y = j < b->n ? b->at[j] : UINT32_MAX;
    s->at[n++] = x < y ? x : y;
    i += x <= y;
    j += y <= x;
  }
  s->n = n;
  return n == a->n ? a : n == b->n ? b : s;
}

/* Leaves as the user of a node sees them. */
static const un__rf_leaves *leaves_seen(un__rf_plan *p, uint32_t i) {
  return un__rf_is_leaf(&p->fact[i]) ? leaf_set(p, &i, 1) : p->fact[i].leaves;
}

/* The plain source with most leaves, to be stored when its user would read too many buffers. */
static un__rf_fact *widest_source(un__rf_plan *p, const un_uop *n, uint32_t count) {
  un__rf_fact *best = NULL;
  for (uint32_t k = 0; k < count; k++) {
    un__rf_fact *s = un__rf_fact_of(p, n->src[k]);
    if (un__rf_is_leaf(s) || s->leaves->n < 2 || !storable(s->node)) continue;
    if (!best || s->leaves->n > best->leaves->n) best = s;
  }
  return best;
}

static un_status gather_leaves(un__rf_plan *p, un__rf_fact *f, uint32_t count) {
  static const un__rf_leaves none = {0};
  for (;;) {
    const un__rf_leaves *all = &none;
    for (uint32_t k = 0; k < count && all->n <= UN__RF_PLAN_LEAVES; k++) {
      const un__rf_leaves *s = leaves_seen(p, un__rf_position(p, f->node->src[k]));
      all = s ? leaf_union(p, all, s) : NULL;
      if (!all) return short_of_memory(p->g);
    }
    f->leaves = all;
    un__rf_fact *widest = all->n > UN__RF_PLAN_LEAVES ? widest_source(p, f->node, count) : NULL;
    if (!widest) return UN_OK;
    widest->keep = UN__RF_STORED;
  }
}

static un_status measure(un__rf_plan *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    un__rf_fact *f = &p->fact[i];
    uint32_t count = f->node->op == UN__OP_SINK ? 0 : un__rf_tensor_sources(f->node);
    UN__TRY(gather_leaves(p, f, count));
    uint32_t weight = own_weight(f->node), level = 0, nreduce = f->node->op == UN__OP_REDUCE_AXIS;
    for (uint32_t k = 0; k < count; k++) {
      const un__rf_fact *s = un__rf_fact_of(p, f->node->src[k]);
      if (un__rf_is_leaf(s)) continue;
      weight += s->weight;
      nreduce += s->nreduce;
      if (s->level > level) level = s->level;
    }
    f->weight = (uint16_t)(weight > 255 ? 255 : weight);
    f->level = (uint16_t)(level + 1);
    f->nreduce = (uint16_t)(nreduce > UN__RF_MAX_REDUCED ? UN__RF_MAX_REDUCED + 1 : nreduce);
    bool too_much = f->level > UN__RF_MAX_LEVEL || f->nreduce > UN__RF_MAX_REDUCED;
    if (too_much && f->keep == UN__RF_PLAIN && f->node->shape && storable(f->node)) f->keep = UN__RF_STORED;
  }
  return UN_OK;
}

/* ---- downwards: repetition --------------------------------------------------------------------------------- */

static bool repeats(const un_uop *expand) {
  const un__shape *a = expand->src[0]->shape, *b = expand->shape;
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i]) return true;
  return false;
}

/* What an EXPAND repeats, below views that keep every element once. */
static un__rf_fact *repeated(un__rf_plan *p, const un_uop *expand) {
  const un_uop *n = expand->src[0];
  while (n->op == UN__OP_RESHAPE || n->op == UN__OP_PERMUTE || n->op == UN__OP_FLIP || n->op == UN__OP_DETACH ||
         n->op == UN__OP_CONTIGUOUS) {
    if (un__rf_is_leaf(un__rf_fact_of(p, n))) break;
    n = n->src[0];
  }
  return un__rf_fact_of(p, n);
}

/* Costly, or spread from a reduction: stored, it is computed along with that, and out of the way of tiling. */
static bool worth_storing(const un__rf_plan *p, const un__rf_fact *f) {
  if (f->keep != UN__RF_PLAIN || !computes(f->node)) return false;
  if (f->weight >= UN__RF_HEAVY) return true;
  for (uint32_t i = 0; i < f->leaves->n; i++) {
    const un__rf_fact *leaf = &p->fact[f->leaves->at[i]];
    if (leaf->keep == UN__RF_OPTIONAL && un__rf_numel(leaf->node->shape) < un__rf_numel(f->node->shape)) return true;
  }
  return false;
}

/* Hands the ways in which `u` is used on to one source. */
static void pass_context(const un__rf_plan *p, uint32_t u, un__rf_fact *s, uint32_t source) {
  const un__rf_fact *f = &p->fact[u];
  bool same = un__has_flag(f->node, UN__F_ELEM) || f->node->op == UN__OP_CONTIGUOUS || f->node->op == UN__OP_DETACH;
  uint32_t context = same ? f->context : p->n + u;
  if (s->context == context) return;
  if (s->context == UN__RF_NONE) {
    s->context = context;
    s->contexts = f->contexts;
  } else {
    s->context = 2 * p->n + source;
    s->contexts += f->contexts;
    if (s->contexts > 4096) s->contexts = 4096;
  }
}

static void spread_contexts(un__rf_plan *p) {
  for (uint32_t i = p->n; i-- > 0;) {
    un__rf_fact *f = &p->fact[i];
    const un_uop *n = f->node;
    if (n->op == UN__OP_SINK) continue;
    if (f->keep == UN__RF_PLAIN && f->contexts > 1 && computes(n) &&
        (f->contexts - 1) * f->weight > UN__RF_REPEAT)
      f->keep = UN__RF_STORED;
    if (f->keep != UN__RF_PLAIN || f->context == UN__RF_NONE) {
      f->context = i;
      f->contexts = 1;
    }
    uint32_t count = un__rf_tensor_sources(n);
    bool reduced = n->op == UN__OP_REDUCE_AXIS || (f->reduced && f->keep == UN__RF_PLAIN);
    if (n->op == UN__OP_EXPAND && reduced && repeats(n)) {
      un__rf_fact *what = repeated(p, n);
      if (worth_storing(p, what)) what->keep = UN__RF_STORED;
    }
    for (uint32_t k = 0; k < count; k++) {
      uint32_t at = un__rf_position(p, n->src[k]);
      p->fact[at].reduced |= reduced;
      pass_context(p, i, &p->fact[at], at);
    }
  }
}

/* ---- upwards: nameless hashes -------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9e3779b97f4a7c15u;
  return h ^ h >> 29;
}

static uint64_t hash_leaf(const un_uop *n) {
  uint64_t h = mix(UN__OP_BUFFER, n->dtype);
  for (uint32_t i = 0; n->shape && i < n->shape->rank; i++) h = mix(h, n->shape->dim[i]->hash);
  return h;
}

static void hash_nodes(un__rf_plan *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    un__rf_fact *f = &p->fact[i];
    const un_uop *n = f->node;
    if (un__rf_is_leaf(f) || !n->nsrc) {
      f->hash = un__rf_is_leaf(f) ? hash_leaf(n) : n->hash;
      continue;
    }
    uint64_t h = mix(mix(n->op, n->dtype), n->nattr);
    for (uint32_t k = 0; k < n->nattr; k++) h = mix(h, (uint64_t)un__attr(n, k));
    if (un__has_flag(n, UN__F_COMM)) {
      uint64_t a = un__rf_fact_of(p, n->src[0])->hash, b = un__rf_fact_of(p, n->src[1])->hash;
      f->hash = mix(mix(h, a < b ? a : b), a < b ? b : a);
      continue;
    }
    for (uint32_t k = 0; k < n->nsrc; k++) h = mix(h, un__rf_fact_of(p, n->src[k])->hash);
    f->hash = h;
  }
}

un_status un__rf_plan_make(un__rf_plan *p, un__graph *g, const un_uop *sink, int32_t device) {
  *p = (un__rf_plan){.g = g, .arena = un__workspace_arena(g)};
  UN__TRY(make_tables(p, sink));
  note_users(p);
  UN__TRY(keep_wanted(p, sink));
  place_by_sources(p);
  place_by_users(p, device);
  keep_reductions(p);
  UN__TRY(measure(p));
  spread_contexts(p);
  hash_nodes(p);
  return UN_OK;
}
