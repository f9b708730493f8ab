/* reduce.c - the accumulators of a REDUCE: how they begin, and the steps that combine an element into them.
 *
 * Accumulators are slots one after the other, value 0 first. A COMBINE's body becomes steps of its own for each REDUCE:
 * all its results are computed before one is kept, since each may need every accumulator. */
#include "program.h"

#include "base/ptrmap.h"
#include "uop/combine.h"

static un_status no_memory(un__ibuild *b) {
  return un__fail(b->err, UN_ERR_NOMEM, "interp: no memory for the program of a kernel");
}

/* ---- values of a reduction, simple or not ---- */

static bool identity(const un_uop *reduce, uint32_t i, un__value *out) {
  if (!un__is_combined(reduce)) return un__identity((un__op)un__attr(reduce, 0), reduce->dtype, out);
  const un_uop *c = un__combine_identity(reduce->src[0], i);
  *out = un__value_from_bits(c->dtype, (uint64_t)un__attr(c, 0));
  return true;
}

/* dst[lane] = from for every lane; from.stride 0: one scalar for all. */
static un_status copy_lanes(un__ibuild *b, uint32_t pos, un__dtype dtype, uint32_t dst, un__ioperand from, uint32_t lanes) {
  for (uint32_t lane = 0; lane < lanes; lane++) {
    un__istep set = {.kind = UN__ISTEP_GATHER,
                     .op = b->order.node[pos]->op,
                     .lanes = 1,
                     .dtype = dtype,
                     .dst = dst + lane,
                     .nsrc = 1,
                     .node = pos};
    UN__TRY(un__ibuild_step(b, set, &(un__ioperand){from.slot + lane * from.stride, 0}));
  }
  return UN_OK;
}

un_status un__ibuild_reduce_start(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t width = un__reduce_width(n), first = UN__NO_SLOT;
  un__value start;
  for (uint32_t i = 0; i < width; i++) {
    if (!identity(n, i, &start)) return un__ibuild_fault(b, pos, "combines by an op without an identity");
    uint32_t at = un__ibuild_slots(b, start, un__lanes(un__reduce_element(n, i)));
    if (at == UN__NO_SLOT) return UN_ERR_NOMEM;
    if (i == 0) first = at;
  }
  b->slot[pos] = first;
  for (uint32_t i = 0, at = first; i < width; at += un__lanes(un__reduce_element(n, i++))) {
    if (!identity(n, i, &start)) return UN_ERR_INTERNAL;
    uint32_t from = un__ibuild_slots(b, start, 1);
    if (from == UN__NO_SLOT) return UN_ERR_NOMEM;
    UN__TRY(copy_lanes(b, pos, start.dtype, at, (un__ioperand){from, 0}, un__lanes(un__reduce_element(n, i))));
  }
  return UN_OK;
}

static un_status simple_step(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t lanes = un__lanes(n);
  un__ioperand operand[2] = {{b->slot[pos], 1}};
  UN__TRY(un__ibuild_operand(b, n->src[0], lanes, &operand[1]));
  un__istep add = {.kind = UN__ISTEP_ALU,
                   .op = n->op,
                   .apply = (uint8_t)un__attr(n, 0),
                   .lanes = (uint16_t)lanes,
                   .is_index = un__dt_is_index(n->dtype),
                   .dtype = UN__DT(un__dt_scalar(n->dtype)),
                   .dst = b->slot[pos],
                   .nsrc = 2,
                   .node = pos};
  return un__ibuild_step(b, add, operand);
}

/* ---- a body ---- */

typedef struct value {
  un__ioperand at;
  uint32_t lanes;
} value;

typedef struct body {
  un__ibuild *b;
  const un_uop *combine;
  uint32_t pos;           /* of the REDUCE */
  const un_uop **order;
  size_t n;
  un__ptrmap index;       /* body node -> its number in `order` */
  value *value;           /* by number */
} body;

static const value *value_of(const body *s, const un_uop *n) { return &s->value[*un__ptrmap_get(&s->index, n)]; }

static un_status value_of_arg(const body *s, const un_uop *arg, value *out) {
  uint32_t width = un__combine_width(s->combine), slot = s->b->slot[s->pos];
  int64_t i = un__attr(arg, 0);
  if (i < 0 || i >= 2 * (int64_t)width) return un__ibuild_fault(s->b, s->pos, "has a body with a foreign placeholder");
  const un_uop *x = un__combine_element(s->combine, (uint32_t)(i % width));
  out->lanes = un__lanes(x);
  if (i >= width) return un__ibuild_operand(s->b, x, out->lanes, &out->at);
  for (uint32_t k = 0; k < i; k++) slot += un__lanes(un__combine_element(s->combine, k));
  out->at = (un__ioperand){slot, out->lanes > 1};
  return UN_OK;
}

