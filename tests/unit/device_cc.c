/* The device "cc": compiling C with the system's compiler, and compilers that are missing, fail, die or make nothing. Whatever
 * happens, no file, no process and no open file is left. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "device/device.h"

static const char double_it[] =
  "void f(void *const *args, const long long *vars, long long task) {\n"
  "  float *p = args[0];\n"
  "  p[task] += p[task];\n"
  "}\n";

static char folder[256];        /* TMPDIR of each test */
static un__device *cc;
static un__err err;
static int files_before;

static int count_entries(const char *path) {
  int n = 0;
  DIR *d = opendir(path);
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n;
}

static void setup(void) {
  err = (un__err){0};
  cr_assert(un__temp_folder("test", folder, sizeof folder));
  setenv("TMPDIR", folder, 1);
  unsetenv("UNIR_CC");
  cr_assert_eq(un__cc_open(NULL, 2, &cc, &err), UN_OK, "%s", err.text);
  files_before = count_entries("/proc/self/fd");
}

static void teardown(void) {
  cr_assert_eq(count_entries(folder), 2, "files are left");
  cr_assert_eq(count_entries("/proc/self/fd"), files_before, "open files are left");
  cr_assert_eq(waitpid(-1, NULL, WNOHANG), -1, "a child is left");
  cr_assert_eq(errno, ECHILD);
  cc->vt->destroy(cc);
  rmdir(folder);
}
TestSuite(cc, .init = setup, .fini = teardown);

static un__artifact artifact(const char *text, int64_t tasks) {
  un__artifact a = {.format = UN__FORMAT_C, .bytes = text, .size = strlen(text), .entry = "f", .nargs = 1};
  a.tasks.n = 1;
  a.tasks.code[0].op = UN__LAUNCH_CONST;
  a.tasks.code[0].arg = tasks;
  return a;
}

static un_status compile(const char *text, un__code **code) {
  un__artifact a = artifact(text, 1000);
  return cc->vt->compile(cc, &a, code, &err);
}

/* Compilation fails with this status and something like this to say. */
static void fails(const char *text, un_status status, const char *says) {
  un__code *code;
  un__err_clear(&err);
  cr_assert_eq(compile(text, &code), status, "%s", err.text);
  cr_assert(strstr(err.text, says), "%s", err.text);
}

static char script[300];

static void compiler_is(const char *body) {
  snprintf(script, sizeof script, "%s-cc", folder);
  FILE *f = fopen(script, "w");
  fprintf(f, "#!/bin/sh\n%s\n", body);
  fclose(f);
  chmod(script, 0755);
  setenv("UNIR_CC", script, 1);
}

static void run(un__code *code) {
  float x[1000];
  un__mem *m;
  for (int i = 0; i < 1000; i++) x[i] = (float)i;
  cr_assert_eq(cc->vt->wrap(cc, x, sizeof x, &m, &err), UN_OK);
  for (int round = 0; round < 3; round++) cr_assert_eq(cc->vt->launch(cc, code, &m, NULL, &err), UN_OK);
  for (int i = 0; i < 1000; i++) cr_assert_eq(x[i], 8.0f * (float)i);
  cc->vt->free(cc, m);
}

Test(cc, runs_one_task_per_element) {
  un__code *code, *again;
  cr_assert_eq(compile(double_it, &code), UN_OK, "%s", err.text);
  cr_assert_eq(compile(double_it, &again), UN_OK, "the same entry twice: %s", err.text);
  run(code);
  run(again);
  cc->vt->code_release(cc, code);
  cc->vt->code_release(cc, again);
}

Test(cc, bad_text_is_a_status_with_the_compilers_words) {
  fails("void f( {", UN_ERR_COMPILE, "error:");
  fails("void g(void) {}\n", UN_ERR_COMPILE, "no function f");
  fails("extern int nowhere(void);\nint f(void) { return nowhere(); }\n", UN_ERR_DEVICE, "nowhere");
}

