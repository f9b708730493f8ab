/* program.h - a kernel made ready for interpretation: a flat list of steps over numbered slots.
 *
 * Two front ends write it: linear.c from a LINEAR list as it stands, nest.c from a kernel's loop nest. run.c executes
 * it. A program refers to no node, so it outlives the graph; steps keep the position of their node for messages.
 *
 * A slot holds one scalar; a vector has one slot a lane. Memory is numbered too: arguments hold storage bytes, LOCAL
 * and REG memory holds values, each of which knows whether it was ever written.
 *
 * The threads of a block (one, where there is no SPECIAL of axis local) take each step together, those that a branch or the
 * length of a loop leaves out excepted. Every thread has slots and REG memory of its own.
 */
#ifndef UN_INTERP_PROGRAM_H
#define UN_INTERP_PROGRAM_H

#include "base/vec.h"
#include "order.h"
#include "uop/eval.h"

typedef enum un__istep_kind {
  UN__ISTEP_ALU,        /* dst = apply(operands), lane by lane */
  UN__ISTEP_VALID,      /* dst = operand 0 if operand 1, else the invalid index */
  UN__ISTEP_GATHER,     /* lane i of dst = operand i: VECTORIZE, GEP and copies */
  UN__ISTEP_HREDUCE,    /* dst = the lanes of operand 0 combined by apply, halving; all its slots are used */
  UN__ISTEP_LOAD,       /* operands: index, gate (optional) */
  UN__ISTEP_STORE,      /* operands: value, index, gate (optional) */
  UN__ISTEP_FRESH,      /* makes memory `mem` new; operand: its number of elements */
  UN__ISTEP_LOOP,       /* dst = 0; operand: size; goes to target when there is no round */
  UN__ISTEP_NEXT,       /* dst + 1; operand: size; goes to target while rounds are left */
  UN__ISTEP_IF,         /* operand: condition; goes to target, behind the JOIN, when it is false for all threads */
  UN__ISTEP_JOIN,       /* the end of what only the threads do for which the condition holds */
  UN__ISTEP_BARRIER,    /* all threads of the block are here */
  UN__ISTEP_SHUFFLE,    /* dst = operand 0 of the thread whose number differs by `mask` */
  UN__ISTEP_WMMA,       /* dst = the thread's part of its warp's product; operands: a, b, c */
  UN__ISTEP_LDMATRIX,   /* dst = the thread's part of the rows that threads of its warp give; operand: index */
  UN__ISTEP_SLOT,       /* dst = where a part begins: (operand 0 + offset) mod parts * elements of a part */
  UN__ISTEP_COPY,       /* begins a copy; operands: index, gate (optional) of `from`, then of `mem` */
  UN__ISTEP_COMMIT,     /* ends a group of copies */
  UN__ISTEP_WAIT,       /* until at most `mask` groups are under way */
  UN__ISTEP_KINDS
} un__istep_kind;

typedef struct un__ioperand { uint32_t slot, stride; } un__ioperand;   /* stride 0: one scalar for every lane */

typedef struct un__istep {
  uint8_t kind, op, apply;     /* op: of the node, for messages */
  uint8_t is_index;            /* ALU with result dtype index: an invalid operand makes the result invalid */
  uint16_t lanes;
  un__dtype dtype;             /* scalar dtype of dst, of what is loaded or stored */
  un__dtype operand_dtype;     /* WMMA: of a */
  uint32_t dst, src, nsrc;     /* operands are operand[src .. src + nsrc) */
  uint32_t target, mem, node;
  uint32_t part;               /* accesses: slot of what is added to the index; slot 0 holds 0 */
  struct { uint32_t mem, part, nsrc; } from; /* COPY */
  struct { int64_t offset, parts, size; } slot; /* SLOT */
  uint32_t mask;               /* WAIT: how many; SHUFFLE; LDMATRIX: whether it transposes */
  bool in_body;                /* ALU of the body of a reduction of several values */
  bool of_result;              /* LOOP and NEXT of a range that is no reduction's */
} un__istep;

