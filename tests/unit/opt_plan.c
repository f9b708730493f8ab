/* The optimiser: what is legal, that every legal plan keeps the results, and what the heuristics say. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "opt/opt.h"
#include "opt/work.h"
#include "opt_kernels.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(opt, g);

/* ---- legality ---- */

static const char *refusal(const kern *k, un__opt_step s, uint32_t licences) {
  static un__err e;
  e = (un__err){0};
  return un__opt_legal(k->root, &s, un__target_generic(), licences, &e) ? "" : e.text;
}

#define REFUSED(kernel, licences, text, ...)                                                                           \
  cr_expect(strstr(refusal(&(kernel), (un__opt_step){__VA_ARGS__}, licences), text), "said: %s",                       \
            refusal(&(kernel), (un__opt_step){__VA_ARGS__}, licences))
#define ALLOWED(kernel, licences, ...) cr_expect_str_empty(refusal(&(kernel), (un__opt_step){__VA_ARGS__}, licences))

Test(opt, steps_are_refused_with_the_reason) {
  kern mm = k_matmul(g, UN_F32, 64, 64, 64, false, false), soft = k_softmax(g, UN_F32, 64, 64);
  kern sum = k_total(g, UN_F32, 64), imm = k_matmul(g, UN_I32, 64, 64, 64, false, false),
       sym = k_symbolic(g, UN_F32, 64, 3);
  REFUSED(mm, 0, "no such range", 9, UN__AXIS_UPCAST, 8, true);
  REFUSED(mm, 0, "has no blocks", 0, UN__AXIS_GLOBAL, 8, true);
  REFUSED(mm, 0, "cannot become", 0, UN__AXIS_REDUCE, 8, true);
  REFUSED(mm, 0, "cannot become", 2, UN__AXIS_UPCAST, 8, true);
  REFUSED(mm, 0, "at least 2", 0, UN__AXIS_UPCAST, 1, true);
  REFUSED(mm, 0, "at least 2", 0, UN__AXIS_UPCAST, -8, true);
  REFUSED(mm, 0, "padding", 0, UN__AXIS_UPCAST, 128, true);
  REFUSED(mm, 0, "too many copies", 0, UN__AXIS_UPCAST, 512, true);
  REFUSED(mm, 0, "larger than the range", 0, UN__AXIS_LOOP, 65, true);
  REFUSED(mm, 0, "already", 0, UN__AXIS_LOOP, 0, true);
  REFUSED(mm, 0, "outer part", 0, UN__AXIS_UPCAST, 8, false);
  REFUSED(mm, 0, "outer part", 0, UN__AXIS_THREAD, 8, true);
  REFUSED(mm, 0, "reduce_order", 2, UN__AXIS_UNROLL, 8, true);
  REFUSED(sym, 0, "constant size", 0, UN__AXIS_UPCAST, 0, true);
  REFUSED(soft, 0, "outside the inner loops", 0, UN__AXIS_LOOP, 4, true);
  REFUSED(sum, UN__LIC_PRECISE, "no such range", 7, UN__AXIS_THREAD, 4, false);
  ALLOWED(mm, UN__LIC_PRECISE, 2, UN__AXIS_UNROLL, 8, true);
  ALLOWED(soft, 0, 1, UN__AXIS_THREAD, 4, false);
  ALLOWED(mm, 0, 2, UN__AXIS_REDUCE, 8, true);
  ALLOWED(imm, 0, 2, UN__AXIS_UNROLL, 8, true);
  ALLOWED(mm, 0, 0, UN__AXIS_THREAD, 0, false);
  ALLOWED(sym, 0, 0, UN__AXIS_UPCAST, 8, true);
  ALLOWED(soft, 0, 0, UN__AXIS_THREAD, 4, false);
}

Test(opt, a_plan_with_an_illegal_step_fails_and_says_why) {
  kern mm = k_matmul(g, UN_F32, 8, 8, 8, false, false);
  un__opt_plan plan = {2, {{0, UN__AXIS_UPCAST, 4, true}, {0, UN__AXIS_GLOBAL, 2, true}}};
  cr_assert_null(un__opt_apply(g, mm.root, &plan, un__target_generic(), 0));
  cr_assert(strstr(err.text, "global"), "%s", err.text);
}

