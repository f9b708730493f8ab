/* number.c - exact decimal <-> binary conversion with small big integers.
 *
 * Reading: the digits times a power of ten become a fraction of two integers; 64 bits of its quotient and a sticky
 * bit are enough to round once. Printing: Steele and White's free-format algorithm, which keeps the value and the
 * distances to the midpoints of its neighbours as integers over one denominator and stops at the first digit that
 * no neighbour shares.
 *
 * Invariant: no operation below exceeds MAX_WORDS. Reading keeps at most MAX_DIGITS digits (more only matter as "not
 * zero", and that is kept) and exponents within +-MAX_EXP10 of the point; 10^1200 * 2^64 has 4051 bits, and the
 * numerator is never shifted further than the denominator's length + 64.
 */
#include "number.h"

#include <string.h>

enum { MAX_WORDS = 272, MAX_DIGITS = 800, MAX_EXP10 = 400 };

typedef struct big {
  uint32_t n;                 /* words in use; the top one is not 0 */
  uint32_t w[MAX_WORDS];      /* little end first */
} big;

static void big_set(big *b, uint64_t v) {
  b->n = 0;
  for (; v; v >>= 32) b->w[b->n++] = (uint32_t)v;
}

static void big_mul_add(big *b, uint32_t mul, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t i = 0; i < b->n; i++) {
    carry += (uint64_t)b->w[i] * mul;
    b->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) b->w[b->n++] = (uint32_t)carry;
}

static void big_mul_pow10(big *b, uint32_t e) {
  for (; e >= 9; e -= 9) big_mul_add(b, 1000000000u, 0);
  for (; e > 0; e--) big_mul_add(b, 10, 0);
}

static void big_shl(big *b, uint32_t k) {
  if (b->n == 0) return;
  uint32_t words = k / 32, bits = k % 32;
  if (words) {
    memmove(b->w + words, b->w, b->n * sizeof b->w[0]);
    memset(b->w, 0, words * sizeof b->w[0]);
    b->n += words;
  }
  if (bits) big_mul_add(b, 1u << bits, 0);
}

static int big_cmp(const big *a, const big *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (uint32_t i = a->n; i-- > 0;)
    if (a->w[i] != b->w[i]) return a->w[i] < b->w[i] ? -1 : 1;
  return 0;
}

/* a -= b; needs a >= b. */
static void big_sub(big *a, const big *b) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    uint64_t d = (uint64_t)a->w[i] - (i < b->n ? b->w[i] : 0) - borrow;
    a->w[i] = (uint32_t)d;
    borrow = d >> 63;
  }
  while (a->n && a->w[a->n - 1] == 0) a->n--;
}

