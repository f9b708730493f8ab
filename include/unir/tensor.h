/* unir/tensor.h - lazy tensors: create, compute, look, realise.
 *
 * A tensor is an immutable description of a value; nothing runs before un_realize, un_read or un_item.
 *
 * What holds for every function here, unless its own text says otherwise:
 *
 *   result     a new handle that belongs to the innermost open scope of the context (unir/ctx.h); free it earlier with
 *              un_release, take it out of the scope with un_keep. Arguments are borrowed (UN_KEEP).
 *   failure    NULL, and the context keeps the first error: what was expected, what was given, file:line of the call.
 *              A NULL tensor argument gives NULL and leaves the error as it is, so a chain needs one check at its end.
 *   errors     CTX_MISMATCH (tensors of different contexts), SHAPE, DTYPE, INVALID_ARG, NOMEM; texts below name those
 *              that are special.
 *   axes       count from 0; negative ones from the end (-1 is the last).
 *   shapes     rank 0 to UN_MAX_RANK; dims of 0 are allowed; at most INT64_MAX / 16 elements.
 *   dtypes     operands of different dtypes are brought to one by the lattice of docs/dtypes.md. UN_VOID, UN_INDEX and
 *              the 8-bit floats are not dtypes of tensors.
 *   broadcast  NumPy's rule: shapes are aligned at the last axis; missing axes count as 1; an axis of size 1 is
 *              repeated; anything else must be equal.
 *   threads    one thread at a time for all handles of a context.
 *
 * Functions named below are ordinary exported functions. Macros of the same names (unir/here.h) add the caller's
 * file and line; define UN_NO_HERE before including to do without.
 */
#ifndef UNIR_TENSOR_H
#define UNIR_TENSOR_H

#include <stdbool.h>
#include <stdio.h>
#include <unir/ctx.h>
#include <unir/dtype.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { UN_MAX_RANK = 16 };

typedef struct un_tensor un_tensor;

/* ---- short lists of integers: shapes, axes, permutations, paddings --------------------------------------- */

/* A small value type. rank is the number of entries used, or one of the marks below; written by the macros. */
typedef struct un_dims {
  int rank;
  int64_t dim[UN_MAX_RANK];
} un_dims;

enum {
  UN_DIMS_ALL = -1,     /* un_every_axis() */
  UN_DIMS_BAD = -2      /* too many entries, or un_shape's count was wrong; every function refuses it */
};

/* What the macros call: `values` has n entries; counted says that values[0] is the number of those that follow. */
UN_API un_dims un_dims_of(const int64_t *values, size_t n, bool counted);
/* All axes of the tensor it is used with. */
UN_API un_dims un_every_axis(void);

/* un_shape(2, 64, 784) is the shape (64, 784); un_shape(0) is that of a scalar. un_list(0, -1) is a list of axes, a
 * permutation or paddings. Entries may have any integer type. */
#ifndef __cplusplus
#define UN__INTS(...) ((const int64_t[]){__VA_ARGS__})
#define un_shape(...) un_dims_of(UN__INTS(__VA_ARGS__), sizeof UN__INTS(__VA_ARGS__) / sizeof(int64_t), true)
#define un_list(...) un_dims_of(UN__INTS(__VA_ARGS__), sizeof UN__INTS(__VA_ARGS__) / sizeof(int64_t), false)
#endif

/* ---- handles --------------------------------------------------------------------------------------------- */

/* Takes `t` out of its scope: it lives until un_release or the end of the context. Returns t; a second call changes
 * nothing. */
UN_API un_tensor *un_keep(UN_KEEP un_tensor *t);
/* Frees the handle at once, whichever scope it is in. NULL is allowed. The value lives on while others use it. */
UN_API void un_release(UN_TAKE un_tensor *t);

/* What is known before anything runs. For a NULL tensor: UN_VOID, -1, -1, rank UN_DIMS_BAD, NULL. un_dim counts axes
 * like everything here; an axis that does not exist gives -1. */
