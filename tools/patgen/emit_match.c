/* emit_match.c - matchers that try one variant after the other. */
#include <string.h>

#include "gen.h"

enum { VARIANTS_A_FUNCTION = 40 };

const char *un__emit_test_failed(un__pat *p, const un__variant *v, const un__cons *c, const char *site, const char *site2, const char *parent) {
  const un__site *s = &v->sites.at[c->site];
  long long a = c->a, b = c->b;
  switch (c->kind) {
  case UN__CK_OP:
    if (parent && s->index < 4) return un__pat_fmt(p, "%s->kop[%u] != UN__OP_%s", parent, s->index, un__optab[a].name);
    return un__pat_fmt(p, "%s->op != UN__OP_%s", site, un__optab[a].name);
  case UN__CK_NSRC: return un__pat_fmt(p, "%s->nsrc %s %lld", site, b ? "<" : "!=", a);
  case UN__CK_ATTR: return un__pat_fmt(p, "un__attr(%s, %lld) != %lld", site, a, b);
  case UN__CK_TYPE: return un__pat_fmt(p, "!un__m_type(%s, 0x%llxu)", site, a & 0xffffffffLL);
  case UN__CK_LANES: return un__pat_fmt(p, "un__lanes(%s) %s 1", site, a == UN__PAT_LANES_ONE ? "!=" : "<=");
  case UN__CK_SEM:
    if (a == UN__SEM_IDENT) return un__pat_fmt(p, "!un__m_is_identity(%s, UN__OP_%s)", site, un__optab[b].name);
    if (a == UN__SEM_ZERO && (v->rule->licences & 8)) return un__pat_fmt(p, "!un__m_is(%s, UN__M_ANY_ZERO)", site);
    return un__pat_fmt(p, "!un__m_is(%s, UN__M_%s%s)", site, un__sem_id[a], a == UN__SEM_INF ? "_" : "");
  case UN__CK_INT: return un__pat_fmt(p, "!un__m_is_int(%s, INT64_C(%lld))", site, a);
  case UN__CK_FLOAT: {
    uint64_t bits;
    memcpy(&bits, &c->f, sizeof bits);
    return un__pat_fmt(p, "!un__m_is_real(%s, un__m_double(UINT64_C(0x%llx)))", site, (unsigned long long)bits);
  }
  case UN__CK_SAME: return un__pat_fmt(p, "%s != %s", site, site2);
  case UN__CK_SAME_CONST: return un__pat_fmt(p, "!un__m_same_const(%s, %s)", site, site2);
  case UN__CK_ATTR_EQ: return un__pat_fmt(p, "un__attr(%s, %lld) != un__attr(%s, %lld)", site, a, site2, b);
  case UN__CK_INTS_EQ: return un__pat_fmt(p, "!un__m_same_ints(%s, %lld, %s, %lld)", site, a, site2, b);
  case UN__CK_DTYPE_EQ: return un__pat_fmt(p, "%s->dtype != %s->dtype", site, site2);
  case UN__CK_SPAN_EQ: return un__pat_fmt(p, "!un__m_same_span(%s, %lld, %s, %lld)", site, a, site2, b);
  case UN__CK_SPAN_CONST: return un__pat_fmt(p, "!un__m_span_const(%s, %lld)", site, a);
  case UN__CK_SPAN_TYPE: return un__pat_fmt(p, "!un__m_span_type(%s, %lld, 0x%llxu)", site, a, b & 0xffffffffLL);
  }
  return "true";
}

static const char *argument(un__pat *p, const un__cap *c, const char *site) {
  switch (c->kind) {
  case UN__CAP_SPAN: return un__pat_fmt(p, "un__m_span(%s, %u)", site, c->index);
  case UN__CAP_WORD: return un__pat_fmt(p, "un__attr(%s, %u)", site, c->index);
  case UN__CAP_INTS: return un__pat_fmt(p, "un__m_ints(%s, %u)", site, c->index);
  case UN__CAP_DTYPE: return un__pat_fmt(p, "%s->dtype", site);
  default: return site;
  }
}

const char *un__emit_call(un__pat *p, const un__set_code *s, size_t variant, const char *const *site) {
  const un__variant *v = s->variants.at[variant];
  const char *text = un__pat_fmt(p, "%s(rw, n", s->calls.at[variant]);
  for (size_t i = 0; i < v->caps.n; i++) text = un__pat_fmt(p, "%s, %s", text, argument(p, &v->caps.at[i], site[v->caps.at[i].site]));
  return un__pat_fmt(p, "%s)", text);
}

/* ---- one variant ---- */

typedef struct linear {
  un__pat *p;
  const un__set_code *s;
  const un__variant *v;
  un__strbuf *out;
  const char **site;         /* C name of each site once it is declared */
} linear;

