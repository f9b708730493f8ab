/* program.c - a whole tensor program given as a graph and host arrays: `unir run` and the tests that compare devices. */
#include "program.h"

#include "engine_parts.h"

static un_status numel_of(const un_uop *n, int64_t *out, un__err *err) {
  *out = un__shape_known_numel(n->shape);
  return *out >= 0 ? UN_OK : un__fail(err, UN_ERR_UNSUPPORTED, "a result's size is not a constant");
}

/* Uploads the inputs under fresh serials, in order. */
static un_status upload(un__engine *e, const un__itensor *inputs, uint32_t n, int device, un__slot_map *serials, un__err *err) {
  for (uint32_t i = 0; i < n; i++) {
    int64_t serial = un__world_next_serial(e->world), count = 1;
    for (uint32_t k = 0; k < inputs[i].rank; k++) count *= inputs[i].dim[k];
    size_t bytes = (size_t)count * un__dt_info(inputs[i].dtype)->size;
    if (!un__vec_push(serials, serial)) return un__fail(err, UN_ERR_NOMEM, "no memory for a list of buffers");
    UN__TRY(un__engine_buffer_from(e, device, serial, inputs[i].data, bytes, false, err));
  }
  return UN_OK;
}

static un_status download(un__engine *e, const un_uop *wanted, const un_uop *result, un__itensor *out, un__err *err) {
  int64_t n;
  UN__TRY(numel_of(wanted, &n, err));
  size_t bytes = (size_t)n * un__dt_info(wanted->dtype)->size;
  *out = (un__itensor){.dtype = wanted->dtype, .rank = wanted->shape->rank};
  for (uint32_t k = 0; k < out->rank; k++) out->dim[k] = un__known_size(wanted->shape->dim[k]);
  if (!(out->data = un__alloc(bytes))) return un__fail(err, UN_ERR_NOMEM, "no memory for a result of %zu bytes", bytes);
  while (!un__is(result, UN__OP_BUFFER)) result = result->src[0];     /* a buffer seen through a reshape */
  return bytes ? un__engine_buffer_read(e, un__attr(result, 0), out->data, bytes, err) : UN_OK;
}

/* The persistent copies of the sink's sources, pinned. */
static un_status import_roots(un__engine *e, un__session *s, const un_uop *sink, un__slot_map *serials, const un_uop **roots,
                              un__err *err) {
  un__session_enter(s);
  const un_uop *copy = un__import(un__session_graph(s), sink, serials);
  for (uint32_t i = 0; copy && i < sink->nsrc; i++) un__pin(s, roots[i] = copy->src[i]);
  un__session_leave(s);
  return copy ? UN_OK : un__fail(err, UN_ERR_INVALID_ARG, "%s", un__graph_err(un__session_graph(s))->text);
}

/* Leaving a call may sweep, so what goes with the nodes goes now. */
static void unpin_all(un__session *s, const un_uop *const *nodes, uint32_t n) {
  un__session_enter(s);
  un__unpin_all(s, nodes, n);
  un__session_leave(s);
}

un_status un__engine_run(un__engine *e, un__session *s, const un_uop *sink, const un__itensor *inputs, uint32_t ninputs,
                         int device, uint32_t licences, un__itensor *out, un__err *err) {
  un__slot_map serials = {0};
  const un_uop **roots = un__calloc(sink->nsrc, sizeof *roots), **results = un__calloc(sink->nsrc, sizeof *results);
  un_status status = roots && results ? UN_OK : un__fail(err, UN_ERR_NOMEM, "no memory to run a program");
  if (status == UN_OK) status = upload(e, inputs, ninputs, device, &serials, err);
  if (status == UN_OK) status = import_roots(e, s, sink, &serials, roots, err);
  if (status == UN_OK) status = un__engine_realize(e, s, roots, sink->nsrc, device, licences, results, err);
  for (uint32_t i = 0; i < sink->nsrc && status == UN_OK; i++) status = download(e, sink->src[i], results[i], &out[i], err);
  if (roots) unpin_all(s, roots, sink->nsrc);
  if (results) unpin_all(s, results, sink->nsrc);
  /* Buffers that no node ever named do not go with a node. */
  for (size_t i = 0; i < serials.n; i++) un__storage_drop(e, serials.at[i]);
  un__vec_finish(&serials);
  un__free(roots);
  un__free(results);
  return status;
}
