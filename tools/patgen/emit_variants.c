/* emit_variants.c - left sides as tables, for the test program: from them it makes terms that a rule may fire on, to
 * compare what stands there before and after. One table for each reading of a rule, operand orders aside. */
#include <string.h>

#include "gen.h"

static bool same_reading(const un__variant *a, const un__variant *b) {
  if (a->shape.n != b->shape.n || a->loop_ops.n != b->loop_ops.n) return false;
  return (!a->shape.n || !memcmp(a->shape.at, b->shape.at, a->shape.n * sizeof *a->shape.at)) &&
         (!a->loop_ops.n || !memcmp(a->loop_ops.at, b->loop_ops.at, a->loop_ops.n * sizeof *a->loop_ops.at));
}

/* A double as C text, by its bits. */
static void put_double(un__strbuf *out, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  un__sb_printf(out, "UINT64_C(0x%llx)", (unsigned long long)bits);
}

static void tables(un__pat *p, const un__variant *v, size_t number, un__strbuf *out) {
  un__infer in;
  un__pat_infer(p, v, &in);
  if (p->errors || p->oom) return;
  un__sb_printf(out, "static const un__mt_site sites_%zu[] = {\n", number);
  for (size_t i = 0; i < v->sites.n; i++) {
    const un__site *s = &v->sites.at[i];
    un__sb_printf(out, "  {%d, %u, %d, %d, %d, 0x%xu},\n", s->parent, (unsigned)s->index, s->op,
                  un__infer_class(&in, (int)i), un__infer_scalar_class(&in, (int)i),
                  (unsigned)un__infer_mask(&in, (int)i));
  }
  un__sb_printf(out, "};\nstatic const un__mt_cons cons_%zu[] = {\n", number);
  for (size_t i = 0; i < v->cons.n; i++) {
    const un__cons *c = &v->cons.at[i];
    un__sb_printf(out, "  {%d, %d, %d, INT64_C(%lld), INT64_C(%lld), ", (int)c->kind, c->site, c->site2,
                  (long long)c->a, (long long)c->b);
    put_double(out, c->f);
    un__sb_puts(out, "},\n");
  }
  un__sb_puts(out, "  {-1, 0, 0, 0, 0, 0},\n};\n");
}

static void each_reading(un__pat *p, un__rule *r, size_t *number, size_t rule, un__strbuf *out, un__strbuf *list) {
  un__variants vs = {0};
  un__pat_lower(p, r, &vs);
  for (size_t i = 0; i < vs.list.n && !p->errors && !p->oom; i++) {
    bool again = false;
    for (size_t k = 0; k < i && !again; k++) again = same_reading(vs.list.at[i], vs.list.at[k]);
    if (again) continue;
    tables(p, vs.list.at[i], *number, out);
    un__sb_printf(list, "  {&un__ruleset_%s, %zu, ", r->set->name, rule);
    un__sb_printf(list, r->set->ctx ? "\"%s\", " : "NULL, ", r->set->ctx);
    un__sb_printf(list, "sites_%zu, %zu, cons_%zu, %zu},\n", *number, vs.list.at[i]->sites.n, *number,
                  vs.list.at[i]->cons.n);
    ++*number;
  }
}

void un__emit_variants(un__pat *p, un__strbuf *out) {
  un__strbuf list = {0};
  size_t number = 0;
  for (size_t i = 0; i < p->sets.n; i++) {
    const un__ruleset_ast *s = p->sets.at[i];
    if (!s->main_file) continue;
    size_t n;
    un__rule **rules = un__pat_set_rules(p, s, &n);
    for (size_t k = 0; k < n && !p->errors && !p->oom; k++)
      if (rules[k]->set == s) each_reading(p, rules[k], &number, k, out, &list);
  }
  un__sb_printf(out, "static const un__mt_variant variants[] = {\n%s  {0},\n};\n\n", un__sb_str(&list));
  if (list.failed) out->failed = true;
  un__sb_finish(&list);
}
