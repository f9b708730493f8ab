/* loops.c - where reductions stand in a nest of loops.
 *
 * Placement is by dependence (docs/stages.md): a REDUCE stands where exactly the ranges it depends on are open, so these
 * must be an outer part of the loops around it. What cannot be arranged by ordering the loops is stored first.
 */
#include "finish.h"

#include "uop/combine.h"

enum { MAX_REDUCTIONS = 256, PARTS = 64 };

static un_status no_memory(const un__rf_drafts *d) {
  return un__fail(un__graph_err(d->b->g), UN_ERR_NOMEM, "rangeify: out of memory");
}

/* The reductions of an expression, inner ones first. */
typedef struct reductions {
  uint32_t n;
  const un_uop *at[MAX_REDUCTIONS];
  uint32_t depth[MAX_REDUCTIONS];            /* longest chain of reductions down from it */
} reductions;

static un_status collect(const un__rf_drafts *d, const un_uop *value, reductions *out) {
  size_t n;
  const un_uop **order = un__toposort(value, &n);
  out->n = 0;
  if (!order) return no_memory(d);
  for (size_t i = 0; i < n && out->n < MAX_REDUCTIONS; i++)
    if (order[i]->op == UN__OP_REDUCE) out->at[out->n++] = order[i];
  un__free(order);
  return UN_OK;
}

/* ---- stored first ------------------------------------------------------------------------------------------- */

const un_uop *un__rf_point(un__graph *g, const un_uop *const *range, uint32_t n) {
  const un_uop *flat = un__idx(g, 0), *stride = un__idx(g, 1);
  if (!stride) return NULL;
  for (uint32_t k = n; k-- > 0;) {
    const un_uop *term = un__is_const_int(stride, 1) ? range[k] : un__binary(g, UN__OP_MUL, range[k], stride);
    flat = un__is_const_int(flat, 0) ? term : un__binary(g, UN__OP_ADD, term, flat);
    int64_t a = un__known_size(stride), b = un__known_size(range[k]->src[0]), r;
    bool known = a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &r);
    stride = known ? un__idx(g, r) : un__binary(g, UN__OP_MUL, stride, range[k]->src[0]);
    if (!stride) return NULL;
  }
  return flat;
}

const un_uop *un__rf_temporary(un__rf_drafts *d, un__dtype dtype, const un_uop *const *range, uint32_t n) {
  un__graph *g = d->b->g;
  const un_uop *size[2 * UN__MAX_RANK];
  for (uint32_t k = 0; k < n; k++) size[k] = range[k]->src[0];
  const un_uop *total = un__idx(g, 1);
  for (uint32_t k = 0; total && k < n; k++) {
    int64_t a = un__known_size(total), b = un__known_size(size[k]), r;
    bool known = a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &r);
    total = known ? un__idx(g, r) : un__binary(g, UN__OP_MUL, total, size[k]);
  }
  return un__uop(g, UN__OP_BUFFER, dtype, &total, 1, (int64_t[]){d->next_number++, 0}, 2);
}

static const un_uop *element_of(un__graph *g, const un_uop *buffer, const un_uop *flat) {
  return un__uop(g, UN__OP_INDEX, buffer->dtype, (const un_uop *[]){buffer, flat}, 2, NULL, 0);
}

/* A draft that stores the values of a reduction for every point of `range`; the ranges become its LOOPs. out_read: what to
 * read instead of each value. */
