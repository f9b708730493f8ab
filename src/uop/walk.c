/* walk.c - walks over graphs: order, comparison, keys, import. None recurses. */
#include "store.h"

/* ---- topological order ---- */

typedef struct frame { const un_uop *node; uint32_t next; } frame;
typedef UN__VEC(frame) frames;

/* Whether the walk enters the body that is source 0 of a BODY op. */
typedef enum bodies { WITHOUT_BODIES, WITH_BODIES } bodies;

static bool visit(const un_uop *n, bodies mode, un__ptrmap *seen, frames *stack) {
  bool added;
  if (!un__ptrmap_put(seen, n, &added)) return false;
  uint32_t first = mode == WITHOUT_BODIES ? un__first_source(n) : 0;
  return !added || un__vec_push(stack, ((frame){n, first}));
}

/* The nodes that stand for others: where a graph is read as if a value were the buffer that holds it. */
typedef struct stand_ins {
  un__session *session;
  uint64_t terms;
  un__ptrmap by_node;         /* every node met -> what stands for it, mostly itself */
} stand_ins;

/* NULL when memory is short. */
static const un_uop *stand_in(stand_ins *by, const un_uop *n) {
  if (!by) return n;
  bool added;
  uintptr_t *place = un__ptrmap_put(&by->by_node, n, &added);
  if (!place) return NULL;
  if (added) {
    const un_uop *buffer = un__value_of(by->session, n, by->terms);
    *place = (uintptr_t)(buffer ? buffer : n);
  }
  return (const un_uop *)*place;
}

static bool walk(const un_uop *root, bodies mode, stand_ins *by, un__ptrmap *seen, frames *stack, un__nodes *out) {
  if (!visit(root, mode, seen, stack)) return false;
  while (stack->n) {
    frame *top = &stack->at[stack->n - 1];
    if (top->next < top->node->nsrc) {
      const un_uop *src = stand_in(by, top->node->src[top->next++]);
      if (!src || !visit(src, mode, seen, stack)) return false;
    } else {
      if (!un__vec_push(out, top->node)) return false;
      stack->n--;
    }
  }
  return true;
}

static bool sort(const un_uop *root, bodies mode, stand_ins *by, un__nodes *out) {
  un__ptrmap seen;
  un__ptrmap_init(&seen);
  frames stack = {0};
  bool ok = walk(root, mode, by, &seen, &stack, out);
  un__ptrmap_finish(&seen);
  un__vec_finish(&stack);
  if (!ok) un__vec_finish(out);
  return ok;
}

const un_uop **un__toposort(const un_uop *root, size_t *out_n) {
  un__nodes order = {0};
  sort(root, WITHOUT_BODIES, NULL, &order);
  *out_n = order.n;
  return order.at;
}

/* ---- structural order ---- */

static int compare_heads(const un_uop *a, const un_uop *b) {
  if (a->op != b->op) return a->op < b->op ? -1 : 1;
  if (a->dtype != b->dtype) return a->dtype < b->dtype ? -1 : 1;
  if (a->nattr != b->nattr) return a->nattr < b->nattr ? -1 : 1;
  for (uint32_t i = 0; i < a->nattr; i++)
    if (un__attr(a, i) != un__attr(b, i)) return un__attr(a, i) < un__attr(b, i) ? -1 : 1;
  if (a->nsrc != b->nsrc) return a->nsrc < b->nsrc ? -1 : 1;
  return 0;
}

/* Equal nodes are one pointer, so two different ones differ somewhere along the first path of differing sources. */
int un__structural_compare(const un_uop *a, const un_uop *b) {
  while (a != b) {
    int c = compare_heads(a, b);
    if (c) return c;
    uint32_t i = 0;
    while (i < a->nsrc && a->src[i] == b->src[i]) i++;
    if (i == a->nsrc) return 0;     /* nodes of two graphs */
    a = a->src[i];
    b = b->src[i];
  }
  return 0;
}

/* ---- keys ---- */

bool un__structural_key(const un_uop *root, un__key *out) {
  /* The low half is the node's own hash; the high half is built with another start over the same structure. */
  size_t n;
  const un_uop **order = un__toposort(root, &n);
  un__ptrmap high;
  un__ptrmap_init(&high);
  bool ok = order != NULL;
  for (size_t i = 0; ok && i < n; i++) {
    const un_uop *u = order[i];
    uint64_t h = un__hash_mix(UINT64_C(0xc2b2ae3d27d4eb4f) + u->op, (uint64_t)u->dtype << 32 | u->nsrc);
    for (uint32_t k = 0; k < u->nattr; k++) h = un__hash_mix(h, (uint64_t)un__attr(u, k) + 0x165667b1);
    for (uint32_t k = 0; k < u->nsrc; k++) {
      const uintptr_t *s = un__ptrmap_get(&high, u->src[k]);
      h = un__hash_mix(h, s ? *s : u->src[k]->hash);      /* a closed body: its own hash */
    }
    uintptr_t *place = un__ptrmap_put(&high, u, NULL);
    if (place) *place = h;
    ok = place != NULL;
    if (u == root) *out = (un__key){u->hash, h};
  }
  un__ptrmap_finish(&high);
  un__free(order);
  return ok;
}

/* ---- import ---- */

/* New numbers for old ones (slots, range ids), in order of first visit. */
typedef struct numbering { un__ptrmap by_old; int64_t next; } numbering;

