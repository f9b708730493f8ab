/* rangeify_kernels.c - how many kernels a tensor program becomes, and that they compute what the program says: every case
 * is scheduled, each kernel verified, run by the interpreter and compared with the interpreter's answer for the tensors. */
#include "rangeify_build.h"

/* ---- elementwise and movement ---- */

static T chain(void) {
  T x = f32(S_(4, 6)), y = f32(S_(6));
  return relu(mul(add(x, y), num(0.5)));
}
static T chain_moved(void) {
  T x = f32(S_(4, 6)), y = f32(S_(4, 6));
  T a = permute(add(x, y), S_(1, 0));
  return reshape(mul(flip(a, 1), num(3)), S_(2, 12));
}
static T transpose(void) { return permute(f32(S_(5, 7)), S_(1, 0)); }
static T reshape_of_permute(void) { return reshape(permute(f32(S_(4, 6, 2)), S_(2, 0, 1)), S_(6, 8)); }
static T split_merge(void) { return op1(UN__OP_NEG, reshape(reshape(permute(f32(S_(4, 6)), S_(1, 0)), S_(2, 3, 4)), S_(3, 8))); }
static T pad_shrink(void) { return shrink(pad(f32(S_(4, 3)), S_(1, 2), S_(2, 0)), S_(1, 1), S_(6, 4)); }
static T pad_of_exp(void) { return pad(op1(UN__OP_EXP, f32(S_(4))), S_(2), S_(3)); }
static T pad_bool(void) { return pad(op2(UN__OP_LT, f32(S_(5)), num(0)), S_(1), S_(1)); }
static T pad_twice(void) {
  T x = f32(S_(3, 3));
  return pad(add(pad(x, S_(1, 0), S_(0, 1)), num(1)), S_(0, 2), S_(2, 0));
}
static T flip_shrink_chain(void) { return flip(shrink(flip(f32(S_(8, 5)), 3), S_(2, 1), S_(7, 5)), 1); }
static T stack3(void) {
  T x = f32(S_(4)), y = f32(S_(4));
  return stack((T[]){x, add(x, y), y}, 3);
}
static T stack_scalars(void) {
  T x = f32(S0), y = f32(S0);
  return stack((T[]){x, y}, 2);
}
static T concat(void) { /* as cat is built: padded parts added up */
  T x = f32(S_(2, 3)), y = f32(S_(4, 3));
  return add(pad(x, S_(0, 0), S_(4, 0)), pad(y, S_(2, 0), S_(0, 0)));
}
static T scalar(void) { return add(f32(S0), num(1)); }
static T constant(void) { return expand(reshape(num(3.5), S_(1, 1)), S_(2, 3)); }
static T arange(void) { return add(iota(UN_I32, 10), whole(UN_I32, 5)); }
static T arange_moved(void) { return cast(UN_F32, flip(reshape(iota(UN_I64, 12), S_(3, 4)), 2)); }
static T triangle(void) {
  T r = reshape(iota(UN_I32, 5), S_(5, 1)), c = reshape(iota(UN_I32, 5), S_(1, 5));
  return where(op2(UN__OP_LT, r, c), num(0), f32(S_(5, 5)));
}
static T unit_axes(void) { return reshape(add(f32(S_(1, 4, 1)), f32(S_(4, 1, 1))), S_(4, 4)); }
static T diamond(void) {      /* the same node under two index tuples */
  T x = f32(S_(5, 5)), e = op1(UN__OP_SQRT, mul(x, x));
  return add(e, permute(e, S_(1, 0)));
}
static T shifted_sum(void) {
  T x = f32(S_(9));
  return add(add(shrink(x, S_(0), S_(7)), shrink(x, S_(1), S_(8))), shrink(x, S_(2), S_(9)));
}
static T bool_logic(void) {
  T a = in(UN_BOOL, S_(3, 4)), b = in(UN_BOOL, S_(4));
  return op2(UN__OP_AND, a, op1(UN__OP_NOT, b));
}
static T detached(void) { return add(op1(UN__OP_DETACH, f32(S_(4))), num(1)); }

/* ---- one reduction ---- */

