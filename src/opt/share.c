/* share.c - which operands the threads of a block share, and how they lie in shared memory. */
#include "share.h"

#include "legal.h"
#include "pack.h"
#include "simplify/digits.h"

extern const un__pass un__pass_simplify;

#define BIT(a) (UINT64_C(1) << (a))

enum { STATIC_BYTES = 48 * 1024, ACCESS_BYTES = 16, MAX_COPIES_UNROLLED = 16 };

static bool is_part(const un__opt_axis *a) {
  return un__axis_is_thread(a->type) || a->type == UN__AXIS_UPCAST || a->type == UN__AXIS_UNROLL || a->type == UN__AXIS_TENSOR;
}

static uint32_t place_of(const un__opt_scope *s, uint32_t axis) {
  uint32_t i = 0;
  while (i < s->n && s->order[i] != axis) i++;
  return i;
}

/* ---- what one copy covers ---- */

/* Whether a loop of a reduction runs inside of what is staged for: of the same reduction further in, or of any for a block. */
static bool runs_inside(const un__opt_kernel *k, uint32_t loop, uint32_t axis) {
  const un__opt_axis *l = &k->axis[loop], *a = &k->axis[axis];
  if (l->type != UN__AXIS_REDUCE || loop == axis) return false;
  return a->type == UN__AXIS_GLOBAL || (l->scope == a->scope && place_of(&k->scope[l->scope], loop) > place_of(&k->scope[l->scope], axis));
}

/* 0: the load is none that can be staged there. */
static uint64_t covered(const un__opt_kernel *k, const un__opt_value *v, uint32_t axis) {
  if (v->kind != UN__OPT_LOAD || v->scope < 0 || !un__opt_pack_plain(k, v->node)) return 0;
  if (k->axis[axis].reduce && k->axis[axis].scope != (uint32_t)v->scope) return 0;
  uint64_t set = 0;
  bool threads = false;
  for (uint64_t m = v->moves; m; m &= m - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(m);
    if (!is_part(&k->axis[a]) && !runs_inside(k, a, axis)) continue;
    if (!k->axis[a].known) return 0;
    threads |= un__axis_is_thread(k->axis[a].type);
    set |= BIT(a);
  }
  return threads ? set : 0;
}

static int64_t step_along(const un__opt_kernel *k, const un_uop *load, uint32_t axis, un__affine *scratch) {
  un__affine_axis along = {k->axis[axis].range, k->axis[axis].size};
  un__affine_scan(&k->nodes, &along, 1, scratch);
  const un__affine *a = &scratch[un__topo_find(&k->nodes, load->src[0]->src[1])];
  return a->linear && a->axis == 0 && a->step > 0 ? a->step : INT64_MAX;
}

/* Larger steps first. */
static void insert_axis(un__opt_panel *p, uint32_t axis, int64_t step) {
  uint32_t at = p->n++;
  for (; at && p->step[at - 1] < step; at--) p->axis[at] = p->axis[at - 1], p->step[at] = p->step[at - 1];
  p->axis[at] = (uint8_t)axis;
  p->step[at] = step;
}

/* Of what multiple the operand's index is where a run of `lanes` elements begins. The run takes whole axes from the last on, and of
 * the first of them what is left. */
static int64_t start_of_run(const un__opt_kernel *k, const un__opt_panel *p, int64_t lanes, uint64_t *covered_axes, un__affine *scratch) {
  un__affine_axis axes[UN__OPT_MAX_AXES];
  uint32_t n = 0;
  int64_t left = lanes;
  *covered_axes = 0;
  for (uint32_t i = p->n; left > 1 && i-- > 0;) {
    const un__opt_axis *a = &k->axis[p->axis[i]];
    bool whole = a->size < left;
    if (whole ? left % a->size : a->size % left) return 1;
    axes[n++] = (un__affine_axis){a->range, whole ? 0 : left};
    left = whole ? left / a->size : 1;
    *covered_axes |= BIT(p->axis[i]);
  }
  un__affine_scan(&k->nodes, axes, n, scratch);
  const un__affine *a = &scratch[un__topo_find(&k->nodes, p->load->src[0]->src[1])];
  return left == 1 && a->linear && a->axis >= 0 ? a->mult : 1;
}