static const char *need(linear *l, int site) {
  if (l->site[site]) return l->site[site];
  const un__site *s = &l->v->sites.at[site];
  const char *parent = need(l, s->parent);
  l->site[site] = un__pat_fmt(l->p, "s%d", site);
  un__sb_printf(l->out, "    const un_uop *s%d = %s->src[%u];\n", site, parent, s->index);
  return l->site[site];
}

static bool two_sites(un__ck k) {
  return k == UN__CK_SAME || k == UN__CK_SAME_CONST || k == UN__CK_ATTR_EQ || k == UN__CK_INTS_EQ || k == UN__CK_DTYPE_EQ || k == UN__CK_SPAN_EQ;
}

static void test(linear *l, const un__cons *c) {
  const un__site *s = &l->v->sites.at[c->site];
  if (c->kind == UN__CK_OP && c->site == 0) return;      /* the table has looked */
  bool by_parent = c->kind == UN__CK_OP && s->index < 4;
  const char *parent = by_parent ? need(l, s->parent) : NULL;
  const char *site = by_parent ? NULL : need(l, c->site);
  const char *site2 = two_sites(c->kind) ? need(l, c->site2) : NULL;
  un__sb_printf(l->out, "    if (%s) break;\n", un__emit_test_failed(l->p, l->v, c, site, site2, parent));
}

static void one_variant(un__pat *p, const un__set_code *s, size_t i, un__strbuf *out) {
  const un__variant *v = s->variants.at[i];
  const un__rule *r = v->rule;
  linear l = {.p = p, .s = s, .v = v, .out = out, .site = un__pat_alloc(p, (v->sites.n + 1) * sizeof *l.site)};
  if (p->oom) return;
  l.site[0] = "n";
  un__sb_printf(out, "  do { /* %s:%u %s */\n", p->files.at[r->loc.file].name, (unsigned)r->loc.line, r->name);
  for (size_t k = 0; k < v->cons.n; k++) test(&l, &v->cons.at[k]);
  for (size_t k = 0; k < v->caps.n; k++) need(&l, v->caps.at[k].site);
  if (r->licences) un__sb_printf(out, "    if (!un__m_licensed(rw, n, 0x%xu)) break;\n", (unsigned)r->licences);
  else un__sb_printf(out, "    if (!un__rw_enabled(rw, %u)) break;\n", (unsigned)s->rule_no.at[i]);
  un__sb_printf(out, "    to = %s;\n", un__emit_call(p, s, i, l.site));
  un__sb_printf(out, "    if (to && (to = un__rw_fire(rw, %u, n, to))) return to;\n  } while (0);\n", (unsigned)s->rule_no.at[i]);
}

static void open_function(un__strbuf *out, const char *set, const char *op, int part) {
  un__sb_printf(out, "static const un_uop *m_%s_%s", set, op);
  if (part) un__sb_printf(out, "_%d", part);
  un__sb_puts(out, "(un__rw *rw, const un_uop *n) {\n  const un_uop *to;\n");
}

/* Functions of at most VARIANTS_A_FUNCTION variants, the first of which calls the others in turn. */
static void one_op(un__pat *p, const un__set_code *s, int op, un__strbuf *out) {
  size_t count = 0, done = 0;
  for (size_t i = 0; i < s->variants.n; i++) count += un__variant_root_op(s->variants.at[i]) == op;
  if (!count) return;
  const char *name = un__optab[op].name, *set = s->set->name;
  int parts = (int)((count + VARIANTS_A_FUNCTION - 1) / VARIANTS_A_FUNCTION);
  un__sb_printf(out, "/* %s: %s, %zu variants */\n", set, name, count);
  open_function(out, set, name, parts > 1 ? 1 : 0);
  for (size_t i = 0; i < s->variants.n; i++) {
    if (un__variant_root_op(s->variants.at[i]) != op) continue;
    if (done && done % VARIANTS_A_FUNCTION == 0) {
      un__sb_puts(out, "  return NULL;\n}\n\n");
      open_function(out, set, name, (int)(done / VARIANTS_A_FUNCTION) + 1);
    }
    one_variant(p, s, i, out);
    done++;
  }
  un__sb_puts(out, "  return NULL;\n}\n\n");
  if (parts == 1) return;
  open_function(out, set, name, 0);
  for (int k = 1; k <= parts; k++) un__sb_printf(out, "  if ((to = m_%s_%s_%d(rw, n))) return to;\n", set, name, k);
  un__sb_puts(out, "  return NULL;\n}\n\n");
}

void un__emit_matchers(un__pat *p, const un__set_code *s, const un__emit_options *o, un__strbuf *out) {
  for (int op = 1; op < UN__POP_COUNT && !p->oom; op++) one_op(p, s, op, out);
}