static T sum_rows(void) { return sum(f32(S_(4, 6)), 1); }
static T sum_columns(void) { return sum(f32(S_(4, 6)), 0); }
static T sum_all(void) { return reduce(UN__OP_ADD, f32(S_(4, 6, 3)), S_(0, 1, 2)); }
static T sum_outer_axes(void) { return reduce(UN__OP_ADD, f32(S_(4, 6, 3)), S_(0, 2)); }
static T sum_of_sum(void) { return sum(sum(f32(S_(4, 6)), 1), 0); }
static T max_of_max(void) { return reduce(UN__OP_MAX, reduce(UN__OP_MAX, f32(S_(4, 6, 2)), S_(2)), S_(0)); }
static T prologue_epilogue(void) {
  T x = f32(S_(4, 6)), y = f32(S_(4));
  return op1(UN__OP_SQRT, op2(UN__OP_MAX, add(sum(mul(x, x), 1), y), num(0)));
}
static T mean_keep(void) { return mul(keep(UN__OP_ADD, f32(S_(4, 6)), 1), num(1.0 / 6)); }
static T sum_unit(void) { return sum(f32(S_(4, 1)), 1); }
static T sum_expanded(void) { return sum(expand(f32(S_(4, 1)), S_(4, 5)), 1); }
static T sum_expanded_int(void) { return sum(expand(in(UN_I32, S_(4, 1)), S_(4, 5)), 1); }
static T sum_padded(void) { return sum(pad(f32(S_(4, 6)), S_(1, 1), S_(0, 2)), 1); }
static T max_padded(void) { return reduce(UN__OP_MAX, pad(op2(UN__OP_SUB, f32(S_(4, 6)), num(10)), S_(0, 1), S_(0, 0)), S_(1)); }
static T pad_of_sum(void) { return pad(sum(f32(S_(4, 6)), 1), S_(1), S_(2)); }
static T shrunk_sum(void) { return shrink(sum(f32(S_(6, 4)), 1), S_(1), S_(4)); }
static T flipped_sum(void) { return flip(sum(f32(S_(6, 4)), 1), 1); }
static T any_all(void) {
  T x = f32(S_(4, 6));
  T any = reduce(UN__OP_OR, op2(UN__OP_LT, x, num(-1)), S_(1));
  return op2(UN__OP_AND, any, reduce(UN__OP_AND, op2(UN__OP_LT, x, num(1.9)), S_(1)));
}
static T prod_int(void) { return reduce(UN__OP_MUL, in(UN_I64, S_(3, 4)), S_(0)); }
static T matmul_plain(void) { return matmul(f32(S_(4, 5)), f32(S_(5, 3))); }
static T matmul_bias_relu(void) { return relu(add(matmul(f32(S_(4, 5)), f32(S_(5, 3))), f32(S_(3)))); }
static T matmul_transposed(void) { return matmul(permute(f32(S_(5, 4)), S_(1, 0)), permute(f32(S_(3, 5)), S_(1, 0))); }
static T matmul_permuted_relu(void) { return relu(permute(matmul(f32(S_(4, 5)), f32(S_(5, 3))), S_(1, 0))); }
static T matmul_chain(void) { return matmul(relu(matmul(f32(S_(4, 5)), f32(S_(5, 3)))), f32(S_(3, 6))); }
static T matmul_residual(void) {
  T x = f32(S_(4, 4));
  T y = add(x, matmul(x, f32(S_(4, 4))));
  return add(y, matmul(y, f32(S_(4, 4))));
}
static T batch_matmul(void) {
  T a = reshape(f32(S_(2, 3, 4)), S_(2, 3, 4, 1)), b = reshape(f32(S_(2, 4, 5)), S_(2, 1, 4, 5));
  return sum(mul(a, b), 2);
}
static T half_matmul(void) {
  T a = cast(UN_F32, in(UN_F16, S_(4, 5))), b = cast(UN_F32, in(UN_F16, S_(5, 3)));
  return cast(UN_F16, matmul(a, b));
}
static T conv(void) { /* 1-d convolution, padded: windows by expand, reshape, shrink */
  T x = pad(f32(S_(2, 6)), S_(0, 1), S_(0, 1)), w = f32(S_(3));
  T rows = reshape(expand(reshape(x, S_(2, 1, 8)), S_(2, 4, 8)), S_(2, 32));
  T windows = permute(reshape(shrink(rows, S_(0, 0), S_(2, 27)), S_(2, 3, 9)), S_(0, 2, 1));
  return relu(sum(mul(shrink(windows, S_(0, 0, 0), S_(2, 6, 3)), w), 2));
}

