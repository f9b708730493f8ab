/* world.c - the persistent graph: sessions, epochs, deferred counts, sweeps.
 *
 * A node's refs are edges from nodes and shapes, and pins of handles; C locals never count. A node whose refs is 0 waits
 * in `zeroed`. `stamp` is the last epoch in which it was built, found by interning, or lost its last reference. It is
 * freed when its refs is still 0 and every session that is inside a call entered after `stamp`: nobody can hold it. */
#include "store.h"

struct un__session {
  un__world *world;
  un__graph graph;
  uint64_t epoch;             /* published while inside a public call; 0 outside */
  unsigned depth;             /* nested enters */
  un__session *next;
};

struct un__world {
  mtx_t lock;
  un__store store;
  un__session *sessions;
  size_t count;               /* world handles */
  size_t sweep_at;            /* zeroed nodes that make a leave sweep */
  bool due;                   /* a pin was dropped: storage may hang on it, so sweep soon */
  void (*on_buffer_free)(void *data, int64_t serial);
  void *on_buffer_free_data;
};

enum { SWEEP_MIN = 64, SWEEP_DUE_MAX = 4096 };

void un__world_lock(un__world *w) { mtx_lock(&w->lock); }
void un__world_unlock(un__world *w) { mtx_unlock(&w->lock); }

un__world *un__world_create(void) {
  un__world *w = un__calloc(1, sizeof *w);
  if (!w) return NULL;
  if (mtx_init(&w->lock, mtx_plain) != thrd_success) {
    un__free(w);
    return NULL;
  }
  un__slab_init(&w->store.slab);
  w->count = 1;
  w->store.epoch = 1;
  w->sweep_at = SWEEP_MIN;
  return w;
}

un__world *un__world_retain(un__world *w) {
  un__world_lock(w);
  w->count++;
  un__world_unlock(w);
  return w;
}

/* ---- freeing ---- */

void un__list_zeroed(un__store *st, un_uop *n) {
  n->flags |= UN__NODE_ZEROED;
  n->next_zeroed = st->zeroed;
  st->zeroed = n;
  st->nzeroed++;
}

void un__unref(un__store *st, const un_uop *node, uint64_t stamp) {
  un_uop *n = (un_uop *)node;
  if (stamp > n->stamp) n->stamp = stamp;
  if (--n->refs == 0 && !(n->flags & UN__NODE_ZEROED)) un__list_zeroed(st, n);
}

static void free_node(un__world *w, un_uop *n) {
  un__store *st = &w->store;
  un__intern_remove(&st->nodes, n->hash, n);
  un__values_forget(st, n);
  if (un__is(n, UN__OP_BUFFER) && w->on_buffer_free) w->on_buffer_free(w->on_buffer_free_data, un__attr(n, 0));
  for (uint32_t i = 0; i < n->nsrc; i++) un__unref(st, n->src[i], n->stamp);
  if (n->shape) un__shape_drop(st, (un__shape *)n->shape, n->stamp);
  (void)un__vec_push(&st->free_ids, n->id);     /* without memory the id is lost, not the node */
  st->live--;
  un__slab_free(&st->slab, n, un__node_size(n->nsrc, n->nattr));
}

static uint64_t oldest_epoch(const un__world *w) {
  uint64_t oldest = UINT64_MAX;
  for (const un__session *s = w->sessions; s; s = s->next)
    if (s->epoch && s->epoch < oldest) oldest = s->epoch;
  return oldest;
}

static un_uop *take_zeroed(un__store *st) {
  un_uop *n = st->zeroed;
  st->zeroed = n->next_zeroed;
  st->nzeroed--;
  n->flags &= (uint8_t)~UN__NODE_ZEROED;
  return n;
}

/* Freeing a node may list its sources, which the same sweep then meets. */
static void sweep(un__world *w) {
  un__store *st = &w->store;
  uint64_t oldest = oldest_epoch(w);
  un_uop *kept = NULL;
  while (st->zeroed) {
    un_uop *n = take_zeroed(st);
    if (n->refs) continue;
    if (n->stamp < oldest) {
      free_node(w, n);
    } else {
      n->next_zeroed = kept;
      kept = n;
    }
  }
  while (kept) {
    un_uop *n = kept;
    kept = n->next_zeroed;
    un__list_zeroed(st, n);
  }
  w->sweep_at = st->nzeroed * 2 > SWEEP_MIN ? st->nzeroed * 2 : SWEEP_MIN;
  w->due = false;
}

void un__world_release(un__world *w) {
  if (!w) return;
  un__world_lock(w);
  size_t left = --w->count;
  if (!left) sweep(w);
  un__world_unlock(w);
  if (left) return;
  un__store *st = &w->store;
  un__intern_finish(&st->nodes);
  un__intern_finish(&st->shapes);
  un__values_finish(st);
  un__slab_finish(&st->slab);
  un__vec_finish(&st->free_ids);
  mtx_destroy(&w->lock);
  un__free(w);
}

