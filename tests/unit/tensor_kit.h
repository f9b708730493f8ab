/* tensor_kit.h - what the tests of src/tensor share: a workspace, inputs, and values through the interpreter. */
#ifndef UN_TESTS_TENSOR_KIT_H
#define UN_TESTS_TENSOR_KIT_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "interp/interp.h"
#include "tensor/tensor.h"

enum { KIT_INPUTS = 8, KIT_MAX = 4096 };

typedef struct kit {
  un__err err;
  un__graph *g;
  un__itensor in[KIT_INPUTS];
  uint32_t nin;
  double v[KIT_MAX];            /* the last evaluated values */
  un_dims dims;
  un_dtype dtype;
} kit;

static inline void kit_init(kit *k) {
  memset(k, 0, sizeof *k);
  k->g = un__workspace_create(&k->err);
  cr_assert(k->g);
}

/* Later inputs get the slots from 0 again; what was built from the old ones is not evaluated any more. */
static inline void kit_drop_inputs(kit *k) {
  for (uint32_t i = 0; i < k->nin; i++) un__free(k->in[i].data);
  k->nin = 0;
}

static inline void kit_finish(kit *k) {
  kit_drop_inputs(k);
  un__workspace_destroy(k->g);
}

#define D(...) (&(un_dims){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define SCALAR_SHAPE (&(un_dims){0})
#define EVERY (&(un_dims){.rank = UN_DIMS_ALL})

/* A BUFFER with these values. */
static inline const un_uop *kit_input(kit *k, un_dtype dtype, const un_dims *shape, const double *values) {
  cr_assert_lt(k->nin, KIT_INPUTS);
  un__itensor *t = &k->in[k->nin];
  *t = (un__itensor){.dtype = UN__DT(dtype), .rank = (uint32_t)shape->rank};
  const un_uop *dim[UN_MAX_RANK];
  int64_t n = un__tensor_count(shape);
  for (int i = 0; i < shape->rank; i++) {
    dim[i] = un__idx(k->g, shape->dim[i]);
    t->dim[i] = shape->dim[i];
  }
  size_t size = un_dtype_size(dtype);
  t->data = un__calloc((size_t)n + 1, size);
  for (int64_t i = 0; i < n; i++) {
    un__value v = un__dt_is_float(UN__DT(dtype)) ? un__value_f(UN__DT(dtype), values[i])
                                                 : un__value_i(UN__DT(dtype), (int64_t)values[i]);
    un__value_store(v, (char *)t->data + (size_t)i * size);
  }
  return un__uop(k->g, UN__OP_BUFFER, UN__DT(dtype), dim, (uint32_t)shape->rank, (int64_t[]){k->nin++, 0}, 2);
}
#define IN(k, dtype, shape, ...) kit_input((k), (dtype), (shape), (const double[]){__VA_ARGS__})

static inline double kit_double(un__value v) {
  return un__dt_is_float(v.dtype) ? v.f : v.dtype == UN__DT(UN_U64) ? (double)(uint64_t)v.i : (double)v.i;
}

/* Evaluates x into k->v. */
static inline void kit_eval(kit *k, const un_uop *x) {
  cr_assert(x, "no node: %s", k->err.text);
  un__itensor out = {0};
  un_status status = un__interp_tensor(&x, 1, k->in, k->nin, &out, &k->err);
  cr_assert_eq(status, UN_OK, "%s", k->err.text);
  k->dtype = un__dt_scalar(out.dtype);
  k->dims.rank = (int)out.rank;
  for (uint32_t i = 0; i < out.rank; i++) k->dims.dim[i] = out.dim[i];
  int64_t n = un__tensor_count(&k->dims);
  cr_assert(n <= KIT_MAX);
  for (int64_t i = 0; i < n; i++)
    k->v[i] = kit_double(un__value_load(out.dtype, (char *)out.data + (size_t)i * un_dtype_size(k->dtype)));
  un__free(out.data);
}

static inline bool kit_same(double a, double b, double tol) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (a == b) return tol > 0 || signbit(a) == signbit(b);
  return fabs(a - b) <= tol * (1 + fabs(b));
}

/* x has this dtype, this shape and these values; tol 0: the same, sign of zero too. */
static inline void kit_expect(kit *k, int line, const un_uop *x, un_dtype dtype, const un_dims *shape, double tol,
                              const double *want) {
  kit_eval(k, x);
  cr_expect_eq(k->dtype, dtype, "line %d: dtype %s, expected %s", line, un_dtype_name(k->dtype), un_dtype_name(dtype));
  cr_assert(un__tensor_same_dims(&k->dims, shape), "line %d: shape %s, expected %s", line, un__tensor_show(&k->dims).at,
            un__tensor_show(shape).at);
  for (int64_t i = 0; i < un__tensor_count(shape); i++)
    cr_expect(kit_same(k->v[i], want[i], tol), "line %d: element %d is %.17g, expected %.17g", line, (int)i, k->v[i],
              want[i]);
}
#define EXPECT(k, x, dtype, shape, ...)                                                                                \
  kit_expect((k), __LINE__, (x), (dtype), (shape), 0, (const double[]){__VA_ARGS__})
#define NEAR(k, x, dtype, shape, tol, ...)                                                                             \
  kit_expect((k), __LINE__, (x), (dtype), (shape), (tol), (const double[]){__VA_ARGS__})

/* The call failed with this status and a text that has `part`; the record is cleared. */
static inline void kit_fails(kit *k, int line, const un_uop *x, un_status status, const char *part) {
  cr_expect_null(x, "line %d: succeeded", line);
  cr_expect_eq(k->err.status, status, "line %d: status %d (%s), expected %d", line, k->err.status, k->err.text, status);
  cr_expect(strstr(k->err.text, part), "line %d: text \"%s\" lacks \"%s\"", line, k->err.text, part);
  un__err_clear(&k->err);
}
#define FAILS(k, x, status, part) kit_fails((k), __LINE__, (x), (status), (part))

#endif
