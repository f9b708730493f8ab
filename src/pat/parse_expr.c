/* parse_expr.c - types and expressions. */
#include "parse.h"

#include <string.h>

/* ---- types ---- */

static bool is_type_word(const char *s) {
  static const char *const words[] = {"const", "ptr", "scalar", "vec"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(s, words[i])) return true;
  return un__optab_dtype(s) >= 0 || un__optab_class(s) != 0;
}

bool un__ps_at_type(const un__token *t) {
  return t->kind == UN__T_TYVAR || t->kind == UN__T_BANG || (t->kind == UN__T_NAME && is_type_word(t->text));
}

static void type_word(un__parser *ps, un__pat_type *t, bool negated) {
  const char *s = ps->tok.text;
  int dt = un__optab_dtype(s);
  uint32_t m = dt >= 0 ? (uint32_t)1 << dt : un__optab_class(s);
  if (!strcmp(s, "ptr")) m = UN__PAT_PTR;
  if (m)
    t->mask |= negated ? ~m : m;
  else if (negated)
    un__ps_fail(ps, "a dtype or a class of dtypes after '!'");
  else if (!strcmp(s, "const"))
    t->is_const = true;
  else if (!strcmp(s, "scalar"))
    t->lanes = UN__PAT_LANES_ONE;
  else
    t->lanes = UN__PAT_LANES_MANY;
  un__ps_advance(ps);
}

un__pat_type *un__ps_type(un__parser *ps) {
  un__pat_type *t = un__pat_alloc(ps->p, sizeof *t);
  un__pat_loc from = ps->tok.loc;
  bool negated = un__ps_accept(ps, UN__T_BANG);
  do {
    if (ps->tok.kind == UN__T_TYVAR && !negated) {
      t->var = ps->tok.text;
      un__ps_advance(ps);
    } else if (ps->tok.kind == UN__T_NAME && is_type_word(ps->tok.text)) {
      type_word(ps, t, false);
    } else {
      un__ps_fail(ps, "a type");
    }
  } while (!ps->bad && un__ps_accept(ps, UN__T_OR));
  if (!t->mask)
    t->mask = UINT32_MAX;
  else if (negated)
    t->mask = ~t->mask & ~UN__PAT_PTR;
  t->loc = un__ps_span(from, ps);
  return t;
}

un__pat_type *un__ps_types(un__parser *ps, un__pat_type *old) {
  while (!ps->bad && un__ps_accept(ps, UN__T_COLON)) {
    un__pat_type *t = un__ps_type(ps);
    if (old) {
      if (!(t->mask & old->mask) || (t->lanes && old->lanes && t->lanes != old->lanes))
        un__pat_error(ps->p, t->loc, "contradiction", "no dtype is of both kinds");
      t->mask &= old->mask;
      t->is_const |= old->is_const;
      if (!t->lanes) t->lanes = old->lanes;
      if (!t->var) t->var = old->var;
    }
    old = t;
  }
  return old;
}

/* ---- expressions ---- */

un__ex *un__ps_new(un__parser *ps, un__ex_kind kind) {
  un__ex *e = un__pat_alloc(ps->p, sizeof *e);
  e->kind = kind;
  e->loc = ps->tok.loc;
  e->tv = -1;
  return e;
}

static void arguments(un__parser *ps, un__ex *e, un__tok close) {
  while (!ps->bad && ps->tok.kind != close) {
    un__pat_push(ps->p, &e->args, un__ps_expr(ps));
    if (e->args.n > UN__PAT_MAX_ARGS) un__ps_fail(ps, "at most 64 arguments");
    if (!un__ps_accept(ps, UN__T_COMMA)) break;
  }
  un__ps_expect(ps, close, "after the arguments");
}

static un__pat_type *dtype_expr(un__parser *ps) {
  un__pat_type *t = un__pat_alloc(ps->p, sizeof *t);
  t->mask = UINT32_MAX;
  t->loc = ps->tok.loc;
  t->expr = un__ps_attr_expr(ps);
  return t;
}

