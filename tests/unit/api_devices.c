/* api_devices.c - tensors on several devices of one context: values arrive, work is done where its operands are, programs have
 * copies, and what lies apart is an error. "interp:sm_90a" acts out a GPU, so "interp" and it are two devices of any build. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define UN_USE_UNSTABLE
#include <unir/unir.h>
#include <unir/unstable.h>

static const char there[] = "interp:sm_90a";
static const float numbers[12] = {1, -2, 3, 4, 5, -6, 7, 8, 9, 10, 11, 12};
static un_ctx *cx;

static void setup(void) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  cr_assert_eq(un_ctx_create(&opt, &cx), UN_OK);
}

static void teardown(void) {
  cr_expect_eq(un_audit(cx), UN_OK, "%s", un_error(cx));
  un_ctx_destroy(cx);
}
TestSuite(devices, .init = setup, .fini = teardown);

static un_tensor *matrix(void) { return un_from_data(cx, UN_F32, un_shape(2, 3, 4), numbers); }

/* Both tensors have the same elements, whatever computes them. */
static void same(int line, un_tensor *have, un_tensor *want) {
  float a[64] = {0}, b[64] = {0};
  size_t n = (size_t)un_numel(want) * sizeof *a;
  cr_assert_eq(un_read(want, b, n), UN_OK, "line %d: %s", line, un_error(cx));
  cr_assert_eq(un_read(have, a, n), UN_OK, "line %d: %s", line, un_error(cx));
  cr_expect_eq(memcmp(a, b, n), 0, "line %d: values differ", line);
}
#define SAME(have, want) same(__LINE__, have, want)

static void fails(int line, un_status status, un_status want, const char *words) {
  cr_expect_eq(status, want, "line %d: %s", line, un_error(cx));
  cr_expect(strstr(un_error(cx), words), "line %d: %s", line, un_error(cx));
  un_clear_error(cx);
}
#define FAILS(call, want, words) fails(__LINE__, call, want, words)

static un_status realize(un_tensor *t) { return t ? un_realize(cx, 1, &t) : un_error_status(cx); }

Test(devices, values_arrive) {
  un_tensor *x = matrix();
  SAME(un_to(x, there), x);
  SAME(un_adds(un_to(x, there), 1), un_adds(x, 1));
  SAME(un_to(un_adds(un_to(un_muls(x, 2), there), 1), "interp"), un_adds(un_muls(x, 2), 1));
  SAME(un_sum(un_to(un_sum(x, un_list(0), false), there), un_list(0), false), un_sum(un_sum(x, un_list(0), false), un_list(0), false));
}

/* Views are laid out where they are before they go. */
Test(devices, views_are_copied_as_they_look) {
  un_tensor *x = matrix();
  SAME(un_to(un_transpose(x, 0, 1), there), un_transpose(x, 0, 1));
  SAME(un_to(un_expand(un_select(x, 0, 1), un_shape(2, 2, 4)), there), un_expand(un_select(x, 0, 1), un_shape(2, 2, 4)));
  SAME(un_to(un_reshape(un_flip(x, un_list(1)), un_shape(1, 12)), there), un_reshape(un_flip(x, un_list(1)), un_shape(1, 12)));
}

Test(devices, constants_go_too) {
  un_tensor *a = un_arange(cx, UN_F32, 0, 5, 1), *one = un_ones(cx, UN_F32, un_shape(1, 5));
  SAME(un_add(un_to(a, there), un_to(one, there)), un_add(a, one));
  un_tensor *empty = un_to(un_zeros(cx, UN_F32, un_shape(1, 0)), there);
  cr_expect_eq(un_realize(cx, 1, &empty), UN_OK, "%s", un_error(cx));
}