/* How many elements from the last axis on lie side by side in the operand, which must begin at multiples of the lanes. */
static int64_t lanes_of(const un__opt_kernel *k, const un__opt_panel *p, un__affine *scratch) {
  int64_t lanes = ACCESS_BYTES / un__dt_info(p->load->dtype)->size, run = 1;
  const un_uop *index = p->load->src[0];
  uint64_t along;
  for (uint32_t i = p->n; i-- > 0 && p->step[i] == run;) run *= k->axis[p->axis[i]].size;
  if (lanes < 2 || run % lanes || p->size % lanes) return 1;
  if (start_of_run(k, p, lanes, &along, scratch) % lanes) return 1;
  return index->nsrc > 2 && k->mask[un__topo_find(&k->nodes, index->src[2])] & along ? 1 : lanes;
}

static bool feeds_core(const un__opt_kernel *k, const un__opt_panel *p) {
  for (uint32_t i = 0; i < p->n; i++)
    if (k->axis[p->axis[i]].type == UN__AXIS_TENSOR) return true;
  return false;
}

/* What a tensor core reads lies as in the operand, in rows of what follows each other there. Its pieces of 16 bytes are permuted
 * within each row, so that 8 rows of one piece lie in all banks: piece c of row r is at c xor r, where 8 pieces or more make
 * up a row, else at c xor (r / (8 / pieces)). Rows for which that is no permutation are followed by a gap of a piece. */
static void lay_out_for_core(const un__opt_kernel *k, un__opt_panel *p) {
  int64_t piece = ACCESS_BYTES / un__dt_info(p->load->dtype)->size, run = 1;
  p->natural = true;
  p->row = 1;
  for (uint32_t i = p->n; i-- > 0 && p->step[i] == run;) p->row *= k->axis[p->axis[i]].size, run = p->row;
  int64_t pieces = p->row / piece;
  bool permuted = p->row % piece == 0 && (pieces & (pieces - 1)) == 0;
  p->pieces = permuted ? pieces : 1;
  p->pad = permuted || p->row % piece ? 0 : piece;
}

/* Rows of shared memory: the axes of the result that follow each other. A row more than a warp's banks long is followed by a
 * gap, so that what is read or stored across rows is spread over the banks. */
static void lay_out(const un__opt_kernel *k, un__opt_panel *p) {
  bool reduced = false;
  int64_t next = 0;
  p->row = 1;
  for (uint32_t i = p->n; i-- > 0;) {
    const un__opt_axis *a = &k->axis[p->axis[i]];
    if (a->reduce) {
      reduced = true;
      continue;
    }
    if (next && p->step[i] != next) break;
    p->row *= a->size;
    next = p->step[i] == INT64_MAX ? -1 : p->step[i] * a->size;
  }
  p->pad = p->row == p->size ? 0 : reduced ? ACCESS_BYTES / un__dt_info(p->load->dtype)->size : 1;
}

/* ---- how the next round gets there ---- */

/* Whether what a thread copies at once lies side by side in shared memory too, and is an asynchronous copy. */
static bool keeps_runs(const un__opt_kernel *k, const un__opt_panel *p) {
  bool whole = p->lanes * un__dt_info(p->load->dtype)->size == ACCESS_BYTES;
  return whole && !k->axis[p->axis[p->n - 1]].reduce && p->row % p->lanes == 0 && (p->row + p->pad) % p->lanes == 0;
}

static int64_t rounds_of(const un__opt_panel *p, int64_t threads) {
  int64_t units = p->size / p->lanes;
  return units / threads + (units % threads != 0);
}

/* What is turned on its way, or not aligned, would be copied element by element. Threads hold it in registers instead, as far as
 * these have numbers: one round of the loop is under way, whatever the stages. */
static void choose_way(const un__opt_kernel *k, un__opt_panel *p, const un__opt_share *s) {
  p->held = s->stages > 1 && !p->natural && !keeps_runs(k, p) && rounds_of(p, s->threads) <= MAX_COPIES_UNROLLED;
  p->parts = p->held ? 2 : s->stages;
}

