/* finish.c - the kernels of a nest. */
#include "finish.h"

#include <string.h>
#include "memory.h"
#include "passes.h"

static un_status no_memory(const un__rf_drafts *d) {
  return un__fail(un__graph_err(d->b->g), UN_ERR_NOMEM, "rangeify: out of memory");
}

/* A nest's value with stages in place. */
static const un_uop *whole_value(un__rf_drafts *d, const un__rf_nest *n) {
  un__rf_memory m = {n};
  un__rw_options o = {.ctx = &m, .licences = d->b->opt->licences};
  bool in_place = false;
  for (uint32_t k = 0; k < n->nuse; k++) in_place |= n->use[k].in_place != NULL;
  if (!in_place) return n->value;
  const un_uop *x = un__graph_rewrite(d->b->g, n->value, &un__pass_stages_in_place, &o);
  return x ? un__rf_clean(d->b, x) : NULL;
}

static uint32_t kernel_number(const un__rf_drafts *d, const un__rf_member *m, const un_uop *leaf) {
  uint32_t number = m->map[un__attr(leaf, 0)];
  return number & UN__RF_RESULT ? d->nleaf + (number & ~UN__RF_RESULT) : number;
}

/* `x` with the kernel's leaf numbers, and with reduced ranges of its own. */
static const un_uop *renumber(un__rf_drafts *d, const un_uop *x, const un__rf_member *m) {
  un__graph *g = d->b->g;
  UN__VEC(const un_uop *) from = {0}, to = {0};
  size_t n;
  const un_uop **order = un__toposort(x, &n);
  bool ok = order != NULL;
  for (size_t i = 0; ok && i < n; i++) {
    const un_uop *at = order[i], *now = at;
    if (at->op == UN__OP_BUFFER)
      now = un__uop(g, UN__OP_BUFFER, at->dtype, at->src, at->nsrc, (int64_t[]){kernel_number(d, m, at), 0}, 2);
    if (at->op == UN__OP_RANGE && un__range_axis(at) == UN__AXIS_REDUCE)
      now = un__range(g, at->src[0], UN__AXIS_REDUCE, un__range_id(at) + d->next_range);
    if (now != at) ok = un__vec_push(&from, at) && un__vec_push(&to, now);
  }
  if (!ok) no_memory(d);
  if (ok && from.n) x = un__substitute(g, x, from.at, to.at, (uint32_t)from.n);
  un__free(order);
  un__vec_finish(&from);
  un__vec_finish(&to);
  return ok ? x : NULL;
}

/* `x` with the values of earlier members in place of their elements, which are read where they are made. */
static const un_uop *with_results(un__rf_drafts *d, const un_uop *x, const un__rf_member *m, const un__rf_draft *t,
                                  const un_uop *const *value) {
  un__graph *g = d->b->g;
  const un__rf_nest *n = m->nest;
  const un_uop *from[UN__RF_MAX_STORES], *to[UN__RF_MAX_STORES], *src[UN__MAX_RANK + 1];
  uint32_t count = 0;
  memcpy(src + 1, n->index, n->shape->rank * sizeof *src);
  for (uint32_t k = 0; k < n->nuse; k++) {
    if (!(m->map[k] & UN__RF_RESULT) || !n->use[k].element) continue;
    uint32_t made_by = m->map[k] & ~UN__RF_RESULT;
    src[0] = t->result[made_by];
    from[count] = un__uop(g, UN__OP_INDEX, src[0]->dtype, src, n->shape->rank + 1, NULL, 0);
    to[count++] = value[made_by];
  }
  return count ? un__rf_clean(d->b, un__substitute(g, x, from, to, count)) : x;
}

/* The draft that stores the nests' own values. Its results' numbers come after the last leaf's. */
static un_status first_draft(un__rf_drafts *d, const un__rf_member *m, uint32_t n) {
  un__graph *g = d->b->g;
  const un_uop *value[UN__RF_MAX_STORES];
  un__rf_draft t = {.nstore = n, .nout = m[0].nest->nout};
  memcpy(t.out, m[0].nest->out, t.nout * sizeof *t.out);
  for (uint32_t k = 0; k < n; k++) {
    const un__rf_nest *nest = m[k].nest;
    value[k] = whole_value(d, nest);
    if (value[k] && n > 1) value[k] = renumber(d, value[k], &m[k]);
    if (value[k] && n > 1) value[k] = with_results(d, value[k], &m[k], &t, value);
    if (!value[k]) return un__graph_status(g);
    d->next_range += nest->next_range;
    t.result[k] = un__uop(g, UN__OP_BUFFER, value[k]->dtype, nest->shape->dim, nest->shape->rank,
                          (int64_t[]){d->next_number++, 0}, 2);
    t.flat[k] = un__rf_flat(g, nest->shape, nest->index);
    if (!t.result[k] || !t.flat[k]) return un__graph_status(g);
  }
  t.value = n == 1 ? value[0] : un__uop(g, UN__OP_TUPLE, 0, value, n, NULL, 0);
  if (!t.value) return un__graph_status(g);
  return un__vec_push(&d->at, t) ? UN_OK : no_memory(d);
}

static const un_uop *stored_value(const un__rf_draft *t, const un_uop *value, uint32_t k) {
  return t->nstore == 1 ? value : value->src[k];
}

