/* lower.h - variants: a rule as straight lists of tests.
 *
 * A rule with loops, alternatives, optional ops or any-order operands stands for several variants. Each is a list of
 * constraints on sites; a site is a path from the matched node (site 0). Constraints are in an order in which every
 * site is known to exist before it is looked at.
 */
#ifndef UN_PAT_LOWER_H
#define UN_PAT_LOWER_H

#include "pat.h"

typedef struct un__site {
  int parent;     /* -1: the root */
  uint32_t index; /* source number in the parent */
  int op;         /* row when a constraint fixes it, else 0 */
} un__site;

typedef enum un__ck {
  UN__CK_OP,         /* op of site is a */
  UN__CK_NSRC,       /* it has a sources (b: or more) */
  UN__CK_ATTR,       /* attribute word a is b */
  UN__CK_TYPE,       /* scalar in mask a */
  UN__CK_LANES,      /* un__pat_lanes a */
  UN__CK_SEM,        /* constant has meaning a (b: the op of @ident; @zero: also -0.0) */
  UN__CK_INT,        /* constant equals integer a */
  UN__CK_FLOAT,      /* constant equals f */
  UN__CK_SAME,       /* same node as site2 */
  UN__CK_SAME_CONST, /* same constant value as site2 */
  UN__CK_ATTR_EQ,    /* attribute word a equals word b of site2 */
  UN__CK_INTS_EQ,    /* attribute words from a on equal those from b on of site2 */
  UN__CK_DTYPE_EQ,   /* dtype of site2 */
  UN__CK_SPAN_EQ,    /* sources from a on equal those from b on of site2 */
  UN__CK_SPAN_CONST, /* sources from a on are constants */
  UN__CK_SPAN_TYPE   /* sources from a on have a scalar in mask b */
} un__ck;

typedef struct un__cons {
  un__ck kind;
  int site, site2;
  int64_t a, b;
  double f;
  un__pat_loc loc;
} un__cons;

typedef enum un__cap_kind {
  UN__CAP_NODE,
  UN__CAP_CONST,
  UN__CAP_SPAN,
  UN__CAP_WORD,
  UN__CAP_INTS,
  UN__CAP_DTYPE
} un__cap_kind;

typedef struct un__cap {
  const char *name;
  un__cap_kind kind;
  int site;
  uint32_t index;  /* SPAN: first source; WORD, INTS: first word */
  un__pat_ak attr; /* WORD: its attribute's kind */
  un__pat_loc loc;
  bool hidden; /* made by patgen: not an argument of C blocks */
} un__cap;

typedef struct un__pat_pin {
  const char *cap;
  un__ex *expr;
} un__pat_pin;

typedef struct un__variant {
  un__rule *rule;
  UN__VEC(int) loop_ops; /* op of each of the rule's loops */
  UN__VEC(int) shape;    /* digits of the choices that are not operand orders */
  UN__VEC(un__site) sites;
  UN__VEC(un__cons) cons;
  UN__VEC(un__cap) caps;
  UN__VEC(un__pat_pin) pins;
} un__variant;

typedef struct un__variants {
  UN__VEC(un__variant *) list;
} un__variants;

/* Lowers a rule, reporting arity, bad-attr, not-commutative and blow-up errors. */
void un__pat_lower(un__pat *p, un__rule *r, un__variants *out);
static inline int un__variant_root_op(const un__variant *v) { return v->sites.n ? v->sites.at[0].op : 0; }
const un__cap *un__variant_cap(const un__variant *v, const char *name);
/* Op of loop variable `name`, or 0. */
int un__variant_loop_op(const un__variant *v, const char *name);

#endif
