/* The optimiser for GPUs: what is legal, and what the heuristics say. That results stay is tested in gpu_plans. */
#include <criterion/criterion.h>

#include "codegen/codegen.h"
#include "opt/opt.h"
#include "opt_kernels.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(opt_gpu, g);

/* ---- legality ---- */

static const char *refusal(const kern *k, un__opt_step s, const un__target *t, uint32_t licences) {
  static un__err e;
  e = (un__err){0};
  return un__opt_legal(k->root, &s, t, licences, &e) ? "" : e.text;
}

#define REFUSED(kernel, text, ...)                                                                                     \
  cr_expect(strstr(refusal(&(kernel), (un__opt_step){__VA_ARGS__}, &big_gpu, UN__LIC_PRECISE), text), "said: %s",      \
            refusal(&(kernel), (un__opt_step){__VA_ARGS__}, &big_gpu, UN__LIC_PRECISE))
#define ALLOWED(kernel, ...) cr_expect_str_empty(refusal(&(kernel), (un__opt_step){__VA_ARGS__}, &big_gpu, UN__LIC_PRECISE))

Test(opt_gpu, steps_are_refused_with_the_reason) {
  kern mm = k_matmul(g, UN_F32, 64, 64, 2048, false, false), flat = k_flat(g, UN_F32, 1 << 20), sum = k_total(g, UN_F32, 64);
  REFUSED(mm, "has no threads", 0, UN__AXIS_THREAD, 8, false);
  REFUSED(mm, "outer part", 0, UN__AXIS_GLOBAL, 8, true);
  REFUSED(mm, "outer part", 0, UN__AXIS_LOCAL, 8, false);
  REFUSED(mm, "cannot become", 2, UN__AXIS_LOCAL, 8, true);
  REFUSED(mm, "cannot become", 0, UN__AXIS_GROUP_REDUCE, 8, true);
  REFUSED(mm, "power of two", 2, UN__AXIS_GROUP_REDUCE, 12, true);
  REFUSED(mm, "larger than a block", 2, UN__AXIS_GROUP_REDUCE, 2048, true);
  REFUSED(mm, "power of two", 0, UN__AXIS_WARP, 12, true);
  REFUSED(mm, "larger than a warp", 0, UN__AXIS_WARP, 64, true);
  REFUSED(mm, "larger than a block", 2, UN__AXIS_GROUP_REDUCE, 0, true);
  REFUSED(flat, "larger than a block", 0, UN__AXIS_LOCAL, 0, true);
  REFUSED(flat, "padding", 0, UN__AXIS_LOCAL, 1 << 22, true);
  REFUSED(mm, "at least 2", 0, UN__AXIS_LOCAL, 1, true);
  REFUSED(mm, "for a loop of a reduction or for a range of blocks", .range_id = 0, .kind = UN__OPT_STAGE);
  REFUSED(mm, "read nothing again", .range_id = 2, .kind = UN__OPT_STAGE);
  REFUSED(sum, "no such range", 3, UN__AXIS_GLOBAL, 2, false);
  ALLOWED(mm, 0, UN__AXIS_GLOBAL, 0, false);
  ALLOWED(mm, 0, UN__AXIS_GLOBAL, 5, false);
  ALLOWED(mm, 0, UN__AXIS_LOCAL, 12, true);
  ALLOWED(mm, 2, UN__AXIS_GROUP_REDUCE, 1024, true);
  ALLOWED(mm, 0, UN__AXIS_WARP, 32, true);
}

Test(opt_gpu, a_cpu_has_no_blocks_and_order_needs_its_licence) {
  kern mm = k_matmul(g, UN_F32, 64, 64, 64, false, false), imm = k_matmul(g, UN_I32, 64, 64, 64, false, false);
  un__opt_step block = {0, UN__AXIS_GLOBAL, 0, false, UN__OPT_SPLIT}, group = {2, UN__AXIS_GROUP_REDUCE, 8, true, UN__OPT_SPLIT};
  cr_expect(strstr(refusal(&mm, block, un__target_generic(), 0), "no blocks"));
  cr_expect(strstr(refusal(&mm, group, &big_gpu, UN__LIC_STRICT), "reduce_order"));
  cr_expect_str_empty(refusal(&imm, group, &big_gpu, UN__LIC_STRICT));
}

