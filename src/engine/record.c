/* record.c - tuning records as text, and what UNIR_SEARCH may say. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "tuning.h"

const char un__record_title[] = "unir plan 1\n";

/* ---- the environment ---- */

enum { WIDEST = 64 };

un_status un__search_policy_get(un__search_policy *out, un__err *err) {
  static const char beam[] = "beam:";
  const char *text = getenv("UNIR_SEARCH");
  uint64_t width;
  *out = (un__search_policy){0};
  if (!text || !*text) return UN_OK;
  if (strcmp(text, "off") == 0) return out->off = true, UN_OK;
  size_t n = strlen(beam);
  if (strncmp(text, beam, n) == 0 && un__parse_u64(text + n, strlen(text + n), &width) == UN__NUM_OK && width >= 1 && width <= WIDEST)
    return out->width = (uint32_t)width, UN_OK;
  return un__fail(err, UN_ERR_INVALID_ARG, "UNIR_SEARCH: expected off, or beam:N with N from 1 to %d, got \"%s\"", WIDEST, text);
}

/* ---- records ---- */

static uint64_t nanoseconds(double seconds) { return seconds >= 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9 + 0.5) : 0; }

void un__record_print(const un__opt_found *found, un__strbuf *out) {
  un__sb_printf(out, "nanoseconds %" PRIu64 "\nheuristics %" PRIu64 "\ncandidates %u\n", nanoseconds(found->seconds),
                nanoseconds(found->heuristic_seconds), found->candidates);
  un__opt_plan_print(&found->plan, out);
}

/* Reads "name number\n" and goes on behind it. */
static bool take(const char **at, const char *end, const char *name, uint64_t *out) {
  size_t n = strlen(name);
  const char *stop = memchr(*at, '\n', (size_t)(end - *at));
  if (!stop || (size_t)(stop - *at) < n + 2 || memcmp(*at, name, n) != 0 || (*at)[n] != ' ') return false;
  bool ok = un__parse_u64(*at + n + 1, (size_t)(stop - *at) - n - 1, out) == UN__NUM_OK;
  *at = stop + 1;
  return ok;
}

un_status un__record_parse(const char *text, size_t n, un__opt_found *out, un__err *err) {
  const char *at = text, *end = text + n;
  uint64_t best, heuristics, candidates;
  *out = (un__opt_found){0};
  if (!take(&at, end, "nanoseconds", &best) || !take(&at, end, "heuristics", &heuristics) || !take(&at, end, "candidates", &candidates) ||
      candidates > UINT32_MAX)
    return un__fail(err, UN_ERR_PARSE, "tuning record: expected lines nanoseconds N, heuristics N, candidates N");
  out->seconds = (double)best * 1e-9;
  out->heuristic_seconds = (double)heuristics * 1e-9;
  out->candidates = (uint32_t)candidates;
  return un__opt_plan_parse(at, (size_t)(end - at), &out->plan, err);
}
