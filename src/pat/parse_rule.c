/* parse_rule.c - patterns, rules, rulesets. */
#include "parse.h"

#include <string.h>

/* ---- patterns ---- */

static void head(un__parser *ps, un__pn *pn) {
  un__phead h = {.op = -1, .loc = ps->tok.loc};
  if (ps->tok.kind == UN__T_OPNAME)
    h.op = un__ps_opname(ps, &ps->tok);
  else if (ps->tok.kind == UN__T_NAME && un__ps_is_loop_var(ps, ps->tok.text))
    h.var = ps->tok.text;
  else
    un__ps_fail(ps, "an operation");
  un__pat_push(ps->p, &pn->heads, h);
  un__ps_advance(ps);
}

static void heads(un__parser *ps, un__pn *pn) {
  if (!un__ps_accept(ps, UN__T_LBRACE)) {
    head(ps, pn);
    return;
  }
  do head(ps, pn);
  while (!ps->bad && un__ps_accept(ps, UN__T_OR));
  un__ps_expect(ps, UN__T_RBRACE, "after the alternatives");
}

static un__ex *attr_pattern(un__parser *ps) {
  un__ex *e;
  if (ps->tok.kind == UN__T_MINUS || ps->tok.kind == UN__T_INT) return un__ps_attr_expr(ps);
  if (ps->tok.kind == UN__T_OPNAME)
    e = un__ps_new(ps, UN__EX_UPPER);
  else if (ps->tok.kind == UN__T_NAME)
    e = un__ps_new(ps, UN__EX_NAME);
  else {
    un__ps_fail(ps, "a number, a name or a constant");
    return un__ps_new(ps, UN__EX_INT);
  }
  e->name = ps->tok.text;
  un__ps_advance(ps);
  return e;
}

static void attr_patterns(un__parser *ps, un__pn *pn) {
  pn->has_attrs = true;
  while (!ps->bad && ps->tok.kind != UN__T_GT) {
    if (un__ps_at_type(&ps->tok))
      pn->dtype = un__ps_type(ps);
    else
      un__pat_push(ps->p, &pn->attrs, attr_pattern(ps));
    if (!un__ps_accept(ps, UN__T_COMMA)) break;
  }
  un__ps_expect(ps, UN__T_GT, "after the attributes");
}

static void arg(un__parser *ps, un__pn *pn) {
  un__parg a = {.kind = UN__ARG_ONE, .loc = ps->tok.loc};
  if (un__ps_accept(ps, UN__T_DOTDOT)) {
    a.kind = UN__ARG_REST;
  } else {
    if (un__ps_accept(ps, UN__T_STAR)) a.kind = UN__ARG_SPAN;
    a.pat = un__ps_pattern(ps);
  }
  un__pat_push(ps->p, &pn->args, a);
}

static void op_pattern(un__parser *ps, un__pn *pn) {
  pn->kind = UN__PK_OP;
  heads(ps, pn);
  pn->optional = un__ps_accept(ps, UN__T_QUEST);
  if (!ps->bad && un__ps_accept(ps, UN__T_LT)) attr_patterns(ps, pn);
  un__tok close = UN__T_RPAREN;
  if (ps->tok.kind == UN__T_LBRACK) close = UN__T_RBRACK, pn->any_order = true;
  if (!ps->bad && !un__ps_accept(ps, UN__T_LBRACK)) un__ps_expect(ps, UN__T_LPAREN, "after an operation");
  while (!ps->bad && ps->tok.kind != close) {
    arg(ps, pn);
    if (pn->args.n > UN__PAT_MAX_ARGS) un__ps_fail(ps, "at most 64 operands");
    if (!un__ps_accept(ps, UN__T_COMMA)) break;
  }
  un__ps_expect(ps, close, "after the operands");
}

