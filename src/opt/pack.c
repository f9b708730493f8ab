#include "pack.h"

#define BIT(a) (UINT64_C(1) << (a))

static bool expands(un__axis a) { return a == UN__AXIS_UPCAST || a == UN__AXIS_UNROLL; }

static uint32_t place_of(const un__opt_scope *nest, uint32_t axis) {
  uint32_t i = 0;
  while (i < nest->n && nest->order[i] != axis) i++;
  return i;
}

/* ---- what can be staged ---- */

/* The first loop inside `axis` that the load does not move along: it reads the same again. nest->n: there is none. */
static uint32_t reuse_place(const un__opt_kernel *k, const un__opt_scope *nest, uint32_t axis, uint64_t moves) {
  uint32_t i = place_of(nest, axis) + 1;
  while (i < nest->n && (k->axis[nest->order[i]].type != UN__AXIS_LOOP || moves & BIT(nest->order[i]))) i++;
  return i;
}

bool un__opt_pack_plain(const un__opt_kernel *k, const un_uop *load) {
  const un_uop *index = load->src[0];
  if (!un__is(index, UN__OP_INDEX) || !un__is(index->src[0], UN__OP_PARAM) || un__dt_is_bool(load->dtype)) return false;
  for (uint32_t i = 0; i < k->nvalues; i++)
    if (k->value[i].kind == UN__OPT_STORE && k->value[i].node->src[0]->src[0] == index->src[0]) return false;
  return !k->stored[un__topo_find(&k->nodes, index)];
}

/* The axes that one copy covers. 0: the load is none that can be staged at `axis`. */
static uint64_t panel_of(const un__opt_kernel *k, const un__opt_value *v, uint32_t axis) {
  if (v->kind != UN__OPT_LOAD || v->scope < 0 || !(v->moves & BIT(axis))) return 0;
  const un__opt_scope *nest = &k->scope[k->axis[axis].scope], *reduce = &k->scope[v->scope];
  if (!reduce->reduce || !(reduce->outer & BIT(axis)) || reduce->outer & ~nest->axes) return 0;
  uint32_t again = reuse_place(k, nest, axis, v->moves);
  if (again == nest->n) return 0;
  uint64_t panel = 0;
  for (uint64_t m = v->moves; m; m &= m - 1) {
    uint32_t a = (uint32_t)__builtin_ctzll(m);
    const un__opt_axis *x = &k->axis[a];
    bool inside = reduce->axes & BIT(a) || expands(x->type);
    if (inside && (!x->known || (x->reduce && x->type != UN__AXIS_REDUCE))) return 0;
    if (inside)
      panel |= BIT(a);
    else if (place_of(nest, a) > again)
      return 0;
  }
  return panel & reduce->axes ? panel : 0;
}

const char *un__opt_pack_of(const un__opt_kernel *k, uint32_t axis, const un__target *t, un__opt_pack *out) {
  if (k->axis[axis].reduce) return "operands are staged for an output range";
  const char *why = "nothing that is read again inside it can be staged";
  for (uint32_t i = 0; i < k->nvalues; i++) {
    uint64_t panel = panel_of(k, &k->value[i], axis), size = un__opt_trips(k, panel);
    if (!panel || !un__opt_pack_plain(k, k->value[i].node)) continue;
    why = "what would be staged does not fit into a quarter of L2";
    if (un__opt_sat_mul(size, un__dt_info(k->value[i].node->dtype)->size) > t->l2_bytes / 4) continue;
    *out = (un__opt_pack){k->value[i].node, panel, (int64_t)size};
    return NULL;
  }
  return why;
}

/* ---- staging ---- */

typedef struct panel {
  uint32_t n;
  const un_uop *from[UN__OPT_MAX_AXES], *to[UN__OPT_MAX_AXES]; /* the panel's ranges, and those of the copying loops */
} panel;

/* Ranges of the reduction first, then the expanded ones by id: the lane stays the newest, and its elements adjacent. */
static void make_ranges(un__graph *g, const un__opt_kernel *k, const un__opt_pack *p, panel *out) {
  out->n = 0;
  for (int expanded = 0; expanded < 2; expanded++)
    for (uint64_t m = p->panel; m; m &= m - 1) {
      const un__opt_axis *a = &k->axis[__builtin_ctzll(m)];
      if (expands(a->type) != (expanded == 1)) continue;
      out->from[out->n] = a->range;
      un__axis type = expanded ? UN__AXIS_UPCAST : UN__AXIS_LOOP;
      out->to[out->n] = un__range(g, a->range->src[0], type, k->next_id + out->n);
      out->n++;
    }
}

/* The place of an element in the panel: row-major over its ranges. */
static const un_uop *place_in_panel(un__graph *g, const un_uop *const *range, uint32_t n) {
  const un_uop *at = range[0];
  for (uint32_t i = 1; i < n; i++) {
    at = un__binary(g, UN__OP_MUL, at, range[i] ? range[i]->src[0] : NULL);
    at = un__binary(g, UN__OP_ADD, at, range[i]);
  }
  return at;
}

static const un_uop *element(un__graph *g, const un_uop *memory, const un_uop *at) {
  return un__uop(g, UN__OP_INDEX, memory ? memory->dtype : 0, (const un_uop *[]){memory, at}, 2, NULL, 0);
}

static int64_t scratch_count(const un__opt_kernel *k) {
  int64_t n = 0;
  for (size_t i = 0; i < k->nodes.n; i++) n += un__is(k->nodes.at[i], UN__OP_DEFINE_LOCAL);
  return n;
}

const un_uop *un__opt_pack_apply(un__graph *g, const un_uop *kernel, const un__opt_kernel *k, const un__opt_pack *p) {
  panel x;
  make_ranges(g, k, p, &x);
  int64_t id = scratch_count(k);
  const un_uop *size = un__idx(g, p->size);
  un__dtype ptr = un__dt_ptr(un__dt_scalar(p->load->dtype), UN__SPACE_LOCAL);
  const un_uop *scratch = un__uop(g, UN__OP_DEFINE_LOCAL, ptr, &size, 1, &id, 1);
  const un_uop *value = un__substitute(g, p->load, x.from, x.to, x.n);
  const un_uop *end[1 + UN__OPT_MAX_AXES];
  end[0] = un__binary(g, UN__OP_STORE, element(g, scratch, place_in_panel(g, x.to, x.n)), value);
  for (uint32_t i = 0; i < x.n; i++) end[i + 1] = x.to[i];
  const un_uop *filled = un__uop(g, UN__OP_END, 0, end, x.n + 1, NULL, 0);
  filled = un__binary(g, UN__OP_AFTER, scratch, filled);
  const un_uop *from = element(g, filled, place_in_panel(g, x.from, x.n));
  const un_uop *load = un__uop(g, UN__OP_LOAD, p->load->dtype, &from, 1, NULL, 0);
  return load ? un__substitute(g, kernel, &p->load, &load, 1) : NULL;
}
