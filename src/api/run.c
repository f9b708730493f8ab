/* run.c - realise, read, look: the calls that need the engine. */
#include "api.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "uop/eval.h"
#include "uop/text.h"

/* ---- realise ---- */

/* What is left to compute: stored tensors and those without elements are done. */
static bool is_done(const un_tensor *t) { return un__is(t->node, UN__OP_BUFFER) || un_numel(t) == 0; }

static void log_run(un__call *c, size_t n, un__engine_stats before) {
  un__log log = c->cx->err.log;
  if (!log.write) return;
  un__engine_stats now = un__engine_stats_of(c->cx->engine);
  char line[160];
  snprintf(line, sizeof line, "%s: %zu tensors, %" PRIu64 " kernels run, %" PRIu64 " compiled, %" PRIu64 " loaded", c->what, n,
           now.kernels_launched - before.kernels_launched, now.kernels_compiled - before.kernels_compiled,
           now.disk_hits - before.disk_hits);
  log.write(log.data, line);
}

/* What is to be computed, for whom, and as what. */
typedef struct job {
  UN__VEC(const un_uop *) nodes;
  UN__VEC(const un_uop *) results;
  UN__VEC(un_tensor *) handles;
} job;

/* Handles pin the nodes, so the session can be left: other contexts of the world may sweep while this one works. */
static un_status run_once(un_ctx *cx, job *j) {
  un__session_leave(cx->session);
  un_status status = un__engine_realize(cx->engine, cx->session, j->nodes.at, (uint32_t)j->nodes.n, cx->device,
                                        cx->licences, j->results.at, &cx->err);
  un__session_enter(cx->session);
  return status;
}

/* What was dropped may hold the memory that is missing: once more without it. */
static un_status run(un__call *c, job *j) {
  un_ctx *cx = c->cx;
  un__engine_stats before = un__engine_stats_of(cx->engine);
  un_status status = run_once(cx, j);
  if (status == UN_ERR_NOMEM) {
    un__collect(cx->session);
    un__err_clear(&cx->err);
    status = run_once(cx, j);
  }
  if (status != UN_OK) return status;
  log_run(c, j->nodes.n, before);
  for (size_t i = 0; i < j->nodes.n; i++) un__handle_set(j->handles.at[i], j->results.at[i], true);
  return UN_OK;
}

un_status un__api_realize(un__call *c, un_tensor *const *tensors, size_t n) {
  job j = {0};
  un_status status = UN_OK;
  if (n > UINT32_MAX) return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: too many tensors", c->what);
  if (!un__vec_reserve(&j.nodes, n) || !un__vec_reserve(&j.results, n) || !un__vec_reserve(&j.handles, n))
    status = un__fail(&c->cx->err, UN_ERR_NOMEM, "%s: no memory for a list", c->what);
  for (size_t i = 0; status == UN_OK && i < n; i++) {
    if (is_done(tensors[i])) continue;
    j.nodes.at[j.nodes.n++] = tensors[i]->node;
    j.handles.at[j.handles.n++] = tensors[i];
  }
  if (status == UN_OK && j.nodes.n) status = run(c, &j);
  un__vec_finish(&j.nodes);
  un__vec_finish(&j.results);
  un__vec_finish(&j.handles);
  return status;
}

un_status un_realize(un_ctx *cx, size_t n, un_tensor *const *tensors) {
  un__call c;
  if (!un__api_open_cx(&c, "realize", cx)) return UN_ERR_INVALID_ARG;
  if (un__api_check(&c, tensors, n)) un__api_realize(&c, tensors, n);
  return un__api_close_status(&c);
}

/* ---- read ---- */

const un_uop *un__stored_buffer(const un_uop *n) {
  while (un__is(n, UN__OP_RESHAPE) || un__is(n, UN__OP_CONTIGUOUS) || un__is(n, UN__OP_DETACH)) n = n->src[0];
  return un__is(n, UN__OP_BUFFER) ? n : NULL;
}

const un_uop *un__api_need_buffer(un__call *c, un_tensor *t) {
  if (!un__stored_buffer(t->node) && un__api_realize(c, &t, 1) != UN_OK) return NULL;
  const un_uop *buffer = un__stored_buffer(t->node);
  if (!buffer) un__fail(&c->cx->err, UN_ERR_INTERNAL, "%s: a realised tensor has no buffer", c->what);
  return buffer;
}

