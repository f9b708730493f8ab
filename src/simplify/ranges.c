/* ranges.c - what the rules of reductions ask about ranges. */
#include "base/ptrmap.h"
#include "base/vec.h"
#include "simplify.h"

/* A range of a REDUCE is a RANGE, or an expression over the RANGEs that replaced one. */
static bool depends(const un_uop *x, const un_uop *r) {
  for (uint32_t i = 0; i < r->ranges->n; i++)
    if (un__depends_on(x, r->ranges->range[i])) return true;
  return false;
}

bool un__pred_indep(un__rw *rw, const un_uop *x, un__span r) {
  for (uint32_t i = 0; i < r.n; i++)
    if (depends(x, r.at[i])) return false;
  return true;
}

const un_uop *un__fn_turns(un__rw *rw, un__span r) {
  const un_uop *n = NULL;
  for (uint32_t i = 0; i < r.n; i++) {
    if (!un__is(r.at[i], UN__OP_RANGE)) return NULL;
    n = n ? un__binary(rw->g, UN__OP_MUL, n, r.at[i]->src[0]) : r.at[i]->src[0];
  }
  return n;
}

bool un__pred_nonempty(un__rw *rw, un__span r) {
  for (uint32_t i = 0; i < r.n; i++)
    if (!un__is(r.at[i], UN__OP_RANGE) || r.at[i]->src[0]->vmin < 1) return false;
  return true;
}

const un_uop *un__fn_subst(un__rw *rw, const un_uop *x, const un_uop *from, const un_uop *to) {
  return un__substitute(rw->g, x, &from, &to, 1);
}

const un_uop *un__fn_nth(un__rw *rw, un__span xs, int64_t i) { return i >= 0 && i < xs.n ? xs.at[i] : NULL; }

/* ---- may a range become a VALID? ---- */

typedef struct todo { const un_uop *node; bool inside; } todo;
typedef struct search {
  const un_uop *range;
  bool nomem;
  un__ptrmap seen[2];                                        /* outside and inside addresses */
  UN__VEC(todo) todo;
} search;

static bool lets_valid_out(un__op op) {
  return op == UN__OP_ADD || op == UN__OP_SUB || op == UN__OP_MUL || op == UN__OP_FLOORDIV || op == UN__OP_FLOORMOD ||
         op == UN__OP_MAX || op == UN__OP_MIN;
}

static bool visit(search *s, const un_uop *n, bool inside) {
  if (!un__depends_on(n, s->range)) return true;
  bool added;
  s->nomem = !un__ptrmap_put(&s->seen[inside], n, &added) || (added && !un__vec_push(&s->todo, ((todo){n, inside})));
  return !s->nomem;
}

/* One node that depends on the range; false: the range cannot become a VALID. */
static bool enter(search *s, const un_uop *n, bool inside) {
  if (n == s->range) return inside;
  if (inside && !lets_valid_out((un__op)n->op)) return false;
  if (un__is(n, UN__OP_INDEX) && un__dt_is_ptr(n->dtype)) {
    for (uint32_t i = 0; i < n->nsrc; i++)
      if (i != 1 && un__depends_on(n->src[i], s->range)) return false;
    return visit(s, n->src[1], true);
  }
  for (uint32_t i = 0; i < n->nsrc; i++)
    if (!visit(s, n->src[i], inside)) return false;
  return true;
}

bool un__pred_addresses_only(un__rw *rw, const un_uop *x, const un_uop *r) {
  search s = {.range = r};
  un__ptrmap_init(&s.seen[0]);
  un__ptrmap_init(&s.seen[1]);
  bool ok = visit(&s, x, false);
  while (ok && s.todo.n) {
    todo t = un__vec_pop(&s.todo);
    ok = enter(&s, t.node, t.inside);
  }
  un__ptrmap_finish(&s.seen[0]);
  un__ptrmap_finish(&s.seen[1]);
  un__vec_finish(&s.todo);
  if (s.nomem) un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "simplify: no memory");
  return ok;
}
