/* emit_test.c - one test of a matcher, and the call at its end, as C. */
#include <string.h>

#include "gen.h"

const char *un__emit_test_failed(un__pat *p, const un__variant *v, const un__cons *c, const char *site,
                                 const char *site2, const char *parent) {
  const un__site *s = &v->sites.at[c->site];
  long long a = c->a, b = c->b;
  switch (c->kind) {
  case UN__CK_OP:
    if (parent && s->index < 4) return un__pat_fmt(p, "%s->kop[%u] != UN__OP_%s", parent, s->index, un__optab[a].name);
    return un__pat_fmt(p, "%s->op != UN__OP_%s", site, un__optab[a].name);
  case UN__CK_NSRC:
    return un__pat_fmt(p, "%s->nsrc %s %lld", site, b ? "<" : "!=", a);
  case UN__CK_ATTR:
    return un__pat_fmt(p, "un__attr(%s, %lld) != %lld", site, a, b);
  case UN__CK_TYPE:
    return un__pat_fmt(p, "!un__m_type(%s, 0x%llxu)", site, a & 0xffffffffLL);
  case UN__CK_LANES:
    return un__pat_fmt(p, "un__lanes(%s) %s 1", site, a == UN__PAT_LANES_ONE ? "!=" : "<=");
  case UN__CK_SEM:
    if (a == UN__SEM_IDENT) return un__pat_fmt(p, "!un__m_is_identity(%s, UN__OP_%s)", site, un__optab[b].name);
    if (a == UN__SEM_ZERO && b) return un__pat_fmt(p, "!un__m_is(%s, UN__M_ANY_ZERO)", site);
    return un__pat_fmt(p, "!un__m_is(%s, UN__M_%s%s)", site, un__sem_id[a], a == UN__SEM_INF ? "_" : "");
  case UN__CK_INT:
    return un__pat_fmt(p, "!un__m_is_int(%s, INT64_C(%lld))", site, a);
  case UN__CK_FLOAT: {
    uint64_t bits;
    memcpy(&bits, &c->f, sizeof bits);
    return un__pat_fmt(p, "!un__m_is_real(%s, un__m_double(UINT64_C(0x%llx)))", site, (unsigned long long)bits);
  }
  case UN__CK_SAME:
    return un__pat_fmt(p, "%s != %s", site, site2);
  case UN__CK_SAME_CONST:
    return un__pat_fmt(p, "!un__m_same_const(%s, %s)", site, site2);
  case UN__CK_ATTR_EQ:
    return un__pat_fmt(p, "un__attr(%s, %lld) != un__attr(%s, %lld)", site, a, site2, b);
  case UN__CK_INTS_EQ:
    return un__pat_fmt(p, "!un__m_same_ints(%s, %lld, %s, %lld)", site, a, site2, b);
  case UN__CK_DTYPE_EQ:
    return un__pat_fmt(p, "%s->dtype != %s->dtype", site, site2);
  case UN__CK_SPAN_EQ:
    return un__pat_fmt(p, "!un__m_same_span(%s, %lld, %s, %lld)", site, a, site2, b);
  case UN__CK_SPAN_CONST:
    return un__pat_fmt(p, "!un__m_span_const(%s, %lld)", site, a);
  case UN__CK_SPAN_TYPE:
    return un__pat_fmt(p, "!un__m_span_type(%s, %lld, 0x%llxu)", site, a, b & 0xffffffffLL);
  }
  return "true";
}

static const char *argument(un__pat *p, const un__cap *c, const char *site) {
  switch (c->kind) {
  case UN__CAP_SPAN:
    return un__pat_fmt(p, "un__m_span(%s, %u)", site, c->index);
  case UN__CAP_WORD:
    return un__pat_fmt(p, "un__attr(%s, %u)", site, c->index);
  case UN__CAP_INTS:
    return un__pat_fmt(p, "un__m_ints(%s, %u)", site, c->index);
  case UN__CAP_DTYPE:
    return un__pat_fmt(p, "%s->dtype", site);
  default:
    return site;
  }
}

const char *un__emit_call(un__pat *p, const un__set_code *s, size_t variant, const char *const *site) {
  const un__variant *v = s->variants.at[variant];
  const char *text = un__pat_fmt(p, "%s(rw, n", s->calls.at[variant]);
  for (size_t i = 0; i < v->caps.n; i++)
    text = un__pat_fmt(p, "%s, %s", text, argument(p, &v->caps.at[i], site[v->caps.at[i].site]));
  return un__pat_fmt(p, "%s)", text);
}

bool un__emit_two_sites(un__ck k) {
  return k == UN__CK_SAME || k == UN__CK_SAME_CONST || k == UN__CK_ATTR_EQ || k == UN__CK_INTS_EQ ||
         k == UN__CK_DTYPE_EQ || k == UN__CK_SPAN_EQ;
}
