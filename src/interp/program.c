#include "program.h"

#include "uop/combine.h"

/* ---- parts ---- */

un_status un__ibuild_fault(un__ibuild *b, uint32_t pos, const char *what) {
  const un_uop *n = b->order.node[pos];
  return un__fail(b->err, UN_ERR_INTERNAL, "interp: %s (node %u) %s", un__info(n)->name, pos, what);
}

static un_status no_memory(un__ibuild *b) {
  return un__fail(b->err, UN_ERR_NOMEM, "interp: no memory for the program of a kernel");
}

uint32_t un__ibuild_slots(un__ibuild *b, un__value first, uint32_t lanes) {
  uint32_t at = (uint32_t)b->prog->slot.n;
  for (uint32_t i = 0; i < lanes; i++) {
    if (!un__vec_push(&b->prog->slot, first)) {
      no_memory(b);
      return UN__NO_SLOT;
    }
  }
  return at;
}

un_status un__ibuild_step(un__ibuild *b, un__istep step, const un__ioperand *operands) {
  step.src = (uint32_t)b->prog->operand.n;
  for (uint32_t i = 0; i < step.nsrc; i++)
    if (!un__vec_push(&b->prog->operand, operands[i])) return no_memory(b);
  return un__vec_push(&b->prog->step, step) ? UN_OK : no_memory(b);
}

un_status un__ibuild_operand(un__ibuild *b, const un_uop *n, uint32_t lanes, un__ioperand *out) {
  uint32_t pos = un__iorder_at(&b->order, n);
  if (b->slot[pos] == UN__NO_SLOT || un__dt_is_ptr(n->dtype))
    return un__ibuild_fault(b, pos, "is used but has no value");
  uint32_t have = un__lanes(n);
  if (have != lanes && have != 1) return un__ibuild_fault(b, pos, "has another number of lanes than its user");
  *out = (un__ioperand){b->slot[pos], have == 1 ? 0 : 1};
  return UN_OK;
}

/* A step with the node's own dtype, and slots for its result. */
static un_status result_step(un__ibuild *b, uint32_t pos, un__istep_kind kind, un__istep *out) {
  const un_uop *n = b->order.node[pos];
  uint32_t lanes = un__lanes(n);
  if (lanes == 0) return un__ibuild_fault(b, pos, "has no lanes");
  un__dtype dt = UN__DT(un__dt_scalar(n->dtype));
  b->slot[pos] = un__ibuild_slots(b, (un__value){.dtype = dt}, lanes);
  if (b->slot[pos] == UN__NO_SLOT) return UN_ERR_NOMEM;
  *out = (un__istep){.kind = (uint8_t)kind,
                     .op = n->op,
                     .apply = n->op,
                     .is_index = un__dt_is_index(dt),
                     .lanes = (uint16_t)lanes,
                     .dtype = dt,
                     .dst = b->slot[pos],
                     .node = pos};
  return UN_OK;
}

/* ---- values ---- */

static un_status build_alu(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  un__ioperand operand[3];
  un__istep s;
  UN__TRY(result_step(b, pos, n->op == UN__OP_VALID ? UN__ISTEP_VALID : UN__ISTEP_ALU, &s));
  s.nsrc = n->nsrc;
  for (uint32_t i = 0; i < n->nsrc; i++) UN__TRY(un__ibuild_operand(b, n->src[i], s.lanes, &operand[i]));
  return un__ibuild_step(b, s, operand);
}

static un_status build_const(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  b->slot[pos] = un__ibuild_slots(b, un__value_from_bits(n->dtype, (uint64_t)un__attr(n, 0)), un__lanes(n));
  return b->slot[pos] == UN__NO_SLOT ? UN_ERR_NOMEM : UN_OK;
}

static un_status build_invalid(un__ibuild *b, uint32_t pos) {
  b->slot[pos] = un__ibuild_slots(b, un__value_i(UN__DT(UN_INDEX), UN__INVALID_INDEX), 1);
  return b->slot[pos] == UN__NO_SLOT ? UN_ERR_NOMEM : UN_OK;
}

/* VARs are numbered by the toposort whatever order the front end writes in, so they are built before anything else. */
static un_status build_var(un__ibuild *b, uint32_t pos) {
  b->slot[pos] = un__ibuild_slots(b, un__value_i(b->order.node[pos]->dtype, 0), 1);
  if (b->slot[pos] == UN__NO_SLOT) return UN_ERR_NOMEM;
  return un__vec_push(&b->prog->var_slot, b->slot[pos]) ? UN_OK : no_memory(b);
}