static void big_add(big *a, const big *b) {
  uint64_t carry = 0;
  uint32_t n = a->n > b->n ? a->n : b->n;
  for (uint32_t i = 0; i < n; i++) {
    carry += (uint64_t)(i < a->n ? a->w[i] : 0) + (i < b->n ? b->w[i] : 0);
    a->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  a->n = n;
  if (carry) a->w[a->n++] = (uint32_t)carry;
}

static int64_t big_bits(const big *b) {
  if (b->n == 0) return 0;
  int64_t bits = (int64_t)(b->n - 1) * 32;
  for (uint32_t top = b->w[b->n - 1]; top; top >>= 1) bits++;
  return bits;
}

/* ---- formats ---- */

static int bias(un__float_format f) { return (1 << (f.exponent - 1)) - 1; }
static uint64_t sign_bit(un__float_format f) { return 1ull << (f.mantissa + f.exponent); }
/* The first magnitude that is no finite number. */
static uint64_t overflow_bits(un__float_format f) {
  uint64_t exp_ones = ((1ull << f.exponent) - 1) << f.mantissa;
  return f.finite ? sign_bit(f) - 1 : exp_ones;
}
static uint64_t quiet_nan(un__float_format f) {
  if (f.finite) return sign_bit(f) - 1;
  return overflow_bits(f) | 1ull << (f.mantissa - 1);
}

/* ---- printing ---- */

/* r/s is the value; up/s and down/s are the distances to the midpoints above and below. */
typedef struct digit_state {
  big r, s, up, down;
} digit_state;

static void start_digits(digit_state *d, un__float_format fmt, uint64_t magnitude) {
  uint64_t mant = magnitude & ((1ull << fmt.mantissa) - 1);
  int e = (int)(magnitude >> fmt.mantissa);
  bool power = mant == 0 && e > 1;      /* the neighbour below is nearer by half */
  if (e) mant |= 1ull << fmt.mantissa;
  int exp2 = (e ? e : 1) - bias(fmt) - fmt.mantissa;
  big_set(&d->r, mant);
  big_set(&d->s, 1);
  big_set(&d->up, 1);
  uint32_t left = exp2 > 0 ? (uint32_t)exp2 : 0, right = exp2 < 0 ? (uint32_t)-exp2 : 0;
  big_shl(&d->r, left + 1 + power);
  big_shl(&d->s, right + 1 + power);
  big_shl(&d->up, left);
  d->down = d->up;
  if (power) big_shl(&d->up, 1);
}

/* Whether r + up reaches s; touching counts when reading rounds a tie to this number. */
static bool reaches(const digit_state *d, bool even) {
  big sum = d->r;
  big_add(&sum, &d->up);
  int c = big_cmp(&sum, &d->s);
  return even ? c >= 0 : c > 0;
}

/* Scales so that the value is 0.d1d2... * 10^result. */
static int scale_digits(digit_state *d, bool even) {
  /* log10(2) from below, then exact steps. */
  int64_t log2 = big_bits(&d->r) - big_bits(&d->s) - 1;
  int k = (int)(log2 * 30103 / 100000) - 1;
  if (k > 0) {
    big_mul_pow10(&d->s, (uint32_t)k);
  } else {
    big_mul_pow10(&d->r, (uint32_t)-k);
    big_mul_pow10(&d->up, (uint32_t)-k);
    big_mul_pow10(&d->down, (uint32_t)-k);
  }
  while (reaches(d, even)) {
    big_mul_add(&d->s, 10, 0);
    k++;
  }
  return k;
}

/* The shortest digits that read back; returns how many, *out_k as in scale_digits. */
static int shortest_digits(char out[20], un__float_format fmt, uint64_t magnitude, int *out_k) {
  digit_state d;
  bool even = (magnitude & 1) == 0;
  start_digits(&d, fmt, magnitude);
  *out_k = scale_digits(&d, even);
  for (int n = 0;;) {
    big_mul_add(&d.r, 10, 0);
    big_mul_add(&d.up, 10, 0);
    big_mul_add(&d.down, 10, 0);
    int digit = 0;
    for (; big_cmp(&d.r, &d.s) >= 0; digit++) big_sub(&d.r, &d.s);
    int c = big_cmp(&d.r, &d.down);
    bool low = even ? c <= 0 : c < 0, high = reaches(&d, even);
    if (low || high) {
      big twice = d.r;
      big_shl(&twice, 1);
      bool round_up = high && (!low || big_cmp(&twice, &d.s) >= 0);
      out[n++] = (char)('0' + digit + round_up);
      return n;
    }
    out[n++] = (char)('0' + digit);
  }
}

static char *put_str(char *p, const char *s) {
  size_t n = strlen(s);
  memcpy(p, s, n);
  return p + n;
}

static char *put_exponent(char *p, int e) {
  *p++ = 'e';
  if (e < 0) *p++ = '-';
  unsigned v = (unsigned)(e < 0 ? -e : e);
  if (v >= 100) *p++ = (char)('0' + v / 100);
  if (v >= 10) *p++ = (char)('0' + v / 10 % 10);
  *p++ = (char)('0' + v % 10);
  return p;
}

/* Digits with the point where people expect it; scientific outside 1e-4 .. 1e16. */
static char *put_decimal(char *p, const char *digits, int n, int k) {
  if (k > 16 || k < -3) {
    *p++ = digits[0];
    if (n > 1) *p++ = '.';
    for (int i = 1; i < n; i++) *p++ = digits[i];
    return put_exponent(p, k - 1);
  }
  if (k <= 0) {
    p = put_str(p, "0.");
    for (int i = k; i < 0; i++) *p++ = '0';
  }
  for (int i = 0; i < n || i < k; i++) {
    if (i == k && k > 0) *p++ = '.';
    *p++ = i < n ? digits[i] : '0';
  }
  return n <= k ? put_str(p, ".0") : p;
}

static char *put_nan(char *p, un__float_format fmt, uint64_t bits) {
  p = put_str(p, "nan:0x");
  int width = (fmt.mantissa + fmt.exponent + 1) / 4;
  for (int i = width - 1; i >= 0; i--) *p++ = "0123456789abcdef"[bits >> (4 * i) & 15];
  return p;
}

size_t un__float_text(char out[UN__FLOAT_TEXT], un__float_format fmt, uint64_t bits) {
  uint64_t sign = sign_bit(fmt), magnitude = bits & (sign - 1), over = overflow_bits(fmt);
  char *p = out;
  if (magnitude > over || (magnitude == over && fmt.finite)) {
    p = put_nan(p, fmt, bits & (sign | (sign - 1)));
  } else {
    if (bits & sign) *p++ = '-';
    if (magnitude == over) {
      p = put_str(p, "inf");
    } else if (magnitude == 0) {
      p = put_str(p, "0.0");
    } else {
      char digits[20];
      int k, n = shortest_digits(digits, fmt, magnitude, &k);
      p = put_decimal(p, digits, n, k);
    }
  }
  *p = '\0';
  return (size_t)(p - out);
}

void un__sb_putfloat(un__strbuf *s, un__float_format fmt, uint64_t bits) {
  char text[UN__FLOAT_TEXT];
  un__sb_putn(s, text, un__float_text(text, fmt, bits));
}

void un__sb_putf64(un__strbuf *s, double v) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  un__sb_putfloat(s, UN__FORMAT_F64, bits);
}

