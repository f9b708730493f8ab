/* gpu.c - the device "cuda" on a real GPU, with hand-written kernels: what a stand-in for the driver cannot show.
 *
 *     cuda_gpu [NAME]      skipped as a whole, saying why, where there is no GPU */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kit.h"

static const char add_one[] =
  "extern \"C\" __global__ void f(int *p0, long long n) {\n"
  "  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (long long)blockDim.x) p0[i]++;\n}\n";
/* Takes a while, so that what comes too early is seen. */
static const char add_one_slowly[] =
  "extern \"C\" __global__ void f(int *p0, long long n) {\n"
  "  long long start = clock64();\n"
  "  while (clock64() - start < 20000000) ;\n"
  "  for (long long i = threadIdx.x; i < n; i += blockDim.x) p0[i]++;\n}\n";
static const char wild_store[] = "extern \"C\" __global__ void f(int *p0) { *(volatile int *)((char *)p0 + (1ull << 46)) = 1; }\n";
static const char trap[] = "extern \"C\" __global__ void f(int *p0) { asm volatile(\"trap;\"); }\n";

static un__device *open_first(void) {
  un__device *d;
  OK(un__cuda_open("0", &d, err));
  return d;
}

static un__code *compiled(un__device *d, const char *text, uint32_t nvars, int64_t tasks, uint32_t group, uint32_t shared) {
  un__code *code;
  un__artifact a = artifact_of(text, nvars, tasks);
  a.group = group;
  a.local_bytes = shared;
  OK(d->vt->compile(d, &a, &code, err));
  return code;
}

/* Adds one to n integers and looks at all of them. */
static void check_works(un__device *d, size_t n) {
  un__code *code = compiled(d, add_one, 1, 1000, 256, 0);
  un__mem *m;
  int64_t vars[1] = {(int64_t)n};
  int32_t *x = malloc(n * 4);
  CHECK(x);
  for (size_t i = 0; i < n; i++) x[i] = (int32_t)i;
  OK(d->vt->wrap(d, x, n * 4, &m, err));
  OK(d->vt->launch(d, code, &m, vars, err));
  OK(d->vt->read(d, m, 0, x, n * 4, err));
  for (size_t i = 0; i < n; i++) CHECK(x[i] == (int32_t)i + 1, "%zu: %d", i, x[i]);
  free(x);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
}

static void works(void) {
  un__device *d = open_first();
  check_works(d, 1);
  check_works(d, 10 << 20);
  d->vt->destroy(d);
}

static void target_is_sound(void) {
  un__device *d = open_first();
  const un__gpu *g = &d->target->gpu;
  printf("# %s, %s\n", d->name, d->target->name);
  CHECK(g->units && g->warp == 32 && g->max_group >= 1024 && g->unit_threads >= 1024 && g->unit_registers >= 65536);
  CHECK(g->shared_bytes > 48 * 1024 && g->unit_shared_bytes >= g->shared_bytes && g->l2_bytes > 1 << 20);
  CHECK(g->bytes_per_second > 1e11 && g->bytes_per_second < 1e14 && g->f32_flops > 1e12 && g->f32_flops < 1e15);
  d->vt->destroy(d);
}

static void large_transfers(void) {
  un__device *d = open_first();
  size_t n = 300000001;
  unsigned char *from = malloc(n), *to = calloc(1, n);
  un__mem *m;
  CHECK(from && to);
  for (size_t i = 0; i < n; i++) from[i] = (unsigned char)(i * 2654435761u >> 9);
  OK(d->vt->alloc(d, n + 3, &m, err));
  OK(d->vt->write(d, m, 3, from, n, err));
  OK(d->vt->read(d, m, 3, to, n, err));
  CHECK(memcmp(from, to, n) == 0);
  d->vt->free(d, m);
  free(from);
  free(to);
  d->vt->destroy(d);
}

/* Memory goes from one user to the next while kernels of the first are still to run. */
static void reuse_keeps_the_order(void) {
  enum { N = 1000 };
  un__device *d = open_first();
  un__code *slow = compiled(d, add_one_slowly, 1, 1, 256, 0);
  int64_t vars[1] = {N};
  int32_t x[N];
  un__mem *kept[20];
  for (int round = 0; round < 20; round++) {
    un__mem *m;
    for (int i = 0; i < N; i++) x[i] = 100 * round;
    OK(d->vt->wrap(d, x, sizeof x, &m, err));
    OK(d->vt->launch(d, slow, &m, vars, err));
    OK(d->vt->alloc(d, sizeof x, &kept[round], err));
    OK(d->vt->copy(d, kept[round], m, sizeof x, err));
    d->vt->free(d, m);
  }
  for (int round = 0; round < 20; round++) {
    OK(d->vt->read(d, kept[round], 0, x, sizeof x, err));
    for (int i = 0; i < N; i++) CHECK(x[i] == 100 * round + 1, "round %d, %d: %d", round, i, x[i]);
    d->vt->free(d, kept[round]);
  }
  d->vt->code_release(d, slow);
  d->vt->destroy(d);
}

