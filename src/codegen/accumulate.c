/* accumulate.c - turns REDUCEs into loops around accumulators, from the innermost out.
 *
 * A round takes every group of REDUCEs over the same ranges whose elements hold no REDUCE any more. The rule of
 * accumulate.pat makes a loop of each; then the ENDs over the same ranges become one END over all their updates, so
 * that a range is closed once. Groups take as many rounds as reductions are nested.
 */
#include "expand.h"
#include "uop/combine.h"
#include "uop/eval.h"

extern const un__pass un__pass_accumulate;

enum { MAX_DEPS = 64 + 1 };

static un__span accumulators(const un__rw *rw, const un_uop *reduce) {
  const un__accumulation *a = rw->ctx;
  int64_t at = un__topo_find(&a->order, reduce);
  return at >= 0 && a->order.at[at] == reduce ? a->reg[at] : (un__span){0};
}

bool un__pred_ready(un__rw *rw, const un_uop *reduce) { return accumulators(rw, reduce).at != NULL; }

const un_uop *un__fn_accumulator(un__rw *rw, const un_uop *reduce) {
  un__span reg = accumulators(rw, reduce);
  return reg.at ? reg.at[0] : NULL;
}

const un_uop *un__fn_neutral(un__rw *rw, const un_uop *x, int64_t op) {
  un__value v;
  if (!un__identity((un__op)op, UN__DT(un__dt_scalar(x->dtype)), &v)) return NULL;
  return un__dt_is_float(x->dtype) ? un__const_bits(rw->g, x->dtype, un__value_bits(v))
                                   : un__const_i(rw->g, x->dtype, v.i);
}

const un_uop *un__fn_combined(un__rw *rw, int64_t op, const un_uop *a, const un_uop *b) {
  return un__binary(rw->g, (un__op)op, a, b);
}

/* ---- tuples ---- */

/* The place of the one element of a register, once `after` (NULL: nothing) has happened. */
static const un_uop *place(un__graph *g, const un_uop *reg, const un_uop *const *after, uint32_t n) {
  const un_uop *src[1 + MAX_DEPS] = {reg};
  if (n > MAX_DEPS) return NULL;
  for (uint32_t i = 0; i < n; i++) src[1 + i] = after[i];
  const un_uop *ptr = n ? un__uop(g, UN__OP_AFTER, 0, src, n + 1, NULL, 0) : reg;
  return un__uop(g, UN__OP_INDEX, reg->dtype, (const un_uop *[]){ptr, un__idx(g, 0)}, 2, NULL, 0);
}

static const un_uop *read(un__graph *g, const un_uop *at, un__dtype dtype) {
  return un__uop(g, UN__OP_LOAD, dtype, &at, 1, NULL, 0);
}

static const un_uop *write(un__graph *g, const un_uop *at, const un_uop *value) {
  return un__uop(g, UN__OP_STORE, 0, (const un_uop *[]){at, value}, 2, NULL, 0);
}

/* old[i]: accumulator i inside the loop, begun as its identity before it. */
static bool begin(un__graph *g, const un_uop *reduce, un__span reg, const un_uop **old) {
  const un_uop *c = reduce->src[0], *after[1 + 64];
  if (reduce->nsrc > sizeof after / sizeof *after) return false;
  for (uint32_t i = 1; i < reduce->nsrc; i++) after[i] = reduce->src[i];
  for (uint32_t i = 0; i < reg.n; i++) {
    un__dtype dtype = un__combine_element(c, i)->dtype;
    after[0] = write(g, place(g, reg.at[i], NULL, 0), un__with_dtype(g, un__combine_identity(c, i), dtype));
    if (!(old[i] = read(g, place(g, reg.at[i], after, reduce->nsrc), dtype))) return false;
  }
  return true;
}

/* The END of the loop: the body's results, each stored when all accumulators have been read. */
static const un_uop *step(un__graph *g, const un_uop *reduce, un__span reg, const un_uop *const *old) {
  const un_uop *c = reduce->src[0], *now[UN__MAX_COMBINE], *src[1 + 64];
  if (!un__combine_apply(g, c, old, c->src + 1, now)) return NULL;
  for (uint32_t i = 0; i < reg.n; i++) now[i] = write(g, place(g, reg.at[i], old, reg.n), now[i]);
  for (uint32_t i = 1; i < reduce->nsrc; i++) src[i] = reduce->src[i];
  src[0] = un__uop(g, UN__OP_GROUP, 0, now, reg.n, NULL, 0);
  return un__uop(g, UN__OP_END, 0, src, reduce->nsrc, NULL, 0);
}

