/* api_errors.c - every function of include/unir with arguments it cannot use: the rows are in api_errors.def. A function
 * without a row fails the test, and so does one whose kinds of arguments ask for a row that is not there. */
#include <criterion/criterion.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UN_USE_UNSTABLE
#include <unir/unir.h>
#include <unir/unstable.h>

/* ---- what the rows use ---- */

static un_ctx *cx, *other, *nobody;
static un_tensor *m, *k, *v, *i, *flags, *s, *one, *row, *column, *none, *theirs;
static un_program *program;      /* v to 2 v, and i is replaced */
static float numbers[4] = {1, 2, 3, 4};
static double number;

static un_ctx *open_ctx(void) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *c = NULL;
  opt.device = "interp";
  cr_assert_eq(un_ctx_create(&opt, &c), UN_OK);
  return c;
}

static un_dims rank17(void) {
  int64_t ones[17];
  for (int n = 0; n < 17; n++) ones[n] = 1;
  return un_dims_of(ones, 17, false);
}

static void setup(void) {
  int64_t huge = INT64_C(1) << 40;
  cx = open_ctx();
  other = open_ctx();
  m = un_zeros(cx, UN_F32, un_shape(2, 4, 8));
  k = un_zeros(cx, UN_F32, un_shape(2, 7, 3));
  v = un_from_data(cx, UN_F32, un_shape(1, 4), numbers);
  i = un_zeros(cx, UN_I32, un_shape(1, 4));
  flags = un_zeros(cx, UN_BOOL, un_shape(1, 4));
  s = un_scalar(cx, UN_F32, 1);
  one = un_zeros(cx, UN_F32, un_shape(16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1));
  row = un_zeros(cx, UN_F32, un_shape(2, 1, huge));
  column = un_zeros(cx, UN_F32, un_shape(2, huge, 1));
  none = un_zeros(cx, UN_F32, un_shape(3, huge, huge, 0));
  theirs = un_zeros(other, UN_I32, un_shape(1, 4));
  un_tensor *twice = un_muls(v, 2), *counted = un_from_data(cx, UN_I32, un_shape(1, 4), numbers);
  program = un_program_capture(cx, 1, &v, 1, &twice, 1, &(un_update){counted, un_adds(counted, 1)});
}

static void teardown(void) {
  cr_expect_eq(un_audit(cx), UN_OK, "%s", un_error(cx));
  un_ctx_destroy(cx);
  un_ctx_destroy(other);
}
TestSuite(errors, .init = setup, .fini = teardown);

/* ---- the rows ---- */

enum { ROW_NULLS = 1, ROW_FAILS = 2, ROW_FOREIGN = 4, ROW_HOLDS = 8 };

/* Which rows each function has. */
static struct { char name[40]; unsigned rows; } seen[256];
static size_t nseen;

static unsigned *rows_of(const char *function) {
  for (size_t n = 0; n < nseen; n++)
    if (!strcmp(seen[n].name, function)) return &seen[n].rows;
  cr_assert_lt(nseen, sizeof seen / sizeof *seen);
  snprintf(seen[nseen].name, sizeof seen[nseen].name, "%s", function);
  return &seen[nseen++].rows;
}

/* An error is that of the context of the first handle; the others must have none. */
static void check_error(const char *function, int line, un_status status, const char *text) {
  un_ctx *c = un_error_status(cx) == UN_OK ? other : cx, *quiet = c == cx ? other : cx;
  char here[64];
  snprintf(here, sizeof here, " at %s:%d", "api_errors.def", line);
  const char *said = un_error(c), *file = strstr(said, " at ");
  cr_expect_eq(un_error_status(c), status, "%s, line %d: status %d: %s", function, line, un_error_status(c), said);
  cr_expect(strstr(said, text), "%s, line %d: \"%s\" lacks \"%s\"", function, line, said, text);
  bool placed = file && (file = strstr(file, "api_errors.def:")) && atoi(file + strlen("api_errors.def:")) == line;
  cr_expect(placed, "%s, line %d: \"%s\" does not end in the caller's line", function, line, said);
  cr_expect(!strncmp(said, function + strlen("un_"), strlen(function) - strlen("un_")) || strstr(text, "expected"),
            "%s, line %d: \"%s\" does not begin with the call's name", function, line, said);
  cr_expect_eq(un_error_status(quiet), UN_OK, "%s, line %d: the other context has \"%s\"", function, line, un_error(quiet));
  un_clear_error(c);
  *rows_of(function) |= status == UN_ERR_CTX_MISMATCH ? ROW_FOREIGN : ROW_FAILS;
}

