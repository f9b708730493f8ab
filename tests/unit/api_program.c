/* api_program.c - programs: a replay gives what the lazy calls give, bit for bit, states train, nothing is allocated, nothing
 * is left. */
#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define UN_USE_UNSTABLE
#include <unir/unir.h>
#include <unir/unstable.h>

#include "base/mem.h"

static un_ctx *cx;

static void open_device(const char *device) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = device;
  cr_assert_eq(un_ctx_create(&opt, &cx), UN_OK);
}

static un_stats stats(void) {
  un_stats s = UN_STATS_INIT;
  cr_assert_eq(un_get_stats(cx, &s), UN_OK);
  return s;
}

static void setup(void) { open_device("interp"); }
static void teardown(void) {
  cr_expect_eq(un_audit(cx), UN_OK, "%s", un_error(cx));
  un_ctx_destroy(cx);
}
TestSuite(program, .init = setup, .fini = teardown);

/* The device, if this build has it: the context is opened anew for it. */
static bool reopen(const char *device) {
  for (size_t i = 0; un_device_kind(i); i++)
    if (strcmp(un_device_kind(i), device) == 0) {
      un_ctx_destroy(cx);
      open_device(device);
      return true;
    }
  return false;
}

static un_tensor *floats(int n, const float *v) { return un_from_data(cx, UN_F32, un_shape(1, n), v); }
#define FLOATS(...) floats(sizeof((float[]){__VA_ARGS__}) / sizeof(float), (float[]){__VA_ARGS__})

static un_program *capture(size_t nin, un_tensor *const *in, size_t nout, un_tensor *const *out, size_t nup, const un_update *up) {
  un_program *p = un_program_capture(cx, nin, in, nout, out, nup, up);
  cr_assert(p, "%s", un_error(cx));
  return p;
}

static void run(un_program *p) { cr_assert_eq(un_program_run(p, 0, NULL), UN_OK, "%s", un_error(cx)); }

#define HAS(line, have, n, ...) has((line), (have), (n), (const float[]){__VA_ARGS__})
static void has(int line, const float *have, size_t n, const float *want) {
  for (size_t i = 0; i < n; i++) cr_expect_eq(have[i], want[i], "line %d: element %zu is %g, expected %g", line, i, have[i], want[i]);
}

#define RESULT(p, i, n, ...)                                                                              \
  do {                                                                                                    \
    float have_[16];                                                                                      \
    cr_assert_eq(un_program_read((p), (i), have_, (n) * sizeof(float)), UN_OK, "%s", un_error(cx));       \
    HAS(__LINE__, have_, (n), __VA_ARGS__);                                                               \
  } while (0)
#define TENSOR(t, n, ...)                                                                                 \
  do {                                                                                                    \
    float have_[16];                                                                                      \
    cr_assert_eq(un_read((t), have_, (n) * sizeof(float)), UN_OK, "%s", un_error(cx));                    \
    HAS(__LINE__, have_, (n), __VA_ARGS__);                                                               \
  } while (0)

/* ---- inputs and results ---- */

Test(program, other_inputs_give_other_results) {
  un_tensor *x = FLOATS(1, 2, 3), *w = FLOATS(10, 20, 30), *y = un_add(un_mul(x, w), x), *s = un_sum(y, un_list(0), false);
  un_program *p = capture(1, &x, 2, (un_tensor *[]){y, s}, 0, NULL);
  un_release(w);
  run(p);
  RESULT(p, 0, 3, 11, 42, 93);
  RESULT(p, 1, 1, 146);
  un_tensor *kept = un_program_result(p, 0), *other = FLOATS(1, 0, -1);
  cr_assert_eq(un_program_run(p, 1, &other), UN_OK, "%s", un_error(cx));
  un_release(other);      /* the program keeps what it reads */
  RESULT(p, 0, 3, 11, 0, -31);
  cr_assert_eq(un_program_write(p, 0, (float[]){2, 2, 2}, 3 * sizeof(float)), UN_OK, "%s", un_error(cx));
  RESULT(p, 0, 3, 11, 0, -31);
  run(p);
  RESULT(p, 0, 3, 22, 42, 62);
  TENSOR(kept, 3, 11, 42, 93);
  TENSOR(un_adds(kept, 1), 3, 12, 43, 94);
  un_tensor *lazy = un_muls(x, 2);
  cr_assert_eq(un_program_run(p, 1, &lazy), UN_OK, "%s", un_error(cx));
  RESULT(p, 0, 3, 22, 84, 186);
  cr_assert_eq(un_program_run(p, 1, (un_tensor *[]){NULL}), UN_OK, "%s", un_error(cx));
  RESULT(p, 1, 1, 292);
}