/* Applies a plan; how many blocks and threads the list then has. */
static un__linear_facts facts(const kern *k, uint32_t n, const un__opt_step *steps) {
  un__opt_plan plan = {.n = n};
  for (uint32_t i = 0; i < n; i++) plan.step[i] = steps[i];
  const un_uop *kernel = un__opt_apply(g, k->root, &plan, &big_gpu, UN__LIC_PRECISE);
  const un_uop *linear = kernel ? un__lower(g, kernel, &big_gpu, UN__LIC_PRECISE) : NULL;
  cr_assert(linear, "%s", err.text);
  return un__linear_facts_of(linear);
}

#define HAS(kernel, nblocks, nthreads, bytes, ...)                                                                     \
  do {                                                                                                                 \
    const un__opt_step steps[] = {__VA_ARGS__};                                                                        \
    un__linear_facts f = facts(&(kernel), sizeof steps / sizeof *steps, steps);                                        \
    cr_expect(f.tasks == (nblocks) && f.group == (nthreads) && f.local_bytes == (bytes), "%d blocks, %d threads, %d bytes", \
              (int)f.tasks, (int)f.group, (int)f.local_bytes);                                                         \
  } while (0)

#define BLOCKS(id) {id, UN__AXIS_GLOBAL, 0, false, UN__OPT_SPLIT}
#define LOCAL(id, n) {id, UN__AXIS_LOCAL, n, true, UN__OPT_SPLIT}
#define GROUPED(id, n) {id, UN__AXIS_GROUP_REDUCE, n, true, UN__OPT_SPLIT}
#define NEIGHBOURS(id, n) {id, UN__AXIS_WARP, n, true, UN__OPT_SPLIT}

Test(opt_gpu, ranges_share_digits_where_no_value_needs_both) {
  kern soft = k_softmax(g, UN_F32, 64, 1024), sum = k_reduce(g, UN_F32, UN__OP_ADD, 64, 1024, true);
  kern columns = k_reduce(g, UN_F32, UN__OP_ADD, 64, 1024, false), flat = k_flat(g, UN_F32, 900);
  HAS(flat, 9, 128, 0, LOCAL(0, 100), BLOCKS(0)); /* full warps */
  HAS(sum, 64, 32, 0, GROUPED(1, 32), BLOCKS(0));
  HAS(sum, 16, 128, 0, GROUPED(1, 32), LOCAL(0, 4), BLOCKS(0));
  HAS(sum, 64, 256, 128, GROUPED(1, 256), BLOCKS(0));
  /* the sums' threads write the row */
  HAS(soft, 64, 256, 256, GROUPED(2, 256), GROUPED(3, 256), LOCAL(1, 256), BLOCKS(0));
  HAS(soft, 32, 512, 256, GROUPED(2, 256), GROUPED(3, 256), LOCAL(1, 256), LOCAL(0, 2), BLOCKS(0));
  HAS(columns, 2, 256, 1024, NEIGHBOURS(0, 32), GROUPED(1, 8), BLOCKS(0));
}

#define STEPS(id, n) {id, UN__AXIS_REDUCE, n, true, UN__OPT_SPLIT}
#define STAGED_AT(i) {.range_id = i, .kind = UN__OPT_STAGE}

Test(opt_gpu, operands_are_staged_by_all_threads) {
  kern mm = k_matmul(g, UN_F32, 256, 256, 64, false, false), turned = k_transpose(g, UN_F32, 256, 256, false);
  /* both operands, a gap of a vector behind each of 16 rows */
  HAS(mm, 16, 256, 2 * 16 * (64 + 4) * 4, LOCAL(0, 16), LOCAL(1, 16), {0, UN__AXIS_UNROLL, 4, true, UN__OPT_SPLIT},
      {1, UN__AXIS_UNROLL, 4, true, UN__OPT_SPLIT}, BLOCKS(0), BLOCKS(1), STEPS(2, 16), STAGED_AT(2));
  /* what neighbours read side by side is not; what they read far apart is, a gap of one behind each of 32 rows */
  HAS(turned, 64, 256, 32 * 33 * 4, LOCAL(1, 32), LOCAL(0, 8), {0, UN__AXIS_UNROLL, 4, true, UN__OPT_SPLIT}, BLOCKS(0), BLOCKS(1), STAGED_AT(1));
}

