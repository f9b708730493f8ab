/* cases_memory.c - memory of the device: reuse, limits, and the way to and from the host. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kit.h"

enum { MIB = 1 << 20 };

static void blocks_are_reused(void) {
  un__device *d;
  un__mem *a, *b;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->alloc(d, 1000, &a, err));
  d->vt->free(d, a);
  for (size_t size = 513; size <= 1024; size++) {
    OK(d->vt->alloc(d, size, &b, err));
    d->vt->free(d, b);
  }
  CHECK(the_stub()->allocations == 1, "the same block serves all of its class");
  OK(d->vt->alloc(d, 2000, &a, err));
  OK(d->vt->alloc(d, 2000, &b, err));
  CHECK(the_stub()->allocations == 3 && a != b);
  d->vt->free(d, b);
  d->vt->free(d, a);
  d->vt->free(d, NULL);
  OK(d->vt->alloc(d, 0, &a, err));
  OK(d->vt->write(d, a, 0, NULL, 0, err));
  d->vt->free(d, a);
  FAILS(UN_ERR_NOMEM, "too large", d->vt->alloc(d, SIZE_MAX / 2 + 1, &a, err));
  d->vt->destroy(d);
  check_clean();
}

/* A freed block goes to the next user while kernels that read it are still to run: they come first all the same. */
static void reuse_keeps_the_order(void) {
  un__device *d;
  un__code *code;
  un__mem *a, *b;
  int64_t vars[1] = {1};
  int32_t one = 1, hundred = 100, x;
  un__artifact k = artifact_of("f ADD_ONE", 1, 1);
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->compile(d, &k, &code, err));
  OK(d->vt->alloc(d, 4, &a, err));
  OK(d->vt->write(d, a, 0, &one, 4, err));
  OK(d->vt->launch(d, code, &a, vars, err));
  d->vt->free(d, a);
  OK(d->vt->alloc(d, 4, &b, err));
  OK(d->vt->write(d, b, 0, &hundred, 4, err));
  OK(d->vt->launch(d, code, &b, vars, err));
  OK(d->vt->read(d, b, 0, &x, 4, err));
  CHECK(x == 101 && the_stub()->allocations == 1, "%d", x);
  d->vt->free(d, b);
  d->vt->code_release(d, code);
  d->vt->destroy(d);
  check_clean();
}

static void kept_memory_is_given_back(void) {
  un__device *d;
  un__mem *m[30], *large;
  OK(un__cuda_open("0", &d, err));
  for (int i = 0; i < 30; i++) OK(d->vt->alloc(d, 2 * MIB, &m[i], err));
  OK(d->vt->write(d, m[0], 0, "x", 1, err));     /* work that is still to be done */
  for (int i = 0; i < 30; i++) d->vt->free(d, m[i]);
  OK(d->vt->alloc(d, 40 * MIB, &large, err));
  CHECK(the_stub()->blocks == 1, "%d", the_stub()->blocks);
  FAILS(UN_ERR_NOMEM, "cuda:0: no memory for a buffer of 31457280 bytes: 25165824 of the device's 67108864 are free",
        d->vt->alloc(d, 30 * MIB, &m[0], err));
  CHECK(!m[0]);
  OK(d->vt->alloc(d, 10 * MIB, &m[0], err));
  d->vt->free(d, m[0]);
  d->vt->free(d, large);
  d->vt->destroy(d);
  check_clean();
}

static void memory_limit(void) {
  un__device *d;
  un__mem *a, *b;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->alloc(d, 5 * MIB, &a, err));
  FAILS(UN_ERR_NOMEM, "5242880 are in use, and UNIR_CUDA_MEMORY_LIMIT allows 8388608", d->vt->alloc(d, 4 * MIB, &b, err));
  OK(d->vt->alloc(d, 3 * MIB, &b, err));
  d->vt->free(d, a);
  OK(d->vt->alloc(d, 4 * MIB, &a, err));     /* what is kept makes room */
  d->vt->free(d, a);
  d->vt->free(d, b);
  OK(d->vt->alloc(d, 8 * MIB, &a, err));
  d->vt->free(d, a);
  FAILS(UN_ERR_NOMEM, "allows 8388608", d->vt->alloc(d, 9 * MIB, &a, err));
  d->vt->destroy(d);
  check_clean();
}

static void wrong_limits(void) {
  un__device *d;
  const char *wrong[] = {"much", "0", "-5", "5X", "5MM", "5 M", "99999999999T", "M"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("UNIR_CUDA_MEMORY_LIMIT", wrong[i], 1);
    FAILS(UN_ERR_INVALID_ARG, "UNIR_CUDA_MEMORY_LIMIT: expected a number of bytes, as 500M or 8G, got ", un__cuda_open("0", &d, err));
  }
  const char *right[] = {"1", "4096", "5K", "2T", ""};
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    setenv("UNIR_CUDA_MEMORY_LIMIT", right[i], 1);
    OK(un__cuda_open("0", &d, err));
    d->vt->destroy(d);
  }
  check_clean();
}