/* Results that no kernel makes: an input, a constant, one of them twice, in another shape. */
Test(program, results_that_are_something_else_have_memory_of_their_own) {
  un_tensor *x = FLOATS(1, 2), *w = FLOATS(5, 6), *y = un_adds(x, 1);
  un_tensor *results[] = {x, w, y, un_reshape(x, un_shape(2, 2, 1)), y};
  un_program *p = capture(1, &x, 5, results, 0, NULL);
  run(p);
  cr_assert_eq(un_program_write(p, 0, (float[]){8, 9}, 2 * sizeof(float)), UN_OK);
  for (size_t i = 0; i < 5; i += 3) RESULT(p, i, 2, 1, 2);
  RESULT(p, 1, 2, 5, 6);
  for (size_t i = 2; i < 5; i += 2) RESULT(p, i, 2, 2, 3);
  cr_expect_eq(un_rank(un_program_result(p, 3)), 2);
  run(p);
  RESULT(p, 3, 2, 8, 9);
  RESULT(p, 4, 2, 9, 10);
}

Test(program, tensors_of_no_elements_and_bools) {
  const uint8_t flags[] = {1, 0, 7};
  un_tensor *none = un_from_data(cx, UN_F32, un_shape(2, 0, 3), NULL), *b = un_from_data(cx, UN_BOOL, un_shape(1, 3), flags);
  un_tensor *results[] = {un_adds(none, 1), un_cast(b, UN_F32)};
  un_program *p = capture(2, (un_tensor *[]){none, b}, 2, results, 1, &(un_update){none, un_adds(none, 1)});
  cr_assert_eq(un_program_write(p, 1, (uint8_t[]){0, 9, 255}, 3), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_program_run(p, 2, (un_tensor *[]){none, NULL}), UN_OK, "%s", un_error(cx));
  RESULT(p, 1, 3, 0, 1, 1);
  cr_expect_eq(un_program_read(p, 0, NULL, 0), UN_OK, "%s", un_error(cx));
  cr_expect_eq(un_numel(un_program_state(p, 0)), 0);
  cr_expect_eq(un_program_set_state(p, 0, none), UN_OK, "%s", un_error(cx));
}

/* An expression with an input below it is computed, also where its value lies in storage. */
Test(program, what_depends_on_an_input_is_no_constant) {
  un_tensor *x = FLOATS(1, 2), *y = un_exp2(x), *again = un_exp2(x), *z = un_adds(un_contiguous(again), 1);
  cr_assert_eq(un_realize(cx, 1, &y), UN_OK);
  un_program *p = capture(1, &x, 1, &z, 0, NULL);
  cr_assert_eq(un_program_write(p, 0, (float[]){3, 4}, 2 * sizeof(float)), UN_OK);
  run(p);
  RESULT(p, 0, 2, 9, 17);
}

/* ---- states ---- */

Test(program, states_change_with_every_run) {
  un_tensor *w = FLOATS(1, 2), *g = FLOATS(10, 20), *old = un_muls(w, 2), *next = un_add(w, g);
  un_program *p = capture(1, &g, 2, (un_tensor *[]){old, next}, 1, &(un_update){w, next});
  for (int i = 0; i < 3; i++) run(p);
  RESULT(p, 0, 2, 42, 84);
  RESULT(p, 1, 2, 31, 62);
  TENSOR(w, 2, 1, 2);
  un_tensor *now = un_program_state(p, 0);
  TENSOR(now, 2, 31, 62);
  cr_assert_eq(un_program_set_state(p, 0, FLOATS(100, 200)), UN_OK, "%s", un_error(cx));
  RESULT(p, 1, 2, 31, 62);
  run(p);
  RESULT(p, 0, 2, 200, 400);
  TENSOR(now, 2, 31, 62);
  TENSOR(un_program_state(p, 0), 2, 110, 220);
}

