/* verify_region.c - what docs/stages.md says about a graph as a whole: its root, its loops, its names. */
#include "verify.h"

/* Each node of the region in order, as `it`, with its number as `it_i`. Leave by return, not by break. */
#define FOR_NODES(v, it) \
  for (size_t it##_i = 0; it##_i < (v)->nodes.n; it##_i++) \
    for (const un_uop *it = un__region_node((v), it##_i); it; it = NULL)

/* ---- roots ---- */

static void check_root_tensor(un__verifier *v) {
  if (v->root->op != UN__OP_SINK) return;
  for (uint32_t i = 0; i < v->root->nsrc; i++) {
    const un_uop *s = v->root->src[i];
    if (!s->shape && s->op != UN__OP_GET) un__fault_at(v, v->root, "source %u is no tensor", i);
  }
}

static void check_root_kernel(un__verifier *v) {
  if (v->root->op != UN__OP_SINK) {
    un__fault_at(v, v->root, "the root must be a sink");
    return;
  }
  for (uint32_t i = 0; i < v->root->nsrc; i++) {
    un__op op = (un__op)v->root->src[i]->op;
    if (op != UN__OP_END && op != UN__OP_STORE && op != UN__OP_GROUP)
      un__fault_at(v, v->root, "source %u is no end, store or group", i);
  }
  FOR_NODES(v, n) if (n->op == UN__OP_SINK && n != v->root) un__fault_at(v, n, "a sink below the root");
}

static void check_root_linear(un__verifier *v) {
  if (v->root->op != UN__OP_LINEAR) un__fault_at(v, v->root, "the root must be a linear");
}

static void check_root_schedule(un__verifier *v) {
  if (v->root->op != UN__OP_LINEAR) {
    un__fault_at(v, v->root, "the root must be a linear");
    return;
  }
  for (uint32_t i = 0; i < v->root->nsrc; i++)
    if (v->root->src[i]->op != UN__OP_KERNEL && v->root->src[i]->op != UN__OP_COPY)
      un__fault_at(v, v->root, "source %u is no kernel", i);
}

/* ---- numbers that are names ---- */

static const struct { uint8_t op; const char *what; } named[] = {
  {UN__OP_BUFFER, "slot"}, {UN__OP_PARAM, "slot"}, {UN__OP_RANGE, "id"}, {UN__OP_DEFINE_LOCAL, "id"},
  {UN__OP_DEFINE_REG, "id"}, {UN__OP_STAGE, "id"},
};

/* Two nodes of one op with one number would be two things of one name. */
static void check_names(un__verifier *v) {
  for (size_t k = 0; k < sizeof named / sizeof *named; k++) {
    un__ptrmap seen = {0};
    FOR_NODES(v, n) {
      if (n->op != named[k].op || un__attr(n, 0) < 0) continue;    /* negative: a fault of its own */
      bool added;
      if (!un__ptrmap_put(&seen, (const void *)((uintptr_t)un__attr(n, 0) + 1), &added)) v->nomem = true;
      else if (!added)
        un__fault_at(v, n, "another %s has the %s %lld", un__info(n)->text, named[k].what, (long long)un__attr(n, 0));
    }
    un__ptrmap_finish(&seen);
  }
}

/* Bodies in a schedule are as rangeify left them: ids are 0 to n - 1, so that equal kernels are one node. The order
 * is not checked, since ids take part in the order of commutative operands and so in that of the visit itself.
 * Splitting adds fresh ids and types the parts. */
static void check_numbering(un__verifier *v) {
  int64_t count = 0;
  if (v->root == v->order.node[v->order.n - 1]) return;
  FOR_NODES(v, n) {
    if (n->op != UN__OP_RANGE) continue;
    if (un__range_axis(n) != UN__AXIS_LOOP && un__range_axis(n) != UN__AXIS_REDUCE) return;
    count++;
  }
  FOR_NODES(v, n)
    if (n->op == UN__OP_RANGE && un__range_id(n) >= count)
      un__fault_at(v, n, "id %lld: ids number the %lld ranges of a kernel from 0", (long long)un__range_id(n),
                   (long long)count);
}

/* ---- loops ---- */

static void check_closed(un__verifier *v) {
  const un__rangeset *open = un__open_ranges(v->root);
  for (uint32_t i = 0; open && i < open->n; i++)
    un__fault_at(v, open->range[i], "range %lld is not closed at the root", (long long)un__range_id(open->range[i]));
}

static bool is_reduced_axis(un__axis a) {
  return a == UN__AXIS_REDUCE || a == UN__AXIS_UNROLL || a == UN__AXIS_GROUP_REDUCE || a == UN__AXIS_TENSOR;
}

static void check_axes(un__verifier *v) {
  FOR_NODES(v, n) {
    if (n->op != UN__OP_REDUCE && n->op != UN__OP_END) continue;
    for (uint32_t i = 1; i < n->nsrc; i++) {
      const un_uop *r = n->src[i];
      if (r->op != UN__OP_RANGE) continue;
      un__axis a = un__range_axis(r);
      bool fits = n->op == UN__OP_REDUCE ? is_reduced_axis(a) : a == UN__AXIS_UNROLL || !is_reduced_axis(a);
      if (!fits)
        un__fault_at(v, n, "cannot close range %lld of AxisType %s", (long long)un__range_id(r), un__axis_table[a].name);
    }
  }
}

static void check_thread(un__verifier *v) {
  const un_uop *first = NULL;
  FOR_NODES(v, n) {
    if (n->op != UN__OP_RANGE || un__range_axis(n) != UN__AXIS_THREAD) continue;
    if (first) un__fault_at(v, n, "a second thread range");
    else first = n;
  }
  FOR_NODES(v, n)
    for (uint32_t i = 2; n->op == UN__OP_END && i < n->nsrc; i++)
      if (n->src[i] == first) un__fault_at(v, n, "the thread range is not outermost");
}

/* One RANGE is one loop, closed in one way. */
static void check_one_closer(un__verifier *v) {
  uint32_t by_end = un__fresh_mark(v);
  FOR_NODES(v, n)
    for (uint32_t i = 1; n->op == UN__OP_END && i < n->nsrc; i++) v->mark[un__pos(v, n->src[i])] = by_end;
  FOR_NODES(v, n)
    for (uint32_t i = 1; n->op == UN__OP_REDUCE && i < n->nsrc; i++)
      if (n->src[i]->op == UN__OP_RANGE && v->mark[un__pos(v, n->src[i])] == by_end)
        un__fault_at(v, n, "range %lld is closed by an end too", (long long)un__range_id(n->src[i]));
}

/* ---- sharing: REDUCEs over one range have the same ranges and do not depend on each other ---- */

/* Members are the REDUCEs whose first range is `range`; each must not have another below it. */
static void check_group(un__verifier *v, const un_uop *range) {
  uint32_t above = un__fresh_mark(v);
  if (!un__spend(v, v->nodes.n)) return;
  FOR_NODES(v, n) {
    bool mine = n->op == UN__OP_REDUCE && n->src[1] == range, depends = false;
    for (uint32_t i = un__first_source(n); i < n->nsrc && !depends; i++)
      depends = v->mark[un__pos(v, n->src[i])] == above;
    if (mine && depends)
      un__fault_at(v, n, "depends on another reduction over range %lld", (long long)un__range_id(range));
    if (mine || depends) v->mark[v->nodes.at[n_i]] = above;
  }
}

static void check_sharing(un__verifier *v) {
  un__ptrmap owner = {0}, shared = {0};
  UN__VEC(const un_uop *) groups = {0};
  FOR_NODES(v, n) {
    for (uint32_t i = 1; n->op == UN__OP_REDUCE && i < n->nsrc && !v->nomem; i++) {
      bool added, first = false;
      uintptr_t *who = un__ptrmap_put(&owner, n->src[i], &added);
      if (!who) v->nomem = true;
      else if (added) *who = (uintptr_t)n;
      else if (!un__same_ranges((const un_uop *)*who, n))
        un__fault_at(v, n, "range %lld belongs to a reduction over other ranges", (long long)un__range_id(n->src[i]));
      else if (i == 1 && (!un__ptrmap_put(&shared, n->src[1], &first) || (first && !un__vec_push(&groups, n->src[1]))))
        v->nomem = true;
    }
  }
  for (size_t i = 0; i < groups.n; i++) check_group(v, groups.at[i]);
  un__vec_finish(&groups);
  un__ptrmap_finish(&owner);
  un__ptrmap_finish(&shared);
}

/* ---- placement: what a REDUCE depends on is a prefix of the nest around it ---- */

/* Ranges that become lanes, registers or the number of a task are no loops by the time code is placed: what does not depend
 * on a task's number is computed by every task. */
static bool is_loop(const un_uop *n) {
  if (n->op != UN__OP_RANGE) return false;
  un__axis a = un__range_axis(n);
  return a != UN__AXIS_UPCAST && a != UN__AXIS_UNROLL && !un__axis_table[a].special;
}

static void check_prefix(un__verifier *v, const un_uop *end, const un_uop *reduce) {
  const un_uop *gap = NULL;
  const un__rangeset *open = un__open_ranges(reduce);
  if (!open) return;
  for (uint32_t i = 1; i < end->nsrc; i++) {
    if (!is_loop(end->src[i])) continue;
    bool uses = un__rangeset_has(open, end->src[i]);
    if (uses && gap) {
      un__fault_at(v, reduce, "depends on range %lld but not on range %lld, which is outside it",
                   (long long)un__range_id(end->src[i]), (long long)un__range_id(gap));
      return;
    }
    if (!uses && !gap) gap = end->src[i];
  }
}

static void check_placement(un__verifier *v) {
  FOR_NODES(v, end) {
    if (end->op != UN__OP_END || !un__spend(v, end_i)) continue;
    uint32_t below = un__fresh_mark(v);
    v->mark[v->nodes.at[end_i]] = below;
    for (size_t i = end_i + 1; i-- > 0;) {
      const un_uop *n = un__region_node(v, i);
      if (v->mark[v->nodes.at[i]] != below) continue;
      for (uint32_t k = un__first_source(n); k < n->nsrc; k++) v->mark[un__pos(v, n->src[k])] = below;
      if (n->op == UN__OP_REDUCE) check_prefix(v, end, n);
    }
  }
}

/* ---- VALID has become the gate ---- */

static void check_gates(un__verifier *v) {
  uint32_t carries = un__fresh_mark(v);
  FOR_NODES(v, n) {
    bool valid = n->op == UN__OP_VALID || n->op == UN__OP_INVALID;
    if (n->op != UN__OP_LOAD)
      for (uint32_t i = un__first_source(n); i < n->nsrc && !valid; i++)
        valid = v->mark[un__pos(v, n->src[i])] == carries;
    if (valid && n->op == UN__OP_INDEX) un__fault_at(v, n, "valid below an index: it should be the gate");
    else if (valid) v->mark[v->nodes.at[n_i]] = carries;
  }
}

/* ---- linear ---- */

static void check_lowered_axes(un__verifier *v) {
  FOR_NODES(v, n) {
    if (n->op != UN__OP_RANGE) continue;
    un__axis a = un__range_axis(n);
    if (a != UN__AXIS_LOOP && a != UN__AXIS_REDUCE)
      un__fault_at(v, n, "AxisType %s must have been lowered", un__axis_table[a].name);
  }
}

/* ---- schedule ---- */

static const un_uop *argument(const un_uop *kernel, int64_t slot) {
  if (slot < 0 || slot >= (int64_t)kernel->nsrc - 1) return NULL;
  const un_uop *n = kernel->src[1 + slot];
  while (n->op == UN__OP_AFTER) n = n->src[0];
  return n;
}

static void check_param(un__verifier *v, const un_uop *kernel, const un_uop *param) {
  const un_uop *arg = argument(kernel, un__attr(param, 0));
  if (!arg) un__fault_at(v, kernel, "param %lld has no argument", (long long)un__attr(param, 0));
  else if (un__dt_scalar(arg->dtype) != un__dt_scalar(param->dtype))
    un__fault_at(v, kernel, "argument %lld has another dtype than its param", (long long)un__attr(param, 0));
}

/* The params of a body; kernels that share one cost one walk each. */
static void check_arguments(un__verifier *v) {
  FOR_NODES(v, kernel) {
    if (kernel->op != UN__OP_KERNEL) continue;
    uint32_t top = un__pos(v, kernel->src[0]), below = un__fresh_mark(v);
    if (!un__spend(v, top + 1)) return;
    v->mark[top] = below;
    for (uint32_t at = top + 1; at-- > 0;) {
      const un_uop *n = v->order.node[at];
      if (v->mark[at] != below) continue;
      if (n->op == UN__OP_PARAM && n->nattr) check_param(v, kernel, n);
      for (uint32_t i = un__first_source(n); i < n->nsrc; i++) v->mark[un__pos(v, n->src[i])] = below;
    }
  }
}

/* ---- the table ---- */

enum { TENSOR = UN__STAGE_TENSOR, KERNEL = UN__STAGE_KERNEL, LINEAR = UN__STAGE_LINEAR, SCHEDULE = UN__STAGE_SCHEDULE };

const un__region_check un__region_checks[] = {
  {"root", TENSOR, check_root_tensor},
  {"root", KERNEL, check_root_kernel},
  {"root", LINEAR, check_root_linear},
  {"root", SCHEDULE, check_root_schedule},
  {"name", TENSOR | KERNEL | LINEAR | SCHEDULE, check_names},
  {"numbering", KERNEL, check_numbering},
  {"open", KERNEL, check_closed},
  {"axis", KERNEL, check_axes},
  {"axis", LINEAR, check_lowered_axes},
  {"thread", KERNEL, check_thread},
  {"closer", KERNEL, check_one_closer},
  {"sharing", KERNEL, check_sharing},
  {"placement", KERNEL, check_placement},
  {"gate", KERNEL, check_gates},
  {"closed", KERNEL, un__check_args},
  {"closed", UN__REGION_BODY, un__check_body_region},
  {"list", LINEAR, un__verify_linear},
  {"threads", LINEAR, un__verify_threads},
  {"argument", SCHEDULE, check_arguments},
};
const size_t un__region_check_count = sizeof un__region_checks / sizeof *un__region_checks;
