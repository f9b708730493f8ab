/* The node and its graphs: interning, shapes, bounds, open ranges, import, lifetime. */
#include <criterion/criterion.h>

#include "uop/eval.h"
#include "uop/graph.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(workspace, ws);

static const un_uop *buffer(un__graph *g, int64_t slot, int64_t a, int64_t b) {
  const un_uop *dims[] = {un__idx(g, a), un__idx(g, b)};
  return un__uop(g, UN__OP_BUFFER, UN__DT(UN_F32), dims, 2, (int64_t[]){slot, 0}, 2);
}

Test(workspace, equal_means_same_pointer) {
  const un_uop *x = buffer(ws, 0, 4, 4), *y = buffer(ws, 1, 4, 4);
  cr_assert_eq(x, buffer(ws, 0, 4, 4));
  cr_assert_neq(x, y);
  cr_assert_eq(un__binary(ws, UN__OP_ADD, x, y), un__binary(ws, UN__OP_ADD, y, x), "commutative operands are ordered");
  cr_assert_neq(un__binary(ws, UN__OP_SUB, x, y), un__binary(ws, UN__OP_SUB, y, x));
  cr_assert_eq(un__const_f(ws, UN__DT(UN_F32), 0.0) == un__const_f(ws, UN__DT(UN_F32), -0.0), 0, "zeros differ in sign");
}

Test(workspace, shapes_follow_the_rules) {
  const un_uop *x = buffer(ws, 0, 4, 6);
  const un_uop *p = un__uop(ws, UN__OP_PERMUTE, 0, &x, 1, (int64_t[]){1, 0}, 2);
  cr_assert_eq(un__known_size(p->shape->dim[0]), 6);
  const un_uop *r = un__uop(ws, UN__OP_REDUCE_AXIS, 0, &p, 1, (int64_t[]){UN__OP_ADD, 0}, 2);
  cr_assert_eq(r->shape->rank, 1);
  cr_assert_eq(un__known_size(r->shape->dim[0]), 4);
  const un_uop *pad[] = {x, un__idx(ws, 1), un__idx(ws, 0), un__idx(ws, 2), un__idx(ws, 3)};
  const un_uop *q = un__uop(ws, UN__OP_PAD, 0, pad, 5, NULL, 0);
  cr_assert_eq(un__known_size(q->shape->dim[0]), 7);
  cr_assert_eq(un__known_size(q->shape->dim[1]), 9);
  cr_assert_eq(err.status, UN_OK, "%s", err.text);
}

Test(workspace, misfits_are_reported_and_give_null) {
  const un_uop *x = buffer(ws, 0, 4, 6), *y = buffer(ws, 1, 6, 4);
  cr_assert_null(un__binary(ws, UN__OP_SUB, x, y));
  cr_assert_eq(err.status, UN_ERR_SHAPE);
  cr_assert_str_eq(err.text, "sub: sources must have one shape; source 0 is (4,6), source 1 is (6,4)");
  cr_assert_null(un__unary(ws, UN__OP_NEG, NULL), "NULL flows through");
  un__err_clear(&err);
  cr_assert_null(un__binary(ws, UN__OP_ADD, un__idx(ws, 1), un__const_f(ws, UN__DT(UN_F32), 1)));
  cr_assert_eq(err.status, UN_ERR_DTYPE);
}

Test(workspace, bounds_are_exact_for_affine_indices) {
  const un_uop *i = un__range(ws, un__idx(ws, 4), UN__AXIS_LOOP, 0), *j = un__range(ws, un__idx(ws, 3), UN__AXIS_LOOP, 1);
  const un_uop *flat = un__binary(ws, UN__OP_ADD, un__binary(ws, UN__OP_MUL, i, un__idx(ws, 3)), j);
  cr_assert_eq(flat->vmin, 0);
  cr_assert_eq(flat->vmax, 11);
  const un_uop *row = un__binary(ws, UN__OP_FLOORDIV, flat, un__idx(ws, 3));
  cr_assert_eq(row->vmax, 3);
  const un_uop *wrap = un__binary(ws, UN__OP_MUL, un__cast(ws, UN__DT(UN_I8), flat), un__const_i(ws, UN__DT(UN_I8), 100));
  cr_assert_eq(wrap->vmin, -128);
  cr_assert_eq(wrap->vmax, 127);
}

