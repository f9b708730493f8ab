/* The device "cpu": compiling LLVM IR text, launching on the pool, errors that do not end the process. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "device/pool.h"
#include "device/device.h"

static const char double_it[] =
  "define void @f(ptr %args, ptr %vars, i64 %task) {\n"
  "  %p = load ptr, ptr %args\n"
  "  %q = getelementptr float, ptr %p, i64 %task\n"
  "  %x = load float, ptr %q\n"
  "  %y = fadd float %x, %x\n"
  "  store float %y, ptr %q\n"
  "  ret void\n}\n";

static un__artifact artifact(const char *ir, int64_t tasks) {
  un__artifact a = {.format = UN__FORMAT_LLVM_IR, .bytes = ir, .size = strlen(ir), .entry = "f", .nargs = 1};
  a.tasks.n = 1;
  a.tasks.code[0].op = UN__LAUNCH_CONST;
  a.tasks.code[0].arg = tasks;
  return a;
}

Test(cpu, runs_one_task_per_element) {
  un__err err = {0};
  un__device *d;
  cr_assert_eq(un__cpu_open(NULL, 2, &d, &err), UN_OK, "%s", err.text);
  un__code *code, *again;
  un__artifact a = artifact(double_it, 1000);
  cr_assert_eq(d->vt->compile(d, &a, &code, &err), UN_OK, "%s", err.text);
  cr_assert_eq(d->vt->compile(d, &a, &again, &err), UN_OK, "the same entry twice: %s", err.text);
  un__mem *m;
  cr_assert_eq(d->vt->alloc(d, 4000, &m, &err), UN_OK);
  float x[1000];
  for (int i = 0; i < 1000; i++) x[i] = (float)i;
  cr_assert_eq(d->vt->write(d, m, 0, x, sizeof x, &err), UN_OK);
  for (int round = 0; round < 3; round++) cr_assert_eq(d->vt->launch(d, code, &m, NULL, &err), UN_OK);
  cr_assert_eq(d->vt->read(d, m, 0, x, sizeof x, &err), UN_OK);
  for (int i = 0; i < 1000; i++) cr_assert_eq(x[i], 8.0f * (float)i);
  cr_assert_eq(d->vt->read(d, m, 8, x, sizeof x, &err), UN_ERR_INVALID_ARG, "past the end");
  d->vt->free(d, m);
  d->vt->code_release(d, code);
  d->vt->code_release(d, again);
  d->vt->destroy(d);
}

Test(cpu, bad_text_is_a_status) {
  un__err err = {0};
  un__device *d;
  un__code *code;
  cr_assert_eq(un__cpu_open(NULL, 1, &d, &err), UN_OK);
  un__artifact a = artifact("define void @f( {", 1);
  cr_assert_eq(d->vt->compile(d, &a, &code, &err), UN_ERR_COMPILE);
  cr_assert(strstr(err.text, "LLVM IR"), "%s", err.text);
  un__err_clear(&err);
  a = artifact("define void @g() {\n  ret void\n}\n", 1);
  cr_assert_eq(d->vt->compile(d, &a, &code, &err), UN_ERR_COMPILE);
  cr_assert(strstr(err.text, "no function f"), "%s", err.text);
  d->vt->destroy(d);
}

Test(cpu, assembly_can_be_read) {
  un__err err = {0};
  un__device *d;
  char *text;
  cr_assert_eq(un__cpu_open(NULL, 1, &d, &err), UN_OK);
  un__artifact a = artifact(double_it, 1);
  cr_assert_eq(d->vt->disassemble(d, &a, &text, &err), UN_OK, "%s", err.text);
  cr_assert(strstr(text, "addss"), "%s", text);
  un__free(text);
  d->vt->destroy(d);
}

static void count(void *data, int64_t i) { atomic_fetch_add((_Atomic int64_t *)data, i); }

Test(pool, every_task_runs_once) {
  un__pool *p = un__pool_create(4);
  for (int64_t n = 0; n < 300; n++) {
    _Atomic int64_t sum = 0;
    un__pool_run(p, count, &sum, n);
    cr_assert_eq(sum, n * (n - 1) / 2);
  }
  un__pool_destroy(p);
}

static void add_task(void *data, int64_t i) { atomic_fetch_add((_Atomic int64_t *)data, i); }

Test(pool, a_child_of_fork_has_workers_of_its_own, .timeout = 60) {
  un__pool *p = un__pool_create(3);
  _Atomic int64_t sum = 0;
  un__pool_run(p, add_task, &sum, 100);
  pid_t child = fork();
  if (child == 0) {
    alarm(30);
    un__pool_run(p, add_task, &sum, 1000);
    un__pool_run(p, add_task, &sum, 1000);
    un__pool_destroy(p);
    _exit(sum == 4950 + 2 * 499500 ? 0 : 1);
  }
  int status = -1;
  cr_assert_eq(waitpid(child, &status, 0), child);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %#x", (unsigned)status);
  un__pool_run(p, add_task, &sum, 10);
  cr_assert_eq(sum, 4995);
  un__pool_destroy(p);
}

/* Nothing writes results there, and memory that comes back is not what it was. */
Test(null, memory_is_zero_when_it_is_used_again) {
  un__err err = {0};
  un__device *d;
  un__mem *m;
  char x[64];
  cr_assert_eq(un__null_open(NULL, &d, &err), UN_OK, "%s", err.text);
  for (int round = 0; round < 3; round++) {
    cr_assert_eq(d->vt->alloc(d, sizeof x, &m, &err), UN_OK);
    cr_assert_eq(d->vt->read(d, m, 0, x, sizeof x, &err), UN_OK);
    for (size_t i = 0; i < sizeof x; i++) cr_assert_eq(x[i], 0, "round %d", round);
    memset(x, 0x5a, sizeof x);
    cr_assert_eq(d->vt->write(d, m, 0, x, sizeof x, &err), UN_OK);
    d->vt->free(d, m);
  }
  d->vt->destroy(d);
}

Test(launch, formulas_are_checked) {
  un__launch_formula f = {3, {{UN__LAUNCH_VAR, 0}, {UN__LAUNCH_CONST, 4}, {UN__LAUNCH_FLOORDIV, 0}}};
  int64_t vars[] = {19}, n;
  un__err err = {0};
  cr_assert_eq(un__launch_eval(&f, vars, 1, &n, &err), UN_OK);
  cr_assert_eq(n, 4);
  f.code[1].arg = 0;
  cr_assert_eq(un__launch_eval(&f, vars, 1, &n, &err), UN_ERR_INVALID_ARG);
}