static un_status add_draft(un__rf_drafts *d, const un_uop *reduce, const un_uop *const *range, uint32_t n,
                           const un_uop **out_read) {
  un__graph *g = d->b->g;
  const un_uop *value[UN__RF_MAX_STORES];
  un__rf_draft t = {.nstore = un__reduce_width(reduce), .nout = n};
  if (t.nstore > UN__RF_MAX_STORES)
    return un__fail(un__graph_err(g), UN_ERR_INTERNAL, "rangeify: a reduction of %u values is stored", t.nstore);
  for (uint32_t k = 0; k < n; k++)
    if (!(t.out[k] = un__range(g, range[k]->src[0], UN__AXIS_LOOP, k))) return un__graph_status(g);
  for (uint32_t k = 0; k < t.nstore; k++) {
    const un_uop *from = un__reduce_value(g, reduce, k);
    value[k] = from ? un__substitute(g, from, range, t.out, n) : NULL;
    t.result[k] = from ? un__rf_temporary(d, from->dtype, range, n) : NULL;
    t.flat[k] = un__rf_point(g, t.out, n);
    if (!value[k] || !t.result[k] || !t.flat[k]) return un__graph_status(g);
    out_read[k] = element_of(g, t.result[k], un__rf_point(g, range, n));
  }
  t.value = t.nstore == 1 ? value[0] : un__uop(g, UN__OP_TUPLE, 0, value, t.nstore, NULL, 0);
  if (!t.value) return un__graph_status(g);
  return un__vec_push(&d->at, t) ? UN_OK : no_memory(d);
}

/* Stores the reduction for every point of the ranges it depends on, and reads it instead. */
static un_status store_first(un__rf_drafts *d, uint32_t i, const un_uop *reduce) {
  un__graph *g = d->b->g;
  const un__rangeset *open = reduce->ranges;
  const un_uop *value[UN__RF_MAX_STORES], *read[UN__RF_MAX_STORES];
  if (open->n > 2 * UN__MAX_RANK)
    return un__fail(un__graph_err(g), UN_ERR_UNSUPPORTED, "rangeify: a reduction inside more than 32 loops");
  UN__TRY(add_draft(d, reduce, open->range, open->n, read));
  for (uint32_t k = 0; k < un__reduce_width(reduce); k++) value[k] = un__reduce_value(g, reduce, k);
  un__rf_draft *t = &d->at.at[i];
  t->value = un__substitute(g, t->value, value, read, un__reduce_width(reduce));
  return un__graph_status(g);
}

/* ---- order ---------------------------------------------------------------------------------------------------- */

static uint32_t own_ranges(const un_uop *reduce, const un__rangeset *s) {
  uint32_t set = 0;
  for (uint32_t k = 1; k < reduce->nsrc && k <= 32; k++)
    if (un__rangeset_has(s, reduce->src[k])) set |= 1u << (k - 1);
  return set;
}

static bool nested_sets(uint32_t a, uint32_t b) { return (a & b) == a || (a & b) == b; }

/* A set of sets each two of which are nested. */
typedef struct chain { uint32_t n; uint32_t at[32]; } chain;

static bool chain_takes(chain *c, uint32_t set) {
  for (uint32_t i = 0; i < c->n; i++) {
    if (c->at[i] == set) return true;
    if (!nested_sets(c->at[i], set)) return false;
  }
  if (c->n == 32) return false;
  c->at[c->n++] = set;
  return true;
}

/* The reduction stands inside `outer` where that one is not open in full, or under loops of it in a wrong order. */
static bool misplaced(const un_uop *inner, const un_uop *outer, chain *of_outer) {
  uint32_t set = inner == outer ? 0 : own_ranges(outer, inner->ranges);
  if (!set) return false;
  return !un__rangeset_subset(outer->ranges, inner->ranges) || !chain_takes(of_outer, set);
}

/* The first reduction that cannot stand where it is; NULL: none. */
static const un_uop *find_misplaced(const un__rf_draft *t, const reductions *all) {
  chain outs = {0};
  for (uint32_t j = 0; j < all->n; j++) {
    chain of_outer = {0};
    for (uint32_t i = 0; i < all->n; i++)
      if (misplaced(all->at[i], all->at[j], &of_outer)) return all->at[i];
    bool inner;
    if (!chain_takes(&outs, un__rf_outer_set(all->at[j]->ranges, &inner))) return all->at[j];
  }
  return NULL;
}

static uint32_t bits(uint32_t x) { return (uint32_t)__builtin_popcount(x); }

