/* api.c - the public calls on the device "cuda" with the stand-in driver: names, counts, data to the device and back.
 *
 *     cuda_api STUB [NAME] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unir/unir.h>

#include "kit.h"

static un_ctx *context_on(const char *device) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *cx;
  opt.device = device;
  CHECK(un_ctx_create(&opt, &cx) == UN_OK, "%s", device);
  return cx;
}

static void names(void) {
  un_ctx *first = context_on("cuda"), *second = context_on("cuda:1"), *described = context_on("cuda:sm_90a");
  CHECK(!strcmp(un_device(first), "cuda:0") && !strcmp(un_device(second), "cuda:1") && !strcmp(un_device(described), "cuda:sm_90a"));
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  const char *wrong[] = {"cuda:2", "cuda:", "cuda:x", "cuda:0:0", "cuda:generic", "null:sm_80", "cpu:sm_80"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    un_ctx *cx;
    opt.device = wrong[i];
    CHECK(un_ctx_create(&opt, &cx) == UN_ERR_DEVICE && !cx, "%s", wrong[i]);
  }
  un_ctx_destroy(first);
  un_ctx_destroy(second);
  un_ctx_destroy(described);
}

static void counts(void) {
  CHECK(un_device_count("cuda") == 2 && un_device_count("cuda:0") == 0);
}

static void no_driver_counts(void) {
  CHECK(un_device_count("cuda") == 0);
  un_ctx *cx = context_on("cuda:sm_80");     /* needs none */
  un_ctx_destroy(cx);
}

static void data_and_back(void) {
  un_ctx *cx = context_on("cuda");
  float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
  un_tensor *copied = un_from_data(cx, UN_F32, un_shape(2, 2, 3), x), *wrapped = un_wrap_data(cx, UN_F32, un_shape(1, 6), x);
  CHECK(copied && wrapped, "%s", un_error(cx));
  x[0] = 10;
  CHECK(un_read(copied, y, sizeof y) == UN_OK && y[0] == 1 && y[5] == 6, "%s", un_error(cx));
  CHECK(un_read(wrapped, y, sizeof y) == UN_OK && y[0] == 1, "%s", un_error(cx));
  CHECK(un_touch(wrapped) == UN_OK, "%s", un_error(cx));
  CHECK(un_read(wrapped, y, sizeof y) == UN_OK && y[0] == 10, "%s", un_error(cx));
  un_ctx_destroy(cx);
  stub_state *s = the_stub();
  CHECK(!s->blocks && !s->retained && !s->errors);
}

static void no_memory(void) {
  static const float zeros[1 << 20];
  un_ctx *cx = context_on("cuda");
  un_tensor *t = un_from_data(cx, UN_F32, un_shape(1, 1 << 20), zeros);
  CHECK(!t && un_error_status(cx) == UN_ERR_NOMEM);
  CHECK(strstr(un_error(cx), "UNIR_CUDA_MEMORY_LIMIT allows 1048576"), "%s", un_error(cx));
  un_ctx_destroy(cx);
}

/* One context's device is lost in the middle; those of other devices are not. */
static void lost_in_the_middle(void) {
  un_ctx *cx = context_on("cuda:0"), *other = context_on("cuda:1");
  float x = 3, y = 0;
  un_tensor *t = un_from_data(cx, UN_F32, un_shape(0), &x), *u = un_from_data(other, UN_F32, un_shape(0), &x);
  fail_call("cuStreamSynchronize", 0, 719);
  CHECK(un_read(t, &y, sizeof y) == UN_ERR_DEVICE && strstr(un_error(cx), "CUDA_ERROR_LAUNCH_FAILED"), "%s", un_error(cx));
  un_clear_error(cx);
  CHECK(un_read(t, &y, sizeof y) == UN_ERR_DEVICE && strstr(un_error(cx), "open a new device"), "%s", un_error(cx));
  CHECK(un_read(u, &y, sizeof y) == UN_OK && y == 3, "%s", un_error(other));
  un_ctx *again = context_on("cuda:0");
  un_tensor *v = un_from_data(again, UN_F32, un_shape(0), &x);
  un_ctx_destroy(cx);
  CHECK(un_read(v, &y, sizeof y) == UN_OK && y == 3, "%s", un_error(again));
  un_ctx_destroy(again);
  un_ctx_destroy(other);
}

/* More than one piece of it, from GPU to GPU, to the host and back. */
static void from_device_to_device(void) {
  enum { N = 800000 };
  static int32_t x[N], y[N];
  for (int32_t i = 0; i < N; i++) x[i] = i * 7;
  un_ctx *cx = context_on("cuda:0");
  un_tensor *t = un_from_data(cx, UN_I32, un_shape(1, N), x);
  static const char *const way[] = {"cuda:1", "interp", "cuda:1", "cuda:0", "null", "cuda:0"};
  for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
    un_tensor *there = un_to(t, way[i]);
    memset(y, 0, sizeof y);
    CHECK(un_read(there, y, sizeof y) == UN_OK, "%s: %s", way[i], un_error(cx));
    CHECK(!memcmp(x, y, sizeof x), "%s", way[i]);
    t = there;
  }
  un_stats s = UN_STATS_INIT;
  CHECK(un_get_stats(cx, &s) == UN_OK && s.kernels_compiled == 0);
  un_ctx_destroy(cx);
  check_clean();
}

/* A GPU that is lost takes what is on it, and nothing else. */
static void lost_beside_another(void) {
  float x = 3, y = 0;
  un_ctx *cx = context_on("cuda:0");
  un_tensor *t = un_from_data(cx, UN_F32, un_shape(0), &x), *there = un_to(t, "cuda:1");
  CHECK(un_realize(cx, 1, &there) == UN_OK, "%s", un_error(cx));
  fail_call("cuStreamSynchronize", 0, 719);
  CHECK(un_read(t, &y, sizeof y) == UN_ERR_DEVICE);
  un_clear_error(cx);
  un_tensor *from_lost = un_to(un_reshape(t, un_shape(1, 1)), "cuda:1"), *from_other = un_to(there, "interp");
  CHECK(un_realize(cx, 1, &from_lost) == UN_ERR_DEVICE && strstr(un_error(cx), "cuda:0: the device's context is lost"), "%s", un_error(cx));
  un_clear_error(cx);
  CHECK(un_read(from_other, &y, sizeof y) == UN_OK && y == 3, "%s", un_error(cx));
  un_ctx_destroy(cx);
}

static const test_case cases[] = {
  {"names", names},
  {"counts", counts},
  {"counts without a driver", no_driver_counts, {"UNIR_CUDA_DRIVER=/nowhere/libcuda.so.1"}},
  {"data to the device and back", data_and_back},
  {"no memory", no_memory, {"UNIR_CUDA_MEMORY_LIMIT=1M"}},
  {"lost in the middle", lost_in_the_middle},
  {"from device to device", from_device_to_device},
  {"lost beside another", lost_beside_another},
  {NULL},
};

int main(int argc, char **argv) {
  const test_case *const lists[] = {cases, NULL};
  return use_stub(argc, argv) ? run_cases(lists, argc > 2 ? argv[2] : "") : 2;
}