Test(opt_gpu, a_staged_operand_stays_where_it_is) {
  kern mm = k_matmul(g, UN_F32, 256, 256, 64, false, false);
  un__opt_plan plan = {5, {LOCAL(0, 16), LOCAL(1, 16), BLOCKS(0), STEPS(2, 16), STAGED_AT(2)}};
  const un_uop *kernel = un__opt_apply(g, mm.root, &plan, &big_gpu, UN__LIC_PRECISE);
  cr_assert(kernel, "%s", err.text);
  const un__opt_step wrong[] = {STAGED_AT(2), GROUPED(2, 2), {2, UN__AXIS_UNROLL, 2, true, UN__OPT_SPLIT}, LOCAL(1, 2)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) cr_expect_not(un__opt_legal(kernel, &wrong[i], &big_gpu, UN__LIC_PRECISE, NULL), "step %zu", i);
  un__opt_step deeper = STEPS(2, 2);
  cr_expect(un__opt_legal(kernel, &deeper, &big_gpu, UN__LIC_PRECISE, &err), "%s", err.text);
}

/* ---- tensor cores ---- */

/* The kernel after some steps. */
static kern after(const kern *k, const un__target *t, uint32_t n, const un__opt_step *steps) {
  un__opt_plan plan = {.n = n};
  for (uint32_t i = 0; i < n; i++) plan.step[i] = steps[i];
  kern out = *k;
  out.root = un__opt_apply(g, k->root, &plan, t, UN__LIC_PRECISE);
  cr_assert(out.root, "%s", err.text);
  return out;
}
#define AFTER(kernel, target, ...) after(&(kernel), &(target), sizeof((un__opt_step[]){__VA_ARGS__}) / sizeof(un__opt_step), (un__opt_step[]){__VA_ARGS__})
#define SAYS(kernel, target, licences, text, ...)                                                                            \
  do {                                                                                                                         \
    const char *said = refusal(&(kernel), (un__opt_step){__VA_ARGS__}, &(target), licences);                                  \
    cr_expect(*(text) ? strstr(said, text) != NULL : !*said, "said: %s, wanted: %s", said, text);                              \
  } while (0)
#define COPIES(id, n) {id, UN__AXIS_UNROLL, n, true, UN__OPT_SPLIT}
#define ROWS(id) NEIGHBOURS(id, 8), COPIES(id, 2)
#define COLUMNS(id) {id, UN__AXIS_UPCAST, 2, true, UN__OPT_SPLIT}, NEIGHBOURS(id, 4)
#define TENSOR(id, n) id, UN__AXIS_TENSOR, n, true
#define RING(id, n) .range_id = id, .factor = n, .kind = UN__OPT_STAGE

static kern product_of(un_dtype d) { return k_core(g, &(core_product){.d = d, .m = 64, .n = 64, .k = 512}); }

