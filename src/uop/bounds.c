/* bounds.c - saturating bounds of bool, integer and index values, computed when a node is interned.
 *
 * INT64_MIN and INT64_MAX stand for infinities and for "not known". Fixed-width integers wrap, so a result that may
 * leave the dtype's range has the whole range as bounds. Bounds are of the value in its dtype: u64 saturates at
 * INT64_MAX, which then means "or more". */
#include "store.h"

#include "base/intmath.h"

typedef struct bounds { int64_t lo, hi; } bounds;
typedef __int128 wide;

static bounds dtype_bounds(un__dtype d) {
  const un__dtype_info *info = un__dt_info(d);
  switch (info->cls) {
  case UN__CLASS_BOOL: return (bounds){0, 1};
  case UN__CLASS_INT:
    if (info->mantissa == 64) return (bounds){INT64_MIN, INT64_MAX};
    return (bounds){-(INT64_C(1) << (info->mantissa - 1)), (INT64_C(1) << (info->mantissa - 1)) - 1};
  case UN__CLASS_UINT:
    if (info->mantissa == 64) return (bounds){0, INT64_MAX};
    return (bounds){0, (INT64_C(1) << info->mantissa) - 1};
  default: return (bounds){UN__NEG_INF, UN__POS_INF};
  }
}

static int64_t saturate(wide v) { return v <= UN__NEG_INF ? UN__NEG_INF : v >= UN__POS_INF ? UN__POS_INF : (int64_t)v; }

/* The exact interval [lo, hi], cut to what the dtype can hold: unchanged when it fits, everything when it may wrap. */
static bounds fit(un__dtype d, wide lo, wide hi) {
  bounds all = dtype_bounds(d);
  if (un__dt_is_index(d)) return (bounds){saturate(lo), saturate(hi)};
  bool u64 = un__dt_scalar(d) == UN_U64, i64 = un__dt_scalar(d) == UN_I64;
  wide max = u64 ? (wide)UINT64_MAX : (wide)all.hi;
  if (lo < all.lo || hi > max) return all;
  if ((i64 || u64) && (lo == UN__NEG_INF || hi >= UN__POS_INF)) return all;   /* an operand was not known */
  return (bounds){saturate(lo), saturate(hi)};
}

/* a + b where an infinity on either side gives that infinity. */
static wide add_inf(int64_t a, int64_t b) {
  if (a == UN__NEG_INF || b == UN__NEG_INF) return UN__NEG_INF;
  if (a == UN__POS_INF || b == UN__POS_INF) return UN__POS_INF;
  return (wide)a + b;
}

static wide mul_inf(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  if (un__is_inf(a) || un__is_inf(b)) return (a < 0) == (b < 0) ? UN__POS_INF : UN__NEG_INF;
  return (wide)a * b;
}

/* The limits of an operand that may be a saturated u64 are not numbers: arithmetic on them gives no bounds. */
static bool unknown(const un_uop *n) { return un__is_inf(n->vmin) || un__is_inf(n->vmax); }

static wide wide_div(wide a, wide b, bool truncating) {
  wide q = a / b;
  return q - (!truncating && a % b != 0 && (a < 0) != (b < 0));
}

static int64_t neg_inf(int64_t v) { return v == UN__NEG_INF ? UN__POS_INF : v == UN__POS_INF ? UN__NEG_INF : -v; }

static bounds bound_add(const un_uop *n, const un_uop *a, const un_uop *b) {
  if (!un__dt_is_index(n->dtype) && (unknown(a) || unknown(b))) return dtype_bounds(n->dtype);
  return fit(n->dtype, add_inf(a->vmin, b->vmin), add_inf(a->vmax, b->vmax));
}

static bounds bound_sub(const un_uop *n, const un_uop *a, const un_uop *b) {
  if (!un__dt_is_index(n->dtype) && (unknown(a) || unknown(b))) return dtype_bounds(n->dtype);
  return fit(n->dtype, add_inf(a->vmin, neg_inf(b->vmax)), add_inf(a->vmax, neg_inf(b->vmin)));
}

static bounds bound_neg(const un_uop *n, const un_uop *a) {
  if (!un__dt_is_index(n->dtype) && unknown(a)) return dtype_bounds(n->dtype);
  return fit(n->dtype, neg_inf(a->vmax), neg_inf(a->vmin));
}