static void core(un__parser *ps, un__pn *pn) {
  switch (ps->tok.kind) {
  case UN__T_OPNAME:
  case UN__T_LBRACE:
    op_pattern(ps, pn);
    return;
  case UN__T_NAME:
    if (un__ps_is_loop_var(ps, ps->tok.text)) {
      op_pattern(ps, pn);
      return;
    }
    pn->kind = strcmp(ps->tok.text, "_") ? UN__PK_NAME : UN__PK_WILD;
    pn->name = ps->tok.text;
    if (un__ps_at_type(&ps->tok)) un__ps_fail(ps, "a pattern (a type's name is reserved)");
    un__ps_advance(ps);
    return;
  case UN__T_HASH:
    pn->kind = UN__PK_CONST;
    un__ps_advance(ps);
    pn->name = ps->tok.text;
    un__ps_expect(ps, UN__T_NAME, "after '#' in a pattern");
    return;
  case UN__T_AT:
    pn->kind = UN__PK_SEM;
    pn->expr = un__ps_primary(ps);
    pn->sem = pn->expr->sem;
    if (pn->expr->type) pn->type = pn->expr->type;
    if (pn->expr->kind == UN__EX_CONST) {
      un__ex *v = pn->expr->args.n ? pn->expr->args.at[0] : NULL;
      pn->kind = UN__PK_CONST;
      pn->name = v ? v->name : NULL;
      if (!v || v->kind != UN__EX_NAME) un__ps_fail(ps, "a name in @const(...)");
    }
    return;
  case UN__T_INT:
  case UN__T_FLOAT:
  case UN__T_MINUS: {
    pn->kind = UN__PK_INT;
    bool minus = un__ps_accept(ps, UN__T_MINUS);
    pn->expr = un__ps_new(ps, ps->tok.kind == UN__T_FLOAT ? UN__EX_FLOAT : UN__EX_INT);
    if (ps->tok.kind == UN__T_FLOAT)
      pn->kind = UN__PK_FLOAT;
    else if (ps->tok.kind != UN__T_INT)
      un__ps_fail(ps, "a number");
    pn->expr->num = minus ? 0 - ps->tok.num : ps->tok.num;
    pn->expr->fnum = minus ? -ps->tok.fnum : ps->tok.fnum;
    un__ps_advance(ps);
    return;
  }
  case UN__T_XOR:
    pn->kind = UN__PK_PIN;
    un__ps_advance(ps);
    pn->expr = un__ps_primary(ps);
    return;
  default:
    un__ps_fail(ps, "a pattern");
  }
}

un__pn *un__ps_pattern(un__parser *ps) {
  un__pn *pn = un__pat_alloc(ps->p, sizeof *pn);
  pn->loc = ps->tok.loc;
  if (!un__ps_enter(ps)) {
    un__ps_leave(ps);
    return pn;
  }
  if (ps->tok.kind == UN__T_NAME && un__ps_peek(ps) == UN__T_ASSIGN) {
    pn->bind = ps->tok.text;
    pn->bind_loc = ps->tok.loc;
    un__ps_advance(ps);
    un__ps_advance(ps);
  }
  un__pat_loc from = ps->tok.loc;
  core(ps, pn);
  pn->type = un__ps_types(ps, pn->type);
  pn->loc = un__ps_span(from, ps);
  un__ps_leave(ps);
  return pn;
}

/* ---- attributes of rules ---- */

typedef struct rule_attrs {
  uint32_t licences;
  un__pat_proof proof;
  const char *order, *doc;
  UN__VEC(const char *) overlap_ok;
} rule_attrs;

