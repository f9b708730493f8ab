#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static const char libcuda[] = "libcuda.so.1";
enum { OLDEST = 12000 };                /* 12.0 */

/* Once loaded, for good: libcuda does not like to be closed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static un__cu_driver driver;
static bool loaded;
static pid_t process;                   /* which initialised it */

static const struct { const char *symbol; size_t offset; bool optional; } calls[] = {
#define CALL(name, symbol, ...) {#symbol, offsetof(un__cu_driver, name), false},
#define OPTIONAL(name, symbol, ...) {#symbol, offsetof(un__cu_driver, name), true},
#include "driver.def"
};

static un_status find_calls(void *lib, un__cu_driver *out, const char *file, un__err *err) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    void *at = dlsym(lib, calls[i].symbol);
    if (!at && !calls[i].optional)
      return un__fail(err, UN_ERR_DEVICE, "cuda: %s has no %s: a driver for CUDA %d.%d or newer is needed", file, calls[i].symbol,
                      OLDEST / 1000, OLDEST % 1000 / 10);
    *(void **)((char *)out + calls[i].offset) = at;
  }
  return UN_OK;
}

static un_status start(un__cu_driver *cu, un__err *err) {
  cu_result r = cu->driver_version(&cu->version);
  if (r) return un__cu_fail(cu, r, "cuda", "asking for the driver's version", err);
  if (cu->version < OLDEST)
    return un__fail(err, UN_ERR_DEVICE, "cuda: a driver for CUDA %d.%d or newer is needed, found one for CUDA %d.%d", OLDEST / 1000,
                    OLDEST % 1000 / 10, cu->version / 1000, cu->version % 1000 / 10);
  r = cu->init(0);
  return r ? un__cu_fail(cu, r, "cuda", "starting the driver", err) : UN_OK;
}

static un_status load(un__err *err) {
  const char *named = getenv("UNIR_CUDA_DRIVER"), *file = named && *named ? named : libcuda;
  void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!lib) return un__fail(err, UN_ERR_DEVICE, "cuda: no NVIDIA driver: %s", dlerror());
  un__cu_driver fresh;
  un_status status = find_calls(lib, &fresh, file, err);
  if (status == UN_OK) status = start(&fresh, err);
  if (status != UN_OK) return dlclose(lib), status;
  driver = fresh;
  loaded = true;
  process = getpid();
  return UN_OK;
}

un_status un__cu_driver_get(const un__cu_driver **out, un__err *err) {
  pthread_mutex_lock(&lock);
  un_status status = loaded ? UN_OK : load(err);
  if (status == UN_OK && process != getpid())
    status = un__fail(err, UN_ERR_DEVICE, "cuda: this process is a fork of one that used CUDA, and CUDA works in that one only: "
                                          "fork before a device is opened");
  pthread_mutex_unlock(&lock);
  *out = status == UN_OK ? &driver : NULL;
  return status;
}

/* ---- errors ---- */

/* After these the driver answers every call on the context in the same way. */
static const cu_result sticky[] = {
  214,                                    /* ECC_UNCORRECTABLE */
  220,                                    /* NVLINK_UNCORRECTABLE */
  700, 702, 709, 710,                     /* ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, CONTEXT_IS_DESTROYED, ASSERT */
  714, 715, 716, 717, 718, 719,           /* hardware stack, instruction, alignment, address space, pc; LAUNCH_FAILED */
  721, 999,                               /* TENSOR_MEMORY_LEAK, UNKNOWN */
};

bool un__cu_is_sticky(cu_result r) {
  for (size_t i = 0; i < sizeof sticky / sizeof *sticky; i++)
    if (sticky[i] == r) return true;
  return false;
}

un_status un__cu_fail(const un__cu_driver *cu, cu_result r, const char *device, const char *what, un__err *err) {
  return un__cu_fail_for_good(cu, r, device, what, "the device's context is lost: open a new device", err);
}

un_status un__cu_fail_for_good(const un__cu_driver *cu, cu_result r, const char *device, const char *what, const char *advice,
                               un__err *err) {
  const char *name = NULL, *text = NULL;
  if (cu->error_name(r, &name) || !name) name = "an error without a name";
  if (cu->error_text(r, &text) || !text) text = "";
  return un__fail(err, r == CU_OUT_OF_MEMORY ? UN_ERR_NOMEM : UN_ERR_DEVICE, "%s: %s failed: %s (%d%s%s)%s%s", device, what, name, r,
                  *text ? ", " : "", text, un__cu_is_sticky(r) ? "; " : "", un__cu_is_sticky(r) ? advice : "");
}