static bool panel_of(const un__opt_kernel *k, const un__opt_value *v, uint64_t set, un__opt_panel *out) {
  un__affine *scratch = un__calloc(k->nodes.n, sizeof *scratch);
  if (!scratch) return false;
  *out = (un__opt_panel){.load = v->node, .size = (int64_t)un__opt_trips(k, set)};
  for (; set; set &= set - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(set);
    insert_axis(out, a, step_along(k, v->node, a, scratch));
  }
  out->lanes = lanes_of(k, out, scratch);
  if (feeds_core(k, out)) lay_out_for_core(k, out);
  else lay_out(k, out);
  un__free(scratch);
  return true;
}

/* ---- whether it is worth it ---- */

/* Threads that do not move it read it again; neighbours that move it by more than an access read it out of order. */
static bool is_shared(const un__opt_kernel *k, const un__opt_value *v, const un__digits *d, const un__opt_panel *p) {
  for (uint32_t i = 0; i < d->n; i++) {
    const un__digit *x = &d->digit[i];
    int32_t a = un__opt_axis_by_id(k, un__range_id(x->range));
    if (!un__axis_is_thread(x->axis) || x->size < 2) continue;
    if (!(v->moves & BIT(a)) && v->live & BIT(a)) return true;
    for (uint32_t j = 0; j < p->n; j++)
      if (p->axis[j] == a && x->stride == 1 && p->step[j] > ACCESS_BYTES / un__dt_info(v->node->dtype)->size) return true;
  }
  return false;
}

static bool has_scratch(const un__opt_kernel *k) {
  for (size_t i = 0; i < k->nodes.n; i++)
    if (un__is(k->nodes.at[i], UN__OP_DEFINE_LOCAL)) return true;
  return false;
}

/* Elements of a part of shared memory: parts begin where pieces of their own would. */
static int64_t room_of(const un__opt_panel *p) {
  int64_t each = UN__LOCAL_ALIGN / un__dt_info(p->load->dtype)->size, n = p->size / p->row * (p->row + p->pad);
  return (n + each - 1) / each * each;
}

/* A REDUCE that closes the range. */
static const un_uop *reduction_of(const un__opt_kernel *k, const un_uop *range, size_t first) {
  for (size_t i = first; i < k->nodes.n; i++) {
    const un_uop *n = k->nodes.at[i];
    for (uint32_t j = 1; un__is(n, UN__OP_REDUCE) && j < n->nsrc; j++)
      if (n->src[j] == range) return n;
  }
  return NULL;
}

/* Reductions that depend on the same ranges run in one loop. */
static bool run_together(const un__opt_kernel *k, const un_uop *range) {
  const un_uop *first = reduction_of(k, range, 0);
  for (const un_uop *n = first; n; n = reduction_of(k, range, un__topo_find(&k->nodes, n) + 1))
    if (n->ranges != first->ranges) return false;
  return true;
}

static const char *check_stages(const un__opt_kernel *k, uint32_t axis, int64_t stages, const un__target *t) {
  if (stages < 2) return NULL;
  if (!t->gpu.async_copies) return "the target copies nothing asynchronously";
  if (k->axis[axis].type != UN__AXIS_REDUCE) return "stages are rounds of a reduction's loop";
  if (!k->axis[axis].known || k->axis[axis].size < stages) return "it has fewer rounds than stages";
  if (!run_together(k, k->axis[axis].range)) return "reductions over it run in loops of their own";
  return stages > UN__OPT_MAX_STAGES ? "too many stages" : NULL;
}

uint64_t un__opt_share_room(const un__target *t, int64_t stages) {
  return stages > 1 || t->gpu.shared_bytes < STATIC_BYTES ? t->gpu.shared_bytes : STATIC_BYTES;
}