static void attributes(un__parser *ps, un__ex *e) {
  while (!ps->bad && ps->tok.kind != UN__T_GT) {
    if (un__ps_at_type(&ps->tok))
      e->type = un__ps_type(ps);
    else if (e->op == UN__POP_CAST || e->op == UN__POP_BITCAST)
      e->type = dtype_expr(ps);
    else
      un__pat_push(ps->p, &e->attrs, un__ps_attr_expr(ps));
    if (!un__ps_accept(ps, UN__T_COMMA)) break;
  }
  un__ps_expect(ps, UN__T_GT, "after the attributes");
}

/* OP<attrs>(args), or a bare upper-case name that stands for an op or axis type. */
static un__ex *op_expr(un__parser *ps, bool loop_var) {
  un__tok next = un__ps_peek(ps);
  if (next != UN__T_LPAREN && next != UN__T_LT && next != UN__T_LBRACK) {
    un__ex *e = un__ps_new(ps, loop_var ? UN__EX_NAME : UN__EX_UPPER);
    e->name = ps->tok.text;
    un__ps_advance(ps);
    return e;
  }
  un__ex *e = un__ps_new(ps, UN__EX_OP);
  if (loop_var)
    e->name = ps->tok.text, e->op = -1;
  else
    e->op = un__ps_opname(ps, &ps->tok);
  un__ps_advance(ps);
  if (un__ps_accept(ps, UN__T_LT)) attributes(ps, e);
  un__tok close = ps->tok.kind == UN__T_LBRACK ? UN__T_RBRACK : UN__T_RPAREN;
  if (!un__ps_accept(ps, UN__T_LBRACK)) un__ps_expect(ps, UN__T_LPAREN, "after an operation");
  arguments(ps, e, close);
  return e;
}

static un__ex *core_expr(un__parser *ps);

static un__ex *hash_expr(un__parser *ps) {
  un__ex *e = un__ps_new(ps, UN__EX_CONST);
  un__ps_advance(ps);
  if (!un__ps_word(ps, "eval")) {
    un__pat_push(ps->p, &e->args, core_expr(ps)); /* a type after it is the constant's */
    return e;
  }
  e->kind = UN__EX_EVAL;
  un__ps_advance(ps);
  un__ps_expect(ps, UN__T_LPAREN, "after #eval");
  if (ps->tok.kind == UN__T_OPNAME)
    e->op = un__ps_opname(ps, &ps->tok);
  else if (ps->tok.kind == UN__T_NAME && un__ps_is_loop_var(ps, ps->tok.text))
    e->op = -1, e->name = ps->tok.text;
  else
    un__ps_fail(ps, "an operation");
  un__ps_advance(ps);
  un__ps_expect(ps, UN__T_COMMA, "after the operation of #eval");
  arguments(ps, e, UN__T_RPAREN);
  return e;
}

static un__ex *sem_expr(un__parser *ps) {
  un__ex *e = un__ps_new(ps, UN__EX_SEM);
  un__ps_advance(ps);
  if (un__ps_word(ps, "const")) { /* @const(v): another spelling of #v */
    un__ps_advance(ps);
    e->kind = UN__EX_CONST;
    un__ps_expect(ps, UN__T_LPAREN, "after @const");
    un__pat_push(ps->p, &e->args, un__ps_expr(ps));
    un__ps_expect(ps, UN__T_RPAREN, "after @const's value");
    return e;
  }
  e->sem = ps->tok.kind == UN__T_NAME ? un__sem_find(ps->tok.text) : -1;
  if (e->sem < 0) un__ps_fail(ps, "one of zero one minus_one true false min max inf nan invalid ident");
  un__ps_advance(ps);
  if (e->sem == UN__SEM_IDENT) {
    un__ps_expect(ps, UN__T_LPAREN, "after @ident");
    un__pat_push(ps->p, &e->args, un__ps_expr(ps));
    un__ps_expect(ps, UN__T_RPAREN, "after @ident's operation");
  }
  return e;
}