typedef struct un__imem {
  un__space space;
  un__dtype dtype;             /* scalar */
  uint32_t lanes;              /* of one element */
  uint32_t arg;                /* GLOBAL: which argument */
  int64_t declared;            /* GLOBAL: number of elements where the PARAM says a constant, else -1 */
} un__imem;

typedef struct un__iprog {
  UN__VEC(un__istep) step;
  UN__VEC(un__ioperand) operand;
  UN__VEC(un__value) slot;     /* as they are at the start: constants in place */
  UN__VEC(un__imem) mem;
  UN__VEC(uint32_t) var_slot;  /* of VAR i, numbered in the order of the toposort */
  UN__VEC(uint32_t) task_slot; /* slots that hold the task's number: of a CPU's task, of a GPU's block */
  UN__VEC(uint32_t) thread_slot; /* slots that hold the number of the thread in its block */
  uint32_t threads;            /* of a block */
} un__iprog;

/* From a SINK (or END, STORE) at stage kernel or a LINEAR at stage linear. */
un_status un__iprog_create(const un_uop *kernel, un__iprog **out, un__err *err);
void un__iprog_destroy(un__iprog *p);

/* Runs one task, which is a block on a GPU. `args` are storage, `sizes` their elements. `races` (may be NULL) looks for races
 * among the threads of this block, and with those of the blocks that ran before with it. Reads the program only: many threads
 * may run it. */
typedef struct un__iraces un__iraces;
un_status un__iprog_run(const un__iprog *p, void *const *args, const int64_t *sizes, uint32_t nargs,
                        const int64_t *vars, uint32_t nvars, int64_t task, un__iraces *races, un__err *err);

/* Runs a program of one thread for somebody who looks on (look.h): results are handed to him, not stored, and he says which round of
 * a result's loop is the only one. */
typedef struct un__ilook un__ilook;
un_status un__iprog_look(const un__iprog *p, void *const *args, const int64_t *sizes, uint32_t nargs, un__ilook *look, un__err *err);

/* No index at all: what VALID gives where its condition fails, INVALID always. Index arithmetic keeps it. The extreme
 * stands for minus infinity in bounds, so it is no index of anything. */
#define UN__INVALID_INDEX INT64_MIN

/* ---- for the two front ends ---- */

enum { UN__NO_SLOT = UINT32_MAX, UN__IMAX_THREADS = 4096 };

typedef struct un__ibuild {
  un__iprog *prog;
  un__err *err;
  un__iorder order;
  uint32_t *slot;          /* by position: first slot of the value, or the number of the memory of a pointer */
  uint32_t zero;           /* a slot with index 0, for pointers used without INDEX */
} un__ibuild;

un_status un__ilinear(un__ibuild *b, const un_uop *linear);
un_status un__inest(un__ibuild *b, const un_uop *kernel);

/* The step or steps of a node that is not a loop, a branch or a REDUCE. Its sources must have been built. */
un_status un__ibuild_node(un__ibuild *b, uint32_t pos);
/* A REDUCE, simple or of a tuple (reduce.c): its accumulators begin as the identities, before the loop; one element is
 * combined into them, in the loop. */
un_status un__ibuild_reduce_start(un__ibuild *b, uint32_t pos);
un_status un__ibuild_reduce_step(un__ibuild *b, uint32_t pos);
/* Room for a value; UN__NO_SLOT when memory is short (recorded). */
uint32_t un__ibuild_slots(un__ibuild *b, un__value first, uint32_t lanes);
un_status un__ibuild_step(un__ibuild *b, un__istep step, const un__ioperand *operands);
/* The value of a node that was built, as an operand of a step of `lanes` lanes. */
un_status un__ibuild_operand(un__ibuild *b, const un_uop *n, uint32_t lanes, un__ioperand *out);
un_status un__ibuild_fault(un__ibuild *b, uint32_t pos, const char *what);

#endif
