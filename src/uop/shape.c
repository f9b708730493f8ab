/* shape.c - shapes: interning, inference by the shape rule of ops.def, sizes.
 *
 * Dims are nodes. Two dims are equal when they are the same node; when both are constants that decides, and a
 * check between a constant and an expression uses its bounds. */
#include "store.h"

#include <stdio.h>
#include <string.h>

typedef struct shape_key { uint32_t rank; const un_uop *const *dim; } shape_key;

static uint64_t shape_hash(uint32_t rank, const un_uop *const *dim) {
  uint64_t h = un__hash_mix(UINT64_C(0x5368617065), rank);
  for (uint32_t i = 0; i < rank; i++) h = un__hash_mix(h, dim[i]->hash);
  return h;
}

static bool shape_eq(const void *key, const void *item) {
  const shape_key *k = key;
  const un__shape *s = item;
  return s->rank == k->rank && (k->rank == 0 || memcmp(s->dim, k->dim, k->rank * sizeof *k->dim) == 0);
}

const un__shape *un__shape_make(un__graph *g, uint32_t rank, const un_uop *const *dim) {
  un__store *st = g->store;
  uint64_t hash = shape_hash(rank, dim);
  un__shape *s = un__intern_find(&st->shapes, hash, shape_eq, &(shape_key){rank, dim});
  if (s) return s;
  size_t size = sizeof *s + rank * sizeof s->dim[0];
  s = g->world ? un__slab_alloc(&st->slab, size) : un__arena_alloc(&st->arena, size);
  if (!s || !un__intern_add(&st->shapes, hash, s)) {
    if (s && g->world) un__slab_free(&st->slab, s, size);
    un__fail(g->err, UN_ERR_NOMEM, "no memory for a shape");
    return NULL;
  }
  s->rank = rank;
  s->users = 0;
  if (rank) memcpy(s->dim, dim, rank * sizeof *dim);
  if (g->world)
    for (uint32_t i = 0; i < rank; i++) ((un_uop *)dim[i])->refs++;
  return s;
}

void un__shape_drop(un__store *st, un__shape *s, uint64_t stamp) {
  if (--s->users) return;
  un__intern_remove(&st->shapes, shape_hash(s->rank, s->dim), s);
  for (uint32_t i = 0; i < s->rank; i++) un__unref(st, s->dim[i], stamp);
  un__slab_free(&st->slab, s, sizeof *s + s->rank * sizeof s->dim[0]);
}

int64_t un__shape_known_numel(const un__shape *s) {
  int64_t n = 1;
  for (uint32_t i = 0; i < s->rank; i++) {
    int64_t d = un__known_size(s->dim[i]);
    if (d < 0) return -1;
    if (d == 0) return 0;
    if (__builtin_mul_overflow(n, d, &n)) return -1;
  }
  return n;
}

/* a op b for dims; constants are folded here, because the persistent graph is not simplified. */
static const un_uop *dim_arith(un__graph *g, un__op op, const un_uop *a, const un_uop *b) {
  if (un__is_const(a) && un__is_const(b)) {
    int64_t x = un__const_int(a), y = un__const_int(b), r;
    bool overflow = op == UN__OP_ADD   ? __builtin_add_overflow(x, y, &r)
                    : op == UN__OP_SUB ? __builtin_sub_overflow(x, y, &r)
                                       : __builtin_mul_overflow(x, y, &r);
    if (overflow) {
      un__fail(g->err, UN_ERR_SHAPE, "a size does not fit in 64 bits");
      return NULL;
    }
    return un__build_const(g, UN__DT(UN_INDEX), r);
  }
  return un__build(g, op, 0, (const un_uop *[]){a, b}, 2, NULL, 0);
}

const un_uop *un__shape_numel(un__graph *g, const un__shape *s) {
  if (g->world) un__world_lock(g->world);
  const un_uop *n = un__build_const(g, UN__DT(UN_INDEX), 1);
  for (uint32_t i = 0; i < s->rank && n; i++)
    n = un__is_const(n) && un__const_int(n) == 1 ? s->dim[i] : dim_arith(g, UN__OP_MUL, n, s->dim[i]);
  if (g->world) un__world_unlock(g->world);
  return n;
}