static un_status build_special(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  if (un__attr(n, 1) != 0) return un__ibuild_fault(b, pos, "has a dimension: the interpreter numbers tasks and threads in one");
  b->slot[pos] = un__ibuild_slots(b, un__value_i(n->dtype, 0), 1);
  if (b->slot[pos] == UN__NO_SLOT) return UN_ERR_NOMEM;
  if (un__attr(n, 0) != UN__AXIS_LOCAL) return un__vec_push(&b->prog->task_slot, b->slot[pos]) ? UN_OK : no_memory(b);
  int64_t threads = un__known_size(n->src[0]);
  if (threads < 1 || threads > UN__IMAX_THREADS || (b->prog->threads != 1 && threads != b->prog->threads))
    return un__ibuild_fault(b, pos, "says no possible number of threads");
  b->prog->threads = (uint32_t)threads;
  return un__vec_push(&b->prog->thread_slot, b->slot[pos]) ? UN_OK : no_memory(b);
}

static un_status build_barrier(un__ibuild *b, uint32_t pos) {
  return un__ibuild_step(b, (un__istep){.kind = UN__ISTEP_BARRIER, .op = UN__OP_BARRIER, .node = pos}, NULL);
}

static un_status build_shuffle(un__ibuild *b, uint32_t pos) {
  un__istep s;
  un__ioperand x;
  UN__TRY(result_step(b, pos, UN__ISTEP_SHUFFLE, &s));
  UN__TRY(un__ibuild_operand(b, b->order.node[pos]->src[0], s.lanes, &x));
  s.nsrc = 1;
  s.mask = (uint32_t)un__attr(b->order.node[pos], 0);
  return un__ibuild_step(b, s, &x);
}

static un_status build_wmma(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  un__istep s;
  un__ioperand x[3];
  UN__TRY(result_step(b, pos, UN__ISTEP_WMMA, &s));
  for (uint32_t i = 0; i < 3; i++) UN__TRY(un__ibuild_operand(b, n->src[i], un__lanes(n->src[i]), &x[i]));
  s.nsrc = 3;
  s.operand_dtype = UN__DT(un__dt_scalar(n->src[0]->dtype));
  return un__ibuild_step(b, s, x);
}

static un_status build_after(un__ibuild *b, uint32_t pos) {
  b->slot[pos] = b->slot[un__iorder_at(&b->order, b->order.node[pos]->src[0])];
  return UN_OK;
}

static un_status build_nothing(un__ibuild *b, uint32_t pos) {
  (void)b, (void)pos;
  return UN_OK;
}

/* ---- vectors ---- */

static un_status build_vectorize(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t lanes = un__lanes(n);
  if (n->nsrc != 1 && n->nsrc != lanes) return un__ibuild_fault(b, pos, "has another number of sources than lanes");
  un__istep s;
  UN__TRY(result_step(b, pos, UN__ISTEP_GATHER, &s));
  s.nsrc = lanes;
  un__ioperand *operand = un__alloc(lanes * sizeof *operand);
  if (!operand) return no_memory(b);
  un_status st = UN_OK;
  for (uint32_t i = 0; st == UN_OK && i < lanes; i++)
    st = un__ibuild_operand(b, n->src[n->nsrc == 1 ? 0 : i], 1, &operand[i]);
  if (st == UN_OK) st = un__ibuild_step(b, s, operand);
  un__free(operand);
  return st;
}

static un_status build_gep(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t lanes = un__lanes(n), from = un__lanes(n->src[0]);
  if (n->nattr != lanes) return un__ibuild_fault(b, pos, "lists another number of lanes than it has");
  un__istep s;
  un__ioperand x, *operand = un__alloc(lanes * sizeof *operand);
  if (!operand) return no_memory(b);
  un_status st = result_step(b, pos, UN__ISTEP_GATHER, &s);
  if (st == UN_OK) st = un__ibuild_operand(b, n->src[0], from, &x);
  for (uint32_t i = 0; st == UN_OK && i < lanes; i++) {
    int64_t lane = un__attr(n, i);
    if (lane < 0 || lane >= (int64_t)from) st = un__ibuild_fault(b, pos, "takes a lane that its source does not have");
    operand[i] = (un__ioperand){x.slot + (uint32_t)lane, 0};
  }
  s.nsrc = lanes;
  if (st == UN_OK) st = un__ibuild_step(b, s, operand);
  un__free(operand);
  return st;
}

