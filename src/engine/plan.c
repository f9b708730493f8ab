/* plan.c - schedules that are ready to run, and the caches of plans and kernels.
 *
 * A plan is found by the structural key of its tensor graph, so a graph seen before is neither scheduled nor compiled
 * again. Beyond a limit, the plan not used for longest is dropped; a kernel lives as long as a plan uses it. */
#include "engine_parts.h"

#include <string.h>

#include "base/jobs.h"
#include "rewrite/run.h"

enum { MAX_PLANS = 1024 };

static bool key_of(const un_uop *root, int device, uint32_t licences, un__key *out) {
  un__key k;
  uint64_t salt = (uint64_t)device << 32 | licences;
  if (!un__structural_key(root, &k)) return false;
  *out = (un__key){un__hash_mix(k.lo, salt), un__hash_mix(k.hi, salt)};
  return true;
}

static bool same_key(un__key a, un__key b) { return a.lo == b.lo && a.hi == b.hi; }
static bool kernel_eq(const void *key, const void *item) { return same_key(*(const un__key *)key, ((const un__kernel *)item)->key); }
static bool plan_eq(const void *key, const void *item) { return same_key(*(const un__key *)key, ((const un__plan *)item)->key); }

/* ---- kernels ---- */

static void free_kernel(un__engine *e, un__kernel *k) {
  if (!k) return;
  un__device *d = e->device[k->device];
  if (k->code) d->vt->code_release(d, k->code);
  un__free(k);
}

/* One use more or less; the last one takes the kernel out of the cache. Returns what is to be freed, if anything. */
static un__kernel *unuse_kernel(un__engine *e, un__kernel *k) {
  if (!k || --k->users) return NULL;
  un__intern_remove(&e->kernels, k->key.lo, k);
  return k;
}

static void drop_kernel(un__engine *e, un__kernel *k) {
  pthread_mutex_lock(&e->lock);
  un__kernel *dead = unuse_kernel(e, k);
  pthread_mutex_unlock(&e->lock);
  free_kernel(e, dead);
}

static un__kernel *use_cached_kernel(un__engine *e, un__key key) {
  pthread_mutex_lock(&e->lock);
  un__kernel *k = un__intern_find(&e->kernels, key.lo, kernel_eq, &key);
  if (k) {
    k->users++;
    e->stats.artifact_hits++;
  }
  pthread_mutex_unlock(&e->lock);
  return k;
}

/* Puts a new kernel into the cache, used once; if another thread was quicker, its kernel is used instead. */
static un__kernel *publish_kernel(un__engine *e, un__kernel *fresh, un__err *err) {
  pthread_mutex_lock(&e->lock);
  un__kernel *k = un__intern_find(&e->kernels, fresh->key.lo, kernel_eq, &fresh->key);
  if (!k && un__intern_add(&e->kernels, fresh->key.lo, fresh)) k = fresh;
  if (k) k->users++;
  if (k == fresh) ++*(k->from_disk ? &e->stats.disk_hits : &e->stats.kernels_compiled);
  pthread_mutex_unlock(&e->lock);
  if (k != fresh) free_kernel(e, fresh);
  if (!k) un__fail(err, UN_ERR_NOMEM, "no memory for the kernel cache");
  return k;
}

/* ---- compiling what is missing, on several threads ---- */

typedef struct job { const un_uop *body; un__kernel *kernel; un__err err; } job;
typedef UN__VEC(job) jobs;

typedef struct workshop { un__engine *e; job *at; uint32_t licences; } workshop;

static bool compile_job(void *data, size_t i) {
  const workshop *w = data;
  job *j = &w->at[i];
  return un__compile_kernel(w->e, j->body, j->kernel->device, w->licences, j->kernel, &j->err) == UN_OK;
}

/* The number of the first that failed; list->n: none. */
static size_t compile_all(un__engine *e, jobs *list, int device, uint32_t licences) {
  const un__target *t = e->device[device]->target;
  uint32_t threads = t->gpu.arch ? un__target_host()->threads : t->threads;     /* compilers run on the processor */
  if (un__rw_env_get()->limited) threads = 1;   /* which firing is the last one must not depend on a race */
  if (e->search.width) threads = 1;             /* kernels are timed, and compiled on several threads by the search */
  return un__run_jobs(threads, list->n, compile_job, &(workshop){e, list->at, licences});
}

/* ---- building a plan ---- */

typedef struct builder {
  un__engine *e;
  un__plan *plan;
  const un_uop *schedule;
  uint32_t licences;
  un__ptrmap kernels[UN__MAX_DEVICES];     /* body -> un__kernel: distinct bodies of a device, each with one use for the builder */
  jobs missing;
  un__err *err;
} builder;

static un_status nomem(builder *b) { return un__fail(b->err, UN_ERR_NOMEM, "no memory for a schedule"); }

