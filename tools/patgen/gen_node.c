/* gen_node.c - node expressions of the rule language as C that builds them. */
#include <string.h>

#include "gen.h"
#include "pat/lex.h"

static const char *temp(un__gen *g) { return un__pat_fmt(g->p, "t%d", ++g->temps); }

/* Building may always fail, at least for want of memory: later statements look into the node. */
static const char *put(un__gen *g, const char *expr) {
  const char *t = temp(g);
  un__gen_line(g, "const un_uop *%s = %s;", t, expr);
  un__gen_line(g, "if (!%s) %s", t, g->fail);
  return t;
}

/* ---- dtypes ---- */

static const char *known_dtype(un__gen *g, const un__ex *e) {
  if (e->type && e->type->expr) return un__gen_dtype(g, e->type->expr);
  const char *d = un__infer_dtype(g->in, e->tv);
  if (d) return d;
  un__diag *dg = un__pat_error(g->p, e->loc, "type", "the dtype of this constant is ambiguous");
  un__pat_note_plain(g->p, dg, "write its dtype after a colon");
  return "0";
}

/* dtype of an op whose row says GIVEN; `first` is its first source, `count` an expression of how many lanes it makes.
 */
static const char *given_dtype(un__gen *g, const un__ex *e, int op, const char *first, const char *count) {
  un__pat_type *t = e->type;
  bool conversion = op == UN__POP_CAST || op == UN__POP_BITCAST;
  if (t && t->expr) return un__gen_dtype(g, t->expr);
  if (t && t->var) return un__pat_fmt(g->p, "t_%s", t->var);
  for (int i = 0; t && i < UN__PDT_COUNT; i++) {
    if (t->mask != (uint32_t)1 << i) continue;
    const char *d = un__pat_fmt(g->p, "UN__DT(UN_%s)", un__pat_dtype_id[i]);
    return conversion && first ? un__pat_fmt(g->p, "un__dt_with_lanes(%s, un__lanes(%s))", d, first) : d;
  }
  const char *known = un__infer_whole_dtype(g->in, e->tv);
  if (known) return known;
  if (op == UN__POP_INDEX && first) return un__pat_fmt(g->p, "%s->dtype", first);
  if (op == UN__POP_HREDUCE && first) return un__pat_fmt(g->p, "un__m_scalar_of(%s->dtype)", first);
  if ((op == UN__POP_VECTORIZE || op == UN__POP_GEP) && first && count)
    return un__pat_fmt(g->p, "un__m_vec(%s->dtype, %s)", first, count);
  if ((known = un__infer_dtype(g->in, e->tv))) return known;
  un__diag *d = un__pat_error(g->p, e->loc, "type", "the dtype of this %s is ambiguous", un__optab[op].name);
  un__pat_note_plain(g->p, d, conversion ? "write CAST<dtype>(...)" : "write its dtype after a colon");
  return "0";
}

/* A constant whose dtype nothing has told so far: it waits until its siblings are built. */
static bool waits(un__gen *g, const un__ex *e) {
  bool literal = e->kind == UN__EX_CONST || e->kind == UN__EX_INT || e->kind == UN__EX_FLOAT || e->kind == UN__EX_SEM ||
                 (e->kind == UN__EX_UNARY && e->args.at[0]->kind != UN__EX_NAME);
  return literal && !(e->type && e->type->expr) && !un__infer_whole_dtype(g->in, e->tv);
}

/* A node has been built whose class has no dtype yet: constants to come may take it from there. */
static void learn(un__gen *g, const un__ex *e, const char *name) {
  if (g->indent != 1 || e->tv < 0 || un__infer_whole_dtype(g->in, e->tv)) return;
  un__infer_learn(g->in, e->tv, un__pat_fmt(g->p, "%s->dtype", name));
}

/* Builds operands, those that know their dtype first. */
static void operands(un__gen *g, const un__ex_list *args, size_t from, const char **out) {
  for (int late = 0; late < 2; late++)
    for (size_t i = from; i < args->n; i++) {
      const un__ex *a = args->at[i];
      bool span = un__infer_kind(g->in, a) == UN__K_NODES;
      if (out[i - from] || (!late && !span && waits(g, a))) continue;
      out[i - from] = span ? un__gen_span(g, a) : un__gen_node(g, a);
      if (!span) learn(g, a, out[i - from]);
    }
}