un__span un__fn_accumulated(un__rw *rw, const un_uop *reduce) {
  un__span reg = accumulators(rw, reduce);
  const un_uop *old[UN__MAX_COMBINE], *end = NULL;
  const un_uop **out = un__arena_alloc(un__workspace_arena(rw->g), reg.n * sizeof *out);
  if (out && begin(rw->g, reduce, reg, old)) end = step(rw->g, reduce, reg, old);
  if (!end) return (un__span){0};
  for (uint32_t i = 0; i < reg.n; i++)
    if (!(out[i] = read(rw->g, place(rw->g, reg.at[i], &end, 1), old[i]->dtype))) return (un__span){0};
  return (un__span){out, reg.n};
}

/* ---- groups: nodes that close the same ranges ---- */

typedef struct group {
  const un_uop *first;
  UN__VEC(size_t) members; /* positions in the order */
  bool waits;              /* a member's element still holds a REDUCE */
} group;
typedef UN__VEC(group) groups;

static bool collect(const un__topo *order, un__op op, groups *out) {
  for (size_t i = 0; i < order->n; i++) {
    if (!un__is(order->at[i], op)) continue;
    group *g = NULL;
    for (size_t j = 0; j < out->n && !g; j++)
      if (un__same_ranges(out->at[j].first, order->at[i])) g = &out->at[j];
    if (!g) {
      if (!un__vec_push(out, ((group){.first = order->at[i]}))) return false;
      g = &out->at[out->n - 1];
    }
    if (!un__vec_push(&g->members, i)) return false;
  }
  return true;
}

static void groups_finish(groups *gs) {
  for (size_t i = 0; i < gs->n; i++) un__vec_finish(&gs->at[i].members);
  un__vec_finish(gs);
}

/* ---- which reductions are ready ---- */

/* holds[i]: node i has a REDUCE below it, itself not counted. */
static bool *find_holders(const un__topo *order) {
  bool *holds = un__calloc(order->n, sizeof *holds);
  for (size_t i = 0; holds && i < order->n; i++)
    for (uint32_t j = un__first_source(order->at[i]); j < order->at[i]->nsrc && !holds[i]; j++) {
      int64_t s = un__topo_find(order, order->at[i]->src[j]);
      holds[i] = holds[s] || un__is(order->at[s], UN__OP_REDUCE);
    }
  return holds;
}

/* An accumulator lives inside the loops that any member of its group depends on: they run in one loop. The thread range
 * is none: a task has registers of its own. */
static const un_uop *new_accumulator(un__graph *g, const group *gr, const un__topo *order, un__dtype dtype, int64_t id) {
  const un_uop *src[1 + 64];
  uint32_t k = 0;
  src[k++] = un__idx(g, 1);
  for (size_t i = 0; i < gr->members.n; i++) {
    const un__rangeset *open = order->at[gr->members.at[i]]->ranges;
    for (uint32_t j = 0; j < open->n; j++) {
      bool known = un__range_axis(open->range[j]) == UN__AXIS_THREAD;
      for (uint32_t m = 1; m < k && !known; m++) known = src[m] == open->range[j];
      if (known) continue;
      if (k == sizeof src / sizeof *src) {
        un__fail(un__graph_err(g), UN_ERR_UNSUPPORTED, "accumulate: a reduction stands in more than 64 loops");
        return NULL;
      }
      src[k++] = open->range[j];
    }
  }
  un__dtype ptr = un__dt_with_lanes(un__dt_ptr(un__dt_scalar(dtype), UN__SPACE_REG), un__dt_lanes(dtype));
  return un__uop(g, UN__OP_DEFINE_REG, ptr, src, k, &id, 1);
}

/* One for each value of the reduction. */
static bool new_accumulators(un__graph *g, un__accumulation *a, const group *gr, size_t at) {
  const un_uop *n = a->order.at[at];
  uint32_t width = un__reduce_width(n);
  const un_uop **list = un__arena_alloc(un__workspace_arena(g), width * sizeof *list);
  if (!list) un__fail(un__graph_err(g), UN_ERR_NOMEM, "accumulate: no memory");
  for (uint32_t i = 0; list && i < width; i++) {
    un__dtype dtype = un__is_combined(n) ? un__combine_element(n->src[0], i)->dtype : n->dtype;
    if (!(list[i] = new_accumulator(g, gr, &a->order, dtype, a->next_id++))) return false;
  }
  a->reg[at] = (un__span){list, width};
  return list != NULL;
}

/* Gives accumulators to the groups that are ready. False on failure. */
static bool prepare(un__graph *g, un__accumulation *a, size_t *out_ready) {
  groups gs = {0};
  bool *holds = find_holders(&a->order);
  a->reg = un__calloc(a->order.n, sizeof *a->reg);
  bool ok = holds && a->reg && collect(&a->order, UN__OP_REDUCE, &gs);
  if (!ok) un__fail(un__graph_err(g), UN_ERR_NOMEM, "accumulate: no memory");
  *out_ready = 0;
  for (size_t i = 0; ok && i < gs.n; i++) {
    group *gr = &gs.at[i];
    for (size_t j = 0; j < gr->members.n; j++) gr->waits |= holds[gr->members.at[j]];
    for (size_t j = 0; ok && !gr->waits && j < gr->members.n; j++, ++*out_ready)
      ok = new_accumulators(g, a, gr, gr->members.at[j]);
  }
  groups_finish(&gs);
  un__free(holds);
  return ok;
}