static un_status build_hreduce(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t from = un__lanes(n->src[0]);
  un__istep s;
  un__ioperand x;
  if (from == 0 || (from & (from - 1)) != 0) return un__ibuild_fault(b, pos, "needs a power of two of lanes");
  if (un__lanes(n) != 1) return un__ibuild_fault(b, pos, "gives a scalar, not a vector");
  UN__TRY(result_step(b, pos, UN__ISTEP_HREDUCE, &s));
  UN__TRY(un__ibuild_operand(b, n->src[0], from, &x));
  s.dst = b->slot[pos] = un__ibuild_slots(b, (un__value){.dtype = s.dtype}, from);
  if (s.dst == UN__NO_SLOT) return UN_ERR_NOMEM;
  s.apply = (uint8_t)un__attr(n, 0);
  s.lanes = (uint16_t)from;
  s.nsrc = 1;
  return un__ibuild_step(b, s, &x);
}

/* ---- tuples: GET i is where value i is ---- */

/* Of a TUPLE the value itself; of a REDUCE the slots of its accumulators, which lie one after the other. */
static un_status build_get(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos], *tuple = n->src[0];
  int64_t i = un__attr(n, 0);
  uint32_t slot = b->slot[un__iorder_at(&b->order, tuple)];
  if (tuple->op == UN__OP_TUPLE && i >= 0 && i < tuple->nsrc) {
    b->slot[pos] = b->slot[un__iorder_at(&b->order, tuple->src[i])];
    return UN_OK;
  }
  if (!un__is_combined(tuple) || i < 0 || i >= un__reduce_width(tuple) || slot == UN__NO_SLOT)
    return un__ibuild_fault(b, pos, "takes a value that its source does not have");
  for (uint32_t k = 0; k < i; k++) slot += un__lanes(un__combine_element(tuple->src[0], k));
  b->slot[pos] = slot;
  return UN_OK;
}

/* ---- memory ---- */

static un_status add_memory(un__ibuild *b, uint32_t pos, un__imem m) {
  b->slot[pos] = (uint32_t)b->prog->mem.n;
  return un__vec_push(&b->prog->mem, m) ? UN_OK : no_memory(b);
}

static un_status build_param(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  int64_t slot = un__attr(n, 0);
  if (slot < 0 || slot >= UINT32_MAX) return un__ibuild_fault(b, pos, "has no slot number");
  if (un__dt_lanes(n->dtype) != 1) return un__ibuild_fault(b, pos, "points to vectors");
  return add_memory(
      b, pos,
      (un__imem){UN__SPACE_GLOBAL, UN__DT(un__dt_scalar(n->dtype)), 1, (uint32_t)slot, un__known_size(n->src[0])});
}

static un_status build_define(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  un__ioperand count;
  UN__TRY(un__ibuild_operand(b, n->src[0], 1, &count));
  UN__TRY(add_memory(
      b, pos, (un__imem){un__dt_space(n->dtype), UN__DT(un__dt_scalar(n->dtype)), un__dt_lanes(n->dtype), 0, -1}));
  return un__ibuild_step(
      b, (un__istep){.kind = UN__ISTEP_FRESH, .op = n->op, .nsrc = 1, .mem = b->slot[pos], .node = pos}, &count);
}

/* Where a pointer points: its memory, and as operands the index and (nsrc 2) the gate. */
typedef struct place {
  uint32_t mem, nsrc, part;
  un__ioperand operand[2];
} place;

/* Past what only orders, to memory or an INDEX; *part is the slot of the part's begin on the way. */
static const un_uop *past_order(const un__ibuild *b, const un_uop *p, uint32_t *part) {
  for (; p->op == UN__OP_AFTER || p->op == UN__OP_SLOT; p = p->src[0])
    if (p->op == UN__OP_SLOT) *part = b->slot[un__iorder_at(&b->order, p)];
  return p;
}

static un_status resolve(un__ibuild *b, const un_uop *pointer, uint32_t lanes, place *out) {
  uint32_t part = b->zero;
  const un_uop *p = past_order(b, pointer, &part);
  *out = (place){.nsrc = 1, .operand = {{b->zero, 0}}};
  if (p->op == UN__OP_INDEX) {
    UN__TRY(un__ibuild_operand(b, p->src[1], 1, &out->operand[0]));
    if (p->nsrc > 2) UN__TRY(un__ibuild_operand(b, p->src[2], lanes, &out->operand[1]));
    out->nsrc = p->nsrc > 2 ? 2 : 1;
    p = past_order(b, p->src[0], &part);
  }
  uint32_t pos = un__iorder_at(&b->order, p);
  bool is_memory = p->op == UN__OP_PARAM || p->op == UN__OP_DEFINE_LOCAL || p->op == UN__OP_DEFINE_REG;
  if (!is_memory) return un__ibuild_fault(b, pos, "is no memory to load from or store to");
  if (b->slot[pos] == UN__NO_SLOT) return un__ibuild_fault(b, pos, "is used before it is defined");
  out->mem = b->slot[pos];
  out->part = part;
  return UN_OK;
}

