/* cases_fault.c - kernels that fault, devices that are lost, and every call of the driver failing. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "kit.h"

/* A device after a kernel's illegal access. */
static un__device *lost_device(const char *which) {
  un__device *d;
  un__code *code;
  un__mem *m;
  un__artifact a = artifact_of("f FAULT", 0, 1);
  OK(un__cuda_open(which, &d, err));
  OK(d->vt->compile(d, &a, &code, err));
  OK(d->vt->alloc(d, 4, &m, err));
  OK(d->vt->launch(d, code, &m, NULL, err));
  FAILS(UN_ERR_DEVICE, "running kernels failed: CUDA_ERROR_ILLEGAL_ADDRESS (700, as asked for); the device's context is lost: open a new device",
        d->vt->sync(d, err));
  d->vt->code_release(d, code);
  d->vt->free(d, m);
  return d;
}

static void check_works(un__device *d) {
  un__mem *m;
  int x = 5, y = 0;
  OK(d->vt->wrap(d, &x, 4, &m, err));
  OK(d->vt->read(d, m, 0, &y, 4, err));
  CHECK(y == 5);
  d->vt->free(d, m);
}

static void every_call_says_it(void) {
  un__device *d = lost_device("0");
  static const char lost[] = "cuda:0: the device's context is lost (CUDA_ERROR_ILLEGAL_ADDRESS): open a new device";
  un__artifact a = artifact_of("f ADD_ONE", 0, 1);
  un__code *code;
  un__mem *m;
  un__timer *t;
  char x[1024] = "";
  FAILS(UN_ERR_DEVICE, lost, d->vt->sync(d, err));
  FAILS(UN_ERR_DEVICE, lost, d->vt->compile(d, &a, &code, err));
  FAILS(UN_ERR_DEVICE, lost, d->vt->timer_start(d, &t, err));
  FAILS(UN_ERR_DEVICE, lost, d->vt->wrap(d, x, sizeof x, &m, err));
  FAILS(UN_ERR_DEVICE, lost, d->vt->alloc(d, sizeof x, &m, err));
  d->vt->destroy(d);
}

static void others_go_on(void) {
  un__device *other;
  OK(un__cuda_open("1", &other, err));
  un__device *d = lost_device("0");
  check_works(other);
  d->vt->destroy(d);
  check_works(other);
  other->vt->destroy(other);
}

static void closed_and_opened_again(void) {
  un__device *d = lost_device("0");
  d->vt->destroy(d);
  CHECK(the_stub()->resets == 1);
  OK(un__cuda_open("0", &d, err));
  check_works(d);
  d->vt->destroy(d);
  CHECK(the_stub()->resets == 1 && the_stub()->retained == 0);
}

/* The lost one is still there, and goes later, when it must not take the new one with it. */
static void opened_beside_the_lost_one(void) {
  un__device *lost = lost_device("0"), *d;
  un__mem *m;
  OK(un__cuda_open("0", &d, err));
  check_works(d);
  FAILS(UN_ERR_DEVICE, "context is lost", lost->vt->alloc(lost, 4, &m, err));
  lost->vt->destroy(lost);
  check_works(d);
  CHECK(the_stub()->resets == 1);
  d->vt->destroy(d);
  CHECK(the_stub()->retained == 0);
}

static void the_process_gets_no_other(void) {
  un__device *d = lost_device("0"), *again;
  the_stub()->for_good = true;
  FAILS(UN_ERR_DEVICE, "cuda:0: opening the device failed: CUDA_ERROR_ILLEGAL_ADDRESS (700, as asked for); a kernel of this process "
        "faulted, and the driver gives it no context any more: start the program again", un__cuda_open("0", &again, err));
  d->vt->destroy(d);
  CHECK(the_stub()->retained == 0);
}

/* Two devices of one GPU share its context: what one loses the other one has lost too, whether it has seen it or not. */
static void two_of_one_gpu(void) {
  un__device *second, *third;
  un__mem *m;
  OK(un__cuda_open("0", &second, err));
  OK(second->vt->alloc(second, 4, &m, err));
  un__device *first = lost_device("0");
  first->vt->destroy(first);
  int x;
  FAILS(UN_ERR_DEVICE, "cuda:0: the device's context is lost (it was reset): open a new device", second->vt->read(second, m, 0, &x, 4, err));
  OK(un__cuda_open("0", &third, err));
  second->vt->free(second, m);
  second->vt->destroy(second);
  check_works(third);
  third->vt->destroy(third);
  CHECK(the_stub()->resets == 1 && the_stub()->retained == 0);
}

