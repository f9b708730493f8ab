/* pat.h - the rule language: what a .pat file says, as data.
 *
 * un__pat_load reads a file and the files it includes into a un__pat; un__pat_check finds what is wrong with its
 * rules; un__pat_lower turns a rule into variants: straight lists of tests on sites (paths from the matched node),
 * one for each operand order, alternative and loop binding. Emitters (tools/patgen) work on variants.
 *
 * Everything lives in the un__pat's arena. When memory is short `oom` is set, allocation goes on in a reserve so that
 * callers need no checks, and every phase stops early: look at `oom` between phases. Trees are at most
 * UN__PAT_MAX_DEPTH deep, so walks over them may recurse.
 */
#ifndef UN_PAT_PAT_H
#define UN_PAT_PAT_H

#include "base/strbuf.h"
#include "optab.h"

enum {
  UN__PAT_MAX_DEPTH = 64,
  UN__PAT_MAX_BYTES = 4 << 20,
  UN__PAT_MAX_RULES = 2048,
  UN__PAT_MAX_DECLS = 4096,
  UN__PAT_MAX_ARGS = 64,
  UN__PAT_MAX_ERRORS = 100
};

typedef struct un__pat_loc {
  uint32_t file, off, len, line, col;
} un__pat_loc;

/* ---- types ---- */

/* Bits 0.. are scalar dtypes; the last one stands for pointers. */
#define UN__PAT_PTR_BIT 31
#define UN__PAT_PTR ((uint32_t)1 << UN__PAT_PTR_BIT)

typedef enum un__pat_lanes { UN__PAT_LANES_ANY, UN__PAT_LANES_ONE, UN__PAT_LANES_MANY } un__pat_lanes;

typedef struct un__pat_type {
  un__pat_loc loc;
  uint32_t mask; /* allowed scalars; all ones: unconstrained */
  un__pat_lanes lanes;
  bool is_const;       /* must be a constant */
  const char *var;     /* 'T, without the quote; NULL */
  struct un__ex *expr; /* right side only: `: (dtype expression)` */
} un__pat_type;

/* ---- expressions ---- */

typedef enum un__ex_kind {
  UN__EX_INT,
  UN__EX_FLOAT,
  UN__EX_NAME,
  UN__EX_UPPER,
  UN__EX_TYPE,
  UN__EX_TYVAR,
  UN__EX_UNARY,
  UN__EX_BINARY,
  UN__EX_COND,
  UN__EX_CALL,
  UN__EX_OP,
  UN__EX_CONST,
  UN__EX_EVAL,
  UN__EX_SEM,
  UN__EX_SPLICE,
  UN__EX_IN
} un__ex_kind;

typedef struct un__ex un__ex;
typedef UN__VEC(un__ex *) un__ex_list;
struct un__ex {
  un__ex_kind kind;
  un__pat_loc loc;
  const char *name; /* NAME UPPER TYVAR CALL; OP: the loop variable, or NULL */
  int op;           /* OP: row of ops.def; -1: a loop variable; EVAL: likewise */
  int tok;          /* operator of UNARY and BINARY (un__tok) */
  int sem;          /* SEM (un__sem) */
  uint64_t num;
  double fnum;
  bool closed; /* IN: [lo, hi] instead of [lo, hi) */
  un__pat_type *type;
  un__ex_list args;  /* operands */
  un__ex_list attrs; /* OP */
  int tv;            /* type variable, set by un__pat_infer; -1: none */
};

/* ---- patterns ---- */

typedef enum un__pk {
  UN__PK_WILD,
  UN__PK_NAME,
  UN__PK_CONST,
  UN__PK_SEM,
  UN__PK_INT,
  UN__PK_FLOAT,
  UN__PK_PIN,
  UN__PK_OP
} un__pk;
typedef enum un__arg_kind { UN__ARG_ONE, UN__ARG_REST, UN__ARG_SPAN } un__arg_kind;

typedef struct un__pn un__pn;
typedef struct un__parg {
  un__arg_kind kind;
  un__pn *pat;
  un__pat_loc loc;
} un__parg;
typedef struct un__phead {
  int op;
  const char *var;
  un__pat_loc loc;
} un__phead; /* op < 0: loop variable */

