/* contexts.c - scenarios that call the library as its users do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/folder.h"
#include "torture.h"

/* ---- verdicts ---- */

/* What the context says went wrong; a missing result without an error is the library's own fault. */
static un_status verdict(trial *t, bool whole) {
  un_status status = un_error_status(t->cx);
  return status != UN_OK || whole ? status : UN_ERR_INTERNAL;
}

#define TRY(expr)                              \
  do {                                         \
    un_status try_status = (expr);             \
    if (try_status != UN_OK) return try_status; \
  } while (0)

/* Realises and sees n tensors. */
static un_status see_values(trial *t, size_t n, un_tensor *const *x) {
  static char bytes[1 << 19];
  for (size_t i = 0; i < n; i++)
    if (!x[i]) return verdict(t, false);
  TRY(un_realize(t->cx, n, x));
  for (size_t i = 0; i < n; i++) {
    size_t size = (size_t)un_numel(x[i]) * un_dtype_size(un_dtype_of(x[i]));
    TRY(un_read(x[i], bytes, size));
    see(t, bytes, size);
  }
  return verdict(t, true);
}

#define SEE(t, ...) see_values((t), sizeof((un_tensor *[]){__VA_ARGS__}) / sizeof(un_tensor *), (un_tensor *[]){__VA_ARGS__})

static const float numbers[12] = {1, -2, 3, 4, 5, -6, 7, 8, 9, 10, 11, 12};

static un_tensor *matrix(trial *t, int64_t rows, int64_t columns) {
  return un_from_data(t->cx, UN_F32, un_shape(2, rows, columns), numbers);
}

/* ---- values ---- */

static un_status network(trial *t) {
  un_tensor *y = un_softmax(un_relu(un_matmul(matrix(t, 3, 4), matrix(t, 4, 2))), 1);
  return SEE(t, y, un_argmax(y, 1, false), un_sum(y, un_every_axis(), false));
}

static un_status layers(trial *t) {
  un_tensor *x = matrix(t, 3, 4);
  return SEE(t, un_layer_norm(x, un_list(1), 1e-5), un_log_softmax(x, 0), un_std(x, un_list(0, 1), 1, true), un_gelu(x),
             un_all(un_gts(x, 0), un_list(1), false));
}

/* To a device that is opened on the way, and back. */
static un_status devices(trial *t) {
  un_tensor *x = matrix(t, 3, 4), *y = un_to(x, "interp:sm_90a");
  return SEE(t, un_exp(y), un_add(un_to(un_muls(y, 2), "interp"), x));
}

static un_status movement(trial *t) {
  un_tensor *x = matrix(t, 3, 4);
  return SEE(t, un_pad_value(un_flip(x, un_list(0)), un_list(1, 0), un_list(0, 2), 7),
             un_slice(un_permute(x, un_list(1, 0)), 0, -1, UN_OPEN, -2), un_expand(un_select(x, 1, 2), un_shape(2, 2, 3)),
             un_reshape(un_shrink(x, un_list(0, 1), un_list(2, 4)), un_shape(2, 3, -1)));
}

/* Joins, literals, bools, one-hots, tables: the calls that build more than one node. */
static un_status joins(trial *t) {
  static const uint8_t flags[] = {1, 0, 3};
  static const int32_t at[] = {2, 0, 7};
  un_tensor *x = matrix(t, 3, 4), *b = un_from_data(t->cx, UN_BOOL, un_shape(2, 3, 1), flags);
  un_tensor *i = un_from_data(t->cx, UN_I32, un_shape(1, 3), at);
  un_tensor *parts[] = {x, un_adds(x, 1), un_where(b, x, un_scalar_like(x, 0))};
  return SEE(t, un_cat(t->cx, 3, parts, 0), un_stack(t->cx, 2, parts, 1), un_embedding(x, i), un_one_hot(i, 3, UN_F32),
             un_gather(x, 1, un_unsqueeze(i, 1)), un_add(un_eye(t->cx, UN_I64, 3, 3), un_arange(t->cx, UN_I32, 0, 3, 1)));
}

static un_status assigning(trial *t) {
  un_tensor *x = matrix(t, 2, 2), *before = un_square(x);
  if (!un_assign(x, un_flip(x, un_list(0)))) return verdict(t, false);
  TRY(SEE(t, x, before));
  if (!un_assign(x, un_adds(x, 0.5))) return verdict(t, false);
  return SEE(t, x, un_cast(before, UN_F16));
}

static un_status borrowing(trial *t) {
  float own[4] = {1, 2, 3, 4};
  double item = 0;
  un_tensor *x = un_wrap_data(t->cx, UN_F32, un_shape(1, 4), own), *sum = un_sum(x, un_list(0), false);
  if (!sum) return verdict(t, false);
  TRY(un_item(sum, &item));
  see(t, &item, sizeof item);
  own[0] = 10;
  TRY(un_touch(x));
  return SEE(t, x, un_sum(x, un_list(0), false));
}

