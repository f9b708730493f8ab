/* gen_expr.c - expressions of the rule language as C. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gen.h"
#include "pat/lex.h"

void un__gen_line(un__gen *g, const char *fmt, ...) {
  char buf[4096];
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(buf, sizeof buf, fmt, ap);
  va_end(ap);
  if (n < 0 || (size_t)n >= sizeof buf) {
    un__pat_error(g->p, (un__pat_loc){0}, "blow-up", "a generated line is too long");
    return;
  }
  for (int i = 0; i < g->indent; i++) un__sb_puts(g->out, "  ");
  un__sb_puts(g->out, buf);
  un__sb_putc(g->out, '\n');
}

static const char *temp(un__gen *g, const char *prefix) { return un__pat_fmt(g->p, "%s%d", prefix, ++g->temps); }

static const char *own_name(un__gen *g, const char *name) {
  return !strcmp(name, "root") ? "n" : un__pat_fmt(g->p, "v_%s", name);
}

const char *un__gen_c_type(un__kind k) {
  static const char *const types[] = {
      [UN__K_NONE] = "void ",      [UN__K_INT] = "un__i128 ",    [UN__K_NODE] = "const un_uop *",
      [UN__K_NODES] = "un__span ", [UN__K_DTYPE] = "un__dtype ", [UN__K_INTS] = "un__ints ",
      [UN__K_OP] = "un__op "};
  return types[k];
}

/* ---- calls ---- */

const char *un__gen_args(un__gen *g, un__decl *d, const un__ex *e) {
  d->used = true;
  const char *s = "";
  for (size_t i = 0; i < e->args.n && i < d->params.n; i++) {
    un__kind k = d->params.at[i].kind;
    if (k == UN__K_ATTR) k = un__infer_kind(g->in, e->args.at[i]) == UN__K_INTS ? UN__K_INTS : UN__K_INT;
    const char *a = un__gen_as(g, e->args.at[i], k);
    if (k == UN__K_INT && d->is_extern) a = un__pat_fmt(g->p, "un__m_word(ok, %s)", a);
    s = un__pat_fmt(g->p, "%s, %s", s, a);
  }
  return s;
}

static const char *call_int(un__gen *g, un__decl *d, const un__ex *e) {
  const char *args = un__gen_args(g, d, e);
  if (!d->is_extern) return un__pat_fmt(g->p, "%s_%s(rw, ok%s)", d->is_pred ? "p" : "f", d->name, args);
  if (d->is_pred) return un__pat_fmt(g->p, "un__pred_%s(rw%s)", d->name, args);
  const char *t = temp(g, "w");
  un__gen_line(g, "int64_t %s = 0;", t);
  return un__pat_fmt(g->p, "(un__fn_%s(rw%s, &%s) ? (un__i128)%s : un__m_bad(ok))", d->name, args, t, t);
}

static const char *builtin_call(un__gen *g, const un__builtin *b, const un__ex *e) {
  const char *s = "";
  if (b->args[0] == UN__K_INT) s = "ok";
  if (!strcmp(b->name, "fresh")) s = "rw";
  for (size_t i = 0; i < e->args.n && i < 4 && b->args[i] != UN__K_NONE; i++) {
    const char *a = un__gen_as(g, e->args.at[i], b->args[i]);
    if (b->args[i] == UN__K_INT && b->args[0] != UN__K_INT) a = un__pat_fmt(g->p, "un__m_word(ok, %s)", a);
    s = un__pat_fmt(g->p, "%s%s%s", s, *s ? ", " : "", a);
  }
  return un__pat_fmt(g->p, "%s(%s)", b->c, s);
}

static const char *attr_call(un__gen *g, const un__ex *e) {
  const un__ex *x = e->args.at[0];
  const un__name *n = un__infer_name(g->in, x->name);
  int op = n && n->cap ? g->in->v->sites.at[n->cap->site].op : g->in->v->sites.at[0].op;
  const un__oprow *row = &un__optab[op];
  uint32_t word = un__optab_attr_word(row, (uint32_t)un__optab_attr_by_name(row, e->args.at[1]->name));
  return un__pat_fmt(g->p, "(un__i128)un__attr(%s, %u)", own_name(g, x->name), word);
}

/* ---- numbers ---- */

/* REDUCE and UNROLL are ops and axis types: the other side of a comparison decides, else the axis type. */
static const char *upper(un__gen *g, const un__ex *e, const un__ex *other) {
  const un__name *n = other && other->kind == UN__EX_NAME ? un__infer_name(g->in, other->name) : NULL;
  un__pat_ak ak = n ? n->attr : UN__PAK_NONE;
  if (other && other->kind == UN__EX_CALL && !strcmp(other->name, "attr") && other->args.n == 2) {
    const un__name *x = un__infer_name(g->in, other->args.at[0]->name);
    int op = x && x->cap ? g->in->v->sites.at[x->cap->site].op : g->in->v->sites.at[0].op;
    int i = un__optab_attr_by_name(&un__optab[op], other->args.at[1]->name);
    if (i >= 0) ak = un__optab[op].attr[i].kind;
  }
  bool as_op = ak == UN__PAK_OP || (n && n->kind == UN__K_OP) || un__optab_axis(e->name) < 0;
  return un__pat_fmt(g->p, as_op ? "UN__OP_%s" : "UN__AXIS_%s", e->name);
}