const char *un__opt_share_of(const un__opt_kernel *k, uint32_t axis, int64_t stages, const un__target *t, un__opt_share *out) {
  un__digits d;
  *out = (un__opt_share){.axis = axis, .stages = stages < 2 ? 1 : stages};
  if (k->axis[axis].type != UN__AXIS_REDUCE && k->axis[axis].type != UN__AXIS_GLOBAL)
    return "operands are shared for a loop of a reduction or for a range of blocks";
  if (has_scratch(k)) return "operands are staged already";
  const char *why = un__digits_of(&d, &k->nodes, t->gpu.warp);
  if (!why) why = check_stages(k, axis, stages, t);
  if (why) return why;
  uint64_t bytes = 0, most = un__opt_share_room(t, out->stages);
  out->threads = d.threads;
  why = "threads of a block read nothing again, or out of order, that can be staged there";
  for (uint32_t i = 0; i < k->nvalues && out->n < UN__OPT_MAX_SHARED; i++) {
    uint64_t set = covered(k, &k->value[i], axis);
    un__opt_panel *p = &out->panel[out->n];
    if (!set || (out->stages > 1 && !(k->value[i].moves & BIT(axis)))) continue;      /* a ring turns with its loop */
    if (!panel_of(k, &k->value[i], set, p)) return un__opt_nomem;
    if (!is_shared(k, &k->value[i], &d, p)) continue;
    choose_way(k, p, out);
    uint64_t more = un__opt_sat_mul((uint64_t)(room_of(p) * p->parts), un__dt_info(p->load->dtype)->size);
    bytes = un__opt_sat_add(bytes, more);
    if (bytes > most) return "it does not fit into the shared memory of a block";
    out->n++;
  }
  return out->n ? NULL : why;
}

/* ---- copying ---- */

typedef struct copier {
  un__graph *g;
  const un__opt_kernel *k;
  const un__opt_panel *p;
  int64_t id;                              /* of the next range */
  const un_uop *from[UN__OPT_MAX_AXES];    /* the panel's ranges */
  const un_uop *at[UN__OPT_MAX_AXES];      /* what takes their place in the copy */
} copier;

/* NULL stands for 0. */
static const un_uop *add(copier *c, const un_uop *a, const un_uop *b) { return a && b ? un__binary(c->g, UN__OP_ADD, a, b) : a ? a : b; }
static const un_uop *times(copier *c, const un_uop *a, int64_t n) { return n == 1 ? a : un__binary(c->g, UN__OP_MUL, a, un__idx(c->g, n)); }

/* Where an element lies: in rows of what the result moves along, which are numbered by the reduction's axes and then by other
 * axes of the result. */
typedef enum part { COLUMN, RESULT, REDUCED, PARTS } part;

static part part_of(const copier *c, uint32_t i, int64_t columns) {
  const un__opt_axis *a = &c->k->axis[c->p->axis[i]];
  return a->reduce ? REDUCED : columns < c->p->row ? COLUMN : RESULT;
}

static const un_uop *over(copier *c, const un_uop *a, int64_t n) { return n == 1 ? a : un__binary(c->g, UN__OP_FLOORDIV, a, un__idx(c->g, n)); }
static const un_uop *rest(copier *c, const un_uop *a, int64_t n) { return un__binary(c->g, UN__OP_FLOORMOD, a, un__idx(c->g, n)); }

enum { BANK_ROWS = 8 }; /* of 16 bytes */

/* The piece of a row, permuted as lay_out_for_core says. */
static const un_uop *permuted(copier *c, const un_uop *column, const un_uop *row) {
  int64_t piece = ACCESS_BYTES / un__dt_info(c->p->load->dtype)->size, pieces = c->p->pieces;
  if (pieces < 2 || !row) return column;
  const un_uop *by = pieces < BANK_ROWS ? rest(c, over(c, row, BANK_ROWS / pieces), pieces) : rest(c, row, BANK_ROWS);
  const un_uop *moved = un__binary(c->g, UN__OP_XOR, over(c, column, piece), by);
  return add(c, times(c, moved, piece), rest(c, column, piece));
}

static const un_uop *natural_place(copier *c, const un_uop *const *value) {
  const un_uop *column = NULL, *row = NULL;
  int64_t size = 1;
  for (uint32_t i = c->p->n; i-- > 0;) {
    const un_uop **to = size < c->p->row ? &column : &row;
    *to = add(c, *to, times(c, value[i], size < c->p->row ? size : size / c->p->row));
    size *= c->k->axis[c->p->axis[i]].size;
  }
  column = column ? permuted(c, column, row) : un__idx(c->g, 0);
  return row ? add(c, times(c, row, c->p->row + c->p->pad), column) : column;
}