UN_API un_dtype un_dtype_of(const un_tensor *t);
UN_API int un_rank(const un_tensor *t);
UN_API int64_t un_dim(const un_tensor *t, int axis);
UN_API int64_t un_numel(const un_tensor *t);
UN_API un_dims un_shape_of(const un_tensor *t);
UN_API UN_KEEP un_ctx *un_ctx_of(const un_tensor *t);

/* ---- create ---------------------------------------------------------------------------------------------- */

/* Row-major elements in the host's byte order, copied. data may be NULL when there are no elements. A byte of bool that
 * is not 0 counts as true; in un_wrap_data it must be 1. Errors: INVALID_ARG (data is NULL), NOMEM, DEVICE. */
UN_API un_tensor *un_from_data(un_ctx *cx, un_dtype dtype, un_dims shape, const void *data);

/* The same without a copy: the memory is the caller's and must stay, unchanged, until the context is destroyed or every
 * tensor built from it has been released. After changing it call un_touch. Errors also: INVALID_ARG (data is not aligned to
 * the size of an element). */
UN_API un_tensor *un_wrap_data(un_ctx *cx, un_dtype dtype, un_dims shape, const void *data);

/* The memory behind `t` (made by un_wrap_data) has changed: later uses of the handle see the new content. Tensors built
 * from it before and not yet realised see either, each part of them for itself: what was stored before stays as it was.
 * Errors: INVALID_ARG (t does not borrow). */
UN_API un_status un_touch(un_tensor *t);

/* Every element is `value`, rounded to the dtype. Errors: DTYPE (an integer dtype that cannot hold the value). */
UN_API un_tensor *un_full(un_ctx *cx, un_dtype dtype, un_dims shape, double value);
UN_API un_tensor *un_zeros(un_ctx *cx, un_dtype dtype, un_dims shape);
UN_API un_tensor *un_ones(un_ctx *cx, un_dtype dtype, un_dims shape);
/* Shape (). */
UN_API un_tensor *un_scalar(un_ctx *cx, un_dtype dtype, double value);
/* Shape (), with the dtype that a literal has beside x: the dtype of x when it holds the value (bool: i32),
 * f32 for a fraction beside integers. Errors: DTYPE (an integer that the dtype of x cannot hold). */
UN_API un_tensor *un_scalar_like(un_tensor *x, double value);

/* start, start + step, ... before stop: ceil((stop - start) / step) elements, none if that is negative. Integer dtypes
 * need integer start and step. Element i is computed as start + i * step. Errors: INVALID_ARG (step is 0, a value is
 * not finite), DTYPE (bool; values that the dtype cannot hold), SHAPE (too many). */
UN_API un_tensor *un_arange(un_ctx *cx, un_dtype dtype, double start, double stop, double step);

/* (rows, columns) with ones where row == column. */
UN_API un_tensor *un_eye(un_ctx *cx, un_dtype dtype, int64_t rows, int64_t columns);

/* ---- elementwise: one operand ---------------------------------------------------------------------------- */

/* -x. Integers wrap. Errors: DTYPE (bool: use un_not). */
UN_API un_tensor *un_neg(un_tensor *x);
/* Absolute value, exact, also of -0 and NaN. MIN of a signed dtype stays MIN. */
UN_API un_tensor *un_abs(un_tensor *x);
/* -1, 0 or 1 in the dtype of x; zeros and NaN are given back as they are. */
UN_API un_tensor *un_sign(un_tensor *x);
/* x * x. */
UN_API un_tensor *un_square(un_tensor *x);
/* max(x, 0); NaN stays NaN. */
UN_API un_tensor *un_relu(un_tensor *x);
/* Bitwise complement; logical on bool. Errors: DTYPE (floats). */
UN_API un_tensor *un_not(un_tensor *x);
/* Rounding to an integer: towards zero, down, up, to nearest with ties to even. Integers are given back as they are. */
UN_API un_tensor *un_trunc(un_tensor *x);
UN_API un_tensor *un_floor(un_tensor *x);
UN_API un_tensor *un_ceil(un_tensor *x);
UN_API un_tensor *un_round(un_tensor *x);
/* True where x is NaN. Integers: false. */
UN_API un_tensor *un_isnan(un_tensor *x);

