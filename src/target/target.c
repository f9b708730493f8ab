#define _GNU_SOURCE
#include "target.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

enum { KIB = 1024, MIB = 1024 * 1024 };

static const char x86_64[] = "x86_64-unknown-linux-gnu";

static const un__target generic = {
  .name = "cpu-generic", .triple = x86_64, .cpu = "x86-64-v3", .features = "", .threads = 2, .vector_bytes = 32, .vector_registers = 16, .mask_bytes = 4,
  .l1_bytes = 32 * KIB, .l2_bytes = 512 * KIB, .l3_bytes = 16 * MIB, .cache_line = 64, .has_threads = true, .fma = true,
  .f16_convert = true, .wide_index = true, .min_parallel_work = 32768,
};

static const un__target avx512 = {
  .name = "cpu-avx512", .triple = x86_64, .cpu = "x86-64-v4", .features = "", .threads = 4, .vector_bytes = 64, .vector_registers = 32,
  .mask_bytes = 1,  .l1_bytes = 48 * KIB, .l2_bytes = 2 * MIB, .l3_bytes = 32 * MIB, .cache_line = 64, .has_threads = true, .fma = true,
  .f16_convert = true, .wide_index = true, .min_parallel_work = 32768,
};

static const un__target interp = {
  .name = "interp", .triple = "", .cpu = "", .features = "", .threads = 1, .cache_line = 64, .min_parallel_work = UINT32_MAX,
};

const un__target *un__target_generic(void) { return &generic; }
const un__target *un__target_interp(void) { return &interp; }

/* ---- this machine ---- */

static un__target host;
static char host_name[96];
static once_flag host_once = ONCE_FLAG_INIT;

/* "48K", "1024K", "32M" as /sys prints cache sizes; 0 when absent. */
static uint64_t cache_bytes(int index, char *kind, size_t kind_size, int *level) {
  char path[96], text[32] = "";
  const char *leaf[] = {"level", "type", "size"};
  uint64_t size = 0;
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, leaf[i]);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    char *line = fgets(text, sizeof text, f);
    fclose(f);
    if (!line) return 0;
    if (i == 0) *level = atoi(text);
    else if (i == 1) snprintf(kind, kind_size, "%.15s", text);
    else {
      char *end;
      size = strtoull(text, &end, 10);
      size *= *end == 'M' ? MIB : *end == 'K' ? KIB : 1;
    }
  }
  return size;
}

static void read_caches(un__target *t) {
  for (int index = 0; index < 8; index++) {
    char kind[16] = "";
    int level = 0;
    uint64_t size = cache_bytes(index, kind, sizeof kind, &level);
    if (!size || kind[0] == 'I') continue;     /* instructions */
    if (level == 1) t->l1_bytes = (uint32_t)size;
    else if (level == 2) t->l2_bytes = (uint32_t)size;
    else if (level == 3) t->l3_bytes = size;
  }
}

static void read_vectors(un__target *t) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512dq");
  bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  t->vector_bytes = v4 ? 64 : v3 ? 32 : 16;
  t->vector_registers = v4 ? 32 : 16;
  t->mask_bytes = v4 ? 1 : v3 ? 4 : 0;
  t->fma = t->f16_convert = v3;     /* every CPU with AVX2 has F16C */
#elif defined(__aarch64__)
  t->vector_bytes = 16;
  t->vector_registers = 32;
  t->mask_bytes = 0;
  t->fma = t->f16_convert = true;
#else
  t->vector_bytes = t->mask_bytes = 0;
#endif
}

/* Processors that this process may run on, not those of the machine. */
static long allowed_processors(void) {
#if defined(__linux__)
  cpu_set_t all;
  if (!sched_getaffinity(0, sizeof all, &all)) return CPU_COUNT(&all);
#endif
  return sysconf(_SC_NPROCESSORS_ONLN);
}

/* A control group may grant less processor time than it shows processors: quota / period, rounded up. */
static long quota_processors(void) {
  long quota, period, n = LONG_MAX;
  FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
  if (!f) return n;
  if (fscanf(f, "%ld %ld", &quota, &period) == 2 && quota > 0 && period > 0) n = (quota + period - 1) / period;
  fclose(f);
  return n;
}

static uint32_t usable_threads(void) {
  const char *env = getenv("UNIR_THREADS");
  long n = env ? strtol(env, NULL, 10) : 0;
  if (n <= 0) {
    long allowed = allowed_processors(), quota = quota_processors();
    n = allowed < quota ? allowed : quota;
  }
  return n < 1 ? 1 : n > 1024 ? 1024 : (uint32_t)n;
}

static void read_host(void) {
  host = generic;
  host.triple = "";
  host.cpu = "native";
  host.threads = usable_threads();
  read_vectors(&host);
  read_caches(&host);
  snprintf(host_name, sizeof host_name, "cpu-t%u-v%u-r%u-l%u-%u", host.threads, host.vector_bytes, host.vector_registers,
           host.l1_bytes / KIB, host.l2_bytes / KIB);
  host.name = host_name;
}

const un__target *un__target_host(void) {
  call_once(&host_once, read_host);
  return &host;
}

/* ---- by name ---- */

static const un__target *target_avx512(void) { return &avx512; }

static const struct { const char *name; const un__target *(*get)(void); } targets[] = {
  {"host", un__target_host}, {"generic", un__target_generic}, {"avx512", target_avx512}, {"interp", un__target_interp}};
enum { TARGETS = sizeof targets / sizeof *targets };

const char *un__target_name(size_t i) {
  if (i < TARGETS) return targets[i].name;
  const un__target *gpu = un__target_gpu(i - TARGETS);
  return gpu ? gpu->gpu.arch : NULL;
}

const un__target *un__target_by_name(const char *name) {
  for (size_t i = 0; i < TARGETS; i++)
    if (strcmp(targets[i].name, name) == 0) return targets[i].get();
  const un__target *gpu;
  for (size_t i = 0; (gpu = un__target_gpu(i)); i++)
    if (strcmp(gpu->gpu.arch, name) == 0) return gpu;
  return NULL;
}

bool un__target_runs_here(const un__target *t) {
  const un__target *h = un__target_host();
  if (t->gpu.arch) return false;
  if (!*t->triple) return true;
#if defined(__x86_64__) && defined(__linux__)
  return strcmp(t->triple, x86_64) == 0 && t->vector_bytes <= h->vector_bytes && t->fma <= h->fma && t->f16_convert <= h->f16_convert;
#else
  return (void)h, false;
#endif
}
