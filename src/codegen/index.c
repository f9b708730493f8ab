/* index.c - how wide an index must be, and the leaves of index expressions. See index.pat.
 *
 * A lowered index is CAST<index>(y), y of width 32 or 64, or one of the leaves CONST, RANGE, SPECIAL, VAR. */
#include "lower.h"

#include "base/ptrmap.h"
#include "base/vec.h"

static bool is_index(const un_uop *n) { return un__dt_is_index(n->dtype); }

static bool is_leaf(const un_uop *n) {
  return un__is(n, UN__OP_CONST) || un__is(n, UN__OP_RANGE) || un__is(n, UN__OP_SPECIAL) || un__is(n, UN__OP_VAR);
}

static bool is_lowered(const un_uop *n) { return is_leaf(n) || un__is(n, UN__OP_CAST); }

static bool fits(int64_t lo, int64_t hi, int64_t bits) {
  if (bits == 32) return lo >= INT32_MIN && hi <= INT32_MAX;
  return lo > UN__NEG_INF && hi < UN__POS_INF;
}

/* A loop counts up to its size, not just to its last value. */
static int64_t highest(const un_uop *n) {
  bool counter = un__is(n, UN__OP_RANGE) || un__is(n, UN__OP_SPECIAL);
  return counter && n->vmax < n->src[0]->vmax ? n->src[0]->vmax : n->vmax;
}

static int64_t narrowest(const un__target *t, const un_uop *n) {
  return t->wide_index && un__lanes(n) == 1 ? 64 : 32;
}

/* Data taken as an index: it is no wider than what it was. Bounds cannot say so of i64, whose ends they read as
 * infinite. */
static bool is_signed_data(const un_uop *n) {
  return is_index(n) && un__is(n, UN__OP_CAST) && un__dt_class(n->src[0]->dtype) == UN__CLASS_INT;
}

/* The least width from `bits` on that holds n; 0: none. */
static int64_t widen(int64_t bits, const un_uop *n) {
  if (is_signed_data(n) && !fits(n->vmin, n->vmax, 32)) return bits ? 64 : 0;
  while (bits && !fits(n->vmin, highest(n), bits)) bits = bits == 32 ? 64 : 0;
  return bits;
}

/* What is one of its operands, lane by lane, fits where they do. */
static bool is_choice(const un_uop *n) {
  switch (n->op) {
  case UN__OP_MAX: case UN__OP_MIN: case UN__OP_WHERE: case UN__OP_VECTORIZE: case UN__OP_GEP: return true;
  default: return false;
  }
}

bool un__fn_width(un__rw *rw, const un_uop *n, int64_t *out) {
  int64_t bits = narrowest(un__target_of(rw), n);
  if (is_index(n) && !is_choice(n)) bits = widen(bits, n);
  for (uint32_t i = 0; bits && i < n->nsrc && !is_leaf(n); i++) {
    if (!is_index(n->src[i])) continue;
    if (!is_lowered(n->src[i])) return false;
    bits = widen(bits, n->src[i]);
  }
  if (is_index(n) && un__is(n, UN__OP_CAST)) {      /* an address: at least as wide as it is already */
    int64_t had = (int64_t)un__dt_info(n->src[0]->dtype)->size * 8;
    bits = bits > had ? bits : had;
  }
  *out = bits;
  return bits != 0;
}

static un__dtype int_dtype(const un_uop *like, int64_t bits) {
  return un__dt_vec(bits == 32 ? UN_I32 : UN_I64, un__lanes(like));
}

const un_uop *un__fn_as_int(un__rw *rw, const un_uop *x, int64_t bits) {
  un__dtype d = int_dtype(x, bits);
  if (un__is_const(x)) return un__const_i(rw->g, d, un__const_int(x));
  if (is_leaf(x)) return un__cast(rw->g, d, x);
  return un__is(x, UN__OP_CAST) ? un__cast(rw->g, d, x->src[0]) : NULL;
}

const un_uop *un__fn_as_lanes(un__rw *rw, const un_uop *vector, int64_t bits) {
  const un_uop **src = un__arena_alloc(un__workspace_arena(rw->g), vector->nsrc * sizeof *src);
  if (!src) {
    un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "no memory to lower indices");
    return NULL;
  }
  for (uint32_t i = 0; i < vector->nsrc; i++)
    if (!(src[i] = un__fn_as_int(rw, vector->src[i], bits))) return NULL;
  return un__uop(rw->g, UN__OP_VECTORIZE, int_dtype(vector, bits), src, vector->nsrc, NULL, 0);
}

const un_uop *un__fn_as_value(un__rw *rw, const un_uop *x, un__dtype d) {
  un_dtype s = un__dt_scalar(d);
  if (!is_lowered(x) || (is_leaf(x) && (s == UN_I32 || s == UN_I64))) return NULL;
  if (un__is(x, UN__OP_CAST)) return un__cast(rw->g, d, x->src[0]);
  int64_t bits;
  return un__fn_width(rw, x, &bits) ? un__cast(rw->g, d, un__fn_as_int(rw, x, bits)) : NULL;
}

