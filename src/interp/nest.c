/* nest.c - a kernel's loop nest as a program.
 *
 * Placement is by dependence (docs/stages.md): every RANGE is a block, the chain of ranges of an END or REDUCE nests
 * them, and a node lives in the innermost block of the ranges its value depends on. A REDUCE adds up in its innermost
 * block into slots that are set to the identity just before its outermost loop; what uses it comes after that loop.
 *
 * Inside a block the order of its items (nodes, and inner blocks as a whole) follows the edges of the graph, lifted to
 * the block where the two ends are different items. So REDUCEs with the same ranges share one loop, and a nest that no
 * order satisfies is found out.
 *
 * All AxisTypes are loops here: a kernel that is not linear yet runs whole, whatever the task.
 */
#include "program.h"

enum { ROOT = 0, NONE = UINT32_MAX };

typedef struct block {
  uint32_t parent, depth;
  uint32_t range;         /* position of its RANGE; NONE for the root */
  uint32_t first_reduce;  /* REDUCEs whose outermost range this is: a list through next_reduce */
  uint32_t members, done; /* items in it, items already written */
  uint32_t queue;         /* where its queue of ready items begins in `ready` */
  uint32_t head, tail;
  uint32_t loop_step;
} block;

typedef struct edge {
  uint32_t from, to;
} edge;

/* Items are numbered: nodes by position, then blocks. */
typedef struct nest {
  un__ibuild *b;
  UN__VEC(block) block;
  UN__VEC(edge) edge;
  UN__VEC(uint32_t) open; /* blocks being written, outermost first */
  uint32_t n;             /* nodes */
  uint32_t *block_of;     /* by position of a RANGE: its block */
  uint32_t *home;         /* by position: the block it lives in; NONE: has no item (RANGE) */
  uint32_t *next_reduce;  /* by position */
  uint32_t *waits;        /* by item: edges into it not yet done */
  uint32_t *ready;        /* queues of all blocks */
  uint32_t *first_edge;   /* by item: its edges are edge[first_edge[i] .. first_edge[i + 1]) once sorted */
} nest;

static const un_uop *node_at(const nest *s, uint32_t pos) { return s->b->order.node[pos]; }
static uint32_t at(const nest *s, const un_uop *n) { return un__iorder_at(&s->b->order, n); }
static bool closes_ranges(const un_uop *n) { return n->op == UN__OP_END || n->op == UN__OP_REDUCE; }

static un_status no_memory(nest *s) {
  return un__fail(s->b->err, UN_ERR_NOMEM, "interp: no memory for the program of a kernel");
}

/* ---- blocks ---- */

/* The innermost block of a set of ranges, which must lie on one chain. */
static un_status innermost(nest *s, uint32_t pos, const un__rangeset *set, uint32_t *out) {
  *out = ROOT;
  for (uint32_t i = 0; i < set->n; i++) {
    uint32_t k = s->block_of[at(s, set->range[i])];
    if (k == NONE) return un__ibuild_fault(s->b, pos, "depends on a range that nothing closes");
    if (s->block.at[k].depth > s->block.at[*out].depth) *out = k;
  }
  uint32_t found = 0;
  for (uint32_t k = *out; k != ROOT; k = s->block.at[k].parent) {
    for (uint32_t i = 0; i < set->n; i++) found += s->block.at[k].range == at(s, set->range[i]);
  }
  return found == set->n ? UN_OK : un__ibuild_fault(s->b, pos, "depends on ranges that are not nested in each other");
}

static un_status nest_range(nest *s, uint32_t closer, const un_uop *range, uint32_t parent, uint32_t *out) {
  if (range->op != UN__OP_RANGE) return un__ibuild_fault(s->b, closer, "closes something that is no range");
  uint32_t pos = at(s, range), known = s->block_of[pos];
  *out = known;
  if (known != NONE)
    return s->block.at[known].parent == parent ? UN_OK
                                               : un__ibuild_fault(s->b, pos, "is closed in two different nests");
  block k = {.parent = parent, .depth = s->block.at[parent].depth + 1, .range = pos, .first_reduce = NONE};
  *out = s->block_of[pos] = (uint32_t)s->block.n;
  return un__vec_push(&s->block, k) ? UN_OK : no_memory(s);
}

/* The stores that an END is about run in its innermost loop, also where they do not depend on it. */
static void pull_stores(nest *s, const un_uop *done, uint32_t home) {
  if (done->op == UN__OP_STORE) s->home[at(s, done)] = home;
  if (done->op != UN__OP_GROUP) return;
  for (uint32_t i = 0; i < done->nsrc; i++)
    if (done->src[i]->op == UN__OP_STORE) s->home[at(s, done->src[i])] = home;
}

