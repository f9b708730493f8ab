/* siblings.c - reductions of one kernel that become one reduction of several values. */
#include "finish.h"

#include <string.h>

#include "online.h"
#include "passes.h"
#include "uop/combine.h"

/* ---- dependent ones: one pass instead of two ---- */

un_status un__rf_one_pass(un__rf_drafts *d, uint32_t i, bool online) {
  un__graph *g = d->b->g;
  un__rw_options o = {.licences = d->b->opt->licences};
  const un__pass *pass = online ? &un__pass_rangeify_online : &un__pass_rangeify_one_pass;
  const un_uop *value = un__graph_rewrite(g, d->at.at[i].value, pass, &o);
  if (!value) return un__graph_status(g);
  d->at.at[i].value = value;
  return UN_OK;
}

/* ---- independent ones over the same ranges ---- */

/* One value of the tuple: simple when `op` is one. */
typedef struct part {
  un__op op;
  const un_uop *x, *identity;
} part;

typedef struct tuple {
  un__graph *g;
  UN__VEC(const un_uop *) member;        /* REDUCEs over the same ranges, none inside another */
  UN__VEC(uint32_t) place;               /* of each value of each member */
  uint32_t n, most;                      /* values; room for them */
  part part[UN__MAX_COMBINE];
} tuple;

static un_status no_memory(const tuple *t) {
  return un__fail(un__graph_err(t->g), UN_ERR_NOMEM, "rangeify: out of memory");
}

/* Over the same ranges, inside the same loops. */
static bool in_one_place(const un_uop *a, const un_uop *b) { return a->ranges == b->ranges && un__same_ranges(a, b); }

static un__op op_of_value(const un_uop *reduce, uint32_t i) {
  return un__is_combined(reduce) ? un__combine_plain(reduce->src[0], i) : (un__op)un__attr(reduce, 0);
}

/* The place of value i of a member, added unless a simple one is there already; `most`: no room. */
static uint32_t place_of(tuple *t, const un_uop *reduce, uint32_t i) {
  part p = {op_of_value(reduce, i), un__reduce_element(reduce, i), un__reduce_identity(t->g, reduce, i)};
  uint32_t k = 0;
  while (k < t->n && !(p.op && t->part[k].op == p.op && t->part[k].x == p.x && t->part[k].identity == p.identity)) k++;
  if (k == t->n && t->n < t->most) t->part[t->n++] = p;
  return k;
}

/* A member joins as a whole or not at all. */
static un_status add_member(tuple *t, const un_uop *reduce) {
  uint32_t before = t->n;
  size_t places = t->place.n;
  for (uint32_t i = 0; i < un__reduce_width(reduce); i++) {
    uint32_t k = place_of(t, reduce, i);
    if (k < t->most) {
      if (!un__vec_push(&t->place, k)) return no_memory(t);
      continue;
    }
    t->n = before;
    t->place.n = places;
    return UN_OK;
  }
  return un__vec_push(&t->member, reduce) ? UN_OK : no_memory(t);
}

/* The REDUCEs over the ranges of `first`: tuples before simple ones, which may be a value of a tuple already. */
static un_status gather(tuple *t, const un_uop *const *order, size_t n, const un_uop *first) {
  t->n = 0;
  t->member.n = t->place.n = 0;
  for (int simple = 0; simple < 2; simple++)
    for (size_t i = 0; i < n; i++)
      if (order[i]->op == UN__OP_REDUCE && in_one_place(order[i], first) && un__is_combined(order[i]) == !simple)
        UN__TRY(add_member(t, order[i]));
  return UN_OK;
}

