/* engine_tuning.c - what UNIR_SEARCH may say, tuning records as text, and programs whose kernels are searched: the results stay, the
 * records are found again, and what cannot be believed is not. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unir/unir.h>

#include "base/folder.h"
#include "base/mem.h"
#include "engine/disk_cache.h"
#include "engine/tuning.h"

static char folder[256];

static void setup(void) {
  cr_assert(un__temp_folder("test-tuning", folder, sizeof folder));
  unsetenv("UNIR_CACHE");
  unsetenv("UNIR_SEARCH");
  setenv("UNIR_CACHE_DIR", folder, 1);
}

static void teardown(void) { un__remove_folder(folder); }
TestSuite(tuning, .init = setup, .fini = teardown);

/* ---- the environment ---- */

Test(tuning, the_environment_says_how_to_search) {
  static const struct { const char *text; bool off; uint32_t width; } good[] = {
    {NULL, false, 0}, {"", false, 0}, {"off", true, 0}, {"beam:1", false, 1}, {"beam:4", false, 4}, {"beam:64", false, 64}};
  static const char *const bad[] = {"beam", "beam:", "beam:0", "beam:65", "beam:4 ", "beam:-1", "beam:99999999999999999999", "OFF", "no", "1"};
  un__search_policy p;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    if (good[i].text) setenv("UNIR_SEARCH", good[i].text, 1);
    cr_expect_eq(un__search_policy_get(&p, NULL), UN_OK);
    cr_expect(p.off == good[i].off && p.width == good[i].width, "%s", good[i].text);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    un__err e = {0};
    un_ctx *cx;
    setenv("UNIR_SEARCH", bad[i], 1);
    cr_expect_eq(un__search_policy_get(&p, &e), UN_ERR_INVALID_ARG, "%s", bad[i]);
    cr_expect(strstr(e.text, "expected off, or beam:N with N from 1 to 64") && strstr(e.text, bad[i]), "%s", e.text);
    cr_expect_eq(un_ctx_create(NULL, &cx), UN_ERR_INVALID_ARG);
  }
}

/* ---- records ---- */

static const char record[] = "nanoseconds 1234567\nheuristics 2000000\ncandidates 77\nsplit 0 inner 8 upcast\nstage 1\n";

Test(tuning, a_record_is_text_and_back) {
  un__opt_found f;
  un__strbuf text;
  un__sb_init(&text);
  cr_assert_eq(un__record_parse(record, strlen(record), &f, NULL), UN_OK);
  cr_expect_float_eq(f.seconds, 1.234567e-3, 1e-12);
  cr_expect_float_eq(f.heuristic_seconds, 2e-3, 1e-12);
  cr_expect(f.candidates == 77 && f.plan.n == 2);
  un__record_print(&f, &text);
  cr_expect_str_eq(un__sb_str(&text), record);
  un__sb_finish(&text);
  un__sb_init(&text);
  un__record_print(&(un__opt_found){.seconds = INFINITY, .heuristic_seconds = NAN}, &text);
  cr_expect_str_eq(un__sb_str(&text), "nanoseconds 0\nheuristics 0\ncandidates 0\n");
  un__sb_finish(&text);
}

Test(tuning, every_shorter_record_is_refused_or_ends_with_a_step) {
  un__opt_found f;
  for (size_t n = 0; n < strlen(record); n++) {
    bool whole = n && record[n - 1] == '\n' && n >= strlen("nanoseconds 1234567\nheuristics 2000000\ncandidates 77\n");
    char *copy = malloc(n + 1);      /* so that reading past its end is seen */
    memcpy(copy, record, n);
    cr_expect_eq(un__record_parse(copy, n, &f, NULL) == UN_OK, whole, "%zu bytes", n);
    free(copy);
  }
}

