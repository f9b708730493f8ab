/* Plans for a GPU, random and by heuristics, all the way down to lists that the interpreter runs block by block, all threads of
 * a block in step, while it looks for races. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "codegen/codegen.h"
#include "opt/opt.h"
#include "opt_kernels.h"

static const un_dtype dtypes[] = {UN_F32, UN_I32, UN_BOOL, UN_I8,  UN_U8,  UN_I16, UN_U16,
                                  UN_U32, UN_I64, UN_U64,  UN_F16, UN_BF16, UN_F64};
#ifdef __SANITIZE_ADDRESS__      /* there it takes six times as long */
enum { SEEDS = 500 };
#else
enum { SEEDS = 2000 };
#endif
enum { DTYPES = sizeof dtypes / sizeof *dtypes, STEPS = 10, MANY_BYTES = 4096 };

/* A kernel of any kind. Long sums of bf16 are rounded, so their order shows: those are taken in f32. */
static kern random_kernel(un__graph *g, rng *r) {
  uint32_t kind = (uint32_t)rng_upto(r, KERNEL_KINDS);
  un_dtype d = dtypes[rng_upto(r, DTYPES)];
  bool sums = (kind >= 2 && kind <= 12) || kind == 19;
  return k_any(g, kind, sums && d == UN_BF16 ? UN_F32 : d, 1 + rng_upto(r, 7), 1 + rng_upto(r, 40), 1 + rng_upto(r, 20));
}

typedef struct counts {
  uint32_t all, dealt, staged;
} counts;

static const un_uop *random_plan(un__graph *g, const un_uop *kernel, const un__target *t, rng *r, counts *taken) {
  for (int i = 0; kernel && i < STEPS; i++) {
    un__opt_plan plan = {1, {k_random_gpu_step(kernel, r)}};
    if (!un__opt_legal(kernel, &plan.step[0], t, UN__LIC_PRECISE, NULL)) continue;
    kernel = un__opt_apply(g, kernel, &plan, t, UN__LIC_PRECISE);
    taken->all++;
    taken->dealt += plan.step[0].axis == UN__AXIS_GROUP_REDUCE;
    taken->staged += plan.step[0].kind == UN__OPT_STAGE;
  }
  return kernel;
}

static bool has_op(const un_uop *root, un__op op) {
  size_t n;
  bool found = false;
  const un_uop **order = un__toposort(root, &n);
  for (size_t i = 0; order && i < n; i++) found |= order[i]->op == op;
  un__free(order);
  return found;
}

/* As numbers: the sign of a zero that is summed up depends on where the identity comes in. */
static bool same_values(const kern *k, const data *a, const data *b) {
  for (uint32_t i = 0; i < k->nargs; i++) {
    size_t bytes = un__dt_info(k->dt[i])->size;
    for (int64_t j = 0; j < k->size[i]; j++) {
      un__value x = un__value_load(k->dt[i], (char *)a->arg[i] + (size_t)j * bytes);
      un__value y = un__value_load(k->dt[i], (char *)b->arg[i] + (size_t)j * bytes);
      bool equal = un__dt_is_float(k->dt[i]) && x.f == y.f;
      if (!equal && un__value_bits(x) != un__value_bits(y)) return false;
    }
  }
  return true;
}

/* At stage kernel numbers are loops like others. What is staged is then staged anew in the innermost of them; not so the first rounds
 * of a ring, which only threads in step can share. */