/* Sorts loops so that every set of the chain is an outer part: those in small sets first. */
static void order_by_chain(const un_uop **range, uint32_t n, const chain *c) {
  uint32_t rank[32];
  for (uint32_t k = 0; k < n; k++) {
    rank[k] = 33;
    for (uint32_t i = 0; i < c->n; i++)
      if (c->at[i] >> k & 1 && bits(c->at[i]) < rank[k]) rank[k] = bits(c->at[i]);
  }
  for (uint32_t k = 1; k < n; k++) {
    const un_uop *r = range[k];
    uint32_t key = rank[k], at = k;
    for (; at > 0 && rank[at - 1] > key; at--) {
      range[at] = range[at - 1];
      rank[at] = rank[at - 1];
    }
    range[at] = r;
    rank[at] = key;
  }
}

/* A REDUCE with its ranges in the order that the reductions inside it need; itself when that holds. */
static const un_uop *ordered(un__graph *g, const un_uop *outer, const reductions *all) {
  const un_uop *src[33];
  chain c = {0};
  if (outer->nsrc < 3 || outer->nsrc > 33) return outer;
  for (uint32_t i = 0; i < all->n; i++) misplaced(all->at[i], outer, &c);
  for (uint32_t k = 0; k < outer->nsrc; k++) src[k] = outer->src[k];
  order_by_chain(src + 1, outer->nsrc - 1, &c);
  return un__with_src(g, outer, src);
}

static un_status order_loops(un__rf_drafts *d, uint32_t i) {
  reductions all;
  un__rf_draft *t = &d->at.at[i];
  UN__TRY(collect(d, t->value, &all));
  /* Outer ones last in `all`: replacing one does not change those still to do, which are inside it. */
  for (uint32_t k = all.n; k-- > 0;) {
    const un_uop *to = ordered(d->b->g, all.at[k], &all);
    if (!to) return un__graph_status(d->b->g);
    if (to == all.at[k]) continue;
    t->value = un__substitute(d->b->g, t->value, &all.at[k], &to, 1);
    if (!t->value) return un__graph_status(d->b->g);
  }
  UN__TRY(collect(d, t->value, &all));
  chain outs = {0};
  bool inner;
  for (uint32_t k = 0; k < all.n; k++) chain_takes(&outs, un__rf_outer_set(all.at[k]->ranges, &inner));
  order_by_chain(t->out, t->nout, &outs);
  return UN_OK;
}

/* ---- parts ---------------------------------------------------------------------------------------------------- */

static bool may_reorder(const un__rangeify_options *opt, const un_uop *reduce) {
  return !un__reduce_rounds(reduce) || (opt->licences & UN__LIC_REDUCE_ORDER) != 0;
}

/* How many parts to cut `size` into: a divisor near the wanted number when there is one; every value on its own when
 * `others` ranges remain. 0: not worth it. */
static int64_t parts_of(const un__rangeify_options *opt, int64_t size, uint32_t others) {
  int64_t want = opt->parts ? opt->parts : PARTS;
  while (want < opt->threads) want *= 2;
  if (size < 2 * want) return others && size >= opt->threads ? size : 0;
  for (int64_t p = want; p >= want / 4 && p >= opt->threads; p--)
    if (size % p == 0) return p;
  return want;
}

/* The range of a large reduction that will be cut: the outermost that is long enough. */
static const un_uop *range_to_cut(const un__rangeify_options *opt, const un_uop *reduce) {
  bool inner;
  un__rf_outer_set(reduce->ranges, &inner);
  int64_t points = un__rf_extent(reduce->ranges->range, reduce->ranges->n);
  int64_t work = un__rf_saturating_mul(points, un__rf_extent(reduce->src + 1, reduce->nsrc - 1));
  if (inner || opt->threads < 2 || points >= opt->threads || work < opt->min_parallel_work) return NULL;
  if (!may_reorder(opt, reduce) || reduce->ranges->n + 1 > 2 * UN__MAX_RANK) return NULL;
  for (uint32_t k = 1; k < reduce->nsrc; k++)
    if (parts_of(opt, un__known_size(reduce->src[k]->src[0]), reduce->nsrc - 2)) return reduce->src[k];
  return NULL;
}

