/* contexts.c - the contexts that rulesets name (`ctx T`), as tests need them. */
#include "rewrite/match_test.h"

bool un__mt_context(un__rw *rw, const char *ctx, const un_uop *left) {
  rw->ctx = NULL; /* un__target: the interpreter's */
  return !strcmp(ctx, "un__target") || !strcmp(ctx, "sample_ctx");
}
