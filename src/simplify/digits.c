#include "digits.h"

enum { MAX_NUMBER = INT32_MAX };

const un__digit *un__digit_of(const un__digits *d, const un_uop *range) {
  for (uint32_t i = 0; i < d->n; i++)
    if (d->digit[i].range == range) return &d->digit[i];
  return NULL;
}

static bool is_number(const un_uop *n) { return un__is(n, UN__OP_RANGE) && un__axis_is_number(un__range_axis(n)); }

static const char *list_range(un__digits *d, const un_uop *r) {
  if (!is_number(r) || un__digit_of(d, r)) return NULL;
  int64_t size = un__known_size(r->src[0]);
  if (size < 1) return "the size of a range of blocks or threads must be constant";
  if (d->n == UN__MAX_DIGITS) return "too many ranges of blocks and threads";
  d->digit[d->n++] = (un__digit){.range = r, .axis = un__range_axis(r), .size = size};
  return NULL;
}

static const char *list_ranges(un__digits *d, const un__topo *nodes) {
  for (size_t i = 0; i < nodes->n; i++) {
    const un_uop *n = nodes->at[i];
    if (!un__is(n, UN__OP_END) && !un__is(n, UN__OP_REDUCE)) continue;
    for (uint32_t k = n->nsrc; k-- > 1;) {
      const char *why = list_range(d, n->src[k]);
      if (why) return why;
    }
  }
  return NULL;
}

/* ---- which must be apart ---- */

static uint64_t bit_of(const un__digits *d, const un_uop *range) {
  const un__digit *x = is_number(range) ? un__digit_of(d, range) : NULL;
  return x ? UINT64_C(1) << (x - d->digit) : 0;
}

static void keep_apart(un__digits *d, uint64_t set) {
  for (uint64_t m = set; m; m &= m - 1) d->digit[__builtin_ctzll(m)].apart |= set & ~(m & -m);
}

/* What a value depends on, and what a loop around it closes. */
static void find_apart(un__digits *d, const un__topo *nodes) {
  const un__rangeset *last = NULL;
  for (size_t i = 0; i < nodes->n; i++) {
    const un_uop *n = nodes->at[i];
    bool closes = un__is(n, UN__OP_END) || un__is(n, UN__OP_REDUCE);
    if (n->ranges == last && !closes) continue;
    uint64_t set = 0;
    for (uint32_t k = 0; k < n->ranges->n; k++) set |= bit_of(d, n->ranges->range[k]);
    for (uint32_t k = 1; closes && k < n->nsrc; k++) set |= bit_of(d, n->src[k]);
    keep_apart(d, set);
    last = n->ranges;
  }
}

/* ---- strides ---- */

static bool same_number(const un__digit *a, const un__digit *b) {
  return un__axis_is_block(a->axis) == un__axis_is_block(b->axis);
}

static bool overlap(int64_t s, int64_t n, const un__digit *b) {
  int64_t end = s * n, other = b->stride * b->size;
  return b->stride % end != 0 && s % other != 0;
}

static bool is_free(const un__digits *d, const un__digit *x, int64_t stride) {
  for (uint64_t m = x->apart; m; m &= m - 1) {
    const un__digit *other = &d->digit[__builtin_ctzll(m)];
    if (other->stride && same_number(x, other) && overlap(stride, x->size, other)) return false;
  }
  return true;
}

/* The least stride above `above` at which one of the digits in the way ends. INT64_MAX: none. */
static int64_t next_end(const un__digits *d, const un__digit *x, int64_t above) {
  int64_t best = INT64_MAX;
  for (uint64_t m = x->apart; m; m &= m - 1) {
    const un__digit *other = &d->digit[__builtin_ctzll(m)];
    int64_t end = other->stride * other->size;
    if (other->stride && same_number(x, other) && end > above && end < best) best = end;
  }
  return best;
}

/* A stride behind all digits in the way: a multiple of every end. */
static int64_t behind_all(const un__digits *d, const un__digit *x) {
  int64_t all = 1;
  for (uint64_t m = x->apart; m; m &= m - 1) {
    const un__digit *other = &d->digit[__builtin_ctzll(m)];
    int64_t end = other->stride * other->size;
    if (other->stride && same_number(x, other) && all % end != 0) all = all > MAX_NUMBER / end ? MAX_NUMBER : all * end;
  }
  return all;
}

static const char *assign(un__digits *d, un__digit *x) {
  int64_t stride = 1;
  while (stride != INT64_MAX && !is_free(d, x, stride)) stride = next_end(d, x, stride);
  if (stride == INT64_MAX) stride = behind_all(d, x);
  if (stride > MAX_NUMBER / x->size) return "too many blocks or threads";
  x->stride = stride;
  int64_t *all = un__axis_is_block(x->axis) ? &d->blocks : &d->threads;
  if (stride * x->size > *all) *all = stride * x->size;
  return NULL;
}

/* Threads that combine values are whole groups, warps are full. */
static void fill_up(un__digits *d, uint32_t warp) {
  int64_t unit = d->threads > warp ? warp : 1;
  for (uint32_t i = 0; i < d->n; i++) {
    const un__digit *x = &d->digit[i];
    if (x->axis == UN__AXIS_GROUP_REDUCE && x->stride * x->size > unit) unit = x->stride * x->size;
  }
  d->threads = (d->threads + unit - 1) / unit * unit;
  if (d->threads > warp && warp) d->threads = (d->threads + warp - 1) / warp * warp;
}

const char *un__digits_assign(un__digits *d, uint32_t warp) {
  static const un__axis order[] = {UN__AXIS_GLOBAL, UN__AXIS_WARP, UN__AXIS_GROUP_REDUCE, UN__AXIS_LOCAL};
  d->blocks = d->threads = 1;
  for (size_t a = 0; a < sizeof order / sizeof *order; a++)
    for (uint32_t i = 0; i < d->n; i++) {
      const char *why = d->digit[i].axis == order[a] ? assign(d, &d->digit[i]) : NULL;
      if (why) return why;
    }
  fill_up(d, warp);
  return NULL;
}

const char *un__digits_of(un__digits *out, const un__topo *nodes, uint32_t warp) {
  *out = (un__digits){.blocks = 1, .threads = 1};
  const char *why = list_ranges(out, nodes);
  if (why || !out->n) return why;
  find_apart(out, nodes);
  return un__digits_assign(out, warp);
}
