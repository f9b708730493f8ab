/* render_cuda.c - the CUDA dialect: blocks and threads, shared memory, shuffles. */
#include "render_cuda.h"

#include "cuda_parts.h"

/* ---- what only a GPU has ---- */

/* A piece of the one array that the launch gives the size of. */
static bool put_shared(un__cstyle *c, const un_uop *n) {
  un__cuda *r = un__cuda_of(c);
  int64_t count = un__known_size(n->src[0]), size = un__dt_info(n->dtype)->size;
  if (count < 0 || count > INT32_MAX / size || un__dt_lanes(n->dtype) > 1 || !un__c_define(c, n, 's', c->at)) return false;
  un__c_line(c);
  un__c_emit(c, "%M *const %R = (%M *)(shared + %d);\n", n->dtype, un__c_lane(c, n, 0), n->dtype, r->local_bytes);
  r->local_bytes += (count * size + UN__LOCAL_ALIGN - 1) / UN__LOCAL_ALIGN * UN__LOCAL_ALIGN;
  return true;
}

/* Of 32 and 64 bits as it is, narrower ones as 32 bits. A block of less than a warp has no more threads to name. */
static bool put_shuffle(un__cstyle *c, const un_uop *n) {
  un__cuda *r = un__cuda_of(c);
  uint32_t threads = r->group >= 32 ? UINT32_MAX : (1u << r->group) - 1;
  bool narrow = un__dt_info(n->dtype)->size < 4;
  if (!un__c_define(c, n, 'v', c->at)) return false;
  for (uint32_t lane = 0; lane < un__lanes(n); lane++) {
    un__c_begin(c, n->dtype, un__c_lane(c, n, lane));
    if (narrow) un__c_emit(c, "(%T)", n->dtype);
    un__sb_printf(&c->body, "__shfl_xor_sync(0x%xu, ", threads);
    un__c_emit(c, "%s%R, %d);\n", narrow ? "(u32)" : "", un__c_lane(c, n->src[0], lane), un__attr(n, 0));
  }
  return true;
}

/* "f32 *const s5 = s3 + (u32)(v4 + 2) % 4u * 1024;" */
static bool put_slot(un__cstyle *c, const un_uop *n) {
  int64_t size = un__known_size(un__memory_of(n)->src[0]), parts = un__attr(n, 1), offset = un__attr(n, 0);
  if (!un__c_define(c, n, 's', c->at)) return false;
  un__c_line(c);
  un__c_emit(c, "%M *const %R = %R + ", n->dtype, un__c_lane(c, n, 0), un__c_lane(c, n->src[0], 0));
  if (un__is_const(n->src[1])) un__c_emit(c, "%d;\n", (un__const_int(n->src[1]) + offset) % parts * (size / parts));
  else un__c_emit(c, "((u32)%R + %d) %% %du * %d;\n", un__c_lane(c, n->src[1], 0), offset, parts, size / parts);
  return true;
}

static bool put_own(un__cstyle *c, const un_uop *n) {
  switch (n->op) {
  case UN__OP_SHUFFLE: return put_shuffle(c, n);
  case UN__OP_SLOT: return put_slot(c, n);
  case UN__OP_COPY_ASYNC: return un__cuda_put_copy_async(c, n);
  case UN__OP_COMMIT: return un__cuda_put_commit(c, n);
  case UN__OP_WAIT: return un__cuda_put_wait(c, n);
  case UN__OP_LDMATRIX: return un__cuda_put_ldmatrix(c, n);
  case UN__OP_WMMA: return un__cuda_put_wmma(c, n);
  default: return false;
  }
}

/* ---- the dialect ---- */

/* Of each function the one that rounds to nearest, whatever the options; for the bounds of those that do not see target/gpu.c. */
#define DEVICE "static __device__ __forceinline__ "

/* 2^x = 2^n 2^r: t is n + 1.5 * 2^23, so the low bits of t are n. The polynomial is of 2 * 2^r, so that 2^(n - 1) is in range for
 * every n; where the result may be subnormal it is computed 2^24 times as large, and rounded once. At most 0.92 units in the last
 * place off over all 2^32 arguments; on an H200 ex2.approx is 2.06 off for some, exp2f 2.14. */
