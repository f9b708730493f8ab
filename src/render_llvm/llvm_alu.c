/* llvm_alu.c - arithmetic, conversions and vectors as LLVM IR. Undefined behaviour of LLVM's instructions (division by
 * zero, wide shifts, out-of-range conversions) is kept away by bounds where they prove it absent, else by selects that
 * give ops.def's answer. */
#include "llvm_text.h"

#include "uop/eval.h"

/* ---- one instruction, by dtype class ---- */

typedef struct instruction { const char *f, *s, *u, *b; } instruction;   /* float, signed, unsigned, bool */

static const instruction binary[UN__OP_COUNT] = {
  [UN__OP_ADD] = {"fadd", "add", "add", NULL},
  [UN__OP_SUB] = {"fsub", "sub", "sub", NULL},
  [UN__OP_MUL] = {"fmul", "mul", "mul", NULL},
  [UN__OP_FDIV] = {"fdiv", NULL, NULL, NULL},
  [UN__OP_AND] = {NULL, "and", "and", "and"},
  [UN__OP_OR] = {NULL, "or", "or", "or"},
  [UN__OP_XOR] = {NULL, "xor", "xor", "xor"},
  [UN__OP_LT] = {"fcmp olt", "icmp slt", "icmp ult", "icmp ult"},
  [UN__OP_EQ] = {"fcmp oeq", "icmp eq", "icmp eq", "icmp eq"},
  [UN__OP_NE] = {"fcmp une", "icmp ne", "icmp ne", "icmp ne"},
  [UN__OP_MAX] = {NULL, "smax", "umax", "or"},
  [UN__OP_MIN] = {NULL, "smin", "umin", "and"},
  [UN__OP_SHL] = {NULL, "shl", "shl", NULL},
  [UN__OP_SHR] = {NULL, "ashr", "lshr", NULL},
  [UN__OP_TRUNCDIV] = {NULL, "sdiv", "udiv", NULL},
  [UN__OP_TRUNCMOD] = {NULL, "srem", "urem", NULL},
};

static const char *pick(const instruction *i, un__dtype d) {
  switch (un__dt_class(d)) {
  case UN__CLASS_FLOAT: return i->f;
  case UN__CLASS_INT: return i->s;
  case UN__CLASS_UINT: return i->u;
  case UN__CLASS_BOOL: return i->b;
  default: return NULL;
  }
}

static void declare_overload(un__llvm *r, const char *name, un__dtype d, unsigned nargs) {
  un__strbuf s;
  un__sb_init(&s);
  un__llvm_put_type(&s, d);
  un__sb_printf(&s, " @llvm.%s.", name);
  un__llvm_put_suffix(&s, d);
  un__sb_putc(&s, '(');
  for (unsigned i = 0; i < nargs; i++) {
    if (i) un__sb_puts(&s, ", ");
    un__llvm_put_type(&s, d);
  }
  un__sb_putc(&s, ')');
  un__llvm_declare(r, &s);
}

static bool put_intrinsic(un__llvm *r, const un_uop *n, const char *name) {
  declare_overload(r, name, n->dtype, n->nsrc);
  un__llvm_define(r, n);
  un__llvm_emit(r, "call %T @llvm.%s.%S(", n->dtype, name, n->dtype);
  for (uint32_t i = 0; i < n->nsrc; i++) un__llvm_emit(r, "%s%T %V", i ? ", " : "", n->dtype, n->src[i]);
  un__llvm_emit(r, ")\n");
  return true;
}

/* ---- unary ---- */

/* The literal of a small integer or float of dtype d. */
static void put_number(un__llvm *r, un__dtype d, int64_t v) {
  un__dtype scalar = UN__DT(un__dt_scalar(d));
  uint64_t bits = un__dt_is_float(d) ? un__value_bits(un__value_f(scalar, (double)v)) : (uint64_t)v;
  un__llvm_put_const(&r->body, d, bits);
}

static bool put_neg(un__llvm *r, const un_uop *n) {
  un__llvm_define(r, n);
  if (un__dt_is_float(n->dtype)) {
    un__llvm_emit(r, "fneg %T %V\n", n->dtype, n->src[0]);
    return true;
  }
  un__llvm_emit(r, "sub %T ", n->dtype);
  put_number(r, n->dtype, 0);
  un__llvm_emit(r, ", %V\n", n->src[0]);
  return true;
}

