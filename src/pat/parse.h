/* parse.h - the parser's own state. Recursive descent with two tokens of look-ahead; `bad` is set by the first
 * error of an item and silences the rest until the item's loop has recovered. */
#ifndef UN_PAT_PARSE_H
#define UN_PAT_PARSE_H

#include "lex.h"

typedef struct un__parser {
  un__pat *p;
  un__lexer lx;
  un__token tok, ahead;
  bool has_ahead, bad, main_file;
  int depth;
  const char *doc;         /* doc comments read and not yet taken */
  UN__VEC(un__loop) loops; /* open `for`s */
} un__parser;

void un__ps_advance(un__parser *ps);
un__tok un__ps_peek(un__parser *ps); /* kind of the token after the current one */
bool un__ps_accept(un__parser *ps, un__tok t);
bool un__ps_expect(un__parser *ps, un__tok t, const char *where);
bool un__ps_word(const un__parser *ps, const char *word); /* the current token is this NAME */
bool un__ps_accept_word(un__parser *ps, const char *word);
void un__ps_fail(un__parser *ps, const char *expected); /* "expected X, found Y" */
/* Enters one level of nesting; false (and an error) beyond UN__PAT_MAX_DEPTH. Leave in either case. */
bool un__ps_enter(un__parser *ps);
static inline void un__ps_leave(un__parser *ps) { ps->depth--; }
bool un__ps_is_loop_var(const un__parser *ps, const char *name);
/* Is the token a word that starts a type? */
bool un__ps_at_type(const un__token *t);
un__pat_loc un__ps_span(un__pat_loc from, const un__parser *ps); /* from .. the last token read; same line only */

un__pat_type *un__ps_type(un__parser *ps);                     /* after the colon */
un__pat_type *un__ps_types(un__parser *ps, un__pat_type *old); /* { ":" type }, conjoined; old may be NULL */
un__ex *un__ps_expr(un__parser *ps);
un__ex *un__ps_attr_expr(un__parser *ps); /* an expression without comparisons */
un__ex *un__ps_primary(un__parser *ps);
un__ex *un__ps_new(un__parser *ps, un__ex_kind kind);
un__pn *un__ps_pattern(un__parser *ps);
int un__ps_opname(un__parser *ps, const un__token *t); /* row; 0 after reporting an unknown one */
/* Notes the ruleset whose name is nearest; false when none is near. */
bool un__ps_suggest_set(un__parser *ps, un__diag *d, const char *name);
void un__ps_ruleset(un__parser *ps);
void un__ps_file(un__pat *p, uint32_t file, bool main_file, int depth);

#endif
