/* fuse.c - decides for every planned tensor, users first, whether one kernel can compute it in place.
 *
 * A reduction S may be computed in place when one kernel reads it, under one index tuple, and no value is computed twice:
 * the tuple runs over at most as many points as S has elements, and it depends either on all output ranges, or on a
 * set of them that can be the outer part of the nest, so that S is computed once per point of that part. The sets of
 * one kernel must contain each other. It is not done when it would leave threads idle, or when it would pin the loops
 * of a reduction that is better tiled. A reduction to one point that is cut into parts leaves none idle: every task
 * combines the parts for itself.
 */
#include "fuse.h"

#include <string.h>

#include "finish.h"

typedef struct fuser {
  un__rf_builder *b;
  const un__rf_plan *plan;
  un__rf_cutter cutter;
  un__rf_jobs *jobs;
  uint32_t *reader;             /* by position: number of the only job that reads it; UN__RF_NONE, UN__RF_MANY */
  uint32_t *leaf;               /* and its leaf number there */
} fuser;

static un_status no_memory(fuser *f) {
  return un__fail(un__graph_err(f->b->g), UN_ERR_NOMEM, "rangeify: out of memory");
}

static un_status failed(fuser *f) { return un__graph_status(f->b->g); }

/* Records that a job reads its leaves. */
static void note_readers(fuser *f, uint32_t job) {
  const un__rf_job *j = &f->jobs->at[job];
  for (uint32_t k = 0; k < j->leaves.n; k++) {
    uint32_t at = j->leaves.at[k];
    if (!j->nest->use[k].element) continue;
    if (f->reader[at] == UN__RF_NONE) {
      f->reader[at] = job;
      f->leaf[at] = k;
    } else if (f->reader[at] != job) {
      f->reader[at] = UN__RF_MANY;
    }
  }
}

static uint32_t all_of(const un__rf_nest *n) { return (1u << n->nout) - 1; }

/* The reductions of the nest leave `set` free to be the outer part. */
static bool fits_nest(const un__rf_nest *n, uint32_t set, bool small) {
  if (set == all_of(n)) return true;
  if (n->crossed) return false;
  for (uint32_t i = 0; i < n->nsets; i++) {
    uint32_t both = n->set[i] & set;
    if (both != set && both != n->set[i]) return false;
    /* A reduction over more loops than these would no longer be free to be tiled. */
    if (both != n->set[i] && !small) return false;
  }
  return true;
}

/* `own` is the nest that would store S on its own. */
static bool in_place_pays(const fuser *f, const un__rf_job *j, uint32_t leaf, const un__rf_nest *own) {
  const un__rangeify_options *opt = f->b->opt;
  const un__rf_use *use = &j->nest->use[leaf];
  bool inner;
  if (use->many || !use->element) return false;
  const un__rangeset *ranges = use->element->ranges;
  uint32_t set = un__rf_outer_set(ranges, &inner);
  if (inner && set != all_of(j->nest)) return false;
  if (un__rf_extent(ranges->range, ranges->n) > un__rf_numel(own->shape)) return false;
  if (j->leaves.n + own->nuse > UN__RF_KERNEL_LEAVES) return false;
  bool small = own->work < opt->min_parallel_work && j->nest->work < opt->min_parallel_work;
  bool pointwise = set == all_of(j->nest) && !inner;
  bool once = own->nreduce == 1 && un__rf_is_cut(opt, own->reduce);
  if (!small && !pointwise && !once && un__rf_extent_of_set(j->nest, set) < opt->threads) return false;
  return fits_nest(j->nest, set, small);
}

static un_status compute_in_place(fuser *f, uint32_t job, uint32_t leaf, uint32_t root) {
  un__rf_job *j = &f->jobs->at[job];
  const un_uop *cone = un__rf_cut(&f->cutter, root, &j->leaves);
  un__rf_nest *n = un__rf_nest_in_place(f->b, j->nest, leaf, cone, (uint32_t)j->leaves.n);
  if (!n) return failed(f);
  j->nest = n;
  note_readers(f, job);
  return UN_OK;
}

static un_status decide(fuser *f, uint32_t root, bool wanted) {
  uint32_t reader = f->reader[root];
  if (!wanted && reader == UN__RF_NONE) return UN_OK;
  un__rf_job own = {.root = root, .kept = wanted || reader == UN__RF_MANY};
  const un_uop *cone = un__rf_cut(&f->cutter, root, &own.leaves);
  own.nest = un__rf_nest_open(f->b, cone, (uint32_t)own.leaves.n);
  if (!own.nest) {
    un__vec_finish(&own.leaves);
    return failed(f);
  }
  if (f->plan->fact[root].keep == UN__RF_OPTIONAL && reader != UN__RF_MANY &&
      in_place_pays(f, &f->jobs->at[reader], f->leaf[root], own.nest)) {
    un__vec_finish(&own.leaves);
    return compute_in_place(f, reader, f->leaf[root], root);
  }
  if (!un__vec_push(f->jobs, own)) {
    un__vec_finish(&own.leaves);
    return no_memory(f);
  }
  note_readers(f, (uint32_t)f->jobs->n - 1);
  return UN_OK;
}

static un_status decide_all(fuser *f) {
  const un__rf_plan *p = f->plan;
  bool *wanted = un__arena_alloc(p->arena, p->n * sizeof *wanted);
  f->reader = un__arena_alloc(p->arena, p->n * sizeof *f->reader);
  f->leaf = un__arena_alloc(p->arena, p->n * sizeof *f->leaf);
  if (!wanted || !f->reader || !f->leaf) return no_memory(f);
  memset(wanted, 0, p->n * sizeof *wanted);
  memset(f->reader, 0xff, p->n * sizeof *f->reader);
  for (uint32_t i = 0; i < p->nresults; i++) wanted[p->result[i]] = true;
  for (uint32_t i = p->n; i-- > 0;) {
    if (p->fact[i].keep == UN__RF_PLAIN || p->fact[i].node->op == UN__OP_BUFFER) continue;
    if (un__rf_numel(p->fact[i].node->shape) == 0) continue;
    UN__TRY(decide(f, i, wanted[i]));
  }
  return UN_OK;
}

un_status un__rf_fuse(un__rf_builder *b, const un__rf_plan *p, un__rf_jobs *out) {
  fuser f = {.b = b, .plan = p, .jobs = out};
  UN__TRY(un__rf_cutter_init(&f.cutter, p));
  un_status st = decide_all(&f);
  un__rf_cutter_finish(&f.cutter);
  return st;
}

void un__rf_jobs_finish(un__rf_jobs *jobs) {
  for (size_t i = 0; i < jobs->n; i++) un__vec_finish(&jobs->at[i].leaves);
  un__vec_finish(jobs);
}
