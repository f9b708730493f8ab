/* check.c - what can be wrong with a rule on its own, and with the names of a ruleset. */
#include "check.h"

#include <string.h>

/* ---- names ---- */

static void check_twins(un__pat *p, const un__ruleset_ast *s) {
  size_t n;
  un__rule **rules = un__pat_set_rules(p, s, &n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++) {
      if (rules[i]->set != rules[k]->set || strcmp(rules[i]->name, rules[k]->name)) continue;
      un__diag *d =
          un__pat_error(p, rules[i]->loc, "duplicate", "rule '%s' is in ruleset '%s' twice", rules[i]->name, s->name);
      un__pat_note_at(p, d, rules[k]->loc, "first here");
      break;
    }
}

static bool type_uses(const un__pat_type *t, const char *name);

bool un__check_mentions(const un__ex *e, const char *name) {
  if (!e) return false;
  if (e->kind == UN__EX_NAME && !strcmp(e->name, name)) return true;
  if (e->kind == UN__EX_TYVAR && *name == '\'' && !strcmp(e->name, name + 1)) return true;
  if (type_uses(e->type, name)) return true;
  for (size_t i = 0; i < e->args.n; i++)
    if (un__check_mentions(e->args.at[i], name)) return true;
  for (size_t i = 0; i < e->attrs.n; i++)
    if (un__check_mentions(e->attrs.at[i], name)) return true;
  return false;
}

static bool type_uses(const un__pat_type *t, const char *name) {
  if (!t) return false;
  return (t->var && *name == '\'' && !strcmp(t->var, name + 1)) || un__check_mentions(t->expr, name);
}

/* Times a name stands on the left; type variables with their quote. */
static int left_uses(const un__pn *pn, const char *name) {
  int n = (pn->bind && !strcmp(pn->bind, name)) + type_uses(pn->type, name) + type_uses(pn->dtype, name);
  if (pn->kind == UN__PK_NAME || pn->kind == UN__PK_CONST) n += !strcmp(pn->name, name);
  if (pn->kind == UN__PK_PIN) n += un__check_mentions(pn->expr, name);
  for (size_t i = 0; i < pn->attrs.n; i++) n += un__check_mentions(pn->attrs.at[i], name);
  for (size_t i = 0; i < pn->args.n; i++)
    if (pn->args.at[i].pat) n += left_uses(pn->args.at[i].pat, name);
  return n;
}

/* C blocks are searched as words: a capture that no word names is unused there too. */
static bool c_uses(const char *body, const char *name) {
  size_t n = strlen(name);
  for (const char *s = body; (s = strstr(s, name)); s++) {
    char before = s == body ? ' ' : s[-1], after = s[n];
    bool word_before = before == '_' || (before >= '0' && before <= '9') || (before >= 'A' && before <= 'Z') ||
                       (before >= 'a' && before <= 'z');
    bool word_after = after == '_' || (after >= '0' && after <= '9') || (after >= 'A' && after <= 'Z') ||
                      (after >= 'a' && after <= 'z');
    if (!word_before && !word_after) return true;
  }
  return false;
}

static bool right_uses(const un__rule *r, const char *name, size_t from_clause) {
  for (size_t i = from_clause; i < r->clauses.n; i++)
    if (un__check_mentions(r->clauses.at[i].expr, name)) return true;
  if (r->c_body) return c_uses(r->c_body, *name == '\'' ? name + 1 : name);
  return un__check_mentions(r->rhs, name);
}

static void check_unused(un__pat *p, const un__rule *r, const un__variant *v) {
  for (size_t i = 0; i < v->caps.n; i++) {
    const un__cap *c = &v->caps.at[i];
    if (c->hidden || left_uses(r->lhs, c->name) > 1 || right_uses(r, c->name, 0)) continue;
    un__diag *d =
        un__pat_warn(p, c->loc, "unused", "'%s' is never used", c->kind == UN__CAP_DTYPE ? c->name + 1 : c->name);
    if (c->kind == UN__CAP_DTYPE) continue;
    if (c->kind == UN__CAP_SPAN)
      un__pat_note_plain(p, d, "write '..' to ignore the rest");
    else
      un__pat_note_plain(p, d, "write '_' to ignore it");
  }
  for (size_t i = 0; i < r->clauses.n; i++)
    if (r->clauses.at[i].is_let && !right_uses(r, r->clauses.at[i].name, i + 1))
      un__pat_warn(p, r->clauses.at[i].loc, "unused", "'%s' is never used", r->clauses.at[i].name);
}

/* ---- rules ---- */

static void check_tests(un__pat *p, const un__rule *r) {
  bool fires = false, waits = false;
  for (size_t i = 0; i < r->tests.n; i++) *(r->tests.at[i].fires ? &fires : &waits) = true;
  if (!r->tests.n)
    un__pat_warn(p, r->loc, "untested", "rule '%s' has no test", r->name);
  else if (!fires)
    un__pat_warn(p, r->loc, "untested", "rule '%s' has no test in which it fires", r->name);
  bool guarded = false;
  for (size_t i = 0; i < r->clauses.n; i++) guarded |= !r->clauses.at[i].is_let;
  if (guarded && !waits && un__pat_asked(p, "untested-guard"))
    un__pat_warn(p, r->loc, "untested-guard", "rule '%s' has no test in which its guard holds it back", r->name);
  if (r->proof == UN__PP_NONE && un__pat_asked(p, "unproved"))
    un__pat_warn(p, r->loc, "unproved", "rule '%s' does not say how it is known to be true", r->name);
  for (size_t i = 0; i < r->tests.n && !p->oom; i++) {
    un__infer in;
    un__pat_infer_test(p, &r->tests.at[i], &in);
  }
}

