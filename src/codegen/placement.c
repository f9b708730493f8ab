/* placement.c - the loop tree of a kernel, by dependence alone.
 *
 * A loop stands inside every loop that its END's value depends on, and a node in the deepest loop among the ranges it
 * depends on: so what does not change in a loop is computed before it. The ranges of one node must lie on one path
 * of the tree; a kernel for which they do not has no linear form and is refused. */
#include "placement.h"

#include <string.h>

bool un__range_is_special(const un_uop *range) { return un__axis_table[un__range_axis(range)].special; }

static bool is_loop(const un_uop *n) { return un__is(n, UN__OP_RANGE) && !un__range_is_special(n); }

static bool out_of_memory(un__graph *ws) {
  un__fail(un__graph_err(ws), UN_ERR_NOMEM, "no memory to linearise a kernel");
  return false;
}

static bool in_set(const uint64_t *set, uint32_t i) { return set[i / 64] >> i % 64 & 1; }
static void put_in_set(uint64_t *set, uint32_t i) { set[i / 64] |= (uint64_t)1 << i % 64; }

static uint32_t loop_of(const un__placement *p, const un_uop *range) { return p->block[p->at[range->id]]; }

/* ---- the loops ---- */

static bool number_nodes(un__graph *ws, const un_uop *kernel, un__placement *p) {
  size_t n;
  p->order = un__toposort(kernel, &n);
  if (!p->order || n > UINT32_MAX / 2) return out_of_memory(ws);
  p->n = (uint32_t)n;
  p->at = un__calloc(un__graph_id_limit(ws), sizeof *p->at);
  p->block = un__calloc(n, sizeof *p->block);
  p->closes = un__alloc(n * sizeof *p->closes);
  if (!p->at || !p->block || !p->closes) return out_of_memory(ws);
  p->nloops = 1;
  for (uint32_t i = 0; i < p->n; i++) {
    p->at[p->order[i]->id] = i;
    p->closes[i] = UN__NO_LOOP;
    if (is_loop(p->order[i])) p->block[i] = p->nloops++;
  }
  p->words = p->nloops / 64 + 1;
  p->loop = un__calloc(p->nloops, sizeof *p->loop);
  return p->loop || out_of_memory(ws);
}

static bool list_loops(un__graph *ws, un__placement *p) {
  uint64_t *sets = un__calloc((size_t)p->nloops * p->words, sizeof *sets);
  if (!sets) return out_of_memory(ws);
  for (uint32_t i = 0; i < p->nloops; i++) p->loop[i] = (un__loop){.first_end = UINT32_MAX, .outer = sets + (size_t)i * p->words};
  for (uint32_t i = 0; i < p->n; i++)
    if (is_loop(p->order[i])) {
      un__loop *l = &p->loop[p->block[i]];
      l->range = p->order[i];
      l->range_at = i;
    }
  return true;
}

static void add_outer(const un__placement *p, un__loop *l, const un__rangeset *ranges) {
  for (uint32_t i = 0; i < ranges->n; i++)
    if (ranges->range[i] != l->range && !un__range_is_special(ranges->range[i])) put_in_set(l->outer, loop_of(p, ranges->range[i]));
}

static bool collect_ends(un__graph *ws, un__placement *p) {
  for (uint32_t i = 0; i < p->n; i++) {
    const un_uop *n = p->order[i];
    if (is_loop(n)) add_outer(p, &p->loop[p->block[i]], n->src[0]->ranges);
    if (!un__is(n, UN__OP_END)) continue;
    if (n->nsrc != 2 || !un__is(n->src[1], UN__OP_RANGE)) {
      un__fail(un__graph_err(ws), UN_ERR_INTERNAL, "linearize: an END must close exactly one RANGE");
      return false;
    }
    if (un__range_is_special(n->src[1])) continue;
    p->closes[i] = loop_of(p, n->src[1]);
    un__loop *l = &p->loop[p->closes[i]];
    if (l->first_end == UINT32_MAX) l->first_end = i;
    add_outer(p, l, n->ranges);
  }
  for (uint32_t i = 1; i < p->nloops; i++)
    if (p->loop[i].first_end == UINT32_MAX) {
      un__fail(un__graph_err(ws), UN_ERR_INTERNAL, "linearize: no END closes range %lld", (long long)un__range_id(p->loop[i].range));
      return false;
    }
  return true;
}

