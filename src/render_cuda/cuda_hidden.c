/* cuda_hidden.c - where a word comes from, kept from the compiler.
 *
 * NVRTC (13.0, for every architecture) makes dp4a and dp2a of sums of products whose factors fit a byte. Where it sees them cut
 * out of one word, it takes them by their places in it and forgets what else was done: of a[i] * (i8)(b[i] * 2), which it sees as
 * shifts of b's word by 25 bits, the doubling; of two bytes times constants even the sign. So a word that is cut goes through an
 * asm of no text first, anew for each piece: then no two pieces are seen to be of one word. The asm costs no instruction, and
 * what is left of dp4a is right. Signed halves of words are taken the same way, by dp2a. Unsigned pieces were never seen wrong. */
#include "cuda_parts.h"

bool un__cuda_find_data(un__cuda *r, const un_uop *linear) {
  for (uint32_t i = 0; i < linear->nsrc; i++) {
    const un_uop *n = linear->src[i];
    bool data = n->op == UN__OP_LOAD;
    for (uint32_t k = 0; k < n->nsrc && !data; k++) data = un__ptrmap_get(&r->data, n->src[k]) != NULL;
    if (data && !un__ptrmap_put(&r->data, n, NULL)) return false;
  }
  return true;
}

un__c_ref un__cuda_begin_hidden(un__cstyle *c, const char *type) {
  un__c_ref t = un__c_temp(c);
  un__c_line(c);
  un__c_emit(c, "%s %R = ", type, t);
  return t;
}

void un__cuda_end_hidden(un__cstyle *c, un__c_ref t, uint32_t size) {
  un__c_emit(c, "; asm(\"\" : \"+%s\"(%R));\n", size == 8 ? "l" : size == 4 ? "r" : "h", t);
}

static const char *promoted(un__dtype d) {
  bool is_signed = un__dt_class(d) == UN__CLASS_INT;
  if (un__dt_info(d)->size == 8) return is_signed ? "i64" : "u64";
  return is_signed ? "i32" : "u32";
}

/* A shift to the right cuts; of numbers that are not from memory, as indices are, nobody adds up products. */
un__c_ref un__cuda_operand(un__cstyle *c, const un_uop *n, un__c_ref first) {
  bool cuts = (n->op == UN__OP_SHR || n->op == UN__OP_TRUNCDIV) && un__is_const(n->src[1]);
  if (!cuts || first.constant || !un__ptrmap_get(&un__cuda_of(c)->data, n->src[0])) return first;
  un__c_ref t = un__cuda_begin_hidden(c, promoted(n->dtype));
  un__c_put_ref(c, first);
  un__cuda_end_hidden(c, t, un__dt_info(n->dtype)->size == 8 ? 8 : 4);
  return t;
}

static bool computes(const un_uop *user, uint32_t k) { return user->op != UN__OP_STORE && user->op != UN__OP_WMMA; }

bool un__cuda_is_cut(const un__cstyle *c, const un_uop *n) {
  un__dtype d = un__dt_scalar(n->dtype);
  return (d == UN_I8 || d == UN_I16) && un__cuda_is_taken(c, n, computes);
}
