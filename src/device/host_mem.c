#define _GNU_SOURCE
#include "host_mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "size_class.h"

enum { ALIGN = 64 };
static const size_t huge = 2u << 20, keep_limit = (size_t)256 << 20;

typedef struct kept { struct kept *next; } kept;

struct un__host_heap {
  pthread_mutex_t lock;
  kept *free[UN__SIZE_CLASSES];         /* blocks by size class */
  size_t kept_bytes;
};

static un__host_heap *heap_of(un__device *d) { return ((un__host_device *)d)->heap; }

un__host_heap *un__host_heap_create(void) {
  un__host_heap *h = un__calloc(1, sizeof *h);
  if (h) pthread_mutex_init(&h->lock, NULL);
  return h;
}

static void trim_locked(un__host_heap *h) {
  for (unsigned c = 0; c < UN__SIZE_CLASSES; c++)
    for (kept *k = h->free[c], *next; k; k = next) {
      next = k->next;
      un__free(k);
    }
  memset(h->free, 0, sizeof h->free);
  h->kept_bytes = 0;
}

void un__host_heap_trim(un__host_heap *h) {
  pthread_mutex_lock(&h->lock);
  trim_locked(h);
  pthread_mutex_unlock(&h->lock);
}

void un__host_heap_destroy(un__host_heap *h) {
  if (!h) return;
  trim_locked(h);
  pthread_mutex_destroy(&h->lock);
  un__free(h);
}

void *un__host_device_create(size_t size, const un__device_vtable *vt, const un__target *t, const char *name, un__err *err) {
  un__host_device *d = un__calloc(1, size);
  if (d && !(d->heap = un__host_heap_create())) {
    un__free(d);
    d = NULL;
  }
  if (!d) return un__fail(err, UN_ERR_NOMEM, "no memory for a device"), NULL;
  d->base.vt = vt;
  d->base.target = t;
  snprintf(d->base.name, sizeof d->base.name, "%s", name);
  return d;
}

void un__host_device_destroy(un__device *d) {
  un__host_heap_destroy(heap_of(d));
  un__free(d);
}

static void *take_block(un__host_heap *h, size_t rounded, unsigned c) {
  pthread_mutex_lock(&h->lock);
  kept *k = h->free[c];
  if (k) {
    h->free[c] = k->next;
    h->kept_bytes -= rounded;
  }
  pthread_mutex_unlock(&h->lock);
  if (k) return k;
  void *p = un__alloc_aligned(rounded >= huge ? huge : ALIGN, rounded);
  if (!p) {     /* what is kept may be what is missing */
    un__host_heap_trim(h);
    p = un__alloc_aligned(rounded >= huge ? huge : ALIGN, rounded);
  }
  if (p && rounded >= huge) madvise(p, rounded, MADV_HUGEPAGE);
  return p;
}

un_status un__host_alloc(un__device *d, size_t size, un__mem **out, un__err *err) {
  un__host_heap *h = heap_of(d);
  *out = NULL;
  if (size > SIZE_MAX / 2) return un__fail(err, UN_ERR_NOMEM, "a buffer of %zu bytes is too large", size);
  size_t rounded;
  unsigned c = un__size_class(size, ALIGN, &rounded);
  un__mem *m = un__alloc(sizeof *m);
  void *data = m ? take_block(h, rounded, c) : NULL;
  if (!data) {
    un__free(m);
    return un__fail(err, UN_ERR_NOMEM, "no memory for a buffer of %zu bytes", size);
  }
  *m = (un__mem){data, size, false};
  *out = m;
  return UN_OK;
}

un_status un__host_wrap(un__device *d, void *host, size_t size, un__mem **out, un__err *err) {
  *out = un__alloc(sizeof **out);
  if (!*out) return un__fail(err, UN_ERR_NOMEM, "no memory for a buffer");
  **out = (un__mem){host, size, true};
  return UN_OK;
}

void un__host_free(un__device *d, un__mem *m) {
  un__host_heap *h = heap_of(d);
  if (!m) return;
  if (!m->borrowed) {
    size_t rounded;
    unsigned c = un__size_class(m->size, ALIGN, &rounded);
    pthread_mutex_lock(&h->lock);
    bool keep = h->kept_bytes + rounded <= keep_limit;
    if (keep) {
      kept *k = m->data;
      k->next = h->free[c];
      h->free[c] = k;
      h->kept_bytes += rounded;
    }
    pthread_mutex_unlock(&h->lock);
    if (!keep) un__free(m->data);
  }
  un__free(m);
}

un_status un__host_write(un__device *d, un__mem *m, size_t offset, const void *src, size_t size, un__err *err) {
  UN__TRY(un__check_span(m->size, offset, size, "write", err));
  if (size) memcpy((char *)m->data + offset, src, size);
  return UN_OK;
}

un_status un__host_read(un__device *d, const un__mem *m, size_t offset, void *dst, size_t size, un__err *err) {
  UN__TRY(un__check_span(m->size, offset, size, "read", err));
  if (size) memcpy(dst, (const char *)m->data + offset, size);
  return UN_OK;
}

un_status un__host_sync(un__device *d, un__err *err) { return UN_OK; }

un_status un__host_copy(un__device *d, un__mem *dst, const un__mem *src, size_t size, un__err *err) {
  UN__TRY(un__check_span(dst->size, 0, size, "copy", err));
  UN__TRY(un__check_span(src->size, 0, size, "copy", err));
  if (size && dst != src) memcpy(dst->data, src->data, size);
  return UN_OK;
}

void *un__host_address(un__device *d, const un__mem *m) { return m->data; }
