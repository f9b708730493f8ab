/* llvm_text.c - types, literals, names. */
#include "llvm_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "uop/eval.h"

/* bf16 and fp8 are bits here: lowering leaves no arithmetic on them, and LLVM's bfloat would bring in calls to
 * conversion routines that no process must have. */
static const char *const scalar_type[UN_DTYPE_COUNT] = {
  [UN_VOID] = "void", [UN_BOOL] = "i1", [UN_I8] = "i8", [UN_U8] = "i8", [UN_I16] = "i16", [UN_U16] = "i16",
  [UN_I32] = "i32", [UN_U32] = "i32", [UN_I64] = "i64", [UN_U64] = "i64", [UN_F16] = "half", [UN_BF16] = "i16",
  [UN_F32] = "float", [UN_F64] = "double", [UN_F8E4M3] = "i8", [UN_F8E5M2] = "i8", [UN_INDEX] = "i64",
};

static const char *const suffix[UN_DTYPE_COUNT] = {
  [UN_BOOL] = "i1", [UN_I8] = "i8", [UN_U8] = "i8", [UN_I16] = "i16", [UN_U16] = "i16", [UN_I32] = "i32", [UN_U32] = "i32",
  [UN_I64] = "i64", [UN_U64] = "i64", [UN_F16] = "f16", [UN_BF16] = "i16", [UN_F32] = "f32", [UN_F64] = "f64",
  [UN_F8E4M3] = "i8", [UN_F8E5M2] = "i8",
};

static void put_vector(un__strbuf *out, const char *scalar, uint32_t lanes) {
  if (lanes > 1) un__sb_printf(out, "<%u x %s>", lanes, scalar);
  else un__sb_puts(out, scalar);
}

void un__llvm_put_type(un__strbuf *out, un__dtype d) {
  if (un__dt_is_ptr(d)) un__sb_puts(out, "ptr");
  else put_vector(out, scalar_type[un__dt_scalar(d)], un__dt_lanes(d));
}

void un__llvm_put_memory_type(un__strbuf *out, un__dtype d) {
  put_vector(out, un__dt_is_bool(d) ? "i8" : scalar_type[un__dt_scalar(d)], un__dt_lanes(d));
}

void un__llvm_put_suffix(un__strbuf *out, un__dtype d) {
  if (un__dt_lanes(d) > 1) un__sb_printf(out, "v%u", un__dt_lanes(d));
  un__sb_puts(out, suffix[un__dt_scalar(d)]);
}

/* float is written as the double it equals, as LLVM wants; a signalling NaN's quiet bit survives in the shift. */
static uint64_t float_as_double_bits(uint32_t bits) {
  uint32_t exponent = bits >> 23 & 0xff, mantissa = bits & 0x7fffff;
  if (exponent == 0xff && mantissa) return (uint64_t)(bits >> 31) << 63 | UINT64_C(0x7ff) << 52 | (uint64_t)mantissa << 29;
  float f;
  double d;
  uint64_t wide;
  memcpy(&f, &bits, sizeof f);
  d = (double)f;
  memcpy(&wide, &d, sizeof wide);
  return wide;
}

static void put_scalar_const(un__strbuf *out, un__dtype d, uint64_t bits) {
  switch (un__dt_scalar(d)) {
  case UN_BOOL: un__sb_puts(out, bits ? "true" : "false"); return;
  case UN_F16: un__sb_printf(out, "0xH%04" PRIX64, bits & 0xffff); return;
  case UN_F32: un__sb_printf(out, "0x%016" PRIX64, float_as_double_bits((uint32_t)bits)); return;
  case UN_F64: un__sb_printf(out, "0x%016" PRIX64, bits); return;
  default: un__sb_puti64(out, (int64_t)bits);
  }
}

void un__llvm_put_const(un__strbuf *out, un__dtype d, uint64_t bits) {
  uint32_t lanes = un__dt_lanes(d);
  if (lanes == 1) {
    put_scalar_const(out, d, bits);
    return;
  }
  un__sb_putc(out, '<');
  for (uint32_t i = 0; i < lanes; i++) {
    if (i) un__sb_puts(out, ", ");
    un__sb_printf(out, "%s ", scalar_type[un__dt_scalar(d)]);
    put_scalar_const(out, d, bits);
  }
  un__sb_putc(out, '>');
}

void un__llvm_put_value(un__llvm *r, un__strbuf *out, const un_uop *n) {
  if (un__is_const(n)) {
    un__llvm_put_const(out, n->dtype, (uint64_t)un__const_int(n));
    return;
  }
  const uintptr_t *number = un__ptrmap_get(&r->names, n);
  if (number) un__sb_printf(out, "%%v%u", (unsigned)*number);
  else un__fail(r->err, UN_ERR_INTERNAL, "llvm: %s is used before it stands in the list", un__info(n)->name);
}

void un__llvm_bind(un__llvm *r, const un_uop *n, uint32_t number) {
  uintptr_t *place = un__ptrmap_put(&r->names, n, NULL);
  if (place) *place = number;
  else un__fail(r->err, UN_ERR_NOMEM, "no memory for LLVM IR");
}

uint32_t un__llvm_temp(un__llvm *r) {
  un__sb_printf(&r->body, "  %%v%u = ", r->next_value);
  return r->next_value++;
}

void un__llvm_define(un__llvm *r, const un_uop *n) { un__llvm_bind(r, n, un__llvm_temp(r)); }

static void put_operand(un__llvm *r, un__operand o) {
  if (o.node) un__llvm_put_value(r, &r->body, o.node);
  else un__sb_printf(&r->body, "%%v%u", o.number);
}

void un__llvm_emit(un__llvm *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  un__strbuf *out = &r->body;
  for (const char *p = fmt; *p; p++) {
    if (*p != '%') {
      un__sb_putc(out, *p);
      continue;
    }
    switch (*++p) {
    case 'T': un__llvm_put_type(out, va_arg(ap, un__dtype)); break;
    case 'M': un__llvm_put_memory_type(out, va_arg(ap, un__dtype)); break;
    case 'S': un__llvm_put_suffix(out, va_arg(ap, un__dtype)); break;
    case 'V': un__llvm_put_value(r, out, va_arg(ap, const un_uop *)); break;
    case 'O': put_operand(r, va_arg(ap, un__operand)); break;
    case 't': un__sb_printf(out, "%%v%u", va_arg(ap, uint32_t)); break;
    case 'b': un__sb_printf(out, "%%b%u", va_arg(ap, uint32_t)); break;
    case 'd': un__sb_printf(out, "%u", va_arg(ap, uint32_t)); break;
    case 's': un__sb_puts(out, va_arg(ap, const char *)); break;
    default: un__sb_putc(out, *p);     /* %% */
    }
  }
  va_end(ap);
}

void un__llvm_declare(un__llvm *r, un__strbuf *text) {
  if (text->failed) r->decls.failed = true;
  else if (!strstr(un__sb_str(&r->decls), un__sb_str(text))) un__sb_printf(&r->decls, "declare %s\n", un__sb_str(text));
  un__sb_finish(text);
}