/* ---- leaves ---- */

typedef struct leaves {
  un__graph *g;
  const un__target *t;
  un__ptrmap made;               /* node -> its copy without index */
  UN__VEC(const un_uop *) src;
} leaves;

static const un_uop *made(const leaves *l, const un_uop *n) { return (const un_uop *)*un__ptrmap_get(&l->made, n); }

/* A size or bound, of whatever form, as an integer of that width. */
static const un_uop *sized(leaves *l, const un_uop *n, int64_t bits) {
  if (un__is_const(n)) return un__const_i(l->g, int_dtype(n, bits), un__const_int(n));
  const un_uop *m = made(l, n);
  return is_index(m) ? un__is(m, UN__OP_CAST) ? un__cast(l->g, int_dtype(m, bits), m->src[0]) : m
                     : un__cast(l->g, int_dtype(m, bits), m);
}

/* How many leading sources are sizes. */
static uint32_t sizes_of(const un_uop *n) {
  switch (n->op) {
  case UN__OP_VAR: return 2;
  case UN__OP_RANGE: case UN__OP_SPECIAL: case UN__OP_PARAM: case UN__OP_DEFINE_LOCAL: case UN__OP_DEFINE_REG: return 1;
  default: return 0;
  }
}

static const un_uop *no_proof(leaves *l, const un_uop *n) {
  un__fail(un__graph_err(l->g), UN_ERR_UNSUPPORTED, "an index (%s in [%lld, %lld]) may not fit 64 bits", un__info(n)->text,
           (long long)n->vmin, (long long)n->vmax);
  return NULL;
}

static bool is_wait(const un_uop *n) { return un__is(n, UN__OP_BARRIER) || un__is(n, UN__OP_WAIT); }

/* What a barrier waits for, where that is an index: only that it has been computed matters. */
static const un_uop *waited_for(leaves *l, const un_uop *n) {
  const un_uop *m = made(l, n);
  if (un__is_const(m)) return un__const_i(l->g, UN__DT(UN_I32), 0);
  return is_index(m) && un__is(m, UN__OP_CAST) ? m->src[0] : m;
}

static const un_uop *source(leaves *l, const un_uop *n, uint32_t i, int64_t bits) {
  if (i < sizes_of(n)) return sized(l, n->src[i], bits);
  return is_wait(n) && un__dt_is_index(n->src[i]->dtype) ? waited_for(l, n->src[i]) : made(l, n->src[i]);
}

static const un_uop *remake(leaves *l, const un_uop *n) {
  bool leaf = is_index(n) && is_leaf(n) && !un__is_const(n);
  int64_t bits = leaf ? widen(narrowest(l->t, n), n) : 64;
  if (!bits || (is_index(n) && !is_lowered(n))) return no_proof(l, n);
  if (un__is(n, UN__OP_CAST) && !is_index(n) && is_index(n->src[0])) return un__cast(l->g, n->dtype, made(l, n->src[0]));
  l->src.n = 0;
  for (uint32_t i = 0; i < n->nsrc; i++) {
    bool size = i < sizes_of(n) || is_wait(n);
    /* What has a width and takes an index as it is was given no width that holds the index. */
    if (!size && !is_index(n) && is_index(n->src[i]) && !is_leaf(n->src[i])) return no_proof(l, n->src[i]);
    if (!un__vec_push(&l->src, source(l, n, i, bits))) {
      un__fail(un__graph_err(l->g), UN_ERR_NOMEM, "no memory to lower indices");
      return NULL;
    }
  }
  if (!leaf) return un__with_src(l->g, n, l->src.at);
  return un__uop(l->g, (un__op)n->op, int_dtype(n, bits), l->src.at, n->nsrc, un__attrs(n), n->nattr);
}

const un_uop *un__index_leaves(un__graph *ws, const un_uop *kernel, const un__target *t) {
  leaves l = {.g = ws, .t = t};
  un__ptrmap_init(&l.made);
  size_t n;
  const un_uop **order = un__toposort(kernel, &n), *root = NULL;
  for (size_t i = 0; order && i < n; i++) {
    uintptr_t *place = un__ptrmap_put(&l.made, order[i], NULL);
    root = place ? remake(&l, order[i]) : NULL;
    if (!root) break;
    *un__ptrmap_get(&l.made, order[i]) = (uintptr_t)root;
  }
  if (!root) un__fail(un__graph_err(ws), UN_ERR_NOMEM, "no memory to lower indices");
  un__free(order);
  un__vec_finish(&l.src);
  un__ptrmap_finish(&l.made);
  return root;
}
