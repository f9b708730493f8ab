/* tensor.c - the fragments of a warp's product. */
#include "tensor.h"

#include "base/mem.h"
#include "threads.h"

extern const un__pass un__pass_tensor;

enum { COLUMNS = 4 };      /* threads along a row */

static un__tensor_cores *cores(const un__rw *rw) { return rw->ctx; }

/* ---- which ---- */

static bool product_of(const un__rw *rw, const un_uop *reduce, un__core_product *out) {
  const un__tensor_cores *x = cores(rw);
  return un__tensor_range(reduce) && !un__core_product_of(reduce, &x->digits, x->target, rw->licences, out);
}

bool un__pred_on_core(un__rw *rw, const un_uop *reduce) {
  un__core_product p;
  return product_of(rw, reduce, &p);
}

static bool is_copies(const un_uop *range) { return un__range_axis(range) == UN__AXIS_UNROLL; }
static bool is_loop(const un_uop *range) { return !is_copies(range) && un__range_axis(range) != UN__AXIS_TENSOR; }

un__span un__fn_core_loops(un__rw *rw, const un_uop *reduce) { return un__chosen_ranges(rw, reduce, is_loop, true); }

/* ---- index arithmetic ---- */

static const un_uop *add(un__graph *g, const un_uop *a, const un_uop *b) { return un__binary(g, UN__OP_ADD, a, b); }
static const un_uop *times(un__graph *g, const un_uop *a, int64_t n) { return un__binary(g, UN__OP_MUL, a, un__idx(g, n)); }
static const un_uop *over(un__graph *g, const un_uop *a, int64_t n) { return un__binary(g, UN__OP_FLOORDIV, a, un__idx(g, n)); }
static const un_uop *rest(un__graph *g, const un_uop *a, int64_t n) { return un__binary(g, UN__OP_FLOORMOD, a, un__idx(g, n)); }

const un_uop *un__fn_core_lane(un__rw *rw, const un_uop *reduce) {
  un__core_product p;
  return product_of(rw, reduce, &p) ? add(rw->g, times(rw->g, p.half, 2), p.pair) : NULL;
}

/* ---- one operand ---- */

typedef struct operand {
  un__graph *g;
  const un__core_product *p;
  const un_uop *value;
  bool left;
  int64_t word;             /* elements in 4 bytes */
} operand;

/* What the ranges that are the operand's place in the product become. */
enum { PLACES = 4 };
typedef struct place {
  const un_uop *from[PLACES], *to[PLACES];
  uint32_t n;
} place;

static void put(place *x, const un_uop *range, const un_uop *value) {
  x->from[x->n] = range;
  x->to[x->n++] = value;
}

/* A column of the result is a row of threads to the right operand. */
static void put_column(const operand *o, place *x, const un_uop *column) {
  put(x, o->p->column, over(o->g, column, 2));
  put(x, o->p->pair, rest(o->g, column, 2));
}

static const un_uop *at(const operand *o, const un_uop *value, const place *x) {
  return un__substitute(o->g, value, x->from, x->to, x->n);
}

/* ---- element by element ---- */

/* Lane i: element i mod word of a word; the left operand's words are of both rows, then of both halves of the depth. */
static const un_uop *element(const operand *o, int64_t i) {
  place x = {.n = 0};
  int64_t row = i / o->word % 2, half = i / o->word;
  if (o->left) {
    put(&x, o->p->half, un__idx(o->g, row));
    half /= 2;
  } else {
    put_column(o, &x, o->p->row);
  }
  const un_uop *start = un__idx(o->g, half * COLUMNS * o->word + i % o->word);
  put(&x, o->p->depth, add(o->g, times(o->g, o->p->column, o->word), start));
  return at(o, o->value, &x);
}

static const un_uop *elements(const operand *o, uint32_t n) {
  const un_uop *list[16];
  for (uint32_t i = 0; i < n; i++) list[i] = element(o, i);
  return un__uop(o->g, UN__OP_VECTORIZE, un__dt_with_lanes(o->value->dtype, n), list, n, NULL, 0);
}

