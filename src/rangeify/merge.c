/* merge.c - the last look at a kernel's loops: adjacent ones that always count as one become one; then everything is
 * numbered, so that equal kernels are the same node.
 *
 * Two loops a (outer) and b (inner, of size n) are one loop when every expression that counts with them, as far as it is
 * linear, has the coefficient of a equal to n times that of b: then a * n + b is all that matters, and setting a to 0 and
 * b to the joined range is the substitution. */
#include "finish.h"

#include <string.h>

enum { MAX_RANGES = 64 };

typedef struct body {
  un__rf_builder *b;
  const un_uop *root;           /* GROUP of the stores */
  const un_uop **order;
  size_t n;
  int64_t (*coef)[2];           /* by position: of a and b, where linear */
} body;

static bool no_memory(un__rf_builder *b) {
  un__fail(un__graph_err(b->g), UN_ERR_NOMEM, "rangeify: out of memory");
  return false;
}

static void close_body(body *s) {
  un__free(s->order);
  un__free(s->coef);
  s->order = NULL;
  s->coef = NULL;
}

static bool open_body(body *s, const un_uop *root) {
  close_body(s);
  if (!root) return false;
  s->root = root;
  s->order = un__toposort(root, &s->n);
  s->coef = s->order ? un__alloc(s->n * sizeof *s->coef) : NULL;
  return s->coef || no_memory(s->b);
}

/* ---- joining ------------------------------------------------------------------------------------------------------- */

static bool linear(const un_uop *x) {
  if (!un__dt_is_index(x->dtype)) return false;
  switch (x->op) {
    case UN__OP_RANGE: case UN__OP_CONST: case UN__OP_ADD: case UN__OP_SUB: case UN__OP_NEG: return true;
    case UN__OP_MUL: return un__is_const(x->src[1]);
    default: return false;
  }
}

/* False on overflow. */
static bool coefficient(const body *s, const uint32_t *at, const un_uop *x, const un_uop *a, const un_uop *b, int64_t *out) {
  int64_t (*c)[2] = s->coef;
  bool bad = false;
  out[0] = x == a;
  out[1] = x == b;
  for (int k = 0; k < 2; k++) {
    int64_t l = x->nsrc > 0 ? c[at[x->src[0]->id]][k] : 0, r = x->nsrc > 1 ? c[at[x->src[1]->id]][k] : 0;
    if (x->op == UN__OP_ADD) bad |= __builtin_add_overflow(l, r, &out[k]);
    if (x->op == UN__OP_SUB) bad |= __builtin_sub_overflow(l, r, &out[k]);
    if (x->op == UN__OP_NEG) bad |= __builtin_sub_overflow(0, l, &out[k]);
    if (x->op == UN__OP_MUL) bad |= __builtin_mul_overflow(l, un__const_int(x->src[1]), &out[k]);
  }
  return !bad;
}

/* REDUCE names its ranges; that is no arithmetic. */
static bool names_ranges(const un_uop *x) { return x->op == UN__OP_REDUCE || x->op == UN__OP_RANGE; }

static bool count_as_one(const body *s, const un_uop *a, const un_uop *b) {
  int64_t size = un__known_size(b->src[0]);
  uint32_t *at = un__rf_scratch(s->b);
  if (size < 0 || un__known_size(a->src[0]) < 0 || !at) return false;
  for (size_t i = 0; i < s->n; i++) {
    const un_uop *x = s->order[i];
    at[x->id] = (uint32_t)i;
    s->coef[i][0] = s->coef[i][1] = 0;
    if (linear(x)) {
      if (!coefficient(s, at, x, a, b, s->coef[i])) return false;
      continue;
    }
    for (uint32_t k = un__first_source(x); k < (names_ranges(x) ? 1 : x->nsrc); k++) {
      const int64_t *c = s->coef[at[x->src[k]->id]];
      int64_t want;
      if (!linear(x->src[k])) continue;
      if (__builtin_mul_overflow(c[1], size, &want) || c[0] != want) return false;
    }
  }
  return true;
}

/* Every REDUCE has both ranges, one after the other, or neither. */
static bool closed_together(const body *s, const un_uop *a, const un_uop *b) {
  for (size_t i = 0; i < s->n; i++) {
    const un_uop *x = s->order[i];
    if (x->op != UN__OP_REDUCE) continue;
    for (uint32_t k = 1; k < x->nsrc; k++) {
      if (x->src[k] == a && (k + 1 == x->nsrc || x->src[k + 1] != b)) return false;
      if (x->src[k] == b && (k == 1 || x->src[k - 1] != a)) return false;
    }
  }
  return true;
}