static int device_of(const un_uop *buffer) { return (int)un__attr(buffer, 1); }

/* Whether a kernel stores each element that it reads where it was: argument 1 in argument 0, of as many elements. */
static bool is_copy(const un_uop *body) {
  const un_uop *store = body->nsrc == 1 ? body->src[0] : body;
  if (un__is(store, UN__OP_END)) store = store->src[0];
  if (!un__is(store, UN__OP_STORE) || !un__is(store->src[1], UN__OP_LOAD)) return false;
  const un_uop *to = store->src[0], *from = store->src[1]->src[0];
  if (!un__is(to, UN__OP_INDEX) || !un__is(from, UN__OP_INDEX) || to->nsrc != 2 || from->nsrc != 2) return false;
  const un_uop *p = to->src[0], *q = from->src[0];
  bool params = un__is(p, UN__OP_PARAM) && un__is(q, UN__OP_PARAM) && un__attr(p, 0) == 0 && un__attr(q, 0) == 1;
  return params && to->src[1] == from->src[1] && p->src[0] == q->src[0] && p->dtype == q->dtype;
}

/* Who stores on one device what it reads on another. */
static bool is_transfer(const un_uop *kernel) {
  return kernel->nsrc == 3 && device_of(kernel->src[1]) != device_of(kernel->src[2]) && is_copy(kernel->src[0]);
}

static un_status check_open(builder *b, const un_uop *kernel, int open) {
  for (uint32_t k = 1; k < kernel->nsrc; k++)
    if (device_of(kernel->src[k]) < 0 || device_of(kernel->src[k]) >= open)
      return un__fail(b->err, UN_ERR_DEVICE, "a tensor is on device %d: expected one of the %d that are open, counted from 0",
                      device_of(kernel->src[k]), open);
  return UN_OK;
}

/* Kernels have their arguments on one device. */
static un_status check_one_device(builder *b, const un_uop *kernel) {
  int want = device_of(kernel->src[1]);
  for (uint32_t k = 2; k < kernel->nsrc; k++)
    if (device_of(kernel->src[k]) != want && !is_transfer(kernel))
      return un__fail(b->err, UN_ERR_DEVICE, "what is computed on %s needs a tensor on %s: expected all on one device, to which un_to copies",
                      b->e->device[want]->name, b->e->device[device_of(kernel->src[k])]->name);
  return UN_OK;
}

static un_status check_devices(builder *b) {
  pthread_mutex_lock(&b->e->lock);
  int open = b->e->ndevices;
  pthread_mutex_unlock(&b->e->lock);
  un__plan *p = b->plan;
  p->home = b->schedule->nsrc ? device_of(b->schedule->src[0]->src[1]) : p->device;
  for (uint32_t i = 0; i < b->schedule->nsrc; i++) {
    const un_uop *kernel = b->schedule->src[i];
    UN__TRY(check_open(b, kernel, open));
    UN__TRY(check_one_device(b, kernel));
    p->spread |= device_of(kernel->src[1]) != p->home || is_transfer(kernel);
  }
  return UN_OK;
}

/* Finds the kernel of every distinct body, or makes a job of it. */
static un_status collect_kernels(builder *b) {
  for (uint32_t i = 0; i < b->schedule->nsrc; i++) {
    const un_uop *body = b->schedule->src[i]->src[0];
    int device = device_of(b->schedule->src[i]->src[1]);
    if (is_transfer(b->schedule->src[i])) continue;
    bool added;
    uintptr_t *place = un__ptrmap_put(&b->kernels[device], body, &added);
    if (!place) return nomem(b);
    if (!added) continue;
    un__key key;
    if (!key_of(body, device, b->licences, &key)) return nomem(b);
    un__kernel *k = use_cached_kernel(b->e, key);
    *place = (uintptr_t)k;
    if (k) continue;
    k = un__calloc(1, sizeof *k);
    if (!k || !un__vec_push(&b->missing, ((job){.body = body, .kernel = k, .err.log = b->err->log}))) {
      un__free(k);
      return nomem(b);
    }
    k->key = key;
    k->device = device;
  }
  return UN_OK;
}

static un_status compile_missing(builder *b) {
  size_t failed = compile_all(b->e, &b->missing, b->plan->device, b->licences);
  for (size_t i = 0; i < b->missing.n; i++) {
    job *j = &b->missing.at[i];
    if (i < failed && b->err->status == UN_OK) {
      uintptr_t *place = un__ptrmap_get(&b->kernels[j->kernel->device], j->body);      /* the kernel may be freed for an equal one */
      *place = (uintptr_t)publish_kernel(b->e, j->kernel, b->err);
    } else {
      if (i == failed) un__err_copy(b->err, &j->err);
      free_kernel(b->e, j->kernel);
    }
  }
  b->missing.n = 0;
  return b->err->status;
}

