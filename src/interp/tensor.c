/* tensor.c - the value of a tensor program: every node becomes a dense row-major array, computed once, freed when its
 * last reader is done.
 *
 * REDUCE_AXIS starts from the op's identity and takes the elements in row-major order of the reduced axes, in the
 * element's own dtype: what the plainest loop nest would do, so a backend under `strict` has the same bits.
 */
#include "bound.h"

#include <string.h>

un_status un__ieval_fault(un__ieval *e, uint32_t pos, const char *what) {
  return un__fail(e->err, UN_ERR_INTERNAL, "interp: %s (node %u) %s", un__info(e->order.node[pos])->name, pos, what);
}

un_status un__ieval_no_memory(un__ieval *e) { return un__fail(e->err, UN_ERR_NOMEM, "interp: no memory for a tensor"); }

/* ---- elements ---- */

size_t un__itensor_element(un__dtype dt) { return un__dt_is_index(dt) ? sizeof(int64_t) : un__dt_info(dt)->size; }

int64_t un__itensor_count(const un__itensor *t) {
  int64_t n = 1;
  for (uint32_t d = 0; d < t->rank; d++) n *= t->dim[d];
  return n;
}

un__value un__itensor_load(const un__itensor *t, int64_t i) {
  const char *p = (const char *)t->data + (size_t)i * un__itensor_element(t->dtype);
  if (!un__dt_is_index(t->dtype)) return un__value_load(t->dtype, p);
  int64_t v;
  memcpy(&v, p, sizeof v);
  return un__value_i(t->dtype, v);
}

void un__itensor_store(un__itensor *t, int64_t i, un__value v) {
  char *p = (char *)t->data + (size_t)i * un__itensor_element(t->dtype);
  if (un__dt_is_index(t->dtype))
    memcpy(p, &v.i, sizeof v.i);
  else
    un__value_store(v, p);
}

/* ---- operands ---- */

uint32_t un__ieval_operands(const un_uop *n) {
  switch (un__info(n)->shape_rule) {
  case UN__SR_DIMS0:
    return 0;
  case UN__SR_DIMS1:
  case UN__SR_PAD:
  case UN__SR_SHRINK:
    return 1;
  default:
    return n->op == UN__OP_TUPLE || n->op == UN__OP_VAR ? 0 : n->nsrc;
  }
}

const un_uop *un__ieval_operand_node(const un_uop *n, uint32_t i) {
  return n->op == UN__OP_GET ? n->src[0]->src[un__attr(n, 0)] : n->src[i];
}

/* ---- one node ---- */

static bool is_invalid(const un__value *v) { return un__dt_is_index(v->dtype) && v->i == UN__INVALID_INDEX; }

/* What an ALU op gives for one element. An invalid index makes index arithmetic invalid; elsewhere it has no value. */
static un_status apply(un__ieval *e, uint32_t pos, const un__value *args, un__value *out) {
  const un_uop *n = e->order.node[pos];
  for (uint32_t i = 0; n->op != UN__OP_WHERE && i < n->nsrc; i++) {
    if (!is_invalid(&args[i])) continue;
    if (!un__dt_is_index(n->dtype)) return un__ieval_fault(e, pos, "uses an index that is not valid as a value");
    *out = args[i];
    return UN_OK;
  }
  if (un__eval((un__op)n->op, n->dtype, args, out)) return UN_OK;
  return un__ieval_fault(e, pos, "has no value: an index left 64 bits");
}

static un_status eval_alu(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  int64_t count = un__itensor_count(out);
  const un__itensor *src[3];
  if (n->nsrc > 3) return un__ieval_fault(e, pos, "has too many operands");
  for (uint32_t k = 0; k < n->nsrc; k++) {
    src[k] = un__ieval_operand(e, n, k);
    if (un__itensor_count(src[k]) != count) return un__ieval_fault(e, pos, "has operands of different shapes");
  }
  for (int64_t i = 0; i < count; i++) {
    un__value args[3] = {{0}}, r;
    for (uint32_t k = 0; k < n->nsrc; k++) args[k] = un__itensor_load(src[k], i);
    UN__TRY(apply(e, pos, args, &r));
    un__itensor_store(out, i, r);
  }
  return UN_OK;
}