Test(opt, interp_gets_no_vectors_and_no_threads) {
  kern mm = k_matmul(g, UN_F32, 256, 256, 64, false, false);
  un__opt_plan plan;
  cr_assert_eq(un__opt_heuristic(mm.root, un__target_interp(), UN__LIC_PRECISE, &plan, NULL), UN_OK);
  cr_assert_eq(plan.n, 0);
}

/* ---- every plan keeps the results ---- */

static void check_same(const kern *k, const un_uop *got, const char *what, uint64_t seed) {
  un__err e = {0};
  data want = data_new(k, seed), have = data_new(k, seed);
  cr_assert_eq(k_run(k, k->root, &want, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert_eq(k_run(k, got, &have, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert(data_same(k, &want, &have), "%s: results differ", what);
  data_free(&want);
  data_free(&have);
  cr_assert_eq(un__verify(got, UN__STAGE_KERNEL, &e, NULL), UN_OK, "%s: %s", what, e.text);
}

static const un_dtype dtypes[] = {UN_F32, UN_I32, UN_BOOL, UN_I8,  UN_U8,   UN_I16, UN_U16,
                                  UN_U32, UN_I64, UN_U64,  UN_F16, UN_BF16, UN_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

Test(opt, heuristics_keep_results_for_every_kernel_and_dtype) {
  for (uint32_t kind = 0; kind < KERNEL_KINDS; kind++)
    for (uint32_t d = 0; d < DTYPES; d++)
      for (int t = 0; t < 2; t++) {
        kern k = k_any(g, kind, dtypes[d], 5, 11 + (int64_t)d, 7);
        un__opt_plan plan;
        const un__target *target = t ? &wide : un__target_generic();
        cr_assert_eq(un__opt_heuristic(k.root, target, UN__LIC_PRECISE, &plan, NULL), UN_OK);
        const un_uop *out = un__opt_apply(g, k.root, &plan, target, UN__LIC_PRECISE);
        char what[64];
        snprintf(what, sizeof what, "kernel %u dtype %s target %d", kind, un__dt_info(UN__DT(dtypes[d]))->name, t);
        cr_assert(out, "%s: %s", what, err.text);
        check_same(&k, out, what, kind);
      }
}

Test(opt, ragged_sizes_are_expanded_too) {
  for (int64_t n = 1; n <= 70; n++)
    for (uint32_t kind = 0; kind < KERNEL_KINDS; kind += 2) {
      kern k = k_any(g, kind, UN_I32, 3, n, 3);
      un__opt_plan plan;
      cr_assert_eq(un__opt_heuristic(k.root, un__target_generic(), UN__LIC_PRECISE, &plan, NULL), UN_OK);
      const un_uop *out = un__opt_apply(g, k.root, &plan, un__target_generic(), UN__LIC_PRECISE);
      char what[64];
      snprintf(what, sizeof what, "kernel %u size %d", kind, (int)n);
      cr_assert(out, "%s: %s", what, err.text);
      check_same(&k, out, what, (uint64_t)n);
    }
}

Test(opt, random_legal_plans_keep_results, .timeout = 60) {
  uint32_t taken = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    rng r = {seed * 7919};
    teardown();
    setup();
    kern k = k_any(g, (uint32_t)rng_upto(&r, KERNEL_KINDS), dtypes[rng_upto(&r, DTYPES)], 1 + rng_upto(&r, 6),
                   1 + rng_upto(&r, 20), 1 + rng_upto(&r, 9));
    const un_uop *now = k.root;
    char what[32];
    snprintf(what, sizeof what, "seed %d", (int)seed);
    for (int i = 0; i < 12; i++) {
      un__opt_plan plan = {1, {k_random_step(now, &r)}};
      if (!un__opt_legal(now, &plan.step[0], un__target_generic(), UN__LIC_PRECISE, NULL)) continue;
      const un_uop *next = un__opt_apply(g, now, &plan, un__target_generic(), UN__LIC_PRECISE);
      cr_assert(next, "%s: %s", what, err.text);
      now = next;
      taken++;
    }
    check_same(&k, now, what, seed);
  }
  cr_assert_gt(taken, 800, "only %u steps were legal", taken);
}

/* ---- what the heuristics say ---- */

static void check_why(const kern *k, const un__target *t, uint32_t licences, const char *want) {
  un__opt_plan plan;
  un__strbuf why;
  un__sb_init(&why);
  cr_assert_eq(un__opt_heuristic(k->root, t, licences, &plan, &why), UN_OK);
  cr_expect_str_eq(un__sb_str(&why), want, "got:\n%s", un__sb_str(&why));
  un__sb_finish(&why);
}

Test(opt, why_matmul) {
  kern k = k_matmul(g, UN_F32, 1024, 1024, 1024, false, false);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: range 1 of the store nest, 8 lanes of 4 bytes: 2 accesses in order, 0 one by one; work 537001984 "
            "against 1754267648\n"
            "reuse: 6 values of range 0 side by side: 1 loads shared, 16 vector registers\n"
            "reuse: 2 vectors of range 1 side by side: one broadcast feeds them all\n"
            "stage: 1024 x 16 values for each block of range 1, read by 1026 rows of range 0 inside it\n"
            "threads: 8 tasks of range 1: work 4296015872, 2 threads\n");
}

Test(opt, why_matmul_wide_vectors) {
  kern k = k_matmul(g, UN_F32, 512, 512, 512, false, false);
  check_why(&k, &wide, UN__LIC_PRECISE,
            "lanes: range 1 of the store nest, 16 lanes of 4 bytes: 2 accesses in order, 0 one by one; work 33570816 "
            "against 197394432\n"
            "reuse: 8 values of range 0 side by side: 1 loads shared, 32 vector registers\n"
            "reuse: 2 vectors of range 1 side by side: one broadcast feeds them all\n"
            "stage: 512 x 32 values for each block of range 1, read by 512 rows of range 0 inside it\n"
            "threads: 8 tasks of range 1: work 537133056, 4 threads\n");
}

Test(opt, why_matmul_of_rows_with_rows) {
  kern k = k_matmul(g, UN_F32, 512, 512, 512, false, true);
  check_why(
      &k, &wide, UN__LIC_PRECISE,
      "lanes: store nest of range 0 stays scalar: no axis makes less work (work 38010880)\n"
      "lanes: range 2 of the reduction nest, 16 lanes of 4 bytes: 2 accesses in order, 0 one by one; work 37748736 "
      "against 536870912\n"
      "reuse: 4 values of range 1 side by side: 1 loads shared, 32 vector registers\n"
      "reuse: 4 values of range 0 side by side: 1 loads shared, 32 vector registers\n"
      "tiles: 16 blocks of range 0 inside range 1: its panel of 1048576 bytes is more than half of L2 (1048576 bytes)\n"
      "threads: 8 tasks of range 0: work 537133056, 4 threads\n");
}

Test(opt, why_row_sum) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 256, 4096, true);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: store nest of range 0 stays scalar: no axis makes less work (work 264448)\n"
            "lanes: range 1 of the reduction nest, 8 lanes of 4 bytes: 1 accesses in order, 0 one by one; work 264192 "
            "against 2097152\n"
            "chains: 4 accumulators along range 1: 2 operations a vector, 1 sums side by side already\n"
            "threads: 8 tasks of range 0: work 2097408, 2 threads\n");
}