static void much_shared_memory(void) {
  static const char text[] =
    "extern \"C\" __global__ void f(int *p0) {\n"
    "  extern __shared__ int s[];\n"
    "  for (int i = threadIdx.x; i < 160 * 256; i += blockDim.x) s[i] = i;\n"
    "  __syncthreads();\n"
    "  if (threadIdx.x == 0) { int sum = 0; for (int i = 0; i < 160 * 256; i++) sum ^= s[i] * 3; p0[blockIdx.x] = sum; }\n}\n";
  un__device *d = open_first();
  un__code *code = compiled(d, text, 0, 2, 256, 160 * 1024);
  un__mem *m;
  int32_t x[2], want = 0;
  for (int32_t i = 0; i < 160 * 256; i++) want ^= i * 3;
  OK(d->vt->alloc(d, sizeof x, &m, err));
  OK(d->vt->launch(d, code, &m, NULL, err));
  OK(d->vt->read(d, m, 0, x, sizeof x, err));
  CHECK(x[0] == want && x[1] == want, "%d %d", x[0], x[1]);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
}

/* 2^31 + 10 blocks: the last three leave a mark, and none that is past the last. */
static void more_blocks_than_one_dimension(void) {
  static const char text[] =
    "extern \"C\" __global__ void f(int *p0, long long n) {\n"
    "  long long block = blockIdx.x + (long long)blockIdx.y * gridDim.x;\n"
    "  if (block >= n) return;\n"
    "  if (block >= n - 3 && threadIdx.x == 0) atomicAdd(&p0[block - (n - 3)], 1);\n}\n";
  un__device *d = open_first();
  int64_t n = (INT64_C(1) << 31) + 10, vars[1] = {n};
  un__code *code = compiled(d, text, 1, n, 32, 0);
  un__mem *m;
  int32_t x[4] = {0};
  OK(d->vt->wrap(d, x, sizeof x, &m, err));
  OK(d->vt->launch(d, code, &m, vars, err));
  OK(d->vt->read(d, m, 0, x, sizeof x, err));
  CHECK(x[0] == 1 && x[1] == 1 && x[2] == 1 && x[3] == 0, "%d %d %d %d", x[0], x[1], x[2], x[3]);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
}

static void more_than_4_gib(void) {
  static const char text[] = "extern \"C\" __global__ void f(char *p0, long long n) { p0[n - 1] = 7; }\n";
  un__device *d = open_first();
  int64_t n = (INT64_C(5) << 30) + 1, vars[1] = {n};
  un__code *code = compiled(d, text, 1, 1, 1, 0);
  un__mem *m;
  char x = 0;
  OK(d->vt->alloc(d, (size_t)n, &m, err));
  OK(d->vt->launch(d, code, &m, vars, err));
  OK(d->vt->read(d, m, (size_t)n - 1, &x, 1, err));
  CHECK(x == 7);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
}

static void out_of_memory(void) {
  un__device *d = open_first();
  un__mem *m;
  FAILS(UN_ERR_NOMEM, "cuda:0: no memory for a buffer of", d->vt->alloc(d, (size_t)10 << 40, &m, err));
  check_works(d, 1000);
  d->vt->destroy(d);
}

static void memory_limit(void) {
  un__device *d = open_first();
  un__mem *m;
  FAILS(UN_ERR_NOMEM, "UNIR_CUDA_MEMORY_LIMIT allows 67108864", d->vt->alloc(d, (size_t)65 << 20, &m, err));
  check_works(d, 1 << 20);
  d->vt->destroy(d);
}

