/* Random legal plans all the way down to lists of instructions, which the interpreter runs task by task. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "codegen/codegen.h"
#include "opt/opt.h"
#include "opt_kernels.h"

static const un_dtype dtypes[] = {UN_F32, UN_I32, UN_BOOL, UN_I8,  UN_U8,  UN_I16, UN_U16,
                                  UN_U32, UN_I64, UN_U64,  UN_F16, UN_BF16, UN_F64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes, SEEDS = 500, STEPS = 8 };

/* A kernel of any kind. Long sums of bf16 are rounded, so their order shows: those are taken in f32. */
static kern random_kernel(un__graph *g, rng *r) {
  uint32_t kind = (uint32_t)rng_upto(r, KERNEL_KINDS);
  un_dtype d = dtypes[rng_upto(r, DTYPES)];
  bool sums = (kind >= 2 && kind <= 12) || kind == 19;
  return k_any(g, kind, sums && d == UN_BF16 ? UN_F32 : d, 1 + rng_upto(r, 7), 1 + rng_upto(r, 40), 1 + rng_upto(r, 20));
}

static const un_uop *random_plan(un__graph *g, const un_uop *kernel, const un__target *t, rng *r) {
  for (int i = 0; kernel && i < STEPS; i++) {
    un__opt_plan plan = {1, {k_random_step(kernel, r)}};
    if (un__opt_legal(kernel, &plan.step[0], t, UN__LIC_PRECISE, NULL))
      kernel = un__opt_apply(g, kernel, &plan, t, UN__LIC_PRECISE);
  }
  return kernel;
}

static void check_list(const kern *k, const un_uop *linear, const char *what, uint64_t seed) {
  un__err e = {0};
  cr_assert_eq(un__verify(linear, UN__STAGE_LINEAR, &e, NULL), UN_OK, "%s: %s", what, e.text);
  data want = data_new(k, seed), have = data_new(k, seed);
  cr_assert_eq(k_run(k, k->root, &want, &e), UN_OK, "%s: %s", what, e.text);
  int64_t tasks = un__linear_facts_of(linear).tasks;
  cr_assert_gt(tasks, 0, "%s: no tasks", what);
  for (int64_t task = 0; task < tasks; task++)
    cr_assert_eq(un__interp_kernel(linear, have.arg, k->size, k->nargs, k->vars, task, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert(data_same(k, &want, &have), "%s: results differ", what);
  data_free(&want);
  data_free(&have);
}

Test(plans, random_legal_plans_lower_to_lists_that_keep_results, .timeout = 90) {
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    rng r = {seed * 15485863};
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    cr_assert(g);
    kern k = random_kernel(g, &r);
    char what[32];
    snprintf(what, sizeof what, "seed %d", (int)seed);
    const un_uop *planned = random_plan(g, k.root, un__target_generic(), &r);
    cr_assert(planned, "%s: %s", what, err.text);
    const un_uop *linear = un__lower(g, planned, un__target_generic(), UN__LIC_PRECISE);
    cr_assert(linear, "%s: %s", what, err.text);
    check_list(&k, linear, what, seed);
    un__workspace_destroy(g);
  }
}