/* One schedule has work on both, and what is made there is read there. */
Test(devices, work_is_done_where_its_operands_are) {
  un_tensor *x = matrix(), *y = un_to(x, there);
  un_tensor *both[2] = {un_muls(un_mul(y, y), 0.5), un_softmax(x, 1)};
  cr_assert_eq(un_realize(cx, 2, both), UN_OK, "%s", un_error(cx));
  SAME(un_add(both[0], y), un_add(un_muls(un_mul(x, x), 0.5), x));
  SAME(un_clone(both[0]), un_muls(un_mul(x, x), 0.5));
  SAME(un_add(un_clone(both[0]), y), un_add(un_muls(un_mul(x, x), 0.5), x));
}

Test(devices, what_is_there_already_is_itself) {
  un_tensor *x = matrix(), *y = un_to(x, there);
  cr_expect_eq(un_node(un_to(x, "interp")), un_node(x));
  cr_expect_eq(un_node(un_to(y, there)), un_node(y));
  cr_expect_eq(un_node(un_to(un_adds(y, 1), there)), un_node(un_adds(y, 1)));
  cr_expect_neq(un_node(un_to(y, "interp")), un_node(x));
}

Test(devices, what_lies_apart_is_an_error) {
  un_tensor *x = matrix(), *y = un_to(x, there);
  FAILS(realize(un_add(x, y)), UN_ERR_DEVICE, "expected all on one device, to which un_to copies");
  FAILS(realize(un_mul(un_exp(y), un_exp(x))), UN_ERR_DEVICE, "what is computed on interp");
  cr_expect_eq(realize(un_add(un_to(y, "interp"), x)), UN_OK, "%s", un_error(cx));
}

/* Only one operand's elements are read, which leaves a kernel of one argument there: it computes all the same. */
Test(devices, a_part_of_what_lies_apart_is_no_copy) {
  un_tensor *x = matrix(), *y = un_to(un_muls(x, 10), there), *both[2] = {x, y};
  cr_assert_eq(realize(y), UN_OK, "%s", un_error(cx));
  un_tensor *part = un_adds(un_shrink(un_cat(cx, 2, both, 0), un_list(3, 0), un_list(6, 4)), 1);
  FAILS(realize(part), UN_ERR_DEVICE, "what is computed on interp needs a tensor on interp:sm_90a");
}

Test(devices, names_that_are_none) {
  un_tensor *x = matrix();
  cr_expect_null(un_to(x, "abacus"));
  FAILS(un_error_status(cx), UN_ERR_DEVICE, "to: no device \"abacus\"");
  cr_expect_null(un_to(x, "interp:nothing"));
  FAILS(un_error_status(cx), UN_ERR_DEVICE, "to: no target \"nothing\"");
  cr_expect_null(un_to(x, NULL));
  FAILS(un_error_status(cx), UN_ERR_INVALID_ARG, "to: device is NULL");
}

Test(devices, a_copy_is_seen) {
  un_tensor *y = un_neg(un_to(matrix(), there));
  char *tensor = un_to_text(y, UN_STAGE_TENSOR, UN_FORM_TEXT), *schedule = un_to_text(y, UN_STAGE_SCHEDULE, UN_FORM_TEXT);
  cr_assert(tensor && schedule, "%s", un_error(cx));
  cr_expect(strstr(tensor, "copy f32") && strstr(tensor, "[device=1]"), "%s", tensor);
  cr_expect(strstr(schedule, "device=1"), "%s", schedule);
  un_text_free(tensor);
  un_text_free(schedule);
}

Test(devices, a_copy_is_no_kernel) {
  un_stats s = UN_STATS_INIT;
  un_tensor *y = un_neg(un_to(matrix(), there));
  cr_assert_eq(un_realize(cx, 1, &y), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_get_stats(cx, &s), UN_OK);
  cr_expect(s.kernels_launched == 1 && s.kernels_compiled == 1, "%d launched, %d compiled", (int)s.kernels_launched, (int)s.kernels_compiled);
}

/* ---- programs ---- */

