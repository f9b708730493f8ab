/* cstyle_text.c - types, literals, names. */
#include "cstyle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "uop/eval.h"

/* Narrow floats are bits here: lowering leaves no arithmetic on them, only conversions. */
static const char *const type[UN_DTYPE_COUNT] = {
  [UN_BOOL] = "bool", [UN_I8] = "i8", [UN_U8] = "u8", [UN_I16] = "i16", [UN_U16] = "u16", [UN_I32] = "i32", [UN_U32] = "u32",
  [UN_I64] = "i64", [UN_U64] = "u64", [UN_F16] = "u16", [UN_BF16] = "u16", [UN_F32] = "f32", [UN_F64] = "f64",
  [UN_F8E4M3] = "u8", [UN_F8E5M2] = "u8",
};

const char *un__c_type(un__dtype d) { return type[un__dt_scalar(d)] ? type[un__dt_scalar(d)] : "void"; }
const char *un__c_memory_type(un__dtype d) { return un__dt_is_bool(d) ? "u8" : un__c_type(d); }

/* ---- names ---- */

bool un__c_bind(un__cstyle *r, const un_uop *n, const un__c_ref *refs, uint32_t count) {
  size_t first = r->refs.n;
  uintptr_t *place = un__ptrmap_put(&r->places, n, NULL);
  bool ok = place && un__vec_reserve(&r->refs, first + count);
  for (uint32_t i = 0; ok && i < count; i++) r->refs.at[r->refs.n++] = refs[i];
  if (ok) *place = first;
  else un__fail(r->err, UN_ERR_NOMEM, "no memory for %s", r->dialect->name);
  return ok;
}

bool un__c_define(un__cstyle *r, const un_uop *n, char prefix, uint32_t number) {
  bool pointer = un__dt_is_ptr(n->dtype);
  uint32_t lanes = pointer ? 1 : un__lanes(n);
  un__c_ref ref[UN__C_LANES];
  if (lanes > UN__C_LANES) return false;
  for (uint32_t i = 0; i < lanes; i++) ref[i] = (un__c_ref){NULL, number, lanes > 1 ? (int32_t)i : -1, prefix};
  return un__c_bind(r, n, ref, lanes);
}

un__c_ref un__c_lane(un__cstyle *r, const un_uop *n, uint32_t lane) {
  if (un__is_const(n)) return (un__c_ref){.constant = n, .lane = -1};
  const uintptr_t *place = un__ptrmap_get(&r->places, n);
  if (place && *place + lane < r->refs.n) return r->refs.at[*place + lane];
  un__fail(r->err, UN_ERR_INTERNAL, "%s: %s is used before it stands in the list", r->dialect->name, un__info(n)->name);
  return (un__c_ref){.prefix = 'v', .lane = -1};
}

un__c_ref un__c_temp(un__cstyle *r) { return (un__c_ref){NULL, r->ntemps++, -1, 't'}; }

/* ---- literals ---- */

static void put_call(un__cstyle *r, un__c_function f) {
  const char *name = r->dialect->function[f].name;
  r->functions |= UINT64_C(1) << f;
  if (name) un__sb_puts(&r->body, name);
  else un__fail(r->err, UN_ERR_INTERNAL, "%s: no function number %d", r->dialect->name, (int)f);
}

static void put_int(un__strbuf *out, un__dtype d, int64_t v) {
  bool wide = un__dt_info(d)->mantissa == 64;
  const char *suffix = wide ? "LL" : "";
  int64_t min = INT64_MIN >> (64 - un__dt_info(d)->mantissa);
  if (v == min && un__dt_info(d)->mantissa >= 32) un__sb_printf(out, "(%" PRId64 "%s - 1)", v + 1, suffix);
  else un__sb_printf(out, v < 0 ? "(%" PRId64 "%s)" : "%" PRId64 "%s", v, suffix);
}

static void put_uint(un__strbuf *out, un__dtype d, uint64_t v) {
  uint8_t bits = un__dt_info(d)->mantissa;
  un__sb_printf(out, bits == 64 ? "%" PRIu64 "ULL" : bits == 32 ? "%" PRIu64 "u" : "%" PRIu64, v);
}

