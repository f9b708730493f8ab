/* The engine on its own: hand-written match functions, no generated table. */
#include <criterion/criterion.h>

#include <string.h>

#include "rewrite/rewrite.h"
#include "uop/eval.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(rewrite, g);

static const un_uop *var(const char *name) {
  int64_t words[UN__NAME_WORDS] = {0};
  memcpy(words, name, strlen(name));
  const un_uop *b[2] = {un__idx(g, 0), un__idx(g, 100)};
  return un__uop(g, UN__OP_VAR, 0, b, 2, words, UN__NAME_WORDS);
}
static const un_uop *add(const un_uop *a, const un_uop *b) { return un__binary(g, UN__OP_ADD, a, b); }
static const un_uop *mul(const un_uop *a, const un_uop *b) { return un__binary(g, UN__OP_MUL, a, b); }

/* ---- rules used below: small, each its own ruleset ---- */

enum { R_ZERO, R_FOLD };
static const un_uop *arith_add(un__rw *rw, const un_uop *n) {
  if (un__is_const_int(n->src[1], 0)) {
    const un_uop *to = un__rw_fire(rw, R_ZERO, n, n->src[0]);
    if (to) return to;
  }
  if (n->kop[0] == UN__OP_CONST && n->kop[1] == UN__OP_CONST) {
    const un_uop *to = un__rw_fire(rw, R_FOLD, n, un__fold(rw->g, n));
    if (to) return to;
  }
  return NULL;
}
static const un__rule_info arith_rules[] = {{.name = "zero", .ruleset = "t_arith"}, {.name = "fold", .ruleset = "t_arith"}};
static const un__ruleset arith = {"t_arith", arith_rules, 2, false, {[UN__OP_ADD] = arith_add, [UN__OP_MUL] = arith_add}};
static const un__ruleset *const arith_sets[] = {&arith};
static const un__pass post = {"t_post", arith_sets, 1, UN__WALK_POST, 64};

/* (a + b) * c -> a*c + b*c, on the original. */
static const un_uop *push_mul(un__rw *rw, const un_uop *n) {
  if (n->kop[0] != UN__OP_ADD) return NULL;
  const un_uop *s = n->src[0];
  return un__rw_fire(rw, 0, n, add(mul(s->src[0], n->src[1]), mul(s->src[1], n->src[1])));
}
static const un__rule_info push_rules[] = {{.name = "push", .ruleset = "t_push"}};
static const un__ruleset push_set = {"t_push", push_rules, 1, false, {[UN__OP_MUL] = push_mul}};
static const un__ruleset *const push_sets[] = {&push_set};
static const un__pass pre = {"t_pre", push_sets, 1, UN__WALK_PRE, 64};

/* const c -> c + 1; the pass's ctx counts. */
static const un_uop *inc_const(un__rw *rw, const un_uop *n) {
  if (rw->ctx) ++*(int *)rw->ctx;
  return un__rw_fire(rw, 0, n, un__idx(rw->g, un__const_int(n) + 1));
}
static const un__rule_info inc_rules[] = {{.name = "inc", .ruleset = "t_inc"}};
static const un__ruleset inc_set = {"t_inc", inc_rules, 1, true, {[UN__OP_CONST] = inc_const}};
static const un__ruleset *const inc_sets[] = {&inc_set};
static const un__pass once = {"t_once", inc_sets, 1, UN__WALK_ONCE, 64};
static const un__pass forever = {"t_forever", inc_sets, 1, UN__WALK_POST, 64};

Test(rewrite, post_folds_to_a_fixpoint) {
  const un_uop *x = var("x");
  const un_uop *n = add(add(x, add(un__idx(g, 2), un__idx(g, -2))), un__idx(g, 0));
  cr_assert_eq(un__graph_rewrite(g, n, &post, NULL), x);
  cr_assert_eq(un__rule_counts(&arith, R_ZERO).fired, 1, "x + 0 is met again, and known");
  cr_assert_eq(un__rule_counts(&arith, R_FOLD).fired, 1);
}

