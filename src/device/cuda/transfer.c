/* transfer.c - between the host's memory and the device's, in chunks through pinned memory; and within the device. */
#include <string.h>

#include "base/mem.h"
#include "cuda.h"

enum { CHUNK = 4 << 20 };

static const unsigned no_timing = 2;      /* CU_EVENT_DISABLE_TIMING */

void un__cuda_staging_init(un__cuda *c) { pthread_mutex_init(&c->staging.lock, NULL); }

static void free_slot(un__cuda *c, un__cuda_slot *s, bool entered) {
  if (s->at && !s->pinned) un__free(s->at);
  else if (s->at && entered) c->cu->host_free(s->at);
  if (s->done && entered) c->cu->event_destroy(s->done);
}

void un__cuda_staging_finish(un__cuda *c) {
  bool entered = un__cuda_enter(c, NULL) == UN_OK;
  for (int i = 0; i < UN__CUDA_SLOTS; i++) free_slot(c, &c->staging.slot[i], entered);
  if (entered) un__cuda_leave(c);
  pthread_mutex_destroy(&c->staging.lock);
}

static un_status need_slot(un__cuda *c, un__cuda_slot *s, un__err *err) {
  if (!s->done) UN__TRY(un__cuda_check(c, c->cu->event_create(&s->done, no_timing), "making an event", err));
  if (s->at) return UN_OK;
  s->pinned = c->cu->host_alloc(&s->at, CHUNK, 0) == 0;
  if (!s->pinned) s->at = un__alloc(CHUNK);     /* slower, and right */
  return s->at ? UN_OK : un__fail(err, UN_ERR_NOMEM, "%s: no memory for a transfer", c->base.name);
}

static un_status wait_for(un__cuda *c, un__cuda_slot *s, un__err *err) {
  if (!s->busy) return UN_OK;
  s->busy = false;
  return un__cuda_check(c, c->cu->event_sync(s->done), "running kernels", err);
}

static un_status mark(un__cuda *c, un__cuda_slot *s, un__err *err) {
  UN__TRY(un__cuda_check(c, c->cu->event_record(s->done, c->stream), "recording an event", err));
  s->busy = true;
  return UN_OK;
}

static un__cuda_slot *next_slot(un__cuda *c) { return &c->staging.slot[c->staging.next++ % UN__CUDA_SLOTS]; }

/* Returns when the host's bytes have been taken, which is before they have arrived. */
static un_status send(un__cuda *c, cu_ptr to, const char *from, size_t size, un__err *err) {
  for (size_t sent = 0; sent < size;) {
    size_t n = size - sent < CHUNK ? size - sent : CHUNK;
    un__cuda_slot *s = next_slot(c);
    UN__TRY(need_slot(c, s, err));
    UN__TRY(wait_for(c, s, err));
    memcpy(s->at, from + sent, n);
    UN__TRY(un__cuda_check(c, c->cu->copy_to_device(to + sent, s->at, n, c->stream), "copying to the device", err));
    UN__TRY(mark(c, s, err));
    sent += n;
  }
  return UN_OK;
}

typedef struct coming { un__cuda_slot *slot; size_t n; } coming;

static un_status ask(un__cuda *c, cu_ptr from, size_t n, coming *out, un__err *err) {
  *out = (coming){next_slot(c), n};
  UN__TRY(need_slot(c, out->slot, err));
  UN__TRY(wait_for(c, out->slot, err));
  UN__TRY(un__cuda_check(c, c->cu->copy_to_host(out->slot->at, from, n, c->stream), "copying to the host", err));
  return mark(c, out->slot, err);
}

/* One chunk is on the way while the one before is copied out. */
static un_status receive(un__cuda *c, char *to, cu_ptr from, size_t size, un__err *err) {
  coming way[UN__CUDA_SLOTS];
  size_t asked = 0, got = 0;
  for (unsigned first = 0, last = 0; got < size; first++) {
    for (; asked < size && last - first < UN__CUDA_SLOTS; last++) {
      size_t n = size - asked < CHUNK ? size - asked : CHUNK;
      UN__TRY(ask(c, from + asked, n, &way[last % UN__CUDA_SLOTS], err));
      asked += n;
    }
    coming *w = &way[first % UN__CUDA_SLOTS];
    UN__TRY(wait_for(c, w->slot, err));
    memcpy(to + got, w->slot->at, w->n);
    got += w->n;
  }
  return UN_OK;
}

un_status un__cuda_write(un__device *d, un__mem *m, size_t offset, const void *src, size_t size, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  UN__TRY(un__check_span(m->size, offset, size, "write", err));
  UN__TRY(un__cuda_enter(c, err));
  pthread_mutex_lock(&c->staging.lock);
  un_status status = send(c, m->at + offset, src, size, err);
  pthread_mutex_unlock(&c->staging.lock);
  un__cuda_leave(c);
  return status;
}

un_status un__cuda_read(un__device *d, const un__mem *m, size_t offset, void *dst, size_t size, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  UN__TRY(un__check_span(m->size, offset, size, "read", err));
  UN__TRY(un__cuda_enter(c, err));
  pthread_mutex_lock(&c->staging.lock);
  un_status status = receive(c, dst, m->at + offset, size, err);
  pthread_mutex_unlock(&c->staging.lock);
  un__cuda_leave(c);
  return status;
}

un_status un__cuda_wrap(un__device *d, void *host, size_t size, un__mem **out, un__err *err) {
  UN__TRY(un__cuda_alloc(d, size, out, err));
  un_status status = un__cuda_write(d, *out, 0, host, size, err);
  if (status == UN_OK) return UN_OK;
  un__cuda_free(d, *out);
  *out = NULL;
  return status;
}

un_status un__cuda_copy(un__device *d, un__mem *dst, const un__mem *src, size_t size, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  UN__TRY(un__check_span(dst->size, 0, size, "copy", err));
  UN__TRY(un__check_span(src->size, 0, size, "copy", err));
  UN__TRY(un__cuda_enter(c, err));
  cu_result r = size && dst != src ? c->cu->copy_inside(dst->at, src->at, size, c->stream) : 0;
  un_status status = un__cuda_check(c, r, "copying on the device", err);
  un__cuda_leave(c);
  return status;
}
