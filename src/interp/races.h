/* races.h - who touched which element since the last barrier. Private to interp.
 *
 * An element remembers who changed it last and who read it last. Two touches race where nothing orders them: they are of
 * different blocks, or of different threads of one block with no barrier in between. A store of the value that is there
 * changes nothing, so it races with nobody. */
#ifndef UN_INTERP_RACES_H
#define UN_INTERP_RACES_H

#include "program.h"

un__iraces *un__iraces_create(const un__iprog *p);     /* NULL when memory is short */
void un__iraces_destroy(un__iraces *r);

/* Begins with the arguments of a launch; false when memory is short. */
bool un__iraces_watch(un__iraces *r, const un__iprog *p, const int64_t *sizes, uint32_t nargs);
void un__iraces_block(un__iraces *r, int64_t block);   /* the next block begins */
void un__iraces_barrier(un__iraces *r);
/* Memory `mem` is fresh, and has this many scalars; false when memory is short. */
bool un__iraces_fresh(un__iraces *r, uint32_t mem, int64_t n);
/* Whether thread t may read, or change, scalar `at` of it. */
bool un__iraces_read(un__iraces *r, uint32_t mem, int64_t at, uint32_t t);
bool un__iraces_change(un__iraces *r, uint32_t mem, int64_t at, uint32_t t);

#endif