Test(cc, only_c_is_taken) {
  un__code *code;
  un__artifact a = artifact(double_it, 1);
  a.format = UN__FORMAT_LLVM_IR;
  cr_assert_eq(cc->vt->compile(cc, &a, &code, &err), UN_ERR_UNSUPPORTED);
}

Test(cc, a_compiler_that_is_not_there) {
  setenv("UNIR_CC", "/nonexistent/cc -O1", 1);
  fails(double_it, UN_ERR_COMPILE, "\"/nonexistent/cc\" cannot be run: No such file");
  setenv("UNIR_CC", "no-such-compiler", 1);
  fails(double_it, UN_ERR_COMPILE, "UNIR_CC names another");
}

Test(cc, options_after_the_name) {
  un__code *code;
  setenv("UNIR_CC", "  cc  -DTWICE=2 -O0 ", 1);
  cr_assert_eq(compile("void f(void *const *args, const long long *vars, long long task) { ((float *)args[0])[task] *= TWICE; }", &code),
               UN_OK, "%s", err.text);
  run(code);
  cc->vt->code_release(cc, code);
}

Test(cc, compilers_that_fail) {
  compiler_is("echo 'the disk is full: No space left on device' >&2; touch $TMPDIR/half; exit 3");
  fails(double_it, UN_ERR_COMPILE, "failed with status 3: the disk is full: No space left on device");
  compiler_is("exit 1");
  fails(double_it, UN_ERR_COMPILE, "it said nothing");
  compiler_is("touch $TMPDIR/half; kill -9 $$");
  fails(double_it, UN_ERR_COMPILE, "killed by signal 9");
  compiler_is("exit 0");
  fails(double_it, UN_ERR_COMPILE, "left no output");
  compiler_is("while [ \"$1\" != -o ]; do shift; done; echo garbage >$2");
  fails(double_it, UN_ERR_DEVICE, "cannot be loaded");
  unlink(script);
}