static un_status eval_valid(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  const un__itensor *index = un__ieval_operand(e, n, 0), *holds = un__ieval_operand(e, n, 1);
  un__value invalid = un__value_i(out->dtype, UN__INVALID_INDEX);
  for (int64_t i = 0, count = un__itensor_count(out); i < count; i++)
    un__itensor_store(out, i, un__itensor_load(holds, i).i ? un__itensor_load(index, i) : invalid);
  return UN_OK;
}

static un_status eval_invalid(un__ieval *e, uint32_t pos, un__itensor *out) {
  (void)e, (void)pos;
  un__itensor_store(out, 0, un__value_i(out->dtype, UN__INVALID_INDEX));
  return UN_OK;
}

static un_status eval_const(un__ieval *e, uint32_t pos, un__itensor *out) {
  un__itensor_store(out, 0, un__value_from_bits(out->dtype, (uint64_t)un__attr(e->order.node[pos], 0)));
  return UN_OK;
}

static un_status eval_iota(un__ieval *e, uint32_t pos, un__itensor *out) {
  (void)e, (void)pos;
  for (int64_t i = 0, count = un__itensor_count(out); i < count; i++)
    un__itensor_store(out, i, un__value_i(out->dtype, i));
  return UN_OK;
}

static size_t bytes_of(const un__itensor *t) { return (size_t)un__itensor_count(t) * un__itensor_element(t->dtype); }

/* The sources one after the other: a copy, or STACK along a new leading axis. */
static un_status eval_copy(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  char *to = out->data;
  size_t left = bytes_of(out);
  for (uint32_t k = 0; k < un__ieval_operands(n); k++) {
    const un__itensor *src = un__ieval_operand(e, n, k);
    if (bytes_of(src) > left) return un__ieval_fault(e, pos, "has another number of elements than its source");
    memcpy(to, src->data, bytes_of(src));
    to += bytes_of(src);
    left -= bytes_of(src);
  }
  return left == 0 ? UN_OK : un__ieval_fault(e, pos, "has another number of elements than its source");
}

typedef struct mover {
  char *to;
  const char *from;
  size_t size;
} mover;

static void move_element(void *data, int64_t to, int64_t from) {
  mover *m = data;
  if (from < 0)
    memset(m->to + (size_t)to * m->size, 0, m->size);
  else
    memcpy(m->to + (size_t)to * m->size, m->from + (size_t)from * m->size, m->size);
}

static un_status eval_view(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  const un__itensor *src = un__ieval_operand(e, n, 0);
  un__iview v;
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (!un__is_const(n->src[i])) return un__ieval_fault(e, pos, "has a symbolic size");
  un__iview_of(n, out, src, &v);
  un__iview_walk(&v, move_element, &(mover){out->data, src->data, un__itensor_element(out->dtype)});
  return UN_OK;
}

static un_status eval_gather(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  const un__itensor *x = un__ieval_operand(e, n, 0);
  int64_t stride[UN__MAX_RANK];
  un__itensor_strides(x, stride);
  if (n->nsrc != x->rank + 1) return un__ieval_fault(e, pos, "needs one index for each axis");
  for (int64_t i = 0, count = un__itensor_count(out); i < count; i++) {
    int64_t at = 0;
    bool valid = true;
    for (uint32_t d = 0; d < x->rank; d++) {
      int64_t index = un__itensor_load(un__ieval_operand(e, n, d + 1), i).i;
      if (index == UN__INVALID_INDEX)
        valid = false;
      else if (index < 0 || index >= x->dim[d])
        return un__ieval_fault(e, pos, "has an index out of range that claims to be valid");
      else
        at += index * stride[d];
    }
    un__itensor_store(out, i, valid ? un__itensor_load(x, at) : un__value_i(out->dtype, 0));
  }
  return UN_OK;
}