/* ---- several reductions ---- */

static T softmax_of(T x, int64_t axis) {
  T e = op1(UN__OP_EXP, sub(x, keep(UN__OP_MAX, x, axis)));
  return divide(e, keep(UN__OP_ADD, e, axis));
}
static T softmax(void) { return softmax_of(f32(S_(4, 6)), 1); }
static T softmax_columns(void) { return softmax_of(f32(S_(4, 6)), 0); }
static T softmax_middle(void) { return softmax_of(f32(S_(3, 4, 5)), 1); }
static T log_softmax(void) {
  T x = f32(S_(4, 6)), s = sub(x, keep(UN__OP_MAX, x, 1));
  return sub(s, op1(UN__OP_LOG, keep(UN__OP_ADD, op1(UN__OP_EXP, s), 1)));
}
static T layer_norm_of(T x, int64_t n) {
  T c = sub(x, mul(keep(UN__OP_ADD, x, 1), num(1.0 / (double)n)));
  T var = mul(keep(UN__OP_ADD, mul(c, c), 1), num(1.0 / (double)n));
  return mul(c, op1(UN__OP_RECIP, op1(UN__OP_SQRT, add(var, num(1e-5)))));
}
static T layer_norm(void) { return add(mul(layer_norm_of(f32(S_(4, 6)), 6), f32(S_(6))), f32(S_(6))); }
static T layer_norm_matmul(void) { return matmul(add(mul(layer_norm_of(f32(S_(4, 6)), 6), f32(S_(6))), f32(S_(6))), f32(S_(6, 3))); }
static T minus_mean(void) {
  T x = f32(S_(4, 6));
  return sub(x, mul(keep(UN__OP_ADD, x, 1), num(1.0 / 6)));
}
static T minus_mean_all(void) {
  T x = f32(S_(4, 6));
  return sub(x, mul(reduce(UN__OP_ADD, x, S_(0, 1)), num(1.0 / 24)));
}
static T batch_norm(void) {
  T x = f32(S_(3, 4, 5)), m = reshape(mul(reduce(UN__OP_ADD, x, S_(0, 2)), num(1.0 / 15)), S_(1, 4, 1));
  T c = sub(x, m), v = reshape(mul(reduce(UN__OP_ADD, mul(c, c), S_(0, 2)), num(1.0 / 15)), S_(1, 4, 1));
  return mul(c, op1(UN__OP_RECIP, op1(UN__OP_SQRT, add(v, num(1e-5)))));
}
static T argmax(void) {
  T x = f32(S_(4, 6)), is = op2(UN__OP_EQ, x, keep(UN__OP_MAX, x, 1));
  return reduce(UN__OP_MIN, where(is, iota(UN_I32, 6), whole(UN_I32, 6)), S_(1));
}
static T sum_and_squares(void) {
  T x = f32(S_(4, 6));
  return sub(mul(sum(mul(x, x), 1), num(1.0 / 6)), mul(sum(x, 1), sum(x, 1)));
}
static T row_and_column(void) {   /* rowsum[i] + colsum[j] */
  T x = f32(S_(4, 6));
  return add(keep(UN__OP_ADD, x, 1), keep(UN__OP_ADD, x, 0));
}
static T same_sum_twice(void) {   /* one reduction under two index tuples */
  T x = f32(S_(5, 5)), s = sum(x, 1);
  return add(add(x, reshape(s, S_(5, 1))), reshape(s, S_(1, 5)));
}
static T sum_of_different_lengths(void) { return add(sum(f32(S_(4, 6)), 1), sum(f32(S_(4, 9)), 1)); }
static T attention(void) {
  T q = f32(S_(4, 8)), k = f32(S_(5, 8)), v = f32(S_(5, 8));
  T s = mul(matmul(q, permute(k, S_(1, 0))), num(0.35));
  return matmul(softmax_of(s, 1), v);
}
static T attention_causal(void) {
  T q = f32(S_(5, 8)), k = f32(S_(5, 8)), v = f32(S_(5, 8));
  T s = mul(matmul(q, permute(k, S_(1, 0))), num(0.35));
  T r = reshape(iota(UN_I32, 5), S_(5, 1)), c = reshape(iota(UN_I32, 5), S_(1, 5));
  return matmul(softmax_of(where(op2(UN__OP_LT, r, c), num(-1e30), s), 1), v);
}
static T nested_sums(void) {      /* sum over a of f(a) * (sum over b of g(a, b)) */
  T x = f32(S_(4)), y = f32(S_(4, 6));
  return sum(mul(x, op1(UN__OP_EXP, sum(y, 1))), 0);
}
static T nested_crossed(void) {   /* inner sums over either axis of an outer one */
  T x = f32(S_(4, 5)), y = f32(S_(4, 6)), z = f32(S_(5, 6));
  T a = op1(UN__OP_EXP, mul(keep(UN__OP_ADD, y, 1), num(0.1))), b = op1(UN__OP_EXP, mul(reshape(sum(z, 1), S_(1, 5)), num(0.1)));
  return reduce(UN__OP_ADD, mul(x, mul(a, b)), S_(0, 1));
}
static T hoisted_crossed(void) {  /* two sums in one epilogue, each free of one axis */
  T x = sum(expand(f32(S_(4, 1, 6)), S_(4, 5, 6)), 2), y = sum(expand(f32(S_(1, 5, 6)), S_(4, 5, 6)), 2);
  return mul(x, y);
}
static T pad_reduce_scopes(void) { /* a PAD and a REDUCE over ranges of one size must not meet */
  T x = f32(S_(4, 4));
  return add(pad(sum(pad(x, S_(1, 0), S_(0, 1)), 0), S_(1), S_(1)), sum(pad(x, S_(0, 1), S_(1, 2)), 0));
}
static T normalize_global(void) {
  T x = f32(S_(4, 6));
  return divide(x, op1(UN__OP_SQRT, reduce(UN__OP_ADD, mul(x, x), S_(0, 1))));
}

