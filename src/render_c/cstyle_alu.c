/* cstyle_alu.c - arithmetic, conversions and vectors as expressions. What C leaves undefined (division by zero, wide shifts,
 * signed overflow, conversions out of range) is kept away by bounds where they prove it absent, else by conditions that
 * give ops.def's answer. */
#include "cstyle.h"

#include <string.h>

#include "uop/eval.h"

/* ---- when the plain form will do ---- */

static int64_t width_of(const un_uop *n) { return un__dt_info(n->dtype)->mantissa; }

static bool within(int64_t v, int64_t bits) {
  int64_t max = bits == 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
  return v >= -max && v <= max;
}

/* a op b for every pair of ends. False: it may leave int64. */
static bool ends_within(un__op op, const un_uop *a, const un_uop *b, int64_t bits) {
  int64_t x[] = {a->vmin, a->vmax}, y[] = {b->vmin, b->vmax}, v;
  for (int i = 0; i < 4; i++) {
    int64_t p = x[i & 1], q = y[i >> 1];
    if (un__is_inf(p) || un__is_inf(q)) return false;
    bool overflow = op == UN__OP_ADD ? __builtin_add_overflow(p, q, &v)
                  : op == UN__OP_SUB ? __builtin_sub_overflow(p, q, &v) : __builtin_mul_overflow(p, q, &v);
    if (overflow || !within(v, bits)) return false;
  }
  return true;
}

/* Unsigned numbers of at least the size of int wrap by themselves. */
static bool never_overflows(const un_uop *n) {
  if (un__dt_class(n->dtype) == UN__CLASS_UINT) return width_of(n) >= 32;
  if (n->op == UN__OP_NEG) return n->src[0]->vmin > INT64_MIN >> (64 - width_of(n));
  return ends_within((un__op)n->op, n->src[0], n->src[1], width_of(n));
}

static bool count_in_range(const un_uop *n) { return n->src[1]->vmin >= 0 && n->src[1]->vmax < width_of(n); }

static bool divides(const un_uop *n) {
  const un_uop *b = n->src[1];
  bool zero = b->vmin <= 0 && b->vmax >= 0;
  bool minus_one = un__dt_class(b->dtype) == UN__CLASS_INT && b->vmin <= -1 && b->vmax >= -1;
  return !zero && !minus_one;
}

/* ---- expressions ---- */

/* How an op is written: of floats, signed and unsigned integers, of integers when `plain_if` holds, of bools. $a $b $c are
 * the operands, $T their type, $U the unsigned type that they are computed in, $w its dtype's bits, $m one less, $f the
 * function. The statement converts the value to the result's type, which keeps the low bits. */
typedef struct form {
  const char *of_float, *of_signed, *of_unsigned, *plain, *of_bool;
  bool (*plain_if)(const un_uop *n);
  un__c_function f32, f64;
  const char *better;      /* of floats, where the language has the function */
} form;

#define ANY(text) text, text, text, NULL, text
#define BITS(integer, truth) NULL, integer, integer, NULL, truth

