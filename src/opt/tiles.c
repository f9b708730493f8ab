/* tiles.c - register tiles, independent accumulators and cache tiles. */
#include "choose.h"

#define BIT(a) (UINT64_C(1) << (a))

int64_t un__opt_blocks(const un__opt_choice *c, uint32_t axis) {
  const un__opt_pick *p = &c->pick[axis];
  int64_t part = (p->lanes ? p->lanes : 1) * (p->copies ? p->copies : 1);
  return un__opt_ceil(c->k->axis[axis].size, part);
}

int64_t un__opt_fit(int64_t n, bool known, int64_t want) {
  if (!known) return want;
  if (n <= want) return n;
  for (int64_t f = want; f >= 2 && f >= want / 2; f--)
    if (n % f == 0) return f;
  return want;
}

/* ---- reuse: outputs that share operands are computed side by side ---- */

/* Loads inside reductions that run along `axis` without moving: each is loaded once for all copies. */
static uint32_t shared_loads(const un__opt_choice *c, uint32_t axis) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    bool reduced = v->scope >= 0 && c->k->scope[v->scope].reduce && c->k->scope[v->scope].outer & BIT(axis);
    n += reduced && v->kind == UN__OPT_LOAD && !(v->moves & BIT(axis));
  }
  return n;
}

static bool reduces_inside(const un__opt_choice *c, uint64_t axes) {
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (c->k->scope[i].reduce && c->k->scope[i].outer & axes) return true;
  return false;
}

/* Whether stores of another nest stand inside the axis: such a loop is not copied. */
static bool nests_inside(const un__opt_choice *c, uint32_t axis) {
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (!c->k->scope[i].reduce && c->k->scope[i].outer & BIT(axis)) return true;
  return false;
}

/* The axis of a nest, other than `not1` and `not2`, that shares most loads; the innermost of equals. -1: none. */
static int32_t best_shared(const un__opt_choice *c, const un__opt_scope *s, int32_t not1, int32_t not2,
                           uint32_t *shared) {
  int32_t found = -1;
  *shared = 0;
  for (uint32_t i = s->n; i-- > 0;) {
    int32_t a = s->order[i];
    if (a == not1 || a == not2 || c->k->axis[a].size < 2 || nests_inside(c, (uint32_t)a)) continue;
    uint32_t n = shared_loads(c, (uint32_t)a);
    if (n > *shared) found = a, *shared = n;
  }
  return found;
}

/* Rows of a tile: what takes least time when a row costs 2 and the loads that all rows share cost 3 for each tile. Rows
 * beyond the end compute the last one again and store nothing, so the number need not divide. */
static int64_t rows_for(const un__opt_axis *a, int64_t want) {
  if (!a->known) return want;
  if (a->size <= want) return a->size;
  int64_t best = want;
  for (int64_t f = want - 1; f >= 2 && f >= want / 2; f--)
    if (un__opt_sat_mul((uint64_t)un__opt_ceil(a->size, f), (uint64_t)(2 * f + 3)) <
        un__opt_sat_mul((uint64_t)un__opt_ceil(a->size, best), (uint64_t)(2 * best + 3)))
      best = f;
  return best;
}

static void tile_rows(un__opt_choice *c, int32_t axis, uint32_t shared, int64_t want) {
  const un__opt_axis *a = &c->k->axis[axis];
  int64_t rows = rows_for(a, want);
  if (rows < 2) return;
  c->pick[axis].copies = rows;
  un__opt_say(c, "%lld values of range %lld side by side: %u loads shared, %u vector registers", (long long)rows,
              (long long)a->id, shared, c->t->vector_registers);
}

/* The number of vectors along the lane axis. One that divides what is left, or none when the rest would be padding. */
static void tile_vectors(un__opt_choice *c, uint32_t axis, int64_t want, const char *reason) {
  const un__opt_axis *a = &c->k->axis[axis];
  int64_t vectors = want, lanes = c->pick[axis].lanes;
  while (vectors > 1 && a->known && a->size % (vectors * lanes) != 0 && a->size < 8 * vectors * lanes) vectors /= 2;
  if (vectors < 2) return;
  c->pick[axis].copies = vectors;
  un__opt_say(c, "%lld vectors of range %lld side by side: %s", (long long)vectors, (long long)a->id, reason);
}

/* Whether a load in a reduction is taken apart into lanes: more of those side by side are more streams to follow. */
static bool scatters_inside(const un__opt_choice *c, uint32_t lane) {
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    bool reduced = v->scope >= 0 && c->k->scope[v->scope].reduce;
    if (reduced && un__opt_move_of(c, lane, i) == UN__OPT_SCATTER) return true;
  }
  return false;
}

