/* plan_text.c - plans as lines that people can read, and back. */
#include <string.h>

#include "base/number.h"
#include "opt.h"

static void put_step(const un__opt_step *s, un__strbuf *out) {
  long long id = (long long)s->range_id;
  if (s->kind == UN__OPT_STAGE && s->factor) un__sb_printf(out, "stage %lld ring %lld\n", id, (long long)s->factor);
  else if (s->kind == UN__OPT_STAGE) un__sb_printf(out, "stage %lld\n", id);
  else if (s->factor == 0) un__sb_printf(out, "whole %lld %s\n", id, un__axis_table[s->axis].name);
  else un__sb_printf(out, "split %lld %s %lld %s\n", id, s->inner ? "inner" : "outer", (long long)s->factor, un__axis_table[s->axis].name);
}

void un__opt_plan_print(const un__opt_plan *plan, un__strbuf *out) {
  for (uint32_t i = 0; i < plan->n; i++) put_step(&plan->step[i], out);
}

/* ---- reading ---- */

enum { MAX_WORDS = 5 };
typedef struct word { const char *at; size_t n; } word;
typedef struct line { word word[MAX_WORDS + 1]; uint32_t n; } line; /* one word more than any step has: too many */

static line words_of(const char *at, const char *end) {
  line l = {.n = 0};
  while (l.n <= MAX_WORDS) {
    const char *space = memchr(at, ' ', (size_t)(end - at));
    l.word[l.n++] = (word){at, (size_t)((space ? space : end) - at)};
    if (!space) break;
    at = space + 1;
  }
  return l;
}

static bool is(word w, const char *text) { return strlen(text) == w.n && memcmp(w.at, text, w.n) == 0; }
static bool number(word w, int64_t *out) { return un__parse_i64(w.at, w.n, out) == UN__NUM_OK && *out >= 0; }

static bool axis(word w, un__axis *out) {
  for (int i = 0; i < UN__AXIS_COUNT; i++)
    if (is(w, un__axis_table[i].name)) return *out = (un__axis)i, true;
  return false;
}

static bool read_split(const line *l, un__opt_step *s) {
  s->inner = is(l->word[2], "inner");
  return (s->inner || is(l->word[2], "outer")) && number(l->word[3], &s->factor) && s->factor >= 2 && axis(l->word[4], &s->axis);
}
static bool read_whole(const line *l, un__opt_step *s) { return axis(l->word[2], &s->axis); }
static bool read_stage(const line *l, un__opt_step *s) { return s->kind = UN__OPT_STAGE, true; }
static bool read_ring(const line *l, un__opt_step *s) {
  s->kind = UN__OPT_STAGE;
  return is(l->word[2], "ring") && number(l->word[3], &s->factor) && s->factor >= 2;
}

static const struct form {
  const char *name;
  uint32_t words;
  bool (*read)(const line *l, un__opt_step *s);
} forms[] = {{"split", 5, read_split}, {"whole", 3, read_whole}, {"stage", 2, read_stage}, {"stage", 4, read_ring}};

static bool read_step(const char *at, const char *end, un__opt_step *out) {
  line l = words_of(at, end);
  *out = (un__opt_step){.range_id = -1};
  for (size_t i = 0; l.n > 1 && i < sizeof forms / sizeof *forms; i++)
    if (is(l.word[0], forms[i].name) && l.n == forms[i].words) return number(l.word[1], &out->range_id) && forms[i].read(&l, out);
  return false;
}

un_status un__opt_plan_parse(const char *text, size_t n, un__opt_plan *out, un__err *err) {
  *out = (un__opt_plan){0};
  const char *end = text + n;
  for (uint32_t row = 1; text < end; row++) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    if (!stop) return un__fail(err, UN_ERR_PARSE, "plan: line %u does not end", row);
    if (out->n == UN__OPT_MAX_STEPS) return un__fail(err, UN_ERR_PARSE, "plan: more than %d steps", UN__OPT_MAX_STEPS);
    if (!read_step(text, stop, &out->step[out->n++]))
      return un__fail(err, UN_ERR_PARSE,
                      "plan: line %u: expected split ID inner|outer FACTOR AXIS, whole ID AXIS, stage ID or stage ID ring FACTOR, got \"%.*s\"", row,
                      stop - text > 80 ? 80 : (int)(stop - text), text);
    text = stop + 1;
  }
  return UN_OK;
}
