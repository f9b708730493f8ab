/* apply.c - takes the steps of a plan: each is one simultaneous substitution of a range, and the rules of split.pat. */
#include "legal.h"
#include "split.h"

extern const un__pass un__pass_opt_split;

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

/* min(k, n - start): what a loop of k that starts at `start` has left. */
static const un_uop *left_over(un__graph *g, const un_uop *k, const un_uop *n, const un_uop *start) {
  return un__binary(g, UN__OP_MIN, k, un__binary(g, UN__OP_SUB, n, start));
}

static bool divides(const un_uop *n, int64_t k) {
  int64_t known = un__known_size(n);
  return known >= 0 && known % k == 0;
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
  if (m < 0)
    size = un__binary(g, UN__OP_MAX, left_over(g, each, n, start), un__idx(g, 0)); /* a task may get nothing */
  else if (!divides(n, m))
    size = left_over(g, each, n, start);
  s->rest = un__range(g, size, un__range_axis(s->range), un__range_id(s->range));
  s->value = idx_add(g, start, s->rest);
}

/* r = rest * k + part. */
static void split_inner(un__graph *g, un__split *s, const un__opt_step *step, int64_t id, bool reduce) {
  const un_uop *n = s->range->src[0], *k = un__idx(g, step->factor), *count = ceil_div(g, n, step->factor);
  bool loop = step->axis == un__range_axis(s->range) && step->axis != UN__AXIS_UPCAST && step->axis != UN__AXIS_UNROLL;
  const un_uop *start = un__idx(g, 0), *size = k;
  if (count && !un__is_const_int(count, 1)) {
    s->rest = un__range(g, count, un__range_axis(s->range), un__range_id(s->range));
    start = idx_mul(g, s->rest, k);
  }
  if (loop && !divides(n, step->factor)) size = left_over(g, k, n, start);
  s->part = un__range(g, size, step->axis, id);
  s->value = s->rest ? idx_add(g, start, s->part) : s->part;
  if (loop || divides(n, step->factor)) return;
  s->inside = un__binary(g, UN__OP_LT, s->value, n);
  s->clamp = step->axis == UN__AXIS_UNROLL && !reduce;
  if (s->clamp) s->value = un__binary(g, UN__OP_MIN, s->value, un__binary(g, UN__OP_SUB, n, un__idx(g, 1)));
}

static const un_uop *take_step(un__graph *g, const un_uop *kernel, const un__opt_step *step, const un__opt_kernel *k) {
  const un__opt_axis *a = &k->axis[un__opt_axis_by_id(k, step->range_id)];
  un__split s = {.range = a->range, .place = step->axis == UN__AXIS_THREAD ? UN__SPLIT_FIRST : UN__SPLIT_BESIDE};
  if (step->axis == UN__AXIS_LOOP) s.place = UN__SPLIT_LAST_LOOP;
  if (step->factor == 0)
    s.value = s.part = un__range(g, a->range->src[0], step->axis, a->id);
  else if (step->inner)
    split_inner(g, &s, step, k->next_id, a->reduce);
  else
    split_outer(g, &s, step, k->next_id);
  if (!s.part || !s.value) return NULL;
  un__rw_options opt = {.ctx = &s};
  kernel = un__graph_rewrite(g, kernel, &un__pass_opt_split, &opt);
  return kernel ? un__substitute(g, kernel, &s.range, &s.value, 1) : NULL;
}

const un_uop *un__opt_apply(un__graph *ws, const un_uop *kernel, const un__opt_plan *plan, const un__target *t,
                            uint32_t licences) {
  for (uint32_t i = 0; kernel && i < plan->n; i++) {
    un__opt_kernel k;
    if (un__opt_kernel_of(&k, kernel, t, un__graph_err(ws)) != UN_OK) return NULL;
    const char *why = un__opt_illegal(&k, &plan->step[i], t, licences);
    if (why) un__opt_refuse(&plan->step[i], why, un__graph_err(ws));
    kernel = why ? NULL : take_step(ws, kernel, &plan->step[i], &k);
    un__opt_kernel_finish(&k);
  }
  return kernel;
}
