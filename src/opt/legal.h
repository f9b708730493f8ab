/* legal.h - legality of a step on a kernel that is already described. */
#ifndef UN_OPT_LEGAL_H
#define UN_OPT_LEGAL_H

#include "kernel.h"

/* The reason against a step; NULL when it is legal. */
const char *un__opt_illegal(const un__opt_kernel *k, const un__opt_step *s, const un__target *t, uint32_t licences);
/* Records the reason. */
void un__opt_refuse(const un__opt_step *s, const char *why, un__err *err);

#endif
