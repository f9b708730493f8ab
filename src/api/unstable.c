/* unstable.c - the calls of unir/unstable.h. */
#define UN_USE_UNSTABLE
#include "api.h"

#include <unir/unstable.h>

const un_uop *un_node(const un_tensor *t) { return t ? t->node : NULL; }

const char *un_origin(const un_tensor *t, int *out_line) {
  if (out_line) *out_line = t ? t->line : 0;
  return t ? t->file : NULL;
}

un_status un_audit(un_ctx *cx) {
  un__call c;
  if (!un__api_open_cx(&c, "audit", cx)) return UN_ERR_INVALID_ARG;
  un__world_audit(cx->world, &cx->err);
  return un__api_close_status(&c);
}