struct un__pn {
  un__pk kind;
  un__pat_loc loc;
  const char *bind; /* `m = ...`, or NULL */
  un__pat_loc bind_loc;
  un__pat_type *type;
  const char *name;         /* NAME, CONST */
  int sem;                  /* SEM */
  un__ex *expr;             /* INT, FLOAT, PIN; SEM: operand of @ident */
  UN__VEC(un__phead) heads; /* OP */
  bool optional, any_order;
  bool has_attrs;
  un__ex_list attrs;   /* OP: INT, UPPER, NAME, TYVAR, TYPE; NAME "_": anything */
  un__pat_type *dtype; /* OP: CAST<type> */
  UN__VEC(un__parg) args;
};

/* ---- declarations ---- */

typedef enum un__kind { /* what an expression denotes */
                        UN__K_NONE,
                        UN__K_INT,
                        UN__K_NODE,
                        UN__K_NODES,
                        UN__K_DTYPE,
                        UN__K_INTS,
                        UN__K_OP,
                        UN__K_ATTR /* parameters only: one word or several */
} un__kind;

typedef struct un__param {
  const char *name;
  un__kind kind;
} un__param;

typedef struct un__opset {
  const char *name;
  un__pat_loc loc;
  UN__VEC(int) ops;
} un__opset;

typedef struct un__decl { /* pred or fn */
  const char *name;
  un__pat_loc loc;
  bool is_extern, is_pred;
  UN__VEC(un__param) params;
  un__kind result;
  un__ex *body;
  const char *smt;
  int state;          /* of the search for recursion */
  bool partial;       /* may have no value */
  bool used, written; /* by an emitter */
} un__decl;

#define UN__PAT_NSZ 8u /* UN__LIC_NSZ */

typedef enum un__pat_proof {
  UN__PP_NONE,
  UN__PP_SMT,
  UN__PP_EVAL,
  UN__PP_FUZZ,
  UN__PP_INST,
  UN__PP_TRUSTED
} un__pat_proof;

typedef struct un__loop {
  const char *var;
  const un__opset *set;
  un__pat_loc loc;
} un__loop;

typedef struct un__clause {
  bool is_let;
  const char *name;
  un__pat_loc loc;
  un__ex *expr;
} un__clause;

typedef struct un__ptest {
  un__pat_loc loc;
  uint32_t licences;
  un__ex *lhs, *rhs; /* rhs NULL: nomatch, or, with `fires`, anything */
  bool fires;
} un__ptest;

typedef struct un__ruleset_ast un__ruleset_ast;

typedef struct un__rule {
  const char *name, *doc;
  un__pat_loc loc;
  un__ruleset_ast *set;
  uint32_t licences;
  un__pat_proof proof;
  UN__VEC(const char *) overlap_ok;
  const char *order;           /* @order("why"): lowers no measure, and ends all the same */
  UN__VEC(un__loop) loops;
  un__pn *lhs;
  UN__VEC(un__clause) clauses;
  bool may_decline; /* => */
  un__ex *rhs;      /* or */
  const char *c_body;
  un__pat_loc c_loc;
  UN__VEC(un__ptest) tests;
} un__rule;

struct un__ruleset_ast {
  const char *name, *ctx;
  un__pat_loc loc;
  UN__VEC(un__ruleset_ast *) bases;
  UN__VEC(un__rule *) rules; /* own */
  bool main_file;            /* written in the file given, not in an included one */
};

typedef struct un__use {
  const char *name;
  un__pat_loc loc;
  un__ruleset_ast *set;
} un__use;

/* `nodes(A, B)`, or `nodes(*)`: what a stage counts down. */
typedef struct un__measure {
  bool all;
  UN__VEC(int) ops;
  un__pat_loc loc;
} un__measure;

typedef struct un__stage_ast {
  const char *name, *walk; /* "POST" "PRE" "ONCE" */
  un__pat_loc loc;
  UN__VEC(un__use) uses;
  UN__VEC(un__measure) order; /* empty: nothing is claimed, fuel alone bounds it */
  uint64_t fuel;
  bool main_file;
  enum { UN__FIX_UNSAID, UN__FIX_NODE, UN__FIX_NONE } fix;
  un__pat_loc fix_loc;
} un__stage_ast;

typedef struct un__pat_file {
  const char *path, *name, *text;
  size_t len;
} un__pat_file;

/* ---- diagnostics ---- */

