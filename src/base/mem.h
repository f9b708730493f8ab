/* mem.h - the one door to the heap, and the arenas built on it.
 *
 * Every allocation of the library goes through un__alloc and its kin, so that a torture build
 * (-DUN_TORTURE) can make the n-th one fail. They return NULL when memory is short; the caller
 * turns that into UN_ERR_NOMEM.
 *
 * An arena hands out memory that is freed all at once. It suits one workspace: one phase, one thread.
 */
#ifndef UN_BASE_MEM_H
#define UN_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

void *un__alloc(size_t size);
void *un__calloc(size_t count, size_t size);    /* zeroed; overflow of count * size fails */
void *un__realloc(void *p, size_t size);        /* on failure `p` is still valid */
void *un__alloc_aligned(size_t align, size_t size);   /* a power of two; freed by un__free */
void un__free(void *p);                         /* NULL is allowed */
char *un__strdup(const char *s);

#ifdef UN_TORTURE
/* Lets `n` more allocations succeed, then fails the next one (once) or every one until called again; UINT64_MAX: never
 * fail. What arenas and slabs hand out counts like any other allocation. */
void un__torture_arm(uint64_t n, bool once);
/* How many allocations were asked for since the last arming; how many are not freed yet. */
uint64_t un__torture_count(void);
int64_t un__torture_live(void);
/* Asked by whoever hands out memory, once each time. */
bool un__may_allocate(void);
#else
static inline bool un__may_allocate(void) { return true; }
#endif

typedef struct un__arena_block un__arena_block;
typedef struct un__arena {
  un__arena_block *blocks;   /* newest first */
  char *at, *end;            /* free part of the newest block */
  size_t used;               /* bytes handed out, for statistics */
  bool failed;               /* it could not give what was asked for, once */
} un__arena;

void un__arena_init(un__arena *a);
void un__arena_finish(un__arena *a);
/* 16-byte aligned; NULL when memory is short. Size 0 gives a unique non-NULL pointer. */
void *un__arena_alloc(un__arena *a, size_t size);

#endif