/* The following take bool and integers as f32. sqrt is correctly rounded; exp, exp2, log, log2, sin, cos and tanh are
 * within 2 ULP in f32; docs/numerics.md has the measured bounds of all. f16 and bf16 in functions composed of several steps are computed in f32 and rounded once. */
UN_API un_tensor *un_recip(un_tensor *x);      /* 1 / x */
UN_API un_tensor *un_sqrt(un_tensor *x);
UN_API un_tensor *un_rsqrt(un_tensor *x);      /* 1 / sqrt(x) */
UN_API un_tensor *un_exp(un_tensor *x);
UN_API un_tensor *un_exp2(un_tensor *x);
UN_API un_tensor *un_log(un_tensor *x);
UN_API un_tensor *un_log2(un_tensor *x);
UN_API un_tensor *un_sin(un_tensor *x);
UN_API un_tensor *un_cos(un_tensor *x);
UN_API un_tensor *un_tan(un_tensor *x);        /* sin x / cos x */
UN_API un_tensor *un_sigmoid(un_tensor *x);    /* 1 / (1 + exp(-x)) */
UN_API un_tensor *un_tanh(un_tensor *x);
/* Rational approximations on |x| < 1 and above (Cephes): a few ULP. */
UN_API un_tensor *un_erf(un_tensor *x);
UN_API un_tensor *un_silu(un_tensor *x);       /* x * sigmoid(x); NaN at -inf */
UN_API un_tensor *un_gelu(un_tensor *x);       /* x/2 * (1 + erf(x / sqrt 2)) */
UN_API un_tensor *un_gelu_tanh(un_tensor *x);  /* x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))) */

/* ---- elementwise: two operands, broadcast and promoted --------------------------------------------------- */