typedef struct importer {
  un__graph *to;
  un__ptrmap copies;          /* node -> its copy */
  numbering slots, ranges;
  un__slot_map *serials;      /* may be NULL */
  un__nodes *inputs;          /* may be NULL: the BUFFER of each new slot */
  stand_ins *by;              /* may be NULL */
  bool as_is;                 /* nothing is renumbered */
} importer;

/* -1 when memory is short. The map's keys are pointers; old numbers are small and serve as such when made non-zero. */
static int64_t number_of(numbering *num, int64_t old, bool *fresh) {
  uintptr_t *place = un__ptrmap_put(&num->by_old, (const void *)(((uintptr_t)old << 4) + 16), fresh);
  if (!place) return -1;
  if (*fresh) *place = (uintptr_t)num->next++;
  return (int64_t)*place;
}

/* A slot's serial, from the list that the caller gave. */
static const int64_t *named_serial(importer *im, const un_uop *n, int64_t own[2]) {
  int64_t slot = un__attr(n, 0);
  if (slot < 0 || (uint64_t)slot >= im->serials->n) {
    un__fail(im->to->err, UN_ERR_INVALID_ARG, "buffer slot %lld: only %zu buffers are given", (long long)slot, im->serials->n);
    return NULL;
  }
  own[0] = im->serials->at[slot];
  own[1] = un__attr(n, 1);
  return own;
}

static bool note_input(importer *im, const un_uop *n) {
  if (im->inputs && !un__vec_push(im->inputs, n)) return false;
  return !im->serials || un__vec_push(im->serials, un__attr(n, 0));
}

/* The attributes of the copy: identity-bearing numbers are renewed in a workspace. */
static const int64_t *import_attrs(importer *im, const un_uop *n, int64_t own[2]) {
  bool buffer = un__is(n, UN__OP_BUFFER), range = un__is(n, UN__OP_RANGE), fresh;
  if (im->as_is && range) un__graph_reserve_range(im->to, un__attr(n, 0));
  if (im->as_is || !(buffer || range) || (im->to->world && (range || !im->serials))) return un__attrs(n);
  if (im->to->world) return named_serial(im, n, own);
  own[0] = number_of(buffer ? &im->slots : &im->ranges, un__attr(n, 0), &fresh);
  own[1] = un__attr(n, 1);
  if (own[0] < 0 || (buffer && fresh && !note_input(im, n))) {
    un__fail(im->to->err, UN_ERR_NOMEM, "no memory to import a graph");
    return NULL;
  }
  if (range) un__graph_reserve_range(im->to, own[0]);
  return own;
}

static const un_uop *import_node(importer *im, const un_uop *n, const un_uop **src) {
  for (uint32_t i = 0; i < n->nsrc; i++)
    src[i] = (const un_uop *)*un__ptrmap_get(&im->copies, stand_in(im->by, n->src[i]));
  int64_t own[2];
  const int64_t *attrs = import_attrs(im, n, own);
  if (!attrs) return NULL;
  un__dtype_rule rule = un__info(n)->dtype_rule;
  un__dtype dt = rule == UN__DR_GIVEN || rule == UN__DR_INDEX ? n->dtype : 0;
  return un__uop(im->to, (un__op)n->op, dt, src, n->nsrc, attrs, n->nattr);
}

static const un_uop *import_all(importer *im, const un__nodes *order) {
  uint32_t most = 1;
  for (size_t i = 0; i < order->n; i++)
    if (order->at[i]->nsrc > most) most = order->at[i]->nsrc;
  const un_uop **src = un__alloc(most * sizeof *src);
  const un_uop *copy = NULL;
  for (size_t i = 0; src && i < order->n; i++) {
    uintptr_t *place = un__ptrmap_put(&im->copies, order->at[i], NULL);
    copy = place ? import_node(im, order->at[i], src) : NULL;
    if (!copy) break;
    *place = (uintptr_t)copy;
  }
  un__free(src);
  return copy;
}

static const un_uop *import_below(importer *im, const un_uop *root) {
  un__nodes order = {0};
  const un_uop *copy = sort(root, WITH_BODIES, im->by, &order) ? import_all(im, &order) : NULL;
  if (!copy) un__fail(im->to->err, UN_ERR_NOMEM, "no memory to import a graph");
  un__vec_finish(&order);
  un__ptrmap_finish(&im->copies);
  un__ptrmap_finish(&im->slots.by_old);
  un__ptrmap_finish(&im->ranges.by_old);
  return copy;
}

const un_uop *un__import(un__graph *to, const un_uop *root, un__slot_map *serials) {
  return import_below(&(importer){.to = to, .serials = serials}, root);
}

const un_uop *un__copy(un__graph *ws, const un_uop *root) { return import_below(&(importer){.to = ws, .as_is = true}, root); }

const un_uop *un__import_stored(un__graph *ws, un__session *s, const un_uop *root, uint64_t terms, un__nodes *inputs) {
  stand_ins by = {.session = s, .terms = terms};
  const un_uop *copy = import_below(&(importer){.to = ws, .inputs = inputs, .by = &by}, root);
  for (size_t i = 0; i < inputs->n; i++) un__pin(s, inputs->at[i]);
  un__ptrmap_finish(&by.by_node);
  return copy;
}