static bool put_recip(un__llvm *r, const un_uop *n) {
  un__llvm_define(r, n);
  un__llvm_emit(r, "fdiv %T ", n->dtype);
  put_number(r, n->dtype, 1);
  un__llvm_emit(r, ", %V\n", n->src[0]);
  return true;
}

static bool put_not(un__llvm *r, const un_uop *n) {
  un__llvm_define(r, n);
  un__llvm_emit(r, "xor %T %V, ", n->dtype, n->src[0]);
  put_number(r, n->dtype, un__dt_is_bool(n->dtype) ? 1 : -1);
  un__llvm_emit(r, "\n");
  return true;
}

static bool put_sqrt(un__llvm *r, const un_uop *n) { return put_intrinsic(r, n, "sqrt"); }
static bool put_trunc(un__llvm *r, const un_uop *n) { return put_intrinsic(r, n, "trunc"); }
static bool put_floor(un__llvm *r, const un_uop *n) { return put_intrinsic(r, n, "floor"); }

/* ---- binary with care ---- */

/* Compare and select give the second operand when either is NaN; a NaN in the first is then put back. */
static uint32_t put_float_extremum(un__llvm *r, un__op op, un__dtype d, un__operand a, un__operand b) {
  un__dtype truth = un__dt_vec(UN_BOOL, un__dt_lanes(d));
  uint32_t first = un__llvm_temp(r);
  un__llvm_emit(r, "fcmp %s %T %O, %O\n", op == UN__OP_MAX ? "ogt" : "olt", d, a, b);
  uint32_t chosen = un__llvm_temp(r);
  un__llvm_emit(r, "select %T %t, %T %O, %T %O\n", truth, first, d, a, d, b);
  uint32_t nan = un__llvm_temp(r);
  un__llvm_emit(r, "fcmp uno %T %O, %O\n", d, a, a);
  uint32_t out = un__llvm_temp(r);
  un__llvm_emit(r, "select %T %t, %T %O, %T %t\n", truth, nan, d, a, d, chosen);
  return out;
}

/* a op b for the ops that reductions use; false: LLVM has no form of it. */
static bool put_combine(un__llvm *r, un__op op, un__dtype d, un__operand a, un__operand b, uint32_t *out) {
  const char *name = pick(&binary[op], d);
  bool extremum = op == UN__OP_MAX || op == UN__OP_MIN;
  if (extremum && un__dt_is_float(d)) return *out = put_float_extremum(r, op, d, a, b), true;
  if (!name) return false;
  if (extremum && !un__dt_is_bool(d)) {
    declare_overload(r, name, d, 2);
    *out = un__llvm_temp(r);
    un__llvm_emit(r, "call %T @llvm.%s.%S(%T %O, %T %O)\n", d, name, d, d, a, d, b);
    return true;
  }
  *out = un__llvm_temp(r);
  un__llvm_emit(r, "%s %T %O, %O\n", name, d, a, b);
  return true;
}

static bool put_binary(un__llvm *r, const un_uop *n) {
  uint32_t out;
  if (!put_combine(r, (un__op)n->op, n->src[0]->dtype, un__llvm_node(n->src[0]), un__llvm_node(n->src[1]), &out)) return false;
  un__llvm_bind(r, n, out);
  return true;
}

static bool may_be_zero(const un_uop *n) { return n->vmin <= 0 && n->vmax >= 0; }
static bool may_be_minus_one(const un_uop *n) {
  return un__dt_class(n->dtype) == UN__CLASS_INT && n->vmin <= -1 && n->vmax >= -1;
}

/* "%t<out> = icmp eq d n, v" */
static uint32_t put_equals(un__llvm *r, const un_uop *n, int64_t v) {
  uint32_t t = un__llvm_temp(r);
  un__llvm_emit(r, "icmp eq %T %V, ", n->dtype, n);
  put_number(r, n->dtype, v);
  un__llvm_emit(r, "\n");
  return t;
}

/* A divisor that can be given to LLVM: 1 in place of 0, and of -1 where MIN / -1 would overflow (then the quotient is
 * negated afterwards by the caller's op being taken of MIN itself: MIN / 1 = MIN, as ops.def says; MIN mod 1 = 0). */
