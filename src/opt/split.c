#include "split.h"

#include "uop/combine.h"
#include "uop/eval.h"

static const un__split *split_of(const un__rw *rw) { return rw->ctx; }

bool un__pred_split_pads(un__rw *rw, const un_uop *x) {
  const un__split *s = split_of(rw);
  return s->inside && !s->clamp && !s->safe && un__depends_on(x, s->range);
}

bool un__pred_split_overruns(un__rw *rw, const un_uop *x) {
  const un__split *s = split_of(rw);
  return s->inside && s->clamp && un__depends_on(x, s->range);
}

bool un__pred_split_closes(un__rw *rw, un__span ranges) {
  for (uint32_t i = 0; i < ranges.n; i++)
    if (ranges.at[i] == split_of(rw)->range) return true;
  return false;
}

bool un__pred_split_closes_padded(un__rw *rw, un__span ranges) {
  return split_of(rw)->inside && un__pred_split_closes(rw, ranges);
}

/* A load that moves along a padded range is 0 in the padding: it has a gate there. */
static bool loads_zero(un__rw *rw, const un_uop *x) {
  while (un__is(x, UN__OP_CAST)) x = x->src[0];
  if (!un__is(x, UN__OP_LOAD) || !un__is(x->src[0], UN__OP_INDEX)) return false;
  const un_uop *index = x->src[0];
  for (uint32_t i = 1; i < index->nsrc; i++)
    if (un__pred_split_pads(rw, index->src[i])) return true;
  return false;
}

bool un__pred_split_loads_zeros(un__rw *rw, const un_uop *x) { return loads_zero(rw, x->src[0]) && loads_zero(rw, x->src[1]); }

bool un__pred_split_to_core(un__rw *rw, un__span ranges) {
  if (un__range_axis(split_of(rw)->part) == UN__AXIS_TENSOR) return true;
  for (uint32_t i = 0; i < ranges.n; i++)
    if (un__is(ranges.at[i], UN__OP_RANGE) && un__range_axis(ranges.at[i]) == UN__AXIS_TENSOR) return true;
  return false;
}

const un_uop *un__fn_split_zeroed(un__rw *rw, const un_uop *x) {
  if (loads_zero(rw, x)) return x;
  const un_uop *operand = un__is(x, UN__OP_CAST) ? x->src[0] : x;
  const un_uop *zero = un__fn_split_identity(rw, operand, UN__OP_ADD);
  const un_uop *zeroed = zero ? un__ternary(rw->g, UN__OP_WHERE, split_of(rw)->inside, operand, zero) : NULL;
  return operand == x ? zeroed : un__cast(rw->g, x->dtype, zeroed);
}

const un_uop *un__fn_split_inside(un__rw *rw, const un_uop *x) { return split_of(rw)->inside; }

const un_uop *un__fn_split_identity(un__rw *rw, const un_uop *x, int64_t op) {
  un__value v;
  if (!un__identity((un__op)op, x->dtype, &v)) return NULL;
  return un__dt_is_float(x->dtype) ? un__const_bits(rw->g, x->dtype, un__value_bits(v))
                                   : un__const_i(rw->g, x->dtype, v.i);
}

const un_uop *un__fn_split_padded(un__rw *rw, const un_uop *combine) {
  const un_uop *x[UN__MAX_COMBINE];
  for (uint32_t i = 0; i < un__combine_width(combine); i++)
    x[i] = un__ternary(rw->g, UN__OP_WHERE, split_of(rw)->inside, un__combine_element(combine, i),
                       un__combine_identity(combine, i));
  return un__combine_with(rw->g, combine, x);
}

un__span un__fn_split_loops(un__rw *rw, un__span ranges) {
  const un__split *s = split_of(rw);
  const un_uop **list = un__arena_alloc(un__workspace_arena(rw->g), (ranges.n + 1) * sizeof *list);
  if (!list) {
    un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "optimise: no memory");
    return (un__span){0};
  }
  uint32_t n = 0, after = ranges.n;
  uint32_t blocks = 0;
  while (blocks < ranges.n && un__range_axis(ranges.at[blocks]) == UN__AXIS_GLOBAL) blocks++;
  for (uint32_t i = 0; i < ranges.n; i++)
    if (s->place == UN__SPLIT_BESIDE ? ranges.at[i] == s->range : un__range_axis(ranges.at[i]) == UN__AXIS_LOOP)
      after = i;
  for (uint32_t i = 0; i < ranges.n; i++) {
    if (s->place == UN__SPLIT_FIRST && i == blocks) list[n++] = s->part;
    if (ranges.at[i] != s->range)
      list[n++] = ranges.at[i];
    else if (s->rest)
      list[n++] = s->rest;
    if (i == after && s->place != UN__SPLIT_FIRST) list[n++] = s->part;
  }
  return (un__span){list, n};
}
