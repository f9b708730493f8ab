/* codegen.h - from an optimised kernel to a linear list of machine-level operations. */
#ifndef UN_CODEGEN_CODEGEN_H
#define UN_CODEGEN_CODEGEN_H

#include "rewrite/rewrite.h"
#include "target/target.h"

/* `kernel` is a SINK at stage kernel, optimised. Returns a LINEAR at stage linear (docs/stages.md); NULL on failure. */
const un_uop *un__lower(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences);

/* The steps of un__lower, in order, by name. Each takes what the one before gave. */
typedef struct un__codegen_pass {
  const char *name;
  const un_uop *(*fn)(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences);
  const char *doc;
} un__codegen_pass;
extern const un__codegen_pass un__codegen_passes[];
extern const size_t un__codegen_npasses;

/* Facts about a linear kernel that the engine needs for its artifact. nvars counts the VARs in order of listing. tasks is
 * the size of the grid, the product of the SPECIALs' sizes but LOCAL ones; group is that of the LOCAL ones, the threads of a
 * block; -1 where it is not a known number. local_bytes: all DEFINE_LOCALs, each begun at a multiple of UN__LOCAL_ALIGN. */
typedef struct un__linear_facts { uint32_t nargs, nvars; int64_t tasks, group, local_bytes; } un__linear_facts;
un__linear_facts un__linear_facts_of(const un_uop *linear);

#endif
