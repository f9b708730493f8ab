#include "programs.h"

#include "base/vec.h"

typedef UN__VEC(const un_uop *) nodes;

const un_uop *program_input(un__graph *g, int64_t slot, int64_t rows, int64_t columns) {
  const un_uop *dims[] = {un__idx(g, rows), un__idx(g, columns)};
  return un__uop(g, UN__OP_BUFFER, UN__DT(UN_F32), dims, 2, (int64_t[]){slot, 0}, 2);
}

static const un_uop *relu(un__graph *g, const un_uop *x) {
  return un__binary(g, UN__OP_MAX, x, un__tensor_like(g, x, 0));
}

static const un_uop *plus_row(un__graph *g, const un_uop *x, const un_uop *row) {
  un_dims to;
  if (!x || !un__tensor_dims(g, x, &to)) return NULL;
  return un__binary(g, UN__OP_ADD, x, un__tensor_broadcast(g, "bench", row, &to));
}

static const un_uop *sink_of(un__graph *g, nodes *list) {
  const un_uop *sink = un__sink(g, list->at, (uint32_t)list->n);
  un__vec_finish(list);
  return sink;
}

const un_uop *program_mlp(un__graph *g, int layers, int64_t batch, int64_t width, int64_t *out_ninputs) {
  const un_uop *h = program_input(g, 0, batch, width);
  for (int i = 0; i < layers; i++) {
    const un_uop *w = program_input(g, 2 * i + 1, width, width), *b = program_input(g, 2 * i + 2, 1, width);
    h = relu(g, plus_row(g, un__tensor_matmul(g, h, w), b));
  }
  *out_ninputs = 2 * layers + 1;
  return h ? un__sink(g, &h, 1) : NULL;
}

const un_uop *program_mlp_backward(un__graph *g, int layers, int64_t batch, int64_t width, int64_t *out_ninputs) {
  nodes acts = {0}, grads = {0};
  const un_uop *h = program_input(g, 0, batch, width);
  un_dims rows = {1, {0}};
  for (int i = 0; i < layers; i++) {
    (void)un__vec_push(&acts, h);
    const un_uop *w = program_input(g, 2 * i + 1, width, width), *b = program_input(g, 2 * i + 2, 1, width);
    h = relu(g, plus_row(g, un__tensor_matmul(g, h, w), b));
  }
  const un_uop *grad = h ? un__tensor_like(g, h, 1) : NULL;
  for (int i = layers - 1; i >= 0 && grad; i--) {
    const un_uop *w = program_input(g, 2 * i + 1, width, width), *in = acts.at[i];
    /* relu passes where its result is positive. */
    const un_uop *out = i + 1 < layers ? acts.at[i + 1] : h;
    const un_uop *passes = un__binary(g, UN__OP_LT, un__tensor_like(g, out, 0), out);
    grad = un__tensor_where(g, passes, grad, un__tensor_like(g, grad, 0));
    (void)un__vec_push(&grads, un__tensor_matmul(g, un__tensor_transpose(g, in, 0, 1), grad));
    (void)un__vec_push(&grads, un__tensor_sum(g, grad, &rows, true));
    grad = un__tensor_matmul(g, grad, un__tensor_transpose(g, w, 0, 1));
  }
  un__vec_finish(&acts);
  *out_ninputs = 2 * layers + 1;
  return sink_of(g, &grads);
}

static const un_uop *scaled(un__graph *g, const un_uop *x, double by) {
  return un__binary(g, UN__OP_MUL, x, un__tensor_like(g, x, by));
}

const un_uop *program_regression_step(un__graph *g, int64_t rows, int64_t *out_ninputs) {
  const un_uop *x = program_input(g, 0, rows, 64), *y = program_input(g, 1, rows, 10);
  const un_uop *w = program_input(g, 2, 64, 10), *b = program_input(g, 3, 1, 10);
  un_dims all = {2, {0, 1}}, first = {1, {0}};
  const un_uop *logits = plus_row(g, un__tensor_matmul(g, x, w), b);
  const un_uop *loss = scaled(g, un__tensor_sum(g, un__binary(g, UN__OP_MUL, y, un__tensor_log_softmax(g, logits, 1)), &all, false),
                              -1.0 / (double)rows);
  const un_uop *delta = scaled(g, un__binary(g, UN__OP_SUB, un__tensor_softmax(g, logits, 1), y), 1.0 / (double)rows);
  const un_uop *dw = un__tensor_matmul(g, un__tensor_transpose(g, x, 0, 1), delta), *db = un__tensor_sum(g, delta, &first, true);
  const un_uop *out[] = {loss, un__binary(g, UN__OP_SUB, w, scaled(g, dw, 0.5)), un__binary(g, UN__OP_SUB, b, scaled(g, db, 0.5))};
  *out_ninputs = 4;
  return un__sink(g, out, 3);
}