Test(opt, why_strict_keeps_order) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 256, 4096, true);
  check_why(&k, un__target_generic(), UN__LIC_STRICT,
            "lanes: range 0 of the store nest, 8 lanes of 4 bytes: 1 accesses in order, 1 one by one; work 1441824 "
            "against 2097408\n"
            "threads: 8 tasks of range 0: work 2097408, 2 threads\n");
}

Test(opt, why_column_sum) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 4096, 256, false);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: range 0 of the store nest, 8 lanes of 4 bytes: 2 accesses in order, 0 one by one; work 262656 "
            "against 1478656\n"
            "reuse: 8 vectors of range 0 side by side: independent accumulators, long runs of every row\n"
            "threads: 8 tasks of range 0: work 2101248, 2 threads\n");
}

Test(opt, why_softmax) {
  kern k = k_softmax(g, UN_F32, 512, 512);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: range 1 of the store nest, 8 lanes of 4 bytes: 2 accesses in order, 0 one by one; work 303104 "
            "against 1220608\n"
            "lanes: range 3 of the reduction nest, 8 lanes of 4 bytes: 1 accesses in order, 0 one by one; work 102400 "
            "against 786432\n"
            "lanes: range 2 of the reduction nest, 8 lanes of 4 bytes: 1 accesses in order, 0 one by one; work 69632 "
            "against 524288\n"
            "chains: 4 accumulators along range 2: 2 operations a vector, 1 sums side by side already\n"
            "chains: 4 accumulators along range 3: 3 operations a vector, 1 sums side by side already\n"
            "wide: 4 vectors of range 1 an iteration: 4 operations a vector\n"
            "threads: 8 tasks of range 0: work 2359296, 2 threads\n");
}