static const form forms[UN__OP_COUNT] = {
  [UN__OP_NEG] = {"-$a", "0 - ($U)$a", "0 - ($U)$a", "-$a", NULL, never_overflows},
  [UN__OP_RECIP] = {"1 / $a"},
  [UN__OP_SQRT] = {"$f($a)", .f32 = UN__C_SQRT_F32, .f64 = UN__C_SQRT_F64},
  [UN__OP_EXP] = {.f32 = UN__C_EXP_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_EXP2] = {.f32 = UN__C_EXP2_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_LOG] = {.f32 = UN__C_LOG_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_LOG2] = {.f32 = UN__C_LOG2_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_TANH] = {.f32 = UN__C_TANH_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_EXP2_NEAR] = {.f32 = UN__C_EXP2_NEAR_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_TANH_NEAR] = {.f32 = UN__C_TANH_NEAR_F32, .f64 = UN__C_FUNCTIONS, .better = "$f($a)"},
  [UN__OP_TRUNC] = {"$f($a)", .f32 = UN__C_TRUNC_F32, .f64 = UN__C_TRUNC_F64},
  [UN__OP_FLOOR] = {"$f($a)", .f32 = UN__C_FLOOR_F32, .f64 = UN__C_FLOOR_F64},
  [UN__OP_NOT] = {BITS("~$a", "!$a")},
  [UN__OP_ADD] = {"$a + $b", "($U)$a + ($U)$b", "($U)$a + ($U)$b", "$a + $b", NULL, never_overflows},
  [UN__OP_SUB] = {"$a - $b", "($U)$a - ($U)$b", "($U)$a - ($U)$b", "$a - $b", NULL, never_overflows},
  [UN__OP_MUL] = {"$a * $b", "($U)$a * ($U)$b", "($U)$a * ($U)$b", "$a * $b", NULL, never_overflows},
  [UN__OP_FDIV] = {"$a / $b"},
  [UN__OP_TRUNCDIV] = {NULL, "$b == 0 ? 0 : $b == -1 ? 0 - ($U)$a : $a / $b", "$b == 0 ? 0 : $a / $b", "$a / $b", NULL, divides},
  [UN__OP_TRUNCMOD] = {NULL, "$b == 0 ? $a : $b == -1 ? 0 : $a % $b", "$b == 0 ? $a : $a % $b", "$a % $b", NULL, divides},
  /* Of a NaN and a number neither is larger: then a when it is the NaN, else b. */
  [UN__OP_MAX] = {"$a > $b || $a != $a ? $a : $b", "$a > $b ? $a : $b", "$a > $b ? $a : $b", NULL, "$a | $b", NULL,
                  UN__C_MAX_F32, UN__C_MAX_F64, "$f($a, $b)"},
  [UN__OP_MIN] = {"$a < $b || $a != $a ? $a : $b", "$a < $b ? $a : $b", "$a < $b ? $a : $b", NULL, "$a & $b", NULL,
                  UN__C_MIN_F32, UN__C_MIN_F64, "$f($a, $b)"},
  [UN__OP_LT] = {ANY("$a < $b")},
  [UN__OP_NE] = {ANY("$a != $b")},
  [UN__OP_EQ] = {ANY("$a == $b")},
  [UN__OP_AND] = {BITS("$a & $b", "$a & $b")},
  [UN__OP_OR] = {BITS("$a | $b", "$a | $b")},
  [UN__OP_XOR] = {BITS("$a ^ $b", "$a ^ $b")},
  [UN__OP_SHL] = {NULL, "($U)$b < $w ? ($U)$a << $b : 0", "($U)$b < $w ? ($U)$a << $b : 0", "($U)$a << $b", NULL, count_in_range},
  [UN__OP_SHR] = {NULL, "$a >> (($U)$b < $w ? $b : $m)", "($U)$b < $w ? $a >> $b : 0", "$a >> $b", NULL, count_in_range},
  [UN__OP_WHERE] = {ANY("$a ? $b : $c")},
  [UN__OP_MULACC] = {"$f($a, $b, $c)", "($U)$a * ($U)$b + ($U)$c", "($U)$a * ($U)$b + ($U)$c", .f32 = UN__C_FMA_F32, .f64 = UN__C_FMA_F64},
};

#undef ANY
#undef BITS

/* n: the node, whose bounds may allow the plain form; NULL: none. d: dtype of the operands, of WHERE's choices. */
static const char *pick(const un__cstyle *r, const form *f, un__dtype d, const un_uop *n) {
  un__class c = un__dt_class(d);
  bool wide = un__dt_info(d)->size == 8;
  un__c_function better = wide ? f->f64 : f->f32;
  if (c == UN__CLASS_FLOAT && f->better && better < UN__C_FUNCTIONS && r->dialect->function[better].name) return f->better;
  if (n && f->plain_if && (c == UN__CLASS_INT || c == UN__CLASS_UINT) && f->plain_if(n)) return f->plain;
  switch (c) {
  case UN__CLASS_FLOAT: return f->of_float;
  case UN__CLASS_INT: return f->of_signed;
  case UN__CLASS_UINT: return f->of_unsigned;
  case UN__CLASS_BOOL: return f->of_bool;
  default: return NULL;
  }
}

static void put_form(un__cstyle *r, const char *text, const form *f, un__dtype d, const un__c_ref *operand) {
  bool wide = un__dt_info(d)->size == 8;
  int64_t bits = un__dt_info(d)->mantissa;
  for (const char *p = text; *p; p++) {
    if (*p != '$') {
      un__sb_putc(&r->body, *p);
      continue;
    }
    switch (*++p) {
    case 'T': un__c_emit(r, "%T", d); break;
    case 'U': un__c_emit(r, wide ? "u64" : "u32"); break;
    case 'w': un__c_emit(r, "%d", bits); break;
    case 'm': un__c_emit(r, "%d", bits - 1); break;
    case 'f': un__c_emit(r, "%f", wide ? f->f64 : f->f32); break;
    default: un__c_put_ref(r, operand[*p - 'a']);
    }
  }
}

