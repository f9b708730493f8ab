/* accept.c - what the goldens of the source stage expect is what a compiler takes: each is compiled to machine code of this
 * machine. The texts are made for no machine in particular, so every machine must take them.
 *
 *     accept DEVICE DIR     TAP output; a case is a file of DIR, its source what stands below `---` */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
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

static const struct taker { const char *name; un__format format; un_status (*open)(const un__target *, uint32_t, un__device **, un__err *); } takers[] = {
#ifdef UN_HAVE_CPU
  {"cpu", UN__FORMAT_LLVM_IR, un__cpu_open},
#endif
  {"cc", UN__FORMAT_C, un__cc_open},
};

static const struct taker *taker_named(const char *name) {
  for (size_t i = 0; i < sizeof takers / sizeof *takers; i++)
    if (strcmp(takers[i].name, name) == 0) return &takers[i];
  return NULL;
}

static un_status compile(un__device *device, un__format format, const char *path, un__err *err) {
  un__strbuf text;
  un__code *code;
  un__sb_init(&text);
  const char *mark = read_file(path, &text) ? strstr(un__sb_str(&text), "\n---\n") : NULL;
  const char *source = mark ? mark + strlen("\n---\n") : "";
  un__artifact a = {.format = format, .bytes = source, .size = strlen(source), .entry = "kernel"};
  un_status status = mark ? device->vt->compile(device, &a, &code, err) : un__fail(err, UN_ERR_IO, "cannot be read, or has no ---");
  if (status == UN_OK) device->vt->code_release(device, code);
  un__sb_finish(&text);
  return status;
}

static int is_golden(const struct dirent *d) {
  size_t n = strlen(d->d_name);
  return n > 3 && strcmp(d->d_name + n - 3, ".un") == 0;
}

int main(int argc, char **argv) {
  un__err err = {0};
  un__device *device;
  struct dirent **file;
  const struct taker *taker = argc == 3 ? taker_named(argv[1]) : NULL;
  int n = taker ? scandir(argv[2], &file, is_golden, alphasort) : -1, bad = 0;
  if (n <= 0) return fprintf(stderr, "usage: accept DEVICE DIR, a folder of goldens\n"), 2;
  if (taker->open(NULL, 1, &device, &err) != UN_OK) return fprintf(stderr, "%s\n", err.text), 1;
  printf("1..%d\n", n);
  for (int i = 0; i < n; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", argv[2], file[i]->d_name);
    un__err_clear(&err);
    bool ok = compile(device, taker->format, path, &err) == UN_OK;
    printf("%s %d - %s\n", ok ? "ok" : "not ok", i + 1, file[i]->d_name);
    if (!ok) printf("# %s\n", err.text);
    bad += !ok;
    free(file[i]);
  }
  free(file);
  device->vt->destroy(device);
  return bad != 0;
}
