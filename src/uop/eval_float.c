/* eval_float.c - the float formats of dtypes.def as sets of doubles.
 *
 * Every value of every format is a double, so a format is known by its mantissa and exponent bits alone and all
 * rounding is one routine. F8E4M3 is the OCP format without infinities: its largest exponent holds numbers too, and
 * only the all-ones mantissa there is NaN.
 */
#include "eval.h"

#include <math.h>
#include <string.h>

typedef struct format {
  int mantissa, exponent; /* explicit bits */
  int emin;               /* exponent of the smallest normal number */
} format;

enum { F64_MANTISSA = 52, F64_BIAS = 1023, F64_EXPONENT = 0x7ff };

static format format_of(un_dtype dt) {
  const un__dtype_info *d = &un__dtype_table[dt];
  return (format){d->mantissa, d->exponent, 2 - (1 << (d->exponent - 1))};
}

static uint64_t bits_of(double v) {
  uint64_t b;
  memcpy(&b, &v, sizeof b);
  return b;
}

static double from_bits(uint64_t b) {
  double v;
  memcpy(&v, &b, sizeof v);
  return v;
}

static uint64_t low_mask(int n) { return ((uint64_t)1 << n) - 1; }

bool un__float_has_inf(un_dtype dt) { return dt != UN_F8E4M3; }

double un__float_max(un_dtype dt) {
  format f = format_of(dt);
  double all_ones = 2.0 - ldexp(1.0, -f.mantissa);
  if (!un__float_has_inf(dt)) return ldexp(all_ones - ldexp(1.0, -f.mantissa), 2 - f.emin);
  return ldexp(all_ones, 1 - f.emin);
}

/* The steps of the format near `v` are 2^step apart. Scaling by a power of two is exact here: it never leaves the
 * normal doubles upwards, and downwards the result has at most mantissa + 1 bits before the point. */
static double round_to_format(un_dtype dt, double v) {
  if (v == 0 || !isfinite(v)) return isinf(v) && !un__float_has_inf(dt) ? (double)NAN : v;
  format f = format_of(dt);
  int e = ilogb(v);
  int step = (e > f.emin ? e : f.emin) - f.mantissa;
  double r = ldexp(nearbyint(ldexp(v, -step)), step);
  if (fabs(r) <= un__float_max(dt)) return r;
  return un__float_has_inf(dt) ? copysign((double)INFINITY, v) : (double)NAN;
}

double un__round_float(un_dtype dt, double v) {
  if (dt == UN_F64) return v;
  if (dt == UN_F32) return (double)(float)v;
  return round_to_format(dt, v);
}

/* Rounds to odd on the way to double: what is cut off sets the last bit, so that the second rounding, to at least two
 * bits less, goes the way the exact integer would have gone. */
double un__round_integer(un_dtype dt, int64_t v, bool is_unsigned) {
  bool negative = !is_unsigned && v < 0;
  uint64_t magnitude = negative ? 0 - (uint64_t)v : (uint64_t)v;
  if (dt == UN_F64) return negative ? -(double)magnitude : (double)magnitude;
  uint64_t cut = magnitude >> (F64_MANTISSA + 1) ? low_mask(11) : 0;
  if (magnitude & cut) magnitude = (magnitude & ~cut) | (cut + 1);
  double d = (double)magnitude;
  return un__round_float(dt, negative ? -d : d);
}

static uint64_t nan_bits(un_dtype dt, format f, double v) {
  uint64_t sign = bits_of(v) >> 63 << (f.mantissa + f.exponent);
  uint64_t exponent = low_mask(f.exponent) << f.mantissa;
  if (!un__float_has_inf(dt)) return sign | exponent | low_mask(f.mantissa);
  uint64_t payload = (bits_of(v) & low_mask(F64_MANTISSA)) >> (F64_MANTISSA - f.mantissa);
  return sign | exponent | (payload ? payload : (uint64_t)1 << (f.mantissa - 1));
}

uint64_t un__float_bits(un_dtype dt, double v) {
  if (dt == UN_F64) return bits_of(v);
  format f = format_of(dt);
  if (isnan(v)) return nan_bits(dt, f, v);
  uint64_t sign = bits_of(v) >> 63 << (f.mantissa + f.exponent);
  v = fabs(un__round_float(dt, v));
  if (isnan(v)) return nan_bits(dt, f, v);
  if (isinf(v)) return sign | low_mask(f.exponent) << f.mantissa;
  if (v < ldexp(1.0, f.emin)) return sign | (uint64_t)ldexp(v, f.mantissa - f.emin);
  int e = ilogb(v);
  uint64_t mantissa = (bits_of(v) & low_mask(F64_MANTISSA)) >> (F64_MANTISSA - f.mantissa);
  return sign | (uint64_t)(e - f.emin + 1) << f.mantissa | mantissa;
}

double un__float_from_bits(un_dtype dt, uint64_t bits) {
  if (dt == UN_F64) return from_bits(bits);
  format f = format_of(dt);
  uint64_t sign = (bits >> (f.mantissa + f.exponent) & 1) << 63;
  uint64_t exponent = bits >> f.mantissa & low_mask(f.exponent), mantissa = bits & low_mask(f.mantissa);
  uint64_t wide = mantissa << (F64_MANTISSA - f.mantissa);
  bool top = exponent == low_mask(f.exponent);
  if (top && (un__float_has_inf(dt) || mantissa == low_mask(f.mantissa)))
    return from_bits(sign | (uint64_t)F64_EXPONENT << F64_MANTISSA | wide);
  if (exponent == 0) {
    double v = ldexp((double)mantissa, f.emin - f.mantissa);
    return sign ? -v : v;
  }
  uint64_t biased = exponent - 1 + (uint64_t)(F64_BIAS + f.emin);
  return from_bits(sign | biased << F64_MANTISSA | wide);
}
