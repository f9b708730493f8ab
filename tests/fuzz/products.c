/* products.c - programs of products of matrices, large enough for the tensor cores of a GPU: ragged, turned, padded, flipped, in
 * batches, of what was computed, several of one operand, and followed by what a layer does. */
#include "make.h"

#include "tensor/tensor.h"

typedef const un_uop *node;

static un__graph *graph_of(const maker *m) { return m->p->ws; }
static node known(maker *m, node n) { return keep(m, n, (fact){false, 1e30, n ? eps_of(n->dtype) : 0}); }

static int64_t size(maker *m) {
  static const int64_t sizes[] = {1, 7, 16, 17, 24, 31, 32, 33, 40, 47, 48};
  return sizes[rng_below(m->r, sizeof sizes / sizeof *sizes)];
}

static int64_t depth(maker *m) { return rng_below(m->r, 6) ? size(m) + (int64_t)rng_below(m->r, 48) : 1 + (int64_t)rng_below(m->r, 9); }

/* ---- an operand of that shape ---- */

static node buffer(maker *m, un_dtype d, int64_t batch, int64_t rows, int64_t columns) {
  int64_t dims[3] = {batch, rows, columns};
  return batch ? make_buffer(m, UN__DT(d), 3, dims) : make_buffer(m, UN__DT(d), 2, dims + 1);
}

/* A part of something larger. */
static node sliced(maker *m, un_dtype d, int64_t batch, int64_t rows, int64_t columns) {
  int64_t before = rng_below(m->r, 9), behind = rng_below(m->r, 9), step = 1 + rng_below(m->r, 2);
  node x = buffer(m, d, batch, rows, before + step * columns + behind);
  return x ? un__tensor_slice(graph_of(m), x, -1, before, before + step * columns, step) : NULL;
}

/* Zeros around something smaller. */
static node padded(maker *m, un_dtype d, int64_t batch, int64_t rows, int64_t columns) {
  int64_t before = rng_below(m->r, (uint32_t)columns);
  node x = buffer(m, d, batch, rows, columns - before);
  un_dims left = {.rank = batch ? 3 : 2}, right = left;
  left.dim[left.rank - 1] = before;
  return x ? un__tensor_pad(graph_of(m), x, &left, &right) : NULL;
}

static node operand(maker *m, un_dtype d, int64_t batch, int64_t rows, int64_t columns) {
  un__graph *g = graph_of(m);
  bool is_float = un__dt_is_float(UN__DT(d));
  un_dims last = {.rank = 1, .dim = {-1}};
  node x;
  switch (rng_below(m->r, 10)) {
  case 0: case 1: return (x = buffer(m, d, batch, columns, rows)) ? un__tensor_transpose(g, x, -1, -2) : NULL;
  case 2: return sliced(m, d, batch, rows, columns);
  case 3: return padded(m, d, batch, rows, columns);
  case 4: return (x = buffer(m, d, batch, rows, columns)) ? un__tensor_flip(g, x, &last) : NULL;
  case 5: return (x = buffer(m, is_float ? UN_F32 : d, batch, rows, columns)) ? un__tensor_cast(g, x, d) : NULL;
  case 6: return (x = buffer(m, d, batch, rows, columns)) ? un__tensor_add(g, x, x) : NULL;
  default: return buffer(m, d, batch, rows, columns);
  }
}

/* ---- a layer ---- */

static node behind(maker *m, node x) {
  un__graph *g = graph_of(m);
  int64_t n = dim(x, x->shape->rank - 1);
  node bias;
  switch (rng_below(m->r, 6)) {
  case 0: return un__tensor_relu(g, x);
  case 1: return (bias = make_buffer(m, x->dtype, 1, &n)) ? un__tensor_relu(g, un__tensor_add(g, x, bias)) : x;
  case 2: return un__dt_is_float(x->dtype) ? un__tensor_softmax(g, x, -1) : un__tensor_abs(g, x);
  case 3: return un__tensor_sum(g, x, &(un_dims){.rank = 1, .dim = {-1}}, false);
  case 4: return un__tensor_cast(g, x, un__dt_is_float(x->dtype) ? UN_BF16 : UN_I16);
  default: return x;
  }
}

void make_products(maker *m) {
  static const un_dtype dtypes[] = {UN_F16, UN_BF16, UN_BF16, UN_I8, UN_U8, UN_F32, UN_F64, UN_I32, UN_I64, UN_U32};
  un__graph *g = graph_of(m);
  un_dtype d = dtypes[rng_below(m->r, sizeof dtypes / sizeof *dtypes)];
  int64_t batch = rng_below(m->r, 4) ? 0 : 1 + (int64_t)rng_below(m->r, 3), rows = size(m), k = depth(m);
  node x = operand(m, d, batch, rows, k);
  uint32_t n = rng_below(m->r, 4) ? 1 : 3;      /* as of queries, keys and values */
  for (uint32_t i = 0; x && i < n; i++) {
    int64_t columns = size(m);
    node y = operand(m, d, rng_below(m->r, 2) ? batch : 0, k, columns), product = y ? un__tensor_matmul(g, x, y) : NULL;
    if (product) known(m, behind(m, product));
  }
}
