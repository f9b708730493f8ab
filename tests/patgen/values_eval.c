/* values_eval.c - what a term is worth when its leaves are known: the reference evaluator of the op table, lane by
 * lane, and around it the operations that have no scalar evaluator. Terms are small, so recursion is bounded by
 * `steps`. */
#include "values.h"

enum { MAX_STEPS = 20000, MAX_TURNS = 64 };

static mv_value nothing(mv_kind kind) { return (mv_value){.kind = kind}; }

static mv_value number(un__dtype dt, uint32_t lanes) {
  mv_value x = {.kind = MV_NUMBER, .lanes = lanes};
  for (uint32_t i = 0; i < lanes && i < MV_LANES; i++) x.v[i].dtype = UN__DT(un__dt_scalar(dt));
  return x;
}

static mv_value *known(mv_point *p, const un_uop *n) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->leaf[i] == n) return &p->value[i];
  return NULL;
}

/* What nodes are worth at this point, by id: terms share parts. */
enum { MEMO = 4096 };
static struct {
  uint64_t epoch;
  mv_value value;
} memo[MEMO];
static uint64_t epoch = 1;

void mv_changed(mv_point *p) {
  p->steps = 0;
  epoch++;
}

/* ---- leaves ---- */

static bool is_leaf(const un_uop *n) {
  return (n->op == UN__OP_BUFFER && !n->nsrc) || n->op == UN__OP_VAR || n->op == UN__OP_RANGE;
}

static bool add_leaf(mv_point *p, const un_uop *n) {
  if (known(p, n)) return true;
  if (p->n == MV_UNKNOWNS) return false;
  p->leaf[p->n++] = n;
  return true;
}

/* A RANGE is a leaf also where a reduction binds it: its value there is set by the reduction. */
bool mv_leaves(mv_point *p, const un_uop *root) {
  size_t n = 0;
  const un_uop **order = un__toposort(root, &n);
  bool good = order != NULL;
  for (size_t i = 0; i < n && good; i++)
    if (is_leaf(order[i])) good = add_leaf(p, order[i]);
  un__free(order);
  return good;
}

/* ---- operations ---- */

static mv_value from_constant(const un_uop *n) {
  uint32_t lanes = un__lanes(n);
  if (lanes > MV_LANES) return nothing(MV_FOREIGN);
  mv_value x = number(n->dtype, lanes);
  for (uint32_t i = 0; i < lanes; i++)
    x.v[i] = un__value_from_bits(UN__DT(un__dt_scalar(n->dtype)), (uint64_t)un__attr(n, 0));
  return x;
}

/* Index arithmetic keeps "no index"; a comparison of it, or a value made of it, is nobody's business. */
static mv_value without_index(const un_uop *n) { return nothing(un__dt_is_index(n->dtype) ? MV_INVALID : MV_NOBODY); }

static mv_value elementwise(const un_uop *n, const mv_value *a) {
  uint32_t lanes = un__lanes(n);
  if (lanes > MV_LANES) return nothing(MV_FOREIGN);
  mv_value x = number(n->dtype, lanes);
  for (uint32_t i = 0; i < lanes; i++) {
    un__value args[3];
    for (uint32_t k = 0; k < n->nsrc && k < 3; k++) args[k] = a[k].v[a[k].lanes == 1 ? 0 : i];
    if (!un__eval((un__op)n->op, UN__DT(un__dt_scalar(n->dtype)), args, &x.v[i])) return nothing(MV_BEYOND);
  }
  return x;
}

static mv_value where(mv_point *p, const un_uop *n) {
  mv_value c, x, y;
  mv_eval(p, n->src[0], &c);
  if (c.kind != MV_NUMBER) return c.kind == MV_INVALID ? nothing(MV_NOBODY) : c;
  if (c.lanes == 1) { /* the arm that is not taken may be anything */
    mv_eval(p, n->src[c.v[0].i ? 1 : 2], &x);
    return x;
  }
  mv_eval(p, n->src[1], &x);
  mv_eval(p, n->src[2], &y);
  if (x.kind != MV_NUMBER || y.kind != MV_NUMBER) return nothing(MV_FOREIGN);
  for (uint32_t i = 0; i < c.lanes && i < MV_LANES; i++)
    if (!c.v[i].i) x.v[i] = y.v[i];
  return x;
}

static bool ready(const mv_value *x, mv_value *out) {
  if (x->kind == MV_NUMBER) return true;
  *out = *x;
  return false;
}

