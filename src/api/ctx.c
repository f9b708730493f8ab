/* ctx.c - contexts, errors, scopes, statistics, devices. */
#include "api.h"

#include <string.h>

#include "base/mem.h"

/* ---- create and destroy ---- */

static bool read_options(const un_ctx_options *given, un_ctx_options *out) {
  *out = (un_ctx_options)UN_CTX_OPTIONS_INIT;
  if (!given) return true;
  if (given->struct_size < sizeof given->struct_size || given->struct_size > sizeof *out) return false;
  memcpy(out, given, given->struct_size);
  if (!out->device) out->device = "cpu";
  return out->numerics >= UN_PRECISE && out->numerics <= UN_FAST;
}

static bool push_scope(un_ctx *cx) {
  un__scope *s = un__alloc(sizeof *s);
  if (!s) {
    un__fail(&cx->err, UN_ERR_NOMEM, "no memory for a scope");
    return false;
  }
  un__link_init(&s->handles);
  s->outer = cx->scope;
  cx->scope = s;
  return true;
}

static void free_list(un__link *list) {
  while (list->next != list) un__handle_free((un_tensor *)list->next);
}

static void pop_scope(un_ctx *cx) {
  un__scope *s = cx->scope;
  free_list(&s->handles);
  cx->scope = s->outer;
  un__free(s);
}

static un_status start(un_ctx *cx, const un_ctx_options *opt) {
  static const uint32_t licences[] = {
      [UN_PRECISE] = UN__LIC_PRECISE, [UN_STRICT] = UN__LIC_STRICT, [UN_FAST] = UN__LIC_FAST};
  cx->licences = licences[opt->numerics];
  cx->err.log = (un__log){opt->log, opt->log_data};
  un__rewrite_check_env(un__all_rulesets, &cx->err); /* said in the log; the call goes on */
  un__link_init(&cx->kept);
  un__link_init(&cx->programs);
  if (!push_scope(cx)) return UN_ERR_NOMEM;
  if (!(cx->world = un__world_create())) return UN_ERR_NOMEM;
  if (!(cx->session = un__session_create(cx->world, &cx->err))) return UN_ERR_NOMEM;
  cx->graph = un__session_graph(cx->session);
  UN__TRY(un__engine_create(cx->world, &cx->engine, &cx->err));
  return un__engine_device(cx->engine, opt->device, &cx->device, &cx->err);
}

un_status un_ctx_create(const un_ctx_options *options, un_ctx **out) {
  if (!out) return UN_ERR_INVALID_ARG;
  *out = NULL;
  un_ctx_options opt;
  if (!read_options(options, &opt)) return UN_ERR_INVALID_ARG;
  un_ctx *cx = un__calloc(1, sizeof *cx);
  if (!cx) return UN_ERR_NOMEM;
  un_status status = start(cx, &opt);
  if (status == UN_OK) return *out = cx, UN_OK;
  if (opt.log && cx->err.text[0]) opt.log(opt.log_data, cx->err.text);
  un_ctx_destroy(cx);
  return status;
}

/* Also takes down a context that un_ctx_create could not finish. Nodes go while the engine can still drop their
 * storage. */
void un_ctx_destroy(un_ctx *cx) {
  if (!cx) return;
  if (cx->session) {
    while (cx->programs.next != &cx->programs) un__program_free((un_program *)cx->programs.next);
    free_list(&cx->kept);
    while (cx->scope) pop_scope(cx);
    un__collect(cx->session);
  }
  un__free(cx->scope);
  un__engine_destroy(cx->engine);
  un__session_destroy(cx->session);
  un__world_release(cx->world);
  un__free(cx);
}

/* ---- errors ---- */

un_status un_error_status(const un_ctx *cx) { return cx ? cx->first.status : UN_ERR_INVALID_ARG; }
const char *un_error(const un_ctx *cx) { return cx ? cx->first.text : "the context is NULL"; }

void un_clear_error(un_ctx *cx) {
  if (cx) un__err_clear(&cx->first);
}

/* ---- scopes ---- */

un_status un_scope_push(un_ctx *cx) {
  un__call c;
  if (!un__api_open_cx(&c, "scope_push", cx)) return UN_ERR_INVALID_ARG;
  push_scope(cx);
  return un__api_close_status(&c);
}

un_status un_scope_pop(un_ctx *cx) {
  un__call c;
  if (!un__api_open_cx(&c, "scope_pop", cx)) return UN_ERR_INVALID_ARG;
  if (cx->scope->outer) pop_scope(cx);
  else un__fail(&cx->err, UN_ERR_INVALID_ARG, "scope_pop: no scope was pushed");
  return un__api_close_status(&c);
}

/* ---- statistics ---- */

un_status un_get_stats(un_ctx *cx, un_stats *out) {
  if (!cx || !out || out->struct_size < sizeof out->struct_size || out->struct_size > sizeof *out)
    return UN_ERR_INVALID_ARG;
  un__engine_stats e = un__engine_stats_of(cx->engine);
  un_stats s = {.struct_size = out->struct_size,
                .live_nodes = un__world_live_nodes(cx->world),
                .live_handles = cx->live_handles,
                .kernels_launched = e.kernels_launched,
                .kernels_compiled = e.kernels_compiled,
                .schedule_hits = e.schedule_hits,
                .schedule_misses = e.schedule_misses,
                .bytes_live = e.bytes_live,
                .bytes_peak = e.bytes_peak,
                .kernels_loaded = e.disk_hits};
  memcpy(out, &s, out->struct_size);
  return UN_OK;
}

void un_collect(un_ctx *cx) {
  if (cx) un__collect(cx->session);
}

/* ---- devices ---- */

const char *un_device(const un_ctx *cx) { return cx ? un__engine_device_at(cx->engine, cx->device)->name : NULL; }
const char *un_device_kind(size_t i) { return un__engine_device_kind(i); }

int un_device_count(const char *kind) {
  int n = 0;
  if (kind) un__engine_device_count(kind, &n, NULL);
  return n;
}
