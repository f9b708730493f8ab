/* tuned.h - the plan of a kernel that is not the heuristics'. */
#ifndef UN_ENGINE_TUNED_H
#define UN_ENGINE_TUNED_H

#include "engine_parts.h"
#include "tuning.h"

/* True: *out holds a plan that is legal on the body, which un__import numbered, of a tuning record or of a search that was made for it (and leaves a record).
 * False: the heuristics choose. Whatever goes wrong is no plan; log is told. */
bool un__tuned_plan(un__engine *e, un__device *d, const un_uop *body, uint32_t licences, un__opt_found *out, const un__log *log);
/* The record of that body is worth nothing: the plan does not compile. */
void un__tuned_forget(un__engine *e, un__device *d, const un_uop *body, uint32_t licences, const un__log *log);

#endif
