/* api_stored.c - what one handle has computed serves the others: kernels are counted, and no assign, touch, release or
 * collection makes a stored value stale or keeps it alive. */
#include <criterion/criterion.h>

#include <string.h>

#define UN_USE_UNSTABLE
#include <unir/unir.h>
#include <unir/unstable.h>

static un_ctx *cx;

static void setup(void) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  cr_assert_eq(un_ctx_create(&opt, &cx), UN_OK);
}

static un_stats stats(void) {
  un_stats s = UN_STATS_INIT;
  cr_assert_eq(un_get_stats(cx, &s), UN_OK);
  return s;
}

static void teardown(void) {
  cr_expect_eq(un_audit(cx), UN_OK, "%s", un_error(cx));
  cr_expect_eq(un_error_status(cx), UN_OK, "%s", un_error(cx));
  un_ctx_destroy(cx);
}
TestSuite(stored, .init = setup, .fini = teardown);

static un_tensor *floats(int n, const float *v) { return un_from_data(cx, UN_F32, un_shape(1, n), v); }

/* Reads t and says how many kernels that took. */
#define RUNS(kernels, t, n, ...) runs(__LINE__, (kernels), (t), (n), (const float[]){__VA_ARGS__})
static void runs(int line, uint64_t kernels, un_tensor *t, size_t n, const float *want) {
  float have[64];
  uint64_t before = stats().kernels_launched;
  cr_assert_eq((un_read)(t, have, n * sizeof *have), UN_OK, "line %d: %s", line, un_error(cx));
  cr_expect_eq(stats().kernels_launched - before, kernels, "line %d: %d kernels ran, expected %d", line,
               (int)(stats().kernels_launched - before), (int)kernels);
  for (size_t i = 0; i < n; i++)
    cr_expect_eq(have[i], want[i], "line %d: element %zu is %g, expected %g", line, i, have[i], want[i]);
}

static void realise(un_tensor *t) { cr_assert_eq(un_realize(cx, 1, &t), UN_OK, "%s", un_error(cx)); }

/* What un_run_to_text says will run. */
static size_t shown_kernels(un_tensor *t) {
  char *text = un_run_to_text(cx, 1, &t, UN_STAGE_SCHEDULE, UN_FORM_TEXT);
  cr_assert(text, "%s", un_error(cx));
  size_t n = 0;
  for (const char *at = text; (at = strstr(at, "= kernel ")); at++) n++;
  un_text_free(text);
  return n;
}

/* ---- shared values ---- */

/* A sum of a sum takes two kernels; the inner one is not run again. */
Test(stored, a_realised_part_is_not_computed_again) {
  const float v[] = {1, 2, 3, 4};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *y = un_contiguous(un_sum(x, un_list(1), false));
  un_tensor *z = un_sum(un_mul(y, y), un_list(0), false);
  cr_expect_eq(shown_kernels(z), 2);
  RUNS(1, y, 2, 3, 7);
  cr_expect_eq(shown_kernels(z), 1, "what is shown is what will run");
  RUNS(1, z, 1, 58);
  RUNS(0, z, 1, 58);
}

Test(stored, two_handles_of_one_value_run_once) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *a = un_adds(x, 1), *b = un_adds(x, 1), *c = un_reshape(b, un_shape(2, 2, 1));
  RUNS(1, a, 2, 2, 3);
  RUNS(0, b, 2, 2, 3);
  RUNS(0, c, 2, 2, 3);
  cr_expect_eq(un_rank(c), 2);
  cr_expect_eq(un_node(b), un_node(a), "the same buffer");
  /* Nobody holds the expression any more, so nobody can know that it was stored. */
  RUNS(1, un_adds(x, 1), 2, 2, 3);
}

/* A view is realised: what it is a view of is stored by that too. */
Test(stored, a_view_stores_what_it_is_of) {
  const float v[] = {1, 2, 3, 4};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *y = un_exp2(x);
  un_tensor *flat = un_reshape(y, un_shape(1, 4)), *reader = un_sum(y, un_list(0), false);
  RUNS(1, flat, 4, 2, 4, 8, 16);
  RUNS(1, reader, 2, 10, 20);
  RUNS(0, y, 4, 2, 4, 8, 16);
  cr_expect_eq(un_rank(y), 2);
  RUNS(1, un_transpose(y, 0, 1), 4, 2, 8, 4, 16);
}

