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
  if (!cx) return UN_ERR_INVALID_ARG;
  un__err err = {0};
  if (un__world_audit(cx->world, &err)) return UN_OK;
  un__err_copy(&cx->err, &err);
  return err.status;
}
