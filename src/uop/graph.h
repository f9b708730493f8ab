/* graph.h - worlds, workspaces, lifetime of nodes. */
#ifndef UN_UOP_GRAPH_H
#define UN_UOP_GRAPH_H

#include "uop.h"
#include "base/vec.h"

/* ---- workspaces: one thread, freed whole ---- */

/* `err` receives the first failure and outlives the workspace. NULL when memory is short. */
un__graph *un__workspace_create(un__err *err);
void un__workspace_destroy(un__graph *ws);
un__arena *un__workspace_arena(un__graph *ws);      /* scratch that lives as long as the workspace */
bool un__graph_is_workspace(const un__graph *g);
/* One pointer that the layer above (the rewrite engine) keeps with a workspace; destroy() runs when that is freed. */
void un__workspace_attach(un__graph *ws, void *p, void (*destroy)(void *p));
void *un__workspace_attached(const un__graph *ws);      /* NULL: nothing yet */

un_status un__graph_status(const un__graph *g);
un__err *un__graph_err(un__graph *g);
uint32_t un__graph_id_limit(const un__graph *g);    /* every node's id is below it */
uint64_t un__graph_lookups(const un__graph *g);     /* intern calls so far, for statistics */
int64_t un__graph_fresh_range(un__graph *ws);       /* the next unused RANGE id of this workspace, from 0 */
void un__graph_reserve_range(un__graph *ws, int64_t id);   /* later fresh ids are above `id` (parser, import) */

/* Copies the graph below `root` from one graph to another. BUFFER slots (serials) are renumbered from 0 in order of
 * first visit when `to` is a workspace, and serials (may be NULL) receives the old slot of each new one. When `to` is
 * persistent, serials (may be NULL: kept) says the serial of each slot. RANGE ids are renumbered in a workspace. */
typedef UN__VEC(int64_t) un__slot_map;
const un_uop *un__import(un__graph *to, const un_uop *root, un__slot_map *serials);
/* From one workspace to another, with its numbers: the ids of a kernel's ranges say which of them are lanes, and plans name them. */
const un_uop *un__copy(un__graph *ws, const un_uop *root);
typedef UN__VEC(const un_uop *) un__nodes;

/* 128-bit structural hash of a workspace graph (slots, not serials): the identity used in keys. */
typedef struct un__key { uint64_t lo, hi; } un__key;
bool un__structural_key(const un_uop *root, un__key *out);      /* false when memory is short */

/* ---- the persistent graph: a world shared by contexts ---- */

typedef struct un__world un__world;
typedef struct un__session un__session;     /* one context's presence in a world */

un__world *un__world_create(void);                       /* count 1 */
un__world *un__world_retain(un__world *w);
void un__world_release(un__world *w);                    /* the last one frees everything */

un__session *un__session_create(un__world *w, un__err *err);
void un__session_destroy(un__session *s);
/* Every public call runs between enter and leave: enter publishes the world's epoch, so that no node it can see is
 * freed; leave clears it and may sweep. Nested calls are counted. The lock is taken inside the constructors. */
void un__session_enter(un__session *s);
void un__session_leave(un__session *s);
un__graph *un__session_graph(un__session *s);            /* the persistent graph; errors go to the session's un__err */

/* ---- values that lie in storage (values.c) ---- */

#define UN__NO_TERMS UINT64_MAX                          /* nothing is stored under these */

/* From now on `buffer` is known to hold the elements of `node`, perhaps in another shape, computed under these terms
 * (device, licences). Weak: neither is kept alive. Both are pinned by the caller. */
void un__value_stored(un__session *s, const un_uop *node, const un_uop *buffer, uint64_t terms);
/* The BUFFER with the value of `node`, reshaped if need be, or NULL. The session is inside a call, which keeps the
 * BUFFER until it leaves. */
const un_uop *un__value_of(un__session *s, const un_uop *node, uint64_t terms);
/* As un__import of a graph of the session's world into a workspace, but what lies in storage under these terms is the
 * BUFFER that holds it. inputs receives the BUFFER of each slot, pinned (un__unpin_all), also when NULL is returned. Inside a call. */
const un_uop *un__import_stored(un__graph *ws, un__session *s, const un_uop *root, uint64_t terms, un__nodes *inputs);

void un__pin(un__session *s, const un_uop *n);           /* a public handle holds it */
void un__unpin(un__session *s, const un_uop *n);
void un__unpin_all(un__session *s, const un_uop *const *n, size_t count);     /* NULLs are skipped */
void un__collect(un__session *s);                        /* sweeps now */
int64_t un__world_next_serial(un__world *w);             /* for BUFFER slots */
/* Called under the world's lock when a BUFFER node is freed, so that its storage can go. One per world. */
void un__world_on_buffer_free(un__world *w, void (*fn)(void *data, int64_t serial), void *data);
size_t un__world_live_nodes(un__world *w);
/* Recomputes every count from edges and pins; false (and a message in err) when one is wrong. */
bool un__world_audit(un__world *w, un__err *err);

#endif