/* ---- transfers ---- */

static void fill(unsigned char *p, size_t n, unsigned seed) {
  for (size_t i = 0; i < n; i++) p[i] = (unsigned char)((i * 2654435761u >> 7) + seed);
}

/* Larger than what passes through at once, at odd places. */
static void large_transfers(un__device *d, size_t size, size_t offset) {
  unsigned char *from = malloc(size), *to = calloc(1, size);
  un__mem *m;
  CHECK(from && to);
  OK(d->vt->alloc(d, size + offset, &m, err));
  fill(from, size, 1);
  OK(d->vt->write(d, m, offset, from, size, err));
  memset(from, 0, size);                     /* taken is taken */
  OK(d->vt->read(d, m, offset, to, size, err));
  fill(from, size, 1);
  CHECK(memcmp(from, to, size) == 0);
  for (int round = 0; round < 5; round++) {  /* slots are not reused before their bytes have left */
    fill(from, size, (unsigned)round);
    OK(d->vt->write(d, m, 0, from, size, err));
  }
  OK(d->vt->read(d, m, 0, to, size, err));
  CHECK(memcmp(from, to, size) == 0);
  d->vt->free(d, m);
  free(from);
  free(to);
}

static void transfers(void) {
  un__device *d;
  OK(un__cuda_open("0", &d, err));
  size_t sizes[] = {1, 4 * MIB - 1, 4 * MIB, 4 * MIB + 1, 13 * MIB + 5};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) large_transfers(d, sizes[i], i);
  CHECK(the_stub()->pinned == 2);
  d->vt->destroy(d);
  check_clean();
}

static void without_pinned_memory(void) {
  un__device *d;
  fail_call("cuMemHostAlloc", 1, 2);
  OK(un__cuda_open("0", &d, err));
  large_transfers(d, 9 * MIB, 3);
  CHECK(the_stub()->pinned == 1 && the_stub()->failed);
  d->vt->destroy(d);
  check_clean();
}

/* What is wrapped is copied, so a change shows after wrapping again. */
static void wrapped_memory(void) {
  un__device *d;
  un__mem *a, *b;
  int32_t x = 3, y = 0;
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->wrap(d, &x, 4, &a, err));
  x = 4;
  OK(d->vt->wrap(d, &x, 4, &b, err));
  OK(d->vt->read(d, a, 0, &y, 4, err));
  CHECK(y == 3);
  OK(d->vt->read(d, b, 0, &y, 4, err));
  CHECK(y == 4);
  d->vt->free(d, a);
  d->vt->free(d, b);
  d->vt->destroy(d);
  check_clean();
}

static void copies_on_the_device(void) {
  un__device *d;
  un__mem *a, *b;
  int32_t x[3] = {1, 2, 3}, y[2] = {8, 9};
  OK(un__cuda_open("0", &d, err));
  OK(d->vt->wrap(d, x, sizeof x, &a, err));
  OK(d->vt->wrap(d, y, sizeof y, &b, err));
  OK(d->vt->copy(d, b, a, 4, err));
  OK(d->vt->copy(d, b, b, 8, err));
  OK(d->vt->copy(d, b, a, 0, err));
  OK(d->vt->read(d, b, 0, y, sizeof y, err));
  CHECK(y[0] == 1 && y[1] == 9);
  FAILS(UN_ERR_INVALID_ARG, "copy of 12 bytes at 0 leaves a buffer of 8", d->vt->copy(d, b, a, 12, err));
  FAILS(UN_ERR_INVALID_ARG, "copy of 12 bytes at 0 leaves a buffer of 8", d->vt->copy(d, a, b, 12, err));
  d->vt->free(d, a);
  d->vt->free(d, b);
  d->vt->destroy(d);
  check_clean();
}

const test_case memory_cases[] = {
  {"freed blocks are reused", blocks_are_reused},
  {"reuse keeps the order of work", reuse_keeps_the_order},
  {"kept memory is given back when it is missing", kept_memory_is_given_back},
  {"the memory limit", memory_limit, {"UNIR_CUDA_MEMORY_LIMIT=8M"}},
  {"limits that are none", wrong_limits},
  {"transfers in chunks", transfers},
  {"without pinned memory", without_pinned_memory},
  {"wrapped memory", wrapped_memory},
  {"copies on the device", copies_on_the_device},
  {NULL},
};
