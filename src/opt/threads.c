/* threads.c - which loop is cut into tasks for the thread pool, and into how many. */
#include "choose.h"

#define BIT(a) (UINT64_C(1) << (a))

enum { TASKS_PER_THREAD = 4 };

/* Scalar work of the kernel: all of it, and what runs inside `axis` only. */
static uint64_t work_inside(const un__opt_choice *c, uint64_t axes) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    if (!axes || v->live & axes) sum = un__opt_sat_add(sum, un__opt_sat_mul(un__opt_trips(c->k, v->live), v->cost));
  }
  return sum;
}

/* Iterations that can become tasks: what lanes, copies and the tile leave. */
static int64_t iterations(const un__opt_choice *c, uint32_t axis) {
  int64_t tile = c->pick[axis].tile;
  return un__opt_ceil(un__opt_blocks(c, axis), tile ? tile : 1);
}

/* How many tasks: up to `want`, as equal as can be. */
static int64_t tasks_of(int64_t iterations, int64_t want) {
  if (iterations <= want) return iterations;
  return un__opt_ceil(iterations, un__opt_ceil(iterations, want));
}

int32_t un__opt_only_nest(const un__opt_choice *c) {
  int32_t found = -1;
  for (uint32_t i = 0; i < c->k->nscopes; i++) {
    if (c->k->scope[i].reduce || c->k->scope[i].outer) continue;
    if (found >= 0) return -1;
    found = (int32_t)i;
  }
  const un_uop *root = c->k->nodes.at[c->k->nodes.n - 1];
  for (uint32_t i = 0; i < root->nsrc; i++)
    if (!un__is(root->src[i], UN__OP_END)) return -1;
  return found;
}

typedef struct split {
  int32_t axis;
  int64_t tasks;
  uint64_t time;
} split;

/* The time of the longest thread, in scalar operations: work outside the axis is done by every task again. */
static split split_of(const un__opt_choice *c, uint32_t axis, uint64_t all) {
  int64_t threads = c->t->threads, n = iterations(c, axis), want = threads * TASKS_PER_THREAD;
  if (c->pick[axis].stage && want > n / 2) want = n / 2; /* the loop that stages stays */
  split s = {(int32_t)axis, want < 2 ? 1 : tasks_of(n, want), all};
  if (s.tasks < 2) return s;
  uint64_t inside = work_inside(c, BIT(axis)), rounds = (uint64_t)un__opt_ceil(s.tasks, threads);
  s.time = un__opt_sat_add(inside / (uint64_t)s.tasks * rounds, un__opt_sat_mul(all - inside, rounds));
  return s;
}

void un__opt_pick_threads(un__opt_choice *c) {
  uint64_t all = work_inside(c, 0);
  if (!c->t->has_threads || c->t->threads < 2) {
    un__opt_say(c, "one: the target has no more");
    return;
  }
  if (all < c->t->min_parallel_work) {
    un__opt_say(c, "one: work %llu is less than %u", (unsigned long long)all, c->t->min_parallel_work);
    return;
  }
  int32_t nest = un__opt_only_nest(c);
  if (nest < 0) {
    un__opt_say(c, "one, sequential: no loop encloses every result (work %llu)", (unsigned long long)all);
    return;
  }
  split best = {-1, 1, all - all / 8}; /* less than an eighth is not worth a pool */
  const un__opt_scope *s = &c->k->scope[nest];
  for (uint32_t i = 0; i < s->n; i++) {
    split x = split_of(c, s->order[i], all);
    if (x.time < best.time - best.time / 16 || (best.axis < 0 && x.time < best.time)) best = x;
  }
  if (best.axis < 0) {
    un__opt_say(c, "one, sequential: no loop has iterations enough (work %llu)", (unsigned long long)all);
    return;
  }
  c->pick[best.axis].chunks = best.tasks;
  un__opt_say(c, "%lld tasks of range %lld: work %llu, %u threads", (long long)best.tasks,
              (long long)c->k->axis[best.axis].id, (unsigned long long)all, c->t->threads);
}
