/* torture.h - what a scenario of the torture test is (torture.c runs them). */
#ifndef UN_TESTS_TORTURE_H
#define UN_TESTS_TORTURE_H

#include <unir/unir.h>

/* One trial: the scenario runs with a failing allocation, then again without, in the same context. */
typedef struct trial {
  un_ctx *cx;           /* of scenarios with a device: opened before anything fails */
  uint64_t seen;        /* digest of all that the run produced: results, texts, messages of expected errors */
} trial;

typedef struct scenario {
  const char *name;
  const char *device;   /* of the context; NULL: the scenario has none */
  un_status (*run)(trial *t);
} scenario;

/* Folds what was produced into the digest. */
void see(trial *t, const void *bytes, size_t n);
void see_text(trial *t, const char *text);

extern const scenario graph_scenarios[], context_scenarios[];
extern const size_t graph_nscenarios, context_nscenarios;

#endif