static const char *operand(un__gen *g, const un__ex *e, const un__ex *other) {
  if (e->kind == UN__EX_UPPER) return upper(g, e, other);
  return un__gen_int(g, e);
}

static const char *compare(un__gen *g, const un__ex *e) {
  const un__ex *a = e->args.at[0], *b = e->args.at[1];
  un__kind ka = un__infer_kind(g->in, a), kb = un__infer_kind(g->in, b);
  const char *op = un__tok_text((un__tok)e->tok), *x, *y;
  if (ka == UN__K_DTYPE || kb == UN__K_DTYPE) {
    x = un__gen_dtype(g, a), y = un__gen_dtype(g, b);
    /* A bare dtype name compares the scalar, whatever the lanes are. */
    if (a->kind == UN__EX_TYPE || b->kind == UN__EX_TYPE)
      return un__pat_fmt(g->p, "(un__dt_with_lanes(%s, 1) %s un__dt_with_lanes(%s, 1))", x, op, y);
  } else if (ka == UN__K_NODE || kb == UN__K_NODE) {
    x = un__gen_node(g, a), y = un__gen_node(g, b);
  } else {
    x = operand(g, a, b), y = operand(g, b, a);
  }
  return un__pat_fmt(g->p, "(%s %s %s)", x, op, y);
}

static const char *binary_int(un__gen *g, const un__ex *e) {
  static const struct {
    int tok;
    const char *fn;
  } fns[] = {{UN__T_PLUS, "add"},     {UN__T_MINUS, "sub"}, {UN__T_STAR, "mul"}, {UN__T_SLASH, "fdiv"},
             {UN__T_PERCENT, "fmod"}, {UN__T_SHL, "shl"},   {UN__T_SHR, "shr"},  {UN__T_AND, "and"},
             {UN__T_OR, "or"},        {UN__T_XOR, "xor"}};
  if (e->tok >= UN__T_EQ && e->tok <= UN__T_GE) return compare(g, e);
  const char *a = un__gen_int(g, e->args.at[0]), *b = un__gen_int(g, e->args.at[1]);
  if (e->tok == UN__T_ANDAND || e->tok == UN__T_OROR)
    return un__pat_fmt(g->p, "(%s %s %s)", a, un__tok_text((un__tok)e->tok), b);
  for (size_t i = 0; i < sizeof fns / sizeof *fns; i++)
    if (fns[i].tok == e->tok) return un__pat_fmt(g->p, "un__m_%s(ok, %s, %s)", fns[i].fn, a, b);
  return "0";
}

static const char *within(un__gen *g, const un__ex *e) {
  const un__ex *x = e->args.at[0];
  const char *lo = un__gen_int(g, e->args.at[1]), *hi = un__gen_int(g, e->args.at[2]), *a, *b;
  if (un__infer_kind(g->in, x) == UN__K_NODE) {
    const char *n = un__gen_node(g, x);
    a = un__pat_fmt(g->p, "un__m_vmin(%s)", n);
    b = un__pat_fmt(g->p, "un__m_vmax(%s)", n);
  } else {
    a = b = un__gen_int(g, x);
  }
  return un__pat_fmt(g->p, "(%s >= %s && %s %s %s)", a, lo, b, e->closed ? "<=" : "<", hi);
}

static const char *name_int(un__gen *g, const un__ex *e) {
  const un__name *n = un__infer_name(g->in, e->name);
  if (n && n->kind == UN__K_OP && n->value) return un__pat_fmt(g->p, "UN__OP_%s", un__optab[n->value].name);
  if (n && n->is_const) return un__pat_fmt(g->p, "un__m_int(ok, v_%s)", e->name);
  return un__pat_fmt(g->p, "v_%s", e->name);
}

