/* gpu_shapes.c - what kernels look like, and how each is laid out on a GPU. Numbers are those that measured best. */
#include "gpu.h"
#include "share.h"

#define BIT(a) (UINT64_C(1) << (a))

enum {
  BLOCK = 256,
  IN_FLIGHT = 4,         /* accesses of a thread under way at once */
  GROUP = 512,           /* threads that reduce one row together, at most, and where it is read twice */
  GROUP_TWICE = 1024,
  ROW_REGISTERS = 64,    /* elements of a row that one thread keeps */
  COLUMN_GROUP = 32,     /* threads that share a column, at most; twice as many where a multiprocessor has one block */
  COLUMN_STEPS = 8,      /* rows under way at once */
  MIN_DEPTH = 8,         /* steps of a product that are staged at a time, at least; */
  DEPTH_BYTES = 64,      /* .. and more, as long as they are no more bytes than that and there are 4 times as many */
  STAGES = 2,            /* of them, in shared memory at once, where they are copied ahead */
  SIDE_RESULTS = 8,      /* of a thread along a side of its tile */
  MIN_SIDE = 16,         /* of a product: below, it is read as rows or columns */
  MIN_COLUMN_WARP = 8,   /* threads side by side along a row: a cache line of vectors */
};

static int64_t units(const un__opt_gpu *x) { return x->c->t->gpu.units; }

/* Threads of a block, where nothing asks for others. */
static int64_t block(const un__opt_gpu *x) { return BLOCK < x->c->t->gpu.max_group ? BLOCK : x->c->t->gpu.max_group; }

static uint64_t trips(const un__opt_gpu *x, uint64_t axes) { return un__opt_trips(x->c->k, axes); }

static bool may_reorder(const un__opt_gpu *x, const un__opt_scope *s) {
  return !s->float_order || x->c->licences & UN__LIC_REDUCE_ORDER;
}

/* ---- products: every operand is read by many ---- */

static bool reads_along(const un__opt_gpu *x, const un__opt_value *v, int32_t scope, uint32_t axis, uint32_t not) {
  return v->kind == UN__OPT_LOAD && v->scope == scope && v->moves & BIT(axis) && !(v->moves & BIT(not)) &&
         v->moves & x->c->k->scope[scope].axes;
}

static bool has_operand(const un__opt_gpu *x, int32_t scope, uint32_t axis, uint32_t not) {
  for (uint32_t i = 0; i < x->c->k->nvalues; i++)
    if (reads_along(x, &x->c->k->value[i], scope, axis, not)) return true;
  return false;
}

/* The innermost pair of axes with an operand each. */
bool un__opt_gpu_find_product(const un__opt_gpu *x, un__opt_gpu_product *out) {
  const un__opt_kernel *k = x->c->k;
  out->scope = -1;
  for (uint32_t i = 0; i < k->nscopes; i++) {
    if (!k->scope[i].reduce) continue;
    if (out->scope >= 0 || !x->nest || k->scope[i].outer & ~x->nest->axes) return false;
    out->scope = (int32_t)i;
  }
  if (out->scope < 0 || x->rest) return false;
  for (uint32_t j = x->nest->n; j-- > 1;)
    for (uint32_t i = j; i-- > 0;) {
      uint32_t row = x->nest->order[i], column = x->nest->order[j];
      if (un__opt_gpu_size(x, row) < MIN_SIDE || un__opt_gpu_size(x, column) < MIN_SIDE) continue;
      if (!has_operand(x, out->scope, row, column) || !has_operand(x, out->scope, column, row)) continue;
      bool turned = un__opt_gpu_in_order(x, row, -1) > un__opt_gpu_in_order(x, column, -1);
      out->row = (int32_t)(turned ? column : row);
      out->column = (int32_t)(turned ? row : column);
      out->turned = turned;
      return true;
    }
  return false;
}

/* How many of an axis a block takes. */
static int64_t side(const un__opt_gpu *x, uint32_t axis) {
  const un__opt_pick *p = &x->c->pick[axis];
  const int64_t part[] = {p->lanes, p->inner, p->warp, p->threads, p->copies};
  int64_t all = 1;
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (part[i] > 1) all *= part[i];
  return all;
}