/* ---- inference ---- */

typedef struct inference {
  un__graph *g;
  un__op op;
  const un_uop *const *src;
  uint32_t nsrc;
  const int64_t *attrs;
  uint32_t nattr;
} inference;

static const char *op_text(const inference *in) { return un__op_table[in->op].text; }

static void put_shape(char *buf, size_t size, const un__shape *s) {
  size_t n = (size_t)snprintf(buf, size, "(");
  for (uint32_t i = 0; i < s->rank && n < size; i++) {
    int64_t d = un__known_size(s->dim[i]);
    n += d >= 0 ? (size_t)snprintf(buf + n, size - n, "%s%lld", i ? "," : "", (long long)d)
                : (size_t)snprintf(buf + n, size - n, "%s?", i ? "," : "");
  }
  if (n < size) snprintf(buf + n, size - n, ")");
}

static bool shape_fail(const inference *in, const char *what) {
  char text[256] = "no shape";
  if (in->nsrc && in->src[0]->shape) put_shape(text, sizeof text, in->src[0]->shape);
  un__fail(in->g->err, UN_ERR_SHAPE, "%s: %s; source 0 is %s", op_text(in), what, text);
  return false;
}

static bool finish(const inference *in, uint32_t rank, const un_uop *const *dim, const un__shape **out) {
  if (rank > UN__MAX_RANK) return shape_fail(in, "more than 16 axes");
  for (uint32_t i = 0; i < rank; i++) {
    if (!dim[i]) return false;
    if (dim[i]->dtype != UN__DT(UN_INDEX)) return shape_fail(in, "sizes must have dtype index");
    if (dim[i]->vmax < 0) return shape_fail(in, "a size is negative");
  }
  *out = un__shape_make(in->g, rank, dim);
  return *out != NULL;
}

static bool all_same(const inference *in, const un__shape **out) {
  const un__shape *s = in->src[0]->shape;
  for (uint32_t i = 1; i < in->nsrc; i++) {
    if (!in->src[i]->shape) return *out = NULL, true;
    if (s && s != in->src[i]->shape) {
      char a[256], b[256];
      put_shape(a, sizeof a, s);
      put_shape(b, sizeof b, in->src[i]->shape);
      un__fail(in->g->err, UN_ERR_SHAPE, "%s: sources must have one shape; source 0 is %s, source %u is %s", op_text(in), a,
               (unsigned)i, b);
      return false;
    }
  }
  *out = s;
  return true;
}

static bool infer_dims(const inference *in, uint32_t first, const un__shape **out) {
  if (!finish(in, in->nsrc - first, in->src + first, out)) return false;
  if (first == 0) return true;
  const un__shape *from = in->src[0]->shape;
  if (!from) return shape_fail(in, "source 0 has no shape");
  if (in->op == UN__OP_RESHAPE) {
    int64_t a = un__shape_known_numel(from), b = un__shape_known_numel(*out);
    return (a < 0 || b < 0 || a == b) || shape_fail(in, "numbers of elements differ");
  }
  if (from->rank != (*out)->rank) return shape_fail(in, "ranks differ");
  for (uint32_t i = 0; i < from->rank; i++)
    if (from->dim[i] != (*out)->dim[i] && un__known_size(from->dim[i]) != 1)
      return shape_fail(in, "only axes of size 1 can be expanded");
  return true;
}

static bool infer_perm(const inference *in, const un__shape **out) {
  const un__shape *s = in->src[0]->shape;
  if (!s || s->rank != in->nattr) return shape_fail(in, "perm must name every axis once");
  const un_uop *dim[UN__MAX_RANK];
  uint32_t seen = 0;
  for (uint32_t i = 0; i < s->rank; i++) {
    int64_t p = in->attrs[i];
    if (p < 0 || p >= s->rank || seen >> p & 1) return shape_fail(in, "perm must name every axis once");
    seen |= 1u << p;
    dim[i] = s->dim[p];
  }
  return finish(in, s->rank, dim, out);
}