/* "const T out = a op b;" */
static void put_op(un__cstyle *r, const char *text, un__op op, un__dtype d, un__dtype result, const un__c_ref *operand, un__c_ref out) {
  un__c_begin(r, result, out);
  put_form(r, text, &forms[op], d, operand);
  un__c_emit(r, ";\n");
}

/* The factor of a MULACC that is not the same in all lanes; NULL: there is none, or both are. */
static const un_uop *vector_factor(const un_uop *n) {
  bool same[2];
  for (int i = 0; i < 2; i++) same[i] = un__is(n->src[i], UN__OP_VECTORIZE) && n->src[i]->nsrc == 1;
  return same[0] == same[1] ? NULL : n->src[same[0]];
}

/* Products with the vector of the ones before begin at the lane where these ended: compilers for GPUs keep to the order, and an
 * operand that two neighbours share is read from registers once. */
static bool from_the_end(un__cstyle *r, const un_uop *n) {
  if (n->op != UN__OP_MULACC || !r->dialect->turns || un__lanes(n) < 2) return false;
  const un_uop *factor = vector_factor(n);
  if (factor && factor == r->factor) r->back = !r->back;
  r->factor = factor;
  return r->back;
}

static bool put_elementwise(un__cstyle *r, const un_uop *n) {
  const un_uop *typical = n->src[n->op == UN__OP_WHERE ? 1 : 0];
  const char *text = pick(r, &forms[n->op], typical->dtype, n);
  /* Narrow floats have bits only; choosing between them needs no more. */
  bool bits_only = un__dt_is_float(typical->dtype) && un__dt_info(typical->dtype)->size < 4 && n->op != UN__OP_WHERE;
  if (!text || bits_only || n->nsrc > 3 || !un__c_define(r, n, 'v', r->at)) return false;
  bool back = from_the_end(r, n);
  for (uint32_t k = 0, lanes = un__lanes(n); k < lanes; k++) {
    uint32_t lane = back ? lanes - 1 - k : k;
    un__c_ref operand[3];
    for (uint32_t i = 0; i < n->nsrc; i++) operand[i] = un__c_lane(r, n->src[i], lane);
    if (r->dialect->operand) operand[0] = r->dialect->operand(r, n, operand[0]);
    put_op(r, text, (un__op)n->op, typical->dtype, n->dtype, operand, un__c_lane(r, n, lane));
  }
  return true;
}

/* ---- conversions ---- */

/* A literal of d for a double that is one of its values, or an integer. */
static void put_float_literal(un__cstyle *r, un__dtype d, double v) {
  un__c_put_const(r, d, un__value_bits(un__value_f(UN__DT(un__dt_scalar(d)), v)));
}

/* Towards zero, NaN to 0, what is out of range to the nearest end. The ends are powers of two, which floats hold: `end` is the
 * first number too large. */
static void put_saturating(un__cstyle *r, un__dtype from, un__dtype to, un__c_ref a) {
  bool is_signed = un__dt_class(to) == UN__CLASS_INT;
  int bits = un__dt_info(to)->mantissa - is_signed;
  uint64_t max = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  double end = 2.0 * (double)(UINT64_C(1) << (bits - 1));
  un__c_emit(r, "%R >= ", a);
  put_float_literal(r, from, end);
  un__c_emit(r, " ? ");
  un__c_put_const(r, to, max);
  if (!is_signed) {
    un__c_emit(r, " : %R > 0 ? (%T)%R : 0", a, to, a);
    return;
  }
  un__c_emit(r, " : %R >= ", a);
  put_float_literal(r, from, -end);
  un__c_emit(r, " ? (%T)%R : %R != %R ? 0 : ", to, a, a, a);
  un__c_put_const(r, to, ~max);
}