typedef struct reducer {
  un__ieval *e;
  uint32_t pos;
  un__op op;
  un__itensor *out;
  const un__itensor *in;
  un_status st;
} reducer;

static void reduce_element(void *data, int64_t from, int64_t to) {
  reducer *r = data;
  if (r->st != UN_OK) return;
  un__value pair[2] = {un__itensor_load(r->out, to), un__itensor_load(r->in, from)}, sum;
  if (un__eval(r->op, r->out->dtype, pair, &sum))
    un__itensor_store(r->out, to, sum);
  else
    r->st = un__ieval_fault(r->e, r->pos, "has no value: an index left 64 bits");
}

un_status un__ieval_reduce_view(un__ieval *e, uint32_t pos, const un__itensor *in, const un__itensor *out,
                                un__iview *v) {
  const un_uop *n = e->order.node[pos];
  int64_t out_stride[UN__MAX_RANK];
  un__itensor_strides(out, out_stride);
  *v = (un__iview){.rank = in->rank};
  for (uint32_t d = 0, kept = 0, a = 1; d < in->rank; d++) {
    bool reduced = a < n->nattr && un__attr(n, a) == d;
    v->dim[d] = v->hi[d] = in->dim[d];
    a += reduced;
    if (reduced) continue;
    if (kept == out->rank) return un__ieval_fault(e, pos, "keeps another number of axes than its shape has");
    v->stride[d] = out_stride[kept++];
  }
  return UN_OK;
}

static un_status eval_reduce(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  reducer r = {e, pos, (un__op)un__attr(n, 0), out, un__ieval_operand(e, n, 0), UN_OK};
  un__value identity;
  un__iview v;
  if (!un__identity(r.op, n->dtype, &identity)) return un__ieval_fault(e, pos, "combines by an op without an identity");
  for (int64_t i = 0, count = un__itensor_count(out); i < count; i++) un__itensor_store(out, i, identity);
  UN__TRY(un__ieval_reduce_view(e, pos, r.in, out, &v));
  un__iview_walk(&v, reduce_element, &r);
  return r.st;
}

typedef un_status (*eval_fn)(un__ieval *e, uint32_t pos, un__itensor *out);

static const eval_fn eval_table[UN__OP_COUNT] = {
    [UN__OP_CONST] = eval_const, [UN__OP_IOTA] = eval_iota,          [UN__OP_RESHAPE] = eval_copy,
    [UN__OP_STACK] = eval_copy,  [UN__OP_COPY] = eval_copy,          [UN__OP_CONTIGUOUS] = eval_copy,
    [UN__OP_DETACH] = eval_copy, [UN__OP_GET] = eval_copy,           [UN__OP_PERMUTE] = eval_view,
    [UN__OP_EXPAND] = eval_view, [UN__OP_PAD] = eval_view,           [UN__OP_SHRINK] = eval_view,
    [UN__OP_FLIP] = eval_view,   [UN__OP_REDUCE_AXIS] = eval_reduce, [UN__OP_INDEX] = eval_gather,
    [UN__OP_VALID] = eval_valid, [UN__OP_INVALID] = eval_invalid,
};

/* ---- the graph ---- */