#define STEP(c) "  p = __fmaf_rn(p, r, " c ");\n"
#define EXP2_F32 \
  DEVICE "f32 exp2_f32(f32 x) {\n" \
  "  f32 c;\n  asm(\"max.NaN.f32 %0, %1, 0fC3168000;\" : \"=f\"(c) : \"f\"(x));\n" /* -150.5 */ \
  "  asm(\"min.NaN.f32 %0, %1, 0f43010000;\" : \"=f\"(c) : \"f\"(c));\n"           /* 129 */ \
  "  const f32 t = c + 12582912.0f, r = c - (t - 12582912.0f);\n" \
  "  f32 p = __fmaf_rn(0.000309067226f, r, 0.00267821876f);\n" \
  STEP("0.01923616416f") STEP("0.1110071316f") STEP("0.480453014f") STEP("1.386294364f") STEP("2.0f") \
  "  const bool small = c < -125.0f;\n" \
  "  p *= __uint_as_float((__float_as_uint(t) - 0x4b400000u + (small ? 24u : 0u) + 126u) << 23);\n" \
  "  return small ? p * 5.9604644775390625e-8f : p;\n}\n"

static const un__c_dialect dialect = {
  .name = "CUDA C",
  .function = {
    [UN__C_SQRT_F32] = {"__fsqrt_rn"}, [UN__C_SQRT_F64] = {"__dsqrt_rn"},
    [UN__C_TRUNC_F32] = {"truncf"}, [UN__C_TRUNC_F64] = {"trunc"},
    [UN__C_FLOOR_F32] = {"floorf"}, [UN__C_FLOOR_F64] = {"floor"},
    [UN__C_FMA_F32] = {"__fmaf_rn"}, [UN__C_FMA_F64] = {"__fma_rn"},
    [UN__C_MAX_F32] = {"max_f32",
      DEVICE "f32 max_f32(f32 a, f32 b) { f32 x; asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(x) : \"f\"(a), \"f\"(b)); return x; }\n"},
    [UN__C_MIN_F32] = {"min_f32",
      DEVICE "f32 min_f32(f32 a, f32 b) { f32 x; asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(x) : \"f\"(a), \"f\"(b)); return x; }\n"},
    [UN__C_EXP_F32] = {"expf"}, [UN__C_EXP2_F32] = {"exp2_f32", EXP2_F32}, [UN__C_LOG_F32] = {"logf"},
    [UN__C_LOG2_F32] = {"log2f"}, [UN__C_TANH_F32] = {"tanhf"},
    [UN__C_EXP2_NEAR_F32] = {"exp2_near",
      DEVICE "f32 exp2_near(f32 a) { f32 x; asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(x) : \"f\"(a)); return x; }\n"},
    [UN__C_TANH_NEAR_F32] = {"tanh_near",
      DEVICE "f32 tanh_near(f32 a) { f32 x; asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(x) : \"f\"(a)); return x; }\n"},
    [UN__C_F32_OF_BITS] = {"__uint_as_float"}, [UN__C_F64_OF_BITS] = {"__longlong_as_double"},
    [UN__C_BITS_OF_F32] = {"__float_as_uint"}, [UN__C_BITS_OF_F64] = {"__double_as_longlong"},
    [UN__C_F32_OF_F16] = {"f32_of_f16",
      DEVICE "f32 f32_of_f16(u16 bits) { f32 x; asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(bits)); return x; }\n"},
    [UN__C_F16_OF_F32] = {"f16_of_f32",
      DEVICE "u16 f16_of_f32(f32 x) { u16 bits; asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x)); return bits; }\n"},
    [UN__C_BF16_OF_F32] = {"bf16_of_f32",
      DEVICE "u16 bf16_of_f32(f32 x) { u16 bits; asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(bits) : \"f\"(x)); return bits; }\n"},
  },
  .loop = "#pragma unroll 1", .short_loop = "#pragma unroll", .turns = true, .barrier = "__syncthreads();",
  .special = {[UN__AXIS_GLOBAL] = "blockIdx.x", [UN__AXIS_LOCAL] = "threadIdx.x"},
  .local = put_shared, .own = put_own, .load = un__cuda_load, .store = un__cuda_store,
  .operand = un__cuda_operand,
};

/* ---- the function ---- */

static const un_uop *special_of(const un_uop *linear, un__axis axis) {
  for (uint32_t i = 0; i < linear->nsrc; i++)
    if (un__is(linear->src[i], UN__OP_SPECIAL) && un__attr(linear->src[i], 0) == axis) return linear->src[i];
  return NULL;
}

/* The most blocks that a grid has in its first dimension. */
static bool needs_two_dimensions(const un_uop *blocks) { return blocks && blocks->src[0]->vmax > INT32_MAX; }