static uint32_t put_safe_divisor(un__llvm *r, const un_uop *a, const un_uop *b, uint32_t zero) {
  un__dtype truth = un__dt_vec(UN_BOOL, un__dt_lanes(b->dtype));
  uint32_t bad = zero;
  if (may_be_minus_one(b)) {
    int64_t min = INT64_MIN >> (64 - un__dt_info(b->dtype)->mantissa);
    uint32_t overflow_a = put_equals(r, a, min), overflow_b = put_equals(r, b, -1);
    uint32_t both = un__llvm_temp(r);
    un__llvm_emit(r, "and %T %t, %t\n", truth, overflow_a, overflow_b);
    bad = un__llvm_temp(r);
    un__llvm_emit(r, "or %T %t, %t\n", truth, zero, both);
  }
  uint32_t safe = un__llvm_temp(r);
  un__llvm_emit(r, "select %T %t, %T ", truth, bad, b->dtype);
  put_number(r, b->dtype, 1);
  un__llvm_emit(r, ", %T %V\n", b->dtype, b);
  return safe;
}

/* a / safe or a mod safe. Vectors lane by lane, as processors do them: LLVM 19 (InstSimplify, threading over a select) takes
 * a vector divisor with a constant 0 in one lane for a division that never runs, though the select keeps that lane out. */
static uint32_t put_divided(un__llvm *r, const char *name, un__dtype d, const un_uop *a, uint32_t safe) {
  uint32_t lanes = un__dt_lanes(d), out = 0;
  un__dtype scalar = UN__DT(un__dt_scalar(d));
  if (lanes == 1) {
    out = un__llvm_temp(r);
    un__llvm_emit(r, "%s %T %V, %t\n", name, d, a, safe);
    return out;
  }
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t x = un__llvm_temp(r);
    un__llvm_emit(r, "extractelement %T %V, i32 %d\n", d, a, i);
    uint32_t y = un__llvm_temp(r);
    un__llvm_emit(r, "extractelement %T %t, i32 %d\n", d, safe, i);
    uint32_t q = un__llvm_temp(r);
    un__llvm_emit(r, "%s %T %t, %t\n", name, scalar, x, y);
    uint32_t before = out;
    out = un__llvm_temp(r);
    if (i == 0) un__llvm_emit(r, "insertelement %T poison, ", d);
    else un__llvm_emit(r, "insertelement %T %t, ", d, before);
    un__llvm_emit(r, "%T %t, i32 %d\n", scalar, q, i);
  }
  return out;
}

static bool put_division(un__llvm *r, const un_uop *n) {
  const un_uop *a = n->src[0], *b = n->src[1];
  if (!may_be_zero(b) && !may_be_minus_one(b)) return put_binary(r, n);
  const char *name = pick(&binary[n->op], n->dtype);
  un__dtype truth = un__dt_vec(UN_BOOL, un__dt_lanes(n->dtype));
  uint32_t zero = put_equals(r, b, 0), safe = put_safe_divisor(r, a, b, zero);
  uint32_t q = put_divided(r, name, n->dtype, a, safe);
  un__llvm_define(r, n);
  un__llvm_emit(r, "select %T %t, %T ", truth, zero, n->dtype);
  if (n->op == UN__OP_TRUNCDIV) put_number(r, n->dtype, 0);
  else un__llvm_put_value(r, &r->body, a);
  un__llvm_emit(r, ", %T %t\n", n->dtype, q);
  return true;
}

