/* torture.c - every allocation fails once. Built with -Dtorture=true.
 *
 * usage: torture [--every] [--part=K/N] [SCENARIO]...
 *
 * A scenario is run again and again; in run n the n-th allocation of the library fails, alone or with all later ones. Each
 * run must end with UN_ERR_NOMEM, or with success and the very results of a run where nothing failed (some allocations can
 * be done without). Then the same context must do the same work as if nothing had happened, its reference counts must be
 * right, and when it is destroyed nothing may be left (the sanitizer build looks for what is used after its end).
 *
 * Of a scenario with very many allocations every one is tried with --every; else the first ones, the last ones, and ever
 * fewer in between. With --part=K/N (K from 1 to N) one trial in N is made, so that N processes make all. Prints TAP. */
#include "torture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UN_USE_UNSTABLE
#include <unir/unstable.h>

#include "base/mem.h"

/* ---- digests: FNV-1a ---- */

void see(trial *t, const void *bytes, size_t n) {
  const unsigned char *b = bytes;
  for (size_t i = 0; i < n; i++) t->seen = (t->seen ^ b[i]) * UINT64_C(0x100000001b3);
}

void see_text(trial *t, const char *text) { see(t, text, strlen(text) + 1); }

/* ---- trials ---- */

typedef struct reference { uint64_t seen, allocations; } reference;

static bool open_trial(const scenario *s, trial *t) {
  *t = (trial){0};
  if (!s->device) return true;
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = s->device;
  return un_ctx_create(&opt, &t->cx) == UN_OK;
}

static un_status run(const scenario *s, trial *t) {
  t->seen = UINT64_C(0xcbf29ce484222325);
  un_clear_error(t->cx);
  return s->run(t);
}

static bool fault(const scenario *s, uint64_t n, bool once, const char *what, const char *more) {
  printf("# %s: allocation %" PRIu64 " fails%s: %s%s\n", s->name, n, once ? "" : ", and all later ones", what, more);
  return false;
}

/* The run with the failure. *out_spared: it went well all the same. */
static bool run_failing(const scenario *s, trial *t, const reference *ref, uint64_t n, bool once, bool *out_spared) {
  un__torture_arm(n, once);
  un_status status = run(s, t);
  bool failed = un__torture_count() > n;
  un__torture_arm(UINT64_MAX, false);
  *out_spared = failed && status == UN_OK;
  if (status == UN_OK) return t->seen == ref->seen || fault(s, n, once, "no error, but other results", "");
  if (status == UN_ERR_NOMEM && failed) return true;
  fault(s, n, once, "the run ends with ", un_status_str(status));
  return fault(s, n, once, "message: ", t->cx ? un_error(t->cx) : "not kept");
}

/* The same work in the same context, undisturbed. */
static bool run_again(const scenario *s, trial *t, const reference *ref, uint64_t n, bool once) {
  if (t->cx && un_audit(t->cx) != UN_OK) return fault(s, n, once, "afterwards the reference counts are wrong", "");
  un_status status = run(s, t);
  if (status != UN_OK) return fault(s, n, once, "afterwards the same work ends with ", un_status_str(status));
  return t->seen == ref->seen || fault(s, n, once, "afterwards the same work has other results", "");
}

static bool try_one(const scenario *s, const reference *ref, uint64_t n, bool once, bool *out_spared) {
  int64_t before = un__torture_live();
  trial t;
  bool ok = open_trial(s, &t) || fault(s, n, once, "the context cannot be created", "");
  ok = ok && run_failing(s, &t, ref, n, once, out_spared) && run_again(s, &t, ref, n, once);
  un_ctx_destroy(t.cx);
  if (!ok) return false;
  return un__torture_live() == before || fault(s, n, once, "memory is lost", "");
}

/* What a run gives and asks for when nothing fails. The first one may set up what stays for the process. */
static bool measure(const scenario *s, reference *out) {
  for (int round = 0; round < 2; round++) {
    trial t;
    if (!open_trial(s, &t)) return false;
    un__torture_arm(UINT64_MAX, false);
    un_status status = run(s, &t);
    *out = (reference){t.seen, un__torture_count()};
    if (status != UN_OK) printf("# %s: without failures: %s: %s\n", s->name, un_status_str(status), un_error(t.cx));
    un_ctx_destroy(t.cx);
    if (status != UN_OK) return false;
  }
  return true;
}

enum { ALWAYS = 100, TAIL = 30, DENSITY = 20 };

/* The allocation to fail after n: steps grow with n, so that their number grows with the logarithm of the allocations. Between two
 * that fail with all later ones lies one that fails alone. */
static uint64_t next(uint64_t n, uint64_t allocations, bool every) {
  if (every || n < ALWAYS || n + TAIL >= allocations) return n + 1;
  uint64_t step = 1 + (n - ALWAYS) / DENSITY;
  return n + step + TAIL < allocations ? n + step : allocations - TAIL;
}

/* Which trials are made. */
typedef struct selection {
  bool every;
  unsigned part, parts;
} selection;

static bool torture(const scenario *s, const selection *sel) {
  reference ref;
  uint64_t seen = 0, trials = 0, spared = 0;
  bool ok = measure(s, &ref);
  for (int once = 0; ok && once < 2; once++)
    for (uint64_t n = 0, then; ok && n < ref.allocations; n = then) {
      then = next(n, ref.allocations, sel->every);
      if (seen++ % sel->parts != sel->part) continue;
      bool was_spared = false;
      ok = try_one(s, &ref, once ? (n + then) / 2 : n, once, &was_spared);
      spared += was_spared;
      trials++;
    }
  if (ok) printf("# %s: %" PRIu64 " allocations, %" PRIu64 " trials, %" PRIu64 " went well all the same\n", s->name,
                 ref.allocations, trials, spared);
  return ok;
}

/* ---- all of them ---- */

static const scenario *scenario_at(size_t i) {
  return i < graph_nscenarios ? &graph_scenarios[i] : &context_scenarios[i - graph_nscenarios];
}

static bool is_wanted(const scenario *s, char **names, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(names[i], s->name) == 0) return true;
  return n == 0;
}

static bool read_option(const char *arg, selection *sel) {
  if (strcmp(arg, "--every") == 0) return sel->every = true;
  if (sscanf(arg, "--part=%u/%u", &sel->part, &sel->parts) != 2) return false;
  return sel->part-- >= 1 && sel->part < sel->parts;
}

int main(int argc, char **argv) {
  selection sel = {.parts = 1};
  int first = 1, failures = 0, tests = 0;
  for (; first < argc && argv[first][0] == '-'; first++)
    if (!read_option(argv[first], &sel)) {
      fprintf(stderr, "torture: expected --every or --part=K/N, got %s\n", argv[first]);
      return 2;
    }
  setenv("UNIR_THREADS", "2", 1);     /* the same allocations on every machine, and in every run */
  setenv("UNIR_CACHE", "0", 1);
  for (size_t i = 0; i < graph_nscenarios + context_nscenarios; i++) {
    const scenario *s = scenario_at(i);
    if (!is_wanted(s, argv + first, argc - first)) continue;
    bool ok = torture(s, &sel);
    failures += !ok;
    printf("%sok %d - %s\n", ok ? "" : "not ", ++tests, s->name);
    fflush(stdout);
  }
  printf("1..%d\n", tests);
  return failures != 0 || tests == 0;
}
