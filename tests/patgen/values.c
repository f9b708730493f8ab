/* values.c - the test program of a .pat file: its `test` lines, or, with --values, each of its rules compared by value.
 *
 *   pat_NAME                          runs the test lines
 *   pat_NAME --values [--long] LIST   compares; LIST names the rules that nothing here can evaluate ("set.rule why")
 *
 * Terms come from the rule's own tests and from its left side (values_make.c). What a rule makes of one is compared at
 * every point when the unknowns are few and small, else at special and random ones. A rule that never fired on
 * anything, or whose every firing was at no defined value, is vacuous: that fails. */
#include "values.h"

#include <math.h>
#include <stdlib.h>

enum {
  POINTS = 100,
  FIRINGS = 120,
  ATTEMPTS = 6000,
  A_TERM = 16,
  MAX_RULES = 512,
  NEARLY = 4,
  REORDERED = 256,
  EXACT = UN__LIC_CONTRACT | UN__LIC_REDUCE_ORDER | UN__LIC_ONLINE | UN__LIC_REASSOC
};

typedef struct subject {
  const un__ruleset *set;
  uint32_t rule;
  const char *ctx;
  uint64_t fired, foreign, points;
  int large; /* firings tried at every one of many points */
  bool exhaustive, failed;
} subject;

static struct {
  subject rule[MAX_RULES];
  size_t n;
  mv_random random;
  bool thorough;
  uint64_t work;      /* for one rule: a point is 1, a term A_TERM */
  uint64_t all_below; /* so many points are tried one by one */
} run;

static const un__rule_info *info_of(const subject *s) { return &s->set->rules[s->rule]; }

static subject *subject_of(const un__ruleset *set, uint32_t rule, const char *ctx) {
  for (size_t i = 0; i < run.n; i++)
    if (run.rule[i].set == set && run.rule[i].rule == rule) return &run.rule[i];
  if (run.n == MAX_RULES) abort();
  run.rule[run.n] = (subject){.set = set, .rule = rule, .ctx = ctx};
  return &run.rule[run.n++];
}

/* ---- equality ---- */

typedef struct leniency {
  bool zeros;      /* the sign of zero is open */
  uint32_t ulps;   /* of a function that is only nearly right, or of another order of operations */
} leniency;

static leniency leniency_of(const un_uop *from, uint32_t licences) {
  leniency l = {.zeros = (licences & UN__LIC_NSZ) != 0};
  if (licences & UN__LIC_APPROX) l.ulps = NEARLY;

  size_t n;
  const un_uop **order = un__toposort(from, &n);
  for (size_t i = 0; order && i < n; i++) {
    un__op op = (un__op)order[i]->op;
    l.zeros |= op == UN__OP_MAX || op == UN__OP_MIN || op == UN__OP_REDUCE || op == UN__OP_HREDUCE;
    bool function = op == UN__OP_EXP || op == UN__OP_EXP2 || op == UN__OP_LOG || op == UN__OP_LOG2 || op == UN__OP_SIN ||
                    op == UN__OP_COS || op == UN__OP_TANH || op == UN__OP_EXP2_NEAR || op == UN__OP_TANH_NEAR || op == UN__OP_POW;
    if (function && !l.ulps) l.ulps = NEARLY;
    /* Sums of what is drawn under EXACT are exact in any order; products outgrow the digits. */
    if (op == UN__OP_REDUCE && un__attr(order[i], 0) == UN__OP_MUL && licences & EXACT) l.ulps = REORDERED;
  }
  un__free(order);
  return l;
}

static bool same_number(un__value a, un__value b, leniency l) {
  if (!un__dt_is_float(a.dtype)) return a.i == b.i;
  if ((isnan(a.f) && isnan(b.f)) || un__value_bits(a) == un__value_bits(b)) return true;
  if (a.f == 0 && b.f == 0) return l.zeros;
  double ulp = ldexp(1, -un__dt_info(a.dtype)->mantissa), least = 1e-300;
  if (un__dt_scalar(a.dtype) != UN_F64) least = 1e-37;
  return l.ulps && fabs(a.f - b.f) <= l.ulps * ulp * fabs(a.f) + least;
}

