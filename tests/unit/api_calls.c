/* api_calls.c - contexts, handles, scopes, errors and runs through the public headers, on the device "interp". */
#include <criterion/criterion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define UN_USE_UNSTABLE
#include <unir/unir.h>
#include <unir/unstable.h>

#include "base/folder.h"

static un_ctx *cx;

static un_ctx *open_ctx(void) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  un_ctx *c = NULL;
  cr_assert_eq(un_ctx_create(&opt, &c), UN_OK);
  return c;
}

static un_stats stats(void) {
  un_stats s = UN_STATS_INIT;
  cr_assert_eq(un_get_stats(cx, &s), UN_OK);
  return s;
}

static void setup(void) { cx = open_ctx(); }
static void teardown(void) {
  cr_expect_eq(un_audit(cx), UN_OK, "%s", un_error(cx));
  un_ctx_destroy(cx);
}
TestSuite(api, .init = setup, .fini = teardown);

static un_tensor *floats(int n, const float *v) { return un_from_data(cx, UN_F32, un_shape(1, n), v); }

#define READS(t, n, ...) reads(__LINE__, (t), (n), (const float[]){__VA_ARGS__})
static void reads(int line, un_tensor *t, size_t n, const float *want) {
  float have[64];
  cr_assert_eq((un_read)(t, have, n * sizeof *have), UN_OK, "line %d: %s", line, un_error(cx));
  for (size_t i = 0; i < n; i++)
    cr_expect_eq(have[i], want[i], "line %d: element %zu is %g, expected %g", line, i, have[i], want[i]);
}

#define FAILED(expr, code, part) failed(__LINE__, (expr) == NULL, (code), (part))
#define FAILED_STATUS(expr, code, part) failed(__LINE__, (expr) == (code), (code), (part))
static void failed(int line, bool gave_failure, un_status code, const char *part) {
  cr_expect(gave_failure, "line %d: not refused", line);
  cr_expect_eq(un_error_status(cx), code, "line %d: %d %s", line, un_error_status(cx), un_error(cx));
  cr_expect(strstr(un_error(cx), part), "line %d: \"%s\" lacks \"%s\"", line, un_error(cx), part);
  un_clear_error(cx);
}

/* ---- values ---- */

Test(api, data_in_and_out) {
  float v[] = {1, 2, 3, 4};
  un_tensor *x = floats(4, v);
  v[0] = 99;     /* copied */
  READS(x, 4, 1, 2, 3, 4);
  READS(un_adds(un_muls(x, 2), 1), 4, 3, 5, 7, 9);
  double d;
  cr_expect_eq(un_item(un_sum(x, un_every_axis(), false), &d), UN_OK);
  cr_expect_eq(d, 10);
  const uint8_t flags[] = {0, 1, 7, 255};
  uint8_t back[4];
  cr_expect_eq(un_read(un_from_data(cx, UN_BOOL, un_shape(1, 4), flags), back, 4), UN_OK);
  cr_expect(!memcmp(back, (uint8_t[]){0, 1, 1, 1}, 4), "bytes of bool are 0 or 1");
  const uint64_t big = UINT64_MAX;
  cr_expect_eq(un_item(un_from_data(cx, UN_U64, un_shape(0), &big), &d), UN_OK);
  cr_expect_eq(d, 0x1p64);
}

Test(api, getters) {
  un_tensor *x = un_zeros(cx, UN_F16, un_shape(3, 2, 0, 5));
  cr_expect_eq(un_dtype_of(x), UN_F16);
  cr_expect_eq(un_rank(x), 3);
  cr_expect_eq(un_dim(x, 2), 5);
  cr_expect_eq(un_dim(x, -3), 2);
  cr_expect_eq(un_dim(x, 3), -1);
  cr_expect_eq(un_numel(x), 0);
  cr_expect_eq(un_ctx_of(x), cx);
  cr_expect(un_shape_of(x).rank == 3 && un_shape_of(x).dim[2] == 5);
  cr_expect(un_dtype_of(NULL) == UN_VOID && un_rank(NULL) == -1 && un_dim(NULL, 0) == -1 && un_numel(NULL) == -1);
  cr_expect_eq(un_shape_of(NULL).rank, UN_DIMS_BAD);
  cr_expect_str_eq(un_device(cx), "interp");
  cr_expect_not_null(un_device_kind(0));
  cr_expect_null(un_device_kind(100));
}