/* What a thread loads from arguments outside of loops. */
static int64_t bytes_loaded_at_once(const un_uop *linear) {
  int64_t bytes = 0, depth = 0;
  for (uint32_t i = 0; i < linear->nsrc; i++) {
    const un_uop *n = linear->src[i];
    depth += un__is(n, UN__OP_RANGE) - un__is(n, UN__OP_END);
    bool loads = un__is(n, UN__OP_LOAD) && un__is(un__memory_of(n->src[0]), UN__OP_PARAM);
    if (loads && !depth) bytes += (int64_t)un__lanes(n) * un__dt_info(n->dtype)->size;
  }
  return bytes;
}

/* By itself the compiler saves registers so that more blocks fit, and begins a load late where its register is not free. That costs more
 * than blocks bring where a thread loads this much at once: of products with a vector on an H200 10 %, and 20 % of small ones. Where it
 * loads less the blocks count: column sums and softmax lose 10 % without. */
enum { MUCH_AT_ONCE = 128 };

/* The 32-bit registers of a thread's arrays. */
static int64_t words_of_arrays(const un_uop *linear) {
  int64_t words = 0;
  for (uint32_t i = 0; i < linear->nsrc; i++) {
    const un_uop *n = linear->src[i];
    if (!un__is(n, UN__OP_DEFINE_REG)) continue;
    int64_t size = un__dt_info(n->dtype)->size, count = un__known_size(n->src[0]) * un__dt_lanes(n->dtype);
    words += count > 0 ? count * (size < 4 ? 4 : size) / 4 : 0;
  }
  return words;
}

/* 0: what the compiler thinks best. A thread with a large tile of results in registers needs some more to work with; one register beyond
 * what leaves room for another block halves what a multiprocessor has to do while loads are under way (products of f32, whose second
 * operand is turned: 129). */
static int64_t least_blocks(const un__cstyle *c, int64_t group) {
  enum { REGISTERS = 65536, MOST_OF_A_THREAD = 255, LARGE_TILE = 64, TO_WORK_WITH = 48 };
  if (bytes_loaded_at_once(c->list) >= MUCH_AT_ONCE) return 1;
  int64_t words = words_of_arrays(c->list), blocks = REGISTERS / (group * (words + TO_WORK_WITH));
  bool has_room = group * blocks * MOST_OF_A_THREAD < REGISTERS;
  return words >= LARGE_TILE && blocks > 1 && !has_room ? blocks : 0;
}

static void put_signature(const un__cuda *r, const char *entry, un__strbuf *out) {
  const un__cstyle *c = &r->c;
  const char *comma = "";
  int64_t blocks = least_blocks(c, r->group);
  un__sb_printf(out, "\nextern \"C\" __global__ void __launch_bounds__(%lld", (long long)r->group);
  if (blocks) un__sb_printf(out, ", %lld", (long long)blocks);
  un__sb_printf(out, ") %s(", entry);
  for (size_t i = 0; i < c->params.n; i++, comma = ", ") {
    const un_uop *p = c->params.at[i];
    un__sb_printf(out, "%s%s%s *__restrict__ p%zu", comma, p && c->written.at[i] ? "" : "const ",
                  p ? un__c_memory_type(p->dtype) : "void", i);
  }
  for (uint32_t i = 0; i < c->nvars; i++, comma = ", ") un__sb_printf(out, "%si64 n%u", comma, i);
  un__sb_puts(out, ") {\n");
}

enum { POINTERS_AT_ONCE = 16 };

/* Whether the value of the LOAD at a place of the list goes to registers: then it is a round ahead of its use as it stands. */
static bool is_held(const un_uop *linear, uint32_t at) {
  for (uint32_t i = at + 1; i < linear->nsrc; i++) {
    const un_uop *n = linear->src[i];
    for (uint32_t j = 0; j < n->nsrc; j++)
      if (n->src[j] == linear->src[at]) return un__is(n, UN__OP_STORE) && un__is(un__memory_of(n->src[0]), UN__OP_DEFINE_REG);
  }
  return false;
}

/* Not where threads load from arguments in a loop in which they meet, for use in the same round. There loads of what nobody changes
 * begin a round early, if compilers may move them over the barrier, and that is worth more than to overlap with another kernel: 2 %
 * of a product of f32 on an H200. */