/* Shifts by bits or more: SHL and unsigned SHR give 0, signed SHR fills with the sign (a shift by bits - 1). */
static bool put_shift(un__llvm *r, const un_uop *n) {
  const un_uop *a = n->src[0], *b = n->src[1];
  int64_t bits = un__dt_info(n->dtype)->mantissa;
  if (b->vmin >= 0 && b->vmax < bits) return put_binary(r, n);
  un__dtype truth = un__dt_vec(UN_BOOL, un__dt_lanes(n->dtype));
  const char *name = pick(&binary[n->op], n->dtype);
  bool arithmetic = n->op == UN__OP_SHR && un__dt_class(n->dtype) == UN__CLASS_INT;
  uint32_t wide = un__llvm_temp(r);
  un__llvm_emit(r, "icmp ugt %T %V, ", b->dtype, b);
  put_number(r, b->dtype, bits - 1);
  uint32_t count = (un__llvm_emit(r, "\n"), un__llvm_temp(r));
  un__llvm_emit(r, "select %T %t, %T ", truth, wide, b->dtype);
  put_number(r, b->dtype, arithmetic ? bits - 1 : 0);
  un__llvm_emit(r, ", %T %V\n", b->dtype, b);
  if (arithmetic) {
    un__llvm_define(r, n);
    un__llvm_emit(r, "%s %T %V, %t\n", name, n->dtype, a, count);
    return true;
  }
  uint32_t shifted = un__llvm_temp(r);
  un__llvm_emit(r, "%s %T %V, %t\n", name, n->dtype, a, count);
  un__llvm_define(r, n);
  un__llvm_emit(r, "select %T %t, %T ", truth, wide, n->dtype);
  put_number(r, n->dtype, 0);
  un__llvm_emit(r, ", %T %t\n", n->dtype, shifted);
  return true;
}

/* ---- ternary ---- */

static bool put_where(un__llvm *r, const un_uop *n) {
  un__llvm_define(r, n);
  un__llvm_emit(r, "select %T %V, %T %V, %T %V\n", n->src[0]->dtype, n->src[0], n->dtype, n->src[1], n->dtype, n->src[2]);
  return true;
}

static bool put_mulacc(un__llvm *r, const un_uop *n) {
  if (un__dt_is_float(n->dtype)) return put_intrinsic(r, n, "fma");
  uint32_t t = un__llvm_temp(r);
  un__llvm_emit(r, "mul %T %V, %V\n", n->dtype, n->src[0], n->src[1]);
  un__llvm_define(r, n);
  un__llvm_emit(r, "add %T %t, %V\n", n->dtype, t, n->src[2]);
  return true;
}

/* ---- conversions ---- */

static bool put_convert(un__llvm *r, const un_uop *n, const char *name) {
  un__llvm_define(r, n);
  un__llvm_emit(r, "%s %T %V to %T\n", name, n->src[0]->dtype, n->src[0], n->dtype);
  return true;
}

static bool put_truth(un__llvm *r, const un_uop *n) {
  un__dtype from = n->src[0]->dtype;
  un__llvm_define(r, n);
  un__llvm_emit(r, "%s %T %V, ", un__dt_is_float(from) ? "fcmp une" : "icmp ne", from, n->src[0]);
  put_number(r, from, 0);
  un__llvm_emit(r, "\n");
  return true;
}

static bool put_saturating(un__llvm *r, const un_uop *n) {
  un__dtype from = n->src[0]->dtype;
  const char *name = un__dt_class(n->dtype) == UN__CLASS_INT ? "fptosi.sat" : "fptoui.sat";
  un__strbuf s;
  un__sb_init(&s);
  un__llvm_put_type(&s, n->dtype);
  un__sb_printf(&s, " @llvm.%s.", name);
  un__llvm_put_suffix(&s, n->dtype);
  un__sb_putc(&s, '.');
  un__llvm_put_suffix(&s, from);
  un__sb_putc(&s, '(');
  un__llvm_put_type(&s, from);
  un__sb_putc(&s, ')');
  un__llvm_declare(r, &s);
  un__llvm_define(r, n);
  un__llvm_emit(r, "call %T @llvm.%s.%S.%S(%T %V)\n", n->dtype, name, n->dtype, from, from, n->src[0]);
  return true;
}

static void put_float(un__llvm *r, un__dtype d, double v) {
  un__llvm_put_const(&r->body, d, un__value_bits(un__value_f(UN__DT(un__dt_scalar(d)), v)));
}

/* "%out = x <compare> limit ? value : otherwise" */
static uint32_t put_limit(un__llvm *r, const un_uop *n, const char *compare, double limit, int64_t value, uint32_t otherwise) {
  un__dtype from = n->src[0]->dtype, truth = un__dt_vec(UN_BOOL, un__lanes(n));
  uint32_t beyond = un__llvm_temp(r);
  un__llvm_emit(r, "fcmp %s %T %V, ", compare, from, n->src[0]);
  put_float(r, from, limit);
  uint32_t out = (un__llvm_emit(r, "\n"), un__llvm_temp(r));
  un__llvm_emit(r, "select %T %t, %T ", truth, beyond, n->dtype);
  un__llvm_put_const(&r->body, n->dtype, (uint64_t)value);
  un__llvm_emit(r, ", %T %t\n", n->dtype, otherwise);
  return out;
}