/* ---- every call of driver and compiler, failing at every place where it is made ---- */

/* Of the memory that there is one large block takes nearly all; little of both, since it comes and goes thousands of times. */
enum { MEMORY = 1 << 20, LARGE = MEMORY / 16 * 15 };

static un_status use(un__device *d, un__err *err) {
  int64_t vars[1] = {1};
  int32_t x = 1;
  un__code *code = NULL;
  un__mem *m = NULL, *more = NULL;
  un__timer *t = NULL;
  double seconds;
  un__artifact a = artifact_of("f ADD_ONE", 1, 1);
  a.local_bytes = 50000;
  un_status status = d->vt->compile(d, &a, &code, err);
  if (status == UN_OK) status = d->vt->wrap(d, &x, 4, &m, err);
  if (status == UN_OK) status = d->vt->timer_start(d, &t, err);
  if (status == UN_OK) status = d->vt->launch(d, code, &m, vars, err);
  if (t) {
    un_status stopped = d->vt->timer_stop(d, t, &seconds, err);
    if (status == UN_OK) status = stopped;
  }
  if (status == UN_OK) status = d->vt->alloc(d, LARGE, &more, err);
  if (status == UN_OK) status = d->vt->copy(d, more, m, 4, err);
  if (status == UN_OK) status = d->vt->sync(d, err);
  if (status == UN_OK) status = d->vt->read(d, more, 0, &x, 4, err);
  CHECK(status != UN_OK || x == 2, "%d", x);
  d->vt->free(d, m);
  d->vt->free(d, more);
  d->vt->code_release(d, code);
  return status;
}

static un_status use_recording(un__device *d, un__err *err) {
  un__code *code = NULL;
  un__mem *m[3] = {NULL};
  un__recording *r = NULL;
  int32_t x = 1;
  un__artifact a = artifact_of("f ADD_ONE to one", 0, 1);
  a.waits = true;
  un__mem *kernel_args[1], *copy_args[2];
  un_status status = d->vt->compile(d, &a, &code, err);
  for (int i = 0; status == UN_OK && i < 3; i++) status = d->vt->wrap(d, &x, 4, &m[i], err);
  kernel_args[0] = copy_args[1] = m[0];
  copy_args[0] = m[1];
  un__launch list[3] = {{code, kernel_args, 1, 0}, {code, kernel_args, 1, 0}, {NULL, copy_args, 2, 4}};
  if (status == UN_OK) status = d->vt->record(d, list, 3, &r, err);
  if (status == UN_OK) status = d->vt->replay(d, r, err);
  kernel_args[0] = copy_args[1] = m[2];
  for (uint32_t i = 0; status == UN_OK && i < 3; i++) status = d->vt->update(d, r, i, err);
  for (int i = 0; status == UN_OK && i < 3; i++) status = d->vt->replay(d, r, err);
  if (status == UN_OK) status = d->vt->read(d, m[1], 0, &x, 4, err);
  CHECK(status != UN_OK || x == 7, "%d", x);
  if (r) d->vt->recording_release(d, r);
  for (int i = 0; i < 3; i++) d->vt->free(d, m[i]);
  d->vt->code_release(d, code);
  return status;
}

static un_status open_and_use(un__err *err) {
  un__device *d, *again = NULL;
  un__strbuf text;
  the_stub()->memory = MEMORY;
  UN__TRY(un__cuda_open("0", &d, err));
  un_status status = use(d, err);
  if (status == UN_OK) status = use(d, err);     /* the large block is kept: it must be given back for nothing else */
  if (status == UN_OK) status = use_recording(d, err);
  d->vt->destroy(d);
  un__sb_init(&text);
  if (status == UN_OK) status = un__cuda_describe(0, &text, err);
  un__sb_finish(&text);
  if (status == UN_OK) status = un__cuda_open("sm_80", &again, err);
  if (status == UN_OK) {
    char *assembly = NULL;
    un__artifact a = artifact_of("f ADD_ONE", 1, 1);
    status = again->vt->disassemble(again, &a, &assembly, err);
    un__free(assembly);
    again->vt->destroy(again);
  }
  return status;
}