Test(tuning, what_is_no_record_is_refused) {
  static const char *const bad[] = {
    "nanoseconds 1\n", "nanoseconds 1\nheuristics 2\n", "heuristics 2\nnanoseconds 1\ncandidates 3\n", "nanoseconds\nheuristics 2\ncandidates 3\n",
    "nanoseconds -1\nheuristics 2\ncandidates 3\n", "nanoseconds 1.5\nheuristics 2\ncandidates 3\n", "nanoseconds 1\nheuristics 2\ncandidates 4294967296\n",
    "nanoseconds 1\r\nheuristics 2\ncandidates 3\n", " nanoseconds 1\nheuristics 2\ncandidates 3\n", "nanoseconds 1\nheuristics 2\ncandidates 3\n\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    un__opt_found f;
    un__err e = {0};
    cr_expect_eq(un__record_parse(bad[i], strlen(bad[i]), &f, &e), UN_ERR_PARSE, "taken: %s", bad[i]);
    cr_expect(e.text[0]);
  }
}

/* ---- programs ---- */

#ifdef UN_HAVE_CPU
enum { ROWS = 40, DEPTH = 56, COLUMNS = 48 };
typedef struct outcome { un_stats stats; float product[ROWS * COLUMNS], sums[ROWS], soft[ROWS * COLUMNS]; } outcome;

/* A product, sums over its rows and a softmax of it, each a kernel, in a context of its own; or (few) one kernel, sums of rows. */
static bool few;
static outcome compute(const char *device, const char *search, un_numerics numerics) {
  static float a[ROWS * DEPTH], b[DEPTH * COLUMNS];
  for (int i = 0; i < ROWS * DEPTH; i++) a[i] = (float)(i * 7 % 13) / 16 - 0.3f;
  for (int i = 0; i < DEPTH * COLUMNS; i++) b[i] = (float)(i * 5 % 11) / 8 - 0.6f;
  outcome o = {.stats = UN_STATS_INIT};
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *cx;
  opt.device = device;
  opt.numerics = numerics;
  if (search) setenv("UNIR_SEARCH", search, 1);
  else unsetenv("UNIR_SEARCH");
  cr_assert_eq(un_ctx_create(&opt, &cx), UN_OK);
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, ROWS, DEPTH), a), *y = un_from_data(cx, UN_F32, un_shape(2, DEPTH, COLUMNS), b);
  un_tensor *product = few ? x : un_contiguous(un_matmul(x, y));
  if (!few) cr_assert_eq(un_read(product, o.product, sizeof o.product), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_read(un_sum(product, un_list(1), false), o.sums, sizeof o.sums), UN_OK, "%s", un_error(cx));
  if (!few) cr_assert_eq(un_read(un_softmax(product, 1), o.soft, sizeof o.soft), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_get_stats(cx, &o.stats), UN_OK);
  un_ctx_destroy(cx);
  return o;
}

static void check_near(const char *what, const float *have, const float *want, size_t n, float bound) {
  for (size_t i = 0; i < n; i++)
    if (!(fabsf(have[i] - want[i]) <= bound)) cr_assert_fail("%s %zu: %g and %g", what, i, (double)have[i], (double)want[i]);
}

static void check_same(const outcome *have, const outcome *want) {
  check_near("product", have->product, want->product, ROWS * COLUMNS, 1e-5f);
  check_near("sum", have->sums, want->sums, ROWS, 1e-4f);
  check_near("softmax", have->soft, want->soft, ROWS * COLUMNS, 1e-5f);
}

/* Calls back for the files of tuning records. */
static size_t each_record(void (*see)(un__disk_cache *c, un__bytes key)) {
  un__err why = {0};
  un__disk_cache *c = un__disk_cache_open(true, &why);
  un__disk_entries list = {0};
  size_t n = 0;
  cr_assert(c, "%s", why.text);
  cr_assert_eq(un__disk_cache_list(c, &list, NULL), UN_OK);
  for (size_t i = 0; i < list.n; i++) {
    un__bytes key;
    cr_assert(un__disk_cache_key(c, list.at[i].name, &key));
    bool is_record = key.n > strlen(un__record_title) && memcmp(key.at, un__record_title, strlen(un__record_title)) == 0;
    n += is_record;
    if (is_record && see) see(c, key);
    un__free(key.at);
  }
  un__vec_finish(&list);
  un__disk_cache_close(c);
  return n;
}

Test(tuning, searched_kernels_give_the_same_results, .timeout = 100) {
  outcome want = compute("interp", NULL, UN_PRECISE);
  cr_assert_eq(each_record(NULL), 0, "interp is not searched");
  outcome have = compute("cpu", "beam:2", UN_PRECISE);
  check_same(&have, &want);
  cr_expect_eq(each_record(NULL), 3, "a record for each kernel");
}

