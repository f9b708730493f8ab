/* storage.c - device memory behind BUFFER nodes, by serial. */
#include "engine_parts.h"

typedef struct un__stored { int64_t serial; int device; un__mem *mem; size_t size; } un__stored;

static uint64_t hash_of(int64_t serial) { return un__hash_mix(UINT64_C(0x53746f72), (uint64_t)serial); }

static bool same_serial(const void *key, const void *item) {
  return *(const int64_t *)key == ((const un__stored *)item)->serial;
}

void un__count_bytes(un__engine *e, size_t plus, size_t minus) {
  pthread_mutex_lock(&e->lock);
  e->stats.bytes_live += plus;
  e->stats.bytes_live -= minus;
  if (e->stats.bytes_live > e->stats.bytes_peak) e->stats.bytes_peak = e->stats.bytes_live;
  pthread_mutex_unlock(&e->lock);
}

un_status un__storage_add(un__engine *e, int64_t serial, int device, un__mem *mem, size_t size, un__err *err) {
  un__stored *s = un__alloc(sizeof *s);
  if (!s) return un__fail(err, UN_ERR_NOMEM, "no memory for a buffer");
  *s = (un__stored){serial, device, mem, size};
  pthread_mutex_lock(&e->lock);
  bool added = un__intern_add(&e->storage, hash_of(serial), s);
  pthread_mutex_unlock(&e->lock);
  if (added) return UN_OK;
  un__free(s);
  return un__fail(err, UN_ERR_NOMEM, "no memory for a buffer");
}

un__mem *un__storage_find(un__engine *e, int64_t serial, int *out_device, size_t *out_size) {
  pthread_mutex_lock(&e->lock);
  un__stored *s = un__intern_find(&e->storage, hash_of(serial), same_serial, &serial);
  un__mem *mem = s ? s->mem : NULL;
  if (s && out_device) *out_device = s->device;
  if (s && out_size) *out_size = s->size;
  pthread_mutex_unlock(&e->lock);
  return mem;
}

static void free_stored(un__engine *e, un__stored *s) {
  un__device *d = e->device[s->device];
  d->vt->free(d, s->mem);
  un__free(s);
}

void un__storage_drop(void *engine, int64_t serial) {
  un__engine *e = engine;
  pthread_mutex_lock(&e->lock);
  un__stored *s = un__intern_find(&e->storage, hash_of(serial), same_serial, &serial);
  if (s) {
    un__intern_remove(&e->storage, hash_of(serial), s);
    e->stats.bytes_live -= s->size;
  }
  pthread_mutex_unlock(&e->lock);
  if (s) free_stored(e, s);
}

void un__storage_finish(un__engine *e) {
  for (size_t i = 0; i < e->storage.cap; i++)
    if (e->storage.slot[i].item) free_stored(e, e->storage.slot[i].item);
  un__intern_finish(&e->storage);
}

un_status un__engine_buffer_from(un__engine *e, int device, int64_t serial, const void *data, size_t size, bool borrow,
                                 un__err *err) {
  un__device *d = e->device[device];
  un__mem *mem;
  /* Borrowed memory is never written: a result always has storage of its own. */
  UN__TRY(borrow ? d->vt->wrap(d, (void *)data, size, &mem, err) : d->vt->alloc(d, size, &mem, err));
  un_status status = borrow ? UN_OK : d->vt->write(d, mem, 0, data, size, err);
  if (status == UN_OK) status = un__storage_add(e, serial, device, mem, size, err);
  if (status == UN_OK) un__count_bytes(e, size, 0);
  else d->vt->free(d, mem);
  return status;
}

enum { CHUNK = 1 << 20 };

/* Neither side is in the host's reach: through its memory, in pieces. */
static un_status transfer_in_pieces(un__device *from, const un__mem *src, un__device *to, un__mem *dst, size_t size, un__err *err) {
  un_status status = UN_OK;
  size_t piece = size < CHUNK ? size : CHUNK;
  char *bytes = un__alloc(piece);
  if (!bytes) return un__fail(err, UN_ERR_NOMEM, "no memory to copy from %s to %s", from->name, to->name);
  for (size_t at = 0; status == UN_OK && at < size; at += piece) {
    size_t n = size - at < piece ? size - at : piece;
    status = from->vt->read(from, src, at, bytes, n, err);
    if (status == UN_OK) status = to->vt->write(to, dst, at, bytes, n, err);
  }
  un__free(bytes);
  return status;
}

un_status un__transfer(un__device *from, const un__mem *src, un__device *to, un__mem *dst, size_t size, un__err *err) {
  if (!size) return UN_OK;
  UN__TRY(from->vt->sync(from, err));
  if (from->vt->address) return to->vt->write(to, dst, 0, from->vt->address(from, src), size, err);
  UN__TRY(to->vt->sync(to, err));
  if (to->vt->address) return from->vt->read(from, src, 0, to->vt->address(to, dst), size, err);
  return transfer_in_pieces(from, src, to, dst, size, err);
}

un_status un__storage_copy(un__engine *e, int device, const un__mem *from, size_t size, int64_t serial, un__err *err) {
  un__device *d = e->device[device];
  un__mem *mem;
  UN__TRY(d->vt->alloc(d, size, &mem, err));
  un_status status = d->vt->copy(d, mem, from, size, err);
  if (status == UN_OK) status = un__storage_add(e, serial, device, mem, size, err);
  if (status == UN_OK) un__count_bytes(e, size, 0);
  else d->vt->free(d, mem);
  return status;
}

un_status un__engine_buffer_copy(un__engine *e, int64_t from, int64_t serial, un__err *err) {
  int device;
  size_t size;
  un__mem *mem = un__storage_find(e, from, &device, &size);
  if (!mem) return un__fail(err, UN_ERR_INTERNAL, "buffer %lld has no storage", (long long)from);
  return un__storage_copy(e, device, mem, size, serial, err);
}

un_status un__engine_buffer_read(un__engine *e, int64_t serial, void *dst, size_t size, un__err *err) {
  int device;
  un__mem *mem = un__storage_find(e, serial, &device, NULL);
  if (!mem) return un__fail(err, UN_ERR_INTERNAL, "buffer %lld has no storage", (long long)serial);
  un__device *d = e->device[device];
  UN__TRY(d->vt->sync(d, err));
  return d->vt->read(d, mem, 0, dst, size, err);
}