Test(api, no_elements_anywhere) {
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 0, 3), NULL), *w = un_wrap_data(cx, UN_F32, un_shape(1, 0), NULL);
  un_tensor *all[] = {x, un_exp(x), un_matmul(x, un_ones(cx, UN_F32, un_shape(2, 3, 4)))};
  cr_expect_eq(un_realize(cx, 3, all), UN_OK, "%s", un_error(cx));
  cr_expect_eq(un_read(all[2], NULL, 0), UN_OK, "%s", un_error(cx));
  cr_expect_eq(un_touch(w), UN_OK, "%s", un_error(cx));
  READS(un_sum(x, un_list(0), false), 3, 0, 0, 0);
}

Test(api, realised_tensors_stand_for_storage) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *y = un_exp(x), *z = un_neg(x);
  const un_uop *before = un_node(y);
  un_tensor *list[] = {y, z, y, x};
  cr_assert_eq(un_realize(cx, 4, list), UN_OK, "%s", un_error(cx));
  cr_expect_neq(un_node(y), before);
  uint64_t launched = stats().kernels_launched;
  READS(z, 2, -1, -2);
  READS(un_reshape(z, un_shape(2, 1, 2)), 2, -1, -2);
  cr_expect_eq(stats().kernels_launched, launched, "reading stored data, reshaped too, runs nothing");
}

Test(api, borrowed_data_and_touch) {
  float v[] = {1, 2};
  un_tensor *x = un_wrap_data(cx, UN_F32, un_shape(1, 2), v);
  READS(un_adds(x, 1), 2, 2, 3);
  v[0] = 10;
  cr_assert_eq(un_touch(x), UN_OK);
  READS(un_adds(x, 1), 2, 11, 3);
  READS(x, 2, 10, 2);
  FAILED_STATUS(un_touch(un_adds(x, 1)), UN_ERR_INVALID_ARG, "made by un_wrap_data");
  cr_expect_eq(un_touch(NULL), UN_ERR_INVALID_ARG);
}

/* Readers built before an assign see the old value, whatever is realised first. */
Test(api, assign_is_functional) {
  const float v[] = {1, 2}, w[] = {5, 6};
  un_tensor *x = floats(2, v), *reader = un_muls(x, 10), *view = un_flip(x, un_list(0));
  cr_assert_eq(un_assign(x, floats(2, w)), x);
  READS(x, 2, 5, 6);
  READS(un_muls(x, 10), 2, 50, 60);
  READS(reader, 2, 10, 20);
  READS(view, 2, 2, 1);
  cr_assert_eq(un_assign(x, un_adds(x, 1)), x);
  READS(x, 2, 6, 7);
  cr_assert_eq(un_assign(x, un_scalar(cx, UN_I32, 3)), x);
  READS(x, 2, 3, 3);
  FAILED(un_assign(x, un_zeros(cx, UN_F64, un_shape(1, 2))), UN_ERR_DTYPE, "f32 does not hold every f64");
  FAILED(un_assign(x, un_zeros(cx, UN_F32, un_shape(1, 3))), UN_ERR_SHAPE, "(3) does not broadcast to (2)");
  READS(x, 2, 3, 3);
}

/* x = x[::-1] and the like: the traps of writing in place. */
Test(api, assign_from_views_of_itself) {
  const float v[] = {1, 2, 3};
  un_tensor *x = floats(3, v);
  un_assign(x, un_flip(x, un_list(0)));
  READS(x, 3, 3, 2, 1);
  un_tensor *parts[] = {un_slice(x, 0, 1, UN_OPEN, 1), un_zeros(cx, UN_F32, un_shape(1, 1))};
  un_assign(x, un_cat(cx, 2, parts, 0));
  READS(x, 3, 2, 1, 0);
}

/* ---- errors ---- */

