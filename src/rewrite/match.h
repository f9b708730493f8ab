/* match.h - what generated matchers are made of: guard arithmetic, constant tests, small builders.
 *
 * Guards are evaluated in 128-bit integers. Anything without an exact answer (overflow, division by zero, arithmetic
 * on an infinite bound) clears *ok, and a rule whose *ok is clear does not fire. Only generated code and the rewrite
 * engine include this file.
 */
#ifndef UN_REWRITE_MATCH_H
#define UN_REWRITE_MATCH_H

#include <math.h>
#include <string.h>

#include "rewrite/rewrite.h"
#include "uop/eval.h"

__extension__ typedef __int128 un__i128;

/* Bounds beyond every 64-bit number; vmin and vmax give them for "unbounded". */
#define UN__M_INF ((un__i128)1 << 126)

/* ---- checked integers ---- */

static inline un__i128 un__m_bad(bool *ok) {
  *ok = false;
  return 0;
}

static inline bool un__m_finite(un__i128 a) { return a > -UN__M_INF && a < UN__M_INF; }

static inline un__i128 un__m_checked(bool *ok, bool overflow, un__i128 a, un__i128 b, un__i128 r) {
  return overflow || !un__m_finite(a) || !un__m_finite(b) || !un__m_finite(r) ? un__m_bad(ok) : r;
}

static inline un__i128 un__m_add(bool *ok, un__i128 a, un__i128 b) {
  un__i128 r;
  bool over = __builtin_add_overflow(a, b, &r);
  return un__m_checked(ok, over, a, b, r);
}
static inline un__i128 un__m_sub(bool *ok, un__i128 a, un__i128 b) {
  un__i128 r;
  bool over = __builtin_sub_overflow(a, b, &r);
  return un__m_checked(ok, over, a, b, r);
}
static inline un__i128 un__m_mul(bool *ok, un__i128 a, un__i128 b) {
  un__i128 r;
  bool over = __builtin_mul_overflow(a, b, &r);
  return un__m_checked(ok, over, a, b, r);
}
static inline un__i128 un__m_neg(bool *ok, un__i128 a) { return un__m_sub(ok, 0, a); }