/* The second time the plan and the kernels are known. */
static un_status repeated(trial *t) {
  TRY(network(t));
  return network(t);
}

/* Enough elements for several tasks of the pool. */
static un_status threads(trial *t) {
  un_tensor *x = un_arange(t->cx, UN_F32, 0, 1 << 17, 1);
  return SEE(t, un_sub(un_muls(x, 0.5), un_square(x)));
}

/* A run that fails leaves the states as they were: once more gives what it would have given. */
static un_status run_or_again(trial *t, un_program *p) {
  un_status status = un_program_run(p, 0, NULL);
  if (status != UN_ERR_NOMEM) return status;
  status = un_program_run(p, 0, NULL);
  if (status == UN_OK) un_clear_error(t->cx);
  return status;
}

/* A step of gradient descent, and a state that takes the place of another. */
static un_status train(trial *t) {
  float out[6];
  un_tensor *x = matrix(t, 3, 4), *w = matrix(t, 4, 2), *before = un_clone(w), *y = un_matmul(x, w);
  un_tensor *next = un_sub(w, un_muls(un_matmul(un_transpose(x, 0, 1), y), 1e-3));
  un_program *p = next && before ? un_program_capture(t->cx, 1, &x, 1, &y, 2, (un_update[]){{w, next}, {before, w}}) : NULL;
  un_status status = verdict(t, p != NULL);
  for (int i = 0; i < 3 && status == UN_OK; i++) status = run_or_again(t, p);
  if (status == UN_OK) status = un_program_write(p, 0, numbers, sizeof numbers);
  if (status == UN_OK) status = un_program_run(p, 1, &x);
  if (status == UN_OK) status = un_program_read(p, 0, out, sizeof out);
  if (status == UN_OK) see(t, out, sizeof out);
  if (status == UN_OK) status = SEE(t, un_program_result(p, 0), un_program_state(p, 0), un_program_state(p, 1));
  un_program_destroy(p);
  return status;
}

/* ---- scopes ---- */

static un_status scopes(trial *t) {
  TRY(un_scope_push(t->cx));
  un_tensor *x = matrix(t, 3, 4), *kept = un_keep(un_exp(x));
  un_status status = un_scope_push(t->cx);
  if (status == UN_OK) {
    un_tensor *y = un_mul(kept, x), *z = un_neg(y);
    un_release(y);
    status = SEE(t, z);
    un_scope_pop(t->cx);
  }
  un_collect(t->cx);
  un_scope_pop(t->cx);
  if (status == UN_OK) status = SEE(t, kept);
  un_release(kept);
  return status;
}

/* ---- errors ---- */

/* A call that must fail did, with this status. */
static un_status expect(trial *t, un_status want, bool failed) {
  un_status status = un_error_status(t->cx);
  if (status == UN_ERR_NOMEM) return status;
  if (status != want || !failed) return UN_ERR_INTERNAL;
  see_text(t, un_error(t->cx));
  un_clear_error(t->cx);
  return UN_OK;
}

static un_status wrong_arguments(trial *t) {
  un_tensor *x = matrix(t, 3, 4), *y = matrix(t, 4, 3);
  float out[12];
  double item;
  TRY(verdict(t, x && y));
  TRY(expect(t, UN_ERR_SHAPE, !un_add(x, y)));
  TRY(expect(t, UN_ERR_SHAPE, !un_matmul(x, x)));
  TRY(expect(t, UN_ERR_SHAPE, !un_reshape(x, un_shape(2, 5, -1))));
  TRY(expect(t, UN_ERR_SHAPE, !un_select(x, 0, 3)));
  TRY(expect(t, UN_ERR_DTYPE, !un_and(x, x)));
  TRY(expect(t, UN_ERR_DTYPE, !un_cast(x, UN_INDEX)));
  TRY(expect(t, UN_ERR_INVALID_ARG, !un_from_data(t->cx, UN_F32, un_shape(1, 2), NULL)));
  TRY(expect(t, UN_ERR_INVALID_ARG, un_read(x, out, 1) != UN_OK));
  TRY(expect(t, UN_ERR_SHAPE, un_item(x, &item) != UN_OK));
  TRY(expect(t, UN_ERR_INVALID_ARG, un_scope_pop(t->cx) != UN_OK));
  return SEE(t, un_add(x, un_transpose(y, 0, 1)));
}

static un_status wrong_context(trial *t) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *other;
  opt.device = "abacus";
  un_status status = un_ctx_create(&opt, &other);
  if (status != UN_ERR_DEVICE) return status == UN_OK ? UN_ERR_INTERNAL : status;
  opt.device = "null";
  TRY(un_ctx_create(&opt, &other));
  un_tensor *x = matrix(t, 3, 4), *y = un_full(other, UN_F32, un_shape(2, 3, 4), 1);
  status = un_error_status(other);
  if (status == UN_OK) status = verdict(t, x != NULL);
  if (status == UN_OK) status = expect(t, UN_ERR_CTX_MISMATCH, !un_add(x, y));
  un_ctx_destroy(other);
  return status;
}