/* One realise of a tensor and of its reshape: one buffer, each handle with its own shape. */
Test(stored, tensors_of_one_slot_keep_their_shapes) {
  const float v[] = {1, 2, 3, 4};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *y = un_exp2(x), *z = un_reshape(y, un_shape(1, 4));
  un_tensor *list[] = {y, z, un_detach(z)};
  cr_assert_eq(un_realize(cx, 3, list), UN_OK);
  cr_expect_eq(stats().kernels_launched, 1);
  cr_expect_eq(un_rank(y), 2);
  cr_expect_eq(un_rank(z), 1);
  RUNS(0, z, 4, 2, 4, 8, 16);
  RUNS(0, list[2], 4, 2, 4, 8, 16);
}

/* What simplifies to an input is that input, however it was written. */
Test(stored, an_expression_that_is_its_input_is_read) {
  const int32_t v[] = {1, 2, 3, 4};
  int32_t have[4];
  un_tensor *x = un_from_data(cx, UN_I32, un_shape(2, 2, 2), v);
  un_tensor *same[] = {un_muls(x, 1),
                       un_adds(x, 0),
                       un_permute(un_permute(x, un_list(1, 0)), un_list(1, 0)),
                       un_flip(un_flip(x, un_list(0)), un_list(0)),
                       un_neg(un_neg(x)),
                       un_reshape(un_muls(x, 1), un_shape(1, 4))};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    int rank = un_rank(same[i]);
    cr_assert_eq(un_read(same[i], have, sizeof have), UN_OK, "%d: %s", (int)i, un_error(cx));
    cr_expect(!memcmp(have, v, sizeof v), "expression %d", (int)i);
    realise(same[i]);
    cr_expect_eq(un_rank(same[i]), rank);
  }
}

Test(stored, other_parts_of_a_pending_graph_are_found_too) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *a = un_contiguous(un_exp2(x)), *b = un_contiguous(un_neg(x));
  un_tensor *z = un_contiguous(un_add(a, b)), *w = un_mul(z, a);
  realise(a);
  realise(b);
  uint64_t before = stats().kernels_launched;
  un_tensor *both[] = {w, z};
  cr_assert_eq(un_realize(cx, 2, both), UN_OK);
  cr_expect_leq(stats().kernels_launched - before, 2, "exp2 and neg are stored");
  RUNS(0, z, 2, 1, 2);
  RUNS(0, w, 2, 2, 8);
}

/* ---- lifetime ---- */

Test(stored, a_dropped_value_is_not_kept_alive) {
  float v[1000] = {0};
  un_tensor *x = floats(1000, v), *y = un_exp2(x), *z = un_adds(y, 1);
  uint64_t bytes = stats().bytes_live;
  realise(y);
  cr_expect_eq(stats().bytes_live, bytes + sizeof v);
  un_release(y);
  un_collect(cx);
  cr_expect_eq(stats().bytes_live, bytes, "z is pending on exp2(x), which holds nothing");
  float have[1000];
  cr_assert_eq(un_read(z, have, sizeof have), UN_OK);
  cr_expect_eq(have[999], 2);
}

Test(stored, a_value_lives_as_long_as_its_last_handle) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *a = un_adds(x, 1), *b = un_adds(x, 1), *z = un_sum(un_mul(b, b), un_list(0), false);
  realise(a);
  realise(b);
  un_release(a);
  un_release(x);
  un_collect(cx);
  RUNS(1, z, 1, 13);
  RUNS(0, b, 2, 2, 3);
}

/* The expression goes before its buffer, and the other way round; both orders leave nothing. */
Test(stored, either_may_go_first) {
  const float v[] = {1, 2};
  for (int order = 0; order < 2; order++) {
    un_scope_push(cx);
    un_tensor *x = floats(2, v), *a = un_adds(x, 1), *b = un_adds(x, 1);
    realise(a);
    un_release(order ? a : b);
    un_collect(cx);
    if (order)
      RUNS(1, b, 2, 2, 3);
    else
      RUNS(1, un_adds(x, 1), 2, 2, 3);
    un_scope_pop(cx);
    un_collect(cx);
    cr_expect_eq(stats().live_nodes, 0);
    cr_expect_eq(stats().bytes_live, 0);
  }
}