static un_status build_index(un__ibuild *b, uint32_t pos) {
  if (b->order.node[pos]->nsrc >= 2) return UN_OK;
  return un__ibuild_fault(b, pos, "has no index");
}

static un_status build_load(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  un__istep s;
  place at;
  UN__TRY(result_step(b, pos, UN__ISTEP_LOAD, &s));
  UN__TRY(resolve(b, n->src[0], s.lanes, &at));
  if (b->prog->mem.at[at.mem].dtype != s.dtype) return un__ibuild_fault(b, pos, "has another dtype than its memory");
  s.mem = at.mem;
  s.part = at.part;
  s.nsrc = at.nsrc;
  return un__ibuild_step(b, s, at.operand);
}

static un_status build_ldmatrix(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  un__istep s;
  place at;
  UN__TRY(result_step(b, pos, UN__ISTEP_LDMATRIX, &s));
  UN__TRY(resolve(b, n->src[0], 1, &at));
  if (b->prog->mem.at[at.mem].dtype != s.dtype) return un__ibuild_fault(b, pos, "has another dtype than its memory");
  s.mem = at.mem;
  s.part = at.part;
  s.nsrc = at.nsrc;
  s.mask = (uint32_t)un__attr(n, 0);
  return un__ibuild_step(b, s, at.operand);
}

static un_status build_store(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t lanes = un__lanes(n->src[1]);
  un__dtype dt = UN__DT(un__dt_scalar(n->src[1]->dtype));
  un__ioperand value;
  place at;
  UN__TRY(un__ibuild_operand(b, n->src[1], lanes, &value));
  UN__TRY(resolve(b, n->src[0], lanes, &at));
  if (b->prog->mem.at[at.mem].dtype != dt) return un__ibuild_fault(b, pos, "has another dtype than its memory");
  un__istep s = {.kind = UN__ISTEP_STORE,
                 .op = n->op,
                 .lanes = (uint16_t)lanes,
                 .dtype = dt,
                 .mem = at.mem,
                 .part = at.part,
                 .nsrc = at.nsrc + 1,
                 .node = pos};
  return un__ibuild_step(b, s, (un__ioperand[]){value, at.operand[0], at.operand[1]});
}

/* ---- parts, and copies into them ---- */

static un_status build_slot(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  int64_t size = un__known_size(un__memory_of(n)->src[0]), parts = un__attr(n, 1);
  un__ioperand turn;
  if (parts < 1 || size < 0 || size % parts) return un__ibuild_fault(b, pos, "has no equal parts");
  UN__TRY(un__ibuild_operand(b, n->src[1], 1, &turn));
  b->slot[pos] = un__ibuild_slots(b, un__value_i(UN__DT(UN_INDEX), 0), 1);
  if (b->slot[pos] == UN__NO_SLOT) return UN_ERR_NOMEM;
  un__istep s = {.kind = UN__ISTEP_SLOT, .op = n->op, .nsrc = 1, .dst = b->slot[pos], .node = pos,
                 .slot = {un__attr(n, 0), parts, size / parts}};
  return un__ibuild_step(b, s, &turn);
}

static un_status build_copy(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  uint32_t lanes = (uint32_t)un__attr(n, 0);
  place to, from;
  UN__TRY(resolve(b, n->src[0], lanes, &to));
  UN__TRY(resolve(b, n->src[1], lanes, &from));
  un__istep s = {.kind = UN__ISTEP_COPY, .op = n->op, .lanes = (uint16_t)lanes, .dtype = UN__DT(un__dt_scalar(n->src[0]->dtype)),
                 .mem = to.mem, .part = to.part, .from = {from.mem, from.part, from.nsrc}, .nsrc = from.nsrc + to.nsrc, .node = pos};
  un__ioperand all[4];
  for (uint32_t i = 0; i < from.nsrc; i++) all[i] = from.operand[i];
  for (uint32_t i = 0; i < to.nsrc; i++) all[from.nsrc + i] = to.operand[i];
  return un__ibuild_step(b, s, all);
}

