/* linearize.c - the order of a kernel's instructions.
 *
 * Every block is sorted on its own: its items are the nodes placed in it and the loops that stand in it, a loop being
 * one item that needs what anything inside it needs. Of the items that are ready the first one in the kernel's own
 * topological order goes next, arguments and constants before all others; that keeps a load near its first use.
 *
 * Nodes are built anew as they are listed, because all ENDs of one RANGE become one END, and a RANGE that the launch
 * provides becomes a SPECIAL. Invariant: when an item is listed, everything it needs is listed. */
#include "linearize.h"

#include "base/ptrmap.h"
#include "base/vec.h"
#include "placement.h"

typedef UN__VEC(const un_uop *) nodes;
typedef struct edge { uint32_t from, to; } edge;

/* Items: positions of nodes, then p.n + loop for loops. */
typedef struct linearizer {
  un__graph *g;
  un__placement p;
  uint32_t items;
  UN__VEC(edge) edges;
  uint32_t *first_edge;        /* by item: its successors in `next` */
  uint32_t *next;
  uint32_t *waits;             /* by item: how many items it still waits for */
  uint32_t *heap, *heap_at, *heap_n;   /* ready items of every block: a heap at heap + heap_at[block] */
  uint32_t *left;              /* by block: items not listed yet */
  const un_uop **made;         /* by position: the node as listed */
  nodes list;
  un__ptrmap listed;
  nodes scratch;
} linearizer;

static bool out_of_memory(linearizer *z) {
  un__fail(un__graph_err(z->g), UN_ERR_NOMEM, "no memory to linearise a kernel");
  return false;
}

/* ---- items and what they wait for ---- */

static uint32_t loop_item(const linearizer *z, uint32_t loop) { return z->p.n + loop; }

/* A RANGE that is a loop is no item: being inside the loop is having it. */
static bool is_item(const linearizer *z, uint32_t at) {
  const un_uop *n = z->p.order[at];
  return !(un__is(n, UN__OP_RANGE) && !un__range_is_special(n)) && z->p.closes[at] == UN__NO_LOOP;
}

static uint32_t item_of(const linearizer *z, uint32_t at) {
  if (z->p.closes[at] != UN__NO_LOOP) return loop_item(z, z->p.closes[at]);
  return is_item(z, at) ? at : loop_item(z, z->p.block[at]);
}

static uint32_t block_of(const linearizer *z, uint32_t item) {
  return item < z->p.n ? z->p.block[item] : z->p.loop[item - z->p.n].parent;
}

/* `to` waits for `from`: lifted to the block that has both, an item there waits for another one. */
static bool add_edge(linearizer *z, uint32_t from, uint32_t to) {
  const un__loop *loop = z->p.loop;
  uint32_t a = block_of(z, from), b = block_of(z, to);
  while (a != b) {
    bool lift_from = loop[a].depth > loop[b].depth || (loop[a].depth == loop[b].depth && a > b);
    if (lift_from) {
      from = loop_item(z, a);
      a = loop[a].parent;
    } else {
      to = loop_item(z, b);
      b = loop[b].parent;
    }
  }
  return from == to || un__vec_push(&z->edges, ((edge){from, to}));
}

static bool collect_edges(linearizer *z) {
  for (uint32_t i = 0; i < z->p.n; i++) {
    const un_uop *n = z->p.order[i];
    for (uint32_t k = 0; k < n->nsrc; k++) {
      uint32_t s = z->p.at[n->src[k]->id];
      bool loop_variable = !is_item(z, s) && z->p.closes[s] == UN__NO_LOOP;
      if (!loop_variable && !add_edge(z, item_of(z, s), item_of(z, i))) return out_of_memory(z);
    }
  }
  return true;
}

static bool allocate(linearizer *z) {
  uint32_t n = z->p.n + z->p.nloops, blocks = z->p.nloops;
  z->items = n;
  z->first_edge = un__calloc((size_t)n + 2, sizeof *z->first_edge);
  z->waits = un__calloc(n, sizeof *z->waits);
  z->heap = un__calloc(n, sizeof *z->heap);
  z->heap_at = un__calloc((size_t)blocks + 1, sizeof *z->heap_at);
  z->heap_n = un__calloc(blocks, sizeof *z->heap_n);
  z->left = un__calloc(blocks, sizeof *z->left);
  z->made = un__calloc(z->p.n, sizeof *z->made);
  return (z->first_edge && z->waits && z->heap && z->heap_at && z->heap_n && z->left && z->made) || out_of_memory(z);
}

