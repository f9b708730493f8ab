/* legal.c - whether one step may be taken on a kernel. Each check looks at one thing and names what is wrong. */
#include "legal.h"

#include "pack.h"
#include "share.h"
#include "simplify/cores.h"
#include "simplify/digits.h"
#include "uop/combine.h"

typedef struct view {
  const un__opt_kernel *k;
  const un__opt_step *step;
  const un__opt_axis *axis;
  const un__opt_scope *scope;
  uint64_t bit; /* of the axis */
  const un__target *target;
  uint32_t licences;
} view;

#define TO(axis) (1u << UN__AXIS_##axis)

/* Which AxisTypes a part of a range may get, by what the range is. */
static const uint16_t may_become[UN__AXIS_COUNT] = {
    [UN__AXIS_LOOP] = TO(LOOP) | TO(THREAD) | TO(UPCAST) | TO(UNROLL) | TO(GLOBAL) | TO(LOCAL) | TO(WARP),
    [UN__AXIS_UPCAST] = TO(UPCAST),
    [UN__AXIS_REDUCE] = TO(REDUCE) | TO(UNROLL) | TO(GROUP_REDUCE) | TO(TENSOR),
    [UN__AXIS_UNROLL] = TO(UNROLL),
};

static bool expands(un__axis a) { return a == UN__AXIS_UPCAST || a == UN__AXIS_UNROLL; }

/* Parts that become a number of the device: there is one value of it wherever the code runs. */
static bool is_outer(un__axis a) { return a == UN__AXIS_THREAD || a == UN__AXIS_GLOBAL; }

static const char *check_axis(const view *v) {
  un__axis to = v->step->axis;
  if (to < 0 || to >= UN__AXIS_COUNT) return "no such AxisType";
  if (!(may_become[v->axis->type] & 1u << to)) return "a range of this AxisType cannot become that";
  if (to == UN__AXIS_THREAD && !v->target->has_threads) return "the target has no threads";
  if (un__axis_is_number(to) && !v->target->gpu.arch) return "the target has no blocks of threads";
  return NULL;
}

static const char *check_side(const view *v) {
  bool outer = is_outer(v->step->axis);
  if (v->step->factor && v->step->inner == outer)
    return outer ? "threads and blocks take the outer part" : "only threads and blocks take the outer part";
  return NULL;
}

/* Threads of a block, and of them those that combine values by shuffles. */
static const char *check_thread_part(const view *v, int64_t size) {
  un__axis to = v->step->axis;
  if (!un__axis_is_thread(to)) return NULL;
  if (size > v->target->gpu.max_group) return "larger than a block";
  if (to == UN__AXIS_LOCAL) return NULL;
  if (size & (size - 1)) return "must be a power of two";
  return to == UN__AXIS_WARP && size > v->target->gpu.warp ? "larger than a warp" : NULL;
}

static const char *check_whole(const view *v) {
  const un__opt_axis *a = v->axis;
  un__axis to = v->step->axis;
  if (to == a->type) return "the range has that AxisType already";
  if (is_outer(to)) return a->known ? NULL : "the number of tasks must be constant";
  if (!a->known && (expands(to) || un__axis_is_thread(to)))
    return expands(to) ? "only a constant size can be expanded" : "the number of threads must be constant";
  if (expands(to)) return a->size > UN__MAX_PART ? "too many copies" : NULL;
  return check_thread_part(v, a->size);
}

static const char *check_factor(const view *v) {
  const un__opt_step *s = v->step;
  const un__opt_axis *a = v->axis;
  if (s->factor == 0) return check_whole(v);
  if (s->factor < 2) return "a part has at least 2 values";
  if (expands(s->axis) && s->factor > UN__MAX_PART) return "too many copies";
  if (expands(a->type))
    return a->size % s->factor || s->factor == a->size ? "must be a proper divisor of what is expanded" : NULL;
  if (s->axis == a->type || is_outer(s->axis)) return a->known && s->factor > a->size ? "larger than the range" : NULL;
  if (a->known && s->factor / 2 >= a->size) return "more than half of it would be padding";
  return check_thread_part(v, s->factor);
}