/* ---- reading ---- */

/* Digits without leading zeros, and where the point is: value = digits * 10^exp10. */
typedef struct decimal {
  big digits;
  int n;                /* digits kept */
  int64_t exp10;
  bool more;            /* digits that were not kept are not all zero */
} decimal;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static void take_digit(decimal *d, int digit, bool fraction) {
  if (d->n == 0 && digit == 0) {
    d->exp10 -= fraction;
  } else if (d->n < MAX_DIGITS) {
    big_mul_add(&d->digits, 10, (uint32_t)digit);
    d->n++;
    d->exp10 -= fraction;
  } else {
    d->more |= digit != 0;
    d->exp10 += !fraction;
  }
}

/* The exponent after `e`; saturates, so that any length of digits is linear work. */
static bool read_exponent(const char *p, const char *end, int64_t *out) {
  bool minus = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) p++;
  if (p == end) return false;
  int64_t e = 0;
  for (; p < end; p++) {
    if (!is_digit(*p)) return false;
    if (e < 1000000000000) e = e * 10 + (*p - '0');
  }
  *out = minus ? -e : e;
  return true;
}

static bool read_decimal(const char *p, const char *end, decimal *d) {
  d->digits.n = 0;
  d->n = 0;
  d->exp10 = 0;
  d->more = false;
  bool any = false, point = false;
  for (; p < end && *p != 'e' && *p != 'E'; p++) {
    if (*p == '.' && !point) {
      point = true;
    } else if (is_digit(*p)) {
      any = true;
      take_digit(d, *p - '0', point);
    } else {
      return false;
    }
  }
  if (!any) return false;
  if (p == end) return true;
  int64_t e;
  if (!read_exponent(p + 1, end, &e)) return false;
  d->exp10 += e;
  return true;
}

/* Rounds q * 2^exp2 (top bit of q set; sticky: a little more than that) to the format's magnitude. */
static uint64_t round_bits(un__float_format fmt, uint64_t q, int64_t exp2, bool sticky) {
  int64_t e = exp2 + 63, emin = 1 - bias(fmt);
  int64_t shift = 63 - fmt.mantissa + (e < emin ? emin - e : 0);
  if (shift > 64) return 0;
  uint64_t mant = shift == 64 ? 0 : q >> shift;
  uint64_t half = q >> (shift - 1) & 1;
  uint64_t rest = (q & ((1ull << (shift - 1)) - 1)) | sticky;
  mant += half && (rest || (mant & 1));
  /* A carry out of the mantissa is the next exponent, also from subnormal to normal. */
  if (e < emin) return mant;
  return ((uint64_t)(e + bias(fmt)) << fmt.mantissa) + (mant - (1ull << fmt.mantissa));
}

