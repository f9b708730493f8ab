/* expand_rules.c - the functions that expand.pat names. */
#include "expand_choice.h"
#include "uop/combine.h"

static un__expansion *expansion(const un__rw *rw) { return rw->ctx; }

/* ---- lanes and tiles ---- */

bool un__is_chosen(const un__expansion *x, const un_uop *range) {
  for (size_t i = 0; i < x->lanes.n; i++)
    if (x->lanes.at[i] == range) return true;
  return false;
}

static bool closes(const un_uop *n, const un_uop *range) {
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (n->src[i] == range) return true;
  return false;
}

const un_uop *un__lane_of(const un__expansion *x, const un_uop *n) {
  un__axis type = un__is(n, UN__OP_REDUCE) ? UN__AXIS_UNROLL : UN__AXIS_UPCAST;
  const un_uop *lane = NULL;
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (un__is(n->src[i], UN__OP_RANGE) && un__range_axis(n->src[i]) == type &&
        (!lane || un__range_id(n->src[i]) > un__range_id(lane)))
      lane = n->src[i];
  int64_t size = lane ? un__known_size(lane->src[0]) : 0;
  if (size < 2 || size > UN__MAX_VECTOR || size & (size - 1)) return NULL;
  const un__rangeset *open = n->src[0]->ranges;
  for (uint32_t i = 0; i < open->n; i++)
    if (un__is_chosen(x, open->range[i]) && !closes(n, open->range[i])) return NULL;
  return lane;
}

static bool is_tile(const un_uop *range, const un_uop *lane) {
  return range != lane && un__is(range, UN__OP_RANGE) && un__expands(un__range_axis(range));
}

bool un__pred_tiled(un__rw *rw, const un_uop *n) {
  const un_uop *lane = un__lane_of(expansion(rw), n);
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (is_tile(n->src[i], lane)) return true;
  return false;
}

bool un__pred_laned(un__rw *rw, const un_uop *n) { return un__lane_of(expansion(rw), n) != NULL; }

/* ---- spans ---- */

const un_uop **un__expand_list(un__rw *rw, size_t n) {
  const un_uop **list = un__arena_alloc(un__workspace_arena(rw->g), n * sizeof *list);
  if (!list) un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "expand: no memory");
  return list;
}

/* The ranges that n closes, but not the lane, or not the tiles. */
static un__span closed_but(un__rw *rw, const un_uop *n, bool lane_out) {
  const un_uop *lane = un__lane_of(expansion(rw), n), **list = un__expand_list(rw, n->nsrc);
  if (!list) return (un__span){0};
  uint32_t k = 0;
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (lane_out ? n->src[i] != lane : !is_tile(n->src[i], lane)) list[k++] = n->src[i];
  return (un__span){list, k};
}

un__span un__fn_loops(un__rw *rw, const un_uop *n) { return closed_but(rw, n, false); }
un__span un__fn_scalar_loops(un__rw *rw, const un_uop *n) { return closed_but(rw, n, true); }

un__span un__fn_lane(un__rw *rw, const un_uop *n) {
  const un_uop **list = un__expand_list(rw, 1);
  if (!list) return (un__span){0};
  list[0] = un__lane_of(expansion(rw), n);
  return (un__span){list, list[0] != NULL};
}

/* ---- tiles ---- */

enum { MAX_TILES = 16 };

typedef struct tiles {
  const un_uop *range[MAX_TILES];
  int64_t size[MAX_TILES], at[MAX_TILES];
  bool back[MAX_TILES], turns;
  uint32_t n;
  int64_t copies;
} tiles;

