/* cuda.c - the device "cuda": its life, its clock, and its table of calls. */
#include "cuda.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "compile.h"

static un_status sync(un__device *d, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  UN__TRY(un__cuda_enter(c, err));
  un_status status = un__cuda_check(c, c->cu->stream_sync(c->stream), "running kernels", err);
  un__cuda_leave(c);
  return status;
}

static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  *out = NULL;
  return un__cuda_assembly(a, d->target, un__cuda_of(d)->cu->version, out, err);
}

/* ---- time ---- */

struct un__timer { cu_event from, to; };

static void free_timer(un__cuda *c, un__timer *t) {
  if (t->from) c->cu->event_destroy(t->from);
  if (t->to) c->cu->event_destroy(t->to);
  un__free(t);
}

static un_status start_events(un__cuda *c, un__timer *t, un__err *err) {
  UN__TRY(un__cuda_check(c, c->cu->event_create(&t->from, 0), "making an event", err));
  UN__TRY(un__cuda_check(c, c->cu->event_create(&t->to, 0), "making an event", err));
  return un__cuda_check(c, c->cu->event_record(t->from, c->stream), "recording an event", err);
}

static un_status timer_start(un__device *d, un__timer **out, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  *out = NULL;
  UN__TRY(un__cuda_enter(c, err));
  un__timer *t = un__calloc(1, sizeof *t);
  un_status status = t ? start_events(c, t, err) : un__fail(err, UN_ERR_NOMEM, "no memory for a timer");
  if (status == UN_OK) *out = t;
  else if (t) free_timer(c, t);
  un__cuda_leave(c);
  return status;
}

static un_status stop_events(un__cuda *c, un__timer *t, double *out_seconds, un__err *err) {
  float ms = 0;
  UN__TRY(un__cuda_check(c, c->cu->event_record(t->to, c->stream), "recording an event", err));
  UN__TRY(un__cuda_check(c, c->cu->event_sync(t->to), "running kernels", err));
  UN__TRY(un__cuda_check(c, c->cu->event_elapsed(&ms, t->from, t->to), "reading an event", err));
  *out_seconds = ms * 1e-3;
  return UN_OK;
}

static un_status timer_stop(un__device *d, un__timer *t, double *out_seconds, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  *out_seconds = 0;
  un_status status = un__cuda_enter(c, err);
  if (status != UN_OK) return un__free(t), status;     /* its events went with the context */
  status = stop_events(c, t, out_seconds, err);
  free_timer(c, t);
  un__cuda_leave(c);
  return status;
}

/* ---- life ---- */

static void destroy(un__device *d) {
  un__cuda *c = un__cuda_of(d);
  sync(d, NULL);
  un__cuda_heap_finish(c);
  un__cuda_staging_finish(c);
  un__cuda_context_close(c);
  un__free(c);
}

static const un__device_vtable vtable = {
  .kind = "cuda", .compile = un__cuda_compile, .code_release = un__cuda_code_release, .identity = un__cuda_identity,
  .facts = un__cuda_code_facts, .disassemble = disassemble,
  .alloc = un__cuda_alloc, .wrap = un__cuda_wrap, .free = un__cuda_free,
  .write = un__cuda_write, .read = un__cuda_read, .copy = un__cuda_copy,
  .launch = un__cuda_launch, .sync = sync, .timer_start = timer_start, .timer_stop = timer_stop,
  .record = un__cuda_record, .update = un__cuda_update, .replay = un__cuda_replay, .recording_release = un__cuda_recording_release,
  .destroy = destroy,
};

static un_status open_parts(un__cuda *c, un__err *err) {
  UN__TRY(un__cuda_read_target(c, err));
  UN__TRY(un__cuda_heap_init(c, err));
  un_status status = un__cuda_context_open(c, err);
  if (status == UN_OK) un__cuda_staging_init(c);
  else pthread_mutex_destroy(&c->heap.lock);
  return status;
}

static un_status open_ordinal(int ordinal, un__device **out, un__err *err) {
  const un__cu_driver *cu;
  cu_device device;
  UN__TRY(un__cu_driver_get(&cu, err));
  UN__TRY(un__cuda_find(cu, ordinal, &device, err));
  un__cuda *c = un__calloc(1, sizeof *c);
  if (!c) return un__fail(err, UN_ERR_NOMEM, "no memory for a device");
  c->base.vt = &vtable;
  c->cu = cu;
  c->ordinal = ordinal;
  c->device = device;
  snprintf(c->base.name, sizeof c->base.name, "cuda:%d", ordinal);
  un_status status = open_parts(c, err);
  if (status == UN_OK) *out = &c->base;
  else un__free(c);
  return status;
}

/* -1: not a number. */
static int ordinal_of(const char *which) {
  int n = 0;
  if (!*which || (*which == '0' && which[1])) return -1;
  for (; *which >= '0' && *which <= '9'; which++) n = n < INT_MAX / 20 ? n * 10 + (*which - '0') : n;
  return *which ? -1 : n;
}

un_status un__cuda_open(const char *which, un__device **out, un__err *err) {
  *out = NULL;
  int ordinal = ordinal_of(which);
  if (ordinal >= 0) return open_ordinal(ordinal, out, err);
  const un__target *t = un__target_by_name(which);
  if (t && t->gpu.arch) return un__cuda_open_offline(t, out, err);
  char known[128] = "";
  for (size_t i = 0; (t = un__target_gpu(i)); i++) {
    strncat(known, ", ", sizeof known - strlen(known) - 1);
    strncat(known, t->gpu.arch, sizeof known - strlen(known) - 1);
  }
  return un__fail(err, UN_ERR_DEVICE, "cuda: no device \"%s\": expected a number%s", which, known);
}
