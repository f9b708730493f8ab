/* bundle.h - kernels with several results: jobs over the same loops that read the same tensor become one, and jobs that
 * use each other's results element by element. */
#ifndef UN_RANGEIFY_BUNDLE_H
#define UN_RANGEIFY_BUNDLE_H

#include "finish.h"
#include "fuse.h"

typedef struct un__rf_bundle {
  uint32_t n, job[UN__RF_MAX_STORES];   /* in order of dependence (position) */
  uint32_t *map[UN__RF_MAX_STORES];     /* leaf number of the member -> of the bundle */
  un__rf_positions leaves;
  uint32_t level, next;                 /* next: an earlier bundle of the same level, or UN__RF_NONE */
} un__rf_bundle;

typedef UN__VEC(un__rf_bundle) un__rf_bundles;

/* Bundles in order of dependence. */
un_status un__rf_bundle_all(un__rf_builder *b, const un__rf_plan *p, const un__rf_jobs *jobs, un__rf_bundles *out);
void un__rf_bundles_finish(un__rf_bundles *all);

#endif
