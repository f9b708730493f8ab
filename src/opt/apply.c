/* apply.c - takes the steps of a plan: each is one simultaneous substitution of a range, and the rules of split.pat. */
#include "legal.h"
#include "pack.h"
#include "share.h"
#include "split.h"

extern const un__pass un__pass_opt_split_accesses, un__pass_opt_split;

static const un_uop *idx_add(un__graph *g, const un_uop *a, const un_uop *b) { return un__binary(g, UN__OP_ADD, a, b); }

/* a * k, or k * a: folded where it is plain, so that graphs stay readable before simplification. */
static const un_uop *idx_mul(un__graph *g, const un_uop *a, const un_uop *k) {
  return un__is_const_int(k, 1) ? a : un__binary(g, UN__OP_MUL, a, k);
}

/* ceil(n / k) as a node. */
static const un_uop *ceil_div(un__graph *g, const un_uop *n, int64_t k) {
  int64_t known = un__known_size(n);
  if (known >= 0) return un__idx(g, known / k + (known % k != 0));
  return un__binary(g, UN__OP_FLOORDIV, idx_add(g, n, un__idx(g, k - 1)), un__idx(g, k));
}

/* max(min(k, n - start), 0): what a loop of k that starts at `start` has left. Never negative as it is, but bounds may
 * no longer show it once the loop around it is split as well. */
static const un_uop *left_over(un__graph *g, const un_uop *k, const un_uop *n, const un_uop *start) {
  const un_uop *size = un__binary(g, UN__OP_MIN, k, un__binary(g, UN__OP_SUB, n, start));
  return un__binary(g, UN__OP_MAX, size, un__idx(g, 0));
}

static bool divides(const un_uop *n, int64_t k) {
  int64_t known = un__known_size(n);
  return known >= 0 && k > 0 && known % k == 0;
}

/* r = part * each + rest: the part takes the outer side. */
static void split_outer(un__graph *g, un__split *s, const un__opt_step *step, int64_t id) {
  const un_uop *n = s->range->src[0], *each = ceil_div(g, n, step->factor), *count = un__idx(g, step->factor);
  int64_t m = each ? un__known_size(each) : -1;
  if (m > 0) count = ceil_div(g, n, m);
  s->part = un__range(g, count, step->axis, id);
  if (m == 1) {
    s->value = s->part;
    return;
  }
  const un_uop *start = idx_mul(g, s->part, each), *size = each;
  if (m > 0 && !divides(n, m)) size = left_over(g, each, n, start);
  s->rest = un__range(g, size, un__range_axis(s->range), un__range_id(s->range));
  s->value = idx_add(g, start, s->rest);
  /* A symbolic range may be too short to give every task something. A task's loop that never runs is no protection:
   * what does not move along it is computed outside of it. */
  if (m < 0) s->inside = un__binary(g, UN__OP_LT, s->value, n);
}

/* The last part moves back to end with the range: r = min(start, n - k) + part. */
static void overlap(un__graph *g, un__split *s, const un_uop *start, int64_t k, bool reduce) {
  const un_uop *last = un__idx(g, un__known_size(s->range->src[0]) - k);
  s->value = idx_add(g, un__binary(g, UN__OP_MIN, start, last), s->part);
  if (!reduce) return;
  const un_uop *again = un__binary(g, UN__OP_MAX, un__binary(g, UN__OP_SUB, start, last), un__idx(g, 0));
  s->inside = un__binary(g, UN__OP_LT, again, idx_add(g, s->part, un__idx(g, 1)));
  s->safe = true;
}

/* r = rest * k + part. */
static void split_inner(un__graph *g, un__split *s, const un__opt_step *step, int64_t id, const un__opt_kernel *kernel,
                        const un__target *t) {
  bool reduce = kernel->axis[un__opt_axis_by_id(kernel, step->range_id)].reduce;
  const un_uop *n = s->range->src[0], *k = un__idx(g, step->factor), *count = ceil_div(g, n, step->factor);
  bool loop = step->axis == un__range_axis(s->range) && step->axis != UN__AXIS_UPCAST && step->axis != UN__AXIS_UNROLL;
  if (reduce && t->gpu.arch) loop = false;     /* what threads stage for each part has one size */
  const un_uop *start = un__idx(g, 0), *size = k;
  if (count && !un__is_const_int(count, 1)) {
    s->rest = un__range(g, count, un__range_axis(s->range), un__range_id(s->range));
    start = idx_mul(g, s->rest, k);
  }
  if (loop && !divides(n, step->factor)) size = left_over(g, k, n, start);
  s->part = un__range(g, size, step->axis, id);
  s->value = s->rest ? idx_add(g, start, s->part) : s->part;
  if (loop || divides(n, step->factor)) return;
  if (un__known_size(n) >= step->factor && !t->gpu.arch && (reduce ? !un__opt_masks(kernel, t) : !un__opt_updates(kernel)))
    return overlap(g, s, start, step->factor, reduce);
  s->inside = un__binary(g, UN__OP_LT, s->value, n);
  s->clamp = step->axis == UN__AXIS_UNROLL && !reduce;
  if (s->clamp) s->value = un__binary(g, UN__OP_MIN, s->value, un__binary(g, UN__OP_SUB, n, un__idx(g, 1)));
}

