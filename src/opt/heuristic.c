/* heuristic.c - runs the strategies on a kernel and writes their decisions down as a plan. */
#include <stdio.h>

#include "choose.h"
#include "gpu.h"

typedef struct strategy {
  const char *name;
  void (*pick)(un__opt_choice *c);
} strategy;

/* In this order: later ones build on what earlier ones decided. */
static const strategy strategies[] = {
    {"lanes", un__opt_pick_lanes},     /* which axis of each nest becomes SIMD lanes */
    {"reuse", un__opt_pick_reuse},     /* outputs that share operands stand side by side in registers */
    {"chains", un__opt_pick_chains},   /* several accumulators of one reduction, so that none waits for the other */
    {"cross", un__opt_pick_cross},     /* what lanes read far apart is loaded by rows and turned in registers */
    {"wide", un__opt_pick_wide},       /* several vectors an iteration where there is nothing to reuse */
    {"stage", un__opt_pick_stage},     /* strided operands copied into scratch in the order they are read */
    {"tiles", un__opt_pick_tiles},     /* cache tiles: transposes by lines, matrix products by panels */
    {"threads", un__opt_pick_threads}, /* tasks for the thread pool */
};

void un__opt_say(un__opt_choice *c, const char *fmt, ...) {
  if (!c->why) return;
  char text[256];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  un__sb_printf(c->why, "%s: %s\n", c->strategy, text);
}

/* ---- how accesses move ---- */

static un__opt_move move_of(const un__opt_kernel *k, const un__affine *affine, const un__opt_value *v, uint32_t axis) {
  if (!(v->moves & UINT64_C(1) << axis)) return UN__OPT_STILL;
  if (v->kind != UN__OPT_LOAD && v->kind != UN__OPT_STORE) return UN__OPT_UNIT;
  const un_uop *address = v->node->src[0];
  if (!un__is(address, UN__OP_INDEX)) return UN__OPT_SCATTER;
  const un__affine *a = &affine[un__topo_find(&k->nodes, address->src[1])];
  if (a->linear && a->axis < 0 && v->kind == UN__OPT_STORE) return UN__OPT_STILL;
  return a->linear && a->axis == 0 && a->step == 1 ? UN__OPT_UNIT : UN__OPT_SCATTER;
}

static bool is_aligned(const un__opt_kernel *k, const un__affine *affine, const un__opt_value *v, uint32_t axis, int64_t lanes) {
  const un_uop *address = v->node->src[0];
  bool gated = address->nsrc > 2 && k->mask[un__topo_find(&k->nodes, address->src[2])] & UINT64_C(1) << axis;
  return !gated && affine[un__topo_find(&k->nodes, address->src[1])].mult % lanes == 0;
}

static bool find_moves(un__opt_choice *c) {
  const un__opt_kernel *k = c->k;
  un__affine *affine = un__calloc(k->nodes.n, sizeof *affine);
  c->move = un__calloc((size_t)k->naxes * k->nvalues + 1, 1);
  if (!affine || !c->move) {
    un__free(affine);
    return false;
  }
  for (uint32_t i = 0; i < k->naxes; i++) {
    un__affine_axis axis = {k->axis[i].range, un__opt_lanes(c, i)};
    un__affine_scan(&k->nodes, &axis, 1, affine);
    for (uint32_t j = 0; j < k->nvalues; j++) {
      un__opt_move move = move_of(k, affine, &k->value[j], i);
      bool access = k->value[j].kind == UN__OPT_LOAD || k->value[j].kind == UN__OPT_STORE;
      bool aligned = c->t->gpu.arch && access && move == UN__OPT_UNIT && is_aligned(k, affine, &k->value[j], i, axis.extent);
      c->move[i * k->nvalues + j] = (uint8_t)(move | (aligned ? UN__OPT_ALIGNED : 0));
    }
  }
  un__free(affine);
  return true;
}

/* ---- from decisions to steps ---- */

int64_t un__opt_add_step(un__opt_writer *w, int64_t id, un__axis axis, int64_t factor, bool inner) {
  if (w->plan->n == UN__OPT_MAX_STEPS) {
    un__opt_say(w->c, "full: range %lld keeps its loop", (long long)id);
    return -1;
  }
  w->plan->step[w->plan->n++] = (un__opt_step){id, axis, factor, inner, UN__OPT_SPLIT};
  return factor ? w->next_id++ : id;
}

void un__opt_add_stage(un__opt_writer *w, int64_t id, int64_t stages) {
  un__opt_step step = {.range_id = id, .factor = stages > 1 ? stages : 0, .kind = UN__OPT_STAGE};
  if (w->plan->n < UN__OPT_MAX_STEPS) w->plan->step[w->plan->n++] = step;
}

