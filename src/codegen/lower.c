/* lower.c - the passes from an optimised kernel to a list of instructions, in order. */
#include "lower.h"

#include "base/mem.h"

#include "codegen.h"
#include "expand.h"
#include "linearize.h"
#include "tensor.h"
#include "threads.h"

extern const un__pass un__pass_simplify, un__pass_gates, un__pass_index_division, un__pass_index_width, un__pass_narrow,
  un__pass_decompose, un__pass_fma, un__pass_split_ends;

/* What may still be granted once functions are polynomials: their error bounds stand on the order written. */
static uint32_t after_decompose(uint32_t licences) { return licences & UN__LIC_PRECISE; }

static const un_uop *rewrite(un__graph *ws, const un_uop *n, const un__pass *pass, const un__target *t, uint32_t licences) {
  un__rw_options opt = {.ctx = (void *)t, .licences = licences};
  return n ? un__graph_rewrite(ws, n, pass, &opt) : NULL;
}

static const un_uop *gates(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences) {
  n = rewrite(ws, n, &un__pass_simplify, t, licences);
  return rewrite(ws, n, &un__pass_gates, t, licences);
}

static const un_uop *indices(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences) {
  n = rewrite(ws, n, &un__pass_index_division, t, licences);
  n = rewrite(ws, n, &un__pass_index_width, t, licences);
  return n ? un__index_leaves(ws, n, t) : NULL;
}

static const un_uop *narrow(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences) {
  return rewrite(ws, n, &un__pass_narrow, t, licences);
}

static const un_uop *decompose(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences) {
  return rewrite(ws, n, &un__pass_decompose, t, after_decompose(licences));
}

static const un_uop *fuse_multiply_add(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences) {
  return t->fma ? rewrite(ws, n, &un__pass_fma, t, after_decompose(licences)) : n;
}

static const un_uop *linearize(un__graph *ws, const un_uop *n, const un__target *t, uint32_t licences) {
  n = rewrite(ws, n, &un__pass_split_ends, t, after_decompose(licences));
  return n ? un__linearize(ws, n) : NULL;
}

const un__codegen_pass un__codegen_passes[] = {
  {"deal", un__deal, "reductions dealt to threads: each thread's part, then all of them"},
  {"tensor", un__tensor, "sums of products that a tensor core computes become its instructions"},
  {"expand", un__expand, "UPCAST and UNROLL ranges become copies and vectors"},
  {"threads", un__threads, "blocks and threads: their numbers, shuffles, barriers"},
  {"accumulate", un__accumulate, "reductions become loops around accumulators"},
  {"gates", gates, "simplify; gates that are known or not needed go"},
  {"index", indices, "index becomes i32 or i64, with proof"},
  {"narrow", narrow, "f16, bf16 and fp8 are computed in f32"},
  {"decompose", decompose, "transcendental functions become arithmetic"},
  {"fma", fuse_multiply_add, "products and sums are contracted where the target and the numerics level allow"},
  {"linearize", linearize, "the list of instructions"},
};
const size_t un__codegen_npasses = sizeof un__codegen_passes / sizeof *un__codegen_passes;

const un_uop *un__lower(un__graph *ws, const un_uop *kernel, const un__target *t, uint32_t licences) {
  for (size_t i = 0; kernel && i < un__codegen_npasses; i++) kernel = un__codegen_passes[i].fn(ws, kernel, t, licences);
  return kernel;
}

/* ---- facts ---- */

static void multiply(int64_t *product, int64_t size) {
  if (size < 0 || *product < 0 || __builtin_mul_overflow(*product, size, product)) *product = -1;
}

static int64_t local_bytes(const un_uop *n) {
  int64_t count = un__known_size(n->src[0]), size = un__dt_info(n->dtype & 0x00ffffffu)->size;
  return count < 0 || count > INT32_MAX / size ? INT32_MAX : (count * size + UN__LOCAL_ALIGN - 1) / UN__LOCAL_ALIGN * UN__LOCAL_ALIGN;
}

un__linear_facts un__linear_facts_of(const un_uop *linear) {
  un__linear_facts f = {.tasks = 1, .group = 1};
  for (uint32_t i = 0; i < linear->nsrc; i++) {
    const un_uop *n = linear->src[i];
    if (un__is(n, UN__OP_PARAM) && un__attr(n, 0) >= f.nargs) f.nargs = (uint32_t)un__attr(n, 0) + 1;
    if (un__is(n, UN__OP_DEFINE_LOCAL)) f.local_bytes += local_bytes(n);
    f.nvars += un__is(n, UN__OP_VAR);
    if (un__is(n, UN__OP_SPECIAL))
      multiply(un__attr(n, 0) == UN__AXIS_LOCAL ? &f.group : &f.tasks, un__known_size(n->src[0]));
  }
  return f;
}

/* ---- what rules ask ---- */

bool un__pred_emulated(un__rw *rw, const un_uop *x) {
  return un__dt_scalar(x->dtype) != UN_F16 || !un__target_of(rw)->native_f16;      /* renderers hold bf16 and fp8 as bits */
}

bool un__pred_soft_f16(un__rw *rw, const un_uop *x) { return !un__target_of(rw)->f16_convert; }

bool un__pred_soft_bf16(un__rw *rw, const un_uop *x) { return !un__target_of(rw)->bf16_convert; }

/* Under `strict` backends agree to the bit, so all compute what the rules write out. */
bool un__pred_own_function(un__rw *rw, const un_uop *x) {
  return un__target_of(rw)->f32_functions && rw->licences & UN__LIC_CONTRACT;
}

/* For a LOAD whose address is INDEX(pointer, i, gate). */
bool un__pred_always_inside(un__rw *rw, const un_uop *access) {
  const un_uop *p = access->src[0]->src[0], *i = access->src[0]->src[1];
  if (!un__is(p, UN__OP_PARAM)) return false;
  int64_t size = un__known_size(p->src[0]), lanes = un__lanes(access);
  return i->vmin >= 0 && i->vmax < UN__POS_INF - lanes && i->vmax + lanes <= size;
}

bool un__pred_alike(un__rw *rw, const un_uop *gate) {
  size_t n;
  if (!un__target_of(rw)->gpu.arch) return false;
  const un_uop **order = un__toposort(gate, &n);
  if (!order) un__fail(un__graph_err(rw->g), UN_ERR_NOMEM, "no memory to look at a gate");
  bool alike = order != NULL;
  for (size_t i = 0; alike && i < n; i++)
    alike = !un__is(order[i], UN__OP_LOAD) && !(un__is(order[i], UN__OP_SPECIAL) && un__attr(order[i], 0) == UN__AXIS_LOCAL);
  un__free(order);
  return alike;
}

const un_uop *un__fn_in_every_lane(un__rw *rw, const un_uop *c, const un_uop *vector) {
  return un__with_dtype(rw->g, c, un__dt_with_lanes(c->dtype, un__lanes(vector)));
}

const un_uop *un__fn_gate_lanes(un__rw *rw, const un_uop *gate, const un_uop *access) {
  uint32_t lanes = un__lanes(access);
  if (un__lanes(gate) == lanes) return gate;
  return un__uop(rw->g, UN__OP_VECTORIZE, un__dt_with_lanes(gate->dtype, lanes), &gate, 1, NULL, 0);
}
