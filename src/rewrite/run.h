/* run.h - private to src/rewrite: the state of one run of the engine and what survives between runs.
 *
 * Node ids are dense in a workspace, so everything known about a node is an array indexed by id: no hashing. Arrays
 * are borrowed from the workspace's cache and given back empty, so a run costs what it visits, not what the workspace
 * holds; runs may nest (a rule that simplifies under a guard starts another run).
 */
#ifndef UN_REWRITE_RUN_H
#define UN_REWRITE_RUN_H

#include "rewrite.h"

/* ---- node -> node, by id ---- */

typedef struct un__node_map {
  const un_uop **at;         /* NULL: not known */
  size_t cap;
  UN__VEC(uint32_t) touched; /* ids with an entry, so that emptying is cheap */
} un__node_map;

static inline const un_uop *un__map_get(const un__node_map *m, const un_uop *n) {
  return n->id < m->cap ? m->at[n->id] : NULL;
}
/* The first entry of `n`; false when memory is short. */
bool un__map_add(un__node_map *m, const un_uop *n, const un_uop *to);
/* Changes an entry that exists. */
static inline void un__map_set(un__node_map *m, const un_uop *n, const un_uop *to) { m->at[n->id] = to; }
void un__map_clear(un__node_map *m);
void un__map_finish(un__node_map *m);

/* ---- one run ---- */

/* A node being rewritten: what it has become so far, and how far its sources are. */
typedef struct un__rw_frame {
  const un_uop *cur;
  uint32_t next;             /* first source that has no result yet */
  uint32_t trail;            /* this position's part of the trail starts here; its first entry is the original */
  uint32_t fired;            /* rules fired at this position */
  bool changed, matched;     /* a source changed; the rules have been tried on cur */
} un__rw_frame;

/* A node under way, and the rule that made it (set NULL: the original, or rebuilt from new sources). */
typedef struct un__rw_step {
  const un_uop *node;
  const un__ruleset *set;
  uint32_t rule;
} un__rw_step;

enum { UN__RW_RING = 256 };

/* Rulesets with rules for one op, in order of preference. */
typedef struct un__rw_try {
  un__match_fn match;
  const un__ruleset *set;
  uint32_t counts;           /* first counter of the set */
  uint64_t clean;            /* bit that means: no rule of this set fires; 0: none */
} un__rw_try;

typedef struct un__rw_plan {
  const un__pass *pass;
  uint32_t licences;
  uint64_t clean;            /* bit that means: the pass changes nothing here or below; 0: none */
  un__rw_try *tries;
  uint32_t start[UN__OP_COUNT + 1];   /* tries[start[op] .. start[op + 1]) */
} un__rw_plan;

struct un__rw_state {
  un__rw_plan *plan;
  struct un__rw_cache *cache;
  un__node_map map;
  UN__VEC(un__rw_frame) stack;
  UN__VEC(un__rw_step) trail;
  UN__VEC(const un_uop *) srcs;                 /* scratch of rebuild */
  const un__rw_try *now;                        /* being tried */
  uint32_t last_rule;                           /* fired last, of now->set */
  uint32_t first_new;                           /* ids from here on appeared during the run */
  uint64_t visits, originals, fired;
  bool any_disabled, watched;                   /* the environment disables rules; or it asks for anything */
  struct { const un__ruleset *set; uint32_t rule; } ring[UN__RW_RING];   /* last firings of the run */
  struct un__rw_state *next_free;
};

/* ---- what a workspace keeps between runs ---- */

typedef struct un__rw_cache {
  UN__VEC(un__rw_plan *) plans;
  struct un__rw_state *free_states;
  uint64_t *clean;           /* by id: bits of rulesets and passes, see un__rw_plan */
  size_t clean_cap;
  uint32_t depth;            /* runs under way */
  uint32_t nkeys;
  struct { const void *what; uint32_t licences; } keys[64];   /* what each bit stands for */
} un__rw_cache;

/* NULL when memory is short. */
un__rw_cache *un__rw_cache_of(un__graph *g);
un__rw_plan *un__rw_plan_of(un__rw_cache *c, const un__pass *pass, uint32_t licences);
struct un__rw_state *un__rw_state_take(un__rw_cache *c);
void un__rw_state_give(un__rw_cache *c, struct un__rw_state *s);

static inline uint64_t un__rw_clean_bits(const un__rw_cache *c, const un_uop *n) {
  return n->id < c->clean_cap ? c->clean[n->id] : 0;
}
/* Adds marks. A mark that cannot be stored for want of memory is only a lost shortcut. */
void un__rw_mark_clean(un__rw_cache *c, const un_uop *n, uint64_t bits);

/* ---- counters and environment (process-wide) ---- */

uint32_t un__rw_counts_of(const un__ruleset *set);            /* its first counter */
void un__rw_count_fired(uint32_t counter);
void un__rw_count_declined(uint32_t counter);
void un__rw_count_visits(uint64_t n);

enum { UN__TRACE_RULE = 1, UN__TRACE_STAGE = 2 };
typedef struct un__rw_env {
  uint32_t trace;
  bool any_disabled, limited;
  char *disabled;            /* as it was given; NULL: nothing */
} un__rw_env;
const un__rw_env *un__rw_env_get(void);
bool un__rw_is_disabled(const un__ruleset *set, uint32_t rule);
bool un__rw_under_limit(void);                                /* counts one firing against UNIR_RULE_LIMIT */

/* ---- messages ---- */

/* A short form of a graph for messages, at most a few levels deep: `ADD(MUL(x, 4), RANGE 2)`. */
void un__rw_describe(un__strbuf *out, const un_uop *n);
void un__rw_trace_rule(const un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to);
void un__rw_trace_stage(const un__rw *rw);
/* Record UN_ERR_FUEL. `from`: first step of the trail that belongs to a cycle that closed exactly. */
void un__rw_fail_cycle(un__rw *rw, size_t from, const un_uop *node);
void un__rw_fail_fuel(un__rw *rw, const un_uop *node);

#endif
