/* rangeify.c - the stage from one end to the other.
 *
 *   tensor rules   DETACH goes, validity rises to the gathers              mops.pat
 *   plan           which tensors have storage                              plan.c
 *   fuse           which of these one kernel computes in place             fuse.c; cone.c, nest.c, mops.pat
 *   bundle         kernels with several results                            bundle.c
 *   finish         loops placed, elements become loads, ranges numbered    finish.c, loops.c, merge.c, rangeify.pat
 *                  reductions over the same elements become one            siblings.c, online.pat
 *   schedule       buffers named, kernels listed in order of dependence    here
 */
#include "bundle.h"
#include "passes.h"

#include <string.h>

typedef struct scheduler {
  un__rf_builder b;
  un__rf_plan plan;
  un__rf_jobs jobs;
  un__rf_bundles bundles;
  int64_t next_slot;
  const un_uop **storage;       /* by position: the BUFFER that holds it */
  UN__VEC(const un_uop *) kernels;
} scheduler;

static un_status no_memory(scheduler *s) {
  return un__fail(un__graph_err(s->b.g), UN_ERR_NOMEM, "rangeify: out of memory");
}

static const un_uop *tensor_rules(un__graph *g, const un_uop *root, uint32_t licences) {
  size_t n;
  const un_uop **order = un__toposort(root, &n);
  bool valid = false;
  if (!order) {
    un__fail(un__graph_err(g), UN_ERR_NOMEM, "rangeify: out of memory");
    return NULL;
  }
  for (size_t i = 0; i < n; i++) valid |= order[i]->op == UN__OP_VALID;
  un__free(order);
  un__rw_options o = {.licences = licences};
  return un__graph_rewrite(g, root, valid ? &un__pass_tensor_valid : &un__pass_tensor_form, &o);
}

static const un_uop *buffer_for(scheduler *s, uint32_t at, int64_t slot) {
  const un__rf_fact *f = &s->plan.fact[at];
  int64_t attrs[] = {slot, f->device};
  return un__uop(s->b.g, UN__OP_BUFFER, f->node->dtype, f->node->shape->dim, f->node->shape->rank, attrs, 2);
}

/* Result i has slot n_inputs + i, unless it is stored already or is the same tensor as an earlier one. */
static un_status name_results(scheduler *s, int64_t n_inputs, int64_t *out_slots) {
  const un__rf_plan *p = &s->plan;
  s->storage = un__arena_alloc(p->arena, (p->n + 1) * sizeof *s->storage);
  if (!s->storage) return no_memory(s);
  memset(s->storage, 0, p->n * sizeof *s->storage);
  for (uint32_t i = 0; i < p->nresults; i++) {
    uint32_t at = p->result[i];
    if (p->fact[at].node->op == UN__OP_BUFFER) s->storage[at] = p->fact[at].node;
    else if (!s->storage[at]) s->storage[at] = buffer_for(s, at, n_inputs + i);
    if (!s->storage[at]) return un__graph_status(s->b.g);
    out_slots[i] = un__attr(s->storage[at], 0);
  }
  s->next_slot = n_inputs + p->nresults;
  return UN_OK;
}

static const un_uop *storage_of(scheduler *s, uint32_t at) {
  if (s->plan.fact[at].node->op == UN__OP_BUFFER) return s->plan.fact[at].node;
  if (!s->storage[at]) s->storage[at] = buffer_for(s, at, s->next_slot++);
  return s->storage[at];
}

/* The buffer behind a number of a bundle's kernels: a leaf, a result, a temporary. */
static const un_uop *argument(scheduler *s, const un__rf_bundle *u, const un__rf_kernels *all, const un_uop *const *temp,
                              uint32_t number) {
  if (number < u->leaves.n) return storage_of(s, u->leaves.at[number]);
  if (number < u->leaves.n + u->n) return storage_of(s, s->jobs.at[u->job[number - u->leaves.n]].root);
  for (uint32_t t = 0; t < all->ntemp; t++)
    if (un__attr(all->temp[t], 0) == number) return temp[t];
  return NULL;
}

