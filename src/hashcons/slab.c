#include "slab.h"

#include <string.h>

void un__slab_init(un__slab *s) {
  memset(s, 0, sizeof *s);
  un__arena_init(&s->chunks);
}

void un__slab_finish(un__slab *s) { un__arena_finish(&s->chunks); }

static size_t class_of(size_t size) { return (size + UN__SLAB_STEP - 1) / UN__SLAB_STEP; }

void *un__slab_alloc(un__slab *s, size_t size) {
  size_t c = class_of(size);
  if (c >= UN__SLAB_CLASSES) return un__alloc(size);
  void *p = s->free[c];
  if (!p) return un__arena_alloc(&s->chunks, c * UN__SLAB_STEP);
  if (!un__may_allocate()) return NULL;
  memcpy(&s->free[c], p, sizeof(void *));
  return p;
}

void un__slab_free(un__slab *s, void *p, size_t size) {
  size_t c = class_of(size);
  if (c >= UN__SLAB_CLASSES) {
    un__free(p);
    return;
  }
  memcpy(p, &s->free[c], sizeof(void *));
  s->free[c] = p;
}
