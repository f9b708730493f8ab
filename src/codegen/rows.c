/* rows.c - loads of rows: elements that copies of a tile read side by side.
 *
 * Where a lane reads them far apart, L lanes times T copies of scalar loads are L loads of rows of T elements, and log2 T stages
 * of shuffles turn the rows into T columns of L lanes. Where they are the same for every lane, and in the shared memory of a GPU, T
 * scalar loads are one: each is an instruction there, and compilers number registers better for whole ones. */
#include "expand_choice.h"

#include "base/mem.h"

enum { MAX_ROW = 16, EASY_BYTES = 16 /* within which machines shuffle lanes of two vectors in one instruction */ };

/* ---- which loads ---- */

static bool unit(const un__affine *a) { return a->linear && a->axis >= 0 && a->step == 1; }

static bool is_row_size(int64_t n, int64_t lanes) { return n >= 2 && n <= MAX_ROW && n <= lanes && (n & (n - 1)) == 0; }

/* Whether a load by an index of which `tile` is marked may be a row. */
static bool may_be_row(const un__expansion *x, const un_uop *n, const un_uop *tile) {
  const un_uop *address = un__is(n, UN__OP_LOAD) ? n->src[0] : NULL;
  if (!address || un__lanes(n) != 1 || !un__is(address, UN__OP_INDEX) || un__dt_is_bool(n->dtype)) return false;
  if (address->nsrc > 2 && un__depends_on(address->src[2], tile)) return false;
  if (un__moved_by(x, address->src[1])) return true;
  return x->gpu && un__dt_space(address->dtype) == UN__SPACE_LOCAL;
}

/* Marks the indices of loads that move by one along `tile`, and further apart along a lane or not at all. Indices, since loads from
 * memory that a nest has filled are others once that is expanded. */
static void mark(un__expansion *x, const un__topo *order, const un_uop *tile, const un__affine *along,
                 const un__affine *lanes) {
  for (size_t i = 0; i < order->n; i++) {
    if (!may_be_row(x, order->at[i], tile)) continue;
    const un_uop *index = order->at[i]->src[0]->src[1], *lane = un__moved_by(x, index);
    int64_t at = un__topo_find(order, index);
    if ((lane && unit(&lanes[at])) || !unit(&along[at]) || x->rows[at]) continue;
    if (is_row_size(un__known_size(tile->src[0]), lane ? un__known_size(lane->src[0]) : MAX_ROW)) x->rows[at] = tile;
  }
}

static bool is_tile(const un__expansion *x, const un_uop *n) {
  return un__is(n, UN__OP_RANGE) && un__expands(un__range_axis(n)) && !un__is_chosen(x, n);
}

/* Whether a load is scattered, or may be one of shared memory: what mark needs to find anything. */
static bool scatters(const un__expansion *x, const un__affine *lanes) {
  if (x->gpu) return true;
  for (size_t i = 0; i < x->order.n; i++) {
    const un_uop *n = x->order.at[i];
    if (!un__is(n, UN__OP_LOAD) || !un__is(n->src[0], UN__OP_INDEX) || !un__moved_by(x, n->src[0]->src[1])) continue;
    if (!unit(&lanes[un__topo_find(&x->order, n->src[0]->src[1])])) return true;
  }
  return false;
}

static bool find(un__expansion *x, un__affine *lanes, un__affine *along, un__affine_axis *axes) {
  for (size_t i = 0; i < x->lanes.n; i++)
    axes[i] = (un__affine_axis){x->lanes.at[i], un__known_size(x->lanes.at[i]->src[0])};
  un__affine_scan(&x->order, axes, (uint32_t)x->lanes.n, lanes);
  if (!scatters(x, lanes)) return true;
  x->rows = un__calloc(x->order.n, sizeof *x->rows);
  for (size_t i = 0; x->rows && i < x->order.n; i++) {
    const un_uop *tile = x->order.at[i];
    if (!is_tile(x, tile)) continue;
    un__affine_scan(&x->order, &(un__affine_axis){tile, un__known_size(tile->src[0])}, 1, along);
    mark(x, &x->order, tile, along, lanes);
  }
  return x->rows != NULL;
}

