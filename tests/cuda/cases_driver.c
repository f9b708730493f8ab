/* cases_driver.c - what is there to be opened, and what is missing; kernels from text to launch. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kit.h"

/* ---- opening ---- */

static void no_driver(void) {
  un__device *d;
  int n;
  FAILS(UN_ERR_DEVICE, "no NVIDIA driver: /nowhere/libcuda.so.1: cannot open", un__cuda_open("0", &d, err));
  CHECK(!d);
  FAILS(UN_ERR_DEVICE, "no NVIDIA driver", un__cuda_count(&n, err));
  CHECK(n == 0);
}

static void foreign_driver(void) {
  un__device *d;
  FAILS(UN_ERR_DEVICE, "libm.so.6 has no cuInit: a driver for CUDA 12.0 or newer is needed", un__cuda_open("0", &d, err));
}

static void old_driver(void) {
  un__device *d;
  FAILS(UN_ERR_DEVICE, "a driver for CUDA 12.0 or newer is needed, found one for CUDA 11.4", un__cuda_open("0", &d, err));
}

static void no_device(void) {
  un__device *d;
  FAILS(UN_ERR_DEVICE, "CUDA_ERROR_NO_DEVICE (100, as asked for)", un__cuda_open("0", &d, err));
}

static void wrong_names(void) {
  un__device *d;
  FAILS(UN_ERR_DEVICE, "cuda:7: the driver shows 2 devices, counted from 0", un__cuda_open("7", &d, err));
  const char *wrong[] = {"", "x", "00", "01", "-1", "1x", "generic", "interp", "sm_1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    FAILS(UN_ERR_DEVICE, "expected a number, sm_80, sm_90a", un__cuda_open(wrong[i], &d, err));
  FAILS(UN_ERR_DEVICE, "the driver shows 2 devices", un__cuda_open("99999999999999999999", &d, err));
}

static void old_gpu(void) {
  un__device *d;
  FAILS(UN_ERR_DEVICE, "cuda:0: its compute capability is 7.5, 8.0 or newer is needed", un__cuda_open("0", &d, err));
}

static void target_is_read(void) {
  un__device *d;
  OK(un__cuda_open("1", &d, err));
  const un__target *t = d->target;
  CHECK(!strcmp(d->name, "cuda:1") && !strcmp(t->gpu.arch, "sm_90a"));
  CHECK(!strcmp(t->name, "gpu-sm_90a-u132-t2048-r65536-s227-228-l60-b4916-f66908"), "%s", t->name);
  CHECK(t->gpu.warp == 32 && t->gpu.max_group == 1024 && t->vector_bytes == 16 && t->has_local && !t->has_threads && t->fma);
  d->vt->destroy(d);
  check_clean();
}

static void devices_are_described(void) {
  un__strbuf text;
  un__sb_init(&text);
  int n;
  OK(un__cuda_count(&n, err));
  CHECK(n == 2);
  OK(un__cuda_describe(1, &text, err));
  CHECK(!strcmp(text.at, "Stub 1, sm_90a, 132 multiprocessors, 64 MiB, driver for CUDA 13.0, NVRTC 13.0"), "%s", text.at);
  CHECK(the_stub()->retained == 0, "describing opens nothing");
  FAILS(UN_ERR_DEVICE, "cuda:2: the driver shows 2 devices", un__cuda_describe(2, &text, err));
  un__sb_finish(&text);
}

static void after_fork(void) {
  un__device *d, *other;
  un__mem *m;
  int status, x = 1;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->alloc(d, 4, &m, err));
  pid_t child = fork();
  if (!child) {
    FAILS(UN_ERR_DEVICE, "opened before fork()", d->vt->read(d, m, 0, &x, 4, err));
    FAILS(UN_ERR_DEVICE, "a fork of one that used CUDA", un__cuda_open("1", &other, err));
    d->vt->free(d, m);
    d->vt->destroy(d);
    _exit(0);
  }
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(d->vt->read(d, m, 0, &x, 4, err));
  d->vt->free(d, m);
  d->vt->destroy(d);
  check_clean();
}

/* ---- compiling ---- */

static void no_compiler(void) {
  un__device *d;
  un__code *code;
  un__artifact a = artifact_of("f ADD_ONE", 1, 1);
  OK(un__cuda_open("0", &d, err));
  FAILS(UN_ERR_DEVICE, "NVRTC cannot be loaded: /nowhere/libnvrtc.so", d->vt->compile(d, &a, &code, err));
  CHECK(!code);
  d->vt->destroy(d);
  check_clean();
}