/* Successors as runs of one array. */
static bool sort_edges(linearizer *z) {
  z->next = un__alloc(z->edges.n * sizeof *z->next);
  if (!z->next) return out_of_memory(z);
  for (size_t i = 0; i < z->edges.n; i++) {
    z->first_edge[z->edges.at[i].from + 2]++;
    z->waits[z->edges.at[i].to]++;
  }
  for (uint32_t i = 2; i <= z->items + 1; i++) z->first_edge[i] += z->first_edge[i - 1];
  for (size_t i = 0; i < z->edges.n; i++) z->next[z->first_edge[z->edges.at[i].from + 1]++] = z->edges.at[i].to;
  return true;
}

/* ---- ready items ---- */

/* Constants and what the launch gives (a RANGE that is an item is one) go first; a loop counts as its first END. */
static uint64_t priority(const linearizer *z, uint32_t item) {
  static const bool first[UN__OP_COUNT] = {
    [UN__OP_CONST] = true, [UN__OP_PARAM] = true, [UN__OP_VAR] = true, [UN__OP_RANGE] = true, [UN__OP_SPECIAL] = true,
  };
  uint64_t later = (uint64_t)1 << 32;
  if (item >= z->p.n) return later | z->p.loop[item - z->p.n].first_end;
  return first[z->p.order[item]->op] ? item : later | item;
}

static void push_ready(linearizer *z, uint32_t item) {
  uint32_t block = block_of(z, item);
  uint32_t *h = z->heap + z->heap_at[block], i = z->heap_n[block]++;
  for (; i && priority(z, h[(i - 1) / 2]) > priority(z, item); i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
  h[i] = item;
}

static uint32_t pop_ready(linearizer *z, uint32_t block) {
  uint32_t *h = z->heap + z->heap_at[block], n = --z->heap_n[block], top = h[0], last = h[n], i = 0;
  for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && priority(z, h[child + 1]) < priority(z, h[child])) child++;
    if (priority(z, h[child]) >= priority(z, last)) break;
    h[i] = h[child];
  }
  h[i] = last;
  return top;
}

static bool to_list(const linearizer *z, uint32_t item) {
  return item < z->p.n ? is_item(z, item) : item != loop_item(z, 0);
}

static void find_ready(linearizer *z) {
  for (uint32_t i = 0; i < z->items; i++)
    if (to_list(z, i)) z->left[block_of(z, i)]++;
  for (uint32_t b = 1; b < z->p.nloops; b++) z->heap_at[b] = z->heap_at[b - 1] + z->left[b - 1];
  for (uint32_t i = 0; i < z->items; i++)
    if (to_list(z, i) && z->waits[i] == 0) push_ready(z, i);
}

static void done(linearizer *z, uint32_t item) {
  z->left[block_of(z, item)]--;
  for (uint32_t k = z->first_edge[item]; k < z->first_edge[item + 1]; k++)
    if (--z->waits[z->next[k]] == 0) push_ready(z, z->next[k]);
}

/* ---- listing ---- */

static bool list(linearizer *z, const un_uop *n) {
  bool added;
  if (!n) return false;
  if (!un__ptrmap_put(&z->listed, n, &added) || (added && !un__vec_push(&z->list, n))) return out_of_memory(z);
  return true;
}

/* Registers live anew in loops; what the launch gives is none. */
static bool names_no_loop(const un_uop *n, uint32_t k) {
  return un__is(n, UN__OP_DEFINE_REG) && k && un__range_is_special(n->src[k]);
}

static const un_uop *with_made_sources(linearizer *z, const un_uop *n) {
  z->scratch.n = 0;
  for (uint32_t k = 0; k < n->nsrc; k++)
    if (!names_no_loop(n, k) && !un__vec_push(&z->scratch, z->made[z->p.at[n->src[k]->id]])) {
      out_of_memory(z);
      return NULL;
    }
  if (z->scratch.n == n->nsrc) return un__with_src(z->g, n, z->scratch.at);
  return un__uop(z->g, (un__op)n->op, n->dtype, z->scratch.at, (uint32_t)z->scratch.n, un__attrs(n), n->nattr);
}

