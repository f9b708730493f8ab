/* rangeify_online.c - reductions of several values: siblings in one, and the rules of online.pat, with infinities and NaN. */
#include "rangeify_build.h"

#include "codegen/codegen.h"
#include "opt/opt.h"

static const un__rangeify_options plain = {UN__LIC_PRECISE, 1, 1 << 14, false}, online = {UN__LIC_PRECISE, 1, 1 << 14, true},
                                  strict = {UN__LIC_STRICT, 1, 1 << 14, true}, parts = {UN__LIC_PRECISE, 4, 64, true};

#define INF INFINITY

/* ---- what became of a graph ---- */

/* How many REDUCEs the kernels have, and how many of them are tuples. */
typedef struct reductions { uint32_t all, tuples; } reductions;

static reductions count_in(T sink, const un__rangeify_options *opt) {
  int64_t slots[8];
  reductions r = {0, 0};
  T schedule = schedule_of(sink, opt, slots);
  for (uint32_t k = 0; k < schedule->nsrc; k++) {
    size_t n;
    T *order = un__toposort(schedule->src[k]->src[0], &n);
    for (size_t i = 0; i < n; i++) {
      r.all += un__is(order[i], UN__OP_REDUCE);
      r.tuples += un__is(order[i], UN__OP_COMBINE);
    }
    un__free(order);
  }
  return r;
}

static T lowered(T body, int64_t *out_tasks) {
  un__opt_plan plan;
  cr_assert_eq(un__opt_heuristic(body, un__target_generic(), UN__LIC_PRECISE, &plan, NULL), UN_OK, "%s", err.text);
  T best = un__opt_apply(g, body, &plan, un__target_generic(), UN__LIC_PRECISE);
  T list = best ? un__lower(g, best, un__target_generic(), UN__LIC_PRECISE) : NULL;
  cr_assert(list, "%s", err.text);
  *out_tasks = un__linear_facts_of(list).tasks;
  return list;
}

/* As loops and as what is rendered: both ways of the graph, against what the tensors say. */
static void check_both(const char *name, T sink) {
  for (int way = 0; way < 2; way++) {
    prepare = way ? lowered : NULL;
    check(name, sink, &plain);
    check(name, sink, &online);
    check(name, sink, &parts);
  }
  prepare = NULL;
}

/* ---- graphs ---- */

static T softmax_sum(T x) { return sum(op1(UN__OP_EXP, sub(x, keep(UN__OP_MAX, x, 1))), 1); }
static T softmax(T x) {
  T e = op1(UN__OP_EXP, sub(x, keep(UN__OP_MAX, x, 1)));
  return divide(e, keep(UN__OP_ADD, e, 1));
}
static T squares_around_mean(T x, int64_t n) {
  T c = sub(x, divide(keep(UN__OP_ADD, x, 1), num((double)n)));
  return sum(mul(c, c), 1);
}
static T place_of(un__op op, T x, int64_t n) {
  T hit = op2(UN__OP_EQ, x, keep(op, x, 1));
  if (un__dt_is_float(x->dtype)) hit = op2(UN__OP_OR, hit, op2(UN__OP_NE, x, x));
  return reduce(UN__OP_MIN, where(hit, iota(UN_I32, n), whole(UN_I32, INT32_MAX)), S_(1));
}

/* ---- the data: rows of 8 ---- */

enum { ROWS = 14, N = 8 };
static const double rows[ROWS * N] = {
  -INF, -INF, 1, 2, 3, 4, 5, 6,                          /* a prefix of -inf */
  -INF, -INF, -INF, -INF, -INF, -INF, -INF, -INF,        /* nothing else */
  3, -INF, 2, -INF, 1, -INF, 0, -INF,
  NAN, 1, 2, 3, 4, 5, 6, 7,                              /* NaN first, in the middle, last, everywhere */
  1, 2, 3, NAN, 5, 6, 7, 8,
  1, 2, 3, 4, 5, 6, 7, NAN,
  NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN,
  1, INF, 2, 3, 4, 5, 6, 7,                              /* +inf */
  INF, INF, -INF, 0, 1, 2, 3, 4,
  -INF, NAN, INF, 0, 1, 2, 3, 4,
  0, -0.0, 0, -0.0, 0, 0, 0, 0,
  88, -88, 3e38, -3e38, 1e30, 2, 1, 0,                   /* far apart */
  7, 7, 7, 7, 7, 7, 7, 7,
  -8, -7, -6, -5, -4, -3, -2, -1,                        /* the maximum rises all the time */
};

static void with_rows(void) {
  begin();
  given = rows;
  given_n = ROWS * N;
}

TestSuite(rangeify_online, .init = with_rows, .fini = end);

Test(rangeify_online, softmax_keeps_infinities_and_nan) {
  check_both("sum", sink1(softmax_sum(f32(S_(ROWS, N)))));
  check_both("softmax", sink1(softmax(f32(S_(ROWS, N)))));
  check_both("one row", sink1(softmax_sum(f32(S_(1, ROWS * N)))));
  given = rows + N;      /* -inf alone, then the rest: a row that begins with a whole vector of them */
  given_n = 2 * N;
  check_both("long prefix", sink1(softmax_sum(f32(S_(3, 2 * N)))));
}

Test(rangeify_online, softmax_of_columns) { /* lanes are rows of results, not parts of the sum */
  T x = permute(f32(S_(N, ROWS)), S_(1, 0));
  check_both("columns", sink1(softmax_sum(x)));
}

