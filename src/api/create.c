/* create.c - tensors from the caller's data and from constants; what a handle says about itself. */
#include "api.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"

/* ---- lists ---- */

un_dims un_dims_of(const int64_t *values, size_t n, bool counted) {
  un_dims d = {.rank = UN_DIMS_BAD};
  size_t skip = counted ? 1 : 0;
  if ((!values && n) || n < skip || n - skip > UN_MAX_RANK) return d;
  if (counted && (uint64_t)values[0] != n - 1) return d;
  d.rank = (int)(n - skip);
  for (int i = 0; i < d.rank; i++) d.dim[i] = values[(size_t)i + skip];
  return d;
}

un_dims un_every_axis(void) { return (un_dims){.rank = UN_DIMS_ALL}; }

/* ---- getters: shapes of handles are numbers, the constructors saw to it ---- */

un_dtype un_dtype_of(const un_tensor *t) { return t ? un__tensor_dtype(t->node) : UN_VOID; }
int un_rank(const un_tensor *t) { return t ? (int)t->node->shape->rank : -1; }
int64_t un_numel(const un_tensor *t) { return t ? un__shape_known_numel(t->node->shape) : -1; }
un_ctx *un_ctx_of(const un_tensor *t) { return t ? t->cx : NULL; }

int64_t un_dim(const un_tensor *t, int axis) {
  int rank = un_rank(t);
  if (axis < 0) axis += rank;
  return axis >= 0 && axis < rank ? un__known_size(t->node->shape->dim[axis]) : -1;
}

un_dims un_shape_of(const un_tensor *t) {
  un_dims d = {.rank = UN_DIMS_BAD};
  if (!t) return d;
  d.rank = un_rank(t);
  for (int i = 0; i < d.rank; i++) d.dim[i] = un_dim(t, i);
  return d;
}

/* ---- data ---- */

const un_uop *un__api_new_buffer(un__call *c, un_dtype dtype, const un_dims *shape, int device, int64_t *out_serial) {
  const un_uop *dim[UN_MAX_RANK];
  for (int i = 0; i < shape->rank; i++)
    if (!(dim[i] = un__idx(c->g, shape->dim[i]))) return NULL;
  *out_serial = un__world_next_serial(c->cx->world);
  return un__uop(c->g, UN__OP_BUFFER, UN__DT(dtype), dim, (uint32_t)shape->rank,
                 (int64_t[]){*out_serial, device}, 2);
}

/* Every byte of a stored bool is 0 or 1. */
static un_status store_bools(un__call *c, int64_t serial, const uint8_t *data, size_t n) {
  uint8_t *clean = un__alloc(n);
  if (!clean) return un__fail(&c->cx->err, UN_ERR_NOMEM, "%s: no memory for %zu bytes", c->what, n);
  for (size_t i = 0; i < n; i++) clean[i] = data[i] != 0;
  un_status status = un__engine_buffer_from(c->cx->engine, c->cx->device, serial, clean, n, false, &c->cx->err);
  un__free(clean);
  return status;
}

static const un_uop *buffer_of(un__call *c, un_dtype dtype, const un_dims *shape, const void *data, bool borrow) {
  if (!un__tensor_check_dtype(c->g, c->what, dtype) || !un__tensor_check_shape(c->g, c->what, shape)) return NULL;
  int64_t n = un__tensor_count(shape), serial;
  if (n == 0) return un__tensor_full(c->g, dtype, shape, 0);
  if (!data)
    return un__tensor_fail(c->g, UN_ERR_INVALID_ARG, "%s: expected %" PRId64 " elements, data is NULL", c->what, n);
  /* Kernels promise it to the compiler. */
  if (borrow && (uintptr_t)data % un_dtype_size(dtype))
    return un__tensor_fail(c->g, UN_ERR_INVALID_ARG, "%s: expected data aligned to the %zu bytes of %s, it is %zu past such a place",
                           c->what, un_dtype_size(dtype), un_dtype_name(dtype), (size_t)((uintptr_t)data % un_dtype_size(dtype)));
  const un_uop *node = un__api_new_buffer(c, dtype, shape, c->cx->device, &serial);
  if (!node) return NULL;
  size_t size = (size_t)n * un_dtype_size(dtype);
  un_status status = dtype == UN_BOOL && !borrow
                       ? store_bools(c, serial, data, size)
                       : un__engine_buffer_from(c->cx->engine, c->cx->device, serial, data, size, borrow, &c->cx->err);
  return status == UN_OK ? node : NULL;
}

un_tensor *un_from_data(un_ctx *cx, un_dtype dtype, un_dims shape, const void *data) {
  un__call c;
  return un__api_open_cx(&c, "from_data", cx) ? un__api_close(&c, buffer_of(&c, dtype, &shape, data, false)) : NULL;
}

un_tensor *un_wrap_data(un_ctx *cx, un_dtype dtype, un_dims shape, const void *data) {
  un__call c;
  if (!un__api_open_cx(&c, "wrap_data", cx)) return NULL;
  un_tensor *t = un__api_close(&c, buffer_of(&c, dtype, &shape, data, true));
  if (t) t->borrowed = data ? data : t;     /* of no elements: never read, but borrowed all the same */
  return t;
}

/* New content is a new buffer over the same memory: the old one's readers are not disturbed. */
un_status un_touch(un_tensor *t) {
  un__call c;
  if (!un__api_open(&c, "touch", &t, 1)) return UN_ERR_INVALID_ARG;
  un_dims shape = un_shape_of(t);
  const un_uop *node = NULL;
  if (t->borrowed) node = buffer_of(&c, un_dtype_of(t), &shape, t->borrowed, true);
  else un__fail(&c.cx->err, UN_ERR_INVALID_ARG, "touch: expected a tensor made by un_wrap_data");
  if (node) un__handle_set(t, node, false);
  return un__api_close_status(&c);
}

/* ---- constants ---- */

static un_tensor *filled(const char *what, un_ctx *cx, un_dtype dtype, const un_dims *shape, double value) {
  un__call c;
  return un__api_open_cx(&c, what, cx) ? un__api_close(&c, un__tensor_filled(c.g, what, dtype, shape, value)) : NULL;
}

un_tensor *un_full(un_ctx *cx, un_dtype dtype, un_dims shape, double value) {
  return filled("full", cx, dtype, &shape, value);
}
un_tensor *un_zeros(un_ctx *cx, un_dtype dtype, un_dims shape) { return filled("zeros", cx, dtype, &shape, 0); }
un_tensor *un_ones(un_ctx *cx, un_dtype dtype, un_dims shape) { return filled("ones", cx, dtype, &shape, 1); }
un_tensor *un_scalar(un_ctx *cx, un_dtype dtype, double value) {
  return filled("scalar", cx, dtype, &(un_dims){0}, value);
}

un_tensor *un_arange(un_ctx *cx, un_dtype dtype, double start, double stop, double step) {
  un__call c;
  return un__api_open_cx(&c, "arange", cx) ? un__api_close(&c, un__tensor_arange(c.g, dtype, start, stop, step)) : NULL;
}

un_tensor *un_eye(un_ctx *cx, un_dtype dtype, int64_t rows, int64_t columns) {
  un__call c;
  return un__api_open_cx(&c, "eye", cx) ? un__api_close(&c, un__tensor_eye(c.g, dtype, rows, columns)) : NULL;
}