/* Lanes and copies of one axis. The lane is the newest range of its nest: that is how it is told from a tile. */
static void write_part(un__opt_writer *w, uint32_t axis) {
  const un__opt_pick *p = &w->c->pick[axis];
  const un__opt_axis *a = &w->c->k->axis[axis];
  int64_t lanes = p->lanes ? p->lanes : 1, copies = p->copies ? p->copies : 1;
  if (lanes * copies < 2) return;
  /* A tile of outputs is UNROLL: UPCAST would make a lane of it, and padding of an UNROLL range needs no gated loads.
   */
  un__axis type = a->reduce || lanes < 2 ? UN__AXIS_UNROLL : UN__AXIS_UPCAST;
  int64_t part = un__opt_add_step(w, a->id, type, lanes * copies, true);
  if (part >= 0 && lanes > 1 && copies > 1) un__opt_add_step(w, part, type, lanes, true);
}

static void write_plan(un__opt_choice *c, un__opt_plan *plan) {
  un__opt_writer w = {c, plan, c->k->next_id};
  for (int lanes = 0; lanes < 2; lanes++)
    for (uint32_t i = 0; i < c->k->naxes; i++)
      if ((c->pick[i].lanes > 1) == (lanes == 1)) write_part(&w, i);
  for (uint32_t i = 0; i < c->k->naxes; i++)
    if (c->pick[i].tile > 1) un__opt_add_step(&w, c->k->axis[i].id, UN__AXIS_LOOP, c->pick[i].tile, true);
  for (uint32_t i = 0; i < c->k->naxes; i++)
    if (c->pick[i].chunks > 1) un__opt_add_step(&w, c->k->axis[i].id, UN__AXIS_THREAD, c->pick[i].chunks, false);
  for (uint32_t i = 0; i < c->k->naxes; i++)
    if (c->pick[i].stage) un__opt_add_stage(&w, c->k->axis[i].id, 0);
}

/* A kernel that came out of here, or of a file: it is taken as it is. */
static bool is_planned(const un__opt_kernel *k) {
  for (uint32_t i = 0; i < k->naxes; i++)
    if (k->axis[i].type != UN__AXIS_LOOP && k->axis[i].type != UN__AXIS_REDUCE) return true;
  return false;
}

static void choose_cpu(un__opt_choice *c, un__opt_plan *out) {
  for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
    c->strategy = strategies[i].name;
    strategies[i].pick(c);
  }
  c->strategy = "plan";
  write_plan(c, out);
}

static void choose_gpu(un__opt_choice *c, un__opt_plan *out) {
  un__opt_gpu_pick(c);
  c->strategy = "plan";
  un__opt_gpu_write(c, out);
}

/* Of the widest element in memory that is accessed along the axis: a thread of a GPU has no vectors but for accesses. */
static uint32_t access_width(const un__opt_kernel *k, uint32_t axis) {
  uint32_t most = 1;
  for (uint32_t i = 0; i < k->nvalues; i++) {
    const un__opt_value *v = &k->value[i];
    bool access = v->kind == UN__OPT_LOAD || v->kind == UN__OPT_STORE;
    if (!access || !(v->moves & UINT64_C(1) << axis)) continue;
    uint32_t bytes = un__dt_info(v->kind == UN__OPT_STORE ? v->node->src[1]->dtype : v->node->dtype)->size;
    if (bytes > most) most = bytes;
  }
  return most;
}

static int64_t lanes_of(const un__target *t, uint32_t width) {
  int64_t lanes = 1;
  while (lanes * 2 * width <= t->vector_bytes && lanes < 64) lanes *= 2;
  return lanes;
}

/* How many elements one vector holds along each axis; on a CPU as many along all, since what is computed are vectors too. */
static void find_lanes(un__opt_choice *c) {
  c->max_lanes = lanes_of(c->t, c->k->width);
  for (uint32_t i = 0; i < c->k->naxes; i++)
    c->axis_lanes[i] = c->t->gpu.arch ? lanes_of(c->t, access_width(c->k, i)) : c->max_lanes;
}

un_status un__opt_heuristic(const un_uop *kernel, const un__target *t, uint32_t licences, un__opt_plan *out,
                            un__strbuf *why) {
  *out = (un__opt_plan){0};
  un__opt_kernel k;
  un__err err = {0};
  un_status st = un__opt_kernel_of(&k, kernel, t, &err);
  if (st == UN_ERR_UNSUPPORTED && why) un__sb_printf(why, "none: %s\n", err.text);
  if (st == UN_ERR_UNSUPPORTED) return UN_OK;
  if (st != UN_OK) return st;
  if (is_planned(&k)) {
    if (why) un__sb_puts(why, "none: its ranges have AxisTypes already\n");
    un__opt_kernel_finish(&k);
    return UN_OK;
  }
  un__opt_choice c = {.k = &k, .t = t, .licences = licences, .why = why};
  find_lanes(&c);
  st = find_moves(&c) ? UN_OK : UN_ERR_NOMEM;
  if (st == UN_OK && k.naxes && t->gpu.arch) choose_gpu(&c, out);
  else if (st == UN_OK && k.naxes) choose_cpu(&c, out);
  un__free(c.move);
  un__opt_kernel_finish(&k);
  return st;
}