bool un__rf_is_cut(const un__rangeify_options *opt, const un_uop *reduce) { return range_to_cut(opt, reduce) != NULL; }

/* The elements where range is i; outside of the old range (in_range not NULL) they are the identities. */
static bool cut_elements(un__graph *g, const un_uop *reduce, const un_uop *range, const un_uop *i, const un_uop *in_range,
                         const un_uop **out) {
  for (uint32_t k = 0; k < un__reduce_width(reduce); k++) {
    out[k] = un__substitute(g, un__reduce_element(reduce, k), &range, &i, 1);
    if (out[k] && in_range)
      out[k] = un__ternary(g, UN__OP_WHERE, in_range, out[k], un__reduce_identity(g, reduce, k));
    if (!out[k]) return false;
  }
  return true;
}

/* The reduction over range = part * length + step, as one over the other ranges and step; part stays open. */
static const un_uop *partial(un__rf_drafts *d, const un_uop *reduce, const un_uop *range, const un_uop *part,
                             int64_t length) {
  un__graph *g = d->b->g;
  const un_uop *i = part, *step = NULL, *in_range = NULL, *x[UN__MAX_COMBINE], *left[2 * UN__MAX_RANK];
  uint32_t n = 0;
  if (length > 1) {
    step = un__range(g, un__idx(g, length), UN__AXIS_REDUCE, d->next_range++);
    i = un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, part, un__idx(g, length)), step);
  }
  if (un__known_size(part->src[0]) * length != un__known_size(range->src[0])) {
    in_range = un__binary(g, UN__OP_LT, i, range->src[0]);
    i = un__uop(g, UN__OP_VALID, 0, (const un_uop *[]){i, in_range}, 2, NULL, 0);
  }
  if (reduce->nsrc > 2 * UN__MAX_RANK || !cut_elements(g, reduce, range, i, in_range, x)) return NULL;
  for (uint32_t k = 1; k < reduce->nsrc; k++) {
    if (reduce->src[k] != range) left[n++] = reduce->src[k];
    else if (step) left[n++] = step;
  }
  return un__rf_clean(d->b, un__reduce_over(g, reduce, x, left, n));
}

/* Replaces one large reduction by one over its stored parts. */
static un_status cut_reduction(un__rf_drafts *d, uint32_t i, const un_uop *reduce, const un_uop *range) {
  un__graph *g = d->b->g;
  int64_t size = un__known_size(range->src[0]), parts = parts_of(d->b->opt, size, reduce->nsrc - 2), length = (size + parts - 1) / parts;
  parts = (size + length - 1) / length;
  const un_uop *part = un__range(g, un__idx(g, parts), UN__AXIS_REDUCE, d->next_range++);
  if (!part) return un__graph_status(g);
  const un_uop *open[2 * UN__MAX_RANK], *read[UN__RF_MAX_STORES];
  uint32_t n = reduce->ranges->n;
  for (uint32_t k = 0; k < n; k++) open[k] = reduce->ranges->range[k];
  open[n++] = part;
  const un_uop *value = partial(d, reduce, range, part, length);
  if (!value) return un__graph_status(g);
  UN__TRY(add_draft(d, value, open, n, read));
  const un_uop *to = un__reduce_over(g, reduce, read, &part, 1);
  un__rf_draft *t = &d->at.at[i];
  t->value = to ? un__substitute(g, t->value, &reduce, &to, 1) : NULL;
  return un__graph_status(g);
}

/* ---- shared loops ------------------------------------------------------------------------------------------------ */

static bool same_loops(const un_uop *a, const un_uop *b) {
  if (a->ranges != b->ranges || a->nsrc != b->nsrc) return false;
  for (uint32_t k = 1; k < a->nsrc; k++)
    if (a->src[k]->src[0] != b->src[k]->src[0]) return false;
  return true;
}

