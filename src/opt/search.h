/* search.h - the measured search for a plan: a beam over legal plans, from the heuristics' plan and from none.
 *
 * opt knows no device: candidates are compiled, timed and checked by a judge. What is tried, and in which order, depends on the
 * kernel and on the times that the judge gives, on nothing else. */
#ifndef UN_OPT_SEARCH_H
#define UN_OPT_SEARCH_H

#include "opt.h"

typedef struct un__opt_candidate { un__opt_plan plan; const un_uop *kernel; } un__opt_candidate;

typedef struct un__opt_judge {
  void *data;
  /* Seconds of each; INFINITY for what cannot be compiled or run. Fails only where the search is to end, e.g. without memory. */
  un_status (*time)(void *data, const un__opt_candidate *c, uint32_t n, double *out_seconds);
  /* Whether candidate i of the last call to time() gives the results that it must. */
  bool (*is_right)(void *data, uint32_t i);
  /* Whether no more time should be spent; NULL: only the number of candidates limits the search. */
  bool (*is_late)(void *data);
} un__opt_judge;

typedef struct un__opt_search_options {
  uint32_t width;          /* plans that are kept at each level, at least 1 */
  uint32_t candidates;     /* how many are judged at most, the heuristics' and the empty plan not counted */
} un__opt_search_options;

typedef struct un__opt_found {
  un__opt_plan plan;       /* the heuristics' unless another one is clearly faster, and right */
  double seconds, heuristic_seconds;
  uint32_t candidates;
} un__opt_found;

/* UN_ERR_UNSUPPORTED when there is nothing to search: the kernel cannot be described, or the heuristics' own kernel cannot be run or
 * is not right. */
un_status un__opt_search(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences,
                         const un__opt_search_options *options, const un__opt_judge *judge, un__opt_found *out, un__err *err);

#endif