static void too_many_registers(void) {
  static const char text[] =
    "extern \"C\" __global__ void f(float *p0) {\n"
    "  float x[200];\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 200; i++) x[i] = p0[i * 1024 + threadIdx.x];\n"
    "  __syncthreads();\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 200; i++) p0[i * 1024 + threadIdx.x] = x[i] * x[199 - i];\n}\n";
  un__device *d = open_first();
  un__code *code = compiled(d, text, 0, 1, 1024, 0);
  un__code_facts f;
  un__mem *m;
  d->vt->facts(d, code, &f);
  printf("# %u registers, %u bytes spilled, %u of local memory\n", f.registers, f.spill_bytes, f.local_bytes);
  OK(d->vt->alloc(d, 200 * 1024 * 4, &m, err));
  if (f.registers > 64) FAILS(UN_ERR_DEVICE, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", d->vt->launch(d, code, &m, NULL, err));
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  check_works(d, 1000);
  d->vt->destroy(d);
}

static void time_is_taken(void) {
  un__device *d = open_first();
  un__code *slow = compiled(d, add_one_slowly, 1, 1, 32, 0);
  un__mem *m;
  un__timer *t;
  double seconds;
  int64_t vars[1] = {1};
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->launch(d, slow, &m, vars, err));
  OK(d->vt->timer_start(d, &t, err));
  for (int i = 0; i < 3; i++) OK(d->vt->launch(d, slow, &m, vars, err));
  OK(d->vt->timer_stop(d, t, &seconds, err));
  printf("# 60 million cycles: %.3f ms\n", seconds * 1e3);
  CHECK(seconds > 0.015 && seconds < 1);
  d->vt->free(d, m);
  d->vt->code_release(d, slow);
  d->vt->destroy(d);
}

static void recordings(void) {
  enum { N = 300 };
  un__device *d = open_first();
  un__code *one = compiled(d, "extern \"C\" __global__ void f(int *p0) { if (!threadIdx.x) p0[0]++; }\n", 0, 1, 32, 0);
  un__mem *m[2];
  un__recording *r;
  un__timer *t;
  int32_t x[2] = {0, 0};
  double seconds;
  for (int i = 0; i < 2; i++) OK(d->vt->wrap(d, &x[i], 4, &m[i], err));
  un__mem *args[1] = {m[0]}, *pair[2] = {m[1], m[0]};
  un__launch list[N + 1];
  for (int i = 0; i < N; i++) list[i] = (un__launch){one, args, 1, 0};
  list[N] = (un__launch){NULL, pair, 2, 4};
  OK(d->vt->record(d, list, N + 1, &r, err));
  OK(d->vt->replay(d, r, err));
  OK(d->vt->timer_start(d, &t, err));
  for (int i = 0; i < 10; i++) OK(d->vt->replay(d, r, err));
  OK(d->vt->timer_stop(d, t, &seconds, err));
  printf("# %.2f us a kernel in a graph of %d\n", seconds / 10 / N * 1e6, N);
  for (int i = 0; i < 2; i++) OK(d->vt->read(d, m[i], 0, &x[i], 4, err));
  CHECK(x[0] == 11 * N && x[1] == 11 * N, "%d %d", x[0], x[1]);
  args[0] = m[1];
  pair[0] = m[0], pair[1] = m[1];
  for (uint32_t i = 0; i <= N; i++) OK(d->vt->update(d, r, i, err));
  OK(d->vt->replay(d, r, err));
  for (int i = 0; i < 2; i++) OK(d->vt->read(d, m[i], 0, &x[i], 4, err));
  CHECK(x[0] == 12 * N && x[1] == 12 * N, "%d %d", x[0], x[1]);
  d->vt->recording_release(d, r);
  for (int i = 0; i < 2; i++) d->vt->free(d, m[i]);
  d->vt->code_release(d, one);
  d->vt->destroy(d);
}

/* ---- faults ---- */

static un__device *lost_device(const char *text, const char *says) {
  un__device *d = open_first();
  un__code *code = compiled(d, text, 0, 1, 1, 0);
  un__mem *m;
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->launch(d, code, &m, NULL, err));
  FAILS(UN_ERR_DEVICE, says, d->vt->sync(d, err));
  FAILS(UN_ERR_DEVICE, "the device's context is lost", d->vt->launch(d, code, &m, NULL, err));
  FAILS(UN_ERR_DEVICE, "the device's context is lost", d->vt->alloc(d, 4, &m, err));
  d->vt->code_release(d, code);
  return d;
}

/* The device of a process in which a kernel has faulted; NULL where the driver gives that no context any more. */
static un__device *open_again(void) {
  un__device *d = NULL;
  un__err e = {0};
  if (un__cuda_open("0", &d, &e) == UN_OK) return d;
  CHECK(e.status == UN_ERR_DEVICE && strstr(e.text, "start the program again"), "%s", e.text);
  printf("# %s\n", e.text);
  return NULL;
}

static void fault_and_again(const char *text, const char *says) {
  un__device *d = lost_device(text, says);
  d->vt->destroy(d);
  if (!(d = open_again())) return;
  check_works(d, 100000);
  d->vt->destroy(d);
}