static bool tiles_of(un__rw *rw, const un_uop *n, tiles *t) {
  const un_uop *lane = un__lane_of(expansion(rw), n);
  *t = (tiles){.copies = 1, .turns = expansion(rw)->gpu && un__is(n, UN__OP_END)};
  for (uint32_t i = 1; i < n->nsrc; i++) {
    if (!is_tile(n->src[i], lane)) continue;
    int64_t size = un__known_size(n->src[i]->src[0]);
    if (t->n == MAX_TILES || size < 1 || size > UN__MAX_COPIES / t->copies) {
      un__fail(un__graph_err(rw->g), UN_ERR_UNSUPPORTED,
               "expand: expected constant sizes of UPCAST and UNROLL ranges, and at most %d copies of a value", UN__MAX_COPIES);
      return false;
    }
    t->range[t->n] = n->src[i];
    t->size[t->n++] = size;
    t->copies *= size;
  }
  return true;
}

/* Counts, last tile fastest: up, each tile from its beginning again, or there and back, so that neighbours differ in one tile. */
static void next_copy(tiles *t) {
  for (uint32_t i = t->n; i-- > 0;) {
    int64_t step = t->back[i] ? -1 : 1;
    t->at[i] += step;
    if (t->at[i] >= 0 && t->at[i] < t->size[i]) return;
    t->at[i] = t->turns ? t->at[i] - step : 0;
    t->back[i] ^= t->turns;
  }
}

un__span un__fn_copies(un__rw *rw, const un_uop *n) {
  tiles t;
  if (!tiles_of(rw, n, &t)) return (un__span){0};
  const un_uop **list = un__expand_list(rw, (size_t)t.copies), *value[MAX_TILES];
  for (int64_t c = 0; list && c < t.copies; c++, next_copy(&t)) {
    for (uint32_t i = 0; i < t.n; i++) value[i] = un__idx(rw->g, t.at[i]);
    list[c] = n->src[0];
    for (uint32_t i = 0; expansion(rw)->rows && list[c] && i < t.n; i++)
      list[c] = un__rows_at(rw->g, list[c], t.range[i], t.at[i]);
    if (list[c]) list[c] = un__substitute(rw->g, list[c], t.range, value, t.n);
    if (!list[c]) return (un__span){0};
  }
  return (un__span){list, list ? (uint32_t)t.copies : 0};
}

/* How many copies the tiles of other nests make of a value. */
static int64_t copies_of_value(const un__expansion *x, const un_uop *n) {
  int64_t copies = 1;
  for (uint32_t i = 0; i < n->ranges->n; i++) {
    const un_uop *r = n->ranges->range[i];
    int64_t size = un__known_size(r->src[0]);
    if (un__expands(un__range_axis(r)) && !un__is_chosen(x, r) && size > 0 && copies < INT32_MAX) copies *= size;
  }
  return copies;
}

bool un__pred_apart(un__rw *rw, const un_uop *n) {
  tiles t;
  int64_t width = un__is(n, UN__OP_REDUCE) ? un__reduce_width(n) : 1;
  return tiles_of(rw, n, &t) && copies_of_value(expansion(rw), n) * t.copies * width <= expansion(rw)->max_sums;
}

un__span un__fn_sums(un__rw *rw, const un_uop *n) {
  un__span copies = un__fn_copies(rw, n), loops = un__fn_loops(rw, n);
  if (!copies.at || !loops.at) return (un__span){0};
  const un_uop **list = un__expand_list(rw, copies.n), **src = un__expand_list(rw, loops.n + 1);
  if (!list || !src) return (un__span){0};
  for (uint32_t i = 0; i < loops.n; i++) src[i + 1] = loops.at[i];
  for (uint32_t i = 0; i < copies.n; i++) {
    src[0] = copies.at[i];
    list[i] = un__uop(rw->g, UN__OP_REDUCE, 0, src, loops.n + 1, un__attrs(n), n->nattr);
    if (!list[i]) return (un__span){0};
  }
  return (un__span){list, copies.n};
}

const un_uop *un__fn_joined(un__rw *rw, un__span xs, int64_t op) {
  const un_uop **level = xs.n ? un__expand_list(rw, xs.n) : NULL;
  if (!level) return NULL;
  for (uint32_t i = 0; i < xs.n; i++) level[i] = xs.at[i];
  for (uint32_t n = xs.n; n > 1; n = (n + 1) / 2) {
    for (uint32_t i = 0; i < n / 2; i++) level[i] = un__binary(rw->g, (un__op)op, level[2 * i], level[2 * i + 1]);
    if (n % 2) level[n / 2] = level[n - 1];
  }
  return level[0];
}

