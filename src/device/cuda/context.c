/* context.c - the context of a device: opened, entered, lost and opened again. */
#include <unistd.h>

#include "cuda.h"

/* A process has one primary context a device. Resetting it, which is how a lost one is made to work again, ends it for
 * everybody who retained it before: they find that their `life` is over and ask nothing of the driver any more. */
enum { MAX_ORDINALS = 64 };
static pthread_mutex_t lives_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t lives[MAX_ORDINALS];

static uint64_t life_of(int ordinal) {
  pthread_mutex_lock(&lives_lock);
  uint64_t life = lives[ordinal % MAX_ORDINALS];
  pthread_mutex_unlock(&lives_lock);
  return life;
}

/* Unless somebody else was quicker. */
static void reset(un__cuda *c) {
  pthread_mutex_lock(&lives_lock);
  uint64_t *life = &lives[c->ordinal % MAX_ORDINALS];
  if (*life == c->life) {
    ++*life;
    if (c->context) c->cu->context_release(c->device);
    c->cu->context_reset(c->device);
  }
  pthread_mutex_unlock(&lives_lock);
}

/* ---- entering ---- */

static bool is_alive(const un__cuda *c) { return !atomic_load(&c->lost) && c->life == life_of(c->ordinal) && c->process == getpid(); }

un_status un__cuda_alive(const un__cuda *c, un__err *err) {
  const char *name = NULL;
  if (is_alive(c)) return UN_OK;
  if (c->process != getpid())
    return un__fail(err, UN_ERR_DEVICE, "%s: the device was opened before fork(), and CUDA works in the parent only", c->base.name);
  cu_result r = atomic_load(&c->lost);
  if (!r || c->cu->error_name(r, &name) || !name) name = "it was reset";
  return un__fail(err, UN_ERR_DEVICE, "%s: the device's context is lost (%s): open a new device", c->base.name, name);
}

un_status un__cuda_check(un__cuda *c, cu_result r, const char *what, un__err *err) {
  if (!r) return UN_OK;
  if (un__cu_is_sticky(r)) atomic_store(&c->lost, r);
  return un__cu_fail(c->cu, r, c->base.name, what, err);
}

un_status un__cuda_enter(un__cuda *c, un__err *err) {
  UN__TRY(un__cuda_alive(c, err));
  return un__cuda_check(c, c->cu->context_push(c->context), "entering the context", err);
}

void un__cuda_leave(un__cuda *c) {
  cu_context before;
  c->cu->context_pop(&before);
}

/* ---- opening and closing ---- */

static cu_result retain(un__cuda *c) {
  c->life = life_of(c->ordinal);
  c->context = NULL;
  cu_result r = c->cu->context_retain(&c->context, c->device);
  if (r) return r;
  r = c->cu->context_push(c->context);
  if (!r) {
    r = c->cu->stream_create(&c->stream, CU_STREAM_NON_BLOCKING);
    un__cuda_leave(c);
  }
  if (r && !un__cu_is_sticky(r)) c->cu->context_release(c->device);
  return r;
}

/* What driver 580 does: a reset succeeds, and what is opened after it has the old fault. */
static const char no_other_context[] =
  "a kernel of this process faulted, and the driver gives it no context any more: start the program again";

un_status un__cuda_context_open(un__cuda *c, un__err *err) {
  c->process = getpid();
  cu_result r = retain(c);
  if (r && un__cu_is_sticky(r)) {
    reset(c);
    r = retain(c);
    if (r && un__cu_is_sticky(r) && c->context) c->cu->context_release(c->device);
  }
  return r ? un__cu_fail_for_good(c->cu, r, c->base.name, "opening the device", no_other_context, err) : UN_OK;
}

void un__cuda_context_close(un__cuda *c) {
  if (c->process != getpid()) return;
  if (is_alive(c) && !c->cu->context_push(c->context)) {
    c->cu->stream_destroy(c->stream);
    un__cuda_leave(c);
    c->cu->context_release(c->device);
  } else {
    reset(c);
  }
}
