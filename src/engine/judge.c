#include "judge.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/jobs.h"
#include "codegen/codegen.h"
#include "opt/work.h"

/* One candidate. */
typedef struct judged {
  un__code *code;                /* NULL: it does not compile */
  double parallel;               /* scalar operations at a time: threads, and what each has side by side */
} judged;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_late(void *data) { return now() > ((un__judge *)data)->deadline; }

/* ---- compiling ---- */

/* Values that a thread has side by side, in lanes and in registers: at most this many. */
static double copies_of(const un_uop *kernel) {
  size_t n;
  double copies = 1;
  const un_uop **order = un__toposort(kernel, &n);
  for (size_t i = 0; order && i < n; i++) {
    bool expands = un__is(order[i], UN__OP_RANGE) && (un__range_axis(order[i]) == UN__AXIS_UPCAST || un__range_axis(order[i]) == UN__AXIS_UNROLL);
    if (expands) copies *= (double)un__known_size(order[i]->src[0]);
  }
  un__free(order);
  return copies;
}

static void compile_one(un__judge *j, const un_uop *kernel, judged *out, un__graph *ws, un__err *err) {
  const un__target *t = j->device->target;
  const un_uop *own = un__copy(ws, kernel), *linear = own ? un__lower(ws, own, t, j->licences) : NULL;
  un__strbuf text;
  un__format format;
  un__sb_init(&text);
  if (linear && un__render(linear, j->device, &format, &text, err) == UN_OK) {
    un__artifact a = un__artifact_of(linear, format, &text);
    int64_t tasks = a.tasks.code[0].arg;
    out->parallel = copies_of(kernel) * (double)(t->gpu.arch ? tasks * a.group : tasks < t->threads ? tasks : t->threads);
    if (j->device->vt->compile(j->device, &a, &out->code, err) != UN_OK) out->code = NULL;
  }
  un__sb_finish(&text);
}

typedef struct workshop { un__judge *j; const un__opt_candidate *at; } workshop;

/* A candidate that does not compile is no failure; only the lack of memory is. */
static bool compile_job(void *data, size_t i) {
  const workshop *w = data;
  if (is_late(w->j)) return true;
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  if (ws) compile_one(w->j, w->at[i].kernel, &w->j->judged[i], ws, &err);
  un__workspace_destroy(ws);
  return err.status != UN_ERR_NOMEM;
}

static void forget_candidates(un__judge *j) {
  for (uint32_t i = 0; i < j->n; i++)
    if (j->judged[i].code) j->device->vt->code_release(j->device, j->judged[i].code);
  un__free(j->judged);
  j->judged = NULL;
  j->n = 0;
}

/* ---- timing ---- */

/* Nothing stops a kernel once it runs, so one that would take far longer than the best is not begun. */
static bool is_hopeless(const un__judge *j, const judged *c) {
  static const double operation = 1e-9, patience = 30, always = 0.02, at_first = 1;
  double expected = c->parallel > 0 ? j->operations / c->parallel * operation : 0;
  double limit = isfinite(j->best) ? j->best * patience : at_first;
  return expected > (limit > always ? limit : always);
}

static un_status time_one(un__judge *j, judged *c, double *out) {
  un__err err = {0};
  *out = (double)INFINITY;
  if (!c->code || is_hopeless(j, c) || is_late(j)) return UN_OK;
  un_status status = un__trial_time(&j->trial, c->code, 3 * j->best, out, &err);
  if (status == UN_ERR_NOMEM || status == UN_ERR_DEVICE) return status;       /* a GPU that faulted runs nothing any more */
  if (status != UN_OK) *out = (double)INFINITY;
  if (*out < j->best) j->best = *out;
  return UN_OK;
}

static un_status time_all(void *data, const un__opt_candidate *c, uint32_t n, double *out_seconds) {
  un__judge *j = data;
  forget_candidates(j);
  j->judged = un__calloc(n ? n : 1, sizeof *j->judged);
  if (!j->judged) return UN_ERR_NOMEM;
  j->n = n;
  if (un__run_jobs(un__target_host()->threads, n, compile_job, &(workshop){j, c}) < n) return UN_ERR_NOMEM;
  for (uint32_t i = 0; i < n; i++) UN__TRY(time_one(j, &j->judged[i], &out_seconds[i]));
  return UN_OK;
}

/* ---- comparing ---- */

static const char *results_of(const un__judge *j, uint32_t slot, const char *all) {
  for (uint32_t i = 0; i < slot; i++)
    if (j->trial.arg[i].is_written) all += j->trial.arg[i].bytes;
  return all;
}

