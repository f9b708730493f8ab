/* values.c - which BUFFER holds the value of which node of a world.
 *
 * Nodes never change and stored results are never overwritten, so a value that lies in storage serves everybody who
 * needs it, whatever handle asked for it first. The table is weak: it keeps neither node nor buffer alive, and an entry
 * goes when either is freed (under the world's lock, as every access). `terms` is what the value was computed under: a
 * value of another device or of other numerics is not the same value. One entry a node: that of its latest buffer; a
 * buffer may hold the value of several nodes (views that keep the order of elements). */
#include "store.h"

struct un__value_entry {
  un_uop *node, *buffer;
  uint64_t terms;
};

/* un_uop.stored. Written under the lock; read without it as a hint that is checked under it. */
enum { NOT_STORED, HAS_VALUE, IS_VALUE };

static uint64_t hash_of(const un_uop *n) { return un__hash_mix(UINT64_C(0x56616c75), (uintptr_t)n); }
static bool of_node(const void *key, const void *item) { return ((const un__value_entry *)item)->node == key; }
static bool of_buffer(const void *key, const void *item) { return ((const un__value_entry *)item)->buffer == key; }

static void mark(un_uop *n, uint8_t stored) { __atomic_store_n(&n->stored, stored, __ATOMIC_RELAXED); }
static bool is_marked(const un_uop *n, uint8_t stored) {
  return __atomic_load_n(&n->stored, __ATOMIC_RELAXED) == stored;
}

static void drop_entry(un__store *st, un__value_entry *v) {
  un__intern_remove(&st->value_of, hash_of(v->node), v);
  un__intern_remove(&st->node_of, hash_of(v->buffer), v);
  mark(v->node, NOT_STORED);
  un__free(v);
}

void un__values_forget(un__store *st, const un_uop *n) {
  un__value_entry *v;
  if (is_marked(n, HAS_VALUE) && (v = un__intern_find(&st->value_of, hash_of(n), of_node, n))) drop_entry(st, v);
  if (!is_marked(n, IS_VALUE)) return;
  while ((v = un__intern_find(&st->node_of, hash_of(n), of_buffer, n))) drop_entry(st, v);
}

void un__values_finish(un__store *st) {
  un__intern_finish(&st->value_of);
  un__intern_finish(&st->node_of);
}

static bool add_entry(un__store *st, un__value_entry *v) {
  if (!un__intern_add(&st->value_of, hash_of(v->node), v)) return false;
  if (un__intern_add(&st->node_of, hash_of(v->buffer), v)) return true;
  un__intern_remove(&st->value_of, hash_of(v->node), v);
  return false;
}

/* Without memory nothing is remembered: the value is computed again when it is needed. */
void un__value_stored(un__session *s, const un_uop *node, const un_uop *buffer, uint64_t terms) {
  un__graph *g = un__session_graph(s);
  un__store *st = g->store;
  un__value_entry *v = un__alloc(sizeof *v);
  if (!v) return;
  *v = (un__value_entry){(un_uop *)node, (un_uop *)buffer, terms};
  un__world_lock(g->world);
  un__values_forget(st, node);
  bool added = add_entry(st, v);
  if (added) mark(v->node, HAS_VALUE), mark(v->buffer, IS_VALUE);
  un__world_unlock(g->world);
  if (!added) un__free(v);
}

const un_uop *un__value_of(un__session *s, const un_uop *node, uint64_t terms) {
  if (!is_marked(node, HAS_VALUE)) return NULL;
  un__graph *g = un__session_graph(s);
  un__world_lock(g->world);
  const un__value_entry *v = un__intern_find(&g->store->value_of, hash_of(node), of_node, node);
  un_uop *buffer = v && v->terms == terms ? v->buffer : NULL;
  if (buffer) buffer->stamp = g->store->epoch; /* seen now, as by interning */
  un__world_unlock(g->world);
  return buffer ? un__reshape_to(g, buffer, node->shape) : NULL;
}
