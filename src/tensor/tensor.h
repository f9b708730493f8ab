/* tensor.h - tensor calls as graphs: what each function of unir/tensor.h means in UOps (stage tensor).
 *
 * Works on nodes, in any graph; knows neither handles nor contexts. Every function returns NULL when a source is NULL
 * or the request is wrong; the first failure is in the graph's un__err with what was expected and what was given.
 * Shapes must be known numbers (no VAR). Contracts of the single functions: unir/tensor.h.
 *
 * What the graphs look like (docs/stages.md, tensor): operands of one ALU op have one dtype and one shape, brought
 * there by CAST, RESHAPE (1s in front) and EXPAND; a movement call that changes nothing gives its argument back. No
 * value is ever computed from an empty tensor: a reduction, padding or gather of one is its constant.
 */
#ifndef UN_TENSOR_TENSOR_H
#define UN_TENSOR_TENSOR_H

#ifndef UN_NO_HERE
#define UN_NO_HERE
#endif
#include <unir/tensor.h>

#include "base/number.h"
#include "uop/graph.h"

/* ---- shape.c: what the others stand on ---- */

enum { UN__SHAPE_TEXT = 16 * 21 + 3 };
typedef struct un__number_text { char at[UN__FLOAT_TEXT]; } un__number_text;
typedef struct un__shape_text { char at[UN__SHAPE_TEXT]; } un__shape_text;

un__shape_text un__tensor_show(const un_dims *d);                            /* "(4,8)" */
un__number_text un__tensor_number(double v);                                 /* shortest that reads back; "nan" */
const un_uop *un__tensor_fail(un__graph *g, un_status status, const char *fmt, ...) UN__PRINTF(3, 4);   /* NULL */

/* The shape of x as numbers. False: x is NULL, or has no shape or symbolic sizes (an error). */
bool un__tensor_dims(un__graph *g, const un_uop *x, un_dims *out);
/* A shape given by a caller: rank and sizes in range, number of elements at most INT64_MAX / 16. */
bool un__tensor_check_shape(un__graph *g, const char *what, const un_dims *d);
int64_t un__tensor_count(const un_dims *d);     /* of a checked shape */
bool un__tensor_same_dims(const un_dims *a, const un_dims *b);
/* One of the dtypes a tensor may have. */
bool un__tensor_check_dtype(un__graph *g, const char *what, un_dtype dtype);
/* axis in [-rank, rank) to [0, rank); extra counts axes that are still to come. */
bool un__tensor_axis(un__graph *g, const char *what, int64_t axis, int rank, int *out);
/* A list of axes as a set of bits. */
bool un__tensor_axes(un__graph *g, const char *what, const un_dims *axes, int rank, uint32_t *out);
/* The shape that all operands broadcast to. */
bool un__tensor_broadcast_dims(un__graph *g, const char *what, const un_dims *a, const un_dims *b, un_dims *out);
/* x repeated to that shape, which it must broadcast to. */
const un_uop *un__tensor_broadcast(un__graph *g, const char *what, const un_uop *x, const un_dims *to);
/* RESHAPE or EXPAND to sizes known to fit; x itself when it has them. */
const un_uop *un__tensor_view(un__graph *g, un__op op, const un_uop *x, const un_dims *to);
/* A CONST () spread over a shape. */
const un_uop *un__tensor_spread(un__graph *g, const un_uop *scalar, const un_dims *to);
static inline un_dtype un__tensor_dtype(const un_uop *x) { return un__dt_scalar(x->dtype); }

/* ---- create.c ---- */

const un_uop *un__tensor_full(un__graph *g, un_dtype dtype, const un_dims *shape, double value);
/* The same for calls of another name. */
const un_uop *un__tensor_filled(un__graph *g, const char *what, un_dtype dtype, const un_dims *shape, double value);
const un_uop *un__tensor_scalar_like(un__graph *g, const un_uop *like, double value);
const un_uop *un__tensor_literal(un__graph *g, const char *what, const un_uop *like, double value);
/* value of x's dtype, spread over x's shape; value must be exact in it. */
const un_uop *un__tensor_like(un__graph *g, const un_uop *x, double value);
const un_uop *un__tensor_arange(un__graph *g, un_dtype dtype, double start, double stop, double step);
const un_uop *un__tensor_eye(un__graph *g, un_dtype dtype, int64_t rows, int64_t columns);
/* 0, 1, .. along `axis` of the shape, dtype index or an integer dtype. */
const un_uop *un__tensor_iota(un__graph *g, un_dtype dtype, const un_dims *shape, int axis);

