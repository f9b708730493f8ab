/* record.c - programs as CUDA graphs: one launch runs all of it.
 *
 * Each launch depends on the one before, as on a stream; a kernel on a kernel in such a way that it may begin before that one has
 * ended, where it waits by itself. Other arguments are patched into the node that has them. */
#include "base/mem.h"
#include "cuda.h"

struct un__recording {
  const un__launch *launches;      /* the caller's */
  uint32_t n;
  cu_graph graph;
  cu_graph_exec exec;
  cu_node node[];                  /* of each launch; NULL: nothing to do */
};

static cu_copy_node copy_of(const un__launch *l) {
  return (cu_copy_node){.from = {.memory = CU_MEMORY_DEVICE, .at = l->args[1]->at}, .to = {.memory = CU_MEMORY_DEVICE, .at = l->args[0]->at},
                        .bytes = l->bytes, .height = 1, .depth = 1};
}

static un_status add_copy(un__cuda *c, un__recording *r, uint32_t i, const cu_node *after, un__err *err) {
  const un__launch *l = &r->launches[i];
  if (!l->bytes) return UN_OK;
  UN__TRY(un__check_span(l->args[0]->size, 0, l->bytes, "copy", err));
  UN__TRY(un__check_span(l->args[1]->size, 0, l->bytes, "copy", err));
  cu_copy_node copy = copy_of(l);
  return un__cuda_check(c, c->cu->graph_add_copy(&r->node[i], r->graph, after, after != NULL, &copy, c->context), "recording a copy", err);
}

/* A driver that takes no such edge gets one that waits for the end. */
static cu_result add_after_kernel(un__cuda *c, un__recording *r, uint32_t i, const cu_node *after, const cu_kernel_node *kernel) {
  static const cu_edge early = {.from_port = CU_PORT_PROGRAMMATIC, .type = CU_EDGE_PROGRAMMATIC}, late = {0};
  cu_result result = c->cu->graph_add_kernel(&r->node[i], r->graph, NULL, 0, kernel);
  if (result) return result;
  result = c->cu->graph_add_edges(r->graph, after, &r->node[i], &early, 1);
  if (!result || un__cu_is_sticky(result) || result == CU_OUT_OF_MEMORY) return result;
  return c->cu->graph_add_edges(r->graph, after, &r->node[i], &late, 1);
}

static un_status add_kernel(un__cuda *c, un__recording *r, uint32_t i, const cu_node *after, bool after_kernel, un__err *err) {
  un__cuda_launching l;
  un_status status = un__cuda_prepare(c, r->launches[i].code, r->launches[i].args, NULL, &l, err);
  if (status == UN_OK && l.node.gx) {
    cu_result result = l.overlaps && after_kernel && c->cu->graph_add_edges ? add_after_kernel(c, r, i, after, &l.node)
                             : c->cu->graph_add_kernel(&r->node[i], r->graph, after, after != NULL, &l.node);
    status = un__cuda_check(c, result, "recording a kernel", err);
  }
  un__cuda_prepared(&l);
  return status;
}

static un_status add_all(un__cuda *c, un__recording *r, un__err *err) {
  const cu_node *last = NULL;
  bool last_is_kernel = false;
  UN__TRY(un__cuda_check(c, c->cu->graph_create(&r->graph, 0), "making a graph", err));
  for (uint32_t i = 0; i < r->n; i++) {
    UN__TRY(r->launches[i].code ? add_kernel(c, r, i, last, last_is_kernel, err) : add_copy(c, r, i, last, err));
    if (!r->node[i]) continue;
    last = &r->node[i];
    last_is_kernel = r->launches[i].code != NULL;
  }
  cu_result result;
  UN__CUDA_WITH_MEMORY(c, result, c->cu->graph_instantiate(&r->exec, r->graph, 0));
  return un__cuda_check(c, result, "making a graph ready", err);
}

static void drop(un__cuda *c, un__recording *r) {
  if (r->exec) c->cu->graph_exec_destroy(r->exec);
  if (r->graph) c->cu->graph_destroy(r->graph);
  un__free(r);
}

un_status un__cuda_record(un__device *d, const un__launch *launches, uint32_t n, un__recording **out, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  *out = NULL;
  un__recording *r = un__calloc(1, sizeof *r + n * sizeof *r->node);
  if (!r) return un__fail(err, UN_ERR_NOMEM, "no memory to record a program");
  r->launches = launches;
  r->n = n;
  un_status status = un__cuda_enter(c, err);
  if (status != UN_OK) return un__free(r), status;
  status = add_all(c, r, err);
  if (status == UN_OK) *out = r;
  else drop(c, r);
  un__cuda_leave(c);
  return status;
}

static un_status set_kernel(un__cuda *c, un__recording *r, uint32_t i, un__err *err) {
  un__cuda_launching l;
  un_status status = un__cuda_prepare(c, r->launches[i].code, r->launches[i].args, NULL, &l, err);
  if (status == UN_OK) status = un__cuda_check(c, c->cu->graph_set_kernel(r->exec, r->node[i], &l.node), "changing a kernel's arguments", err);
  un__cuda_prepared(&l);
  return status;
}

static un_status set_copy(un__cuda *c, un__recording *r, uint32_t i, un__err *err) {
  cu_copy_node copy = copy_of(&r->launches[i]);
  return un__cuda_check(c, c->cu->graph_set_copy(r->exec, r->node[i], &copy, c->context), "changing a copy's arguments", err);
}

un_status un__cuda_update(un__device *d, un__recording *r, uint32_t i, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  if (!r->node[i]) return UN_OK;
  UN__TRY(un__cuda_enter(c, err));
  un_status status = r->launches[i].code ? set_kernel(c, r, i, err) : set_copy(c, r, i, err);
  un__cuda_leave(c);
  return status;
}

un_status un__cuda_replay(un__device *d, un__recording *r, un__err *err) {
  un__cuda *c = un__cuda_of(d);
  cu_result result;
  UN__TRY(un__cuda_enter(c, err));
  UN__CUDA_WITH_MEMORY(c, result, c->cu->graph_launch(r->exec, c->stream));
  un_status status = un__cuda_check(c, result, "launching a graph", err);
  un__cuda_leave(c);
  return status;
}

/* Replays of it may be on the way; the driver waits for them before it destroys. */
void un__cuda_recording_release(un__device *d, un__recording *r) {
  un__cuda *c = un__cuda_of(d);
  if (!r) return;
  if (un__cuda_enter(c, NULL) != UN_OK) {
    un__free(r);
    return;
  }
  drop(c, r);
  un__cuda_leave(c);
}
