#include "nvrtc.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef struct nvrtc_program_ *nvrtc_program;

typedef struct nvrtc {
#define CALL(result, name, symbol, ...) result (*name)(__VA_ARGS__);
#include "nvrtc.def"
#undef CALL
  int major, minor;
} nvrtc;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static nvrtc library;
static bool loaded;

/* ---- finding it ---- */

static const struct { const char *symbol; size_t offset; } calls[] = {
#define CALL(result, name, symbol, ...) {#symbol, offsetof(nvrtc, name)},
#include "nvrtc.def"
#undef CALL
};

static un_status find_calls(void *lib, const char *file, nvrtc *out, un__err *err) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    void *at = dlsym(lib, calls[i].symbol);
    if (!at) return un__fail(err, UN_ERR_DEVICE, "cuda: %s has no %s: NVRTC 12.0 or newer is needed", file, calls[i].symbol);
    *(void **)((char *)out + calls[i].offset) = at;
  }
  if (out->version(&out->major, &out->minor)) return un__fail(err, UN_ERR_DEVICE, "cuda: %s does not say its version", file);
  return UN_OK;
}

/* A driver loads what compilers of its own major version, or an older one, made. */
static bool driver_takes(const nvrtc *n, int driver) { return !driver || n->major <= driver / 1000; }

static un_status load_file(const char *file, int driver, un__err *err) {
  void *lib = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!lib) return un__fail(err, UN_ERR_DEVICE, "cuda: NVRTC cannot be loaded: %s", dlerror());
  nvrtc fresh;
  un_status status = find_calls(lib, file, &fresh, err);
  if (status == UN_OK && !driver_takes(&fresh, driver))
    status = un__fail(err, UN_ERR_DEVICE, "cuda: %s is NVRTC %d.%d, which needs a driver for CUDA %d.0 or newer, found one for CUDA %d.%d",
                      file, fresh.major, fresh.minor, fresh.major, driver / 1000, driver % 1000 / 10);
  if (status != UN_OK) return dlclose(lib), status;
  library = fresh;
  loaded = true;
  return UN_OK;
}

/* Tries the names in a folder; "" is the loader's path. Of what was there and did not do, *why says the first. */
static bool load_from(const char *folder, int driver, un__err *why) {
  static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  char path[512];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    int n = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", names[i]);
    if (n < 0 || (size_t)n >= sizeof path) continue;
    un__err err = {0};
    if (load_file(path, driver, &err) == UN_OK) return true;
    if (!strstr(err.text, "cannot open shared object file")) un__err_copy(why, &err);
  }
  return false;
}

static un_status search(int driver, un__err *err) {
  const char *named = getenv("UNIR_NVRTC"), *home = getenv("CUDA_HOME");
  if (named && *named) return load_file(named, driver, err);
  char lib64[400] = "";
  if (home && *home) snprintf(lib64, sizeof lib64, "%s/lib64", home);
  un__err why = {0};
  if ((*lib64 && load_from(lib64, driver, &why)) || load_from("", driver, &why) || load_from("/usr/local/cuda/lib64", driver, &why))
    return UN_OK;
  if (why.status != UN_OK) return un__err_copy(err, &why);
  return un__fail(err, UN_ERR_DEVICE, "cuda: no NVRTC (libnvrtc.so.13 or .12): it comes with the CUDA toolkit; looked on the loader's "
                                      "path, in CUDA_HOME and in /usr/local/cuda; UNIR_NVRTC may name the file");
}

static un_status get(int driver, const nvrtc **out, un__err *err) {
  pthread_mutex_lock(&lock);
  un_status status = loaded ? UN_OK : search(driver, err);
  pthread_mutex_unlock(&lock);
  *out = &library;
  return status;
}

un_status un__nvrtc_version(int driver, int *out_major, int *out_minor, un__err *err) {
  const nvrtc *n;
  UN__TRY(get(driver, &n, err));
  *out_major = n->major;
  *out_minor = n->minor;
  return UN_OK;
}

/* ---- compiling ---- */

enum { MAX_ARCHS = 128 };

static un_status check_arch(const nvrtc *n, const char *arch, un__err *err) {
  int count = 0, known[MAX_ARCHS], want = atoi(arch + strlen("sm_"));
  if (n->arch_count(&count) || count > MAX_ARCHS || n->archs(known)) return UN_OK;     /* the compiler will say it */
  for (int i = 0; i < count; i++)
    if (known[i] == want) return UN_OK;
  return un__fail(err, UN_ERR_DEVICE, "cuda: NVRTC %d.%d does not know %s: one that is %s is needed", n->major, n->minor, arch,
                  count && want > known[count - 1] ? "newer" : "older");
}

/* The compiler's log as text, the caller's; NULL: no memory, or no log. */
static char *log_of(const nvrtc *n, nvrtc_program p) {
  size_t size = 0;
  if (n->log_size(p, &size)) return NULL;
  char *text = un__alloc(size + 1);
  if (!text) return NULL;
  text[size] = '\0';
  if (size && n->log(p, text)) text[0] = '\0';
  return text;
}