Test(api, errors_say_what_and_where) {
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(2, 4, 8)), *b = un_zeros(cx, UN_F32, un_shape(2, 7, 3));
  char here[64];
  cr_expect_null(un_matmul(a, b)); snprintf(here, sizeof here, "api_calls.c:%d", __LINE__);
  cr_expect(strstr(un_error(cx), "matmul: inner dims differ: lhs (4,8), rhs (7,3) at "), "%s", un_error(cx));
  cr_expect(strstr(un_error(cx), here), "%s lacks %s", un_error(cx), here);
  cr_expect_null(un_add(a, b));
  cr_expect(strstr(un_error(cx), "matmul"), "the first error stays");
  un_clear_error(cx);
  cr_expect_str_eq(un_error(cx), "");
  cr_expect_null((un_add)(a, b), "the plain function");
  cr_expect_str_eq(un_error(cx), "add: shapes do not broadcast: lhs (4,8), rhs (7,3)");
  un_clear_error(cx);
  cr_expect_not_null(un_neg(a), "a context works on after an error");
}

/* Nested calls keep their own lines, whatever order the arguments are evaluated in. */
Test(api, nested_calls_keep_their_lines) {
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(1, 2)), *b = un_zeros(cx, UN_F32, un_shape(1, 3));
  int outer = __LINE__ + 1;
  un_tensor *sum = un_add(a,
                          un_mul(a,
                                 a));
  int line;
  cr_expect_not_null(strstr(un_origin(sum, &line), "api_calls.c"));
  cr_expect_eq(line, outer);
  int inner = __LINE__ + 2;
  cr_expect_null(un_add(a,
                        un_mul(b, a)));
  char here[64];
  snprintf(here, sizeof here, "api_calls.c:%d", inner);
  cr_expect(strstr(un_error(cx), "mul") && strstr(un_error(cx), here), "%s", un_error(cx));
  un_clear_error(cx);
  un_tensor *(*f)(un_tensor *, un_tensor *) = un_add;
  cr_expect_null(un_origin(f(a, a), &line));
  cr_expect_eq(line, 0);
}

Test(api, many_abandoned_notes_are_forgotten) {
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(1, 2));
  for (int i = 0; i < 1000; i++) un_at(a, "elsewhere.c", i);
  int line;
  cr_expect_not_null(strstr(un_origin(un_neg(a), &line), "api_calls.c"));
}

Test(api, foreign_handles) {
  un_ctx *other = open_ctx();
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(1, 2)), *b = un_zeros(other, UN_F32, un_shape(1, 2));
  FAILED(un_add(a, b), UN_ERR_CTX_MISMATCH, "add: operand 1 belongs to another context at ");
  FAILED(un_where(a, a, b), UN_ERR_CTX_MISMATCH, "operand 2");
  un_tensor *list[] = {a, b};
  FAILED(un_cat(cx, 2, list, 0), UN_ERR_CTX_MISMATCH, "cat: operand 1");
  FAILED_STATUS(un_realize(cx, 2, list), UN_ERR_CTX_MISMATCH, "realize: operand 1");
  FAILED(un_assign(a, b), UN_ERR_CTX_MISMATCH, "assign: operand 1");
  cr_expect_eq(un_error_status(other), UN_OK);
  un_ctx_destroy(other);
}

Test(api, null_gives_null_without_an_error) {
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(1, 2)), *list[] = {a, NULL};
  double d;
  cr_expect_null(un_add(a, NULL));
  cr_expect_null(un_add(NULL, a));
  cr_expect_null(un_add(NULL, NULL));
  cr_expect_null(un_adds(NULL, 1));
  cr_expect_null(un_where(a, NULL, a));
  cr_expect_null(un_matmul(NULL, a));
  cr_expect_null(un_reshape(NULL, un_shape(0)));
  cr_expect_null(un_cat(cx, 2, list, 0));
  cr_expect_null(un_assign(NULL, a));
  cr_expect_null(un_assign(a, NULL));
  cr_expect_null(un_keep(NULL));
  cr_expect_null(un_zeros(NULL, UN_F32, un_shape(0)));
  cr_expect_null(un_to_text(NULL, UN_STAGE_TENSOR, UN_FORM_TREE));
  cr_expect_eq(un_read(NULL, &d, 8), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_item(NULL, &d), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_print_tree(NULL, UN_STAGE_TENSOR, stdout), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_realize(NULL, 0, NULL), UN_ERR_INVALID_ARG);
  un_release(NULL);
  un_ctx_destroy(NULL);
  un_clear_error(NULL);
  cr_expect_eq(un_error_status(NULL), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_error_status(cx), UN_OK, "%s", un_error(cx));
}