/* ---- accesses along a lane ---- */

const un_uop *un__moved_by(const un__expansion *x, const un_uop *n) {
  for (uint32_t i = 0; i < n->ranges->n; i++)
    if (un__is_chosen(x, n->ranges->range[i])) return n->ranges->range[i];
  return NULL;
}

/* The same for an access, whose pointer does not count: it may stand after a nest whose lane is being taken out. */
static const un_uop *moved_along(const un__expansion *x, const un_uop *n) {
  if (!un__is(n, UN__OP_LOAD) && !un__is(n, UN__OP_STORE)) return un__moved_by(x, n);
  const un_uop *index = n->src[0], *lane = NULL;
  if (!un__is(index, UN__OP_INDEX)) return NULL;
  for (uint32_t i = 1; i < index->nsrc && !lane; i++) lane = un__moved_by(x, index->src[i]);
  return lane;
}

bool un__pred_is_lane(un__rw *rw, const un_uop *range) { return un__is_chosen(expansion(rw), range); }

static bool is_scalar_access(const un_uop *n) { return un__lanes(un__is(n, UN__OP_STORE) ? n->src[1] : n) == 1; }

bool un__pred_moves(un__rw *rw, const un_uop *access) {
  return is_scalar_access(access) && moved_along(expansion(rw), access) != NULL;
}

bool un__pred_consecutive(un__rw *rw, const un_uop *access) {
  const un__expansion *x = expansion(rw);
  const un_uop *address = access->src[0];
  if (!un__is(address, UN__OP_INDEX) || address->nsrc < 2 || !un__pred_moves(rw, access)) return false;
  int64_t at = un__topo_find(&x->order, address->src[1]);
  return at >= 0 && x->affine[at].linear && x->affine[at].axis >= 0 && x->affine[at].step == 1;
}

bool un__fn_lanes(un__rw *rw, const un_uop *n, int64_t *out) {
  const un_uop *lane = moved_along(expansion(rw), n);
  if (lane) *out = un__known_size(lane->src[0]);
  return lane != NULL;
}

const un_uop *un__contract_along(un__rw *rw, const un_uop *x, const un_uop *lane) {
  if (!x || !lane) return NULL;
  int64_t size = un__known_size(lane->src[0]), attrs[2] = {un__range_id(lane), size};
  return un__uop(rw->g, UN__OP_CONTRACT, un__dt_with_lanes(x->dtype, (uint32_t)size), &x, 1, attrs, 2);
}

const un_uop *un__fn_gathered(un__rw *rw, const un_uop *x, const un_uop *n) {
  const un__expansion *e = expansion(rw);
  bool closing = un__is(n, UN__OP_REDUCE) || un__is(n, UN__OP_END);
  return un__contract_along(rw, x, closing ? un__lane_of(e, n) : moved_along(e, n));
}

static const un_uop *at_lane(un__rw *rw, const un_uop *n, const un_uop *lane, int64_t value) {
  const un_uop *c = un__idx(rw->g, value);
  return c ? un__substitute(rw->g, n, &lane, &c, 1) : NULL;
}

const un_uop *un__fn_address(un__rw *rw, const un_uop *access) {
  const un_uop *index = access->src[0], *lane = moved_along(expansion(rw), access);
  if (!lane) return NULL;
  const un_uop *src[3] = {index->src[0], at_lane(rw, index->src[1], lane, 0), NULL};
  if (index->nsrc == 3)
    src[2] = un__depends_on(index->src[2], lane) ? un__contract_along(rw, index->src[2], lane) : index->src[2];
  return un__uop(rw->g, UN__OP_INDEX, index->dtype, src, index->nsrc, NULL, 0);
}

