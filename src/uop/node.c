/* node.c - interning: the one constructor and the small builders on top of it. */
#include "store.h"

#include <stdio.h>
#include <string.h>

#include "combine.h"
#include "eval.h"
#include "text.h"

/* What a node is before it is one. */
typedef struct draft {
  un__op op;
  un__dtype dtype;
  const un_uop *const *src;
  uint32_t nsrc;
  const int64_t *attrs;
  uint32_t nattr;
  uint64_t hash;
} draft;

static uint64_t draft_hash(const draft *d) {
  uint64_t h = un__hash_mix((uint64_t)d->op << 32 | d->dtype, (uint64_t)d->nsrc << 8 | d->nattr);
  for (uint32_t i = 0; i < d->nattr; i++) h = un__hash_mix(h, (uint64_t)d->attrs[i]);
  for (uint32_t i = 0; i < d->nsrc; i++) h = un__hash_mix(h, d->src[i]->hash);
  return h;
}

static bool draft_eq(const void *key, const void *item) {
  const draft *d = key;
  const un_uop *n = item;
  if (n->op != d->op || n->dtype != d->dtype || n->nsrc != d->nsrc || n->nattr != d->nattr) return false;
  for (uint32_t i = 0; i < d->nsrc; i++)
    if (n->src[i] != d->src[i]) return false;
  const int64_t *attrs = un__attrs(n);
  for (uint32_t i = 0; i < d->nattr; i++)
    if (attrs[i] != d->attrs[i]) return false;
  return true;
}

/* Loop variables and sizes are of dtype index until lowering has proved that i32 or i64 holds them. */
static un__dtype index_dtype(un__dtype given) {
  if (!given) return UN__DT(UN_INDEX);
  un_dtype s = un__dt_scalar(given);
  return s == UN_I32 || s == UN_I64 ? given : un__dt_vec(UN_INDEX, un__dt_lanes(given));
}

static un__dtype ruled_dtype(const draft *d) {
  switch (un__op_table[d->op].dtype_rule) {
  case UN__DR_GIVEN: return d->dtype;
  case UN__DR_FIRST: return d->src[0]->dtype;
  case UN__DR_SECOND: return d->src[1]->dtype;
  case UN__DR_TRUTH: return un__dt_vec(UN_BOOL, un__dt_lanes(d->src[0]->dtype));
  case UN__DR_VOID: return UN__DT(UN_VOID);
  case UN__DR_INDEX: return index_dtype(d->dtype);
  }
  return d->dtype;
}

/* ---- checks, made once per distinct node ---- */

static bool reject(un__graph *g, const draft *d, un_status status, const char *what) {
  un__fail(g->err, status, "%s: %s", un__op_table[d->op].text, what);
  return false;
}

static char class_letter(un__dtype d) {
  static const char letter[] = {[UN__CLASS_VOID] = 'v', [UN__CLASS_BOOL] = 'b', [UN__CLASS_INT] = 'i', [UN__CLASS_UINT] = 'u',
                                [UN__CLASS_FLOAT] = 'f', [UN__CLASS_INDEX] = 'x'};
  return un__dt_is_ptr(d) ? 'p' : letter[un__dt_class(d)];
}

static bool check_attrs(un__graph *g, const draft *d) {
  const un__op_info *info = &un__op_table[d->op];
  uint32_t at = 0;
  bool open = false;
  for (uint32_t i = 0; i < info->nattrs; i++) {
    un__attr_kind kind = info->attrs[i].kind;
    open |= kind == UN__AK_INTS;
    if (kind == UN__AK_INTS) continue;
    uint32_t words = kind == UN__AK_NAME ? UN__NAME_WORDS : 1;
    if (at + words > d->nattr) return reject(g, d, UN_ERR_INVALID_ARG, "too few attributes");
    if (kind == UN__AK_AXIS && (d->attrs[at] < 0 || d->attrs[at] >= UN__AXIS_COUNT))
      return reject(g, d, UN_ERR_INVALID_ARG, "no such AxisType");
    if (kind == UN__AK_OP && (d->attrs[at] <= 0 || d->attrs[at] >= UN__OP_COUNT))
      return reject(g, d, UN_ERR_INVALID_ARG, "no such op");
    at += words;
  }
  if (at != d->nattr && !open) return reject(g, d, UN_ERR_INVALID_ARG, "too many attributes");
  return true;
}