/* Values that are other states, inputs, constants, or one another's: all see what was before the run. */
Test(program, states_that_change_places) {
  un_tensor *a = FLOATS(1), *b = FLOATS(2), *c = FLOATS(3), *d = FLOATS(4), *x = FLOATS(9), *sum = un_add(a, b);
  un_tensor *e = FLOATS(0), *f = FLOATS(0), *w = FLOATS(7), *g = FLOATS(5);
  const un_update updates[] = {{a, b}, {b, a}, {c, sum}, {d, sum}, {e, x}, {f, w}, {g, g}};
  un_program *p = capture(1, &x, 1, &sum, 7, updates);
  run(p);
  const float once[] = {2, 1, 3, 3, 9, 7, 5};
  for (size_t i = 0; i < 7; i++) TENSOR(un_program_state(p, i), 1, once[i]);
  cr_assert_eq(un_program_write(p, 0, (float[]){8}, sizeof(float)), UN_OK);
  RESULT(p, 0, 1, 3);
  run(p);
  const float twice[] = {1, 2, 3, 3, 8, 7, 5};
  for (size_t i = 0; i < 7; i++) TENSOR(un_program_state(p, i), 1, twice[i]);
}

/* Broadcast and converted as by un_assign. */
Test(program, a_value_takes_the_shape_of_its_state) {
  un_tensor *w = FLOATS(1, 2, 3);
  un_program *p = capture(0, NULL, 0, NULL, 1, &(un_update){w, un_adds(un_sum(w, un_list(0), false), 1)});
  run(p);
  run(p);
  TENSOR(un_program_state(p, 0), 3, 22, 22, 22);
}

/* Two zeros are one tensor; their clones are two. */
Test(program, states_that_begin_alike) {
  un_tensor *zeros[] = {un_zeros(cx, UN_F32, un_shape(1, 2)), un_zeros(cx, UN_F32, un_shape(1, 2))};
  cr_assert_eq(un_realize(cx, 2, zeros), UN_OK);
  const un_update same[] = {{zeros[0], un_adds(zeros[0], 1)}, {zeros[1], un_adds(zeros[1], 2)}};
  cr_expect_null(un_program_capture(cx, 0, NULL, 0, NULL, 2, same));
  cr_expect(strstr(un_error(cx), "state 1 is the same tensor as state 0: un_clone"), "%s", un_error(cx));
  un_clear_error(cx);
  un_tensor *a = un_clone(zeros[0]), *b = un_clone(un_reshape(zeros[1], un_shape(2, 1, 2)));
  cr_expect_eq(un_rank(b), 2);
  const un_update own[] = {{a, un_adds(a, 1)}, {b, un_adds(b, 2)}};
  un_program *p = capture(0, NULL, 0, NULL, 2, own);
  run(p), run(p);
  TENSOR(un_program_state(p, 0), 2, 2, 2);
  TENSOR(un_program_state(p, 1), 2, 4, 4);
  cr_expect_eq(un_numel(un_clone(un_zeros(cx, UN_F32, un_shape(1, 0)))), 0);
}

/* ---- training: the step of examples/digits.c ---- */

enum { ROWS = 60, PIXELS = 16, HIDDEN = 8, CLASSES = 5, PARAMS = 4 };

typedef struct net { un_tensor *p[PARAMS], *v[PARAMS]; } net;

static un_tensor *noise(int rows, int columns, uint64_t seed) {
  float v[ROWS * PIXELS];
  for (int i = 0; i < rows * columns; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    v[i] = (float)((double)(seed >> 40) / 8388608.0 - 1.0);
  }
  return un_from_data(cx, UN_F32, un_shape(2, rows, columns), v);
}

static net new_net(void) {
  net n = {.p = {noise(PIXELS, HIDDEN, 1), noise(1, HIDDEN, 2), noise(HIDDEN, CLASSES, 3), noise(1, CLASSES, 4)}};
  for (int i = 0; i < PARAMS; i++) n.v[i] = un_clone(un_zeros(cx, UN_F32, un_shape_of(n.p[i])));
  return n;
}

/* The next parameters and velocities. */
static net step_of(const net *n, un_tensor *x, un_tensor *truth, un_tensor *rate) {
  un_tensor *z = un_add(un_matmul(x, n->p[0]), n->p[1]), *h = un_relu(z);
  un_tensor *chance = un_softmax(un_add(un_matmul(h, n->p[2]), n->p[3]), -1);
  un_tensor *d2 = un_divs(un_sub(chance, truth), ROWS);
  un_tensor *d1 = un_where(un_gts(z, 0), un_matmul(d2, un_transpose(n->p[2], 0, 1)), un_scalar_like(z, 0));
  un_tensor *g[PARAMS] = {un_matmul(un_transpose(x, 0, 1), d1), un_sum(d1, un_list(0), true),
                          un_matmul(un_transpose(h, 0, 1), d2), un_sum(d2, un_list(0), true)};
  net next;
  for (int i = 0; i < PARAMS; i++) {
    next.v[i] = un_sub(un_muls(n->v[i], 0.9), un_mul(rate, un_add(g[i], un_muls(n->p[i], 1e-3))));
    next.p[i] = un_add(n->p[i], next.v[i]);
  }
  return next;
}

