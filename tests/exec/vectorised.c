/* vectorised.c - the twelve named kernels, and others that no name stands for, are vector code for several threads:
 * what their innermost loops consist of, for machines that are described in the library, so that every machine sees the
 * same instructions. One test a kernel; TAP.
 *
 *     exec_vectorised [show NAME]      show: the assembly and the counts of the kernels whose names begin so
 *
 * The bounds stand for what a kernel is: as many vector operations as its body has for each vector stored, no operation
 * on single elements, no lane put in or taken out. They are lower bounds where more side by side is better. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UN_NO_HERE
#include <unir/unir.h>

#include "assembly.h"

/* ---- the machines ---- */

typedef struct machine {
  const char *device, *widest;
} machine;

static const machine machines[] = {{"cpu:generic", "%ymm"}, {"cpu:avx512", "%zmm"}};

/* ---- the kernels ---- */

typedef struct inputs {
  un_ctx *cx;
  un_dtype dtype;
  int64_t rows, columns;
  void *data;
} inputs;

enum { MEMORY = 1 << 24, APART = 64 };

static un_tensor *matrix(const inputs *in, int64_t rows, int64_t columns) {
  return un_wrap_data(in->cx, in->dtype, un_shape(2, rows, columns), in->data);
}
static un_tensor *other(const inputs *in, int64_t rows, int64_t columns) {
  return un_wrap_data(in->cx, in->dtype, un_shape(2, rows, columns), (char *)in->data + APART);
}
static un_tensor *x_of(const inputs *in) { return matrix(in, in->rows, in->columns); }
static un_tensor *y_of(const inputs *in) { return other(in, in->rows, in->columns); }
static un_tensor *turned(un_tensor *x) { return un_transpose(x, 0, 1); }

static un_tensor *copy(const inputs *in) {
  return un_contiguous(un_slice(matrix(in, in->rows + 1, in->columns), 0, 1, in->rows + 1, 1));
}
static un_tensor *add(const inputs *in) { return un_add(x_of(in), y_of(in)); }
static un_tensor *chain(const inputs *in) { return un_muls(un_relu(un_adds(un_mul(x_of(in), y_of(in)), 1)), 3); }
static un_tensor *row_sum(const inputs *in) { return un_sum(x_of(in), un_list(1), false); }
static un_tensor *column_sum(const inputs *in) { return un_sum(x_of(in), un_list(0), false); }
static un_tensor *row_max(const inputs *in) { return un_max(x_of(in), un_list(1), false); }
static un_tensor *softmax(const inputs *in) { return un_softmax(x_of(in), 1); }
static un_tensor *layer_norm(const inputs *in) { return un_layer_norm(x_of(in), un_list(1), 1e-5); }
static un_tensor *matmul_nn(const inputs *in) { return un_matmul(x_of(in), other(in, in->columns, in->rows)); }
static un_tensor *matmul_nt(const inputs *in) { return un_matmul(x_of(in), turned(y_of(in))); }
static un_tensor *matmul_tn(const inputs *in) {
  return un_matmul(turned(matrix(in, in->columns, in->rows)), other(in, in->columns, in->rows));
}
static un_tensor *transpose(const inputs *in) { return un_contiguous(turned(x_of(in))); }

static un_tensor *exponential(const inputs *in) { return un_exp(x_of(in)); }
static un_tensor *less(const inputs *in) { return un_lt(x_of(in), y_of(in)); }
static un_tensor *where(const inputs *in) { return un_where(less(in), x_of(in), y_of(in)); }
static un_tensor *argmax(const inputs *in) { return un_argmax(x_of(in), 1, false); }
static un_tensor *bias(const inputs *in) { return un_add(x_of(in), other(in, 1, in->columns)); }
static un_tensor *to_f32(const inputs *in) { return un_cast(x_of(in), UN_F32); }
static un_tensor *to_i32(const inputs *in) { return un_cast(x_of(in), UN_I32); }
static un_tensor *matrix_vector(const inputs *in) { return un_matmul(x_of(in), other(in, in->columns, 1)); }
static un_tensor *vector_matrix(const inputs *in) { return un_matmul(other(in, 1, in->rows), x_of(in)); }
static un_tensor *add_turned(const inputs *in) { return un_add(other(in, in->columns, in->rows), turned(x_of(in))); }
static un_tensor *middle_sum(const inputs *in) {
  un_tensor *x = un_wrap_data(in->cx, in->dtype, un_shape(3, in->rows / 8, 8, in->columns), in->data);
  return un_sum(x, un_list(1), false);
}

/* ---- what they must be ---- */

/* At least, of the innermost loops together; `math` on the widest registers. */
typedef struct least {
  int math, loads, stores, splats, shuffles;
} least;

typedef struct kernel {
  const char *name;
  un_tensor *(*build)(const inputs *in);
  least want;
  un_dtype dtype;
  int64_t rows, columns;
} kernel;

