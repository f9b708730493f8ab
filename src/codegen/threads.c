/* threads.c - numbers of blocks and threads in place of the ranges they are digits of. */
#include "threads.h"

#include "base/mem.h"

extern const un__pass un__pass_deal, un__pass_threads;

static const un__threading *threading(const un__rw *rw) { return rw->ctx; }

static bool is_group(const un_uop *n) { return un__is(n, UN__OP_RANGE) && un__range_axis(n) == UN__AXIS_GROUP_REDUCE; }
static bool is_number(const un_uop *n) { return un__is(n, UN__OP_RANGE) && un__axis_is_number(un__range_axis(n)); }

/* ---- lists of ranges ---- */

static uint32_t count(const un_uop *closer, bool (*which)(const un_uop *)) {
  uint32_t n = 0;
  for (uint32_t i = 1; i < closer->nsrc; i++) n += which(closer->src[i]);
  return n;
}

un__span un__chosen_ranges(un__rw *rw, const un_uop *closer, bool (*which)(const un_uop *), bool wanted) {
  const un_uop **list = un__arena_alloc(un__workspace_arena(rw->g), closer->nsrc * sizeof *list);
  if (!list) {
    un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "no memory for a list of ranges");
    return (un__span){0};
  }
  uint32_t n = 0;
  for (uint32_t i = 1; i < closer->nsrc; i++)
    if (which(closer->src[i]) == wanted) list[n++] = closer->src[i];
  return (un__span){list, n};
}

bool un__pred_dealt(un__rw *rw, const un_uop *reduce) {
  uint32_t n = count(reduce, is_group);
  return n && n < reduce->nsrc - 1;
}

un__span un__fn_own(un__rw *rw, const un_uop *reduce) { return un__chosen_ranges(rw, reduce, is_group, false); }
un__span un__fn_groups(un__rw *rw, const un_uop *reduce) { return un__chosen_ranges(rw, reduce, is_group, true); }
bool un__pred_numbers(un__rw *rw, const un_uop *end) { return count(end, is_number) != 0; }
un__span un__fn_real_loops(un__rw *rw, const un_uop *end) { return un__chosen_ranges(rw, end, is_number, false); }

const un_uop *un__fn_only(un__rw *rw, un__span xs) { return xs.n == 1 ? xs.at[0] : NULL; }

/* ---- digits ---- */

const un_uop *un__number_part(un__graph *g, const un_uop *number, int64_t stride, int64_t size, int64_t all) {
  if (size == 1) return un__idx(g, 0);
  const un_uop *n = stride > 1 ? un__binary(g, UN__OP_FLOORDIV, number, un__idx(g, stride)) : number;
  return stride * size < all ? un__binary(g, UN__OP_FLOORMOD, n, un__idx(g, size)) : n;
}

/* ---- who stores ---- */

/* The digits of one number that a store moves along, innermost first. */
static uint32_t used_digits(const un__digits *d, const un_uop *store, bool block, const un__digit **out) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < store->ranges->n; i++) {
    const un__digit *x = un__digit_of(d, store->ranges->range[i]);
    if (!x || x->size == 1 || x->axis == UN__AXIS_GROUP_REDUCE || un__axis_is_block(x->axis) != block) continue;
    uint32_t at = n++;
    for (; at && out[at - 1]->stride > x->stride; at--) out[at] = out[at - 1];
    out[at] = x;
  }
  return n;
}

/* Calls `gap` for each part of a number that the store does not move along: all but one value of it are idle. */
static uint32_t each_gap(const un__digits *d, const un_uop *store, bool block,
                         void (*gap)(void *data, int64_t stride, int64_t size), void *data) {
  const un__digit *used[UN__MAX_DIGITS];
  uint32_t n = used_digits(d, store, block, used), gaps = 0;
  int64_t end = 1, all = block ? d->blocks : d->threads;
  for (uint32_t i = 0; i <= n; i++) {
    int64_t next = i < n ? used[i]->stride : all;
    if (next > end) {
      gaps++;
      if (gap) gap(data, end, (next + end - 1) / end);
    }
    if (i < n) end = used[i]->stride * used[i]->size;
  }
  return gaps;
}

bool un__pred_idle(un__rw *rw, const un_uop *store) {
  const un__digits *d = &threading(rw)->digits;
  return un__is(un__memory_of(store->src[0]), UN__OP_PARAM) && each_gap(d, store, true, NULL, NULL) + each_gap(d, store, false, NULL, NULL) > 0;
}

