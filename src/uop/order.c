/* order.c - the one order in which nodes are numbered for people and for text. Depends on structure only. */
#include "text_parts.h"

typedef struct frame { const un_uop *n; uint32_t next; } frame;

typedef struct builder {
  un__order *o;
  UN__VEC(const un_uop *) done;
  UN__VEC(frame) stack;
} builder;

static bool enter(builder *b, const un_uop *n) {
  bool added;
  if (!un__ptrmap_put(&b->o->position, n, &added)) return false;
  return !added || un__vec_push(&b->stack, ((frame){n, 0}));
}

static bool leave(builder *b, const un_uop *n) {
  *un__ptrmap_get(&b->o->position, n) = b->done.n;
  b->stack.n--;
  return b->done.n < UN__NO_POSITION && un__vec_push(&b->done, n);
}

static bool walk(builder *b, const un_uop *root) {
  if (!enter(b, root)) return false;
  while (b->stack.n) {
    frame *f = &b->stack.at[b->stack.n - 1];
    bool more = f->next < f->n->nsrc;
    if (!(more ? enter(b, f->n->src[f->next++]) : leave(b, f->n))) return false;
  }
  return true;
}

bool un__order_build(un__order *o, const un_uop *root) {
  *o = (un__order){0};
  builder b = {.o = o};
  bool ok = walk(&b, root);
  un__vec_finish(&b.stack);
  o->node = b.done.at;
  o->n = (uint32_t)b.done.n;
  if (!ok) un__order_finish(o);
  return ok;
}

void un__order_finish(un__order *o) {
  un__free(o->node);
  un__ptrmap_finish(&o->position);
  *o = (un__order){0};
}

uint32_t un__order_at(const un__order *o, const un_uop *n) {
  const uintptr_t *at = un__ptrmap_get(&o->position, n);
  return at ? (uint32_t)*at : UN__NO_POSITION;
}
