/* graph.c - workspaces: private graphs in an arena, freed whole. */
#include "store.h"

un__graph *un__workspace_create(un__err *err) {
  un__graph *g = un__calloc(1, sizeof *g);
  if (!g) {
    un__fail(err, UN_ERR_NOMEM, "no memory for a workspace");
    return NULL;
  }
  g->store = &g->own;
  g->err = err;
  return g;
}

void un__workspace_destroy(un__graph *ws) {
  if (!ws) return;
  if (ws->detach) ws->detach(ws->attached);
  un__store *st = ws->store;
  un__intern_finish(&st->nodes);
  un__intern_finish(&st->shapes);
  un__intern_finish(&st->rangesets);
  un__arena_finish(&st->arena);
  un__free(ws);
}

void un__workspace_attach(un__graph *ws, void *p, void (*destroy)(void *p)) {
  ws->attached = p;
  ws->detach = destroy;
}

void *un__workspace_attached(const un__graph *ws) { return ws->attached; }

un__arena *un__workspace_arena(un__graph *ws) { return &ws->store->arena; }
bool un__graph_is_workspace(const un__graph *g) { return !g->world; }

/* Scratch that a rule could not have makes it decline: the arena remembers why. */
un_status un__graph_status(const un__graph *g) {
  if (!g->world && g->store->arena.failed) un__fail(g->err, UN_ERR_NOMEM, "no memory for a graph");
  return g->err->status;
}

un__err *un__graph_err(un__graph *g) { return g->err; }
uint32_t un__graph_id_limit(const un__graph *g) { return g->store->next_id; }
uint64_t un__graph_lookups(const un__graph *g) { return g->store->lookups; }
int64_t un__graph_fresh_range(un__graph *ws) { return ws->store->next_range++; }

void un__graph_reserve_range(un__graph *ws, int64_t id) {
  if (id >= ws->store->next_range && id < INT64_MAX) ws->store->next_range = id + 1;
}