typedef struct gate {
  un__graph *g;
  const un_uop *number, *all_of_them;
  int64_t all;
} gate;

static void add_gap(void *data, int64_t stride, int64_t size) {
  gate *x = data;
  const un_uop *part = un__number_part(x->g, x->number, stride, size, x->all);
  const un_uop *first = un__binary(x->g, UN__OP_LT, part, un__idx(x->g, 1));
  x->all_of_them = x->all_of_them ? un__binary(x->g, UN__OP_AND, x->all_of_them, first) : first;
}

const un_uop *un__fn_once(un__rw *rw, const un_uop *store) {
  const un__threading *t = threading(rw);
  gate x = {rw->g, t->block, NULL, t->digits.blocks};
  each_gap(&t->digits, store, true, add_gap, &x);
  x.number = t->thread;
  x.all = t->digits.threads;
  each_gap(&t->digits, store, false, add_gap, &x);
  return x.all_of_them;
}

const un_uop *un__fn_once_if(un__rw *rw, const un_uop *g, const un_uop *store) {
  const un_uop *once = un__fn_once(rw, store);
  if (once && un__lanes(g) > 1) once = un__uop(rw->g, UN__OP_VECTORIZE, g->dtype, &once, 1, NULL, 0);
  return un__binary(rw->g, UN__OP_AND, g, once);
}

/* ---- copies ---- */

bool un__fn_copied(un__rw *rw, const un_uop *store, int64_t *out) {
  *out = un__lanes(store->src[1]);
  return true;
}

/* ---- the passes ---- */

static const un_uop *special(un__graph *g, un__axis axis, int64_t size) {
  const un_uop *n = un__idx(g, size);
  return size > 1 ? un__uop(g, UN__OP_SPECIAL, 0, &n, 1, (int64_t[]){axis, 0}, 2) : un__idx(g, 0);
}

static const un_uop *digits_for_ranges(un__graph *g, const un_uop *kernel, const un__threading *t) {
  const un_uop *from[UN__MAX_DIGITS], *to[UN__MAX_DIGITS];
  for (uint32_t i = 0; i < t->digits.n; i++) {
    const un__digit *d = &t->digits.digit[i];
    bool block = un__axis_is_block(d->axis);
    from[i] = d->range;
    to[i] = un__number_part(g, block ? t->block : t->thread, d->stride, d->size, block ? t->digits.blocks : t->digits.threads);
    if (!to[i]) return NULL;
  }
  return un__substitute(g, kernel, from, to, t->digits.n);
}

static int64_t count_locals(const un__topo *nodes) {
  int64_t n = 0;
  for (size_t i = 0; i < nodes->n; i++)
    if (un__is(nodes->at[i], UN__OP_DEFINE_LOCAL) && un__attr(nodes->at[i], 0) >= n) n = un__attr(nodes->at[i], 0) + 1;
  return n;
}

static const un_uop *refuse(un__graph *g, un_status status, const char *why) {
  un__fail(un__graph_err(g), status, "threads: %s", why);
  return NULL;
}

const un_uop *un__deal(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences) {
  return t->gpu.arch ? un__graph_rewrite(ws, kernel, &un__pass_deal, &(un__rw_options){.licences = licences}) : kernel;
}

const un_uop *un__threads(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences) {
  un__threading x = {.warp = t->gpu.warp};
  un__topo nodes;
  if (!t->gpu.arch) return kernel;
  if (!un__topo_of(&nodes, kernel)) return refuse(ws, UN_ERR_NOMEM, "no memory");
  const char *why = un__digits_of(&x.digits, &nodes, t->gpu.warp);
  x.next_local = count_locals(&nodes);
  un__topo_finish(&nodes);
  if (why) return refuse(ws, UN_ERR_UNSUPPORTED, why);
  if (!x.digits.n) return kernel;
  if (x.digits.threads > t->gpu.max_group) return refuse(ws, UN_ERR_UNSUPPORTED, "more threads than a block has");
  x.block = special(ws, UN__AXIS_GLOBAL, x.digits.blocks);
  x.thread = special(ws, UN__AXIS_LOCAL, x.digits.threads);
  kernel = un__graph_rewrite(ws, kernel, &un__pass_threads, &(un__rw_options){.ctx = &x, .licences = licences});
  return kernel ? digits_for_ranges(ws, kernel, &x) : NULL;
}
