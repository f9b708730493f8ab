/* expand_tuples.c - the functions of expand.pat's rules for reductions of several values. */
#include "expand_choice.h"
#include "uop/combine.h"

un__span un__fn_elements(un__rw *rw, const un_uop *c) { return (un__span){c->src + 1, un__combine_width(c)}; }

const un_uop *un__fn_combine_of(un__rw *rw, const un_uop *c, un__span xs) {
  return xs.at && xs.n == un__combine_width(c) ? un__combine_with(rw->g, c, xs.at) : NULL;
}

un__span un__fn_gets(un__rw *rw, const un_uop *tuple) {
  if (!tuple) return (un__span){0};
  const un_uop *c = tuple->src[0], **list = un__expand_list(rw, un__combine_width(c));
  for (uint32_t i = 0; list && i < un__combine_width(c); i++)
    if (!(list[i] = un__get(rw->g, tuple, un__combine_element(c, i)->dtype, i))) return (un__span){0};
  return (un__span){list, list ? un__combine_width(c) : 0};
}

/* ---- combining copies, combining lanes ---- */

static un__span combined(un__rw *rw, const un_uop *c, un__span a, un__span b) {
  const un_uop **out = a.at && b.at ? un__expand_list(rw, a.n) : NULL;
  if (!out || !un__combine_apply(rw->g, c, a.at, b.at, out)) return (un__span){0};
  return (un__span){out, a.n};
}

un__span un__fn_joined_tuples(un__rw *rw, un__span xs) {
  un__span *level = xs.n ? un__arena_alloc(un__workspace_arena(rw->g), xs.n * sizeof *level) : NULL;
  if (!level) return (un__span){0};
  bool reduced = un__is(xs.at[0], UN__OP_REDUCE);
  const un_uop *c = reduced ? xs.at[0]->src[0] : xs.at[0];
  for (uint32_t i = 0; i < xs.n; i++) level[i] = reduced ? un__fn_gets(rw, xs.at[i]) : un__fn_elements(rw, xs.at[i]);
  for (uint32_t n = xs.n; n > 1; n = (n + 1) / 2) {
    for (uint32_t i = 0; i < n / 2; i++) level[i] = combined(rw, c, level[2 * i], level[2 * i + 1]);
    if (n % 2) level[n / 2] = level[n - 1];
  }
  return level[0];
}

/* Lanes [from, from + n) of a vector. */
static const un_uop *lanes_of(un__rw *rw, const un_uop *vector, uint32_t from, uint32_t n) {
  int64_t lane[UN__MAX_VECTOR];
  if (!vector) return NULL;
  for (uint32_t i = 0; i < n; i++) lane[i] = from + i;
  return un__uop(rw->g, UN__OP_GEP, un__dt_with_lanes(vector->dtype, n), &vector, 1, lane, n);
}

static un__span lanes_of_all(un__rw *rw, un__span vectors, uint32_t from, uint32_t n) {
  const un_uop **list = vectors.at ? un__expand_list(rw, vectors.n) : NULL;
  for (uint32_t i = 0; list && i < vectors.n; i++)
    if (!(list[i] = lanes_of(rw, vectors.at[i], from, n))) return (un__span){0};
  return (un__span){list, list ? vectors.n : 0};
}

/* Values that are simple reductions of their own, all of them: then each is one HREDUCE, which backends know. */
static un__span horizontal(un__rw *rw, const un_uop *c, un__span vectors) {
  const un_uop **list = un__expand_list(rw, vectors.n);
  for (uint32_t i = 0; list && i < vectors.n; i++) {
    int64_t op = un__combine_plain(c, i);
    un__dtype scalar = un__dt_with_lanes(vectors.at[i]->dtype, 1);
    list[i] = op ? un__uop(rw->g, UN__OP_HREDUCE, scalar, &vectors.at[i], 1, &op, 1) : NULL;
    if (!list[i]) return (un__span){0};
  }
  return (un__span){list, list ? vectors.n : 0};
}

static bool all_plain(const un_uop *c) {
  for (uint32_t i = 0; i < un__combine_width(c); i++)
    if (!un__combine_plain(c, i)) return false;
  return true;
}

un__span un__fn_halved(un__rw *rw, const un_uop *c, const un_uop *n) {
  const un_uop *lane = un__lane_of(rw->ctx, n);
  uint32_t size = lane ? (uint32_t)un__known_size(lane->src[0]) : 0, width = un__combine_width(c);
  const un_uop **list = size > 1 ? un__expand_list(rw, width) : NULL;
  for (uint32_t i = 0; list && i < width; i++)
    if (!(list[i] = un__contract_along(rw, un__combine_element(c, i), lane))) return (un__span){0};
  un__span values = {list, list ? width : 0};
  if (list && all_plain(c)) return horizontal(rw, c, values);
  for (uint32_t half = size / 2; values.at && half; half /= 2)
    values = combined(rw, c, lanes_of_all(rw, values, 0, half), lanes_of_all(rw, values, half, half));
  return values;
}

/* ---- lanes around a tuple ---- */

/* The lanes of the elements that are spread, and (bits) which these are; false: of two lanes, or none. */
static bool spread_of(un__rw *rw, un__span xs, const un_uop **out_first, uint32_t *out_which) {
  *out_first = NULL;
  *out_which = 0;
  for (uint32_t i = 0; i < xs.n; i++) {
    if (!un__is(xs.at[i], UN__OP_UNROLL)) continue;
    if (*out_first && un__attr(xs.at[i], 0) != un__attr(*out_first, 0)) {
      un__fail(un__graph_err(rw->g), UN_ERR_INTERNAL, "expand: a reduction of two lanes");
      return false;
    }
    *out_first = xs.at[i];
    *out_which |= UINT32_C(1) << i;
  }
  return *out_first != NULL;
}

const un_uop *un__fn_widened_tuple(un__rw *rw, const un_uop *get) {
  const un_uop *reduce = get->src[0], *c = reduce->src[0], *first, *x[UN__MAX_COMBINE];
  un__span xs = un__fn_elements(rw, c);
  uint32_t which, needs[UN__MAX_COMBINE], wide = 0;
  if (un__attr(get, 0) >= xs.n || !spread_of(rw, xs, &first, &which)) return NULL;
  if (!un__combine_needs(c, needs)) {
    un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "expand: no memory");
    return NULL;
  }
  uint32_t lanes = un__lanes(first->src[0]);
  for (uint32_t i = 0; i < xs.n; i++) {
    x[i] = un__is(xs.at[i], UN__OP_UNROLL) ? xs.at[i]->src[0] : xs.at[i];
    if (!(needs[i] & which)) continue;
    wide |= UINT32_C(1) << i;
    if (un__lanes(x[i]) == 1) x[i] = un__splat_to(rw, x[i], lanes);
    if (!x[i]) return NULL;
  }
  const un_uop *src[1 + 64] = {un__combine_with(rw->g, c, x)};
  if (reduce->nsrc > sizeof src / sizeof *src) return NULL;
  for (uint32_t i = 1; i < reduce->nsrc; i++) src[i] = reduce->src[i];
  const un_uop *tuple = un__uop(rw->g, UN__OP_REDUCE, 0, src, reduce->nsrc, un__attrs(reduce), reduce->nattr);
  uint32_t i = (uint32_t)un__attr(get, 0);
  const un_uop *value = tuple ? un__get(rw->g, tuple, x[i]->dtype, i) : NULL;
  return wide >> i & 1 ? un__unrolled(rw, value, un__attr(first, 0)) : value;
}