static un_status value_of_op(const body *s, const un_uop *n, value *out) {
  un__ioperand operand[3];
  if (!un__has_flag(n, UN__F_ELEM) || n->nsrc > 3)
    return un__ibuild_fault(s->b, s->pos, "has a body that is not elementwise");
  out->lanes = 1;
  for (uint32_t i = 0; i < n->nsrc; i++) {
    const value *x = value_of(s, n->src[i]);
    operand[i] = x->at;
    if (x->lanes > out->lanes) out->lanes = x->lanes;
  }
  un__istep op = {.kind = UN__ISTEP_ALU,
                  .op = n->op,
                  .apply = n->op,
                  .lanes = (uint16_t)out->lanes,
                  .is_index = un__dt_is_index(n->dtype),
                  .dtype = UN__DT(un__dt_scalar(n->dtype)),
                  .dst = un__ibuild_slots(s->b, (un__value){.dtype = UN__DT(un__dt_scalar(n->dtype))}, out->lanes),
                  .nsrc = n->nsrc,
                  .node = s->pos,
                  .in_body = true};
  if (op.dst == UN__NO_SLOT) return UN_ERR_NOMEM;
  out->at = (un__ioperand){op.dst, out->lanes > 1};
  return un__ibuild_step(s->b, op, operand);
}

static un_status build_value(body *s, size_t i) {
  const un_uop *n = s->order[i];
  uintptr_t *place = un__ptrmap_put(&s->index, n, NULL);
  if (!place) return no_memory(s->b);
  *place = i;
  if (n->op == UN__OP_ARG) return value_of_arg(s, n, &s->value[i]);
  if (n->op != UN__OP_CONST) return value_of_op(s, n, &s->value[i]);
  uint32_t slot = un__ibuild_slots(s->b, un__value_from_bits(n->dtype, (uint64_t)un__attr(n, 0)), 1);
  s->value[i] = (value){{slot, 0}, 1};
  return slot == UN__NO_SLOT ? UN_ERR_NOMEM : UN_OK;
}

/* A result may be an accumulator itself, so all are copied before any accumulator is set. */
static un_status keep_results(const body *s) {
  uint32_t width = un__combine_width(s->combine), copy[UN__MAX_COMBINE], at = s->b->slot[s->pos];
  for (uint32_t i = 0; i < width; i++) {
    const un_uop *x = un__combine_element(s->combine, i);
    un__dtype dtype = UN__DT(un__dt_scalar(x->dtype));
    const value *r = value_of(s, un__combine_body(s->combine)->src[i]);
    if (r->lanes != 1 && r->lanes != un__lanes(x))
      return un__ibuild_fault(s->b, s->pos, "has a result with other lanes than its element");
    copy[i] = un__ibuild_slots(s->b, (un__value){.dtype = dtype}, un__lanes(x));
    if (copy[i] == UN__NO_SLOT) return UN_ERR_NOMEM;
    UN__TRY(copy_lanes(s->b, s->pos, dtype, copy[i], r->at, un__lanes(x)));
  }
  for (uint32_t i = 0; i < width; i++) {
    const un_uop *x = un__combine_element(s->combine, i);
    un__ioperand from = {copy[i], 1};
    UN__TRY(copy_lanes(s->b, s->pos, UN__DT(un__dt_scalar(x->dtype)), at, from, un__lanes(x)));
    at += un__lanes(x);
  }
  return UN_OK;
}

static un_status tuple_step(un__ibuild *b, uint32_t pos) {
  body s = {.b = b, .combine = b->order.node[pos]->src[0], .pos = pos};
  s.order = un__toposort(un__combine_body(s.combine), &s.n);
  s.value = s.order ? un__alloc(s.n * sizeof *s.value) : NULL;
  un_status st = s.value ? UN_OK : no_memory(b);
  for (size_t i = 0; st == UN_OK && i + 1 < s.n; i++) st = build_value(&s, i);
  if (st == UN_OK) st = keep_results(&s);
  un__free(s.order);
  un__free(s.value);
  un__ptrmap_finish(&s.index);
  return st;
}

un_status un__ibuild_reduce_step(un__ibuild *b, uint32_t pos) {
  return un__is_combined(b->order.node[pos]) ? tuple_step(b, pos) : simple_step(b, pos);
}