static const un_uop *place(copier *c, const un_uop *const *value) {
  if (c->p->natural) return natural_place(c, value);
  const un_uop *number[PARTS] = {NULL};
  int64_t size[PARTS] = {1, 1, 1};
  for (uint32_t i = c->p->n; i-- > 0;) {
    part to = part_of(c, i, size[COLUMN]);
    number[to] = add(c, number[to], times(c, value[i], size[to]));
    size[to] *= c->k->axis[c->p->axis[i]].size;
  }
  const un_uop *row = number[REDUCED] ? add(c, times(c, number[REDUCED], size[RESULT]), number[RESULT]) : number[RESULT];
  return row ? add(c, times(c, row, c->p->row + c->p->pad), number[COLUMN]) : number[COLUMN];
}

static const un_uop *element(un__graph *g, const un_uop *memory, const un_uop *at, const un_uop *gate) {
  return un__uop(g, UN__OP_INDEX, memory ? memory->dtype : 0, (const un_uop *[]){memory, at, gate}, gate ? 3 : 2, NULL, 0);
}

/* The loops that copy: rounds, threads, lanes. */
enum { MAX_LOOPS = 3 };
typedef struct nest {
  const un_uop *loop[MAX_LOOPS];
  uint32_t n;
  const un_uop *p, *own;      /* the number of an element in the operand's order, and of those that the thread copies */
  const un_uop *mine;         /* whether there is such an element; NULL: always */
} nest;

static nest make_loops(copier *c, int64_t threads) {
  int64_t units = c->p->size / c->p->lanes, rounds = rounds_of(c->p, threads);
  nest x = {.n = 0};
  const un_uop *round = NULL;
  if (rounds > 1)
    round = x.loop[x.n++] = un__range(c->g, un__idx(c->g, rounds), rounds <= MAX_COPIES_UNROLLED ? UN__AXIS_UNROLL : UN__AXIS_LOOP, c->id++);
  const un_uop *thread = x.loop[x.n++] = un__range(c->g, un__idx(c->g, threads), UN__AXIS_LOCAL, c->id++);
  const un_uop *unit = round ? add(c, times(c, round, threads), thread) : thread;
  if (units % threads) x.mine = un__binary(c->g, UN__OP_LT, unit, un__idx(c->g, units));
  x.p = times(c, unit, c->p->lanes);
  x.own = round ? times(c, round, c->p->lanes) : NULL;
  if (c->p->lanes > 1) {
    const un_uop *lane = x.loop[x.n++] = un__range(c->g, un__idx(c->g, c->p->lanes), UN__AXIS_UPCAST, c->id++);
    x.p = add(c, x.p, lane);
    x.own = add(c, x.own, lane);
  }
  if (!x.own) x.own = un__idx(c->g, 0);
  return x;
}

/* Element p of the operand's order: what each range of the panel is there. */
static void make_places(copier *c, const un_uop *p) {
  int64_t inner = 1;
  for (uint32_t i = c->p->n; i-- > 0;) {
    const un__opt_axis *a = &c->k->axis[c->p->axis[i]];
    const un_uop *x = inner > 1 ? un__binary(c->g, UN__OP_FLOORDIV, p, un__idx(c->g, inner)) : p;
    c->from[i] = a->range;
    c->at[i] = i ? un__binary(c->g, UN__OP_FLOORMOD, x, un__idx(c->g, a->size)) : x;
    inner *= a->size;
  }
}

static const un_uop *behind_barrier(un__graph *g, const un_uop *memory, const un_uop *const *what, uint32_t n) {
  return un__binary(g, UN__OP_AFTER, memory, un__uop(g, UN__OP_BARRIER, 0, what, n, NULL, 0));
}

/* Memory that is filled anew in a loop: at the beginning of each round all threads have read what the last one left. */
static const un_uop *free_again(copier *c, const un_uop *memory) {
  const un_uop *loop[UN__OPT_MAX_AXES];
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->p->load->ranges->n; i++) {
    const un_uop *r = c->p->load->ranges->range[i];
    bool covered_too = false;
    for (uint32_t j = 0; j < c->p->n; j++) covered_too |= c->from[j] == r;
    if (!covered_too && !un__axis_is_number(un__range_axis(r))) loop[n++] = r;
  }
  return n ? behind_barrier(c->g, memory, loop, n) : memory;
}