Test(rewrite, unchanged_graphs_stay_the_same_pointer) {
  const un_uop *n = add(var("x"), mul(var("y"), un__idx(g, 3)));
  cr_assert_eq(un__graph_rewrite(g, n, &post, NULL), n);
  uint64_t before = un__rewrite_visits();
  cr_assert_eq(un__graph_rewrite(g, n, &post, NULL), n);
  cr_assert_eq(un__rewrite_visits(), before, "a pure pass remembers normal forms");
}

Test(rewrite, shared_nodes_are_rewritten_once) {
  const un_uop *n = add(var("x"), un__idx(g, 0));
  for (int i = 0; i < 60; i++) n = mul(n, n);          /* 2^60 paths */
  const un_uop *want = var("x");
  for (int i = 0; i < 60; i++) want = mul(want, want);
  cr_assert_eq(un__graph_rewrite(g, n, &post, NULL), want);
  cr_assert_eq(un__rule_counts(&arith, R_ZERO).fired, 1);
}

Test(rewrite, deep_graphs_do_not_recurse) {
  const un_uop *n = add(var("x"), un__idx(g, 0));
  for (int i = 0; i < 1000000; i++) n = un__unary(g, UN__OP_NEG, n);
  const un_uop *out = un__graph_rewrite(g, n, &post, NULL);
  cr_assert(out);
  for (int i = 0; i < 1000000; i++) out = out->src[0];
  cr_assert_eq(out, var("x"));
}

Test(rewrite, pre_goes_on_into_new_sources) {
  const un_uop *a = var("a"), *b = var("b"), *c = var("c"), *d = var("d"), *k = var("k");
  const un_uop *n = mul(add(add(a, b), add(c, d)), un__idx(g, 7));
  const un_uop *got = un__graph_rewrite(g, n, &pre, NULL);
  const un_uop *s = un__idx(g, 7);
  cr_assert_eq(got, add(add(mul(a, s), mul(b, s)), add(mul(c, s), mul(d, s))));
  (void)k;
}

/* NEG(x) -> x, so that what stands above sees an ADD only after its source was rewritten. */
static const un_uop *drop_neg(un__rw *rw, const un_uop *n) { return un__rw_fire(rw, 0, n, n->src[0]); }
static const un__rule_info drop_rules[] = {{.name = "drop", .ruleset = "t_drop"}};
static const un__ruleset drop_set = {"t_drop", drop_rules, 1, false, {[UN__OP_NEG] = drop_neg}};

Test(rewrite, pre_matches_rebuilt_nodes_again) {
  static const un__ruleset *const sets[] = {&push_set, &drop_set};
  static const un__pass pass = {"t_pre2", sets, 2, UN__WALK_PRE, 64};
  const un_uop *a = var("a"), *b = var("b"), *s = un__idx(g, 7);
  const un_uop *n = mul(un__unary(g, UN__OP_NEG, add(a, b)), s);
  cr_assert_eq(un__graph_rewrite(g, n, &pass, NULL), add(mul(a, s), mul(b, s)));
}

Test(rewrite, once_leaves_results_alone) {
  int calls = 0;
  un__rw_options opt = {.ctx = &calls};
  const un_uop *n = add(mul(var("x"), un__idx(g, 1)), un__idx(g, 2));
  const un_uop *got = un__graph_rewrite(g, n, &once, &opt);
  cr_assert(got);
  cr_assert_eq(un__const_int(got->src[1]), 3);
  cr_assert_eq(un__const_int(got->src[0]->src[1]), 2, "1 becomes 2 although 2 becomes 3");
  cr_assert_eq(calls, 4, "1, 2 and x's bounds");
}

Test(rewrite, bodies_are_not_entered) {
  const un_uop *body = un__sink(g, (const un_uop *[]){add(var("x"), un__idx(g, 0))}, 1);
  const un_uop *arg = add(var("y"), un__idx(g, 0));
  const un_uop *k = un__uop(g, UN__OP_KERNEL, 0, (const un_uop *[]){body, arg}, 2, NULL, 0);
  const un_uop *got = un__graph_rewrite(g, k, &post, NULL);
  cr_assert_eq(got->src[0], body);
  cr_assert_eq(got->src[1], var("y"));
}