/* The REDUCEs whose list names a constant lose it. */
static const un_uop *without_constants(un__rf_builder *b, const un_uop *root) {
  body s = {.b = b};
  UN__VEC(const un_uop *) from = {0}, to = {0};
  bool ok = open_body(&s, root);
  for (size_t i = 0; ok && i < s.n; i++) {
    const un_uop *x = s.order[i], *src[MAX_RANGES + 1];
    uint32_t n = 0;
    if (x->op != UN__OP_REDUCE || x->nsrc > MAX_RANGES) continue;
    for (uint32_t k = 0; k < x->nsrc; k++)
      if (k == 0 || !un__is_const(x->src[k])) src[n++] = x->src[k];
    if (n == x->nsrc) continue;
    const un_uop *shorter = un__uop(b->g, UN__OP_REDUCE, 0, src, n, un__attrs(x), x->nattr);
    ok = shorter && ((un__vec_push(&from, x) && un__vec_push(&to, shorter)) || no_memory(b));
  }
  if (ok && from.n) root = un__substitute(b->g, root, from.at, to.at, (uint32_t)from.n);
  un__vec_finish(&from);
  un__vec_finish(&to);
  close_body(&s);
  return ok ? root : NULL;
}

/* NULL on failure, else the joined range. */
static const un_uop *join(body *s, const un_uop *a, const un_uop *b, int64_t id) {
  un__graph *g = s->b->g;
  int64_t size;
  if (__builtin_mul_overflow(un__known_size(a->src[0]), un__known_size(b->src[0]), &size)) return NULL;
  const un_uop *joined = un__range(g, un__idx(g, size), un__range_axis(b), id);
  const un_uop *from[] = {a, b}, *to[] = {un__idx(g, 0), joined};
  const un_uop *root = un__substitute(g, s->root, from, to, 2);
  root = root ? without_constants(s->b, root) : NULL;
  root = root ? un__rf_clean(s->b, root) : NULL;
  return root && open_body(s, root) ? joined : NULL;
}

static bool joinable(const body *s, const un_uop *a, const un_uop *b) {
  int64_t size;
  if (__builtin_mul_overflow(un__known_size(a->src[0]), un__known_size(b->src[0]), &size)) return false;
  return closed_together(s, a, b) && count_as_one(s, a, b);
}

static bool join_loops(body *s, const un_uop **out, uint32_t *nout, int64_t *next_id) {
  for (uint32_t k = 0; k + 1 < *nout;) {
    if (!joinable(s, out[k], out[k + 1])) {
      k++;
      continue;
    }
    out[k] = join(s, out[k], out[k + 1], (*next_id)++);
    if (!out[k]) return false;
    (*nout)--;
    memmove(out + k + 1, out + k + 2, (*nout - k - 1) * sizeof *out);
    k = k ? k - 1 : 0;
  }
  return true;
}

/* The first two adjacent ranges of a REDUCE that are one. */
static bool reduce_pair(const body *s, const un_uop **a, const un_uop **b) {
  for (size_t i = 0; i < s->n; i++) {
    const un_uop *x = s->order[i];
    if (x->op != UN__OP_REDUCE) continue;
    for (uint32_t k = 1; k + 1 < x->nsrc; k++) {
      *a = x->src[k];
      *b = x->src[k + 1];
      if (joinable(s, *a, *b)) return true;
    }
  }
  return false;
}

/* ---- numbering ----------------------------------------------------------------------------------------------------- */

typedef struct numbering {
  const un_uop *from[MAX_RANGES + UN__RF_KERNEL_ARGS], *to[MAX_RANGES + UN__RF_KERNEL_ARGS];
  uint32_t n, nrange, narg;
  uint32_t arg[UN__RF_KERNEL_ARGS];
  bool changed, full;
} numbering;

static void number_node(un__graph *g, numbering *m, const un_uop *x, uint32_t number) {
  m->changed |= un__attr(x, 0) != number;
  int64_t attrs[2] = {number, x->nattr > 1 ? un__attr(x, 1) : 0};
  m->from[m->n] = x;
  m->to[m->n++] = un__uop(g, (un__op)x->op, x->dtype, x->src, x->nsrc, attrs, x->nattr);
}

