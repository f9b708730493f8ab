/* The search: plans as text, the moves, and what a beam makes of the times that it is told. */
#include <criterion/criterion.h>

#include <stdio.h>

#include "opt/moves.h"
#include "opt/search.h"
#include "opt_kernels.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(opt_search, g);

/* ---- plans as text ---- */

static const char all_steps[] =
  "split 0 inner 8 upcast\nsplit 3 outer 4 thread\nwhole 2 unroll\nstage 1\nsplit 2 inner 32 group_reduce\nwhole 0 global\nstage 2 ring 3\n";

Test(opt_search, a_plan_is_text_and_back) {
  un__opt_plan plan, empty;
  un__strbuf text;
  un__sb_init(&text);
  cr_assert_eq(un__opt_plan_parse(all_steps, strlen(all_steps), &plan, &err), UN_OK, "%s", err.text);
  cr_expect_eq(plan.n, 7);
  cr_expect(plan.step[1].range_id == 3 && !plan.step[1].inner && plan.step[1].factor == 4 && plan.step[1].axis == UN__AXIS_THREAD);
  cr_expect(plan.step[3].kind == UN__OPT_STAGE && plan.step[3].range_id == 1);
  un__opt_plan_print(&plan, &text);
  cr_expect_str_eq(un__sb_str(&text), all_steps);
  cr_assert_eq(un__opt_plan_parse("", 0, &empty, &err), UN_OK);
  cr_expect_eq(empty.n, 0);
  un__sb_finish(&text);
}

Test(opt_search, what_is_no_plan_is_refused) {
  static const char *const bad[] = {
    "stage 1", "\n", "stage\n", "stage 1 ring\n", "stage 1 ring 1\n", "stage 1 rung 3\n", "stage 1 ring 3 4\n", "stage -1\n", "stage 1 2\n", "stage x\n", "stage 99999999999999999999\n", "split 0 inner 8\n",
    "split 0 inside 8 upcast\n", "split 0 inner 1 upcast\n", "split 0 inner 0 upcast\n", "split 0 inner -8 upcast\n", "split 0 inner 8 Upcast\n",
    "split 0 inner 8 upcast upcast\n", "whole 0\n", "whole 0 nothing\n", " stage 1\n", "stage 1 \n", "stage  1\n", "Stage 1\n", "stage 1\n\n",
    "split 0 inner 8 upcast\nstage 1\rstage 2\n"};
  un__opt_plan plan;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    un__err e = {0};
    cr_expect_eq(un__opt_plan_parse(bad[i], strlen(bad[i]), &plan, &e), UN_ERR_PARSE, "taken: %s", bad[i]);
    cr_expect(strstr(e.text, "plan: "), "%s", e.text);
  }
  char nul[] = "stage 1\n\0stage 1\n";
  cr_expect_eq(un__opt_plan_parse(nul, sizeof nul - 1, &plan, NULL), UN_ERR_PARSE);
  char many[64 * 8 + 1] = "";
  for (int i = 0; i < UN__OPT_MAX_STEPS + 1; i++) strcat(many, "stage 1\n");
  cr_expect_eq(un__opt_plan_parse(many, strlen(many), &plan, NULL), UN_ERR_PARSE);
  cr_expect_eq(un__opt_plan_parse(many, strlen(many) - 8, &plan, NULL), UN_OK);
}

/* Every byte of a plan changed, every length of it: refused, or another plan that prints as it was read. */
Test(opt_search, damaged_plans_do_no_harm) {
  char text[sizeof all_steps];
  for (size_t i = 0; i < sizeof all_steps - 1; i++)
    for (int c = 0; c < 256; c++) {
      un__opt_plan plan;
      un__strbuf again;
      memcpy(text, all_steps, sizeof text);
      text[i] = (char)c;
      if (un__opt_plan_parse(text, sizeof text - 1, &plan, NULL) != UN_OK) continue;
      un__sb_init(&again);
      un__opt_plan_print(&plan, &again);
      bool leading_zero = c == '0' || strstr(text, " 0") != NULL;
      cr_expect(leading_zero || strcmp(un__sb_str(&again), text) == 0, "%s", text);
      un__sb_finish(&again);
    }
}

/* ---- moves ---- */

static bool has(const un__opt_steps *steps, un__opt_step want) {
  for (size_t i = 0; i < steps->n; i++) {
    const un__opt_step *s = &steps->at[i];
    if (s->kind == want.kind && s->range_id == want.range_id && s->axis == want.axis && s->factor == want.factor) return true;
  }
  return false;
}

