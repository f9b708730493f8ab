/* counts.c - process-wide counters of rules, and the environment that steers them.
 *
 * Counters live in fixed tables of atomics: no allocation can fail and nothing is to free. A ruleset claims a slot
 * and a run of cells when it is first seen; when the tables are full its firings are counted in cell 0, which nobody
 * reads.
 */
#include "run.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 512, CELLS = 8192 };

static struct { _Atomic(const un__ruleset *) set; atomic_uint first; } slots[SLOTS];
static struct { atomic_uint_fast64_t fired, declined; } cells[CELLS];
static atomic_uint cells_used = 1;
static atomic_uint_fast64_t visits, limit_used;

static uint32_t claim(uint32_t n) {
  uint32_t first = atomic_fetch_add(&cells_used, n);
  return first + n <= CELLS ? first : 0;
}

/* The slot's `first` is stored as cell + 1, so that 0 means: claimed by another thread, not filled yet. */
uint32_t un__rw_counts_of(const un__ruleset *set) {
  uint32_t at = (uint32_t)(((uintptr_t)set >> 4) * UINT32_C(2654435769) >> 7) % SLOTS;
  for (uint32_t i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS) {
    const un__ruleset *have = atomic_load(&slots[at].set);
    if (!have && atomic_compare_exchange_strong(&slots[at].set, &have, set)) {
      uint32_t first = claim(set->nrules);
      atomic_store(&slots[at].first, first + 1);
      return first;
    }
    if (have != set) continue;
    uint32_t first;
    while (!(first = atomic_load(&slots[at].first))) {}
    return first - 1;
  }
  return 0;
}

void un__rw_count_fired(uint32_t counter) {
  if (counter < CELLS) atomic_fetch_add_explicit(&cells[counter].fired, 1, memory_order_relaxed);
}

void un__rw_count_declined(uint32_t counter) {
  if (counter < CELLS) atomic_fetch_add_explicit(&cells[counter].declined, 1, memory_order_relaxed);
}

void un__rw_count_visits(uint64_t n) { atomic_fetch_add_explicit(&visits, n, memory_order_relaxed); }

un__rule_count un__rule_counts(const un__ruleset *set, uint32_t rule) {
  uint32_t first = un__rw_counts_of(set);
  if (!first || rule >= set->nrules) return (un__rule_count){0};
  return (un__rule_count){atomic_load(&cells[first + rule].fired), atomic_load(&cells[first + rule].declined)};
}

uint64_t un__rewrite_visits(void) { return atomic_load(&visits); }

/* ---- environment, read once ---- */

static un__rw_env env;
static uint64_t env_limit;
static pthread_once_t env_once = PTHREAD_ONCE_INIT;

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* The next word of a list between commas, blanks around it left out; 0 letters: an empty one. False after the last. */
static bool next_word(const char **at, const char **word, size_t *n) {
  if (!**at) return false;
  const char *end = *at + strcspn(*at, ",");
  while (*at < end && is_blank(**at)) ++*at;
  *word = *at;
  *n = (size_t)(end - *at);
  while (*n && is_blank((*word)[*n - 1])) --*n;
  *at = *end ? end + 1 : end;
  return true;
}

static bool is_word(const char *word, size_t n, const char *text) { return strlen(text) == n && !memcmp(word, text, n); }

static uint32_t trace_bits(const char *word, size_t n) {
  if (is_word(word, n, "all")) return UN__TRACE_RULE | UN__TRACE_STAGE;
  return is_word(word, n, "rule") ? UN__TRACE_RULE : is_word(word, n, "stage") ? UN__TRACE_STAGE : 0;
}

/* A number of firings; what is larger than 64 bits limits nothing. False: not a number. */
static bool parse_limit(const char *text, uint64_t *out) {
  const char *word;
  size_t n;
  *out = 0;
  if (!next_word(&text, &word, &n) || !n || *text) return false;
  for (size_t i = 0; i < n; i++) {
    if (word[i] < '0' || word[i] > '9') return false;
    uint64_t digit = (uint64_t)(word[i] - '0');
    *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
  }
  return true;
}

/* The variable, or NULL when it is unset or says nothing. */
static const char *variable(const char *name) {
  const char *text = getenv(name);
  return text && text[strspn(text, " \t")] ? text : NULL;
}

static void read_env(void) {
  const char *disabled = variable("UNIR_DISABLE_RULE"), *limit = variable("UNIR_RULE_LIMIT"),
             *trace = variable("UNIR_TRACE"), *word;
  size_t n;
  if (disabled) env.disabled = strdup(disabled); /* lives as long as the process */
  env.any_disabled = env.disabled != NULL;
  env.limited = limit && parse_limit(limit, &env_limit);
  while (trace && next_word(&trace, &word, &n)) env.trace |= trace_bits(word, n);
}

const un__rw_env *un__rw_env_get(void) {
  pthread_once(&env_once, read_env);
  return &env;
}

/* Is a word the name of a rule: `name` or `ruleset.name`? */
static bool names_rule(const char *word, size_t n, const un__ruleset *set, const un__rule_info *rule) {
  size_t of_set = strlen(set->name);
  if (is_word(word, n, rule->name)) return true;
  bool qualified = n > of_set && !memcmp(word, set->name, of_set) && word[of_set] == '.';
  return qualified && is_word(word + of_set + 1, n - of_set - 1, rule->name);
}

bool un__rw_is_disabled(const un__ruleset *set, uint32_t rule) {
  const un__rw_env *e = un__rw_env_get();
  const char *at = e->any_disabled ? e->disabled : "", *word;
  size_t n;
  while (next_word(&at, &word, &n))
    if (names_rule(word, n, set, &set->rules[rule])) return true;
  return false;
}

bool un__rw_under_limit(void) {
  if (!un__rw_env_get()->limited) return true;
  return atomic_fetch_add(&limit_used, 1) < env_limit;
}

/* ---- what is wrong with the environment ---- */

static void say(un__err *err, const char *fmt, ...) {
  char line[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  if (err->log.write) err->log.write(err->log.data, line);
}

static bool any_rule(const un__ruleset *const *sets, const char *word, size_t n) {
  for (; *sets; sets++)
    for (uint32_t i = 0; i < (*sets)->nrules; i++)
      if (names_rule(word, n, *sets, &(*sets)->rules[i])) return true;
  return false;
}

bool un__rewrite_check_env(const un__ruleset *const *sets, un__err *err) {
  const char *disabled = variable("UNIR_DISABLE_RULE"), *limit = variable("UNIR_RULE_LIMIT"),
             *trace = variable("UNIR_TRACE"), *word;
  size_t n;
  uint64_t number;
  bool good = true;
  for (const char *at = disabled; at && next_word(&at, &word, &n);) {
    if (!n || any_rule(sets, word, n)) continue;
    good = false;
    say(err, "UNIR_DISABLE_RULE: there is no rule '%.*s'", (int)(n < 80 ? n : 80), word);
  }
  if (limit && !parse_limit(limit, &number)) {
    good = false;
    say(err, "UNIR_RULE_LIMIT: expected a number of firings, given '%.80s'; nothing is limited", limit);
  }
  while (trace && next_word(&trace, &word, &n)) {
    if (!n || trace_bits(word, n)) continue;
    good = false;
    say(err, "UNIR_TRACE: expected rule, stage or all, given '%.*s'", (int)(n < 80 ? n : 80), word);
  }
  return good;
}
