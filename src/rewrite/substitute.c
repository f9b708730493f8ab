/* substitute.c - un__substitute: simultaneous replacement of nodes, the way a RANGE is split, renamed or unrolled.
 *
 * The walk is complete: a closed RANGE (below an END or REDUCE) is replaced too, so a node's set of open ranges cannot
 * prune it. Each node is visited once.
 */
#include "run.h"

static bool no_memory(un__graph *g) {
  un__fail(un__graph_err(g), UN_ERR_NOMEM, "no memory while substituting");
  return false;
}

static const un_uop *value_of(const struct un__rw_state *s, const un_uop *n) {
  const un_uop *known = un__map_get(&s->map, n);
  return known || n->nsrc ? known : n;
}

/* The top frame's sources all have values: give it its own. */
static bool close_frame(un__graph *g, struct un__rw_state *s, const un__rw_frame *f) {
  const un_uop *n = f->cur;
  if (f->changed) {
    if (!un__vec_reserve(&s->srcs, n->nsrc)) return no_memory(g);
    uint32_t i = 0;
    for (; i < un__first_source(n); i++) s->srcs.at[i] = n->src[i];
    for (; i < n->nsrc; i++) s->srcs.at[i] = value_of(s, n->src[i]);
    n = un__with_src(g, n, s->srcs.at);
    if (!n) return false;
  }
  return un__map_add(&s->map, f->cur, n) ? true : no_memory(g);
}

static bool push(un__graph *g, struct un__rw_state *s, const un_uop *n) {
  un__rw_frame f = {.cur = n, .next = un__first_source(n)};
  return un__vec_push(&s->stack, f) ? true : no_memory(g);
}

static const un_uop *walk(un__graph *g, struct un__rw_state *s, const un_uop *root) {
  const un_uop *known = value_of(s, root);
  if (known) return known;
  if (!push(g, s, root)) return NULL;
  while (s->stack.n) {
    un__rw_frame *f = &s->stack.at[s->stack.n - 1];
    const un_uop *pending = NULL;
    for (; f->next < f->cur->nsrc; f->next++) {
      const un_uop *src = f->cur->src[f->next], *value = value_of(s, src);
      if (!value) {
        pending = src;
        break;
      }
      if (value != src) f->changed = true;
    }
    if (pending) {
      if (!push(g, s, pending)) return NULL;
      continue;
    }
    if (!close_frame(g, s, f)) return NULL;
    s->stack.n--;
  }
  return value_of(s, root);
}

const un_uop *un__substitute(un__graph *g, const un_uop *root, const un_uop *const *from, const un_uop *const *to,
                             uint32_t n) {
  if (!root || un__graph_status(g) != UN_OK) return NULL;
  un__rw_cache *cache = un__rw_cache_of(g);
  struct un__rw_state *s = cache ? un__rw_state_take(cache) : NULL;
  if (!s) {
    no_memory(g);
    return NULL;
  }
  bool ok = true;
  for (uint32_t i = 0; i < n && ok; i++) {
    if (!from[i] || !to[i]) ok = false;
    else if (!un__map_get(&s->map, from[i]) && !un__map_add(&s->map, from[i], to[i])) ok = no_memory(g);
  }
  const un_uop *out = ok ? walk(g, s, root) : NULL;
  un__rw_state_give(cache, s);
  return un__graph_status(g) == UN_OK ? out : NULL;
}