Test(cc, no_place_for_files) {
  setenv("TMPDIR", "/proc", 1);
  fails(double_it, UN_ERR_DEVICE, "no directory can be made in /proc");
  setenv("TMPDIR", folder, 1);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit before, small;
  getrlimit(RLIMIT_FSIZE, &before);
  small = (struct rlimit){16, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  fails(double_it, UN_ERR_DEVICE, "cannot be written");
  setrlimit(RLIMIT_FSIZE, &before);
}

/* Hosts that want no news of their children, and ones that have a full table of files. */
Test(cc, a_host_that_ignores_its_children) {
  un__code *code;
  signal(SIGCHLD, SIG_IGN);
  cr_assert_eq(compile(double_it, &code), UN_OK, "%s", err.text);
  cc->vt->code_release(cc, code);
  fails("void f( {", UN_ERR_COMPILE, "error:");
}

Test(cc, no_files_left_to_open) {
  struct rlimit before, none;
  getrlimit(RLIMIT_NOFILE, &before);
  none = (struct rlimit){3, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  un__code *code;
  un_status status = compile(double_it, &code);
  setrlimit(RLIMIT_NOFILE, &before);
  cr_assert_eq(status, UN_ERR_DEVICE, "%s", err.text);
}

static void *compile_and_run(void *data) {
  un__err own = {0};
  un__artifact a = artifact(double_it, 4);
  for (int i = 0; i < 3; i++) {
    un__code *code;
    float x[4] = {1, 2, 3, 4};
    un__mem *m;
    if (cc->vt->compile(cc, &a, &code, &own) != UN_OK) return "compile";
    if (cc->vt->wrap(cc, x, sizeof x, &m, &own) != UN_OK) return "wrap";
    if (cc->vt->launch(cc, code, &m, NULL, &own) != UN_OK || x[3] != 8) return "launch";
    cc->vt->free(cc, m);
    cc->vt->code_release(cc, code);
  }
  return NULL;
}

Test(cc, several_threads) {
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) cr_assert_eq(pthread_create(&thread[i], NULL, compile_and_run, NULL), 0);
  for (int i = 0; i < 4; i++) {
    void *what;
    pthread_join(thread[i], &what);
    cr_assert_null(what, "%s", (char *)what);
  }
}

/* What the host has open is not open in the compiler. */
Test(cc, files_of_the_host_are_closed) {
  enum { HIGH = 77 };     /* no shell uses it */
  cr_assert_eq(dup2(0, HIGH), HIGH);
  compiler_is("if [ -e /proc/$$/fd/77 ]; then echo open >&2; else echo closed >&2; fi; exit 1");
  fails(double_it, UN_ERR_COMPILE, "closed");
  close(HIGH);
  unlink(script);
}

Test(cc, assembly_can_be_read) {
  char *text;
  un__artifact a = artifact(double_it, 1);
  cr_assert_eq(cc->vt->disassemble(cc, &a, &text, &err), UN_OK, "%s", err.text);
  cr_assert(strstr(text, "\nf:"), "%s", text);
  un__free(text);
}

/* ---- objects that are kept ---- */

static un__blob keep_one(void) {
  un__blob object = {NULL, 0};
  un__code *code;
  un__artifact a = artifact(double_it, 1000);
  a.keep = &object;
  cr_assert_eq(cc->vt->compile(cc, &a, &code, &err), UN_OK, "%s", err.text);
  cr_assert(object.bytes && object.size > 0);
  cc->vt->code_release(cc, code);
  return object;
}

static un_status load_kept(un__blob object, un__code **out) {
  un__artifact a = artifact("", 1000);
  a.bytes = NULL;
  a.binary = object;
  un__err_clear(&err);
  return cc->vt->compile(cc, &a, out, &err);
}

Test(cc, an_object_is_loaded_without_a_compiler) {
  un__blob object = keep_one();
  un__code *code, *again;
  setenv("UNIR_CC", "/nonexistent/cc", 1);
  cr_assert_eq(load_kept(object, &code), UN_OK, "%s", err.text);
  cr_assert_eq(load_kept(object, &again), UN_OK, "the same object twice: %s", err.text);
  run(code);
  run(again);
  cc->vt->code_release(cc, code);
  cc->vt->code_release(cc, again);
  object.size = 100;
  cr_expect_eq(load_kept(object, &code), UN_ERR_DEVICE);
  cr_expect(strstr(err.text, "cannot be loaded"), "%s", err.text);
  un__free(object.bytes);
}

static const char *identity(void) {
  static char text[4096];
  un__strbuf out;
  un__sb_init(&out);
  un__err_clear(&err);
  text[0] = '\0';
  if (cc->vt->identity(cc, &out, &err) == UN_OK) snprintf(text, sizeof text, "%s", un__sb_str(&out));
  un__sb_finish(&out);
  return text;
}

/* The compiler that is there now, not the one that was there first; asked once. */
Test(cc, who_compiles_is_known) {
  cr_expect(strncmp(identity(), "cc: ", 4) == 0 && strstr(identity(), " -O2"), "%s", identity());
  compiler_is("echo \"version $(wc -l <$0) of $2\"; echo >>$0");
  char first[4096];
  snprintf(first, sizeof first, "%s", identity());
  cr_expect(strstr(first, "version "), "%s", first);
  cr_expect_str_eq(identity(), first, "it was asked twice");
  char other[400];
  snprintf(other, sizeof other, "%s -O1", script);
  setenv("UNIR_CC", other, 1);
  cr_expect_str_neq(identity(), first);
  compiler_is("exit 0");
  cr_expect_str_eq(identity(), "", "nothing is known of a compiler that says nothing");
  setenv("UNIR_CC", "/nonexistent/cc", 1);
  cr_expect_str_eq(identity(), "");
  cr_expect(strstr(err.text, "cannot be run"), "%s", err.text);
  unlink(script);
}