un_status un__find_rows(un__expansion *x, const un_uop *kernel) {
  if (!x->lanes.n && !x->gpu) return UN_OK;
  if (!un__topo_of(&x->order, kernel)) return UN_ERR_NOMEM;
  un__affine *lanes = un__calloc(x->order.n, sizeof *lanes), *along = un__calloc(x->order.n, sizeof *along);
  un__affine_axis *axes = un__calloc(x->lanes.n + 1, sizeof *axes);
  bool ok = lanes && along && axes && find(x, lanes, along, axes);
  un__free(lanes);
  un__free(along);
  un__free(axes);
  return ok ? UN_OK : UN_ERR_NOMEM;
}

void un__rows_finish(un__expansion *x) {
  un__free(x->rows);
  x->rows = NULL;
  un__topo_finish(&x->order);
}

/* ---- rows ---- */

static const un_uop *tile_of(const un__rw *rw, const un_uop *access) {
  const un__expansion *x = rw->ctx;
  const un_uop *index = un__is(access->src[0], UN__OP_INDEX) ? access->src[0]->src[1] : NULL;
  int64_t at = x->rows && index ? un__topo_find(&x->order, index) : -1;
  const un_uop *tile = at >= 0 && x->order.at[at] == index ? x->rows[at] : NULL;
  return tile && may_be_row(x, access, tile) ? tile : NULL;
}

bool un__pred_in_rows(un__rw *rw, const un_uop *access) { return tile_of(rw, access) != NULL; }

const un_uop *un__fn_row(un__rw *rw, const un_uop *access) {
  const un_uop *tile = tile_of(rw, access), *zero = un__idx(rw->g, 0);
  const un_uop *start = zero ? un__substitute(rw->g, access->src[0], &tile, &zero, 1) : NULL;
  int64_t attrs[2] = {un__range_id(tile), un__known_size(tile->src[0])};
  const un_uop *row =
      un__uop(rw->g, UN__OP_LOAD, un__dt_with_lanes(access->dtype, (uint32_t)attrs[1]), &start, 1, NULL, 0);
  return un__uop(rw->g, UN__OP_UNROLL, access->dtype, &row, 1, attrs, 2);
}

static const un_uop *lanes_of(un__graph *g, const un_uop *vector, const int64_t *lane, uint32_t n) {
  return un__uop(g, UN__OP_GEP, vector ? un__dt_with_lanes(vector->dtype, n) : 0, &vector, 1, lane, n);
}

const un_uop *un__rows_at(un__graph *g, const un_uop *n, const un_uop *tile, int64_t at) {
  size_t count;
  const un_uop **order = un__toposort(n, &count);
  uint32_t rows = 0;
  const un_uop **list = order ? un__alloc((2 * count + 1) * sizeof *list) : NULL, **to = list + count;
  for (size_t i = 0; list && i < count; i++) {
    if (!un__is(order[i], UN__OP_UNROLL) || un__attr(order[i], 0) != un__range_id(tile)) continue;
    list[rows] = order[i];
    to[rows++] = lanes_of(g, order[i]->src[0], &at, 1);
  }
  if (!list) un__fail(un__graph_err(g), UN_ERR_NOMEM, "expand: no memory");
  n = list ? un__substitute(g, n, list, to, rows) : NULL;
  un__free(list);
  un__free(order);
  return n;
}

/* ---- columns ---- */

/* T vectors of L lanes, and for each of their lanes the element of its row that it holds. */
typedef struct net {
  un__graph *g;
  uint32_t t, l;
  const un_uop *slot[MAX_ROW];
  uint8_t column[MAX_ROW][UN__MAX_VECTOR];
} net;

