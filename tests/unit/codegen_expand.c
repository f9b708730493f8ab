/* Expansion and accumulators: values are kept, lanes are vectors, loops are shared. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "codegen/expand.h"
#include "opt/opt.h"
#include "opt_kernels.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(expand, g);

static const un_uop *applied(const kern *k, const un__target *t, uint32_t n, const un__opt_step *steps) {
  un__opt_plan plan = {.n = n};
  for (uint32_t i = 0; i < n; i++) plan.step[i] = steps[i];
  const un_uop *out = un__opt_apply(g, k->root, &plan, t, UN__LIC_PRECISE);
  cr_assert(out, "%s", err.text);
  return out;
}
#define APPLIED(k, ...)                                                                                                \
  applied(&(k), un__target_generic(), sizeof((un__opt_step[]){__VA_ARGS__}) / sizeof(un__opt_step),                    \
          (un__opt_step[]){__VA_ARGS__})

static const un_uop *expanded(const un_uop *kernel) {
  const un_uop *out = un__expand(g, kernel, un__target_generic(), UN__LIC_PRECISE);
  cr_assert(out, "%s", err.text);
  return out;
}

/* How many nodes of an op with that many lanes (0: any number) there are. */
static uint32_t count(const un_uop *root, un__op op, uint32_t lanes) {
  size_t n;
  const un_uop **order = un__toposort(root, &n);
  uint32_t found = 0;
  for (size_t i = 0; i < n; i++) {
    const un_uop *x = un__is(order[i], UN__OP_STORE) ? order[i]->src[1] : order[i];
    found += un__is(order[i], op) && (!lanes || un__lanes(x) == lanes);
  }
  un__free(order);
  return found;
}

/* ---- shapes ---- */

