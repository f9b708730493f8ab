/* From kernels to lists: the list is a valid one and computes what the kernel computes. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "codegen/codegen.h"
#include "opt/opt.h"
#include "opt_kernels.h"

static un__err err;
static un__graph *g;

static void setup(void) {
  err = (un__err){0};
  g = un__workspace_create(&err);
}
static void teardown(void) { un__workspace_destroy(g); }
TestSuite(lower, .init = setup, .fini = teardown, .timeout = 110);

static const un_uop *lowered(const un_uop *kernel, const un__target *t) {
  const un_uop *list = un__lower(g, kernel, t, UN__LIC_PRECISE);
  if (!list) {
    un__strbuf text;
    un__sb_init(&text);
    un__print_text(&text, kernel, "kernel", UN__STAGE_KERNEL, false);
    cr_assert(false, "%s\n%s", err.text, un__sb_str(&text));
  }
  un__strbuf notes;
  un__sb_init(&notes);
  un_status st = un__verify(list, UN__STAGE_LINEAR, &err, &notes);
  cr_assert_eq(st, UN_OK, "%s\n%s", err.text, un__sb_str(&notes));
  un__sb_finish(&notes);
  return list;
}

static void run_tasks(const kern *k, const un_uop *list, data *d) {
  un__linear_facts f = un__linear_facts_of(list);
  cr_assert(f.tasks >= 1 && f.nargs <= k->nargs);
  for (int64_t task = 0; task < f.tasks; task++) {
    un_status st = un__interp_kernel(list, d->arg, k->size, k->nargs, k->vars, task, &err);
    cr_assert_eq(st, UN_OK, "%s", err.text);
  }
}

static void same_results(const kern *k, const un_uop *kernel, const un__target *t, const char *what) {
  data want = data_new(k, 7), got = data_new(k, 7);
  cr_assert_eq(k_run(k, k->root, &want, &err), UN_OK, "%s", err.text);
  const un_uop *list = lowered(kernel, t);
  run_tasks(k, list, &got);
  if (!data_same(k, &want, &got)) {
    un__strbuf text;
    un__sb_init(&text);
    un__print_text(&text, kernel, "kernel", UN__STAGE_KERNEL, false);
    un__print_text(&text, list, "list", UN__STAGE_LINEAR, false);
    cr_assert(false, "%s: the list computes something else\n%s", what, un__sb_str(&text));
  }
  data_free(&want);
  data_free(&got);
}

static const un__target wide_f16 = {
  .name = "cpu-512", .threads = 4, .vector_bytes = 64, .vector_registers = 32, .l1_bytes = 48 << 10, .l2_bytes = 1 << 20,
  .cache_line = 64, .has_threads = true, .fma = true, .f16_convert = true, .min_parallel_work = 64,
};

static const un_dtype dtypes[] = {UN_F32, UN_F64, UN_I32, UN_I64, UN_U8, UN_F16, UN_BF16, UN_BOOL, UN_I16, UN_U32};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* As rangeify left them: only LOOP and REDUCE. */
Test(lower, plain_kernels) {
  for (uint32_t kind = 0; kind < KERNEL_KINDS; kind++)
    for (int d = 0; d < DTYPES; d++) {
      kern k = k_any(g, kind, dtypes[d], 3, 5, 4);
      char what[64];
      snprintf(what, sizeof what, "kernel %u of %s", kind, un__dtype_table[dtypes[d]].name);
      same_results(&k, k.root, un__target_interp(), what);
    }
}

/* As the heuristics leave them. */
Test(lower, optimised_kernels) {
  rng r = {12345};
  for (int round = 0; round < 300; round++) {
    uint32_t kind = (uint32_t)rng_upto(&r, KERNEL_KINDS);
    un_dtype d = dtypes[rng_upto(&r, DTYPES)];
    int64_t m = 1 + rng_upto(&r, 20), n = 1 + rng_upto(&r, 40), depth = 1 + rng_upto(&r, 20);
    if (un__dt_info(UN__DT(d))->size == 2 && un__dt_is_float(UN__DT(d))) {      /* so that sums stay exact */
      m = 1 + m % 6;
      n = 1 + n % 9;
    }
    const un__target *t = round % 2 ? &wide_f16 : un__target_generic();
    un__graph *all = g;
    g = un__workspace_create(&err);
    kern k = k_any(g, kind, d, m, n, depth);
    un__opt_plan plan = {0};
    cr_assert_eq(un__opt_heuristic(k.root, t, UN__LIC_PRECISE, &plan, NULL), UN_OK, "%s", err.text);
    const un_uop *kernel = un__opt_apply(g, k.root, &plan, t, UN__LIC_PRECISE);
    cr_assert(kernel, "%s", err.text);
    char what[96];
    snprintf(what, sizeof what, "round %d: kernel %u of %s, %lld x %lld x %lld", round, kind, un__dtype_table[d].name,
             (long long)m, (long long)n, (long long)depth);
    same_results(&k, kernel, t, what);
    un__workspace_destroy(g);
    g = all;
  }
}