/* The dimension of a SPECIAL counts the ranges of its axis by id. */
static const un_uop *special(linearizer *z, const un_uop *range) {
  int64_t dim = 0;
  for (uint32_t i = 0; i < z->p.n; i++) {
    const un_uop *r = z->p.order[i];
    dim += un__is(r, UN__OP_RANGE) && un__range_axis(r) == un__range_axis(range) && un__range_id(r) < un__range_id(range);
  }
  const un_uop *size = z->made[z->p.at[range->src[0]->id]];
  return un__uop(z->g, UN__OP_SPECIAL, range->dtype, &size, 1, (int64_t[]){un__range_axis(range), dim}, 2);
}

static bool list_node(linearizer *z, uint32_t at) {
  const un_uop *n = z->p.order[at];
  if (un__is(n, UN__OP_SINK)) return true;
  if (un__is(n, UN__OP_END)) {       /* of a range that is no loop */
    z->made[at] = z->made[z->p.at[n->src[0]->id]];
    return true;
  }
  z->made[at] = un__is(n, UN__OP_RANGE) ? special(z, n) : with_made_sources(z, n);
  return list(z, z->made[at]);
}

static bool open_loop(linearizer *z, uint32_t loop) {
  uint32_t at = z->p.loop[loop].range_at;
  z->made[at] = with_made_sources(z, z->p.order[at]);
  return list(z, z->made[at]);
}

/* One END for all that close this loop. */
static bool close_loop(linearizer *z, uint32_t loop) {
  z->scratch.n = 0;
  for (uint32_t i = z->p.loop[loop].first_end; i < z->p.n; i++)
    if (z->p.closes[i] == loop && !un__vec_push(&z->scratch, z->made[z->p.at[z->p.order[i]->src[0]->id]])) return out_of_memory(z);
  const un_uop *token = z->scratch.at[0];
  if (z->scratch.n > 1) {
    token = un__uop(z->g, UN__OP_GROUP, 0, z->scratch.at, (uint32_t)z->scratch.n, NULL, 0);
    if (!list(z, token)) return false;
  }
  const un_uop *end = un__binary(z->g, UN__OP_END, token, z->made[z->p.loop[loop].range_at]);
  for (uint32_t i = z->p.loop[loop].first_end; i < z->p.n; i++)
    if (z->p.closes[i] == loop) z->made[i] = end;
  return list(z, end);
}

static bool is_cyclic(linearizer *z, uint32_t block) {
  for (uint32_t i = 0; i < z->p.n; i++) {
    uint32_t item = item_of(z, i);
    if (block_of(z, item) != block || z->waits[item] == 0) continue;
    un__fail(un__graph_err(z->g), UN_ERR_INTERNAL, "linearize: %s needs the result of a loop that it is part of",
             un__info(z->p.order[i])->text);
    return true;
  }
  un__fail(un__graph_err(z->g), UN_ERR_INTERNAL, "linearize: a loop needs its own result");
  return true;
}

static bool list_all(linearizer *z) {
  for (uint32_t block = 0;;) {
    if (z->heap_n[block]) {
      uint32_t item = pop_ready(z, block);
      if (item >= z->p.n) {
        block = item - z->p.n;
        if (!open_loop(z, block)) return false;
      } else {
        if (!list_node(z, item)) return false;
        done(z, item);
      }
    } else {
      if (z->left[block]) return !is_cyclic(z, block);
      if (block == 0) return true;
      if (!close_loop(z, block)) return false;
      done(z, loop_item(z, block));
      block = z->p.loop[block].parent;
    }
  }
}

static void finish(linearizer *z) {
  un__vec_finish(&z->edges);
  un__vec_finish(&z->list);
  un__vec_finish(&z->scratch);
  un__ptrmap_finish(&z->listed);
  un__free(z->first_edge);
  un__free(z->next);
  un__free(z->waits);
  un__free(z->heap);
  un__free(z->heap_at);
  un__free(z->heap_n);
  un__free(z->left);
  un__free(z->made);
  un__placement_finish(&z->p);
}

const un_uop *un__linearize(un__graph *ws, const un_uop *kernel) {
  linearizer z = {.g = ws};
  un__ptrmap_init(&z.listed);
  bool ok = un__place(ws, kernel, &z.p) && collect_edges(&z) && allocate(&z) && sort_edges(&z);
  if (ok) find_ready(&z);
  ok = ok && list_all(&z);
  const un_uop *linear = ok ? un__uop(ws, UN__OP_LINEAR, 0, z.list.at, (uint32_t)z.list.n, NULL, 0) : NULL;
  finish(&z);
  return linear;
}
