/* accept.c - what the goldens of the source stage expect is what a compiler takes: each is compiled to machine code of this
 * machine. The texts are made for no machine in particular, so every machine must take them.
 *
 *     accept DEVICE DIR     TAP output; a case is a file of DIR, its source what stands below `---`. One that says
 *                           `# NEEDS: sm_89` above it is skipped where the GPU is an older one
 *
 * DEVICE is cpu, cc or a GPU that is described only, as cuda:sm_90a. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "device/cuda/nvrtc.h"
#include "device/device.h"

static bool read_file(const char *path, un__strbuf *out) {
  char chunk[4096];
  size_t n;
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) un__sb_putn(out, chunk, n);
  bool ok = !ferror(f) && !out->failed;
  fclose(f);
  return ok;
}

/* ---- who takes it ---- */

typedef struct taker {
  const char *kind;
  un__format format;
  un_status (*open)(const char *name, un__device **out, un__err *err);
  const char *(*missing)(un__err *err);      /* why nothing can be tried here; NULL: nothing is missing */
} taker;

#ifdef UN_HAVE_CPU
static un_status open_cpu(const char *name, un__device **out, un__err *err) { return un__cpu_open(NULL, 1, out, err); }
#endif
static un_status open_cc(const char *name, un__device **out, un__err *err) { return un__cc_open(NULL, 1, out, err); }
static un_status open_cuda(const char *name, un__device **out, un__err *err) { return un__cuda_open(strchr(name, ':') + 1, out, err); }

/* One that UNIR_NVRTC names must be there. */
static const char *missing_nvrtc(un__err *err) {
  int major, minor;
  const char *named = getenv("UNIR_NVRTC");
  return un__nvrtc_version(0, &major, &minor, err) == UN_OK || (named && *named) ? NULL : err->text;
}

static const taker takers[] = {
#ifdef UN_HAVE_CPU
  {"cpu", UN__FORMAT_LLVM_IR, open_cpu},
#endif
  {"cc", UN__FORMAT_C, open_cc},
  {"cuda:", UN__FORMAT_CUDA_C, open_cuda, missing_nvrtc},
};

static const taker *taker_named(const char *name) {
  for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
    if (strncmp(takers[i].kind, name, strlen(takers[i].kind)) == 0) return &takers[i];
  return NULL;
}

/* ---- goldens ---- */

static const char *at_least(const char *found, const char *text) { return found ? found : text + strlen(text); }

/* Where kernels overlap, nothing of the kernel before is touched before the wait, and nothing is loaded as if it had been there before
 * the kernel began. */
static un_status check_wait(un__device *device, const un__artifact *a, un__err *err) {
  char *text;
  if (!un__gpu_overlaps(&device->target->gpu)) return UN_OK;
  UN__TRY(device->vt->disassemble(device, a, &text, err));
  const char *wait = at_least(strstr(text, "griddepcontrol.wait"), text), *next = at_least(strstr(text, "griddepcontrol.launch_dependents"), text);
  const char *load = at_least(strstr(text, "ld.global"), text), *copy = at_least(strstr(text, "cp.async.c"), text), *store = at_least(strstr(text, "st.global"), text);
  un_status status = *wait && wait < next && *next && wait < load && wait < copy && wait < store ? UN_OK : un__fail(err, UN_ERR_COMPILE, "it does not wait");
  if (status == UN_OK && strstr(text, ".global.nc")) status = un__fail(err, UN_ERR_COMPILE, "it loads as if nothing had been written before");
  un__free(text);
  return status;
}

/* The architecture that a golden needs, or NULL where the device is of one. */
static const char *lacks(const un__device *device, const char *golden) {
  const char *needs = strstr(golden, "# NEEDS: sm_"), *arch = device->target->gpu.arch;
  if (!needs || !arch) return NULL;
  needs += strlen("# NEEDS: ");
  return atoi(arch + strlen("sm_")) < atoi(needs + strlen("sm_")) ? needs : NULL;
}

static un_status compile(un__device *device, un__format format, const char *text, un__err *err) {
  un__code *code;
  const char *mark = strstr(text, "\n---\n"), *source = mark ? mark + strlen("\n---\n") : "";
  un__artifact a = {.format = format, .bytes = source, .size = strlen(source), .entry = "kernel", .group = 1};
  un_status status = mark ? device->vt->compile(device, &a, &code, err) : un__fail(err, UN_ERR_IO, "has no ---");
  if (status == UN_OK) device->vt->code_release(device, code);
  bool waits = !strstr(text, "# WAITS: no") || strstr(source, "griddepcontrol");
  return status == UN_OK && waits ? check_wait(device, &a, err) : status;
}

static int is_golden(const struct dirent *d) {
  size_t n = strlen(d->d_name);
  return n > 3 && strcmp(d->d_name + n - 3, ".un") == 0;
}

/* Whether it passes, or is skipped. */
static bool check(const taker *t, un__device *device, const char *path, int number, const char *name) {
  un__strbuf text;
  un__err err = {0};
  un__sb_init(&text);
  un_status status = read_file(path, &text) ? UN_OK : un__fail(&err, UN_ERR_IO, "cannot be read");
  const char *needs = lacks(device, un__sb_str(&text));
  if (status == UN_OK && !needs) status = compile(device, t->format, un__sb_str(&text), &err);
  if (needs) printf("ok %d - %s # SKIP needs %.*s\n", number, name, (int)strcspn(needs, "\n"), needs);
  else printf("%s %d - %s\n", status == UN_OK ? "ok" : "not ok", number, name);
  if (status != UN_OK) printf("# %s\n", err.text);
  un__sb_finish(&text);
  return status == UN_OK;
}

static int check_all(const taker *t, un__device *device, const char *folder, struct dirent **file, int n) {
  int bad = 0;
  printf("1..%d\n", n);
  for (int i = 0; i < n; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, file[i]->d_name);
    bad += !check(t, device, path, i + 1, file[i]->d_name);
  }
  return bad;
}

int main(int argc, char **argv) {
  un__err err = {0};
  un__device *device;
  struct dirent **file;
  const taker *t = argc == 3 ? taker_named(argv[1]) : NULL;
  int n = t ? scandir(argv[2], &file, is_golden, alphasort) : -1;
  if (n <= 0) return fprintf(stderr, "usage: accept DEVICE DIR, a folder of goldens\n"), 2;
  const char *missing = t->missing ? t->missing(&err) : NULL;
  if (missing) return printf("1..0 # SKIP goldens of %s: %s\n", argv[1], missing), 0;
  if (t->open(argv[1], &device, &err) != UN_OK) return fprintf(stderr, "%s\n", err.text), 1;
  int bad = check_all(t, device, argv[2], file, n);
  for (int i = 0; i < n; i++) free(file[i]);
  free(file);
  device->vt->destroy(device);
  return bad != 0;
}