Test(api, arguments_of_runs_are_checked) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *list[] = {x, NULL};
  float out[2];
  double d;
  FAILED_STATUS(un_read(x, out, 4), UN_ERR_INVALID_ARG, "exactly 8 bytes, got 4");
  FAILED_STATUS(un_read(x, NULL, 8), UN_ERR_INVALID_ARG, "got NULL");
  FAILED_STATUS(un_item(x, &d), UN_ERR_SHAPE, "got shape (2)");
  FAILED_STATUS(un_item(un_sum(x, un_every_axis(), false), NULL), UN_ERR_INVALID_ARG, "out is NULL");
  FAILED_STATUS(un_realize(cx, 2, list), UN_ERR_INVALID_ARG, "tensor 1 is NULL");
  FAILED_STATUS(un_realize(cx, 2, NULL), UN_ERR_INVALID_ARG, "list of tensors is NULL");
  cr_expect_eq(un_realize(cx, 0, NULL), UN_OK);
  FAILED(un_from_data(cx, UN_F32, un_shape(1, 2), NULL), UN_ERR_INVALID_ARG, "data is NULL");
  FAILED(un_from_data(cx, UN_INDEX, un_shape(1, 2), v), UN_ERR_DTYPE, "not a dtype of tensors");
  FAILED(un_from_data(cx, UN_F32, un_shape(1, -2), v), UN_ERR_SHAPE, "negative size");
  FAILED(un_from_data(cx, UN_F32, un_shape(3, 2), v), UN_ERR_SHAPE, "not a shape");
  FAILED(un_zeros(cx, UN_F32, un_shape(17, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)), UN_ERR_SHAPE,
         "not a shape");
  FAILED(un_cat(cx, 1, NULL, 0), UN_ERR_INVALID_ARG, "list of tensors is NULL");
  FAILED_STATUS(un_print_tree(x, (un_stage)99, stdout), UN_ERR_INVALID_ARG, "no such stage");
  FAILED_STATUS(un_print_tree(x, UN_STAGE_TENSOR, NULL), UN_ERR_INVALID_ARG, "out is NULL");
}

Test(api, a_status_is_that_of_its_call) {
  un_tensor *x = un_zeros(cx, UN_F32, un_shape(1, 2));
  cr_expect_null(un_reshape(x, un_shape(1, 3)));
  float out[2];
  cr_expect_eq(un_read(x, out, 1), UN_ERR_INVALID_ARG, "not the SHAPE of the call before");
  cr_expect_eq(un_read(x, out, 8), UN_OK, "a success after failures");
  cr_expect_eq(un_error_status(cx), UN_ERR_SHAPE);
}

/* ---- lifetime ---- */

Test(api, scopes_free_what_was_not_kept) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *kept = NULL;
  uint64_t handles = stats().live_handles;
  cr_assert_eq(un_scope_push(cx), UN_OK);
  kept = un_keep(un_add(un_mul(x, x), x));
  cr_expect_eq(un_keep(kept), kept);
  cr_expect_eq(stats().live_handles, handles + 2);
  cr_assert_eq(un_scope_pop(cx), UN_OK);
  cr_expect_eq(stats().live_handles, handles + 1);
  READS(kept, 2, 2, 6);
  un_release(kept);
  cr_expect_eq(stats().live_handles, handles);
  FAILED_STATUS(un_scope_pop(cx), UN_ERR_INVALID_ARG, "no scope was pushed");
}

Test(api, nothing_is_left_when_nothing_is_held) {
  un_collect(cx);
  cr_expect_eq(stats().live_nodes, 0);
  cr_assert_eq(un_scope_push(cx), UN_OK);
  const float v[] = {1, 2, 3, 4};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *y = un_softmax(un_matmul(x, x), -1);
  float out[4];
  cr_assert_eq(un_read(y, out, sizeof out), UN_OK, "%s", un_error(cx));
  cr_expect_null(un_matmul(x, un_zeros(cx, UN_F32, un_shape(1, 5))));
  cr_assert_eq(un_scope_pop(cx), UN_OK);
  un_collect(cx);
  cr_expect_eq(stats().live_nodes, 0, "%d nodes are left", (int)stats().live_nodes);
  cr_expect_eq(stats().live_handles, 0);
  cr_expect_eq(stats().bytes_live, 0);
}

