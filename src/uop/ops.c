/* ops.c - ops.def, axis.def and dtypes.def as tables of data. */
#include "eval.h"

#define un__ev_NONE NULL
#define ATTR(name, kind) {#name, UN__AK_##kind}
#define N UN__N
#define T UN__STAGE_TENSOR
#define K UN__STAGE_KERNEL
#define L UN__STAGE_LINEAR
#define S UN__STAGE_SCHEDULE
#define COMM UN__F_COMM
#define ASSOC UN__F_ASSOC
#define CMP UN__F_CMP
#define VIEW UN__F_VIEW
#define BLOCK UN__F_BLOCK
#define MEM UN__F_MEM
#define BODY UN__F_BODY
#define ELEM UN__F_ELEM
/* The attributes are counted by the size of a throw-away array with one element too many. */
#define OP(ID, text, min, max, dtype, shape, operands, eval, flags, stages, doc, ...)                              \
  [UN__OP_##ID] = {#ID, text, min, max, UN__DR_##dtype, UN__SR_##shape, operands, un__ev_##eval, flags, stages, doc, \
                   sizeof((un__attr_spec[]){{0}, __VA_ARGS__}) / sizeof(un__attr_spec) - 1, {__VA_ARGS__}},
const un__op_info un__op_table[UN__OP_COUNT] = {
#include "ops.def"
};
#undef OP

#define AXIS(ID, text, order, letter, special) [UN__AXIS_##ID] = {text, order, letter, special},
const un__axis_info un__axis_table[UN__AXIS_COUNT] = {
#include "axis.def"
};
#undef AXIS

#define DTYPE(ID, text, bytes, cls, mantissa, exponent) [UN_##ID] = {text, bytes, UN__CLASS_##cls, mantissa, exponent},
const un__dtype_info un__dtype_table[UN_DTYPE_COUNT] = {
#include "dtypes.def"
};
#undef DTYPE

/* Op numbers are kept in a byte (un_uop.op, kop). */
_Static_assert(UN__OP_COUNT <= 256, "more ops than a byte can name");
