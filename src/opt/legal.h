/* legal.h - legality of a step on a kernel that is already described. */
#ifndef UN_OPT_LEGAL_H
#define UN_OPT_LEGAL_H

#include "kernel.h"

/* In place of a reason: memory was too short to find out. Compared by address. */
extern const char un__opt_nomem[];
/* The reason against a step; NULL when it is legal. */
const char *un__opt_illegal(const un__opt_kernel *k, const un__opt_step *s, const un__target *t, uint32_t licences);
/* Records the reason, or the lack of memory. */
void un__opt_refuse(const un__opt_step *s, const char *why, un__err *err);

#endif