static un_status read_into(un__call *c, un_tensor *t, void *dst, size_t size) {
  if (size == 0) return UN_OK;
  const un_uop *buffer = un__api_need_buffer(c, t);
  if (!buffer) return c->cx->err.status;
  return un__engine_buffer_read(c->cx->engine, un__attr(buffer, 0), dst, size, &c->cx->err);
}

un_tensor *un_clone(un_tensor *x) {
  un__call c;
  if (!un__api_open(&c, "clone", &x, 1)) return NULL;
  un_dims shape = un_shape_of(x);
  const un_uop *node = x->node, *buffer;
  int64_t serial;
  if (un_numel(x)) {
    buffer = un__api_need_buffer(&c, x);
    node = buffer ? un__api_new_buffer(&c, un_dtype_of(x), &shape, (int)un__attr(buffer, 1), &serial) : NULL;
    if (node && un__engine_buffer_copy(c.cx->engine, un__attr(buffer, 0), serial, &c.cx->err) != UN_OK) node = NULL;
  }
  return un__api_close(&c, node);
}

/* Where a tensor is, as far as its first operands say; -1: they do not. */
static int place_of(const un_uop *n) {
  while (n->nsrc && !un__is(n, UN__OP_BUFFER) && !un__is(n, UN__OP_COPY)) n = n->src[0];
  return un__is(n, UN__OP_BUFFER) ? (int)un__attr(n, 1) : un__is(n, UN__OP_COPY) ? (int)un__attr(n, 0) : -1;
}

static un_status find_place(un__call *c, const char *device, int *out) {
  un__err err = {0};
  if (!device) return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: device is NULL", c->what);
  un_status status = un__engine_device(c->cx->engine, device, out, &err);
  return status == UN_OK ? UN_OK : un__fail(&c->cx->err, status, "%s: %s", c->what, err.text);
}

un_tensor *un_to(un_tensor *x, const char *device) {
  un__call c;
  int there;
  const un_uop *node = NULL;
  if (!un__api_open(&c, "to", &x, 1)) return NULL;
  if (find_place(&c, device, &there) == UN_OK)
    node = place_of(x->node) == there ? x->node : un__uop(c.g, UN__OP_COPY, x->node->dtype, &x->node, 1, (int64_t[]){there}, 1);
  return un__api_close(&c, node);
}

un_status un_read(un_tensor *t, void *dst, size_t size) {
  un__call c;
  if (!un__api_open(&c, "read", &t, 1)) return UN_ERR_INVALID_ARG;
  size_t want = (size_t)un_numel(t) * un_dtype_size(un_dtype_of(t));
  if (size != want)
    un__fail(&c.cx->err, UN_ERR_INVALID_ARG, "read: expected room for exactly %zu bytes, got %zu", want, size);
  else if (!dst && size) un__fail(&c.cx->err, UN_ERR_INVALID_ARG, "read: expected room for %zu bytes, got NULL", size);
  else read_into(&c, t, dst, size);
  return un__api_close_status(&c);
}

static double as_double(un__value v) {
  if (un__dt_is_float(v.dtype)) return v.f;
  return v.dtype == UN__DT(UN_U64) ? (double)(uint64_t)v.i : (double)v.i;
}

un_status un_item(un_tensor *t, double *out) {
  un__call c;
  if (!un__api_open(&c, "item", &t, 1)) return UN_ERR_INVALID_ARG;
  uint64_t bits = 0;
  un_dims d = un_shape_of(t);
  if (!out) un__fail(&c.cx->err, UN_ERR_INVALID_ARG, "item: out is NULL");
  else if (un_numel(t) != 1)
    un__fail(&c.cx->err, UN_ERR_SHAPE, "item: expected one element, got shape %s", un__tensor_show(&d).at);
  else if (read_into(&c, t, &bits, un_dtype_size(un_dtype_of(t))) == UN_OK)
    *out = as_double(un__value_load(t->node->dtype, &bits));
  return un__api_close_status(&c);
}

/* ---- look ---- */

/* The graph of n tensors in a workspace, as in realise: under a SINK; a tensor to be shown as it was built, without. */
static const un_uop *import_root(un__call *c, un__graph *ws, un_tensor *const *t, size_t n, bool bare) {
  if (bare) return un__import(ws, t[0]->node, NULL);
  un_ctx *cx = c->cx;
  un__nodes inputs = {0};
  const un_uop **nodes = un__alloc(n * sizeof *nodes), *root = NULL;
  for (size_t i = 0; nodes && i < n; i++) nodes[i] = t[i]->node;
  if (nodes) root = un__engine_import(ws, cx->session, nodes, (uint32_t)n, cx->device, cx->licences, &inputs);
  else un__fail(&cx->err, UN_ERR_NOMEM, "%s: no memory for a list", c->what);
  un__unpin_all(cx->session, inputs.at, inputs.n);
  un__vec_finish(&inputs);
  un__free(nodes);
  return root;
}

