#include "trial.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "uop/eval.h"

/* ---- arguments ---- */

bool un__trial_means(const un__device *d) {
  bool described = d->target->gpu.arch && !d->vt->timer_start;      /* it compiles, and runs nothing */
  return !described && strcmp(d->vt->kind, "null") != 0 && strcmp(d->vt->kind, "interp") != 0;
}

static const un_uop *param_of(const un_uop *access) {
  const un_uop *to = un__is(access->src[0], UN__OP_INDEX) ? access->src[0]->src[0] : access->src[0];
  return un__is(to, UN__OP_PARAM) ? to : NULL;
}

static uint32_t count_slots(const un_uop *const *order, size_t n) {
  uint32_t slots = 0;
  for (size_t i = 0; i < n; i++)
    if (un__is(order[i], UN__OP_PARAM) && un__attr(order[i], 0) >= slots) slots = (uint32_t)un__attr(order[i], 0) + 1;
  return slots;
}

static un_status describe_arg(un__trial *t, const un_uop *param, un__err *err) {
  un__trial_arg *a = &t->arg[un__attr(param, 0)];
  a->dtype = UN__DT(un__dt_scalar(param->dtype));
  a->n = un__known_size(param->src[0]);
  if (a->n < 0 || __builtin_mul_overflow((size_t)a->n, (size_t)un__dt_info(a->dtype)->size, &a->bytes))
    return un__fail(err, UN_ERR_UNSUPPORTED, "an argument's size is not a constant");
  return UN_OK;
}

static un_status describe(un__trial *t, const un_uop *const *order, size_t n, un__err *err) {
  t->nargs = count_slots(order, n);
  t->arg = un__calloc(t->nargs ? t->nargs : 1, sizeof *t->arg);
  t->mem = un__calloc(t->nargs ? t->nargs : 1, sizeof *t->mem);
  if (!t->arg || !t->mem) return un__fail(err, UN_ERR_NOMEM, "no memory to try a kernel");
  for (size_t i = 0; i < n; i++) {
    const un_uop *x = order[i];
    if (un__is(x, UN__OP_VAR)) return un__fail(err, UN_ERR_UNSUPPORTED, "the kernel has variables");
    if (un__is(x, UN__OP_PARAM)) UN__TRY(describe_arg(t, x, err));
    bool load = un__is(x, UN__OP_LOAD), store = un__is(x, UN__OP_STORE);
    const un_uop *param = load || store ? param_of(x) : NULL;
    if (!param) continue;
    t->arg[un__attr(param, 0)].is_read |= load;
    t->arg[un__attr(param, 0)].is_written |= store;
  }
  return UN_OK;
}

/* ---- data ---- */

enum { PERIOD = 4093 };                                  /* elements; a prime, so that rows of any length differ */
static const size_t most_bytes = (size_t)2 << 30;

static un__value number(un__dtype d, uint64_t random) {
  if (un__dt_is_bool(d)) return un__value_i(d, random & 1);
  return un__dt_is_float(d) ? un__value_f(d, (double)(1 + random % 4)) : un__value_i(d, (int64_t)(random % 64));
}

static void fill(un__trial_arg *a, uint32_t slot) {
  size_t size = un__dt_info(a->dtype)->size, first = (size_t)a->n < PERIOD ? (size_t)a->n : PERIOD;
  uint64_t state = slot + 1;
  for (size_t i = 0; i < first; i++) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    un__value_store(number(a->dtype, state >> 40), (char *)a->data + i * size);
  }
  for (size_t at = first * size; at < a->bytes; at += first * size)
    memcpy((char *)a->data + at, a->data, a->bytes - at < first * size ? a->bytes - at : first * size);
}

static un_status allocate(un__trial *t, uint32_t slot, un__err *err) {
  un__trial_arg *a = &t->arg[slot];
  UN__TRY(t->device->vt->alloc(t->device, a->bytes, &a->mem, err));
  t->mem[slot] = a->mem;
  if (!a->bytes || !a->is_read) return UN_OK;
  if (!(a->data = un__alloc(a->bytes))) return un__fail(err, UN_ERR_NOMEM, "no memory to try a kernel");
  fill(a, slot);
  return t->device->vt->write(t->device, a->mem, 0, a->data, a->bytes, err);
}

un_status un__trial_init(un__trial *out, un__device *d, const un_uop *body, un__err *err) {
  *out = (un__trial){.device = d};
  if (!un__trial_means(d)) return un__fail(err, UN_ERR_UNSUPPORTED, "%s runs no machine code", d->name);
  size_t n, total = 0;
  const un_uop **order = un__toposort(body, &n);
  un_status status = order ? describe(out, order, n, err) : un__fail(err, UN_ERR_NOMEM, "no memory to try a kernel");
  un__free(order);
  UN__TRY(status);
  for (uint32_t i = 0; i < out->nargs; i++)
    if (__builtin_add_overflow(total, out->arg[i].bytes, &total) || total > most_bytes)
      return un__fail(err, UN_ERR_UNSUPPORTED, "its arguments are more than %zu MiB", most_bytes >> 20);
  for (uint32_t i = 0; i < out->nargs; i++) UN__TRY(allocate(out, i, err));
  return UN_OK;
}

