/* cuda_memory.c - vectors in memory. One access has 2, 4, 8 or 16 bytes, at a multiple of its size; it is of words, each of one
 * element or, of elements below 4 bytes, of several. */
#include "cuda_parts.h"

/* ---- multiples of powers of two ---- */

enum { MANY = 16, MAX_ACCESS = 16 };

uint32_t un__cuda_power_of(const un__cuda *r, const un_uop *n) {
  if (un__is_const(n)) {
    uint64_t v = (uint64_t)un__const_int(n);
    uint32_t zeros = v ? (uint32_t)__builtin_ctzll(v) : MANY;
    return zeros < MANY ? zeros : MANY;
  }
  const uintptr_t *k = un__ptrmap_get(&r->powers, n);
  return k ? (uint32_t)*k : 0;
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* Wrapping keeps the low bits, so the width does not matter. */
static uint32_t find_power(const un__cuda *r, const un_uop *n) {
  uint32_t p[3] = {0};
  for (uint32_t i = 0; i < n->nsrc && i < 3; i++) p[i] = un__cuda_power_of(r, n->src[i]);
  switch (n->op) {
  case UN__OP_NEG: case UN__OP_CAST: case UN__OP_BITCAST: return p[0];
  case UN__OP_ADD: case UN__OP_SUB: case UN__OP_MAX: case UN__OP_MIN: case UN__OP_OR: case UN__OP_XOR: return smaller(p[0], p[1]);
  case UN__OP_WHERE: return smaller(p[1], p[2]);
  case UN__OP_AND: return p[0] > p[1] ? p[0] : p[1];
  case UN__OP_MUL: return smaller(p[0] + p[1], MANY);
  case UN__OP_MULACC: return smaller(smaller(p[0] + p[1], MANY), p[2]);
  case UN__OP_SHL:
    if (!un__is_const(n->src[1]) || un__const_int(n->src[1]) < 0 || un__const_int(n->src[1]) > MANY) return 0;
    return smaller(p[0] + (uint32_t)un__const_int(n->src[1]), MANY);
  default: return 0;
  }
}

bool un__cuda_find_powers(un__cuda *r, const un_uop *linear) {
  for (uint32_t i = 0; i < linear->nsrc; i++) {
    const un_uop *n = linear->src[i];
    if (!un__dt_is_int(n->dtype) || un__lanes(n) != 1 || (n->nsrc && !un__dt_is_int(n->src[n->nsrc - 1]->dtype))) continue;
    uint32_t k = find_power(r, n);
    uintptr_t *place = k ? un__ptrmap_put(&r->powers, n, NULL) : NULL;
    if (k && !place) return false;
    if (k) *place = k;
  }
  return true;
}

/* ---- words ---- */

typedef struct word { const char *name; uint32_t size; } word;
static const word u16_word = {"u16", 2}, u32_word = {"u32", 4}, u64_word = {"u64", 8}, f32_word = {"f32", 4}, f64_word = {"f64", 8};

static const struct { const char *text; const word *of; uint32_t count; } vector_types[] = {
  {"struct __align__(8) u32x2 { u32 x, y; };\n", &u32_word, 2},
  {"struct __align__(16) u32x4 { u32 x, y, z, w; };\n", &u32_word, 4},
  {"struct __align__(16) u64x2 { u64 x, y; };\n", &u64_word, 2},
  {"struct __align__(8) f32x2 { f32 x, y; };\n", &f32_word, 2},
  {"struct __align__(16) f32x4 { f32 x, y, z, w; };\n", &f32_word, 4},
  {"struct __align__(16) f64x2 { f64 x, y; };\n", &f64_word, 2},
};
enum { VECTOR_TYPES = sizeof vector_types / sizeof *vector_types };

void un__cuda_put_vector_types(const un__cuda *r, un__strbuf *out) {
  for (int i = 0; i < VECTOR_TYPES; i++)
    if (r->vectors >> i & 1) un__sb_puts(out, vector_types[i].text);
}

/* How a vector is cut: `accesses` of `count` words of `elements` elements each. */
typedef struct cut {
  const word *word;
  uint32_t accesses, count, elements, element_size;
} cut;

static const word *word_of(un__dtype d, uint32_t bytes) {
  uint32_t size = un__dt_info(d)->size;
  if (size == 8) return un__dt_is_float(d) ? &f64_word : &u64_word;
  if (size == 4) return un__dt_is_float(d) ? &f32_word : &u32_word;
  return bytes == 2 ? &u16_word : &u32_word;
}

/* False: no access of more than one element would be aligned, or each lane has a gate. */
static bool cut_vector(const un__cuda *r, const un_uop *index, un__dtype d, cut *out) {
  uint32_t lanes = un__dt_lanes(d), size = un__dt_info(d)->size;
  bool registers = un__dt_space(index->dtype) == UN__SPACE_REG;
  if (registers || un__dt_lanes(index->dtype) > 1 || (index->nsrc > 2 && un__lanes(index->src[2]) > 1)) return false;
  uint32_t aligned = 1u << un__cuda_power_of(r, index->src[1]);
  uint32_t at_once = smaller(smaller(lanes, MAX_ACCESS / size), aligned);
  if (at_once < 2) return false;
  const word *w = word_of(d, at_once * size);
  *out = (cut){w, lanes / at_once, at_once * size / w->size, w->size / size, size};
  return true;
}

/* "f32x4", or "u32" where one word is all. */
static void put_access_type(un__cuda *r, const cut *k) {
  for (uint32_t i = 0; i < VECTOR_TYPES; i++)
    if (vector_types[i].of == k->word && vector_types[i].count == k->count) r->vectors |= 1u << i;
  un__c_emit(&r->c, "%s", k->word->name);
  if (k->count > 1) un__c_emit(&r->c, "x%d", (int64_t)k->count);
}

static void put_place(un__cuda *r, const cut *k, const un_uop *index, const char *qualifier, uint32_t access) {
  un__c_emit(&r->c, "((%s", qualifier);
  put_access_type(r, k);
  un__c_emit(&r->c, " *)");
  un__c_put_address(&r->c, index);
  un__c_emit(&r->c, ")[%d]", (int64_t)access);
}

static un__c_ref gate_of(un__cuda *r, const un_uop *index) { return un__c_lane(&r->c, index->src[2], 0); }

/* ---- load ---- */

/* "const f32x4 t0 = ((const f32x4 *)(p1 + v4))[0];"; with a gate what is not loaded is 0. */
static un__c_ref load_words(un__cuda *r, const cut *k, const un_uop *index, uint32_t access) {
  un__c_ref t = un__c_temp(&r->c);
  bool gated = index->nsrc > 2;
  un__c_line(&r->c);
  if (!gated) un__c_emit(&r->c, "const ");
  put_access_type(r, k);
  un__c_emit(&r->c, gated ? " %R = {};\n" : " %R = ", t);
  if (gated) {
    un__c_line(&r->c);
    un__c_emit(&r->c, "if (%R) %R = ", gate_of(r, index), t);
  }
  put_place(r, k, index, "const ", access);
  un__c_emit(&r->c, ";\n");
  return t;
}

/* Element i of the words in t, which are hidden (cuda_hidden.c) or not. */
static void put_unpacked(un__cuda *r, const cut *k, un__dtype d, un__c_ref place, un__c_ref t, uint32_t i, bool hidden) {
  uint32_t shift = i % k->elements * k->element_size * 8;
  const char member[] = {'.', "xyzw"[i / k->elements & 3], '\0'}, *of = k->count > 1 ? member : "";
  if (hidden && shift) {
    un__c_ref piece = un__cuda_begin_hidden(&r->c, k->word->name);
    un__c_emit(&r->c, "%R%s", t, of);
    un__cuda_end_hidden(&r->c, piece, k->word->size);
    t = piece;
    of = "";
  }
  un__c_begin(&r->c, d, place);
  if (!un__dt_is_float(d) || k->elements > 1) un__c_emit(&r->c, "(%M)", d);
  if (shift) un__c_emit(&r->c, "(");
  un__c_emit(&r->c, "%R%s", t, of);
  if (shift) un__c_emit(&r->c, " >> %d)", (int64_t)shift);
  un__c_emit(&r->c, un__dt_is_bool(d) ? " != 0;\n" : ";\n");
}

bool un__cuda_load(un__cstyle *c, const un_uop *n) {
  un__cuda *r = un__cuda_of(c);
  cut k;
  if (!cut_vector(r, n->src[0], n->dtype, &k)) return false;
  uint32_t at_once = k.count * k.elements;
  bool hidden = k.elements > 1 && un__cuda_is_cut(c, n);
  for (uint32_t access = 0; access < k.accesses; access++) {
    un__c_ref t = load_words(r, &k, n->src[0], access);
    for (uint32_t i = 0; i < at_once; i++)
      put_unpacked(r, &k, n->dtype, un__c_lane(c, n, access * at_once + i), t, i, hidden);
  }
  return true;
}

/* ---- store ---- */

static void put_packed(un__cuda *r, const cut *k, const un_uop *value, uint32_t first) {
  if (k->elements == 1) {
    if (!un__dt_is_float(value->dtype)) un__c_emit(&r->c, "(%s)", k->word->name);
    un__c_put_ref(&r->c, un__c_lane(&r->c, value, first));
    return;
  }
  for (uint32_t i = 0; i < k->elements; i++) {
    un__c_emit(&r->c, "%s(%s)(%s)%R", i ? " | " : "", k->word->name, k->element_size == 1 ? "u8" : "u16",
               un__c_lane(&r->c, value, first + i));
    if (i) un__c_emit(&r->c, " << %d", (int64_t)(i * k->element_size * 8));
  }
}

bool un__cuda_store(un__cstyle *c, const un_uop *n) {
  un__cuda *r = un__cuda_of(c);
  const un_uop *index = n->src[0], *value = n->src[1];
  cut k;
  if (!cut_vector(r, index, value->dtype, &k)) return false;
  for (uint32_t access = 0; access < k.accesses; access++) {
    un__c_ref t = un__c_temp(c);
    un__c_line(c);
    un__c_emit(c, "const ");
    put_access_type(r, &k);
    un__c_emit(c, k.count > 1 ? " %R = {" : " %R = ", t);
    for (uint32_t i = 0; i < k.count; i++) {
      if (i) un__c_emit(c, ", ");
      put_packed(r, &k, value, (access * k.count + i) * k.elements);
    }
    un__c_emit(c, k.count > 1 ? "};\n" : ";\n");
    un__c_line(c);
    if (index->nsrc > 2) un__c_emit(c, "if (%R) ", gate_of(r, index));
    put_place(r, &k, index, "", access);
    un__c_emit(c, " = %R;\n", t);
  }
  return true;
}