static void check_loops(const kern *k, const un_uop *planned, const data *want, const char *what, uint64_t seed) {
  un__err e = {0};
  data have = data_new(k, seed);
  cr_assert_eq(k_run(k, planned, &have, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert(same_values(k, want, &have), "%s: results differ at stage kernel", what);
  data_free(&have);
}

/* In the list they are blocks and threads. */
static void check_results(const kern *k, const un_uop *planned, const un_uop *linear, const char *what, uint64_t seed) {
  un__err e = {0};
  cr_assert_eq(un__verify(planned, UN__STAGE_KERNEL, &e, NULL), UN_OK, "%s: %s", what, e.text);
  cr_assert_eq(un__verify(linear, UN__STAGE_LINEAR, &e, NULL), UN_OK, "%s: %s", what, e.text);
  data want = data_new(k, seed), have = data_new(k, seed);
  cr_assert_eq(k_run(k, k->root, &want, &e), UN_OK, "%s: %s", what, e.text);
  if (!has_op(planned, UN__OP_SLOT) && un__linear_facts_of(linear).local_bytes < MANY_BYTES) check_loops(k, planned, &want, what, seed);
  int64_t blocks = un__linear_facts_of(linear).tasks;
  cr_assert_gt(blocks, 0, "%s: no blocks", what);
  cr_assert_eq(un__interp_grid(linear, have.arg, k->size, k->nargs, k->vars, blocks, &e), UN_OK, "%s: %s", what, e.text);
  cr_assert(same_values(k, &want, &have), "%s: results differ", what);
  data_free(&want);
  data_free(&have);
}

Test(gpu, random_legal_plans_keep_results, .timeout = 120) {
  counts taken = {0};
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    rng r = {seed * 15485863};
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    cr_assert(g);
    kern k = random_kernel(g, &r);
    char what[32];
    snprintf(what, sizeof what, "seed %d", (int)seed);
    const un__target *t = seed % 4 ? &little_gpu : &big_gpu;
    const un_uop *planned = random_plan(g, k.root, t, &r, &taken);
    cr_assert(planned, "%s: %s", what, err.text);
    const un_uop *linear = un__lower(g, planned, t, UN__LIC_PRECISE);
    cr_assert(linear, "%s: %s", what, err.text);
    check_results(&k, planned, linear, what, seed);
    un__workspace_destroy(g);
  }
  cr_assert_gt(taken.all, SEEDS, "only %u steps were legal", taken.all);
  cr_assert_gt(taken.dealt, SEEDS / 8, "only %u reductions were dealt", taken.dealt);
  cr_assert_gt(taken.staged, SEEDS / 50, "only %u operands were staged", taken.staged);
}

static const un_uop *by_heuristics(un__graph *g, const kern *k, const un__target *t, un__strbuf *why) {
  un__opt_plan plan;
  if (un__opt_heuristic(k->root, t, UN__LIC_PRECISE, &plan, why) != UN_OK) return NULL;
  return un__opt_apply(g, k->root, &plan, t, UN__LIC_PRECISE);
}

/* ---- tensor cores ---- */

#ifdef __SANITIZE_ADDRESS__
enum { CORE_SEEDS = 20 };
#else
enum { CORE_SEEDS = 60 };
#endif

/* Ragged, or a multiple of 8; large enough that parts of `least` are not mostly padding. */
static int64_t pick_size(rng *r, int64_t least, int64_t most) {
  int64_t n = least / 2 + 1 + rng_upto(r, most - least / 2);
  return rng_upto(r, 3) ? n : (n + 7) / 8 * 8;
}

static int64_t depth_of(un_dtype d) { return 32 / (int64_t)un__dt_info(UN__DT(d))->size; }

static core_product random_product(rng *r) {
  static const un_dtype kinds[] = {UN_F16, UN_BF16, UN_BF16, UN_I8, UN_U8, UN_F8E4M3};
  core_product p = {.d = kinds[rng_upto(r, 6)], .batch = rng_upto(r, 4) ? 0 : 1 + rng_upto(r, 2)};
  p.m = pick_size(r, 16, 24), p.n = pick_size(r, 16, 24), p.k = pick_size(r, depth_of(p.d), 72);
  p.left_across = rng_upto(r, 3) == 0, p.right_along = rng_upto(r, 2), p.shared = p.batch && rng_upto(r, 2);
  p.prologue = rng_upto(r, 2) ? PLAIN : (core_prologue)rng_upto(r, PROLOGUES);
  p.epilogue = (core_epilogue)rng_upto(r, EPILOGUES);
  bool narrow = p.d == UN_F8E4M3 || !un__dt_is_float(UN__DT(p.d));      /* whose own arithmetic is another test's */
  if (p.prologue == DOUBLED && p.d == UN_F8E4M3) p.prologue = PLAIN;
  if ((p.prologue == FROM_F32 || p.prologue == ENDLESS) && narrow) p.prologue = PLAIN;
  if (p.epilogue == NARROW && narrow) p.epilogue = SUM;
  return p;
}

/* What a tensor core takes, with copies, warps, blocks and stages that differ, and some other steps among them. */
static uint32_t core_steps(const core_product *p, rng *r, un__opt_step *out) {
  static const int64_t copies[] = {0, 0, 2, 3, 4}, warps[] = {0, 0, 2, 4};
  int64_t row = 1, column = 0;
  if (rng_upto(r, 4) == 0) row = 0, column = 1;
  const un__opt_step steps[] = {
    {row, UN__AXIS_WARP, 8, true}, {row, rng_upto(r, 4) ? UN__AXIS_UNROLL : UN__AXIS_UPCAST, 2, true}, {row, UN__AXIS_UNROLL, copies[rng_upto(r, 5)], true},
    {row, UN__AXIS_LOCAL, warps[rng_upto(r, 4)], true}, {column, UN__AXIS_UPCAST, 2, true}, {column, UN__AXIS_WARP, 4, true},
    {column, UN__AXIS_UNROLL, copies[rng_upto(r, 5)], true}, {column, UN__AXIS_LOCAL, warps[rng_upto(r, 4)], true},
    {2, UN__AXIS_TENSOR, depth_of(p->d), true}, {2, UN__AXIS_UNROLL, copies[rng_upto(r, 4)], true},
    {row, UN__AXIS_GLOBAL, 0, false}, {column, UN__AXIS_GLOBAL, 0, false}, {3, UN__AXIS_GLOBAL, 0, false},
    {2, .factor = rng_upto(r, 5), .kind = UN__OPT_STAGE},
  };
  uint32_t n = 0;
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    bool left_out = steps[i].kind == UN__OPT_SPLIT && steps[i].factor == 0 && steps[i].axis != UN__AXIS_GLOBAL;
    if (!left_out && rng_upto(r, 24)) out[n++] = steps[i];
  }
  return n;
}

