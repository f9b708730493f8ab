/* group.c - a value of every thread of a group becomes the combination of them all, in each of these threads.
 *
 * A group is the threads whose numbers differ in one digit, of stride s and size p, both powers of two. Inside a warp they
 * exchange values by shuffles at distances s, 2s, ..: both sides of an exchange combine the same two values in the same
 * order, so all end with the same bits. A group of several warps goes on through shared memory: one thread for each digit
 * below s stores what its warp has; behind a barrier every thread reads what the warps of its group have, and combines it
 * by shuffles again. In a loop a barrier at its beginning keeps the next round from storing over what is still read. */
#include "threads.h"

#include "uop/combine.h"

enum { MAX_LOOPS = 64 };

typedef struct values {
  uint32_t n;
  const un_uop *at[UN__MAX_COMBINE];
} values;

typedef struct group {
  un__graph *g;
  un__threading *t;
  const un_uop *reduce;
  int64_t stride, size;
  bool symmetric;          /* combining a with b gives the bits of combining b with a */
} group;

/* ---- combining ---- */

static bool is_symmetric(un__op op, un__dtype d) {
  bool extreme = op == UN__OP_MAX || op == UN__OP_MIN;      /* of -0 and +0 either */
  return op != UN__OP_NONE && !(extreme && un__dt_is_float(d));
}

static bool all_symmetric(const un_uop *reduce) {
  if (!un__is_combined(reduce)) return is_symmetric((un__op)un__attr(reduce, 0), reduce->dtype);
  for (uint32_t i = 0; i < un__reduce_width(reduce); i++)
    if (!is_symmetric(un__combine_plain(reduce->src[0], i), un__reduce_element(reduce, i)->dtype)) return false;
  return true;
}

/* out may be a or b. */
static bool combine(const group *x, const values *a, const values *b, values *out) {
  values v = {.n = a->n};
  if (!un__is_combined(x->reduce)) v.at[0] = un__binary(x->g, (un__op)un__attr(x->reduce, 0), a->at[0], b->at[0]);
  else if (!un__combine_apply(x->g, x->reduce->src[0], a->at, b->at, v.at)) return false;
  *out = v;
  return v.at[0] != NULL;
}

/* ---- inside a warp ---- */

static const un_uop *select(un__graph *g, const un_uop *c, const un_uop *a, const un_uop *b) {
  if (c && a && un__lanes(a) > 1) c = un__uop(g, UN__OP_VECTORIZE, un__dt_vec(UN_BOOL, un__lanes(a)), &c, 1, NULL, 0);
  return un__ternary(g, UN__OP_WHERE, c, a, b);
}

/* What is computed here could be contracted with the combination (fma), while the other side's is rounded. */
static bool may_contract(const values *v) {
  for (uint32_t i = 0; i < v->n; i++)
    if (un__dt_is_float(v->at[i]->dtype) && un__has_flag(v->at[i], UN__F_ELEM)) return true;
  return false;
}

/* One exchange. Where it makes a difference, the thread with the lower number has the left operand. */
static bool exchange(const group *x, int64_t distance, bool first, values *v) {
  values left = *v, right = *v;
  bool ordered = !x->symmetric || (first && may_contract(v));
  const un_uop *bit = un__number_part(x->g, x->t->thread, distance, 2, x->t->digits.threads);
  const un_uop *upper = ordered ? un__binary(x->g, UN__OP_LT, un__idx(x->g, 0), bit) : NULL;
  for (uint32_t i = 0; i < v->n; i++) {
    const un_uop *mine = v->at[i], *other = un__uop(x->g, UN__OP_SHUFFLE, 0, &mine, 1, &distance, 1);
    left.at[i] = upper ? select(x->g, upper, other, mine) : mine;
    right.at[i] = upper ? select(x->g, upper, mine, other) : other;
    if (!left.at[i] || !right.at[i]) return false;
  }
  return combine(x, &left, &right, v);
}

/* Over `size` threads at multiples of `stride`. */
static bool butterfly(const group *x, int64_t stride, int64_t size, values *v) {
  for (int64_t distance = stride; distance < stride * size; distance *= 2)
    if (!exchange(x, distance, distance == stride, v)) return false;
  return true;
}

/* ---- across warps ---- */

/* The loops that values stand in. */
static uint32_t loops_around(const group *x, const values *v, const un_uop **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < v->n; i++)
    for (uint32_t k = 0; k < v->at[i]->ranges->n; k++) {
      const un_uop *r = v->at[i]->ranges->range[k];
      bool known = un__digit_of(&x->t->digits, r) != NULL;
      for (uint32_t m = 0; m < n && !known; m++) known = out[m] == r;
      if (!known && n < MAX_LOOPS) out[n++] = r;
    }
  return n;
}

static const un_uop *after(un__graph *g, const un_uop *memory, const un_uop *const *what, uint32_t n) {
  const un_uop *barrier = un__uop(g, UN__OP_BARRIER, 0, what, n, NULL, 0);
  return un__binary(g, UN__OP_AFTER, memory, barrier);
}

static const un_uop *element(un__graph *g, const un_uop *memory, const un_uop *slot, uint32_t lanes, const un_uop *gate) {
  if (!memory || !slot) return NULL;
  const un_uop *src[3] = {memory, lanes > 1 ? un__binary(g, UN__OP_MUL, slot, un__idx(g, lanes)) : slot, gate};
  return un__uop(g, UN__OP_INDEX, memory->dtype, src, gate ? 3 : 2, NULL, 0);
}

/* outer * size + inner */
static const un_uop *join(un__graph *g, const un_uop *outer, int64_t size, const un_uop *inner) {
  return un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, outer, un__idx(g, size)), inner);
}