Test(opt, why_elementwise) {
  kern k = k_flat(g, UN_F32, 1000000);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: range 0 of the store nest, 8 lanes of 4 bytes: 2 accesses in order, 0 one by one; work 375000 "
            "against 3000000\n"
            "wide: 4 vectors of range 0 an iteration: 3 operations a vector\n"
            "threads: 8 tasks of range 0: work 3000000, 2 threads\n");
}

Test(opt, why_transpose) {
  kern k = k_transpose(g, UN_F32, 1024, 1024, false);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: range 1 of the store nest, 8 lanes of 4 bytes: 1 accesses in order, 1 one by one; work 1441792 "
            "against 2097152\n"
            "cross: 8 values of range 0 side by side: rows of 8 for each of 8 lanes of range 1\n"
            "tiles: 8 values of range 0 inside: a cache line of 64 bytes is used whole while it is there\n"
            "threads: 8 tasks of range 0: work 2097152, 2 threads\n");
}

Test(opt, why_one_huge_sum) {
  kern k = k_total(g, UN_F32, 1 << 24);
  check_why(&k, un__target_generic(), UN__LIC_PRECISE,
            "lanes: range 0 of the reduction nest, 8 lanes of 4 bytes: 1 accesses in order, 0 one by one; work 4194312 "
            "against 33554432\n"
            "chains: 4 accumulators along range 0: 2 operations a vector, 1 sums side by side already\n"
            "threads: one, sequential: no loop encloses every result (work 33554433)\n");
}

/* ---- how much there is to do ---- */

#define WORK(k, r, w, ops)                                                                            \
  do {                                                                                                \
    un__opt_work have;                                                                                \
    kern it = (k);                                                                                    \
    cr_assert_eq(un__opt_work_of(it.root, un__target_generic(), &have, &err), UN_OK, "%s", err.text); \
    cr_expect_eq(have.read, (uint64_t)(r), "%llu bytes read", (unsigned long long)have.read);         \
    cr_expect_eq(have.written, (uint64_t)(w), "%llu written", (unsigned long long)have.written);      \
    cr_expect_eq(have.operations, (uint64_t)(ops), "%llu operations", (unsigned long long)have.operations); \
  } while (0)

/* Elements count once, however often they are loaded; what is computed in an inner loop counts for each round. */
Test(opt, work_is_counted_by_elements_and_rounds) {
  WORK(k_matmul(g, UN_F32, 64, 32, 16, false, false), 4 * (64 * 16 + 16 * 32), 4 * 64 * 32, 2 * 64 * 32 * 16);
  WORK(k_reduce(g, UN_F16, UN__OP_ADD, 10, 100, true), 2 * 1000, 2 * 10, 1000);
  WORK(k_total(g, UN_F64, 1000), 8000, 8, 1000);
  WORK(k_flat(g, UN_I8, 77), 77, 77, 77);
  WORK(k_chain(g, UN_F32, 8, 16), 4 * (8 * 16 + 16), 4 * 8 * 16, 2 * 8 * 16);
  /* One row of it: the maximum, then differences and their sum. */
  WORK(k_softmax(g, UN_F32, 1, 100), 400, 400, 100 + 100 + 100 + 2 * 100);
}