/* ---- one END a range ---- */

/* The END over all tokens of a group. */
static const un_uop *merged_end(un__graph *g, const group *gr, const un__topo *order) {
  const un_uop **tokens = un__alloc(gr->members.n * sizeof *tokens);
  const un_uop **src = un__alloc(gr->first->nsrc * sizeof *src), *end = NULL;
  if (tokens && src) {
    for (size_t i = 0; i < gr->members.n; i++) tokens[i] = order->at[gr->members.at[i]]->src[0];
    for (uint32_t i = 1; i < gr->first->nsrc; i++) src[i] = gr->first->src[i];
    src[0] = un__uop(g, UN__OP_GROUP, 0, tokens, (uint32_t)gr->members.n, NULL, 0);
    end = un__uop(g, UN__OP_END, 0, src, gr->first->nsrc, NULL, 0);
  } else {
    un__fail(un__graph_err(g), UN_ERR_NOMEM, "accumulate: no memory");
  }
  un__free(tokens);
  un__free(src);
  return end;
}

typedef struct swaps {
  UN__VEC(const un_uop *) from, to;
} swaps;

static bool add_swaps(un__graph *g, const group *gr, const un__topo *order, swaps *s) {
  if (gr->members.n < 2) return true;
  const un_uop *end = merged_end(g, gr, order);
  for (size_t i = 0; end && i < gr->members.n; i++)
    if (!un__vec_push(&s->from, order->at[gr->members.at[i]]) || !un__vec_push(&s->to, end)) {
      un__fail(un__graph_err(g), UN_ERR_NOMEM, "accumulate: no memory");
      return false;
    }
  return end != NULL;
}

static const un_uop *merge_ends(un__graph *g, const un_uop *kernel) {
  groups gs = {0};
  swaps s = {{0}, {0}};
  un__topo order;
  bool ok = un__topo_of(&order, kernel) && collect(&order, UN__OP_END, &gs);
  if (!ok) un__fail(un__graph_err(g), UN_ERR_NOMEM, "accumulate: no memory");
  for (size_t i = 0; ok && i < gs.n; i++) ok = add_swaps(g, &gs.at[i], &order, &s);
  if (!ok)
    kernel = NULL;
  else if (s.from.n)
    kernel = un__substitute(g, kernel, s.from.at, s.to.at, (uint32_t)s.from.n);
  un__vec_finish(&s.from);
  un__vec_finish(&s.to);
  groups_finish(&gs);
  un__topo_finish(&order);
  return kernel;
}

/* ---- rounds ---- */

/* Accumulators are numbered behind the registers that there are. */
static void number_behind(un__accumulation *a) {
  for (size_t i = 0; i < a->order.n; i++) {
    const un_uop *n = a->order.at[i];
    if (un__is(n, UN__OP_DEFINE_REG) && un__attr(n, 0) >= a->next_id) a->next_id = un__attr(n, 0) + 1;
  }
}

static const un_uop *take_round(un__graph *g, const un_uop *kernel, un__accumulation *a, uint32_t licences,
                                size_t *ready) {
  if (!un__topo_of(&a->order, kernel)) {
    un__fail(un__graph_err(g), UN_ERR_NOMEM, "accumulate: no memory");
    return NULL;
  }
  number_behind(a);
  bool ok = prepare(g, a, ready);
  un__rw_options opt = {.ctx = a, .licences = licences};
  if (ok && *ready) kernel = un__graph_rewrite(g, kernel, &un__pass_accumulate, &opt);
  un__free(a->reg);
  a->reg = NULL;
  un__topo_finish(&a->order);
  if (ok && *ready && kernel) kernel = merge_ends(g, kernel);
  return ok ? kernel : NULL;
}

static bool has_reduce(const un_uop *kernel, bool *out) {
  size_t n;
  const un_uop **order = un__toposort(kernel, &n);
  *out = false;
  for (size_t i = 0; order && i < n; i++) *out |= un__is(order[i], UN__OP_REDUCE);
  un__free(order);
  return order != NULL;
}

const un_uop *un__accumulate(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences) {
  un__accumulation a = {.next_id = 0};
  size_t ready = 1;
  while (kernel && ready) kernel = take_round(ws, kernel, &a, licences, &ready);
  bool left = false;
  if (kernel && !has_reduce(kernel, &left)) {
    un__fail(un__graph_err(ws), UN_ERR_NOMEM, "accumulate: no memory");
    return NULL;
  }
  if (left) un__fail(un__graph_err(ws), UN_ERR_INTERNAL, "accumulate: reductions over one range wait for each other");
  return left ? NULL : kernel;
}