static un_status list_kernels(scheduler *s, const un__rf_bundle *u, const un__rf_kernels *all, const un_uop *const *temp) {
  for (uint32_t i = 0; i < all->n; i++) {
    const un__rf_kernel *k = &all->at[i];
    const un_uop *src[UN__RF_KERNEL_ARGS + 1];
    src[0] = k->sink;
    for (uint32_t a = 0; a < k->narg; a++) src[a + 1] = argument(s, u, all, temp, k->arg[a]);
    const un_uop *kernel = un__uop(s->b.g, UN__OP_KERNEL, 0, src, k->narg + 1, NULL, 0);
    if (!kernel) return un__graph_status(s->b.g);
    if (!un__vec_push(&s->kernels, kernel)) return no_memory(s);
  }
  return UN_OK;
}

static un_status list_bundle(scheduler *s, const un__rf_bundle *u) {
  un__rf_member member[UN__RF_MAX_STORES];
  for (uint32_t k = 0; k < u->n; k++) member[k] = (un__rf_member){s->jobs.at[u->job[k]].nest, u->map[k]};
  const un__rf_kernels *all = un__rf_finish(&s->b, member, u->n, (uint32_t)u->leaves.n);
  if (!all) return un__graph_status(s->b.g);
  const un_uop **temp = un__arena_alloc(s->b.arena, (all->ntemp + 1) * sizeof *temp);
  if (!temp) return no_memory(s);
  for (uint32_t t = 0; t < all->ntemp; t++) {
    const un_uop *n = all->temp[t];
    int64_t attrs[] = {s->next_slot++, s->plan.fact[s->jobs.at[u->job[0]].root].device};
    temp[t] = un__uop(s->b.g, UN__OP_BUFFER, n->dtype, n->src, n->nsrc, attrs, 2);
    if (!temp[t]) return un__graph_status(s->b.g);
  }
  return list_kernels(s, u, all, temp);
}

static un_status schedule(scheduler *s, const un_uop *root, int64_t n_inputs, int64_t *out_slots) {
  UN__TRY(un__rf_plan_make(&s->plan, s->b.g, root, s->b.opt->device));
  UN__TRY(name_results(s, n_inputs, out_slots));
  UN__TRY(un__rf_fuse(&s->b, &s->plan, &s->jobs));
  UN__TRY(un__rf_bundle_all(&s->b, &s->plan, &s->jobs, &s->bundles));
  for (size_t i = 0; i < s->bundles.n; i++) UN__TRY(list_bundle(s, &s->bundles.at[i]));
  return UN_OK;
}

const un_uop *un__rangeify(un__graph *ws, const un_uop *root, int64_t n_inputs, const un__rangeify_options *opt,
                           int64_t *out_result_slots) {
  if (!root || un__graph_status(ws) != UN_OK) return NULL;
  if (root->op != UN__OP_SINK) {
    un__fail(un__graph_err(ws), UN_ERR_INVALID_ARG, "rangeify: expected a SINK of tensors, got %s", un__info(root)->name);
    return NULL;
  }
  scheduler s = {.b = {.g = ws, .arena = un__workspace_arena(ws), .opt = opt}};
  const un_uop *out = NULL;
  root = tensor_rules(ws, root, opt->licences);
  if (root && schedule(&s, root, n_inputs, out_result_slots) == UN_OK)
    out = un__uop(ws, UN__OP_LINEAR, 0, s.kernels.at, (uint32_t)s.kernels.n, NULL, 0);
  un__vec_finish(&s.kernels);
  un__rf_bundles_finish(&s.bundles);
  un__rf_jobs_finish(&s.jobs);
  un__rf_builder_finish(&s.b);
  return out;
}