static mv_value combined(const un_uop *n, un__op op, un__value a, un__value b) {
  mv_value x = number(n->dtype, 1);
  const un__value args[2] = {a, b};
  return un__eval(op, UN__DT(un__dt_scalar(n->dtype)), args, &x.v[0]) ? x : nothing(MV_BEYOND);
}

/* Turns of the ranges from source k on, the last turning fastest; acc takes each value. */
static bool reduce_from(mv_point *p, const un_uop *n, uint32_t k, mv_value *acc) {
  mv_value x;
  if (k == n->nsrc) {
    mv_eval(p, n->src[0], &x);
    if (x.kind != MV_NUMBER || x.lanes != 1) {
      *acc = x.kind == MV_NUMBER ? nothing(MV_FOREIGN) : x.kind == MV_INVALID ? nothing(MV_NOBODY) : x;
      return false;
    }
    *acc = combined(n, (un__op)un__attr(n, 0), acc->v[0], x.v[0]);
    return acc->kind == MV_NUMBER;
  }
  mv_value *r = n->src[k]->op == UN__OP_RANGE ? known(p, n->src[k]) : NULL;
  if (r) mv_eval(p, n->src[k]->src[0], &x);
  if (!r || x.kind != MV_NUMBER || x.v[0].i > MAX_TURNS) {
    *acc = nothing(MV_FOREIGN);
    return false;
  }
  mv_value before = *r;
  bool good = true;
  for (int64_t i = 0; i < x.v[0].i && good; i++) {
    *r = number(n->src[k]->dtype, 1);
    r->v[0].i = i;
    epoch++;
    good = reduce_from(p, n, k + 1, acc);
  }
  *r = before;
  epoch++;
  return good;
}

static mv_value reduce(mv_point *p, const un_uop *n) {
  mv_value acc = number(n->dtype, 1);
  un__dtype dt = UN__DT(un__dt_scalar(n->dtype));
  if (un__lanes(n) != 1 || !un__identity((un__op)un__attr(n, 0), dt, &acc.v[0])) return nothing(MV_FOREIGN);
  reduce_from(p, n, 1, &acc);
  return acc;
}

static mv_value hreduce(const un_uop *n, const mv_value *x) {
  mv_value t = *x;
  for (uint32_t half = x->lanes / 2; half >= 1; half /= 2)
    for (uint32_t i = 0; i < half; i++) {
      mv_value c = combined(n, (un__op)un__attr(n, 0), t.v[i], t.v[i + half]);
      if (c.kind != MV_NUMBER) return c;
      t.v[i] = c.v[0];
    }
  t.lanes = 1;
  return t;
}

static mv_value vectorize(const un_uop *n, const mv_value *a) {
  mv_value x = number(n->dtype, un__lanes(n));
  if (x.lanes > MV_LANES) return nothing(MV_FOREIGN);
  for (uint32_t i = 0; i < x.lanes; i++) x.v[i] = a[n->nsrc == 1 ? 0 : i].v[0];
  return x;
}

static mv_value lanes_of(const un_uop *n, const mv_value *x) {
  mv_value y = number(n->dtype, un__lanes(n));
  for (uint32_t i = 0; i < n->nattr && i < MV_LANES; i++) {
    int64_t lane = un__attr(n, i);
    if (lane < 0 || lane >= x->lanes) return nothing(MV_FOREIGN);
    y.v[i] = x->v[lane];
  }
  return y;
}

/* ---- memory ---- */

static mv_value address(mv_point *p, const un_uop *n) {
  if (n->nsrc < 2 || n->src[0]->op != UN__OP_PARAM) return nothing(MV_FOREIGN);
  mv_value gate = {.kind = MV_NUMBER, .lanes = 1, .v = {{.i = 1}}}, i, a = nothing(MV_ADDRESS);
  if (n->nsrc > 2) mv_eval(p, n->src[2], &gate);
  if (gate.kind != MV_NUMBER || gate.lanes != 1) return nothing(gate.kind == MV_INVALID ? MV_NOBODY : MV_FOREIGN);
  if (!gate.v[0].i) return a; /* the index may be anything */
  mv_eval(p, n->src[1], &i);
  if (i.kind == MV_INVALID) return a;
  if (i.kind != MV_NUMBER || i.lanes != 1) return i.kind == MV_NUMBER ? nothing(MV_FOREIGN) : i;
  a.on = true;
  a.slot = un__attr(n->src[0], 0);
  a.at = i.v[0].i;
  return a;
}

