/* bundle.c - which jobs share a kernel.
 *
 * Jobs are taken in order of dependence. A job's level is one more than that of what it reads. Two kinds of job are joined:
 * those of one level, and one that reads results of a bundle element by element, where they are made, and nothing else of
 * that level. So a bundle reads only from lower levels, and whatever is joined, no circle comes about. */
#include "bundle.h"

#include <string.h>

enum { LOOK_BACK = 64 };

typedef struct bundler {
  un__rf_builder *b;
  const un__rf_plan *plan;
  const un__rf_jobs *jobs;
  un__rf_bundles *out;
  uint32_t *maker;              /* by position: number of the bundle that stores it */
  uint32_t *newest;             /* by level: newest bundle, or UN__RF_NONE */
} bundler;

static un_status no_memory(bundler *s) {
  return un__fail(un__graph_err(s->b->g), UN_ERR_NOMEM, "rangeify: out of memory");
}

static int64_t size_of(const bundler *s, uint32_t position) { return un__rf_numel(s->plan->fact[position].node->shape); }

/* Each input element is used many times: such a kernel is better tiled alone. */
static bool reuses(const bundler *s, const un__rf_job *j) {
  int64_t touched = un__rf_numel(j->nest->shape);
  for (size_t k = 0; k < j->leaves.n; k++)
    if (__builtin_add_overflow(touched, size_of(s, j->leaves.at[k]), &touched)) return false;
  return j->nest->nsets && j->nest->work / 4 > touched;
}

static bool same_sets(const un__rf_nest *a, const un__rf_nest *b) {
  if (a->nsets != b->nsets || a->crossed || b->crossed) return false;
  for (uint32_t i = 0; i < a->nsets; i++) {
    bool found = false;
    for (uint32_t k = 0; k < b->nsets; k++) found |= a->set[i] == b->set[k];
    if (!found) return false;
  }
  return true;
}

static uint32_t leaf_number(const un__rf_positions *leaves, uint32_t position) {
  uint32_t k = 0;
  while (k < leaves->n && leaves->at[k] != position) k++;
  return k;
}

/* A copy is alone: it reads what lies on another device. */
static bool same_place(const bundler *s, const un__rf_job *a, const un__rf_job *b) {
  const un__rf_fact *x = &s->plan->fact[a->root], *y = &s->plan->fact[b->root];
  return x->device == y->device && x->node->op != UN__OP_COPY && y->node->op != UN__OP_COPY;
}

/* Something as large as the result is read by both. */
static bool shares_input(const bundler *s, const un__rf_bundle *u, const un__rf_job *j) {
  int64_t size = un__rf_numel(j->nest->shape);
  for (size_t k = 0; k < j->leaves.n; k++) {
    uint32_t at = j->leaves.at[k];
    if (j->nest->use[k].element && size_of(s, at) >= size && leaf_number(&u->leaves, at) < u->leaves.n) return true;
  }
  return false;
}

static bool fits(const bundler *s, const un__rf_bundle *u, const un__rf_job *j) {
  const un__rf_job *first = &s->jobs->at[u->job[0]];
  if (first->nest->shape != j->nest->shape || u->n == UN__RF_MAX_STORES) return false;
  if (!same_place(s, first, j)) return false;
  if (!same_sets(first->nest, j->nest) || u->leaves.n + j->leaves.n > UN__RF_KERNEL_LEAVES) return false;
  return shares_input(s, u, j) && !reuses(s, first) && !reuses(s, j);
}

/* Reads its leaf number k exactly where it stores its own value. */
static bool pointwise(const un__rf_nest *n, uint32_t k) {
  const un_uop *at = n->use[k].element;
  if (n->use[k].many || !at || at->src[0]->shape != n->shape) return false;
  for (uint32_t i = 0; i < n->shape->rank; i++)
    if (at->src[1 + i] != n->index[i]) return false;
  return true;
}

static uint32_t member_that_makes(const bundler *s, const un__rf_bundle *u, uint32_t position) {
  uint32_t k = 0;
  while (s->jobs->at[u->job[k]].root != position) k++;
  return k;
}

/* The job can be computed in the loops of a bundle whose results it reads. What only it reads was made a tensor of its own
 * on purpose. */
static bool follows(const bundler *s, uint32_t number, const un__rf_job *j) {
  const un__rf_bundle *u = &s->out->at[number];
  const un__rf_job *first = &s->jobs->at[u->job[0]];
  if (first->nest->shape != j->nest->shape || u->n == UN__RF_MAX_STORES || j->nest->crossed) return false;
  if (!same_place(s, first, j)) return false;
  if (u->leaves.n + j->leaves.n > UN__RF_KERNEL_LEAVES || first->nest->crossed) return false;
  for (uint32_t k = 0; k < j->leaves.n; k++) {
    uint32_t maker = s->maker[j->leaves.at[k]];
    if (maker == UN__RF_NONE || !j->nest->use[k].element) continue;
    if (maker != number && s->out->at[maker].level >= u->level) return false;
    if (maker != number) continue;
    const un__rf_job *made_by = &s->jobs->at[u->job[member_that_makes(s, u, j->leaves.at[k])]];
    if (!made_by->kept || !pointwise(j->nest, k)) return false;
  }
  for (uint32_t i = 0; i < j->nest->nsets; i++) {
    bool known = false;
    for (uint32_t k = 0; k < first->nest->nsets; k++) known |= first->nest->set[k] == j->nest->set[i];
    if (!known) return false;
  }
  return !j->nest->nsets || (!reuses(s, first) && !reuses(s, j));
}

