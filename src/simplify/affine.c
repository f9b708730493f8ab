#include "affine.h"

#include "base/mem.h"

bool un__topo_of(un__topo *out, const un_uop *root) {
  *out = (un__topo){0};
  out->at = un__toposort(root, &out->n);
  if (!out->at) return false;
  for (size_t i = 0; i < out->n; i++)
    if (out->at[i]->id >= out->limit) out->limit = out->at[i]->id + 1;
  out->number = un__calloc(out->limit, sizeof *out->number);
  if (!out->number) {
    un__topo_finish(out);
    return false;
  }
  for (size_t i = 0; i < out->n; i++) out->number[out->at[i]->id] = (uint32_t)i + 1;
  return true;
}

void un__topo_finish(un__topo *nodes) {
  un__free(nodes->at);
  un__free(nodes->number);
  *nodes = (un__topo){0};
}

/* gcd(0, x) is x: a rest of 0 restricts nothing. */
static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

static int64_t magnitude(int64_t v) { return v < 0 ? (v == INT64_MIN ? 1 : -v) : v; }

static const un__affine anything = {.step = 0, .mult = 1, .axis = -1, .linear = true};

/* What a node is when nothing is known but whether it moves. */
static un__affine opaque(int32_t axis) {
  un__affine a = anything;
  a.axis = axis;
  a.linear = axis < 0;
  return a;
}

/* What is made of values that are the same in a group is the same in it, though not in others. */
static un__affine same_in_group(int32_t axis) {
  un__affine a = anything;
  a.axis = axis;
  return a;
}

/* The axis that moves either operand; -2 when they are moved by different ones. */
static int32_t common_axis(const un__affine *a, const un__affine *b) {
  if (a->axis < 0) return b->axis;
  if (b->axis < 0 || a->axis == b->axis) return a->axis;
  return -2;
}

static un__affine add(const un__affine *a, const un__affine *b, int32_t axis, int64_t sign) {
  un__affine r = {.mult = gcd(a->mult, b->mult), .axis = axis, .linear = true};
  int64_t step;
  if (__builtin_mul_overflow(b->step, sign, &step) || __builtin_add_overflow(a->step, step, &r.step))
    return opaque(axis);
  return r;
}

static un__affine scale(const un__affine *a, int64_t c) {
  un__affine r = {.axis = a->axis, .linear = true};
  if (__builtin_mul_overflow(a->step, c, &r.step)) return opaque(a->axis);
  if (__builtin_mul_overflow(a->mult, magnitude(c), &r.mult)) r.mult = 1;
  return r;
}

/* Neither operand moves. */
static un__affine product(const un__affine *a, const un__affine *b) {
  un__affine r = anything;
  if (__builtin_mul_overflow(a->mult, b->mult, &r.mult)) r.mult = 1;
  return r;
}

/* One of the two, and neither moves. */
static un__affine either(const un__affine *a, const un__affine *b) {
  un__affine r = anything;
  r.mult = gcd(a->mult, b->mult);
  return r;
}

/* Whether step * lane stays below the next multiple of c whatever rest is: rest and c are multiples of g, so a group
 * that starts at a multiple of g and moves less than g crosses nothing. */
static bool stays_in_bucket(const un__affine *a, int64_t c, int64_t extent) {
  int64_t far;
  return a->step >= 0 && !__builtin_mul_overflow(a->step, extent - 1, &far) && far < gcd(a->mult, c);
}

static un__affine divide(const un__affine *a, int64_t c, int64_t extent) {
  un__affine r = {.axis = a->axis, .linear = true, .mult = a->mult % c == 0 ? a->mult / c : 1};
  if (a->step % c == 0)
    r.step = a->step / c;
  else if (!stays_in_bucket(a, c, extent))
    return opaque(a->axis);
  return r;
}

static un__affine modulo(const un__affine *a, int64_t c, int64_t extent) {
  un__affine r = {.axis = a->axis, .linear = true, .mult = a->mult % c == 0 ? 0 : gcd(a->mult, c)};
  if (a->step % c == 0) return r;
  if (!stays_in_bucket(a, c, extent)) return opaque(a->axis);
  r.step = a->step;
  return r;
}

typedef struct scan {
  const un__topo *nodes;
  const un__affine_axis *axes;
  uint32_t naxes;
  un__affine *out;
} scan;

