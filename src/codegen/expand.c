/* expand.c - chooses the lanes of a kernel and drives the passes of expand.pat. */
#include "expand.h"

#include "expand_choice.h"

extern const un__pass un__pass_expand_tiles, un__pass_expand_lanes, un__pass_expand_values;

/* Outer nests choose first, so users come before sources. */
static un_status choose_lanes(un__expansion *x, const un__topo *order) {
  for (size_t i = order->n; i-- > 0;) {
    const un_uop *n = order->at[i], *lane;
    if (!un__is(n, UN__OP_END) && !un__is(n, UN__OP_REDUCE)) continue;
    lane = un__lane_of(x, n);
    if (lane && !un__is_chosen(x, lane) && !un__vec_push(&x->lanes, lane)) return UN_ERR_NOMEM;
  }
  return UN_OK;
}

static const un_uop *fail_nomem(un__graph *g) {
  un__fail(un__graph_err(g), UN_ERR_NOMEM, "expand: no memory");
  return NULL;
}

/* The accesses of the lanes, then all values that move along them. */
static const un_uop *expand_lanes(un__graph *g, const un_uop *kernel, un__expansion *x, uint32_t licences) {
  un__rw_options opt = {.ctx = x, .licences = licences};
  un__affine_axis *axes = un__alloc(x->lanes.n * sizeof *axes);
  if (!axes || !un__topo_of(&x->order, kernel) || !(x->affine = un__calloc(x->order.n, sizeof *x->affine))) {
    un__free(axes);
    return fail_nomem(g);
  }
  for (size_t i = 0; i < x->lanes.n; i++)
    axes[i] = (un__affine_axis){x->lanes.at[i], un__known_size(x->lanes.at[i]->src[0])};
  un__affine_scan(&x->order, axes, (uint32_t)x->lanes.n, x->affine);
  un__free(axes);
  kernel = un__graph_rewrite(g, kernel, &un__pass_expand_lanes, &opt);
  return kernel ? un__graph_rewrite(g, kernel, &un__pass_expand_values, &opt) : NULL;
}

/* What the passes promise. A graph that breaks it is one that the optimiser should not have made. */
static const un_uop *check_done(un__graph *g, const un_uop *kernel) {
  size_t n;
  const un_uop **order = un__toposort(kernel, &n);
  if (!order) return fail_nomem(g);
  const un_uop *left = NULL;
  for (size_t i = 0; i < n && !left; i++) {
    bool spread = un__is(order[i], UN__OP_UNROLL) || un__is(order[i], UN__OP_CONTRACT);
    bool range = un__is(order[i], UN__OP_RANGE) && un__expands(un__range_axis(order[i]));
    if (spread || range) left = order[i];
  }
  un__free(order);
  if (!left) return kernel;
  un__fail(un__graph_err(g), UN_ERR_INTERNAL, "expand: a %s is left that nothing takes", un__info(left)->text);
  return NULL;
}

const un_uop *un__expand(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences) {
  un__expansion x = {.max_sums = t->vector_registers / 2 > 8 ? t->vector_registers / 2 : 8, .gpu = t->gpu.arch != NULL};
  un__rw_options opt = {.ctx = &x, .licences = licences};
  un__topo order;
  if (!un__topo_of(&order, kernel)) return fail_nomem(ws);
  un_status st = choose_lanes(&x, &order);
  un__topo_finish(&order);
  if (st == UN_OK) st = un__find_rows(&x, kernel);
  kernel = st == UN_OK ? un__graph_rewrite(ws, kernel, &un__pass_expand_tiles, &opt) : fail_nomem(ws);
  un__rows_finish(&x);
  if (kernel && x.lanes.n) kernel = expand_lanes(ws, kernel, &x, licences);
  un__vec_finish(&x.lanes);
  un__topo_finish(&x.order);
  un__free(x.affine);
  return kernel ? check_done(ws, kernel) : NULL;
}
