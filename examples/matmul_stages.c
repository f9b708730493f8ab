/* matmul_stages.c - one matmul, seen at every stage of the compiler: from mathematics to machine code.
 *
 *   matmul_stages [--device=NAME] [SIZE]      4 by default; 64 shows threads, vectors and a register tile
 *
 * The same views of any program: `unir show --stage=... program.un`. The device null:generic shows the same everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unir/unir.h>

static const struct { un_stage stage; const char *title, *note; } stages[] = {
  {UN_STAGE_TENSOR, "tensor", "Nothing but mathematics: two views, a product, a sum. No memory, no loop."},
  {UN_STAGE_KERNEL, "kernel (after rangeify)",
   "The movement ops have become index arithmetic; every loop is a node, the same node wherever it is used."},
  {UN_STAGE_OPT, "optimised",
   "The same tree with ranges split and typed: which loop is parallel, which is a vector, which is left sequential."},
  {UN_STAGE_LINEAR, "linear", "A list, one line a node: the loops, an accumulator, the loads, one store."},
  {UN_STAGE_SOURCE, "source", "What the list says, as LLVM IR."},
};

static un_status print_stages(un_ctx *cx, int n) {
  un_tensor *a = un_zeros(cx, UN_F32, un_shape(2, n, n)), *b = un_ones(cx, UN_F32, un_shape(2, n, n));
  un_status status = un_realize(cx, 2, (un_tensor *[]){a, b});      /* stored: buffers, not constants */
  un_tensor *c = un_matmul(a, b);
  printf("# A %dx%d matmul through the pipeline\n", n, n);
  for (size_t i = 0; i < sizeof stages / sizeof *stages && status == UN_OK; i++) {
    printf("\n## %s\n\n%s\n\n```\n", stages[i].title, stages[i].note);
    status = un_print_tree(c, stages[i].stage, stdout);
    printf("```\n");
  }
  return status;
}

/* 1 to 1024, or 0 for what is no size. */
static int size_of(const char *arg) {
  char *end;
  long n = strtol(arg, &end, 10);
  return *arg && !*end && n >= 1 && n <= 1024 ? (int)n : 0;
}

int main(int argc, char **argv) {
  un_ctx_options options = UN_CTX_OPTIONS_INIT;
  int n = 4;
  for (int i = 1; i < argc && n; i++) {
    if (!strncmp(argv[i], "--device=", 9)) options.device = argv[i] + 9;
    else n = size_of(argv[i]);
  }
  if (!n) return fprintf(stderr, "usage: matmul_stages [--device=NAME] [SIZE], 1 to 1024\n"), 2;
  un_ctx *cx;
  un_status status = un_ctx_create(&options, &cx);
  if (status == UN_OK && (status = print_stages(cx, n)) != UN_OK) fprintf(stderr, "matmul_stages: %s\n", un_error(cx));
  else if (status != UN_OK) fprintf(stderr, "matmul_stages: device %s: %s\n", options.device, un_status_str(status));
  un_ctx_destroy(cx);
  return status != UN_OK;
}