int64_t un__opt_gpu_product_blocks(const un__opt_gpu *x, const un__opt_gpu_product *p) {
  uint32_t r = (uint32_t)p->row, c = (uint32_t)p->column;
  return un__opt_ceil(un__opt_gpu_size(x, r), side(x, r)) * un__opt_ceil(un__opt_gpu_size(x, c), side(x, c)) *
         (int64_t)trips(x, x->kept & ~(BIT(r) | BIT(c)));
}

/* Halves the larger side of what a thread has, outer copies first; false: it has one. */
static bool make_smaller(un__opt_pick *row, un__opt_pick *column) {
  int64_t *part[] = {&row->copies, &column->copies, &row->inner};
  int64_t *largest = part[0];
  for (size_t i = 1; i < sizeof part / sizeof *part; i++)
    if (*part[i] > *largest) largest = part[i];
  if (*largest < 2) return false;
  *largest /= 2;
  return true;
}

static uint32_t depth_axis(const un__opt_gpu *x, const un__opt_gpu_product *p) {
  const un__opt_scope *s = &x->c->k->scope[p->scope];
  return s->order[s->n - 1];
}

/* Steps of the reduction that are staged at a time; 0: none are. */
static int64_t steps_at_a_time(const un__opt_gpu *x, const un__opt_gpu_product *p) {
  uint32_t depth = depth_axis(x, p);
  int64_t n = un__opt_gpu_size(x, depth), steps = MIN_DEPTH, bytes = x->c->k->width;
  if (!x->c->k->axis[depth].known || n < 2 * MIN_DEPTH) return 0;
  while (steps * 2 * bytes <= DEPTH_BYTES && n >= 4 * steps) steps *= 2;
  return steps;
}

/* Whether the reductions run in one loop: those that depend on the same ranges do. */
static bool run_together(const un__opt_gpu *x, const un__opt_gpu_product *p) {
  const un__rangeset *ranges = NULL;
  for (uint32_t i = 0; i < x->c->k->nvalues; i++) {
    const un_uop *n = x->c->k->value[i].node;
    if (!un__is(n, UN__OP_REDUCE) || !un__same_ranges(n, x->c->k->scope[p->scope].node)) continue;
    if (ranges && n->ranges != ranges) return false;
    ranges = n->ranges;
  }
  return true;
}

/* Whether what a block of that many rows and columns reads in some rounds fits into shared memory, a gap behind each row there. What each
 * thread reads for itself alone, in order, is not staged. */
static bool fits(const un__opt_gpu *x, const un__opt_gpu_product *p, int64_t rows, int64_t columns, int64_t rounds) {
  int64_t steps = rounds * steps_at_a_time(x, p), bytes = x->c->k->width, gap = 16 / bytes + 1, all = 0;
  for (uint32_t i = 0; i < x->c->k->nvalues; i++) {
    const un__opt_value *v = &x->c->k->value[i];
    if (v->kind != UN__OPT_LOAD || v->scope != p->scope) continue;
    int64_t m = v->moves & BIT(p->row) ? rows : 1, n = v->moves & BIT(p->column) ? columns : 1;
    if (m > 1 && n > 1 && un__opt_move_of(x->c, (uint32_t)p->column, i) == UN__OPT_UNIT) continue;
    int64_t gaps = m < 2 || n < 2 ? 1 : m > n ? m : n;
    all += (m * n + gaps * gap) * steps * bytes;
  }
  return all <= (int64_t)un__opt_share_room(x->c->t, rounds);
}

/* Whether operands may come ahead of their use: in one loop, along which all of them move. */
static bool come_ahead(const un__opt_gpu *x, const un__opt_gpu_product *p, int64_t rows, int64_t columns) {
  if (!x->c->t->gpu.async_copies || !steps_at_a_time(x, p) || !run_together(x, p)) return false;
  for (uint32_t i = 0; i < x->c->k->nvalues; i++) {
    const un__opt_value *v = &x->c->k->value[i];
    if (v->kind == UN__OPT_LOAD && v->scope == p->scope && !(v->moves & BIT(depth_axis(x, p)))) return false;
  }
  return fits(x, p, rows, columns, STAGES);
}

