/* ptrmap.h - a map from pointers to words, for marks and memos of one walk. Never iterated. */
#ifndef UN_BASE_PTRMAP_H
#define UN_BASE_PTRMAP_H

#include "mem.h"

typedef struct un__ptrmap_slot { const void *key; uintptr_t value; } un__ptrmap_slot;
typedef struct un__ptrmap { un__ptrmap_slot *slot; size_t cap, n; } un__ptrmap;

static inline void un__ptrmap_init(un__ptrmap *m) { *m = (un__ptrmap){0}; }
static inline void un__ptrmap_finish(un__ptrmap *m) {
  un__free(m->slot);
  *m = (un__ptrmap){0};
}
/* The place of a key's value, or NULL. Valid until the next put. */
uintptr_t *un__ptrmap_get(const un__ptrmap *m, const void *key);
/* The place of a key's value, added with value 0 when absent (*added says so; may be NULL); NULL when memory is short. */
uintptr_t *un__ptrmap_put(un__ptrmap *m, const void *key, bool *added);

#endif
