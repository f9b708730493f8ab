/* match_test.h - what the test program of a .pat file is made of. Included by generated test programs, ahead of the
 * generated matchers, whose calls to the engine it replaces: one rule is let through at a time. tests/patgen/values*.c
 * holds the rest of such a program: without arguments it runs the `test` lines; with --values it compares, for every
 * rule, terms before and after by value. */
#ifndef UN_REWRITE_MATCH_TEST_H
#define UN_REWRITE_MATCH_TEST_H

#include <stdio.h>

#include "rewrite/match.h"
#include "uop/text.h"

struct un__rw_state {
  uint32_t rule;
  const char *name, *ctx;
  const un_uop **left; /* where a test leaves its left side instead of matching it; NULL: it matches */
};

static inline bool un__mt_enabled(const un__rw *rw, uint32_t rule) { return rw->state->rule == rule; }
static inline const un_uop *un__mt_fire(un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to) {
  return rw->state->rule == rule && to != from ? to : NULL;
}
#define un__rw_enabled un__mt_enabled
#define un__rw_fire un__mt_fire

typedef struct un__mt_test {
  const char *name;
  const un__ruleset *set;
  uint32_t rule, licences;
  const char *ctx; /* type of the ruleset's context; NULL: none */
  bool fires;
  bool (*run)(un__rw *rw);
} un__mt_test;

/* A left side: un__site with the class of its dtype, of its scalar, and the scalars it may have; un__cons. */
typedef struct un__mt_site {
  int parent;
  uint32_t index;
  int op, dtype, scalar;
  uint32_t mask;
} un__mt_site;

typedef struct un__mt_cons {
  int kind, site, site2; /* kind -1: the end */
  int64_t a, b;
  uint64_t bits; /* of a double */
} un__mt_cons;

typedef struct un__mt_variant {
  const un__ruleset *set;
  uint32_t rule;
  const char *ctx;
  const un__mt_site *sites;
  size_t nsites;
  const un__mt_cons *cons;
  size_t ncons;
} un__mt_variant;

/* An unknown of any dtype: a stored scalar, or for index a VAR wide enough for every test. */
static inline const un_uop *un__mt_bounded(un__graph *g, un__dtype dt, const char *name, int64_t lo, int64_t hi) {
  const un_uop *src[2] = {un__idx(g, lo), un__idx(g, hi)};
  int64_t words[UN__NAME_WORDS] = {0};
  strncpy((char *)words, name, sizeof words - 1);
  const un_uop *v = un__uop(g, UN__OP_VAR, 0, src, 2, words, UN__NAME_WORDS);
  return un__cast(g, dt, v);
}
static inline const un_uop *un__mt_var(un__graph *g, un__dtype dt, const char *name, size_t number) {
  if (un__dt_is_index(dt)) return un__mt_bounded(g, dt, name, -((int64_t)1 << 40), (int64_t)1 << 40);
  return un__uop(g, UN__OP_BUFFER, dt, NULL, 0, (const int64_t[]){(int64_t)number, 0}, 2);
}

/* An argument of the kernel: 1000 floats. */
static inline const un_uop *un__mt_pointer(un__graph *g, size_t number) {
  const un_uop *n = un__idx(g, 1000);
  return un__uop(g, UN__OP_PARAM, un__dt_ptr(UN_F32, UN__SPACE_GLOBAL), &n, 1, (const int64_t[]){(int64_t)number}, 1);
}

static inline bool un__mt_unbuilt(un__rw *rw) {
  printf("not ok - %s: cannot be built: %s\n", rw->state->name, un__graph_err(rw->g)->text);
  return false;
}
static inline void un__mt_show(const char *what, const un_uop *n) {
  un__strbuf text = {0};
  if (n) un__print_text(&text, n, what, UN__STAGE_KERNEL, false);
  printf("# %s\n%s\n", what, n ? un__sb_str(&text) : "(nothing)");
  un__sb_finish(&text);
}
/* Sets up the context that a ruleset names, for a term to be matched; false: not for this one. Lives until the next. */
bool un__mt_context(un__rw *rw, const char *ctx, const un_uop *left);

/* What a test says of its left side. */
typedef enum un__mt_claim { UN__MT_WAITS, UN__MT_FIRES, UN__MT_GIVES } un__mt_claim;

static inline bool un__mt_check(un__rw *rw, const un_uop *lhs, const un_uop *want, un__mt_claim claim) {
  if (!lhs || (claim == UN__MT_GIVES && !want)) return un__mt_unbuilt(rw);
  if (rw->state->left) {
    *rw->state->left = lhs;
    return true;
  }
  rw->root = lhs;
  if (rw->state->ctx && !un__mt_context(rw, rw->state->ctx, lhs)) {
    printf("not ok - %s: contexts.c makes no %s of this\n", rw->state->name, rw->state->ctx);
    return false;
  }
  un__match_fn match = rw->set->match[lhs->op];
  const un_uop *got = match ? match(rw, lhs) : NULL;
  if ((claim == UN__MT_FIRES ? got != NULL : got == want) && un__graph_status(rw->g) == UN_OK) return true;
  printf("not ok - %s\n", rw->state->name);
  if (un__graph_status(rw->g) != UN_OK) printf("# %s\n", un__graph_err(rw->g)->text);
  un__mt_show("given", lhs);
  un__mt_show("wanted", want);
  un__mt_show("got", got);
  return false;
}

/* The test program's `main`: the number of failures, at most 99. Tables end with an empty row. */
int un__mt_main(int argc, char **argv, const un__mt_test *tests, const un__mt_variant *variants);
#endif
