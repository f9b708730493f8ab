/* tensor_graph.c - the nodes that tensor calls build, what they share, and what they refuse. */
#include "tensor_kit.h"

#include "uop/text.h"

static kit k;
static void setup(void) { kit_init(&k); }
static void teardown(void) { kit_finish(&k); }
TestSuite(tensor_graph, .init = setup, .fini = teardown);

static void check_dims(int line, const un_uop *x, const un_dims *want) {
  un_dims have;
  cr_assert(un__tensor_dims(k.g, x, &have), "line %d: %s", line, k.err.text);
  cr_expect(un__tensor_same_dims(&have, want), "line %d: %s, expected %s", line, un__tensor_show(&have).at,
            un__tensor_show(want).at);
}
#define DIMS(x, ...) check_dims(__LINE__, (x), (__VA_ARGS__))

Test(tensor_graph, matmul_is_two_views_a_product_and_a_sum) {
  const un_uop *a = IN(&k, UN_F32, D(2, 3), 1, 2, 3, 4, 5, 6),
               *b = IN(&k, UN_F32, D(3, 4), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const un_uop *c = un__tensor_matmul(k.g, a, b);
  cr_assert(un__is(c, UN__OP_REDUCE_AXIS));
  cr_assert_eq(c->nattr, 2);
  cr_assert_eq(un__attr(c, 0), UN__OP_ADD);
  cr_assert_eq(un__attr(c, 1), 2);
  const un_uop *m = c->src[0];
  cr_assert(un__is(m, UN__OP_MUL));
  DIMS(m, D(2, 4, 3));
  for (int i = 0; i < 2; i++) {
    const un_uop *e = m->src[i];
    cr_assert(un__is(e, UN__OP_EXPAND) && un__is(e->src[0], UN__OP_RESHAPE));
    const un_uop *leaf = e->src[0]->src[0];
    if (leaf == a) DIMS(e->src[0], D(2, 1, 3));
    else {
      DIMS(e->src[0], D(1, 4, 3));
      cr_assert(un__is(leaf, UN__OP_PERMUTE) && leaf->src[0] == b);
    }
  }
}

Test(tensor_graph, half_floats_are_multiplied_and_summed_in_f32) {
  const un_uop *a = IN(&k, UN_BF16, D(1, 1), 1), *c = un__tensor_matmul(k.g, a, a);
  cr_assert(un__is(c, UN__OP_CAST) && un__tensor_dtype(c) == UN_BF16);
  cr_assert_eq(un__tensor_dtype(c->src[0]), UN_F32);
  const un_uop *x = IN(&k, UN_F16, D(4), 0, 0, 0, 0), *s = un__tensor_sum(k.g, x, EVERY, false);
  cr_assert(un__is(s, UN__OP_CAST) && un__is(s->src[0], UN__OP_REDUCE_AXIS) && un__is(s->src[0]->src[0], UN__OP_CAST));
}

Test(tensor_graph, a_literal_is_a_constant_spread) {
  const un_uop *a = IN(&k, UN_F32, D(2, 2), 1, 2, 3, 4), *s = un__tensor_scalar_like(k.g, a, 2);
  cr_assert(un__is_const(s) && s->shape->rank == 0);
  const un_uop *y = un__tensor_mul(k.g, a, s);
  const un_uop *e = y->src[0] == a ? y->src[1] : y->src[0];
  cr_assert(un__is(e, UN__OP_EXPAND) && un__is(e->src[0], UN__OP_RESHAPE) && e->src[0]->src[0] == s);
}

Test(tensor_graph, literals_take_the_dtype_beside_them) {
  const un_uop *b = IN(&k, UN_BOOL, D(1), 1), *i = IN(&k, UN_I8, D(1), 1), *h = IN(&k, UN_F16, D(1), 1);
  cr_expect_eq(un__tensor_dtype(un__tensor_scalar_like(k.g, b, 1)), UN_I32);
  cr_expect_eq(un__tensor_dtype(un__tensor_scalar_like(k.g, i, -128)), UN_I8);
  cr_expect_eq(un__tensor_dtype(un__tensor_scalar_like(k.g, i, 0.5)), UN_F32);
  cr_expect_eq(un__tensor_dtype(un__tensor_scalar_like(k.g, i, NAN)), UN_F32);
  cr_expect_eq(un__tensor_dtype(un__tensor_scalar_like(k.g, i, INFINITY)), UN_F32);
  cr_expect_eq(un__tensor_dtype(un__tensor_scalar_like(k.g, h, 1e9)), UN_F16);
  FAILS(&k, un__tensor_scalar_like(k.g, i, 128), UN_ERR_DTYPE, "i8 does not hold the value 128");
}

Test(tensor_graph, calls_that_change_nothing_give_their_argument) {
  const un_uop *a = IN(&k, UN_F32, D(2, 3), 1, 2, 3, 4, 5, 6);
  cr_expect_eq(un__tensor_reshape(k.g, a, D(2, -1)), a);
  cr_expect_eq(un__tensor_permute(k.g, a, D(0, -1)), a);
  cr_expect_eq(un__tensor_expand(k.g, a, D(-1, 3)), a);
  cr_expect_eq(un__tensor_pad(k.g, a, D(0, 0), D(0, 0)), a);
  cr_expect_eq(un__tensor_shrink(k.g, a, D(0, 0), D(2, 3)), a);
  cr_expect_eq(un__tensor_slice(k.g, a, 1, UN_OPEN, UN_OPEN, 1), a);
  cr_expect_eq(un__tensor_flip(k.g, a, &(un_dims){0}), a);
  cr_expect_eq(un__tensor_flatten(k.g, a, 1, 1), a);
  cr_expect_eq(un__tensor_cast(k.g, a, UN_F32), a);
  cr_expect_eq(un__tensor_sum(k.g, a, &(un_dims){0}, false), a);
  cr_expect_eq(un__tensor_cat(k.g, &a, 1, 0), a);
  const un_uop *one = un__tensor_unsqueeze(k.g, a, 0);
  DIMS(un__tensor_sum(k.g, one, D(0), false), D(2, 3));
  cr_expect(!un__is(un__tensor_sum(k.g, one, D(0), false), UN__OP_REDUCE_AXIS), "an axis of size 1 is not summed");
}

Test(tensor_graph, shapes) {
  const un_uop *a = IN(&k, UN_F32, D(2, 1, 3), 1, 2, 3, 4, 5, 6);
  DIMS(un__tensor_squeeze(k.g, a, 1), D(2, 3));
  DIMS(un__tensor_unsqueeze(k.g, a, -1), D(2, 1, 3, 1));
  DIMS(un__tensor_flatten(k.g, a, 0, 1), D(2, 3));
  DIMS(un__tensor_flatten(k.g, un__tensor_sum(k.g, a, EVERY, false), 0, -1), D(1));
  DIMS(un__tensor_expand(k.g, a, D(5, -1, 4, 3)), D(5, 2, 4, 3));
  DIMS(un__tensor_transpose(k.g, a, 0, -1), D(3, 1, 2));
  DIMS(un__tensor_argmax(k.g, a, 2, true), D(2, 1, 1));
  DIMS(un__tensor_matmul(k.g, un__tensor_full(k.g, UN_F32, D(4, 1, 2, 3), 0),
                         a = un__tensor_full(k.g, UN_F32, D(5, 3, 7), 0)),
       D(4, 5, 2, 7));
}

Test(tensor_graph, wrong_shapes_are_refused) {
  const un_uop *a = un__tensor_full(k.g, UN_F32, D(4, 8), 0), *b = un__tensor_full(k.g, UN_F32, D(7, 3), 0);
  FAILS(&k, un__tensor_matmul(k.g, a, b), UN_ERR_SHAPE, "matmul: inner dims differ: lhs (4,8), rhs (7,3)");
  FAILS(&k, un__tensor_add(k.g, a, b), UN_ERR_SHAPE, "add: shapes do not broadcast: lhs (4,8), rhs (7,3)");
  FAILS(&k, un__tensor_matmul(k.g, a, un__const_f(k.g, UN__DT(UN_F32), 1)), UN_ERR_SHAPE, "rank 1 or more");
  FAILS(&k, un__tensor_reshape(k.g, a, D(5, 7)), UN_ERR_SHAPE, "from (4,8) to (5,7)");
  FAILS(&k, un__tensor_reshape(k.g, a, D(-1, 5)), UN_ERR_SHAPE, "no size for the -1");
  FAILS(&k, un__tensor_reshape(k.g, a, D(-1, -1)), UN_ERR_SHAPE, "more than one -1");
  FAILS(&k, un__tensor_reshape(k.g, a, D(-2, 2)), UN_ERR_SHAPE, "negative size");
  FAILS(&k, un__tensor_reshape(k.g, a, &(un_dims){.rank = UN_DIMS_BAD}), UN_ERR_SHAPE, "not a shape");
  FAILS(&k, un__tensor_reshape(k.g, a, &(un_dims){.rank = 99}), UN_ERR_SHAPE, "not a shape");
  FAILS(&k, un__tensor_permute(k.g, a, D(0, 0)), UN_ERR_SHAPE, "axis 0 is listed twice");
  FAILS(&k, un__tensor_permute(k.g, a, D(0)), UN_ERR_SHAPE, "the 2 axes of (4,8)");
  FAILS(&k, un__tensor_permute(k.g, a, &(un_dims){.rank = 99}), UN_ERR_INVALID_ARG, "not a list of axes");
  FAILS(&k, un__tensor_transpose(k.g, a, 0, 2), UN_ERR_SHAPE, "no axis 2");
  FAILS(&k, un__tensor_squeeze(k.g, a, 0), UN_ERR_SHAPE, "not of size 1");
  FAILS(&k, un__tensor_expand(k.g, a, D(4, 9)), UN_ERR_SHAPE, "(4,8) does not broadcast to (4,9)");
  FAILS(&k, un__tensor_expand(k.g, a, D(8)), UN_ERR_SHAPE, "does not broadcast");
  FAILS(&k, un__tensor_pad(k.g, a, D(0, 0), D(-1, 0)), UN_ERR_SHAPE, "negative padding");
  FAILS(&k, un__tensor_pad(k.g, a, D(0), D(1)), UN_ERR_SHAPE, "2 entries each");
  FAILS(&k, un__tensor_pad(k.g, a, D(INT64_MAX, 0), D(0, 0)), UN_ERR_SHAPE, "too long");
  FAILS(&k, un__tensor_pad(k.g, a, D(INT64_MAX / 8, 0), D(0, 0)), UN_ERR_SHAPE, "more than");
  FAILS(&k, un__tensor_shrink(k.g, a, D(0, 5), D(4, 9)), UN_ERR_SHAPE, "not inside (4,8)");
  FAILS(&k, un__tensor_slice(k.g, a, 0, 0, 1, 0), UN_ERR_INVALID_ARG, "a step that is not 0");
  FAILS(&k, un__tensor_select(k.g, a, 0, 4), UN_ERR_SHAPE, "no element 4");
  FAILS(&k, un__tensor_select(k.g, a, 0, INT64_MIN), UN_ERR_SHAPE, "no element");
  FAILS(&k, un__tensor_cat(k.g, (const un_uop *[]){a, b}, 2, 0), UN_ERR_SHAPE, "cat: shapes differ");
  FAILS(&k, un__tensor_cat(k.g, NULL, 0, 0), UN_ERR_INVALID_ARG, "at least one");
  FAILS(&k, un__tensor_stack(k.g, (const un_uop *[]){a, b}, 2, 0), UN_ERR_SHAPE, "stack: shapes differ");
  FAILS(&k, un__tensor_max(k.g, un__tensor_full(k.g, UN_F32, D(0, 2), 0), D(0), false), UN_ERR_SHAPE, "of no elements");
  FAILS(&k, un__tensor_argmax(k.g, un__tensor_full(k.g, UN_F32, D(2, 0), 0), 1, false), UN_ERR_SHAPE, "no elements");
  FAILS(&k, un__tensor_gather(k.g, a, 1, un__tensor_full(k.g, UN_I32, D(5, 8), 0)), UN_ERR_SHAPE,
        "does not lie inside");
  FAILS(&k, un__tensor_var(k.g, a, EVERY, -1, false), UN_ERR_INVALID_ARG, "ddof");
  FAILS(&k, un__tensor_layer_norm(k.g, a, EVERY, -1), UN_ERR_INVALID_ARG, "eps");
}

Test(tensor_graph, wrong_dtypes_are_refused) {
  const un_uop *f = un__tensor_full(k.g, UN_F32, D(2), 0), *b = un__tensor_full(k.g, UN_BOOL, D(2), 0);
  FAILS(&k, un__tensor_and(k.g, f, b), UN_ERR_DTYPE, "and: expected bool or integers, got f32");
  FAILS(&k, un__tensor_floordiv(k.g, f, f), UN_ERR_DTYPE, "floor(div(a, b))");
  FAILS(&k, un__tensor_shl(k.g, b, b), UN_ERR_DTYPE, "shl: expected integers, got bool");
  FAILS(&k, un__tensor_neg(k.g, b), UN_ERR_DTYPE, "for bool use not");
  FAILS(&k, un__tensor_not(k.g, f), UN_ERR_DTYPE, "not: expected");
  FAILS(&k, un__tensor_cast(k.g, f, UN_INDEX), UN_ERR_DTYPE, "index (16) is not a dtype of tensors");
  FAILS(&k, un__tensor_cast(k.g, f, (un_dtype)77), UN_ERR_DTYPE, "? (77)");
  FAILS(&k, un__tensor_bitcast(k.g, f, UN_F64), UN_ERR_DTYPE, "4 bytes");
  FAILS(&k, un__tensor_bitcast(k.g, un__tensor_full(k.g, UN_U8, D(1), 2), UN_BOOL), UN_ERR_DTYPE, "not bool");
  FAILS(&k, un__tensor_gather(k.g, f, 0, f), UN_ERR_DTYPE, "index of integers, got f32");
  FAILS(&k, un__tensor_full(k.g, UN_I32, D(1), 0.5), UN_ERR_DTYPE, "i32 does not hold the value 0.5");
  FAILS(&k, un__tensor_full(k.g, UN_U8, D(1), -1), UN_ERR_DTYPE, "u8 does not hold");
  FAILS(&k, un__tensor_full(k.g, UN_I64, D(1), 0x1p63), UN_ERR_DTYPE, "i64 does not hold");
  FAILS(&k, un__tensor_full(k.g, UN_BOOL, D(1), NAN), UN_ERR_DTYPE, "bool does not hold");
  FAILS(&k, un__tensor_assigned(k.g, "assign", un__tensor_full(k.g, UN_I32, D(2), 0), f), UN_ERR_DTYPE, "cast the value first");
  FAILS(&k, un__tensor_arange(k.g, UN_BOOL, 0, 1, 1), UN_ERR_DTYPE, "not for bool");
  FAILS(&k, un__tensor_arange(k.g, UN_I8, 0, 200, 1), UN_ERR_DTYPE, "i8 does not hold");
  FAILS(&k, un__tensor_arange(k.g, UN_F32, 0, 1, 0), UN_ERR_INVALID_ARG, "a finite step that is not 0");
  FAILS(&k, un__tensor_arange(k.g, UN_F32, 0, INFINITY, 1), UN_ERR_INVALID_ARG, "finite bounds");
  FAILS(&k, un__tensor_arange(k.g, UN_F32, 0, 1e300, 1e-300), UN_ERR_SHAPE, "too many");
}

Test(tensor_graph, hostile_sizes_are_refused) {
  FAILS(&k, un__tensor_full(k.g, UN_F32, D(INT64_MAX, 2), 0), UN_ERR_SHAPE, "more than");
  FAILS(&k, un__tensor_full(k.g, UN_F32, D(INT64_MAX / 16 + 1), 0), UN_ERR_SHAPE, "more than");
  FAILS(&k, un__tensor_full(k.g, UN_F32, D(INT64_MIN), 0), UN_ERR_SHAPE, "negative size");
  cr_expect(un__tensor_full(k.g, UN_F32, D(INT64_MAX, 0, INT64_MAX), 0), "no elements at all: %s", k.err.text);
  FAILS(&k, un__tensor_eye(k.g, UN_F32, INT64_MAX, INT64_MAX), UN_ERR_SHAPE, "more than");
  const un_uop *long_row = un__tensor_full(k.g, UN_F32, D(1, INT64_C(1) << 40), 0);
  FAILS(&k, un__tensor_add(k.g, long_row, un__tensor_transpose(k.g, long_row, 0, 1)), UN_ERR_SHAPE, "more than");
  FAILS(&k, un__tensor_one_hot(k.g, un__tensor_full(k.g, UN_I32, D(4), 0), -1, UN_F32), UN_ERR_SHAPE, "negative size");
  FAILS(&k, un__tensor_argmax(k.g, long_row, 1, false), UN_ERR_UNSUPPORTED, "more than an i32");
  un_dims full = {.rank = UN_MAX_RANK};
  for (int i = 0; i < UN_MAX_RANK; i++) full.dim[i] = 2;
  const un_uop *deep = un__tensor_full(k.g, UN_F32, &full, 0);
  FAILS(&k, un__tensor_unsqueeze(k.g, deep, 0), UN_ERR_SHAPE, "more than 16 axes");
  FAILS(&k, un__tensor_stack(k.g, &deep, 1, 0), UN_ERR_SHAPE, "more than 16 axes");
  FAILS(&k, un__tensor_matmul(k.g, deep, deep), UN_ERR_UNSUPPORTED, "more than 15 axes");
  cr_expect(un__tensor_sum(k.g, deep, EVERY, true), "%s", k.err.text);
}

/* Every call gives NULL for NULL and says nothing about it. */
Test(tensor_graph, null_flows_through) {
  const un_uop *x = un__tensor_full(k.g, UN_F32, D(2), 0);
  un_dims d = {1, {0}};
#define UNARY(name) cr_expect_null(un__tensor_##name(k.g, NULL), #name);
#define BINARY(name)                                        \
  cr_expect_null(un__tensor_##name(k.g, NULL, x), #name);   \
  cr_expect_null(un__tensor_##name(k.g, x, NULL), #name);
#include "tensor/tensor.def"
  cr_expect_null(un__tensor_where(k.g, NULL, x, x));
  cr_expect_null(un__tensor_cast(k.g, NULL, UN_F32));
  cr_expect_null(un__tensor_reshape(k.g, NULL, &d));
  cr_expect_null(un__tensor_flip(k.g, NULL, &d));
  cr_expect_null(un__tensor_pad_value(k.g, NULL, &d, &d, 1));
  cr_expect_null(un__tensor_slice(k.g, NULL, 0, 0, 0, 1));
  cr_expect_null(un__tensor_cat(k.g, (const un_uop *[]){x, NULL}, 2, 0));
  cr_expect_null(un__tensor_sum(k.g, NULL, &d, false));
  cr_expect_null(un__tensor_std(k.g, NULL, &d, 0, false));
  cr_expect_null(un__tensor_any(k.g, NULL, &d, false));
  cr_expect_null(un__tensor_argmin(k.g, NULL, 0, false));
  cr_expect_null(un__tensor_matmul(k.g, x, NULL));
  cr_expect_null(un__tensor_softmax(k.g, NULL, 0));
  cr_expect_null(un__tensor_log_softmax(k.g, NULL, 0));
  cr_expect_null(un__tensor_layer_norm(k.g, NULL, &d, 0));
  cr_expect_null(un__tensor_rms_norm(k.g, NULL, &d, 0));
  cr_expect_null(un__tensor_take(k.g, x, 0, NULL));
  cr_expect_null(un__tensor_one_hot(k.g, NULL, 3, UN_F32));
  cr_expect_null(un__tensor_assigned(k.g, "assign", x, NULL));
  cr_expect_eq(k.err.status, UN_OK, "%s", k.err.text);
}

/* Every graph above is one that the tensor stage accepts: here a program that uses most of the calls. */
Test(tensor_graph, verifies) {
  const un_uop *x = un__tensor_full(k.g, UN_F16, D(3, 4), 0.5), *i = un__tensor_arange(k.g, UN_I32, 0, 3, 1);
  const un_uop *all[] = {un__tensor_softmax(k.g, x, 0),
                         un__tensor_layer_norm(k.g, x, EVERY, 1e-5),
                         un__tensor_gelu(k.g, x),
                         un__tensor_round(k.g, x),
                         un__tensor_take(k.g, x, 1, i),
                         un__tensor_one_hot(k.g, i, 5, UN_F32),
                         un__tensor_argmax(k.g, x, 1, true),
                         un__tensor_cat(k.g, (const un_uop *[]){x, x}, 2, 1),
                         un__tensor_stack(k.g, (const un_uop *[]){x, x}, 2, 1),
                         un__tensor_slice(k.g, x, 1, UN_OPEN, UN_OPEN, -3),
                         un__tensor_cos(k.g, x),
                         un__tensor_erf(k.g, x),
                         un__tensor_shl(k.g, i, i),
                         un__tensor_eye(k.g, UN_F64, 3, 3),
                         un__tensor_matmul(k.g, x, un__tensor_transpose(k.g, x, 0, 1)),
                         un__tensor_std(k.g, x, EVERY, 1, false)};
  un__strbuf out;
  un__sb_init(&out);
  const un_uop *root = un__sink(k.g, all, sizeof all / sizeof *all);
  cr_assert(root, "%s", k.err.text);
  cr_expect_eq(un__verify(root, UN__STAGE_TENSOR, &k.err, &out), UN_OK, "%s", k.err.text);
  un__sb_finish(&out);
}