un__span un__fn_each(un__rw *rw, const un_uop *access) {
  const un_uop *lane = moved_along(expansion(rw), access);
  uint32_t size = lane ? (uint32_t)un__known_size(lane->src[0]) : 0;
  const un_uop **list = size ? un__expand_list(rw, size) : NULL;
  const un_uop *all = list && un__is(access, UN__OP_STORE) ? un__contract_along(rw, access->src[1], lane) : NULL;
  for (uint32_t i = 0; list && i < size; i++) {
    const un_uop *src[2] = {at_lane(rw, access->src[0], lane, i), NULL};
    if (all) src[1] = un__uop(rw->g, UN__OP_GEP, access->src[1]->dtype, &all, 1, (int64_t[]){i}, 1);
    else if (access->nsrc > 1) src[1] = at_lane(rw, access->src[1], lane, i);
    list[i] = un__uop(rw->g, (un__op)access->op, access->dtype, src, access->nsrc, NULL, 0);
    if (!list[i]) return (un__span){0};
  }
  return (un__span){list, list ? size : 0};
}

/* ---- values along a lane ---- */

const un_uop *un__unrolled(un__rw *rw, const un_uop *vector, int64_t id) {
  if (!vector) return NULL;
  return un__uop(rw->g, UN__OP_UNROLL, un__dt_with_lanes(vector->dtype, 1), &vector, 1,
                 (int64_t[]){id, un__lanes(vector)}, 2);
}

const un_uop *un__fn_spread(un__rw *rw, const un_uop *vector, const un_uop *n) {
  const un_uop *lane = moved_along(expansion(rw), n);
  return lane ? un__unrolled(rw, vector, un__range_id(lane)) : NULL;
}

un__span un__fn_iota(un__rw *rw, const un_uop *range) {
  uint32_t size = (uint32_t)un__known_size(range->src[0]);
  const un_uop **list = un__expand_list(rw, size);
  for (uint32_t i = 0; list && i < size; i++)
    if (!(list[i] = un__idx(rw->g, i))) return (un__span){0};
  return (un__span){list, list ? size : 0};
}

bool un__pred_any_spread(un__rw *rw, un__span xs) {
  for (uint32_t i = 0; i < xs.n; i++)
    if (un__is(xs.at[i], UN__OP_UNROLL)) return true;
  return false;
}

bool un__pred_uniform(un__rw *rw, const un_uop *x) { return !un__is(x, UN__OP_UNROLL) && !un__moved_by(expansion(rw), x); }

const un_uop *un__splat_to(un__rw *rw, const un_uop *x, uint32_t lanes) {
  return un__uop(rw->g, UN__OP_VECTORIZE, un__dt_with_lanes(x->dtype, lanes), &x, 1, NULL, 0);
}

const un_uop *un__fn_widened(un__rw *rw, const un_uop *n) {
  const un_uop *src[3], *first = NULL;
  for (uint32_t i = 0; i < n->nsrc && i < 3; i++)
    if (un__is(n->src[i], UN__OP_UNROLL) && !first) first = n->src[i];
  if (!first || n->nsrc > 3) return NULL;
  uint32_t lanes = un__lanes(first->src[0]);
  for (uint32_t i = 0; i < n->nsrc; i++) {
    bool spread = un__is(n->src[i], UN__OP_UNROLL);
    if (spread && un__attr(n->src[i], 0) != un__attr(first, 0)) {
      un__fail(un__graph_err(rw->g), UN_ERR_INTERNAL, "expand: %s of two lanes", un__info(n)->text);
      return NULL;
    }
    src[i] = spread ? n->src[i]->src[0] : un__splat_to(rw, n->src[i], lanes);
  }
  bool given = un__info(n)->dtype_rule == UN__DR_GIVEN;
  return un__unrolled(rw,
                un__uop(rw->g, (un__op)n->op, given ? un__dt_with_lanes(n->dtype, lanes) : 0, src, n->nsrc,
                        un__attrs(n), n->nattr),
                un__attr(first, 0));
}
