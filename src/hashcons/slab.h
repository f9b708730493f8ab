/* slab.h - small objects of mixed sizes that come and go for as long as a world lives.
 *
 * Sizes are rounded up to classes of 16 bytes and carved from chunks; a freed object goes to its class's list. Large
 * objects go to the heap one by one. Not thread-safe: the owner locks. */
#ifndef UN_HASHCONS_SLAB_H
#define UN_HASHCONS_SLAB_H

#include "base/mem.h"

enum { UN__SLAB_CLASSES = 32, UN__SLAB_STEP = 16 };

typedef struct un__slab {
  void *free[UN__SLAB_CLASSES];    /* heads of the lists of free objects */
  un__arena chunks;
} un__slab;

void un__slab_init(un__slab *s);
void un__slab_finish(un__slab *s);             /* objects from the heap must have been freed */
void *un__slab_alloc(un__slab *s, size_t size);
void un__slab_free(un__slab *s, void *p, size_t size);   /* the size it was allocated with */

#endif