Test(opt_gpu, tensor_cores_are_refused_with_the_reason) {
  kern f16 = product_of(UN_F16), f32 = product_of(UN_F32), f64 = product_of(UN_F64), i8 = product_of(UN_I8);
  kern ready = AFTER(f16, core_gpu, ROWS(1), COLUMNS(0)), ready8 = AFTER(i8, core_gpu, ROWS(1), COLUMNS(0));
  kern ready32 = AFTER(f32, core_gpu, ROWS(1), COLUMNS(0)), ready64 = AFTER(f64, core_gpu, ROWS(1), COLUMNS(0));
  kern one_way = AFTER(f16, core_gpu, NEIGHBOURS(1, 4), NEIGHBOURS(1, 8)), no_pair = AFTER(f16, core_gpu, ROWS(1), NEIGHBOURS(0, 4));
  kern no_half = AFTER(f16, core_gpu, NEIGHBOURS(1, 8), COLUMNS(0)), done = AFTER(ready, core_gpu, {TENSOR(2, 16)});
  SAYS(ready, core_gpu, UN__LIC_PRECISE, "", TENSOR(2, 16));
  SAYS(ready8, core_gpu, UN__LIC_PRECISE, "", TENSOR(2, 32));
  SAYS(ready8, core_gpu, UN__LIC_STRICT, "", TENSOR(2, 32));       /* integers have any order */
  SAYS(ready32, core_gpu, UN__LIC_FAST, "", TENSOR(2, 8));
  SAYS(ready32, core_gpu, UN__LIC_PRECISE, "no tensor core of the target adds up what it does", TENSOR(2, 8));
  SAYS(ready64, core_gpu, UN__LIC_FAST, "no tensor core of the target adds up what it does", TENSOR(2, 16));
  SAYS(ready, core_gpu, UN__LIC_STRICT, "without the licence reduce_order", TENSOR(2, 16));
  SAYS(ready, core_gpu, UN__LIC_REDUCE_ORDER, "no tensor core of the target adds up what it does", TENSOR(2, 16));
  SAYS(ready, core_gpu, UN__LIC_PRECISE, "not the depth of the target's tensor core", TENSOR(2, 8));
  SAYS(ready, core_gpu, UN__LIC_PRECISE, "not the depth of the target's tensor core", TENSOR(2, 0));
  SAYS(ready, big_gpu, UN__LIC_PRECISE, "the target has no tensor cores", TENSOR(2, 16));
  SAYS(ready, core_gpu, UN__LIC_PRECISE, "cannot become", TENSOR(1, 2));
  SAYS(f16, core_gpu, UN__LIC_PRECISE, "no warp has 8 of its rows times 4 of its columns", TENSOR(2, 16));
  SAYS(one_way, core_gpu, UN__LIC_PRECISE, "its operands do not move along rows and columns", TENSOR(2, 16));
  SAYS(no_half, core_gpu, UN__LIC_PRECISE, "no thread has 2 rows and 2 columns", TENSOR(2, 16));
  SAYS(no_pair, core_gpu, UN__LIC_PRECISE, "no thread has 2 rows and 2 columns", TENSOR(2, 16));
  SAYS(done, core_gpu, UN__LIC_PRECISE, "a part of it is what the tensor core takes already", TENSOR(2, 16));
}

/* out[i,j] = sum of x[i,r] * y[r,j], less the sum of x[i,r], which does not depend on j. */
static kern two_depths(void) {
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_I32, 64 * 64), *x = b_param(&b, UN_I32, 64 * 32), *y = b_param(&b, UN_I32, 32 * 64);
  const un_uop *i = b_loop(&b, 64, 0), *j = b_loop(&b, 64, 1), *r = b_red(&b, 32, 2), *u = b_load(&b, x, b_at(&b, i, 32, r));
  const un_uop *both = b_reduce(&b, UN__OP_ADD, un__binary(g, UN__OP_MUL, u, b_load(&b, y, b_at(&b, r, 64, j))), r);
  const un_uop *v = un__binary(g, UN__OP_SUB, both, b_reduce(&b, UN__OP_ADD, u, r));
  return b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, 64, j), v), i, j));
}

Test(opt_gpu, rings_are_refused_with_the_reason) {
  kern mm = product_of(UN_F32), two = two_depths(), tiles = AFTER(mm, core_gpu, LOCAL(1, 16), LOCAL(0, 16), COPIES(1, 4), COPIES(0, 4));
  kern dealt = AFTER(two, core_gpu, LOCAL(0, 16), LOCAL(1, 16)), deep = AFTER(tiles, core_gpu, STEPS(2, 256)), shallow = AFTER(tiles, core_gpu, STEPS(2, 16));
  kern f64 = product_of(UN_F64), large = AFTER(f64, core_gpu, LOCAL(1, 16), LOCAL(0, 16), COPIES(1, 4), COPIES(0, 4), STEPS(2, 64));
  kern blocks = AFTER(mm, core_gpu, LOCAL(1, 16), LOCAL(0, 16), BLOCKS(1), BLOCKS(0)), ring = AFTER(shallow, core_gpu, {RING(2, 3)});
  SAYS(shallow, core_gpu, UN__LIC_PRECISE, "", RING(2, 8));
  SAYS(tiles, core_gpu, UN__LIC_PRECISE, "too many stages", RING(2, 9));
  SAYS(deep, core_gpu, UN__LIC_PRECISE, "it has fewer rounds than stages", RING(2, 3));
  SAYS(large, core_gpu, UN__LIC_PRECISE, "does not fit into the shared memory", RING(2, 8));
  SAYS(shallow, big_gpu, UN__LIC_PRECISE, "the target copies nothing asynchronously", RING(2, 2));
  SAYS(blocks, core_gpu, UN__LIC_PRECISE, "stages are rounds of a reduction's loop", RING(1, 2));
  SAYS(dealt, core_gpu, UN__LIC_PRECISE, "reductions over it run in loops of their own", RING(2, 2));
  SAYS(dealt, core_gpu, UN__LIC_PRECISE, "", RING(2, 1));
  SAYS(ring, core_gpu, UN__LIC_PRECISE, "operands are staged rounds ahead of it", 2, UN__AXIS_REDUCE, 2, true);
  SAYS(ring, core_gpu, UN__LIC_PRECISE, "operands are staged already", RING(2, 2));
  kern around = AFTER(tiles, core_gpu, STEPS(2, 32), STEPS(7, 8), {RING(7, 2)});
  SAYS(around, core_gpu, UN__LIC_PRECISE, "operands are held in registers inside it", 2, UN__AXIS_REDUCE, 2, true);
}

