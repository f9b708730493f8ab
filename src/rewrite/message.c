/* message.c - what the engine says: traces, and the error that names a cycle of rules. Texts hold no ids or addresses.
 */
#include "run.h"

#include <string.h>

enum { DESCRIBE_DEPTH = 3, DESCRIBE_SOURCES = 6, CYCLE_NAMES = 12 };

static void put_attr(un__strbuf *out, const un_uop *n) {
  if (un__is(n, UN__OP_VAR)) {
    char name[UN__NAME_WORDS * 8 + 1] = {0};
    memcpy(name, un__attrs(n), (size_t)n->nattr * 8 < sizeof name ? (size_t)n->nattr * 8 : sizeof name - 1);
    un__sb_puts(out, name);
  } else if (un__is_const(n) && un__dt_is_float(n->dtype)) {
    un__sb_printf(out, "%s:0x%llx", un__dt_info(n->dtype)->name, (unsigned long long)un__attr(n, 0));
  } else if (un__is_const(n)) {
    un__sb_puti64(out, un__const_int(n));
  } else {
    un__sb_puts(out, un__info(n)->name);
    for (uint32_t i = 0; i < n->nattr && i < DESCRIBE_SOURCES; i++) {
      un__sb_putc(out, i ? ',' : '<');
      un__sb_puti64(out, un__attr(n, i));
    }
    if (n->nattr) un__sb_putc(out, '>');
  }
}

/* Recursion is bounded by DESCRIBE_DEPTH. */
static void describe(un__strbuf *out, const un_uop *n, int depth) {
  put_attr(out, n);
  if (n->nsrc == 0 || un__is(n, UN__OP_VAR)) return;
  un__sb_putc(out, '(');
  for (uint32_t i = 0; i < n->nsrc; i++) {
    if (i) un__sb_puts(out, ", ");
    if (depth == 0 || i >= DESCRIBE_SOURCES) {
      un__sb_puts(out, "..");
      break;
    }
    describe(out, n->src[i], depth - 1);
  }
  un__sb_putc(out, ')');
}

void un__rw_describe(un__strbuf *out, const un_uop *n) { describe(out, n, DESCRIBE_DEPTH); }

/* ---- traces ---- */

static void emit(const un__rw *rw, un__strbuf *line) {
  const un__log *log = &un__graph_err(rw->g)->log;
  if (log->write && !line->failed) log->write(log->data, un__sb_str(line));
  un__sb_finish(line);
}

void un__rw_trace_rule(const un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to) {
  if (!(un__rw_env_get()->trace & UN__TRACE_RULE) || !un__graph_err(rw->g)->log.write) return;
  un__strbuf line;
  un__sb_init(&line);
  un__sb_printf(&line, "%s: %s.%s: ", rw->state->plan->pass->name, rw->set->name, rw->set->rules[rule].name);
  un__rw_describe(&line, from);
  un__sb_puts(&line, " -> ");
  un__rw_describe(&line, to);
  emit(rw, &line);
}

void un__rw_trace_stage(const un__rw *rw) {
  if (!(un__rw_env_get()->trace & UN__TRACE_STAGE) || !un__graph_err(rw->g)->log.write) return;
  un__strbuf line;
  un__sb_init(&line);
  const struct un__rw_state *s = rw->state;
  un__sb_printf(&line, "%s: %llu visits, %llu rules fired", s->plan->pass->name, (unsigned long long)s->visits,
                (unsigned long long)s->fired);
  emit(rw, &line);
}

/* ---- fuel ---- */

static void put_rule(un__strbuf *out, const un__ruleset *set, uint32_t rule) {
  if (out->n) un__sb_puts(out, " -> ");
  un__sb_printf(out, "%s.%s", set->name, set->rules[rule].name);
}

static void fail_with(un__rw *rw, const un__strbuf *rules, const char *verb, const un_uop *node) {
  un__strbuf at;
  un__sb_init(&at);
  un__rw_describe(&at, node);
  un__fail(un__graph_err(rw->g), UN_ERR_FUEL, "%s: rewriting does not terminate: rules %s %s at %s",
           rw->state->plan->pass->name, un__sb_str(rules), verb, un__sb_str(&at));
  un__sb_finish(&at);
}

void un__rw_fail_cycle(un__rw *rw, size_t from, const un_uop *node) {
  const struct un__rw_state *s = rw->state;
  un__strbuf rules;
  un__sb_init(&rules);
  int names = 0;
  for (size_t i = from; i < s->trail.n && names < CYCLE_NAMES; i++)
    if (s->trail.at[i].set) {
      put_rule(&rules, s->trail.at[i].set, s->trail.at[i].rule);
      names++;
    }
  fail_with(rw, &rules, "lead back to the node they started from,", node);
  un__sb_finish(&rules);
}

static bool same_firing(const struct un__rw_state *s, uint64_t i, uint64_t j) {
  i %= UN__RW_RING;
  j %= UN__RW_RING;
  return s->ring[i].set == s->ring[j].set && s->ring[i].rule == s->ring[j].rule;
}

/* The shortest period of the last firings, 0 when they have none. */
static uint64_t find_period(const struct un__rw_state *s) {
  uint64_t have = s->fired < UN__RW_RING ? s->fired : UN__RW_RING;
  for (uint64_t p = 1; p <= have / 4; p++) {
    uint64_t k = 0, want = have / 2 > 2 * p ? have / 2 : 2 * p;
    while (k < want && same_firing(s, s->fired - 1 - k, s->fired - 1 - k - p)) k++;
    if (k == want) return p;
  }
  return 0;
}

/* Is firing i the first of its rule among the firings from `start` on? */
static bool first_of_rule(const struct un__rw_state *s, uint64_t start, uint64_t i) {
  for (uint64_t j = start; j < i; j++)
    if (same_firing(s, i, j)) return false;
  return true;
}

void un__rw_fail_fuel(un__rw *rw, const un_uop *node) {
  const struct un__rw_state *s = rw->state;
  uint64_t period = find_period(s), window = period ? period : s->fired < 64 ? s->fired : 64;
  un__strbuf rules;
  un__sb_init(&rules);
  int names = 0;
  for (uint64_t i = s->fired - window; i < s->fired && names < CYCLE_NAMES; i++) {
    if (!period && !first_of_rule(s, s->fired - window, i)) continue;
    put_rule(&rules, s->ring[i % UN__RW_RING].set, s->ring[i % UN__RW_RING].rule);
    names++;
  }
  fail_with(rw, &rules, period ? "repeat without end" : "(the last to fire) used up the fuel", node);
  un__sb_finish(&rules);
}
