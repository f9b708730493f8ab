/* conversions.c - which dtypes hold the values of which. */
#include "simplify.h"

/* The least and the largest value of an integer dtype or bool; wider than int64 where u64 needs it. */
static bool limits(un__dtype d, __int128 *lo, __int128 *hi) {
  const un__dtype_info *info = un__dt_info(d);
  switch (info->cls) {
  case UN__CLASS_BOOL: *lo = 0, *hi = 1; return true;
  case UN__CLASS_INT: *hi = ((__int128)1 << (info->mantissa - 1)) - 1, *lo = -*hi - 1; return true;
  case UN__CLASS_UINT: *lo = 0, *hi = ((__int128)1 << info->mantissa) - 1; return true;
  default: return false;
  }
}

/* Integers up to 2^(mantissa + 1) are exact, if the exponent reaches that far. */
static bool float_holds(const un__dtype_info *f, __int128 lo, __int128 hi) {
  if (f->mantissa + 1 >= 1 << (f->exponent - 1)) return false;
  __int128 exact = (__int128)1 << (f->mantissa + 1);
  return lo >= -exact && hi <= exact;
}

static bool float_in_float(const un__dtype_info *a, const un__dtype_info *b) {
  if (a == b) return true;
  bool no_infinity = b == &un__dtype_table[UN_F8E4M3];
  return a->mantissa <= b->mantissa && a->exponent <= b->exponent && !no_infinity;
}

bool un__pred_embeds(un__rw *rw, un__dtype a, un__dtype b) {
  const un__dtype_info *from = un__dt_info(a), *to = un__dt_info(b);
  if (un__dt_is_ptr(a) || un__dt_is_ptr(b)) return false;
  if (from == to) return true;
  if (from->cls == UN__CLASS_FLOAT) return to->cls == UN__CLASS_FLOAT && float_in_float(from, to);
  __int128 lo, hi, to_lo, to_hi;
  if (!limits(a, &lo, &hi)) return false;      /* index holds more than any other */
  if (to->cls == UN__CLASS_INDEX) return true;
  if (to->cls == UN__CLASS_FLOAT) return float_holds(to, lo, hi);
  return limits(b, &to_lo, &to_hi) && to_lo <= lo && hi <= to_hi;
}

/* Casts are functions of the value, with two exceptions: a float that leaves an integer dtype saturates where an
 * integer wraps, so an integer may pass through a float only to a dtype that holds it; and of an integer only the low
 * bits count when the last dtype is no wider than the one between. */
bool un__pred_cast_through(un__rw *rw, un__dtype a, un__dtype b, un__dtype c) {
  un__class from = un__dt_class(a), mid = un__dt_class(b), to = un__dt_class(c);
  bool last_int = to == UN__CLASS_INT || to == UN__CLASS_UINT;
  if (un__pred_embeds(rw, a, b)) {
    if (to == UN__CLASS_INDEX) return from != UN__CLASS_FLOAT && mid != UN__CLASS_FLOAT;
    bool detour = from != UN__CLASS_FLOAT && mid == UN__CLASS_FLOAT;
    return !detour || !last_int || un__pred_embeds(rw, a, c);
  }
  bool ints = (from == UN__CLASS_INT || from == UN__CLASS_UINT) && (mid == UN__CLASS_INT || mid == UN__CLASS_UINT);
  return ints && last_int && un__dt_info(c)->mantissa <= un__dt_info(b)->mantissa;
}

bool un__pred_exact(un__rw *rw, const un_uop *x, un__dtype a) {
  if (un__pred_embeds(rw, x->dtype, a)) return true;
  bool finite = x->vmin != UN__NEG_INF && x->vmax != UN__POS_INF;
  return finite && un__dt_class(a) != UN__CLASS_BOOL && un__pred_holds(rw, a, x->vmin, x->vmax);
}

bool un__pred_holds(un__rw *rw, un__dtype a, int64_t lo, int64_t hi) {
  __int128 least, most;
  if (un__dt_is_index(a)) return true;
  return limits(a, &least, &most) && least <= lo && hi <= most;
}