/* Where the threads of a warp leave what they have: `kept` of them do. */
static bool leave(const group *x, int64_t kept, const values *v, values *memory, const un_uop **store) {
  un__graph *g = x->g;
  const un_uop *t = x->t->thread, *loop[MAX_LOOPS], *gate = NULL;
  int64_t threads = x->t->digits.threads, warp = x->t->warp;
  uint32_t nloops = loops_around(x, v, loop);
  const un_uop *slot = join(g, un__number_part(g, t, warp, threads / warp, threads), kept, un__number_part(g, t, 1, kept, threads));
  if (kept < warp) gate = un__binary(g, UN__OP_LT, un__number_part(g, t, kept, warp / kept, threads), un__idx(g, 1));
  memory->n = v->n;
  for (uint32_t i = 0; i < v->n; i++) {
    uint32_t lanes = un__lanes(v->at[i]);
    int64_t id = x->t->next_local++;
    const un_uop *size = un__idx(g, threads / warp * kept * lanes);
    un__dtype ptr = un__dt_ptr(un__dt_scalar(v->at[i]->dtype), UN__SPACE_LOCAL);
    const un_uop *m = memory->at[i] = un__uop(g, UN__OP_DEFINE_LOCAL, ptr, &size, 1, &id, 1);
    if (nloops) m = after(g, m, loop, nloops);
    store[i] = un__binary(g, UN__OP_STORE, element(g, m, slot, lanes, gate), v->at[i]);
    if (!store[i]) return false;
  }
  return true;
}

/* What `parts` warps (or, at strides beyond a warp, threads) of the group left, combined. */
static bool collect(const group *x, int64_t parts, const values *memory, const un_uop *const *store, values *v) {
  un__graph *g = x->g;
  const un_uop *t = x->t->thread, *barrier = un__uop(g, UN__OP_BARRIER, 0, store, v->n, NULL, 0);
  int64_t threads = x->t->digits.threads, s = x->stride, warp = x->t->warp;
  int64_t together = s < warp ? (parts < warp / s ? parts : warp / s) : 1;
  const un_uop *first = join(g, un__number_part(g, t, s * x->size, threads / (s * x->size), threads), parts * s,
                             un__number_part(g, t, 1, s, threads));
  first = un__binary(g, UN__OP_ADD, first,
                     un__binary(g, UN__OP_MUL, un__number_part(g, t, s, together, threads), un__idx(g, s)));
  values sum = {0};
  for (int64_t j = 0; j < parts; j += together) {
    values part = {.n = v->n};
    for (uint32_t i = 0; i < v->n; i++) {
      const un_uop *slot = un__binary(g, UN__OP_ADD, first, un__idx(g, j * s));
      const un_uop *at = element(g, un__binary(g, UN__OP_AFTER, memory->at[i], barrier), slot, un__lanes(v->at[i]), NULL);
      if (!at || !(part.at[i] = un__uop(g, UN__OP_LOAD, v->at[i]->dtype, &at, 1, NULL, 0))) return false;
    }
    if (!j) sum = part;
    else if (!combine(x, &sum, &part, &sum)) return false;
  }
  *v = sum;
  return butterfly(x, s, together, v);
}

static bool through_memory(const group *x, values *v) {
  values memory;
  const un_uop *store[UN__MAX_COMBINE];
  int64_t warp = x->t->warp, kept = x->stride < warp ? x->stride : warp;
  int64_t parts = x->stride < warp ? x->stride * x->size / warp : x->size;
  return leave(x, kept, v, &memory, store) && collect(x, parts, &memory, store, v);
}

/* ---- the group ---- */

/* The digits of the ranges as one; false when they are not side by side, or no power of two. */
static bool digits_of(group *x) {
  int64_t first = INT64_MAX, end = 0;
  x->size = 1;
  for (uint32_t i = 1; i < x->reduce->nsrc; i++) {
    const un__digit *d = un__digit_of(&x->t->digits, x->reduce->src[i]);
    if (!d || d->axis != UN__AXIS_GROUP_REDUCE) return false;
    if (d->stride < first) first = d->stride;
    if (d->stride * d->size > end) end = d->stride * d->size;
    x->size *= d->size;
  }
  x->stride = first;
  bool powers = !(first & (first - 1)) && !(x->size & (x->size - 1));
  return powers && first * x->size == end && x->t->digits.threads % end == 0;
}

un__span un__fn_together(un__rw *rw, const un_uop *reduce) {
  group x = {.g = rw->g, .t = rw->ctx, .reduce = reduce, .symmetric = all_symmetric(reduce)};
  if (!un__is(reduce->src[1], UN__OP_RANGE) || un__range_axis(reduce->src[1]) != UN__AXIS_GROUP_REDUCE) return (un__span){0};
  if (!digits_of(&x)) {
    un__fail(un__graph_err(rw->g), UN_ERR_UNSUPPORTED, "threads: expected groups of a power of two of threads");
    return (un__span){0};
  }
  values v = {.n = un__reduce_width(reduce)};
  for (uint32_t i = 0; i < v.n; i++) v.at[i] = un__reduce_element(reduce, i);
  int64_t in_warp = x.stride >= x.t->warp ? 1 : x.stride * x.size <= x.t->warp ? x.size : x.t->warp / x.stride;
  bool ok = butterfly(&x, x.stride, in_warp, &v);
  if (ok && in_warp < x.size) ok = through_memory(&x, &v);
  const un_uop **list = ok ? un__arena_alloc(un__workspace_arena(rw->g), v.n * sizeof *list) : NULL;
  for (uint32_t i = 0; list && i < v.n; i++) list[i] = v.at[i];
  return (un__span){list, list ? v.n : 0};
}
