#include "cone.h"

#include <string.h>

un_status un__rf_cutter_init(un__rf_cutter *c, const un__rf_plan *p) {
  *c = (un__rf_cutter){.plan = p};
  c->made = un__arena_alloc(p->arena, p->n * sizeof *c->made);
  c->round = un__arena_alloc(p->arena, p->n * sizeof *c->round);
  if (!c->made || !c->round) return un__fail(un__graph_err(p->g), UN_ERR_NOMEM, "rangeify: out of memory");
  memset(c->round, 0, p->n * sizeof *c->round);
  return UN_OK;
}

void un__rf_cutter_finish(un__rf_cutter *c) { un__vec_finish(&c->stack); }

static bool done(const un__rf_cutter *c, uint32_t i) { return c->round[i] == c->now; }

static void set(un__rf_cutter *c, uint32_t i, const un_uop *to) {
  c->made[i] = to;
  c->round[i] = c->now;
}

static const un_uop *leaf(un__rf_cutter *c, uint32_t i, un__rf_positions *leaves) {
  const un_uop *n = c->plan->fact[i].node;
  uint32_t slot = 0;
  while (slot < leaves->n && leaves->at[slot] != i) slot++;
  if (slot == leaves->n && !un__vec_push(leaves, i)) {
    un__fail(un__graph_err(c->plan->g), UN_ERR_NOMEM, "rangeify: out of memory");
    return NULL;
  }
  int64_t attrs[] = {slot, 0};
  return un__uop(c->plan->g, UN__OP_BUFFER, n->dtype, n->shape->dim, n->shape->rank, attrs, 2);
}

static const un_uop *rebuild(un__rf_cutter *c, const un_uop *n) {
  const un_uop *few[8], **src = few;
  if (n->nsrc > 8 && !(src = un__alloc(n->nsrc * sizeof *src))) {
    un__fail(un__graph_err(c->plan->g), UN_ERR_NOMEM, "rangeify: out of memory");
    return NULL;
  }
  for (uint32_t k = 0; k < n->nsrc; k++) src[k] = c->made[un__rf_position(c->plan, n->src[k])];
  const un_uop *to = un__with_src(c->plan->g, n, src);
  if (src != few) un__free(src);
  return to;
}

/* Pushes the sources that are still to do, so that the first in visiting order is popped first. False: none. */
static bool push_sources(un__rf_cutter *c, const un_uop *n, bool *failed) {
  bool pushed = false;
  bool swap = un__has_flag(n, UN__F_COMM) &&
              un__rf_fact_of(c->plan, n->src[0])->hash > un__rf_fact_of(c->plan, n->src[1])->hash;
  for (uint32_t k = n->nsrc; k-- > 0;) {
    uint32_t at = un__rf_position(c->plan, n->src[swap ? 1 - k : k]);
    if (done(c, at)) continue;
    if (!un__vec_push(&c->stack, at)) *failed = true;
    pushed = true;
  }
  return pushed;
}

const un_uop *un__rf_cut(un__rf_cutter *c, uint32_t root, un__rf_positions *leaves) {
  bool failed = false;
  c->now++;
  c->stack.n = 0;
  failed = !un__vec_push(&c->stack, root);
  while (!failed && c->stack.n) {
    uint32_t i = c->stack.at[c->stack.n - 1];
    const un__rf_fact *f = &c->plan->fact[i];
    if (done(c, i)) {
      c->stack.n--;
    } else if (i != root && un__rf_is_leaf(f)) {
      set(c, i, leaf(c, i, leaves));
    } else if (!push_sources(c, f->node, &failed)) {
      set(c, i, rebuild(c, f->node));
    }
  }
  if (failed) un__fail(un__graph_err(c->plan->g), UN_ERR_NOMEM, "rangeify: out of memory");
  return failed ? NULL : c->made[root];
}