typedef struct core_counts { uint32_t cores, rings, staged; } core_counts;

static const un_uop *core_plan(un__graph *g, const un_uop *kernel, const core_product *p, rng *r, core_counts *taken) {
  un__opt_step step[16];
  for (uint32_t i = 0, n = core_steps(p, r, step); kernel && i < n; i++) {
    un__opt_plan plan = {1, {rng_upto(r, 30) ? step[i] : k_random_gpu_step(kernel, r)}};
    if (!un__opt_legal(kernel, &plan.step[0], &core_gpu, UN__LIC_PRECISE, NULL)) continue;
    kernel = un__opt_apply(g, kernel, &plan, &core_gpu, UN__LIC_PRECISE);
    taken->cores += plan.step[0].axis == UN__AXIS_TENSOR && plan.step[0].kind == UN__OPT_SPLIT;
    taken->staged += plan.step[0].kind == UN__OPT_STAGE;
    taken->rings += plan.step[0].kind == UN__OPT_STAGE && plan.step[0].factor > 1;
  }
  return kernel;
}

static const char *core_name(const core_product *p, uint64_t seed) {
  static char text[160];
  snprintf(text, sizeof text, "seed %d: %s %dx%dx%dx%d%s%s%s, prologue %d, epilogue %d", (int)seed, un__dt_info(UN__DT(p->d))->name, (int)p->batch, (int)p->m,
           (int)p->n, (int)p->k, p->left_across ? " (k,m)" : "", p->right_along ? " (n,k)" : "", p->shared ? " shared" : "", p->prologue, p->epilogue);
  return text;
}

Test(gpu, random_plans_for_tensor_cores_keep_results, .timeout = 120) {
  core_counts taken = {0};
  uint32_t multiplied = 0;
  for (uint64_t seed = 1; seed <= CORE_SEEDS; seed++) {
    rng r = {seed * 32452843};
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    core_product p = random_product(&r);
    kern k = k_core(g, &p);
    const char *what = core_name(&p, seed);
    const un_uop *planned = core_plan(g, k.root, &p, &r, &taken);
    cr_assert(planned, "%s: %s", what, err.text);
    const un_uop *linear = un__lower(g, planned, &core_gpu, UN__LIC_PRECISE);
    cr_assert(linear, "%s: %s", what, err.text);
    multiplied += has_op(linear, UN__OP_WMMA);
    check_results(&k, planned, linear, what, seed);
    un__workspace_destroy(g);
  }
  cr_assert_gt(multiplied, CORE_SEEDS / 3, "only %u kernels have products of a tensor core", multiplied);
  cr_assert_gt(taken.cores, CORE_SEEDS / 3, "only %u reductions were given to a tensor core", taken.cores);
  cr_assert_gt(taken.rings, CORE_SEEDS / 10, "only %u operands were staged ahead", taken.rings);
}