static inline bool un__m_divisible(bool *ok, un__i128 a, un__i128 b) {
  if (b && un__m_finite(a) && un__m_finite(b)) return true;
  *ok = false;
  return false;
}
static inline un__i128 un__m_tdiv(bool *ok, un__i128 a, un__i128 b) { return un__m_divisible(ok, a, b) ? a / b : 0; }
static inline un__i128 un__m_tmod(bool *ok, un__i128 a, un__i128 b) { return un__m_divisible(ok, a, b) ? a % b : 0; }
static inline un__i128 un__m_fdiv(bool *ok, un__i128 a, un__i128 b) {
  if (!un__m_divisible(ok, a, b)) return 0;
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline un__i128 un__m_fmod(bool *ok, un__i128 a, un__i128 b) {
  if (!un__m_divisible(ok, a, b)) return 0;
  un__i128 m = a % b;
  return m && (m < 0) != (b < 0) ? m + b : m;
}
static inline un__i128 un__m_min(bool *ok, un__i128 a, un__i128 b) { return a < b ? a : b; }
static inline un__i128 un__m_max(bool *ok, un__i128 a, un__i128 b) { return a > b ? a : b; }
static inline un__i128 un__m_abs(bool *ok, un__i128 a) { return a < 0 ? un__m_neg(ok, a) : a; }
static inline un__i128 un__m_gcd(bool *ok, un__i128 a, un__i128 b) {
  if (!un__m_finite(a) || !un__m_finite(b)) return un__m_bad(ok);
  for (a = a < 0 ? -a : a, b = b < 0 ? -b : b; b;) {
    un__i128 t = a % b;
    a = b;
    b = t;
  }
  return a;
}
/* Exponent of a power of two; anything else has none. */
static inline un__i128 un__m_log2(bool *ok, un__i128 a) {
  if (a <= 0 || !un__m_finite(a) || (a & (a - 1))) return un__m_bad(ok);
  int e = 0;
  while (a >> e != 1) e++;
  return e;
}
static inline bool un__m_is_pow2(bool *ok, un__i128 a) { return a > 0 && un__m_finite(a) && !(a & (a - 1)); }
static inline un__i128 un__m_shl(bool *ok, un__i128 a, un__i128 b) {
  if (b < 0 || b > 120) return un__m_bad(ok);
  return un__m_mul(ok, a, (un__i128)1 << b);
}
static inline un__i128 un__m_shr(bool *ok, un__i128 a, un__i128 b) {
  if (b < 0 || b > 120 || !un__m_finite(a)) return un__m_bad(ok);
  return a >> b;
}
static inline un__i128 un__m_and(bool *ok, un__i128 a, un__i128 b) { return un__m_checked(ok, false, a, b, a & b); }
static inline un__i128 un__m_or(bool *ok, un__i128 a, un__i128 b) { return un__m_checked(ok, false, a, b, a | b); }
static inline un__i128 un__m_xor(bool *ok, un__i128 a, un__i128 b) { return un__m_checked(ok, false, a, b, a ^ b); }
static inline un__i128 un__m_not(bool *ok, un__i128 a) { return un__m_checked(ok, false, a, 0, ~a); }

/* An attribute word or an argument of C code. */
static inline int64_t un__m_word(bool *ok, un__i128 a) {
  if (a >= INT64_MIN && a <= INT64_MAX) return (int64_t)a;
  *ok = false;
  return 0;
}

/* ---- reading nodes ---- */

static inline un__i128 un__m_vmin(const un_uop *n) { return n->vmin == UN__NEG_INF ? -UN__M_INF : n->vmin; }
static inline un__i128 un__m_vmax(const un_uop *n) { return n->vmax == UN__POS_INF ? UN__M_INF : n->vmax; }
static inline un__i128 un__m_nsrc(const un_uop *n) { return n->nsrc; }
static inline un__i128 un__m_lanes(un__dtype d) { return un__dt_lanes(d); }
static inline bool un__m_is_invalid(const un_uop *n) { return n->op == UN__OP_INVALID; }
static inline bool un__m_is_sint(un__dtype d) { return un__dt_class(d) == UN__CLASS_INT; }
static inline bool un__m_is_uint(un__dtype d) { return un__dt_class(d) == UN__CLASS_UINT; }
static inline un__i128 un__m_fresh(un__rw *rw) { return un__graph_fresh_range(rw->g); }

/* Width of a scalar in bits; bool has 1, index has none (0). */
static inline un__i128 un__m_bits(un__dtype d) { return un__dt_is_bool(d) ? 1 : 8 * (un__i128)un__dt_info(d)->size; }
static inline un__i128 un__m_dtype_min(un__dtype d) {
  const un__dtype_info *i = un__dt_info(d);
  if (i->cls == UN__CLASS_INT) return -((un__i128)1 << (i->mantissa - 1));
  return i->cls == UN__CLASS_UINT || i->cls == UN__CLASS_BOOL ? 0 : -UN__M_INF;
}
static inline un__i128 un__m_dtype_max(un__dtype d) {
  const un__dtype_info *i = un__dt_info(d);
  if (i->cls == UN__CLASS_INT) return ((un__i128)1 << (i->mantissa - 1)) - 1;
  return i->cls == UN__CLASS_UINT || i->cls == UN__CLASS_BOOL ? ((un__i128)1 << i->mantissa) - 1 : UN__M_INF;
}

/* Value of a constant that is not a float. */
static inline un__i128 un__m_int(bool *ok, const un_uop *c) {
  if (c->op != UN__OP_CONST || un__dt_is_float(c->dtype)) return un__m_bad(ok);
  int64_t v = un__const_int(c);
  return un__dt_scalar(c->dtype) == UN_U64 ? (un__i128)(uint64_t)v : v;
}

/* Scalar in a set: bit k is dtype k, bit 31 stands for pointers. */
static inline bool un__m_type(const un_uop *n, uint32_t mask) {
  return un__dt_is_ptr(n->dtype) ? mask >> 31 : mask >> un__dt_scalar(n->dtype) & 1;
}

static inline bool un__m_floaty(const un_uop *n) {
  return un__dt_is_float(n->dtype) || (n->nsrc && un__dt_is_float(n->src[0]->dtype));
}
/* A rule's licences bind it on floats only. */
static inline bool un__m_licensed(const un__rw *rw, const un_uop *n, uint32_t need) {
  return (rw->licences & need) == need || !un__m_floaty(n);
}

/* Equal constant values: integers as numbers whatever their width, floats as bits of one dtype. */
static inline bool un__m_same_const(const un_uop *a, const un_uop *b) {
  if (a == b) return true;
  if (un__dt_is_float(a->dtype) || un__dt_is_float(b->dtype))
    return un__dt_scalar(a->dtype) == un__dt_scalar(b->dtype) && un__attr(a, 0) == un__attr(b, 0);
  bool ok = true;
  return un__m_int(&ok, a) == un__m_int(&ok, b) && ok;
}
static inline bool un__m_same_ints(const un_uop *a, uint32_t i, const un_uop *b, uint32_t k) {
  if (a->nattr - i != b->nattr - k) return false;
  return !memcmp(un__attrs(a) + i, un__attrs(b) + k, (a->nattr - i) * sizeof(int64_t));
}
static inline bool un__m_same_span(const un_uop *a, uint32_t i, const un_uop *b, uint32_t k) {
  if (a->nsrc - i != b->nsrc - k) return false;
  return !memcmp(a->src + i, b->src + k, (a->nsrc - i) * sizeof a->src[0]);
}
static inline bool un__m_span_const(const un_uop *n, uint32_t from) {
  for (uint32_t i = from; i < n->nsrc; i++)
    if (n->src[i]->op != UN__OP_CONST) return false;
  return true;
}
static inline bool un__m_span_type(const un_uop *n, uint32_t from, uint32_t mask) {
  for (uint32_t i = from; i < n->nsrc; i++)
    if (!un__m_type(n->src[i], mask)) return false;
  return true;
}
static inline un__span un__m_span(const un_uop *n, uint32_t from) { return (un__span){n->src + from, n->nsrc - from}; }
static inline un__ints un__m_ints(const un_uop *n, uint32_t from) {
  return (un__ints){un__attrs(n) + from, n->nattr - from};
}
static inline un__span un__m_rest(un__span s, int64_t k) {
  return k >= 0 && k <= s.n ? (un__span){s.at + k, s.n - (uint32_t)k} : (un__span){NULL, 0};
}
static inline un__span un__m_first(un__span s, int64_t k) {
  return k >= 0 && k <= s.n ? (un__span){s.at, (uint32_t)k} : (un__span){NULL, 0};
}

/* ---- constants with a meaning ---- */

typedef enum un__m_sem {
  UN__M_ZERO,
  UN__M_ONE,
  UN__M_MINUS_ONE,
  UN__M_TRUE,
  UN__M_FALSE,
  UN__M_MIN,
  UN__M_MAX,
  UN__M_INF_,
  UN__M_NAN,
  UN__M_ANY_ZERO
} un__m_sem;

static inline bool un__m_is_float(double v, un__m_sem s) {
  switch (s) {
  case UN__M_ZERO:
    return v == 0 && !signbit(v);
  case UN__M_ANY_ZERO:
    return v == 0;
  case UN__M_ONE:
    return v == 1;
  case UN__M_MINUS_ONE:
    return v == -1;
  case UN__M_MIN:
    return isinf(v) && v < 0;
  case UN__M_MAX:
  case UN__M_INF_:
    return isinf(v) && v > 0;
  case UN__M_NAN:
    return isnan(v);
  default:
    return false;
  }
}

/* Does CONST n mean s? -1 of an unsigned dtype is its largest value. */
static inline bool un__m_is(const un_uop *n, un__m_sem s) {
  if (un__dt_is_float(n->dtype)) return un__m_is_float(un__const_float(n), s);
  bool ok = true, truth = un__dt_is_bool(n->dtype);
  un__i128 v = un__m_int(&ok, n);
  switch (s) {
  case UN__M_ZERO:
  case UN__M_ANY_ZERO:
    return v == 0;
  case UN__M_ONE:
    return v == 1;
  case UN__M_MINUS_ONE:
    return v == (un__m_is_uint(n->dtype) ? un__m_dtype_max(n->dtype) : -1);
  case UN__M_TRUE:
    return truth && v == 1;
  case UN__M_FALSE:
    return truth && v == 0;
  case UN__M_MIN:
    return v == un__m_dtype_min(n->dtype);
  case UN__M_MAX:
    return v == un__m_dtype_max(n->dtype);
  default:
    return false;
  }
}
static inline bool un__m_is_identity(const un_uop *n, un__op op) {
  un__value v;
  un_dtype s = un__dt_scalar(n->dtype);
  if (!un__identity(op, UN__DT(s), &v)) return false;
  return un__dt_is_float(n->dtype) ? un__value_bits(v) == (uint64_t)un__attr(n, 0) : v.i == un__const_int(n);
}
static inline bool un__m_is_int(const un_uop *n, int64_t v) {
  bool ok = true;
  if (un__dt_is_float(n->dtype)) return un__const_float(n) == (double)v;
  return un__m_int(&ok, n) == v && ok;
}
static inline double un__m_double(uint64_t bits) {
  double v;
  memcpy(&v, &bits, sizeof v);
  return v;
}
/* The constant is v rounded to its dtype. */
static inline bool un__m_is_real(const un_uop *n, double v) {
  return un__dt_is_float(n->dtype) && un__const_float(n) == un__round_float(un__dt_scalar(n->dtype), v);
}

/* ---- building ---- */

/* A constant of exactly this value; NULL when the dtype does not have it. */
static inline const un_uop *un__m_const(un__graph *g, un__dtype dt, un__i128 v, const bool *ok) {
  if (!*ok || !un__m_finite(v)) return NULL;
  if (un__dt_is_float(dt)) return (un__i128)(double)v == v ? un__const_f(g, dt, (double)v) : NULL;
  if (v < un__m_dtype_min(dt) || v > un__m_dtype_max(dt)) return NULL;
  if (un__dt_is_index(dt) && (v < INT64_MIN || v > INT64_MAX)) return NULL;
  return un__const_i(g, dt, (int64_t)(uint64_t)v);
}
static inline const un_uop *un__m_make(un__graph *g, un__dtype dt, un__m_sem s) {
  bool ok = true;
  if (un__dt_is_float(dt)) {
    static const double values[] = {
        [UN__M_ZERO] = 0,       [UN__M_ONE] = 1,         [UN__M_MINUS_ONE] = -1, [UN__M_MIN] = -INFINITY,
        [UN__M_MAX] = INFINITY, [UN__M_INF_] = INFINITY, [UN__M_NAN] = NAN,      [UN__M_ANY_ZERO] = 0};
    return un__const_f(g, dt, values[s]);
  }
  switch (s) {
  case UN__M_ONE:
  case UN__M_TRUE:
    return un__m_const(g, dt, 1, &ok);
  case UN__M_MINUS_ONE:
    return un__m_const(g, dt, un__m_is_uint(dt) ? un__m_dtype_max(dt) : -1, &ok);
  case UN__M_MIN:
    return un__m_const(g, dt, un__m_dtype_min(dt), &ok);
  case UN__M_MAX:
    return un__m_const(g, dt, un__m_dtype_max(dt), &ok);
  case UN__M_INF_:
  case UN__M_NAN:
    return NULL;
  default:
    return un__m_const(g, dt, 0, &ok);
  }
}
static inline const un_uop *un__m_identity(un__graph *g, un__dtype dt, un__op op) {
  un__value v;
  if (!un__identity(op, UN__DT(un__dt_scalar(dt)), &v)) return NULL;
  return un__const_bits(g, dt, un__value_bits(v));
}
/* #eval: the dtype follows from the op's rule unless given. */
static inline const un_uop *un__m_eval(un__graph *g, un__op op, un__dtype dt, un__span args) {
  const un__op_info *info = &un__op_table[op];
  if (!args.at || !args.n) return NULL;
  if (!dt && info->dtype_rule == UN__DR_FIRST) dt = args.at[0]->dtype;
  if (!dt && info->dtype_rule == UN__DR_SECOND && args.n > 1) dt = args.at[1]->dtype;
  if (!dt && info->dtype_rule == UN__DR_TRUTH) dt = un__dt_with_scalar(args.at[0]->dtype, UN_BOOL);
  for (uint32_t i = 0; i < args.n; i++)
    if (args.at[i]->op != UN__OP_CONST) return NULL;
  return dt ? un__fold_op(g, op, dt, args.at, args.n) : NULL;
}
/* Spans one after the other; `at` NULL when one of them is, or a single node in them is NULL, or memory is short. */
static inline un__span un__m_cat(un__rw *rw, uint32_t n, const un__span *spans) {
  uint32_t total = 0, k = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!spans[i].at) return (un__span){NULL, 0};
    total += spans[i].n;
  }
  const un_uop **at = un__arena_alloc(un__workspace_arena(rw->g), total * sizeof *at);
  if (!at) return (un__span){NULL, 0};
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < spans[i].n; j++)
      if (!(at[k++] = spans[i].at[j])) return (un__span){NULL, 0};
  return (un__span){at, total};
}
/* Fixed words, then a run of words. */
static inline un__ints un__m_words(un__rw *rw, uint32_t n, const int64_t *fixed, un__ints rest) {
  int64_t *at = un__arena_alloc(un__workspace_arena(rw->g), (n + rest.n) * sizeof *at);
  if (!at) return (un__ints){NULL, 0};
  memcpy(at, fixed, n * sizeof *at);
  if (rest.n) memcpy(at + n, rest.at, rest.n * sizeof *at);
  return (un__ints){at, n + rest.n};
}
static inline const un_uop *un__m_with_src(un__rw *rw, const un_uop *n, un__span src) {
  return n && src.at && src.n == n->nsrc ? un__with_src(rw->g, n, src.at) : NULL;
}
static inline const un_uop *un__m_src(const un_uop *n, int64_t i) { return i >= 0 && i < n->nsrc ? n->src[i] : NULL; }
static inline un__dtype un__m_scalar_of(un__dtype d) { return un__dt_with_lanes(d, 1); }
static inline un__dtype un__m_vec(un__dtype d, int64_t lanes) {
  return lanes >= 1 && lanes <= UN__MAX_LANES ? un__dt_with_lanes(d, (uint32_t)lanes) : 0;
}
static inline un__dtype un__m_with_scalar(un__dtype d, un__dtype s) { return un__dt_with_scalar(d, un__dt_scalar(s)); }

#endif
