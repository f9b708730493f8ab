/* realize.c - from tensors of the persistent graph to tensors with storage. */
#include "engine_parts.h"

/* One run of a plan. */
typedef struct run {
  un__engine *e;
  un__plan *plan;
  const un__nodes *inputs;    /* BUFFER of each input slot */
  uint64_t terms;
  un__mem **slot;             /* memory of every slot; NULL: not allocated (yet, or any more) */
  un__err *err;
} run;

static un__device *device_of(const run *r, uint32_t slot) { return r->e->device[r->plan->slot_device[slot]]; }

static un_status need_slot(run *r, uint32_t slot) {
  un__device *d = device_of(r, slot);
  if (r->slot[slot]) return UN_OK;
  UN__TRY(d->vt->alloc(d, r->plan->slot_bytes[slot], &r->slot[slot], r->err));
  un__count_bytes(r->e, r->plan->slot_bytes[slot], 0);
  return UN_OK;
}

static void release_slot(run *r, uint32_t slot) {
  un__device *d = device_of(r, slot);
  if (!r->slot[slot]) return;
  d->vt->free(d, r->slot[slot]);
  r->slot[slot] = NULL;
  un__count_bytes(r->e, 0, r->plan->slot_bytes[slot]);
}

enum { ARGS_ON_STACK = 64 };

static un_status run_step(run *r, uint32_t index) {
  const un__step *s = &r->plan->steps[index];
  const uint32_t *args = r->plan->args + s->first_arg;
  un__mem *on_stack[ARGS_ON_STACK], **mem = on_stack;
  if (s->nargs > ARGS_ON_STACK && !(mem = un__alloc(s->nargs * sizeof *mem)))
    return un__fail(r->err, UN_ERR_NOMEM, "no memory to launch a kernel");
  un_status status = UN_OK;
  for (uint32_t i = 0; status == UN_OK && i < s->nargs; i++) {
    status = need_slot(r, args[i]);
    mem[i] = r->slot[args[i]];
  }
  un__device *d = r->e->device[s->device];
  if (status == UN_OK && s->kernel) status = d->vt->launch(d, s->kernel->code, mem, NULL, r->err);
  else if (status == UN_OK) status = un__transfer(device_of(r, args[1]), mem[1], d, mem[0], r->plan->slot_bytes[args[0]], r->err);
  if (mem != on_stack) un__free(mem);
  for (uint32_t i = 0; i < s->nargs; i++)
    if (r->plan->last_use[args[i]] == index) release_slot(r, args[i]);
  return status;
}

static un_status run_steps(run *r) {
  for (uint32_t i = 0; i < r->plan->nsteps; i++) UN__TRY(run_step(r, i));
  /* A result without a kernel (no elements) has storage too. */
  for (uint32_t i = 0; i < r->plan->nresults; i++) UN__TRY(need_slot(r, (uint32_t)r->plan->result_slot[i]));
  pthread_mutex_lock(&r->e->lock);
  r->e->stats.kernels_launched += r->plan->nkernels;
  pthread_mutex_unlock(&r->e->lock);
  return UN_OK;
}

/* Inputs are storage of BUFFERs, which say where it is. */
static un_status bind_inputs(run *r) {
  for (uint32_t i = 0; i < r->inputs->n; i++) {
    int device;
    int64_t serial = un__attr(r->inputs->at[i], 0);
    un__mem *m = un__storage_find(r->e, serial, &device, NULL);
    if (!m) return un__fail(r->err, UN_ERR_INTERNAL, "buffer %lld has no storage", (long long)serial);
    if (i < r->plan->nslots && device != r->plan->slot_device[i] && r->plan->slot_bytes[i])
      return un__fail(r->err, UN_ERR_DEVICE, "a tensor on %s cannot be an input on %s: expected one device",
                      r->e->device[device]->name, device_of(r, i)->name);
    r->slot[i] = m;
  }
  return UN_OK;
}

/* ---- results ---- */

/* A BUFFER node of the persistent graph with the shape of `like`, pinned for the caller. */
static const un_uop *new_buffer(run *r, un__session *s, const un_uop *like, int device, int64_t *out_serial) {
  un__graph *g = un__session_graph(s);
  *out_serial = un__world_next_serial(r->e->world);
  un__session_enter(s);
  const un_uop *n = un__uop(g, UN__OP_BUFFER, like->dtype, like->shape->dim, like->shape->rank,
                            (int64_t[]){*out_serial, device}, 2);
  if (n) un__pin(s, n);
  un__session_leave(s);
  return n;
}

/* Other handles that need the tensor, or what it is a view of, find it stored. */
static void remember(run *r, un__session *s, const un_uop *tensor, const un_uop *buffer) {
  for (const un_uop *n = tensor;; n = n->src[0]) {
    un__value_stored(s, n, buffer, r->terms);
    if (!un__is(n, UN__OP_RESHAPE) && !un__is(n, UN__OP_CONTIGUOUS) && !un__is(n, UN__OP_DETACH)) return;
  }
}