static uint32_t count_args(const un_uop *schedule) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < schedule->nsrc; i++) n += schedule->src[i]->nsrc - 1;
  return n;
}

static uint32_t count_slots(const builder *b) {
  uint32_t n = b->plan->ninputs;
  for (uint32_t i = 0; i < b->plan->nresults; i++)
    if (b->plan->result_slot[i] >= n) n = (uint32_t)b->plan->result_slot[i] + 1;
  for (uint32_t i = 0; i < b->schedule->nsrc; i++)
    for (uint32_t k = 1; k < b->schedule->src[i]->nsrc; k++) {
      uint32_t slot = (uint32_t)un__attr(b->schedule->src[i]->src[k], 0);
      if (slot >= n) n = slot + 1;
    }
  return n;
}

static bool alloc_tables(builder *b, uint32_t nargs) {
  un__plan *p = b->plan;
  p->nsteps = b->schedule->nsrc;
  p->nslots = count_slots(b);
  p->steps = un__calloc(p->nsteps, sizeof *p->steps);
  p->args = un__calloc(nargs, sizeof *p->args);
  p->slot_bytes = un__calloc(p->nslots, sizeof *p->slot_bytes);
  p->slot_device = un__calloc(p->nslots, sizeof *p->slot_device);
  for (uint32_t i = 0; p->slot_device && i < p->nslots; i++) p->slot_device[i] = p->device;
  p->last_use = un__calloc(p->nslots, sizeof *p->last_use);
  return p->steps && p->args && p->slot_bytes && p->slot_device && p->last_use;
}

static un_status size_of_slot(builder *b, const un_uop *buffer, size_t *out) {
  int64_t n = un__shape_known_numel(buffer->shape), bytes;
  if (n < 0 || __builtin_mul_overflow(n, (int64_t)un__dt_info(buffer->dtype)->size, &bytes))
    return un__fail(b->err, UN_ERR_UNSUPPORTED, "a buffer whose size is not a constant below 2^63 bytes cannot be stored");
  *out = (size_t)bytes;
  return UN_OK;
}

static un_status fill_steps(builder *b) {
  un__plan *p = b->plan;
  uint32_t at = 0;
  for (uint32_t i = 0; i < p->nsteps; i++) {
    const un_uop *kernel = b->schedule->src[i];
    un__step *s = &p->steps[i];
    *s = (un__step){.nargs = kernel->nsrc - 1, .first_arg = at, .device = device_of(kernel->src[1])};
    p->nkernels += !is_transfer(kernel);
    if (!is_transfer(kernel)) s->kernel = (un__kernel *)*un__ptrmap_get(&b->kernels[s->device], kernel->src[0]);
    for (uint32_t k = 1; k < kernel->nsrc; k++) {
      uint32_t slot = (uint32_t)un__attr(kernel->src[k], 0);
      UN__TRY(size_of_slot(b, kernel->src[k], &p->slot_bytes[slot]));
      p->slot_device[slot] = device_of(kernel->src[k]);
      p->args[at++] = slot;
      p->last_use[slot] = i;
    }
    if (s->kernel && s->kernel->nargs > s->nargs)
      return un__fail(b->err, UN_ERR_INTERNAL, "kernel takes %u arguments and is given %u", s->kernel->nargs, s->nargs);
  }
  for (uint32_t i = 0; i < p->ninputs && i < p->nslots; i++) p->last_use[i] = UINT32_MAX;
  for (uint32_t i = 0; i < p->nresults; i++) p->last_use[p->result_slot[i]] = UINT32_MAX;
  return UN_OK;
}

/* Each step holds a use of its kernel; the builder's own uses (one a distinct body) are then given back. */
static void settle_uses(builder *b, bool keep) {
  pthread_mutex_lock(&b->e->lock);
  for (uint32_t i = 0; keep && i < b->plan->nsteps; i++)
    if (b->plan->steps[i].kernel) b->plan->steps[i].kernel->users++;
  pthread_mutex_unlock(&b->e->lock);
  for (uint32_t i = 0; i < b->schedule->nsrc; i++) {
    const un_uop *kernel = b->schedule->src[i];
    int device = device_of(kernel->src[1]);
    bool known = device >= 0 && device < UN__MAX_DEVICES;
    uintptr_t *place = known ? un__ptrmap_get(&b->kernels[device], kernel->src[0]) : NULL;
    if (!place || !*place) continue;
    drop_kernel(b->e, (un__kernel *)*place);
    *place = 0;
  }
}

static void free_plan_tables(un__plan *p) {
  un__free(p->steps);
  un__free(p->args);
  un__free(p->slot_bytes);
  un__free(p->slot_device);
  un__free(p->last_use);
  un__free(p->result_slot);
  un__free(p);
}

