#include "search.h"

#include <math.h>
#include <stdlib.h>

#include "base/ptrmap.h"
#include "kernel.h"
#include "moves.h"

/* How much faster a level must be than the one before for the next to be tried, and a plan than the heuristics' to be preferred. */
static const double worth_a_level = 0.99, worth_a_change = 0.97;

typedef struct entry { un__opt_candidate c; double seconds; uint32_t number; } entry;
typedef UN__VEC(un__opt_candidate) candidates;

typedef struct search {
  un__graph *ws;
  const un_uop *body;
  const un__target *t;
  uint32_t licences;
  const un__opt_search_options *options;
  const un__opt_judge *judge;
  un__err *err;
  int64_t next_id;           /* of the body */
  un__ptrmap seen;           /* kernels that were candidates: equal kernels are one node */
  entry best;
  uint32_t judged, allowed;
} search;

static un_status nomem(search *s) { return un__fail(s->err, UN_ERR_NOMEM, "optimise: no memory to search"); }

/* A step that is not legal is no failure of the workspace. */
static un_status excuse(search *s) {
  if (un__graph_status(s->ws) == UN_ERR_NOMEM) return nomem(s);
  un__err_clear(un__graph_err(s->ws));
  return UN_OK;
}

/* ---- candidates ---- */

static un_status add_plan(search *s, const un__opt_plan *plan, candidates *out) {
  bool added;
  const un_uop *k = un__opt_apply(s->ws, s->body, plan, s->t, s->licences);
  if (!k) return excuse(s);
  if (!un__ptrmap_put(&s->seen, k, &added)) return nomem(s);
  if (added && !un__vec_push(out, ((un__opt_candidate){*plan, k}))) return nomem(s);
  return UN_OK;
}

static un_status add_longer(search *s, const un__opt_plan *plan, candidates *out) {
  un__opt_steps steps = {0};
  if (plan->n == UN__OPT_MAX_STEPS) return UN_OK;
  const un_uop *k = un__opt_take(s->ws, s->body, plan, s->t, s->licences);
  if (!k) return excuse(s);
  un_status status = un__opt_moves(k, s->t, s->licences, &steps, s->err);
  for (size_t i = 0; status == UN_OK && i < steps.n; i++) {
    un__opt_plan longer = *plan;
    longer.step[longer.n++] = steps.at[i];
    status = add_plan(s, &longer, out);
  }
  un__vec_finish(&steps);
  return status;
}

static un_status add_varied(search *s, const un__opt_plan *plan, candidates *out) {
  un__opt_plan other;
  bool differs;
  for (uint32_t step = 0; step < plan->n; step++)
    for (uint32_t i = 0; un__opt_vary(plan, step, i, s->next_id, &other, &differs); i++)
      if (differs) UN__TRY(add_plan(s, &other, out));
  return UN_OK;
}

/* ---- levels ---- */