static void illegal_address(void) { fault_and_again(wild_store, "CUDA_ERROR_ILLEGAL_ADDRESS"); }
static void trapped(void) { fault_and_again(trap, "CUDA_ERROR_"); }

static void opened_beside_the_lost_one(void) {
  un__device *lost = lost_device(wild_store, "CUDA_ERROR_ILLEGAL_ADDRESS"), *d = open_again();
  if (d) check_works(d, 100000);
  lost->vt->destroy(lost);
  if (!d) return;
  check_works(d, 100000);
  d->vt->destroy(d);
}

/* Whether a GPU computes after another one's kernel has faulted is the driver's to decide; if not, it says so. */
static void check_works_or_says_so(un__device *d) {
  un__code *code;
  un__mem *m;
  un__err e = {0};
  un__artifact a = artifact_of(add_one, 1, 1000);
  a.group = 256;
  if (d->vt->compile(d, &a, &code, &e) == UN_OK) {
    d->vt->code_release(d, code);
    check_works(d, 1000);
    return;
  }
  CHECK(e.status == UN_ERR_DEVICE && strstr(e.text, "CUDA_ERROR_") && strstr(e.text, "the device's context is lost"), "%s", e.text);
  printf("# %s\n", e.text);
  FAILS(UN_ERR_DEVICE, "the device's context is lost", d->vt->alloc(d, 4, &m, err));
}

static void other_gpus_go_on(void) {
  int n;
  un__device *other;
  OK(un__cuda_count(&n, err));
  if (n < 2) skip_case("needs two GPUs");
  OK(un__cuda_open("1", &other, err));
  check_works(other, 1000);
  un__device *d = lost_device(wild_store, "CUDA_ERROR_ILLEGAL_ADDRESS");
  check_works_or_says_so(other);
  d->vt->destroy(d);
  check_works_or_says_so(other);
  other->vt->destroy(other);
}

/* ---- processes and threads ---- */

static void after_fork(void) {
  un__device *d = open_first(), *other;
  un__mem *m;
  int status;
  OK(d->vt->alloc(d, 4, &m, err));
  pid_t child = fork();
  if (!child) {
    int x;
    FAILS(UN_ERR_DEVICE, "opened before fork()", d->vt->read(d, m, 0, &x, 4, err));
    FAILS(UN_ERR_DEVICE, "a fork of one that used CUDA", un__cuda_open("0", &other, err));
    d->vt->destroy(d);
    _exit(0);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  d->vt->free(d, m);
  check_works(d, 1000);
  d->vt->destroy(d);
}

static void *work(void *device) {
  for (int i = 0; i < 10; i++) check_works(device, 10000);
  return NULL;
}

static void several_threads(void) {
  enum { N = 8 };
  un__device *d = open_first();
  pthread_t thread[N];
  for (int i = 0; i < N; i++) CHECK(!pthread_create(&thread[i], NULL, work, d));
  for (int i = 0; i < N; i++) pthread_join(thread[i], NULL);
  d->vt->destroy(d);
}

static const test_case cases[] = {
  {"kernels, small and large", works},
  {"the target is sound", target_is_sound},
  {"large transfers", large_transfers},
  {"reuse keeps the order of work", reuse_keeps_the_order},
  {"160 KiB of shared memory", much_shared_memory},
  {"more blocks than one dimension has", more_blocks_than_one_dimension},
  {"more than 4 GiB in one buffer", more_than_4_gib},
  {"out of memory", out_of_memory},
  {"a memory limit", memory_limit, {"UNIR_CUDA_MEMORY_LIMIT=64M"}},
  {"a launch that needs too many registers", too_many_registers},
  {"timers", time_is_taken},
  {"recorded programs", recordings},
  {"an illegal address, and a new device", illegal_address},
  {"a trap, and a new device", trapped},
  {"a new device beside the lost one", opened_beside_the_lost_one},
  {"other GPUs go on, or say that they cannot", other_gpus_go_on},
  {"after fork()", after_fork},
  {"several threads", several_threads},
  {NULL},
};

/* In a process of its own: the cases need one that has not touched CUDA. */
static bool is_there(void) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    un__err err = {0};
    int n;
    if (un__cuda_count(&n, &err) == UN_OK) _exit(0);
    printf("1..0 # SKIP cuda_gpu: %s\n", err.text);
    fflush(stdout);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv) {
  const test_case *const lists[] = {cases, NULL};
  return is_there() ? run_cases(lists, argc > 1 ? argv[1] : "") : 0;
}
