/* matmul_stages.c - one matmul, seen at every stage of the compiler: from mathematics to machine code.
 *
 *   matmul_stages [SIZE]      4 by default; 64 shows threads, vectors and a register tile
 *
 * The same views of any program: `unir show --stage=... program.un`. */
#include <stdio.h>
#include <stdlib.h>
#include <unir/unir.h>

static const struct { un_stage stage; const char *title, *note; } stages[] = {
  {UN_STAGE_TENSOR, "tensor", "Nothing but mathematics: two views, a product, a sum. No memory, no loop."},
  {UN_STAGE_KERNEL, "kernel, after rangeify", "The views have become index arithmetic; every loop is a node, the same one wherever it is used."},
  {UN_STAGE_OPT, "optimised", "The ranges are split and typed: which loop is parallel, which is a vector, which is left sequential."},
  {UN_STAGE_LINEAR, "linear", "A list, one line a node: the loops, an accumulator, the loads, one store."},
  {UN_STAGE_SOURCE, "source", "What the list says, as LLVM IR."},
};

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 4;
  if (n < 1 || n > 1024) {
    fprintf(stderr, "usage: matmul_stages [SIZE], 1 to 1024\n");
    return 2;
  }
  float *data = calloc((size_t)n * (size_t)n, sizeof *data);
  un_ctx *cx;
  if (!data || un_ctx_create(NULL, &cx) != UN_OK) return 1;
  un_tensor *a = un_from_data(cx, UN_F32, un_shape(2, n, n), data);
  un_tensor *b = un_from_data(cx, UN_F32, un_shape(2, n, n), data);
  un_tensor *c = un_matmul(a, b);
  un_status status = UN_OK;
  for (size_t i = 0; i < sizeof stages / sizeof *stages && status == UN_OK; i++) {
    printf("## %s\n%s\n\n", stages[i].title, stages[i].note);
    status = un_print_tree(c, stages[i].stage, stdout);
    printf("\n");
  }
  if (status != UN_OK) fprintf(stderr, "matmul_stages: %s\n", un_error(cx));
  un_ctx_destroy(cx);
  free(data);
  return status != UN_OK;
}
