/* programs.c - whole programs written against the public API, each beside a plain loop that computes the same: what a
 * user would write first. Results and, where fusion is the point, the number of kernels. TAP.
 *
 *     exec_programs DEVICE
 */
#include "programs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

un_ctx *cx;
static int tests, failures;
static uint32_t seed;

/* ---- data ---- */

uint32_t random_u32(void) {
  seed = seed * 1664525u + 1013904223u;
  return (seed >> 8) ^ (seed << 16);
}

void fill(float *out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = (float)((int)(random_u32() % 33) - 16) / 2;
}

un_tensor *floats(const float *v, un_dims shape) { return un_from_data(cx, UN_F32, shape, v); }
un_tensor *ints(const int32_t *v, un_dims shape) { return un_from_data(cx, UN_I32, shape, v); }

un_tensor *windows(un_tensor *x, int64_t size, int64_t step) {
  int64_t count = (un_dim(x, -1) - size) / step + 1;
  un_tensor *part[64];
  /* Element k of every window: every step-th element from k on. */
  for (int64_t k = 0; k < size; k++) part[k] = un_slice(x, -1, k, k + (count - 1) * step + 1, step);
  return un_stack(cx, (size_t)size, part, -1);
}

/* ---- comparison ---- */

static double element(un_dtype d, const void *at, size_t i) {
  return d == UN_F32 ? (double)((const float *)at)[i] : ((const double *)at)[i];
}

/* The first element that differs, or n. */
static size_t differs(un_dtype d, const void *have, const void *want, size_t n, double tolerance) {
  size_t size = un_dtype_size(d);
  for (size_t i = 0; i < n; i++) {
    if (!memcmp((const char *)have + i * size, (const char *)want + i * size, size)) continue;
    if (d != UN_F32 && d != UN_F64) return i;
    double a = element(d, have, i), b = element(d, want, i);
    if (!(a == b || fabs(a - b) <= tolerance * fmax(1, fabs(b)))) return i;
  }
  return n;
}

static uint64_t kernels_run(void) {
  un_stats s = UN_STATS_INIT;
  return un_get_stats(cx, &s) == UN_OK ? s.kernels_launched : 0;
}

static void report(const char *name, const char *why) {
  printf("%s %d - %s%s%s\n", why[0] ? "not ok" : "ok", ++tests, name, why[0] ? ": " : "", why);
  failures += why[0] != 0;
}

void same(const char *name, un_tensor *t, const void *want, size_t n, double tolerance, uint64_t most) {
  un_dtype d = un_dtype_of(t);
  size_t size = un_dtype_size(d);
  char why[256] = "";
  void *have = calloc(n, size ? size : 1);
  uint64_t before = kernels_run();
  if (!have || un_read(t, have, n * size) != UN_OK) {
    snprintf(why, sizeof why, "%s", un_error(cx));
    un_clear_error(cx);
  } else {
    uint64_t ran = kernels_run() - before;
    size_t i = differs(d, have, want, n, tolerance);
    if (i < n && (d == UN_F32 || d == UN_F64))
      snprintf(why, sizeof why, "element %zu is %.9g, expected %.9g", i, element(d, have, i), element(d, want, i));
    else if (i < n) snprintf(why, sizeof why, "element %zu of %s differs", i, un_dtype_name(d));
    else if (most && ran > most) snprintf(why, sizeof why, "%d kernels, expected at most %d", (int)ran, (int)most);
  }
  report(name, why);
  free(have);
}

int main(int argc, char **argv) {
  static const struct { const char *name; void (*run)(void); } programs[] = {
#define P(name) {#name, name},
    PROGRAMS(P)
#undef P
  };
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  if (argc > 1) opt.device = argv[1];
  if (!strncmp(opt.device, "cuda", 4) && !un_device_count("cuda")) return printf("1..0 # SKIP programs on %s: there is no GPU\n", opt.device), 0;
  if (un_ctx_create(&opt, &cx) != UN_OK) return printf("Bail out! no device %s\n", opt.device), 1;
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    seed = (uint32_t)i;
    un_scope_push(cx);
    programs[i].run();
    un_scope_pop(cx);
  }
  un_collect(cx);
  un_stats s = UN_STATS_INIT;
  un_get_stats(cx, &s);
  report("nothing is left", s.live_nodes || s.bytes_live ? "nodes or bytes are" : "");
  printf("1..%d\n", tests);
  un_ctx_destroy(cx);
  return failures != 0;
}