static un__affine of_range(const scan *s, const un_uop *r) {
  for (uint32_t i = 0; i < s->naxes; i++)
    if (s->axes[i].range == r && s->axes[i].extent == 0)
      return (un__affine){.mult = 0, .axis = -1, .linear = true};
    else if (s->axes[i].range == r)
      return (un__affine){.step = 1,
                          .axis = (int32_t)i,
                          .linear = true,
                          .mult = s->axes[i].extent == un__known_size(r->src[0]) ? 0 : s->axes[i].extent};
  return anything;
}

/* The axis that moves any source; -2: several do. An axis that n closes moves what is inside of n only. */
static int32_t moved_by(const scan *s, const un_uop *n) {
  un__affine all = anything;
  for (uint32_t i = un__first_source(n); i < n->nsrc; i++) {
    const un__affine *src = &s->out[un__topo_find(s->nodes, n->src[i])];
    if (src->axis >= 0 && !un__depends_on(n, s->axes[src->axis].range)) continue;
    all.axis = common_axis(&all, src);
    if (all.axis == -2) return -2;
  }
  return all.axis;
}

static un__affine of_binary(const scan *s, const un_uop *n, int32_t axis) {
  const un__affine *a = &s->out[un__topo_find(s->nodes, n->src[0])];
  const un__affine *b = &s->out[un__topo_find(s->nodes, n->src[1])];
  if (!a->linear || !b->linear) return opaque(axis);
  bool still = a->step == 0 && b->step == 0;
  bool by_const = un__is_const(n->src[1]);
  int64_t c = by_const ? un__const_int(n->src[1]) : 0, extent = axis >= 0 ? s->axes[axis].extent : 1;
  switch (n->op) {
  case UN__OP_ADD:
    return add(a, b, axis, 1);
  case UN__OP_SUB:
    return add(a, b, axis, -1);
  case UN__OP_MUL:
    if (by_const) return scale(a, c);
    if (un__is_const(n->src[0])) return scale(b, un__const_int(n->src[0]));
    return axis < 0 ? product(a, b) : opaque(axis);
  case UN__OP_MIN:
  case UN__OP_MAX:
    return axis < 0 ? either(a, b) : opaque(axis);
  case UN__OP_FLOORDIV:
    return by_const && c > 0 ? divide(a, c, extent) : opaque(axis);
  case UN__OP_FLOORMOD:
    return by_const && c > 0 ? modulo(a, c, extent) : opaque(axis);
  default:
    return still ? same_in_group(axis) : opaque(axis);
  }
}

static un__affine of_node(const scan *s, const un_uop *n) {
  if (un__is(n, UN__OP_RANGE)) return of_range(s, n);
  bool integer = un__lanes(n) == 1 && (un__dt_is_index(n->dtype) || un__dt_is_int(n->dtype));
  if (un__is_const(n) && integer) return (un__affine){.mult = magnitude(un__const_int(n)), .axis = -1, .linear = true};
  int32_t axis = moved_by(s, n);
  /* What closes a range no longer moves along it. */
  if (axis != -1 && (un__is(n, UN__OP_END) || un__is(n, UN__OP_REDUCE))) {
    axis = -1;
    for (uint32_t i = 0; i < s->naxes; i++)
      if (un__depends_on(n, s->axes[i].range)) axis = axis == -1 ? (int32_t)i : -2;
  }
  if (axis == -2) return (un__affine){.mult = 1, .axis = 0, .linear = false};
  /* Fixed-width arithmetic wraps, so only index nodes are followed. */
  if (!un__dt_is_index(n->dtype) || !integer) return opaque(axis);
  if (un__is(n, UN__OP_NEG)) {
    const un__affine *a = &s->out[un__topo_find(s->nodes, n->src[0])];
    return a->linear ? scale(a, -1) : opaque(axis);
  }
  return n->nsrc == 2 && un__has_flag(n, UN__F_ELEM) ? of_binary(s, n, axis) : opaque(axis);
}

void un__affine_scan(const un__topo *nodes, const un__affine_axis *axes, uint32_t naxes, un__affine *out) {
  scan s = {nodes, axes, naxes, out};
  for (size_t i = 0; i < nodes->n; i++) out[i] = of_node(&s, nodes->at[i]);
}
