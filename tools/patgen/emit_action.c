/* emit_action.c - what a rule does once its left side has matched: guards, lets, the right side.
 *
 * An action is a function (rw, n, captures...) that returns the replacement or NULL. Operand orders share one; loop
 * ops and alternatives get their own when their text differs. */
#include <string.h>

#include "gen.h"

static const char *const cap_types[] = {
    [UN__CAP_NODE] = "const un_uop *", [UN__CAP_CONST] = "const un_uop *", [UN__CAP_SPAN] = "un__span ",
    [UN__CAP_WORD] = "int64_t ",       [UN__CAP_INTS] = "un__ints ",       [UN__CAP_DTYPE] = "un__dtype "};

static const char *cap_name(un__pat *p, const un__cap *c) {
  return c->kind == UN__CAP_DTYPE ? un__pat_fmt(p, "t_%s", c->name + 1) : un__pat_fmt(p, "v_%s", c->name);
}

static const char *let_arg(un__pat *p, const un__name *n) {
  return n->kind == UN__K_INT ? un__pat_fmt(p, "un__m_word(ok, v_%s)", n->name) : un__pat_fmt(p, "v_%s", n->name);
}

/* Unique in the file: rules of different base sets may have the same name. */
static const char *full_name(un__pat *p, const un__set_code *s, const un__rule *r) {
  if (r->set == s->set) return un__pat_fmt(p, "%s_%s", s->set->name, r->name);
  return un__pat_fmt(p, "%s_%s__%s", s->set->name, r->set->name, r->name);
}

/* ---- C blocks ---- */

/* The parameter list of a C block follows from the rule's first variant; the lets come after the captures. */
static void c_block(un__pat *p, const un__set_code *s, const un__rule *r, const un__variant *v, const un__infer *in,
                    un__strbuf *out) {
  un__sb_printf(out, "static const un_uop *c_%s(un__rw *rw, %s *cx, const un_uop *root", full_name(p, s, r),
                r->set->ctx ? r->set->ctx : "void");
  for (size_t i = 0; i < v->caps.n; i++) {
    const un__cap *c = &v->caps.at[i];
    if (!c->hidden) un__sb_printf(out, ", %s%s", cap_types[c->kind], c->kind == UN__CAP_DTYPE ? c->name + 1 : c->name);
  }
  for (size_t i = 0; i < in->names.n; i++) {
    const un__name *n = &in->names.at[i];
    if (n->is_let) un__sb_printf(out, ", %s%s", n->kind == UN__K_INT ? "int64_t " : un__gen_c_type(n->kind), n->name);
    if (n->kind == UN__K_OP) un__sb_printf(out, ", un__op %s", n->name);
  }
  const un__pat_file *f = &p->files.at[r->c_loc.file];
  un__sb_printf(out, ") {\n#line %u \"%s\"\n%s\n#line 0 \n}\n\n", (unsigned)r->c_loc.line, f->path, r->c_body);
}

static void call_c_block(un__gen *g, const un__set_code *s, const un__rule *r, const un__variant *first,
                         const un__variant *v) {
  un__strbuf b = {0};
  for (size_t i = 0; i < first->caps.n; i++) {
    const un__cap *c = &first->caps.at[i];
    if (c->hidden) continue;
    bool has = un__variant_cap(v, c->name) != NULL;
    bool plain = c->kind != UN__CAP_SPAN && c->kind != UN__CAP_INTS;
    un__sb_printf(&b, ", %s",
                  has                       ? cap_name(g->p, c)
                  : plain                   ? "0"
                  : c->kind == UN__CAP_SPAN ? "(un__span){0}"
                                            : "(un__ints){0}");
  }
  for (size_t i = 0; i < g->in->names.n; i++) {
    const un__name *n = &g->in->names.at[i];
    if (n->is_let) un__sb_printf(&b, ", %s", let_arg(g->p, n));
    if (n->kind == UN__K_OP) un__sb_printf(&b, ", UN__OP_%s", un__optab[n->value].name);
  }
  un__gen_line(g, "const un_uop *to = c_%s(rw, rw->ctx, n%s);", full_name(g->p, s, r), un__sb_str(&b));
  un__gen_line(g, "return *ok ? to : NULL;");
  un__sb_finish(&b);
}

/* ---- templates ---- */

static void guard(un__gen *g, const char *expr) { un__gen_line(g, "if (!(%s) || !*ok) return NULL;", expr); }

static void clause(un__gen *g, const un__clause *c) {
  if (!c->is_let) {
    guard(g, un__gen_int(g, c->expr));
    return;
  }
  un__kind k = un__infer_kind(g->in, c->expr);
  const char *value = un__gen_as(g, c->expr, k);
  un__gen_line(g, "%sv_%s = %s;", un__gen_c_type(k), c->name, value);
  g->in->lets_made++;
  if (k == UN__K_INT || k == UN__K_DTYPE) un__gen_line(g, "if (!*ok) return NULL;");
  if (k == UN__K_DTYPE) un__gen_line(g, "if (!v_%s) return NULL;", c->name);
}