/* ---- index width ---- */

static uint32_t count(const un_uop *list, un__op op, un_dtype dt) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->nsrc; i++) n += un__is(list->src[i], op) && un__dt_scalar(list->src[i]->dtype) == dt;
  return n;
}

static const un_uop *strided(int64_t n, int64_t stride) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_U8, n * stride), *i = b_loop(&b, n, 0);
  return b_done(&b, b_end(&b, b_store(&b, o, b_mul(&b, i, stride), un__const_i(g, UN__DT(UN_U8), 1)), i, NULL)).root;
}

Test(lower, index_is_as_wide_as_it_must_be) {
  const un_uop *small = lowered(strided(1000, 1000), un__target_interp());
  cr_expect_eq(count(small, UN__OP_RANGE, UN_I32), 1);
  cr_expect_eq(count(small, UN__OP_MUL, UN_I32), 1);
  const un_uop *large = lowered(strided(100000, 100000), un__target_interp());
  cr_expect_eq(count(large, UN__OP_RANGE, UN_I32), 1);
  cr_expect_eq(count(large, UN__OP_MUL, UN_I64), 1);
  const un_uop *addresses = lowered(strided(1000, 1000), un__target_generic());
  cr_expect_eq(count(addresses, UN__OP_RANGE, UN_I64), 1);
}

Test(lower, index_without_proof_is_refused) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_U8, 10), *i = b_loop(&b, INT64_C(1) << 40, 0);
  const un_uop *far = un__binary(g, UN__OP_MUL, un__binary(g, UN__OP_MUL, i, i), i);
  const un_uop *kernel = b_done(&b, b_end(&b, b_store(&b, o, far, un__const_i(g, UN__DT(UN_U8), 1)), i, NULL)).root;
  cr_assert_null(un__lower(g, kernel, un__target_interp(), UN__LIC_PRECISE));
  cr_expect_eq(err.status, UN_ERR_UNSUPPORTED);
}

/* u64 as an index has no width; that is an answer, not an instruction that no backend has. */
Test(lower, data_that_no_width_holds_is_refused) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_BOOL, 8), *x = b_param(&b, UN_U64, 8), *i = b_loop(&b, 8, 0);
  const un_uop *at = un__cast(g, UN__DT(UN_INDEX), b_load(&b, x, i));
  const un_uop *kernel = b_done(&b, b_end(&b, b_store(&b, o, i, un__binary(g, UN__OP_LT, at, i)), i, NULL)).root;
  cr_assert_null(un__lower(g, kernel, un__target_interp(), UN__LIC_PRECISE));
  cr_expect_eq(err.status, UN_ERR_UNSUPPORTED);
}

/* ---- integer division of any sign ---- */

/* out[i] = x[i] // y[i] and x[i] mod y[i], constant divisors too. */
static void check_division(un__op op, un_dtype d, int64_t divisor) {
  enum { N = 64 };
  build b = {.g = g};
  const un_uop *o = b_out(&b, d, N), *x = b_param(&b, d, N), *y = b_param(&b, d, N), *i = b_loop(&b, N, 0);
  const un_uop *by = divisor ? un__const_i(g, UN__DT(d), divisor) : b_load(&b, y, i);
  kern k = b_done(&b, b_end(&b, b_store(&b, o, i, un__binary(g, op, b_load(&b, x, i), by)), i, NULL));
  data want = data_new(&k, 1), got = data_new(&k, 1);
  size_t bytes = un__dt_info(UN__DT(d))->size;
  for (data *s = &want; s; s = s == &want ? &got : NULL)
    for (int e = 0; e < N; e++) {
      int64_t v = e % 8 - 4, w = e / 8 - 4;
      if (e % 8 == 0) v = bytes == 8 ? INT64_MIN : -(INT64_C(1) << (bytes * 8 - 1));
      un__value_store(un__value_i(UN__DT(d), v), (char *)s->arg[1] + (size_t)e * bytes);
      un__value_store(un__value_i(UN__DT(d), w), (char *)s->arg[2] + (size_t)e * bytes);
    }
  cr_assert_eq(k_run(&k, k.root, &want, &err), UN_OK, "%s", err.text);
  run_tasks(&k, lowered(k.root, un__target_interp()), &got);
  cr_expect(data_same(&k, &want, &got), "%s of %s by %lld", un__op_table[op].text, un__dtype_table[d].name, (long long)divisor);
  data_free(&want);
  data_free(&got);
}