/* PAD and SHRINK: sources x, lo.., hi... */
static bool infer_box(const inference *in, bool pad, const un__shape **out) {
  const un__shape *s = in->src[0]->shape;
  if (!s || in->nsrc != 1 + 2 * s->rank) return shape_fail(in, "needs a low and a high bound for every axis");
  const un_uop *dim[UN__MAX_RANK];
  for (uint32_t i = 0; i < s->rank; i++) {
    const un_uop *lo = in->src[1 + i], *hi = in->src[1 + s->rank + i];
    if (lo->dtype != UN__DT(UN_INDEX) || hi->dtype != UN__DT(UN_INDEX)) return shape_fail(in, "bounds must have dtype index");
    if (lo->vmin < 0 || hi->vmin < 0) return shape_fail(in, "bounds must not be negative");
    if (!pad && (hi->vmin > s->dim[i]->vmax || lo->vmin > hi->vmax)) return shape_fail(in, "box is not inside the tensor");
    if (!pad) dim[i] = dim_arith(in->g, UN__OP_SUB, hi, lo);
    else if (!(dim[i] = dim_arith(in->g, UN__OP_ADD, lo, s->dim[i]))) return false;
    else dim[i] = dim_arith(in->g, UN__OP_ADD, dim[i], hi);
  }
  return finish(in, s->rank, dim, out);
}

static bool infer_stack(const inference *in, const un__shape **out) {
  const un__shape *s;
  if (!all_same(in, &s)) return false;
  if (!s) return shape_fail(in, "sources must have shapes");
  if (s->rank == UN__MAX_RANK) return shape_fail(in, "more than 16 axes");
  const un_uop *dim[UN__MAX_RANK + 1] = {un__build_const(in->g, UN__DT(UN_INDEX), in->nsrc)};
  memcpy(dim + 1, s->dim, s->rank * sizeof *dim);
  return finish(in, s->rank + 1, dim, out);
}

static bool infer_reduce(const inference *in, const un__shape **out) {
  const un__shape *s = in->src[0]->shape;
  if (!s) return shape_fail(in, "source 0 has no shape");
  const un_uop *dim[UN__MAX_RANK];
  uint32_t n = 0, a = 1;       /* attribute 0 is the op, the axes follow in ascending order */
  for (uint32_t i = 0; i < s->rank; i++) {
    if (a < in->nattr && in->attrs[a] == i) a++;
    else dim[n++] = s->dim[i];
  }
  if (a != in->nattr) return shape_fail(in, "axes must ascend and lie inside the shape");
  return finish(in, n, dim, out);
}

/* INDEX: a gather at the tensor stage; without a shape everywhere else. */
static bool infer_gather(const inference *in, const un__shape **out) {
  *out = NULL;
  const un__shape *s = in->nsrc > 1 ? in->src[1]->shape : NULL;
  if (!in->src[0]->shape || !s) return true;
  if (in->nsrc - 1 != in->src[0]->shape->rank) return shape_fail(in, "needs one index for every axis");
  for (uint32_t i = 2; i < in->nsrc; i++) {
    if (!in->src[i]->shape) return true;
    if (in->src[i]->shape != s) return shape_fail(in, "indices must have one shape");
  }
  *out = s;
  return true;
}

bool un__infer_shape(un__graph *g, un__op op, const un_uop *const *src, uint32_t nsrc, const int64_t *attrs,
                     uint32_t nattr, const un__shape **out) {
  inference in = {g, op, src, nsrc, attrs, nattr};
  *out = NULL;
  switch (un__op_table[op].shape_rule) {
  case UN__SR_NONE: return true;
  case UN__SR_SCALAR: return finish(&in, 0, NULL, out);
  case UN__SR_SAME: return all_same(&in, out);
  case UN__SR_FIRST: return *out = src[0]->shape, true;
  case UN__SR_DIMS0: return finish(&in, nsrc, src, out);
  case UN__SR_DIMS1: return infer_dims(&in, 1, out);
  case UN__SR_PERM: return infer_perm(&in, out);
  case UN__SR_PAD: return infer_box(&in, true, out);
  case UN__SR_SHRINK: return infer_box(&in, false, out);
  case UN__SR_STACK: return infer_stack(&in, out);
  case UN__SR_REDUCE: return infer_reduce(&in, out);
  case UN__SR_GATHER: return infer_gather(&in, out);
  }
  return true;
}