/* What the saturating intrinsics do, on vectors, which LLVM would take apart for them. The plain conversion is poison
 * outside of its range, and not chosen there. Short integers are reached by way of 32 bits. */
static bool put_saturating_lanes(un__llvm *r, const un_uop *n) {
  const un__dtype_info *to = un__dt_info(n->dtype);
  bool is_signed = to->cls == UN__CLASS_INT;
  un__dtype wide = to->size < 4 ? un__dt_vec(UN_I32, un__lanes(n)) : n->dtype;
  uint32_t t = un__llvm_temp(r);
  un__llvm_emit(r, "%s %T %V to %T\n", is_signed || wide != n->dtype ? "fptosi" : "fptoui", n->src[0]->dtype, n->src[0], wide);
  if (wide != n->dtype) {
    uint32_t before = t;
    t = un__llvm_temp(r);
    un__llvm_emit(r, "trunc %T %t to %T\n", wide, before, n->dtype);
  }
  int bits = to->mantissa - (is_signed ? 1 : 0);
  int64_t max = is_signed || bits < 64 ? (int64_t)(UINT64_MAX >> (64 - bits)) : -1, min = is_signed ? -max - 1 : 0;
  t = put_limit(r, n, "oge", (double)(UINT64_MAX >> (64 - bits)) + 1, max, t);
  t = put_limit(r, n, "olt", (double)min, min, t);
  t = put_limit(r, n, "uno", 0, 0, t);
  un__llvm_bind(r, n, t);
  return true;
}

/* A conversion that changes nothing in LLVM's eyes (i32 to u32): a bitcast of a type to itself. */
static bool put_same(un__llvm *r, const un_uop *n) {
  un__llvm_define(r, n);
  un__llvm_emit(r, "bitcast %T %V to %T\n", n->src[0]->dtype, n->src[0], n->dtype);
  return true;
}

static bool put_cast(un__llvm *r, const un_uop *n) {
  un__dtype from = n->src[0]->dtype, to = n->dtype;
  const un__dtype_info *f = un__dt_info(from), *t = un__dt_info(to);
  bool from_float = f->cls == UN__CLASS_FLOAT, to_float = t->cls == UN__CLASS_FLOAT;
  bool is_signed = f->cls == UN__CLASS_INT;
  if (t->cls == UN__CLASS_BOOL) return put_truth(r, n);
  if (from_float && to_float) {
    if (f->size == t->size) return false;     /* f16 and bf16 go through f32 */
    return put_convert(r, n, f->size > t->size ? "fptrunc" : "fpext");
  }
  if (from_float) return un__lanes(n) > 1 ? put_saturating_lanes(r, n) : put_saturating(r, n);
  if (to_float) return put_convert(r, n, is_signed ? "sitofp" : "uitofp");
  if (f->mantissa == t->mantissa) return put_same(r, n);
  return put_convert(r, n, f->mantissa > t->mantissa ? "trunc" : is_signed ? "sext" : "zext");
}

/* ---- vectors ---- */

static bool put_splat(un__llvm *r, const un_uop *n) {
  uint32_t t = un__llvm_temp(r), lanes = un__lanes(n);
  un__llvm_emit(r, "insertelement %T poison, %T %V, i32 0\n", n->dtype, n->src[0]->dtype, n->src[0]);
  un__llvm_define(r, n);
  un__llvm_emit(r, "shufflevector %T %t, %T poison, <%d x i32> zeroinitializer\n", n->dtype, t, n->dtype, lanes);
  return true;
}

static bool put_vectorize(un__llvm *r, const un_uop *n) {
  uint32_t lanes = un__lanes(n), t = 0;
  if (n->nsrc == 1 && lanes > 1) return put_splat(r, n);
  if (n->nsrc != lanes || lanes == 1) return false;
  for (uint32_t i = 0; i < lanes; i++) {
    uint32_t before = t;
    if (i + 1 == lanes) un__llvm_define(r, n);
    else t = un__llvm_temp(r);
    if (i == 0) un__llvm_emit(r, "insertelement %T poison, ", n->dtype);
    else un__llvm_emit(r, "insertelement %T %t, ", n->dtype, before);
    un__llvm_emit(r, "%T %V, i32 %d\n", n->src[i]->dtype, n->src[i], i);
  }
  return true;
}