/* The text in *out, whose memory is the caller's also on failure. */
static un_status show(un__call *c, un_tensor *const *t, size_t n, un_stage stage, un_form form, un__strbuf *out) {
  static const un__show shows[] = {
    [UN_STAGE_TENSOR] = UN__SHOW_TENSOR, [UN_STAGE_SCHEDULE] = UN__SHOW_SCHEDULE, [UN_STAGE_KERNEL] = UN__SHOW_KERNEL,
    [UN_STAGE_OPT] = UN__SHOW_OPT, [UN_STAGE_LINEAR] = UN__SHOW_LINEAR, [UN_STAGE_SOURCE] = UN__SHOW_SOURCE,
    [UN_STAGE_ASM] = UN__SHOW_ASM};
  un_ctx *cx = c->cx;
  if ((unsigned)stage > UN_STAGE_ASM || (unsigned)form > UN_FORM_TEXT)
    return un__fail(&cx->err, UN_ERR_INVALID_ARG, "%s: no such stage or form: stage %d, form %d", c->what, (int)stage, (int)form);
  if (n > UINT32_MAX) return un__fail(&cx->err, UN_ERR_INVALID_ARG, "%s: too many tensors", c->what);
  un__graph *ws = un__workspace_create(&cx->err);
  if (!ws) return cx->err.status;
  const un_uop *root = import_root(c, ws, t, n, stage == UN_STAGE_TENSOR && n == 1);
  un__show_options opt = {
    .stage = shows[stage], .text = form == UN_FORM_TEXT, .device = cx->device, .licences = cx->licences};
  un_status status = root ? un__engine_show(cx->engine, ws, root, &opt, out, &cx->err) : cx->err.status;
  if (status == UN_OK && out->failed) status = un__fail(&cx->err, UN_ERR_NOMEM, "%s: no memory for the text", c->what);
  un__workspace_destroy(ws);
  return status;
}

static un_status print(const char *what, un_tensor *t, un_stage stage, un_form form, FILE *out) {
  un__call c;
  if (!un__api_open(&c, what, &t, 1)) return UN_ERR_INVALID_ARG;
  un__strbuf text;
  un__sb_init(&text);
  if (!out) un__fail(&c.cx->err, UN_ERR_INVALID_ARG, "%s: out is NULL", what);
  else if (show(&c, &t, 1, stage, form, &text) == UN_OK && fwrite(un__sb_str(&text), 1, text.n, out) != text.n)
    un__fail(&c.cx->err, UN_ERR_IO, "%s: writing %zu bytes failed", what, text.n);
  un__sb_finish(&text);
  return un__api_close_status(&c);
}

un_status un_print_tree(un_tensor *t, un_stage stage, FILE *out) {
  return print("print_tree", t, stage, UN_FORM_TREE, out);
}
un_status un_print_text(un_tensor *t, un_stage stage, FILE *out) {
  return print("print_text", t, stage, UN_FORM_TEXT, out);
}

/* Closes the call. */
static char *text_of(un__call *c, un_tensor *const *t, size_t n, un_stage stage, un_form form) {
  un__strbuf text;
  un__sb_init(&text);
  un_status status = show(c, t, n, stage, form, &text);
  if (status == UN_OK && !text.at) un__sb_putn(&text, "", 0);
  if (status == UN_OK && text.failed) status = un__fail(&c->cx->err, UN_ERR_NOMEM, "%s: no memory for the text", c->what);
  if (status != UN_OK) un__sb_finish(&text);
  un__api_close_status(c);
  return text.at;
}

char *un_to_text(un_tensor *t, un_stage stage, un_form form) {
  un__call c;
  return un__api_open(&c, "to_text", &t, 1) ? text_of(&c, &t, 1, stage, form) : NULL;
}

char *un_run_to_text(un_ctx *cx, size_t n, un_tensor *const *tensors, un_stage stage, un_form form) {
  un__call c;
  if (!un__api_open_cx(&c, "run_to_text", cx)) return NULL;
  if (un__api_check(&c, tensors, n)) return text_of(&c, tensors, n, stage, form);
  un__api_close_status(&c);
  return NULL;
}

void un_text_free(char *text) { un__free(text); }