static uint64_t decimal_bits(un__float_format fmt, decimal *d) {
  if (d->n == 0) return 0;
  int64_t lead = d->exp10 + d->n;     /* value < 10^lead */
  if (lead > MAX_EXP10) return overflow_bits(fmt);
  if (lead < -MAX_EXP10) return 0;
  big *num = &d->digits, den;
  big_set(&den, 1);
  if (d->exp10 > 0) big_mul_pow10(num, (uint32_t)d->exp10);
  else big_mul_pow10(&den, (uint32_t)-d->exp10);
  /* Scale to den <= num < 2 den, then take 64 bits of quotient; the first is 1. */
  int64_t exp2 = big_bits(num) - big_bits(&den);
  if (exp2 > 0) big_shl(&den, (uint32_t)exp2);
  else big_shl(num, (uint32_t)-exp2);
  if (big_cmp(num, &den) < 0) {
    big_shl(num, 1);
    exp2--;
  }
  uint64_t q = 0;
  for (int i = 0; i < 64; i++) {
    q <<= 1;
    if (big_cmp(num, &den) >= 0) {
      big_sub(num, &den);
      q |= 1;
    }
    big_shl(num, 1);
  }
  uint64_t bits = round_bits(fmt, q, exp2 - 63, num->n != 0 || d->more);
  return bits < overflow_bits(fmt) ? bits : overflow_bits(fmt);
}

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The bits after "nan:0x"; they must be a NaN of the format. */
static un__numeral parse_nan(const char *p, const char *end, un__float_format fmt, uint64_t *out) {
  uint64_t bits = 0, all = sign_bit(fmt) | (sign_bit(fmt) - 1);
  if (p == end || end - p > 16) return UN__NUM_BAD;
  for (; p < end; p++) {
    int d = hex_digit(*p);
    if (d < 0) return UN__NUM_BAD;
    bits = bits << 4 | (uint64_t)d;
  }
  uint64_t magnitude = bits & (sign_bit(fmt) - 1), over = overflow_bits(fmt);
  if ((bits & ~all) || magnitude < over || (magnitude == over && !fmt.finite)) return UN__NUM_BAD;
  *out = bits;
  return UN__NUM_OK;
}

static bool same(const char *p, const char *end, const char *word) {
  size_t n = strlen(word);
  return (size_t)(end - p) == n && memcmp(p, word, n) == 0;
}

un__numeral un__parse_float(const char *text, size_t len, un__float_format fmt, uint64_t *out_bits) {
  const char *p = text, *end = text + len;
  if (len > 6 && memcmp(p, "nan:0x", 6) == 0) return parse_nan(p + 6, end, fmt, out_bits);
  uint64_t sign = len > 0 && *p == '-' ? sign_bit(fmt) : 0;
  if (len > 0 && (*p == '-' || *p == '+')) p++;
  if (same(p, end, "nan") || (same(p, end, "inf") && !fmt.finite)) {
    *out_bits = sign | (*p == 'n' ? quiet_nan(fmt) : overflow_bits(fmt));
    return UN__NUM_OK;
  }
  decimal d;
  if (!read_decimal(p, end, &d)) return UN__NUM_BAD;
  uint64_t bits = decimal_bits(fmt, &d);
  *out_bits = sign | bits;
  return bits == overflow_bits(fmt) ? UN__NUM_RANGE : UN__NUM_OK;
}

un__numeral un__parse_f64(const char *text, size_t len, double *out) {
  uint64_t bits;
  un__numeral r = un__parse_float(text, len, UN__FORMAT_F64, &bits);
  if (r != UN__NUM_BAD) memcpy(out, &bits, sizeof *out);
  return r;
}

un__numeral un__parse_u64(const char *text, size_t len, uint64_t *out) {
  if (len == 0) return UN__NUM_BAD;
  uint64_t v = 0;
  bool over = false;
  for (size_t i = 0; i < len; i++) {
    if (!is_digit(text[i])) return UN__NUM_BAD;
    uint64_t digit = (uint64_t)(text[i] - '0');
    over |= v > (UINT64_MAX - digit) / 10;
    v = v * 10 + digit;
  }
  *out = over ? UINT64_MAX : v;
  return over ? UN__NUM_RANGE : UN__NUM_OK;
}

un__numeral un__parse_i64(const char *text, size_t len, int64_t *out) {
  bool minus = len > 0 && text[0] == '-';
  uint64_t v, limit = (uint64_t)INT64_MAX + minus;
  un__numeral r = un__parse_u64(text + minus, len - minus, &v);
  if (r == UN__NUM_BAD) return r;
  if (r == UN__NUM_RANGE || v > limit) {
    *out = minus ? INT64_MIN : INT64_MAX;
    return UN__NUM_RANGE;
  }
  *out = minus ? (int64_t)(0 - v) : (int64_t)v;
  return UN__NUM_OK;
}