static void compiler_too_new(void) {
  un__device *d;
  un__code *code;
  un__artifact a = artifact_of("f ADD_ONE", 1, 1);
  OK(un__cuda_open("0", &d, err));
  FAILS(UN_ERR_DEVICE, "is NVRTC 13.0, which needs a driver for CUDA 13.0 or newer, found one for CUDA 12.4",
        d->vt->compile(d, &a, &code, err));
  d->vt->destroy(d);
}

static void bad_kernels(void) {
  un__device *d;
  un__code *code;
  OK(un__cuda_open("0", &d, err));
  un__artifact a = artifact_of("f BAD", 0, 1);
  FAILS(UN_ERR_COMPILE, "CUDA C of f cannot be compiled for sm_90a: NVRTC_ERROR_AS_ASKED: f: line 1: this is BAD",
        d->vt->compile(d, &a, &code, err));
  a = artifact_of("nothing of that name: ADD_ONE", 0, 1);
  a.entry = "missing";
  FAILS(UN_ERR_DEVICE, "finding a kernel failed: CUDA_ERROR_NOT_FOUND", d->vt->compile(d, &a, &code, err));
  a = artifact_of("f ADD_ONE", 0, 1);
  a.format = UN__FORMAT_LLVM_IR;
  FAILS(UN_ERR_UNSUPPORTED, "CUDA C text", d->vt->compile(d, &a, &code, err));
  a = artifact_of("f ADD_ONE", 0, 1);
  a.group = 0;
  FAILS(UN_ERR_UNSUPPORTED, "blocks of 0 threads, expected 1 to 1024", d->vt->compile(d, &a, &code, err));
  a.group = 1025;
  FAILS(UN_ERR_UNSUPPORTED, "blocks of 1025 threads", d->vt->compile(d, &a, &code, err));
  a = artifact_of("f ADD_ONE", 0, 1);
  a.local_bytes = 232449;
  FAILS(UN_ERR_UNSUPPORTED, "needs 232449 bytes of shared memory, a block of sm_90a has 232448", d->vt->compile(d, &a, &code, err));
  d->vt->destroy(d);
  check_clean();
}

static void unknown_architecture(void) {
  un__device *d;
  un__code *code;
  un__artifact a = artifact_of("f ADD_ONE", 0, 1);
  OK(un__cuda_open("0", &d, err));
  FAILS(UN_ERR_DEVICE, "NVRTC 13.0 does not know sm_103a: one that is newer is needed", d->vt->compile(d, &a, &code, err));
  d->vt->destroy(d);
}

static void facts_are_kept(void) {
  un__device *d;
  un__code *code;
  un__code_facts f;
  un__artifact a = artifact_of("f ADD_ONE", 1, 1);
  a.local_bytes = 1000;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  d->vt->facts(d, code, &f);
  CHECK(f.registers == 40 && f.local_bytes == 16 && f.spill_bytes == 12 && f.shared_bytes == 1128);
  CHECK(the_stub()->shared_settings == 0);
  d->vt->code_release(d, code);
  a.local_bytes = 49153;
  OK(d->vt->compile(d, &a, &code, err));
  CHECK(the_stub()->shared_settings == 1, "more than 48 KiB are asked for");
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

/* What one process compiled another one loads, without text and without a compiler. */
static void kept_code(void) {
  un__device *d;
  un__code *code;
  un__mem *m;
  un__blob kept = {NULL, 0};
  un__strbuf identity;
  int64_t vars[1] = {1};
  int32_t x = 1;
  un__artifact a = artifact_of("f ADD_ONE", 1, 1);
  a.keep = &kept;
  un__sb_init(&identity);
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->identity(d, &identity, err));
  CHECK(!strcmp(identity.at, "cuda sm_90a NVRTC 13.0 --fmad=false -default-device --std=c++17"), "%s", identity.at);
  un__sb_finish(&identity);
  OK(d->vt->compile(d, &a, &code, err));
  d->vt->code_release(d, code);
  CHECK(kept.bytes && kept.size == sizeof "f ADD_ONE");
  fail_call("nvrtcCompileProgram", 0, 1);
  a = artifact_of("", 1, 1);
  a.binary = kept;
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->wrap(d, &x, 4, &m, err));
  OK(d->vt->launch(d, code, &m, vars, err));
  OK(d->vt->read(d, m, 0, &x, 4, err));
  CHECK(x == 2);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  un__free(kept.bytes);
  a = artifact_of("f BAD", 1, 1);
  kept = (un__blob){NULL, 0};
  a.keep = &kept;
  FAILS(UN_ERR_COMPILE, "cannot be compiled", d->vt->compile(d, &a, &code, err));
  CHECK(!kept.bytes);
  d->vt->destroy(d);
  check_clean();
}