static un_program *capture_step(const net *n, un_tensor *x, un_tensor *truth, un_tensor *rate) {
  un_update updates[2 * PARAMS];
  net next = step_of(n, x, truth, rate);
  for (int i = 0; i < PARAMS; i++) {
    updates[i] = (un_update){n->p[i], next.p[i]};
    updates[PARAMS + i] = (un_update){n->v[i], next.v[i]};
  }
  return capture(2, (un_tensor *[]){x, rate}, 0, NULL, 2 * PARAMS, updates);
}

static void train_eagerly(net *n, un_tensor *x, un_tensor *truth, un_tensor *rate, int steps) {
  for (int s = 0; s < steps; s++) {
    un_scope_push(cx);
    net next = step_of(n, x, truth, rate);
    un_tensor *all[2 * PARAMS];
    for (int i = 0; i < PARAMS; i++) {
      all[i] = un_assign(n->p[i], next.p[i]);
      all[PARAMS + i] = un_assign(n->v[i], next.v[i]);
    }
    cr_assert_eq(un_realize(cx, 2 * PARAMS, all), UN_OK, "%s", un_error(cx));
    un_scope_pop(cx);
  }
}

static void same_bits(un_tensor *a, un_tensor *b, const char *what) {
  float va[ROWS * PIXELS], vb[ROWS * PIXELS];
  size_t size = (size_t)un_numel(a) * sizeof(float);
  cr_assert_eq(un_read(a, va, size), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_read(b, vb, size), UN_OK, "%s", un_error(cx));
  cr_expect_eq(memcmp(va, vb, size), 0, "%s differs", what);
}

static void train_both(int steps) {
  un_tensor *x = noise(ROWS, PIXELS, 7), *truth = noise(ROWS, CLASSES, 8);
  un_tensor *rate = un_from_data(cx, UN_F32, un_shape(0), &(float){0.5f});
  net eager = new_net(), captured = new_net();
  un_program *p = capture_step(&captured, x, truth, rate);
  train_eagerly(&eager, x, truth, rate, steps);
  for (int i = 0; i < steps; i++) run(p);
  for (int i = 0; i < PARAMS; i++) {
    same_bits(eager.p[i], un_program_state(p, (size_t)i), "a weight");
    same_bits(eager.v[i], un_program_state(p, (size_t)(PARAMS + i)), "a velocity");
  }
}

Test(program, trains_as_the_eager_loop_to_the_bit) { train_both(5); }
Test(program, trains_as_the_eager_loop_to_the_bit_on_the_cpu) {
  if (reopen("cpu")) train_both(50);
}

/* ---- memory ---- */

#ifdef UN_TORTURE
/* Not one allocation, however the inputs are given: also those that nothing frees would count. */
static void replay_counted(const char *device) {
  if (!reopen(device)) return;
  un_tensor *x = noise(ROWS, PIXELS, 7), *other = noise(ROWS, PIXELS, 9), *truth = noise(ROWS, CLASSES, 8);
  un_tensor *rate = un_from_data(cx, UN_F32, un_shape(0), &(float){0.5f}), *loss = un_sum(un_square(x), un_list(0, 1), false);
  static float data[ROWS * PIXELS], out;
  net n = new_net();
  un_program *p = capture_step(&n, x, truth, rate), *q = capture(1, &x, 1, &loss, 0, NULL);
  run(p), run(q);      /* the device's threads start once */
  un__torture_arm(UINT64_MAX, false);
  for (int i = 0; i < 20; i++) {
    cr_assert_eq(un_program_run(p, 2, (un_tensor *[]){i % 2 ? x : other, NULL}), UN_OK, "%s", un_error(cx));
    cr_assert_eq(un_program_write(q, 0, data, sizeof data), UN_OK);
    run(q);
    cr_assert_eq(un_program_read(q, 0, &out, sizeof out), UN_OK);
  }
  cr_expect_eq(un__torture_count(), 0, "%s: %d allocations in 40 runs", device, (int)un__torture_count());
}
Test(program, replay_allocates_nothing) {
  replay_counted("cpu");
  replay_counted("null");
}
#endif