static void number_param(un__graph *g, numbering *m, const un_uop *param) {
  for (uint32_t i = 0; i < m->n; i++)
    if (m->from[i] == param) return;
  if (m->narg == UN__RF_KERNEL_ARGS) {
    m->full = true;
    return;
  }
  m->arg[m->narg] = (uint32_t)un__attr(param, 0);
  number_node(g, m, param, m->narg++);
}

static void number_range(un__rf_builder *b, numbering *m, const un_uop *range) {
  for (uint32_t i = 0; i < m->n; i++)
    if (m->from[i] == range) return;
  if (m->nrange == MAX_RANGES) m->full = true;
  else number_node(b->g, m, range, m->nrange++);
}

/* Results first, then other PARAMs by first visit; the loops of the nest outermost first, then others by first visit. */
static bool number_all(un__rf_builder *b, const un_uop *sink, const un_uop *const *result, uint32_t nresult,
                       const un_uop *const *out, uint32_t nout, numbering *m) {
  size_t n;
  const un_uop **order = un__toposort(sink, &n);
  if (!order) return no_memory(b);
  memset(m, 0, sizeof *m);
  for (uint32_t k = 0; k < nresult; k++) number_param(b->g, m, result[k]);
  for (uint32_t k = 0; k < nout; k++) number_range(b, m, out[k]);
  for (size_t i = 0; i < n && !m->full; i++) {
    if (order[i]->op == UN__OP_PARAM) number_param(b->g, m, order[i]);
    if (order[i]->op == UN__OP_RANGE) number_range(b, m, order[i]);
  }
  un__free(order);
  if (m->full) un__fail(un__graph_err(b->g), UN_ERR_UNSUPPORTED, "rangeify: a kernel with too many loops or buffers");
  return !m->full;
}

/* Done once: renaming changes hashes and so the order of the operands of commutative ops, and no numbering need agree with
 * the order of visits that it brings about. What counts is that kernels of one form get the same numbers. */
static const un_uop *number_kernel(un__rf_builder *b, const un_uop *sink, const un_uop *const *result, uint32_t nresult,
                                   const un_uop *const *out, uint32_t nout, uint32_t *out_arg, uint32_t *out_narg) {
  numbering *m = un__alloc(sizeof *m);
  if (!m) {
    no_memory(b);
    return NULL;
  }
  if (!sink || !number_all(b, sink, result, nresult, out, nout, m)) {
    sink = NULL;
  } else {
    memcpy(out_arg, m->arg, m->narg * sizeof *out_arg);
    *out_narg = m->narg;
    if (m->changed) sink = un__substitute(b->g, sink, m->from, m->to, m->n);
  }
  un__free(m);
  return sink;
}

/* ---- both ------------------------------------------------------------------------------------------------------------ */

static const un_uop *close_loops(un__graph *g, const un_uop *group, const un_uop *const *out, uint32_t nout) {
  const un_uop *end[UN__RF_MAX_STORES], *src[2 * UN__MAX_RANK + 1];
  for (uint32_t k = 0; k < group->nsrc; k++) {
    src[0] = group->src[k];
    memcpy(src + 1, out, nout * sizeof *src);
    end[k] = nout ? un__uop(g, UN__OP_END, 0, src, nout + 1, NULL, 0) : src[0];
  }
  return un__sink(g, end, group->nsrc);
}

const un_uop *un__rf_seal(un__rf_builder *b, const un_uop *const *store, uint32_t nstore, const un_uop **out, uint32_t nout,
                          uint32_t *out_arg, uint32_t *out_narg) {
  body s = {.b = b};
  const un_uop *sink = NULL, *a, *c, *result[UN__RF_MAX_STORES];
  int64_t next_id = 1 << 20;    /* above every id in use; all are numbered anew below */
  bool ok = open_body(&s, un__uop(b->g, UN__OP_GROUP, 0, store, nstore, NULL, 0));
  ok = ok && join_loops(&s, out, &nout, &next_id);
  while (ok && reduce_pair(&s, &a, &c)) ok = join(&s, a, c, next_id++) != NULL;
  if (ok) {
    for (uint32_t k = 0; k < nstore; k++) result[k] = s.root->src[k]->src[0]->src[0];
    sink = close_loops(b->g, s.root, out, nout);
    sink = number_kernel(b, sink, result, nstore, out, nout, out_arg, out_narg);
  }
  close_body(&s);
  return sink;
}
