/* tensor.c - goldens of the tensor stage: the `.un` text of what each call builds, one file a case in
 * tests/golden/tensor. The files are goldens of run.py too: the text, read and printed by the command line, is the same
 * text.
 *
 *     golden_tensor DIR             compares, TAP output; texts must parse back to the same node, and verify
 *     golden_tensor DIR --update    writes the files anew
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tensor/tensor.h"
#include "uop/text.h"

typedef const un_uop *node;

#define D(...) (&(un_dims){sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#define EVERY (&(un_dims){.rank = UN_DIMS_ALL})

static node input(un__graph *g, int64_t slot, un_dtype dtype, const un_dims *shape) {
  node dim[UN_MAX_RANK];
  for (int i = 0; i < shape->rank; i++) dim[i] = un__idx(g, shape->dim[i]);
  return un__uop(g, UN__OP_BUFFER, UN__DT(dtype), dim, (uint32_t)shape->rank, (int64_t[]){slot, 0}, 2);
}

/* A case: a name and an expression over these inputs. */
typedef struct inputs { node m, n, h, v, i, b, l; } inputs;
typedef node (*build_fn)(un__graph *g, const inputs *in);

#define CASES(CASE)                                                                                                     \
  CASE(full, un__tensor_full(g, UN_F32, D(2, 3), 0.1))                                                                  \
  CASE(arange_int, un__tensor_arange(g, UN_I32, 2, 11, 3))                                                              \
  CASE(arange_float, un__tensor_arange(g, UN_F16, 0, 1, 0.25))                                                          \
  CASE(eye, un__tensor_eye(g, UN_F32, 3, 4))                                                                            \
  CASE(add_broadcast, un__tensor_add(g, in->m, in->v))                                                                  \
  CASE(add_promote, un__tensor_add(g, in->h, in->i))                                                                    \
  CASE(mul_literal, un__tensor_mul(g, in->m, un__tensor_scalar_like(g, in->m, 2)))                                      \
  CASE(compare_le, un__tensor_le(g, in->m, in->v))                                                                      \
  CASE(where, un__tensor_where(g, in->b, in->m, in->v))                                                                 \
  CASE(round, un__tensor_round(g, in->v))                                                                               \
  CASE(abs, un__tensor_abs(g, in->h))                                                                                   \
  CASE(shl_mixed, un__tensor_shl(g, in->i, in->l))                                                                      \
  CASE(cos, un__tensor_cos(g, in->v))                                                                                   \
  CASE(tanh, un__tensor_tanh(g, in->h))                                                                                 \
  CASE(gelu, un__tensor_gelu(g, in->v))                                                                                 \
  CASE(reshape_permute, un__tensor_permute(g, un__tensor_reshape(g, in->m, D(3, 2, 2)), D(2, 0, 1)))                    \
  CASE(pad, un__tensor_pad(g, in->m, D(1, 0), D(0, 2)))                                                                 \
  CASE(pad_value, un__tensor_pad_value(g, in->m, D(1, 0), D(0, 2), -1))                                                 \
  CASE(shrink, un__tensor_shrink(g, in->m, D(0, 1), D(2, 3)))                                                           \
  CASE(slice_back, un__tensor_slice(g, in->m, 1, UN_OPEN, UN_OPEN, -3))                                                 \
  CASE(flip, un__tensor_flip(g, in->m, D(0, 1)))                                                                        \
  CASE(cat, un__tensor_cat(g, (node[]){in->m, in->m, in->m}, 3, 1))                                                     \
  CASE(stack, un__tensor_stack(g, (node[]){in->v, in->v}, 2, 1))                                                        \
  CASE(sum, un__tensor_sum(g, in->m, D(1), false))                                                                      \
  CASE(sum_half_keep, un__tensor_sum(g, in->h, D(0), true))                                                             \
  CASE(sum_of_nothing, un__tensor_sum(g, un__tensor_shrink(g, in->m, D(0, 0), D(3, 0)), D(1), false))                   \
  CASE(prod_narrow, un__tensor_prod(g, in->l, EVERY, false))                                                            \
  CASE(mean, un__tensor_mean(g, in->m, EVERY, false))                                                                   \
  CASE(var, un__tensor_var(g, in->m, D(1), 1, false))                                                                   \
  CASE(any, un__tensor_any(g, in->m, D(0), false))                                                                      \
  CASE(argmax, un__tensor_argmax(g, in->m, 1, false))                                                                   \
  CASE(matmul, un__tensor_matmul(g, in->m, in->n))                                                                      \
  CASE(matmul_vector, un__tensor_matmul(g, in->m, in->v))                                                               \
  CASE(matmul_half, un__tensor_matmul(g, in->h, un__tensor_transpose(g, in->h, 0, 1)))                                  \
  CASE(matmul_batch, un__tensor_matmul(g, un__tensor_stack(g, (node[]){in->m, in->m}, 2, 0), in->n))                    \
  CASE(softmax, un__tensor_softmax(g, in->m, -1))                                                                       \
  CASE(log_softmax, un__tensor_log_softmax(g, in->m, 0))                                                                \
  CASE(layer_norm, un__tensor_layer_norm(g, in->m, D(-1), 1e-5))                                                        \
  CASE(rms_norm_half, un__tensor_rms_norm(g, in->h, D(-1), 1e-6))                                                       \
  CASE(gather, un__tensor_gather(g, in->m, 1, un__tensor_reshape(g, in->i, D(1, 4))))                                   \
  CASE(embedding, un__tensor_take(g, in->m, 0, in->i))                                                                  \
  CASE(one_hot, un__tensor_one_hot(g, in->i, 5, UN_F32))                                                                \
  CASE(contiguous, un__tensor_contiguous(g, un__tensor_transpose(g, in->m, 0, 1)))