/* The access of a copy: where both the operand's own gate and that of the copy hold. */
static const un_uop *gated(un__graph *g, const un_uop *load, const un_uop *gate) {
  const un_uop *index = load->src[0];
  if (!gate) return load;
  const un_uop *both = index->nsrc > 2 ? un__binary(g, UN__OP_AND, index->src[2], gate) : gate;
  const un_uop *address = element(g, index->src[0], index->src[1], both);
  return un__uop(g, UN__OP_LOAD, load->dtype, &address, 1, NULL, 0);
}

/* What is copied: the operand as it is where `loop` (NULL: as it is) is `at`, as far as `when` (may be NULL) holds. */
typedef struct round {
  const un_uop *loop, *at, *when;
  bool async;
} round;

/* Digits of p that follow each other become parts of it again: that is what an access of several elements is seen by. Not where a
 * size would change, since a RANGE is one node everywhere. */
static const un_uop *simplified(un__graph *g, const un_uop *store) {
  for (uint32_t i = 0; i < store->ranges->n; i++)
    if (un__known_size(store->ranges->range[i]->src[0]) < 0) return store;
  return un__graph_rewrite(g, store, &un__pass_simplify, NULL);
}

/* NULL stands for true. */
static const un_uop *both(un__graph *g, const un_uop *a, const un_uop *b) { return a && b ? un__binary(g, UN__OP_AND, a, b) : a ? a : b; }

/* What a round copies, where its nest is. */
static const un_uop *operand(copier *c, const nest *x, const round *now) {
  const un_uop *load = un__substitute(c->g, c->p->load, c->from, c->at, c->p->n);
  if (load && now->loop) load = un__substitute(c->g, load, &now->loop, &now->at, 1);
  if (load) load = gated(c->g, load, both(c->g, now->when, x->mine));
  return now->async ? un__unary(c->g, UN__OP_ASYNC, load) : load;
}

static const un_uop *close(copier *c, const nest *x, const un_uop *address, const un_uop *value) {
  const un_uop *store = un__binary(c->g, UN__OP_STORE, address, value), *end[1 + MAX_LOOPS] = {store ? simplified(c->g, store) : NULL};
  for (uint32_t i = 0; i < x->n; i++) end[i + 1] = x->loop[i];
  return un__uop(c->g, UN__OP_END, 0, end, x->n + 1, NULL, 0);
}

/* The nest that fills `memory`. */
static const un_uop *fill(copier *c, int64_t threads, const un_uop *memory, const round *now) {
  nest x = make_loops(c, threads);
  make_places(c, x.p);
  return close(c, &x, element(c->g, memory, place(c, c->at), both(c->g, now->when, x.mine)), operand(c, &x, now));
}

/* The same in two: into registers, and from there. */
static const un_uop *take(copier *c, int64_t threads, const un_uop *registers, const round *now) {
  nest x = make_loops(c, threads);
  make_places(c, x.p);
  return close(c, &x, element(c->g, registers, x.own, NULL), operand(c, &x, now));
}

static const un_uop *put(copier *c, int64_t threads, const un_uop *memory, const un_uop *registers) {
  nest x = make_loops(c, threads);
  make_places(c, x.p);
  const un_uop *from = element(c->g, registers, x.own, NULL);
  const un_uop *value = un__uop(c->g, UN__OP_LOAD, c->p->load->dtype, &from, 1, NULL, 0);
  return close(c, &x, element(c->g, memory, place(c, c->at), x.mine), value);
}

static const un_uop *scratch(un__graph *g, const un__opt_panel *p, int64_t id) {
  const un_uop *size = un__idx(g, room_of(p) * p->parts);
  return un__uop(g, UN__OP_DEFINE_LOCAL, un__dt_ptr(un__dt_scalar(p->load->dtype), UN__SPACE_LOCAL), &size, 1, &id, 1);
}

/* ---- in place of the operands ---- */

typedef struct sharing {
  copier c;
  const un__opt_share *s;
  const un_uop *memory[UN__OPT_MAX_SHARED];
} sharing;

/* Makes panel i the one that is copied or read. */
static void turn_to(sharing *x, uint32_t i) {
  x->c.p = &x->s->panel[i];
  for (uint32_t j = 0; j < x->c.p->n; j++) x->c.from[j] = x->c.k->axis[x->c.p->axis[j]].range;
}

