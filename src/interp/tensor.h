/* tensor.h - what the files of the tensor-stage interpreter share.
 *
 * Elements are in storage form; index, which is never stored elsewhere, is an int64 here, and the extreme
 * UN__INVALID_INDEX is no index at all.
 */
#ifndef UN_INTERP_TENSOR_H
#define UN_INTERP_TENSOR_H

#include "interp.h"
#include "order.h"
#include "program.h"

typedef struct un__ieval {
  un__iorder order;
  un__err *err;
  const un__itensor *inputs;
  uint32_t ninputs;
  un__itensor *value;        /* by position; data NULL: not computed yet, or freed */
  bool *borrowed;            /* by position: data is an input's */
  double **bound;            /* by position, where bounds are wanted: each element's, NULL for all 0 */
  uint32_t *uses;            /* by position: readers to come; 0 from the start: nobody wants the value */
} un__ieval;

un_status un__ieval_fault(un__ieval *e, uint32_t pos, const char *what);
un_status un__ieval_no_memory(un__ieval *e);

/* The operands whose values `n` reads (dims are read from the graph): how many, and which. */
uint32_t un__ieval_operands(const un_uop *n);
const un_uop *un__ieval_operand_node(const un_uop *n, uint32_t i);
static inline const un__itensor *un__ieval_operand(const un__ieval *e, const un_uop *n, uint32_t i) {
  return &e->value[un__iorder_at(&e->order, un__ieval_operand_node(n, i))];
}

size_t un__itensor_element(un__dtype dt);                 /* bytes; index has 8 */
int64_t un__itensor_count(const un__itensor *t);          /* elements; the shape is known to fit */
un__value un__itensor_load(const un__itensor *t, int64_t i);
void un__itensor_store(un__itensor *t, int64_t i, un__value v);

/* A source read through an affine map: element idx of the result is source[offset + sum idx[d] * stride[d]] where
 * lo[d] <= idx[d] < hi[d] for every d, else 0. Every movement op is one. */
typedef struct un__iview {
  uint32_t rank;
  int64_t dim[UN__MAX_RANK], stride[UN__MAX_RANK], lo[UN__MAX_RANK], hi[UN__MAX_RANK];
  int64_t offset;
} un__iview;

/* The map of a movement op; false: `n` is none that has one (RESHAPE and STACK copy in order). */
bool un__iview_of(const un_uop *n, const un__itensor *out, const un__itensor *src, un__iview *view);
/* Calls back for every element of the result in row-major order; `from` is -1 where it is 0. */
typedef void (*un__iview_fn)(void *data, int64_t to, int64_t from);
void un__iview_walk(const un__iview *v, un__iview_fn fn, void *data);
/* The map from an element of what REDUCE_AXIS reduces to the element of the result it goes into. */
un_status un__ieval_reduce_view(un__ieval *e, uint32_t pos, const un__itensor *in, const un__itensor *out,
                                un__iview *view);
/* Row-major strides of a shape. */
void un__itensor_strides(const un__itensor *t, int64_t stride[UN__MAX_RANK]);

#endif