/* ---- termination ---- */

Test(rewrite, endless_growth_names_its_rule) {
  cr_assert_null(un__graph_rewrite(g, add(var("x"), un__idx(g, 1)), &forever, NULL));
  cr_assert_eq(err.status, UN_ERR_FUEL);
  cr_assert(strstr(err.text, "t_forever: "), "%s", err.text);
  cr_assert(strstr(err.text, "t_inc.inc repeat"), "%s", err.text);
}

enum { R_TO_MUL, R_TO_ADD };
static const un_uop *to_mul(un__rw *rw, const un_uop *n) { return un__rw_fire(rw, R_TO_MUL, n, mul(n->src[0], n->src[1])); }
static const un_uop *to_add(un__rw *rw, const un_uop *n) { return un__rw_fire(rw, R_TO_ADD, n, add(n->src[0], n->src[1])); }
static const un__rule_info flip_rules[] = {{.name = "to_mul", .ruleset = "t_flip"}, {.name = "to_add", .ruleset = "t_flip"}};
static const un__ruleset flip_set = {"t_flip", flip_rules, 2, false, {[UN__OP_ADD] = to_mul, [UN__OP_MUL] = to_add}};
static const un__ruleset *const flip_sets[] = {&flip_set};

Test(rewrite, exact_cycles_are_found_at_once) {
  for (int walk = UN__WALK_POST; walk <= UN__WALK_PRE; walk++) {
    un__pass pass = {"t_flip", flip_sets, 1, (un__walk)walk, 1000};
    un__err_clear(&err);
    uint64_t before = un__rewrite_visits();
    cr_assert_null(un__graph_rewrite(g, add(var("x"), var("y")), &pass, NULL));
    cr_assert_eq(err.status, UN_ERR_FUEL);
    cr_assert(strstr(err.text, "t_flip.to_mul -> t_flip.to_add"), "%s", err.text);
    cr_assert(strstr(err.text, "ADD("), "%s", err.text);
    cr_assert_lt(un__rewrite_visits() - before, 10);
  }
}

static const un_uop *wrap(un__rw *rw, const un_uop *n) { return un__rw_fire(rw, 0, n, un__unary(rw->g, UN__OP_NEG, n)); }
static const un__rule_info wrap_rules[] = {{.name = "wrap", .ruleset = "t_wrap"}};
static const un__ruleset wrap_set = {"t_wrap", wrap_rules, 1, false, {[UN__OP_ADD] = wrap}};
static const un__ruleset *const wrap_sets[] = {&wrap_set};

Test(rewrite, a_result_that_holds_its_own_node_is_a_cycle) {
  for (int walk = UN__WALK_POST; walk <= UN__WALK_PRE; walk++) {
    un__pass pass = {"t_wrap", wrap_sets, 1, (un__walk)walk, 1000};
    un__err_clear(&err);
    cr_assert_null(un__graph_rewrite(g, mul(add(var("x"), var("y")), var("z")), &pass, NULL));
    cr_assert(strstr(err.text, "t_wrap.wrap"), "%s", err.text);
  }
  un__pass pass = {"t_wrap", wrap_sets, 1, UN__WALK_ONCE, 1000};
  un__err_clear(&err);
  const un_uop *n = add(var("x"), var("y"));
  cr_assert_eq(un__graph_rewrite(g, n, &pass, NULL), un__unary(g, UN__OP_NEG, n));
}

/* ---- order, licences, nesting ---- */

static const un_uop *to_max(un__rw *rw, const un_uop *n) {
  if (!un__rw_enabled(rw, 0)) return NULL;
  return un__rw_fire(rw, 0, n, un__binary(rw->g, UN__OP_MAX, n->src[0], n->src[1]));
}
static const un__rule_info max_rules[] = {{.name = "to_max", .ruleset = "t_max", .licences = UN__LIC_NSZ}};
static const un__ruleset max_set = {"t_max", max_rules, 1, false, {[UN__OP_ADD] = to_max}};