Test(opt_gpu, numbers_of_threads_have_a_limit) {
  kern soft = k_softmax(g, UN_F32, 64, 1024);
  un__opt_plan plan = {2, {GROUPED(2, 512), LOCAL(0, 2)}};
  const un_uop *kernel = un__opt_apply(g, soft.root, &plan, &big_gpu, UN__LIC_PRECISE);
  cr_assert(kernel, "%s", err.text);
  un__opt_step more = LOCAL(0, 4);
  cr_expect_not(un__opt_legal(kernel, &more, &big_gpu, UN__LIC_PRECISE, &err));
  cr_expect(strstr(err.text, "more threads than a block has"), "%s", err.text);
}

/* ---- what the heuristics say ---- */

static void check_why(const kern *k, const char *want) {
  un__opt_plan plan;
  un__strbuf why;
  un__sb_init(&why);
  cr_assert_eq(un__opt_heuristic(k->root, &big_gpu, UN__LIC_PRECISE, &plan, &why), UN_OK);
  cr_expect_str_eq(un__sb_str(&why), want, "got:\n%s", un__sb_str(&why));
  const un_uop *kernel = un__opt_apply(g, k->root, &plan, &big_gpu, UN__LIC_PRECISE);
  cr_assert(kernel, "%s", err.text);
  un__sb_finish(&why);
}

Test(opt_gpu, why_elementwise) {
  kern k = k_flat(g, UN_F32, 1 << 24);
  check_why(&k, "elements: range 0 by 256 threads, 4 at once, 4 times: 4194304 accesses\n");
}
Test(opt_gpu, why_elementwise_half) {
  kern k = k_flat(g, UN_BF16, 1 << 24);
  check_why(&k, "elements: range 0 by 256 threads, 8 at once, 4 times: 2097152 accesses\n");
}
Test(opt_gpu, why_softmax) {
  kern k = k_softmax(g, UN_F32, 8192, 8192);
  check_why(&k, "rows: range 2 by 512 threads, 4 at once, 4 times: 8192 rows\n"
            "rows: range 3 by 512 threads, 4 at once, 4 times: 8192 rows\n"
            "rows: range 1 of the result by 512 threads, 4 at once, 4 times\n");
}
Test(opt_gpu, why_row_sums) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 8192, 8192, true);
  check_why(&k, "rows: range 1 by 512 threads, 4 at once, 4 times: 8192 rows\n");
}
Test(opt_gpu, why_short_rows) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 1 << 20, 16, true);
  check_why(&k, "rows: range 1 by 1 threads, 4 at once, 4 times: 1048576 rows\n"
            "rows: 256 rows a block\n");
}
Test(opt_gpu, why_column_sums) {
  kern k = k_reduce(g, UN_F32, UN__OP_ADD, 8192, 8192, false);
  check_why(&k, "columns: 8 columns of range 0 side by side, 4 at once; 32 threads share one, 1 times that a block\n");
}
Test(opt_gpu, why_transpose) {
  kern k = k_transpose(g, UN_F32, 8192, 8192, false);
  check_why(&k, "turned: 64 x 64 values of ranges 1 and 0 through shared memory\n");
}
Test(opt_gpu, why_matmul) {
  kern k = k_matmul(g, UN_F32, 4096, 4096, 4096, false, false);
  check_why(&k, "product: 128 x 128 results of ranges 0 and 1 a block: 1024 blocks\n"
            "product: both operands through shared memory, 16 steps of range 2 at a time\n");
}
/* The plans that were the fastest on an H200: 8 x 8 results a thread, 64 bytes of depth at a time. */
static void check_ring(un_dtype d, int64_t n, bool a_turned, bool b_turned, int lanes, int steps) {
  kern k = k_matmul(g, d, n, n, n, a_turned, b_turned);
  un__opt_plan plan;
  un__strbuf got, want;
  un__sb_init(&got);
  un__sb_init(&want);
  cr_assert_eq(un__opt_heuristic(k.root, &core_gpu, UN__LIC_PRECISE, &plan, NULL), UN_OK);
  un__opt_plan_print(&plan, &got);
  un__sb_printf(&want, "split 0 inner 4 unroll\nsplit 0 inner 16 local\nsplit 0 inner 2 unroll\nwhole 0 global\nsplit 1 inner %d upcast\n"
                "split 1 inner 16 local\nsplit 1 inner %d unroll\nwhole 1 global\nsplit 2 inner %d reduce\nstage 2 ring 2\n", lanes, 8 / lanes, steps);
  cr_expect_str_eq(un__sb_str(&got), un__sb_str(&want), "%lld:\n%s", (long long)n, un__sb_str(&got));
  un__sb_finish(&got);
  un__sb_finish(&want);
}