static void reuse_nest(un__opt_choice *c, uint32_t scope) {
  const un__opt_scope *s = &c->k->scope[scope];
  int32_t lane = c->lane[scope];
  bool many = c->t->vector_registers >= 32, some = c->t->vector_registers >= 16;
  uint32_t shared, shared2;
  int32_t rows = best_shared(c, s, lane, -1, &shared);
  if (lane >= 0) {
    if (rows >= 0) tile_rows(c, rows, shared, many ? 8 : some ? 6 : 4);
    if (scatters_inside(c, (uint32_t)lane)) return;
    if (rows >= 0 && shared_loads(c, (uint32_t)lane))
      tile_vectors(c, (uint32_t)lane, 2, "one broadcast feeds them all");
    else if (rows < 0 && reduces_inside(c, BIT(lane)))
      tile_vectors(c, (uint32_t)lane, many ? 16 : some ? 8 : 4, "independent accumulators, long runs of every row");
    return;
  }
  if (rows < 0) return;
  int32_t columns = best_shared(c, s, rows, -1, &shared2);
  tile_rows(c, rows, shared, 4);
  if (columns >= 0) tile_rows(c, columns, shared2, many ? 4 : 2);
}

void un__opt_pick_reuse(un__opt_choice *c) {
  if (c->max_lanes < 2) return;
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (!c->k->scope[i].reduce && reduces_inside(c, c->k->scope[i].axes)) reuse_nest(c, i);
}

/* ---- chains: accumulators that do not wait for each other ---- */

static int64_t copies_around(const un__opt_choice *c, uint64_t axes) {
  int64_t n = 1;
  for (; axes; axes &= axes - 1) {
    int64_t copies = c->pick[__builtin_ctzll(axes)].copies;
    if (copies) n *= copies;
  }
  return n;
}

/* Operations of one vector of a scope's own body: a scattered access is one for each lane. */
static uint32_t body_cost(const un__opt_choice *c, int32_t scope) {
  uint32_t sum = 0, lane = (uint32_t)c->lane[scope];
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    bool scatter = un__opt_move_of(c, lane, i) == UN__OPT_SCATTER;
    if (c->k->value[i].scope == scope) sum += c->k->value[i].cost * (scatter ? (uint32_t)c->pick[lane].lanes : 1);
  }
  return sum;
}

/* Vectors a lane axis is worth: the largest power of two up to `want` that adds no padding, or any when the axis is
 * long enough not to notice. */
static int64_t vectors_for(const un__opt_choice *c, uint32_t axis, int64_t want) {
  const un__opt_axis *a = &c->k->axis[axis];
  int64_t lanes = c->pick[axis].lanes;
  for (int64_t v = want; v > 1; v /= 2)
    if (!a->known || a->size % (v * lanes) == 0 || a->size >= 16 * v * lanes) return v;
  return 1;
}

void un__opt_pick_chains(un__opt_choice *c) {
  for (uint32_t i = 0; i < c->k->nscopes; i++) {
    const un__opt_scope *s = &c->k->scope[i];
    if (!s->reduce || c->lane[i] < 0) continue;
    int64_t around = copies_around(c, s->outer), want = around >= 4 ? 1 : around >= 2 ? 2 : 4;
    uint32_t cost = body_cost(c, (int32_t)i);
    if (cost > 16 && want > 2) want = 2;
    int64_t v = vectors_for(c, (uint32_t)c->lane[i], want);
    if (v < 2) continue;
    c->pick[c->lane[i]].copies = v;
    un__opt_say(c, "%lld accumulators along range %lld: %u operations a vector, %lld sums side by side already",
                (long long)v, (long long)c->k->axis[c->lane[i]].id, cost, (long long)around);
  }
}

/* ---- cross: rows are read, columns are needed ---- */

/* The axis of the nest along which an access that the lane scatters goes in order; -1: none. */
static int32_t crossing_axis(const un__opt_choice *c, const un__opt_scope *s, int32_t scope, int32_t lane) {
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    if (v->scope != scope || un__opt_move_of(c, (uint32_t)lane, i) != UN__OPT_SCATTER) continue;
    for (uint32_t j = 0; j < s->n; j++)
      if (s->order[j] != lane && un__opt_move_of(c, s->order[j], i) == UN__OPT_UNIT) return s->order[j];
  }
  return -1;
}

enum { MAX_ROW = 16, MIN_ROW = 2 };

/* Copies along the axis that the scattered access follows: codegen loads them as rows, one for each lane. */
void un__opt_pick_cross(un__opt_choice *c) {
  for (uint32_t i = 0; i < c->k->nscopes; i++) {
    const un__opt_scope *s = &c->k->scope[i];
    int32_t lane = c->lane[i];
    if (s->reduce || lane < 0 || c->pick[lane].copies || reduces_inside(c, s->axes)) continue;
    int32_t axis = crossing_axis(c, s, (int32_t)i, lane);
    if (axis < 0 || c->pick[axis].copies || nests_inside(c, (uint32_t)axis) || !c->k->axis[axis].known) continue;
    int64_t rows = MAX_ROW;
    while (rows >= MIN_ROW && (rows > c->pick[lane].lanes || rows > c->k->axis[axis].size)) rows /= 2;
    if (rows < MIN_ROW) continue;
    c->pick[axis].copies = rows;
    un__opt_say(c, "%lld values of range %lld side by side: rows of %lld for each of %lld lanes of range %lld",
                (long long)rows, (long long)c->k->axis[axis].id, (long long)rows, (long long)c->pick[lane].lanes,
                (long long)c->k->axis[lane].id);
  }
}