static bool same_value(const mv_value *a, const mv_value *b, leniency l) {
  if (a->kind != b->kind) return false;
  if (a->kind == MV_ADDRESS || a->kind == MV_STORE) {
    if (a->on != b->on || (a->on && (a->slot != b->slot || a->at != b->at))) return false;
    if (a->kind == MV_ADDRESS || !a->on) return true;
  }
  if (a->lanes != b->lanes) return false;
  for (uint32_t i = 0; i < a->lanes; i++)
    if (!same_number(a->v[i], b->v[i], l)) return false;
  return true;
}

static bool in_bounds(const un_uop *n, const mv_value *x) {
  for (uint32_t i = 0; x->kind == MV_NUMBER && i < x->lanes && !un__dt_is_float(n->dtype); i++) {
    bool beyond = un__dt_scalar(n->dtype) == UN_U64 && x->v[i].i < 0;
    if (!beyond && (x->v[i].i < n->vmin || x->v[i].i > n->vmax)) return false;
  }
  return true;
}

/* ---- points ---- */

/* Is the RANGE bound by reductions everywhere below? Then its value is theirs to set. */
static bool is_bound(const un_uop *r, const un_uop *from, const un_uop *to) {
  return r->op == UN__OP_RANGE && !un__depends_on(from, r) && !un__depends_on(to, r);
}

static bool known_ends(const un_uop *leaf, int64_t *lo, int64_t *hi) {
  *lo = 0, *hi = -1;
  if (leaf->op == UN__OP_RANGE) *hi = un__known_size(leaf->src[0]) - 1;
  if (leaf->op != UN__OP_VAR || !un__is_const(leaf->src[0]) || !un__is_const(leaf->src[1])) return *hi >= 0;
  *lo = un__const_int(leaf->src[0]), *hi = un__const_int(leaf->src[1]);
  return *lo <= *hi;
}

/* How many values a leaf has; 0: too many, or not known. */
static uint64_t size_of(const un_uop *leaf) {
  int64_t lo, hi;
  if (leaf->op == UN__OP_BUFFER) return un__dt_is_bool(leaf->dtype) ? 2 : un__dt_info(leaf->dtype)->size == 1 ? 256 : 0;
  if (!known_ends(leaf, &lo, &hi) || hi - lo > 4096) return 0;
  return (uint64_t)(hi - lo + 1);
}

static void set_number(mv_value *x, const un_uop *leaf, uint64_t k) {
  int64_t lo, hi;
  x->kind = MV_NUMBER, x->lanes = 1;
  un__dtype dt = UN__DT(un__dt_scalar(leaf->dtype));
  if (leaf->op == UN__OP_BUFFER) {
    x->v[0] = un__dt_is_float(dt) ? un__value_from_bits(dt, k) : un__value_i(dt, (int64_t)k);
    return;
  }
  known_ends(leaf, &lo, &hi);
  x->v[0] = un__value_i(dt, lo + (int64_t)k);
}

static bool draw(mv_point *p, uint32_t i, bool exact) {
  const un_uop *leaf = p->leaf[i];
  mv_value size, *x = &p->value[i];
  int64_t lo, hi;
  x->kind = MV_NUMBER, x->lanes = 1;
  un__dtype dt = UN__DT(un__dt_scalar(leaf->dtype));
  x->v[0] = mv_special(dt, &run.random, exact);
  if (leaf->op == UN__OP_BUFFER) return true;
  if (known_ends(leaf, &lo, &hi)) {
    uint64_t n = (uint64_t)hi - (uint64_t)lo + 1;
    if (mv_below(&run.random, 2) && lo <= -8 && hi >= 8)
      return x->v[0] = un__value_i(dt, (int64_t)mv_below(&run.random, 17) - 8), true;
    uint64_t k = !mv_below(&run.random, 6) ? 0 : !mv_below(&run.random, 5) ? n - 1 : n ? mv_next(&run.random) % n : 0;
    x->v[0] = un__value_i(dt, (int64_t)((uint64_t)lo + k));
    return true;
  }
  if (leaf->op == UN__OP_VAR) return false;
  mv_changed(p);
  mv_eval(p, leaf->src[0], &size); /* its VARs come first in any order of nodes */
  if (size.kind != MV_NUMBER || size.v[0].i <= 0) return false;
  x->v[0] = un__value_i(dt, (int64_t)(mv_next(&run.random) % (uint64_t)size.v[0].i));
  return true;
}

