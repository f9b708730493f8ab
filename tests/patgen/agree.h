/* agree.h - the two matchers that agree.c compares, and the hooks both are compiled with. */
#ifndef UN_TESTS_AGREE_H
#define UN_TESTS_AGREE_H

#include "rewrite/match.h"

struct un__rw_state {
  uint32_t fired;
}; /* the rule that fired, counted from 1; 0: none */

bool agree_enabled(const un__rw *rw, uint32_t rule);
const un_uop *agree_fire(un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to);

extern const un__ruleset agree_tree, agree_linear;

#endif