/* Whether the nest reads rows: its registers are full of them. */
static bool crosses(const un__opt_choice *c, uint32_t scope) {
  int32_t axis = c->lane[scope] < 0 ? -1 : crossing_axis(c, &c->k->scope[scope], (int32_t)scope, c->lane[scope]);
  return axis >= 0 && c->pick[axis].copies;
}

/* ---- wide: several vectors an iteration of a plain store loop ---- */

void un__opt_pick_wide(un__opt_choice *c) {
  for (uint32_t i = 0; i < c->k->nscopes; i++) {
    const un__opt_scope *s = &c->k->scope[i];
    int32_t lane = c->lane[i];
    if (s->reduce || lane < 0 || c->pick[lane].copies || reduces_inside(c, BIT(lane)) ||
        nests_inside(c, (uint32_t)lane) || crosses(c, i))
      continue;
    uint32_t cost = body_cost(c, (int32_t)i);
    int64_t v = vectors_for(c, (uint32_t)lane, cost <= 8 ? 4 : cost <= 24 ? 2 : 1);
    if (v < 2) continue;
    c->pick[lane].copies = v;
    un__opt_say(c, "%lld vectors of range %lld an iteration: %u operations a vector", (long long)v,
                (long long)c->k->axis[lane].id, cost);
  }
}

/* ---- tiles: loops that come back to a cache line, or to a panel, before it is gone ---- */

bool un__opt_loops_outside(const un__opt_choice *c, const un__opt_scope *s, uint32_t axis) {
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (c->k->scope[i].outer & BIT(axis) && (c->k->scope[i].outer & s->axes) != s->axes) return false;
  return true;
}

/* Of every row that is loaded, so that pages are left and lines are fetched ahead rarely enough. */
enum { LINES_OF_ROWS = 4 };

static void tile_lines(un__opt_choice *c, uint32_t scope) {
  const un__opt_scope *s = &c->k->scope[scope];
  int32_t axis = crossing_axis(c, s, (int32_t)scope, c->lane[scope]);
  int64_t want = c->t->cache_line / c->k->width;
  if (axis >= 0 && c->pick[axis].copies) want = un__opt_ceil(LINES_OF_ROWS * want, c->pick[axis].copies);
  if (axis < 0 || c->pick[axis].tile || want < 2 || un__opt_blocks(c, (uint32_t)axis) < 2 * want ||
      !un__opt_loops_outside(c, s, (uint32_t)axis))
    return;
  c->pick[axis].tile = want;
  un__opt_say(c, "%lld values of range %lld inside: a cache line of %u bytes is used whole while it is there",
              (long long)want, (long long)c->k->axis[axis].id, c->t->cache_line);
}

uint64_t un__opt_panel_bytes(const un__opt_choice *c, uint32_t axis) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    const un__opt_value *v = &c->k->value[i];
    if (v->kind == UN__OPT_LOAD && v->moves & BIT(axis) && v->scope >= 0 && c->k->scope[v->scope].reduce)
      sum = un__opt_sat_add(sum, un__opt_sat_mul(un__opt_trips(c->k, v->moves), un__dt_info(v->node->dtype)->size));
  }
  return sum;
}

/* Rows outside, columns inside: every row block reads all columns' panel again. When that does not stay in the cache,
 * a block of rows goes inside. */
static void tile_panels(un__opt_choice *c, uint32_t scope) {
  const un__opt_scope *s = &c->k->scope[scope];
  if (s->n < 2) return;
  uint32_t row = s->order[s->n - 2], column = s->order[s->n - 1];
  const un__opt_pick *p = &c->pick[row];
  if (p->tile || !p->copies || !c->pick[column].copies || !un__opt_loops_outside(c, s, row)) return;
  uint64_t again = un__opt_panel_bytes(c, column), rows = un__opt_panel_bytes(c, row), cache = c->t->l2_bytes / 2;
  int64_t blocks = un__opt_blocks(c, row);
  if (!cache || again <= cache || blocks < 4) return;
  uint64_t per_block = rows / (uint64_t)blocks + 1;
  int64_t fit = (int64_t)(cache / per_block), share = blocks / (2 * (int64_t)(c->t->threads ? c->t->threads : 1));
  if (fit > share) fit = share; /* every thread still gets blocks of its own */
  if (fit < 2) return;
  int64_t tile = un__opt_fit(blocks, c->k->axis[row].known, fit);
  c->pick[row].tile = tile;
  un__opt_say(c,
              "%lld blocks of range %lld inside range %lld: its panel of %llu bytes is more than half of L2 (%u bytes)",
              (long long)tile, (long long)c->k->axis[row].id, (long long)c->k->axis[column].id,
              (unsigned long long)again, c->t->l2_bytes);
}

void un__opt_pick_tiles(un__opt_choice *c) {
  for (uint32_t i = 0; i < c->k->nscopes; i++) {
    if (c->k->scope[i].reduce) continue;
    if (c->lane[i] >= 0) tile_lines(c, i);
    tile_panels(c, i);
  }
}
