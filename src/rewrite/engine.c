/* engine.c - un__graph_rewrite: walks a graph and drives a pass's rules to a fixpoint.
 *
 * One frame on an explicit stack is one position: a node of the graph, and what it has become so far (`cur`). A frame
 * ends when its value is final; the value is then recorded for every node that stood at that position, so a shared
 * node is rewritten once and a node met again costs one array load. Nodes under way are marked BUSY: meeting one from
 * below, or arriving at one by a rule, means that the rewriting runs in a circle, which is reported at once with its
 * rules.
 *
 *   post   sources, rebuild, then the rules; a result becomes the position's node and starts over
 *   pre    the rules to a fixpoint, then sources, rebuild; a rebuilt node starts over
 *   once   sources, rebuild, the rules once; the result is final and not looked at
 */
#include "run.h"

#include <string.h>

static const un_uop busy_node;
#define BUSY (&busy_node)

static bool no_memory(un__rw *rw) {
  un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "%s: no memory while rewriting", rw->state->plan->pass->name);
  return false;
}

/* The final value of a node, BUSY while it is under way, NULL when it was not met yet. Leaves without rules and nodes
 * known to be in normal form are their own value. */
static const un_uop *lookup(const struct un__rw_state *s, const un_uop *n) {
  const un__rw_plan *p = s->plan;
  if (n->nsrc == 0 && p->start[n->op] == p->start[n->op + 1]) return n;
  const un_uop *known = un__map_get(&s->map, n);
  if (known) return known;
  return un__rw_clean_bits(s->cache, n) & p->clean ? n : NULL;
}

static bool push_trail(un__rw *rw, const un_uop *n, const un__ruleset *set, uint32_t rule) {
  struct un__rw_state *s = rw->state;
  if (!un__map_add(&s->map, n, BUSY)) return no_memory(rw);
  un__rw_step step = {n, set, rule};
  return un__vec_push(&s->trail, step) ? true : no_memory(rw);
}

static bool enter(un__rw *rw, const un_uop *n) {
  struct un__rw_state *s = rw->state;
  un__rw_frame f = {.cur = n, .next = un__first_source(n), .trail = (uint32_t)s->trail.n};
  if (n->id < s->first_new) s->originals++;
  if (!push_trail(rw, n, NULL, 0)) return false;
  return un__vec_push(&s->stack, f) ? true : no_memory(rw);
}

/* Ends the top frame with the value `to`. */
static void leave(un__rw *rw, const un_uop *to) {
  struct un__rw_state *s = rw->state;
  un__rw_frame *f = &s->stack.at[s->stack.n - 1];
  for (size_t i = f->trail; i < s->trail.n; i++) un__map_set(&s->map, s->trail.at[i].node, to);
  s->trail.n = f->trail;
  if (s->plan->clean) un__rw_mark_clean(s->cache, to, s->plan->clean);
  s->stack.n--;
}

static bool cycle_at(un__rw *rw, const un_uop *n) {
  struct un__rw_state *s = rw->state;
  size_t from = s->trail.n;
  while (from > 0 && s->trail.at[from - 1].node != n) from--;
  un__rw_fail_cycle(rw, from, n);
  return false;
}

/* Tries the rules on `n` in order of preference. */
static const un_uop *match(un__rw *rw, const un_uop *n) {
  struct un__rw_state *s = rw->state;
  const un__rw_plan *p = s->plan;
  s->visits++;
  rw->root = n;
  uint64_t clean = un__rw_clean_bits(s->cache, n), before = clean;
  const un_uop *to = NULL;
  for (uint32_t i = p->start[n->op]; i < p->start[n->op + 1] && !to; i++) {
    const un__rw_try *t = &p->tries[i];
    if (clean & t->clean) continue;
    s->now = t;
    rw->set = t->set;
    to = t->match(rw, n);
    if (to == n) to = NULL;
    if (!to) clean |= t->clean;
  }
  if (clean != before) un__rw_mark_clean(s->cache, n, clean);
  return to;
}

static bool fuel_left(un__rw *rw, un__rw_frame *f) {
  struct un__rw_state *s = rw->state;
  enum { LEAST = 10000 };
  f->fired++;
  if (f->fired <= LEAST && s->fired <= LEAST + s->originals * s->plan->pass->fuel) return true;
  un__rw_fail_fuel(rw, f->cur);
  return false;
}

/* The top frame's node has become `to`: by a rule (set), or by new sources (set NULL). */
static bool become(un__rw *rw, const un_uop *to, const un__ruleset *set, uint32_t rule) {
  struct un__rw_state *s = rw->state;
  const un_uop *known = lookup(s, to);
  if (known == BUSY) {
    /* For the message: the step that closes the circle. */
    un__rw_step step = {to, set, rule};
    size_t from = s->trail.n;
    while (from > 0 && s->trail.at[from - 1].node != to) from--;
    if (!un__vec_push(&s->trail, step)) return no_memory(rw);
    un__rw_fail_cycle(rw, from, to);
    return false;
  }
  if (known) {
    leave(rw, known);
    return true;
  }
  if (!push_trail(rw, to, set, rule)) return false;
  un__rw_frame *f = &s->stack.at[s->stack.n - 1];
  f->cur = to;
  f->changed = false;
  f->matched = false;
  f->next = un__first_source(to);
  return true;
}