/* The function that converts between f32 and a narrower float; UN__C_FUNCTIONS: lowering was to leave no such CAST. */
static un__c_function narrow_conversion(un_dtype from, un_dtype to) {
  static const struct { un_dtype from, to; un__c_function f; } table[] = {
    {UN_F16, UN_F32, UN__C_F32_OF_F16}, {UN_F32, UN_F16, UN__C_F16_OF_F32}, {UN_F32, UN_BF16, UN__C_BF16_OF_F32}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (table[i].from == from && table[i].to == to) return table[i].f;
  return UN__C_FUNCTIONS;
}

static bool put_cast(un__cstyle *r, const un_uop *n) {
  un__dtype from = n->src[0]->dtype, to = n->dtype;
  bool from_float = un__dt_is_float(from), to_float = un__dt_is_float(to);
  bool narrow = (from_float && un__dt_info(from)->size < 4) || (to_float && un__dt_info(to)->size < 4);
  un__c_function f = narrow ? narrow_conversion(un__dt_scalar(from), un__dt_scalar(to)) : UN__C_FUNCTIONS;
  if (narrow && (f == UN__C_FUNCTIONS || !r->dialect->function[f].name)) return false;
  if (!un__c_define(r, n, 'v', r->at)) return false;
  for (uint32_t lane = 0; lane < un__lanes(n); lane++) {
    un__c_ref a = un__c_lane(r, n->src[0], lane);
    un__c_begin(r, to, un__c_lane(r, n, lane));
    if (narrow) un__c_emit(r, "%f(%R)", (int)f, a);
    else if (un__dt_is_bool(to)) un__c_emit(r, "%R != 0", a);
    else if (from_float && !to_float) put_saturating(r, from, to, a);
    else un__c_emit(r, "(%T)%R", to, a);
    un__c_emit(r, ";\n");
  }
  return true;
}

static void refs_of(un__cstyle *r, const un_uop *n, un__c_ref out[UN__C_LANES]) {
  for (uint32_t i = 0; i < un__lanes(n); i++) out[i] = un__c_lane(r, n, i);
}

static bool put_bitcast(un__cstyle *r, const un_uop *n) {
  un__dtype from = n->src[0]->dtype, to = n->dtype;
  const char *a = un__c_type(from), *b = un__c_type(to);
  un__c_ref same[UN__C_LANES];
  if (strcmp(a, b) == 0 && !un__is_const(n->src[0])) {
    refs_of(r, n->src[0], same);
    return un__c_bind(r, n, same, un__lanes(n));
  }
  bool from_float = *a == 'f', to_float = *b == 'f', wide = un__dt_info(to)->size == 8;
  if (!un__c_define(r, n, 'v', r->at)) return false;
  for (uint32_t lane = 0; lane < un__lanes(n); lane++) {
    un__c_ref x = un__c_lane(r, n->src[0], lane);
    un__c_begin(r, to, un__c_lane(r, n, lane));
    if (from_float == to_float) un__c_emit(r, "(%T)%R;\n", to, x);
    else if (to_float) un__c_emit(r, "%f(%R);\n", wide ? UN__C_F64_OF_BITS : UN__C_F32_OF_BITS, x);
    else un__c_emit(r, "%f(%R);\n", wide ? UN__C_BITS_OF_F64 : UN__C_BITS_OF_F32, x);
  }
  return true;
}

/* ---- vectors: names of lanes, mostly ---- */

static bool put_vectorize(un__cstyle *r, const un_uop *n) {
  un__c_ref lane[UN__C_LANES];
  for (uint32_t i = 0; i < un__lanes(n); i++) lane[i] = un__c_lane(r, n->src[n->nsrc == 1 ? 0 : i], 0);
  return un__c_bind(r, n, lane, un__lanes(n));
}

static bool put_gep(un__cstyle *r, const un_uop *n) {
  un__c_ref lane[UN__C_LANES];
  for (uint32_t i = 0; i < n->nattr; i++) lane[i] = un__c_lane(r, n->src[0], (uint32_t)un__attr(n, i));
  return un__c_bind(r, n, lane, n->nattr);
}

/* Lane i is combined with lane i + half, halving until one lane is left. */
static bool put_hreduce(un__cstyle *r, const un_uop *n) {
  un__op op = (un__op)un__attr(n, 0);
  un__dtype d = n->dtype;
  const char *text = pick(r, &forms[op], d, NULL);
  un__c_ref lane[UN__C_LANES];
  if (!text) return false;
  refs_of(r, n->src[0], lane);
  for (uint32_t half = un__lanes(n->src[0]) / 2; half; half /= 2)
    for (uint32_t i = 0; i < half; i++) {
      un__c_ref pair[] = {lane[i], lane[i + half]}, out = un__c_temp(r);
      put_op(r, text, op, d, d, pair, out);
      lane[i] = out;
    }
  return un__c_bind(r, n, lane, 1);
}

/* ---- dispatch ---- */

static bool (*const put[UN__OP_COUNT])(un__cstyle *r, const un_uop *n) = {
  [UN__OP_CAST] = put_cast, [UN__OP_BITCAST] = put_bitcast, [UN__OP_VECTORIZE] = put_vectorize, [UN__OP_GEP] = put_gep,
  [UN__OP_HREDUCE] = put_hreduce,
};

bool un__c_alu(un__cstyle *r, const un_uop *n) {
  if (un__is_const(n)) return true;
  if (put[n->op]) return put[n->op](r, n);
  return un__has_flag(n, UN__F_ELEM) && put_elementwise(r, n);
}