/* Integers wrap; bool counts as i32. */
UN_API un_tensor *un_add(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_sub(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_mul(un_tensor *a, un_tensor *b);
/* Floating division; bool and integers are taken as f32. */
UN_API un_tensor *un_div(un_tensor *a, un_tensor *b);
/* Integer division: floor and the remainder with the sign of b; towards zero and the remainder with the sign of a.
 * x / 0 is 0 and x mod 0 is x. Errors: DTYPE (floats: use un_floor(un_div(a, b))). */
UN_API un_tensor *un_floordiv(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_floormod(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_truncdiv(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_truncmod(un_tensor *a, un_tensor *b);
/* a to the power b. Floats: within 4 ULP, special values as C's pow. Integers (bool as i32): exact modulo 2^bits; a
 * negative exponent gives 1 / a^|b| towards zero, so 0 unless a is 1 or -1. */
UN_API un_tensor *un_pow(un_tensor *a, un_tensor *b);
/* The larger, the smaller; NaN if either is NaN. */
UN_API un_tensor *un_maximum(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_minimum(un_tensor *a, un_tensor *b);
/* Bitwise; logical on bool. Errors: DTYPE (floats). */
UN_API un_tensor *un_and(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_or(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_xor(un_tensor *a, un_tensor *b);
/* a << b and a >> b (arithmetic on signed); a count outside [0, bits) shifts everything out. The count takes the dtype
 * of a. Errors: DTYPE (bool, floats). */
UN_API un_tensor *un_shl(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_shr(un_tensor *a, un_tensor *b);
/* Comparisons: bool. NaN is unequal to everything and not in any order. */
UN_API un_tensor *un_lt(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_le(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_gt(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_ge(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_eq(un_tensor *a, un_tensor *b);
UN_API un_tensor *un_ne(un_tensor *a, un_tensor *b);

/* The same with a literal on the right: un_muls(x, 0.5) is un_mul(x, un_scalar_like(x, 0.5)). The literal is part of the
 * program: another value is another kernel, so a number that changes from round to round belongs in a tensor. A double
 * holds integers up to 2^53 exactly; larger ones too belong in a tensor of their dtype. */
UN_API un_tensor *un_adds(un_tensor *a, double b);
UN_API un_tensor *un_subs(un_tensor *a, double b);
UN_API un_tensor *un_muls(un_tensor *a, double b);
UN_API un_tensor *un_divs(un_tensor *a, double b);
UN_API un_tensor *un_floordivs(un_tensor *a, double b);
UN_API un_tensor *un_floormods(un_tensor *a, double b);
UN_API un_tensor *un_truncdivs(un_tensor *a, double b);
UN_API un_tensor *un_truncmods(un_tensor *a, double b);
UN_API un_tensor *un_pows(un_tensor *a, double b);
UN_API un_tensor *un_maximums(un_tensor *a, double b);
UN_API un_tensor *un_minimums(un_tensor *a, double b);
UN_API un_tensor *un_ands(un_tensor *a, double b);
UN_API un_tensor *un_ors(un_tensor *a, double b);
UN_API un_tensor *un_xors(un_tensor *a, double b);
UN_API un_tensor *un_shls(un_tensor *a, double b);
UN_API un_tensor *un_shrs(un_tensor *a, double b);
UN_API un_tensor *un_lts(un_tensor *a, double b);
UN_API un_tensor *un_les(un_tensor *a, double b);
UN_API un_tensor *un_gts(un_tensor *a, double b);
UN_API un_tensor *un_ges(un_tensor *a, double b);
UN_API un_tensor *un_eqs(un_tensor *a, double b);
UN_API un_tensor *un_nes(un_tensor *a, double b);

/* a where cond is true (not zero), else b. All three are broadcast; a and b are promoted. */
UN_API un_tensor *un_where(un_tensor *cond, un_tensor *a, un_tensor *b);

/* Value conversion: to float nearest-even, float to integer towards zero and saturating (NaN to 0), integer to narrower
 * integer modulo 2^bits, to bool x != 0. Gives x a new handle when it has that dtype. */
UN_API un_tensor *un_cast(un_tensor *x, un_dtype dtype);
/* The same bits. Errors: DTYPE (other element size; to bool). */
UN_API un_tensor *un_bitcast(un_tensor *x, un_dtype dtype);

/* ---- movement: no data moves ----------------------------------------------------------------------------- */

/* The same elements in row-major order; one dim may be -1: whatever is left. */
UN_API un_tensor *un_reshape(un_tensor *x, un_dims shape);
/* One axis from axes [first, last]. A scalar becomes shape (1). */
UN_API un_tensor *un_flatten(un_tensor *x, int first, int last);
/* Drops an axis of size 1; adds one, so that `axis` is its place in the result. */
UN_API un_tensor *un_squeeze(un_tensor *x, int axis);
UN_API un_tensor *un_unsqueeze(un_tensor *x, int axis);
/* Axis i of the result is axis order[i] of x. */
UN_API un_tensor *un_permute(un_tensor *x, un_dims order);
/* Two axes change places. */
UN_API un_tensor *un_transpose(un_tensor *x, int axis0, int axis1);
/* Broadcasts x to `shape`; -1 keeps an axis as it is. */
UN_API un_tensor *un_expand(un_tensor *x, un_dims shape);
/* before[i] and after[i] elements of `value` around axis i; both lists have rank entries >= 0. un_pad puts zeros
 * (false). */
UN_API un_tensor *un_pad(un_tensor *x, un_dims before, un_dims after);
UN_API un_tensor *un_pad_value(un_tensor *x, un_dims before, un_dims after, double value);
/* The box begin[i] <= index < end[i]. */
UN_API un_tensor *un_shrink(un_tensor *x, un_dims begin, un_dims end);
/* x[start:stop:step] of Python on one axis: negative positions count from the end, positions outside are clipped,
 * UN_OPEN leaves a bound out. Errors: INVALID_ARG (step is 0). */
#define UN_OPEN INT64_MIN
UN_API un_tensor *un_slice(un_tensor *x, int axis, int64_t start, int64_t stop, int64_t step);
/* x[i] on one axis, which is dropped. i counts from the end when negative. Errors: SHAPE (no such element). */
UN_API un_tensor *un_select(un_tensor *x, int axis, int64_t i);
/* The listed axes backwards. */
UN_API un_tensor *un_flip(un_tensor *x, un_dims axes);
/* Joined along an axis they have; stacked along a new one at place `axis`. n >= 1; promoted to one dtype; every bit
 * of every element is kept. A NULL among the parts gives NULL. */
UN_API un_tensor *un_cat(un_ctx *cx, size_t n, un_tensor *const *parts, int axis);
UN_API un_tensor *un_stack(un_ctx *cx, size_t n, un_tensor *const *parts, int axis);

/* ---- reductions: over the listed axes, or un_every_axis() ------------------------------------------------ */

/* keepdim leaves the reduced axes in place with size 1. Sum and product of bool, i8 and i16 are i32, of u8 and u16 u32;
 * f16 and bf16 are accumulated in f32. The sum of nothing is 0, the product 1. The order of combination is free
 * (precise). */
UN_API un_tensor *un_sum(un_tensor *x, un_dims axes, bool keepdim);
UN_API un_tensor *un_prod(un_tensor *x, un_dims axes, bool keepdim);
/* The extremes; NaN if any is NaN. Errors: SHAPE (of no elements). */
UN_API un_tensor *un_max(un_tensor *x, un_dims axes, bool keepdim);
UN_API un_tensor *un_min(un_tensor *x, un_dims axes, bool keepdim);
/* Sum divided by the count; integers as f32; NaN for no elements. */
UN_API un_tensor *un_mean(un_tensor *x, un_dims axes, bool keepdim);
/* Mean of (x - mean)^2, divided by count - ddof instead of count (ddof 1: sample variance); its square root.
 * inf or NaN when the count is not larger than ddof. Errors: INVALID_ARG (ddof < 0). */
UN_API un_tensor *un_var(un_tensor *x, un_dims axes, int ddof, bool keepdim);
UN_API un_tensor *un_std(un_tensor *x, un_dims axes, int ddof, bool keepdim);
/* bool: some, every element is not zero (NaN is not zero). Of nothing: false, true. */
UN_API un_tensor *un_any(un_tensor *x, un_dims axes, bool keepdim);
UN_API un_tensor *un_all(un_tensor *x, un_dims axes, bool keepdim);
/* i32: index of the first largest, smallest element on the axis; the first NaN if there is one.
 * Errors: SHAPE (axis of no elements), UNSUPPORTED (more than INT32_MAX on the axis). */
UN_API un_tensor *un_argmax(un_tensor *x, int axis, bool keepdim);
UN_API un_tensor *un_argmin(un_tensor *x, int axis, bool keepdim);

/* ---- products and layers --------------------------------------------------------------------------------- */

/* NumPy's matmul: (.., m, k) x (.., k, n) -> (.., m, n), leading axes broadcast; a 1-D operand is a row on the left, a
 * column on the right, and its axis is dropped. The result dtype is that of un_sum over the promoted products; f16 and
 * bf16 are multiplied and accumulated in f32. Errors: SHAPE (rank 0, inner dims differ), UNSUPPORTED (more than 15
 * axes). */
UN_API un_tensor *un_matmul(un_tensor *a, un_tensor *b);

/* e * (1 / sum(e)) with e = exp(x - max x), on one axis; integers as f32. A slice of -inf only gives NaN. */
UN_API un_tensor *un_softmax(un_tensor *x, int axis);
/* (x - max x) - log(sum(exp(x - max x))). */
UN_API un_tensor *un_log_softmax(un_tensor *x, int axis);
/* (x - mean) / sqrt(var + eps) over the axes together, var with ddof 0. Multiply and add weight and bias yourself. */
UN_API un_tensor *un_layer_norm(un_tensor *x, un_dims axes, double eps);
/* x / sqrt(mean(x^2) + eps). */
UN_API un_tensor *un_rms_norm(un_tensor *x, un_dims axes, double eps);

/* ---- by index -------------------------------------------------------------------------------------------- */

/* An index outside [0, size of the axis), negative ones included, gives 0; so does every index into an axis of no
 * elements. Index tensors have any integer dtype and, of no elements, give none.
 *
 * result[i][j][k] = x[i][index[i][j][k]][k] for axis 1, and so on. index has the rank of x and is nowhere larger than
 * x except on `axis`. */
UN_API un_tensor *un_gather(un_tensor *x, int axis, un_tensor *index);
/* x with its axis replaced by the axes of index: NumPy's take. */
UN_API un_tensor *un_take(un_tensor *x, int axis, un_tensor *index);
/* un_take on axis 0: rows of a table. */
UN_API un_tensor *un_embedding(un_tensor *table, un_tensor *index);
/* A new last axis of n elements: 1 where it equals x (integers), else 0. */
UN_API un_tensor *un_one_hot(un_tensor *x, int64_t n, un_dtype dtype);

/* ---- structure ------------------------------------------------------------------------------------------- */

/* The same values; asks that they are stored once, in row-major order. Where they are stored like that already nothing is
 * copied: of borrowed memory it is that memory. */
UN_API un_tensor *un_contiguous(un_tensor *x);
/* The same values; no gradient passes. */
UN_API un_tensor *un_detach(un_tensor *x);

/* From now on the handle dst means `value` (broadcast to its shape, converted to its dtype). Functional: what was built
 * from dst before, views too, keeps the old value; nothing is overwritten while anyone can see it. Returns dst.
 * Errors: SHAPE (does not broadcast), DTYPE (dst's dtype does not hold value's: cast first). */
UN_API un_tensor *un_assign(un_tensor *dst, un_tensor *value);

/* ---- run ------------------------------------------------------------------------------------------------- */

/* Computes n tensors in one schedule; their handles then stand for stored data. What another handle has stored already
 * (docs/ownership.md) is read, not computed again. Errors also: DEVICE, COMPILE, FUEL,
 * INTERNAL. NULL entries: INVALID_ARG. n may be 0, and a tensor may be listed twice. After an error every handle still stands
 * for its expression. */
UN_API un_status un_realize(un_ctx *cx, size_t n, un_tensor *const *tensors);

/* Realises t and copies its elements, row-major. Errors also: INVALID_ARG (t or dst is NULL; size is not exactly
 * un_numel(t) * un_dtype_size(...)). */
UN_API un_status un_read(un_tensor *t, void *dst, size_t size);

/* Realises x and copies it: a tensor with data that no other shares. Tensors of the same expression are the same stored data; the
 * inputs and states of a program (unir/program.h) that begin alike must not be. Errors as of un_realize. */
UN_API un_tensor *un_clone(un_tensor *x);

/* x on another device (unir/device.h), which is opened if it is not yet. Lazy: the copy is made when something that needs it
 * is realised. What is computed from it is computed there; operands of one call must be on one device, which is found out when it is
 * realised (DEVICE). Errors also: INVALID_ARG (device is NULL), DEVICE (as of un_ctx_create). */
UN_API un_tensor *un_to(un_tensor *x, const char *device);

/* The value of a tensor with one element, converted. Errors also: SHAPE (not one element). */
UN_API un_status un_item(un_tensor *t, double *out);

typedef enum un_stage {
  UN_STAGE_TENSOR = 0,      /* what the calls above built */
  UN_STAGE_SCHEDULE = 1,    /* kernels and what they are given */
  UN_STAGE_KERNEL = 2,      /* loops, memory accesses */
  UN_STAGE_OPT = 3,         /* loops split and typed */
  UN_STAGE_LINEAR = 4,      /* a list of instructions */
  UN_STAGE_SOURCE = 5,      /* what the compiler is given */
  UN_STAGE_ASM = 6          /* what it made */
} un_stage;

#ifdef __cplusplus
}

/* The macros of C as functions: entries of any integer type that fits. */
template <class... T> inline un_dims un_dims_cxx(bool shape, T... v) {
  const int64_t entry[] = {static_cast<int64_t>(v)..., 0};
  return un_dims_of(entry, sizeof...(v), shape);
}
template <class... T> inline un_dims un_shape(T... v) { return un_dims_cxx(true, v...); }
template <class... T> inline un_dims un_list(T... v) { return un_dims_cxx(false, v...); }
#endif

#include <unir/here.h>

#endif