static void described_gpu(void) {
  un__device *d;
  un__code *code;
  un__mem *m;
  char *text;
  int x = 7, y = 0;
  un__artifact a = artifact_of("f ADD_ONE", 0, 1);
  OK(un__cuda_open("sm_80", &d, err));
  CHECK(!strcmp(d->name, "cuda:sm_80") && !strcmp(d->vt->kind, "cuda"));
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->write(d, m, 0, &x, 4, err));
  OK(d->vt->read(d, m, 0, &y, 4, err));
  CHECK(y == 7);
  FAILS(UN_ERR_UNSUPPORTED, "cuda:sm_80: a GPU that is described only cannot run kernels", d->vt->launch(d, code, &m, NULL, err));
  OK(d->vt->disassemble(d, &a, &text, err));
  CHECK(!strcmp(text, "// sm_80: 17 registers, 12 bytes spilled, 64 bytes of local memory, 256 bytes of shared memory\nf ADD_ONE"), "%s", text);
  un__free(text);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

/* ---- launching ---- */

static void launch_grid(un__device *d, int64_t tasks, unsigned x, unsigned y) {
  un__code *code;
  un__mem *m;
  int64_t vars[1] = {0};
  un__artifact a = artifact_of("f ADD_ONE", 1, tasks);
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->launch(d, code, &m, vars, err));
  stub_launch l = the_stub()->last;
  CHECK(l.x == x && l.y == y && l.z == 1 && l.threads == 32, "%u, %u, %u of %u", l.x, l.y, l.z, l.threads);
  d->vt->free(d, m);
  d->vt->code_release(d, code);
}

static void grids(void) {
  un__device *d;
  un__code *code;
  un__mem *m;
  int64_t vars[1] = {0};
  OK(un__cuda_open("0", &d, err));
  launch_grid(d, 1, 1, 1);
  launch_grid(d, INT32_MAX, INT32_MAX, 1);
  launch_grid(d, (int64_t)INT32_MAX + 1, 1u << 30, 2);
  launch_grid(d, 5000000001, 1666666667, 3);
  launch_grid(d, (int64_t)INT32_MAX * 65535, INT32_MAX, 65535);
  un__artifact a = artifact_of("f ADD_ONE", 1, (int64_t)INT32_MAX * 65535 + 1);
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->compile(d, &a, &code, err));
  FAILS(UN_ERR_UNSUPPORTED, "expected at most 140735340806145", d->vt->launch(d, code, &m, vars, err));
  d->vt->code_release(d, code);
  int before = the_stub()->launches;
  a = artifact_of("f ADD_ONE", 1, 0);
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->launch(d, code, &m, vars, err));
  CHECK(the_stub()->launches == before, "no blocks, no launch");
  d->vt->code_release(d, code);
  d->vt->free(d, m);
  d->vt->destroy(d);
  check_clean();
}

static void work_is_in_order(void) {
  un__device *d;
  un__code *code;
  un__mem *m;
  int32_t x[100] = {0};
  int64_t vars[1] = {100};
  un__artifact a = artifact_of("f ADD_ONE", 1, 4);
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->alloc(d, sizeof x, &m, err));
  for (int i = 0; i < 100; i++) x[i] = i;
  OK(d->vt->write(d, m, 0, x, sizeof x, err));
  for (int i = 0; i < 100; i++) x[i] = -1;     /* what was written is no longer needed */
  for (int i = 0; i < 3; i++) OK(d->vt->launch(d, code, &m, vars, err));
  OK(d->vt->read(d, m, 0, x, sizeof x, err));
  for (int i = 0; i < 100; i++) CHECK(x[i] == i + 3, "%d: %d", i, x[i]);
  FAILS(UN_ERR_INVALID_ARG, "read of 400 bytes at 4 leaves a buffer of 400", d->vt->read(d, m, 4, x, sizeof x, err));
  FAILS(UN_ERR_INVALID_ARG, "write of 1 bytes at 400", d->vt->write(d, m, 400, x, 1, err));
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