static un_status shape_of(un__ieval *e, uint32_t pos, un__itensor *out) {
  const un_uop *n = e->order.node[pos];
  const un__shape *s = n->op == UN__OP_GET ? un__ieval_operand_node(n, 0)->shape : n->shape;
  if (!s || s->rank > UN__MAX_RANK || un__lanes(n) != 1) return un__ieval_fault(e, pos, "has no shape and so no value");
  *out = (un__itensor){.dtype = UN__DT(un__dt_scalar(n->dtype)), .rank = s->rank};
  int64_t bytes = (int64_t)un__itensor_element(n->dtype);
  bool fits = true;
  for (uint32_t d = 0; d < s->rank; d++) {
    out->dim[d] = un__known_size(s->dim[d]);
    if (out->dim[d] < 0)
      return un__fail(e->err, UN_ERR_UNSUPPORTED, "interp: %s (node %u) has a symbolic dim", un__info(n)->name, pos);
    int64_t factor = out->dim[d] ? out->dim[d] : 1;
    fits = fits && !__builtin_mul_overflow(bytes, factor, &bytes);
  }
  return fits ? UN_OK : un__ieval_no_memory(e);
}

static un_status bind_buffer(un__ieval *e, uint32_t pos, un__itensor *out) {
  int64_t slot = un__attr(e->order.node[pos], 0);
  if (slot < 0 || slot >= e->ninputs)
    return un__fail(e->err, UN_ERR_INVALID_ARG, "interp: BUFFER slot %lld has no input, %u were given", (long long)slot,
                    e->ninputs);
  const un__itensor *in = &e->inputs[slot];
  bool same = in->dtype == out->dtype && in->rank == out->rank;
  for (uint32_t d = 0; same && d < in->rank; d++) same = in->dim[d] == out->dim[d];
  if (!same)
    return un__fail(e->err, UN_ERR_INVALID_ARG, "interp: input %lld has another dtype or shape than its BUFFER",
                    (long long)slot);
  out->data = in->data;
  e->borrowed[pos] = true;
  return UN_OK;
}

static un_status eval_node(un__ieval *e, uint32_t pos) {
  const un_uop *n = e->order.node[pos];
  un__itensor out;
  UN__TRY(shape_of(e, pos, &out));
  if (n->op == UN__OP_BUFFER) {
    UN__TRY(bind_buffer(e, pos, &out));
    e->value[pos] = out;
    return UN_OK;
  }
  eval_fn fn = un__has_flag(n, UN__F_ELEM) ? eval_alu : eval_table[n->op];
  if (!fn)
    return un__fail(e->err, UN_ERR_UNSUPPORTED, "interp: %s (node %u) is no tensor operation", un__info(n)->name, pos);
  out.data = un__alloc(bytes_of(&out));
  if (!out.data) return un__ieval_no_memory(e);
  e->value[pos] = out;
  return fn(e, pos, &out);
}

static void release(un__ieval *e, uint32_t pos) {
  if (!e->borrowed[pos]) un__free(e->value[pos].data);
  e->value[pos].data = NULL;
  if (!e->bound) return;
  un__free(e->bound[pos]);
  e->bound[pos] = NULL;
}

/* Marks what is wanted, users first, counting readers; also checks what the evaluation takes for granted. */
static un_status count_uses(un__ieval *e, const un_uop *const *roots, uint32_t nroots) {
  for (uint32_t i = 0; i < nroots; i++) e->uses[un__iorder_at(&e->order, roots[i])]++;
  for (uint32_t pos = (uint32_t)e->order.n; pos-- > 0;) {
    const un_uop *n = e->order.node[pos];
    if (e->uses[pos] == 0) continue;
    if (un__has_flag(n, UN__F_BODY)) return un__ieval_fault(e, pos, "cannot be interpreted");
    bool is_get = n->op == UN__OP_GET;
    if (is_get && (n->src[0]->op != UN__OP_TUPLE || un__attr(n, 0) < 0 || un__attr(n, 0) >= n->src[0]->nsrc))
      return un__ieval_fault(e, pos, "takes nothing out of a TUPLE");
    for (uint32_t i = 0; i < un__ieval_operands(n); i++)
      e->uses[un__iorder_at(&e->order, un__ieval_operand_node(n, i))]++;
  }
  return UN_OK;
}