static un_status build_group(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  bool wait = n->op == UN__OP_WAIT;
  return un__ibuild_step(b, (un__istep){.kind = wait ? UN__ISTEP_WAIT : UN__ISTEP_COMMIT, .op = n->op, .node = pos,
                                        .mask = wait ? (uint32_t)un__attr(n, 0) : 0}, NULL);
}

/* ---- dispatch ---- */

typedef un_status (*build_fn)(un__ibuild *b, uint32_t pos);

static const build_fn build_table[UN__OP_COUNT] = {
    [UN__OP_CONST] = build_const,         [UN__OP_VAR] = build_nothing,
    [UN__OP_SPECIAL] = build_special,     [UN__OP_INVALID] = build_invalid,
    [UN__OP_VALID] = build_alu,           [UN__OP_AFTER] = build_after,
    [UN__OP_VECTORIZE] = build_vectorize, [UN__OP_GEP] = build_gep,
    [UN__OP_HREDUCE] = build_hreduce,     [UN__OP_PARAM] = build_param,
    [UN__OP_DEFINE_LOCAL] = build_define, [UN__OP_DEFINE_REG] = build_define,
    [UN__OP_INDEX] = build_index,         [UN__OP_LOAD] = build_load,
    [UN__OP_STORE] = build_store,         [UN__OP_SINK] = build_nothing,
    [UN__OP_GROUP] = build_nothing,       [UN__OP_BARRIER] = build_barrier,
    [UN__OP_COMBINE] = build_nothing,     [UN__OP_TUPLE] = build_nothing,
    [UN__OP_GET] = build_get,             [UN__OP_SHUFFLE] = build_shuffle,
    [UN__OP_SLOT] = build_slot,           [UN__OP_ASYNC] = build_after,
    [UN__OP_COPY_ASYNC] = build_copy,     [UN__OP_COMMIT] = build_group,
    [UN__OP_WAIT] = build_group,
    [UN__OP_WMMA] = build_wmma,           [UN__OP_LDMATRIX] = build_ldmatrix,
};

un_status un__ibuild_node(un__ibuild *b, uint32_t pos) {
  const un_uop *n = b->order.node[pos];
  build_fn fn = un__has_flag(n, UN__F_ELEM) ? build_alu : build_table[n->op];
  if (fn) return fn(b, pos);
  return un__fail(b->err, UN_ERR_UNSUPPORTED, "interp: %s (node %u) cannot be interpreted inside a kernel",
                  un__info(n)->name, pos);
}

static un_status build(un__ibuild *b, const un_uop *kernel) {
  UN__TRY(un__iorder_init(&b->order, &kernel, 1, b->err));
  b->slot = un__alloc(b->order.n * sizeof *b->slot);
  if (!b->slot) return no_memory(b);
  for (size_t i = 0; i < b->order.n; i++) b->slot[i] = UN__NO_SLOT;
  b->zero = un__ibuild_slots(b, un__value_i(UN__DT(UN_INDEX), 0), 1);
  if (b->zero == UN__NO_SLOT) return UN_ERR_NOMEM;
  for (uint32_t i = 0; i < b->order.n; i++) {
    const un_uop *n = b->order.node[i];
    if (un__has_flag(n, UN__F_BODY) && n->op != UN__OP_COMBINE) return un__ibuild_fault(b, i, "stands inside a kernel");
    if (n->op == UN__OP_VAR) UN__TRY(build_var(b, i));
  }
  return kernel->op == UN__OP_LINEAR ? un__ilinear(b, kernel) : un__inest(b, kernel);
}

un_status un__iprog_create(const un_uop *kernel, un__iprog **out, un__err *err) {
  *out = un__calloc(1, sizeof **out);
  if (!*out) return un__fail(err, UN_ERR_NOMEM, "interp: no memory for the program of a kernel");
  (*out)->threads = 1;
  un__ibuild b = {.prog = *out, .err = err};
  un_status st = build(&b, kernel);
  un__iorder_finish(&b.order);
  un__free(b.slot);
  if (st == UN_OK) return UN_OK;
  un__iprog_destroy(*out);
  *out = NULL;
  return st;
}

void un__iprog_destroy(un__iprog *p) {
  if (!p) return;
  un__vec_finish(&p->step);
  un__vec_finish(&p->operand);
  un__vec_finish(&p->slot);
  un__vec_finish(&p->mem);
  un__vec_finish(&p->var_slot);
  un__vec_finish(&p->task_slot);
  un__vec_finish(&p->thread_slot);
  un__free(p);
}