static un_status make_kernel(un__rf_drafts *d, const un__rf_draft *t, un__rf_kernel *out) {
  un__graph *g = d->b->g;
  un__rw_options o = {.licences = d->b->opt->licences};
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

/* The draft that stores what slot `number` names; the number of drafts when it is a leaf. */
static uint32_t producer_of(const un__rf_drafts *d, int64_t number) {
  for (uint32_t i = 0; i < d->at.n; i++)
    for (uint32_t k = 0; k < d->at.at[i].nstore; k++)
      if (un__attr(d->at.at[i].result[k], 0) == number) return i;
  return (uint32_t)d->at.n;
}

/* Whether draft i reads only what the drafts marked in `done` store. */
static un_status is_ready(un__rf_drafts *d, uint32_t i, const bool *done, bool *out) {
  size_t n;
  const un_uop **order = un__toposort(d->at.at[i].value, &n);
  if (!order) return no_memory(d);
  *out = true;
  for (size_t k = 0; k < n && *out; k++) {
    uint32_t p = order[k]->op == UN__OP_BUFFER ? producer_of(d, un__attr(order[k], 0)) : (uint32_t)d->at.n;
    *out = p == d->at.n || p == i || done[p];
  }
  un__free(order);
  return UN_OK;
}

/* The numbers of the drafts, producers first. A draft made late may read one made early: a reduction that was cut after
 * one inside it. */
static un_status order_drafts(un__rf_drafts *d, uint32_t *order) {
  bool *done = un__calloc(d->at.n, sizeof *done), ready = false;
  un_status st = done ? UN_OK : no_memory(d);
  for (uint32_t n = 0; st == UN_OK && n < d->at.n; n++) {
    uint32_t i = (uint32_t)d->at.n;
    for (ready = false; st == UN_OK && !ready && i-- > 0;)
      if (!done[i]) st = is_ready(d, i, done, &ready);
    if (st == UN_OK && !ready) st = un__fail(un__graph_err(d->b->g), UN_ERR_INTERNAL, "rangeify: kernels need each other");
    if (st != UN_OK) break;
    done[i] = true;
    order[n] = i;
  }
  un__free(done);
  return st;
}

static un_status make_kernels(un__rf_drafts *d, un__rf_kernels *out) {
  for (uint32_t i = 0; i < d->at.n; i++) UN__TRY(un__rf_settle_loops(d, i));
  out->n = (uint32_t)d->at.n;
  uint32_t *order = un__arena_alloc(d->b->arena, out->n * sizeof *order);
  if (!order) return no_memory(d);
  UN__TRY(order_drafts(d, order));
  out->at = un__arena_alloc(d->b->arena, out->n * sizeof *out->at);
  out->temp = un__arena_alloc(d->b->arena, out->n * UN__RF_MAX_STORES * sizeof *out->temp);
  if (!out->at || !out->temp) return no_memory(d);
  for (uint32_t at = 0; at < out->n; at++) {
    uint32_t i = order[at];
    const un__rf_draft *t = &d->at.at[i];
    UN__TRY(make_kernel(d, t, &out->at[at]));
    for (uint32_t k = 0; i > 0 && k < t->nstore; k++) out->temp[out->ntemp++] = t->result[k];
  }
  return UN_OK;
}

/* ---- found once --------------------------------------------------------------------------------------------------- */

static bool same_members(const un__rf_finished *f, const un__rf_member *m, uint32_t n, uint32_t nleaf) {
  if (f->n != n || f->nleaf != nleaf) return false;
  for (uint32_t k = 0; k < n; k++) {
    if (f->member[k].nest != m[k].nest) return false;
    if (memcmp(f->member[k].map, m[k].map, m[k].nest->nuse * sizeof *m[k].map) != 0) return false;
  }
  return true;
}

static un__rf_kernels *make_all(un__rf_builder *b, const un__rf_member *m, uint32_t n, uint32_t nleaf) {
  un__rf_drafts d = {.b = b, .nleaf = nleaf, .next_number = nleaf};
  un__rf_kernels *out = un__arena_alloc(b->arena, sizeof *out);
  un_status st = out ? first_draft(&d, m, n) : no_memory(&d);
  if (st == UN_OK) {
    memset(out, 0, sizeof *out);
    st = make_kernels(&d, out);
  }
  un__vec_finish(&d.at);
  return st == UN_OK && un__graph_status(b->g) == UN_OK ? out : NULL;
}

const un__rf_kernels *un__rf_finish(un__rf_builder *b, const un__rf_member *m, uint32_t n, uint32_t nleaf) {
  if (n == 1) {
    if (!m[0].nest->kernels) m[0].nest->kernels = make_all(b, m, n, nleaf);
    return m[0].nest->kernels;
  }
  for (size_t i = 0; i < b->finished.n; i++)
    if (same_members(&b->finished.at[i], m, n, nleaf)) return b->finished.at[i].kernels;
  un__rf_finished f = {.n = n, .nleaf = nleaf, .kernels = make_all(b, m, n, nleaf)};
  memcpy(f.member, m, n * sizeof *m);
  if (f.kernels && !un__vec_push(&b->finished, f)) {
    un__fail(un__graph_err(b->g), UN_ERR_NOMEM, "rangeify: out of memory");
    return NULL;
  }
  return f.kernels;
}
