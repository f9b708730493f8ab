/* unir/here.h - the caller's file and line, for error texts and for un_origin.
 *
 * Each macro has the name of the function it calls and passes its first argument through un_at (tensors) or un_ctx_at
 * (contexts), which note the place in the context. The call takes the note of its own first argument, so nested calls
 * in whatever order the compiler evaluates them keep their lines. An argument is evaluated once; `&un_add` and
 * `(un_add)(a, b)` are the plain function, without a place.
 *
 * Included by unir/tensor.h; unir/text.h has its own. Define UN_NO_HERE before including to have no macros.
 */
#ifndef UNIR_HERE_H
#define UNIR_HERE_H

#include <unir/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Notes where the next call with this first argument is made and returns the argument. `file` must outlive the context.
 * Bindings may call these with places of their own. NULL is passed through. */
UN_API un_tensor *un_at(un_tensor *first, const char *file, int line);
UN_API un_ctx *un_ctx_at(un_ctx *first, const char *file, int line);

#ifdef __cplusplus
}
#endif

#ifndef UN_NO_HERE

#define UN__AT(t) un_at((t), __FILE__, __LINE__)
#define UN__CX(cx) un_ctx_at((cx), __FILE__, __LINE__)

#define un_from_data(cx, ...) un_from_data(UN__CX(cx), __VA_ARGS__)
#define un_wrap_data(cx, ...) un_wrap_data(UN__CX(cx), __VA_ARGS__)
#define un_full(cx, ...) un_full(UN__CX(cx), __VA_ARGS__)
#define un_zeros(cx, ...) un_zeros(UN__CX(cx), __VA_ARGS__)
#define un_ones(cx, ...) un_ones(UN__CX(cx), __VA_ARGS__)
#define un_scalar(cx, ...) un_scalar(UN__CX(cx), __VA_ARGS__)
#define un_arange(cx, ...) un_arange(UN__CX(cx), __VA_ARGS__)
#define un_eye(cx, ...) un_eye(UN__CX(cx), __VA_ARGS__)
#define un_cat(cx, ...) un_cat(UN__CX(cx), __VA_ARGS__)
#define un_stack(cx, ...) un_stack(UN__CX(cx), __VA_ARGS__)
#define un_realize(cx, ...) un_realize(UN__CX(cx), __VA_ARGS__)

#define un_touch(x) un_touch(UN__AT(x))
#define un_neg(x) un_neg(UN__AT(x))
#define un_abs(x) un_abs(UN__AT(x))
#define un_sign(x) un_sign(UN__AT(x))
#define un_square(x) un_square(UN__AT(x))
#define un_relu(x) un_relu(UN__AT(x))
#define un_not(x) un_not(UN__AT(x))
#define un_trunc(x) un_trunc(UN__AT(x))
#define un_floor(x) un_floor(UN__AT(x))
#define un_ceil(x) un_ceil(UN__AT(x))
#define un_round(x) un_round(UN__AT(x))
#define un_isnan(x) un_isnan(UN__AT(x))
#define un_recip(x) un_recip(UN__AT(x))
#define un_sqrt(x) un_sqrt(UN__AT(x))
#define un_rsqrt(x) un_rsqrt(UN__AT(x))
#define un_exp(x) un_exp(UN__AT(x))
#define un_exp2(x) un_exp2(UN__AT(x))
#define un_log(x) un_log(UN__AT(x))
#define un_log2(x) un_log2(UN__AT(x))
#define un_sin(x) un_sin(UN__AT(x))
#define un_cos(x) un_cos(UN__AT(x))
#define un_tan(x) un_tan(UN__AT(x))
#define un_sigmoid(x) un_sigmoid(UN__AT(x))
#define un_tanh(x) un_tanh(UN__AT(x))
#define un_erf(x) un_erf(UN__AT(x))
#define un_silu(x) un_silu(UN__AT(x))
#define un_gelu(x) un_gelu(UN__AT(x))
#define un_gelu_tanh(x) un_gelu_tanh(UN__AT(x))
#define un_contiguous(x) un_contiguous(UN__AT(x))
#define un_clone(x) un_clone(UN__AT(x))
#define un_to(x, device) un_to(UN__AT(x), device)
#define un_detach(x) un_detach(UN__AT(x))