static int faster_first(const void *a, const void *b) {
  const entry *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds < y->seconds ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

static un_status judge_all(search *s, const un__opt_candidate *c, uint32_t n, entry *out) {
  double *seconds = un__alloc((n ? n : 1) * sizeof *seconds);
  if (!seconds) return nomem(s);
  un_status status = s->judge->time(s->judge->data, c, n, seconds);
  for (uint32_t i = 0; status == UN_OK && i < n; i++) out[i] = (entry){c[i], seconds[i], i};
  un__free(seconds);
  return status == UN_OK ? UN_OK : un__fail(s->err, status, "optimise: candidates cannot be judged");
}

/* The fastest right ones, into beam; how many. What is slower than the last of them is not looked at. */
static uint32_t select_right(search *s, entry *all, uint32_t n, entry *beam) {
  uint32_t kept = 0;
  qsort(all, n, sizeof *all, faster_first);
  for (uint32_t i = 0; i < n && kept < s->options->width && isfinite(all[i].seconds); i++)
    if (s->judge->is_right(s->judge->data, all[i].number)) beam[kept++] = all[i];
  return kept;
}

/* beam, of *n plans: the next level takes its place. */
static un_status take_level(search *s, entry *beam, uint32_t *n) {
  candidates list = {0};
  un_status status = UN_OK;
  for (uint32_t i = 0; status == UN_OK && i < *n; i++) {
    status = add_varied(s, &beam[i].c.plan, &list);
    if (status == UN_OK) status = add_longer(s, &beam[i].c.plan, &list);
  }
  if (list.n > s->allowed - s->judged) list.n = s->allowed - s->judged;
  entry *all = un__alloc((list.n + 1) * sizeof *all);
  if (status == UN_OK && !all) status = nomem(s);
  if (status == UN_OK) status = judge_all(s, list.at, (uint32_t)list.n, all);
  if (status == UN_OK) {
    s->judged += (uint32_t)list.n;
    *n = select_right(s, all, (uint32_t)list.n, beam);
  }
  un__free(all);
  un__vec_finish(&list);
  return status;
}

static bool is_over(const search *s) {
  return s->judged >= s->allowed || (s->judge->is_late && s->judge->is_late(s->judge->data));
}

/* Level by level from one plan, as long as levels get better. */
static un_status climb(search *s, const entry *start) {
  entry *beam = un__alloc(s->options->width * sizeof *beam);
  if (!beam) return nomem(s);
  uint32_t n = 1;
  double last = start->seconds;
  un_status status = UN_OK;
  beam[0] = *start;
  while (!is_over(s)) {
    status = take_level(s, beam, &n);
    if (status != UN_OK || !n) break;
    if (beam[0].seconds < s->best.seconds) s->best = beam[0];
    bool better = beam[0].seconds < last * worth_a_level;
    last = beam[0].seconds;
    if (!better) break;
  }
  un__free(beam);
  return status;
}

/* ---- the whole ---- */

static un_status describe(search *s) {
  un__opt_kernel k;
  UN__TRY(un__opt_kernel_of(&k, s->body, s->t, s->err));
  s->next_id = k.next_id;
  bool planned = false;
  for (uint32_t i = 0; i < k.naxes; i++) planned |= k.axis[i].type != UN__AXIS_LOOP && k.axis[i].type != UN__AXIS_REDUCE;
  un__opt_kernel_finish(&k);
  return planned ? un__fail(s->err, UN_ERR_UNSUPPORTED, "optimise: the kernel's ranges have AxisTypes already") : UN_OK;
}

/* The heuristics' plan and, where it is another one, the empty plan. */
static un_status starts_of(search *s, candidates *out) {
  un__opt_plan plan;
  un_status status = un__opt_heuristic(s->body, s->t, s->licences, &plan, NULL);
  if (status != UN_OK) return un__fail(s->err, status, "optimise: no heuristics' plan");
  UN__TRY(add_plan(s, &plan, out));
  if (!out->n) return un__fail(s->err, UN_ERR_UNSUPPORTED, "optimise: the heuristics' plan is not legal");
  return add_plan(s, &(un__opt_plan){0}, out);
}

enum { ROUNDS = 3 };

/* Some times more beside each other: the fastest of many is often only the luckiest. */
static un_status decide(search *s, const entry *heuristic, un__opt_found *out) {
  un__opt_candidate two[2] = {heuristic->c, s->best.c};
  entry again[2];
  double best[2] = {(double)INFINITY, (double)INFINITY};
  *out = (un__opt_found){heuristic->c.plan, heuristic->seconds, heuristic->seconds, s->judged};
  if (s->best.c.kernel == heuristic->c.kernel) return UN_OK;
  for (int round = 0; round < ROUNDS; round++) {
    UN__TRY(judge_all(s, two, 2, again));
    for (int i = 0; i < 2; i++) best[i] = again[i].seconds < best[i] ? again[i].seconds : best[i];
  }
  if (isfinite(best[0])) out->seconds = out->heuristic_seconds = best[0];
  if (best[1] >= out->heuristic_seconds * worth_a_change || !s->judge->is_right(s->judge->data, 1)) return UN_OK;
  out->plan = s->best.c.plan;
  out->seconds = best[1];
  return UN_OK;
}

static un_status run(search *s, un__opt_found *out) {
  candidates starts = {0};
  entry start[2];
  UN__TRY(describe(s));
  un_status status = starts_of(s, &starts);
  if (status == UN_OK) status = judge_all(s, starts.at, (uint32_t)starts.n, start);
  if (status == UN_OK && (!isfinite(start[0].seconds) || !s->judge->is_right(s->judge->data, 0)))
    status = un__fail(s->err, UN_ERR_UNSUPPORTED, "optimise: what the heuristics make of the kernel cannot be run, or is not right");
  if (status == UN_OK) s->best = start[0];
  /* Half of the candidates for each start; what the first leaves is the second's. */
  for (uint32_t i = 0; status == UN_OK && i < starts.n; i++) {
    s->allowed = s->options->candidates / (i + 1 < starts.n ? 2 : 1);
    status = climb(s, &start[i]);
  }
  if (status == UN_OK) status = decide(s, &start[0], out);
  un__vec_finish(&starts);
  return status;
}

un_status un__opt_search(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences,
                         const un__opt_search_options *options, const un__opt_judge *judge, un__opt_found *out, un__err *err) {
  un__err local = {0};
  search s = {.ws = ws, .body = kernel, .t = t, .licences = licences, .options = options, .judge = judge, .err = &local};
  *out = (un__opt_found){0};
  un__ptrmap_init(&s.seen);
  un_status status = run(&s, out);
  un__ptrmap_finish(&s.seen);
  return status == UN_OK ? UN_OK : un__fail(err, status, "%s", local.text);
}
