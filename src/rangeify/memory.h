/* memory.h - what the ruleset `memory` sees of C. Its context is a un__rf_memory. */
#ifndef UN_RANGEIFY_MEMORY_H
#define UN_RANGEIFY_MEMORY_H

#include "nest.h"

typedef struct un__rf_memory { const un__rf_nest *nest; } un__rf_memory;

/* What an element of a leaf is when the leaf is computed in place; NULL: it is not. */
const un_uop *un__fn_in_place(un__rw *rw, const un_uop *leaf);
/* The LOAD of an element: the leaf's number is the PARAM's slot. */
const un_uop *un__fn_element(un__rw *rw, const un_uop *leaf, un__span i);

/* PARAM of a BUFFER, with the BUFFER's number as slot. */
const un_uop *un__rf_param(un__graph *g, const un_uop *buffer);

#endif