/* ---- sources and attributes ---- */

/* Sources as an array: *at and *n are C expressions. A lone splice is used as it is. */
static void sources(un__gen *g, const un__ex_list *args, size_t from, const char **at, const char **n,
                    const char **first) {
  size_t spans = 0, count = args->n - from;
  const char *list = "", *one = NULL;
  *at = "NULL", *n = "0", *first = NULL;
  const char **built = un__pat_alloc(g->p, (count + 1) * sizeof *built);
  if (g->p->oom) return;
  operands(g, args, from, built);
  for (size_t i = from; i < args->n; i++) {
    const un__ex *a = args->at[i];
    bool span = un__infer_kind(g->in, a) == UN__K_NODES;
    const char *s = built[i - from];
    if (i == from) *first = span ? un__pat_fmt(g->p, "%s.at[0]", s) : s;
    if (span) one = s, spans++;
    list = un__pat_fmt(g->p, "%s%s%s%s", list, *list ? ", " : "", s, span ? "" : "|");
  }
  if (!count) return;
  if (spans && count == 1) {
    *at = un__pat_fmt(g->p, "%s.at", one), *n = un__pat_fmt(g->p, "%s.n", one);
    return;
  }
  if (!spans) {
    un__strbuf b = {0};
    for (const char *c = list; *c; c++)
      if (*c != '|') un__sb_putc(&b, *c);
    *at = un__pat_fmt(g->p, "(const un_uop *const[]){%s}", un__sb_str(&b)), *n = un__pat_fmt(g->p, "%zu", count);
    un__sb_finish(&b);
    return;
  }
  un__strbuf b = {0};
  for (const char *c = list; *c;) {
    size_t len = strcspn(c, ",");
    bool node = len && c[len - 1] == '|';
    un__sb_printf(&b, node ? "%s{(const un_uop *const[]){%.*s}, 1}" : "%s%.*s", b.n ? ", " : "",
                  (int)(node ? len - 1 : len), c);
    c += len;
    while (*c == ',' || *c == ' ') c++;
  }
  const char *t = un__pat_fmt(g->p, "x%d", ++g->temps);
  un__gen_line(g, "un__span %s = un__m_cat(rw, %zu, (const un__span[]){%s});", t, count, un__sb_str(&b));
  un__gen_line(g, "if (!%s.at) %s", t, g->fail);
  un__sb_finish(&b);
  *at = un__pat_fmt(g->p, "%s.at", t), *n = un__pat_fmt(g->p, "%s.n", t);
}

static const char *attr_word(un__gen *g, const un__ex *a, un__pat_ak ak, bool *checked) {
  if (a->kind == UN__EX_UPPER) return un__pat_fmt(g->p, ak == UN__PAK_OP ? "UN__OP_%s" : "UN__AXIS_%s", a->name);
  *checked = true;
  return un__pat_fmt(g->p, "un__m_word(ok, %s)", un__gen_int(g, a));
}

static void attributes(un__gen *g, const un__ex *e, const un__oprow *row, const char **at, const char **n) {
  const char *fixed = "", *rest = NULL;
  uint32_t k = 0;
  bool checked = false;
  *at = "NULL", *n = "0";
  for (uint32_t i = 0; i < e->attrs.n; i++) {
    uint32_t last = un__optab_nattr(row) - 1;
    un__pat_ak ak = row->attr[i < last ? i : last].kind;
    bool literal = e->attrs.at[i]->kind == UN__EX_INT || un__infer_kind(g->in, e->attrs.at[i]) == UN__K_INT;
    if (ak == UN__PAK_NAME || (ak == UN__PAK_INTS && !literal)) {
      rest = un__gen_ints(g, e->attrs.at[i]);
    } else {
      const char *w = attr_word(g, e->attrs.at[i], ak, &checked);
      fixed = un__pat_fmt(g->p, "%s%s%s", fixed, *fixed ? ", " : "", w);
      k++;
    }
  }
  if (rest && !k) {
    *at = un__pat_fmt(g->p, "%s.at", rest), *n = un__pat_fmt(g->p, "%s.n", rest);
    return;
  }
  if (!k) return;
  const char *t = un__pat_fmt(g->p, "a%d", ++g->temps);
  un__gen_line(g, "const int64_t %s[] = {%s};", t, fixed);
  if (checked) un__gen_line(g, "if (!*ok) %s", g->fail);
  *at = t, *n = un__pat_fmt(g->p, "%u", k);
  if (!rest) return;
  const char *w = un__pat_fmt(g->p, "i%d", ++g->temps);
  un__gen_line(g, "un__ints %s = un__m_words(rw, %u, %s, %s);", w, k, t, rest);
  un__gen_line(g, "if (!%s.at) %s", w, g->fail);
  *at = un__pat_fmt(g->p, "%s.at", w), *n = un__pat_fmt(g->p, "%s.n", w);
}