/* A chain of reductions: every link needs the one before only. */
Test(program, temporaries_share_memory) {
  enum { N = 64, LINKS = 10 };
  un_tensor *x = un_contiguous(un_zeros(cx, UN_F32, un_shape(2, N, N))), *y;
  cr_assert_eq(un_realize(cx, 1, &x), UN_OK);
  un_collect(cx);
  uint64_t before = stats().bytes_live;
  y = x;
  for (int i = 0; i < LINKS; i++) y = un_contiguous(un_matmul(y, un_transpose(y, 0, 1)));
  un_program *p = capture(1, &x, 1, &y, 0, NULL);
  cr_expect_eq(un_program_launches(p), LINKS);
  size_t one = N * N * sizeof(float);
  cr_expect_eq(stats().bytes_live - before, 4 * one, "%d buffers: the input's own, the result and two temporaries expected",
               (int)((stats().bytes_live - before) / one));
  un_program_destroy(p);
  cr_expect_eq(stats().bytes_live, before);
}

Test(program, keeps_what_it_needs_and_leaves_nothing) {
  un_scope_push(cx);
  un_tensor *x = FLOATS(1, 2), *w = FLOATS(3, 4), *s = FLOATS(5, 6), *y = un_add(un_mul(x, w), s);
  un_program *p = capture(1, &x, 1, &y, 1, &(un_update){s, y}), *q = capture(1, &x, 1, &y, 0, NULL);
  un_scope_pop(cx);
  un_collect(cx);
  run(p), run(p), run(q);
  RESULT(p, 0, 2, 11, 22);
  RESULT(q, 0, 2, 8, 14);
  un_program_destroy(p);
  un_program_destroy(NULL);
  run(q);
  RESULT(q, 0, 2, 8, 14);
  un_program_destroy(q);
  un_collect(cx);
  cr_expect_eq(stats().live_nodes, 0);
  cr_expect_eq(stats().bytes_live, 0);
  FLOATS(1);
  un_tensor *a = FLOATS(1), *b = un_exp2(a);
  capture(1, &a, 1, &b, 0, NULL);      /* goes with the context */
}

/* What the inputs were bound to goes when they are bound to something else. */
Test(program, lets_go_of_former_inputs) {
  un_tensor *x = FLOATS(1, 2), *y = un_adds(x, 1);
  un_program *p = capture(1, &x, 1, &y, 0, NULL);
  un_release(x), un_release(y);
  un_collect(cx);
  uint64_t before = stats().bytes_live;
  for (int i = 0; i < 10; i++) {
    un_tensor *t = FLOATS(3, 4);
    cr_assert_eq(un_program_run(p, 1, &t), UN_OK);
    un_release(t);
  }
  un_collect(cx);
  cr_expect_eq(stats().bytes_live, before);
  cr_assert_eq(un_program_write(p, 0, (float[]){5, 6}, 2 * sizeof(float)), UN_OK);
  un_collect(cx);
  cr_expect_eq(stats().bytes_live, before - 2 * sizeof(float));
  run(p);
  RESULT(p, 0, 2, 6, 7);
}

/* ---- errors ---- */

#define FAILS(call, status, text)                                                                      \
  do {                                                                                                 \
    un_clear_error(cx);                                                                                \
    (void)(call);                                                                                      \
    cr_expect_eq(un_error_status(cx), (status), "line %d: %s", __LINE__, un_error(cx));                \
    cr_expect(strstr(un_error(cx), (text)), "line %d: expected \"%s\" in: %s", __LINE__, text, un_error(cx)); \
    cr_expect(strstr(un_error(cx), "api_program.c:"), "line %d: no place in: %s", __LINE__, un_error(cx)); \
  } while (0)