/* The axis of the reduction of which a part is staged at a time. */
static void pick_depth(un__opt_gpu *x, const un__opt_gpu_product *p) {
  uint32_t depth = depth_axis(x, p);
  int64_t steps = steps_at_a_time(x, p), rows = side(x, (uint32_t)p->row), columns = side(x, (uint32_t)p->column);
  if (!steps || !fits(x, p, rows, columns, 1)) return;
  un__opt_pick *d = &x->c->pick[depth];
  d->tile = steps;
  d->stage = true;
  if (un__opt_gpu_left(x, depth) >= STAGES && come_ahead(x, p, rows, columns)) d->stages = STAGES;
  un__opt_say(x->c, "both operands through shared memory, %lld steps of range %lld at a time%s", (long long)steps,
              (long long)x->c->k->axis[depth].id, d->stages ? ", the next ones on their way" : "");
}

/* Gives an axis inner copies, threads and outer copies as far as it goes. */
static void fill_side(un__opt_gpu *x, uint32_t axis, int64_t inner, int64_t threads, int64_t copies) {
  un__opt_pick *p = &x->c->pick[axis];
  int64_t *const part[] = {&p->inner, &p->threads, &p->copies};
  const int64_t want[] = {inner, threads, copies};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++) *part[i] = un__opt_gpu_fit(x, axis, want[i]);
}

/* Vectors of results of a thread: where no round waits for its operands, as many as make its tile a square. */
static int64_t vectors_of(const un__opt_gpu *x, const un__opt_gpu_product *p, int64_t lanes, int64_t threads) {
  int64_t few = lanes < 2 ? 4 : lanes < 8 ? 2 : 1, many = SIDE_RESULTS / lanes;
  return lanes > 1 && many > few && come_ahead(x, p, SIDE_RESULTS * threads, SIDE_RESULTS * threads) ? many : few;
}

/* A block of 16 x 16 threads, each with a tile of results as large as leaves a block for nearly every multiprocessor. */
static bool pick_product(un__opt_gpu *x) {
  un__opt_gpu_product p;
  if (!un__opt_gpu_find_product(x, &p)) return false;
  un__opt_pick *row = &x->c->pick[p.row], *column = &x->c->pick[p.column];
  column->lanes = un__opt_gpu_lanes(x, (uint32_t)p.column);
  int64_t threads = block(x) >= BLOCK ? 16 : 8;
  fill_side(x, (uint32_t)p.row, SIDE_RESULTS / 2, threads, 2);
  fill_side(x, (uint32_t)p.column, 1, threads, vectors_of(x, &p, column->lanes, threads));
  while (un__opt_gpu_product_blocks(x, &p) * 8 < units(x) * 7 && make_smaller(row, column)) continue;
  un__opt_say(x->c, "%lld x %lld results of ranges %lld and %lld a block: %lld blocks", (long long)side(x, (uint32_t)p.row),
              (long long)side(x, (uint32_t)p.column), (long long)x->c->k->axis[p.row].id, (long long)x->c->k->axis[p.column].id,
              (long long)un__opt_gpu_product_blocks(x, &p));
  pick_depth(x, &p);
  return true;
}

/* ---- rows: a reduction along memory ---- */

static bool is_along_memory(const un__opt_gpu *x, uint32_t scope) {
  const un__opt_scope *s = &x->c->k->scope[scope];
  int32_t inner = un__opt_gpu_fast(x, s, s->axes, (int32_t)scope);
  int32_t outer = x->nest ? un__opt_gpu_fast(x, x->nest, x->kept, (int32_t)scope) : -1;
  if (outer < 0) return true;
  return inner >= 0 && un__opt_gpu_in_order(x, (uint32_t)inner, (int32_t)scope) >= un__opt_gpu_in_order(x, (uint32_t)outer, (int32_t)scope);
}

/* The axis of a scope that threads are dealt along: the one along memory, or the longest. */
static uint32_t dealt_axis(const un__opt_gpu *x, const un__opt_scope *s, uint64_t axes, int32_t scope) {
  int32_t fast = un__opt_gpu_fast(x, s, axes, scope);
  if (fast >= 0) return (uint32_t)fast;
  uint32_t best = s->order[s->n - 1];
  for (uint32_t i = s->n; i-- > 0;)
    if (axes & BIT(s->order[i]) && (!(axes & BIT(best)) || un__opt_gpu_size(x, s->order[i]) > un__opt_gpu_size(x, best)))
      best = s->order[i];
  return best;
}

