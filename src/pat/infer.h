/* infer.h - names, kinds and dtypes of a variant's right side.
 *
 * Every site and every node built on the right gets a dtype class; ops unify them (union-find). A class knows the
 * scalars it may have and, when one is known, the C expression that gives its dtype at match time: that is where a
 * constant built on the right takes its dtype from.
 */
#ifndef UN_PAT_INFER_H
#define UN_PAT_INFER_H

#include "lower.h"

typedef struct un__tclass {
  int up;             /* union-find parent of the whole dtype, or itself */
  int scalar_up;      /* union-find parent of the scalar alone */
  uint32_t mask;      /* of the scalar's root */
  const char *source; /* C expression of the dtype, or NULL */
  const char *late;   /* the same, but of a `let`: usable once `late_no` lets have been made */
  int late_no;
  int truth_of; /* bool with the lanes of that class; -1 */
} un__tclass;

typedef struct un__name {
  const char *name;
  un__kind kind; /* as it is declared: a `#c` is an INT that may stand for its node */
  bool is_const, is_let;
  un__pat_ak attr;
  int tv;             /* NODE and consts: its class; else -1 */
  int value;          /* OP: the row */
  const un__cap *cap; /* NULL for lets, parameters, test variables */
} un__name;

typedef struct un__infer {
  un__pat *p;
  const un__variant *v; /* NULL: a test or the body of a fn */
  UN__VEC(un__tclass) classes;
  UN__VEC(un__name) names;
  bool in_test;
  int lets, lets_made; /* of `let` clauses: seen by inference; emitted so far */
} un__infer;

/* Infers the rule's clauses and template for this variant, marking tv in its expressions. Reports unbound, type. */
void un__pat_infer(un__pat *p, const un__variant *v, un__infer *out);
/* The same for a test: variables are declared by `name:type`. */
void un__pat_infer_test(un__pat *p, const un__ptest *t, un__infer *out);
/* The same for the body of a pred or fn. */
void un__pat_infer_decl(un__pat *p, const un__decl *d, un__infer *out);

const un__name *un__infer_name(const un__infer *in, const char *name);
/* Kind an expression has by itself; a `#c` name is INT. */
un__kind un__infer_kind(const un__infer *in, const un__ex *e);
/* C expression of a class's dtype, or NULL when nothing tells. In the arena. */
const char *un__infer_dtype(const un__infer *in, int tv);
/* Scalars a class may have; do two classes always have the same one? */
uint32_t un__infer_mask(const un__infer *in, int tv);
/* Numbers of a class and of its scalar: equal for what always has one dtype, or one scalar. */
int un__infer_class(const un__infer *in, int tv);
int un__infer_scalar_class(const un__infer *in, int tv);
bool un__infer_same_scalar(const un__infer *in, int a, int b);
/* The same with its lanes: NULL too when only the scalar is known, so that an operand beside it may tell more. */
const char *un__infer_whole_dtype(const un__infer *in, int tv);
/* From here on this C expression gives the dtype of a class. */
void un__infer_learn(un__infer *in, int tv, const char *source);
/* Row of an EX_OP or EX_EVAL, loop variables looked up. 0: none. */
int un__infer_op(const un__infer *in, const un__ex *e);
/* Builtin functions of expressions: result kind, or NONE when there is none of that name. */
typedef struct un__builtin {
  const char *name;
  un__kind result;
  un__kind args[4];
  const char *c;
} un__builtin;
const un__builtin *un__infer_builtin(const char *name);
/* Notes the function nearest in name, or how to declare one. */
void un__infer_suggest_call(un__pat *p, un__diag *d, const char *name);
/* May the builtin give nothing (a node or nodes that are not there)? */
bool un__infer_partial(const char *name);
/* The operand of a BINARY node expression that becomes this op; 0: no such operator on nodes. */
int un__infer_binary_op(int tok);

#endif