/* The kernel with its operands read from memory[i], which is ready. */
static const un_uop *read_shared(sharing *x, const un_uop *kernel, const un_uop *const *ready) {
  const un_uop *from[UN__OPT_MAX_SHARED], *to[UN__OPT_MAX_SHARED];
  for (uint32_t i = 0; i < x->s->n; i++) {
    turn_to(x, i);
    const un_uop *address = element(x->c.g, ready[i], place(&x->c, x->c.from), NULL);
    from[i] = x->c.p->load;
    to[i] = un__uop(x->c.g, UN__OP_LOAD, x->c.p->load->dtype, &address, 1, NULL, 0);
    if (!to[i]) return NULL;
  }
  return un__substitute(x->c.g, kernel, from, to, x->s->n);
}

/* Each round is copied when it comes. Every operand waits for all copies, so that they share a barrier. */
static const un_uop *share_at_once(sharing *x, const un_uop *kernel) {
  const un_uop *filled[UN__OPT_MAX_SHARED], *ready[UN__OPT_MAX_SHARED];
  for (uint32_t i = 0; i < x->s->n; i++) {
    turn_to(x, i);
    filled[i] = fill(&x->c, x->s->threads, free_again(&x->c, x->memory[i]), &(round){0});
  }
  for (uint32_t i = 0; i < x->s->n; i++) ready[i] = behind_barrier(x->c.g, x->memory[i], filled, x->s->n);
  return read_shared(x, kernel, ready);
}

/* ---- rounds ahead: memory is a ring ---- */

static const un_uop *after(un__graph *g, const un_uop *memory, const un_uop *const *what, uint32_t n) {
  const un_uop *src[2 + UN__OPT_MAX_SHARED] = {memory};
  for (uint32_t i = 0; i < n; i++) src[i + 1] = what[i];
  return n ? un__uop(g, UN__OP_AFTER, 0, src, n + 1, NULL, 0) : memory;
}

static const un_uop *slot(sharing *x, uint32_t i, const un_uop *turn, int64_t offset, const un_uop *behind) {
  const un_uop *src[2] = {x->memory[i], turn};
  const un_uop *one = un__uop(x->c.g, UN__OP_SLOT, 0, src, 2, (int64_t[]){offset, x->s->panel[i].parts}, 2);
  return after(x->c.g, one, &behind, behind != NULL);
}

static bool is_loop(const un_uop *r) { return un__range_axis(r) == UN__AXIS_LOOP || un__range_axis(r) == UN__AXIS_REDUCE; }

/* The loops in which the ring's own is begun anew: those that its reductions depend on, and their own further out. */
static uint32_t loops_around(const un__opt_kernel *k, const un_uop *ring, const un_uop **out) {
  const un_uop *reduce = reduction_of(k, ring, 0);
  uint32_t n = 0;
  for (uint32_t i = 0; i < reduce->ranges->n; i++)
    if (is_loop(reduce->ranges->range[i])) out[n++] = reduce->ranges->range[i];
  for (uint32_t i = 1; i < reduce->nsrc && reduce->src[i] != ring; i++)
    if (is_loop(reduce->src[i])) out[n++] = reduce->src[i];
  return n;
}

/* A ring that is filled anew in loops: no copy of its last rounds is under way, and all threads have read what they left. */
static const un_uop *turn_again(sharing *x, const un_uop *ring) {
  const un_uop *loop[UN__OPT_MAX_AXES];
  uint32_t n = loops_around(x->c.k, ring, loop);
  return n ? un__unary(x->c.g, UN__OP_BARRIER, un__uop(x->c.g, UN__OP_WAIT, 0, loop, n, (int64_t[]){0}, 1)) : NULL;
}

/* What threads hold of panel i, anew in every loop around the ring's. */
static const un_uop *registers_for(sharing *x, uint32_t i) {
  const un_uop *src[1 + UN__OPT_MAX_AXES];
  const un__opt_panel *p = &x->s->panel[i];
  src[0] = un__idx(x->c.g, rounds_of(p, x->s->threads) * p->lanes);
  uint32_t n = loops_around(x->c.k, x->c.k->axis[x->s->axis].range, src + 1);
  return un__uop(x->c.g, UN__OP_DEFINE_REG, un__dt_ptr(un__dt_scalar(p->load->dtype), UN__SPACE_REG), src, n + 1, (int64_t[]){i}, 1);
}