static un_status join(bundler *s, uint32_t number, uint32_t job) {
  un__rf_bundle *u = &s->out->at[number];
  const un__rf_job *j = &s->jobs->at[job];
  uint32_t *map = un__arena_alloc(s->b->arena, (j->leaves.n + 1) * sizeof *map);
  if (!map) return no_memory(s);
  for (size_t k = 0; k < j->leaves.n; k++) {
    if (s->maker[j->leaves.at[k]] == number) {
      map[k] = UN__RF_RESULT | member_that_makes(s, u, j->leaves.at[k]);
      continue;
    }
    map[k] = leaf_number(&u->leaves, j->leaves.at[k]);
    if (map[k] == u->leaves.n && !un__vec_push(&u->leaves, j->leaves.at[k])) return no_memory(s);
  }
  u->map[u->n] = map;
  u->job[u->n++] = job;
  s->maker[j->root] = number;
  return UN_OK;
}

static uint32_t level_of(const bundler *s, const un__rf_job *j) {
  uint32_t level = 0;
  for (size_t k = 0; k < j->leaves.n; k++) {
    uint32_t maker = s->maker[j->leaves.at[k]];
    if (maker != UN__RF_NONE && s->out->at[maker].level >= level) level = s->out->at[maker].level + 1;
  }
  return level;
}

static un_status place(bundler *s, uint32_t job) {
  const un__rf_job *j = &s->jobs->at[job];
  uint32_t level = level_of(s, j), at = s->newest[level];
  for (size_t k = 0; level && k < j->leaves.n; k++) {
    uint32_t maker = s->maker[j->leaves.at[k]];
    if (maker != UN__RF_NONE && s->out->at[maker].level == level - 1 && follows(s, maker, j)) return join(s, maker, job);
  }
  for (int seen = 0; at != UN__RF_NONE && seen < LOOK_BACK; seen++, at = s->out->at[at].next)
    if (fits(s, &s->out->at[at], j)) return join(s, at, job);
  un__rf_bundle fresh = {.level = level, .next = s->newest[level]};
  if (!un__vec_push(s->out, fresh)) return no_memory(s);
  s->newest[level] = (uint32_t)s->out->n - 1;
  return join(s, (uint32_t)s->out->n - 1, job);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

typedef struct sorter {
  bundler *s;
  uint32_t *sorted;
  bool *listed;
  uint32_t n;
  un__rf_positions stack;
} sorter;

/* The first bundle that `u` reads from and that is not listed yet. */
static uint32_t missing(const sorter *t, const un__rf_bundle *u) {
  for (size_t k = 0; k < u->leaves.n; k++) {
    uint32_t maker = t->s->maker[u->leaves.at[k]];
    if (maker != UN__RF_NONE && !t->listed[maker]) return maker;
  }
  return UN__RF_NONE;
}

/* By the position of first members, makers before readers. */
static bool sort(sorter *t) {
  for (uint32_t i = 0; i < t->s->out->n; i++) {
    if (!un__vec_push(&t->stack, i)) return false;
    while (t->stack.n) {
      uint32_t at = t->stack.at[t->stack.n - 1];
      uint32_t need = t->listed[at] ? UN__RF_NONE : missing(t, &t->s->out->at[at]);
      if (need != UN__RF_NONE) {
        if (!un__vec_push(&t->stack, need)) return false;
        continue;
      }
      t->stack.n--;
      if (!t->listed[at]) t->sorted[t->n++] = at;
      t->listed[at] = true;
    }
  }
  return true;
}

static un_status put_in_order(bundler *s) {
  size_t n = s->out->n;
  sorter t = {.s = s};
  t.sorted = un__arena_alloc(s->b->arena, (n + 1) * sizeof *t.sorted);
  t.listed = un__arena_alloc(s->b->arena, n + 1);
  un__rf_bundle *copy = un__arena_alloc(s->b->arena, (n + 1) * sizeof *copy);
  if (t.listed) memset(t.listed, 0, n + 1);
  bool ok = t.sorted && t.listed && copy && sort(&t);
  un__vec_finish(&t.stack);
  if (!ok) return no_memory(s);
  if (n) memcpy(copy, s->out->at, n * sizeof *copy);
  for (size_t i = 0; i < n; i++) s->out->at[i] = copy[t.sorted[i]];
  return UN_OK;
}

un_status un__rf_bundle_all(un__rf_builder *b, const un__rf_plan *p, const un__rf_jobs *jobs, un__rf_bundles *out) {
  bundler s = {.b = b, .plan = p, .jobs = jobs, .out = out};
  s.maker = un__arena_alloc(b->arena, (p->n + 1) * sizeof *s.maker);
  s.newest = un__arena_alloc(b->arena, (jobs->n + 2) * sizeof *s.newest);
  if (!s.maker || !s.newest) return no_memory(&s);
  memset(s.maker, 0xff, p->n * sizeof *s.maker);
  memset(s.newest, 0xff, (jobs->n + 2) * sizeof *s.newest);
  for (size_t i = jobs->n; i-- > 0;) UN__TRY(place(&s, (uint32_t)i));
  return put_in_order(&s);
}

void un__rf_bundles_finish(un__rf_bundles *all) {
  for (size_t i = 0; i < all->n; i++) un__vec_finish(&all->at[i].leaves);
  un__vec_finish(all);
}