/* ELEM ops work on operands of one dtype and lane count; WHERE and shifts have operands of their own kind. */
static bool check_elementwise(un__graph *g, const draft *d) {
  uint32_t first = d->op == UN__OP_WHERE ? 1 : 0;
  un__dtype want = d->src[first]->dtype;
  if (first && (!un__dt_is_bool(d->src[0]->dtype) || un__dt_lanes(d->src[0]->dtype) != un__dt_lanes(want)))
    return reject(g, d, UN_ERR_DTYPE, "the condition must be bool, with as many lanes as the values");
  for (uint32_t i = first + 1; i < d->nsrc; i++)
    if (d->src[i]->dtype != want) {
      char a[UN__DTYPE_TEXT], b[UN__DTYPE_TEXT];
      un__fail(g->err, UN_ERR_DTYPE, "%s: operands must have one dtype; operand %u is %s, operand %u is %s",
               un__op_table[d->op].text, first, un__dtype_text(want, a), i, un__dtype_text(d->src[i]->dtype, b));
      return false;
    }
  return true;
}

static bool check_conversion(un__graph *g, const draft *d) {
  un__dtype from = d->src[0]->dtype;
  if (un__dt_lanes(from) != un__dt_lanes(d->dtype)) return reject(g, d, UN_ERR_DTYPE, "numbers of lanes differ");
  if (d->op == UN__OP_BITCAST && un__dt_info(from)->size != un__dt_info(d->dtype)->size)
    return reject(g, d, UN_ERR_DTYPE, "sizes of the dtypes differ");
  return true;
}

static bool check_operand_classes(un__graph *g, const draft *d) {
  const char *allowed = un__op_table[d->op].operands;
  if (allowed[0] == '*') return true;
  if (d->op == UN__OP_VALID) {
    if (!un__dt_is_index(d->src[0]->dtype) || !un__dt_is_bool(d->src[1]->dtype))
      return reject(g, d, UN_ERR_DTYPE, "needs an index and a bool");
    return true;
  }
  uint32_t n = d->op == UN__OP_REDUCE || d->op == UN__OP_STORE ? 1 : d->nsrc;
  for (uint32_t i = 0; i < n; i++)
    if (!strchr(allowed, class_letter(d->src[i]->dtype))) {
      char given[UN__DTYPE_TEXT];
      un__fail(g->err, UN_ERR_DTYPE, "%s: operand %u has dtype %s, which it does not take", un__op_table[d->op].text, i,
               un__dtype_text(d->src[i]->dtype, given));
      return false;
    }
  return true;
}

/* A reduction combines with an op that takes such values. (Whether that op is associative is the verifier's business.) */
static bool check_combining(un__graph *g, const draft *d) {
  const un__op_info *with = &un__op_table[d->attrs[0]];
  if (d->attrs[0] == UN__OP_COMBINE || with->operands[0] == '*' || strchr(with->operands, class_letter(d->src[0]->dtype)))
    return true;
  char given[UN__DTYPE_TEXT];
  un__fail(g->err, UN_ERR_DTYPE, "%s: op %s does not take %s", un__op_table[d->op].text, with->text,
           un__dtype_text(d->src[0]->dtype, given));
  return false;
}

/* A body of n results, n elements, n identities: what everybody who looks into a COMBINE relies on. */
static bool check_combine(un__graph *g, const draft *d) {
  uint32_t width = (d->nsrc - 1) / 2;
  const un_uop *body = d->src[0];
  if (d->nsrc % 2 == 0) return reject(g, d, UN_ERR_INVALID_ARG, "an element has no identity");
  if (body->op != UN__OP_TUPLE) {
    un__fail(g->err, UN_ERR_INVALID_ARG, "combine: its body is a tuple, not a %s", un__op_table[body->op].text);
    return false;
  }
  if (width <= UN__MAX_COMBINE && body->nsrc == width) return true;
  if (body->nsrc == width)
    un__fail(g->err, UN_ERR_UNSUPPORTED, "combine: %u values together, at most %d", width, UN__MAX_COMBINE);
  else
    un__fail(g->err, UN_ERR_INVALID_ARG, "combine: its body has %u results for %u elements", body->nsrc, width);
  return false;
}