Test(opt_gpu, products_without_tensor_cores_have_rings_of_two) {
  for (int64_t n = 2048; n <= 8192; n *= 2) check_ring(UN_F32, n, false, false, 4, 16);
  check_ring(UN_F32, 4096, true, false, 4, 16);
  check_ring(UN_F32, 4096, false, true, 4, 16);
  check_ring(UN_I32, 4096, false, false, 4, 16);
  check_ring(UN_F64, 4096, false, false, 2, 8);
}

/* out[i, j] = sum of x[i, k] * y[k, j] * z[i, j, k]: rows and columns of z are more than a block has room for. */
Test(opt_gpu, what_does_not_fit_is_not_staged) {
  enum { N = 512 };
  build b = {.g = g};
  const un_uop *o = b_out(&b, UN_F32, N * N), *x = b_param(&b, UN_F32, N * N), *y = b_param(&b, UN_F32, N * N), *z = b_param(&b, UN_F32, N * N * N);
  const un_uop *i = b_loop(&b, N, 0), *j = b_loop(&b, N, 1), *k = b_red(&b, N, 2);
  const un_uop *v = un__binary(g, UN__OP_MUL, b_load(&b, x, b_at(&b, i, N, k)), b_load(&b, y, b_at(&b, k, N, j)));
  v = b_reduce(&b, UN__OP_ADD, un__binary(g, UN__OP_MUL, v, b_load(&b, z, b_at(&b, b_at(&b, i, N, j), N, k))), k);
  kern kernel = b_done(&b, b_end(&b, b_store(&b, o, b_at(&b, i, N, j), v), i, j));
  check_why(&kernel, "product: 32 x 64 results of ranges 0 and 1 a block: 128 blocks\n");
}

Test(opt_gpu, why_matmul_on_tensor_cores) {
  kern k = k_core(g, &(core_product){.d = UN_BF16, .m = 4096, .n = 4096, .k = 4096, .epilogue = NARROW});
  un__strbuf why;
  un__opt_plan plan;
  un__sb_init(&why);
  cr_assert_eq(un__opt_heuristic(k.root, &core_gpu, UN__LIC_PRECISE, &plan, &why), UN_OK);
  cr_expect_str_eq(un__sb_str(&why), "tensor: bf16 products of 16 x 8 x 16: 4 x 8 of them a warp, 2 x 2 warps a block, 1024 blocks\n", "got:\n%s", un__sb_str(&why));
  un__sb_finish(&why);
}
Test(opt_gpu, why_gemv) {
  kern k = k_matmul(g, UN_F32, 1, 4096, 4096, false, true);
  check_why(&k, "rows: range 2 by 256 threads, 4 at once, 4 times: 4096 rows\n");
}
Test(opt_gpu, why_one_sum) {
  kern k = k_total(g, UN_F32, 1 << 20);
  check_why(&k, "rows: range 0 by 1024 threads, 4 at once, 4 times: 1 rows\n");
}
