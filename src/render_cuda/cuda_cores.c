/* cuda_cores.c - tensor cores. A fragment is words of 32 bits: an array w<place>, or packed from lanes. */
#include "cuda_parts.h"

#include <string.h>

#define DEVICE "static __device__ __forceinline__ void "

/* ---- the functions ---- */

#define LDMATRIX(name, form, outs, at, ...) \
  {name, DEVICE name "(u32 *w, const void *row) {\n" \
   "  asm volatile(\"ldmatrix.sync.aligned.m8n8." form ".shared.b16 {" outs "}, [" at "];\" : " __VA_ARGS__ \
   " : \"r\"((u32)__cvta_generic_to_shared(row)) : \"memory\");\n}\n"}
#define W(i) "\"=r\"(w[" i "])"

static const struct { const char *name, *definition; } ldmatrix[] = {
  LDMATRIX("ldmatrix_x1", "x1", "%0", "%1", W("0")),
  LDMATRIX("ldmatrix_x2", "x2", "%0, %1", "%2", W("0") ", " W("1")),
  LDMATRIX("ldmatrix_x4", "x4", "%0, %1, %2, %3", "%4", W("0") ", " W("1") ", " W("2") ", " W("3")),
  LDMATRIX("ldmatrix_x1_trans", "x1.trans", "%0", "%1", W("0")),
  LDMATRIX("ldmatrix_x2_trans", "x2.trans", "%0, %1", "%2", W("0") ", " W("1")),
  LDMATRIX("ldmatrix_x4_trans", "x4.trans", "%0, %1, %2, %3", "%4", W("0") ", " W("1") ", " W("2") ", " W("3")),
};
enum { LDMATRICES = sizeof ldmatrix / sizeof *ldmatrix };

/* c + a b of the dtypes; "f" or "r": the sums' registers. */
typedef struct product { un_dtype left, right; const char *sum, *name, *form, *registers; } product;
static const product products[] = {
  {UN_F16, UN_F16, "f32", "mma_f16", "m16n8k16.row.col.f32.f16.f16.f32", "f"},
  {UN_BF16, UN_BF16, "f32", "mma_bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", "f"},
  {UN_F32, UN_F32, "f32", "mma_tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", "f"},
  {UN_I8, UN_I8, "i32", "mma_i8", "m16n8k32.row.col.s32.s8.s8.s32", "r"},
  {UN_U8, UN_U8, "i32", "mma_u8", "m16n8k32.row.col.s32.u8.u8.s32", "r"},
  {UN_F8E4M3, UN_F8E4M3, "f32", "mma_f8e4m3", "m16n8k32.row.col.f32.e4m3.e4m3.f32", "f"},
  {UN_F8E5M2, UN_F8E5M2, "f32", "mma_f8e5m2", "m16n8k32.row.col.f32.e5m2.e5m2.f32", "f"},
};
enum { PRODUCTS = sizeof products / sizeof *products };

static void put_product_function(const product *p, un__strbuf *out) {
  const char *x = p->registers;
  un__sb_printf(out, DEVICE "%s(%s &c0, %s &c1, %s &c2, %s &c3, const u32 *a, const u32 *b) {\n", p->name, p->sum, p->sum, p->sum, p->sum);
  un__sb_printf(out, "  asm(\"mma.sync.aligned.%s {%%0, %%1, %%2, %%3}, {%%4, %%5, %%6, %%7}, {%%8, %%9}, {%%0, %%1, %%2, %%3};\"\n"
                "      : \"+%s\"(c0), \"+%s\"(c1), \"+%s\"(c2), \"+%s\"(c3)\n"
                "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n}\n", p->form, x, x, x, x);
}

void un__cuda_put_core_functions(const un__cuda *r, un__strbuf *out) {
  for (int i = 0; i < LDMATRICES; i++)
    if (r->core_functions >> i & 1) un__sb_puts(out, ldmatrix[i].definition);
  for (int i = 0; i < PRODUCTS; i++)
    if (r->core_functions >> (LDMATRICES + i) & 1) put_product_function(&products[i], out);
}

/* ---- matrices ---- */

static uint32_t elements_in_word(const un_uop *n) { return 4u / un__dt_info(n->dtype)->size; }

bool un__cuda_is_taken(const un__cstyle *c, const un_uop *n, bool (*how)(const un_uop *user, uint32_t k)) {
  for (uint32_t i = c->at + 1; i < c->list->nsrc; i++) {
    const un_uop *user = c->list->src[i];
    for (uint32_t k = 0; k < user->nsrc; k++)
      if (user->src[k] == n && how(user, k)) return true;
  }
  return false;
}

/* Something other than a product takes the fragment's lanes. */
static bool unpacks(const un_uop *user, uint32_t k) { return !(un__is(user, UN__OP_WMMA) && k < 2); }

static void put_word_at(un__cstyle *c, uint32_t i) { un__c_emit(c, "w%d[%d]", (int64_t)c->at, (int64_t)i); }

static void put_lanes(un__cstyle *c, const un_uop *n) {
  uint32_t each = elements_in_word(n), bits = 32 / each;
  bool hidden = un__cuda_is_cut(c, n);
  for (uint32_t i = 0; i < un__lanes(n); i++) {
    un__c_ref piece = {0};
    if (hidden) {
      piece = un__cuda_begin_hidden(c, "u32");
      put_word_at(c, i / each);
      un__cuda_end_hidden(c, piece, 4);
    }
    un__c_begin(c, n->dtype, un__c_lane(c, n, i));
    un__c_emit(c, un__dt_is_float(n->dtype) && each == 1 ? "__uint_as_float(" : "(%T)(", n->dtype);
    if (hidden) un__c_put_ref(c, piece);
    else put_word_at(c, i / each);
    if (i % each) un__c_emit(c, " >> %d", (int64_t)(i % each * bits));
    un__c_emit(c, ");\n");
  }
}

