#include "ptrmap.h"

static size_t home(const void *key, size_t mask) {
  return (size_t)(((uint64_t)(uintptr_t)key >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
}

static un__ptrmap_slot *seek(const un__ptrmap *m, const void *key) {
  size_t mask = m->cap - 1, i = home(key, mask);
  while (m->slot[i].key && m->slot[i].key != key) i = (i + 1) & mask;
  return &m->slot[i];
}

uintptr_t *un__ptrmap_get(const un__ptrmap *m, const void *key) {
  if (!m->cap) return NULL;
  un__ptrmap_slot *s = seek(m, key);
  return s->key ? &s->value : NULL;
}

static bool grow(un__ptrmap *m) {
  un__ptrmap bigger = {.cap = m->cap ? m->cap * 2 : 64};
  bigger.slot = un__calloc(bigger.cap, sizeof *bigger.slot);
  if (!bigger.slot) return false;
  for (size_t i = 0; i < m->cap; i++)
    if (m->slot[i].key) *seek(&bigger, m->slot[i].key) = m->slot[i];
  bigger.n = m->n;
  un__free(m->slot);
  *m = bigger;
  return true;
}

uintptr_t *un__ptrmap_put(un__ptrmap *m, const void *key, bool *added) {
  if (m->n >= m->cap / 2 && !grow(m)) return NULL;
  un__ptrmap_slot *s = seek(m, key);
  bool fresh = !s->key;
  if (fresh) {
    *s = (un__ptrmap_slot){key, 0};
    m->n++;
  }
  if (added) *added = fresh;
  return &s->value;
}