Test(rewrite, rulesets_are_tried_in_order_and_licences_are_asked) {
  static const un__ruleset *const sets[] = {&max_set, &flip_set};
  static const un__pass pass = {"t_order", sets, 2, UN__WALK_ONCE, 64};
  const un_uop *n = add(var("x"), var("y"));
  cr_assert_eq(un__graph_rewrite(g, n, &pass, NULL), mul(var("x"), var("y")));
  un__rw_options fast = {.licences = UN__LIC_FAST};
  cr_assert_eq(un__graph_rewrite(g, n, &pass, &fast), un__binary(g, UN__OP_MAX, var("x"), var("y")));
}

/* Simplifies its operand in a run of its own. */
static const un_uop *nested(un__rw *rw, const un_uop *n) {
  const un_uop *inner = un__graph_rewrite(rw->g, n->src[0], &post, NULL);
  return un__rw_fire(rw, 0, n, inner);
}
static const un__rule_info nested_rules[] = {{.name = "nested", .ruleset = "t_nested"}};
static const un__ruleset nested_set = {"t_nested", nested_rules, 1, false, {[UN__OP_NEG] = nested}};
static const un__ruleset *const nested_sets[] = {&nested_set};

Test(rewrite, runs_nest) {
  static const un__pass pass = {"t_nest", nested_sets, 1, UN__WALK_PRE, 64};
  const un_uop *x = var("x"), *n = un__unary(g, UN__OP_NEG, add(x, un__idx(g, 0)));
  cr_assert_eq(un__graph_rewrite(g, add(n, var("y")), &pass, NULL), add(x, var("y")));
}

static int lines;
static void count_line(void *data, const char *line) {
  lines++;
  cr_assert_str_not_empty(line);
}

Test(rewrite, switches_of_the_environment) {
  cr_assert_eq(setenv("UNIR_DISABLE_RULE", "other,t_arith.zero", 1), 0);
  cr_assert_eq(setenv("UNIR_RULE_LIMIT", "1", 1), 0);
  cr_assert_eq(setenv("UNIR_TRACE", "all", 1), 0);
  err.log.write = count_line;
  const un_uop *x = var("x"), *n = add(x, un__idx(g, 0));
  cr_assert_eq(un__graph_rewrite(g, n, &post, NULL), n, "disabled");
  const un_uop *two = add(un__idx(g, 1), un__idx(g, 1)), *four = add(un__idx(g, 2), two);
  cr_assert_eq(un__graph_rewrite(g, four, &post, NULL), add(un__idx(g, 2), un__idx(g, 2)), "one firing only");
  cr_assert_eq(lines, 3, "two runs and one firing");
}

static const un_uop *with_env(const char *name, const char *value, const un__ruleset *const *sets) {
  cr_assert_eq(setenv(name, value, 1), 0);
  err.log.write = count_line;
  lines = 0;
  un__rewrite_check_env(sets, &err);
  const un_uop *n = add(add(var("x"), un__idx(g, 0)), un__idx(g, 0));
  return un__graph_rewrite(g, n, &post, NULL);
}
static const un__ruleset *const known_sets[] = {&arith, &push_set, NULL};