bool un__cuda_waits(const un_uop *linear) {
  enum { LOADS = 1, MEETS = 2, DEPTH = 64 };
  uint8_t seen[DEPTH] = {0};      /* in the open loops; 0: outside of all */
  uint32_t depth = 0;
  for (uint32_t i = 0; i < linear->nsrc && depth < DEPTH - 1; i++) {
    const un_uop *n = linear->src[i];
    if (un__is(n, UN__OP_RANGE)) seen[++depth] = 0;
    if (un__is(n, UN__OP_LOAD) && un__is(un__memory_of(n->src[0]), UN__OP_PARAM) && !is_held(linear, i)) seen[depth] |= LOADS;
    if (un__is(n, UN__OP_BARRIER)) seen[depth] |= MEETS;
    if (!un__is(n, UN__OP_END) || !depth) continue;
    if (seen[depth] == (LOADS | MEETS)) return false;
    seen[depth - 1] |= seen[depth];
    depth--;
  }
  return true;
}

/* Where kernels may overlap (un__gpu_overlaps) nothing is read or written until the one before has ended: so who waits for this one has
 * waited for all before it. The pointers are operands because compilers must not move loads above the wait: of an argument
 * that is read only and nobody else's they know that nothing changes it. The next kernel may begin once every block of this
 * one has: it then waits here. */
static void put_wait(const un__cstyle *c, un__strbuf *out) {
  uint32_t n = 0;
  un__sb_puts(out, "  #if __CUDA_ARCH__ >= 900\n  asm volatile(\"griddepcontrol.wait;\" :: ");
  for (size_t i = 0; i < c->params.n; i++) {
    if (!c->params.at[i]) continue;
    if (n && n % POINTERS_AT_ONCE == 0) un__sb_puts(out, " : \"memory\");\n  asm volatile(\"\" :: ");
    un__sb_printf(out, "%s\"l\"(p%zu)", n % POINTERS_AT_ONCE ? ", " : "", i);
    n++;
  }
  un__sb_puts(out, " : \"memory\");\n  asm volatile(\"griddepcontrol.launch_dependents;\");\n  #endif\n");
}

static void put_function(const un__cuda *r, const char *entry, const un_uop *blocks, un__strbuf *out) {
  un__cstyle_put_types(out);
  un__cuda_put_vector_types(r, out);
  un__cstyle_put_functions(&r->c, out);
  un__cuda_put_copy_functions(r, out);
  un__cuda_put_core_functions(r, out);
  put_signature(r, entry, out);
  if (r->local_bytes) un__sb_printf(out, "  extern __shared__ __align__(%d) u8 shared[];\n", UN__LOCAL_ALIGN);
  if (un__cuda_waits(r->c.list)) put_wait(&r->c, out);
  if (needs_two_dimensions(blocks)) {
    un__sb_puts(out, "  const i64 block = blockIdx.x + (i64)blockIdx.y * gridDim.x;\n");
    un__sb_printf(out, "  if (block >= %lldLL) return;\n", (long long)un__known_size(blocks->src[0]));
  }
  un__sb_puts(out, un__sb_str(&r->c.body));
  un__sb_puts(out, "}\n");
}

un_status un__render_cuda(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err) {
  un__err local = {0};
  const un_uop *blocks = special_of(linear, UN__AXIS_GLOBAL), *threads = special_of(linear, UN__AXIS_LOCAL);
  un__cuda r = {.group = threads ? un__known_size(threads->src[0]) : 1};
  un__c_dialect d = dialect;
  if (needs_two_dimensions(blocks)) d.special[UN__AXIS_GLOBAL] = "block";
  if (r.group < 1) un__fail(&local, UN_ERR_INTERNAL, "CUDA C: the number of threads of a block is not known");
  if (needs_two_dimensions(blocks) && un__known_size(blocks->src[0]) < 0)
    un__fail(&local, UN_ERR_UNSUPPORTED, "CUDA C: a grid of unknown size that may have more than 2^31 - 1 blocks");
  if (!un__cuda_find_powers(&r, linear) || !un__cuda_find_data(&r, linear)) un__fail(&local, UN_ERR_NOMEM, "no memory for CUDA C");
  if (local.status == UN_OK && un__cstyle_render(&r.c, &d, linear, &local) == UN_OK) put_function(&r, entry, blocks, out);
  if (out->failed) un__fail(&local, UN_ERR_NOMEM, "no memory for CUDA C");
  un__cstyle_finish(&r.c);
  un__ptrmap_finish(&r.powers);
  un__ptrmap_finish(&r.data);
  return un__err_copy(err, &local);
}