static un_status nest_closer(nest *s, uint32_t pos) {
  const un_uop *n = node_at(s, pos);
  uint32_t k;
  UN__TRY(innermost(s, pos, n->ranges, &k));
  for (uint32_t i = 1; i < n->nsrc; i++) UN__TRY(nest_range(s, pos, n->src[i], k, &k));
  s->home[pos] = k;
  if (n->op == UN__OP_END) pull_stores(s, n->src[0], k);
  if (n->op == UN__OP_REDUCE) {
    block *outer = &s->block.at[s->block_of[at(s, n->src[1])]];
    s->next_reduce[pos] = outer->first_reduce;
    outer->first_reduce = pos;
  }
  return UN_OK;
}

/* Users come first, so the ranges that are open around a REDUCE have their blocks before it asks for them. */
static un_status make_blocks(nest *s) {
  block root = {.parent = ROOT, .range = NONE, .first_reduce = NONE};
  if (!un__vec_push(&s->block, root)) return no_memory(s);
  for (uint32_t pos = s->n; pos-- > 0;)
    if (closes_ranges(node_at(s, pos))) UN__TRY(nest_closer(s, pos));
  for (uint32_t pos = 0; pos < s->n; pos++) {
    const un_uop *n = node_at(s, pos);
    if (n->op == UN__OP_RANGE || s->home[pos] != NONE) continue;
    UN__TRY(innermost(s, pos, n->ranges, &s->home[pos]));
  }
  return UN_OK;
}

/* ---- order ---- */

static uint32_t block_with(const nest *s, uint32_t item) {
  return item < s->n ? s->home[item] : s->block.at[item - s->n].parent;
}

/* The two ends become one item only where a user of a closed loop, or the size of one, stands inside that loop. */
static un_status add_edge(nest *s, uint32_t from, uint32_t to, uint32_t user) {
  for (;;) {
    uint32_t a = block_with(s, from), b = block_with(s, to);
    if (a == b) break;
    if (s->block.at[a].depth >= s->block.at[b].depth)
      from = s->n + a;
    else
      to = s->n + b;
  }
  if (from == to) return un__ibuild_fault(s->b, user, "uses the result of a loop inside that loop");
  return un__vec_push(&s->edge, ((edge){from, to})) ? UN_OK : no_memory(s);
}

static un_status add_edges(nest *s) {
  for (uint32_t pos = 0; pos < s->n; pos++) {
    const un_uop *n = node_at(s, pos);
    bool is_range = n->op == UN__OP_RANGE;
    if (is_range && s->block_of[pos] == NONE) return un__ibuild_fault(s->b, pos, "is never closed");
    uint32_t to = is_range ? s->n + s->block_of[pos] : pos;
    for (uint32_t i = un__first_source(n); i < n->nsrc; i++) {
      const un_uop *x = n->src[i];
      if (x->op == UN__OP_RANGE) continue;
      uint32_t from = closes_ranges(x) ? s->n + s->block_of[at(s, x->src[1])] : at(s, x);
      UN__TRY(add_edge(s, from, to, pos));
    }
  }
  return UN_OK;
}

/* Counting sort by `from`, stable, so that the order written depends on the graph alone. */
static un_status sort_edges(nest *s, uint32_t items) {
  edge *sorted = un__alloc(s->edge.n * sizeof *sorted);
  if (!sorted) return no_memory(s);
  for (size_t i = 0; i < s->edge.n; i++) s->first_edge[s->edge.at[i].from + 1]++;
  for (uint32_t i = 0; i < items; i++) s->first_edge[i + 1] += s->first_edge[i];
  for (size_t i = 0; i < s->edge.n; i++) {
    sorted[s->first_edge[s->edge.at[i].from]++] = s->edge.at[i];
    s->waits[s->edge.at[i].to]++;
  }
  for (uint32_t i = items; i > 0; i--) s->first_edge[i] = s->first_edge[i - 1];
  s->first_edge[0] = 0;
  un__free(s->edge.at);
  s->edge.at = sorted;
  s->edge.cap = s->edge.n;
  return UN_OK;
}

static bool has_item(const nest *s, uint32_t item) { return item >= s->n ? item > s->n : s->home[item] != NONE; }

static void make_ready(nest *s, uint32_t item) {
  block *k = &s->block.at[block_with(s, item)];
  s->ready[k->queue + k->tail++] = item;
}

static void fill_queues(nest *s, uint32_t items) {
  for (uint32_t i = 0; i < items; i++)
    if (has_item(s, i)) s->block.at[block_with(s, i)].members++;
  uint32_t next = 0;
  for (size_t i = 0; i < s->block.n; i++) {
    s->block.at[i].queue = next;
    next += s->block.at[i].members;
  }
  for (uint32_t i = 0; i < items; i++)
    if (has_item(s, i) && s->waits[i] == 0) make_ready(s, i);
}

/* ---- writing ---- */

static un_status start_reduces(nest *s, const block *k) {
  for (uint32_t pos = k->first_reduce; pos != NONE; pos = s->next_reduce[pos])
    UN__TRY(un__ibuild_reduce_start(s->b, pos));
  return UN_OK;
}