/* ---- one firing ---- */

typedef struct firing {
  subject *s;
  const un_uop *from, *to;
  leniency lenient;
  mv_point p;
} firing;

static void put_value(const un_uop *n, const mv_value *x) {
  static const char *const kinds[] = {"beyond int64", "nobody's", "foreign", "", "no index", "address ", "store "};
  printf("%s", kinds[x->kind]);
  if (x->kind == MV_ADDRESS || x->kind == MV_STORE)
    printf(x->on ? "%lld.%lld " : "none ", (long long)x->slot, (long long)x->at);
  for (uint32_t i = 0; x->kind != MV_ADDRESS && i < x->lanes; i++)
    if (un__dt_is_float(x->v[i].dtype))
      printf("%s%a", i ? "," : "", x->v[i].f);
    else
      printf("%s%lld", i ? "," : "", (long long)x->v[i].i);
}

static void put_term(const char *what, const un_uop *n) {
  un__strbuf text = {0};
  un__print_text(&text, n, what, UN__STAGE_KERNEL, false);
  printf("# %s\n%s\n", what, un__sb_str(&text));
  un__sb_finish(&text);
}

static void fail(firing *f, const mv_value *x, const mv_value *y, const char *what) {
  if (f->s->failed) return;
  f->s->failed = true;
  printf("not ok - %s.%s: %s\n", f->s->set->name, info_of(f->s)->name, what);
  put_term("before", f->from);
  put_term("after", f->to);
  for (uint32_t i = 0; i < f->p.n; i++) {
    printf("# %s%lld = ", un__info(f->p.leaf[i])->text, (long long)un__attr(f->p.leaf[i], 0));
    put_value(f->p.leaf[i], &f->p.value[i]);
    printf("\n");
  }
  printf("# before ");
  put_value(f->from, x);
  printf("\n# after ");
  put_value(f->to, y);
  printf("\n");
}

/* Licences say that some numbers do not occur. */
static bool excludes(uint32_t licences, const mv_value *x) {
  for (uint32_t i = 0; x->kind == MV_NUMBER && i < x->lanes; i++) {
    un__value v = x->v[i];
    if (!un__dt_is_float(v.dtype)) continue;
    if ((licences & UN__LIC_NNAN && isnan(v.f)) || (licences & UN__LIC_NINF && isinf(v.f))) return true;
  }
  return false;
}

static bool excluded(const firing *f) {
  for (uint32_t i = 0; i < f->p.n; i++)
    if (excludes(info_of(f->s)->licences, &f->p.value[i])) return true;
  return false;
}

/* No loop has a negative size. */
static bool negative_loop(firing *f) {
  mv_value size;
  for (uint32_t i = 0; i < f->p.n; i++) {
    if (f->p.leaf[i]->op != UN__OP_RANGE) continue;
    mv_eval(&f->p, f->p.leaf[i]->src[0], &size);
    if (size.kind == MV_NUMBER && size.v[0].i < 0) return true;
  }
  return false;
}

/* At the point that is set. False: no use in going on. */
static bool compare(firing *f) {
  mv_value x, y;
  f->p.memory = mv_next(&run.random);
  mv_changed(&f->p);
  if (excluded(f) || negative_loop(f)) return true;
  mv_eval(&f->p, f->from, &x);
  if (x.kind == MV_BEYOND || x.kind == MV_NOBODY || excludes(info_of(f->s)->licences, &x)) return true;
  if (x.kind != MV_FOREIGN) mv_eval(&f->p, f->to, &y);
  if (x.kind == MV_FOREIGN || y.kind == MV_FOREIGN) {
    f->s->foreign++;
    return false;
  }
  if (y.kind == MV_BEYOND) return true;
  f->s->points++;
  if (!same_value(&x, &y, f->lenient)) fail(f, &x, &y, "another value");
  if (!in_bounds(f->from, &x) || !in_bounds(f->to, &y)) fail(f, &x, &y, "a value outside of its bounds");
  return !f->s->failed;
}