Test(tuning, records_are_used_with_and_without_a_search, .timeout = 100) {
  few = true;
  outcome searched = compute("cpu", "beam:1", UN_PRECISE);
  cr_assert_eq(each_record(NULL), 1);
  outcome again = compute("cpu", "beam:1", UN_PRECISE), later = compute("cpu", NULL, UN_PRECISE);
  cr_expect_eq(again.stats.kernels_compiled, 0, "neither searched nor compiled");
  cr_expect_eq(later.stats.kernels_compiled, 0);
  cr_expect_eq(later.stats.kernels_loaded, 1);
  cr_expect_eq(memcmp(later.sums, searched.sums, sizeof later.sums), 0);
  outcome off = compute("cpu", "off", UN_PRECISE);
  cr_expect_eq(off.stats.kernels_loaded, 0, "the heuristics' kernels are others");
  outcome strict = compute("cpu", "beam:1", UN_STRICT);
  cr_expect_eq(strict.stats.kernels_loaded, 0);
  cr_expect_eq(each_record(NULL), 1, "strict leaves no records");
  check_same(&off, &searched);
  check_same(&strict, &searched);
}

/* Without a disk cache the plan that was found serves this process. */
Test(tuning, a_search_needs_no_disk, .timeout = 100) {
  few = true;
  setenv("UNIR_CACHE", "0", 1);
  outcome want = compute("interp", NULL, UN_PRECISE), have = compute("cpu", "beam:1", UN_PRECISE);
  check_same(&have, &want);
}

/* The key of the record that there is, and values for it. */
static un__bytes the_key;
static void note_key(un__disk_cache *c, un__bytes key) {
  the_key = (un__bytes){malloc(key.n), key.n};
  memcpy(the_key.at, key.at, key.n);
}

static void plant(const char *value) {
  un__disk_cache *c = un__disk_cache_open(true, NULL);
  cr_assert(un__disk_cache_put(c, the_key, (un__bytes){(void *)value, strlen(value)}));
  un__disk_cache_close(c);
}

Test(tuning, what_is_not_legal_is_removed_and_searched_again, .timeout = 100) {
  few = true;
  static const char *const worthless[] = {
    "", "garbage\n", "nanoseconds 1\nheuristics 1\ncandidates 1\nsplit 0 inner 4", "nanoseconds 1\nheuristics 1\ncandidates 1\nsplit 9 inner 4 upcast\n",
    "nanoseconds 1\nheuristics 1\ncandidates 1\nsplit 0 inner 4 local\n", "nanoseconds 1\nheuristics 1\ncandidates 1\nsplit 0 inner 9999999 upcast\n"};
  outcome want = compute("cpu", "beam:1", UN_PRECISE);
  cr_assert_eq(each_record(note_key), 1);
  for (size_t i = 0; i < sizeof worthless / sizeof *worthless; i++) {
    plant(worthless[i]);
    outcome have = compute("cpu", NULL, UN_PRECISE);
    check_same(&have, &want);
    cr_expect_eq(each_record(NULL), 0, "%s", worthless[i]);
  }
  plant(worthless[0]);
  outcome have = compute("cpu", "beam:1", UN_PRECISE);
  check_same(&have, &want);
  cr_expect_eq(each_record(NULL), 1, "written anew");
  free(the_key.at);
}

/* Records are plans, so one that is legal is what the kernel becomes. */
Test(tuning, a_legal_record_decides, .timeout = 100) {
  few = true;
  outcome want = compute("cpu", "beam:1", UN_PRECISE);
  cr_assert_eq(each_record(note_key), 1);
  plant("nanoseconds 1\nheuristics 1\ncandidates 1\n");
  outcome plain = compute("cpu", NULL, UN_PRECISE), again = compute("cpu", NULL, UN_PRECISE);
  check_same(&plain, &want);
  cr_expect_eq(each_record(NULL), 1);
  cr_expect_eq(plain.stats.kernels_compiled, 1, "a loop alone: nobody compiled that before");
  cr_expect_eq(again.stats.kernels_compiled, 0);
  free(the_key.at);
}
#endif
