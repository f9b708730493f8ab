/* linearize.h - from the accumulator form of a kernel to its list of instructions. */
#ifndef UN_CODEGEN_LINEARIZE_H
#define UN_CODEGEN_LINEARIZE_H

#include "uop/graph.h"

/* `kernel` is a SINK whose ENDs close one RANGE each. Returns the LINEAR; NULL on failure. */
const un_uop *un__linearize(un__graph *ws, const un_uop *kernel);

#endif