/* A recorded program is one launch, reads its arguments as they were at the last update, and leaves out what is nothing. */
static void recordings(void) {
  un__device *d;
  un__code *code, *nothing;
  un__mem *m[2];
  un__recording *r;
  int32_t x[2];
  un__artifact a = artifact_of("f ADD_ONE to one", 0, 7), none = artifact_of("f ADD_ONE to one", 0, 0);
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->compile(d, &none, &nothing, err));
  for (int32_t i = 0; i < 2; i++) OK(d->vt->wrap(d, (int32_t[]){10 * i}, 4, &m[i], err));
  un__mem *args[1] = {m[0]}, *pair[2] = {m[1], m[0]};
  un__launch list[5] = {{nothing, args, 1, 0}, {code, args, 1, 0}, {NULL, pair, 2, 0}, {code, args, 1, 0}, {NULL, pair, 2, 4}};
  OK(d->vt->record(d, list, 5, &r, err));
  OK(d->vt->replay(d, r, err));
  OK(d->vt->replay(d, r, err));
  for (int i = 0; i < 2; i++) OK(d->vt->read(d, m[i], 0, &x[i], 4, err));
  CHECK(x[0] == 4 && x[1] == 4 && the_stub()->replays == 2 && the_stub()->launches == 0, "%d %d", x[0], x[1]);
  args[0] = m[1];
  OK(d->vt->replay(d, r, err));
  for (uint32_t i = 0; i < 4; i++) OK(d->vt->update(d, r, i, err));
  OK(d->vt->replay(d, r, err));
  for (int i = 0; i < 2; i++) OK(d->vt->read(d, m[i], 0, &x[i], 4, err));
  CHECK(x[0] == 6 && x[1] == 6, "%d %d", x[0], x[1]);
  pair[0] = m[0], pair[1] = m[1];
  OK(d->vt->update(d, r, 4, err));
  OK(d->vt->replay(d, r, err));
  for (int i = 0; i < 2; i++) OK(d->vt->read(d, m[i], 0, &x[i], 4, err));
  CHECK(x[0] == 8 && x[1] == 8, "%d %d", x[0], x[1]);
  d->vt->recording_release(d, r);
  list[4].bytes = 8;
  FAILS(UN_ERR_INVALID_ARG, "copy of 8 bytes", d->vt->record(d, list, 5, &r, err));
  CHECK(!r);
  for (int i = 0; i < 2; i++) d->vt->free(d, m[i]);
  d->vt->code_release(d, code);
  d->vt->code_release(d, nothing);
  d->vt->destroy(d);
  check_clean();
}