static un__ex *name_expr(un__parser *ps) {
  static const char *const reserved[] = {"rule", "test", "if", "let", "in", "for"};
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (un__ps_word(ps, reserved[i])) un__ps_fail(ps, "an expression");
  if (un__ps_is_loop_var(ps, ps->tok.text)) return op_expr(ps, true);
  un__ex *e = un__ps_new(ps, UN__EX_NAME);
  e->name = ps->tok.text;
  un__ps_advance(ps);
  if (un__ps_accept(ps, UN__T_LPAREN)) {
    e->kind = UN__EX_CALL;
    arguments(ps, e, UN__T_RPAREN);
  }
  return e;
}

static bool is_dtype_fn(const un__token *t) {
  static const char *const fns[] = {"dtype", "vec", "scalar_of", "with_lanes", "with_scalar"};
  for (size_t i = 0; t->kind == UN__T_NAME && i < sizeof fns / sizeof *fns; i++)
    if (!strcmp(t->text, fns[i])) return true;
  return false;
}

static un__ex *core_expr(un__parser *ps) {
  un__ex *e;
  switch (ps->tok.kind) {
  case UN__T_INT:
  case UN__T_FLOAT:
    e = un__ps_new(ps, ps->tok.kind == UN__T_INT ? UN__EX_INT : UN__EX_FLOAT);
    e->num = ps->tok.num;
    e->fnum = ps->tok.fnum;
    un__ps_advance(ps);
    return e;
  case UN__T_OPNAME:
    return op_expr(ps, false);
  case UN__T_HASH:
    return hash_expr(ps);
  case UN__T_AT:
    return sem_expr(ps);
  case UN__T_TYVAR:
    e = un__ps_new(ps, UN__EX_TYVAR);
    e->name = ps->tok.text;
    un__ps_advance(ps);
    return e;
  case UN__T_NAME:
    if (!un__ps_at_type(&ps->tok)) return name_expr(ps);
    e = un__ps_new(ps, UN__EX_TYPE);
    e->type = un__ps_type(ps);
    return e;
  case UN__T_LPAREN:
    un__ps_advance(ps);
    e = un__ps_expr(ps);
    un__ps_expect(ps, UN__T_RPAREN, "to close '('");
    return e;
  case UN__T_STAR:
    e = un__ps_new(ps, UN__EX_SPLICE);
    un__ps_advance(ps);
    un__pat_push(ps->p, &e->args, un__ps_primary(ps));
    return e;
  default:
    un__ps_fail(ps, "an expression");
    return un__ps_new(ps, UN__EX_INT);
  }
}

un__ex *un__ps_primary(un__parser *ps) {
  if (!un__ps_enter(ps)) {
    un__ps_leave(ps);
    return un__ps_new(ps, UN__EX_INT);
  }
  un__pat_loc from = ps->tok.loc;
  un__ex *e = core_expr(ps);
  while (!ps->bad && ps->tok.kind == UN__T_COLON && e->kind != UN__EX_TYPE) {
    un__ps_peek(ps);
    if (!un__ps_at_type(&ps->ahead) && !is_dtype_fn(&ps->ahead)) break;
    bool call = is_dtype_fn(&ps->ahead);
    if (call) {
      un__ps_advance(ps);
      e->type = dtype_expr(ps);
    } else {
      un__ps_advance(ps);
      e->type = un__ps_type(ps);
    }
  }
  e->loc = un__ps_span(from, ps);
  un__ps_leave(ps);
  return e;
}

