/* cuda_copies.c - copies to shared memory that run on while the thread goes on (cp.async). */
#include "cuda_parts.h"

#define DEVICE "static __device__ __forceinline__ void "
#define COPY(bytes, cache) \
  {bytes, "copy_async_" #bytes, \
   DEVICE "copy_async_" #bytes "(void *to, const void *from) {\n" \
   "  asm volatile(\"cp.async." cache " [%0], [%1], " #bytes ";\" :: \"r\"((u32)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n}\n", \
   DEVICE "copy_async_" #bytes "(void *to, const void *from, bool inside) {\n" \
   "  asm volatile(\"cp.async." cache " [%0], [%1], " #bytes ", %2;\" :: \"r\"((u32)__cvta_generic_to_shared(to)), \"l\"(from), " \
   "\"r\"(inside ? " #bytes " : 0) : \"memory\");\n}\n"}

/* An instruction copies 4, 8 or 16 bytes, or zeros. */
static const struct copy { int64_t bytes; const char *name, *plain, *gated; } copies[] = {
  COPY(4, "ca.shared.global"), COPY(8, "ca.shared.global"), COPY(16, "cg.shared.global.L2::128B"),
};
enum { COPIES = sizeof copies / sizeof *copies };

void un__cuda_put_copy_functions(const un__cuda *r, un__strbuf *out) {
  for (int i = 0; i < COPIES; i++) {
    if (r->copy_functions >> (2 * i) & 1) un__sb_puts(out, copies[i].plain);
    if (r->copy_functions >> (2 * i + 1) & 1) un__sb_puts(out, copies[i].gated);
  }
}

/* The copy of that many bytes between addresses that are multiples of it, under one gate each; -1: there is none. */
static int copy_of(const un__cuda *r, const un_uop *n) {
  int64_t size = un__dt_info(n->src[0]->dtype)->size, bytes = un__attr(n, 0) * size;
  for (int k = 0; k < 2; k++) {
    const un_uop *index = n->src[k];
    if (un__dt_lanes(index->dtype) > 1 || (un__c_gate_of(index) && un__lanes(un__c_gate_of(index)) > 1)) return -1;
    if ((size << un__cuda_power_of(r, index->src[1])) % bytes) return -1;
  }
  for (int i = 0; i < COPIES; i++)
    if (copies[i].bytes == bytes) return i;
  return -1;
}

static void put_at(un__cstyle *c, const un_uop *index, uint32_t lane) {
  un__c_put_address(c, index);
  un__c_emit(c, "[%d]", (int64_t)lane);
}

/* Element by element, at once. */
static void put_elements(un__cstyle *c, const un_uop *n) {
  const un_uop *to = n->src[0], *from = n->src[1];
  for (uint32_t lane = 0; lane < un__attr(n, 0); lane++) {
    un__c_line(c);
    if (un__c_gate_of(to)) un__c_emit(c, "if (%R) ", un__c_gate_lane(c, un__c_gate_of(to), lane));
    put_at(c, to, lane);
    un__c_emit(c, " = ");
    if (un__c_gate_of(from)) un__c_emit(c, "%R ? ", un__c_gate_lane(c, un__c_gate_of(from), lane));
    put_at(c, from, lane);
    un__c_emit(c, un__c_gate_of(from) ? " : 0;\n" : ";\n");
  }
}

bool un__cuda_put_copy_async(un__cstyle *c, const un_uop *n) {
  const un_uop *to = n->src[0], *from = n->src[1];
  int which = copy_of(un__cuda_of(c), n);
  if (which < 0) {
    put_elements(c, n);
    return true;
  }
  bool zeros = un__c_gate_of(from) && un__c_gate_of(from) != un__c_gate_of(to);
  un__cuda_of(c)->copy_functions |= 1u << (2 * which + zeros);
  un__c_line(c);
  if (un__c_gate_of(to)) un__c_emit(c, "if (%R) ", un__c_gate_lane(c, un__c_gate_of(to), 0));
  un__c_emit(c, "%s(", copies[which].name);
  un__c_put_address(c, to);
  un__c_emit(c, ", ");
  un__c_put_address(c, from);
  if (zeros) un__c_emit(c, ", %R", un__c_gate_lane(c, un__c_gate_of(from), 0));
  un__c_emit(c, ");\n");
  return true;
}

bool un__cuda_put_commit(un__cstyle *c, const un_uop *n) {
  un__c_line(c);
  un__c_emit(c, "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n");
  return true;
}

bool un__cuda_put_wait(un__cstyle *c, const un_uop *n) {
  un__c_line(c);
  un__c_emit(c, "asm volatile(\"cp.async.wait_group %d;\" ::: \"memory\");\n", un__attr(n, 0));
  return true;
}
