/* verify_combine.c - tuple reductions: that a COMBINE's body is closed and fits its elements. */
#include "combine.h"
#include "verify.h"

/* ---- nodes ---- */

static bool has_value(const un_uop *n) {
  return !un__dt_is_ptr(n->dtype) && un__dt_class(n->dtype) != UN__CLASS_VOID;
}

void un__check_combine(un__verifier *v, const un_uop *n) {
  const un_uop *body = un__combine_body(n);
  for (uint32_t i = 0; i < un__combine_width(n); i++) {
    const un_uop *x = un__combine_element(n, i), *identity = un__combine_identity(n, i);
    un__dtype scalar = un__dt_with_lanes(x->dtype, 1);
    if (!has_value(x)) un__fault_at(v, n, "element %u is no value", i);
    else if (identity->op != UN__OP_CONST || identity->dtype != scalar)
      un__fault_at(v, n, "identity %u is no constant of its element's dtype", i);
    if (body->src[i]->dtype != scalar)
      un__fault_at(v, n, "result %u of its body has another dtype than element %u", i, i);
  }
}

/* A GET of what a reduction gives. */
void un__check_get_reduced(un__verifier *v, const un_uop *n) {
  const un_uop *combine = n->src[0]->src[0];
  int64_t i = un__attr(n, 0);
  if (i >= un__combine_width(combine))
    un__fault_at(v, n, "value %lld of %u", (long long)i, un__combine_width(combine));
  else if (n->dtype != un__combine_element(combine, (uint32_t)i)->dtype)
    un__fault_at(v, n, "has not the dtype of that element");
}

/* ---- the body as a region ---- */

static bool belongs(const un__verifier *v, const un_uop *n) {
  if (n->op == UN__OP_TUPLE) return n == v->root;
  return n->op == UN__OP_ARG || n->op == UN__OP_CONST || un__has_flag(n, UN__F_ELEM);
}

void un__check_body_region(un__verifier *v) {
  for (size_t i = 0; i < v->nodes.n; i++) {
    const un_uop *n = un__region_node(v, i);
    if (!belongs(v, n)) un__fault_at(v, n, "in a combine: its body holds args, constants and elementwise ops only");
    else if (un__lanes(n) != 1) un__fault_at(v, n, "in a combine: its body is made of scalars");
  }
}

/* Each ARG of a body is one of its 2n placeholders and has the dtype of its element. Bodies are small, but hostile graphs
 * may share a large one among many COMBINEs. */
void un__check_args(un__verifier *v) {
  for (size_t k = 0; k < v->nodes.n; k++) {
    const un_uop *n = un__region_node(v, k);
    if (n->op == UN__OP_ARG) un__fault_at(v, n, "stands outside of a body");
    if (n->op != UN__OP_COMBINE) continue;
    uint32_t width = un__combine_width(n), top = un__pos(v, n->src[0]), below = un__fresh_mark(v);
    if (!un__spend(v, top + 1)) return;
    v->mark[top] = below;
    for (uint32_t at = top + 1; at-- > 0;) {
      const un_uop *x = v->order.node[at];
      if (v->mark[at] != below) continue;
      for (uint32_t i = un__first_source(x); i < x->nsrc; i++) v->mark[un__pos(v, x->src[i])] = below;
      if (x->op != UN__OP_ARG || !x->nattr || un__attr(x, 0) < 0) continue;
      int64_t i = un__attr(x, 0);
      if (i >= 2 * (int64_t)width)
        un__fault_at(v, n, "its body has arg %lld, but only %u placeholders", (long long)i, 2 * width);
      else if (x->dtype != un__dt_with_lanes(un__combine_element(n, (uint32_t)(i % width))->dtype, 1))
        un__fault_at(v, n, "arg %lld of its body has another dtype than element %lld", (long long)i,
                     (long long)(i % width));
    }
  }
}