void un__trial_finish(un__trial *t) {
  for (uint32_t i = 0; t->arg && i < t->nargs; i++) {
    if (t->arg[i].mem) t->device->vt->free(t->device, t->arg[i].mem);
    un__free(t->arg[i].data);
  }
  un__free(t->arg);
  un__free(t->mem);
  *t = (un__trial){.device = t->device};
}

/* ---- time ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* By the device's clock: the mean of launches behind each other. */
static un_status timed(const un__trial *t, un__code *code, uint32_t times, double *out, un__err *err) {
  un__device *d = t->device;
  un__timer *timer;
  un_status status = d->vt->timer_start(d, &timer, err);
  if (status != UN_OK) return status;
  for (uint32_t i = 0; i < times && status == UN_OK; i++) status = d->vt->launch(d, code, t->mem, NULL, err);
  un_status stopped = d->vt->timer_stop(d, timer, out, err);
  *out /= times;
  return status != UN_OK ? status : stopped;
}

/* By the processor's: the fastest launch, since what else runs there only ever adds to one. */
static un_status clocked(const un__trial *t, un__code *code, uint32_t times, double *out, un__err *err) {
  for (uint32_t i = 0; i < times; i++) {
    double start = now();
    UN__TRY(t->device->vt->launch(t->device, code, t->mem, NULL, err));
    double seconds = now() - start;
    if (i == 0 || seconds < *out) *out = seconds;
  }
  return UN_OK;
}

static un_status sample(const un__trial *t, un__code *code, uint32_t times, double *out, un__err *err) {
  return (t->device->vt->timer_start ? timed : clocked)(t, code, times, out, err);
}

static int smaller_first(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

enum { SAMPLES = 7, FEW = 3, MOST_LAUNCHES = 64 };
static const double sample_seconds = 4e-3, long_seconds = 0.02;

/* The first launch meets cold caches and fresh pages; the second says how many are worth a sample. */
un_status un__trial_time(const un__trial *t, un__code *code, double enough, double *out_seconds, un__err *err) {
  double first, s[SAMPLES];
  UN__TRY(sample(t, code, 1, &first, err));
  if (first < 10 * enough) UN__TRY(sample(t, code, 1, out_seconds, err));
  else *out_seconds = first;
  if (*out_seconds > enough) return UN_OK;
  double fit = *out_seconds > 0 ? sample_seconds / *out_seconds : MOST_LAUNCHES;
  uint32_t times = fit >= MOST_LAUNCHES ? MOST_LAUNCHES : fit > 1 ? (uint32_t)fit : 1;
  int n = *out_seconds > long_seconds ? FEW : SAMPLES;
  for (int i = 0; i < n; i++) UN__TRY(sample(t, code, times, &s[i], err));
  qsort(s, (size_t)n, sizeof *s, smaller_first);
  *out_seconds = s[n / 2];
  return UN_OK;
}

/* ---- results ---- */

static bool is_result(const un__trial_arg *a) { return a->is_written; }

size_t un__trial_result_bytes(const un__trial *t) {
  size_t n = 0;
  for (uint32_t i = 0; i < t->nargs; i++)
    if (is_result(&t->arg[i])) n += t->arg[i].bytes;
  return n;
}

bool un__trial_updates(const un__trial *t) {
  for (uint32_t i = 0; i < t->nargs; i++)
    if (t->arg[i].is_read && t->arg[i].is_written) return true;
  return false;
}

enum { UNWRITTEN = 0xa7 };

un_status un__trial_run(const un__trial *t, un__code *code, void *out, un__err *err) {
  un__device *d = t->device;
  memset(out, UNWRITTEN, un__trial_result_bytes(t));
  char *at = out;
  for (uint32_t i = 0; i < t->nargs; i++) {
    if (!is_result(&t->arg[i])) continue;
    UN__TRY(d->vt->write(d, t->arg[i].mem, 0, at, t->arg[i].bytes, err));
    at += t->arg[i].bytes;
  }
  UN__TRY(d->vt->launch(d, code, t->mem, NULL, err));
  UN__TRY(d->vt->sync(d, err));
  at = out;
  for (uint32_t i = 0; i < t->nargs; i++) {
    if (!is_result(&t->arg[i])) continue;
    UN__TRY(d->vt->read(d, t->arg[i].mem, 0, at, t->arg[i].bytes, err));
    at += t->arg[i].bytes;
  }
  return UN_OK;
}