static un_status bad_text(const nvrtc *n, nvrtc_program p, const un__cu_source *s, int result, un__err *err) {
  char *log = log_of(n, p);
  un_status status = un__fail(err, UN_ERR_COMPILE, "CUDA C of %s cannot be compiled for %s: %s: %s", s->entry, s->arch,
                              n->error_text(result), log ? log : "");
  un__free(log);
  return status;
}

/* No contraction but what the kernel says itself; no header is read. */
#define OPTIONS(_) _("--fmad=false") _("-default-device") _("--std=c++17")
#define AS_ITEM(text) text,
#define AS_TEXT(text) " " text
const char un__nvrtc_options[] = OPTIONS(AS_TEXT);

/* The compiler may leave out what no kernel uses (textures, launches from kernels): a seventh of the time of a small one. Since
 * 12.4; the code is the same. */
static bool knows_minimal(const nvrtc *n) { return n->major > 12 || (n->major == 12 && n->minor >= 4); }

static un_status compile(const nvrtc *n, const un__cu_source *s, bool ptx, nvrtc_program *out, un__err *err) {
  char arch[64];
  snprintf(arch, sizeof arch, "--gpu-architecture=%s%s", ptx ? "compute_" : "sm_", s->arch + strlen("sm_"));
  const char *options[] = {arch, OPTIONS(AS_ITEM) "-minimal", "-Xptxas=-v"};
  int count = (int)(sizeof options / sizeof *options);
  if (!knows_minimal(n)) options[count - 2] = options[count - 1], count--;
  UN__TRY(check_arch(n, s->arch, err));
  int r = n->create(out, s->text, s->entry, 0, NULL, NULL);
  if (r) return un__fail(err, UN_ERR_NOMEM, "cuda: NVRTC cannot take a kernel: %s", n->error_text(r));
  r = n->compile(*out, count - ptx, options);
  if (!r) return UN_OK;
  un_status status = bad_text(n, *out, s, r, err);
  n->destroy(out);
  return status;
}

/* The number before (sign -1) or behind (sign 1) the first place where the log has `words`. */
static uint32_t number_at(const char *log, const char *words, int sign) {
  const char *at = strstr(log, words);
  if (!at) return 0;
  if (sign > 0) return (uint32_t)strtoul(at + strlen(words), NULL, 10);
  while (at > log && at[-1] >= '0' && at[-1] <= '9') at--;
  return (uint32_t)strtoul(at, NULL, 10);
}

static void read_facts(const char *log, un__code_facts *out) {
  *out = (un__code_facts){.registers = number_at(log, "Used ", 1), .local_bytes = number_at(log, " bytes stack frame", -1),
                        .spill_bytes = number_at(log, " bytes spill stores", -1) + number_at(log, " bytes spill loads", -1),
                        .shared_bytes = number_at(log, " bytes smem", -1)};
}

typedef int (*size_call)(nvrtc_program, size_t *);
typedef int (*bytes_call)(nvrtc_program, char *);

static un_status take(const nvrtc *n, nvrtc_program p, size_call size_of, bytes_call bytes_of, char **out, size_t *out_size,
                      un__err *err) {
  int r = size_of(p, out_size);
  if (r) return un__fail(err, UN_ERR_COMPILE, "cuda: NVRTC gives no code: %s", n->error_text(r));
  char *bytes = un__alloc(*out_size + 1);
  if (!bytes) return un__fail(err, UN_ERR_NOMEM, "no memory for a kernel's code");
  bytes[*out_size] = '\0';
  r = bytes_of(p, bytes);
  if (!r) return *out = bytes, UN_OK;
  un__free(bytes);
  return un__fail(err, UN_ERR_COMPILE, "cuda: NVRTC gives no code: %s", n->error_text(r));
}

un_status un__nvrtc_cubin(const un__cu_source *s, char **out, size_t *out_size, un__code_facts *facts, un__err *err) {
  const nvrtc *n;
  nvrtc_program p;
  *out = NULL;
  UN__TRY(get(s->driver, &n, err));
  UN__TRY(compile(n, s, false, &p, err));
  char *log = log_of(n, p);
  read_facts(log ? log : "", facts);
  un__free(log);
  un_status status = take(n, p, n->cubin_size, n->cubin, out, out_size, err);
  n->destroy(&p);
  return status;
}

un_status un__nvrtc_ptx(const un__cu_source *s, char **out, un__err *err) {
  const nvrtc *n;
  nvrtc_program p;
  size_t size;
  *out = NULL;
  UN__TRY(get(s->driver, &n, err));
  UN__TRY(compile(n, s, true, &p, err));
  un_status status = take(n, p, n->ptx_size, n->ptx, out, &size, err);
  n->destroy(&p);
  return status;
}
