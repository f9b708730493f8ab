/* exec_interp.c - backends without code: the evaluators themselves, and the interpreter at its two upper stages. */
#include "exec.h"

#include <string.h>

#include "base/mem.h"
#include "interp/interp.h"

static un_status open_nothing(void **out, un__err *err) {
  (void)err;
  *out = NULL;
  return UN_OK;
}

static void close_nothing(void *self) { (void)self; }

static size_t size_of(un_dtype dt) { return un__dtype_table[dt].size; }

/* ---- eval ---- */

static un_status run_eval(void *self, const exec_case *c, void *out, un__err *err) {
  (void)self;
  for (size_t i = 0; i < c->n; i++) {
    un__value args[EXEC_OPERANDS], r;
    for (uint32_t k = 0; k < c->noperands; k++)
      args[k] = un__value_load(UN__DT(c->operand[k]), (const char *)c->data[k] + i * size_of(c->operand[k]));
    if (!un__eval(c->op, UN__DT(c->result), args, &r))
      return un__fail(err, UN_ERR_INTERNAL, "no value for case %zu", i);
    un__value_store(r, (char *)out + i * size_of(c->result));
  }
  return UN_OK;
}

const exec_backend exec_eval = {"eval", true, open_nothing, run_eval, close_nothing};

/* ---- interp, tensor stage ---- */

static un_status run_tensor_in(un__graph *ws, const exec_case *c, void *out, un__err *err) {
  const un_uop *n = un__idx(ws, (int64_t)c->n), *src[EXEC_OPERANDS];
  un__itensor in[EXEC_OPERANDS], got;
  for (uint32_t k = 0; k < c->noperands; k++) {
    src[k] = un__uop(ws, UN__OP_BUFFER, UN__DT(c->operand[k]), &n, 1, (int64_t[]){k, 0}, 2);
    in[k] = (un__itensor){.dtype = UN__DT(c->operand[k]), .rank = 1, .dim = {(int64_t)c->n}, .data = c->data[k]};
  }
  bool given = un__op_table[c->op].dtype_rule == UN__DR_GIVEN;
  const un_uop *root = un__uop(ws, c->op, given ? UN__DT(c->result) : 0, src, c->noperands, NULL, 0);
  if (!root) return un__graph_status(ws);
  UN__TRY(un__interp_tensor(&root, 1, in, c->noperands, &got, err));
  memcpy(out, got.data, c->n * size_of(c->result));
  un__free(got.data);
  return UN_OK;
}

static un_status in_workspace(un_status (*run)(un__graph *ws, const exec_case *c, void *out, un__err *err),
                              const exec_case *c, void *out, un__err *err) {
  un__graph *ws = un__workspace_create(err);
  if (!ws) return un__fail(err, UN_ERR_NOMEM, "no workspace");
  un_status st = run(ws, c, out, err);
  un__workspace_destroy(ws);
  return st;
}

static un_status run_tensor(void *self, const exec_case *c, void *out, un__err *err) {
  (void)self;
  if (!(un__op_table[c->op].stages & UN__STAGE_TENSOR))
    return un__fail(err, UN_ERR_UNSUPPORTED, "not an op of the tensor stage");
  return in_workspace(run_tensor_in, c, out, err);
}

const exec_backend exec_tensor = {"tensor", true, open_nothing, run_tensor, close_nothing};

/* ---- interp, kernel stage ---- */

/* Element i of argument number `slot`. */
static const un_uop *element(un__graph *ws, const exec_case *c, uint32_t slot, un_dtype dt, const un_uop *i) {
  const un_uop *n = un__idx(ws, (int64_t)c->n);
  un__dtype ptr = un__dt_ptr(dt, UN__SPACE_GLOBAL);
  const un_uop *src[] = {un__uop(ws, UN__OP_PARAM, ptr, &n, 1, (int64_t[]){slot}, 1), i};
  return un__uop(ws, UN__OP_INDEX, ptr, src, 2, NULL, 0);
}

const un_uop *exec_kernel_of(un__graph *ws, const exec_case *c) {
  const un_uop *i = un__range(ws, un__idx(ws, (int64_t)c->n), UN__AXIS_LOOP, 0), *value[EXEC_OPERANDS];
  for (uint32_t k = 0; k < c->noperands; k++) {
    const un_uop *address = element(ws, c, k + 1, c->operand[k], i);
    value[k] = un__uop(ws, UN__OP_LOAD, UN__DT(c->operand[k]), &address, 1, NULL, 0);
  }
  bool given = un__op_table[c->op].dtype_rule == UN__DR_GIVEN;
  const un_uop *r = un__uop(ws, c->op, given ? UN__DT(c->result) : 0, value, c->noperands, NULL, 0);
  const un_uop *closed[] = {un__binary(ws, UN__OP_STORE, element(ws, c, 0, c->result, i), r), i};
  const un_uop *end = un__uop(ws, UN__OP_END, 0, closed, 2, NULL, 0);
  return un__sink(ws, &end, 1);
}

un_status exec_interpret(const un_uop *kernel, const exec_case *c, void *out, un__err *err) {
  void *args[EXEC_OPERANDS + 1] = {out};
  int64_t sizes[EXEC_OPERANDS + 1];
  for (uint32_t k = 0; k <= c->noperands; k++) {
    if (k > 0) args[k] = c->data[k - 1];
    sizes[k] = (int64_t)c->n;
  }
  return un__interp_kernel(kernel, args, sizes, c->noperands + 1, NULL, 0, err);
}

static un_status run_kernel_in(un__graph *ws, const exec_case *c, void *out, un__err *err) {
  const un_uop *kernel = exec_kernel_of(ws, c);
  return kernel ? exec_interpret(kernel, c, out, err) : un__graph_status(ws);
}

static un_status run_kernel(void *self, const exec_case *c, void *out, un__err *err) {
  (void)self;
  return in_workspace(run_kernel_in, c, out, err);
}

const exec_backend exec_kernel = {"kernel", true, open_nothing, run_kernel, close_nothing};
