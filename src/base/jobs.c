#include "jobs.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct jobs {
  bool (*job)(void *data, size_t i);
  void *data;
  size_t n;
  _Atomic size_t next;             /* the first that nobody has begun */
  _Atomic size_t failed;           /* the lowest so far; n: none */
} jobs;

static void note_failure(jobs *all, size_t i) {
  size_t lowest = atomic_load(&all->failed);
  while (i < lowest && !atomic_compare_exchange_weak(&all->failed, &lowest, i)) {}
}

static void *work(void *data) {
  jobs *all = data;
  for (size_t i; (i = atomic_fetch_add(&all->next, 1)) < all->n;)
    if (!all->job(all->data, i)) note_failure(all, i);
  return NULL;
}

size_t un__run_jobs(uint32_t threads, size_t n, bool (*job)(void *data, size_t i), void *data) {
  jobs all = {.job = job, .data = data, .n = n, .failed = n};
  pthread_t helper[UN__MOST_JOB_THREADS - 1];
  uint32_t helpers = 0, most = threads < UN__MOST_JOB_THREADS ? threads : UN__MOST_JOB_THREADS;
  while (helpers + 1 < most && helpers + 1 < n && !pthread_create(&helper[helpers], NULL, work, &all)) helpers++;
  work(&all);
  for (uint32_t i = 0; i < helpers; i++) pthread_join(helper[i], NULL);
  return all.failed;
}