/* ---- contexts themselves ---- */

static un_status life_on(trial *t, const char *device) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = device;
  trial own = {.seen = t->seen};
  TRY(un_ctx_create(&opt, &own.cx));
  un_status status = network(&own);
  un_ctx_destroy(own.cx);
  t->seen = own.seen;
  return status;
}

static un_status life(trial *t) {
  TRY(life_on(t, "interp"));
  return life_on(t, "null");
}

#ifdef UN_HAVE_CPU
/* Two starts with a folder for what is kept: the second one finds what the first one could keep. */
static un_status start_twice(trial *t, un_status (*start)(trial *t)) {
  char folder[512];
  if (!un__temp_folder("torture", folder, sizeof folder)) return UN_ERR_IO;
  setenv("UNIR_CACHE_DIR", folder, 1);
  unsetenv("UNIR_CACHE");
  un_status status = start(t);
  if (status == UN_OK) status = start(t);
  setenv("UNIR_CACHE", "0", 1);
  un__remove_folder(folder);
  return status;
}

static un_status network_on_cpu(trial *t) { return life_on(t, "cpu"); }
static un_status kept_kernels(trial *t) { return start_twice(t, network_on_cpu); }

/* So small that there is little to search. */
static un_status double_on_cpu(trial *t) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "cpu";
  trial own = {.seen = t->seen};
  TRY(un_ctx_create(&opt, &own.cx));
  un_status status = SEE(&own, un_adds(matrix(&own, 1, 2), 1));
  un_ctx_destroy(own.cx);
  t->seen = own.seen;
  return status;
}

static un_status searched_kernels(trial *t) {
  setenv("UNIR_SEARCH", "beam:1", 1);
  un_status status = start_twice(t, double_on_cpu);
  unsetenv("UNIR_SEARCH");
  return status;
}
#endif

/* ---- texts ---- */

static un_status see_stage(trial *t, un_tensor *x, un_stage stage, un_form form) {
  char *text = un_to_text(x, stage, form);
  if (!text) return verdict(t, false);
  see_text(t, text);
  un_text_free(text);
  return UN_OK;
}

static un_status texts(trial *t) {
  un_tensor *x = matrix(t, 3, 4), *y = un_softmax(un_matmul(x, un_transpose(x, 0, 1)), 1);
  if (!y) return verdict(t, false);
  for (un_stage stage = UN_STAGE_TENSOR; stage <= UN_STAGE_SOURCE; stage++) {
    TRY(see_stage(t, y, stage, UN_FORM_TREE));
    TRY(see_stage(t, y, stage, UN_FORM_TEXT));
  }
  char *both = un_run_to_text(t->cx, 2, (un_tensor *[]){y, x}, UN_STAGE_SCHEDULE, UN_FORM_TEXT);
  if (!both) return verdict(t, false);
  see_text(t, both);
  un_text_free(both);
  return UN_OK;
}

static un_status assembly(trial *t) {
  un_tensor *y = un_sqrt(matrix(t, 3, 4));
  return y ? see_stage(t, y, UN_STAGE_ASM, UN_FORM_TEXT) : verdict(t, false);
}

static un_status printing(trial *t) {
  char bytes[4096];
  un_tensor *y = un_exp(matrix(t, 3, 4));
  FILE *f = tmpfile();
  if (!y || !f) return f ? (fclose(f), verdict(t, false)) : UN_ERR_IO;
  un_status status = un_print_tree(y, UN_STAGE_KERNEL, f);
  if (status == UN_OK) status = un_print_text(y, UN_STAGE_TENSOR, f);
  rewind(f);
  size_t n = fread(bytes, 1, sizeof bytes, f);
  if (status == UN_OK) see(t, bytes, n);
  fclose(f);
  return status;
}

const scenario context_scenarios[] = {
  {"life", NULL, life},
  {"network on interp", "interp", network},
  {"network on null", "null", network},
  {"layers", "interp", layers},
  {"devices", "interp", devices},
  {"movement", "interp", movement},
  {"joins", "interp", joins},
  {"assigning", "interp", assigning},
  {"borrowing", "interp", borrowing},
  {"repeated", "interp", repeated},
  {"training on interp", "interp", train},
  {"scopes", "interp", scopes},
  {"wrong arguments", "interp", wrong_arguments},
  {"wrong context", "interp", wrong_context},
  {"texts on interp", "interp", texts},
  {"printing", "null", printing},
#ifdef UN_HAVE_CPU
  {"network on cpu", "cpu", network},
  {"kernels kept on disk", NULL, kept_kernels},
  {"kernels searched", NULL, searched_kernels},
  {"threads", "cpu", threads},
  {"training on cpu", "cpu", train},
  {"texts on cpu", "cpu", texts},
  {"assembly", "cpu", assembly},
#endif
};
const size_t context_nscenarios = sizeof context_scenarios / sizeof *context_scenarios;