/* ---- gathers and one-hots ---- */

static T gather(void) { return gather1(f32(S_(10)), in_range(in(UN_I32, S_(7)), 10)); }
static T gather_rows(void) {
  T i = expand(reshape(in_range(in(UN_I32, S_(7)), 10), S_(7, 1)), S_(7, 4));
  T j = expand(reshape(iota(UN_INDEX, 4), S_(1, 4)), S_(7, 4));
  return gather2(f32(S_(10, 4)), i, j);
}
static T gather_second_axis(void) {
  T i = expand(reshape(iota(UN_INDEX, 4), S_(4, 1)), S_(4, 7));
  T j = expand(reshape(in_range(in(UN_I32, S_(7)), 10), S_(1, 7)), S_(4, 7));
  return gather2(f32(S_(4, 10)), i, j);
}
static T gather_of_exp(void) { return gather1(op1(UN__OP_EXP, f32(S_(10))), in_range(in(UN_I32, S_(7)), 10)); }
static T gather_of_gather(void) {
  T i = gather1(in(UN_I32, S_(8)), in_range(in(UN_I32, S_(6)), 8));
  return gather1(f32(S_(10)), in_range(i, 10));
}
static T gather_of_pad(void) { return gather1(pad(op1(UN__OP_EXP, f32(S_(5))), S_(2), S_(3)), in_range(in(UN_I64, S_(9)), 10)); }
static T gather_of_sum(void) { return gather1(sum(f32(S_(10, 4)), 1), in_range(in(UN_I32, S_(12)), 10)); }
static T gather_shifted(void) { /* arithmetic on an index that may be none */
  T i = in_range(in(UN_I32, S_(7)), 8);
  T src[] = {add(un__is(i, UN__OP_VALID) ? i->src[0] : i, whole(UN_INDEX, 1)), i->src[1]};
  return gather1(f32(S_(10)), node(UN__OP_VALID, 0, src, 2, NULL, 0));
}
static T valid_inside(void) { /* the element that PAD adds is index 0, which is valid */
  T i = pad(shrink(flip(in_range(in(UN_I32, S_(7)), 10), 1), S_(1), S_(6)), S_(1), S_(0));
  return gather1(f32(S_(10)), i);
}
static T one_hot_of(T i, int64_t n, un_dtype dt) {
  S s = shape_of(i);
  T is = op2(UN__OP_EQ, reshape(i, S_(s.d[0], 1)), iota(UN_I32, n));
  return cast(dt, is);
}
static T one_hot(void) { return one_hot_of(in(UN_I32, S_(5)), 10, UN_F32); }
static T one_hot_matmul(void) { return matmul(one_hot_of(in(UN_I32, S_(5)), 10, UN_F32), f32(S_(10, 3))); }
static T one_hot_where(void) { /* sum over v of (v == i) ? table[v] : 0 */
  T is = op2(UN__OP_EQ, reshape(in(UN_I32, S_(5)), S_(5, 1, 1)), reshape(iota(UN_I32, 10), S_(1, 10, 1)));
  return sum(where(is, f32(S_(10, 3)), num(0)), 1);
}
static T one_hot_int(void) { return sum(mul(one_hot_of(in(UN_I32, S_(5)), 10, UN_I32), in(UN_I32, S_(10))), 1); }
static T one_hot_two(void) { /* table[i, j] by two one-hots */
  T r = op2(UN__OP_EQ, reshape(in(UN_I32, S_(5)), S_(5, 1, 1)), reshape(iota(UN_I32, 10), S_(1, 10, 1)));
  T c = op2(UN__OP_EQ, reshape(in(UN_I32, S_(5)), S_(5, 1, 1)), reshape(iota(UN_I32, 6), S_(1, 1, 6)));
  return reduce(UN__OP_ADD, where(op2(UN__OP_AND, r, c), f32(S_(10, 6)), num(0)), S_(1, 2));
}
static T count_equal(void) { return sum(one_hot_of(in(UN_I32, S_(5)), 4, UN_I32), 1); }
static T cross_entropy_pick(void) {
  T x = f32(S_(4, 6)), s = sub(x, keep(UN__OP_MAX, x, 1));
  T logp = sub(s, op1(UN__OP_LOG, keep(UN__OP_ADD, op1(UN__OP_EXP, s), 1)));
  T is = op2(UN__OP_EQ, reshape(in(UN_I32, S_(4)), S_(4, 1)), iota(UN_I32, 6));
  return mul(reduce(UN__OP_ADD, where(is, logp, num(0)), S_(0, 1)), num(-0.25));
}