static uint32_t licence_bit(const char *name) {
  static const char *const names[] = {"contract", "reduce_order", "online", "nsz", "nnan", "ninf", "reassoc", "approx"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (!strcmp(names[i], name)) return (uint32_t)1 << i;
  return 0;
}

static uint32_t licences(un__parser *ps) {
  uint32_t m = 0;
  while (!ps->bad && ps->tok.kind == UN__T_NAME) {
    uint32_t bit = licence_bit(ps->tok.text);
    if (!bit)
      un__pat_error(ps->p, ps->tok.loc, "bad-attr",
                    "'%s' is not a licence (contract reduce_order online nsz nnan ninf reassoc approx)", ps->tok.text);
    m |= bit;
    un__ps_advance(ps);
    un__ps_accept(ps, UN__T_COMMA);
  }
  return m;
}

/* One way of several: smt, eval, fuzz, inst, `unroll N` (an smt proof of N turns), `rtol X` (how near fuzz must come),
 * trusted "why". The first one is what the table of rules shows. */
static void proof_way(un__parser *ps, rule_attrs *ra) {
  static const struct {
    const char *name;
    un__pat_proof proof;
    un__tok operand, or_operand; /* EOF: none */
    const char *expected;
  } ways[] = {{"smt", UN__PP_SMT, UN__T_EOF, UN__T_EOF, NULL},
              {"eval", UN__PP_EVAL, UN__T_EOF, UN__T_EOF, NULL},
              {"fuzz", UN__PP_FUZZ, UN__T_EOF, UN__T_EOF, NULL},
              {"inst", UN__PP_INST, UN__T_EOF, UN__T_EOF, NULL},
              {"unroll", UN__PP_SMT, UN__T_INT, UN__T_INT, "how many turns, after 'unroll'"},
              {"rtol", UN__PP_FUZZ, UN__T_FLOAT, UN__T_INT, "a number after 'rtol'"},
              {"trusted", UN__PP_TRUSTED, UN__T_STRING, UN__T_STRING, "the reason, in quotes, after 'trusted'"}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    if (!un__ps_accept_word(ps, ways[i].name)) continue;
    if (ra->proof == UN__PP_NONE) ra->proof = ways[i].proof;
    if (!ways[i].expected) return;
    if (ps->tok.kind != ways[i].operand && ps->tok.kind != ways[i].or_operand) un__ps_fail(ps, ways[i].expected);
    un__ps_advance(ps);
    return;
  }
  un__pat_error(ps->p, ps->tok.loc, "bad-attr", "@proof takes smt, eval, fuzz, inst, unroll, rtol or trusted");
  un__ps_advance(ps);
}

static void proof(un__parser *ps, rule_attrs *ra) {
  do proof_way(ps, ra);
  while (!ps->bad && (un__ps_accept(ps, UN__T_COMMA) || ps->tok.kind == UN__T_NAME));
}

static void order(un__parser *ps, rule_attrs *ra) {
  ra->order = ps->tok.text;
  un__ps_expect(ps, UN__T_STRING, "that says why the rule ends, in quotes");
}

static void overlap(un__parser *ps, rule_attrs *ra) {
  do {
    const char *name = ps->tok.text;
    if (un__ps_expect(ps, UN__T_NAME, "as a rule in @overlap")) un__pat_push(ps->p, &ra->overlap_ok, name);
  } while (!ps->bad && un__ps_accept(ps, UN__T_COMMA));
}

/* How an e-graph would use the rule: it may drop what it replaced, or not use the rule at all. */
static void eg(un__parser *ps) {
  if (!un__ps_accept_word(ps, "subsume") && !un__ps_accept_word(ps, "skip")) un__ps_fail(ps, "subsume or skip");
}

static void rule_attr(un__parser *ps, rule_attrs *ra) {
  un__ps_advance(ps);
  un__token name = ps->tok;
  if (!un__ps_expect(ps, UN__T_NAME, "after '@'")) return;
  bool known = false;
  static const char *const names[] = {"fp", "proof", "overlap", "order", "eg"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) known |= !strcmp(name.text, names[i]);
  if (!known) {
    un__diag *d = un__pat_error(ps->p, name.loc, "bad-attr",
                                "rules have no attribute '@%s' (fp proof overlap order eg)", name.text);
    un__pat_suggest(ps->p, d, name.text, names, sizeof names / sizeof *names);
  }
  if (!known) {
    if (!un__ps_accept(ps, UN__T_LPAREN)) return;
    while (ps->tok.kind != UN__T_RPAREN && ps->tok.kind != UN__T_EOF && ps->tok.kind != UN__T_RBRACE)
      un__ps_advance(ps);
  } else {
    un__ps_expect(ps, UN__T_LPAREN, "after an attribute of a rule");
    if (ps->bad) return;
    if (!strcmp(name.text, "fp"))
      ra->licences |= licences(ps);
    else if (!strcmp(name.text, "proof"))
      proof(ps, ra);
    else if (!strcmp(name.text, "order"))
      order(ps, ra);
    else if (!strcmp(name.text, "overlap"))
      overlap(ps, ra);
    else
      eg(ps);
  }
  un__ps_expect(ps, UN__T_RPAREN, "to close the attribute");
}

/* ---- rules ---- */

static void clauses(un__parser *ps, un__rule *r) {
  while (!ps->bad && (un__ps_word(ps, "if") || un__ps_word(ps, "let"))) {
    un__clause c = {.is_let = un__ps_word(ps, "let")};
    un__ps_advance(ps);
    if (c.is_let) {
      c.name = ps->tok.text;
      c.loc = ps->tok.loc;
      un__ps_expect(ps, UN__T_NAME, "after 'let'");
      un__ps_expect(ps, UN__T_ASSIGN, "after the name of a 'let'");
    } else {
      c.loc = ps->tok.loc;
    }
    c.expr = un__ps_expr(ps);
    un__pat_push(ps->p, &r->clauses, c);
  }
}

static void right_side(un__parser *ps, un__rule *r) {
  r->may_decline = ps->tok.kind == UN__T_FAT_ARROW;
  if (!un__ps_accept(ps, UN__T_FAT_ARROW)) un__ps_expect(ps, UN__T_TILDE_ARROW, "before the right side");
  if (ps->bad) return;
  if (ps->tok.kind == UN__T_LBRACE) {
    r->c_body = un__lex_c_block(&ps->lx, ps->tok.loc, &r->c_loc);
    if (!r->c_body) ps->bad = true;
    un__ps_advance(ps);
  } else {
    r->rhs = un__ps_expr(ps);
  }
}

static void tests(un__parser *ps, un__rule *r) {
  while (!ps->bad && un__ps_word(ps, "test")) {
    un__ptest t = {.loc = ps->tok.loc};
    un__ps_advance(ps);
    if (un__ps_accept(ps, UN__T_LPAREN)) {
      t.licences = licences(ps);
      un__ps_expect(ps, UN__T_RPAREN, "after the licences of a test");
    }
    t.lhs = un__ps_expr(ps);
    un__ps_expect(ps, UN__T_ARROW, "in a test");
    if (un__ps_accept_word(ps, "fires"))
      t.fires = true;
    else if (!un__ps_accept_word(ps, "nomatch"))
      t.rhs = un__ps_expr(ps), t.fires = true;
    if (!ps->bad) un__pat_push(ps->p, &r->tests, t);
  }
}

static void rule(un__parser *ps, un__ruleset_ast *set, rule_attrs ra) {
  un__rule *r = un__pat_alloc(ps->p, sizeof *r);
  if (ps->doc) ra.doc = ps->doc;
  ps->doc = NULL;
  *r = (un__rule){.set = set, .licences = ra.licences, .proof = ra.proof, .order = ra.order, .doc = ra.doc};
  for (size_t i = 0; i < ra.overlap_ok.n; i++) un__pat_push(ps->p, &r->overlap_ok, ra.overlap_ok.at[i]);
  for (size_t i = 0; i < ps->loops.n; i++) un__pat_push(ps->p, &r->loops, ps->loops.at[i]);
  un__ps_advance(ps);
  r->loc = ps->tok.loc;
  r->name = ps->tok.text;
  un__ps_expect(ps, UN__T_NAME, "after 'rule'");
  un__ps_expect(ps, UN__T_COLON, "after the name of a rule");
  if (ps->bad) return;
  r->lhs = un__ps_pattern(ps);
  if (!ps->bad) clauses(ps, r);
  if (!ps->bad) right_side(ps, r);
  if (!ps->bad) tests(ps, r);
  if (ps->bad) return;
  if (set->rules.n >= UN__PAT_MAX_RULES) {
    un__pat_error(ps->p, r->loc, "syntax", "too many rules in ruleset '%s'", set->name);
    return;
  }
  un__pat_push(ps->p, &set->rules, r);
}

/* Skips to something that can start an item; braces opened on the way are closed on the way. */
static void recover(un__parser *ps) {
  int depth = 0;
  ps->bad = false;
  for (; ps->tok.kind != UN__T_EOF; un__ps_advance(ps)) {
    if (ps->tok.kind == UN__T_LBRACE) depth++;
    if (ps->tok.kind == UN__T_RBRACE && depth-- == 0) return;
    if (un__ps_word(ps, "rule") && un__ps_peek(ps) == UN__T_NAME) return;
    if (un__ps_word(ps, "ruleset") || un__ps_word(ps, "stage")) return;
  }
}

static void items(un__parser *ps, un__ruleset_ast *set, rule_attrs outer);

static void unknown_opset(un__parser *ps) {
  un__diag *d = un__pat_error(ps->p, ps->tok.loc, "unknown-name", "there is no opset '%s'", ps->tok.text);
  const char **names = un__pat_alloc(ps->p, (ps->p->opsets.n + 1) * sizeof *names);
  for (size_t i = 0; i < ps->p->opsets.n && !ps->p->oom; i++) names[i] = ps->p->opsets.at[i]->name;
  if (!ps->p->oom) un__pat_suggest(ps->p, d, ps->tok.text, names, ps->p->opsets.n);
}

static void for_loop(un__parser *ps, un__ruleset_ast *set, rule_attrs ra) {
  un__ps_advance(ps);
  un__loop loop = {.var = ps->tok.text, .loc = ps->tok.loc};
  if (ps->doc) ra.doc = ps->doc;
  ps->doc = NULL;
  un__ps_expect(ps, UN__T_NAME, "after 'for'");
  if (!ps->bad && !un__ps_accept_word(ps, "in")) un__ps_fail(ps, "'in'");
  if (!ps->bad && ps->tok.kind == UN__T_NAME) {
    loop.set = un__pat_find_opset(ps->p, ps->tok.text);
    if (!loop.set) unknown_opset(ps);
    if (!loop.set) loop.set = un__pat_alloc(ps->p, sizeof *loop.set); /* empty: its rules stand for nothing */
  }
  un__ps_expect(ps, UN__T_NAME, "an opset after 'in'");
  un__ps_expect(ps, UN__T_LBRACE, "to open the loop");
  if (ps->bad) return;
  if (!un__ps_enter(ps)) {
    un__ps_leave(ps);
    return;
  }
  un__pat_push(ps->p, &ps->loops, loop);
  items(ps, set, ra);
  if (ps->loops.n) ps->loops.n--;
  un__ps_leave(ps);
  un__ps_expect(ps, UN__T_RBRACE, "to close the loop");
}

static void items(un__parser *ps, un__ruleset_ast *set, rule_attrs outer) {
  while (ps->tok.kind != UN__T_RBRACE && ps->tok.kind != UN__T_EOF && !ps->p->oom) {
    rule_attrs ra = outer;
    while (!ps->bad && ps->tok.kind == UN__T_AT) rule_attr(ps, &ra);
    if (!ps->bad && un__ps_word(ps, "rule"))
      rule(ps, set, ra);
    else if (!ps->bad && un__ps_word(ps, "for"))
      for_loop(ps, set, ra);
    else if (!ps->bad)
      un__ps_fail(ps, "'rule', 'for' or an attribute");
    if (ps->bad) {
      recover(ps);
      if (un__ps_word(ps, "ruleset") || un__ps_word(ps, "stage")) return;
    }
  }
}

static void bases(un__parser *ps, un__ruleset_ast *s) {
  do {
    un__ruleset_ast *b = ps->tok.kind == UN__T_NAME ? un__pat_find_set(ps->p, ps->tok.text) : NULL;
    if (b)
      un__pat_push(ps->p, &s->bases, b);
    else if (ps->tok.kind == UN__T_NAME)
      un__ps_suggest_set(
          ps,
          un__pat_error(ps->p, ps->tok.loc, "unknown-name", "there is no ruleset '%s' above this one", ps->tok.text),
          ps->tok.text);
    un__ps_expect(ps, UN__T_NAME, "as base ruleset");
  } while (!ps->bad && un__ps_accept(ps, UN__T_COMMA));
}

static void ctx_type(un__parser *ps, un__ruleset_ast *s) {
  const char *tag = un__ps_accept_word(ps, "struct") ? "struct " : "";
  if (ps->tok.kind == UN__T_NAME || ps->tok.kind == UN__T_OPNAME)
    s->ctx = un__pat_fmt(ps->p, "%s%s", tag, ps->tok.text);
  else
    un__ps_fail(ps, "a C type after 'ctx'");
  un__ps_advance(ps);
}

void un__ps_ruleset(un__parser *ps) {
  un__ruleset_ast *s = un__pat_alloc(ps->p, sizeof *s);
  un__ps_advance(ps);
  s->main_file = ps->main_file;
  s->name = ps->tok.text;
  s->loc = ps->tok.loc;
  un__ps_expect(ps, UN__T_NAME, "after 'ruleset'");
  bool named = !ps->bad;
  un__ruleset_ast *twin = named ? un__pat_find_set(ps->p, s->name) : NULL;
  if (twin) {
    un__diag *d = un__pat_error(ps->p, s->loc, "duplicate", "ruleset '%s' is defined twice", s->name);
    un__pat_note_at(ps->p, d, twin->loc, "first here");
  }
  if (named && un__ps_accept(ps, UN__T_COLON)) bases(ps, s);
  if (!ps->bad && un__ps_accept_word(ps, "ctx")) ctx_type(ps, s);
  if (!ps->bad && un__ps_word(ps, "order"))
    un__ps_fail(ps, "'{' (a stage declares its order, for the rules of all its sets)");
  un__ps_expect(ps, UN__T_LBRACE, "to open the ruleset");
  if (named && ps->bad) un__pat_push(ps->p, &ps->p->sets, s); /* its name is known all the same */
  if (ps->bad) return;
  ps->doc = NULL;
  items(ps, s, (rule_attrs){0});
  un__ps_expect(ps, UN__T_RBRACE, "to close the ruleset");
  un__pat_push(ps->p, &ps->p->sets, s);
}