static const un_uop *share_operands(un__graph *g, const un_uop *kernel, const un__opt_step *step,
                                    const un__opt_kernel *k, const un__target *t) {
  un__opt_share s;
  const char *why = un__opt_share_of(k, (uint32_t)un__opt_axis_by_id(k, step->range_id), step->factor, t, &s);
  if (why) un__opt_refuse(step, why, un__graph_err(g));
  return why ? NULL : un__opt_share_apply(g, kernel, k, &s);
}

static const un_uop *stage_operand(un__graph *g, const un_uop *kernel, const un__opt_step *step,
                                   const un__opt_kernel *k, const un__target *t) {
  un__opt_pack p;
  if (t->gpu.arch) return share_operands(g, kernel, step, k, t);
  const char *why = un__opt_pack_of(k, (uint32_t)un__opt_axis_by_id(k, step->range_id), t, &p);
  if (why) un__opt_refuse(step, why, un__graph_err(g));
  return why ? NULL : un__opt_pack_apply(g, kernel, k, &p);
}

static const un_uop *take_step(un__graph *g, const un_uop *kernel, const un__opt_step *step, const un__opt_kernel *k,
                               const un__target *t) {

  const un__opt_axis *a = &k->axis[un__opt_axis_by_id(k, step->range_id)];
  bool first = step->axis == UN__AXIS_THREAD || step->axis == UN__AXIS_GLOBAL;
  un__split s = {.range = a->range, .place = first ? UN__SPLIT_FIRST : UN__SPLIT_BESIDE};
  if (step->axis == UN__AXIS_LOOP) s.place = UN__SPLIT_LAST_LOOP;
  if (step->factor == 0)
    s.value = s.part = un__range(g, a->range->src[0], step->axis, a->id);
  else if (step->inner)
    split_inner(g, &s, step, k->next_id, k, t);
  else
    split_outer(g, &s, step, k->next_id);
  if (!s.part || !s.value) return NULL;
  un__rw_options opt = {.ctx = &s};
  kernel = un__graph_rewrite(g, kernel, &un__pass_opt_split_accesses, &opt);
  if (kernel) kernel = un__graph_rewrite(g, kernel, &un__pass_opt_split, &opt);
  return kernel ? un__substitute(g, kernel, &s.range, &s.value, 1) : NULL;
}

/* ---- names ---- */

enum { MAX_RENUMBERINGS = 8 };

typedef struct names {
  UN__VEC(const un_uop *) from, to;
} names;

/* The next range by its first visit, with the sizes that other ranges bound. */
static bool name_range(un__graph *g, const un_uop *r, names *n) {
  const un_uop *size = un__substitute(g, r->src[0], n->from.at, n->to.at, (uint32_t)n->from.n);
  const un_uop *to = un__range(g, size, un__range_axis(r), (int64_t)n->from.n);
  if (!to) return false;
  if (un__vec_push(&n->from, r) && un__vec_push(&n->to, to)) return true;
  un__fail(un__graph_err(g), UN_ERR_NOMEM, "optimise: no memory");
  return false;
}

/* A kernel of nothing but loops has their ids in order of first visit (docs/stages.md). Expanded ranges keep theirs:
 * the newest of a nest is its lane. */
static const un_uop *renumber_loops(un__graph *g, const un_uop *kernel) {
  size_t n;
  const un_uop **order = un__toposort(kernel, &n);
  names s = {{0}, {0}};
  bool ok = order != NULL, plain = true;
  for (size_t i = 0; ok && plain && i < n; i++) {
    if (!un__is(order[i], UN__OP_RANGE)) continue;
    plain = un__range_axis(order[i]) == UN__AXIS_LOOP || un__range_axis(order[i]) == UN__AXIS_REDUCE;
    ok = !plain || name_range(g, order[i], &s);
  }
  if (!order) un__fail(un__graph_err(g), UN_ERR_NOMEM, "optimise: no memory");
  if (!ok)
    kernel = NULL;
  else if (plain && s.from.n)
    kernel = un__substitute(g, kernel, s.from.at, s.to.at, (uint32_t)s.from.n);
  un__vec_finish(&s.from);
  un__vec_finish(&s.to);
  un__free(order);
  return kernel;
}

const un_uop *un__opt_take(un__graph *ws, const un_uop *kernel, const un__opt_plan *plan, const un__target *t,
                           uint32_t licences) {
  for (uint32_t i = 0; kernel && i < plan->n; i++) {
    un__opt_kernel k;
    if (un__opt_kernel_of(&k, kernel, t, un__graph_err(ws)) != UN_OK) return NULL;
    const char *why = un__opt_illegal(&k, &plan->step[i], t, licences);
    if (why) un__opt_refuse(&plan->step[i], why, un__graph_err(ws));
    bool stage = plan->step[i].kind == UN__OPT_STAGE;
    if (why)
      kernel = NULL;
    else
      kernel = stage ? stage_operand(ws, kernel, &plan->step[i], &k, t) : take_step(ws, kernel, &plan->step[i], &k, t);
    un__opt_kernel_finish(&k);
  }
  return kernel;
}

const un_uop *un__opt_apply(un__graph *ws, const un_uop *kernel, const un__opt_plan *plan, const un__target *t,
                            uint32_t licences) {
  kernel = un__opt_take(ws, kernel, plan, t, licences);
  /* New ids may change the order of operands and with it the order of visits, but settle at once or nearly so. */
  for (int i = 0; kernel && plan->n && i < MAX_RENUMBERINGS; i++) {
    const un_uop *before = kernel;
    kernel = renumber_loops(ws, kernel);
    if (kernel == before) break;
  }
  return kernel;
}