/* ---- alu.c, math.c: elementwise ---- */

#define UNARY(name) const un_uop *un__tensor_##name(un__graph *g, const un_uop *x);
#define BINARY(name) const un_uop *un__tensor_##name(un__graph *g, const un_uop *a, const un_uop *b);
#include "tensor.def"

const un_uop *un__tensor_where(un__graph *g, const un_uop *cond, const un_uop *a, const un_uop *b);
const un_uop *un__tensor_cast(un__graph *g, const un_uop *x, un_dtype dtype);
const un_uop *un__tensor_bitcast(un__graph *g, const un_uop *x, un_dtype dtype);
/* x as a float: itself, or bool and integers as f32. */
const un_uop *un__tensor_as_float(un__graph *g, const un_uop *x);
/* The dtype in which sums of `dtype` are kept: i32, u32 for the narrow ones, f32 for f16 and bf16. */
un_dtype un__tensor_accumulator(un_dtype dtype);

/* ---- movement.c, join.c ---- */

const un_uop *un__tensor_reshape(un__graph *g, const un_uop *x, const un_dims *shape);
const un_uop *un__tensor_flatten(un__graph *g, const un_uop *x, int first, int last);
const un_uop *un__tensor_squeeze(un__graph *g, const un_uop *x, int axis);
const un_uop *un__tensor_unsqueeze(un__graph *g, const un_uop *x, int axis);
const un_uop *un__tensor_permute(un__graph *g, const un_uop *x, const un_dims *order);
const un_uop *un__tensor_transpose(un__graph *g, const un_uop *x, int axis0, int axis1);
const un_uop *un__tensor_expand(un__graph *g, const un_uop *x, const un_dims *shape);
const un_uop *un__tensor_pad(un__graph *g, const un_uop *x, const un_dims *before, const un_dims *after);
const un_uop *un__tensor_pad_value(un__graph *g, const un_uop *x, const un_dims *before, const un_dims *after,
                                   double value);
const un_uop *un__tensor_shrink(un__graph *g, const un_uop *x, const un_dims *begin, const un_dims *end);
const un_uop *un__tensor_slice(un__graph *g, const un_uop *x, int axis, int64_t start, int64_t stop, int64_t step);
const un_uop *un__tensor_select(un__graph *g, const un_uop *x, int axis, int64_t i);
const un_uop *un__tensor_flip(un__graph *g, const un_uop *x, const un_dims *axes);
const un_uop *un__tensor_cat(un__graph *g, const un_uop *const *parts, size_t n, int axis);
const un_uop *un__tensor_stack(un__graph *g, const un_uop *const *parts, size_t n, int axis);

/* ---- reduce.c ---- */

const un_uop *un__tensor_sum(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_prod(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_max(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_min(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_mean(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_var(un__graph *g, const un_uop *x, const un_dims *axes, int ddof, bool keepdim);
const un_uop *un__tensor_std(un__graph *g, const un_uop *x, const un_dims *axes, int ddof, bool keepdim);
const un_uop *un__tensor_any(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_all(un__graph *g, const un_uop *x, const un_dims *axes, bool keepdim);
const un_uop *un__tensor_argmax(un__graph *g, const un_uop *x, int axis, bool keepdim);
const un_uop *un__tensor_argmin(un__graph *g, const un_uop *x, int axis, bool keepdim);

/* ---- layers.c, gather.c ---- */

const un_uop *un__tensor_matmul(un__graph *g, const un_uop *a, const un_uop *b);
const un_uop *un__tensor_softmax(un__graph *g, const un_uop *x, int axis);
const un_uop *un__tensor_log_softmax(un__graph *g, const un_uop *x, int axis);
const un_uop *un__tensor_layer_norm(un__graph *g, const un_uop *x, const un_dims *axes, double eps);
const un_uop *un__tensor_rms_norm(un__graph *g, const un_uop *x, const un_dims *axes, double eps);
const un_uop *un__tensor_gather(un__graph *g, const un_uop *x, int axis, const un_uop *index);
const un_uop *un__tensor_take(un__graph *g, const un_uop *x, int axis, const un_uop *index);
const un_uop *un__tensor_embedding(un__graph *g, const un_uop *table, const un_uop *index);
const un_uop *un__tensor_one_hot(un__graph *g, const un_uop *index, int64_t n, un_dtype dtype);

/* `value` in the shape and dtype of dst (un_assign). */
const un_uop *un__tensor_assigned(un__graph *g, const char *what, const un_uop *dst, const un_uop *value);

#endif
