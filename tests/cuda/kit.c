#include "kit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void check_failed(const char *file, int line, const char *what, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  printf("# %s:%d: %s: ", file, line, what);
  vprintf(fmt, ap);
  putchar('\n');
  va_end(ap);
  fflush(stdout);
  _exit(CASE_FAILED);
}

void skip_case(const char *why) {
  printf("# %s\n", why);
  fflush(stdout);
  _exit(CASE_SKIPPED);
}

un__artifact artifact_of(const char *text, uint32_t nvars, int64_t tasks) {
  un__artifact a = {.format = UN__FORMAT_CUDA_C, .bytes = text, .size = strlen(text), .entry = "f", .nargs = 1, .nvars = nvars, .group = 32};
  a.tasks.n = 1;
  a.tasks.code[0].op = UN__LAUNCH_CONST;
  a.tasks.code[0].arg = tasks;
  return a;
}

/* How it ended. */
static int run_case(const test_case *c) {
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    for (int i = 0; i < MAX_VARIABLES && c->environment[i]; i++) putenv((char *)c->environment[i]);
    c->run();
    fflush(stdout);
    exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) printf("# ended by signal %d\n", WTERMSIG(status));
  return WIFEXITED(status) ? WEXITSTATUS(status) : CASE_FAILED;
}

int run_cases(const test_case *const *lists, const char *only) {
  int n = 0, failed = 0;
  for (; *lists; lists++)
    for (const test_case *c = *lists; c->name; c++) {
      if (!strstr(c->name, only)) continue;
      int end = run_case(c);
      bool skipped = end == CASE_SKIPPED;
      failed += end != 0 && !skipped;
      printf("%sok %d - %s%s\n", end && !skipped ? "not " : "", ++n, c->name, skipped ? " # SKIP" : "");
    }
  printf("1..%d\n", n);
  return failed != 0;
}
