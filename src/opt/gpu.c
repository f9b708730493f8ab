/* gpu.c - what all shapes of kernels on a GPU have in common: questions about accesses, and the steps of a plan. */
#include "gpu.h"

#define BIT(a) (UINT64_C(1) << (a))

/* ---- questions ---- */

static bool is_access(const un__opt_value *v) { return v->kind == UN__OPT_LOAD || v->kind == UN__OPT_STORE; }

static uint64_t bytes_of(const un__opt_value *v) {
  return un__dt_info(v->kind == UN__OPT_STORE ? v->node->src[1]->dtype : v->node->dtype)->size;
}

uint64_t un__opt_gpu_in_order(const un__opt_gpu *x, uint32_t axis, int32_t scope) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < x->c->k->nvalues; i++) {
    const un__opt_value *v = &x->c->k->value[i];
    if (!is_access(v) || (scope >= 0 && v->scope != scope) || un__opt_move_of(x->c, axis, i) != UN__OPT_UNIT) continue;
    uint64_t bytes = un__opt_sat_mul(un__opt_trips(x->c->k, v->live), bytes_of(v));
    sum = un__opt_sat_add(sum, v->kind == UN__OPT_STORE ? un__opt_sat_add(bytes, bytes / 4) : bytes);
  }
  return sum;
}

int32_t un__opt_gpu_fast(const un__opt_gpu *x, const un__opt_scope *s, uint64_t axes, int32_t scope) {
  int32_t best = -1;
  uint64_t most = 0;
  for (uint32_t i = s->n; i-- > 0;) {
    uint32_t a = s->order[i];
    uint64_t bytes = axes & BIT(a) && x->c->k->axis[a].size > 1 ? un__opt_gpu_in_order(x, a, scope) : 0;
    if (bytes > most) best = (int32_t)a, most = bytes;
  }
  return best;
}

int64_t un__opt_gpu_lanes(const un__opt_gpu *x, uint32_t axis) {
  const un__opt_axis *a = &x->c->k->axis[axis];
  int64_t lanes = un__opt_lanes(x->c, axis);
  if (!a->known || lanes < 2 || a->size % lanes) return 1;
  uint32_t good = 0, bad = 0;
  for (uint32_t i = 0; i < x->c->k->nvalues; i++) {
    if (!is_access(&x->c->k->value[i]) || un__opt_move_of(x->c, axis, i) == UN__OPT_STILL) continue;
    if (un__opt_move_of(x->c, axis, i) == UN__OPT_UNIT && !un__opt_aligned(x->c, axis, i)) return 1;
    if (un__opt_move_of(x->c, axis, i) == UN__OPT_UNIT) good++;
    else bad++;
  }
  return good && bad <= good ? lanes : 1;
}

int64_t un__opt_gpu_size(const un__opt_gpu *x, uint32_t axis) { return x->c->k->axis[axis].size; }

int64_t un__opt_gpu_left(const un__opt_gpu *x, uint32_t axis) {
  const un__opt_pick *p = &x->c->pick[axis];
  const int64_t part[] = {p->lanes, p->inner, p->warp, p->threads, p->copies, p->tile};
  int64_t left = x->c->k->axis[axis].size;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (part[i] > 1) left = un__opt_ceil(left, part[i]);
  return left;
}

int64_t un__opt_gpu_fit(const un__opt_gpu *x, uint32_t axis, int64_t want) {
  int64_t left = un__opt_gpu_left(x, axis);
  while (want > 1 && want / 2 >= left) want /= 2;
  return want;
}

int64_t un__opt_gpu_floor2(int64_t n) {
  int64_t p = 1;
  while (p <= n / 2) p *= 2;
  return p;
}

/* ---- dealing threads ---- */

static int64_t deal_axis(un__opt_gpu *x, uint32_t axis, int64_t want) {
  un__opt_pick *p = &x->c->pick[axis];
  int64_t left = un__opt_gpu_left(x, axis), part = left;
  if (want < 2 || left < 2 || p->threads) return 1;
  if (!x->c->k->axis[axis].known || left > want) part = un__opt_gpu_floor2(want);
  /* Digits shared with a group of threads are powers of two as it is, so that others fit beside both. */
  else if (x->rest & BIT(axis) && x->reduces && un__opt_gpu_floor2(left) < left) part = 2 * un__opt_gpu_floor2(left);
  p->threads = part;
  return part;
}

int64_t un__opt_gpu_deal(un__opt_gpu *x, const un__opt_scope *s, uint64_t axes, int32_t first, int64_t want) {
  int64_t dealt = first >= 0 && axes & BIT(first) ? deal_axis(x, (uint32_t)first, want) : 1;
  for (uint32_t i = s->n; i-- > 0;)
    if (axes & BIT(s->order[i]) && s->order[i] != first) dealt *= deal_axis(x, s->order[i], want / dealt);
  return dealt;
}

/* ---- choosing ---- */

static void look(un__opt_gpu *x) {
  const un__opt_kernel *k = x->c->k;
  int32_t nest = un__opt_only_nest(x->c);
  x->nest = nest >= 0 ? &k->scope[nest] : NULL;
  uint64_t around = 0;
  for (uint32_t i = 0; i < k->nscopes; i++)
    if (k->scope[i].reduce) around |= k->scope[i].outer, x->reduces = true;
  if (!x->nest) return;
  x->kept = x->nest->axes & around;
  x->rest = x->nest->axes & ~around;
}