#define CASE(name, expr) \
  static node build_##name(un__graph *g, const inputs *in) { return expr; }
CASES(CASE)
#undef CASE

static const struct { const char *name; build_fn build; } cases[] = {
#define CASE(name, expr) {#name, build_##name},
  CASES(CASE)
#undef CASE
};
enum { CASES_N = sizeof cases / sizeof *cases };

/* The file's text, or NULL; the caller frees it. */
static char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = calloc(1, 1 << 16);
  if (text) text[fread(text, 1, (1 << 16) - 1, f)] = '\0';
  fclose(f);
  return text;
}

static bool write_file(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) return false;
  bool written = fputs(text, f) >= 0;
  return fclose(f) == 0 && written;
}

static node build(un__graph *g, size_t k) {
  inputs in = {input(g, 0, UN_F32, D(3, 4)), input(g, 1, UN_F32, D(4, 2)), input(g, 2, UN_F16, D(3, 4)),
               input(g, 3, UN_F32, D(4)),    input(g, 4, UN_I32, D(4)),    input(g, 5, UN_BOOL, D(3, 1)),
               input(g, 6, UN_I8, D(4))};
  node x = cases[k].build(g, &in);
  return x ? un__sink(g, &x, 1) : NULL;
}

/* NULL when the case holds; else what is wrong. */
static const char *check(const char *dir, size_t k, bool update, char *path, size_t size) {
  un__err err = {0};
  un__graph *own = un__workspace_create(&err), *g = un__workspace_create(&err);
  un__strbuf text, faults;
  un__sb_init(&text);
  un__sb_init(&faults);
  const char *wrong = NULL;
  snprintf(path, size, "%s/%s.un", dir, cases[k].name);
  /* Imported, so that slots are numbered from 0 as in every printed graph. */
  node made = build(own, k), root = made ? un__import(g, made, NULL) : NULL;
  if (root) un__print_text(&text, root, cases[k].name, UN__STAGE_TENSOR, false);
  un__strbuf whole;
  un__sb_init(&whole);
  un__sb_printf(&whole, "# RUN: %%unir opt %%s\n%s---\n%s", un__sb_str(&text), un__sb_str(&text));
  char *want = update ? NULL : read_file(path);
  un__parsed_graph back;
  size_t n = 0;
  if (!root) wrong = err.text[0] ? "the call failed" : "no graph";
  else if (un__verify(root, UN__STAGE_TENSOR, &err, &faults) != UN_OK)
    wrong = "the graph breaks the tensor stage's rules";
  else if (un__parse_text(g, path, un__sb_str(&text), text.n, &back, 1, &n) != UN_OK || n != 1 || back.root != root)
    wrong = "the text does not parse back to the same node";
  else if (update) wrong = write_file(path, un__sb_str(&whole)) ? NULL : "cannot write";
  else if (!want) wrong = "no such file";
  else if (strcmp(want, un__sb_str(&whole))) wrong = "the text differs; see --update";
  if (wrong && root && want) printf("# got:\n%s", un__sb_str(&text));
  if (err.text[0]) printf("# %s\n", err.text);
  free(want);
  un__sb_finish(&text);
  un__sb_finish(&whole);
  un__sb_finish(&faults);
  un__workspace_destroy(g);
  un__workspace_destroy(own);
  return wrong;
}

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: golden_tensor DIR [--update]\n"), 2;
  bool update = argc > 2 && !strcmp(argv[2], "--update");
  int bad = 0;
  printf("1..%d\n", (int)CASES_N);
  for (size_t k = 0; k < CASES_N; k++) {
    char path[512];
    const char *wrong = check(argv[1], k, update, path, sizeof path);
    printf("%s %zu - %s%s%s\n", wrong ? "not ok" : "ok", k + 1, path, wrong ? ": " : "", wrong ? wrong : "");
    bad += wrong != NULL;
  }
  return bad != 0;
}
