#include "nest.h"

#include <string.h>
#include "passes.h"

static void *no_memory(un__rf_builder *b) {
  un__fail(un__graph_err(b->g), UN_ERR_NOMEM, "rangeify: out of memory");
  return NULL;
}

int64_t un__rf_saturating_mul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

int64_t un__rf_extent(const un_uop *const *range, uint32_t n) {
  int64_t total = 1;
  for (uint32_t i = 0; i < n; i++) total = un__rf_saturating_mul(total, range[i]->src[0]->vmax);
  return total;
}

int64_t un__rf_extent_of_set(const un__rf_nest *n, uint32_t set) {
  int64_t total = 1;
  for (uint32_t i = 0; i < n->nout; i++)
    if (set >> i & 1) total = un__rf_saturating_mul(total, n->out[i]->src[0]->vmax);
  return total;
}

uint32_t un__rf_outer_set(const un__rangeset *s, bool *out_inner) {
  uint32_t set = 0;
  *out_inner = false;
  for (uint32_t i = 0; i < s->n; i++) {
    if (un__range_axis(s->range[i]) == UN__AXIS_LOOP) set |= 1u << un__range_id(s->range[i]);
    else *out_inner = true;
  }
  return set;
}

const un_uop *un__rf_clean(un__rf_builder *b, const un_uop *x) {
  un__rw_options o = {.licences = b->opt->licences};
  return un__graph_rewrite(b->g, x, &un__pass_rangeify_clean, &o);
}

/* One element of `cone` as an expression over elements of its leaves. */
static const un_uop *push_index(un__rf_builder *b, const un_uop *cone, const un_uop *const *i, uint32_t n,
                                int64_t *next_range) {
  const un_uop *src[UN__MAX_RANK + 1];
  src[0] = cone;
  memcpy(src + 1, i, n * sizeof *src);
  const un_uop *at = un__uop(b->g, UN__OP_INDEX, cone->dtype, src, n + 1, NULL, 0);
  un__rf_push push = {*next_range};
  un__rw_options o = {.ctx = &push, .licences = b->opt->licences};
  at = un__graph_rewrite(b->g, at, &un__pass_push_index, &o);
  *next_range = push.next_range;
  return un__rf_clean(b, at);
}

/* ---- facts about a nest ----------------------------------------------------------------------------------------- */

static void note_set(un__rf_nest *n, uint32_t set) {
  for (uint32_t i = 0; i < n->nsets; i++) {
    if (n->set[i] == set) return;
    uint32_t both = n->set[i] & set;
    if (both != set && both != n->set[i]) n->crossed = true;
  }
  if (n->nsets == UN__RF_MAX_SETS) n->crossed = true;
  else n->set[n->nsets++] = set;
}

static int64_t plus(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

static void note_node(un__rf_nest *n, const un_uop *x) {
  if (x->op == UN__OP_INDEX && x->src[0]->op == UN__OP_BUFFER) {
    un__rf_use *u = &n->use[un__attr(x->src[0], 0)];
    if (u->element && u->element != x) u->many = true;
    u->element = x;
  } else if (x->op == UN__OP_REDUCE) {
    bool inner;
    n->nreduce++;
    n->reduce = x;
    note_set(n, un__rf_outer_set(x->ranges, &inner));
    int64_t open = un__rf_extent(x->ranges->range, x->ranges->n);
    n->work = plus(n->work, un__rf_saturating_mul(open, un__rf_extent(x->src + 1, x->nsrc - 1)));
  }
}

/* Takes note of everything in `x`, which is part of the nest. */
static bool note_all(un__rf_builder *b, un__rf_nest *n, const un_uop *x) {
  size_t count;
  const un_uop **order = un__toposort(x, &count);
  if (!order) return no_memory(b);
  for (size_t i = 0; i < count; i++) note_node(n, order[i]);
  un__free(order);
  return true;
}

/* A copy of `from` (all zero when NULL) with room for `nleaf` leaves. */
static un__rf_nest *new_nest(un__rf_builder *b, const un__rf_nest *from, uint32_t nleaf) {
  un__rf_nest *n = un__arena_alloc(b->arena, sizeof *n);
  un__rf_use *use = un__arena_alloc(b->arena, (nleaf + 1) * sizeof *use);
  if (!n || !use) return no_memory(b);
  memset(n, 0, sizeof *n);
  if (from) *n = *from;
  memset(use, 0, (nleaf + 1) * sizeof *use);
  if (from && from->nuse) memcpy(use, from->use, from->nuse * sizeof *use);
  n->use = use;
  n->nuse = nleaf;
  n->child = n->sibling = NULL;
  n->kernels = NULL;
  return n;
}

un__rf_nest *un__rf_nest_open(un__rf_builder *b, const un_uop *cone, uint32_t nleaf) {
  if (!cone) return NULL;
  while (b->by_cone.n <= cone->id)
    if (!un__vec_push(&b->by_cone, NULL)) return no_memory(b);
  if (b->by_cone.at[cone->id]) return b->by_cone.at[cone->id];
  un__rf_nest *n = new_nest(b, NULL, nleaf);
  if (!n) return NULL;
  n->shape = cone->shape;
  n->cone = cone;
  for (uint32_t k = 0; k < n->shape->rank; k++) {
    bool one = un__is_const_int(n->shape->dim[k], 1);
    n->index[k] = one ? un__idx(b->g, 0) : un__range(b->g, n->shape->dim[k], UN__AXIS_LOOP, n->nout);
    if (!n->index[k]) return no_memory(b);
    if (!one) n->out[n->nout++] = n->index[k];
  }
  n->next_range = n->nout;
  n->work = un__rf_extent(n->out, n->nout);
  n->value = push_index(b, cone, n->index, n->shape->rank, &n->next_range);
  if (!n->value || !note_all(b, n, n->value)) return NULL;
  b->by_cone.at[cone->id] = n;
  return n;
}

un__rf_nest *un__rf_nest_in_place(un__rf_builder *b, un__rf_nest *from, uint32_t leaf, const un_uop *cone,
                                  uint32_t nleaf) {
  if (!cone) return NULL;
  for (un__rf_nest *c = from->child; c; c = c->sibling)
    if (c->leaf == leaf && c->cone == cone) return c;
  un__rf_nest *n = new_nest(b, from, nleaf);
  if (!n) return NULL;
  const un_uop *element = n->use[leaf].element;
  const un_uop *value = push_index(b, cone, element->src + 1, element->nsrc - 1, &n->next_range);
  if (!value || !note_all(b, n, value)) return NULL;
  n->leaf = leaf;
  n->cone = cone;
  n->use[leaf].in_place = value;
  bool inner;
  note_set(n, un__rf_outer_set(element->ranges, &inner));
  n->sibling = from->child;
  from->child = n;
  return n;
}

uint32_t *un__rf_scratch(un__rf_builder *b) {
  return un__vec_reserve(&b->scratch, un__graph_id_limit(b->g)) ? b->scratch.at : no_memory(b);
}

void un__rf_builder_finish(un__rf_builder *b) {
  un__vec_finish(&b->by_cone);
  un__vec_finish(&b->finished);
  un__vec_finish(&b->scratch);
}