static const un_uop *result_of(run *r, un__session *s, const un_uop *tensor, uint32_t slot, un__err *err) {
  int64_t serial;
  const un_uop *n = new_buffer(r, s, tensor, r->plan->slot_device[slot], &serial);
  if (!n) {
    un__fail(err, UN_ERR_NOMEM, "no memory for a result");
    return NULL;
  }
  if (un__storage_add(r->e, serial, r->plan->slot_device[slot], r->slot[slot], r->plan->slot_bytes[slot], err) == UN_OK) {
    r->slot[slot] = NULL;     /* the node owns it now */
    remember(r, s, tensor, n);
    return n;
  }
  un__unpin(s, n);
  return NULL;
}

static const un_uop *pinned(un__session *s, const un_uop *n) {
  un__pin(s, n);
  return n;
}

/* A stored buffer as the value of a tensor that has the same elements in the same order. */
static const un_uop *seen_through(un__session *s, const un_uop *buffer, const un_uop *tensor) {
  if (buffer->shape == tensor->shape) return pinned(s, buffer);
  un__session_enter(s);
  const un_uop *n = un__reshape_to(un__session_graph(s), buffer, tensor->shape);
  if (n) un__pin(s, n);
  un__session_leave(s);
  return n;
}

/* A result in an input's slot is a buffer as it stands, perhaps in another shape. Two tensors of the same elements share a
 * slot: the second one is the first one's buffer. */
static un_status give_results(run *r, un__session *s, const un_uop *const *tensors, const un_uop **out) {
  const un__plan *p = r->plan;
  for (uint32_t i = 0; i < p->nresults; i++) {
    uint32_t slot = (uint32_t)p->result_slot[i], same = 0;
    while (same < i && p->result_slot[same] != slot) same++;
    if (slot < p->ninputs) out[i] = seen_through(s, r->inputs->at[slot], tensors[i]);
    else if (same < i) out[i] = seen_through(s, out[same], tensors[i]);
    else out[i] = result_of(r, s, tensors[i], slot, r->err);
    if (out[i]) continue;
    while (i--) un__unpin(s, out[i]);
    return r->err->status;
  }
  return UN_OK;
}

static void finish_run(run *r) {
  for (uint32_t i = r->plan->ninputs; i < r->plan->nslots; i++) release_slot(r, i);
  un__free(r->slot);
  un__plan_put(r->e, r->plan);
}

/* ---- the whole ---- */

static un_status run_plan(un__engine *e, un__session *s, un__plan *plan, const un_uop *const *tensors,
                          const un__nodes *inputs, uint64_t terms, const un_uop **out, un__err *err) {
  run r = {.e = e, .plan = plan, .inputs = inputs, .terms = terms, .err = err};
  r.slot = un__calloc(plan->nslots > inputs->n ? plan->nslots : inputs->n, sizeof *r.slot);
  if (!r.slot) {
    un__plan_put(e, plan);
    return un__fail(err, UN_ERR_NOMEM, "no memory to run a schedule");
  }
  un_status status = bind_inputs(&r);
  if (status == UN_OK) status = run_steps(&r);
  if (status == UN_OK) status = give_results(&r, s, tensors, out);
  finish_run(&r);
  return status;
}

/* A value is good for those who compute on the same device with the same licences. */
static uint64_t terms_of(int device, uint32_t licences) { return (uint64_t)device << 32 | licences; }

const un_uop *un__engine_import(un__graph *ws, un__session *s, const un_uop *const *tensors, uint32_t n, int device,
                                uint32_t licences, un__nodes *inputs) {
  /* The sink is built in the persistent graph, so that one import numbers all inputs. */
  un__session_enter(s);
  const un_uop *sink = un__sink(un__session_graph(s), tensors, n);
  const un_uop *root = sink ? un__import_stored(ws, s, sink, terms_of(device, licences), inputs) : NULL;
  un__session_leave(s);
  if (!root) un__fail(un__graph_err(ws), UN_ERR_NOMEM, "no memory to import a tensor graph");
  return root;
}

un_status un__engine_realize(un__engine *e, un__session *s, const un_uop *const *tensors, uint32_t n, int device,
                             uint32_t licences, const un_uop **out, un__err *err) {
  un__err local = {.log = err->log};
  un__graph *ws = un__workspace_create(&local);
  un__nodes inputs = {0};
  un__plan *plan = NULL;
  const un_uop *root = ws ? un__engine_import(ws, s, tensors, n, device, licences, &inputs) : NULL;
  if (root) un__plan_get(e, ws, root, (uint32_t)inputs.n, device, licences, &plan, &local);
  un__workspace_destroy(ws);
  if (plan) run_plan(e, s, plan, tensors, &inputs, terms_of(device, licences), out, &local);
  un__unpin_all(s, inputs.at, inputs.n);
  un__vec_finish(&inputs);
  return un__err_copy(err, &local);
}