static bool check(un__graph *g, const draft *d) {
  const un__op_info *info = &un__op_table[d->op];
  if (!d->dtype) return reject(g, d, UN_ERR_INVALID_ARG, "the dtype must be given");
  if (!check_attrs(g, d) || !check_operand_classes(g, d)) return false;
  if (d->op == UN__OP_CAST || d->op == UN__OP_BITCAST) return check_conversion(g, d);
  if (d->op == UN__OP_COMBINE) return check_combine(g, d);
  bool reduces = d->op == UN__OP_REDUCE || d->op == UN__OP_REDUCE_AXIS || d->op == UN__OP_HREDUCE;
  if (reduces && !check_combining(g, d)) return false;
  if (info->flags & UN__F_ELEM && !check_elementwise(g, d)) return false;
  return true;
}

/* ---- canonical order of commutative operands ---- */

static bool swap_wanted(const un__graph *g, const un_uop *a, const un_uop *b) {
  if (un__is_const(a) != un__is_const(b)) return un__is_const(a);
  if (g->world || a == b) return false;
  if (a->hash != b->hash) return a->hash > b->hash;
  return un__structural_compare(a, b) > 0;
}

/* ---- making the node ---- */

static un_uop *new_node(un__graph *g, const draft *d) {
  un__store *st = g->store;
  size_t size = un__node_size(d->nsrc, d->nattr);
  un_uop *n = g->world ? un__slab_alloc(&st->slab, size) : un__arena_alloc(&st->arena, size);
  if (!n) {
    un__fail(g->err, UN_ERR_NOMEM, "no memory for a node");
    return NULL;
  }
  memset(n, 0, sizeof *n);
  n->hash = d->hash;
  n->op = (uint8_t)d->op;
  n->nattr = (uint8_t)d->nattr;
  n->dtype = d->dtype;
  n->nsrc = d->nsrc;
  if (d->nsrc) memcpy(n->src, d->src, d->nsrc * sizeof *d->src);
  if (d->nattr) memcpy(n->src + n->nsrc, d->attrs, d->nattr * sizeof *d->attrs);
  for (uint32_t i = 0; i < 4 && i < d->nsrc; i++) n->kop[i] = d->src[i]->op;
  return n;
}

static void take_edges(un__store *st, un_uop *n) {
  for (uint32_t i = 0; i < n->nsrc; i++) ((un_uop *)n->src[i])->refs++;
  if (n->shape) ((un__shape *)n->shape)->users++;
  n->stamp = st->epoch;
  un__list_zeroed(st, n);
}

static bool enter_store(un__graph *g, un_uop *n) {
  un__store *st = g->store;
  if (!un__intern_add(&st->nodes, n->hash, n)) return false;
  n->id = st->free_ids.n ? un__vec_pop(&st->free_ids) : st->next_id++;
  st->live++;
  if (g->world) take_edges(st, n);
  return true;
}

/* A shape made for a node that was not. */
static const un_uop *discard_shape(un__graph *g, const un__shape *shape) {
  un__shape *s = (un__shape *)shape;
  if (!g->world || !s || s->users) return NULL;
  s->users = 1;
  un__shape_drop(g->store, s, g->store->epoch);
  return NULL;
}

static const un_uop *make(un__graph *g, const draft *d) {
  if (!check(g, d)) return NULL;
  const un__shape *shape;
  if (!un__infer_shape(g, d->op, d->src, d->nsrc, d->attrs, d->nattr, &shape)) return NULL;
  un_uop *n = new_node(g, d);
  if (!n) return discard_shape(g, shape);
  n->shape = shape;
  if (!g->world) {
    n->flags |= UN__NODE_HAS_RANGES;
    if (!(n->ranges = un__infer_ranges(g, n))) return NULL;
  }
  un__infer_bounds(n);
  if (enter_store(g, n)) return n;
  if (g->world) un__slab_free(&g->store->slab, n, un__node_size(n->nsrc, n->nattr));
  un__fail(g->err, UN_ERR_NOMEM, "no memory for the node table");
  return discard_shape(g, shape);
}

