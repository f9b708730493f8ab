/* gen.h - C text for expressions and matchers. Private to patgen. */
#ifndef UN_PATGEN_GEN_H
#define UN_PATGEN_GEN_H

#include "pat/infer.h"

/* Where statements go while one function is being written. */
typedef struct un__gen {
  un__pat *p;
  un__infer *in;
  un__strbuf *out;
  int temps, indent;
  const char *fail; /* statement that leaves the function without a match */
} un__gen;

/* Each returns C text of an expression (in the arena), writing the statements it needs first. */
const char *un__gen_int(un__gen *g, const un__ex *e);   /* un__i128 or a truth value */
const char *un__gen_node(un__gen *g, const un__ex *e);  /* const un_uop *, a variable's name */
const char *un__gen_span(un__gen *g, const un__ex *e);  /* un__span */
const char *un__gen_ints(un__gen *g, const un__ex *e);  /* un__ints */
const char *un__gen_dtype(un__gen *g, const un__ex *e); /* un__dtype */
const char *un__gen_as(un__gen *g, const un__ex *e, un__kind k);
/* ", a, b": the arguments of a call of a declared function. */
const char *un__gen_args(un__gen *g, un__decl *d, const un__ex *e);
void un__gen_line(un__gen *g, const char *fmt, ...) UN__PRINTF(2, 3);
const char *un__gen_c_type(un__kind k); /* parameter type of own preds and fns */

typedef struct un__emit_options {
  const char *c_path, *h_path, *test_path; /* names as written into the output */
  bool linear;
} un__emit_options;

/* The rules of one set with their variants. */
typedef struct un__set_code {
  const un__ruleset_ast *set;
  un__rule **rules;
  size_t nrules;
  UN__VEC(un__variant *) variants; /* in order of preference */
  UN__VEC(const char *) calls;     /* per variant: the action function */
  UN__VEC(uint32_t) rule_no;       /* per variant */
} un__set_code;

void un__emit_source(un__pat *p, const un__emit_options *o, un__strbuf *out);
void un__emit_header(un__pat *p, const un__emit_options *o, un__strbuf *out);
void un__emit_tests(un__pat *p, const un__emit_options *o, un__strbuf *out);
void un__emit_variants(un__pat *p, un__strbuf *out);
void un__emit_json(un__pat *p, un__strbuf *out);
void un__emit_actions(un__pat *p, un__set_code *s, un__strbuf *out);
void un__emit_matchers(un__pat *p, const un__set_code *s, const un__emit_options *o, un__strbuf *out);
void un__emit_decls(un__pat *p, un__strbuf *out);
/* "struct X *" or "X *": how a set's context is passed. */
void un__emit_c_string(un__strbuf *out, const char *s);
/* One constraint as C that is true when it fails; declares the sites it needs through `site`. */
const char *un__emit_test_failed(un__pat *p, const un__variant *v, const un__cons *c, const char *site,
                                 const char *site2, const char *parent);
/* Does the test look at two sites? */
bool un__emit_two_sites(un__ck k);
/* The call of a variant's action, sites named by `site`. */
const char *un__emit_call(un__pat *p, const un__set_code *s, size_t variant, const char *const *site);

#endif
