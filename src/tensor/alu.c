/* alu.c - elementwise calls that are one op, or two: dtype rules, promotion, broadcasting. */
#include "tensor.h"

#include <math.h>

/* What a call does to operands that its op does not take: the letters of ops.def that it takes as they are; anything
 * else becomes `convert`, or is refused when that is UN_VOID, with a hint. */
typedef struct operand_rule {
  const char *take;
  un_dtype convert;
  const char *hint;
} operand_rule;

static const operand_rule
  to_float = {"f", UN_F32, ""},
  numbers = {"iuf", UN_I32, ""},
  integers = {"iu", UN_VOID, "integers; for floats use floor(div(a, b))"},
  bits = {"biu", UN_VOID, "bool or integers"},
  shifts = {"iu", UN_VOID, "integers"},
  signs = {"iuf", UN_VOID, "numbers; for bool use not"},
  anything = {"biuf", UN_VOID, ""};

static char letter(un_dtype d) {
  static const char of[] = {[UN__CLASS_VOID] = 'v', [UN__CLASS_BOOL] = 'b',  [UN__CLASS_INT] = 'i',
                            [UN__CLASS_UINT] = 'u', [UN__CLASS_FLOAT] = 'f', [UN__CLASS_INDEX] = 'x'};
  return of[un__dt_class(UN__DT(d))];
}

/* The dtype in which an operand of dtype `d` is used; UN_VOID after an error. */
static un_dtype ruled(un__graph *g, const char *what, const operand_rule *rule, un_dtype d) {
  for (const char *c = rule->take; *c; c++)
    if (*c == letter(d)) return d;
  if (rule->convert == UN_VOID)
    un__tensor_fail(g, UN_ERR_DTYPE, "%s: expected %s, got %s", what, rule->hint, un_dtype_name(d));
  return rule->convert;
}

const un_uop *un__tensor_cast(un__graph *g, const un_uop *x, un_dtype dtype) {
  if (!x || !un__tensor_check_dtype(g, "cast", dtype)) return NULL;
  return un__cast(g, UN__DT(dtype), x);
}

const un_uop *un__tensor_bitcast(un__graph *g, const un_uop *x, un_dtype dtype) {
  if (!x || !un__tensor_check_dtype(g, "bitcast", dtype)) return NULL;
  un_dtype from = un__tensor_dtype(x);
  if (from == dtype) return x;
  if (dtype == UN_BOOL || un_dtype_size(from) != un_dtype_size(dtype))
    return un__tensor_fail(g, UN_ERR_DTYPE, "bitcast: expected a dtype of %zu bytes that is not bool, got %s (from %s)",
                           un_dtype_size(from), un_dtype_name(dtype), un_dtype_name(from));
  if (from == UN_BOOL) return un__cast(g, UN__DT(dtype), x);     /* its byte is 0 or 1 */
  return un__uop(g, UN__OP_BITCAST, UN__DT(dtype), &x, 1, NULL, 0);
}

const un_uop *un__tensor_as_float(un__graph *g, const un_uop *x) {
  if (!x) return NULL;
  return un__dt_is_float(x->dtype) ? x : un__cast(g, UN__DT(UN_F32), x);
}

un_dtype un__tensor_accumulator(un_dtype dtype) {
  switch (dtype) {
    case UN_BOOL: case UN_I8: case UN_I16: return UN_I32;
    case UN_U8: case UN_U16: return UN_U32;
    case UN_F16: case UN_BF16: return UN_F32;
    default: return dtype;
  }
}

/* ---- one operand ---- */

static const un_uop *map(un__graph *g, const char *what, un__op op, const operand_rule *rule, const un_uop *x) {
  if (!x) return NULL;
  un_dtype d = ruled(g, what, rule, un__tensor_dtype(x));
  return d == UN_VOID ? NULL : un__unary(g, op, un__cast(g, UN__DT(d), x));
}

#define MAP(name, op, rule) \
  const un_uop *un__tensor_##name(un__graph *g, const un_uop *x) { return map(g, #name, UN__OP_##op, &rule, x); }
MAP(neg, NEG, signs)
MAP(not, NOT, bits)
MAP(recip, RECIP, to_float)
MAP(sqrt, SQRT, to_float)
MAP(exp, EXP, to_float)
MAP(exp2, EXP2, to_float)
MAP(log, LOG, to_float)
MAP(log2, LOG2, to_float)
MAP(sin, SIN, to_float)
MAP(cos, COS, to_float)

/* Integers are whole already. */
#define MAP_FLOATS(name, op)                                                                      \
  const un_uop *un__tensor_##name(un__graph *g, const un_uop *x) {                                \
    return x && un__dt_is_float(x->dtype) ? un__unary(g, UN__OP_##op, x) : x;                     \
  }
MAP_FLOATS(trunc, TRUNC)
MAP_FLOATS(floor, FLOOR)

#define WRAP(name, op) \
  const un_uop *un__tensor_##name(un__graph *g, const un_uop *x) { return un__unary(g, UN__OP_##op, x); }