static const un_uop *reject_arity(un__graph *g, un__op op, uint32_t nsrc) {
  if (op <= UN__OP_NONE || op >= UN__OP_COUNT) {
    un__fail(g->err, UN_ERR_INVALID_ARG, "there is no op %d", (int)op);
    return NULL;
  }
  const un__op_info *info = &un__op_table[op];
  char most[16] = "";
  if (info->max_src == UN__N) snprintf(most, sizeof most, " or more");
  else if (info->max_src != info->min_src) snprintf(most, sizeof most, " to %u", info->max_src);
  un__fail(g->err, UN_ERR_INVALID_ARG, "%s: takes %u%s sources, given %u", info->text, info->min_src, most, nsrc);
  return NULL;
}

const un_uop *un__build(un__graph *g, un__op op, un__dtype dtype, const un_uop *const *src, uint32_t nsrc,
                        const int64_t *attrs, uint32_t nattr) {
  const un__op_info *info = &un__op_table[op];
  for (uint32_t i = 0; i < nsrc; i++)
    if (!src[i]) return NULL;
  draft d = {op, dtype, src, nsrc, attrs, nattr, 0};
  if (op <= UN__OP_NONE || op >= UN__OP_COUNT || nsrc < info->min_src || nsrc > info->max_src)
    return reject_arity(g, op, nsrc);
  if (nattr > UINT8_MAX) {
    reject(g, &d, UN_ERR_INVALID_ARG, "too many attributes");
    return NULL;
  }
  const un_uop *swapped[2];
  if (nsrc == 2 && info->flags & UN__F_COMM && swap_wanted(g, src[0], src[1])) {
    swapped[0] = src[1];
    swapped[1] = src[0];
    d.src = swapped;
  }
  un__dtype ruled = ruled_dtype(&d);
  if (dtype && dtype != ruled) {
    char want[UN__DTYPE_TEXT], given[UN__DTYPE_TEXT];
    un__fail(g->err, UN_ERR_DTYPE, "%s: the dtype is %s, not %s", info->text, un__dtype_text(ruled, want),
             un__dtype_text(dtype, given));
    return NULL;
  }
  d.dtype = ruled;
  d.hash = draft_hash(&d);
  un__store *st = g->store;
  st->lookups++;
  un_uop *n = un__intern_find(&st->nodes, d.hash, draft_eq, &d);
  if (!n) return make(g, &d);
  n->stamp = st->epoch;     /* seen now: whoever is inside a call may hold it */
  return n;
}

const un_uop *un__uop(un__graph *g, un__op op, un__dtype dtype, const un_uop *const *src, uint32_t nsrc,
                      const int64_t *attrs, uint32_t nattr) {
  if (!g->world) return un__build(g, op, dtype, src, nsrc, attrs, nattr);
  un__world_lock(g->world);
  const un_uop *n = un__build(g, op, dtype, src, nsrc, attrs, nattr);
  un__world_unlock(g->world);
  return n;
}

/* ---- builders ---- */

const un_uop *un__with_src(un__graph *g, const un_uop *n, const un_uop *const *src) {
  if (n->nsrc == 0 || memcmp(src, n->src, n->nsrc * sizeof *src) == 0) return n;
  for (uint32_t i = 0; i < n->nsrc; i++)
    if (!src[i]) return NULL;
  un__dtype_rule rule = un__info(n)->dtype_rule;
  bool keep = rule == UN__DR_GIVEN || rule == UN__DR_INDEX;
  return un__uop(g, (un__op)n->op, keep ? n->dtype : 0, src, n->nsrc, un__attrs(n), n->nattr);
}

const un_uop *un__with_dtype(un__graph *g, const un_uop *n, un__dtype dtype) {
  if (n->dtype == dtype) return n;
  return un__uop(g, (un__op)n->op, dtype, n->src, n->nsrc, un__attrs(n), n->nattr);
}