/* ---- edges ---- */

static T empty(void) { return add(f32(S_(0, 3)), num(1)); }
static T sum_empty(void) { return sum(f32(S_(4, 0)), 1); }
static T max_empty(void) { return reduce(UN__OP_MAX, in(UN_I32, S_(0, 4)), S_(0)); }
static T pad_empty(void) { return pad(f32(S_(0, 3)), S_(1, 0), S_(1, 0)); }
static T only_buffer(void) { return f32(S_(3)); }
static T view_of_buffer(void) { return reshape(f32(S_(3, 4)), S_(12)); }
static T contiguous_buffer(void) { return contiguous(f32(S_(3, 4))); }
static T contiguous_permute(void) { return add(contiguous(permute(f32(S_(3, 4)), S_(1, 0))), num(1)); }
static T copied_view(void) { return contiguous(reshape(contiguous(permute(f32(S_(3, 4)), S_(1, 0))), S_(2, 6))); }

typedef struct row { const char *name; T (*build)(void); uint32_t kernels; } row;
#define ROW(f, n) {#f, f, n}

static const row table[] = {
  ROW(chain, 1), ROW(chain_moved, 1), ROW(transpose, 1), ROW(reshape_of_permute, 1), ROW(split_merge, 1),
  ROW(pad_shrink, 1), ROW(pad_of_exp, 1), ROW(pad_bool, 1), ROW(pad_twice, 1), ROW(flip_shrink_chain, 1), ROW(stack3, 1),
  ROW(stack_scalars, 1), ROW(concat, 1), ROW(scalar, 1), ROW(constant, 1), ROW(arange, 1), ROW(arange_moved, 1),
  ROW(triangle, 1), ROW(unit_axes, 1), ROW(diamond, 1), ROW(shifted_sum, 1), ROW(bool_logic, 1), ROW(detached, 1),
  ROW(sum_rows, 1), ROW(sum_columns, 1), ROW(sum_all, 1), ROW(sum_outer_axes, 1), ROW(sum_of_sum, 1), ROW(max_of_max, 1),
  ROW(prologue_epilogue, 1), ROW(mean_keep, 1), ROW(sum_unit, 1), ROW(sum_expanded, 1), ROW(sum_expanded_int, 1),
  ROW(sum_padded, 1), ROW(max_padded, 1), ROW(pad_of_sum, 2), ROW(shrunk_sum, 1), ROW(flipped_sum, 1), ROW(any_all, 1),
  ROW(prod_int, 1), ROW(matmul_plain, 1), ROW(matmul_bias_relu, 1), ROW(matmul_transposed, 1), ROW(matmul_permuted_relu, 1),
  ROW(matmul_chain, 2), ROW(matmul_residual, 2), ROW(batch_matmul, 1), ROW(half_matmul, 1), ROW(conv, 1),
  ROW(softmax, 1), ROW(softmax_columns, 1), ROW(softmax_middle, 1), ROW(log_softmax, 1), ROW(layer_norm, 1),
  ROW(layer_norm_matmul, 2), ROW(minus_mean, 1), ROW(minus_mean_all, 1), ROW(batch_norm, 1), ROW(argmax, 1),
  ROW(sum_and_squares, 1), ROW(row_and_column, 2), ROW(same_sum_twice, 2), ROW(sum_of_different_lengths, 1),
  ROW(attention, 3), ROW(attention_causal, 3), ROW(nested_sums, 1), ROW(nested_crossed, 2), ROW(hoisted_crossed, 2),
  ROW(pad_reduce_scopes, 2), ROW(normalize_global, 1),
  ROW(gather, 1), ROW(gather_rows, 1), ROW(gather_second_axis, 1), ROW(gather_of_exp, 1), ROW(gather_of_gather, 1),
  ROW(gather_of_pad, 1), ROW(gather_of_sum, 2), ROW(gather_shifted, 1), ROW(valid_inside, 1), ROW(one_hot, 1),
  ROW(one_hot_matmul, 1), ROW(one_hot_where, 1), ROW(one_hot_int, 1), ROW(one_hot_two, 1), ROW(count_equal, 1),
  ROW(cross_entropy_pick, 1),
  ROW(empty, 0), ROW(sum_empty, 1), ROW(max_empty, 1), ROW(pad_empty, 1), ROW(only_buffer, 0), ROW(view_of_buffer, 0),
  ROW(contiguous_buffer, 0), ROW(contiguous_permute, 2), ROW(copied_view, 1),
};

static const un__rangeify_options one_thread = {UN__LIC_PRECISE, 1, 1 << 14};

Test(rangeify_kernels, table) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    begin();
    uint32_t n = check(table[i].name, sink1(table[i].build()), &one_thread);
    cr_expect_eq(n, table[i].kernels, "%s: %u kernels, expected %u", table[i].name, n, table[i].kernels);
    end();
  }
}

/* The same programs when nothing may be reordered, and when threads make fusing less welcome. */
Test(rangeify_kernels, strict) {
  un__rangeify_options strict = {UN__LIC_STRICT, 1, 1 << 14};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    begin();
    check(table[i].name, sink1(table[i].build()), &strict);
    end();
  }
}

Test(rangeify_kernels, threads) {
  un__rangeify_options many = {UN__LIC_FAST, 8, 1};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    begin();
    check(table[i].name, sink1(table[i].build()), &many);
    end();
  }
}