/* ---- sessions ---- */

un__session *un__session_create(un__world *w, un__err *err) {
  un__session *s = un__calloc(1, sizeof *s);
  if (!s) {
    un__fail(err, UN_ERR_NOMEM, "no memory for a session");
    return NULL;
  }
  s->world = un__world_retain(w);
  s->graph = (un__graph){.store = &w->store, .world = w, .err = err};
  un__world_lock(w);
  s->next = w->sessions;
  w->sessions = s;
  un__world_unlock(w);
  return s;
}

void un__session_destroy(un__session *s) {
  if (!s) return;
  un__world *w = s->world;
  un__world_lock(w);
  un__session **at = &w->sessions;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
  sweep(w);
  un__world_unlock(w);
  un__free(s);
  un__world_release(w);
}

void un__session_enter(un__session *s) {
  if (s->depth++) return;
  un__world_lock(s->world);
  s->epoch = ++s->world->store.epoch;
  un__world_unlock(s->world);
}

void un__session_leave(un__session *s) {
  if (--s->depth) return;
  un__world *w = s->world;
  un__world_lock(w);
  s->epoch = 0;
  size_t waiting = w->store.nzeroed;
  if (waiting >= w->sweep_at || (w->due && waiting <= SWEEP_DUE_MAX)) sweep(w);
  un__world_unlock(w);
}

un__graph *un__session_graph(un__session *s) { return &s->graph; }

void un__pin(un__session *s, const un_uop *n) {
  un__world_lock(s->world);
  ((un_uop *)n)->refs++;
  un__world_unlock(s->world);
}

void un__unpin(un__session *s, const un_uop *n) {
  un__world *w = s->world;
  un__world_lock(w);
  un__unref(&w->store, n, w->store.epoch);
  w->due = true;
  un__world_unlock(w);
}

void un__unpin_all(un__session *s, const un_uop *const *n, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (n[i]) un__unpin(s, n[i]);
}

void un__collect(un__session *s) {
  un__world_lock(s->world);
  sweep(s->world);
  un__world_unlock(s->world);
}

int64_t un__world_next_serial(un__world *w) {
  un__world_lock(w);
  int64_t serial = w->store.next_serial++;
  un__world_unlock(w);
  return serial;
}

void un__world_on_buffer_free(un__world *w, void (*fn)(void *data, int64_t serial), void *data) {
  un__world_lock(w);
  w->on_buffer_free = fn;
  w->on_buffer_free_data = data;
  un__world_unlock(w);
}

size_t un__world_live_nodes(un__world *w) {
  un__world_lock(w);
  size_t n = w->store.live;
  un__world_unlock(w);
  return n;
}

/* ---- audit ---- */

/* Edges into every node, from the nodes and shapes that the table holds. The order of the table does not matter. */
static bool count_edges(const un__store *st, un__ptrmap *edges) {
  for (size_t i = 0; i < st->nodes.cap; i++) {
    const un_uop *n = st->nodes.slot[i].item;
    for (uint32_t k = 0; n && k < n->nsrc; k++) {
      uintptr_t *count = un__ptrmap_put(edges, n->src[k], NULL);
      if (!count) return false;
      ++*count;
    }
  }
  for (size_t i = 0; i < st->shapes.cap; i++) {
    const un__shape *s = st->shapes.slot[i].item;
    for (uint32_t k = 0; s && k < s->rank; k++) {
      uintptr_t *count = un__ptrmap_put(edges, s->dim[k], NULL);
      if (!count) return false;
      ++*count;
    }
  }
  return true;
}

bool un__world_audit(un__world *w, un__err *err) {
  un__ptrmap edges;
  un__ptrmap_init(&edges);
  un__world_lock(w);
  const un__store *st = &w->store;
  bool ok = count_edges(st, &edges) || (un__fail(err, UN_ERR_NOMEM, "no memory to audit"), false);
  size_t seen = 0;
  for (size_t i = 0; ok && i < st->nodes.cap; i++) {
    const un_uop *n = st->nodes.slot[i].item;
    if (!n) continue;
    seen++;
    uintptr_t *count = un__ptrmap_get(&edges, n);
    if (n->refs < (count ? *count : 0)) {
      un__fail(err, UN_ERR_INTERNAL, "%s has %u references and %zu edges", un__info(n)->name, n->refs, (size_t)*count);
      ok = false;
    }
  }
  if (ok && seen != st->live) {
    un__fail(err, UN_ERR_INTERNAL, "%zu nodes are interned and %zu are counted", seen, st->live);
    ok = false;
  }
  un__world_unlock(w);
  un__ptrmap_finish(&edges);
  return ok;
}