/* What is left of the axes that everything depends on becomes blocks: of the others too, where nothing is reduced. */
static void pick_blocks(un__opt_gpu *x) {
  for (uint32_t i = 0; x->nest && i < x->nest->n; i++) {
    uint32_t a = x->nest->order[i];
    if (!x->c->k->axis[a].known) continue;
    if (!x->reduces || x->kept & BIT(a)) x->c->pick[a].blocks = true;
  }
}

void un__opt_gpu_pick(un__opt_choice *c) {
  un__opt_gpu x = {.c = c};
  look(&x);
  for (size_t i = 0; i < un__opt_gpu_nshapes; i++) {
    c->strategy = un__opt_gpu_shapes[i].name;
    if (un__opt_gpu_shapes[i].pick(&x)) break;
  }
  c->strategy = "blocks";
  pick_blocks(&x);
}

/* ---- from decisions to steps ---- */

/* Takes a part off the inner side of what is left of an axis; the new range's id, or -1. */
static int64_t take_part(un__opt_writer *w, uint32_t axis, un__axis type, int64_t size, int64_t *left) {
  if (size < 2 || *left < 2) return -1;
  *left = un__opt_ceil(*left, size);
  return un__opt_add_step(w, w->c->k->axis[axis].id, type, size, true);
}

/* What a tensor core takes of an axis, from the inner side on, and the numbers of the plan that say how much of it. */
enum { CORE_PARTS = 4 };
typedef struct core_part { un__axis type; size_t size; } core_part;
#define SIZE_OF(field) offsetof(un__opt_pick, field)
static const core_part core_parts[][CORE_PARTS] = {
  [UN__OPT_CORE_ROW] = {{UN__AXIS_WARP, SIZE_OF(warp)}, {UN__AXIS_UNROLL, SIZE_OF(inner)}, {UN__AXIS_UNROLL, SIZE_OF(copies)},
                        {UN__AXIS_LOCAL, SIZE_OF(threads)}},
  [UN__OPT_CORE_COLUMN] = {{UN__AXIS_UPCAST, SIZE_OF(lanes)}, {UN__AXIS_WARP, SIZE_OF(warp)}, {UN__AXIS_UNROLL, SIZE_OF(copies)},
                           {UN__AXIS_LOCAL, SIZE_OF(threads)}},
  [UN__OPT_CORE_DEPTH] = {{UN__AXIS_TENSOR, SIZE_OF(lanes)}, {UN__AXIS_UNROLL, SIZE_OF(copies)}},
};

static void write_core_axis(un__opt_writer *w, uint32_t axis) {
  const un__opt_pick *p = &w->c->pick[axis];
  const un__opt_axis *a = &w->c->k->axis[axis];
  int64_t left = a->size;
  for (int i = 0; i < CORE_PARTS; i++) {
    const core_part *part = &core_parts[p->core][i];
    int64_t size = part->size || part->type ? *(const int64_t *)((const char *)p + part->size) : 0;
    if (size == left && size > 1) un__opt_add_step(w, a->id, part->type, 0, true), left = 1;
    else take_part(w, axis, part->type, size, &left);
  }
  if (p->blocks && left > 1) un__opt_add_step(w, a->id, UN__AXIS_GLOBAL, p->together ? left / p->together : 0, false);
}

static void write_axis(un__opt_writer *w, uint32_t axis) {
  const un__opt_pick *p = &w->c->pick[axis];
  const un__opt_axis *a = &w->c->k->axis[axis];
  int64_t left = a->known ? a->size : INT64_MAX;
  if (p->core) {
    write_core_axis(w, axis);
    return;
  }
  /* The lanes of a reduction are its newest range: they are taken off as a loop, and become lanes when copies are there. */
  int64_t lanes = take_part(w, axis, a->reduce ? UN__AXIS_REDUCE : UN__AXIS_UPCAST, p->lanes, &left);
  take_part(w, axis, UN__AXIS_UNROLL, p->inner, &left);
  take_part(w, axis, UN__AXIS_WARP, a->reduce ? 0 : p->warp, &left);
  take_part(w, axis, a->reduce ? UN__AXIS_GROUP_REDUCE : UN__AXIS_LOCAL, p->threads, &left);
  take_part(w, axis, UN__AXIS_UNROLL, p->copies, &left);
  if (a->reduce) take_part(w, axis, UN__AXIS_REDUCE, p->tile, &left);
  if (a->reduce && lanes >= 0) un__opt_add_step(w, lanes, UN__AXIS_UNROLL, p->lanes, true);
  if (p->blocks && left > 1) un__opt_add_step(w, a->id, UN__AXIS_GLOBAL, 0, false);
}

/* Nests in the order of their loops, so that blocks are numbered along memory. */
void un__opt_gpu_write(un__opt_choice *c, un__opt_plan *plan) {
  un__opt_writer w = {c, plan, c->k->next_id};
  for (int reduce = 0; reduce < 2; reduce++)
    for (uint32_t i = 0; i < c->k->nscopes; i++)
      for (uint32_t j = 0; c->k->scope[i].reduce == (reduce == 1) && j < c->k->scope[i].n; j++)
        write_axis(&w, c->k->scope[i].order[j]);
  for (uint32_t i = 0; i < c->k->naxes; i++)
    if (c->pick[i].together) un__opt_add_step(&w, c->k->axis[i].id, UN__AXIS_GLOBAL, 0, false);
  for (uint32_t i = 0; i < c->k->naxes; i++)
    if (c->pick[i].stage) un__opt_add_stage(&w, c->k->axis[i].id, c->pick[i].stages);
}
