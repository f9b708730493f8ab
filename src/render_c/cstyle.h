/* cstyle.h - a linear kernel in a language like C: what C and CUDA C share, driven by a table that says how they differ.
 *
 * Every node of the list becomes a statement, v<its place in the list>; a vector becomes one scalar a lane, v<place>_<lane>.
 * Signed arithmetic that might overflow is done on unsigned numbers, and no operation is written whose result the language
 * leaves open: the conditions are part of the expression. The dtypes' own names (i32, f32 ...) are what types are called. */
#ifndef UN_RENDER_C_CSTYLE_H
#define UN_RENDER_C_CSTYLE_H

#include "base/ptrmap.h"
#include "base/strbuf.h"
#include "uop/uop.h"

/* What a language calls functions for: SQRT..MIN of f32 and f64, and the conversions between floats and bits. */
typedef enum un__c_function {
  UN__C_SQRT_F32, UN__C_SQRT_F64, UN__C_TRUNC_F32, UN__C_TRUNC_F64, UN__C_FLOOR_F32, UN__C_FLOOR_F64, UN__C_FMA_F32, UN__C_FMA_F64,
  UN__C_MAX_F32, UN__C_MAX_F64, UN__C_MIN_F32, UN__C_MIN_F64,       /* NaN if either is; NULL: comparisons do it */
  UN__C_EXP_F32, UN__C_EXP2_F32, UN__C_LOG_F32, UN__C_LOG2_F32, UN__C_TANH_F32,     /* NULL: lowering leaves none */
  UN__C_EXP2_NEAR_F32, UN__C_TANH_NEAR_F32,
  UN__C_F32_OF_BITS, UN__C_F64_OF_BITS, UN__C_BITS_OF_F32, UN__C_BITS_OF_F64,
  UN__C_F32_OF_F16, UN__C_F16_OF_F32, UN__C_BF16_OF_F32,
  UN__C_FUNCTIONS
} un__c_function;

typedef struct un__cstyle un__cstyle;

/* A scalar that was computed, or a pointer: <prefix><number>, with _<lane> when lane >= 0; or a constant. */
typedef struct un__c_ref {
  const un_uop *constant;
  uint32_t number;
  int32_t lane;
  char prefix;                         /* v value, t value without a node, p argument, r registers, s shared */
} un__c_ref;

enum { UN__C_LANES = 64 };             /* the most lanes of a vector (docs/stages.md) */

typedef struct un__c_dialect {
  const char *name;                    /* in messages */
  /* Name NULL: the language has no such function. The definition is written where the name is used; NULL: built in. */
  struct { const char *name, *definition; } function[UN__C_FUNCTIONS];
  const char *loop;                    /* a line before each loop; "" */
  const char *short_loop;              /* before one of a few rounds that holds no other; "" */
  bool turns;                          /* products are listed there and back (cstyle_alu.c) */
  const char *barrier;                 /* the statement; "" where threads do not share */
  const char *special[UN__AXIS_COUNT]; /* the number of a task, block or thread; NULL: there is none */
  /* Memory that the threads of a group share, declared; false: no form. */
  bool (*local)(un__cstyle *r, const un_uop *define);
  /* Ops that the other languages do not have. NULL or false: no form. */
  bool (*own)(un__cstyle *r, const un_uop *n);
  /* A whole vector, all lanes of it wanted; NULL or false: element by element. */
  bool (*load)(un__cstyle *r, const un_uop *load);
  bool (*store)(un__cstyle *r, const un_uop *store);
  /* The first operand of an elementwise node in the form that is to be written, of the node's own type or what it promotes to.
   * NULL: as it is. */
  un__c_ref (*operand)(un__cstyle *r, const un_uop *n, un__c_ref first);
} un__c_dialect;

struct un__cstyle {
  const un__c_dialect *dialect;
  un__strbuf body;
  un__ptrmap places;                   /* node -> place of its first lane in refs */
  UN__VEC(un__c_ref) refs;
  UN__VEC(const un_uop *) params;      /* by slot; NULL where the kernel does not use it */
  UN__VEC(bool) written;               /* by slot */
  uint64_t functions;                  /* bits of un__c_function: used */
  const un_uop *list;
  uint32_t at;                         /* place in the list of the node that is written now */
  uint32_t depth, ntemps, nvars;
  const un_uop *factor;                /* the vector that the last products are of, */
  bool back;                           /* .. from its last lane on */
  un__err *err;
};

/* The statements of a list, in r->body; the dialect writes what is around them. Finish r also on failure. */
un_status un__cstyle_render(un__cstyle *r, const un__c_dialect *dialect, const un_uop *linear, un__err *err);
void un__cstyle_finish(un__cstyle *r);
/* The dtypes' names, but for bool, which C has no type of its own for. */
void un__cstyle_put_types(un__strbuf *out);
/* The definitions of the functions that were used, in the order of the enum. */
void un__cstyle_put_functions(const un__cstyle *r, un__strbuf *out);

/* ---- for dialects, and between the files of this folder ---- */

/* What a dtype is called as a value and in memory (a bool is one byte there). */
const char *un__c_type(un__dtype d);
const char *un__c_memory_type(un__dtype d);
/* Gives n a name of its own for each lane. */
bool un__c_define(un__cstyle *r, const un_uop *n, char prefix, uint32_t number);
/* Makes n the same as `count` refs that are there. */
bool un__c_bind(un__cstyle *r, const un_uop *n, const un__c_ref *refs, uint32_t count);
un__c_ref un__c_lane(un__cstyle *r, const un_uop *n, uint32_t lane);
un__c_ref un__c_temp(un__cstyle *r);
/* Starts a line at the depth of the open blocks. */
void un__c_line(un__cstyle *r);
/* Appends a formatted line's pieces: %T type of the next dtype argument, %M its memory type, %R a ref, %d int64, %s text,
 * %f a un__c_function's name. */
void un__c_emit(un__cstyle *r, const char *fmt, ...);
void un__c_put_ref(un__cstyle *r, un__c_ref ref);
void un__c_put_const(un__cstyle *r, un__dtype d, uint64_t bits);
/* "const T <ref> = ", a line that a value follows. */
void un__c_begin(un__cstyle *r, un__dtype d, un__c_ref ref);
/* The gate of an INDEX, or NULL; a gate in one lane of an access, which may have one for all. */
const un_uop *un__c_gate_of(const un_uop *index);
un__c_ref un__c_gate_lane(un__cstyle *r, const un_uop *gate, uint32_t lane);
/* "(p + i)": the address of an INDEX. */
void un__c_put_address(un__cstyle *r, const un_uop *index);

/* Arithmetic, conversions and vectors (cstyle_alu.c). False: the op has no form here. */
bool un__c_alu(un__cstyle *r, const un_uop *n);

#endif