static const char *body(un__pat *p, const un__set_code *s, const un__rule *r, const un__variant *first,
                        const un__variant *v, un__infer *in) {
  un__strbuf out = {0};
  un__gen g = {.p = p, .in = in, .out = &out, .indent = 1, .fail = "return NULL;"};
  un__gen_line(&g, "bool ok_ = true, *const ok = &ok_;");
  un__gen_line(&g, "(void)ok;");
  for (size_t i = 0; i < v->pins.n; i++)
    guard(&g, un__pat_fmt(p, "un__m_int(ok, v_%s) == %s", v->pins.at[i].cap, un__gen_int(&g, v->pins.at[i].expr)));
  for (size_t i = 0; i < r->clauses.n; i++) clause(&g, &r->clauses.at[i]);
  if (r->c_body)
    call_c_block(&g, s, r, first, v);
  else
    un__gen_line(&g, "return %s;", un__gen_node(&g, r->rhs));
  const char *text = un__pat_textn(p, un__sb_str(&out), out.n);
  if (out.failed) p->oom = true;
  un__sb_finish(&out);
  return text;
}

static const char *params(un__pat *p, const un__variant *v) {
  const char *s = "un__rw *rw, const un_uop *n";
  for (size_t i = 0; i < v->caps.n; i++)
    s = un__pat_fmt(p, "%s, %s%s", s, cap_types[v->caps.at[i].kind], cap_name(p, &v->caps.at[i]));
  return s;
}

typedef struct action {
  const char *name, *params, *body;
  const un__variant *v;
} action;

static bool same_shape(const un__variant *a, const un__variant *b) {
  if (a->shape.n != b->shape.n) return false;
  return !a->shape.n || !memcmp(a->shape.at, b->shape.at, a->shape.n * sizeof *a->shape.at);
}

static void rule_actions(un__pat *p, un__set_code *s, uint32_t number, un__strbuf *out) {
  un__rule *r = s->rules[number];
  un__variants vs = {0};
  UN__VEC(action) done = {0};
  un__pat_lower(p, r, &vs);
  for (size_t i = 0; i < vs.list.n && !p->oom; i++) {
    un__variant *v = vs.list.at[i];
    const action *a = NULL;
    for (size_t k = done.n; k-- > 0 && !a;)
      if (same_shape(done.at[k].v, v)) a = &done.at[k];
    if (!a) {
      un__infer in;
      un__pat_infer(p, v, &in);
      if (p->errors || p->oom) return;
      action fresh = {.v = v, .params = params(p, v), .body = body(p, s, r, vs.list.at[0], v, &in)};
      if (!i && r->c_body) c_block(p, s, r, v, &in, out);
      for (size_t k = 0; k < done.n && !fresh.name; k++)
        if (!strcmp(done.at[k].params, fresh.params) && !strcmp(done.at[k].body, fresh.body))
          fresh.name = done.at[k].name;
      if (!fresh.name) {
        const char *name = full_name(p, s, r);
        fresh.name = done.n ? un__pat_fmt(p, "a_%s_%zu", name, done.n + 1) : un__pat_fmt(p, "a_%s", name);
        un__sb_printf(out, "static const un_uop *%s(%s) {\n%s}\n\n", fresh.name, fresh.params, fresh.body);
      }
      if (!un__pat_push(p, &done, fresh)) return;
      a = &done.at[done.n - 1];
    }
    un__pat_push(p, &s->variants, v);
    un__pat_push(p, &s->calls, a->name);
    un__pat_push(p, &s->rule_no, number);
  }
}

void un__emit_actions(un__pat *p, un__set_code *s, un__strbuf *out) {
  s->rules = un__pat_set_rules(p, s->set, &s->nrules);
  for (uint32_t i = 0; i < s->nrules && !p->oom; i++) rule_actions(p, s, i, out);
}

/* ---- preds and fns with a body ---- */

static void prototype(const un__decl *d, un__strbuf *out) {
  un__sb_printf(out, "static inline %s%s_%s(un__rw *rw, bool *ok", d->is_pred ? "bool " : un__gen_c_type(d->result),
                d->is_pred ? "p" : "f", d->name);
  for (size_t k = 0; k < d->params.n; k++)
    un__sb_printf(out, ", %sv_%s", un__gen_c_type(d->params.at[k].kind), d->params.at[k].name);
  un__sb_putc(out, ')');
}

static void definition(un__pat *p, un__decl *d, un__strbuf *out) {
  un__infer in;
  un__pat_infer_decl(p, d, &in);
  if (p->errors || p->oom) return;
  un__strbuf b = {0};
  un__gen g = {.p = p, .in = &in, .out = &b, .indent = 1};
  g.fail = d->result == UN__K_NODE    ? "return NULL;"
           : d->result == UN__K_NODES ? "return (un__span){0};"
           : d->result == UN__K_INTS  ? "return (un__ints){0};"
                                      : "return un__m_bad(ok);";
  const char *value = un__gen_as(&g, d->body, d->result);
  un__gen_line(&g, "return %s;", value);
  prototype(d, out);
  un__sb_printf(out, " {\n%s}\n\n", un__sb_str(&b));
  un__sb_finish(&b);
}

/* Those that rules call, and those that these call: writing one may mark others. */
void un__emit_decls(un__pat *p, un__strbuf *out) {
  un__strbuf bodies = {0};
  for (bool more = true; more && !p->errors && !p->oom;) {
    more = false;
    for (size_t i = 0; i < p->decls.n; i++) {
      un__decl *d = p->decls.at[i];
      if (d->is_extern || !d->used || d->written) continue;
      d->written = more = true;
      prototype(d, out);
      un__sb_puts(out, ";\n");
      definition(p, d, &bodies);
    }
  }
  un__sb_putc(out, '\n');
  un__sb_puts(out, un__sb_str(&bodies));
  if (bodies.failed) out->failed = true;
  un__sb_finish(&bodies);
}