static void check_meaning(un__pat *p, const un__rule *r, const un__infer *in) {
  un__check_total(p, r, in);
  un__check_self_loop(p, r, in);
  un__check_licence(p, r, in);
  un__check_dropped_attr(p, r, in);
}

static void check_rule(un__pat *p, un__rule *r) {
  un__variants vs = {0};
  uint32_t before = p->faults;
  un__pat_lower(p, r, &vs);
  for (size_t i = 0; i < vs.list.n && p->faults == before && !p->oom; i++) {
    un__infer in;
    un__check_contradiction(p, vs.list.at[i]);
    un__pat_infer(p, vs.list.at[i], &in);
    if (p->faults == before) check_meaning(p, r, &in);
  }
  if (p->faults == before && vs.list.n && !p->oom) check_unused(p, r, vs.list.at[0]);
  if (p->faults == before) check_tests(p, r);
}

enum { MAX_CALL_DEPTH = 48, UNSEEN = 0, OPEN, DONE };

static void visit_decl(un__pat *p, un__decl *d, int depth);

static void visit_calls(un__pat *p, un__decl *from, const un__ex *e, int depth) {
  un__decl *d = e->kind == UN__EX_CALL ? un__pat_find_decl(p, e->name) : NULL;
  if (d) {
    if (d->state == OPEN)
      un__pat_error(p, e->loc, "recursive", "'%s' calls itself", d->name);
    else
      visit_decl(p, d, depth + 1);
  }
  bool number = e->kind == UN__EX_CONST && e->args.at[0]->kind != UN__EX_INT && e->args.at[0]->kind != UN__EX_FLOAT;
  bool builtin = e->kind == UN__EX_CALL && !d && un__infer_partial(e->name);
  from->partial |= (d && d->partial) || builtin || number || e->kind == UN__EX_EVAL;
  for (size_t i = 0; i < e->args.n; i++) visit_calls(p, from, e->args.at[i], depth);
}

/* Finds functions that call themselves, and those that may have no value. */
static void visit_decl(un__pat *p, un__decl *d, int depth) {
  if (d->state != UNSEEN) return;
  d->state = OPEN;
  d->partial = d->is_extern && !d->is_pred;
  if (depth > MAX_CALL_DEPTH)
    un__pat_error(p, d->loc, "recursive", "functions call each other more than %d deep", MAX_CALL_DEPTH);
  else if (d->body)
    visit_calls(p, d, d->body, depth);
  d->state = DONE;
}

static void check_decls(un__pat *p) {
  for (size_t i = 0; i < p->decls.n; i++) visit_decl(p, p->decls.at[i], 0);
  for (size_t i = 0; i < p->decls.n && !p->oom; i++) {
    un__infer in;
    if (p->decls.at[i]->body) un__pat_infer_decl(p, p->decls.at[i], &in);
  }
}

/* Rules of all sets that a stage runs together. */
static void check_stage(un__pat *p, const un__stage_ast *s) {
  UN__VEC(un__rule *) all = {0};
  for (size_t i = 0; i < s->uses.n && !p->oom; i++) {
    size_t n;
    un__rule **rules = s->uses.at[i].set ? un__pat_set_rules(p, s->uses.at[i].set, &n) : NULL;
    for (size_t k = 0; rules && k < n; k++) un__pat_push(p, &all, rules[k]);
  }
  un__check_cycles(p, all.at, all.n);
  un__check_order(p, s);
}

static void check_overlap_names(un__pat *p, const un__ruleset_ast *s) {
  size_t n;
  un__rule **rules = un__pat_set_rules(p, s, &n);
  const char **names = un__pat_alloc(p, (n + 1) * sizeof *names);
  for (size_t i = 0; i < n && !p->oom; i++) names[i] = rules[i]->name;
  for (size_t i = 0; i < s->rules.n && !p->oom; i++)
    for (size_t k = 0; k < s->rules.at[i]->overlap_ok.n; k++) {
      const char *name = s->rules.at[i]->overlap_ok.at[k];
      bool known = false;
      for (size_t j = 0; j < n && !known; j++) known = !strcmp(names[j], name);
      if (known) continue;
      un__diag *d = un__pat_error(p, s->rules.at[i]->loc, "unknown-name", "@overlap: ruleset '%s' has no rule '%s'",
                                  s->name, name);
      un__pat_suggest(p, d, name, names, n);
    }
}

/* What rules do to each other: only when each is sound by itself. */
static void check_together(un__pat *p) {
  for (size_t i = 0; i < p->sets.n && !p->oom; i++) {
    if (!p->sets.at[i]->main_file) continue;
    size_t n;
    un__rule **rules = un__pat_set_rules(p, p->sets.at[i], &n);
    un__check_cycles(p, rules, n);
    un__check_overlap(p, p->sets.at[i]);
  }
  for (size_t i = 0; i < p->stages.n && !p->oom; i++)
    if (p->stages.at[i]->main_file) check_stage(p, p->stages.at[i]);
}

void un__pat_check(un__pat *p) {
  check_decls(p);
  for (size_t i = 0; i < p->sets.n && !p->oom; i++) {
    un__ruleset_ast *s = p->sets.at[i];
    if (!s->main_file) continue;
    check_twins(p, s);
    check_overlap_names(p, s);
    for (size_t k = 0; k < s->rules.n && !p->oom; k++) check_rule(p, s->rules.at[k]);
  }
  if (!p->faults) check_together(p);
}
