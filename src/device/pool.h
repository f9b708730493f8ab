/* pool.h - the threads that run a kernel's tasks. One job at a time; the caller takes part. */
#ifndef UN_DEVICE_POOL_H
#define UN_DEVICE_POOL_H

#include <stdint.h>

typedef struct un__pool un__pool;

/* `threads` counts the caller; with 1 no thread is started. NULL when memory or threads are short. */
un__pool *un__pool_create(uint32_t threads);
void un__pool_destroy(un__pool *p);
/* Calls fn(data, i) once for every i in [0, n), on any thread, and returns when all are done. Not reentrant: one caller
 * at a time. */
void un__pool_run(un__pool *p, void (*fn)(void *data, int64_t i), void *data, int64_t n);

#endif