static bounds bound_mul(const un_uop *n, const un_uop *a, const un_uop *b) {
  if (!un__dt_is_index(n->dtype) && (unknown(a) || unknown(b))) return dtype_bounds(n->dtype);
  wide p[4] = {mul_inf(a->vmin, b->vmin), mul_inf(a->vmin, b->vmax), mul_inf(a->vmax, b->vmin), mul_inf(a->vmax, b->vmax)};
  wide lo = p[0], hi = p[0];
  for (int i = 1; i < 4; i++) {
    if (p[i] < lo) lo = p[i];
    if (p[i] > hi) hi = p[i];
  }
  return fit(n->dtype, lo, hi);
}

/* Division by a divisor of known sign; x / 0 is 0, so 0 joins the result when the divisor may be 0. */
static bounds bound_div(const un_uop *n, const un_uop *a, const un_uop *b, bool truncating) {
  bounds all = dtype_bounds(n->dtype);
  if (b->vmin == b->vmax && b->vmin < 0 && !unknown(a) && !unknown(b)) {
    wide x = wide_div(a->vmin, b->vmin, truncating), y = wide_div(a->vmax, b->vmin, truncating);
    return fit(n->dtype, y, x);
  }
  if (b->vmin < 0 || un__is_inf(b->vmax) || (b->vmin == 0 && b->vmax == 0)) return all;
  int64_t d_lo = b->vmin < 1 ? 1 : b->vmin, d_hi = b->vmax;
  int64_t lo, hi;
  if (a->vmin >= 0) lo = un__is_inf(a->vmin) ? 0 : a->vmin / d_hi;
  else if (a->vmin == UN__NEG_INF) lo = all.lo;
  else lo = truncating ? a->vmin / d_lo : un__floor_div(a->vmin, d_lo);
  if (a->vmax == UN__POS_INF) hi = all.hi;
  else if (a->vmax >= 0) hi = a->vmax / d_lo;
  else hi = truncating ? a->vmax / d_hi : un__floor_div(a->vmax, d_hi);
  if (b->vmin == 0) {
    if (lo > 0) lo = 0;
    if (hi < 0) hi = 0;
  }
  return (bounds){lo, hi};
}

/* Modulus of a positive divisor; x mod 0 is x. */
static bounds bound_mod(const un_uop *n, const un_uop *a, const un_uop *b, bool truncating) {
  bounds all = dtype_bounds(n->dtype);
  if (b->vmin <= 0 || un__is_inf(b->vmax)) return all;
  if (a->vmin >= 0 && a->vmax < b->vmin) return (bounds){a->vmin, a->vmax};
  if (b->vmin == b->vmax && !truncating && !unknown(a)) {
    int64_t q = un__floor_div(a->vmin, b->vmin);      /* the whole range in one bucket */
    wide from = (wide)q * b->vmin;                    /* may lie below every int64_t */
    if (q == un__floor_div(a->vmax, b->vmin)) return (bounds){(int64_t)(a->vmin - from), (int64_t)(a->vmax - from)};
  }
  if (a->vmin >= 0) return (bounds){0, a->vmax < b->vmax - 1 ? a->vmax : b->vmax - 1};
  if (truncating) return (bounds){a->vmin > -(b->vmax - 1) ? a->vmin : -(b->vmax - 1), a->vmax < 0 ? 0 : b->vmax - 1};
  return (bounds){0, b->vmax - 1};
}

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }

static bool bounded_operands(const un_uop *a) { return !un__dt_is_float(a->dtype) && !un__dt_is_ptr(a->dtype); }

static bounds bound_lt(const un_uop *a, const un_uop *b) {
  if (!bounded_operands(a)) return (bounds){0, 1};
  if (a->vmax < b->vmin) return (bounds){1, 1};
  /* Saturated u64 bounds mean "or more": equal extremes decide nothing. */
  if (a->vmin >= b->vmax && !(un__dt_scalar(a->dtype) == UN_U64 && b->vmax == UN__POS_INF) && !un__is_inf(b->vmax)) return (bounds){0, 0};
  return (bounds){0, 1};
}

