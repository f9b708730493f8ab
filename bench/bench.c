/* bench.c - the table. `bench [PART]`: compile, run, kernels, or everything. Timings on a shared machine are noise: read the
 * ratios, and those only within one run. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned misses;

double bench_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double bench_cpu_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *values, size_t n) {
  qsort(values, n, sizeof *values, compare);
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void bench_row(const char *name, double value, const char *unit, double goal, bench_sense sense, const char *note) {
  bool pass = goal == 0 || (sense == AT_LEAST ? value >= goal : value <= goal);
  char verdict[48] = "";
  if (goal != 0 && pass) snprintf(verdict, sizeof verdict, "goal %g: PASS", goal);
  if (goal != 0 && !pass) snprintf(verdict, sizeof verdict, "goal %g: missed, ratio %.2f", goal, value / goal);
  misses += !pass;
  printf("%-48s %10.3f %-14s %-32s %s\n", name, value, unit, verdict, note ? note : "");
  fflush(stdout);
}

void bench_fail(const char *name, const char *why) {
  misses++;
  printf("%-48s FAILED: %s\n", name, why);
}

unsigned bench_misses(void) { return misses; }

int main(int argc, char **argv) {
  const char *part = argc > 1 ? argv[1] : "all";
  if (strcmp(part, "--cold-start") == 0) return bench_cold_start();
  bool all = strcmp(part, "all") == 0;
  setenv("UNIR_CACHE", "0", 1);     /* what is timed is not what an earlier run has left */
  if (all || strcmp(part, "compile") == 0) bench_compile_side();
  if (all || strcmp(part, "run") == 0) bench_run_side(argv[0]);
  if (all || strcmp(part, "kernels") == 0) bench_kernels();
  printf("\n%u rows missed their goal\n", misses);
  return 0;
}