/* A finite number: small whole ones in decimal, all others in hexadecimal, which no compiler has to round. */
static void put_finite(un__strbuf *out, double v, const char *suffix) {
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  bool negative = bits >> 63;
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  int exponent = (int)(bits >> 52 & 0x7ff);
  double magnitude = negative ? -v : v;
  if (negative) un__sb_puts(out, "(-");
  if (magnitude < 1e6 && magnitude == (double)(int64_t)magnitude) {
    un__sb_printf(out, "%" PRId64 ".0%s", (int64_t)magnitude, suffix);
  } else {
    /* A subnormal has no leading 1, and the exponent of the smallest normal number. */
    int digits = 13, leading = exponent ? 1 : 0, power = (exponent ? exponent : 1) - 1023;
    while (digits > 0 && !(mantissa & 0xf)) mantissa >>= 4, digits--;
    un__sb_printf(out, "0x%d", leading);
    if (digits) un__sb_printf(out, ".%0*" PRIx64, digits, mantissa);
    un__sb_printf(out, "p%+d%s", power, suffix);
  }
  if (negative) un__sb_putc(out, ')');
}

static void put_float(un__cstyle *r, un__dtype d, uint64_t bits) {
  bool wide = un__dt_scalar(d) == UN_F64;
  double v = un__float_from_bits(un__dt_scalar(d), bits);
  if (v - v == 0) {
    put_finite(&r->body, v, wide ? "" : "f");
    return;
  }
  put_call(r, wide ? UN__C_F64_OF_BITS : UN__C_F32_OF_BITS);
  un__sb_printf(&r->body, wide ? "(0x%" PRIx64 "ULL)" : "(0x%" PRIx64 "u)", bits);
}

void un__c_put_const(un__cstyle *r, un__dtype d, uint64_t bits) {
  switch (un__dt_class(d)) {
  case UN__CLASS_BOOL: un__sb_putc(&r->body, bits ? '1' : '0'); return;
  case UN__CLASS_UINT: put_uint(&r->body, d, bits); return;
  case UN__CLASS_FLOAT:
    if (un__dt_info(d)->size >= 4) put_float(r, d, bits);
    else un__sb_printf(&r->body, "0x%" PRIx64, bits);
    return;
  default: put_int(&r->body, d, (int64_t)bits);
  }
}

/* ---- lines ---- */

void un__c_put_ref(un__cstyle *r, un__c_ref ref) {
  if (ref.constant) {
    un__c_put_const(r, ref.constant->dtype, (uint64_t)un__attr(ref.constant, 0));
    return;
  }
  un__sb_printf(&r->body, "%c%u", ref.prefix, ref.number);
  if (ref.lane >= 0) un__sb_printf(&r->body, "_%d", ref.lane);
}

void un__c_line(un__cstyle *r) {
  for (uint32_t i = 0; i <= r->depth; i++) un__sb_puts(&r->body, "  ");
}

void un__c_begin(un__cstyle *r, un__dtype d, un__c_ref ref) {
  un__c_line(r);
  un__c_emit(r, "const %T %R = ", d, ref);
}

void un__c_emit(un__cstyle *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  for (const char *p = fmt; *p; p++) {
    if (*p != '%') {
      un__sb_putc(&r->body, *p);
      continue;
    }
    switch (*++p) {
    case 'T': un__sb_puts(&r->body, un__c_type(va_arg(ap, un__dtype))); break;
    case 'M': un__sb_puts(&r->body, un__c_memory_type(va_arg(ap, un__dtype))); break;
    case 'R': un__c_put_ref(r, va_arg(ap, un__c_ref)); break;
    case 'd': un__sb_puti64(&r->body, va_arg(ap, int64_t)); break;
    case 's': un__sb_puts(&r->body, va_arg(ap, const char *)); break;
    case 'f': put_call(r, (un__c_function)va_arg(ap, int)); break;
    default: un__sb_putc(&r->body, *p);     /* %% */
    }
  }
  va_end(ap);
}