bool un__cuda_put_ldmatrix(un__cstyle *c, const un_uop *n) {
  uint32_t words = un__lanes(n) / elements_in_word(n);
  uint32_t which = (words == 1 ? 0 : words == 2 ? 1 : 2) + (un__attr(n, 0) ? 3 : 0);
  if (!un__c_define(c, n, 'v', c->at)) return false;
  un__cuda_of(c)->core_functions |= 1u << which;
  un__c_line(c);
  un__c_emit(c, "u32 w%d[%d];\n", (int64_t)c->at, (int64_t)words);
  un__c_line(c);
  un__c_emit(c, "%s(w%d, ", ldmatrix[which].name, (int64_t)c->at);
  un__c_put_address(c, n->src[0]);
  un__c_emit(c, ");\n");
  if (un__cuda_is_taken(c, n, unpacks)) put_lanes(c, n);
  return true;
}

/* ---- products ---- */

static void put_word(un__cstyle *c, const un_uop *n, uint32_t first) {
  uint32_t each = elements_in_word(n), bits = 32 / each;
  if (each == 1) {
    un__c_emit(c, un__dt_is_float(n->dtype) ? "__float_as_uint(%R)" : "(u32)%R", un__c_lane(c, n, first));
    return;
  }
  for (uint32_t i = 0; i < each; i++) {
    un__c_emit(c, "%s(u32)(%s)%R", i ? " | " : "", bits == 8 ? "u8" : "u16", un__c_lane(c, n, first + i));
    if (i) un__c_emit(c, " << %d", (int64_t)(i * bits));
  }
}

/* Packs the lanes where they are no words yet: a temporary, or 0. */
static un__c_ref pack(un__cstyle *c, const un_uop *n) {
  if (un__is(n, UN__OP_LDMATRIX)) return un__c_lane(c, n, 0);
  un__c_ref t = un__c_temp(c);
  uint32_t each = elements_in_word(n), words = un__lanes(n) / each;
  un__c_line(c);
  un__c_emit(c, "const u32 %R[%d] = {", t, (int64_t)words);
  for (uint32_t i = 0; i < words; i++) {
    if (i) un__c_emit(c, ", ");
    put_word(c, n, i * each);
  }
  un__c_emit(c, "};\n");
  return t;
}

static void put_words(un__cstyle *c, const un_uop *n, un__c_ref words) {
  if (un__is(n, UN__OP_LDMATRIX)) un__c_emit(c, "w%d", (int64_t)words.number);
  else un__c_emit(c, "%R", words);
}

static int product_of(const un_uop *n) {
  for (int i = 0; i < PRODUCTS; i++)
    if (products[i].left == un__dt_scalar(n->src[0]->dtype) && products[i].right == un__dt_scalar(n->src[1]->dtype) &&
        strcmp(products[i].sum, un__dt_info(n->dtype)->name) == 0)
      return i;
  return -1;
}

/* Whether source k of n is a product of the same round that nothing else uses. */
static bool is_last_use(const un__cstyle *c, const un_uop *n, uint32_t k) {
  const un_uop *source = n->src[k];
  if (!un__is(source, UN__OP_WMMA)) return false;
  for (uint32_t i = c->at; c->list->src[i] != source; i--)
    if (un__is(c->list->src[i], UN__OP_RANGE) || un__is(c->list->src[i], UN__OP_END)) return false;
  for (uint32_t i = 0; i < c->list->nsrc; i++)
    for (uint32_t j = 0; c->list->src[i] != n && j < c->list->src[i]->nsrc; j++)
      if (c->list->src[i]->src[j] == source) return false;
  return true;
}

/* The product is added up where the one before was. */
static bool bind_sum(un__cstyle *c, const un_uop *n) {
  un__c_ref lane[4];
  for (uint32_t i = 0; i < 4; i++) lane[i] = un__c_lane(c, n->src[2], i);
  return un__c_bind(c, n, lane, 4);
}

/* "f32 v7_0 = v5_0, v7_1 = v5_1, ..;" */
static bool define_sum(un__cstyle *c, const un_uop *n) {
  if (!un__c_define(c, n, 'v', c->at)) return false;
  un__c_line(c);
  for (uint32_t i = 0; i < 4; i++) {
    if (i) un__c_emit(c, ", ");
    else un__c_emit(c, "%T ", n->dtype);
    un__c_emit(c, "%R = %R", un__c_lane(c, n, i), un__c_lane(c, n->src[2], i));
  }
  un__c_emit(c, ";\n");
  return true;
}

bool un__cuda_put_wmma(un__cstyle *c, const un_uop *n) {
  int which = product_of(n);
  if (which < 0 || un__lanes(n) != 4) return false;
  un__cuda_of(c)->core_functions |= 1u << (LDMATRICES + which);
  un__c_ref left = pack(c, n->src[0]), right = pack(c, n->src[1]);
  if (!(is_last_use(c, n, 2) ? bind_sum(c, n) : define_sum(c, n))) return false;
  un__c_line(c);
  un__c_emit(c, "%s(", products[which].name);
  for (uint32_t i = 0; i < 4; i++) un__c_emit(c, "%R, ", un__c_lane(c, n, i));
  put_words(c, n->src[0], left);
  un__c_emit(c, ", ");
  put_words(c, n->src[1], right);
  un__c_emit(c, ");\n");
  return true;
}
