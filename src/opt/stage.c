/* stage.c - whether the columns of a matrix product are copied into scratch before rows run over them. Read in place
 * they lie a row's length apart: a page and, for round sizes, one set of the cache for each step of the reduction. */
#include "pack.h"

#include "choose.h"

#define BIT(a) (UINT64_C(1) << (a))

enum { MIN_ROWS = 32 }; /* that read a panel before the next is copied */

/* Whether the load reads a panel: along the column and the reduction, not in order, and the same for every row. */
static bool reads_panel(const un__opt_choice *c, uint32_t value, uint32_t row, uint32_t column) {
  const un__opt_value *v = &c->k->value[value];
  if (v->kind != UN__OPT_LOAD || v->scope < 0 || !(v->moves & BIT(column)) || v->moves & BIT(row)) return false;
  const un__opt_scope *reduce = &c->k->scope[v->scope];
  uint64_t along = v->moves & reduce->axes;
  if (!reduce->reduce || !along || c->lane[v->scope] >= 0) return false;
  for (uint64_t m = along; m; m &= m - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(m);
    if (!c->k->axis[a].known || un__opt_move_of(c, a, value) == UN__OPT_UNIT) return false;
  }
  return un__opt_pack_plain(c->k, v->node);
}

/* The load to stage, for panels of `width` columns; -1: none. */
static int64_t panel_load(const un__opt_choice *c, uint32_t row, uint32_t column, int64_t width, uint64_t *depth) {
  for (uint32_t i = 0; i < c->k->nvalues; i++) {
    if (!reads_panel(c, i, row, column)) continue;
    const un__opt_value *v = &c->k->value[i];
    *depth = un__opt_trips(c->k, v->moves & c->k->scope[v->scope].axes);
    uint64_t bytes = un__opt_sat_mul(un__opt_sat_mul(*depth, (uint64_t)width), un__dt_info(v->node->dtype)->size);
    if (bytes <= c->t->l2_bytes / 4) return i;
  }
  return -1;
}

/* Blocks of rows that run inside a column block: all, when the columns are enough for the threads; else a share. */
static int64_t rows_inside(const un__opt_choice *c, uint32_t row, uint32_t column) {
  int64_t threads = c->t->threads ? c->t->threads : 1, blocks = un__opt_blocks(c, row);
  return un__opt_blocks(c, column) >= 4 * threads ? blocks : blocks / (2 * threads);
}

static void stage_nest(un__opt_choice *c, const un__opt_scope *s) {
  if (s->n < 2) return;
  uint32_t row = s->order[s->n - 2], column = s->order[s->n - 1];
  un__opt_pick *p = &c->pick[column], *r = &c->pick[row];
  int64_t width = p->lanes * (p->copies ? p->copies : 1), inside = rows_inside(c, row, column);
  if (p->lanes < 2 || !r->copies || inside < 2 || inside * r->copies < MIN_ROWS || un__opt_blocks(c, column) < 2)
    return;
  uint64_t depth, bytes = un__opt_panel_bytes(c, column);
  if (bytes <= 2 * (uint64_t)c->t->l1_bytes) return; /* it stays near as it is */
  if (!un__opt_loops_outside(c, s, row) || panel_load(c, row, column, width, &depth) < 0) return;
  r->tile = inside;
  p->stage = true;
  un__opt_say(c, "%llu x %lld values for each block of range %lld, read by %lld rows of range %lld inside it",
              (unsigned long long)depth, (long long)width, (long long)c->k->axis[column].id,
              (long long)(inside * r->copies), (long long)c->k->axis[row].id);
}

void un__opt_pick_stage(un__opt_choice *c) {
  if (c->max_lanes < 2) return;
  for (uint32_t i = 0; i < c->k->nscopes; i++)
    if (!c->k->scope[i].reduce) stage_nest(c, &c->k->scope[i]);
}
