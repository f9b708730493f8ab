#include "look.h"

#include <math.h>

bool un__values_agree(un__value a, un__value b, double bound) {
  if (isinf(bound)) return true;
  if (!un__dt_is_float(a.dtype)) return a.i == b.i || fabs((double)a.i - (double)b.i) <= bound;
  if (isnan(a.f) || isnan(b.f)) return isnan(a.f) && isnan(b.f);
  return a.f == b.f || fabs(a.f - b.f) <= bound;
}

bool un__ilook_goes_on(un__ilook *l) { return l->left && l->left--; }

/* ---- bounds ---- */

static double bound_of_sum(un__ilook *l, const un__istep *s, uint32_t slot, un__value term, double err, un__value result) {
  un__iterms *t = &l->terms[slot];
  un__iterms_add(t, term, err);
  if (s->apply == UN__OP_ADD && un__iterms_exact(s->dtype, t)) return 0;
  return un__ibound_reduce((un__op)s->apply, s->dtype, t, result);
}

/* What rounds nothing gives the same in any order. */
static bool rounds(const un__istep *s) {
  switch ((un__op)s->apply) {
  case UN__OP_MAX:
  case UN__OP_MIN:
  case UN__OP_WHERE:
  case UN__OP_NEG:
    return false;
  default:
    return un__dt_is_float(s->dtype);
  }
}

void un__ilook_alu(un__ilook *l, const un__istep *s, uint32_t lane, const uint32_t *from, const un__value *args, un__value result) {
  double err[3] = {0}, *out = &l->bound[s->dst + lane];
  for (uint32_t i = 0; i < s->nsrc; i++) err[i] = l->bound[from[i]];
  if (s->op == UN__OP_REDUCE) *out = bound_of_sum(l, s, s->dst + lane, args[1], err[1], result);
  else if (s->in_body && rounds(s)) *out = (double)INFINITY;
  else *out = un__ibound_element((un__op)s->apply, s->dtype, s->nsrc, args, err, result);
}

/* An accumulator that is set begins anew. */
void un__ilook_copy(un__ilook *l, const un__istep *s, uint32_t lane, uint32_t from) {
  l->bound[s->dst + lane] = l->bound[from];
  if (s->op == UN__OP_REDUCE) l->terms[s->dst + lane] = (un__iterms){0};
}

bool un__ilook_is_certain(const un__ilook *l, uint32_t slot) { return l->bound[slot] == 0; }
void un__ilook_set(un__ilook *l, uint32_t slot, bool certain) { l->bound[slot] = certain ? 0 : (double)INFINITY; }

bool un__ilook_store(un__ilook *l, uint32_t arg, int64_t at, un__value v, uint32_t from, bool certain) {
  return un__vec_push(l->out, ((un__isample){arg, at, v, certain ? l->bound[from] : (double)INFINITY}));
}

int64_t un__ilook_round(const un__ilook *l, uint32_t node, int64_t size) {
  if (l->number < 2) return l->number ? size - 1 : 0;
  uint64_t h = ((uint64_t)l->number << 32 | node) * UINT64_C(0x9e3779b97f4a7c15);
  return (int64_t)((h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 1) % size;
}

/* ---- samples ---- */

static bool is_plain(const un__iprog *p) {
  for (size_t i = 0; i < p->mem.n; i++)
    if (p->mem.at[i].space != UN__SPACE_GLOBAL) return false;
  return p->threads == 1 && !p->var_slot.n;
}

static un_status look_at(const un__iprog *p, void *const *args, const int64_t *sizes, uint32_t nargs, uint32_t count, un__ilook *l,
                         un__err *err) {
  if (!is_plain(p)) return un__fail(err, UN_ERR_UNSUPPORTED, "interp: a kernel with scratch memory or variables has no samples");
  l->bound = un__calloc(p->slot.n ? p->slot.n : 1, sizeof *l->bound);
  l->terms = un__calloc(p->slot.n ? p->slot.n : 1, sizeof *l->terms);
  un_status st = l->bound && l->terms ? UN_OK : un__fail(err, UN_ERR_NOMEM, "interp: no memory to look at a kernel");
  for (; st == UN_OK && l->number < count; l->number++) st = un__iprog_look(p, args, sizes, nargs, l, err);
  un__free(l->bound);
  un__free(l->terms);
  return st;
}

un_status un__interp_samples(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs, uint32_t count, uint64_t steps,
                             un__isamples *out, un__err *err) {
  un__iprog *p;
  un__ilook l = {.left = steps, .out = out};
  UN__TRY(un__iprog_create(kernel, &p, err));
  un_status st = look_at(p, args, sizes, nargs, count, &l, err);
  un__iprog_destroy(p);
  return st;
}