static un__ex *unary(un__parser *ps) {
  un__tok k = ps->tok.kind;
  if (k != UN__T_MINUS && k != UN__T_BANG && k != UN__T_TILDE) return un__ps_primary(ps);
  if (!un__ps_enter(ps)) {
    un__ps_leave(ps);
    return un__ps_new(ps, UN__EX_INT);
  }
  un__ex *e = un__ps_new(ps, UN__EX_UNARY);
  un__pat_loc from = ps->tok.loc;
  e->tok = (int)k;
  un__ps_advance(ps);
  un__pat_push(ps->p, &e->args, unary(ps));
  e->loc = un__ps_span(from, ps);
  un__ps_leave(ps);
  return e;
}

/* Binding strength of a binary operator, 0: none. */
static int strength(const un__token *t) {
  switch (t->kind) {
  case UN__T_OROR:
    return 1;
  case UN__T_ANDAND:
    return 2;
  case UN__T_OR:
    return 3;
  case UN__T_XOR:
    return 4;
  case UN__T_AND:
    return 5;
  case UN__T_EQ:
  case UN__T_NE:
    return 6;
  case UN__T_LT:
  case UN__T_LE:
  case UN__T_GT:
  case UN__T_GE:
    return 7;
  case UN__T_NAME:
    return !strcmp(t->text, "in") ? 7 : 0;
  case UN__T_SHL:
  case UN__T_SHR:
    return 8;
  case UN__T_PLUS:
  case UN__T_MINUS:
    return 9;
  case UN__T_STAR:
  case UN__T_SLASH:
  case UN__T_PERCENT:
    return 10;
  default:
    return 0;
  }
}

static void interval(un__parser *ps, un__ex *e) {
  un__ps_expect(ps, UN__T_LBRACK, "after 'in'");
  un__pat_push(ps->p, &e->args, un__ps_expr(ps));
  un__ps_expect(ps, UN__T_COMMA, "between the ends of an interval");
  un__pat_push(ps->p, &e->args, un__ps_expr(ps));
  if (un__ps_accept(ps, UN__T_RBRACK))
    e->closed = true;
  else
    un__ps_expect(ps, UN__T_RPAREN, "to close the interval");
}

static un__ex *binary(un__parser *ps, int min) {
  un__pat_loc from = ps->tok.loc;
  un__ex *left = unary(ps);
  int count = 0; /* a chain a + b + c ... leans left: its depth is its length */
  for (int s; !ps->bad && (s = strength(&ps->tok)) >= min && s > 0;) {
    if (++count > UN__PAT_MAX_DEPTH) {
      un__pat_error(ps->p, ps->tok.loc, "syntax", "expression is too long");
      ps->bad = true;
      break;
    }
    un__ex *e = un__ps_new(ps, un__ps_word(ps, "in") ? UN__EX_IN : UN__EX_BINARY);
    e->tok = (int)ps->tok.kind;
    un__ps_advance(ps);
    un__pat_push(ps->p, &e->args, left);
    if (e->kind == UN__EX_IN)
      interval(ps, e);
    else
      un__pat_push(ps->p, &e->args, binary(ps, s + 1));
    e->loc = un__ps_span(from, ps);
    left = e;
  }
  return left;
}

un__ex *un__ps_attr_expr(un__parser *ps) { return binary(ps, 9); }

un__ex *un__ps_expr(un__parser *ps) {
  un__pat_loc from = ps->tok.loc;
  if (!un__ps_enter(ps)) {
    un__ps_leave(ps);
    return un__ps_new(ps, UN__EX_INT);
  }
  un__ex *c = binary(ps, 1);
  if (!ps->bad && ps->tok.kind == UN__T_QUEST) {
    un__ex *e = un__ps_new(ps, UN__EX_COND);
    un__ps_advance(ps);
    un__pat_push(ps->p, &e->args, c);
    un__pat_push(ps->p, &e->args, un__ps_expr(ps));
    un__ps_expect(ps, UN__T_COLON, "between the arms of '?'");
    un__pat_push(ps->p, &e->args, un__ps_expr(ps));
    e->loc = un__ps_span(from, ps);
    c = e;
  }
  un__ps_leave(ps);
  return c;
}