/* Lane j of a where from[j] < L, else of b. */
static const un_uop *pick(net *x, const un_uop *a, const un_uop *b, const int64_t *from) {
  int64_t left[UN__MAX_VECTOR], right[UN__MAX_VECTOR];
  const un_uop *mask[UN__MAX_VECTOR];
  for (uint32_t j = 0; j < x->l; j++) {
    bool first = from[j] < x->l;
    left[j] = first ? from[j] : j;
    right[j] = first ? j : from[j] - x->l;
    mask[j] = un__const_i(x->g, UN__DT(UN_BOOL), first);
  }
  const un_uop *src[3] = {un__uop(x->g, UN__OP_VECTORIZE, un__dt_vec(UN_BOOL, x->l), mask, x->l, NULL, 0),
                          lanes_of(x->g, a, left, x->l), lanes_of(x->g, b, right, x->l)};
  return un__uop(x->g, UN__OP_WHERE, 0, src, 3, NULL, 0);
}

/* Slot i begins with rows i, i + T, ... side by side. */
static void fill(net *x, const un_uop *const *row) {
  int64_t lane[UN__MAX_VECTOR];
  for (uint32_t i = 0; i < x->t; i++) {
    for (uint32_t j = 0; j < x->l; j++) lane[j] = x->column[i][j] = (uint8_t)(j % x->t);
    x->slot[i] = lanes_of(x->g, row[i], lane, x->l);
    for (uint32_t first = x->t; first < x->l; first += x->t) {
      int64_t from[UN__MAX_VECTOR];
      for (uint32_t j = 0; j < x->l; j++) from[j] = j >= first && j < first + x->t ? x->l + j : j;
      x->slot[i] = pick(x, x->slot[i], lanes_of(x->g, row[i + first], lane, x->l), from);
    }
  }
}

/* Of two vectors: the lower (upper) halves of every group, runs of `grain` lanes from each in turn. */
static void interleave(net *x, uint32_t grain, uint32_t group, bool upper, int64_t *from) {
  uint32_t j = 0;
  for (uint32_t base = 0; base < x->l; base += group)
    for (uint32_t k = 0; k < group / 2; k += grain)
      for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; i < grain; i++) from[j++] = side * x->l + base + (upper ? group / 2 : 0) + k + i;
}

/* One stage: slots that differ in one bit of their number exchange halves. Afterwards that bit of the row's number is a
 * bit of the lane's. */
static void stage(net *x, uint32_t bit, uint32_t grain, uint32_t group) {
  net before = *x;
  int64_t from[UN__MAX_VECTOR];
  for (uint32_t i = 0; i < x->t; i++) {
    const uint32_t a = i & ~bit, b = i | bit;
    interleave(x, grain, group, i & bit, from);
    x->slot[i] = pick(x, before.slot[a], before.slot[b], from);
    for (uint32_t j = 0; j < x->l; j++)
      x->column[i][j] = from[j] < x->l ? before.column[a][from[j]] : before.column[b][from[j] - x->l];
  }
}

bool un__pred_of_row(un__rw *rw, const un_uop *element) {
  const un_uop *load = element->src[0];
  return element->nattr == 1 && un__lanes(load) > 1 && un__moved_by(rw->ctx, load->src[0]->src[1]) != NULL;
}

const un_uop *un__fn_column(un__rw *rw, const un_uop *element) {
  const un_uop *load = element->src[0], *lane = un__moved_by(rw->ctx, load->src[0]->src[1]), *row[UN__MAX_VECTOR];
  net x = {.g = rw->g, .t = un__lanes(load), .l = (uint32_t)un__known_size(lane->src[0])};
  for (uint32_t i = 0; i < x.l; i++) {
    const un_uop *at = un__idx(rw->g, i);
    row[i] = at ? un__substitute(rw->g, load, &lane, &at, 1) : NULL;
  }
  fill(&x, row);
  uint32_t easy = EASY_BYTES / un__dt_info(load->dtype)->size, within = x.t < easy ? x.t : easy;
  for (uint32_t grain = 1; grain < x.t; grain *= 2) stage(&x, grain, grain, grain < within ? within : 2 * grain);
  for (uint32_t i = 0; i < x.t; i++)
    if (x.column[i][0] == un__attr(element, 0)) return x.slot[i];
  return NULL;
}
