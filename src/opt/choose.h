/* choose.h - the heuristics' shared state: what has been decided about each range so far.
 *
 * Each strategy reads the kernel and earlier decisions and adds its own; steps are made from the decisions at the end.
 */
#ifndef UN_OPT_CHOOSE_H
#define UN_OPT_CHOOSE_H

#include "kernel.h"

/* How an access moves along an axis that is to become lanes. */
typedef enum un__opt_move {
  UN__OPT_STILL,  /* does not depend on it */
  UN__OPT_UNIT,   /* consecutive elements; arithmetic of any kind */
  UN__OPT_SCATTER /* one access a lane */
} un__opt_move;

/* Decisions about one axis; 0: none. The range becomes chunks x rest x tile x copies x lanes, on a GPU blocks or rest x
 * copies x threads x warp x inner x lanes. */
typedef struct un__opt_pick {
  int64_t lanes, copies, tile, chunks;
  int64_t threads, warp, inner;
  int64_t stages; /* values of the rest that are staged at once; 0: one */
  enum { UN__OPT_NO_CORE, UN__OPT_CORE_ROW, UN__OPT_CORE_COLUMN, UN__OPT_CORE_DEPTH } core; /* what the axis is to a tensor core */
  bool stage;  /* an operand is staged for each value of the rest */
  bool blocks; /* the rest is numbered by blocks */
  int64_t together; /* of these, so many neighbours are numbered before those of any other axis; 0: none */
} un__opt_pick;

typedef struct un__opt_choice {
  const un__opt_kernel *k;
  const un__target *t;
  uint32_t licences;
  un__strbuf *why;               /* may be NULL */
  const char *strategy;          /* the one at work */
  uint8_t *move;                 /* un__opt_move of [axis * nvalues + value], and whether it is aligned */
  int64_t max_lanes;             /* of a vector of the widest element; 1: no vectors */
  int64_t axis_lanes[UN__OPT_MAX_AXES];
  int8_t lane[UN__OPT_MAX_AXES]; /* by scope: its lane axis, or -1 */
  un__opt_pick pick[UN__OPT_MAX_AXES];
} un__opt_choice;

/* Writes one line of `why`: the strategy's name and the text. */
void un__opt_say(un__opt_choice *c, const char *fmt, ...) UN__PRINTF(2, 3);

enum { UN__OPT_ALIGNED = 4 };
static inline un__opt_move un__opt_move_of(const un__opt_choice *c, uint32_t axis, uint32_t value) {
  return (un__opt_move)(c->move[axis * c->k->nvalues + value] & 3);
}
/* Whether groups of un__opt_lanes elements along the axis are at multiples of their number, and behind one gate if any. */
static inline bool un__opt_aligned(const un__opt_choice *c, uint32_t axis, uint32_t value) {
  return (c->move[axis * c->k->nvalues + value] & UN__OPT_ALIGNED) != 0;
}
static inline int64_t un__opt_ceil(int64_t n, int64_t k) { return n / k + (n % k != 0); }
/* How many lanes an axis would give. */
int64_t un__opt_lanes(const un__opt_choice *c, uint32_t axis);
/* Iterations left of an axis after lanes and copies. */
int64_t un__opt_blocks(const un__opt_choice *c, uint32_t axis);
/* Whether a part of the axis may become the innermost loop of its nest: nothing is reduced between its loops. */
bool un__opt_loops_outside(const un__opt_choice *c, const un__opt_scope *s, uint32_t axis);
/* Bytes that one pass over the inner loops of a matmul-like nest reads: what moves along `axis` and the reductions. */
uint64_t un__opt_panel_bytes(const un__opt_choice *c, uint32_t axis);
/* The largest f in [want / 2, want] that divides n; else want, or n when smaller. */
int64_t un__opt_fit(int64_t n, bool known, int64_t want);

/* The nest that every result is stored in; -1 when there are several. */
int32_t un__opt_only_nest(const un__opt_choice *c);

/* ---- from decisions to steps ---- */

typedef struct un__opt_writer {
  un__opt_choice *c;
  un__opt_plan *plan;
  int64_t next_id;
} un__opt_writer;

/* Adds a step; the id of the range it makes, or -1 when the plan is full. */
int64_t un__opt_add_step(un__opt_writer *w, int64_t id, un__axis axis, int64_t factor, bool inner);
void un__opt_add_stage(un__opt_writer *w, int64_t id, int64_t stages);

/* The strategies of a CPU, in order. */
void un__opt_pick_lanes(un__opt_choice *c);
void un__opt_pick_reuse(un__opt_choice *c);
void un__opt_pick_chains(un__opt_choice *c);
void un__opt_pick_cross(un__opt_choice *c);
void un__opt_pick_wide(un__opt_choice *c);
void un__opt_pick_tiles(un__opt_choice *c);
void un__opt_pick_threads(un__opt_choice *c);
void un__opt_pick_stage(un__opt_choice *c);

#endif