Test(opt_search, moves_are_those_that_are_legal) {
  kern mm = k_matmul(g, UN_F32, 64, 64, 64, false, false);
  const un__target *targets[] = {un__target_generic(), &big_gpu, un__target_interp()};
  for (size_t t = 0; t < 3; t++) {
    un__opt_steps steps = {0};
    cr_assert_eq(un__opt_moves(mm.root, targets[t], UN__LIC_PRECISE, &steps, &err), UN_OK);
    for (size_t i = 0; i < steps.n; i++)
      cr_expect(un__opt_legal(mm.root, &steps.at[i], targets[t], UN__LIC_PRECISE, &err), "%s", err.text);
    cr_expect_eq(has(&steps, (un__opt_step){1, UN__AXIS_THREAD, 8}), t == 0);
    cr_expect_eq(has(&steps, (un__opt_step){0, UN__AXIS_LOOP, 8}), t != 1);
    cr_expect_eq(has(&steps, (un__opt_step){1, UN__AXIS_GLOBAL, 0}), t == 1);
    cr_expect_eq(has(&steps, (un__opt_step){2, UN__AXIS_GROUP_REDUCE, 32}), t == 1);
    cr_expect_eq(has(&steps, (un__opt_step){2, UN__AXIS_GROUP_REDUCE, 1024}), false, "mostly padding");
    cr_expect(has(&steps, (un__opt_step){1, UN__AXIS_UPCAST, 8}));
    cr_expect(has(&steps, (un__opt_step){2, UN__AXIS_REDUCE, 16}));
    un__vec_finish(&steps);
  }
  un__opt_steps strict = {0};
  cr_assert_eq(un__opt_moves(mm.root, un__target_generic(), UN__LIC_STRICT, &strict, &err), UN_OK);
  cr_expect(!has(&strict, (un__opt_step){2, UN__AXIS_UNROLL, 8}), "the order of a float sum");
  un__vec_finish(&strict);
}

/* What is read again, by rows that run inside a column, can be staged; before there are such rows it cannot. */
Test(opt_search, a_panel_can_be_staged_once_there_is_one) {
  kern mm = k_matmul(g, UN_F32, 64, 64, 64, false, false);
  un__opt_plan rows = {1, {{0, UN__AXIS_LOOP, 8, true}}};
  for (rows.n = 0; rows.n < 2; rows.n++) {
    un__opt_steps steps = {0};
    const un_uop *k = un__opt_take(g, mm.root, &rows, un__target_generic(), UN__LIC_PRECISE);
    cr_assert(k, "%s", err.text);
    cr_assert_eq(un__opt_moves(k, un__target_generic(), UN__LIC_PRECISE, &steps, &err), UN_OK);
    cr_expect_eq(has(&steps, (un__opt_step){.range_id = 1, .kind = UN__OPT_STAGE}), rows.n == 1);
    un__vec_finish(&steps);
  }
}

static const char *varied(const char *text, uint32_t step, uint32_t way) {
  static un__strbuf out;
  un__opt_plan plan, other;
  bool differs;
  un__sb_finish(&out);
  cr_assert_eq(un__opt_plan_parse(text, strlen(text), &plan, &err), UN_OK, "%s", err.text);
  cr_assert(un__opt_vary(&plan, step, way, 3, &other, &differs));
  un__opt_plan_print(&other, &out);
  return differs ? un__sb_str(&out) : "the same";
}

Test(opt_search, steps_are_varied) {
  static const char plan[] = "split 0 inner 6 unroll\nsplit 1 inner 16 upcast\nsplit 4 inner 8 upcast\nstage 1\n";
  cr_expect_str_eq(varied(plan, 0, 0), "split 0 inner 12 unroll\nsplit 1 inner 16 upcast\nsplit 4 inner 8 upcast\nstage 1\n");
  cr_expect_str_eq(varied(plan, 0, 1), "split 0 inner 3 unroll\nsplit 1 inner 16 upcast\nsplit 4 inner 8 upcast\nstage 1\n");
  cr_expect_str_eq(varied(plan, 0, 2), "split 0 inner 7 unroll\nsplit 1 inner 16 upcast\nsplit 4 inner 8 upcast\nstage 1\n");
  cr_expect_str_eq(varied(plan, 0, 3), "split 0 inner 5 unroll\nsplit 1 inner 16 upcast\nsplit 4 inner 8 upcast\nstage 1\n");
  cr_expect_str_eq(varied(plan, 0, 4), "split 1 inner 16 upcast\nsplit 3 inner 8 upcast\nstage 1\n", "later ranges have other ids");
  cr_expect_str_eq(varied(plan, 1, 4), "the same", "a later step splits what it makes");
  cr_expect_str_eq(varied(plan, 2, 4), "split 0 inner 6 unroll\nsplit 1 inner 16 upcast\nstage 1\n");
  cr_expect_str_eq(varied(plan, 3, 4), "split 0 inner 6 unroll\nsplit 1 inner 16 upcast\nsplit 4 inner 8 upcast\n");
  cr_expect_str_eq(varied(plan, 3, 0), "the same", "nothing to double");
  cr_expect_str_eq(varied("split 0 inner 2 unroll\n", 0, 1), "the same", "a part of one value");
  un__opt_plan p = {1, {{0, UN__AXIS_UPCAST, 8, true}}}, other;
  bool differs;
  cr_expect(!un__opt_vary(&p, 0, 5, 3, &other, &differs));
}