/* The first source of the top frame without a value, after taking note of those that have one. BUSY: a circle. */
static const un_uop *pending_source(const struct un__rw_state *s, un__rw_frame *f) {
  for (const un_uop *cur = f->cur; f->next < cur->nsrc; f->next++) {
    const un_uop *src = cur->src[f->next], *value = lookup(s, src);
    if (!value || value == BUSY) return src;
    if (value != src) f->changed = true;
  }
  return NULL;
}

static const un_uop *rebuild(un__rw *rw, const un_uop *n) {
  struct un__rw_state *s = rw->state;
  if (!un__vec_reserve(&s->srcs, n->nsrc)) {
    no_memory(rw);
    return NULL;
  }
  uint32_t i = 0;
  for (; i < un__first_source(n); i++) s->srcs.at[i] = n->src[i];
  for (; i < n->nsrc; i++) s->srcs.at[i] = lookup(s, n->src[i]);
  return un__with_src(rw->g, n, s->srcs.at);
}

/* The rules on the top frame's node; *out_fired says that the frame went on or ended. False: failed. */
static bool apply_rules(un__rw *rw, bool *out_fired) {
  struct un__rw_state *s = rw->state;
  const un_uop *to = match(rw, s->stack.at[s->stack.n - 1].cur);
  *out_fired = to != NULL;
  if (!to) return true;
  if (s->plan->pass->walk == UN__WALK_ONCE) {
    leave(rw, to);
    return true;
  }
  if (!fuel_left(rw, &s->stack.at[s->stack.n - 1])) return false;
  return become(rw, to, s->now->set, s->last_rule);
}

/* One step of the top frame. False: failed. */
static bool advance(un__rw *rw) {
  struct un__rw_state *s = rw->state;
  un__walk walk = s->plan->pass->walk;
  un__rw_frame *f = &s->stack.at[s->stack.n - 1];
  bool fired = false;
  if (walk == UN__WALK_PRE && !f->matched) {
    f->matched = true;
    if (!apply_rules(rw, &fired)) return false;
    if (fired) return true;
  }
  const un_uop *src = pending_source(s, f);
  if (src) return lookup(s, src) == BUSY ? cycle_at(rw, src) : enter(rw, src);
  if (f->changed) {
    const un_uop *n = rebuild(rw, f->cur);
    if (!n) return false;
    f->changed = false;
    if (walk == UN__WALK_ONCE) f->cur = n;   /* not recorded: the same node may stand elsewhere as an original */
    else if (n != f->cur) return become(rw, n, NULL, 0);
  }
  if (walk != UN__WALK_PRE) {
    if (!apply_rules(rw, &fired)) return false;
    if (fired) return true;
  }
  leave(rw, f->cur);
  return true;
}

static const un_uop *walk_graph(un__rw *rw, const un_uop *root) {
  struct un__rw_state *s = rw->state;
  const un_uop *known = lookup(s, root);
  if (known) return known;
  if (!enter(rw, root)) return NULL;
  while (s->stack.n)
    if (!advance(rw)) return NULL;
  return lookup(s, root);
}

const un_uop *un__graph_rewrite(un__graph *g, const un_uop *root, const un__pass *pass, const un__rw_options *opt) {
  if (!root || un__graph_status(g) != UN_OK) return NULL;
  uint32_t licences = opt ? opt->licences : UN__LIC_PRECISE;
  un__rw_cache *cache = un__rw_cache_of(g);
  un__rw_plan *plan = cache ? un__rw_plan_of(cache, pass, licences) : NULL;
  struct un__rw_state *s = plan ? un__rw_state_take(cache) : NULL;
  if (!s) {
    un__fail(un__graph_err(g), UN_ERR_NOMEM, "%s: no memory to start rewriting", pass->name);
    return NULL;
  }
  s->plan = plan;
  s->cache = cache;
  s->first_new = un__graph_id_limit(g);
  const un__rw_env *env = un__rw_env_get();
  s->any_disabled = env->any_disabled;
  s->watched = env->any_disabled || env->limited || env->trace;
  un__rw rw = {.g = g, .ctx = opt ? opt->ctx : NULL, .licences = licences, .state = s};
  cache->depth++;
  const un_uop *out = walk_graph(&rw, root);
  cache->depth--;
  un__rw_count_visits(s->visits);
  un__rw_trace_stage(&rw);
  un__rw_state_give(cache, s);
  return un__graph_status(g) == UN_OK ? out : NULL;
}

/* ---- called by generated code ---- */

bool un__rw_enabled(const un__rw *rw, uint32_t rule) {
  if (rw->set->rules[rule].licences & ~rw->licences) return false;
  return !rw->state->any_disabled || !un__rw_is_disabled(rw->set, rule);
}

uint32_t un__rewrite_depth(const un__graph *g) {
  const un__rw_cache *c = un__workspace_attached(g);
  return c ? c->depth : 0;
}

const un_uop *un__rw_fire(un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to) {
  struct un__rw_state *s = rw->state;
  uint32_t counter = s->now->counts ? s->now->counts + rule : 0;
  if (!to || to == from) {
    un__rw_count_declined(counter);
    return NULL;
  }
  if (s->watched && (un__rw_is_disabled(rw->set, rule) || !un__rw_under_limit())) return NULL;
  un__rw_count_fired(counter);
  s->ring[s->fired % UN__RW_RING].set = rw->set;
  s->ring[s->fired % UN__RW_RING].rule = rule;
  s->fired++;
  s->last_rule = rule;
  if (s->watched) un__rw_trace_rule(rw, rule, from, to);
  return to;
}
