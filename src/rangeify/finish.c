/* finish.c - the kernels of a nest. */
#include "finish.h"

#include <string.h>
#include "memory.h"
#include "passes.h"

static un_status no_memory(const un__rf_drafts *d) {
  return un__fail(un__graph_err(d->b->g), UN_ERR_NOMEM, "rangeify: out of memory");
}

/* The draft that stores the nest's own value. Its result's number is that after the last leaf's. */
static un_status first_draft(un__rf_drafts *d) {
  const un__rf_nest *n = d->nest;
  un__graph *g = d->b->g;
  un__rf_memory m = {n};
  un__rw_options o = {.ctx = &m, .licences = d->b->opt->licences};
  un__rf_draft t = {.nstore = 1, .nout = n->nout};
  bool in_place = false;
  for (uint32_t k = 0; k < n->nuse; k++) in_place |= n->use[k].in_place != NULL;
  t.value = n->value;
  if (in_place) t.value = un__rf_clean(d->b, un__graph_rewrite(g, n->value, &un__pass_stages_in_place, &o));
  if (!t.value) return un__graph_status(g);
  memcpy(t.out, n->out, n->nout * sizeof *t.out);
  t.result[0] = un__uop(g, UN__OP_BUFFER, t.value->dtype, n->shape->dim, n->shape->rank,
                        (int64_t[]){d->next_number++, 0}, 2);
  t.flat[0] = un__rf_flat(g, n->shape, n->index);
  if (!t.result[0] || !t.flat[0]) return un__graph_status(g);
  return un__vec_push(&d->at, t) ? UN_OK : no_memory(d);
}

static const un_uop *stored_value(const un__rf_draft *t, const un_uop *value, uint32_t k) {
  return t->nstore == 1 ? value : value->src[k];
}

static un_status make_kernel(un__rf_drafts *d, const un__rf_draft *t, un__rf_kernel *out) {
  un__graph *g = d->b->g;
  un__rf_memory m = {d->nest};
  un__rw_options o = {.ctx = &m, .licences = d->b->opt->licences};
  const un_uop *value = un__graph_rewrite(g, t->value, &un__pass_push_memory, &o);
  value = value ? un__rf_clean(d->b, value) : NULL;
  const un_uop *store[UN__RF_MAX_STORES], *loop[2 * UN__MAX_RANK];
  for (uint32_t k = 0; value && k < t->nstore; k++) {
    const un_uop *at[] = {un__rf_param(g, t->result[k]), un__rf_clean(d->b, t->flat[k])};
    const un_uop *src[] = {at[0] ? un__uop(g, UN__OP_INDEX, at[0]->dtype, at, 2, NULL, 0) : NULL,
                           stored_value(t, value, k)};
    store[k] = un__uop(g, UN__OP_STORE, 0, src, 2, NULL, 0);
  }
  if (!value) return un__graph_status(g);
  memcpy(loop, t->out, t->nout * sizeof *loop);
  uint32_t arg[UN__RF_KERNEL_ARGS], narg;
  out->sink = un__rf_seal(d->b, store, t->nstore, loop, t->nout, arg, &narg);
  if (!out->sink) return un__graph_status(g);
  uint32_t *kept = un__arena_alloc(d->b->arena, (narg + 1) * sizeof *kept);
  if (!kept) return no_memory(d);
  memcpy(kept, arg, narg * sizeof *kept);
  out->nresult = t->nstore;
  out->narg = narg;
  out->arg = kept;
  return UN_OK;
}

static un_status make_kernels(un__rf_drafts *d, un__rf_kernels *out) {
  UN__TRY(first_draft(d));
  for (uint32_t i = 0; i < d->at.n; i++) UN__TRY(un__rf_settle_loops(d, i));
  out->n = (uint32_t)d->at.n;
  out->at = un__arena_alloc(d->b->arena, out->n * sizeof *out->at);
  out->temp = un__arena_alloc(d->b->arena, out->n * UN__RF_MAX_STORES * sizeof *out->temp);
  if (!out->at || !out->temp) return no_memory(d);
  for (uint32_t i = out->n; i-- > 0;) {
    const un__rf_draft *t = &d->at.at[i];
    UN__TRY(make_kernel(d, t, &out->at[out->n - 1 - i]));
    for (uint32_t k = 0; i > 0 && k < t->nstore; k++) out->temp[out->ntemp++] = t->result[k];
  }
  return UN_OK;
}

const un__rf_kernels *un__rf_finish(un__rf_builder *b, un__rf_nest *n) {
  if (n->kernels) return n->kernels;
  un__rf_drafts d = {.b = b, .nest = n, .next_number = n->nuse, .next_range = n->next_range};
  un__rf_kernels *out = un__arena_alloc(b->arena, sizeof *out);
  un_status st = UN_ERR_NOMEM;
  if (out) {
    memset(out, 0, sizeof *out);
    st = make_kernels(&d, out);
  } else {
    no_memory(&d);
  }
  un__vec_finish(&d.at);
  if (st != UN_OK || un__graph_status(b->g) != UN_OK) return NULL;
  return n->kernels = out;
}