/* Values of a scope that exist side by side: the product of its expanded ranges. */
static uint64_t copies(const un__opt_kernel *k, uint64_t axes) {
  uint64_t expanded = 0;
  for (; axes; axes &= axes - 1)
    if (expands(k->axis[__builtin_ctzll(axes)].type)) expanded |= axes & -axes;
  return un__opt_trips(k, expanded);
}

static const char *check_copies(const view *v) {
  if (!expands(v->step->axis) || expands(v->axis->type)) return NULL;
  uint64_t part = v->step->factor ? (uint64_t)v->step->factor : (uint64_t)v->axis->size;
  for (uint32_t i = 0; i < v->k->nscopes; i++) {
    const un__opt_scope *s = &v->k->scope[i];
    uint64_t all = s->axes | s->outer;
    if (all & v->bit && un__opt_sat_mul(copies(v->k, all), part) > UN__MAX_COPIES)
      return "too many copies together with the other expanded ranges";
  }
  return NULL;
}

static const char *check_order(const view *v) {
  bool reorders = v->step->axis == UN__AXIS_UNROLL || v->step->axis == UN__AXIS_GROUP_REDUCE || v->step->axis == UN__AXIS_TENSOR;
  if (!v->axis->reduce || !reorders || !v->scope->float_order) return NULL;
  return v->licences & UN__LIC_REDUCE_ORDER
             ? NULL
             : "the order of a float reduction may not change without the licence reduce_order";
}

/* Two values of the range must never store to one place, and padding must have a gate to hang on. */
static const char *check_stores(const view *v) {
  if (v->axis->reduce) return NULL;
  for (uint32_t i = 0; i < v->k->nvalues; i++) {
    const un__opt_value *x = &v->k->value[i];
    if (x->kind != UN__OPT_STORE || !(x->live & v->scope->axes)) continue;
    const un_uop *address = x->node->src[0];
    if (!un__is(address, UN__OP_INDEX)) return "a store has no index";
    if (!(v->k->mask[un__topo_find(&v->k->nodes, address->src[1])] & v->bit))
      return "a store inside it does not move along it";
  }
  return NULL;
}

/* Copies of a loop that is itself inside would be loops with one range closed twice; threads would fill scratch with different
 * things. */
static const char *check_nests(const view *v) {
  if (!expands(v->step->axis) && !un__axis_is_thread(v->step->axis)) return NULL;
  for (uint32_t i = 0; i < v->k->nscopes; i++)
    if (!v->k->scope[i].reduce && v->k->scope[i].outer & v->bit) return "another loop with stores stands inside it";
  return NULL;
}

/* A LOOP tile becomes the innermost loop, so whatever is reduced per value of it must be inside all loops already. */
static const char *check_prefix(const view *v) {
  if (v->step->axis != UN__AXIS_LOOP) return NULL;
  uint64_t loops = 0;
  for (uint64_t m = v->scope->axes; m; m &= m - 1)
    if (v->k->axis[__builtin_ctzll(m)].type == UN__AXIS_LOOP) loops |= m & -m;
  for (uint32_t i = 0; i < v->k->nscopes; i++) {
    uint64_t outer = v->k->scope[i].outer;
    if (outer & v->bit && (outer & loops) != loops)
      return "what is computed per value of it stands outside the inner loops";
  }
  return NULL;
}

/* The thread range, and that of the blocks, becomes the outermost, so it must be around everything that is inside any loop of
 * the nest. */
static const char *check_tasks(const view *v) {
  if (!is_outer(v->step->axis)) return NULL;
  for (uint32_t i = 0; i < v->k->naxes; i++)
    if (v->step->axis == UN__AXIS_THREAD && v->k->axis[i].type == UN__AXIS_THREAD) return "there is a thread range already";
  const un_uop *root = v->k->nodes.at[v->k->nodes.n - 1];
  for (uint32_t i = 0; i < root->nsrc; i++) {
    const un_uop *end = root->src[i];
    bool closes = false;
    for (uint32_t j = 1; un__is(end, UN__OP_END) && j < end->nsrc; j++) closes |= end->src[j] == v->axis->range;
    if (!closes) return "not every result of the kernel is stored inside it";
  }
  return NULL;
}