/* Round and ragged: 777 is no multiple of any number of lanes. */
#define SIZES(name, build, d, ...)                                                                                     \
  {name, build, __VA_ARGS__, UN_##d, 1024, 1024}, { name, build, __VA_ARGS__, UN_##d, 1000, 777 }
#define DTYPES(name, build, ...)                                                                                       \
  SIZES(name, build, F32, __VA_ARGS__), SIZES(name, build, F64, __VA_ARGS__), SIZES(name, build, I32, __VA_ARGS__),    \
      SIZES(name, build, F16, __VA_ARGS__), SIZES(name, build, BF16, __VA_ARGS__)

static const kernel kernels[] = {
    /* Four vectors an iteration: nothing but a load and a store each. */
    DTYPES("copy", copy, {.loads = 4, .stores = 4}),
    /* An operation for each vector stored. */
    DTYPES("add", add, {.math = 4, .loads = 8, .stores = 4}),
    /* Multiply, add (one fma where it is contracted), maximum, multiply. */
    DTYPES("chain", chain, {.math = 12, .loads = 8, .stores = 4}),
    /* Accumulators that do not wait for each other, each with an operation for each load. */
    DTYPES("row sum", row_sum, {.math = 2, .loads = 2}),
    DTYPES("row max", row_max, {.math = 4, .loads = 2}),
    /* Lanes across columns, long runs of every row. */
    DTYPES("column sum", column_sum, {.math = 4, .loads = 4}),
    /* Maximum, sum of exponentials (a polynomial of degree 6 and its scaling: 16 operations or more), and the same over
     * again with a division. */
    SIZES("softmax", softmax, F32, {.math = 40, .loads = 3, .stores = 1}),
    SIZES("softmax", softmax, F64, {.math = 40, .loads = 3, .stores = 1}),
    SIZES("softmax", softmax, F16, {.math = 40, .loads = 3, .stores = 1}),
    SIZES("softmax", softmax, BF16, {.math = 40, .loads = 3, .stores = 1}),
    /* Sum, sum of squares of differences, and the normalised values: at least 1 + 2 + 2 operations. */
    SIZES("layer norm", layer_norm, F32, {.math = 5, .loads = 3, .stores = 1}),
    SIZES("layer norm", layer_norm, F64, {.math = 5, .loads = 3, .stores = 1}),
    SIZES("layer norm", layer_norm, F16, {.math = 5, .loads = 3, .stores = 1}),
    SIZES("layer norm", layer_norm, BF16, {.math = 5, .loads = 3, .stores = 1}),
    /* A register tile: at least 6 rows of 2 vectors, the left operand splat. */
    SIZES("matmul nn", matmul_nn, F32, {.math = 12, .loads = 2, .splats = 6}),
    SIZES("matmul nn", matmul_nn, F64, {.math = 12, .loads = 2, .splats = 6}),
    SIZES("matmul tn", matmul_tn, F32, {.math = 12, .loads = 2, .splats = 6}),
    SIZES("matmul tn", matmul_tn, F64, {.math = 12, .loads = 2, .splats = 6}),
    /* Lanes along the reduction: a tile of at least 4 rows and 2 columns, each a sum of its own. */
    SIZES("matmul nt", matmul_nt, F32, {.math = 8, .loads = 6}),
    SIZES("matmul nt", matmul_nt, F64, {.math = 8, .loads = 6}),
    /* Rows in, columns out: for N rows of N, N log2 N shuffles. */
    SIZES("transpose", transpose, F32, {.loads = 8, .stores = 8, .shuffles = 24}),
    SIZES("transpose", transpose, I32, {.loads = 8, .stores = 8, .shuffles = 24}),
    SIZES("transpose", transpose, F64, {.loads = 4, .stores = 4, .shuffles = 8}),
    SIZES("transpose", transpose, F16, {.loads = 16, .stores = 16, .shuffles = 64}),
    SIZES("transpose", transpose, BF16, {.loads = 16, .stores = 16, .shuffles = 64}),
    SIZES("transpose", transpose, U8, {.loads = 16, .stores = 16, .shuffles = 64}),

    DTYPES("where", where, {.math = 4, .loads = 8, .stores = 4}),
    DTYPES("argmax", argmax, {.math = 6, .loads = 2}),      /* one pass: value and place together */
    SIZES("less", less, F32, {.math = 4, .loads = 8}),
    SIZES("exp", exponential, F32, {.math = 32, .loads = 2, .stores = 2}),
    SIZES("exp", exponential, F64, {.math = 40, .loads = 2, .stores = 2}),
    SIZES("bias", bias, F32, {.math = 2, .loads = 4, .stores = 2}),
    SIZES("bf16 to f32", to_f32, BF16, {.math = 4, .loads = 4, .stores = 4}),
    SIZES("f32 to i32", to_i32, F32, {.math = 4, .loads = 4, .stores = 4}),
    SIZES("matrix by vector", matrix_vector, F32, {.math = 4, .loads = 5}),
    SIZES("vector by matrix", vector_matrix, F32, {.math = 4, .loads = 4, .splats = 1}),
    SIZES("sum of a transpose", add_turned, F32, {.math = 8, .loads = 16, .stores = 8, .shuffles = 24}),
    SIZES("sum over the middle", middle_sum, F32, {.math = 4, .loads = 4}),
};

/* ---- judging ---- */

/* The size of the SPECIAL node that stands for the pool's tasks. */
static long tasks_of(const char *linear) {
  const char *special = strstr(linear, "= special "), *size = special ? strchr(special, '%') : NULL;
  char name[32];
  if (!size) return 1;
  snprintf(name, sizeof name, "%%%d = const", atoi(size + 1));
  const char *constant = strstr(linear, name), *value = constant ? strstr(constant, "val=") : NULL;
  return value ? atol(value + 4) : 0;
}

static int kernels_of(const char *linear) {
  int n = 0;
  for (const char *p = linear; (p = strstr(p, "graph @")) != NULL; p++) n++;
  return n;
}

static bool too_few(char *why, size_t size, const char *what, int have, int want) {
  if (have < want) snprintf(why, size, "%d %s, expected at least %d", have, what, want);
  return have < want;
}

static bool some(char *why, size_t size, const char *what, int have) {
  if (have > 0) snprintf(why, size, "%d %s, expected none", have, what);
  return have > 0;
}

/* What is wrong, in why; "": nothing. */
static void judge(const kernel *k, const asm_counts *c, long tasks, int nkernels, char *why, size_t size) {
  why[0] = '\0';
  if (nkernels != 1)
    snprintf(why, size, "%d kernels, expected 1", nkernels);
  else if (!too_few(why, size, "tasks", (int)tasks, 2) && !some(why, size, "calls", c->calls) &&
           !some(why, size, "operations on one element", c->scalar) &&
           !some(why, size, "accesses of one element", c->single) &&
           !too_few(why, size, "vector operations", c->math, k->want.math) &&
           !too_few(why, size, "vector loads", c->loads, k->want.loads) &&
           !too_few(why, size, "vector stores", c->stores, k->want.stores) &&
           !too_few(why, size, "splats", c->splats, k->want.splats))
    too_few(why, size, "shuffles", c->shuffles, k->want.shuffles);
}

static void print_counts(const asm_counts *c, long tasks) {
  printf("# %ld tasks; in %d loops: %d vector operations (%d on less than all lanes), %d scalar, %d loads, %d stores, "
         "%d splats, %d single accesses, %d shuffles, %d spills, %d calls\n",
         tasks, c->loops, c->math, c->narrower, c->scalar, c->loads, c->stores, c->splats, c->single, c->shuffles,
         c->spills, c->calls);
}

/* Fills why. */
static void look(const kernel *k, const machine *m, void *data, bool show, char *why, size_t size) {
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = m->device;
  un_ctx *cx;
  snprintf(why, size, "no context");
  if (un_ctx_create(&opt, &cx) != UN_OK) return;
  const inputs in = {cx, k->dtype, k->rows, k->columns, data};
  un_tensor *t = k->build(&in);
  char *assembly = un_to_text(t, UN_STAGE_ASM, UN_FORM_TREE), *linear = un_to_text(t, UN_STAGE_LINEAR, UN_FORM_TEXT);
  asm_counts counts;
  if (!assembly || !linear)
    snprintf(why, size, "%s", un_error(cx));
  else if (!asm_count(assembly, m->widest, &counts))
    snprintf(why, size, "no memory");
  else {
    judge(k, &counts, tasks_of(linear), kernels_of(linear), why, size);
    if (show) puts(assembly);
    if (show || why[0]) print_counts(&counts, tasks_of(linear));
  }
  free(assembly);
  free(linear);
  un_ctx_destroy(cx);
}

int main(int argc, char **argv) {
  const char *only = argc == 3 && strcmp(argv[1], "show") == 0 ? argv[2] : NULL;
  void *data = calloc(1, MEMORY);
  int tests = 0, failures = 0;
  for (size_t i = 0; data && i < sizeof kernels / sizeof *kernels; i++) {
    const kernel *k = &kernels[i];
    for (size_t j = 0; j < sizeof machines / sizeof *machines; j++) {
      char why[256];
      if (only && strncmp(k->name, only, strlen(only)) != 0) continue;
      look(k, &machines[j], data, only != NULL, why, sizeof why);
      printf("%s %d - %s %s %lldx%lld on %s%s%s\n", why[0] ? "not ok" : "ok", ++tests, k->name, un_dtype_name(k->dtype),
             (long long)k->rows, (long long)k->columns, machines[j].device, why[0] ? ": " : "", why);
      failures += why[0] != '\0';
    }
  }
  free(data);
  printf("1..%d\n", tests);
  return failures || !tests;
}