static un_status eval_all(un__ieval *e) {
  for (uint32_t pos = 0; pos < e->order.n; pos++) {
    const un_uop *n = e->order.node[pos];
    if (e->uses[pos] == 0) continue;
    UN__TRY(eval_node(e, pos));
    if (e->bound) UN__TRY(un__ibound_node(e, pos));
    for (uint32_t i = 0; i < un__ieval_operands(n); i++) {
      uint32_t from = un__iorder_at(&e->order, un__ieval_operand_node(n, i));
      if (--e->uses[from] == 0) release(e, from);
    }
  }
  return UN_OK;
}

static void *copied(un__ieval *e, const void *data, size_t size) {
  void *copy = un__alloc(size);
  if (!copy) un__ieval_no_memory(e);
  return copy ? memcpy(copy, data, size) : NULL;
}

static un_status copy_out(un__ieval *e, const un_uop *root, un__itensor *out, double **out_bound) {
  uint32_t pos = un__iorder_at(&e->order, root);
  const un__itensor *v = &e->value[pos];
  void *data = copied(e, v->data, bytes_of(v));
  *out = *v;
  out->data = data;
  if (!data || !out_bound || !e->bound[pos]) return data ? UN_OK : UN_ERR_NOMEM;
  *out_bound = copied(e, e->bound[pos], (size_t)un__itensor_count(v) * sizeof **out_bound);
  return *out_bound ? UN_OK : UN_ERR_NOMEM;
}

static un_status run(un__ieval *e, const un_uop *const *roots, uint32_t nroots, un__itensor *out, double **out_bound) {
  UN__TRY(un__iorder_init(&e->order, roots, nroots, e->err));
  e->value = un__calloc(e->order.n, sizeof *e->value);
  e->borrowed = un__calloc(e->order.n, sizeof *e->borrowed);
  e->uses = un__calloc(e->order.n, sizeof *e->uses);
  if (out_bound) e->bound = un__calloc(e->order.n, sizeof *e->bound);
  if (!e->value || !e->borrowed || !e->uses || (out_bound && !e->bound)) return un__ieval_no_memory(e);
  UN__TRY(count_uses(e, roots, nroots));
  UN__TRY(eval_all(e));
  for (uint32_t i = 0; i < nroots; i++) UN__TRY(copy_out(e, roots[i], &out[i], out_bound ? &out_bound[i] : NULL));
  return UN_OK;
}

static void forget(un__ieval *e) {
  for (uint32_t pos = 0; e->value && e->borrowed && pos < e->order.n; pos++) release(e, pos);
  un__free(e->value);
  un__free(e->borrowed);
  un__free(e->bound);
  un__free(e->uses);
  un__iorder_finish(&e->order);
}

static void drop_results(uint32_t n, un__itensor *out, double **out_bound) {
  for (uint32_t i = 0; i < n; i++) {
    un__free(out[i].data);
    out[i].data = NULL;
    if (!out_bound) continue;
    un__free(out_bound[i]);
    out_bound[i] = NULL;
  }
}

un_status un__interp_tensor_bounded(const un_uop *const *roots, uint32_t nroots, const un__itensor *inputs,
                                    uint32_t ninputs, un__itensor *out, double **out_bound, un__err *err) {
  un__ieval e = {.err = err, .inputs = inputs, .ninputs = ninputs};
  for (uint32_t i = 0; i < nroots; i++) {
    out[i].data = NULL;
    if (out_bound) out_bound[i] = NULL;
  }
  un_status st = run(&e, roots, nroots, out, out_bound);
  forget(&e);
  if (st != UN_OK) drop_results(nroots, out, out_bound);
  return st;
}

un_status un__interp_tensor(const un_uop *const *roots, uint32_t nroots, const un__itensor *inputs, uint32_t ninputs,
                            un__itensor *out, un__err *err) {
  return un__interp_tensor_bounded(roots, nroots, inputs, ninputs, out, NULL, err);
}