#define un_add(x, ...) un_add(UN__AT(x), __VA_ARGS__)
#define un_sub(x, ...) un_sub(UN__AT(x), __VA_ARGS__)
#define un_mul(x, ...) un_mul(UN__AT(x), __VA_ARGS__)
#define un_div(x, ...) un_div(UN__AT(x), __VA_ARGS__)
#define un_floordiv(x, ...) un_floordiv(UN__AT(x), __VA_ARGS__)
#define un_floormod(x, ...) un_floormod(UN__AT(x), __VA_ARGS__)
#define un_truncdiv(x, ...) un_truncdiv(UN__AT(x), __VA_ARGS__)
#define un_truncmod(x, ...) un_truncmod(UN__AT(x), __VA_ARGS__)
#define un_pow(x, ...) un_pow(UN__AT(x), __VA_ARGS__)
#define un_maximum(x, ...) un_maximum(UN__AT(x), __VA_ARGS__)
#define un_minimum(x, ...) un_minimum(UN__AT(x), __VA_ARGS__)
#define un_and(x, ...) un_and(UN__AT(x), __VA_ARGS__)
#define un_or(x, ...) un_or(UN__AT(x), __VA_ARGS__)
#define un_xor(x, ...) un_xor(UN__AT(x), __VA_ARGS__)
#define un_shl(x, ...) un_shl(UN__AT(x), __VA_ARGS__)
#define un_shr(x, ...) un_shr(UN__AT(x), __VA_ARGS__)
#define un_lt(x, ...) un_lt(UN__AT(x), __VA_ARGS__)
#define un_le(x, ...) un_le(UN__AT(x), __VA_ARGS__)
#define un_gt(x, ...) un_gt(UN__AT(x), __VA_ARGS__)
#define un_ge(x, ...) un_ge(UN__AT(x), __VA_ARGS__)
#define un_eq(x, ...) un_eq(UN__AT(x), __VA_ARGS__)
#define un_ne(x, ...) un_ne(UN__AT(x), __VA_ARGS__)
#define un_adds(x, ...) un_adds(UN__AT(x), __VA_ARGS__)
#define un_subs(x, ...) un_subs(UN__AT(x), __VA_ARGS__)
#define un_muls(x, ...) un_muls(UN__AT(x), __VA_ARGS__)
#define un_divs(x, ...) un_divs(UN__AT(x), __VA_ARGS__)
#define un_floordivs(x, ...) un_floordivs(UN__AT(x), __VA_ARGS__)
#define un_floormods(x, ...) un_floormods(UN__AT(x), __VA_ARGS__)
#define un_truncdivs(x, ...) un_truncdivs(UN__AT(x), __VA_ARGS__)
#define un_truncmods(x, ...) un_truncmods(UN__AT(x), __VA_ARGS__)
#define un_pows(x, ...) un_pows(UN__AT(x), __VA_ARGS__)
#define un_maximums(x, ...) un_maximums(UN__AT(x), __VA_ARGS__)
#define un_minimums(x, ...) un_minimums(UN__AT(x), __VA_ARGS__)
#define un_ands(x, ...) un_ands(UN__AT(x), __VA_ARGS__)
#define un_ors(x, ...) un_ors(UN__AT(x), __VA_ARGS__)
#define un_xors(x, ...) un_xors(UN__AT(x), __VA_ARGS__)
#define un_shls(x, ...) un_shls(UN__AT(x), __VA_ARGS__)
#define un_shrs(x, ...) un_shrs(UN__AT(x), __VA_ARGS__)
#define un_lts(x, ...) un_lts(UN__AT(x), __VA_ARGS__)
#define un_les(x, ...) un_les(UN__AT(x), __VA_ARGS__)
#define un_gts(x, ...) un_gts(UN__AT(x), __VA_ARGS__)
#define un_ges(x, ...) un_ges(UN__AT(x), __VA_ARGS__)
#define un_eqs(x, ...) un_eqs(UN__AT(x), __VA_ARGS__)
#define un_nes(x, ...) un_nes(UN__AT(x), __VA_ARGS__)