Test(program, a_failed_call_says_why_and_changes_nothing) {
  un_tensor *x = FLOATS(1, 2), *w = FLOATS(3, 4), *y = un_mul(x, w), *h = un_zeros(cx, UN_F16, un_shape(1, 2));
  un_tensor *ints = un_from_data(cx, UN_I32, un_shape(1, 2), (int32_t[]){1, 2}), *three = FLOATS(1, 2, 3);
  un_tensor *xy[] = {x, y}, *xx[] = {x, x};
  FAILS(un_program_capture(cx, 2, xy, 1, &y, 0, NULL), UN_ERR_INVALID_ARG, "input 1: expected a tensor with data");
  FAILS(un_program_capture(cx, 2, xx, 1, &y, 0, NULL), UN_ERR_INVALID_ARG, "input 1 is the same tensor as input 0");
  FAILS(un_program_capture(cx, 1, &x, 0, NULL, 1, &(un_update){x, y}), UN_ERR_INVALID_ARG, "state 0 is the same tensor as input 0");
  FAILS(un_program_capture(cx, 1, &three, 1, &y, 0, NULL), UN_ERR_INVALID_ARG, "input 0 is used by no result");
  FAILS(un_program_capture(cx, 1, &x, 0, NULL, 0, NULL), UN_ERR_INVALID_ARG, "expected a result or an update, got none");
  FAILS(un_program_capture(cx, 1, &x, 1, NULL, 0, NULL), UN_ERR_INVALID_ARG, "the list of results is NULL");
  FAILS(un_program_capture(cx, 1, &x, 1, (un_tensor *[]){NULL}, 0, NULL), UN_ERR_INVALID_ARG, "tensor 0 is NULL");
  FAILS(un_program_capture(cx, 1, &x, 0, NULL, 1, &(un_update){w, three}), UN_ERR_SHAPE, "(3)");
  FAILS(un_program_capture(cx, 1, &x, 0, NULL, 1, &(un_update){ints, y}), UN_ERR_DTYPE, "cast the value first");
  FAILS(un_program_capture(cx, 1, &x, 0, NULL, 1, &(un_update){un_adds(w, 1), y}), UN_ERR_INVALID_ARG, "state 0: expected a tensor with data");
  un_clear_error(cx);
  un_program *p = capture(1, &x, 1, &y, 1, &(un_update){w, y});
  float out[2];
  FAILS(un_program_read(p, 0, out, sizeof out), UN_ERR_INVALID_ARG, "expected a run that succeeded");
  FAILS(un_program_result(p, 0), UN_ERR_INVALID_ARG, "expected a run that succeeded");
  run(p);
  FAILS(un_program_run(p, 1, &three), UN_ERR_SHAPE, "program_run: input 0: expected f32 (2), got f32 (3)");
  FAILS(un_program_run(p, 1, &ints), UN_ERR_DTYPE, "input 0: expected f32 (2), got i32 (2)");
  FAILS(un_program_run(p, 2, xy), UN_ERR_INVALID_ARG, "expected 1 inputs, or none to keep the present ones, got 2");
  FAILS(un_program_run(p, 1, NULL), UN_ERR_INVALID_ARG, "the list of inputs is NULL");
  FAILS(un_program_write(p, 1, out, sizeof out), UN_ERR_INVALID_ARG, "no input 1: the program has 1");
  FAILS(un_program_write(p, 0, out, 4), UN_ERR_INVALID_ARG, "input 0, f32 (2): expected exactly 8 bytes, got 4 bytes");
  FAILS(un_program_write(p, 0, NULL, 8), UN_ERR_INVALID_ARG, "expected exactly 8 bytes, got NULL");
  FAILS(un_program_read(p, 1, out, sizeof out), UN_ERR_INVALID_ARG, "no result 1: the program has 1");
  FAILS(un_program_read(p, 0, out, 9), UN_ERR_INVALID_ARG, "result 0, f32 (2): expected exactly 8 bytes, got 9 bytes");
  FAILS(un_program_state(p, 1), UN_ERR_INVALID_ARG, "no state 1: the program has 1");
  FAILS(un_program_set_state(p, 0, h), UN_ERR_DTYPE, "state 0: expected f32 (2), got f16 (2)");
  FAILS(un_program_set_state(p, 0, NULL), UN_ERR_INVALID_ARG, "tensor 0 is NULL");
  un_clear_error(cx);
  RESULT(p, 0, 2, 3, 8);
  run(p);
  RESULT(p, 0, 2, 3, 16);
}

Test(program, null_is_no_program) {
  float out;
  cr_expect_null(un_program_capture(NULL, 0, NULL, 0, NULL, 0, NULL));
  cr_expect_eq(un_program_run(NULL, 0, NULL), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_program_write(NULL, 0, &out, 4), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_program_read(NULL, 0, &out, 4), UN_ERR_INVALID_ARG);
  cr_expect_null(un_program_result(NULL, 0));
  cr_expect_null(un_program_state(NULL, 0));
  cr_expect_eq(un_program_set_state(NULL, 0, NULL), UN_ERR_INVALID_ARG);
  cr_expect_eq(un_program_launches(NULL), 0);
}
