/* rangeset.c - the open ranges of a node, as interned sets ordered by range id. Workspaces only. */
#include "store.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 8 };   /* sources from which on one sort is cheaper than unions in turn */

typedef struct set_key { uint32_t n; const un_uop *const *range; } set_key;

static bool set_eq(const void *key, const void *item) {
  const set_key *k = key;
  const un__rangeset *s = item;
  return s->n == k->n && memcmp(s->range, k->range, k->n * sizeof *k->range) == 0;
}

static const un__rangeset *intern_set(un__graph *g, uint32_t n, const un_uop *const *range) {
  un__store *st = g->store;
  uint64_t hash = un__hash_mix(UINT64_C(0x52616e6765), n);
  for (uint32_t i = 0; i < n; i++) hash = un__hash_mix(hash, range[i]->hash);
  un__rangeset *s = un__intern_find(&st->rangesets, hash, set_eq, &(set_key){n, range});
  if (s) return s;
  s = un__arena_alloc(&st->arena, sizeof *s + n * sizeof *range);
  if (!s || !un__intern_add(&st->rangesets, hash, s)) {
    un__fail(g->err, UN_ERR_NOMEM, "no memory for a set of ranges");
    return NULL;
  }
  s->n = n;
  if (n) memcpy(s->range, range, n * sizeof *range);
  return s;
}

/* By id; ranges that share one (while a split is under way) by structure. */
static int compare_ranges(const un_uop *a, const un_uop *b) {
  if (a == b) return 0;
  int64_t x = un__range_id(a), y = un__range_id(b);
  return x != y ? (x < y ? -1 : 1) : un__structural_compare(a, b);
}

static const un__rangeset *set_union(un__graph *g, const un__rangeset *a, const un__rangeset *b) {
  if (a == b || b->n == 0 || un__rangeset_subset(b, a)) return a;
  if (a->n == 0 || un__rangeset_subset(a, b)) return b;
  const un_uop **merged = un__alloc((a->n + b->n) * sizeof *merged);
  if (!merged) {
    un__fail(g->err, UN_ERR_NOMEM, "no memory for a set of ranges");
    return NULL;
  }
  uint32_t n = 0, i = 0, j = 0;
  while (i < a->n || j < b->n) {
    int c = i == a->n ? 1 : j == b->n ? -1 : compare_ranges(a->range[i], b->range[j]);
    merged[n++] = c <= 0 ? a->range[i] : b->range[j];
    i += c <= 0;
    j += c >= 0;
  }
  const un__rangeset *s = intern_set(g, n, merged);
  un__free(merged);
  return s;
}

static int compare_places(const void *a, const void *b) {
  return compare_ranges(*(const un_uop *const *)a, *(const un_uop *const *)b);
}

/* The union over many sources, without the sets in between: a SINK of thousands of loops is still linear to make. */
static const un__rangeset *union_of_many(un__graph *g, const un_uop *n, uint32_t first) {
  size_t total = 0;
  for (uint32_t i = first; i < n->nsrc; i++) total += n->src[i]->ranges->n;
  if (total == 0) return g->store->no_ranges;
  const un_uop **all = un__alloc(total * sizeof *all);
  if (!all) {
    un__fail(g->err, UN_ERR_NOMEM, "no memory for a set of ranges");
    return NULL;
  }
  size_t at = 0;
  const un__rangeset *last = NULL;      /* neighbours often have the same set */
  for (uint32_t i = first; i < n->nsrc; i++) {
    const un__rangeset *set = n->src[i]->ranges;
    if (set != last && set->n) memcpy(all + at, set->range, set->n * sizeof *all);
    if (set != last) at += set->n;
    last = set;
  }
  qsort(all, at, sizeof *all, compare_places);
  uint32_t distinct = 0;
  for (size_t i = 0; i < at; i++)
    if (i == 0 || all[i] != all[i - 1]) all[distinct++] = all[i];
  const un__rangeset *s = intern_set(g, distinct, all);
  un__free(all);
  return s;
}

static const un__rangeset *set_without(un__graph *g, const un__rangeset *a, const un_uop *range) {
  if (!un__rangeset_has(a, range)) return a;
  const un_uop **rest = un__alloc(a->n * sizeof *rest);
  if (!rest) {
    un__fail(g->err, UN_ERR_NOMEM, "no memory for a set of ranges");
    return NULL;
  }
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->n; i++)
    if (a->range[i] != range) rest[n++] = a->range[i];
  const un__rangeset *s = intern_set(g, n, rest);
  un__free(rest);
  return s;
}

/* Sources from 1 on of these ops name ranges that the op closes: a RANGE itself, or an expression over the ranges that
 * replaced one (all RANGEs in it). */
static bool closes(un__op op) { return op == UN__OP_REDUCE || op == UN__OP_END || op == UN__OP_STAGE; }

static const un__rangeset *close_source(un__graph *g, const un__rangeset *s, const un_uop *named) {
  if (un__is(named, UN__OP_RANGE)) return set_without(g, s, named);
  for (uint32_t i = 0; s && i < named->ranges->n; i++) s = set_without(g, s, named->ranges->range[i]);
  return s;
}

/* CONTRACT gathers its ranges, named by id, into lanes: what it gives does not depend on them any more. */
static const un__rangeset *close_contracted(un__graph *g, const un__rangeset *s, const un_uop *n) {
  for (uint32_t i = 0; i + 1 < n->nattr; i += 2)
    for (uint32_t k = 0; s && k < s->n; k++)
      if (un__range_id(s->range[k]) == un__attr(n, i)) {
        s = set_without(g, s, s->range[k]);
        break;
      }
  return s;
}

const un__rangeset *un__infer_ranges(un__graph *g, const un_uop *n) {
  const un__rangeset *s = g->store->no_ranges;
  if (!s && !(s = g->store->no_ranges = intern_set(g, 0, NULL))) return NULL;
  uint32_t first = un__first_source(n);      /* a body is closed */
  if (n->nsrc > MANY) s = union_of_many(g, n, first);
  for (uint32_t i = first; s && n->nsrc <= MANY && i < n->nsrc; i++) s = set_union(g, s, n->src[i]->ranges);
  if (s && un__is(n, UN__OP_RANGE)) {
    const un__rangeset *self = intern_set(g, 1, &n);
    return self ? set_union(g, s, self) : NULL;
  }
  if (s && un__is(n, UN__OP_CONTRACT)) return close_contracted(g, s, n);
  if (closes((un__op)n->op))
    for (uint32_t i = 1; s && i < n->nsrc; i++) s = close_source(g, s, n->src[i]);
  return s;
}
