/* run.c - the run side: start-up, overhead of a realise, memory over many rounds. Through the public API. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unir/unir.h>
#include <unistd.h>

#include "base/folder.h"
#include "bench.h"

enum { ROWS = 1437, PIXELS = 64, CLASSES = 10 };

typedef struct step { un_ctx *cx; un_tensor *x, *y, *w, *b; } step;

static bool step_open(step *s, const char *device) {
  static float x[ROWS * PIXELS], y[ROWS * CLASSES];
  for (int i = 0; i < ROWS * PIXELS; i++) x[i] = (float)(i * 7 % 17) / 16.0f;
  for (int i = 0; i < ROWS; i++) y[i * CLASSES + i * 3 % CLASSES] = 1;
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = device;
  if (un_ctx_create(&opt, &s->cx) != UN_OK) return false;
  s->x = un_from_data(s->cx, UN_F32, un_shape(2, ROWS, PIXELS), x);
  s->y = un_from_data(s->cx, UN_F32, un_shape(2, ROWS, CLASSES), y);
  s->w = un_zeros(s->cx, UN_F32, un_shape(2, PIXELS, CLASSES));
  s->b = un_zeros(s->cx, UN_F32, un_shape(2, 1, CLASSES));
  return un_realize(s->cx, 2, (un_tensor *[]){s->w, s->b}) == UN_OK;
}

/* One gradient step; w and b become the new ones. */
static bool step_run(step *s) {
  un_scope_push(s->cx);
  un_tensor *logits = un_add(un_matmul(s->x, s->w), s->b);
  un_tensor *delta = un_muls(un_sub(un_softmax(logits, 1), s->y), 1.0 / ROWS);
  un_tensor *dw = un_matmul(un_transpose(s->x, 0, 1), delta), *db = un_sum(delta, un_list(0), true);
  un_tensor *w = un_sub(s->w, un_muls(dw, 0.5)), *b = un_sub(s->b, un_muls(db, 0.5));
  bool ok = un_realize(s->cx, 2, (un_tensor *[]){w, b}) == UN_OK;
  un_assign(s->w, w);
  un_assign(s->b, b);
  un_scope_pop(s->cx);
  return ok;
}

int bench_cold_start(void) {
  step s;
  float w[PIXELS * CLASSES];
  return !(step_open(&s, "cpu") && step_run(&s) && un_read(s.w, w, sizeof w) == UN_OK && isfinite(w[0]));
}

/* Milliseconds that a process takes for its first step; negative: it failed. */
static double start_process(const char *self) {
  double start = bench_seconds();
  int status = 1;
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, "--cold-start", (char *)NULL);
    _exit(127);
  }
  return child > 0 && waitpid(child, &status, 0) == child && !status ? (bench_seconds() - start) * 1e3 : -1;
}

static void bench_start(const char *self, const char *name, double goal, const char *note) {
  double ms[9];
  for (int i = 0; i < 9; i++)
    if ((ms[i] = start_process(self)) < 0) {
      bench_fail(name, "the child failed");
      return;
    }
  bench_row(name, bench_median(ms, 9), "ms", goal, AT_MOST, note);
}

/* Without and with kernels that another process compiled; what is left then is to load LLVM and the program. */
static void bench_cold(const char *self) {
  char folder[512];
  bench_start(self, "cold start to first digits step, process", 150, "tinygrad 5000 ms");
  if (!un__temp_folder("bench", folder, sizeof folder)) return;
  setenv("UNIR_CACHE_DIR", folder, 1);
  unsetenv("UNIR_CACHE");
  start_process(self);
  bench_start(self, "the same, kernels kept on disk", 60, "nothing is compiled");
  setenv("UNIR_CACHE", "0", 1);
  un__remove_folder(folder);
}

