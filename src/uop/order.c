/* order.c - the one order in which nodes are numbered for people and for text. Depends on structure only; ids are
 * used to find a node again, never to choose. */
#include "text_parts.h"

#include <string.h>

typedef struct frame { const un_uop *n; uint32_t next; } frame;

typedef struct builder {
  un__order *o;
  UN__VEC(const un_uop *) done;
  UN__VEC(frame) stack;
  UN__VEC(const un_uop *) seen;      /* seen.at[i] is what slot value i + 1 stands for while building */
} builder;

static uint32_t hash_id(uint32_t id) {
  uint64_t h = id * 0x9e3779b97f4a7c15ull;
  return (uint32_t)(h >> 32);
}

static bool grow_slots(builder *b) {
  un__order *o = b->o;
  size_t size = o->slot ? ((size_t)o->mask + 1) * 2 : 64;
  if (size > UINT32_MAX) return false;
  uint32_t *slot = un__calloc(size, sizeof *slot);
  if (!slot) return false;
  un__free(o->slot);
  o->slot = slot;
  o->mask = (uint32_t)size - 1;
  for (size_t i = 0; i < b->seen.n; i++) {
    uint32_t at = hash_id(b->seen.at[i]->id) & o->mask;
    while (slot[at]) at = (at + 1) & o->mask;
    slot[at] = (uint32_t)i + 1;
  }
  return true;
}

typedef enum visit { VISIT_NEW, VISIT_SEEN, VISIT_FAILED } visit;

static visit mark(builder *b, const un_uop *n) {
  if ((!b->o->slot || b->seen.n * 2 > b->o->mask) && !grow_slots(b)) return VISIT_FAILED;
  uint32_t at = hash_id(n->id) & b->o->mask;
  for (; b->o->slot[at]; at = (at + 1) & b->o->mask)
    if (b->seen.at[b->o->slot[at] - 1] == n) return VISIT_SEEN;
  if (!un__vec_push(&b->seen, n)) return VISIT_FAILED;
  b->o->slot[at] = (uint32_t)b->seen.n;
  return VISIT_NEW;
}

static bool enter(builder *b, const un_uop *n) {
  visit v = mark(b, n);
  if (v != VISIT_NEW) return v == VISIT_SEEN;
  return un__vec_push(&b->stack, ((frame){n, 0}));
}

static bool walk(builder *b, const un_uop *root) {
  if (!enter(b, root)) return false;
  while (b->stack.n) {
    frame *f = &b->stack.at[b->stack.n - 1];
    if (f->next < f->n->nsrc) {
      if (!enter(b, f->n->src[f->next++])) return false;
      continue;
    }
    if (!un__vec_push(&b->done, f->n)) return false;
    b->stack.n--;
  }
  return true;
}

/* Slots held indices into `seen`; make them positions. */
static void settle(builder *b) {
  un__order *o = b->o;
  o->node = b->done.at;
  o->n = (uint32_t)b->done.n;
  memset(o->slot, 0, ((size_t)o->mask + 1) * sizeof *o->slot);
  for (uint32_t i = 0; i < o->n; i++) {
    uint32_t at = hash_id(o->node[i]->id) & o->mask;
    while (o->slot[at]) at = (at + 1) & o->mask;
    o->slot[at] = i + 1;
  }
}

bool un__order_build(un__order *o, const un_uop *root) {
  *o = (un__order){0};
  builder b = {.o = o};
  bool ok = walk(&b, root);
  if (ok) {
    settle(&b);
  } else {
    un__vec_finish(&b.done);
    un__free(o->slot);
    *o = (un__order){0};
  }
  un__vec_finish(&b.stack);
  un__vec_finish(&b.seen);
  return ok;
}

void un__order_finish(un__order *o) {
  un__free(o->node);
  un__free(o->slot);
  *o = (un__order){0};
}

uint32_t un__order_at(const un__order *o, const un_uop *n) {
  for (uint32_t at = hash_id(n->id) & o->mask; o->slot[at]; at = (at + 1) & o->mask)
    if (o->node[o->slot[at] - 1] == n) return o->slot[at] - 1;
  return UN__NO_POSITION;
}
