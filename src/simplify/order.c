/* order.c - the order of links in chains of sums, products and conditions.
 *
 * It looks at structure and at the order of range ids, never at hashes: renumbering the ranges of a kernel in their
 * order leaves every chain in order. Terms that need the outer loops only come first, so that their sum can be
 * computed outside; the parts of one dividend (x, x//c, (x//p)%a, x%a) stand side by side, higher digits first, where
 * recombine finds them. */
#include "simplify.h"

/* The innermost range (highest id) that a node depends on, -1: none. */
static int64_t innermost(const un_uop *n) {
  const un__rangeset *r = n->ranges;
  return r && r->n ? un__range_id(r->range[r->n - 1]) : -1;
}

static int compare_i64(int64_t a, int64_t b) { return a < b ? -1 : a > b; }

static bool by_constant(const un_uop *n, un__op op) { return un__is(n, op) && n->kop[1] == UN__OP_CONST; }

/* What a term is a part of, and where in it: `at` is the divisor, whole numbers (x itself) come before all parts. */
typedef struct part { const un_uop *root; int64_t at; } part;

static part part_of(const un_uop *base) {
  part p = {base, INT64_MAX};
  if (by_constant(p.root, UN__OP_FLOORMOD)) p = (part){p.root->src[0], 1};
  if (by_constant(p.root, UN__OP_FLOORDIV)) p = (part){p.root->src[0], un__const_int(p.root->src[1])};
  return p;
}

static int compare_terms(const un_uop *a, const un_uop *b) {
  if (by_constant(a, UN__OP_MUL)) a = a->src[0];
  if (by_constant(b, UN__OP_MUL)) b = b->src[0];
  int c = compare_i64(innermost(a), innermost(b));
  if (c) return c;
  part pa = part_of(a), pb = part_of(b);
  c = un__structural_compare(pa.root, pb.root);
  if (c) return c;
  c = compare_i64(pb.at, pa.at);
  return c ? c : un__structural_compare(a, b);
}

static int compare_factors(const un_uop *a, const un_uop *b) {
  int c = compare_i64(innermost(a), innermost(b));
  return c ? c : un__structural_compare(a, b);
}

/* The expression that a comparison with a constant is about. */
static const un_uop *subject(const un_uop *n) {
  if (!un__has_flag(n, UN__F_CMP)) return n;
  if (n->kop[1] == UN__OP_CONST) return n->src[0];
  return n->kop[0] == UN__OP_CONST ? n->src[1] : n;
}

static int compare_conditions(const un_uop *a, const un_uop *b) {
  int c = compare_i64(innermost(a), innermost(b));
  if (!c) c = un__structural_compare(subject(a), subject(b));
  return c ? c : un__structural_compare(a, b);
}

bool un__pred_is_link(un__rw *rw, un__op o, const un_uop *z) { return !un__is_const(z) && !un__is(z, o); }

bool un__pred_after(un__rw *rw, un__op o, const un_uop *y, const un_uop *z) {
  if (!un__pred_is_link(rw, o, y) || !un__pred_is_link(rw, o, z)) return false;
  if (o == UN__OP_ADD) return compare_terms(y, z) > 0;
  if (o == UN__OP_MUL) return compare_factors(y, z) > 0;
  return compare_conditions(y, z) > 0;
}