/* x here, its square there, and 1 more of it here again. */
Test(devices, programs_have_copies) {
  float out[12], twice[12];
  un_tensor *x = matrix(), *y = un_to(x, there), *square = un_mul(y, y), *back = un_adds(un_to(square, "interp"), 1);
  un_program *p = un_program_capture(cx, 1, &x, 2, (un_tensor *[]){square, back}, 0, NULL);
  cr_assert(p, "%s", un_error(cx));
  for (int round = 1; round < 4; round++) {
    float in[12];
    for (int i = 0; i < 12; i++) in[i] = numbers[i] * (float)round;
    cr_assert_eq(un_program_write(p, 0, in, sizeof in), UN_OK);
    cr_assert_eq(un_program_run(p, 0, NULL), UN_OK, "%s", un_error(cx));
    cr_assert_eq(un_program_read(p, 0, out, sizeof out), UN_OK, "%s", un_error(cx));
    cr_assert_eq(un_program_read(p, 1, twice, sizeof twice), UN_OK, "%s", un_error(cx));
    for (int i = 0; i < 12; i++) cr_expect(out[i] == in[i] * in[i] && twice[i] == out[i] + 1, "%d: %g %g", i, out[i], twice[i]);
  }
  SAME(un_add(un_program_result(p, 0), y), un_add(un_mul(un_muls(x, 3), un_muls(x, 3)), x));
  un_tensor *other = un_clone(y);
  FAILS(un_program_run(p, 1, &other), UN_ERR_DEVICE, "a tensor on interp:sm_90a cannot be an input on interp");
  un_program_destroy(p);
}

/* What no kernel reads or writes is where it is, too. */
Test(devices, what_passes_through_stays_where_it_is) {
  un_tensor *x = matrix(), *y = un_to(x, there), *z = un_to(un_muls(x, 2), there);
  cr_assert(realize(y) == UN_OK && realize(z) == UN_OK, "%s", un_error(cx));
  un_update kept = {z, z};
  un_program *p = un_program_capture(cx, 1, (un_tensor *[]){y}, 1, (un_tensor *[]){y}, 1, &kept);
  cr_assert(p, "%s", un_error(cx));
  cr_expect_eq(un_program_run(p, 1, (un_tensor *[]){un_clone(y)}), UN_OK, "%s", un_error(cx));
  SAME(un_add(un_program_result(p, 0), y), un_add(x, x));
  un_program_destroy(p);
}

/* A state there, from inputs here. */
Test(devices, states_stay_where_they_are) {
  float out[12];
  un_tensor *x = matrix(), *w = un_to(un_zeros(cx, UN_F32, un_shape(2, 3, 4)), there);
  cr_assert_eq(un_realize(cx, 1, &w), UN_OK, "%s", un_error(cx));
  un_update up = {w, un_add(w, un_to(x, there))}, apart = {w, un_add(un_to(w, "interp"), x)};
  un_program *p = un_program_capture(cx, 1, &x, 0, NULL, 1, &up);
  cr_assert(p, "%s", un_error(cx));
  for (int i = 0; i < 3; i++) cr_assert_eq(un_program_run(p, 0, NULL), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_read(un_program_state(p, 0), out, sizeof out), UN_OK, "%s", un_error(cx));
  for (int i = 0; i < 12; i++) cr_expect_eq(out[i], 3 * numbers[i], "%d: %g", i, out[i]);
  un_program_destroy(p);
  cr_expect_null(un_program_capture(cx, 1, &x, 0, NULL, 1, &apart));
  FAILS(un_error_status(cx), UN_ERR_DEVICE, "state 0 is on interp:sm_90a and its next value on interp");
}

/* ---- kinds ---- */

/* Every pair of the devices of this build whose memory is real. */
Test(devices, any_to_any) {
  static const char *const all[] = {"interp", "cpu", "cc", "interp:sm_90a"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
      un_tensor *x = matrix(), *y = un_to(x, all[i]);
      if (!y) un_clear_error(cx);      /* a build without LLVM has no cpu */
      else SAME(un_neg(un_to(un_adds(y, 2), all[k])), un_neg(un_adds(x, 2)));
    }
}