Test(workspace, bounds_of_a_reduction_over_what_may_be_nothing_hold_the_identity) {
  const un_uop *n = un__uop(ws, UN__OP_MIN, 0, (const un_uop *[]){un__idx(ws, 4), un__range(ws, un__idx(ws, 9), UN__AXIS_LOOP, 0)}, 2, NULL, 0);
  const un_uop *some = un__range(ws, un__idx(ws, 4), UN__AXIS_REDUCE, 1), *maybe = un__range(ws, n, UN__AXIS_REDUCE, 2);
  const un_uop *x = un__cast(ws, UN__DT(UN_I32), un__cast(ws, UN__DT(UN_U8), buffer(ws, 0, 2, 2)));
  int64_t max = UN__OP_MAX, min = UN__OP_MIN;
  cr_assert_eq(un__uop(ws, UN__OP_REDUCE, 0, (const un_uop *[]){x, some}, 2, &max, 1)->vmin, 0);
  cr_assert_eq(un__uop(ws, UN__OP_REDUCE, 0, (const un_uop *[]){x, maybe}, 2, &max, 1)->vmin, INT32_MIN);
  cr_assert_eq(un__uop(ws, UN__OP_REDUCE, 0, (const un_uop *[]){x, some}, 2, &min, 1)->vmax, 255);
  cr_assert_eq(un__uop(ws, UN__OP_REDUCE, 0, (const un_uop *[]){x, maybe}, 2, &min, 1)->vmax, INT32_MAX);
}

/* Bounds at the ends of int64_t are computed without overflow: the sanitizer build watches. */
Test(workspace, bounds_of_extreme_numbers) {
  const un_uop *r = un__range(ws, un__idx(ws, INT64_MIN), UN__AXIS_LOOP, 0);
  cr_assert(r && r->vmin == 0 && r->vmax == 0);
  const un_uop *least = un__const_i(ws, UN__DT(UN_I64), -INT64_MAX), *ten = un__const_i(ws, UN__DT(UN_I64), 10);
  const un_uop *mod = un__binary(ws, UN__OP_FLOORMOD, least, ten);
  cr_assert_eq(mod->vmin, 3);
  cr_assert_eq(mod->vmax, 3);
}

Test(workspace, open_ranges_are_closed_by_reduce_and_end) {
  const un_uop *i = un__range(ws, un__idx(ws, 4), UN__AXIS_LOOP, 0), *k = un__range(ws, un__idx(ws, 3), UN__AXIS_REDUCE, 1);
  const un_uop *x = un__binary(ws, UN__OP_ADD, i, k);
  cr_assert(un__depends_on(x, i) && un__depends_on(x, k));
  const un_uop *r = un__uop(ws, UN__OP_REDUCE, 0, (const un_uop *[]){x, k}, 2, (int64_t[]){UN__OP_ADD}, 1);
  cr_assert(un__depends_on(r, i) && !un__depends_on(r, k));
  const un_uop *end = un__uop(ws, UN__OP_END, 0, (const un_uop *[]){r, i}, 2, NULL, 0);
  cr_assert_eq(end->ranges->n, 0);
}

Test(workspace, deep_graphs_do_not_recurse) {
  const un_uop *x = buffer(ws, 0, 2, 2);
  for (int i = 0; i < 300000; i++) x = un__unary(ws, UN__OP_NEG, x);
  size_t n;
  const un_uop **order = un__toposort(x, &n);
  cr_assert_eq(n, 300002);
  un__free(order);
  un__graph *other = un__workspace_create(&err);
  cr_assert_not_null(un__import(other, x, NULL));
  un__key key, copied;
  cr_assert(un__structural_key(x, &key) && un__structural_key(un__import(other, x, NULL), &copied));
  cr_assert_eq(key.hi, copied.hi);
  un__workspace_destroy(other);
}

