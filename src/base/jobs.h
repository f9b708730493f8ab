/* jobs.h - numbered jobs, shared out among threads that live as long as the call.
 *
 * Meant for jobs of a millisecond and more, like compiling: threads are started and joined each time. A kernel's tasks take
 * microseconds and have a pool that stays (device/pool.h). */
#ifndef UN_BASE_JOBS_H
#define UN_BASE_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UN__MOST_JOB_THREADS = 16 };

/* Runs job(data, i) once for each i in [0, n), beginning them in order, on `threads` threads at most: the caller's is one of
 * them, and more than n or UN__MOST_JOB_THREADS are never used. Where a thread cannot be started, those there are do its
 * share, in the end the caller's alone. With `threads` 1 (or 0, which means the same) that is so from the start: job i + 1
 * begins when job i has ended.
 *
 * A job says false where it failed; the others run nevertheless, so that what has run does not depend on who was quick.
 * Returns the number of the first job that failed: the lowest, whichever failed earliest; n when none did. Allocates
 * nothing and does not fail itself. What jobs share besides their own places is theirs to lock; what they wrote may be read
 * without a lock after the return. */
size_t un__run_jobs(uint32_t threads, size_t n, bool (*job)(void *data, size_t i), void *data);

#endif