Test(stored, rounds_of_shared_work_do_not_grow, .timeout = 60) {
  const float v[] = {1, 2};
  uint64_t nodes = 0, bytes = 0;
  un_tensor *x = floats(2, v), *pending = un_exp2(x);
  for (int i = 0; i < 20000; i++) {
    un_scope_push(cx);
    un_tensor *y = un_exp2(x), *z = un_muls(un_contiguous(y), i % 7);
    realise(y);
    realise(z);
    un_scope_pop(cx);
    if (i == 1000) nodes = stats().live_nodes, bytes = stats().bytes_live;
  }
  cr_expect(stats().live_nodes <= nodes + 200, "%d nodes after %d", (int)stats().live_nodes, (int)nodes);
  cr_expect(stats().bytes_live <= bytes + 4096);
  RUNS(1, pending, 2, 2, 4);
}

/* ---- assign and touch ---- */

Test(stored, pending_readers_of_the_old_version) {
  const float v[] = {1, 2};
  un_tensor *w = floats(2, v), *old = un_muls(w, 10), *older = un_contiguous(un_adds(w, 5)), *both = un_add(old, older);
  un_assign(w, un_adds(w, 1));
  realise(w);
  realise(older);
  un_assign(w, un_muls(w, 2));
  RUNS(1, w, 2, 4, 6);
  RUNS(1, both, 2, 16, 27);
  RUNS(1, old, 2, 10, 20);
}

Test(stored, self_assign_and_chains) {
  const float v[] = {1, 2};
  un_tensor *w = floats(2, v);
  un_assign(w, w);
  RUNS(0, w, 2, 1, 2);
  for (int i = 0; i < 5; i++) un_assign(w, un_adds(w, 1));
  un_tensor *before = un_muls(w, 2);
  RUNS(1, w, 2, 6, 7);
  RUNS(1, before, 2, 12, 14);
  un_assign(w, un_add(w, w));
  un_assign(w, un_add(w, w));
  RUNS(1, w, 2, 24, 28);
  realise(w);
  un_assign(w, w);
  RUNS(0, w, 2, 24, 28);
}

Test(stored, overlapping_views) {
  const float v[] = {1, 2, 3, 4};
  un_tensor *w = floats(4, v), *left = un_slice(w, 0, 0, 3, 1), *right = un_slice(w, 0, 1, 4, 1);
  realise(left);
  un_tensor *parts[] = {right, un_slice(w, 0, 0, 1, 1)};
  un_assign(w, un_cat(cx, 2, parts, 0));
  un_tensor *shifted = un_sub(un_slice(w, 0, 0, 3, 1), left);
  realise(w);
  RUNS(1, shifted, 3, 1, 1, 1);
  RUNS(1, right, 3, 2, 3, 4);
  RUNS(0, left, 3, 1, 2, 3);
  un_assign(w, un_flip(w, un_list(0)));
  RUNS(1, w, 4, 1, 4, 3, 2);
}

Test(stored, assign_then_drop) {
  const float v[] = {1, 2};
  un_tensor *w = floats(2, v), *reader = un_muls(un_contiguous(un_exp2(w)), 3);
  un_assign(w, un_exp2(w));
  realise(w);
  un_release(w);
  un_collect(cx);
  RUNS(2, reader, 2, 6, 12);
}

/* The value under an assigned handle is found by readers that name the expression themselves. */
Test(stored, an_assigned_value_serves_its_expression) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *w = floats(2, v), *reader = un_sum(un_contiguous(un_exp2(x)), un_list(0), false);
  un_assign(w, un_contiguous(un_exp2(x)));
  realise(w);
  RUNS(1, reader, 1, 6);
  un_assign(w, floats(2, v));
  un_collect(cx);
  RUNS(1, un_neg(un_exp2(x)), 2, -2, -4);
}

Test(stored, borrowed_data_and_touch) {
  float v[] = {1, 2};
  un_tensor *x = un_wrap_data(cx, UN_F32, un_shape(1, 2), v), *y = un_adds(x, 1), *z = un_muls(y, 2);
  RUNS(1, y, 2, 2, 3);
  v[0] = 10;
  cr_assert_eq(un_touch(x), UN_OK);
  un_tensor *fresh = un_adds(x, 1);
  RUNS(1, fresh, 2, 11, 3);
  RUNS(1, un_muls(fresh, 2), 2, 22, 6);
  RUNS(0, y, 2, 2, 3);
  RUNS(1, z, 2, 4, 6); /* what it was built from is stored */
  v[1] = 20;
  cr_assert_eq(un_touch(x), UN_OK);
  RUNS(1, un_adds(x, 1), 2, 11, 21);
  RUNS(0, fresh, 2, 11, 3);
}
