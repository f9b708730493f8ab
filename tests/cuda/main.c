/* main.c - runs the cases: one process each.   cuda_device STUB [NAME] */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kit.h"

static const char *stub_file;

void check_failed(const char *file, int line, const char *what, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  printf("# %s:%d: %s: ", file, line, what);
  vprintf(fmt, ap);
  putchar('\n');
  va_end(ap);
  fflush(stdout);
  _exit(1);
}

stub_state *the_stub(void) {
  void *lib = dlopen(stub_file, RTLD_NOW | RTLD_LOCAL);
  CHECK(lib, "%s", dlerror());
  stub_fn *fn;
  *(void **)&fn = dlsym(lib, "stub");
  return fn();
}

void fail_call(const char *call, int after, int with) {
  stub_state *s = the_stub();
  snprintf(s->fail, sizeof s->fail, "%s", call);
  s->fail_after = after;
  s->fail_with = with;
  s->failed = false;
}

void check_clean(void) {
  stub_state *s = the_stub();
  CHECK(!s->errors, "%d calls of the driver were wrong", s->errors);
  CHECK(!s->blocks && !s->pinned && !s->events && !s->modules && !s->graphs && !s->streams && !s->retained && !s->programs,
        "%d blocks, %d pinned, %d events, %d modules, %d graphs, %d streams, %d contexts, %d programs are alive", s->blocks, s->pinned, s->events,
        s->modules, s->graphs, s->streams, s->retained, s->programs);
}

un__artifact artifact_of(const char *text, uint32_t nvars, int64_t tasks) {
  un__artifact a = {.format = UN__FORMAT_CUDA_C, .bytes = text, .size = strlen(text), .entry = "f", .nargs = 1, .nvars = nvars, .group = 32};
  a.tasks.n = 1;
  a.tasks.code[0].op = UN__LAUNCH_CONST;
  a.tasks.code[0].arg = tasks;
  return a;
}

static bool run_case(const test_case *c) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    setenv("UNIR_CUDA_DRIVER", stub_file, 1);
    setenv("UNIR_NVRTC", stub_file, 1);
    unsetenv("UNIR_CUDA_MEMORY_LIMIT");
    for (int i = 0; i < 4 && c->environment[i]; i++) putenv((char *)c->environment[i]);
    c->run();
    fflush(stdout);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("# ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv) {
  const test_case *const lists[] = {driver_cases, memory_cases, fault_cases};
  int n = 0, failed = 0;
  if (argc < 2) return fprintf(stderr, "usage: %s STUB [NAME]\n", argv[0]), 2;
  stub_file = argv[1];
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for (const test_case *c = lists[l]; c->name; c++) {
      if (argc > 2 && !strstr(c->name, argv[2])) continue;
      bool ok = run_case(c);
      failed += !ok;
      printf("%sok %d - %s\n", ok ? "" : "not ", ++n, c->name);
    }
  printf("1..%d\n", n);
  return failed != 0;
}