/* On device null nothing runs, so what is left is the overhead. */
static void bench_overhead(void) {
  step s;
  double us[200];
  if (!step_open(&s, "null") || !step_run(&s) || !step_run(&s)) {
    bench_fail("realise of a seen graph", "the step failed");
    return;
  }
  for (int i = 0; i < 200; i++) {
    double start = bench_seconds();
    step_run(&s);
    us[i] = (bench_seconds() - start) * 1e6;
  }
  bench_row("build and realise a seen graph, overhead", bench_median(us, 200), "us", 200, AT_MOST, "digits step, 3 to 6 kernels; tinygrad 19 ms");
  un_ctx_destroy(s.cx);
  if (!step_open(&s, "cpu") || !step_run(&s)) return;
  for (int i = 0; i < 200; i++) {
    double start = bench_seconds();
    step_run(&s);
    us[i] = (bench_seconds() - start) * 1e6;
  }
  bench_row("digits step on the cpu, seen graph", bench_median(us, 200), "us", 0, AT_MOST, "tinygrad 19 to 27 ms");
  un_ctx_destroy(s.cx);
}

enum { CHAIN = 300 };

/* Kernels of four elements, each of which needs the one before. */
static un_tensor *chain(un_ctx *cx, un_tensor *x) {
  un_tensor *y = x;
  for (int i = 0; i < CHAIN; i++) y = un_contiguous(un_add(y, x));
  return y;
}

/* A launch takes and gives back the device's lock, two atomic operations of 20 ns, makes four indirect calls, and copies a
 * few pointers: 0.1 us. */
static void bench_replay(void) {
  static const char name[] = "replay of 300 dependent small kernels, a kernel";
  un_ctx *cx;
  float data[4] = {0};
  double us[200], eager[20];
  if (un_ctx_create(NULL, &cx) != UN_OK) return;
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(1, 4), data);
  for (int i = 0; i < 20; i++) {
    un_scope_push(cx);
    double start = bench_seconds();
    un_realize(cx, 1, (un_tensor *[]){chain(cx, x)});
    eager[i] = (bench_seconds() - start) * 1e6 / CHAIN;
    un_scope_pop(cx);
  }
  un_tensor *y = chain(cx, x);
  un_program *p = un_program_capture(cx, 1, &x, 1, &y, 0, NULL);
  bool ok = p && un_program_launches(p) == CHAIN;
  for (int i = 0; i < 200 && ok; i++) {
    double start = bench_seconds();
    ok = un_program_run(p, 0, NULL) == UN_OK;
    us[i] = (bench_seconds() - start) * 1e6 / CHAIN;
  }
  char note[64];
  snprintf(note, sizeof note, "built and realised each time: %.2f us a kernel", bench_median(eager, 20));
  if (ok) bench_row(name, bench_median(us, 200), "us", 0.1, AT_MOST, note);
  else bench_fail(name, un_error(cx));
  un_ctx_destroy(cx);
}

static double resident_kib(void) {
  FILE *f = fopen("/proc/self/statm", "r");
  long size = 0, resident = 0;
  if (f && fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
  if (f) fclose(f);
  return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static bool small_round(un_ctx *cx, un_tensor *x, int i) {
  un_scope_push(cx);
  un_tensor *y = un_sum(un_mul(un_adds(x, i % 7), x), un_list(1), false);
  bool ok = un_realize(cx, 1, &y) == UN_OK;
  un_scope_pop(cx);
  return ok;
}

static void bench_memory(void) {
  un_ctx *cx;
  float data[64] = {0};
  if (un_ctx_create(NULL, &cx) != UN_OK) return;
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 8, 8), data);
  bool ok = true;
  for (int i = 0; i < 2000 && ok; i++) ok = small_round(cx, x, i);
  double before = resident_kib(), start = bench_seconds();
  for (int i = 0; i < 100000 && ok; i++) ok = small_round(cx, x, i);
  double us = (bench_seconds() - start) / 100000 * 1e6;
  if (!ok) bench_fail("100,000 build-realise-drop rounds", un_error(cx));
  else {
    char note[64];
    snprintf(note, sizeof note, "%.1f us a round; %.0f KiB resident", us, before);
    bench_row("resident memory grown over 100,000 rounds", resident_kib() - before, "KiB", 256, AT_MOST, note);
  }
  un_ctx_destroy(cx);
}

void bench_run_side(const char *self) {
  bench_cold(self);
  bench_overhead();
  bench_replay();
  bench_memory();
}