Test(lower, divisions) {
  static const un_dtype ints[] = {UN_I8, UN_U8, UN_I32, UN_U32, UN_I64, UN_U64};
  static const int64_t divisors[] = {0, 1, 3, 4, -3, -4, 100};
  static const un__op ops[] = {UN__OP_FLOORDIV, UN__OP_FLOORMOD, UN__OP_TRUNCDIV, UN__OP_TRUNCMOD};
  for (int d = 0; d < 6; d++)
    for (int v = 0; v < 7; v++)
      for (int o = 0; o < 4; o++) check_division(ops[o], ints[d], divisors[v]);
}

/* ---- the order of lists ---- */

/* A value that needs the loop it is in cannot be listed. */
Test(lower, a_loop_that_needs_its_own_result_is_refused) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, 8), *p = b_out(&b, UN_F32, 8);
  const un_uop *i = b_loop(&b, 8, 0), *j = b_loop(&b, 8, 1);
  const un_uop *v = un__const_f(g, UN__DT(UN_F32), 1);
  const un_uop *ends[2] = {
    b_end(&b, b_store(&b, o, b_at(&b, i, 1, j), v), i, j),
    b_end(&b, b_store(&b, p, b_at(&b, j, 1, i), v), j, i),
  };
  cr_assert_null(un__lower(g, un__sink(g, ends, 2), un__target_interp(), UN__LIC_PRECISE));
  cr_expect_eq(err.status, UN_ERR_INTERNAL);
}

/* Two nests over the same RANGE are one loop with one END. */
Test(lower, one_loop_for_equal_ranges) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, 8), *p = b_out(&b, UN_F32, 8), *x = b_param(&b, UN_F32, 8), *i = b_loop(&b, 8, 0);
  const un_uop *v = b_load(&b, x, i);
  const un_uop *ends[2] = {
    b_end(&b, b_store(&b, o, i, v), i, NULL),
    b_end(&b, b_store(&b, p, i, un__unary(g, UN__OP_NEG, v)), i, NULL),
  };
  b.k.root = un__sink(g, ends, 2);
  const un_uop *list = lowered(b.k.root, un__target_interp());
  cr_expect_eq(count(list, UN__OP_END, UN_VOID), 1);
  cr_expect_eq(count(list, UN__OP_LOAD, UN_F32), 1);
  same_results(&b.k, b.k.root, un__target_interp(), "two nests");
}

/* What does not change in a loop stands before it. */
Test(lower, invariants_stand_before_the_loop) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, 64), *x = b_param(&b, UN_F32, 8), *i = b_loop(&b, 8, 0), *j = b_loop(&b, 8, 1);
  const un_uop *v = un__unary(g, UN__OP_SQRT, b_load(&b, x, i));
  kern k = b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, 8, j), v), i, j));
  const un_uop *list = lowered(k.root, un__target_interp());
  uint32_t sqrt_at = 0, inner_at = 0;
  for (uint32_t e = 0; e < list->nsrc; e++) {
    if (un__is(list->src[e], UN__OP_SQRT)) sqrt_at = e;
    if (un__is(list->src[e], UN__OP_RANGE) && un__range_id(list->src[e]) == 1) inner_at = e;
  }
  cr_expect(sqrt_at && sqrt_at < inner_at);
}

Test(lower, gates_that_hold_are_dropped) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, 8), *x = b_param(&b, UN_F32, 8), *i = b_loop(&b, 8, 0);
  const un_uop *inside = un__binary(g, UN__OP_LT, i, un__idx(g, 5));
  kern k = b_done(&b, b_end(&b, b_store(&b, o, i, b_load_if(&b, x, i, inside)), i, NULL));
  const un_uop *list = lowered(k.root, un__target_interp());
  cr_expect_eq(count(list, UN__OP_WHERE, UN_F32), 1);      /* every i is inside x: a selection will do */
  same_results(&k, k.root, un__target_interp(), "gate");
}

Test(lower, contraction_needs_licence_and_target) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, 8), *x = b_param(&b, UN_F32, 8), *i = b_loop(&b, 8, 0), *v = b_load(&b, x, i);
  const un_uop *sum = un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, v, v), un__const_f(g, UN__DT(UN_F32), 3));
  const un_uop *root = b_done(&b, b_end(&b, b_store(&b, o, i, sum), i, NULL)).root;
  cr_expect_eq(count(un__lower(g, root, &wide_f16, UN__LIC_PRECISE), UN__OP_MULACC, UN_F32), 1);
  cr_expect_eq(count(un__lower(g, root, &wide_f16, UN__LIC_STRICT), UN__OP_MULACC, UN_F32), 0);
  cr_expect_eq(count(un__lower(g, root, un__target_interp(), UN__LIC_PRECISE), UN__OP_MULACC, UN_F32), 0);
}
