/* cache.c - side arrays by node id, and what a workspace keeps of the engine between runs. */
#include "run.h"

#include <string.h>

/* ---- node maps ---- */

bool un__map_add(un__node_map *m, const un_uop *n, const un_uop *to) {
  if (n->id >= m->cap) {
    size_t cap = m->cap ? m->cap : 256;
    while (cap <= n->id) cap *= 2;
    const un_uop **at = un__realloc(m->at, cap * sizeof *at);
    if (!at) return false;
    memset(at + m->cap, 0, (cap - m->cap) * sizeof *at);
    m->at = at;
    m->cap = cap;
  }
  if (!un__vec_push(&m->touched, n->id)) return false;
  m->at[n->id] = to;
  return true;
}

void un__map_clear(un__node_map *m) {
  for (size_t i = 0; i < m->touched.n; i++) m->at[m->touched.at[i]] = NULL;
  m->touched.n = 0;
}

void un__map_finish(un__node_map *m) {
  un__free(m->at);
  un__vec_finish(&m->touched);
  *m = (un__node_map){0};
}

/* ---- the cache ---- */

static void free_state(struct un__rw_state *s) {
  un__map_finish(&s->map);
  un__vec_finish(&s->stack);
  un__vec_finish(&s->trail);
  un__vec_finish(&s->srcs);
  un__free(s);
}

static void cache_destroy(void *p) {
  un__rw_cache *c = p;
  for (size_t i = 0; i < c->plans.n; i++) {
    un__free(c->plans.at[i]->tries);
    un__free(c->plans.at[i]);
  }
  un__vec_finish(&c->plans);
  for (struct un__rw_state *s = c->free_states, *next; s; s = next) {
    next = s->next_free;
    free_state(s);
  }
  un__free(c->clean);
  un__free(c);
}

un__rw_cache *un__rw_cache_of(un__graph *g) {
  un__rw_cache *c = un__workspace_attached(g);
  if (c) return c;
  c = un__calloc(1, sizeof *c);
  if (c) un__workspace_attach(g, c, cache_destroy);
  return c;
}

struct un__rw_state *un__rw_state_take(un__rw_cache *c) {
  struct un__rw_state *s = c->free_states;
  if (!s) return un__calloc(1, sizeof *s);
  c->free_states = s->next_free;
  return s;
}

void un__rw_state_give(un__rw_cache *c, struct un__rw_state *s) {
  un__map_clear(&s->map);
  s->stack.n = s->trail.n = 0;
  s->visits = s->originals = s->fired = 0;
  s->next_free = c->free_states;
  c->free_states = s;
}

void un__rw_mark_clean(un__rw_cache *c, const un_uop *n, uint64_t bits) {
  if (n->id >= c->clean_cap) {
    size_t cap = c->clean_cap ? c->clean_cap : 256;
    while (cap <= n->id) cap *= 2;
    uint64_t *clean = un__realloc(c->clean, cap * sizeof *clean);
    if (!clean) return;
    memset(clean + c->clean_cap, 0, (cap - c->clean_cap) * sizeof *clean);
    c->clean = clean;
    c->clean_cap = cap;
  }
  c->clean[n->id] |= bits;
}

/* ---- plans ---- */

/* The bit for "normal form under `what`", 0 when all 64 are taken: then nothing is remembered. */
static uint64_t clean_bit(un__rw_cache *c, const void *what, uint32_t licences) {
  for (uint32_t i = 0; i < c->nkeys; i++)
    if (c->keys[i].what == what && c->keys[i].licences == licences) return UINT64_C(1) << i;
  if (c->nkeys == 64) return 0;
  c->keys[c->nkeys].what = what;
  c->keys[c->nkeys].licences = licences;
  return UINT64_C(1) << c->nkeys++;
}

static un__rw_plan *make_plan(un__rw_cache *c, const un__pass *pass, uint32_t licences) {
  uint32_t ntries = 0;
  bool pure = pass->walk != UN__WALK_ONCE;
  for (uint32_t k = 0; k < pass->nsets; k++) {
    if (pass->sets[k]->impure) pure = false;
    for (int op = 0; op < UN__OP_COUNT; op++) ntries += pass->sets[k]->match[op] != NULL;
  }
  un__rw_plan *p = un__calloc(1, sizeof *p);
  if (!p) return NULL;
  p->tries = un__calloc(ntries, sizeof *p->tries);
  if (!p->tries) {
    un__free(p);
    return NULL;
  }
  p->pass = pass;
  p->licences = licences;
  p->clean = pure ? clean_bit(c, pass, licences) : 0;
  uint32_t at = 0;
  for (int op = 0; op < UN__OP_COUNT; op++) {
    p->start[op] = at;
    for (uint32_t k = 0; k < pass->nsets; k++) {
      const un__ruleset *set = pass->sets[k];
      if (!set->match[op]) continue;
      uint64_t clean = set->impure ? 0 : clean_bit(c, set, licences);
      p->tries[at++] = (un__rw_try){set->match[op], set, un__rw_counts_of(set), clean};
    }
  }
  p->start[UN__OP_COUNT] = at;
  return p;
}

un__rw_plan *un__rw_plan_of(un__rw_cache *c, const un__pass *pass, uint32_t licences) {
  for (size_t i = 0; i < c->plans.n; i++)
    if (c->plans.at[i]->pass == pass && c->plans.at[i]->licences == licences) return c->plans.at[i];
  un__rw_plan *p = make_plan(c, pass, licences);
  if (p && !un__vec_push(&c->plans, p)) {
    un__free(p->tries);
    un__free(p);
    return NULL;
  }
  return p;
}