WRAP(contiguous, CONTIGUOUS)
WRAP(detach, DETACH)

/* ---- two operands ---- */

typedef struct pair { const un_uop *a, *b; } pair;

static bool spread_pair(un__graph *g, const char *what, pair *p) {
  un_dims a, b, to;
  if (!un__tensor_dims(g, p->a, &a) || !un__tensor_dims(g, p->b, &b)) return false;
  if (!un__tensor_broadcast_dims(g, what, &a, &b, &to)) return false;
  p->a = un__tensor_broadcast(g, what, p->a, &to);
  p->b = un__tensor_broadcast(g, what, p->b, &to);
  return p->a && p->b;
}

/* Brings both to one dtype and shape. Casts come first: they run on the smaller operand. */
static bool unify(un__graph *g, const char *what, const operand_rule *rule, pair *p) {
  if (!p->a || !p->b) return false;
  un_dtype d = un__dt_promote(un__tensor_dtype(p->a), un__tensor_dtype(p->b));
  if (d == UN_VOID)
    return un__tensor_fail(g, UN_ERR_DTYPE, "%s: no common dtype of %s and %s", what,
                           un_dtype_name(un__tensor_dtype(p->a)), un_dtype_name(un__tensor_dtype(p->b))) != NULL;
  if ((d = ruled(g, what, rule, d)) == UN_VOID) return false;
  p->a = un__cast(g, UN__DT(d), p->a);
  p->b = un__cast(g, UN__DT(d), p->b);
  return p->a && p->b && spread_pair(g, what, p);
}

static const un_uop *zip(un__graph *g, const char *what, un__op op, const operand_rule *rule, pair p) {
  return unify(g, what, rule, &p) ? un__binary(g, op, p.a, p.b) : NULL;
}

#define ZIP(name, op, rule)                                                                \
  const un_uop *un__tensor_##name(un__graph *g, const un_uop *a, const un_uop *b) {        \
    return zip(g, #name, UN__OP_##op, &rule, (pair){a, b});                                \
  }
ZIP(add, ADD, numbers)
ZIP(sub, SUB, numbers)
ZIP(mul, MUL, numbers)
ZIP(div, FDIV, to_float)
ZIP(floordiv, FLOORDIV, integers)
ZIP(floormod, FLOORMOD, integers)
ZIP(truncdiv, TRUNCDIV, integers)
ZIP(truncmod, TRUNCMOD, integers)
ZIP(maximum, MAX, anything)
ZIP(minimum, MIN, anything)
ZIP(and, AND, bits)
ZIP(or, OR, bits)
ZIP(xor, XOR, bits)
ZIP(lt, LT, anything)
ZIP(eq, EQ, anything)
ZIP(ne, NE, anything)

const un_uop *un__tensor_gt(un__graph *g, const un_uop *a, const un_uop *b) {
  pair p = {a, b};
  return unify(g, "gt", &anything, &p) ? un__binary(g, UN__OP_LT, p.b, p.a) : NULL;
}

/* a <= b is !(b < a) where there is no NaN, else a < b or a == b. */
static const un_uop *at_most(un__graph *g, pair p) {
  if (!un__dt_is_float(p.a->dtype)) return un__unary(g, UN__OP_NOT, un__binary(g, UN__OP_LT, p.b, p.a));
  return un__binary(g, UN__OP_OR, un__binary(g, UN__OP_LT, p.a, p.b), un__binary(g, UN__OP_EQ, p.a, p.b));
}

const un_uop *un__tensor_le(un__graph *g, const un_uop *a, const un_uop *b) {
  pair p = {a, b};
  return unify(g, "le", &anything, &p) ? at_most(g, p) : NULL;
}
const un_uop *un__tensor_ge(un__graph *g, const un_uop *a, const un_uop *b) {
  pair p = {a, b};
  return unify(g, "ge", &anything, &p) ? at_most(g, (pair){p.b, p.a}) : NULL;
}

/* ---- powers ---- */

static const un_uop *product(un__graph *g, const un_uop *a, const un_uop *b) {
  return a ? un__binary(g, UN__OP_MUL, a, b) : b;
}

/* a^e modulo 2^bits by squaring, for e >= 0. An exponent that is known takes its own products only. */
static const un_uop *int_power(un__graph *g, const un_uop *a, const un_uop *e) {
  const un_uop *one = un__tensor_like(g, a, 1), *zero = un__tensor_like(g, a, 0), *r = NULL;
  bool known = e->vmin == e->vmax && !un__is_inf(e->vmax);
  int top = e->vmax == UN__POS_INF && un__tensor_dtype(e) == UN_U64 ? 64 : 0;
  while (top < 63 && e->vmax >> top > 0) top++;
  for (int k = 0; k < top; k++) {
    if (k) a = un__binary(g, UN__OP_MUL, a, a);
    if (known) {
      if (e->vmax >> k & 1) r = product(g, r, a);
      continue;
    }
    const un_uop *bit = un__binary(g, UN__OP_AND, e, un__tensor_like(g, e, ldexp(1, k)));
    r = un__ternary(g, UN__OP_WHERE, un__binary(g, UN__OP_NE, bit, zero), product(g, r, a), r ? r : one);
  }
  return r ? r : one;
}

