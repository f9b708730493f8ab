/* kit.h - tests of the device "cuda" in one plain program: each case in a process of its own, since driver and compiler are
 * loaded once in a process. TAP output. */
#ifndef UN_TESTS_CUDA_KIT_H
#define UN_TESTS_CUDA_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"
#include "stub.h"

enum { MAX_VARIABLES = 4, CASE_FAILED = 1, CASE_SKIPPED = 77 };

typedef struct test_case {
  const char *name;
  void (*run)(void);
  const char *environment[MAX_VARIABLES];      /* "NAME=value" for this case */
} test_case;

/* Runs the cases of all lists (NULL ends them) whose names have `only` in them; the exit status. */
int run_cases(const test_case *const *lists, const char *only);
/* Ends the case as one that cannot be run here. */
_Noreturn void skip_case(const char *why);

/* Ends the case as failed, saying where and what, unless the condition holds. */
#define CHECK(cond, ...) \
  do { if (!(cond)) check_failed(__FILE__, __LINE__, #cond, "" __VA_ARGS__); } while (0)
_Noreturn void check_failed(const char *file, int line, const char *what, const char *fmt, ...);

#define OK(call) do { un__err err_ = {0}, *err = &err_; CHECK((call) == UN_OK, "%s", err_.text); } while (0)
/* The call fails with the status, and its message has the words. */
#define FAILS(status_, words, call)                                                                           \
  do {                                                                                                        \
    un__err err_ = {0}, *err = &err_;                                                                         \
    un_status got_ = (call);                                                                                  \
    CHECK(got_ == (status_), "got %d: %s", (int)got_, err_.text);                                             \
    CHECK(strstr(err_.text, words), "the message is: %s", err_.text);                                         \
  } while (0)

/* argv is STUB [NAME]: STUB is the driver and the compiler from now on. */
bool use_stub(int argc, char **argv);
/* The stand-in for the driver, once something has loaded it or not. */
stub_state *the_stub(void);
/* From now on, which must be before anything has loaded one, the stand-in is a driver without the optional calls. */
void use_old_stub(void);
void fail_call(const char *call, int after, int with);
/* Nothing is alive in the driver, and it was never asked for what it could not take well. */
void check_clean(void);

un__artifact artifact_of(const char *text, uint32_t nvars, int64_t tasks);

extern const test_case driver_cases[], memory_cases[], fault_cases[];

#endif