#define un_scalar_like(x, ...) un_scalar_like(UN__AT(x), __VA_ARGS__)
#define un_where(x, ...) un_where(UN__AT(x), __VA_ARGS__)
#define un_cast(x, ...) un_cast(UN__AT(x), __VA_ARGS__)
#define un_bitcast(x, ...) un_bitcast(UN__AT(x), __VA_ARGS__)
#define un_reshape(x, ...) un_reshape(UN__AT(x), __VA_ARGS__)
#define un_flatten(x, ...) un_flatten(UN__AT(x), __VA_ARGS__)
#define un_squeeze(x, ...) un_squeeze(UN__AT(x), __VA_ARGS__)
#define un_unsqueeze(x, ...) un_unsqueeze(UN__AT(x), __VA_ARGS__)
#define un_permute(x, ...) un_permute(UN__AT(x), __VA_ARGS__)
#define un_transpose(x, ...) un_transpose(UN__AT(x), __VA_ARGS__)
#define un_expand(x, ...) un_expand(UN__AT(x), __VA_ARGS__)
#define un_pad(x, ...) un_pad(UN__AT(x), __VA_ARGS__)
#define un_pad_value(x, ...) un_pad_value(UN__AT(x), __VA_ARGS__)
#define un_shrink(x, ...) un_shrink(UN__AT(x), __VA_ARGS__)
#define un_slice(x, ...) un_slice(UN__AT(x), __VA_ARGS__)
#define un_select(x, ...) un_select(UN__AT(x), __VA_ARGS__)
#define un_flip(x, ...) un_flip(UN__AT(x), __VA_ARGS__)
#define un_sum(x, ...) un_sum(UN__AT(x), __VA_ARGS__)
#define un_prod(x, ...) un_prod(UN__AT(x), __VA_ARGS__)
#define un_max(x, ...) un_max(UN__AT(x), __VA_ARGS__)
#define un_min(x, ...) un_min(UN__AT(x), __VA_ARGS__)
#define un_mean(x, ...) un_mean(UN__AT(x), __VA_ARGS__)
#define un_var(x, ...) un_var(UN__AT(x), __VA_ARGS__)
#define un_std(x, ...) un_std(UN__AT(x), __VA_ARGS__)
#define un_any(x, ...) un_any(UN__AT(x), __VA_ARGS__)
#define un_all(x, ...) un_all(UN__AT(x), __VA_ARGS__)
#define un_argmax(x, ...) un_argmax(UN__AT(x), __VA_ARGS__)
#define un_argmin(x, ...) un_argmin(UN__AT(x), __VA_ARGS__)
#define un_matmul(x, ...) un_matmul(UN__AT(x), __VA_ARGS__)
#define un_softmax(x, ...) un_softmax(UN__AT(x), __VA_ARGS__)
#define un_log_softmax(x, ...) un_log_softmax(UN__AT(x), __VA_ARGS__)
#define un_layer_norm(x, ...) un_layer_norm(UN__AT(x), __VA_ARGS__)
#define un_rms_norm(x, ...) un_rms_norm(UN__AT(x), __VA_ARGS__)
#define un_gather(x, ...) un_gather(UN__AT(x), __VA_ARGS__)
#define un_take(x, ...) un_take(UN__AT(x), __VA_ARGS__)
#define un_embedding(x, ...) un_embedding(UN__AT(x), __VA_ARGS__)
#define un_one_hot(x, ...) un_one_hot(UN__AT(x), __VA_ARGS__)
#define un_assign(x, ...) un_assign(UN__AT(x), __VA_ARGS__)
#define un_read(x, ...) un_read(UN__AT(x), __VA_ARGS__)
#define un_item(x, ...) un_item(UN__AT(x), __VA_ARGS__)

#endif
#endif
