/* eval.c - values, constants and folding; the evaluators are in eval_ops.c, float formats in eval_float.c. */
#include "eval.h"

#include <math.h>
#include <string.h>

/* Bits of an integer of that dtype; index counts as 64. */
static int width(un__dtype dt) { return un__dt_info(dt)->mantissa; }

static int64_t wrap(un__dtype dt, int64_t v) {
  if (un__dt_is_bool(dt)) return v != 0;
  int drop = 64 - width(dt);
  if (drop <= 0 || drop == 64) return v;
  uint64_t up = (uint64_t)v << drop;
  return un__dt_class(dt) == UN__CLASS_UINT ? (int64_t)(up >> drop) : (int64_t)up >> drop;
}

un__value un__value_i(un__dtype dt, int64_t v) {
  un__value r = {.dtype = UN__DT(un__dt_scalar(dt))};
  if (un__dt_is_float(dt)) r.f = un__round_integer(un__dt_scalar(dt), v, false);
  else r.i = wrap(dt, v);
  return r;
}

un__value un__value_f(un__dtype dt, double v) {
  double r = un__round_float(un__dt_scalar(dt), v);
  return (un__value){.dtype = UN__DT(un__dt_scalar(dt)), .f = isnan(r) ? fabs((double)NAN) : r};
}

uint64_t un__value_bits(un__value v) {
  if (un__dt_is_float(v.dtype)) return un__float_bits(un__dt_scalar(v.dtype), v.f);
  int bits = un__dt_is_bool(v.dtype) ? 1 : width(v.dtype);
  return bits < 64 ? (uint64_t)v.i & (((uint64_t)1 << bits) - 1) : (uint64_t)v.i;
}

un__value un__value_from_bits(un__dtype dt, uint64_t bits) {
  un__value r = {.dtype = UN__DT(un__dt_scalar(dt))};
  if (un__dt_is_float(dt)) r.f = un__float_from_bits(un__dt_scalar(dt), bits);
  else r.i = wrap(dt, (int64_t)bits);
  return r;
}

/* Storage has the byte order of the machine. */
un__value un__value_load(un__dtype dt, const void *p) {
  union { uint8_t b1; uint16_t b2; uint32_t b4; uint64_t b8; } u = {.b8 = 0};
  uint8_t size = un__dt_info(dt)->size;
  memcpy(&u, p, size);
  return un__value_from_bits(dt, size == 1 ? u.b1 : size == 2 ? u.b2 : size == 4 ? u.b4 : u.b8);
}

void un__value_store(un__value v, void *p) {
  uint64_t bits = un__value_bits(v);
  uint8_t size = un__dt_info(v.dtype)->size;
  union { uint8_t b1; uint16_t b2; uint32_t b4; uint64_t b8; } u = {.b8 = bits};
  if (size == 1) u.b1 = (uint8_t)bits;
  else if (size == 2) u.b2 = (uint16_t)bits;
  else if (size == 4) u.b4 = (uint32_t)bits;
  memcpy(p, &u, size);
}

bool un__eval(un__op op, un__dtype dt, const un__value *args, un__value *out) {
  const un__op_info *info = &un__op_table[op];
  return info->eval && info->eval(UN__DT(un__dt_scalar(dt)), args, out);
}

/* ---- neutral elements ---- */

static un__value smallest(un__dtype dt) {
  un_dtype s = un__dt_scalar(dt);
  if (un__dt_is_float(dt)) return un__value_f(dt, un__float_has_inf(s) ? -(double)INFINITY : -un__float_max(s));
  if (un__dt_class(dt) == UN__CLASS_UINT || un__dt_is_bool(dt)) return un__value_i(dt, 0);
  return un__value_i(dt, (int64_t)((uint64_t)1 << (width(dt) - 1)));
}

static un__value largest(un__dtype dt) {
  un_dtype s = un__dt_scalar(dt);
  if (un__dt_is_float(dt)) return un__value_f(dt, un__float_has_inf(s) ? (double)INFINITY : un__float_max(s));
  if (un__dt_class(dt) == UN__CLASS_UINT || un__dt_is_bool(dt)) return un__value_i(dt, -1);
  return un__value_i(dt, (int64_t)(((uint64_t)1 << (width(dt) - 1)) - 1));
}

bool un__identity(un__op op, un__dtype dt, un__value *out) {
  bool is_float = un__dt_is_float(dt), is_bool = un__dt_is_bool(dt);
  if (un__dt_class(dt) == UN__CLASS_VOID) return false;
  switch (op) {
    case UN__OP_ADD: *out = un__value_i(dt, 0); return !is_bool;
    case UN__OP_MUL: *out = un__value_i(dt, 1); return !is_bool;
    case UN__OP_MAX: *out = smallest(dt); return true;
    case UN__OP_MIN: *out = largest(dt); return true;
    case UN__OP_AND: *out = un__value_i(dt, -1); return !is_float;
    case UN__OP_OR:
    case UN__OP_XOR: *out = un__value_i(dt, 0); return !is_float;
    default: return false;
  }
}

/* ---- folding ---- */

enum { MAX_OPERANDS = 3 };

const un_uop *un__fold_op(un__graph *g, un__op op, un__dtype dt, const un_uop *const *args, uint32_t nargs) {
  un__value v[MAX_OPERANDS], r;
  if (nargs > MAX_OPERANDS || !un__op_table[op].eval) return NULL;
  for (uint32_t i = 0; i < nargs; i++) {
    if (!un__is_const(args[i])) return NULL;
    v[i] = un__value_from_bits(args[i]->dtype, (uint64_t)un__attr(args[i], 0));
  }
  if (!un__eval(op, dt, v, &r)) return NULL;
  return un__const_bits(g, dt, un__value_bits(r));
}

const un_uop *un__fold(un__graph *g, const un_uop *n) {
  return un__fold_op(g, (un__op)n->op, n->dtype, n->src, n->nsrc);
}
