/* api.h - contexts and handles, and the frame of every public call.
 *
 * A shim opens a call, builds a node with src/tensor, and closes the call:
 *
 *     un_tensor *un_neg(un_tensor *x) {
 *       un__call c;
 *       return un__api_open(&c, "neg", (un_tensor *[]){x}, 1) ? un__api_close(&c, un__tensor_neg(c.g, x->node)) : NULL;
 *     }
 *
 * Opening checks the handles, takes the note that un_at left, and enters the session, so that no node seen inside is
 * freed. Closing makes the handle (which pins the node and goes into the innermost scope), completes the error text
 * with the caller's line, and leaves the session.
 *
 * Invariants: a handle is in exactly one list, that of a scope or ctx->kept; it pins its node once; nodes reached from
 * handles only are safe outside calls. ctx->err is the failure of the running call, empty when it opens; ctx->first is
 * the one that un_error shows.
 */
#ifndef UN_API_API_H
#define UN_API_API_H

#ifndef UN_NO_HERE
#define UN_NO_HERE
#endif
#include <unir/device.h>
#include <unir/program.h>
#include <unir/tensor.h>
#include <unir/text.h>

#include "engine/engine.h"
#include "engine/replay.h"
#include "tensor/tensor.h"

/* Double links; an empty list points to itself. */
typedef struct un__link { struct un__link *prev, *next; } un__link;

typedef struct un__scope {
  un__link handles;
  struct un__scope *outer;
} un__scope;

/* Where a call is written, noted by un_at for the call whose first handle is `first`. */
typedef struct un__note { const void *first; const char *file; int line; } un__note;

enum { UN__NOTES = 32 };

struct un_ctx {
  un__world *world;
  un__engine *engine;
  un__session *session;
  un__graph *graph;
  un__err err;                  /* of the running call: the graph and the engine write here */
  un__err first;                /* since creation or un_clear_error */
  un__scope *scope;             /* innermost */
  un__link kept;                /* handles taken out by un_keep */
  un__link programs;
  size_t live_handles;
  int device;
  uint32_t licences;
  un__note notes[UN__NOTES];
  uint32_t nnotes;
};

struct un_tensor {
  un__link link;                /* first: links are cast to handles */
  un_ctx *cx;
  const un_uop *node;           /* pinned */
  const void *borrowed;         /* the memory of un_wrap_data; NULL otherwise */
  const char *file;             /* where it was made; NULL: unknown */
  int line;
};

/* What a tensor of a program looks like: checked when it is given another one. */
typedef struct un__type { un_dtype dtype; un_dims shape; } un__type;

struct un_program {
  un__link link;                /* first: links are cast to programs */
  un_ctx *cx;
  un__replay *replay;
  size_t ninputs, nresults, nstates;
  un__type *type;               /* of inputs, results, states, in this order */
};

typedef struct un__call {
  un_ctx *cx;
  un__graph *g;
  const char *what;
  const char *file;
  int line;
} un__call;

/* ---- the frame ---- */

/* False when a handle is NULL (no error) or of another context (an error). n >= 1. */
bool un__api_open(un__call *c, const char *what, un_tensor *const *in, size_t n);
/* For calls whose first argument is the context. */
bool un__api_open_cx(un__call *c, const char *what, un_ctx *cx);
bool un__api_open_program(un__call *c, const char *what, un_program *p);
/* A handle for `node`; NULL when it is NULL. */
un_tensor *un__api_close(un__call *c, const un_uop *node);
/* The same for calls without a handle to return: the status of this call. */
un_status un__api_close_status(un__call *c);
/* A list of handles: a NULL or foreign one is an error. Between open and close. */
bool un__api_check(un__call *c, un_tensor *const *in, size_t n);
bool un__api_check_one(un__call *c, const un_tensor *t, size_t i);      /* the i-th of a list */

/* ---- handles ---- */

void un__handle_free(un_tensor *t);
/* The handle stands for another node from now on. pinned: `node` carries a pin that the handle takes over. */
void un__handle_set(un_tensor *t, const un_uop *node, bool pinned);

/* The program and what it holds; inside a call, or when the context goes. */
void un__program_free(un_program *p);

/* The same of a tensor that has elements, which is realised if it must be; NULL on failure. */
const un_uop *un__api_need_buffer(un__call *c, un_tensor *t);
/* A BUFFER node of this type on a device, which needs storage behind its serial. */
const un_uop *un__api_new_buffer(un__call *c, un_dtype dtype, const un_dims *shape, int device, int64_t *out_serial);
/* The buffer whose bytes are the tensor's, when there is one: views that keep the order do not matter. */
const un_uop *un__stored_buffer(const un_uop *n);

/* Realises; entries must not be NULL. Inside an open call; the session is left while the engine works. */
un_status un__api_realize(un__call *c, un_tensor *const *tensors, size_t n);

static inline void un__link_init(un__link *l) { l->prev = l->next = l; }
static inline void un__link_remove(un__link *l) { l->prev->next = l->next, l->next->prev = l->prev; }
static inline void un__link_append(un__link *list, un__link *l) {
  l->prev = list->prev, l->next = list;
  list->prev->next = l, list->prev = l;
}

#endif
