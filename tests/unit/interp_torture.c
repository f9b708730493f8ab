/* Every allocation of the interpreter fails once: the answer is NOMEM, nothing leaks (run under ASan). Torture builds.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "interp/interp.h"
#include "uop/text.h"

static const char kernel_text[] = "unir 1\n"
                                  "graph @k stage=kernel {\n"
                                  "  %0 = const index [val=4]\n"
                                  "  %1 = param ptr.f32 %0 [slot=0]\n"
                                  "  %2 = range index %0 [id=0 axis=loop]\n"
                                  "  %3 = index ptr.f32 %1, %2\n"
                                  "  %4 = const index [val=16]\n"
                                  "  %5 = param ptr.f32 %4 [slot=1]\n"
                                  "  %6 = mul index %2, %0\n"
                                  "  %7 = range index %0 [id=1 axis=reduce]\n"
                                  "  %8 = add index %6, %7\n"
                                  "  %9 = index ptr.f32 %5, %8\n"
                                  "  %10 = load f32 %9\n"
                                  "  %11 = reduce f32 %10, %7 [op=add]\n"
                                  "  %12 = store void %3, %11\n"
                                  "  %13 = end void %12, %2\n"
                                  "  sink %13\n"
                                  "}\n";

static const char linear_text[] = "unir 1\n"
                                  "graph @l stage=linear {\n"
                                  "  %0 = const i32 [val=4]\n"
                                  "  %1 = const i32 [val=1]\n"
                                  "  %2 = const i32 [val=0]\n"
                                  "  %3 = const index [val=4]\n"
                                  "  %4 = param ptr.f32 %3 [slot=0]\n"
                                  "  %5 = define_reg ptr.reg.f32 %1 [id=0]\n"
                                  "  %6 = const f32 [val=2.0]\n"
                                  "  %7 = index ptr.reg.f32 %5, %2\n"
                                  "  %8 = store void %7, %6\n"
                                  "  %9 = range i32 %0 [id=0 axis=loop]\n"
                                  "  %10 = index ptr.f32 %4, %9\n"
                                  "  %11 = load f32 %7\n"
                                  "  %12 = store void %10, %11\n"
                                  "  %13 = end void %12, %9\n"
                                  "  linear %0..%13\n"
                                  "}\n";

static const un_uop *parsed(un__graph *ws, const char *text) {
  un__parsed_graph g;
  size_t n;
  cr_assert_eq(un__parse_text(ws, "torture", text, strlen(text), &g, 1, &n), UN_OK, "%s", un__graph_err(ws)->text);
  return g.root;
}

/* Runs with 0, 1, 2, ... allocations granted until it works; returns how many it needed. */
static uint64_t until_it_works(un_status (*run)(void *data, un__err *err), void *data) {
  for (uint64_t granted = 0;; granted++) {
    un__err err = {0};
    un__torture_arm(granted, false);
    un_status st = run(data, &err);
    un__torture_arm(UINT64_MAX, false);
    if (st == UN_OK) return granted;
    cr_assert_eq(st, UN_ERR_NOMEM, "after %d: %s", (int)granted, err.text);
    cr_assert_lt(granted, 100000);
  }
}

static un_status run_kernel(void *data, un__err *err) {
  float out[4], in[16] = {0};
  return un__interp_kernel(data, (void *[]){out, in}, (int64_t[]){4, 16}, 2, NULL, 0, err);
}

Test(interp_torture, kernels) {
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  cr_assert_gt(until_it_works(run_kernel, (void *)parsed(ws, kernel_text)), 10);
  cr_assert_gt(until_it_works(run_kernel, (void *)parsed(ws, linear_text)), 10);
  un__workspace_destroy(ws);
}

static un_status run_tensor(void *data, un__err *err) {
  float in[6] = {1, 2, 3, 4, 5, 6};
  const un_uop *const *roots = data;
  un__itensor input = {.dtype = UN__DT(UN_F32), .rank = 1, .dim = {6}, .data = in}, out[2];
  double *bound[2];
  UN__TRY(un__interp_tensor_bounded(roots, 2, &input, 1, out, bound, err));
  for (int i = 0; i < 2; i++) {
    un__free(out[i].data);
    un__free(bound[i]);
  }
  return UN_OK;
}

Test(interp_torture, tensors) {
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  const un_uop *n = un__idx(ws, 6), *x = un__uop(ws, UN__OP_BUFFER, UN__DT(UN_F32), &n, 1, (int64_t[]){0, 0}, 2);
  const un_uop *e = un__unary(ws, UN__OP_EXP, x);
  const un_uop *roots[] = {e, un__uop(ws, UN__OP_REDUCE_AXIS, 0, &e, 1, (int64_t[]){UN__OP_ADD, 0}, 2)};
  cr_assert_gt(until_it_works(run_tensor, roots), 10);
  un__workspace_destroy(ws);
}

static un_status run_device(void *data, un__err *err) {
  un__device *d;
  un__code *code = NULL;
  un__mem *mem = NULL;
  float out[4] = {0};
  un__artifact art = {.format = UN__FORMAT_UN_LINEAR,
                      .bytes = linear_text,
                      .size = strlen(linear_text),
                      .entry = "l",
                      .nargs = 1,
                      .tasks = {.n = 1, .code = {{UN__LAUNCH_CONST, 1}}}};
  UN__TRY(un__interp_open(NULL, &d, err));
  un_status st = d->vt->compile(d, &art, &code, err);
  if (st == UN_OK) st = d->vt->wrap(d, out, sizeof out, &mem, err);
  if (st == UN_OK) st = d->vt->launch(d, code, &mem, NULL, err);
  if (mem) d->vt->free(d, mem);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  if (st == UN_OK) cr_assert_eq(out[3], 2);
  return st;
}

Test(interp_torture, device) { cr_assert_gt(until_it_works(run_device, NULL), 20); }