/* ---- the tree ---- */

/* The deepest of the loops in `set`, when all of them lie on the path from the top to it; else UN__NO_LOOP. */
static uint32_t innermost(const un__placement *p, const uint64_t *set) {
  uint32_t best = 0, count = 0;
  for (uint32_t i = 1; i < p->nloops; i++) {
    if (!in_set(set, i)) continue;
    count++;
    if (p->loop[i].depth > p->loop[best].depth) best = i;
  }
  uint32_t on_path = 0;
  for (uint32_t l = best; l; l = p->loop[l].parent) on_path += in_set(set, l);
  return on_path == count ? best : UN__NO_LOOP;
}

static bool all_placed(const un__placement *p, const uint64_t *set) {
  for (uint32_t i = 1; i < p->nloops; i++)
    if (in_set(set, i) && !p->loop[i].placed) return false;
  return true;
}

static bool do_not_nest(un__graph *ws, const un_uop *range) {
  un__fail(un__graph_err(ws), UN_ERR_INTERNAL, "linearize: the loops around range %lld do not nest", (long long)un__range_id(range));
  return false;
}

/* Outer loops first; a round that places none has met loops that want to be inside each other. */
static bool build_tree(un__graph *ws, un__placement *p) {
  p->loop[0].placed = true;
  for (uint32_t left = p->nloops - 1, before = left; left; before = left) {
    for (uint32_t i = 1; i < p->nloops; i++) {
      un__loop *l = &p->loop[i];
      if (l->placed || !all_placed(p, l->outer)) continue;
      l->parent = innermost(p, l->outer);
      if (l->parent == UN__NO_LOOP) return do_not_nest(ws, l->range);
      l->depth = p->loop[l->parent].depth + 1;
      l->placed = true;
      left--;
    }
    if (left < before) continue;
    for (uint32_t i = 1; i < p->nloops; i++)
      if (!p->loop[i].placed) return do_not_nest(ws, p->loop[i].range);
  }
  return true;
}

/* ---- the nodes ---- */

static bool place_node(un__graph *ws, un__placement *p, uint32_t at, uint64_t *set) {
  const un__rangeset *ranges = p->order[at]->ranges;
  memset(set, 0, p->words * sizeof *set);
  for (uint32_t i = 0; i < ranges->n; i++)
    if (!un__range_is_special(ranges->range[i])) put_in_set(set, loop_of(p, ranges->range[i]));
  uint32_t block = innermost(p, set);
  if (block == UN__NO_LOOP) {
    un__fail(un__graph_err(ws), UN_ERR_INTERNAL, "linearize: %s depends on loops that do not nest", un__info(p->order[at])->text);
    return false;
  }
  p->block[at] = block;
  return true;
}

static bool place_nodes(un__graph *ws, un__placement *p) {
  uint64_t *set = un__alloc(p->words * sizeof *set);
  bool ok = set || out_of_memory(ws);
  const un__rangeset *last = NULL;      /* neighbours mostly depend on the same ranges */
  uint32_t last_block = 0;
  for (uint32_t i = 0; ok && i < p->n; i++) {
    const un_uop *n = p->order[i];
    if (is_loop(n)) continue;
    if (p->closes[i] != UN__NO_LOOP) p->block[i] = p->loop[p->closes[i]].parent;
    else if (n->ranges == last) p->block[i] = last_block;
    else if ((ok = place_node(ws, p, i, set))) {
      last = n->ranges;
      last_block = p->block[i];
    }
  }
  un__free(set);
  return ok;
}

bool un__place(un__graph *ws, const un_uop *kernel, un__placement *out) {
  *out = (un__placement){0};
  return number_nodes(ws, kernel, out) && list_loops(ws, out) && collect_ends(ws, out) && build_tree(ws, out) &&
         place_nodes(ws, out);
}

void un__placement_finish(un__placement *p) {
  if (p->loop) un__free(p->loop[0].outer);
  un__free(p->loop);
  un__free(p->closes);
  un__free(p->block);
  un__free(p->at);
  un__free(p->order);
  *p = (un__placement){0};
}
