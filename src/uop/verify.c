/* verify.c - drives the checks over the regions of a graph and writes down what they found. */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FAULTS = 1000 };
#define VISIT_BUDGET UINT64_C(50000000)

/* ---- faults ---- */

void un__fault_at(un__verifier *v, const un_uop *n, const char *fmt, ...) {
  if (v->faults.n == MAX_FAULTS) return;
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  un__fault f = {un__pos(v, n), (uint32_t)v->faults.n, v->check, v->texts.n};
  un__sb_putn(&v->texts, text, strlen(text) + 1);
  if (v->texts.failed || !un__vec_push(&v->faults, f)) v->nomem = true;
}

uint32_t un__fresh_mark(un__verifier *v) { return ++v->last_mark; }

bool un__spend(un__verifier *v, uint64_t visits) {
  if (v->budget >= visits) {
    v->budget -= visits;
    return true;
  }
  if (v->budget) un__fault_at(v, v->root, "the graph is too large to check this completely");
  v->budget = 0;
  return false;
}

/* ---- regions ---- */

static bool add_region(un__verifier *v, const un_uop *root, uint32_t kind) {
  uint8_t *queued = &v->queued[un__pos(v, root)];      /* equal kernels share one body */
  if (*queued & kind) return true;
  *queued |= (uint8_t)kind;
  return un__vec_push(&v->regions, ((un__region){root, kind}));
}

/* A KERNEL's body is checked as what it is: a loop nest, or a list when it is lowered. */
static bool note_body(un__verifier *v, const un_uop *n) {
  if (n->op == UN__OP_COMBINE) return add_region(v, n->src[0], UN__REGION_BODY);
  if (n->op != UN__OP_KERNEL) return true;
  return add_region(v, n->src[0], n->src[0]->op == UN__OP_LINEAR ? UN__STAGE_LINEAR : UN__STAGE_KERNEL);
}

/* v->nodes := the region's nodes, in the order of the whole graph, which puts sources before users. */
static bool collect_nodes(un__verifier *v) {
  uint32_t mine = un__fresh_mark(v), top = un__pos(v, v->root);
  v->nodes.n = 0;
  v->mark[top] = mine;
  /* Users come later in post-order, so one pass downwards marks all that is reachable. A region is dense below its
   * root in practice: what lies between is what bodies brought along. */
  if (!un__spend(v, top + 1)) return true;
  for (uint32_t at = top + 1; at-- > 0;) {
    if (v->mark[at] != mine) continue;
    const un_uop *n = v->order.node[at];
    for (uint32_t i = un__first_source(n); i < n->nsrc; i++) v->mark[un__pos(v, n->src[i])] = mine;
  }
  for (uint32_t at = 0; at <= top; at++)
    if (v->mark[at] == mine && (!un__vec_push(&v->nodes, at) || !note_body(v, v->order.node[at]))) return false;
  return true;
}

static void check_node(un__verifier *v, const un_uop *n) {
  size_t before = v->faults.n;
  for (size_t i = 0; i < un__node_check_count; i++) {
    const un__node_check *c = &un__node_checks[i];
    if (i == un__basic_check_count && v->faults.n > before) return;
    if (!(c->stages & v->stage) || (c->op != UN__OP_NONE && c->op != n->op)) continue;
    v->check = c->name;
    c->run(v, n);
  }
}

static bool check_region(un__verifier *v, un__region r) {
  v->root = r.root;
  v->stage = r.kind == UN__REGION_BODY ? UN__STAGE_KERNEL : (un__stage)r.kind;
  v->check = "size";
  if (!collect_nodes(v)) return false;
  for (size_t i = 0; i < v->nodes.n; i++) {
    uint32_t at = v->nodes.at[i];
    if (v->done[at] & r.kind) continue;
    v->done[at] |= (uint8_t)r.kind;
    check_node(v, v->order.node[at]);
  }
  for (size_t i = 0; i < un__region_check_count; i++) {
    if (!(un__region_checks[i].kinds & r.kind)) continue;
    v->check = un__region_checks[i].name;
    un__region_checks[i].run(v);
  }
  return !v->nomem;
}

/* ---- the report ---- */

static int by_place(const void *a, const void *b) {
  const un__fault *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->seq < y->seq ? -1 : 1;
}

static void put_fault(un__strbuf *out, const un__verifier *v, const un__fault *f) {
  const un_uop *n = v->order.node[f->at];
  if (f->at + 1 == v->order.n) un__sb_puts(out, "root ");
  else un__sb_printf(out, "%%%u ", f->at);
  un__sb_printf(out, "%s: %s: %s", un__info(n)->text, f->check, v->texts.at + f->text);
}

typedef struct comments { const un__verifier *v; size_t next; } comments;

static void put_comments(void *data, un__strbuf *out, const un_uop *n, uint32_t position) {
  comments *c = data;
  (void)n;
  for (; c->next < c->v->faults.n && c->v->faults.at[c->next].at == position; c->next++) {
    un__sb_puts(out, "  # ^ ");
    put_fault(out, c->v, &c->v->faults.at[c->next]);
    un__sb_putc(out, '\n');
  }
}

static un_status report(un__verifier *v, un__stage stage, un__err *err, un__strbuf *out) {
  qsort(v->faults.at, v->faults.n, sizeof *v->faults.at, by_place);
  un__strbuf text = {0};
  un__sb_printf(&text, "stage %s: %zu fault%s", un__stage_name(stage), v->faults.n, v->faults.n == 1 ? "" : "s");
  for (size_t i = 0; i < v->faults.n; i++) {
    un__sb_puts(&text, "\n  ");
    put_fault(&text, v, &v->faults.at[i]);
  }
  un_status status = un__fail(err, text.failed ? UN_ERR_NOMEM : UN_ERR_VERIFY, "%s", un__sb_str(&text));
  un__sb_finish(&text);
  if (out) un__print_ordered(out, &v->order, "faulty", stage, false, put_comments, &(comments){v, 0});
  return status;
}

static bool run(un__verifier *v, const un_uop *root, un__stage stage) {
  if (!un__order_build(&v->order, root)) return false;
  v->mark = un__calloc(v->order.n, sizeof *v->mark);
  v->done = un__calloc(v->order.n, sizeof *v->done);
  v->queued = un__calloc(v->order.n, sizeof *v->queued);
  if (!v->mark || !v->done || !v->queued || !add_region(v, root, stage)) return false;
  for (size_t i = 0; i < v->regions.n; i++)
    if (!check_region(v, v->regions.at[i])) return false;
  return true;
}

un_status un__verify(const un_uop *root, un__stage stage, un__err *err, un__strbuf *out_annotated) {
  un__verifier v = {.budget = VISIT_BUDGET};
  un_status status = UN_OK;
  if (!root) return un__fail(err, UN_ERR_VERIFY, "stage %s: there is no graph", un__stage_name(stage));
  if (!run(&v, root, stage) || v.nomem) status = un__fail(err, UN_ERR_NOMEM, "no memory to verify a graph");
  else if (v.faults.n) status = report(&v, stage, err, out_annotated);
  un__free(v.mark);
  un__free(v.done);
  un__free(v.queued);
  un__vec_finish(&v.nodes);
  un__vec_finish(&v.regions);
  un__vec_finish(&v.faults);
  un__sb_finish(&v.texts);
  un__order_finish(&v.order);
  return status;
}
