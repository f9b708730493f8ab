/* lower.h - what the lowering rules (gates, index, narrow) ask of C. Private to codegen. The context of these rulesets
 * is the target: un__rw.ctx is a const un__target *; without one they assume the interpreter's. */
#ifndef UN_CODEGEN_LOWER_H
#define UN_CODEGEN_LOWER_H

#include "rewrite/rewrite.h"
#include "target/target.h"

static inline const un__target *un__target_of(const un__rw *rw) { return rw->ctx ? rw->ctx : un__target_interp(); }

/* The same, where rules ask for what a GPU has. */
typedef un__target un__gpu_target;

/* ---- narrow.pat ---- */

bool un__pred_emulated(un__rw *rw, const un_uop *x);
bool un__pred_soft_f16(un__rw *rw, const un_uop *x);
bool un__pred_soft_bf16(un__rw *rw, const un_uop *x);

/* ---- decompose.pat ---- */

bool un__pred_own_function(un__rw *rw, const un_uop *x);

/* ---- gates.pat ---- */

bool un__pred_always_inside(un__rw *rw, const un_uop *access);
bool un__pred_alike(un__rw *rw, const un_uop *gate);
const un_uop *un__fn_gate_lanes(un__rw *rw, const un_uop *gate, const un_uop *access);
const un_uop *un__fn_in_every_lane(un__rw *rw, const un_uop *c, const un_uop *vector);

/* ---- index.pat ---- */

bool un__fn_width(un__rw *rw, const un_uop *n, int64_t *out);
const un_uop *un__fn_as_int(un__rw *rw, const un_uop *x, int64_t bits);
const un_uop *un__fn_as_lanes(un__rw *rw, const un_uop *vector, int64_t bits);
const un_uop *un__fn_as_value(un__rw *rw, const un_uop *x, un__dtype d);

/* The end of index lowering: RANGE, SPECIAL, VAR and sizes get their width. UN_ERR_UNSUPPORTED (NULL) when an index is
 * left whose width has no proof. */
const un_uop *un__index_leaves(un__graph *ws, const un_uop *kernel, const un__target *t);

#endif