static void try_all(firing *f, const uint64_t *size, uint64_t all) {
  uint64_t digit[MV_UNKNOWNS] = {0};
  for (;;) {
    for (uint32_t i = 0; i < f->p.n; i++) set_number(&f->p.value[i], f->p.leaf[i], digit[i]);
    if (!compare(f)) return;
    uint32_t i = 0;
    while (i < f->p.n && ++digit[i] == size[i]) digit[i++] = 0;
    if (i == f->p.n) break;
  }
  if (all > 1) f->s->exhaustive = true;
}

static void try_some(firing *f, bool exact) {
  for (int k = 0; k < POINTS; k++) {
    bool good = true;
    for (uint32_t i = 0; i < f->p.n; i++) good &= draw(&f->p, i, exact);
    if (good && !compare(f)) return;
  }
}

static void try_points(firing *f) {
  if (!mv_leaves(&f->p, f->from) || !mv_leaves(&f->p, f->to)) return;
  uint64_t size[MV_UNKNOWNS], all = 1;
  bool exact = (info_of(f->s)->licences & EXACT) != 0;
  for (uint32_t i = 0; i < f->p.n; i++) {
    size[i] = is_bound(f->p.leaf[i], f->from, f->to) ? 1 : size_of(f->p.leaf[i]);
    if (exact && un__dt_is_float(f->p.leaf[i]->dtype)) size[i] = 0;
    all = size[i] && all <= run.all_below ? all * size[i] : UINT64_MAX;
  }
  enum { MANY = 2048, LARGE = 2 };
  bool large = all > MANY;
  if (all <= run.all_below && (!large || f->s->large < LARGE))
    f->s->large += large, try_all(f, size, all);
  else
    try_some(f, exact);
}

/* A rule whose context is a target means what it says. Others do their part of a change to a whole kernel: what stands
 * before and after is not the same by itself. */
static bool is_local(const subject *s) {
  return !s->ctx || !strcmp(s->ctx, "un__target") || !strcmp(s->ctx, "un__gpu_target") || !strcmp(s->ctx, "sample_ctx");
}

/* The rule on a term. True: it fired. */
static bool fire(subject *s, un__rw *rw, const un_uop *from) {
  if (!is_local(s) || (s->ctx && !un__mt_context(rw, s->ctx, from))) return false;
  rw->root = from;
  un__match_fn match = s->set->match[from->op];
  const un_uop *to = match ? match(rw, from) : NULL;
  if (!to || to == from || un__graph_status(rw->g) != UN_OK) return false;
  s->fired++;
  firing f = {.s = s, .from = from, .to = to, .lenient = leniency_of(from, info_of(s)->licences)};
  if (to->dtype != from->dtype) {
    mv_value none = {.kind = MV_FOREIGN};
    fail(&f, &none, &none, "another dtype");
  }
  try_points(&f);
  return true;
}

/* ---- all of a rule ---- */

static bool with_workspace(subject *s, const un__mt_test *t, const un__mt_variant *v, bool small) {
  un__err err = {0};
  un__graph *g = un__workspace_create(&err);
  const un_uop *left = NULL;
  struct un__rw_state state = {s->rule, info_of(s)->name, NULL, &left};
  un__rw rw = {.g = g, .licences = UN__LIC_FAST, .set = s->set, .state = &state};
  bool fired = false;
  if (t && g)
    t->run(&rw);
  else if (g)
    left = mv_make(g, v, &run.random, small, (info_of(s)->licences & EXACT) != 0);
  state.left = NULL;
  if (left && err.status == UN_OK) fired = fire(s, &rw, left);
  un__workspace_destroy(g);
  return fired;
}

/* Rules about tensors want shapes, which terms of values_make.c do not have: only their tests show what they take. */
static bool about_tensors(const un__ruleset *set) {
  static const char *const names[] = {"tensor_form", "valid_used", "valid_up", "mops",
                                      "reductions",  "stages",     "memory"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(set->name, names[i])) return true;
  return false;
}