Test(world, nodes_live_as_long_as_they_are_pinned) {
  un__world *w = un__world_create();
  un__session *s = un__session_create(w, &err);
  un__graph *g = un__session_graph(s);
  un__session_enter(s);
  const un_uop *x = un__unary(g, UN__OP_NEG, buffer(g, un__world_next_serial(w), 2, 2));
  un__pin(s, x);
  un__session_leave(s);
  un__collect(s);
  cr_assert_eq(un__world_live_nodes(w), 3, "neg, buffer, one size");
  cr_assert(un__world_audit(w, &err), "%s", err.text);
  un__session_enter(s);
  un__unpin(s, x);
  un__session_leave(s);
  cr_assert_eq(un__world_live_nodes(w), 0);
  un__session_destroy(s);
  un__world_release(w);
}

Test(world, a_session_inside_a_call_keeps_what_it_may_hold) {
  un__world *w = un__world_create();
  un__session *a = un__session_create(w, &err), *b = un__session_create(w, &err);
  un__session_enter(a);
  const un_uop *x = un__unary(un__session_graph(a), UN__OP_NEG, buffer(un__session_graph(a), 0, 2, 3));
  un__session_enter(b);
  const un_uop *y = un__unary(un__session_graph(b), UN__OP_NEG, buffer(un__session_graph(b), 0, 2, 3));
  cr_assert_eq(x, y, "one world, one node");
  un__session_leave(a);
  un__collect(a);
  cr_assert(un__world_live_nodes(w) >= 4, "b is still inside");
  un__session_leave(b);
  un__collect(b);
  cr_assert_eq(un__world_live_nodes(w), 0);
  un__session_destroy(a);
  un__session_destroy(b);
  un__world_release(w);
}

Test(world, long_dead_chains_are_freed_in_one_sweep) {
  un__world *w = un__world_create();
  un__session *s = un__session_create(w, &err);
  un__session_enter(s);
  const un_uop *x = buffer(un__session_graph(s), 0, 2, 2);
  for (int i = 0; i < 100000; i++) x = un__unary(un__session_graph(s), UN__OP_NEG, x);
  un__session_leave(s);
  un__collect(s);
  cr_assert_eq(un__world_live_nodes(w), 0);
  un__session_destroy(s);
  un__world_release(w);
}

/* A copy has the ids of the ranges as they are, and fresh ones come after; an import counts them from 0. */
Test(world, a_copy_keeps_its_numbers) {
  un__graph *from = un__workspace_create(&err), *to = un__workspace_create(&err);
  const un_uop *a = un__range(from, un__idx(from, 4), UN__AXIS_UPCAST, 7), *b = un__range(from, un__idx(from, 4), UN__AXIS_LOOP, 2);
  const un_uop *sum = un__binary(from, UN__OP_ADD, b, un__binary(from, UN__OP_MUL, a, un__idx(from, 4)));
  const un_uop *copy = un__copy(to, sum), *import = un__import(to, sum, NULL);
  bool first = un__is(copy->src[0], UN__OP_RANGE);
  cr_expect_eq(un__range_id(copy->src[!first]), 2);
  cr_expect_eq(un__range_id(copy->src[first]->src[0]), 7);
  cr_expect_eq(un__graph_fresh_range(to), 8);
  cr_expect_neq(copy, import);
  cr_expect_eq(un__copy(to, sum), copy);
  un__workspace_destroy(from);
  un__workspace_destroy(to);
}

Test(world, import_renumbers_slots_and_reports_serials) {
  un__world *w = un__world_create();
  un__session *s = un__session_create(w, &err);
  un__graph *g = un__session_graph(s), *to = un__workspace_create(&err);
  un__session_enter(s);
  const un_uop *x = un__binary(g, UN__OP_SUB, buffer(g, 17, 2, 2), buffer(g, 5, 2, 2));
  un__slot_map serials = {0};
  const un_uop *c = un__import(to, x, &serials);
  cr_assert_eq(serials.n, 2);
  cr_assert_eq(serials.at[0], 17);
  cr_assert_eq(serials.at[1], 5);
  cr_assert_eq(un__attr(c->src[0], 0), 0);
  cr_assert_eq(un__attr(c->src[1], 0), 1);
  un__vec_finish(&serials);
  un__session_leave(s);
  un__workspace_destroy(to);
  un__session_destroy(s);
  un__world_release(w);
}
