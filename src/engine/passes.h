/* passes.h - every pass by name, for `unir opt`: the stages of the pipeline, and each rule pass that needs no context. */
#ifndef UN_ENGINE_PASSES_H
#define UN_ENGINE_PASSES_H

#include "opt/opt.h"

/* plan: what pass opt applies; NULL: what the heuristics choose. */
typedef struct un__pass_env { const un__target *target; uint32_t licences; un__strbuf *why; const un__opt_plan *plan; } un__pass_env;

typedef struct un__named_pass {
  const char *name, *doc;
  un__stage from, to;          /* stage of the graph before and after; 0: any, unchanged */
  const un_uop *(*run)(un__graph *ws, const un_uop *root, const un__pass_env *env);
} un__named_pass;

/* Every name that can be run, a line each. */
void un__list_passes(un__strbuf *out);

/* Runs the pass called `name` (also any rule pass of the built-in tables). NULL on failure: no such pass, a pass that
 * does not take this stage, or the pass's own error. *stage becomes that of the result. */
const un_uop *un__run_named_pass(un__graph *ws, const un_uop *root, un__stage *stage, const char *name,
                                 const un__pass_env *env);

#endif
