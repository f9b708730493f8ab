#include "memory.h"

const un_uop *un__fn_in_place(un__rw *rw, const un_uop *leaf) {
  const un__rf_memory *m = rw->ctx;
  int64_t number = un__attr(leaf, 0);
  return number < m->nest->nuse ? m->nest->use[number].in_place : NULL;
}

const un_uop *un__rf_param(un__graph *g, const un_uop *buffer) {
  const un_uop *n = un__shape_numel(g, buffer->shape);
  return un__uop(g, UN__OP_PARAM, un__dt_ptr(un__dt_scalar(buffer->dtype), UN__SPACE_GLOBAL), &n, 1,
                 (int64_t[]){un__attr(buffer, 0)}, 1);
}

const un_uop *un__fn_element(un__rw *rw, const un_uop *leaf, un__span i) {
  un__graph *g = rw->g;
  const un_uop *bare[UN__MAX_RANK];
  if (i.n != leaf->shape->rank) return NULL;
  const un_uop *valid = un__rf_split_valid(g, i.at, i.n, bare);
  const un_uop *src[] = {un__rf_param(g, leaf), un__rf_flat(g, leaf->shape, bare), valid};
  const un_uop *at = src[0] ? un__uop(g, UN__OP_INDEX, src[0]->dtype, src, valid ? 3 : 2, NULL, 0) : NULL;
  return un__uop(g, UN__OP_LOAD, leaf->dtype, &at, 1, NULL, 0);
}
