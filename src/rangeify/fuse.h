/* fuse.h - which planned tensors become kernels, and what each kernel computes in place. */
#ifndef UN_RANGEIFY_FUSE_H
#define UN_RANGEIFY_FUSE_H

#include "nest.h"

/* One kernel (or several, when finish.c must split it): stores the tensor at `root`. */
typedef struct un__rf_job {
  uint32_t root;
  bool kept;                    /* a result, or read by several jobs: its storage is needed whoever computes it */
  un__rf_nest *nest;
  un__rf_positions leaves;      /* positions behind the nest's leaf numbers */
} un__rf_job;

typedef UN__VEC(un__rf_job) un__rf_jobs;

/* Jobs in order of dependence, producers last (the order in which they are decided). */
un_status un__rf_fuse(un__rf_builder *b, const un__rf_plan *p, un__rf_jobs *out);
void un__rf_jobs_finish(un__rf_jobs *jobs);

#endif