static bounds bound_eq(const un_uop *a, const un_uop *b, bool negated) {
  if (a == b && bounded_operands(a)) return negated ? (bounds){0, 0} : (bounds){1, 1};
  if (!bounded_operands(a)) return (bounds){0, 1};
  if (a->vmax < b->vmin || b->vmax < a->vmin) return negated ? (bounds){1, 1} : (bounds){0, 0};
  if (a->vmin == a->vmax && b->vmin == b->vmax && a->vmin == b->vmin && !un__is_inf(a->vmin))
    return negated ? (bounds){0, 0} : (bounds){1, 1};
  return (bounds){0, 1};
}

static bounds bound_and(const un_uop *n, const un_uop *a, const un_uop *b) {
  if (un__dt_is_bool(n->dtype)) return (bounds){a->vmin & b->vmin, a->vmax & b->vmax};
  bounds all = dtype_bounds(n->dtype);
  if (a->vmin >= 0 && b->vmin >= 0) return (bounds){0, min64(a->vmax, b->vmax)};
  if (a->vmin >= 0 || b->vmin >= 0) return (bounds){0, a->vmin >= 0 ? a->vmax : b->vmax};
  return all;
}

/* OR and XOR of values below a power of two stay below it. */
static bounds bound_or(const un_uop *n, const un_uop *a, const un_uop *b) {
  if (un__dt_is_bool(n->dtype) && n->op == UN__OP_OR) return (bounds){a->vmin | b->vmin, a->vmax | b->vmax};
  if (a->vmin < 0 || b->vmin < 0 || un__is_inf(a->vmax) || un__is_inf(b->vmax)) return dtype_bounds(n->dtype);
  uint64_t top = (uint64_t)(a->vmax | b->vmax);
  for (unsigned s = 1; s < 64; s <<= 1) top |= top >> s;
  return (bounds){n->op == UN__OP_OR ? max64(a->vmin, b->vmin) : 0, (int64_t)top};
}

static bounds bound_shift(const un_uop *n, const un_uop *a, const un_uop *b) {
  bounds all = dtype_bounds(n->dtype);
  if (b->vmin != b->vmax || b->vmin < 0 || b->vmin > 62 || unknown(a)) return all;
  if (n->op == UN__OP_SHR) return (bounds){a->vmin >> b->vmin, a->vmax >> b->vmin};
  int bits = un__dt_info(n->dtype)->mantissa;
  if (b->vmin >= bits) return (bounds){0, 0};
  wide f = (wide)1 << b->vmin;
  return fit(n->dtype, a->vmin * f, a->vmax * f);
}

static bounds bound_cast(const un_uop *n, const un_uop *a) {
  bounds all = dtype_bounds(n->dtype);
  if (!bounded_operands(a)) return all;
  if (un__dt_is_bool(n->dtype)) {
    if (a->vmin > 0 || a->vmax < 0) return (bounds){1, 1};
    return a->vmin == 0 && a->vmax == 0 ? (bounds){0, 0} : (bounds){0, 1};
  }
  if (un__dt_is_index(n->dtype)) return (bounds){a->vmin, a->vmax};
  if (a->vmin >= all.lo && a->vmax <= all.hi && !unknown(a)) return (bounds){a->vmin, a->vmax};
  return all;
}

static bounds bound_const(const un_uop *n) {
  int64_t v = un__attr(n, 0);
  if (un__dt_scalar(n->dtype) == UN_U64 && v < 0) return (bounds){UN__POS_INF, UN__POS_INF};
  return (bounds){v, v};
}

static bounds join_sources(const un_uop *n, uint32_t from) {
  bounds r = {n->src[from]->vmin, n->src[from]->vmax};
  for (uint32_t i = from + 1; i < n->nsrc; i++) r = (bounds){min64(r.lo, n->src[i]->vmin), max64(r.hi, n->src[i]->vmax)};
  return r;
}

/* Is it certain that something is reduced? HREDUCE has lanes, never none. */
static bool reduces_some(const un_uop *n) {
  const un__shape *s = n->src[0]->shape;
  for (uint32_t i = 0; n->op == UN__OP_REDUCE_AXIS && i < (s ? s->rank : 0); i++)
    if (s->dim[i]->vmin < 1) return false;
  for (uint32_t i = 1; n->op == UN__OP_REDUCE && i < n->nsrc; i++)
    if (!un__is(n->src[i], UN__OP_RANGE) || n->src[i]->src[0]->vmin < 1) return false;
  return true;
}