static void check_quiet(const char *function, int line, bool refused, unsigned kind) {
  cr_expect(refused, "%s, line %d: not refused", function, line);
  cr_expect(un_error_status(cx) == UN_OK && un_error_status(other) == UN_OK, "%s, line %d: \"%s\"", function, line,
            un_error(un_error_status(cx) == UN_OK ? other : cx));
  un_clear_error(cx);
  *rows_of(function) |= kind;
}

/* Handles give NULL, statuses INVALID_ARG. */
#define REFUSED(call) _Generic((call), un_status: (intptr_t)(call) == UN_ERR_INVALID_ARG, default: (intptr_t)(call) == 0)

#define NULLS(function, call) check_quiet(#function, __LINE__, REFUSED(call), ROW_NULLS);
#define HOLDS(function, condition) check_quiet(#function, __LINE__, (condition), ROW_HOLDS);
#define REFUSES(function, call, status) check_quiet(#function, __LINE__, (call) == (status), ROW_FAILS | ROW_NULLS);
#define FAILS(function, call, status, text)                                                                            \
  cr_expect_null(call, "%s, line %d: not refused", #function, __LINE__);                                               \
  check_error(#function, __LINE__, status, text);
#define FAILS_STATUS(function, call, status, text)                                                                     \
  cr_expect_eq(call, status, "%s, line %d", #function, __LINE__);                                                      \
  check_error(#function, __LINE__, status, text);

static void run_rows(void) {
#include "api_errors.def"
}

/* ---- the headers ---- */

static char *slurp(const char *name) {
  char path[512];
  snprintf(path, sizeof path, UN_HEADERS "/%s", name);
  FILE *f = fopen(path, "rb");
  cr_assert(f, "%s cannot be read", path);
  char *text = calloc(1, 1 << 17);
  cr_assert(text && fread(text, 1, (1 << 17) - 1, f) > 0);
  fclose(f);
  return text;
}

static bool mentions(const char *from, const char *to, const char *word) {
  const char *at = strstr(from, word);
  return at && at < to;
}

/* The rows that the parameters of a declaration ask for. */
static unsigned wanted_rows(const char *params, const char *end) {
  unsigned want = 0;
  const char *first = strstr(params, "un_tensor *");
  bool handle = first && first < end && !mentions(params, end, "const un_tensor *");
  bool two = handle && mentions(first + 1, end, "un_tensor *");
  bool list = mentions(params, end, "*const *tensors") || mentions(params, end, "*const *inputs") || mentions(params, end, "*const *parts");
  if (handle) want |= ROW_NULLS;
  if (two || list) want |= ROW_FOREIGN;
  if (mentions(params, end, "un_dims ") || mentions(params, end, "int axis") || mentions(params, end, "un_dtype dtype,") ||
      mentions(params, end, "size_t size") || mentions(params, end, "un_stage "))
    want |= ROW_FAILS;
  return want;
}

static size_t check_declarations(const char *header) {
  char *text = slurp(header);
  size_t count = 0;
  for (char *at = text; (at = strstr(at, "\nUN_API ")); count++) {
    char *open = strchr(at, '('), *end = strchr(at, ';'), *name = open;
    cr_assert(open && end && open < end);
    while (isalnum((unsigned char)name[-1]) || name[-1] == '_') name--;
    char function[40];
    snprintf(function, sizeof function, "%.*s", (int)(open - name), name);
    unsigned have = *rows_of(function), want = wanted_rows(open, end);
    /* What a call like un_at or a getter does is no failure. */
    if (have & ROW_HOLDS && !(have & ROW_FAILS)) want = 0;
    cr_expect(have, "%s: no row in api_errors.def", function);
    cr_expect_eq(want & ~have, 0, "%s: lacks rows of kind %u (1 NULLS, 2 FAILS, 4 another context)", function, want & ~have);
    at = end;
  }
  free(text);
  return count;
}

Test(errors, every_function_says_what_is_wrong) {
  static const char *const headers[] = {"base.h", "ctx.h", "device.h", "dtype.h", "here.h", "program.h", "tensor.h", "text.h", "unstable.h"};
  run_rows();
  size_t count = 0;
  for (size_t n = 0; n < sizeof headers / sizeof *headers; n++) count += check_declarations(headers[n]);
  cr_expect_geq(count, 160, "only %d declarations were found", (int)count);
  cr_expect_eq(count, nseen, "a row names a function that is not declared");
}
