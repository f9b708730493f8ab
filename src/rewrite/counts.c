/* counts.c - process-wide counters of rules, and the environment that steers them.
 *
 * Counters live in fixed tables of atomics: no allocation can fail and nothing is to free. A ruleset claims a slot
 * and a run of cells when it is first seen; when the tables are full its firings are counted in cell 0, which nobody
 * reads.
 */
#include "run.h"

#include <pthread.h>
#include <stdatomic.h>
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

static bool trace_has(const char *list, const char *word) { return strstr(list, word) || strstr(list, "all"); }

static void read_env(void) {
  const char *disabled = getenv("UNIR_DISABLE_RULE"), *limit = getenv("UNIR_RULE_LIMIT"), *trace = getenv("UNIR_TRACE");
  if (disabled && *disabled && strlen(disabled) + 3 <= sizeof env.disabled) {
    env.any_disabled = true;
    env.disabled[0] = ',';
    strcpy(env.disabled + 1, disabled);
    strcat(env.disabled, ",");
  }
  if (limit && *limit) {
    char *end;
    unsigned long long v = strtoull(limit, &end, 10);
    env.limited = !*end;
    env_limit = v;
  }
  if (trace && trace_has(trace, "rule")) env.trace |= UN__TRACE_RULE;
  if (trace && trace_has(trace, "stage")) env.trace |= UN__TRACE_STAGE;
}

const un__rw_env *un__rw_env_get(void) {
  pthread_once(&env_once, read_env);
  return &env;
}

static bool listed(const char *list, const char *set, const char *name) {
  size_t ns = set ? strlen(set) : 0, nn = strlen(name);
  for (const char *at = list; *at == ',' && at[1]; at = strchr(at + 1, ',')) {
    const char *word = at + 1;
    if (set) {
      if (strncmp(word, set, ns) != 0 || word[ns] != '.') continue;
      word += ns + 1;
    }
    if (strncmp(word, name, nn) == 0 && word[nn] == ',') return true;
  }
  return false;
}

bool un__rw_is_disabled(const un__ruleset *set, uint32_t rule) {
  const un__rw_env *e = un__rw_env_get();
  if (!e->any_disabled) return false;
  return listed(e->disabled, NULL, set->rules[rule].name) || listed(e->disabled, set->name, set->rules[rule].name);
}

bool un__rw_under_limit(void) {
  if (!un__rw_env_get()->limited) return true;
  return atomic_fetch_add(&limit_used, 1) < env_limit;
}