/* 1 / a^|e| towards zero, for e < 0, with 1 / 0 = 0: of 1 and -1 only is it not 0. */
static const un_uop *int_inverse_power(un__graph *g, const un_uop *a, const un_uop *e) {
  const un_uop *zero = un__tensor_like(g, a, 0), *one = un__tensor_like(g, a, 1), *minus = un__tensor_like(g, a, -1);
  const un_uop *odd = un__binary(g, UN__OP_NE, un__binary(g, UN__OP_AND, e, one), zero);
  const un_uop *of_minus = un__ternary(g, UN__OP_WHERE, odd, minus, one);
  const un_uop *other = un__ternary(g, UN__OP_WHERE, un__binary(g, UN__OP_EQ, a, minus), of_minus, zero);
  return un__ternary(g, UN__OP_WHERE, un__binary(g, UN__OP_EQ, a, one), one, other);
}

const un_uop *un__tensor_pow(un__graph *g, const un_uop *a, const un_uop *b) {
  pair p = {a, b};
  if (!unify(g, "pow", &numbers, &p)) return NULL;
  if (un__dt_is_float(p.a->dtype)) return un__binary(g, UN__OP_POW, p.a, p.b);
  if (p.b->vmax < 0) return int_inverse_power(g, p.a, p.b);
  const un_uop *power = int_power(g, p.a, p.b);
  if (p.b->vmin >= 0) return power;
  const un_uop *below = un__binary(g, UN__OP_LT, p.b, un__tensor_like(g, p.b, 0));
  return un__ternary(g, UN__OP_WHERE, below, int_inverse_power(g, p.a, p.b), power);
}

/* The count takes the dtype of a: a conversion that wraps would make a large count a small one, so clip it first. */
static const un_uop *shift(un__graph *g, const char *what, un__op op, pair p) {
  if (!p.a || !p.b) return NULL;
  un_dtype d = ruled(g, what, &shifts, un__tensor_dtype(p.a)), c = ruled(g, what, &shifts, un__tensor_dtype(p.b));
  if (d == UN_VOID || c == UN_VOID) return NULL;
  if (d != c) {
    const un_uop *width = un__tensor_like(g, p.b, 64);
    const un_uop *inside = un__binary(g, UN__OP_LT, p.b, width);
    if (un__dt_class(UN__DT(c)) == UN__CLASS_INT)
      inside = un__binary(g, UN__OP_AND, inside,
                          un__unary(g, UN__OP_NOT, un__binary(g, UN__OP_LT, p.b, un__tensor_like(g, p.b, 0))));
    p.b = un__cast(g, UN__DT(d), un__ternary(g, UN__OP_WHERE, inside, p.b, width));
  }
  return spread_pair(g, what, &p) ? un__binary(g, op, p.a, p.b) : NULL;
}

const un_uop *un__tensor_shl(un__graph *g, const un_uop *a, const un_uop *b) {
  return shift(g, "shl", UN__OP_SHL, (pair){a, b});
}
const un_uop *un__tensor_shr(un__graph *g, const un_uop *a, const un_uop *b) {
  return shift(g, "shr", UN__OP_SHR, (pair){a, b});
}

/* ---- three ---- */

const un_uop *un__tensor_where(un__graph *g, const un_uop *cond, const un_uop *a, const un_uop *b) {
  pair p = {a, b};
  if (!cond || !unify(g, "where", &anything, &p)) return NULL;
  un_dims c, v, to;
  if (!un__tensor_dims(g, cond, &c) || !un__tensor_dims(g, p.a, &v) ||
      !un__tensor_broadcast_dims(g, "where", &c, &v, &to))
    return NULL;
  cond = un__tensor_broadcast(g, "where", un__cast(g, UN__DT(UN_BOOL), cond), &to);
  return un__ternary(g, UN__OP_WHERE, cond, un__tensor_broadcast(g, "where", p.a, &to),
                     un__tensor_broadcast(g, "where", p.b, &to));
}

const un_uop *un__tensor_assigned(un__graph *g, const char *what, const un_uop *dst, const un_uop *value) {
  un_dims to;
  if (!value || !un__tensor_dims(g, dst, &to)) return NULL;
  un_dtype d = un__tensor_dtype(dst), v = un__tensor_dtype(value);
  if (un__dt_promote(d, v) != d)
    return un__tensor_fail(g, UN_ERR_DTYPE, "%s: %s does not hold every %s; cast the value first", what, un_dtype_name(d),
                           un_dtype_name(v));
  return un__tensor_broadcast(g, what, un__cast(g, UN__DT(d), value), &to);
}
