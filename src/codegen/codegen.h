/* codegen.h - from an optimised kernel to a linear list of machine-level operations. */
#ifndef UN_CODEGEN_CODEGEN_H
#define UN_CODEGEN_CODEGEN_H

#include "rewrite/rewrite.h"
#include "target/target.h"

/* `kernel` is a SINK at stage kernel, optimised. Returns a LINEAR at stage linear (docs/stages.md); NULL on failure. */
const un_uop *un__lower(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);

/* Facts about a linear kernel that the engine needs for its artifact. */
typedef struct un__linear_facts { uint32_t nargs, nvars; int64_t tasks; } un__linear_facts;
un__linear_facts un__linear_facts_of(const un_uop *linear);

#endif