Test(expand, unit_stride_becomes_vector_access) {
  kern k = k_flat(g, UN_F32, 64);
  const un_uop *e = expanded(APPLIED(k, {0, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_LOAD, 8), 1);
  cr_expect_eq(count(e, UN__OP_STORE, 8), 1);
  cr_expect_eq(count(e, UN__OP_ADD, 8), 1);
  cr_expect_eq(count(e, UN__OP_LOAD, 0) + count(e, UN__OP_STORE, 0), 2);
}

Test(expand, other_strides_become_an_access_a_lane) {
  kern k = k_transpose(g, UN_F32, 8, 16, false);
  const un_uop *e = expanded(APPLIED(k, {1, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_LOAD, 1), 8);
  cr_expect_eq(count(e, UN__OP_VECTORIZE, 8), 1);
  cr_expect_eq(count(e, UN__OP_STORE, 8), 1);
  e = expanded(APPLIED(k, {0, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_LOAD, 8), 1);
  cr_expect_eq(count(e, UN__OP_GEP, 1), 8);
  cr_expect_eq(count(e, UN__OP_STORE, 1), 8);
}

Test(expand, division_within_a_row_is_unit_stride) {
  kern k = k_transpose(g, UN_F32, 16, 16, true); /* store at r, load at (r % 16) * 16 + r / 16 */
  const un_uop *e = expanded(APPLIED(k, {0, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_STORE, 8), 1);
  cr_expect_eq(count(e, UN__OP_LOAD, 1), 8);
}

Test(expand, only_the_newest_power_of_two_is_a_lane) {
  kern k = k_matmul(g, UN_F32, 12, 16, 5, false, false);
  const un_uop *e = expanded(APPLIED(k, {0, UN__AXIS_UPCAST, 4, true}, {1, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_REDUCE, 8), 4, "four rows of vectors");
  cr_expect_eq(count(e, UN__OP_STORE, 8), 4);
  cr_expect_eq(count(e, UN__OP_LOAD, 8), 1, "the row of b is shared");
  cr_expect_eq(count(e, UN__OP_LOAD, 1), 4);
  e = expanded(APPLIED(k, {1, UN__AXIS_UPCAST, 8, true}, {0, UN__AXIS_UPCAST, 3, true}));
  cr_expect_eq(count(e, UN__OP_STORE, 1), 24, "3 is no power of two: copies only");
}

Test(expand, unrolled_outputs_are_never_lanes) {
  kern k = k_chain(g, UN_F32, 4, 16);
  const un_uop *e = expanded(APPLIED(k, {1, UN__AXIS_UNROLL, 4, true}));
  cr_expect_eq(count(e, UN__OP_STORE, 1), 4);
}

Test(expand, lanes_of_a_reduction_combine_after_the_loop) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 3, 64, true);
  const un_uop *e = expanded(APPLIED(k, {1, UN__AXIS_UNROLL, 32, true}, {2, UN__AXIS_UNROLL, 8, true}));
  cr_expect_eq(count(e, UN__OP_REDUCE, 8), 4, "four accumulators");
  cr_expect_eq(count(e, UN__OP_HREDUCE, 1), 1);
  cr_expect_eq(count(e, UN__OP_ADD, 8), 3);
}

Test(expand, uniform_gates_stay_scalar) {
  kern k = k_gather(g, UN_F32, 4, 16);
  const un_uop *e = expanded(APPLIED(k, {1, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_LOAD, 8), 1);
  cr_expect_eq(count(e, UN__OP_AND, 8), 0);
  e = expanded(APPLIED(k, {0, UN__AXIS_UPCAST, 4, true}));
  cr_expect_eq(count(e, UN__OP_LOAD, 1), 8, "a row number and an element a lane");
}

Test(expand, a_reduction_inside_a_lane_has_none) {
  kern k = k_matmul(g, UN_F32, 4, 16, 16, false, false);
  const un_uop *e = expanded(APPLIED(k, {1, UN__AXIS_UPCAST, 8, true}, {2, UN__AXIS_UNROLL, 4, true}));
  cr_expect_eq(count(e, UN__OP_HREDUCE, 0), 0);
  cr_expect_eq(count(e, UN__OP_REDUCE, 8), 4);
}

Test(expand, too_many_accumulators_are_added_up_inside) {
  kern k = k_matmul(g, UN_F32, 8, 64, 16, false, false);
  const un_uop *e =
      expanded(APPLIED(k, {0, UN__AXIS_UPCAST, 4, true}, {2, UN__AXIS_UNROLL, 4, true}, {1, UN__AXIS_UPCAST, 8, true}));
  cr_expect_eq(count(e, UN__OP_REDUCE, 8), 4, "not 16");
}

/* ---- accumulators ---- */

/* Every range is closed by one END. */
static void check_accumulated(const un_uop *a, const char *what) {
  size_t n;
  const un_uop **order = un__toposort(a, &n);
  for (size_t i = 0; i < n; i++) {
    cr_assert(!un__is(order[i], UN__OP_REDUCE), "%s: a reduction is left", what);
    uint32_t closers = 0;
    for (size_t j = 0; un__is(order[i], UN__OP_RANGE) && j < n; j++)
      for (uint32_t s = 1; un__is(order[j], UN__OP_END) && s < order[j]->nsrc; s++)
        closers += order[j]->src[s] == order[i];
    if (un__is(order[i], UN__OP_RANGE)) cr_assert_eq(closers, 1, "%s: a range is closed %u times", what, closers);
  }
  un__free(order);
}

Test(expand, reductions_over_the_same_ranges_share_a_loop) {
  kern k = k_spread(g, UN_F32, 4, 16);
  const un_uop *a = un__accumulate(g, k.root, un__target_generic(), 0);
  cr_assert(a, "%s", err.text);
  check_accumulated(a, "spread");
  cr_expect_eq(count(a, UN__OP_DEFINE_REG, 0), 2);
  cr_expect_eq(count(a, UN__OP_END, 0), 2);
}

Test(expand, nested_reductions_are_loops_one_after_the_other) {
  kern k = k_softmax(g, UN_F32, 4, 16);
  const un_uop *a = un__accumulate(g, k.root, un__target_generic(), 0);
  cr_assert(a, "%s", err.text);
  check_accumulated(a, "softmax");
  cr_expect_eq(count(a, UN__OP_END, 0), 3);
}

Test(expand, accumulators_start_as_the_neutral_element) {
  kern k = k_reduce(g, UN_F32, UN__OP_MAX, 4, 16, true);
  const un_uop *a = un__accumulate(g, k.root, un__target_generic(), 0);
  un__strbuf s;
  un__sb_init(&s);
  un__print_text(&s, a, "max", UN__STAGE_KERNEL, false);
  cr_expect(strstr(un__sb_str(&s), "[val=-inf]"), "%s", un__sb_str(&s));
  un__sb_finish(&s);
}

/* ---- values ---- */

static void check_values(const kern *k, const un_uop *optimised, const un__target *t, const char *what, uint64_t seed) {
  un__err e = {0};
  const un_uop *x = un__expand(g, optimised, t, UN__LIC_PRECISE);
  cr_assert(x, "%s: %s", what, err.text);
  data want = data_new(k, seed), have = data_new(k, seed);
  cr_assert_eq(k_run(k, k->root, &want, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert_eq(k_run(k, x, &have, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert(data_same(k, &want, &have), "%s: results differ", what);
  data_free(&want);
  data_free(&have);
  const un_uop *a = un__accumulate(g, x, t, UN__LIC_PRECISE);
  cr_assert(a, "%s: %s", what, err.text);
  check_accumulated(a, what);
}

static const un_dtype dtypes[] = {UN_F32, UN_I32, UN_BOOL, UN_I8,  UN_U8,   UN_I16, UN_U16,
                                  UN_U32, UN_I64, UN_U64,  UN_F16, UN_BF16, UN_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

Test(expand, heuristics_keep_results_for_every_kernel_and_dtype) {
  for (uint32_t kind = 0; kind < KERNEL_KINDS; kind++)
    for (uint32_t d = 0; d < DTYPES; d++)
      for (int t = 0; t < 2; t++) {
        kern k = k_any(g, kind, dtypes[d], 5, 11 + (int64_t)d, 7);
        un__opt_plan plan;
        const un__target *target = t ? &wide : un__target_generic();
        cr_assert_eq(un__opt_heuristic(k.root, target, UN__LIC_PRECISE, &plan, NULL), UN_OK);
        char what[64];
        snprintf(what, sizeof what, "kernel %u dtype %s target %d", kind, un__dt_info(UN__DT(dtypes[d]))->name, t);
        check_values(&k, applied(&k, target, plan.n, plan.step), target, what, kind);
      }
}

Test(expand, ragged_sizes_keep_results) {
  for (int64_t n = 1; n <= 70; n++)
    for (uint32_t kind = 0; kind < KERNEL_KINDS; kind++) {
      if ((n + kind) % 3) continue;
      kern k = k_any(g, kind, UN_F32, 3, n, 3);
      un__opt_plan plan;
      cr_assert_eq(un__opt_heuristic(k.root, un__target_generic(), UN__LIC_PRECISE, &plan, NULL), UN_OK);
      char what[64];
      snprintf(what, sizeof what, "kernel %u size %d", kind, (int)n);
      check_values(&k, applied(&k, un__target_generic(), plan.n, plan.step), un__target_generic(), what, (uint64_t)n);
    }
}

Test(expand, random_legal_plans_keep_results, .timeout = 60) {
  for (uint64_t seed = 1; seed <= 300; seed++) {
    rng r = {seed * 104729};
    teardown();
    setup();
    kern k = k_any(g, (uint32_t)rng_upto(&r, KERNEL_KINDS), dtypes[rng_upto(&r, DTYPES)], 1 + rng_upto(&r, 6),
                   1 + rng_upto(&r, 20), 1 + rng_upto(&r, 9));
    const un_uop *now = k.root;
    for (int i = 0; i < 10; i++) {
      un__opt_plan plan = {1, {k_random_step(now, &r)}};
      if (!un__opt_legal(now, &plan.step[0], un__target_generic(), UN__LIC_PRECISE, NULL)) continue;
      now = un__opt_apply(g, now, &plan, un__target_generic(), UN__LIC_PRECISE);
      cr_assert(now, "seed %d: %s", (int)seed, err.text);
    }
    char what[32];
    snprintf(what, sizeof what, "seed %d", (int)seed);
    check_values(&k, now, un__target_generic(), what, seed);
  }
}