/* ---- rows of shared memory ---- */

/* Whether n values of a range are consecutive elements of memory that begin at multiples of all that a row holds. */
static bool lies_along(const un_uop *index, const un_uop *range, int64_t n, int64_t step, int64_t mult) {
  un__affine_axis axis = {range, n};
  un__topo nodes;
  if (!un__topo_of(&nodes, index)) return false;
  un__affine *a = un__calloc(nodes.n, sizeof *a);
  bool ok = a != NULL;
  if (ok) un__affine_scan(&nodes, &axis, 1, a);
  const un__affine *whole = ok ? &a[nodes.n - 1] : NULL;
  ok = ok && whole->linear && whole->axis == 0 && whole->step == step && whole->mult % mult == 0;
  un__free(a);
  un__topo_finish(&nodes);
  return ok;
}

typedef enum order { SCATTERED, ALONG_DEPTH, ACROSS } order;

/* How an operand lies in shared memory: in rows of 16 bytes along the depth, or along the rows or columns of the result. */
static order order_of(const operand *o) {
  const un_uop *load = o->value, *index = un__is(load, UN__OP_LOAD) ? load->src[0] : NULL;
  if (!index || !un__is(index, UN__OP_INDEX) || un__dt_space(index->dtype) != UN__SPACE_LOCAL || index->nsrc > 2) return SCATTERED;
  int64_t n = COLUMNS * o->word;
  if (lies_along(index->src[1], o->p->depth, n, 1, n)) return ALONG_DEPTH;
  if (o->word != 2) return SCATTERED;
  if (o->left) return lies_along(index->src[1], o->p->row, n, 1, n) ? ACROSS : SCATTERED;
  const un_uop *zero = un__idx(o->g, 0), *even = un__substitute(o->g, index->src[1], &o->p->pair, &zero, 1);
  bool ok = even && lies_along(index->src[1], o->p->pair, 2, 1, 2) && lies_along(even, o->p->column, COLUMNS, 2, n);
  return ok ? ACROSS : SCATTERED;
}

/* Thread l gives row l mod 8 of matrix l / 8. The matrices of the left operand are of both rows, then of both halves of the
 * depth, those of the right one of both halves. */
static const un_uop *row_of_thread(const operand *o, order how) {
  un__graph *g = o->g;
  const un_uop *l = add(g, times(g, o->p->row, COLUMNS), o->p->column), *row = rest(g, l, 8), *matrix = over(g, l, 8);
  const un_uop *half = o->left ? over(g, matrix, 2) : rest(g, matrix, 2), *depth = times(g, half, COLUMNS * o->word);
  place x = {.n = 0};
  if (how == ACROSS) depth = add(g, depth, row);
  if (o->left) {
    put(&x, o->p->half, rest(g, matrix, 2));
    put(&x, o->p->row, how == ACROSS ? un__idx(g, 0) : row);
  } else {
    put_column(o, &x, how == ACROSS ? un__idx(g, 0) : row);
  }
  put(&x, o->p->depth, depth);
  const un_uop *index = o->value->src[0];
  const un_uop *src[2] = {index->src[0], at(o, index->src[1], &x)};
  return un__uop(g, UN__OP_INDEX, index->dtype, src, 2, NULL, 0);
}

static const un_uop *matrices(const operand *o, order how, uint32_t n) {
  const un_uop *index = row_of_thread(o, how);
  return un__uop(o->g, UN__OP_LDMATRIX, un__dt_with_lanes(o->value->dtype, n), &index, 1, (int64_t[]){how == ACROSS}, 1);
}

static const un_uop *fragment(const operand *o) {
  uint32_t n = (uint32_t)(o->left ? 4 * o->word : 2 * o->word);
  order how = order_of(o);
  return how == SCATTERED ? elements(o, n) : matrices(o, how, n);
}

/* ---- the product ---- */