static bool meets_samples(const un__judge *j, const char *results) {
  for (size_t i = 0; i < j->samples.n; i++) {
    const un__isample *s = &j->samples.at[i];
    const char *at = results_of(j, s->arg, results) + (size_t)s->at * un__dt_info(s->value.dtype)->size;
    if (!un__values_agree(s->value, un__value_load(s->value.dtype, at), s->bound)) return false;
  }
  return true;
}

static bool agrees(const un__judge *j, uint32_t slot) {
  const un__trial_arg *a = &j->trial.arg[slot];
  const char *want = results_of(j, slot, j->want), *have = results_of(j, slot, j->have);
  size_t size = un__dt_info(a->dtype)->size;
  if (memcmp(want, have, a->bytes) == 0) return true;
  for (int64_t i = 0; i < a->n; i++) {
    const char *x = want + (size_t)i * size, *y = have + (size_t)i * size;
    if (memcmp(x, y, size) != 0 && !un__values_agree(un__value_load(a->dtype, x), un__value_load(a->dtype, y), j->slack[slot])) return false;
  }
  return true;
}

static bool agrees_everywhere(const un__judge *j) {
  for (uint32_t i = 0; i < j->trial.nargs; i++)
    if (j->trial.arg[i].is_written && !agrees(j, i)) return false;
  return true;
}

static bool is_right(void *data, uint32_t i) {
  un__judge *j = data;
  un__err err = {0};
  if (i >= j->n || !j->judged[i].code) return false;
  if (un__trial_run(&j->trial, j->judged[i].code, j->have, &err) != UN_OK || !meets_samples(j, j->have)) return false;
  if (j->want) return agrees_everywhere(j);
  size_t bytes = un__trial_result_bytes(&j->trial);
  j->want = un__alloc(bytes ? bytes : 1);
  if (j->want) memcpy(j->want, j->have, bytes);
  return j->want != NULL;
}

/* ---- life ---- */

enum { SAMPLES = 24, STEPS = 2000000 };

static un_status take_samples(un__judge *j, un__err *err) {
  const un__trial *t = &j->trial;
  void **data = un__alloc((t->nargs ? t->nargs : 1) * sizeof *data);
  int64_t *sizes = un__alloc((t->nargs ? t->nargs : 1) * sizeof *sizes);
  for (uint32_t i = 0; data && sizes && i < t->nargs; i++) data[i] = t->arg[i].data, sizes[i] = t->arg[i].n;
  un_status status = data && sizes ? UN_OK : UN_ERR_NOMEM;
  un__err why = {0};
  if (status == UN_OK) status = un__interp_samples(j->body, data, sizes, t->nargs, SAMPLES, STEPS, &j->samples, &why);
  un__free(data);
  un__free(sizes);
  return status == UN_OK || status == UN_ERR_UNSUPPORTED ? UN_OK : un__fail(err, status, "a kernel has no samples: %s", why.text);
}

/* An argument of which nothing is known, or one sample may be anything, must be the same to the bit. */
static void set_slack(un__judge *j) {
  for (size_t i = 0; i < j->samples.n; i++) {
    const un__isample *s = &j->samples.at[i];
    if (2 * s->bound > j->slack[s->arg]) j->slack[s->arg] = 2 * s->bound;
  }
  for (uint32_t i = 0; i < j->trial.nargs; i++)
    if (!isfinite(j->slack[i])) j->slack[i] = 0;
}

un_status un__judge_init(un__judge *out, un__device *d, const un_uop *body, uint32_t licences, un__err *err) {
  *out = (un__judge){.device = d, .body = body, .licences = licences, .deadline = now() + UN__SEARCH_SECONDS, .best = (double)INFINITY};
  un__opt_work work;
  UN__TRY(un__opt_work_of(body, d->target, &work, err));
  out->operations = (double)work.operations;
  UN__TRY(un__trial_init(&out->trial, d, body, err));
  if (un__trial_updates(&out->trial)) return un__fail(err, UN_ERR_UNSUPPORTED, "the kernel reads what it writes");
  size_t bytes = un__trial_result_bytes(&out->trial);
  out->have = un__alloc(bytes ? bytes : 1);
  out->slack = un__calloc(out->trial.nargs ? out->trial.nargs : 1, sizeof *out->slack);
  if (!out->have || !out->slack) return un__fail(err, UN_ERR_NOMEM, "no memory to judge a kernel");
  UN__TRY(take_samples(out, err));
  set_slack(out);
  return UN_OK;
}

void un__judge_finish(un__judge *j) {
  forget_candidates(j);
  un__trial_finish(&j->trial);
  un__vec_finish(&j->samples);
  un__free(j->slack);
  un__free(j->want);
  un__free(j->have);
}

un__opt_judge un__judge_callbacks(un__judge *j) { return (un__opt_judge){j, time_all, is_right, is_late}; }