/* Threads for a row of `accesses`: enough for a few accesses each; more where rows are few, and half as many where that deals
 * the row evenly: no thread waits for a gate, and more is under way in each. */
static int64_t threads_for(const un__opt_gpu *x, int64_t accesses, uint64_t rows, bool twice) {
  int64_t most = twice ? GROUP_TWICE : GROUP, each = IN_FLIGHT, threads = 1;
  if (most > x->c->t->gpu.max_group) most = x->c->t->gpu.max_group;
  if (rows < (uint64_t)units(x)) most = x->c->t->gpu.max_group, each = 1;
  while (threads < most && threads * each < accesses) threads *= 2;
  if (accesses % threads && accesses % (threads / 2) == 0) threads /= 2;
  while (threads < x->c->t->gpu.warp && threads * 2 <= accesses && rows < (uint64_t)(units(x) * block(x))) threads *= 2;
  return threads;
}

/* Copies of an axis: all that is left when a thread can keep it, else some at once. */
static int64_t copies_for(const un__opt_gpu *x, uint32_t axis, int64_t most) {
  int64_t left = un__opt_gpu_left(x, axis), lanes = x->c->pick[axis].lanes;
  if (!x->c->k->axis[axis].known) return 0;
  if (left * (lanes ? lanes : 1) <= most) return left;
  return un__opt_fit(left, true, IN_FLIGHT);
}

/* Deals `want` threads to a reduction, along memory first; every part is a power of two. The number dealt. */
static int64_t deal_row(un__opt_gpu *x, const un__opt_scope *s, uint32_t first, int64_t want) {
  int64_t dealt = 1;
  for (uint32_t i = s->n + 1; i-- > 0 && dealt < want;) {
    uint32_t a = i == s->n ? first : s->order[i];
    if (i < s->n && a == first) continue;
    int64_t part = un__opt_gpu_fit(x, a, want / dealt);
    if (part > 1) x->c->pick[a].threads = part;
    dealt *= part;
  }
  return dealt;
}

static int64_t row_of_threads(un__opt_gpu *x, uint32_t scope, uint64_t rows, bool twice) {
  const un__opt_scope *s = &x->c->k->scope[scope];
  uint32_t axis = dealt_axis(x, s, s->axes, (int32_t)scope);
  un__opt_pick *p = &x->c->pick[axis];
  if (!may_reorder(x, s)) {
    un__opt_say(x->c, "range %lld by one thread: no licence reduce_order", (long long)x->c->k->axis[axis].id);
    return 1;
  }
  p->lanes = un__opt_gpu_lanes(x, axis);
  uint64_t accesses = trips(x, s->axes) / (uint64_t)p->lanes;
  int64_t threads = deal_row(x, s, axis, threads_for(x, accesses > INT32_MAX ? INT32_MAX : (int64_t)accesses, rows, twice));
  uint32_t steps = axis;
  for (uint32_t i = 0; i < s->n; i++)
    if (un__opt_gpu_left(x, axis) < 2 && un__opt_gpu_left(x, s->order[i]) > un__opt_gpu_left(x, steps)) steps = s->order[i];
  int64_t copies = un__opt_gpu_left(x, steps) > 1 ? copies_for(x, steps, steps == axis ? ROW_REGISTERS : ROW_REGISTERS / p->lanes) : 0;
  x->c->pick[steps].copies = copies;
  un__opt_say(x->c, "range %lld by %lld threads, %lld at once, %lld times: %llu rows", (long long)x->c->k->axis[axis].id,
              (long long)threads, (long long)p->lanes, (long long)(copies ? copies : 1), (unsigned long long)rows);
  return threads;
}

/* What is done with a row once it is reduced, by the threads that reduced it, each what it has read. */
static void rest_of_row(un__opt_gpu *x, int64_t threads) {
  if (!x->rest) return;
  uint32_t axis = dealt_axis(x, x->nest, x->rest, -1);
  un__opt_pick *p = &x->c->pick[axis];
  p->lanes = un__opt_gpu_lanes(x, axis);
  int64_t dealt = un__opt_gpu_deal(x, x->nest, x->rest, (int32_t)axis, threads);
  if (un__opt_gpu_left(x, axis) > 1) p->copies = copies_for(x, axis, ROW_REGISTERS);
  un__opt_say(x->c, "range %lld of the result by %lld threads, %lld at once, %lld times", (long long)x->c->k->axis[axis].id,
              (long long)dealt, (long long)p->lanes, (long long)(p->copies ? p->copies : 1));
}