/* What does not move along a loop around the ring's is begun anew there all the same: the rounds before left other parts. */
Test(gpu, a_ring_begins_anew_in_the_loops_around_it) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  core_product p = {.d = UN_F16, .m = 20, .n = 8, .k = 13, .right_along = true};
  kern k = k_core(g, &p);
  un__opt_plan plan = {4, {{0, UN__AXIS_LOCAL, 0, true}, {1, UN__AXIS_LOCAL, 4, true}, {2, UN__AXIS_REDUCE, 2, true}, {2, .factor = 3, .kind = UN__OPT_STAGE}}};
  const un_uop *kernel = un__opt_apply(g, k.root, &plan, &core_gpu, UN__LIC_PRECISE), *linear = kernel ? un__lower(g, kernel, &core_gpu, UN__LIC_PRECISE) : NULL;
  cr_assert(linear, "%s", err.text);
  check_results(&k, kernel, linear, "ring in a loop", 1);
  un__workspace_destroy(g);
}

Test(gpu, heuristics_for_tensor_cores_keep_results, .timeout = 120) {
  for (uint64_t seed = 1; seed <= CORE_SEEDS / 4; seed++) {
    rng r = {seed * 86028121};
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    core_product p = random_product(&r);
    kern k = k_core(g, &p);
    const un_uop *planned = by_heuristics(g, &k, &core_gpu, NULL), *linear = planned ? un__lower(g, planned, &core_gpu, UN__LIC_PRECISE) : NULL;
    cr_assert(linear, "%s: %s", core_name(&p, seed), err.text);
    check_results(&k, planned, linear, core_name(&p, seed), seed);
    un__workspace_destroy(g);
  }
}

/* Products that the heuristics say are a tensor core's are computed by one, in ranges that its depth divides and in others. */
static void goes_to_a_core(const core_product *p) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  un__strbuf why;
  un__sb_init(&why);
  kern k = k_core(g, p);
  const un_uop *planned = by_heuristics(g, &k, &core_gpu, &why), *linear = planned ? un__lower(g, planned, &core_gpu, UN__LIC_PRECISE) : NULL;
  cr_assert(linear, "%s: %s", core_name(p, 1), err.text);
  cr_expect(strncmp(un__sb_str(&why), "tensor: ", 8) == 0, "%s: %s", core_name(p, 1), un__sb_str(&why));
  cr_expect(has_op(linear, UN__OP_WMMA), "%s: no core multiplies", core_name(p, 1));
  check_results(&k, planned, linear, core_name(p, 1), 1);
  un__sb_finish(&why);
  un__workspace_destroy(g);
}

Test(gpu, what_heuristics_give_to_a_core_is_computed_there, .timeout = 120) {
  static const un_dtype kinds[] = {UN_F16, UN_BF16, UN_I8};
  for (int d = 0; d < 3; d++)
    for (int prologue = PLAIN; prologue < PROLOGUES; prologue++)
      for (int64_t k = 64; k <= 109; k += 15) {           /* of 109, a part of two steps of the depth is ragged too */
        core_product p = {.d = kinds[d], .m = 32, .n = 24, .k = k, .prologue = (core_prologue)prologue};
        if (p.d != UN_I8 || (prologue != FROM_F32 && prologue != ENDLESS)) goes_to_a_core(&p);
      }
}

/* out[0] = whether any of 0 to n - 1 is not 0: no thread may take what it knows of itself for what others have. */
static kern any_of(un__graph *g, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_BOOL, 1), *i = b_red(&b, n, 0);
  const un_uop *v = b_reduce(&b, UN__OP_MAX, un__binary(g, UN__OP_NE, i, un__idx(g, 0)), i), *done = b_store(&b, o, un__idx(g, 0), v);
  return b_done(&b, done);
}

Test(gpu, a_condition_is_not_known_of_other_threads) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  kern k = any_of(g, 11);
  un__opt_plan plan = {1, {{0, UN__AXIS_GROUP_REDUCE, 16, true}}};
  const un_uop *kernel = un__opt_apply(g, k.root, &plan, &big_gpu, UN__LIC_PRECISE);
  const un_uop *linear = kernel ? un__lower(g, kernel, &big_gpu, UN__LIC_PRECISE) : NULL;
  cr_assert(linear, "%s", err.text);
  check_results(&k, kernel, linear, "any", 1);
  un__workspace_destroy(g);
}