Test(api, values_outlive_the_handles_they_came_from) {
  const float v[] = {1, 2};
  un_tensor *x = floats(2, v), *y = un_adds(x, 1);
  un_release(x);
  un_collect(cx);
  READS(y, 2, 2, 3);
}

Test(api, rounds_of_work_do_not_grow) {
  const float v[] = {1, 2, 3, 4};
  uint64_t nodes = 0, bytes = 0;
  for (int i = 0; i < 300; i++) {
    cr_assert_eq(un_scope_push(cx), UN_OK);
    un_tensor *x = floats(4, v);
    READS(un_muls(x, i), 4, 0.0f + i, 2.0f * i, 3.0f * i, 4.0f * i);
    cr_assert_eq(un_scope_pop(cx), UN_OK);
    if (i == 100) nodes = stats().live_nodes, bytes = stats().bytes_live;
  }
  cr_expect(stats().live_nodes <= nodes + 200, "%d nodes after %d", (int)stats().live_nodes, (int)nodes);
  cr_expect(stats().bytes_live <= bytes + 4096);
}

Test(api, a_schedule_in_use_outlives_those_that_are_not) {
  un_tensor *x = floats(2, (const float[]){1, 2});
  for (int i = 0; i < 1100; i++) {
    un_scope_push(cx);
    cr_assert_eq(un_realize(cx, 1, (un_tensor *[]){un_muls(x, i + 2)}), UN_OK);
    cr_assert_eq(un_realize(cx, 1, (un_tensor *[]){un_sqrt(x)}), UN_OK);
    un_scope_pop(cx);
  }
  cr_expect_eq(stats().kernels_compiled, 1101);
}

/* Whoever finds a fault inside has the graph for the report. */
Test(api, an_internal_fault_leaves_the_graph) {
  char folder[256], path[512], text[4096] = "";
  cr_assert(un__temp_folder("test-crash", folder, sizeof folder));
  setenv("UNIR_CRASH_DIR", folder, 1);
  setenv("UNIR_DISABLE_RULE", "decompose_f32.sin_f32", 1);
  un_tensor *x = floats(2, (const float[]){1, 2});
  cr_expect_eq(un_realize(cx, 1, (un_tensor *[]){un_sin(x)}), UN_ERR_INTERNAL, "%s", un_error(cx));
  const char *said = strstr(un_error(cx), "the graph is in ");
  cr_assert(said && sscanf(said, "the graph is in %511s", path) == 1, "%s", un_error(cx));
  FILE *f = fopen(path, "r");
  cr_assert(f && fread(text, 1, sizeof text - 1, f) > 0);
  fclose(f);
  cr_expect(strncmp(text, "# unir ", 7) == 0 && strstr(text, "\nunir 1\n") && strstr(text, "sin f32"), "%s", text);
  un__remove_folder(folder);
  un_clear_error(cx);
}

/* Kernels are compiled at once, on several threads; the error is that of the first in the schedule, whichever fails first. */
Test(api, of_several_kernels_that_fail_the_first_is_told) {
  char folder[256], script[300];
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *c;
  cr_assert(un__temp_folder("test-cc", folder, sizeof folder));
  snprintf(script, sizeof script, "%s/cc", folder);
  FILE *f = fopen(script, "w");
  cr_assert(f && fputs("#!/bin/sh\nfor file; do case $file in *.c) source=$file;; esac; done\n"
                       "if grep -q sqrt $source; then sleep 0.2; echo slow >&2; else echo quick >&2; fi\nexit 1\n", f) >= 0 && fclose(f) == 0);
  cr_assert_eq(chmod(script, 0700), 0);
  setenv("UNIR_CC", script, 1);
  setenv("UNIR_THREADS", "4", 1);
  opt.device = "cc";
  cr_assert_eq(un_ctx_create(&opt, &c), UN_OK);
  un_tensor *x = un_from_data(c, UN_F32, un_shape(1, 2), (const float[]){1, 2}), *y = un_from_data(c, UN_F32, un_shape(1, 3), (const float[]){1, 2, 3});
  cr_expect_eq(un_realize(c, 2, (un_tensor *[]){un_sqrt(x), un_neg(y)}), UN_ERR_COMPILE);
  cr_expect(strstr(un_error(c), "slow") && !strstr(un_error(c), "quick"), "%s", un_error(c));
  un_ctx_destroy(c);
  un__remove_folder(folder);
}

