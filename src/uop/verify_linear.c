/* verify_linear.c - a LINEAR as a program: everything listed once, sources before users, blocks properly nested, and
 * no value used outside the block that computes it. */
#include "verify.h"

typedef struct block {
  const un_uop *opener;       /* RANGE or IF; NULL: the whole list */
  uint32_t outer;
  bool open;
} block;

typedef struct list {
  un__verifier *v;
  UN__VEC(block) blocks;
  uint32_t inner;             /* the innermost open block */
  uint32_t *place;            /* by position: block that computes the node + 1; 0: not listed so far */
} list;

static void open_block(list *l, const un_uop *n) {
  if (!un__vec_push(&l->blocks, ((block){n, l->inner, true}))) {
    l->v->nomem = true;
    return;
  }
  l->inner = (uint32_t)l->blocks.n - 1;
}

static void close_block(list *l, const un_uop *n, const un_uop *opener) {
  block *b = &l->blocks.at[l->inner];
  if (b->opener != opener) {
    un__fault_at(l->v, n, "does not close the innermost open block");
    return;
  }
  b->open = false;
  l->inner = b->outer;
}

/* Tokens order, values are data: a token may be named after its loop. */
static bool is_token(const un_uop *n) { return n->dtype == UN__DT(UN_VOID); }

static void check_sources(list *l, const un_uop *n) {
  for (uint32_t i = 0; i < n->nsrc; i++) {
    const un_uop *s = n->src[i];
    uint32_t place = l->place[un__pos(l->v, s)];
    if (place == 0) un__fault_at(l->v, n, "source %u does not come before it in the list", i);
    else if (!is_token(s) && !l->blocks.at[place - 1].open)
      un__fault_at(l->v, n, "source %u was computed in a block that is closed", i);
  }
}

static void step(list *l, const un_uop *n) {
  uint32_t at = un__pos(l->v, n);
  if (l->place[at]) {
    un__fault_at(l->v, l->v->root, "%%%u is listed twice", at);
    return;
  }
  check_sources(l, n);
  if (n->op == UN__OP_RANGE || n->op == UN__OP_IF) open_block(l, n);
  if (n->op == UN__OP_END && n->nsrc != 2) un__fault_at(l->v, n, "closes exactly one range");
  else if (n->op == UN__OP_END) close_block(l, n, n->src[1]);
  if (n->op == UN__OP_ENDIF) close_block(l, n, n->src[0]);
  l->place[at] = l->inner + 1;
}

void un__verify_linear(un__verifier *v) {
  if (v->root->op != UN__OP_LINEAR) return;
  list l = {.v = v};
  l.place = un__calloc(v->order.n, sizeof *l.place);
  if (!l.place) v->nomem = true;
  if (!v->nomem) open_block(&l, NULL);
  for (uint32_t i = 0; i < v->root->nsrc && !v->nomem; i++) step(&l, v->root->src[i]);
  for (uint32_t i = l.inner; i != 0 && !v->nomem; i = l.blocks.at[i].outer)
    un__fault_at(v, l.blocks.at[i].opener, "is not closed");
  for (size_t i = 0; i < v->nodes.n && !v->nomem; i++) {
    const un_uop *n = un__region_node(v, i);
    if (n != v->root && !l.place[v->nodes.at[i]]) un__fault_at(v, n, "is not in the list");
  }
  un__free(l.place);
  un__vec_finish(&l.blocks);
}