static bool pick_rows(un__opt_gpu *x) {
  const un__opt_kernel *k = x->c->k;
  int64_t threads = 1;
  if (!x->reduces) return false;
  for (uint32_t i = 0; i < k->nscopes; i++)
    if (k->scope[i].reduce && !is_along_memory(x, i)) return false;
  uint64_t rows = trips(x, x->kept);
  for (uint32_t i = 0; i < k->nscopes; i++) {
    const un__opt_scope *s = &k->scope[i];
    bool nested = s->outer & ~(x->nest ? x->nest->axes : 0);
    if (!s->reduce || nested) continue;
    int64_t here = row_of_threads(x, i, rows, x->rest != 0);
    if (here > threads) threads = here;
  }
  rest_of_row(x, threads);
  int64_t more = un__opt_gpu_floor2(block(x) / threads);
  while (more > 1 && rows / (uint64_t)more < (uint64_t)units(x) && threads >= x->c->t->gpu.warp) more /= 2;
  if (x->nest && more > 1)
    un__opt_say(x->c, "%lld rows a block", (long long)un__opt_gpu_deal(x, x->nest, x->kept, -1, more));
  return true;
}

/* ---- columns: a reduction across memory ---- */

/* The scope whose reduction is dealt, its axis of the nest along memory, and that of the reduction that is dealt. */
static bool pick_columns(un__opt_gpu *x) {
  const un__opt_kernel *k = x->c->k;
  int32_t column = x->reduces && x->nest ? un__opt_gpu_fast(x, x->nest, x->kept, -1) : -1;
  if (column < 0) return false;
  un__opt_pick *p = &x->c->pick[column];
  p->lanes = un__opt_gpu_lanes(x, (uint32_t)column);
  int64_t vectors = un__opt_gpu_left(x, (uint32_t)column), others = (int64_t)trips(x, x->kept & ~BIT(column));
  int64_t wanted = units(x) * 2, warp = un__opt_gpu_floor2(vectors < x->c->t->gpu.warp ? vectors : x->c->t->gpu.warp);
  bool few = un__opt_sat_mul((uint64_t)vectors, (uint64_t)others) < (uint64_t)(wanted * block(x));
  while (few && warp > MIN_COLUMN_WARP && un__opt_ceil(vectors, warp) * others < wanted) warp /= 2;
  int64_t group = !few ? 1 : un__opt_ceil(vectors, warp) * others > units(x) ? COLUMN_GROUP : 2 * COLUMN_GROUP;
  for (uint32_t i = 0; i < k->nscopes; i++) {
    const un__opt_scope *s = &k->scope[i];
    if (!s->reduce || s->outer & ~x->nest->axes) continue;
    uint32_t axis = dealt_axis(x, s, s->axes, -1);
    while (group > 1 && (group * 2 > un__opt_gpu_size(x, axis) || group * warp > x->c->t->gpu.max_group || !may_reorder(x, s))) group /= 2;
  }
  for (uint32_t i = 0; i < k->nscopes; i++) {
    const un__opt_scope *s = &k->scope[i];
    if (!s->reduce || s->outer & ~x->nest->axes || !may_reorder(x, s)) continue;
    uint32_t axis = dealt_axis(x, s, s->axes, -1);
    x->c->pick[axis].threads = group;
    int64_t left = un__opt_gpu_left(x, axis);
    if (left > 1) x->c->pick[axis].copies = un__opt_fit(left, k->axis[axis].known, COLUMN_STEPS);
  }
  p->warp = warp;
  int64_t more = group * warp < block(x) ? un__opt_gpu_deal(x, x->nest, x->kept, column, un__opt_gpu_floor2(block(x) / (group * warp))) : 1;
  un__opt_say(x->c, "%lld columns of range %lld side by side, %lld at once; %lld threads share one, %lld times that a block",
              (long long)warp, (long long)k->axis[column].id, (long long)p->lanes, (long long)group, (long long)more);
  rest_of_row(x, group);
  return true;
}

/* ---- turned: what is stored along one axis is read along another ---- */

enum { TURNED_WARP = 16, TURNED_PART = 4 };