/* What lies at an address: a value that depends on nothing else. */
static mv_value load(mv_point *p, const un_uop *n) {
  mv_value a, x = number(n->dtype, 1);
  if (un__lanes(n) != 1 || un__dt_class(n->dtype) == UN__CLASS_VOID) return nothing(MV_FOREIGN);
  mv_eval(p, n->src[0], &a);
  if (a.kind != MV_ADDRESS) return a.kind == MV_NUMBER ? nothing(MV_FOREIGN) : a;
  if (!a.on) return un__dt_is_float(n->dtype) ? (x.v[0] = un__value_f(x.v[0].dtype, 0), x) : x;
  mv_random r = {p->memory ^ (uint64_t)(a.at * 1000003 + a.slot) * UINT64_C(0x9e3779b97f4a7c15)};
  x.v[0] = mv_special(x.v[0].dtype, &r, true);
  return x;
}

static mv_value store(mv_point *p, const un_uop *n) {
  mv_value a, x;
  mv_eval(p, n->src[0], &a);
  if (a.kind != MV_ADDRESS) return a.kind == MV_NUMBER ? nothing(MV_FOREIGN) : a;
  x = nothing(MV_STORE);
  if (a.on) mv_eval(p, n->src[1], &x);
  if (x.kind != MV_NUMBER && a.on) return x;
  x.kind = MV_STORE;
  x.on = a.on, x.slot = a.slot, x.at = a.at;
  return x;
}

static mv_value valid(mv_point *p, const un_uop *n) {
  mv_value c, x;
  mv_eval(p, n->src[1], &c);
  if (c.kind != MV_NUMBER || c.lanes != 1) return nothing(c.kind == MV_INVALID ? MV_NOBODY : c.kind);
  if (!c.v[0].i) return nothing(MV_INVALID);
  mv_eval(p, n->src[0], &x);
  return x;
}

/* Operations that take the numbers of all their sources. */
static mv_value strict(mv_point *p, const un_uop *n) {
  mv_value a[MV_LANES], out;
  bool no_index = false;
  if (n->nsrc > MV_LANES || !n->nsrc) return nothing(MV_FOREIGN);
  for (uint32_t i = 0; i < n->nsrc; i++) {
    mv_eval(p, n->src[i], &a[i]);
    no_index |= a[i].kind == MV_INVALID;
    if (a[i].kind != MV_INVALID && !ready(&a[i], &out)) return out;
  }
  if (no_index) return without_index(n);
  switch (n->op) {
  case UN__OP_VECTORIZE:
    return vectorize(n, a);
  case UN__OP_GEP:
    return lanes_of(n, &a[0]);
  case UN__OP_HREDUCE:
    return hreduce(n, &a[0]);
  default:
    return un__info(n)->eval ? elementwise(n, a) : nothing(MV_FOREIGN);
  }
}

static void eval_node(mv_point *p, const un_uop *n, mv_value *out) {
  switch (n->op) {
  case UN__OP_CONST:
    *out = from_constant(n);
    break;
  case UN__OP_INVALID:
    *out = nothing(MV_INVALID);
    break;
  case UN__OP_WHERE:
    *out = where(p, n);
    break;
  case UN__OP_VALID:
    *out = valid(p, n);
    break;
  case UN__OP_REDUCE:
    *out = reduce(p, n);
    break;
  case UN__OP_INDEX:
    *out = address(p, n);
    break;
  case UN__OP_LOAD:
    *out = load(p, n);
    break;
  case UN__OP_STORE:
    *out = store(p, n);
    break;
  case UN__OP_DETACH:
  case UN__OP_CONTIGUOUS:
  case UN__OP_COPY:
    mv_eval(p, n->src[0], out);
    break;
  default:
    *out = strict(p, n);
  }
}

void mv_eval(mv_point *p, const un_uop *n, mv_value *out) {
  const mv_value *leaf = known(p, n);
  if (leaf) {
    *out = *leaf;
  } else if (n->id < MEMO && memo[n->id].epoch == epoch) {
    *out = memo[n->id].value;
  } else if (++p->steps > MAX_STEPS) {
    *out = nothing(MV_FOREIGN);
  } else {
    uint64_t now = epoch;
    eval_node(p, n, out);
    if (n->id >= MEMO || now != epoch) return; /* a reduction has turned in between */
    memo[n->id].epoch = epoch;
    memo[n->id].value = *out;
  }
}
