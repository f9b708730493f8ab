/* lanes.c - which axis of each nest becomes SIMD lanes: the one that makes the estimated work smallest. */
#include "choose.h"

#define BIT(a) (UINT64_C(1) << (a))

int64_t un__opt_lanes(const un__opt_choice *c, uint32_t axis) {
  const un__opt_axis *a = &c->k->axis[axis];
  int64_t lanes = c->axis_lanes[axis];
  while (a->known && lanes > 1 && lanes / 2 >= a->size) lanes /= 2;
  return lanes;
}

/* Estimated work of a value when `axis` (or none: -1) is the lane. A scattered access costs a quarter more than its
 * scalar parts, for putting the vector together. */
static uint64_t work_of(const un__opt_choice *c, uint32_t value, int32_t axis) {
  const un__opt_value *v = &c->k->value[value];
  if (axis < 0 || !(v->live & BIT(axis))) return un__opt_sat_mul(un__opt_trips(c->k, v->live), v->cost);
  int64_t lanes = un__opt_lanes(c, (uint32_t)axis);
  uint64_t trips =
      un__opt_sat_mul(un__opt_trips(c->k, v->live & ~BIT(axis)), (uint64_t)un__opt_ceil(c->k->axis[axis].size, lanes));
  bool scatter = un__opt_move_of(c, (uint32_t)axis, value) == UN__OPT_SCATTER;
  return un__opt_sat_mul(trips, scatter ? (uint64_t)(v->cost * lanes + lanes / 4) : v->cost);
}

/* Work of everything in a reduction's loops with the given lane; combining the lanes at the end costs about one
 * operation a lane. */
static uint64_t reduce_work(const un__opt_choice *c, const un__opt_scope *s, int32_t axis) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < c->k->nvalues; i++)
    if (c->k->value[i].live & s->axes) sum = un__opt_sat_add(sum, work_of(c, i, axis));
  if (axis < 0) return sum;
  uint64_t ends = un__opt_sat_mul(un__opt_trips(c->k, s->outer), (uint64_t)un__opt_lanes(c, (uint32_t)axis));
  return un__opt_sat_add(sum, ends);
}

typedef struct best {
  int32_t axis;
  uint64_t work, scalar;
} best;

static best best_of_reduce(const un__opt_choice *c, const un__opt_scope *s) {
  best b = {-1, reduce_work(c, s, -1), 0};
  b.scalar = b.work;
  if (s->float_order && !(c->licences & UN__LIC_REDUCE_ORDER)) return b;
  for (uint32_t i = s->n; i-- > 0;) {
    int32_t a = s->order[i];
    if (un__opt_lanes(c, (uint32_t)a) < 2) continue;
    uint64_t w = reduce_work(c, s, a);
    if (w < b.work) b.axis = a, b.work = w;
  }
  return b;
}

/* Work of the whole kernel when `axis` is the lane of a store nest: what does not run inside it takes the best lane of
 * its own reduction. */
static uint64_t nest_work(const un__opt_choice *c, int32_t axis, const best *own) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    bool inside = axis >= 0 && v->live & BIT(axis);
    bool reduced = v->scope >= 0 && c->k->scope[v->scope].reduce;
    if (inside || !reduced) sum = un__opt_sat_add(sum, work_of(c, i, axis));
  }
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (c->k->scope[i].reduce && !(axis >= 0 && c->k->scope[i].outer & BIT(axis)))
      sum = un__opt_sat_add(sum, own[i].work);
  return sum;
}

static best best_of_nest(const un__opt_choice *c, const un__opt_scope *s, const best *own) {
  best b = {-1, nest_work(c, -1, own), 0};
  b.scalar = b.work;
  for (uint32_t i = s->n; i-- > 0;) {
    int32_t a = s->order[i];
    if (un__opt_lanes(c, (uint32_t)a) < 2) continue;
    uint64_t w = nest_work(c, a, own);
    if (w < b.work) b.axis = a, b.work = w;
  }
  return b;
}

static void settle(un__opt_choice *c, uint32_t scope, const best *b) {
  const un__opt_scope *s = &c->k->scope[scope];
  const char *what = s->reduce ? "reduction" : "store";
  c->lane[scope] = (int8_t)b->axis;
  if (b->axis < 0) {
    const char *reason = s->reduce && s->float_order && !(c->licences & UN__LIC_REDUCE_ORDER)
                             ? "no licence reduce_order"
                             : "no axis makes less work";
    un__opt_say(c, "%s nest of range %lld stays scalar: %s (work %llu)", what, (long long)c->k->axis[s->order[0]].id,
                reason, (unsigned long long)b->work);
    return;
  }
  c->pick[b->axis].lanes = un__opt_lanes(c, (uint32_t)b->axis);
  uint32_t unit = 0, scatter = 0;
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    if (v->kind != UN__OPT_LOAD && v->kind != UN__OPT_STORE) continue;
    unit += un__opt_move_of(c, (uint32_t)b->axis, i) == UN__OPT_UNIT;
    scatter += un__opt_move_of(c, (uint32_t)b->axis, i) == UN__OPT_SCATTER;
  }
  un__opt_say(
      c,
      "range %lld of the %s nest, %lld lanes of %u bytes: %u accesses in order, %u one by one; work %llu against %llu",
      (long long)c->k->axis[b->axis].id, what, (long long)c->pick[b->axis].lanes, c->k->width, unit, scatter,
      (unsigned long long)b->work, (unsigned long long)b->scalar);
}

/* Whether a lane was given to a loop around this scope: a vector of vectors cannot be. */
static bool inside_lane(const un__opt_choice *c, const un__opt_scope *s) {
  for (uint64_t m = s->outer; m; m &= m - 1)
    if (c->pick[__builtin_ctzll(m)].lanes) return true;
  return false;
}

void un__opt_pick_lanes(un__opt_choice *c) {
  best own[UN__OPT_MAX_AXES];
  for (uint32_t i = 0; i < c->k->nscopes; i++) c->lane[i] = -1;
  if (c->max_lanes < 2) {
    un__opt_say(c, "none: the target has no vectors for elements of %u bytes", c->k->width);
    return;
  }
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (c->k->scope[i].reduce) own[i] = best_of_reduce(c, &c->k->scope[i]);
  /* Outer nests choose first. The toposort lists inner scopes before the outer ones that use them. */
  for (int reduce = 0; reduce < 2; reduce++)
    for (uint32_t i = c->k->nscopes; i-- > 0;) {
      const un__opt_scope *s = &c->k->scope[i];
      if (s->reduce != (reduce == 1) || inside_lane(c, s)) continue;
      best b = s->reduce ? own[i] : best_of_nest(c, s, own);
      settle(c, i, &b);
    }
}
