/* sample_ctx.h - what sample.pat calls by name. */
#ifndef UN_TESTS_SAMPLE_CTX_H
#define UN_TESTS_SAMPLE_CTX_H

#include "rewrite/rewrite.h"

typedef struct sample_ctx {
  bool off;
} sample_ctx;

bool un__pred_indep(un__rw *rw, const un_uop *x, un__span r);
bool un__pred_lossless(un__rw *rw, un__dtype a, un__dtype b);
un__span un__fn_reversed(un__rw *rw, un__span i, un__ints p);
bool un__fn_split_of(un__rw *rw, const un_uop *r, int64_t *out);
const un_uop *un__fn_negated(un__rw *rw, const un_uop *x);

#endif