/* Some failures are survived (a name that is not known, a log that is not there); none may be silent about a wrong result,
 * end the process or leave anything behind. */
static void fails_with(const char *call, int with) {
  stub_state *s = the_stub();
  for (int after = 0; after < 100; after++) {
    un__err err = {0};
    fail_call(call, after, with);
    un_status status = open_and_use(&err);
    bool happened = s->failed;
    s->fail[0] = '\0';
    CHECK(status == UN_OK || err.text[0], "%s", call);
    CHECK(status == UN_OK || happened, "%s: %s", call, err.text);
    CHECK(status != UN_ERR_INTERNAL, "%s: %s", call, err.text);
    /* What cannot be entered is left to the context's end. */
    bool left = with >= 700 || strcmp(call, "cuCtxPushCurrent_v2") == 0;
    CHECK(left || (!s->blocks && !s->pinned && !s->modules && !s->graphs && !s->events && !s->streams), "%s %d: %d %d %d %d %d %d", call, after, s->blocks,
          s->pinned, s->modules, s->graphs, s->events, s->streams);
    CHECK(!s->programs && !s->errors, "%s %d: %d %d", call, after, s->programs, s->errors);
    CHECK(!s->retained, "%s %d", call, after);
    if (left) s->blocks = s->pinned = s->modules = s->graphs = s->events = s->streams = 0, s->bytes = 0;
    un__err after_it = {0};
    CHECK(open_and_use(&after_it) == UN_OK, "after %s %d: %s", call, after, after_it.text);
    if (!happened) return;
  }
  CHECK(0, "%s is called too often", call);
}

static const char *const driver_calls[] = {
#define CALL(name, symbol, ...) #symbol,
#include "device/cuda/driver.def"
};
static const char *const compiler_calls[] = {
#define CALL(result, name, symbol, ...) #symbol,
#include "device/cuda/nvrtc.def"
#undef CALL
};

static void every_driver_call(void) {
  for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; i++) fails_with(driver_calls[i], 1);
}

static void every_driver_call_losing_the_device(void) {
  for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; i++) fails_with(driver_calls[i], 719);
}

static void every_driver_call_without_memory(void) {
  for (size_t i = 0; i < sizeof driver_calls / sizeof *driver_calls; i++) fails_with(driver_calls[i], 2);
}

static void every_compiler_call(void) {
  for (size_t i = 0; i < sizeof compiler_calls / sizeof *compiler_calls; i++) fails_with(compiler_calls[i], 1);
}

#ifdef UN_TORTURE
static void every_allocation(void) {
  for (int once = 0; once < 2; once++)
    for (uint64_t n = 0; n < 1000; n++) {
      un__err err = {0};
      int64_t live = un__torture_live();
      un__torture_arm(n, once);
      un_status status = open_and_use(&err);
      bool reached = un__torture_count() > n;
      un__torture_arm(UINT64_MAX, false);
      CHECK(status == UN_OK || status == UN_ERR_NOMEM, "%d: %s", (int)status, err.text);
      CHECK(un__torture_live() == live, "allocation %d leaks", (int)n);
      check_clean();
      if (!reached) break;
    }
}
#endif

const test_case fault_cases[] = {
  {"a lost device says so at every call", every_call_says_it},
  {"other devices go on", others_go_on},
  {"closed and opened again", closed_and_opened_again},
  {"opened beside the lost one", opened_beside_the_lost_one},
  {"a process that gets no other context", the_process_gets_no_other},
  {"two devices of one GPU", two_of_one_gpu},
  {"every driver call failing", every_driver_call},
  {"every driver call losing the device", every_driver_call_losing_the_device},
  {"every driver call without memory", every_driver_call_without_memory},
  {"every compiler call failing", every_compiler_call},
#ifdef UN_TORTURE
  {"every allocation failing", every_allocation},
#endif
  {NULL},
};
