/* memory.c - memory of the device: kept when it is freed, since the driver's own calls cost more than most kernels. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cuda.h"

enum { ALIGN = 512 };

/* "8G", "500M", "1000000". */
static un_status read_limit(size_t *out, un__err *err) {
  static const char units[] = "KMGT";
  const char *text = getenv("UNIR_CUDA_MEMORY_LIMIT");
  *out = SIZE_MAX;
  if (!text || !*text) return UN_OK;
  char *end;
  unsigned long long n = strtoull(text, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  bool whole = *text >= '0' && *text <= '9' && (unit ? !end[1] : !*end);
  if (!whole || !n || n > (SIZE_MAX / 2) >> shift)
    return un__fail(err, UN_ERR_INVALID_ARG, "UNIR_CUDA_MEMORY_LIMIT: expected a number of bytes, as 500M or 8G, got %s", text);
  *out = (size_t)n << shift;
  return UN_OK;
}

un_status un__cuda_heap_init(un__cuda *c, un__err *err) {
  UN__TRY(read_limit(&c->heap.limit, err));
  pthread_mutex_init(&c->heap.lock, NULL);
  return UN_OK;
}

/* Takes all kept blocks off the heap, as one list. */
static un__mem *detach(un__cuda_heap *h, size_t *out_bytes) {
  un__mem *all = NULL;
  pthread_mutex_lock(&h->lock);
  for (unsigned k = 0; k < UN__SIZE_CLASSES; k++)
    for (un__mem *m = h->kept[k], *next; m; m = next) {
      next = m->next;
      m->next = all;
      all = m;
    }
  memset(h->kept, 0, sizeof h->kept);
  *out_bytes = h->kept_bytes;
  h->held_bytes -= h->kept_bytes;
  h->kept_bytes = 0;
  pthread_mutex_unlock(&h->lock);
  return all;
}

static void keep(un__cuda_heap *h, un__mem *m) {
  size_t rounded;
  unsigned class = un__size_class(m->rounded, ALIGN, &rounded);
  pthread_mutex_lock(&h->lock);
  m->next = h->kept[class];
  h->kept[class] = m;
  h->kept_bytes += m->rounded;
  pthread_mutex_unlock(&h->lock);
}

static void give_back(un__cuda *c, un__mem *list, bool to_driver) {
  for (un__mem *next; list; list = next) {
    next = list->next;
    if (to_driver) un__cuda_check(c, c->cu->mem_free(list->at), "giving memory back", NULL);
    un__free(list);
  }
}

/* Work that reads a kept block may still be on the way. */
bool un__cuda_trim(un__cuda *c) {
  size_t bytes;
  un__mem *all = detach(&c->heap, &bytes);
  if (!all) return false;
  if (un__cuda_check(c, c->cu->stream_sync(c->stream), "waiting for kernels", NULL) == UN_OK) return give_back(c, all, true), true;
  pthread_mutex_lock(&c->heap.lock);
  c->heap.held_bytes += bytes;
  pthread_mutex_unlock(&c->heap.lock);
  for (un__mem *next; all; all = next) {
    next = all->next;
    keep(&c->heap, all);
  }
  return false;
}

/* A lost context's blocks went with it. */
void un__cuda_heap_finish(un__cuda *c) {
  size_t bytes;
  bool entered = un__cuda_enter(c, NULL) == UN_OK;
  give_back(c, detach(&c->heap, &bytes), entered);
  if (entered) un__cuda_leave(c);
  pthread_mutex_destroy(&c->heap.lock);
}

static un__mem *take_kept(un__cuda_heap *h, unsigned class) {
  pthread_mutex_lock(&h->lock);
  un__mem *m = h->kept[class];
  if (m) {
    h->kept[class] = m->next;
    h->kept_bytes -= m->rounded;
  }
  pthread_mutex_unlock(&h->lock);
  return m;
}

/* Counts a block that is to be asked of the driver; false: it would pass the limit. */
static bool reserve(un__cuda_heap *h, size_t bytes) {
  pthread_mutex_lock(&h->lock);
  bool fits = h->held_bytes <= h->limit && bytes <= h->limit - h->held_bytes;
  if (fits) h->held_bytes += bytes;
  pthread_mutex_unlock(&h->lock);
  return fits;
}

static void unreserve(un__cuda_heap *h, size_t bytes) {
  pthread_mutex_lock(&h->lock);
  h->held_bytes -= bytes;
  pthread_mutex_unlock(&h->lock);
}

static un_status past_limit(un__cuda *c, size_t bytes, un__err *err) {
  pthread_mutex_lock(&c->heap.lock);
  size_t held = c->heap.held_bytes;
  pthread_mutex_unlock(&c->heap.lock);
  return un__fail(err, UN_ERR_NOMEM, "%s: no memory for a buffer of %zu bytes: %zu are in use, and UNIR_CUDA_MEMORY_LIMIT allows %zu",
                  c->base.name, bytes, held, c->heap.limit);
}

static un_status no_memory(un__cuda *c, size_t bytes, un__err *err) {
  size_t left = 0, total = 0;
  c->cu->mem_info(&left, &total);
  return un__fail(err, UN_ERR_NOMEM, "%s: no memory for a buffer of %zu bytes: %zu of the device's %zu are free", c->base.name, bytes, left,
                  total);
}

/* A block of the driver's. */
static un_status grow(un__cuda *c, size_t bytes, cu_ptr *out, un__err *err) {
  cu_result r;
  UN__TRY(un__cuda_enter(c, err));
  un_status status = reserve(&c->heap, bytes) || (un__cuda_trim(c) && reserve(&c->heap, bytes)) ? UN_OK : past_limit(c, bytes, err);
  if (status == UN_OK) {
    UN__CUDA_WITH_MEMORY(c, r, c->cu->mem_alloc(out, bytes));
    status = r == CU_OUT_OF_MEMORY ? no_memory(c, bytes, err) : un__cuda_check(c, r, "allocating memory", err);
    if (status != UN_OK) unreserve(&c->heap, bytes);
  }
  un__cuda_leave(c);
  return status;
}

un_status un__cuda_alloc(un__device *d, size_t size, un__mem **out, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  size_t rounded;
  *out = NULL;
  if (size > SIZE_MAX / 2) return un__fail(err, UN_ERR_NOMEM, "a buffer of %zu bytes is too large", size);
  UN__TRY(un__cuda_alive(c, err));
  un__mem *m = take_kept(&c->heap, un__size_class(size, ALIGN, &rounded));
  if (!m) {
    m = un__alloc(sizeof *m);
    if (!m) return un__fail(err, UN_ERR_NOMEM, "no memory for a buffer");
    un_status status = grow(c, rounded, &m->at, err);
    if (status != UN_OK) return un__free(m), status;
  }
  m->size = size;
  m->rounded = rounded;
  *out = m;
  return UN_OK;
}

void un__cuda_free(un__device *d, un__mem *m) {
  if (m) keep(&un__cuda_of(d)->heap, m);
}
