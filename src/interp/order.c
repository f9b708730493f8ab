#include "order.h"

#include <string.h>
#include "base/vec.h"

typedef UN__VEC(const un_uop *) node_vec;

static bool widen(un__iorder *o, size_t limit) {
  if (limit <= o->id_limit) return true;
  uint32_t *by_id = un__realloc(o->by_id, limit * sizeof *by_id);
  if (!by_id) return false;
  memset(by_id + o->id_limit, 0, (limit - o->id_limit) * sizeof *by_id);
  o->by_id = by_id;
  o->id_limit = limit;
  return true;
}

static bool append(un__iorder *o, node_vec *all, const un_uop *root) {
  size_t n, limit = 0;
  const un_uop **sorted = un__toposort(root, &n);
  if (!sorted) return false;
  for (size_t i = 0; i < n; i++)
    if (sorted[i]->id >= limit) limit = (size_t)sorted[i]->id + 1;
  bool ok = widen(o, limit);
  for (size_t i = 0; ok && i < n; i++) {
    if (o->by_id[sorted[i]->id]) continue;
    ok = un__vec_push(all, sorted[i]);
    o->by_id[sorted[i]->id] = (uint32_t)all->n;
  }
  un__free(sorted);
  return ok;
}

un_status un__iorder_init(un__iorder *o, const un_uop *const *roots, uint32_t nroots, un__err *err) {
  *o = (un__iorder){0};
  node_vec all = {0};
  bool ok = true;
  for (uint32_t i = 0; ok && i < nroots; i++) {
    bool seen = roots[i]->id < o->id_limit && o->by_id[roots[i]->id];
    ok = seen || append(o, &all, roots[i]);
  }
  o->node = all.at;
  o->n = all.n;
  if (ok) return UN_OK;
  un__iorder_finish(o);
  return un__fail(err, UN_ERR_NOMEM, "interp: no memory to order the graph");
}

void un__iorder_finish(un__iorder *o) {
  un__free(o->node);
  un__free(o->by_id);
  *o = (un__iorder){0};
}