/* Begins to copy a round of the operands that are not held into the parts that `turn` and `offset` name, once `behind` (may be
 * NULL) has happened. NULL where there are none. */
static const un_uop *begin_round(sharing *x, const round *r, const un_uop *turn, int64_t offset, const un_uop *behind) {
  const un_uop *filled[UN__OPT_MAX_SHARED];
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->s->n; i++) {
    if (x->s->panel[i].held) continue;
    turn_to(x, i);
    filled[n++] = fill(&x->c, x->s->threads, slot(x, i, turn, offset, behind), r);
  }
  return n ? un__uop(x->c.g, UN__OP_COMMIT, 0, filled, n, NULL, 0) : NULL;
}

/* Loads a round of those that are held, each once what is behind it (NULL: nothing) has happened. */
static uint32_t take_round(sharing *x, const round *r, const un_uop *const *behind, const un_uop **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->s->n; i++) {
    if (!x->s->panel[i].held) continue;
    turn_to(x, i);
    out[n] = take(&x->c, x->s->threads, after(x->c.g, registers_for(x, i), behind + n, behind[n] != NULL), r);
    n++;
  }
  return n;
}

/* Stores what is held since it was taken into the part of this round. */
static void put_round(sharing *x, const un_uop *loop, const un_uop *const *taken, const un_uop **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->s->n; i++) {
    if (!x->s->panel[i].held) continue;
    turn_to(x, i);
    const un_uop *since[2] = {taken[n], loop};
    out[n++] = put(&x->c, x->s->threads, slot(x, i, loop, 0, NULL), after(x->c.g, registers_for(x, i), since, 2));
  }
}

/* The first rounds are begun before the loop. Each round stores what threads hold of it where the round before the last one was
 * read, takes the next of that, waits until its own copy is done, meets the other threads, which have read the part that the round
 * before left, begins the one that comes stages - 1 later there, and reads its own. What is taken is taken before threads meet,
 * since compilers do not move such a load down over it: else it would stand where it is stored. */
static const un_uop *share_ahead(sharing *x, const un_uop *kernel) {
  un__graph *g = x->c.g;
  const un_uop *loop = x->c.k->axis[x->s->axis].range, *size = un__idx(g, x->c.k->axis[x->s->axis].size), *zero = un__idx(g, 0);
  const un_uop *begun = turn_again(x, loop), *first[UN__OPT_MAX_SHARED], *did[UN__OPT_MAX_SHARED + 1], *ready[UN__OPT_MAX_SHARED];
  int64_t ahead = x->s->stages - 1;
  for (uint32_t i = 0; i < x->s->n; i++) first[i] = begun;
  uint32_t n = take_round(x, &(round){loop, zero, NULL, false}, first, did);
  bool copies = n < x->s->n;
  for (int64_t i = 0; i < ahead && copies; i++) begun = begin_round(x, &(round){loop, un__idx(g, i), NULL, true}, zero, i, begun);
  const un_uop *next = add(&x->c, loop, un__idx(g, 1)), *later = add(&x->c, loop, un__idx(g, ahead));
  put_round(x, loop, did, first);
  take_round(x, &(round){loop, next, un__binary(g, UN__OP_LT, next, size), false}, first, did);
  if (copies) did[n++] = un__uop(g, UN__OP_WAIT, 0, (const un_uop *[]){loop, begun}, 2, (int64_t[]){ahead - 1}, 1);
  const un_uop *met = un__uop(g, UN__OP_BARRIER, 0, did, n, NULL, 0);
  begun = begin_round(x, &(round){loop, later, un__binary(g, UN__OP_LT, later, size), true}, loop, ahead, met);
  for (uint32_t i = 0; i < x->s->n; i++) ready[i] = slot(x, i, loop, 0, begun ? begun : met);
  return read_shared(x, kernel, ready);
}

const un_uop *un__opt_share_apply(un__graph *g, const un_uop *kernel, const un__opt_kernel *k, const un__opt_share *s) {
  sharing x = {.c = {.g = g, .k = k, .id = k->next_id}, .s = s};
  for (uint32_t i = 0; i < s->n; i++) x.memory[i] = scratch(g, &s->panel[i], i);
  return s->stages > 1 ? share_ahead(&x, kernel) : share_at_once(&x, kernel);
}
