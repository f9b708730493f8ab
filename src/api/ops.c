/* ops.c - the calls that make a tensor from tensors: one line each. */
#include "api.h"

/* ---- tensor.def ---- */

typedef const un_uop *(*unary_fn)(un__graph *, const un_uop *);
typedef const un_uop *(*binary_fn)(un__graph *, const un_uop *, const un_uop *);

static un_tensor *unary(const char *what, unary_fn f, un_tensor *x) {
  un__call c;
  return un__api_open(&c, what, &x, 1) ? un__api_close(&c, f(c.g, x->node)) : NULL;
}

static un_tensor *binary(const char *what, binary_fn f, un_tensor *a, un_tensor *b) {
  un__call c;
  return un__api_open(&c, what, (un_tensor *[]){a, b}, 2) ? un__api_close(&c, f(c.g, a->node, b->node)) : NULL;
}

static un_tensor *literal(const char *what, binary_fn f, un_tensor *a, double b) {
  un__call c;
  if (!un__api_open(&c, what, &a, 1)) return NULL;
  const un_uop *rhs = un__tensor_literal(c.g, what, a->node, b);
  return un__api_close(&c, rhs ? f(c.g, a->node, rhs) : NULL);
}

#define UNARY(name) \
  un_tensor *un_##name(un_tensor *x) { return unary(#name, un__tensor_##name, x); }
#define BINARY(name)                                                                                         \
  un_tensor *un_##name(un_tensor *a, un_tensor *b) { return binary(#name, un__tensor_##name, a, b); }        \
  un_tensor *un_##name##s(un_tensor *a, double b) { return literal(#name "s", un__tensor_##name, a, b); }
#include "tensor/tensor.def"

/* ---- calls with arguments of their own ---- */

#define CALL1(name, params, ...)                                                             \
  un_tensor *un_##name params {                                                              \
    un__call c;                                                                              \
    return un__api_open(&c, #name, &x, 1) ? un__api_close(&c, un__tensor_##name(c.g, x->node, __VA_ARGS__)) : NULL; \
  }

CALL1(cast, (un_tensor *x, un_dtype dtype), dtype)
CALL1(bitcast, (un_tensor *x, un_dtype dtype), dtype)

CALL1(reshape, (un_tensor *x, un_dims shape), &shape)
CALL1(flatten, (un_tensor *x, int first, int last), first, last)
CALL1(squeeze, (un_tensor *x, int axis), axis)
CALL1(unsqueeze, (un_tensor *x, int axis), axis)
CALL1(permute, (un_tensor *x, un_dims order), &order)
CALL1(transpose, (un_tensor *x, int axis0, int axis1), axis0, axis1)
CALL1(expand, (un_tensor *x, un_dims shape), &shape)
CALL1(pad, (un_tensor *x, un_dims before, un_dims after), &before, &after)
CALL1(pad_value, (un_tensor *x, un_dims before, un_dims after, double value), &before, &after, value)
CALL1(shrink, (un_tensor *x, un_dims begin, un_dims end), &begin, &end)
CALL1(slice, (un_tensor *x, int axis, int64_t start, int64_t stop, int64_t step), axis, start, stop, step)
CALL1(select, (un_tensor *x, int axis, int64_t i), axis, i)
CALL1(flip, (un_tensor *x, un_dims axes), &axes)

CALL1(sum, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(prod, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(max, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(min, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(mean, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(var, (un_tensor *x, un_dims axes, int ddof, bool keepdim), &axes, ddof, keepdim)
CALL1(std, (un_tensor *x, un_dims axes, int ddof, bool keepdim), &axes, ddof, keepdim)
CALL1(any, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(all, (un_tensor *x, un_dims axes, bool keepdim), &axes, keepdim)
CALL1(argmax, (un_tensor *x, int axis, bool keepdim), axis, keepdim)
CALL1(argmin, (un_tensor *x, int axis, bool keepdim), axis, keepdim)

CALL1(softmax, (un_tensor *x, int axis), axis)
CALL1(log_softmax, (un_tensor *x, int axis), axis)
CALL1(layer_norm, (un_tensor *x, un_dims axes, double eps), &axes, eps)
CALL1(rms_norm, (un_tensor *x, un_dims axes, double eps), &axes, eps)
CALL1(scalar_like, (un_tensor *x, double value), value)
CALL1(one_hot, (un_tensor *x, int64_t n, un_dtype dtype), n, dtype)

un_tensor *un_matmul(un_tensor *a, un_tensor *b) { return binary("matmul", un__tensor_matmul, a, b); }

un_tensor *un_where(un_tensor *cond, un_tensor *a, un_tensor *b) {
  un__call c;
  return un__api_open(&c, "where", (un_tensor *[]){cond, a, b}, 3)
           ? un__api_close(&c, un__tensor_where(c.g, cond->node, a->node, b->node)) : NULL;
}

#define CALL_INDEX(name)                                                                               \
  un_tensor *un_##name(un_tensor *x, int axis, un_tensor *index) {                                     \
    un__call c;                                                                                        \
    return un__api_open(&c, #name, (un_tensor *[]){x, index}, 2)                                       \
             ? un__api_close(&c, un__tensor_##name(c.g, x->node, axis, index->node)) : NULL;           \
  }
CALL_INDEX(gather)
CALL_INDEX(take)

un_tensor *un_embedding(un_tensor *table, un_tensor *index) { return binary("embedding", un__tensor_embedding, table, index); }

/* ---- lists of tensors ---- */

typedef const un_uop *(*join_fn)(un__graph *, const un_uop *const *, size_t, int);

static un_tensor *join(const char *what, join_fn f, un_ctx *cx, size_t n, un_tensor *const *parts, int axis) {
  un__call c;
  if (!un__api_open_cx(&c, what, cx)) return NULL;
  for (size_t i = 0; parts && i < n; i++)
    if (!parts[i]) return un__api_close(&c, NULL);
  UN__VEC(const un_uop *) nodes = {0};
  const un_uop *r = NULL;
  if (un__api_check(&c, parts, n)) {
    if (un__vec_reserve(&nodes, n)) {
      for (size_t i = 0; i < n; i++) nodes.at[nodes.n++] = parts[i]->node;
      r = f(c.g, nodes.at, n, axis);
    } else {
      un__fail(&cx->err, UN_ERR_NOMEM, "%s: no memory for a list", what);
    }
  }
  un__vec_finish(&nodes);
  return un__api_close(&c, r);
}

un_tensor *un_cat(un_ctx *cx, size_t n, un_tensor *const *parts, int axis) {
  return join("cat", un__tensor_cat, cx, n, parts, axis);
}
un_tensor *un_stack(un_ctx *cx, size_t n, un_tensor *const *parts, int axis) {
  return join("stack", un__tensor_stack, cx, n, parts, axis);
}

/* ---- assign ---- */

un_tensor *un_assign(un_tensor *dst, un_tensor *value) {
  un__call c;
  if (!un__api_open(&c, "assign", (un_tensor *[]){dst, value}, 2)) return NULL;
  const un_uop *node = un__tensor_assigned(c.g, "assign", dst->node, value->node);
  if (node) {
    un__handle_set(dst, node, false);
    dst->borrowed = NULL;
  }
  un__api_close_status(&c);
  return node ? dst : NULL;
}