/* Three kernels, a copy, a kernel. How many kernels may begin before those in front of them have ended: launched, and in a recording. */
static void check_overlap(bool waits, int want_launches, int want_edges) {
  un__device *d;
  un__code *code;
  un__mem *m[2];
  un__recording *r;
  int32_t x;
  un__artifact a = artifact_of("f ADD_ONE to one", 0, 1);
  a.waits = waits;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  for (int i = 0; i < 2; i++) OK(d->vt->wrap(d, (int32_t[]){10}, 4, &m[i], err));
  for (int i = 0; i < 3; i++) OK(d->vt->launch(d, code, m, NULL, err));
  CHECK(the_stub()->launches == 3 && the_stub()->early_launches == want_launches, "%d", the_stub()->early_launches);
  un__launch list[5] = {{code, m, 1, 0}, {code, m, 1, 0}, {code, m, 1, 0}, {NULL, m, 2, 4}, {code, m, 1, 0}};
  un__mem *pair[2] = {m[1], m[0]};
  list[3].args = pair;
  OK(d->vt->record(d, list, 5, &r, err));
  CHECK(the_stub()->early_edges == want_edges, "%d", the_stub()->early_edges);
  OK(d->vt->replay(d, r, err));
  OK(d->vt->read(d, m[1], 0, &x, 4, err));
  CHECK(x == 16, "%d", x);
  OK(d->vt->read(d, m[0], 0, &x, 4, err));
  CHECK(x == 17, "%d", x);
  d->vt->recording_release(d, r);
  for (int i = 0; i < 2; i++) d->vt->free(d, m[i]);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

static void kernels_overlap(void) { check_overlap(true, 3, 2); }
static void kernels_that_do_not_wait(void) { check_overlap(false, 0, 0); }
static void kernels_of_an_older_gpu(void) { check_overlap(true, 0, 0); }

static void a_driver_without_edges(void) {
  use_old_stub();
  check_overlap(true, 3, 0);
}

/* The driver has the call and takes no such edge. */
static void edges_that_are_refused(void) {
  fail_call("cuGraphAddDependencies_v2", 0, 801);
  check_overlap(true, 3, 1);
}

static void many_arguments(void) {
  enum { N = 300 };
  un__device *d;
  un__code *code;
  un__mem *m[N];
  int64_t vars[1] = {1};
  int32_t x = 5;
  un__artifact a = artifact_of("f FORGET", 1, 1);
  a.nargs = N;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  for (int i = 0; i < N; i++) OK(d->vt->wrap(d, &x, 4, &m[i], err));
  OK(d->vt->launch(d, code, m, vars, err));
  OK(d->vt->sync(d, err));
  for (int i = 0; i < N; i++) d->vt->free(d, m[i]);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

static void time_is_taken(void) {
  un__device *d;
  un__code *code;
  un__mem *m;
  un__timer *t;
  double seconds;
  int64_t vars[1] = {1};
  un__artifact a = artifact_of("f ADD_ONE", 1, 1);
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->timer_start(d, &t, err));
  for (int i = 0; i < 4; i++) OK(d->vt->launch(d, code, &m, vars, err));
  OK(d->vt->timer_stop(d, t, &seconds, err));
  CHECK(seconds > 0.00499 && seconds < 0.00501, "each piece of work takes the stand-in a millisecond");
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

typedef struct worker { un__device *d; int32_t result; } worker;

static void *work(void *data) {
  worker *w = data;
  un__device *d = w->d;
  int64_t vars[1] = {64};
  int32_t x[64] = {0};
  for (int round = 0; round < 50; round++) {
    un__code *code;
    un__mem *m;
    un__artifact a = artifact_of("f ADD_ONE", 1, 2);
    OK(d->vt->compile(d, &a, &code, err));
    OK(d->vt->alloc(d, sizeof x, &m, err));
    OK(d->vt->write(d, m, 0, x, sizeof x, err));
    OK(d->vt->launch(d, code, &m, vars, err));
    OK(d->vt->read(d, m, 0, x, sizeof x, err));
    d->vt->free(d, m);
    d->vt->code_release(d, code);
  }
  w->result = x[63];
  return NULL;
}

static void several_threads(void) {
  enum { THREADS = 4 };
  un__device *d;
  pthread_t thread[THREADS];
  worker w[THREADS];
  OK(un__cuda_open("0", &d, err));
  for (int i = 0; i < THREADS; i++) {
    w[i] = (worker){d, 0};
    CHECK(!pthread_create(&thread[i], NULL, work, &w[i]));
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(thread[i], NULL);
    CHECK(w[i].result == 50, "thread %d: %d", i, w[i].result);
  }
  d->vt->destroy(d);
  check_clean();
}

const test_case driver_cases[] = {
  {"no driver", no_driver, {"UNIR_CUDA_DRIVER=/nowhere/libcuda.so.1"}},
  {"a library that is no driver", foreign_driver, {"UNIR_CUDA_DRIVER=libm.so.6"}},
  {"an old driver", old_driver, {"STUB_VERSION=11040"}},
  {"a driver without devices", no_device, {"STUB_DEVICES=0"}},
  {"names of devices that are not there", wrong_names},
  {"an old GPU", old_gpu, {"STUB_CAPABILITY=75"}},
  {"a device's target is read from it", target_is_read},
  {"devices are counted and described", devices_are_described},
  {"after fork()", after_fork},
  {"no compiler", no_compiler, {"UNIR_NVRTC=/nowhere/libnvrtc.so"}},
  {"a compiler newer than the driver", compiler_too_new, {"STUB_VERSION=12040"}},
  {"kernels that cannot be compiled", bad_kernels},
  {"an architecture that the compiler does not know", unknown_architecture, {"STUB_CAPABILITY=103"}},
  {"what the compiler says of a kernel", facts_are_kept},
  {"code that is kept", kept_code},
  {"a GPU that is described only", described_gpu, {"UNIR_CUDA_DRIVER=/nowhere/libcuda.so.1"}},
  {"grids", grids},
  {"work is done in order", work_is_in_order},
  {"recorded programs", recordings},
  {"kernels overlap", kernels_overlap},
  {"kernels that do not wait do not", kernels_that_do_not_wait},
  {"kernels of an older GPU do not", kernels_of_an_older_gpu, {"STUB_CAPABILITY=80"}},
  {"an older driver records without", a_driver_without_edges},
  {"a driver that refuses to", edges_that_are_refused},
  {"more arguments than fit on the stack", many_arguments},
  {"timers", time_is_taken},
  {"several threads", several_threads},
  {NULL},
};
