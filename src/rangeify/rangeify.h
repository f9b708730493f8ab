/* rangeify.h - from a tensor graph to kernels with explicit loops. */
#ifndef UN_RANGEIFY_RANGEIFY_H
#define UN_RANGEIFY_RANGEIFY_H

#include "rewrite/rewrite.h"

typedef struct un__rangeify_options {
  uint32_t licences;
  uint32_t threads;               /* parallel tasks of the target; decides when fusing would serialise work */
  uint32_t min_parallel_work;
  bool online;                    /* rescaled reductions (licence `online`) pay: a pass over memory costs more than they do */
  int32_t device;                 /* where what no BUFFER and no COPY places is computed */
  uint32_t parts;                 /* into which a reduction of few points is cut, or nearly so; 0: what suits a CPU */
} un__rangeify_options;

/* `root` is a SINK of tensors at stage tensor, in workspace `ws`. Returns the schedule (stage schedule): a LINEAR of
 * KERNELs. BUFFER slots: inputs keep theirs, result i of the sink gets n_inputs + i, temporaries follow. A sink
 * source that already is a BUFFER yields no kernel and its slot is reported in out_result_slots as it is. A source
 * that appears twice gets one slot. out_result_slots has one entry per sink source. NULL on failure. */
const un_uop *un__rangeify(un__graph *ws, const un_uop *root, int64_t n_inputs, const un__rangeify_options *opt,
                           int64_t *out_result_slots);

#endif