/* ---- the beam ---- */

/* Times by a formula: every step of the plan that is wanted makes it faster, in any order. */
typedef struct fake {
  const kern *k;
  const char *want[4];       /* lines of a plan */
  const char *cheat;         /* a line that makes it fastest of all, and wrong */
  bool all_wrong, all_fail;
  un_status status;
  uint32_t calls, judged, late_after;
  uint64_t digest;           /* of all plans, in order */
  bool right[1024];
  data expected;
} fake;

static bool contains(const char *text, const char *line) { return line && strstr(text, line) != NULL; }

static double time_of(fake *f, const un__opt_candidate *c, uint32_t i) {
  un__strbuf text;
  un__sb_init(&text);
  un__opt_plan_print(&c->plan, &text);
  double seconds = 1;
  for (size_t w = 0; w < 4; w++)
    if (contains(un__sb_str(&text), f->want[w])) seconds /= 2;
  bool cheats = contains(un__sb_str(&text), f->cheat);
  if (cheats) seconds = 1e-6;
  f->right[i] = !cheats && !f->all_wrong;
  for (const char *at = un__sb_str(&text); *at; at++) f->digest = f->digest * 31 + (unsigned char)*at;
  un__sb_finish(&text);
  return f->all_fail ? INFINITY : seconds;
}

static un_status fake_time(void *p, const un__opt_candidate *c, uint32_t n, double *out) {
  fake *f = p;
  cr_assert_leq(n, 1024);
  for (uint32_t i = 0; i < n; i++) {
    un__err e = {0};
    data have = data_new(f->k, 7);
    cr_expect_eq(k_run(f->k, c[i].kernel, &have, &e), UN_OK, "%s", e.text);
    cr_expect(data_same(f->k, &f->expected, &have), "a candidate gives other results");
    data_free(&have);
    out[i] = time_of(f, &c[i], i);
  }
  f->calls++, f->judged += n;
  return f->status;
}

static bool fake_is_right(void *p, uint32_t i) { return ((fake *)p)->right[i]; }
static bool fake_is_late(void *p) { return ((fake *)p)->late_after && ((fake *)p)->judged >= ((fake *)p)->late_after; }

static un_status search_with(fake *f, uint32_t width, uint32_t candidates, un__opt_found *out) {
  un__err e = {0};
  un__opt_judge judge = {f, fake_time, fake_is_right, fake_is_late};
  f->expected = data_new(f->k, 7);
  cr_assert_eq(k_run(f->k, f->k->root, &f->expected, &e), UN_OK);
  un_status st = un__opt_search(g, f->k->root, un__target_generic(), UN__LIC_PRECISE,
                                &(un__opt_search_options){width, candidates}, &judge, out, &e);
  data_free(&f->expected);
  return st;
}

static bool found_has(const un__opt_found *f, const char *line) {
  un__strbuf text;
  un__sb_init(&text);
  un__opt_plan_print(&f->plan, &text);
  bool yes = contains(un__sb_str(&text), line);
  un__sb_finish(&text);
  return yes;
}

static void check_heuristics(const kern *k, const un__opt_found *f) {
  un__opt_plan plan;
  un__strbuf a, b;
  un__sb_init(&a), un__sb_init(&b);
  cr_assert_eq(un__opt_heuristic(k->root, un__target_generic(), UN__LIC_PRECISE, &plan, NULL), UN_OK);
  un__opt_plan_print(&plan, &a), un__opt_plan_print(&f->plan, &b);
  cr_expect_str_eq(un__sb_str(&a), un__sb_str(&b));
  un__sb_finish(&a), un__sb_finish(&b);
}

