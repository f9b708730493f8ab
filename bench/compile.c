/* compile.c - the compile side: interning, rewriting, scheduling. One thread. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/ptrmap.h"
#include "bench.h"
#include "programs.h"
#include "rangeify/rangeify.h"
#include "simplify/simplify.h"

enum { ROUNDS = 7, LOOKUPS = 2000000, NODES = 20000, EXPRESSIONS = 4000 };

/* Hits: the same binary nodes are asked for again and again, as a rewrite that changes little does. */
static double lookups_per_second(un__graph *g) {
  const un_uop **leaf = un__alloc(NODES * sizeof *leaf);
  for (int i = 0; leaf && i < NODES; i++) leaf[i] = un__range(g, un__idx(g, 2 + i % 97), UN__AXIS_LOOP, i);
  for (int i = 1; leaf && i < NODES; i++) un__binary(g, UN__OP_ADD, leaf[i - 1], leaf[i]);
  double start = bench_cpu_seconds();
  for (int i = 0, k = 1; leaf && i < LOOKUPS; i++, k = k + 1 < NODES ? k + 1 : 1) un__binary(g, UN__OP_ADD, leaf[k - 1], leaf[k]);
  double s = bench_cpu_seconds() - start;
  un__free(leaf);
  return LOOKUPS / s;
}

static void bench_hashcons(void) {
  double rate[ROUNDS];
  for (int i = 0; i < ROUNDS; i++) {
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    rate[i] = lookups_per_second(g) / 1e6;
    un__workspace_destroy(g);
  }
  bench_row("hash-cons lookups", bench_median(rate, ROUNDS), "M/s a core", 10, AT_LEAST, "binary nodes that exist");
}

/* Indices as rangeify makes them for views of views. */
static const un_uop *index_expression(un__graph *g, int k) {
  int64_t b = 3 + k % 5, c = 4 + k % 11;
  const un_uop *i = un__range(g, un__idx(g, 2 + k % 7), UN__AXIS_LOOP, 3 * k), *j = un__range(g, un__idx(g, b), UN__AXIS_LOOP, 3 * k + 1),
               *l = un__range(g, un__idx(g, c), UN__AXIS_LOOP, 3 * k + 2);
  const un_uop *row = un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, i, un__idx(g, b)), j);
  const un_uop *flat = un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, row, un__idx(g, c)), l);
  const un_uop *x = un__binary(g, UN__OP_FLOORDIV, flat, un__idx(g, c)), *y = un__binary(g, UN__OP_FLOORMOD, flat, un__idx(g, c));
  return un__binary(g, UN__OP_ADD, un__binary(g, UN__OP_MUL, y, un__idx(g, b)), un__binary(g, UN__OP_FLOORMOD, x, un__idx(g, b)));
}

static void bench_rewrite(void) {
  double rate[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    const un_uop **all = un__alloc(EXPRESSIONS * sizeof *all);
    for (int k = 0; k < EXPRESSIONS; k++) all[k] = index_expression(g, k);
    const un_uop *root = un__sink(g, all, EXPRESSIONS);
    un__rw_options opt = {.licences = UN__LIC_PRECISE};
    uint64_t before = un__rewrite_visits();
    double start = bench_cpu_seconds();
    if (!un__graph_rewrite(g, root, &un__pass_simplify, &opt)) bench_fail("rewrite", err.text);
    rate[r] = (double)(un__rewrite_visits() - before) / (bench_cpu_seconds() - start) / 1e6;
    un__free(all);
    un__workspace_destroy(g);
  }
  bench_row("rewrite, full simplifier, firings included", bench_median(rate, ROUNDS), "M visits/s", 2, AT_LEAST, "index expressions of views");
}

typedef const un_uop *(*program_fn)(un__graph *g, int layers, int64_t batch, int64_t width, int64_t *out_ninputs);

static unsigned distinct_kernels(const un_uop *schedule) {
  un__ptrmap seen;
  un__ptrmap_init(&seen);
  for (uint32_t i = 0; i < schedule->nsrc; i++) un__ptrmap_put(&seen, schedule->src[i]->src[0], NULL);
  unsigned n = (unsigned)seen.n;
  un__ptrmap_finish(&seen);
  return n;
}

static void bench_schedule(const char *name, program_fn make, int layers, double goal, const char *peer) {
  double ms[ROUNDS];
  char note[96] = "";
  for (int r = 0; r < ROUNDS; r++) {
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    int64_t ninputs;
    const un_uop *root = make(g, layers, 32, 256, &ninputs);
    int64_t *slots = root ? un__calloc(root->nsrc, sizeof *slots) : NULL;
    un__rangeify_options opt = {.licences = UN__LIC_PRECISE, .threads = 2, .min_parallel_work = 32768};
    double start = bench_seconds();
    const un_uop *schedule = slots ? un__rangeify(g, root, ninputs, &opt, slots) : NULL;
    ms[r] = (bench_seconds() - start) * 1e3;
    if (schedule) snprintf(note, sizeof note, "%u kernels, %u distinct; %s", schedule->nsrc, distinct_kernels(schedule), peer);
    else bench_fail(name, err.text);
    un__free(slots);
    un__workspace_destroy(g);
  }
  bench_row(name, bench_median(ms, ROUNDS), "ms", goal, AT_MOST, note);
}

void bench_compile_side(void) {
  bench_hashcons();
  bench_rewrite();
  bench_schedule("schedule MLP 200 layers 32x256, forward", program_mlp, 200, 20, "tinygrad 1940 ms");
  bench_schedule("schedule MLP 50 layers, forward and backward", program_mlp_backward, 50, 20, "tinygrad 2060 ms");
}