Test(api, equal_expressions_are_one_node) {
  un_tensor *x = un_ones(cx, UN_F32, un_shape(1, 4));
  cr_expect_eq(un_node(un_exp(un_adds(x, 1))), un_node(un_exp(un_adds(x, 1))));
}

/* ---- contexts, text, log ---- */

Test(api, options_are_checked) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *c = (un_ctx *)&opt;
  opt.device = "abacus";
  cr_expect_eq(un_ctx_create(&opt, &c), UN_ERR_DEVICE);
  cr_expect_null(c);
  opt = (un_ctx_options)UN_CTX_OPTIONS_INIT;
  opt.struct_size = 3;
  cr_expect_eq(un_ctx_create(&opt, &c), UN_ERR_INVALID_ARG);
  opt.struct_size = sizeof opt + 8;
  cr_expect_eq(un_ctx_create(&opt, &c), UN_ERR_INVALID_ARG);
  opt = (un_ctx_options)UN_CTX_OPTIONS_INIT;
  opt.numerics = (un_numerics)9;
  cr_expect_eq(un_ctx_create(&opt, &c), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_ctx_create(&opt, NULL), UN_ERR_INVALID_ARG);
  un_stats s = {.struct_size = sizeof s + 1};
  cr_expect_eq(un_get_stats(cx, &s), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_get_stats(cx, NULL), UN_ERR_INVALID_ARG);
}

static void count_line(void *data, const char *line) {
  int *count = data;
  cr_expect(strlen(line) > 0 && !strchr(line, '\n'));
  ++*count;
}

Test(api, the_log_gets_errors_and_runs) {
  int count = 0;
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  opt.log = count_line;
  opt.log_data = &count;
  un_ctx *c;
  cr_assert_eq(un_ctx_create(&opt, &c), UN_OK);
  un_tensor *x = un_ones(c, UN_F32, un_shape(1, 2));
  cr_expect_null(un_reshape(x, un_shape(1, 3)));
  cr_expect_eq(count, 1);
  un_tensor *y = un_exp(x);
  cr_expect_eq(un_realize(c, 1, &y), UN_OK);
  cr_expect_eq(count, 2);
  un_ctx_destroy(c);
}

Test(api, trees_and_text_of_the_expression) {
  const float v[] = {1, 2, 3, 4};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *y = un_matmul(x, x);
  char *tree = un_to_text(y, UN_STAGE_TENSOR, UN_FORM_TREE), *text = un_to_text(y, UN_STAGE_TENSOR, UN_FORM_TEXT);
  cr_assert(tree && text, "%s", un_error(cx));
  cr_expect(strstr(tree, "REDUCE_AXIS"), "%s", tree);
  cr_expect(strstr(text, "reduce_axis f32"), "%s", text);
  FILE *f = tmpfile();
  cr_assert_eq(un_print_tree(y, UN_STAGE_TENSOR, f), UN_OK);
  cr_expect_eq((size_t)ftell(f), strlen(tree));
  fclose(f);
  un_tensor *both[] = {y, un_neg(y), NULL};
  char *run = un_run_to_text(cx, 2, both, UN_STAGE_KERNEL, UN_FORM_TEXT);
  cr_assert(run, "%s", un_error(cx));
  cr_expect(strstr(run, "stage=kernel") && strstr(run, "neg f32"), "%s", run);
  FAILED(un_run_to_text(cx, 3, both, UN_STAGE_KERNEL, UN_FORM_TEXT), UN_ERR_INVALID_ARG, "tensor 2 is NULL");
  un_text_free(run);
  un_text_free(tree);
  un_text_free(text);
  un_text_free(NULL);
}