const char *un__gen_int(un__gen *g, const un__ex *e) {
  switch (e->kind) {
  case UN__EX_INT:
    return un__pat_fmt(g->p, "(un__i128)%lluU", (unsigned long long)e->num);
  case UN__EX_NAME:
    return name_int(g, e);
  case UN__EX_UPPER:
    return upper(g, e, NULL);
  case UN__EX_UNARY: {
    const char *a = un__gen_int(g, e->args.at[0]);
    if (e->tok == UN__T_BANG) return un__pat_fmt(g->p, "!%s", a);
    return un__pat_fmt(g->p, "un__m_%s(ok, %s)", e->tok == UN__T_MINUS ? "neg" : "not", a);
  }
  case UN__EX_BINARY:
    return binary_int(g, e);
  case UN__EX_COND: {
    const char *c = un__gen_int(g, e->args.at[0]), *a = un__gen_int(g, e->args.at[1]),
               *b = un__gen_int(g, e->args.at[2]);
    return un__pat_fmt(g->p, "(%s ? %s : %s)", c, a, b);
  }
  case UN__EX_IN:
    return within(g, e);
  case UN__EX_CALL: {
    un__decl *d = un__pat_find_decl(g->p, e->name);
    if (d) return call_int(g, d, e);
    const un__builtin *b = un__infer_builtin(e->name);
    if (b && !strcmp(b->name, "attr")) return attr_call(g, e);
    if (b && !strcmp(b->name, "len"))
      return un__pat_fmt(g->p, "(un__i128)%s.n", un__gen_as(g, e->args.at[0], un__infer_kind(g->in, e->args.at[0])));
    return b ? builtin_call(g, b, e) : "0";
  }
  default:
    return "0";
  }
}

/* ---- dtypes, spans, runs of words ---- */

static const char *single_dtype(un__gen *g, uint32_t mask) {
  for (int i = 0; i < UN__PDT_COUNT; i++)
    if (mask == (uint32_t)1 << i) return un__pat_fmt(g->p, "UN__DT(UN_%s)", un__pat_dtype_id[i]);
  return NULL;
}

const char *un__gen_dtype(un__gen *g, const un__ex *e) {
  const un__builtin *b = e->kind == UN__EX_CALL ? un__infer_builtin(e->name) : NULL;
  un__decl *d = e->kind == UN__EX_CALL ? un__pat_find_decl(g->p, e->name) : NULL;
  if (e->kind == UN__EX_TYPE) return single_dtype(g, e->type->mask);
  if (e->kind == UN__EX_TYVAR) return un__pat_fmt(g->p, "t_%s", e->name);
  if (d) return un__pat_fmt(g->p, d->is_extern ? "un__fn_%s(rw%s)" : "f_%s(rw, ok%s)", d->name, un__gen_args(g, d, e));
  if (b && !strcmp(b->name, "dtype")) return un__pat_fmt(g->p, "%s->dtype", un__gen_node(g, e->args.at[0]));
  if (b) return builtin_call(g, b, e);
  if (e->kind == UN__EX_COND)
    return un__pat_fmt(g->p, "(%s ? %s : %s)", un__gen_int(g, e->args.at[0]), un__gen_dtype(g, e->args.at[1]),
                       un__gen_dtype(g, e->args.at[2]));
  if (un__infer_kind(g->in, e) == UN__K_NODE) return un__pat_fmt(g->p, "%s->dtype", un__gen_node(g, e));
  return un__pat_fmt(g->p, "v_%s", e->name ? e->name : "");
}

const char *un__gen_span(un__gen *g, const un__ex *e) {
  if (e->kind == UN__EX_SPLICE) return un__gen_span(g, e->args.at[0]);
  if (e->kind != UN__EX_CALL) return own_name(g, e->name);
  un__decl *d = un__pat_find_decl(g->p, e->name);
  const char *t = temp(g, "x");
  const char *call =
      d ? un__pat_fmt(g->p, d->is_extern ? "un__fn_%s(rw%s)" : "f_%s(rw, ok%s)", d->name, un__gen_args(g, d, e))
        : builtin_call(g, un__infer_builtin(e->name), e);
  un__gen_line(g, "un__span %s = %s;", t, call);
  un__gen_line(g, "if (!%s.at) %s", t, g->fail);
  return t;
}

const char *un__gen_ints(un__gen *g, const un__ex *e) {
  if (e->kind != UN__EX_CALL) return own_name(g, e->name);
  un__decl *d = un__pat_find_decl(g->p, e->name);
  const char *t = temp(g, "i");
  un__gen_line(g, "un__ints %s = %s_%s(rw%s);", t, d->is_extern ? "un__fn" : "f", d->name,
               un__pat_fmt(g->p, "%s%s", d->is_extern ? "" : ", ok", un__gen_args(g, d, e)));
  un__gen_line(g, "if (!%s.at) %s", t, g->fail);
  return t;
}

const char *un__gen_as(un__gen *g, const un__ex *e, un__kind k) {
  switch (k) {
  case UN__K_INT:
    return un__gen_int(g, e);
  case UN__K_NODE:
    return un__gen_node(g, e);
  case UN__K_NODES:
    return un__gen_span(g, e);
  case UN__K_DTYPE:
    return un__gen_dtype(g, e);
  case UN__K_INTS:
    return un__gen_ints(g, e);
  case UN__K_OP:
    return e->kind == UN__EX_UPPER ? un__pat_fmt(g->p, "UN__OP_%s", e->name) : name_int(g, e);
  default:
    return "0";
  }
}