static int32_t read_axis(const un__opt_gpu *x, uint32_t stored) {
  for (uint32_t i = 0; i < x->c->k->nvalues; i++) {
    if (x->c->k->value[i].kind != UN__OPT_LOAD || un__opt_move_of(x->c, stored, i) != UN__OPT_SCATTER) continue;
    for (uint32_t j = 0; j < x->nest->n; j++)
      if (x->nest->order[j] != stored && un__opt_move_of(x->c, x->nest->order[j], i) == UN__OPT_UNIT) return x->nest->order[j];
  }
  return -1;
}

/* A square through shared memory: read in order one way, stored in order the other way. */
static bool pick_turned(un__opt_gpu *x) {
  int32_t to = x->nest && !x->reduces ? un__opt_gpu_fast(x, x->nest, x->nest->axes, -1) : -1;
  int32_t from = to < 0 ? -1 : read_axis(x, (uint32_t)to);
  if (from < 0) return false;
  const un__opt_axis *a = &x->c->k->axis[to], *b = &x->c->k->axis[from];
  int64_t width = TURNED_WARP * TURNED_PART;
  if (!a->known || !b->known || a->size < width || b->size < width || x->c->t->gpu.max_group < TURNED_WARP * TURNED_WARP) return false;
  un__opt_pick *p = &x->c->pick[to], *q = &x->c->pick[from];
  p->lanes = a->size % TURNED_PART ? 1 : un__opt_lanes(x->c, (uint32_t)to) < TURNED_PART ? 1 : TURNED_PART;
  p->warp = TURNED_WARP;
  if (p->lanes < 2) p->copies = TURNED_PART;
  q->threads = TURNED_WARP;
  q->copies = TURNED_PART;
  if (un__opt_gpu_left(x, (uint32_t)to) > 1) p->stage = true;
  else if (un__opt_gpu_left(x, (uint32_t)from) > 1) q->stage = true;
  un__opt_say(x->c, "%lld x %lld values of ranges %lld and %lld through shared memory", (long long)width, (long long)width,
              (long long)a->id, (long long)b->id);
  return true;
}

/* ---- elements: nothing is reduced ---- */

static bool pick_elements(un__opt_gpu *x) {
  if (!x->nest) return false;
  uint32_t axis = dealt_axis(x, x->nest, x->nest->axes, -1);
  un__opt_pick *p = &x->c->pick[axis];
  if (!x->reduces) p->lanes = un__opt_gpu_lanes(x, axis);
  int64_t threads = un__opt_gpu_deal(x, x->nest, x->reduces ? x->kept : x->nest->axes, (int32_t)axis, block(x));
  uint64_t accesses = trips(x, x->nest->axes) / (uint64_t)(p->lanes > 1 ? p->lanes : 1);
  int64_t copies = IN_FLIGHT, left = un__opt_gpu_left(x, axis);
  while (copies > 1 && (left % copies || accesses / (uint64_t)(threads * copies) < (uint64_t)units(x) * 8)) copies /= 2;
  if (!x->reduces && x->c->k->axis[axis].known && copies > 1) p->copies = copies;
  un__opt_say(x->c, "range %lld by %lld threads, %lld at once, %lld times: %llu accesses", (long long)x->c->k->axis[axis].id,
              (long long)threads, (long long)(p->lanes ? p->lanes : 1), (long long)(p->copies ? p->copies : 1), (unsigned long long)accesses);
  return true;
}

/* No loop is around all results: one block. */
static bool pick_alone(un__opt_gpu *x) {
  un__opt_say(x->c, "one block: no loop encloses every result");
  for (uint32_t i = 0; i < x->c->k->nscopes; i++) {
    const un__opt_scope *s = &x->c->k->scope[i];
    if (!s->reduce && !s->outer) un__opt_gpu_deal(x, s, s->axes, -1, block(x));
  }
  return true;
}

const un__opt_gpu_shape un__opt_gpu_shapes[] = {
  {"tensor", un__opt_gpu_pick_tensor}, {"product", pick_product}, {"rows", pick_rows}, {"columns", pick_columns}, {"turned", pick_turned}, {"elements", pick_elements}, {"alone", pick_alone},
};
const size_t un__opt_gpu_nshapes = sizeof un__opt_gpu_shapes / sizeof *un__opt_gpu_shapes;