static void try_rule(subject *s, const un__mt_test *tests, const un__mt_variant *variants) {
  const un__mt_variant *of[256];
  uint32_t n = 0;
  for (; variants->set && !about_tensors(s->set); variants++)
    if (variants->set == s->set && variants->rule == s->rule && n < 256) of[n++] = variants;
  for (; tests->name; tests++)
    if (tests->fires && tests->set == s->set && tests->rule == s->rule) with_workspace(s, tests, NULL, false);
  uint32_t fired = 0, most = run.thorough ? 40 * FIRINGS : FIRINGS;
  for (uint64_t i = 0; i < ATTEMPTS && fired < most && !s->failed && s->points + i * A_TERM < run.work; i++)
    fired += n && with_workspace(s, NULL, of[mv_below(&run.random, n)], mv_below(&run.random, 2));
}

/* "set.rule reason" lines. */
static bool is_listed(const char *list, const subject *s) {
  un__strbuf name = {0};
  un__sb_printf(&name, "\n%s.%s ", s->set->name, info_of(s)->name);
  bool found = strstr(list, un__sb_str(&name)) != NULL;
  un__sb_finish(&name);
  return found;
}

static char *read_list(const char *path) {
  FILE *f = path ? fopen(path, "rb") : NULL;
  char *text = calloc(1, 1 << 16);
  if (!text) abort();
  text[0] = '\n';
  if (f) {
    size_t n = fread(text + 1, 1, (1 << 16) - 2, f);
    text[n + 1] = '\0';
    fclose(f);
  }
  return text;
}

static int verdict(const subject *s, const char *list) {
  bool listed = is_listed(list, s), evaluated = s->points != 0;
  const char *name = info_of(s)->name, *set = s->set->name;
  if (s->failed) return 1;
  if (evaluated && listed) {
    printf("not ok - %s.%s is listed as beyond evaluation, but %llu points were compared\n", set, name,
           (unsigned long long)s->points);
    return 1;
  }
  if (!evaluated && !listed) {
    printf("not ok - %s.%s: vacuous: %llu firings, %llu of them beyond the evaluator, nothing compared\n", set, name,
           (unsigned long long)s->fired, (unsigned long long)s->foreign);
    return 1;
  }
  printf("ok - %s.%s: %s, %llu firings, %llu points\n", set, name,
         !evaluated      ? "trusted"
         : s->exhaustive ? "exhaustive"
                         : "fuzzed",
         (unsigned long long)s->fired, (unsigned long long)s->points);
  return 0;
}

static int compare_values(const char *path, const un__mt_test *tests, const un__mt_variant *variants) {
  char *list = read_list(path);
  const char *seed = getenv("UNIR_TEST_SEED");
  run.random.state = seed ? strtoull(seed, NULL, 10) : 1;
  for (const un__mt_variant *v = variants; v->set; v++) subject_of(v->set, v->rule, v->ctx);
  int failed = 0, count[3] = {0};
  for (size_t i = 0; i < run.n; i++) {
    subject *s = &run.rule[i];
    try_rule(s, tests, variants);
    failed += verdict(s, list);
    count[!s->points ? 2 : s->exhaustive ? 0 : 1]++;
  }
  printf("# rules by value: %d exhaustive, %d fuzzed, %d trusted\n1..%zu\n", count[0], count[1], count[2], run.n);
  free(list);
  return failed > 99 ? 99 : failed;
}

/* ---- test lines ---- */

static int run_tests(const un__mt_test *tests) {
  int failed = 0, n = 0;
  for (; tests[n].name; n++) {
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    struct un__rw_state state = {tests[n].rule, tests[n].name, tests[n].ctx, NULL};
    un__rw rw = {.g = g, .licences = tests[n].licences, .set = tests[n].set, .state = &state};
    if (!g || !tests[n].run(&rw))
      failed++;
    else
      printf("ok - %s\n", tests[n].name);
    un__workspace_destroy(g);
  }
  printf("1..%d\n", n);
  return failed > 99 ? 99 : failed;
}

int un__mt_main(int argc, char **argv, const un__mt_test *tests, const un__mt_variant *variants) {
  bool values = argc > 1 && !strcmp(argv[1], "--values");
  run.thorough = values && argc > 2 && !strcmp(argv[2], "--long");
  run.work = (uint64_t)1 << (run.thorough ? 22 : 17);
  run.all_below = run.thorough ? (uint64_t)1 << 21 : (uint64_t)1 << 16;
  if (!values) return run_tests(tests);
  return compare_values(argc > 2 + run.thorough ? argv[2 + run.thorough] : NULL, tests, variants);
}
