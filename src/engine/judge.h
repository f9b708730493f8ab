/* judge.h - who judges the candidates of a search on a device: compiles them on several threads, times them one after the other, and
 * compares what they give with what the heuristics' kernel gives and with what the interpreter says.
 *
 * A result is right where the interpreter's samples (interp.h) are met within their bounds, and where every element is as far from that of the
 * heuristics' kernel as two such kernels may be: twice the largest bound among the samples of its argument, nothing where that is 0 or
 * not known. */
#ifndef UN_ENGINE_JUDGE_H
#define UN_ENGINE_JUDGE_H

#include "engine_parts.h"
#include "interp/interp.h"
#include "opt/search.h"
#include "trial.h"

/* Of one kernel. */
enum { UN__SEARCH_CANDIDATES = 64, UN__SEARCH_SECONDS = 60 };     /* candidates: for each plan of the beam's width */

typedef struct un__judge {
  un__device *device;
  const un_uop *body;
  uint32_t licences;
  un__trial trial;
  double operations;             /* of the body; 0: not known */
  double deadline, best;         /* seconds: by the clock; of the fastest so far */
  struct judged *judged;         /* the candidates of the last call to time() */
  uint32_t n;
  un__isamples samples;
  double *slack;                 /* by argument: how far its elements may be from `want` */
  char *want, *have;             /* results of the heuristics' kernel, NULL until it has run; of the one that is looked at */
} un__judge;

/* Out is to be finished in any case. UN_ERR_UNSUPPORTED with the reason: candidates cannot be judged. */
un_status un__judge_init(un__judge *out, un__device *d, const un_uop *body, uint32_t licences, un__err *err);
void un__judge_finish(un__judge *j);
/* The search must ask for the heuristics' kernel first: what it gives is what others are compared with. */
un__opt_judge un__judge_callbacks(un__judge *j);

#endif