static un_status open_block(nest *s, uint32_t which) {
  block *k = &s->block.at[which];
  if (!un__vec_push(&s->open, which)) return no_memory(s);
  if (which == ROOT) return UN_OK;
  const un_uop *range = node_at(s, k->range);
  un__ioperand size;
  UN__TRY(start_reduces(s, k));
  UN__TRY(un__ibuild_operand(s->b, range->src[0], 1, &size));
  uint32_t slot = s->b->slot[k->range] = un__ibuild_slots(s->b, un__value_i(range->dtype, 0), 1);
  if (slot == UN__NO_SLOT) return UN_ERR_NOMEM;
  k->loop_step = (uint32_t)s->b->prog->step.n;
  un__istep loop = {.kind = UN__ISTEP_LOOP,
                    .op = UN__OP_RANGE,
                    .dtype = UN__DT(un__dt_scalar(range->dtype)),
                    .dst = slot,
                    .nsrc = 1,
                    .node = k->range,
                    .of_result = un__range_axis(range) == UN__AXIS_LOOP};
  return un__ibuild_step(s->b, loop, &size);
}

static un_status close_block(nest *s, const block *k) {
  if (k->done != k->members) {
    uint32_t pos = k->range == NONE ? s->n - 1 : k->range;
    return un__ibuild_fault(s->b, pos, "holds loops that would have to run before each other");
  }
  if (k->range == NONE) return UN_OK;
  un__istep next = s->b->prog->step.at[k->loop_step];
  un__ioperand size = s->b->prog->operand.at[next.src];
  next.kind = UN__ISTEP_NEXT;
  next.target = k->loop_step + 1;
  UN__TRY(un__ibuild_step(s->b, next, &size));
  s->b->prog->step.at[k->loop_step].target = (uint32_t)s->b->prog->step.n;
  return UN_OK;
}

static un_status write_node(nest *s, uint32_t pos) {
  const un_uop *n = node_at(s, pos);
  if (n->op == UN__OP_END) return UN_OK;
  return n->op == UN__OP_REDUCE ? un__ibuild_reduce_step(s->b, pos) : un__ibuild_node(s->b, pos);
}

/* `item` is written: what waited for it alone is ready. */
static void finish_item(nest *s, uint32_t item) {
  s->block.at[block_with(s, item)].done++;
  for (uint32_t e = s->first_edge[item]; e < s->first_edge[item + 1]; e++) {
    uint32_t to = s->edge.at[e].to;
    if (--s->waits[to] == 0) make_ready(s, to);
  }
}

static un_status write_blocks(nest *s) {
  UN__TRY(open_block(s, ROOT));
  while (s->open.n > 0) {
    uint32_t which = s->open.at[s->open.n - 1];
    block *k = &s->block.at[which];
    if (k->head == k->tail) {
      UN__TRY(close_block(s, k));
      s->open.n--;
      if (which != ROOT) finish_item(s, s->n + which);
      continue;
    }
    uint32_t item = s->ready[k->queue + k->head++];
    if (item >= s->n) {
      UN__TRY(open_block(s, item - s->n));
      continue;
    }
    UN__TRY(write_node(s, item));
    finish_item(s, item);
  }
  return UN_OK;
}

static bool allocate(nest *s) {
  size_t items = (size_t)s->n * 2 + 2; /* at most as many blocks as ranges, and the root */
  s->block_of = un__alloc(s->n * sizeof *s->block_of);
  s->home = un__alloc(s->n * sizeof *s->home);
  s->next_reduce = un__alloc(s->n * sizeof *s->next_reduce);
  s->waits = un__calloc(items, sizeof *s->waits);
  s->ready = un__calloc(items, sizeof *s->ready);
  s->first_edge = un__calloc(items + 1, sizeof *s->first_edge);
  if (!s->block_of || !s->home || !s->next_reduce || !s->waits || !s->ready || !s->first_edge) return false;
  for (uint32_t i = 0; i < s->n; i++) s->block_of[i] = s->home[i] = s->next_reduce[i] = NONE;
  return true;
}

static un_status build_nest(nest *s) {
  if (!allocate(s)) return no_memory(s);
  UN__TRY(make_blocks(s));
  uint32_t items = s->n + (uint32_t)s->block.n;
  UN__TRY(add_edges(s));
  UN__TRY(sort_edges(s, items));
  fill_queues(s, items);
  return write_blocks(s);
}

un_status un__inest(un__ibuild *b, const un_uop *kernel) {
  (void)kernel;
  nest s = {.b = b, .n = (uint32_t)b->order.n};
  un_status st = build_nest(&s);
  un__vec_finish(&s.block);
  un__vec_finish(&s.edge);
  un__vec_finish(&s.open);
  un__free(s.block_of);
  un__free(s.home);
  un__free(s.next_reduce);
  un__free(s.waits);
  un__free(s.ready);
  un__free(s.first_edge);
  return st;
}