/* result[k] for the values of a member, whose places are `at`: its own body, over the tuple's placeholders. */
static bool member_results(const tuple *t, const un_uop *reduce, const uint32_t *at, const un_uop **result) {
  const un_uop *a[UN__MAX_COMBINE], *b[UN__MAX_COMBINE], *r[UN__MAX_COMBINE];
  uint32_t width = un__reduce_width(reduce);
  for (uint32_t i = 0; i < width; i++) {
    a[i] = un__arg(t->g, un__reduce_element(reduce, i)->dtype, at[i]);
    b[i] = un__arg(t->g, un__reduce_element(reduce, i)->dtype, t->n + at[i]);
    if (!a[i] || !b[i]) return false;
  }
  if (!un__is_combined(reduce)) r[0] = un__binary(t->g, (un__op)un__attr(reduce, 0), a[0], b[0]);
  else if (!un__combine_apply(t->g, reduce->src[0], a, b, r)) return false;
  for (uint32_t i = 0; i < width; i++) result[at[i]] = r[i];
  return true;
}

static const un_uop *make_tuple(const tuple *t) {
  const un_uop *result[UN__MAX_COMBINE], *x[UN__MAX_COMBINE], *identity[UN__MAX_COMBINE], *src[1 + 2 * UN__MAX_RANK];
  const un_uop *first = t->member.at[0];
  if (first->nsrc > sizeof src / sizeof *src) {
    un__fail(un__graph_err(t->g), UN_ERR_UNSUPPORTED, "rangeify: a reduction over more than %d axes", 2 * UN__MAX_RANK);
    return NULL;
  }
  const uint32_t *at = t->place.at;
  for (size_t m = 0; m < t->member.n; at += un__reduce_width(t->member.at[m++]))
    if (!member_results(t, t->member.at[m], at, result)) return NULL;
  for (uint32_t k = 0; k < t->n; k++) {
    x[k] = t->part[k].x;
    identity[k] = t->part[k].identity;
  }
  const un_uop *body = un__uop(t->g, UN__OP_TUPLE, 0, result, t->n, NULL, 0);
  memcpy(src, first->src, first->nsrc * sizeof *src);
  src[0] = body ? un__combine(t->g, body, x, identity, t->n) : NULL;
  return un__uop(t->g, UN__OP_REDUCE, 0, src, first->nsrc, (int64_t[]){UN__OP_COMBINE}, 1);
}

/* The values of the members become those of the tuple. */
static un_status replace_members(const tuple *t, un__rf_draft *draft) {
  UN__VEC(const un_uop *) from = {0}, to = {0};
  const un_uop *all = make_tuple(t);
  const uint32_t *at = t->place.at;
  bool ok = all != NULL;
  for (size_t m = 0; ok && m < t->member.n; m++)
    for (uint32_t i = 0; ok && i < un__reduce_width(t->member.at[m]); i++) {
      const un_uop *value = un__reduce_value(t->g, t->member.at[m], i);
      const un_uop *get = value ? un__get(t->g, all, value->dtype, *at++) : NULL;
      ok = get && ((un__vec_push(&from, value) && un__vec_push(&to, get)) || no_memory(t) == UN_OK);
    }
  draft->value = ok ? un__substitute(t->g, draft->value, from.at, to.at, (uint32_t)from.n) : NULL;
  un__vec_finish(&from);
  un__vec_finish(&to);
  return un__graph_status(t->g);
}

/* Fuses the first group of two or more; *out_any: there was one. */
static un_status fuse_group(tuple *t, un__rf_draft *draft, bool *out_any) {
  size_t n;
  const un_uop **order = un__toposort(draft->value, &n);
  un_status st = order ? UN_OK : no_memory(t);
  *out_any = false;
  for (size_t i = 0; st == UN_OK && !*out_any && i < n; i++) {
    if (order[i]->op != UN__OP_REDUCE) continue;
    st = gather(t, order, n, order[i]);
    *out_any = st == UN_OK && t->member.n > 1;
  }
  if (st == UN_OK && *out_any) st = replace_members(t, draft);
  un__free(order);
  return st;
}

un_status un__rf_fuse_siblings(un__rf_drafts *d, uint32_t i, uint32_t most) {
  tuple t = {.g = d->b->g, .most = most};
  un_status st = UN_OK;
  for (bool any = true; st == UN_OK && any;) st = fuse_group(&t, &d->at.at[i], &any);
  un__vec_finish(&t.member);
  un__vec_finish(&t.place);
  return st;
}
