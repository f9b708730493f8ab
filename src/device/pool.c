/* pool.c - workers that spin for a short while after a job and then sleep.
 *
 * A child of fork() has the pool but none of its workers: the first job there starts its own.
 *
 * A job is published by raising `generation`; every worker answers every generation, so the fields of a job are never
 * read after un__pool_run returned. Tasks are dealt one by one from a shared counter: chunks of unequal cost balance. */
#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/mem.h"

enum { SPINS = 4000, SPINS_BEFORE_YIELD = 64 };

struct un__pool {
  uint32_t threads;                 /* wanted, the caller among them */
  uint32_t nworkers;
  pid_t process;                    /* the one that the workers belong to */
  bool shares;                      /* the process had another pool when this one was made */
  pthread_t *worker;
  _Atomic uint64_t generation;
  _Atomic int64_t next;
  _Atomic uint32_t busy;            /* workers that have not finished the generation */
  int64_t n;
  void (*fn)(void *data, int64_t i);
  void *data;
  bool stop;                        /* read after a new generation was seen */
  pthread_mutex_t lock;
  pthread_cond_t wake;
  uint32_t sleeping;                /* under lock */
};

static void relax(unsigned spins) {
  if (spins % SPINS_BEFORE_YIELD == SPINS_BEFORE_YIELD - 1) sched_yield();
#if defined(__x86_64__)
  else __builtin_ia32_pause();
#endif
}

static void deal(un__pool *p) {
  int64_t i;
  while ((i = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed)) < p->n) p->fn(p->data, i);
}

static uint64_t wait_for_job(un__pool *p, uint64_t seen) {
  uint64_t g;
  for (unsigned spins = 0; spins < SPINS; spins++) {
    if ((g = atomic_load_explicit(&p->generation, memory_order_acquire)) != seen) return g;
    relax(spins);
  }
  pthread_mutex_lock(&p->lock);
  p->sleeping++;
  while ((g = atomic_load_explicit(&p->generation, memory_order_acquire)) == seen) pthread_cond_wait(&p->wake, &p->lock);
  p->sleeping--;
  pthread_mutex_unlock(&p->lock);
  return g;
}

static void *work(void *data) {
  un__pool *p = data;
  uint64_t seen = 0;
  for (;;) {
    seen = wait_for_job(p, seen);
    if (p->stop) return NULL;
    deal(p);
    atomic_fetch_sub_explicit(&p->busy, 1, memory_order_release);
  }
}

static void publish(un__pool *p) {
  atomic_store_explicit(&p->busy, p->nworkers, memory_order_relaxed);
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add_explicit(&p->generation, 1, memory_order_release);
  if (p->sleeping) pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

static _Atomic uint32_t pools;      /* of the process */

/* Worker i stays on the (i + 1)-th processor that the process may use: unpinned, a worker woken by the caller often
 * starts on the caller's own processor. A second pool would pin its workers beside the first one's, and more workers than
 * processors would share some for ever: those are left to the system. Failure is harmless. */
static void pin(const un__pool *p, pthread_t thread, uint32_t i) {
#if defined(__linux__)
  cpu_set_t all, one;
  if (p->shares || sched_getaffinity(0, sizeof all, &all) || (int)p->threads > CPU_COUNT(&all)) return;
  int left = (int)(i + 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &all) && left-- == 0) {
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      pthread_setaffinity_np(thread, sizeof one, &one);
      return;
    }
#endif
}

/* A new pool's workers, or a child's: no other thread knows the pool, whatever state the parent's left its lock in. */
static void start(un__pool *p) {
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  atomic_store_explicit(&p->generation, 0, memory_order_relaxed);
  p->sleeping = 0;
  p->nworkers = 0;
  p->process = getpid();
  while (p->nworkers + 1 < p->threads) {
    if (pthread_create(&p->worker[p->nworkers], NULL, work, p)) break;    /* fewer threads, same results */
    pin(p, p->worker[p->nworkers], p->nworkers);
    p->nworkers++;
  }
}

un__pool *un__pool_create(uint32_t threads) {
  un__pool *p = un__calloc(1, sizeof *p);
  if (!p) return NULL;
  p->threads = threads ? threads : 1;
  p->shares = atomic_load(&pools) != 0;
  p->worker = un__calloc(p->threads, sizeof *p->worker);
  if (!p->worker) {
    un__free(p);
    return NULL;
  }
  atomic_fetch_add(&pools, 1);
  start(p);
  return p;
}

static void join(un__pool *p) {
  p->stop = true;
  publish(p);
  for (uint32_t i = 0; i < p->nworkers; i++) pthread_join(p->worker[i], NULL);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
}

void un__pool_destroy(un__pool *p) {
  if (!p) return;
  if (p->process == getpid()) join(p);
  atomic_fetch_sub(&pools, 1);
  un__free(p->worker);
  un__free(p);
}

void un__pool_run(un__pool *p, void (*fn)(void *data, int64_t i), void *data, int64_t n) {
  if (p->process != getpid()) start(p);
  if (n <= 1 || !p->nworkers) {
    for (int64_t i = 0; i < n; i++) fn(data, i);
    return;
  }
  p->fn = fn;
  p->data = data;
  p->n = n;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  publish(p);
  deal(p);
  for (unsigned spins = 0; atomic_load_explicit(&p->busy, memory_order_acquire); spins++) relax(spins);
}