typedef enum un__severity { UN__SEV_ERROR, UN__SEV_WARNING } un__severity;
typedef struct un__pat_note {
  un__pat_loc loc;
  const char *text;
} un__pat_note; /* loc.line 0: no place */
typedef struct un__diag {
  un__severity severity;
  const char *code, *text;
  un__pat_loc loc;
  UN__VEC(un__pat_note) notes;
} un__diag;

typedef struct un__pat {
  un__arena arena;
  bool oom;
  _Alignas(16) char reserve[1024];
  UN__VEC(un__pat_file) files;
  UN__VEC(const char *) dirs;   /* -I */
  UN__VEC(const char *) werror; /* codes; "all" */
  UN__VEC(const char *) asked;  /* codes of warnings that are given only when asked for (-Woverlap) */
  UN__VEC(un__diag) diags;
  uint32_t errors;
  uint32_t faults; /* those of them that are no warnings made errors: what follows from them is not worth reporting */
  bool broken; /* a declaration could not be read: what uses it cannot be checked */
  UN__VEC(const char *) c_includes;
  UN__VEC(un__opset *) opsets;
  UN__VEC(un__decl *) decls;
  UN__VEC(un__ruleset_ast *) sets;
  UN__VEC(un__stage_ast *) stages;
} un__pat;

void un__pat_init(un__pat *p);
void un__pat_finish(un__pat *p);

/* Zeroed memory of the arena; the reserve when memory is short (then p->oom is set). */
void *un__pat_alloc(un__pat *p, size_t size);
char *un__pat_textn(un__pat *p, const char *s, size_t n);
char *un__pat_fmt(un__pat *p, const char *fmt, ...) UN__PRINTF(2, 3);
/* Pushes to a vector that lives as long as the un__pat and is freed by un__pat_finish's arena. */
#define un__pat_push(p, v, x)                                                                                          \
  (un__pat_grow((p), (v), (v)->n + 1, sizeof *(v)->at) ? ((v)->at[(v)->n++] = (x), true) : false)
bool un__pat_grow(un__pat *p, void *vec, size_t want, size_t size);

/* Reports; returns the diagnostic to which notes may be added (never NULL). A diagnostic of the same code, place and
 * text is reported once. */
un__diag *un__pat_error(un__pat *p, un__pat_loc loc, const char *code, const char *fmt, ...) UN__PRINTF(4, 5);
un__diag *un__pat_warn(un__pat *p, un__pat_loc loc, const char *code, const char *fmt, ...) UN__PRINTF(4, 5);
void un__pat_note_at(un__pat *p, un__diag *d, un__pat_loc loc, const char *fmt, ...) UN__PRINTF(4, 5);
void un__pat_note_plain(un__pat *p, un__diag *d, const char *fmt, ...) UN__PRINTF(3, 4);
/* Notes the names nearest to `name` among `n` candidates, if any is near. */
void un__pat_suggest(un__pat *p, un__diag *d, const char *name, const char *const *names, size_t n);
/* Is `code` one that -Werror= and -W can name? Was the warning asked for? */
bool un__pat_is_code(const char *code);
bool un__pat_asked(const un__pat *p, const char *code);
/* All diagnostics by file and line, errors counted; -Werror applied when they were reported. */
void un__pat_print_diags(const un__pat *p, un__strbuf *out);
/* The same as a JSON list of {severity, code, text, file, line, column, length, notes}. */
void un__pat_json_diags(const un__pat *p, un__strbuf *out);
void un__pat_json_string(un__strbuf *out, const char *s);
/* The name nearest to `name` among `n` candidates, or NULL when none is near. */
const char *un__pat_nearest(const char *name, const char *const *names, size_t n);

/* ---- phases ---- */

/* Reads `path` and what it includes. False when the file cannot be read (reported as a diagnostic). */
bool un__pat_load(un__pat *p, const char *path);
/* The same for text in memory, as file 0. */
bool un__pat_load_text(un__pat *p, const char *path, const char *text, size_t len);
/* Names, arities, attributes, types, tests, overlap. */
void un__pat_check(un__pat *p);

un__ruleset_ast *un__pat_find_set(const un__pat *p, const char *name);
const un__opset *un__pat_find_opset(const un__pat *p, const char *name);
un__decl *un__pat_find_decl(const un__pat *p, const char *name);
/* Rules of a set, those of its bases first, each once. The array is the arena's. */
un__rule **un__pat_set_rules(un__pat *p, const un__ruleset_ast *s, size_t *out_n);

#endif