static bool put_gep(un__llvm *r, const un_uop *n) {
  un__dtype from = n->src[0]->dtype;
  if (n->nattr == 1 && un__dt_lanes(from) == 1) return put_same(r, n);
  un__llvm_define(r, n);
  if (n->nattr == 1) {
    un__llvm_emit(r, "extractelement %T %V, i32 %d\n", from, n->src[0], (uint32_t)un__attr(n, 0));
    return true;
  }
  un__llvm_emit(r, "shufflevector %T %V, %T poison, <%d x i32> <", from, n->src[0], from, (uint32_t)n->nattr);
  for (uint32_t i = 0; i < n->nattr; i++) un__llvm_emit(r, "%si32 %d", i ? ", " : "", (uint32_t)un__attr(n, i));
  un__llvm_emit(r, ">\n");
  return true;
}

/* Lanes [from, from + count) of a vector as a value of their own. */
static uint32_t put_lanes(un__llvm *r, un__dtype d, un__operand whole, uint32_t from, uint32_t count) {
  uint32_t out = un__llvm_temp(r);
  if (count == 1) {
    un__llvm_emit(r, "extractelement %T %O, i32 %d\n", d, whole, from);
    return out;
  }
  un__llvm_emit(r, "shufflevector %T %O, %T poison, <%d x i32> <", d, whole, d, count);
  for (uint32_t i = 0; i < count; i++) un__llvm_emit(r, "%si32 %d", i ? ", " : "", from + i);
  un__llvm_emit(r, ">\n");
  return out;
}

/* Lane i is combined with lane i + half, halving until one lane is left. */
static bool put_hreduce(un__llvm *r, const un_uop *n) {
  un__dtype d = n->src[0]->dtype;
  uint32_t lanes = un__dt_lanes(d), out = 0;
  if (lanes < 2 || lanes & (lanes - 1)) return false;
  un__operand whole = un__llvm_node(n->src[0]);
  for (uint32_t half = lanes / 2; half; half /= 2) {
    uint32_t a = put_lanes(r, d, whole, 0, half), b = put_lanes(r, d, whole, half, half);
    d = un__dt_with_lanes(d, half);
    if (!put_combine(r, (un__op)un__attr(n, 0), d, un__llvm_number(a), un__llvm_number(b), &out)) return false;
    whole = un__llvm_number(out);
  }
  un__llvm_bind(r, n, out);
  return true;
}

/* ---- dispatch ---- */

static bool (*const put[UN__OP_COUNT])(un__llvm *r, const un_uop *n) = {
  [UN__OP_NEG] = put_neg, [UN__OP_RECIP] = put_recip, [UN__OP_SQRT] = put_sqrt, [UN__OP_TRUNC] = put_trunc,
  [UN__OP_FLOOR] = put_floor, [UN__OP_NOT] = put_not, [UN__OP_ADD] = put_binary, [UN__OP_SUB] = put_binary,
  [UN__OP_MUL] = put_binary, [UN__OP_FDIV] = put_binary, [UN__OP_AND] = put_binary, [UN__OP_OR] = put_binary,
  [UN__OP_XOR] = put_binary, [UN__OP_LT] = put_binary, [UN__OP_EQ] = put_binary, [UN__OP_NE] = put_binary,
  [UN__OP_MAX] = put_binary, [UN__OP_MIN] = put_binary, [UN__OP_TRUNCDIV] = put_division,
  [UN__OP_TRUNCMOD] = put_division, [UN__OP_SHL] = put_shift, [UN__OP_SHR] = put_shift, [UN__OP_WHERE] = put_where,
  [UN__OP_MULACC] = put_mulacc, [UN__OP_CAST] = put_cast, [UN__OP_BITCAST] = put_same, [UN__OP_VECTORIZE] = put_vectorize,
  [UN__OP_GEP] = put_gep, [UN__OP_HREDUCE] = put_hreduce,
};

bool un__llvm_alu(un__llvm *r, const un_uop *n) { return put[n->op] && put[n->op](r, n); }