/* out[0] = sum over i of max over j of x[i, j]. */
static kern sum_of_maxima(un__graph *g, int64_t m, int64_t n) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_I32, 1), *x = b_param(&b, UN_I32, m * n), *i = b_red(&b, m, 0), *j = b_red(&b, n, 1);
  const un_uop *most = b_reduce(&b, UN__OP_MAX, b_load(&b, x, b_at(&b, i, n, j)), j);
  return b_done(&b, b_store(&b, o, un__idx(g, 0), b_reduce(&b, UN__OP_ADD, most, i)));
}

static void check_heuristics(uint32_t kind, un_dtype d, int64_t m, int64_t n, int64_t depth, const un__target *t) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  cr_assert(g);
  bool sums = (kind >= 2 && kind <= 12) || kind == 19;
  kern k = k_any(g, kind, sums && d == UN_BF16 ? UN_F32 : d, m, n, depth);
  char what[96];
  snprintf(what, sizeof what, "kernel %u %s %dx%dx%d for %s", kind, un__dt_info(UN__DT(d))->name, (int)m, (int)n, (int)depth, t->name);
  const un_uop *planned = by_heuristics(g, &k, t, NULL), *linear = planned ? un__lower(g, planned, t, UN__LIC_PRECISE) : NULL;
  cr_assert(linear, "%s: %s", what, err.text);
  cr_assert_leq(un__linear_facts_of(linear).group, t->gpu.max_group, "%s", what);
  check_results(&k, planned, linear, what, kind);
  un__workspace_destroy(g);
}

Test(gpu, heuristics_keep_results_for_every_kernel_and_dtype, .timeout = 120) {
  for (uint32_t kind = 0; kind < KERNEL_KINDS; kind++)
    for (uint32_t d = 0; d < DTYPES; d++) {
      check_heuristics(kind, dtypes[d], 5, 11 + (int64_t)d, 7, &big_gpu);
      check_heuristics(kind, dtypes[d], 8, 16, 8, &little_gpu);
    }
}

Test(gpu, a_reduction_inside_another_one_is_not_dealt) {
  static const int64_t sizes[][2] = {{64, 40}, {9, 3}, {33, 300}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    kern k = sum_of_maxima(g, sizes[i][0], sizes[i][1]);
    const un_uop *kernel = by_heuristics(g, &k, &big_gpu, NULL), *linear = kernel ? un__lower(g, kernel, &big_gpu, UN__LIC_PRECISE) : NULL;
    cr_assert(linear, "%s", err.text);
    check_results(&k, kernel, linear, "sum of maxima", i);
    un__workspace_destroy(g);
  }
}

/* out[i, j, k] = sum over l of x[i, l, k]: where the order stays, what is written for each sum has no threads to share. */
Test(gpu, threads_that_are_not_there_are_not_shared) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, 33 * 8 * 5), *x = b_param(&b, UN_F32, 33 * 8 * 5), *i = b_loop(&b, 33, 0), *j = b_loop(&b, 8, 1);
  const un_uop *k = b_loop(&b, 5, 2), *l = b_red(&b, 8, 3), *v = b_reduce(&b, UN__OP_ADD, b_load(&b, x, b_at(&b, b_at(&b, i, 8, l), 5, k)), l);
  const un_uop *store = b_store(&b, o, b_at(&b, b_at(&b, i, 8, j), 5, k), v);
  kern kernel = b_done(&b, un__uop(g, UN__OP_END, 0, (const un_uop *[]){store, i, k, j}, 4, NULL, 0));
  un__opt_plan plan;
  cr_assert_eq(un__opt_heuristic(kernel.root, &big_gpu, UN__LIC_STRICT, &plan, NULL), UN_OK);
  const un_uop *planned = un__opt_apply(g, kernel.root, &plan, &big_gpu, UN__LIC_STRICT);
  cr_assert(planned, "%s", err.text);
  check_results(&kernel, planned, un__lower(g, planned, &big_gpu, UN__LIC_STRICT), "strict", 1);
  un__workspace_destroy(g);
}