/* Depth in reductions of every node, then of the reductions; the chain below decides which may share a loop: two of
 * equal depth never need each other. */
static un_status measure_depth(const un__rf_drafts *d, const un_uop *value, reductions *all) {
  size_t n;
  const un_uop **order = un__toposort(value, &n);
  uint32_t *depth = order ? un__rf_scratch(d->b) : NULL;
  all->n = 0;
  for (size_t i = 0; depth && i < n; i++) {
    const un_uop *x = order[i];
    depth[x->id] = 0;
    for (uint32_t k = un__first_source(x); k < x->nsrc; k++)
      if (depth[x->src[k]->id] > depth[x->id]) depth[x->id] = depth[x->src[k]->id];
    if (x->op != UN__OP_REDUCE || all->n == MAX_REDUCTIONS) continue;
    all->depth[all->n] = ++depth[x->id];
    all->at[all->n++] = x;
  }
  un__free(order);
  return depth ? UN_OK : no_memory(d);
}

/* Reductions in the same surroundings over as many points run in one loop. One pair is joined at a time, because
 * joining may make nodes equal. */
static un_status share_loops(un__rf_drafts *d, uint32_t i) {
  for (uint32_t from = 0;;) {
    reductions all;
    UN__TRY(measure_depth(d, d->at.at[i].value, &all));
    bool joined = false;
    for (uint32_t b = from; b < all.n && !joined; b++) {
      for (uint32_t a = 0; a < b && !joined; a++) {
        const un_uop *x = all.at[a], *y = all.at[b];
        if (all.depth[a] != all.depth[b] || !same_loops(x, y) || x->src[1] == y->src[1]) continue;
        un__rf_draft *t = &d->at.at[i];
        t->value = un__substitute(d->b->g, t->value, y->src + 1, x->src + 1, y->nsrc - 1);
        if (!t->value) return un__graph_status(d->b->g);
        joined = true;
      }
      if (!joined) from = b + 1;
    }
    if (!joined) return UN_OK;
  }
}

/* Several reductions of which one will be cut. Those that become one of several values are cut together: one kernel for the
 * parts of all, where two that need each other would take one each. That pays more than rescaling costs. */
static un_status join_before_cutting(un__rf_drafts *d, uint32_t i) {
  reductions all;
  bool cut = false;
  UN__TRY(collect(d, d->at.at[i].value, &all));
  for (uint32_t k = 0; k < all.n; k++) cut |= un__rf_is_cut(d->b->opt, all.at[k]);
  if (!cut || all.n < 2) return UN_OK;
  UN__TRY(un__rf_one_pass(d, i, true));
  UN__TRY(share_loops(d, i));
  return un__rf_fuse_siblings(d, i, UN__RF_MAX_STORES);      /* their parts are stored */
}

un_status un__rf_settle_loops(un__rf_drafts *d, uint32_t i) {
  reductions all;
  UN__TRY(un__rf_one_pass(d, i, d->b->opt->online));
  UN__TRY(join_before_cutting(d, i));
  for (;;) {
    UN__TRY(collect(d, d->at.at[i].value, &all));
    if (!all.n) return UN_OK;
    const un_uop *bad = find_misplaced(&d->at.at[i], &all);
    if (!bad) break;
    UN__TRY(store_first(d, i, bad));
  }
  for (uint32_t k = 0; k < all.n;) {
    const un_uop *range = range_to_cut(d->b->opt, all.at[k++]);
    if (!range) continue;
    UN__TRY(cut_reduction(d, i, all.at[k - 1], range));
    UN__TRY(collect(d, d->at.at[i].value, &all));
    k = 0;
  }
  if (all.n > 1) {
    UN__TRY(share_loops(d, i));
    UN__TRY(un__rf_fuse_siblings(d, i, UN__MAX_COMBINE));
  }
  return all.n ? order_loops(d, i) : UN_OK;
}