/* A greatest element is an element; that of none is the identity, the least value there is. */
static bounds bound_reduce(const un_uop *n, const un_uop *a) {
  bounds all = dtype_bounds(n->dtype);
  switch (un__attr(n, 0)) {
  case UN__OP_MAX: return (bounds){reduces_some(n) ? a->vmin : all.lo, a->vmax};
  case UN__OP_MIN: return (bounds){a->vmin, reduces_some(n) ? a->vmax : all.hi};
  default: return all;
  }
}

static bounds infer(const un_uop *n) {
  const un_uop *a = n->nsrc > 0 ? n->src[0] : NULL, *b = n->nsrc > 1 ? n->src[1] : NULL;
  switch (n->op) {
  case UN__OP_CONST: return bound_const(n);
  case UN__OP_VAR: return (bounds){a->vmin, b->vmax};
  case UN__OP_RANGE: case UN__OP_SPECIAL: case UN__OP_IOTA:
    return (bounds){0, a->vmax == UN__POS_INF ? UN__POS_INF : a->vmax > 0 ? a->vmax - 1 : 0};
  case UN__OP_VALID: case UN__OP_AFTER: case UN__OP_CONTIGUOUS: case UN__OP_DETACH: case UN__OP_GEP: case UN__OP_SHUFFLE: case UN__OP_RESHAPE:
  case UN__OP_PERMUTE: case UN__OP_EXPAND: case UN__OP_SHRINK: case UN__OP_FLIP:
    return (bounds){a->vmin, a->vmax};
  case UN__OP_PAD: return (bounds){min64(a->vmin, 0), max64(a->vmax, 0)};
  case UN__OP_STACK: case UN__OP_VECTORIZE: return join_sources(n, 0);
  case UN__OP_WHERE: return join_sources(n, 1);
  case UN__OP_INDEX: return bounded_operands(n) && a->shape ? (bounds){min64(a->vmin, 0), max64(a->vmax, 0)} : dtype_bounds(n->dtype);
  case UN__OP_REDUCE: case UN__OP_REDUCE_AXIS: case UN__OP_HREDUCE:
    return bound_reduce(n, a);
  case UN__OP_NEG: return bound_neg(n, a);
  case UN__OP_NOT: return un__dt_is_bool(n->dtype) ? (bounds){1 - a->vmax, 1 - a->vmin} : dtype_bounds(n->dtype);
  case UN__OP_ADD: return bound_add(n, a, b);
  case UN__OP_SUB: return bound_sub(n, a, b);
  case UN__OP_MUL: return bound_mul(n, a, b);
  case UN__OP_FLOORDIV: return bound_div(n, a, b, false);
  case UN__OP_TRUNCDIV: return bound_div(n, a, b, true);
  case UN__OP_FLOORMOD: return bound_mod(n, a, b, false);
  case UN__OP_TRUNCMOD: return bound_mod(n, a, b, true);
  case UN__OP_MAX: return (bounds){max64(a->vmin, b->vmin), max64(a->vmax, b->vmax)};
  case UN__OP_MIN: return (bounds){min64(a->vmin, b->vmin), min64(a->vmax, b->vmax)};
  case UN__OP_LT: return bound_lt(a, b);
  case UN__OP_EQ: return bound_eq(a, b, false);
  case UN__OP_NE: return bound_eq(a, b, true);
  case UN__OP_AND: return bound_and(n, a, b);
  case UN__OP_OR: case UN__OP_XOR: return bound_or(n, a, b);
  case UN__OP_SHL: case UN__OP_SHR: return bound_shift(n, a, b);
  case UN__OP_CAST: return bound_cast(n, a);
  default: return dtype_bounds(n->dtype);
  }
}

void un__infer_bounds(un_uop *n) {
  if (un__dt_is_ptr(n->dtype) || un__dt_is_float(n->dtype) || un__dt_scalar(n->dtype) == UN_VOID) {
    n->vmin = UN__NEG_INF;
    n->vmax = UN__POS_INF;
    return;
  }
  bounds b = infer(n);
  n->vmin = b.lo;
  n->vmax = b.hi;
}