Test(gpu, heuristics_keep_results_for_ragged_sizes, .timeout = 120) {
  static const int64_t sizes[] = {1, 2, 7, 31, 33, 64, 100, 129, 260};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (uint32_t kind = 0; kind < KERNEL_KINDS; kind++)
    for (int i = 0; i < SIZES; i++) {
      check_heuristics(kind, UN_I32, 3, sizes[i], 5, &big_gpu);
      check_heuristics(kind, UN_F32, sizes[i], 6, 33, &little_gpu);
    }
}

Test(gpu, heuristics_keep_results_for_larger_kernels, .timeout = 120) {
  check_heuristics(0, UN_F32, 64, 1000, 1, &big_gpu);
  check_heuristics(1, UN_F16, 64, 1024, 1, &big_gpu);
  check_heuristics(2, UN_F32, 40, 4096, 1, &big_gpu);
  check_heuristics(3, UN_F32, 400, 256, 1, &big_gpu);
  check_heuristics(4, UN_F16, 17, 5000, 1, &big_gpu);
  check_heuristics(6, UN_F32, 100, 1000, 1, &big_gpu);
  check_heuristics(8, UN_F32, 2, 8192, 1, &big_gpu);
  check_heuristics(10, UN_F32, 40, 70, 33, &big_gpu);
  check_heuristics(10, UN_F32, 64, 32, 32, &big_gpu);
  check_heuristics(11, UN_F32, 32, 64, 16, &big_gpu);
  check_heuristics(12, UN_F16, 20, 64, 40, &big_gpu);
  check_heuristics(13, UN_F16, 66, 130, 2, &big_gpu);
  check_heuristics(12, UN_F32, 17, 33, 35, &big_gpu);
  check_heuristics(13, UN_F32, 128, 96, 2, &big_gpu);
  check_heuristics(20, UN_F32, 5, 3000, 1, &big_gpu);
  check_heuristics(21, UN_F32, 300, 130, 1, &big_gpu);
}

/* out[i, j] = sum of x[i, k] * y[i, k]: every thread along j stores what its group has summed up. */
static kern dots(un__graph *g, int64_t m, int64_t n, int64_t depth) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, m * n), *x = b_param(&b, UN_F32, m * depth), *y = b_param(&b, UN_F32, m * depth);
  const un_uop *i = b_loop(&b, m, 0), *j = b_loop(&b, n, 1), *k = b_red(&b, depth, 2);
  const un_uop *at = b_at(&b, i, depth, k);
  const un_uop *v = b_reduce(&b, UN__OP_ADD, un__binary(g, UN__OP_MUL, b_load(&b, x, at), b_load(&b, y, at)), k);
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, n, j), v), i, j));
}

Test(gpu, all_threads_of_a_group_end_with_the_same_bits) {
  enum { M = 3, N = 64, DEPTH = 64 };
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  kern k = dots(g, M, N, DEPTH);
  un__opt_plan plan = {3, {{2, UN__AXIS_GROUP_REDUCE, 0, true}, {1, UN__AXIS_LOCAL, 0, true}, {0, UN__AXIS_GLOBAL, 0, false}}};
  const un_uop *kernel = un__opt_apply(g, k.root, &plan, &little_gpu, UN__LIC_PRECISE);
  const un_uop *linear = kernel ? un__lower(g, kernel, &little_gpu, UN__LIC_PRECISE) : NULL;
  cr_assert(linear, "%s", err.text);
  cr_assert_eq(un__linear_facts_of(linear).group, 64);
  data d = data_new(&k, 1);
  for (uint32_t a = 1; a < 3; a++)
    for (int i = 0; i < M * DEPTH; i++) ((float *)d.arg[a])[i] = 1.0f / (float)(1 + (i * 7919 * (int)a) % 1009);
  cr_assert_eq(un__interp_grid(linear, d.arg, k.size, k.nargs, NULL, M, &err), UN_OK, "%s", err.text);
  const float *out = d.arg[0];
  for (int i = 0; i < M; i++)
    for (int j = 1; j < N; j++) cr_assert_eq(out[i * N + j], out[i * N], "row %d: thread %d has %a, thread 0 %a", i, j, out[i * N + j], out[i * N]);
  data_free(&d);
  un__workspace_destroy(g);
}
