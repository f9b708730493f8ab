/* accept_llvm.c - what the goldens of the source stage expect is LLVM IR: parsed, verified and compiled to machine code
 * of this machine, in process. The texts are made for no machine in particular, so every machine must take them.
 *
 *     accept_llvm DIR       TAP output; a case is a file of DIR, its module what stands below `---` */
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

static un_status compile(un__device *cpu, const char *path, un__err *err) {
  un__strbuf text;
  un__code *code;
  un__sb_init(&text);
  const char *mark = read_file(path, &text) ? strstr(un__sb_str(&text), "\n---\n") : NULL;
  const char *module = mark ? mark + strlen("\n---\n") : "";
  un__artifact a = {.format = UN__FORMAT_LLVM_IR, .bytes = module, .size = strlen(module), .entry = "kernel"};
  un_status status = mark ? cpu->vt->compile(cpu, &a, &code, err) : un__fail(err, UN_ERR_IO, "cannot be read, or has no ---");
  if (status == UN_OK) cpu->vt->code_release(cpu, code);
  un__sb_finish(&text);
  return status;
}

static int is_golden(const struct dirent *d) {
  size_t n = strlen(d->d_name);
  return n > 3 && strcmp(d->d_name + n - 3, ".un") == 0;
}

int main(int argc, char **argv) {
  un__err err = {0};
  un__device *cpu;
  struct dirent **file;
  int n = argc == 2 ? scandir(argv[1], &file, is_golden, alphasort) : -1, bad = 0;
  if (n <= 0) return fprintf(stderr, "usage: accept_llvm DIR, a folder of goldens\n"), 2;
  if (un__cpu_open(NULL, 1, &cpu, &err) != UN_OK) return fprintf(stderr, "%s\n", err.text), 1;
  printf("1..%d\n", n);
  for (int i = 0; i < n; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", argv[1], file[i]->d_name);
    un__err_clear(&err);
    bool ok = compile(cpu, path, &err) == UN_OK;
    printf("%s %d - %s\n", ok ? "ok" : "not ok", i + 1, file[i]->d_name);
    if (!ok) printf("# %s\n", err.text);
    bad += !ok;
    free(file[i]);
  }
  free(file);
  cpu->vt->destroy(cpu);
  return bad != 0;
}