Test(opt_search, steps_that_pay_are_found_one_after_the_other, .timeout = 60) {
  kern k = k_matmul(g, UN_I32, 16, 16, 16, false, false);
  fake f = {.k = &k, .want = {"inner 2 unroll", "split 2 inner 8 reduce", "outer 4 thread"}};
  un__opt_found found;
  cr_assert_eq(search_with(&f, 2, 400, &found), UN_OK);
  for (int i = 0; i < 3; i++) cr_expect(found_has(&found, f.want[i]), "%s", f.want[i]);
  cr_expect_eq(found.seconds, 0.125);
  cr_expect_lt(found.seconds, found.heuristic_seconds);
  cr_expect_leq(found.candidates, 400);
  cr_expect_eq(f.judged, found.candidates + 2 + 3 * 2, "the two starts, and two that are compared thrice more");
}

Test(opt_search, what_is_fast_and_wrong_does_not_win, .timeout = 60) {
  kern k = k_matmul(g, UN_I32, 16, 16, 16, false, false);
  fake f = {.k = &k, .want = {"inner 2 unroll"}, .cheat = "split 2 inner 8 reduce"};
  un__opt_found found;
  cr_assert_eq(search_with(&f, 3, 300, &found), UN_OK);
  cr_expect(!found_has(&found, f.cheat));
  cr_expect(found_has(&found, f.want[0]));
  cr_expect_eq(found.seconds, 0.5);
}

Test(opt_search, without_a_gain_the_heuristics_stay, .timeout = 60) {
  kern k = k_matmul(g, UN_I32, 16, 16, 16, false, false);
  fake f = {.k = &k};
  un__opt_found found;
  cr_assert_eq(search_with(&f, 2, 300, &found), UN_OK);
  check_heuristics(&k, &found);
  cr_expect_eq(found.seconds, found.heuristic_seconds);
}

Test(opt_search, the_same_times_give_the_same_search, .timeout = 60) {
  kern k = k_reduce(g, UN_I32, UN__OP_ADD, 8, 64, true);
  uint64_t digest[2];
  uint32_t judged[2];
  for (int i = 0; i < 2; i++) {
    fake f = {.k = &k, .want = {"outer 4 thread", "split 1 inner 16 unroll"}};
    un__opt_found found;
    cr_assert_eq(search_with(&f, 2, 200, &found), UN_OK);
    digest[i] = f.digest, judged[i] = f.judged;
    if (i == 0) teardown(), setup(), k = k_reduce(g, UN_I32, UN__OP_ADD, 8, 64, true);
  }
  cr_expect_eq(digest[0], digest[1]);
  cr_expect_eq(judged[0], judged[1]);
}

Test(opt_search, it_ends_where_the_budget_ends, .timeout = 60) {
  kern k = k_matmul(g, UN_I32, 16, 16, 16, false, false);
  fake f = {.k = &k, .want = {"inner 2 unroll", "split 2 inner 8 reduce"}};
  un__opt_found found;
  cr_assert_eq(search_with(&f, 2, 0, &found), UN_OK);
  check_heuristics(&k, &found);
  cr_expect_eq(f.judged, 2);
  f = (fake){.k = &k, .want = {"inner 2 unroll", "split 2 inner 8 reduce"}};
  cr_assert_eq(search_with(&f, 2, 20, &found), UN_OK);
  cr_expect_leq(found.candidates, 20);
  f = (fake){.k = &k, .want = {"inner 2 unroll", "split 2 inner 8 reduce"}, .late_after = 1};
  cr_assert_eq(search_with(&f, 2, 300, &found), UN_OK);
  cr_expect_eq(f.judged, 2);
}

Test(opt_search, there_is_no_search_without_a_right_kernel_to_begin_with, .timeout = 60) {
  kern k = k_matmul(g, UN_I32, 16, 16, 16, false, false);
  un__opt_found found;
  fake wrong = {.k = &k, .all_wrong = true}, fails = {.k = &k, .all_fail = true}, short_of = {.k = &k, .status = UN_ERR_NOMEM};
  cr_expect_eq(search_with(&wrong, 2, 100, &found), UN_ERR_UNSUPPORTED);
  cr_expect_eq(search_with(&fails, 2, 100, &found), UN_ERR_UNSUPPORTED);
  cr_expect_eq(search_with(&short_of, 2, 100, &found), UN_ERR_NOMEM);
  un__opt_plan plan = {1, {{0, UN__AXIS_UPCAST, 8, true}}};
  kern planned = k;
  planned.root = un__opt_apply(g, k.root, &plan, un__target_generic(), UN__LIC_PRECISE);
  fake f = {.k = &planned};
  cr_expect_eq(search_with(&f, 2, 100, &found), UN_ERR_UNSUPPORTED);
  cr_expect_eq(f.judged, 0);
}