Test(rangeify_online, one_pass_of_two) {
  T x = f32(S_(ROWS, N));
  reductions two = count_in(sink1(softmax(x)), &plain), one = count_in(sink1(softmax(x)), &online);
  cr_expect_eq(two.all, 2);
  cr_expect_eq(two.tuples, 0);
  cr_expect_eq(one.all, 1, "the maximum is a value of the tuple");
  cr_expect_eq(one.tuples, 1);
  cr_expect_eq(count_in(sink1(softmax(x)), &strict).all, 2, "needs the licence");
  cr_expect_eq(count_in(sink1(squares_around_mean(x, N)), &online).all, 1);
  cr_expect_eq(count_in(sink1(squares_around_mean(x, N)), &plain).all, 2);
  cr_expect_eq(count_in(sink1(squares_around_mean(x, N - 1)), &online).all, 2, "that is no mean");
}

Test(rangeify_online, squares_keep_infinities_and_nan) {
  given_n = 11 * N;      /* without the numbers whose squares overflow on the way */
  check_both("squares", sink1(squares_around_mean(f32(S_(11, N)), N)));
}

/* The first element of what a graph of one input computes. */
static double result_of(T sink, const un__rangeify_options *opt) {
  int64_t slots[1];
  T schedule = schedule_of(sink, opt, slots);
  static storage st;
  memset(&st, 0, sizeof st);
  hold(&st, inputs[0]);
  free(st.at[0]);
  st.at[0] = random_data(inputs[0]);
  run_schedule("result", schedule, &st);
  double r = ((float *)st.at[slots[0]])[0];
  for (int i = 0; i < 1024; i++) free(st.at[i]);
  return r;
}

/* Around a mean of a million, in f32, the squares of the values themselves would have no digits left. The two passes lose
 * three digits by rounding the mean. */
Test(rangeify_online, squares_far_from_zero) {
  double far[64];
  for (int i = 0; i < 64; i++) far[i] = 1048576 + (i * 37 % 64) / 2.0;
  given = far;
  given_n = 64;
  T sink = sink1(squares_around_mean(f32(S_(1, 64)), 64));
  cr_expect_float_eq(result_of(sink, &online), 5460, 5460 * 64 * 9 * 6e-8, "n * (1 + sqrt(n)) roundings");
  prepare = lowered;
  cr_expect_float_eq(result_of(sink, &online), 5460, 5460 * 64 * 9 * 6e-8);
  prepare = NULL;
}

/* As large as the result allows: counts times sums on the way would overflow long before it. */
Test(rangeify_online, squares_near_the_largest) {
  enum { MANY = 4096 };
  static double large[MANY];
  double want = 0;
  for (int i = 0; i < MANY; i++) {
    large[i] = (i * 37 % 64 - 31.5) * 8e15;
    want += large[i] * large[i];
  }
  given = large;
  given_n = MANY;
  T sink = sink1(squares_around_mean(f32(S_(1, MANY)), MANY));
  cr_expect_float_eq(result_of(sink, &online) / want, 1, 1e-3);
  prepare = lowered;
  cr_expect_float_eq(result_of(sink, &online) / want, 1, 1e-3);
  prepare = NULL;
}

Test(rangeify_online, first_place_of_each_row) {
  check_both("argmax", sink1(place_of(UN__OP_MAX, f32(S_(ROWS, N)), N)));
  check_both("argmin", sink1(place_of(UN__OP_MIN, f32(S_(ROWS, N)), N)));
  check_both("argmax of all", sink1(place_of(UN__OP_MAX, f32(S_(1, ROWS * N)), ROWS * N)));
  check_both("argmax of columns", sink1(place_of(UN__OP_MAX, permute(f32(S_(N, ROWS)), S_(1, 0)), N)));
  check_both("argmax of i8", sink1(place_of(UN__OP_MAX, in(UN_I8, S_(ROWS, 40)), 40)));
  check_both("argmin of u64", sink1(place_of(UN__OP_MIN, in(UN_U64, S_(ROWS, 40)), 40)));
  check_both("argmax of bool", sink1(place_of(UN__OP_MAX, in(UN_BOOL, S_(ROWS, N)), N)));
  T x = f32(S_(ROWS, N));
  cr_expect_eq(count_in(sink1(place_of(UN__OP_MAX, x, N)), &strict).all, 1, "exact: needs no licence");
}

/* A value and its place are one reduction of two values, not three. */
Test(rangeify_online, maximum_and_its_place) {
  T x = f32(S_(ROWS, N));
  T both = un__sink(g, (T[]){reduce(UN__OP_MAX, x, S_(1)), place_of(UN__OP_MAX, x, N)}, 2);
  check_both("max and argmax", both);
}

/* What only looks alike stays as it is. */
Test(rangeify_online, other_elements) {
  T x = f32(S_(ROWS, N)), y = f32(S_(ROWS, N));
  T other = sum(op1(UN__OP_EXP, sub(x, keep(UN__OP_MAX, y, 1))), 1);
  cr_expect_eq(count_in(sink1(other), &online).all, 2);
  T flipped = sum(op1(UN__OP_EXP, sub(x, keep(UN__OP_MAX, flip(x, 2), 1))), 1);
  check_both("flipped", sink1(flipped));
}

Test(rangeify_online, siblings_are_one_tuple) {
  given = NULL;
  T x = f32(S_(4, 24)), y = f32(S_(4, 24));
  T three = add(add(sum(x, 1), sum(mul(x, y), 1)), reduce(UN__OP_MAX, y, S_(1)));
  check_both("three", sink1(three));
  reductions r = count_in(sink1(three), &plain);
  cr_expect_eq(r.all, 1);
  cr_expect_eq(r.tuples, 1);
  T many = sum(x, 1);
  for (int i = 0; i < 40; i++) many = add(many, sum(mul(x, num(i + 2)), 1));
  check_both("more than one tuple holds", sink1(many));
}
