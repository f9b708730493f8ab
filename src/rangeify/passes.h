/* passes.h - the passes that patgen makes of mops.pat, online.pat and rangeify.pat. */
#ifndef UN_RANGEIFY_PASSES_H
#define UN_RANGEIFY_PASSES_H

#include "rewrite/rewrite.h"

extern const un__pass un__pass_tensor_form, un__pass_tensor_valid, un__pass_push_index, un__pass_rangeify_clean,
  un__pass_stages_in_place, un__pass_push_memory, un__pass_rangeify_one_pass, un__pass_rangeify_online;

#endif