/* ---- nodes ---- */

static const char *op_node(un__gen *g, const un__ex *e) {
  int op = un__infer_op(g->in, e);
  if (op <= 0) return "NULL";
  const un__oprow *row = &un__optab[op];
  const char *at, *n, *first, *attrs, *nattr;
  sources(g, &e->args, 0, &at, &n, &first);
  attributes(g, e, row, &attrs, &nattr);
  const char *dt = "0", *count = op == UN__POP_GEP ? nattr : n;
  if (row->dtype == UN__PDR_GIVEN) dt = given_dtype(g, e, op, first, count);
  return put(g, un__pat_fmt(g->p, "un__uop(rw->g, UN__OP_%s, %s, %s, %s, %s, %s)", row->name, dt, at, n, attrs, nattr));
}

static const char *eval_node(un__gen *g, const un__ex *e) {
  int op = un__infer_op(g->in, e);
  const char *at, *n, *first, *dt = un__infer_dtype(g->in, e->tv);
  if (op <= 0) return "NULL";
  sources(g, &e->args, 0, &at, &n, &first);
  if (un__optab[op].dtype == UN__PDR_GIVEN && !dt) dt = known_dtype(g, e);
  return put(g, un__pat_fmt(g->p, "un__m_eval(rw->g, UN__OP_%s, %s, (un__span){%s, %s})", un__optab[op].name,
                            dt ? dt : "0", at, n));
}

static const char *sem_node(un__gen *g, const un__ex *e) {
  if (e->sem == UN__SEM_INVALID) return put(g, "un__uop(rw->g, UN__OP_INVALID, 0, NULL, 0, NULL, 0)");
  const char *dt = known_dtype(g, e);
  if (e->sem == UN__SEM_IDENT)
    return put(g, un__pat_fmt(g->p, "un__m_identity(rw->g, %s, %s)", dt, un__gen_as(g, e->args.at[0], UN__K_OP)));
  return put(g, un__pat_fmt(g->p, "un__m_make(rw->g, %s, UN__M_%s%s)", dt, un__sem_id[e->sem],
                            e->sem == UN__SEM_INF ? "_" : ""));
}

/* A double as C text that is exact: a hexadecimal literal without %a, whose digits the C library may choose. */
static const char *real(un__gen *g, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  uint64_t mant = bits & 0xfffffffffffffULL;
  int e = (int)(bits >> 52 & 0x7ff);
  return un__pat_fmt(g->p, "%s0x%s.%013llxp%d", bits >> 63 ? "-" : "", e ? "1" : "0", (unsigned long long)mant,
                     e ? e - 1023 : -1022);
}

static const char *const_node(un__gen *g, const un__ex *e, const un__ex *value) {
  const char *dt = known_dtype(g, e);
  if (value->kind == UN__EX_FLOAT)
    return put(g, un__pat_fmt(g->p, "un__const_f(rw->g, %s, %s)", dt, real(g, value->fnum)));
  return put(g, un__pat_fmt(g->p, "un__m_const(rw->g, %s, %s, ok)", dt, un__gen_int(g, value)));
}