static un_status build_plan(un__engine *e, un__graph *ws, const un_uop *root, uint32_t licences, un__plan *p, un__err *err) {
  const un__target *t = e->device[p->device]->target;
  p->result_slot = un__calloc(p->nresults, sizeof *p->result_slot);
  builder b = {.e = e, .plan = p, .licences = licences, .err = err};
  if (!p->result_slot) return nomem(&b);
  b.schedule = un__schedule(ws, root, p->ninputs, p->device, t, licences, p->result_slot);
  if (!b.schedule) un__crash_file(root, UN__STAGE_TENSOR, un__graph_err(ws));
  if (!b.schedule) return un__graph_status(ws);
  un_status status = check_devices(&b);
  if (status == UN_OK) status = collect_kernels(&b);
  if (status == UN_OK) status = compile_missing(&b);
  for (size_t i = 0; i < b.missing.n; i++) free_kernel(e, b.missing.at[i].kernel);
  if (status == UN_OK && !alloc_tables(&b, count_args(b.schedule))) status = nomem(&b);
  if (status == UN_OK) status = fill_steps(&b);
  settle_uses(&b, status == UN_OK);
  if (status != UN_OK) p->nsteps = 0;
  un__vec_finish(&b.missing);
  for (int i = 0; i < UN__MAX_DEVICES; i++) un__ptrmap_finish(&b.kernels[i]);
  return status;
}

/* ---- the cache of plans ---- */

static void free_plan(un__engine *e, un__plan *p) {
  for (uint32_t i = 0; i < p->nsteps; i++) drop_kernel(e, p->steps[i].kernel);
  free_plan_tables(p);
}

/* The list of cached plans, in the order of use. */
static void list_add(un__engine *e, un__plan *p) {
  p->newer = NULL;
  p->older = e->newest;
  if (e->newest) e->newest->newer = p;
  else e->oldest = p;
  e->newest = p;
}

static void list_remove(un__engine *e, un__plan *p) {
  if (p->older) p->older->newer = p->newer;
  else e->oldest = p->newer;
  if (p->newer) p->newer->older = p->older;
  else e->newest = p->older;
}

static un__plan *use_cached_plan(un__engine *e, un__key key) {
  pthread_mutex_lock(&e->lock);
  un__plan *p = un__intern_find(&e->plans, key.lo, plan_eq, &key);
  if (p) {
    p->users++;
    list_remove(e, p);
    list_add(e, p);
    e->stats.schedule_hits++;
  } else e->stats.schedule_misses++;
  pthread_mutex_unlock(&e->lock);
  return p;
}

static void unlink_plan(un__engine *e, un__plan *p) {
  un__intern_remove(&e->plans, p->key.lo, p);
  list_remove(e, p);
  e->nplans--;
}

void un__plan_put(un__engine *e, un__plan *p) {
  pthread_mutex_lock(&e->lock);
  bool dead = --p->users == 0;
  pthread_mutex_unlock(&e->lock);
  if (dead) free_plan(e, p);
}

/* Caches a new plan (users: the cache and the caller). Without memory it just runs once. */
static void cache_plan(un__engine *e, un__plan *p) {
  un__plan *evicted = NULL;
  pthread_mutex_lock(&e->lock);
  p->users = 1;
  if (un__intern_add(&e->plans, p->key.lo, p)) {
    p->users++;
    list_add(e, p);
    if (++e->nplans > MAX_PLANS) unlink_plan(e, evicted = e->oldest);
  }
  pthread_mutex_unlock(&e->lock);
  if (evicted) un__plan_put(e, evicted);
}

un_status un__plan_get(un__engine *e, un__graph *ws, const un_uop *root, uint32_t ninputs, int device, uint32_t licences,
                       un__plan **out, un__err *err) {
  un__key key;
  if (!key_of(root, device, licences, &key)) return un__fail(err, UN_ERR_NOMEM, "no memory for a schedule");
  if ((*out = use_cached_plan(e, key))) return UN_OK;
  un__plan *p = un__calloc(1, sizeof *p);
  if (!p) return un__fail(err, UN_ERR_NOMEM, "no memory for a schedule");
  p->key = key;
  p->device = device;
  p->ninputs = ninputs;
  p->nresults = root->nsrc;
  un_status status = build_plan(e, ws, root, licences, p, err);
  if (status != UN_OK) {
    free_plan_tables(p);
    return status;
  }
  cache_plan(e, p);
  *out = p;
  return UN_OK;
}

void un__plans_finish(un__engine *e) {
  while (e->oldest) {
    un__plan *p = e->oldest;
    unlink_plan(e, p);
    un__plan_put(e, p);
  }
  un__intern_finish(&e->plans);
  un__intern_finish(&e->kernels);
}