/* Loops whose length another loop bounds stay inside it, and their lengths stay scalars. */
static const char *check_lengths(const view *v) {
  uint64_t own = v->k->mask[un__topo_find(&v->k->nodes, v->axis->range->src[0])];
  if (own && is_outer(v->step->axis)) return "its length depends on another loop";
  bool moves = expands(v->step->axis) || v->step->axis == UN__AXIS_LOOP || un__axis_is_thread(v->step->axis);
  for (uint32_t i = 0; moves && i < v->k->naxes; i++)
    if (v->k->mask[un__topo_find(&v->k->nodes, v->k->axis[i].range->src[0])] & v->bit)
      return "the length of another loop depends on it";
  return NULL;
}

/* The loop of a ring, and those in which registers live anew, are named as the loops that they are. */
static const char *check_rings(const view *v) {
  for (size_t i = 0; i < v->k->nodes.n; i++) {
    const un_uop *n = v->k->nodes.at[i];
    bool slot = un__is(n, UN__OP_SLOT);
    for (uint32_t j = 1; (slot || un__is(n, UN__OP_DEFINE_REG)) && j < n->nsrc; j++)
      if (n->src[j] == v->axis->range) return slot ? "operands are staged rounds ahead of it" : "operands are held in registers inside it";
  }
  return NULL;
}

/* ---- numbers of blocks and threads ---- */

/* The axes that a value depends on together with this one, or that are closed with it. */
static uint64_t met_axes(const un__opt_kernel *k, uint32_t axis) {
  uint64_t met = 0, bit = UINT64_C(1) << axis;
  for (size_t i = 0; i < k->nodes.n; i++) met |= k->mask[i] & bit ? k->mask[i] : 0;
  for (uint32_t i = 0; i < k->nscopes; i++) {
    uint64_t all = k->scope[i].axes;
    for (size_t j = 0; j < k->nodes.n; j++)
      if (k->nodes.at[j]->op == k->scope[i].node->op && un__same_ranges(k->nodes.at[j], k->scope[i].node)) all |= k->mask[j];
    if (all & bit) met |= all;
  }
  return met;
}

typedef struct listing {
  un__digits digits;
  uint8_t axis[UN__MAX_DIGITS]; /* by digit */
} listing;

static void list_digit(listing *l, uint32_t axis, un__axis type, int64_t size) {
  if (l->digits.n == UN__MAX_DIGITS) return;
  l->axis[l->digits.n] = (uint8_t)axis;
  l->digits.digit[l->digits.n++] = (un__digit){.axis = type, .size = size};
}

/* The digits there will be, the new one inside of what is left of its range. */
static void list_digits(const view *v, listing *l) {
  for (uint32_t i = 0; i < v->k->nscopes; i++)
    for (uint32_t j = v->k->scope[i].n; j-- > 0;) {
      uint32_t a = v->k->scope[i].order[j];
      const un__opt_axis *x = &v->k->axis[a];
      if (x == v->axis) list_digit(l, a, v->step->axis, v->step->factor ? v->step->factor : x->size);
      else if (un__axis_is_number(x->type)) list_digit(l, a, x->type, x->size);
    }
  for (uint32_t i = 0; i < l->digits.n; i++) {
    uint64_t met = met_axes(v->k, l->axis[i]);
    for (uint32_t j = 0; j < l->digits.n; j++)
      if (i != j && met & UINT64_C(1) << l->axis[j]) l->digits.digit[i].apart |= UINT64_C(1) << j;
  }
}

static bool groups_nest(const un__opt_kernel *k, const listing *l) {
  for (uint32_t i = 0; i < l->digits.n; i++)
    for (uint32_t j = 0; j < i; j++)
      if (l->digits.digit[i].axis == UN__AXIS_GROUP_REDUCE && l->digits.digit[j].axis == UN__AXIS_GROUP_REDUCE &&
          l->digits.digit[i].apart >> j & 1 && k->axis[l->axis[i]].scope != k->axis[l->axis[j]].scope)
        return true;
  return false;
}

static const char *check_numbers(const view *v) {
  if (!un__axis_is_number(v->step->axis)) return NULL;
  listing l = {0};
  list_digits(v, &l);
  const char *why = un__digits_assign(&l.digits, v->target->gpu.warp);
  if (why) return why;
  if (l.digits.threads > v->target->gpu.max_group) return "more threads than a block has";
  return groups_nest(v->k, &l) ? "a reduction inside another one is dealt to the threads already" : NULL;
}

