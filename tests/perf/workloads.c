/* workloads.c - five fixed pieces of compile-side work whose instructions are counted by callgrind (counts.py).
 *
 * usage: workloads NAME
 *
 * Only what runs inside `measured` is counted; preparation is not. The target is the generic description, so the work is the
 * same on every machine. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "codegen/codegen.h"
#include "opt/opt.h"
#include "programs.h"
#include "rangeify/rangeify.h"
#include "render_llvm/render_llvm.h"
#include "simplify/simplify.h"
#include "target/target.h"
#include "uop/text.h"

typedef struct work {
  un__err err;
  un__graph *ws;
  const un_uop *root;
  int64_t ninputs;
  un__strbuf text;
  bool ok;
} work;

enum { LAYERS = 50, BATCH = 32, WIDTH = 256, EXPRESSIONS = 2000 };

static void prepare_nothing(work *w) { w->ok = true; }
static void prepare_mlp(work *w) { w->ok = (w->root = program_mlp(w->ws, LAYERS, BATCH, WIDTH, &w->ninputs)) != NULL; }

static void build(work *w) { prepare_mlp(w); }

static void prepare_parse(work *w) {
  prepare_mlp(w);
  if (w->ok) un__print_text(&w->text, w->root, "mlp", UN__STAGE_TENSOR, false);
}

static void parse(work *w) {
  un__parsed_graph g;
  size_t n;
  w->ok = un__parse_text(w->ws, "mlp", un__sb_str(&w->text), w->text.n, &g, 1, &n) == UN_OK && g.root == w->root;
}

/* Index expressions of the kind that views make: flatten, split, flatten again. */
static const un_uop *view_index(un__graph *g, int k) {
  int64_t a = 2 + k % 7, b = 3 + k % 5, c = 4 + k % 11;
  const un_uop *i = un__range(g, un__idx(g, a), UN__AXIS_LOOP, 3 * k), *j = un__range(g, un__idx(g, b), UN__AXIS_LOOP, 3 * k + 1),
               *l = un__range(g, un__idx(g, c), UN__AXIS_LOOP, 3 * k + 2);
  const un_uop *flat = un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, i, un__idx(g, b)), j),
                                                       un__idx(g, c)), l);
  const un_uop *x = un__binary(g, UN__OP_FLOORDIV, flat, un__idx(g, c)), *y = un__binary(g, UN__OP_FLOORMOD, flat, un__idx(g, c));
  const un_uop *again = un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, x, un__idx(g, c)), y);
  return un__binary(g, UN__OP_FLOORDIV, again, un__idx(g, b * c));
}

static void prepare_simplify(work *w) {
  const un_uop *all[EXPRESSIONS];
  for (int k = 0; k < EXPRESSIONS; k++) all[k] = view_index(w->ws, k);
  w->ok = (w->root = un__sink(w->ws, all, EXPRESSIONS)) != NULL;
}

static void simplify(work *w) {
  un__rw_options opt = {.licences = UN__LIC_PRECISE};
  w->ok = un__graph_rewrite(w->ws, w->root, &un__pass_simplify, &opt) != NULL;
}

static const un_uop *scheduled(work *w) {
  int64_t slot;
  un__rangeify_options opt = {.licences = UN__LIC_PRECISE, .threads = 2, .min_parallel_work = 32768};
  return un__rangeify(w->ws, w->root, w->ninputs, &opt, &slot);
}

static void schedule(work *w) { w->ok = scheduled(w) != NULL; }

static void prepare_lower(work *w) {
  w->ok = (w->root = program_regression_step(w->ws, 1437, &w->ninputs)) != NULL;
  int64_t slots[3];
  un__rangeify_options opt = {.licences = UN__LIC_PRECISE, .threads = 2, .min_parallel_work = 32768};
  w->ok = w->ok && (w->root = un__rangeify(w->ws, w->root, w->ninputs, &opt, slots)) != NULL;
}

static void lower(work *w) {
  const un__target *t = un__target_generic();
  for (uint32_t i = 0; i < w->root->nsrc && w->ok; i++) {
    const un_uop *k = w->root->src[i]->src[0];
    un__opt_plan plan;
    w->ok = un__opt_heuristic(k, t, UN__LIC_PRECISE, &plan, NULL) == UN_OK && (k = un__opt_apply(w->ws, k, &plan, t, UN__LIC_PRECISE)) &&
            (k = un__lower(w->ws, k, t, UN__LIC_PRECISE)) && un__render_llvm(k, "kernel", t, &w->text, &w->err) == UN_OK;
  }
}

static const struct { const char *name; void (*prepare)(work *w), (*run)(work *w); } works[] = {
  {"build", prepare_nothing, build}, {"parse", prepare_parse, parse}, {"simplify", prepare_simplify, simplify},
  {"schedule", prepare_mlp, schedule}, {"lower", prepare_lower, lower},
};

void measured(void (*run)(work *w), work *w);
__attribute__((noinline)) void measured(void (*run)(work *w), work *w) { run(w); }

int main(int argc, char **argv) {
  for (size_t i = 0; argc == 2 && i < sizeof works / sizeof *works; i++) {
    if (strcmp(works[i].name, argv[1]) != 0) continue;
    work w = {0};
    w.ws = un__workspace_create(&w.err);
    un__sb_init(&w.text);
    if (w.ws) works[i].prepare(&w);
    if (w.ok) measured(works[i].run, &w);
    if (!w.ok) fprintf(stderr, "workloads: %s: %s\n", argv[1], w.err.text);
    un__sb_finish(&w.text);
    un__workspace_destroy(w.ws);
    return !w.ok;
  }
  fprintf(stderr, "usage: workloads build|parse|simplify|schedule|lower\n");
  return 2;
}