static const char *unary_node(un__gen *g, const un__ex *e) {
  const un__ex *a = e->args.at[0];
  if (e->tok == UN__T_MINUS && (a->kind == UN__EX_INT || a->kind == UN__EX_FLOAT)) { /* a negative literal */
    un__ex minus = *a;
    minus.tv = e->tv;
    if (a->kind == UN__EX_FLOAT) {
      minus.fnum = -a->fnum;
      return const_node(g, &minus, &minus);
    }
    return put(g, un__pat_fmt(g->p, "un__m_const(rw->g, %s, -(un__i128)%lluU, ok)", known_dtype(g, a),
                              (unsigned long long)a->num));
  }
  return put(g, un__pat_fmt(g->p, "un__unary(rw->g, UN__OP_%s, %s)", e->tok == UN__T_MINUS ? "NEG" : "NOT",
                            un__gen_node(g, a)));
}

static const char *binary_node(un__gen *g, const un__ex *e) {
  const char *x[2] = {0};
  operands(g, &e->args, 0, x);
  const char *a = x[0], *b = x[1];
  bool swap = e->tok == UN__T_GT;
  return put(g, un__pat_fmt(g->p, "un__binary(rw->g, UN__OP_%s, %s, %s)", un__optab[un__infer_binary_op(e->tok)].name,
                            swap ? b : a, swap ? a : b));
}

static const char *cond_node(un__gen *g, const un__ex *e) {
  if (un__infer_kind(g->in, e->args.at[0]) != UN__K_INT) {
    const char *x[3] = {0};
    operands(g, &e->args, 0, x);
    return put(g, un__pat_fmt(g->p, "un__ternary(rw->g, UN__OP_WHERE, %s, %s, %s)", x[0], x[1], x[2]));
  }
  const char *c = un__gen_int(g, e->args.at[0]), *k = un__pat_fmt(g->p, "c%d", ++g->temps), *t = temp(g);
  un__gen_line(g, "bool %s = %s;", k, c);
  un__gen_line(g, "if (!*ok) %s", g->fail);
  un__gen_line(g, "const un_uop *%s;", t);
  un__gen_line(g, "if (%s) {", k);
  for (int arm = 1; arm < 3; arm++) {
    g->indent++;
    un__gen_line(g, "%s = %s;", t, un__gen_node(g, e->args.at[arm]));
    g->indent--;
    un__gen_line(g, arm == 1 ? "} else {" : "}");
  }
  return t;
}

static const char *call_node(un__gen *g, const un__ex *e) {
  un__decl *d = un__pat_find_decl(g->p, e->name);
  const char *at, *n, *first, *s;
  if (d) {
    s = un__gen_args(g, d, e);
    if (d->is_extern) return put(g, un__pat_fmt(g->p, "un__fn_%s(rw%s)", d->name, s));
    return put(g, un__pat_fmt(g->p, "f_%s(rw, ok%s)", d->name, s));
  }
  const char *x = un__gen_node(g, e->args.at[0]);
  if (!strcmp(e->name, "with_src")) {
    sources(g, &e->args, 1, &at, &n, &first);
    return put(g, un__pat_fmt(g->p, "un__m_with_src(rw, %s, (un__span){%s, %s})", x, at, n));
  }
  if (!strcmp(e->name, "with_dtype"))
    return put(g, un__pat_fmt(g->p, "un__with_dtype(rw->g, %s, %s)", x, un__gen_dtype(g, e->args.at[1])));
  return put(g, un__pat_fmt(g->p, "un__m_src(%s, un__m_word(ok, %s))", x, un__gen_int(g, e->args.at[1])));
}

const char *un__gen_node(un__gen *g, const un__ex *e) {
  switch (e->kind) {
  case UN__EX_NAME:
    return !strcmp(e->name, "root") ? "n" : un__pat_fmt(g->p, "v_%s", e->name);
  case UN__EX_OP:
    return op_node(g, e);
  case UN__EX_EVAL:
    return eval_node(g, e);
  case UN__EX_SEM:
    return sem_node(g, e);
  case UN__EX_CONST:
    return const_node(g, e, e->args.at[0]);
  case UN__EX_INT:
  case UN__EX_FLOAT:
    return const_node(g, e, e);
  case UN__EX_UNARY:
    return unary_node(g, e);
  case UN__EX_BINARY:
    return binary_node(g, e);
  case UN__EX_COND:
    return cond_node(g, e);
  case UN__EX_CALL:
    return call_node(g, e);
  case UN__EX_IN:
    return un__gen_node(g, e->args.at[0]);
  default:
    return "NULL";
  }
}
