/* base_jobs.c - numbered jobs on threads: each runs once, in order, whatever threads there are, and the first failure is that of
 * the lowest number.
 *
 * This file's pthread_create stands before the system's: it counts the threads and can refuse to start more. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "base/jobs.h"

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *data);

static bool counts;                /* between begin() and the end of the call */
static int started, may_start;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *data) {
  create_fn *real;
  *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
  if (counts && started == may_start) return EAGAIN;
  if (counts) started++;
  return real(thread, attr, start, data);
}

enum { MOST = 100, LIMITLESS = 1000 };

typedef struct work {
  _Atomic int runs[MOST];          /* by job */
  _Atomic size_t begun;
  bool in_order;                   /* of jobs that one thread ran */
  bool fails[MOST];
  _Atomic bool seven_failed;
} work;

static bool note(void *data, size_t i) {
  work *w = data;
  cr_assert_lt(i, MOST);
  if (atomic_fetch_add(&w->begun, 1) != i) w->in_order = false;
  atomic_fetch_add(&w->runs[i], 1);
  return !w->fails[i];
}

static size_t run(uint32_t threads, size_t n, int startable, bool (*job)(void *, size_t), void *data) {
  started = 0, may_start = startable;
  counts = true;
  size_t failed = un__run_jobs(threads, n, job, data);
  counts = false;
  return failed;
}

static void check_each_ran_once(const work *w, size_t n) {
  for (size_t i = 0; i < MOST; i++) cr_expect_eq(w->runs[i], i < n, "job %zu of %zu ran %d times", i, n, w->runs[i]);
}

/* That many threads were started besides the caller's. */
static void all_run_once(uint32_t threads, size_t n, int startable, int want_started) {
  work w = {.in_order = true};
  cr_expect_eq(run(threads, n, startable, note, &w), n);
  check_each_ran_once(&w, n);
  cr_expect_eq(started, want_started, "%u threads, %zu jobs: %d started", threads, n, started);
  if (!want_started) cr_expect(w.in_order, "%u threads, %zu jobs: out of order", threads, n);
}

Test(jobs, run_once_each) {
  all_run_once(2, MOST, LIMITLESS, 1);
  all_run_once(4, MOST, LIMITLESS, 3);
  all_run_once(4, 4, LIMITLESS, 3);
}

Test(jobs, need_no_more_threads_than_jobs) {
  all_run_once(8, 3, LIMITLESS, 2);
  all_run_once(8, 1, LIMITLESS, 0);
  all_run_once(UINT32_MAX, MOST, LIMITLESS, UN__MOST_JOB_THREADS - 1);
}

Test(jobs, run_on_the_caller_alone) {
  all_run_once(1, MOST, LIMITLESS, 0);
  all_run_once(0, MOST, LIMITLESS, 0);
}

Test(jobs, may_be_none) {
  all_run_once(4, 0, LIMITLESS, 0);
  all_run_once(0, 0, LIMITLESS, 0);
}

Test(jobs, do_without_threads_that_do_not_start) {
  all_run_once(4, MOST, 0, 0);
  all_run_once(4, MOST, 1, 1);
  all_run_once(UINT32_MAX, MOST, 2, 2);
}

/* Each waits for the other: one thread alone would never end. */
static bool meet(void *data, size_t i) {
  _Atomic int *there = data;
  atomic_fetch_add(there, 1);
  while (atomic_load(there) < 2) sched_yield();
  return true;
}

Test(jobs, run_at_the_same_time, .timeout = 60) {
  _Atomic int there = 0;
  cr_expect_eq(run(2, 2, LIMITLESS, meet, &there), 2);
}

/* Jobs 3 and 7 fail, 7 the earlier one where another thread can come to it. */
static bool seven_before_three(void *data, size_t i) {
  work *w = data;
  while (i == 3 && started && !atomic_load(&w->seven_failed)) sched_yield();
  bool ok = note(data, i);
  if (i == 7) atomic_store(&w->seven_failed, true);
  return ok;
}

static void first_failure_is_three(uint32_t threads, int startable) {
  work w = {.fails[3] = true, .fails[7] = true};
  cr_expect_eq(run(threads, MOST, startable, seven_before_three, &w), 3);
  check_each_ran_once(&w, MOST);
}

Test(jobs, fail_first_by_number, .timeout = 60) {
  first_failure_is_three(1, LIMITLESS);
  first_failure_is_three(2, LIMITLESS);
  first_failure_is_three(8, LIMITLESS);
  first_failure_is_three(8, 0);
}

Test(jobs, may_all_fail_or_the_last_alone) {
  work all = {0}, last = {.fails[MOST - 1] = true};
  for (int i = 0; i < MOST; i++) all.fails[i] = true;
  cr_expect_eq(run(4, MOST, LIMITLESS, note, &all), 0);
  check_each_ran_once(&all, MOST);
  cr_expect_eq(run(4, MOST, LIMITLESS, note, &last), MOST - 1);
  check_each_ran_once(&last, MOST);
}