/* What threads combine goes through their registers, where no index is. */
static const char *check_shuffled(const view *v) {
  if (v->step->axis != UN__AXIS_GROUP_REDUCE) return NULL;
  for (uint32_t i = 0; i < v->k->nvalues; i++) {
    const un_uop *n = v->k->value[i].node;
    if (!un__is(n, UN__OP_REDUCE) || !un__same_ranges(n, v->scope->node)) continue;
    for (uint32_t k = 0; k < un__reduce_width(n); k++)
      if (un__dt_is_index(un__reduce_element(n, k)->dtype)) return "it combines indices";
  }
  return NULL;
}

/* ---- tensor cores ---- */

/* Every value that the loop reduces is one that they compute, as the warps are dealt now. */
static const char *check_tensor(const view *v) {
  un__digits d;
  un__core_product p;
  int64_t depth = v->step->factor ? v->step->factor : v->axis->size;
  if (v->step->axis != UN__AXIS_TENSOR) return NULL;
  if (!v->target->gpu.tensor_cores) return "the target has no tensor cores";
  if (un__tensor_range(v->scope->node)) return "a part of it is what the tensor core takes already";
  const char *why = un__digits_of(&d, &v->k->nodes, v->target->gpu.warp);
  for (uint32_t i = 0; i < v->k->nvalues && !why; i++) {
    const un_uop *n = v->k->value[i].node;
    if (!un__is(n, UN__OP_REDUCE) || !un__same_ranges(n, v->scope->node)) continue;
    why = un__core_product_of(n, &d, v->target, v->licences, &p);
    if (!why && depth != p.core->depth) why = "not the depth of the target's tensor core";
  }
  return why;
}

/* ---- the checks ---- */

static const char *check_pack(const view *v) {
  un__opt_pack p;
  un__opt_share s;
  if (v->target->gpu.arch) return un__opt_share_of(v->k, (uint32_t)(v->axis - v->k->axis), v->step->factor, v->target, &s);
  return un__opt_pack_of(v->k, (uint32_t)(v->axis - v->k->axis), v->target, &p);
}

typedef const char *(*check)(const view *);
static const check split_checks[] = {
    check_axis,  check_side,   check_factor,  check_copies, check_order,   check_stores,
    check_nests, check_prefix, check_lengths, check_tasks,  check_numbers, check_shuffled, check_tensor, check_rings, NULL,
};
static const check stage_checks[] = {check_pack, NULL};

const char un__opt_nomem[] = "no memory";

const char *un__opt_illegal(const un__opt_kernel *k, const un__opt_step *s, const un__target *t, uint32_t licences) {
  int32_t a = un__opt_axis_by_id(k, s->range_id);
  if (a < 0) return "there is no such range";
  view v = {k, s, &k->axis[a], &k->scope[k->axis[a].scope], UINT64_C(1) << a, t, licences};
  const char *why = NULL;
  for (const check *c = s->kind == UN__OPT_STAGE ? stage_checks : split_checks; *c && !why; c++) why = (*c)(&v);
  return why;
}

bool un__opt_legal(const un_uop *kernel, const un__opt_step *s, const un__target *t, uint32_t licences, un__err *err) {
  un__opt_kernel k;
  if (un__opt_kernel_of(&k, kernel, t, err) != UN_OK) return false;
  const char *why = un__opt_illegal(&k, s, t, licences);
  un__opt_kernel_finish(&k);
  if (why) un__opt_refuse(s, why, err);
  return !why;
}

void un__opt_refuse(const un__opt_step *s, const char *why, un__err *err) {
  if (why == un__opt_nomem) {
    un__fail(err, UN_ERR_NOMEM, "optimise: no memory");
    return;
  }
  const char *axis = s->axis >= 0 && s->axis < UN__AXIS_COUNT ? un__axis_table[s->axis].name : "?";
  if (s->kind == UN__OPT_STAGE) {
    un__fail(err, UN_ERR_INVALID_ARG, "optimise: nothing is staged for range %lld: %s", (long long)s->range_id, why);
    return;
  }
  un__fail(err, UN_ERR_INVALID_ARG, "optimise: range %lld cannot give %lld to %s: %s", (long long)s->range_id,
           (long long)s->factor, axis, why);
}
