#include "work.h"

#include "kernel.h"

/* The argument that an access reaches; NULL: none (scratch). */
static const un_uop *argument_of(const un__opt_value *v) {
  const un_uop *address = v->node->src[0], *to = un__is(address, UN__OP_INDEX) ? address->src[0] : address;
  return un__is(to, UN__OP_PARAM) ? to : NULL;
}

static uint64_t elements_of(const un_uop *param) {
  int64_t n = un__known_size(param->src[0]);
  return n < 0 ? UINT64_MAX : (uint64_t)n;
}

/* Bytes of one argument that accesses of a kind reach: at most all of it, at most as many as there are accesses. */
static uint64_t bytes_of(const un__opt_kernel *k, const un_uop *param, un__opt_kind kind) {
  uint64_t accesses = 0, all = elements_of(param);
  for (uint32_t i = 0; i < k->nvalues; i++)
    if (k->value[i].kind == kind && argument_of(&k->value[i]) == param)
      accesses = un__opt_sat_add(accesses, un__opt_trips(k, k->value[i].moves));
  return un__opt_sat_mul(accesses < all ? accesses : all, un__dt_info(UN__DT(un__dt_scalar(param->dtype)))->size);
}

/* Conversions ride along with what they convert for. */
static bool computes(const un__opt_value *v) {
  bool converts = un__is(v->node, UN__OP_CAST) || un__is(v->node, UN__OP_BITCAST);
  return v->kind == UN__OPT_COMBINE || (v->kind == UN__OPT_ALU && !converts && !un__is(v->node, UN__OP_CONST));
}

un_status un__opt_work_of(const un_uop *kernel, const un__target *t, un__opt_work *out, un__err *err) {
  un__opt_kernel k;
  UN__TRY(un__opt_kernel_of(&k, kernel, t, err));
  *out = (un__opt_work){.width = k.width};
  for (size_t i = 0; i < k.nodes.n; i++) {
    if (!un__is(k.nodes.at[i], UN__OP_PARAM)) continue;
    out->read = un__opt_sat_add(out->read, bytes_of(&k, k.nodes.at[i], UN__OPT_LOAD));
    out->written = un__opt_sat_add(out->written, bytes_of(&k, k.nodes.at[i], UN__OPT_STORE));
  }
  for (uint32_t i = 0; i < k.nvalues; i++)
    if (computes(&k.value[i]))
      out->operations = un__opt_sat_add(out->operations, un__opt_sat_mul(k.value[i].cost, un__opt_trips(&k, k.value[i].live)));
  un__opt_kernel_finish(&k);
  return UN_OK;
}
