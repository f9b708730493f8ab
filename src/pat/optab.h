/* optab.h - ops.def, dtypes.def and axis.def as patgen sees them: it is built before the uop library. */
#ifndef UN_PAT_OPTAB_H
#define UN_PAT_OPTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum un__pat_dr {
  UN__PDR_GIVEN,
  UN__PDR_FIRST,
  UN__PDR_SECOND,
  UN__PDR_TRUTH,
  UN__PDR_VOID,
  UN__PDR_INDEX
} un__pat_dr;
typedef enum un__pat_ak {
  UN__PAK_NONE,
  UN__PAK_INT,
  UN__PAK_CONST,
  UN__PAK_AXIS,
  UN__PAK_OP,
  UN__PAK_NAME,
  UN__PAK_INTS
} un__pat_ak;
enum { UN__PF_COMM = 1, UN__PF_ASSOC = 2, UN__PF_CMP = 4, UN__PF_ELEM = 8, UN__PF_VIEW = 16, UN__PF_EVAL = 32 };

/* The rows of ops.def, in its order, from 1: the numbers of un__op. */
typedef enum un__pat_op {
  UN__POP_NONE,
#define OP(ID, ...) UN__POP_##ID,
#include "uop/ops.def"
#undef OP
  UN__POP_COUNT
} un__pat_op;

typedef enum un__pat_scalar {
#define DTYPE(ID, ...) UN__PDT_##ID,
#include "uop/dtypes.def"
#undef DTYPE
  UN__PDT_COUNT
} un__pat_scalar;

typedef enum un__pat_axis {
#define AXIS(ID, ...) UN__PAXIS_##ID,
#include "uop/axis.def"
#undef AXIS
  UN__PAXIS_COUNT
} un__pat_axis;

typedef struct un__oprow {
  const char *name;
  uint32_t min, max; /* UINT32_MAX: no bound */
  un__pat_dr dtype;
  const char *operands;
  uint32_t flags;
  struct {
    const char *name;
    un__pat_ak kind;
  } attr[3]; /* up to the first of kind NONE */
} un__oprow;

extern const un__oprow un__optab[UN__POP_COUNT];
extern const char *const un__pat_dtype_id[UN__PDT_COUNT];   /* "I32" */
extern const char *const un__pat_dtype_text[UN__PDT_COUNT]; /* "i32" */

extern const char *const un__pat_axis_id[UN__PAXIS_COUNT];  /* "LOOP" */

int un__optab_find(const char *name);            /* -1: no such op */
int un__optab_axis(const char *name);            /* -1: no such axis type */
int un__optab_dtype(const char *text);           /* -1 */
uint32_t un__optab_class(const char *name);      /* scalars of int, sint, uint, float, ...; 0: no such class */
uint32_t un__optab_letters(const char *letters); /* scalars an operand column allows (pointer bit included) */
uint32_t un__optab_nattr(const un__oprow *op);
/* Index in the attribute words of attribute i (NAME takes two). */
uint32_t un__optab_attr_word(const un__oprow *op, uint32_t i);
/* Which attribute is called `name`; -1: none. */
int un__optab_attr_by_name(const un__oprow *op, const char *name);

/* @zero and its kin. */
typedef enum un__sem {
  UN__SEM_ZERO,
  UN__SEM_ONE,
  UN__SEM_MINUS_ONE,
  UN__SEM_TRUE,
  UN__SEM_FALSE,
  UN__SEM_MIN,
  UN__SEM_MAX,
  UN__SEM_INF,
  UN__SEM_NAN,
  UN__SEM_INVALID,
  UN__SEM_IDENT,
  UN__SEM_COUNT
} un__sem;
extern const char *const un__sem_text[UN__SEM_COUNT]; /* "zero" */
extern const char *const un__sem_id[UN__SEM_COUNT];   /* "ZERO" */
int un__sem_find(const char *name);

#endif