const un_uop *un__unary(un__graph *g, un__op op, const un_uop *a) { return un__uop(g, op, 0, &a, 1, NULL, 0); }

const un_uop *un__binary(un__graph *g, un__op op, const un_uop *a, const un_uop *b) {
  return un__uop(g, op, 0, (const un_uop *[]){a, b}, 2, NULL, 0);
}

const un_uop *un__ternary(un__graph *g, un__op op, const un_uop *a, const un_uop *b, const un_uop *c) {
  return un__uop(g, op, 0, (const un_uop *[]){a, b, c}, 3, NULL, 0);
}

const un_uop *un__cast(un__graph *g, un__dtype dtype, const un_uop *a) {
  if (!a || a->dtype == dtype) return a;
  return un__uop(g, UN__OP_CAST, dtype, &a, 1, NULL, 0);
}

const un_uop *un__reshape_to(un__graph *g, const un_uop *a, const un__shape *shape) {
  if (!a || a->shape == shape) return a;
  const un_uop *src[1 + UN__MAX_RANK] = {a};
  for (uint32_t i = 0; i < shape->rank; i++) src[1 + i] = shape->dim[i];
  return un__uop(g, UN__OP_RESHAPE, 0, src, 1 + shape->rank, NULL, 0);
}

const un_uop *un__build_const(un__graph *g, un__dtype dtype, int64_t bits) {
  return un__build(g, UN__OP_CONST, dtype, NULL, 0, &bits, 1);
}

static const un_uop *const_of(un__graph *g, un__dtype dtype, un__value v) {
  int64_t attr = un__dt_is_float(dtype) ? (int64_t)un__value_bits(v) : v.i;
  return un__uop(g, UN__OP_CONST, dtype, NULL, 0, &attr, 1);
}

const un_uop *un__const_i(un__graph *g, un__dtype dtype, int64_t value) {
  un__dtype scalar = UN__DT(un__dt_scalar(dtype));
  return const_of(g, dtype, un__dt_is_float(dtype) ? un__value_f(scalar, (double)value) : un__value_i(scalar, value));
}

const un_uop *un__const_f(un__graph *g, un__dtype dtype, double value) {
  un__dtype scalar = UN__DT(un__dt_scalar(dtype));
  if (un__dt_is_float(dtype)) return const_of(g, dtype, un__value_f(scalar, value));
  un__value v;
  un__value from = un__value_f(UN__DT(UN_F64), value);
  return un__eval(UN__OP_CAST, scalar, &from, &v) ? const_of(g, dtype, v) : NULL;
}

const un_uop *un__const_bits(un__graph *g, un__dtype dtype, uint64_t bits) {
  return const_of(g, dtype, un__value_from_bits(UN__DT(un__dt_scalar(dtype)), bits));
}

double un__const_float(const un_uop *n) {
  return un__value_from_bits(UN__DT(un__dt_scalar(n->dtype)), (uint64_t)un__attr(n, 0)).f;
}

bool un__is_const_int(const un_uop *n, int64_t value) {
  return n && un__is_const(n) && !un__dt_is_float(n->dtype) && un__const_int(n) == value;
}

const un_uop *un__range(un__graph *g, const un_uop *size, un__axis axis, int64_t id) {
  return un__uop(g, UN__OP_RANGE, 0, &size, 1, (int64_t[]){id, axis}, 2);
}

const un_uop *un__sink(un__graph *g, const un_uop *const *src, uint32_t nsrc) {
  return un__uop(g, UN__OP_SINK, 0, src, nsrc, NULL, 0);
}

bool un__rangeset_has(const un__rangeset *s, const un_uop *range) {
  for (uint32_t i = 0; i < s->n; i++)
    if (s->range[i] == range) return true;
  return false;
}

bool un__depends_on(const un_uop *n, const un_uop *range) { return un__rangeset_has(n->ranges, range); }

bool un__rangeset_subset(const un__rangeset *a, const un__rangeset *b) {
  if (a == b) return true;
  for (uint32_t i = 0; i < a->n; i++)
    if (!un__rangeset_has(b, a->range[i])) return false;
  return true;
}
