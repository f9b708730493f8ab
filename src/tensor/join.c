/* join.c - several tensors as one: cat and stack. */
#include "tensor.h"

#include "base/vec.h"

typedef UN__VEC(const un_uop *) node_list;

/* Copies the parts, cast to their common dtype. False after an error (or a NULL part). */
static bool unify(un__graph *g, const char *what, const un_uop *const *parts, size_t n, node_list *out) {
  un_dtype d = UN_VOID;
  if (n == 0) return un__tensor_fail(g, UN_ERR_INVALID_ARG, "%s: expected at least one tensor, got none", what) != NULL;
  if (n > UINT32_MAX / 2) return un__tensor_fail(g, UN_ERR_INVALID_ARG, "%s: too many tensors", what) != NULL;
  for (size_t i = 0; i < n; i++) {
    if (!parts[i]) return false;
    un_dtype p = un__tensor_dtype(parts[i]);
    d = i ? un__dt_promote(d, p) : p;
  }
  if (d == UN_VOID) return un__tensor_fail(g, UN_ERR_DTYPE, "%s: the tensors have no common dtype", what) != NULL;
  if (!un__vec_reserve(out, n)) return un__tensor_fail(g, UN_ERR_NOMEM, "%s: no memory for a list", what) != NULL;
  for (size_t i = 0; i < n; i++)
    if (!(out->at[out->n++] = un__cast(g, UN__DT(d), parts[i]))) return false;
  return true;
}

/* ---- cat ---- */

static bool fits(const un_dims *a, const un_dims *b, int axis) {
  if (a->rank != b->rank) return false;
  for (int i = 0; i < a->rank; i++)
    if (i != axis && a->dim[i] != b->dim[i]) return false;
  return true;
}

static bool cat_shape(un__graph *g, const node_list *parts, int *axis, un_dims *total) {
  un_dims d;
  if (!un__tensor_dims(g, parts->at[0], total) || !un__tensor_axis(g, "cat", *axis, total->rank, axis)) return false;
  for (size_t i = 1; i < parts->n; i++) {
    if (!un__tensor_dims(g, parts->at[i], &d)) return false;
    if (!fits(total, &d, *axis))
      return un__tensor_fail(g, UN_ERR_SHAPE, "cat: shapes differ outside axis %d: first %s, number %zu %s", *axis,
                             un__tensor_show(total).at, i, un__tensor_show(&d).at) != NULL;
    if (__builtin_add_overflow(total->dim[*axis], d.dim[*axis], &total->dim[*axis]))
      return un__tensor_fail(g, UN_ERR_SHAPE, "cat: axis %d becomes too long", *axis) != NULL;
  }
  return un__tensor_check_shape(g, "cat", total);
}

/* Padded to the whole and chosen by position: WHERE(i < end of part 0, part 0, WHERE(..)). A sum of padded parts would
 * be shorter, but -0.0 + 0.0 is 0.0. Parts without elements take no place. */
static const un_uop *cat_nest(un__graph *g, const node_list *parts, int axis, const un_dims *total) {
  const un_uop *at = un__tensor_iota(g, UN_INDEX, total, axis), *whole = NULL;
  int64_t begin = total->dim[axis];
  for (size_t i = parts->n; at && i-- > 0;) {
    un_dims d, before = {.rank = total->rank}, after = before;
    if (!un__tensor_dims(g, parts->at[i], &d)) return NULL;
    if (d.dim[axis] == 0) continue;
    int64_t end = begin;
    begin -= d.dim[axis];
    before.dim[axis] = begin;
    after.dim[axis] = total->dim[axis] - end;
    const un_uop *part = un__tensor_pad(g, parts->at[i], &before, &after);
    if (!part) return NULL;
    if (!whole) {
      whole = part;
      continue;
    }
    const un_uop *here = un__binary(g, UN__OP_LT, at, un__tensor_spread(g, un__idx(g, end), total));
    if (!(whole = un__ternary(g, UN__OP_WHERE, here, part, whole))) return NULL;
  }
  return whole;
}

const un_uop *un__tensor_cat(un__graph *g, const un_uop *const *parts, size_t n, int axis) {
  node_list list = {0};
  un_dims total;
  const un_uop *r = NULL;
  if (unify(g, "cat", parts, n, &list) && cat_shape(g, &list, &axis, &total))
    r = un__tensor_count(&total) == 0 ? un__tensor_spread(g, un__const_i(g, list.at[0]->dtype, 0), &total)
                                      : cat_nest(g, &list, axis, &total);
  un__vec_finish(&list);
  return r;
}

/* ---- stack ---- */

static const un_uop *stack_of(un__graph *g, const node_list *parts, int axis) {
  un_dims first, d, order = {0};
  if (!un__tensor_dims(g, parts->at[0], &first) || !un__tensor_axis(g, "stack", axis, first.rank + 1, &axis))
    return NULL;
  if (first.rank == UN_MAX_RANK) return un__tensor_fail(g, UN_ERR_SHAPE, "stack: more than %d axes", UN_MAX_RANK);
  for (size_t i = 1; i < parts->n; i++) {
    if (!un__tensor_dims(g, parts->at[i], &d)) return NULL;
    if (!un__tensor_same_dims(&first, &d))
      return un__tensor_fail(g, UN_ERR_SHAPE, "stack: shapes differ: first %s, number %zu %s",
                             un__tensor_show(&first).at, i, un__tensor_show(&d).at);
  }
  un_dims total = first;
  total.rank++;
  total.dim[first.rank] = (int64_t)parts->n;
  if (!un__tensor_check_shape(g, "stack", &total)) return NULL;
  const un_uop *x = un__uop(g, UN__OP_STACK, 0, parts->at, (uint32_t)parts->n, NULL, 0);
  order.rank = total.rank;
  for (int i = 0; i < order.rank; i++) order.dim[i] = i == axis ? 0 : i < axis ? i + 1 : i;
  return un__tensor_permute(g, x, &order);
}

const un_uop *un__tensor_stack(un__graph *g, const un_uop *const *parts, size_t n, int axis) {
  node_list list = {0};
  const un_uop *r = unify(g, "stack", parts, n, &list) ? stack_of(g, &list, axis) : NULL;
  un__vec_finish(&list);
  return r;
}
