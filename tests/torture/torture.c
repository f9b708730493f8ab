/* torture.c - every allocation fails once. Built with -Dtorture=true.
 *
 * A scenario is run again and again; in run n the n-th allocation of the library and all later ones fail. Each run must end
 * with success or UN_ERR_NOMEM, and release everything (the sanitizer build watches for leaks). The last run is the first
 * that asks for fewer than n allocations. Prints TAP. */
#include <stdio.h>
#include <string.h>
#include <unir/unir.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "uop/text.h"

/* ---- scenarios: each returns the status it ended with ---- */

static un_status tensors(void) {
  static const float x[12] = {1, -2, 3, 4, 5, -6, 7, 8, 9, 10, 11, 12}, w[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  un_ctx *cx;
  un_status status = un_ctx_create(&opt, &cx);
  if (status != UN_OK) return status;
  un_tensor *a = un_from_data(cx, UN_F32, un_shape(2, 3, 4), x), *b = un_from_data(cx, UN_F32, un_shape(2, 4, 2), w);
  un_scope_push(cx);
  un_tensor *y = un_softmax(un_relu(un_matmul(a, b)), 1), *i = un_argmax(y, 1, false);
  un_tensor *t[] = {y, i};
  float out[6];
  status = y && i ? un_realize(cx, 2, t) : un_error_status(cx);
  if (status == UN_OK) status = un_read(y, out, sizeof out);
  un_scope_pop(cx);
  un_ctx_destroy(cx);
  return status;
}

/* Joins, literals, bools, assigns: the calls that build more than one node, or change a handle. */
static un_status calls(void) {
  static const float v[] = {1, 2, 3, 4};
  static const uint8_t flags[] = {1, 0};
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  un_ctx *cx;
  un_status status = un_ctx_create(&opt, &cx);
  if (status != UN_OK) return status;
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *b = un_from_data(cx, UN_BOOL, un_shape(1, 2), flags);
  un_tensor *parts[] = {x, un_adds(x, 1), un_where(b, x, un_scalar_like(x, 0))};
  un_tensor *z = un_cat(cx, 3, parts, 0), *s = un_stack(cx, 2, parts, 1);
  bool assigned = un_assign(x, un_flip(x, un_list(0))) != NULL;
  float out[12];
  status = z && s && assigned ? un_realize(cx, 3, (un_tensor *[]){z, s, x}) : un_error_status(cx);
  if (status == UN_OK) status = un_read(z, out, sizeof out);
  un_ctx_destroy(cx);
  return status;
}

static un_status trees(void) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  un_ctx *cx;
  un_status status = un_ctx_create(&opt, &cx);
  if (status != UN_OK) return status;
  un_tensor *a = un_full(cx, UN_F32, un_shape(2, 8, 8), 2), *y = un_sum(un_mul(a, un_transpose(a, 0, 1)), un_list(1), false);
  char *text = un_to_text(y, UN_STAGE_LINEAR, UN_FORM_TREE);
  status = text ? UN_OK : un_error_status(cx);
  un_text_free(text);
  un_ctx_destroy(cx);
  return status;
}

static un_status parsing(void) {
  static const char text[] =
    "unir 1\ngraph @g stage=tensor {\n  %n = const index [val=4]\n  %x = buffer f32 %n [slot=0 device=0]\n"
    "  %y = exp f32 %x\n  %z = add f32 %x, %y\n  sink %z, %y\n}\n";
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  un__parsed_graph g;
  size_t n;
  un__strbuf out;
  un__sb_init(&out);
  un_status status = ws ? un__parse_text(ws, "t", text, strlen(text), &g, 1, &n) : err.status;
  if (status == UN_OK) un__print_text(&out, g.root, "g", UN__STAGE_TENSOR, true);
  if (status == UN_OK && out.failed) status = UN_ERR_NOMEM;
  if (status == UN_OK) status = un__verify(g.root, g.stage, &err, NULL);
  un__sb_finish(&out);
  un__workspace_destroy(ws);
  return status;
}

/* A graph with faults: the verifier's report, the annotated text and a tree. Success: the faults were found. */
static un_status verifying(void) {
  static const char text[] =
    "unir 1\ngraph @g stage=schedule {\n  %n = const index [val=4]\n  %p = param ptr.f32 %n [slot=0]\n"
    "  %r = range index %n [id=0 axis=loop]\n  %k = range index %n [id=1 axis=reduce]\n  %i = index ptr.f32 %p, %k\n"
    "  %l = load f64 %i\n  %a = reduce f64 %l, %k [op=add]\n  %b = reduce f64 %l, %k [op=sub]\n  %c = add f64 %a, %b\n"
    "  %o = index ptr.f32 %p, %r\n  %s = store void %o, %c\n  %e = end void %s, %r\n  %t = sink void %e\n"
    "  %m = kernel void %t\n  linear %m, %m\n}\n";
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  un__parsed_graph g;
  size_t n;
  un__strbuf out;
  un__sb_init(&out);
  un_status status = ws ? un__parse_text(ws, "t", text, strlen(text), &g, 1, &n) : err.status;
  if (status == UN_OK) status = un__verify(g.root, g.stage, &err, &out);
  bool found = status == UN_ERR_VERIFY;
  if (found) un__print_tree(&out, g.root, true);
  if (found) status = out.failed ? UN_ERR_NOMEM : UN_OK;
  else if (status == UN_OK) status = UN_ERR_INTERNAL;      /* the faults were missed */
  un__sb_finish(&out);
  un__workspace_destroy(ws);
  return status;
}

static const struct { const char *name; un_status (*run)(void); } scenarios[] = {
  {"tensors", tensors}, {"calls", calls}, {"trees", trees}, {"parsing", parsing}, {"verifying", verifying},
};

enum { MOST_RUNS = 200000 };

/* The number of runs, or 0 when one ended wrongly. */
static uint64_t torture(const char *name, un_status (*run)(void)) {
  for (uint64_t n = 0; n < MOST_RUNS; n++) {
    un__torture_arm(n);
    un_status status = run();
    uint64_t asked = un__torture_count();
    un__torture_arm(UINT64_MAX);
    if (status == UN_OK && asked <= n) return n + 1;
    if (status == UN_ERR_NOMEM) continue;
    if (status == UN_OK) continue;     /* the allocation that failed could be done without */
    printf("# %s: allocation %llu failed and the run ended with \"%s\"\n", name, (unsigned long long)n, un_status_str(status));
    return 0;
  }
  return 0;
}

int main(void) {
  size_t n = sizeof scenarios / sizeof *scenarios, failed = 0;
  printf("1..%zu\n", n);
  for (size_t i = 0; i < n; i++) {
    uint64_t runs = torture(scenarios[i].name, scenarios[i].run);
    failed += runs == 0;
    printf("%sok %zu - %s: %llu runs\n", runs ? "" : "not ", i + 1, scenarios[i].name, (unsigned long long)runs);
    fflush(stdout);
  }
  return failed != 0;
}