Test(rewrite, blanks_and_empty_names_are_no_rules) {
  cr_assert_neq(with_env("UNIR_DISABLE_RULE", " , t_arith.zero ,,fold,", known_sets), var("x"));
  cr_assert_eq(lines, 0);
}
Test(rewrite, a_part_of_a_name_is_no_name) {
  cr_assert_eq(with_env("UNIR_DISABLE_RULE", "zer,zeroo,arith.zero,t_arith,t_push.zero", known_sets), var("x"));
  cr_assert_eq(lines, 5, "each is said to be no rule");
}
Test(rewrite, long_lists_of_rules_count_whole) {
  enum { N = 10000 };
  static char list[N + 16];
  memset(list, ',', N);
  memcpy(list + N, "zero", 5);
  cr_assert_neq(with_env("UNIR_DISABLE_RULE", list, known_sets), var("x"));
}
Test(rewrite, nothing_said_is_nothing_asked) {
  cr_assert_eq(setenv("UNIR_RULE_LIMIT", "", 1), 0);
  cr_assert_eq(setenv("UNIR_TRACE", "  ", 1), 0);
  cr_assert_eq(with_env("UNIR_DISABLE_RULE", "", known_sets), var("x"));
  cr_assert_eq(lines, 0);
}
Test(rewrite, a_limit_of_nothing) {
  cr_assert_neq(with_env("UNIR_RULE_LIMIT", "0", known_sets), var("x"));
  cr_assert_eq(lines, 0);
}
Test(rewrite, a_negative_limit_is_no_limit) {
  cr_assert_eq(with_env("UNIR_RULE_LIMIT", "-1", known_sets), var("x"));
  cr_assert_eq(lines, 1);
}
Test(rewrite, a_limit_with_letters_is_no_limit) {
  cr_assert_eq(with_env("UNIR_RULE_LIMIT", "0x1", known_sets), var("x"));
  cr_assert_eq(lines, 1);
}
Test(rewrite, two_limits_are_no_limit) {
  cr_assert_eq(with_env("UNIR_RULE_LIMIT", "0,1", known_sets), var("x"));
  cr_assert_eq(lines, 1);
}
Test(rewrite, a_limit_beyond_64_bits_limits_nothing) {
  cr_assert_eq(with_env("UNIR_RULE_LIMIT", " 99999999999999999999999999 ", known_sets), var("x"));
  cr_assert_eq(lines, 0);
}
Test(rewrite, kinds_of_trace_are_words) {
  cr_assert_eq(with_env("UNIR_TRACE", "install,rules,Stage", known_sets), var("x"));
  cr_assert_eq(lines, 3, "no trace, three complaints");
}
Test(rewrite, several_kinds_of_trace) {
  cr_assert_eq(with_env("UNIR_TRACE", "stage, rule", known_sets), var("x"));
  cr_assert_eq(lines, 2, "one run, one firing: x + 0 is known by then");
}

/* ---- substitution ---- */

Test(rewrite, substitute_is_simultaneous) {
  const un_uop *x = var("x"), *y = var("y");
  const un_uop *n = add(mul(x, y), mul(x, un__idx(g, 2)));
  const un_uop *from[] = {x, y}, *to[] = {y, x};
  cr_assert_eq(un__substitute(g, n, from, to, 2), add(mul(y, x), mul(y, un__idx(g, 2))));
  cr_assert_eq(un__substitute(g, n, (const un_uop *[]){var("z")}, to, 1), n);
  const un_uop *grow[] = {add(x, x)};
  cr_assert_eq(un__substitute(g, x, from, grow, 1), add(x, x), "a replacement is not searched");
}

Test(rewrite, substitute_reaches_closed_ranges) {
  const un_uop *r = un__range(g, un__idx(g, 8), UN__AXIS_REDUCE, 0), *k = un__range(g, un__idx(g, 8), UN__AXIS_REDUCE, 1);
  int64_t op = UN__OP_ADD;
  const un_uop *sum = un__uop(g, UN__OP_REDUCE, 0, (const un_uop *[]){mul(r, r), r}, 2, &op, 1);
  const un_uop *want = un__uop(g, UN__OP_REDUCE, 0, (const un_uop *[]){mul(k, k), k}, 2, &op, 1);
  cr_assert_eq(un__substitute(g, add(sum, un__idx(g, 1)), &r, &k, 1), add(want, un__idx(g, 1)));
}

Test(rewrite, failed_workspaces_rewrite_nothing) {
  const un_uop *n = add(var("x"), un__idx(g, 0));
  un__fail(&err, UN_ERR_NOMEM, "before");
  cr_assert_null(un__graph_rewrite(g, n, &post, NULL));
  cr_assert_null(un__substitute(g, n, &n, &n, 1));
}