/* The copies of a reduction: copy c of them, counted with the last range fastest. */
static const un_uop *copy(un__graph *g, const un_uop *n, const un_uop *reduce, int64_t c) {
  const un_uop *from[UN__MAX_DIGITS], *to[UN__MAX_DIGITS];
  uint32_t k = 0;
  for (uint32_t i = reduce->nsrc; i-- > 1 && k < UN__MAX_DIGITS;) {
    const un_uop *r = reduce->src[i];
    if (!is_copies(r)) continue;
    int64_t size = un__known_size(r->src[0]);
    from[k] = r;
    to[k++] = un__idx(g, c % size);
    c /= size;
  }
  return k ? un__substitute(g, n, from, to, k) : n;
}

static int64_t copies_of(const un_uop *reduce) {
  int64_t copies = 1;
  for (uint32_t i = 1; i < reduce->nsrc; i++)
    if (is_copies(reduce->src[i])) copies *= un__known_size(reduce->src[i]->src[0]);
  return copies;
}

/* Each copy adds to the one before. */
const un_uop *un__fn_core_product(un__rw *rw, const un_uop *reduce) {
  un__core_product p;
  if (!product_of(rw, reduce, &p)) return NULL;
  int64_t word = 4 / un__dt_info(p.left->dtype)->size;
  const un_uop *left = fragment(&(operand){rw->g, &p, p.left, true, word});
  const un_uop *right = fragment(&(operand){rw->g, &p, p.right, false, word});
  un__dtype dtype = un__dt_with_lanes(reduce->dtype, 4);
  const un_uop *sum = un__const_bits(rw->g, dtype, 0);
  for (int64_t c = 0, n = copies_of(reduce); c < n; c++) {
    const un_uop *src[3] = {copy(rw->g, left, reduce, c), copy(rw->g, right, reduce, c), sum};
    sum = un__uop(rw->g, UN__OP_WMMA, dtype, src, 3, (int64_t[]){0}, 1);
  }
  return sum;
}

/* ---- the pass ---- */

static const un_uop *refuse(un__graph *g, un_status status, const char *why) {
  un__fail(un__graph_err(g), status, "tensor: %s", why);
  return NULL;
}

/* What no core takes is a loop. */
static const un_uop *loops_for_rest(un__graph *g, const un_uop *kernel) {
  const un_uop *from[UN__MAX_DIGITS], *to[UN__MAX_DIGITS];
  uint32_t n = 0;
  un__topo nodes;
  if (!un__topo_of(&nodes, kernel)) return refuse(g, UN_ERR_NOMEM, "no memory");
  for (size_t i = 0; i < nodes.n && n < UN__MAX_DIGITS; i++) {
    const un_uop *r = nodes.at[i];
    if (!un__is(r, UN__OP_RANGE) || un__range_axis(r) != UN__AXIS_TENSOR) continue;
    from[n] = r;
    to[n++] = un__range(g, r->src[0], UN__AXIS_REDUCE, un__range_id(r));
  }
  un__topo_finish(&nodes);
  return n ? un__substitute(g, kernel, from, to, n) : kernel;
}

const un_uop *un__tensor(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences) {
  un__tensor_cores x = {.target = t};
  if (!t->gpu.tensor_cores) return loops_for_rest(ws, kernel);
  un__topo nodes;
  if (!un__topo_of(&nodes, kernel)) return refuse(ws, UN_ERR_NOMEM, "no memory");
  bool any = false;
  for (size_t i = 0; i < nodes.n; i++) any |= un__is(nodes.at[i], UN__OP_REDUCE) && un__tensor_range(nodes.at[i]);
  const char *why = any ? un__digits_of(&x.digits, &nodes, t->gpu.warp) : NULL;
  un__topo_finish(&nodes);
  if (why) return refuse(ws, UN_ERR_UNSUPPORTED, why);
  if (!any) return kernel;
  kernel = un__graph_rewrite(ws, kernel, &un__pass_tensor, &(un__rw_options){.ctx = &x, .licences = licences});
  return kernel ? loops_for_rest(ws, kernel) : NULL;
}
