/* exec_ops.c - runs the table of tests/exec/reference on one backend: exec_ops <reference directory> <backend>.
 *
 * Exact ops must give the expected bits; any NaN will do for a NaN, and either zero from MAX and MIN. Functions that
 * the numerics contract bounds may be so many units in the last place off.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/npy.h"
#include "exec.h"
#include "uop/text.h"

/* ulps: of the reference, then of devices. Everything else is exact. */
typedef struct bound {
  un__op op;
  uint64_t reference, device;
} bound;

static const bound bounds[] = {
    {UN__OP_EXP, 1, 2},  {UN__OP_EXP2, 1, 2}, {UN__OP_LOG, 1, 2},
    {UN__OP_LOG2, 1, 2}, {UN__OP_SIN, 1, 2},  {UN__OP_COS, 1, 2},  {UN__OP_TANH, 1, 2}, {UN__OP_POW, 1, 4},
};

static uint64_t allowed(un__op op, bool reference) {
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    if (bounds[i].op == op) return reference ? bounds[i].reference : bounds[i].device;
  return 0;
}

/* ---- comparison ---- */

static bool is_nan(un_dtype dt, uint64_t bits) {
  double v = un__float_from_bits(dt, bits);
  return v != v;
}

/* Numbers in order, steps of one ulp; both zeros are 0. */
static int64_t place(un_dtype dt, uint64_t bits) {
  uint64_t sign = UINT64_C(1) << (8 * un__dtype_table[dt].size - 1);
  return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool same(const exec_case *c, uint64_t got, uint64_t want, uint64_t ulps) {
  if (got == want) return true;
  if (un__dtype_table[c->result].cls != UN__CLASS_FLOAT) return false;
  bool nan = is_nan(c->result, got), want_nan = is_nan(c->result, want);
  if (nan || want_nan) return nan && want_nan && c->op != UN__OP_BITCAST;
  int64_t a = place(c->result, got), b = place(c->result, want);
  bool any_zero = c->op == UN__OP_MAX || c->op == UN__OP_MIN || ulps > 0;
  if (a == b) return any_zero;
  uint64_t distance = a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
  return distance <= ulps;
}

static uint64_t bits_at(un_dtype dt, const void *data, size_t i) {
  size_t size = un__dtype_table[dt].size;
  return un__value_bits(un__value_load(UN__DT(dt), (const char *)data + i * size));
}

/* ---- running ---- */

typedef struct suite {
  const exec_backend *backend;
  void *self;
  int tests, failures, skipped;
} suite;

static void report(suite *s, const exec_case *c, const void *out) {
  size_t wrong = 0, first = 0;
  for (size_t i = c->n; i-- > 0;) {
    if (same(c, bits_at(c->result, out, i), c->want[i], allowed(c->op, s->backend->reference))) continue;
    wrong++;
    first = i;
  }
  printf("%sok %d - %s\n", wrong ? "not " : "", s->tests, c->name);
  if (!wrong) return;
  s->failures++;
  printf("# %zu of %zu are wrong; number %zu of", wrong, c->n, first);
  for (uint32_t k = 0; k < c->noperands; k++) printf(" 0x%" PRIx64, bits_at(c->operand[k], c->data[k], first));
  printf(" gives 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", bits_at(c->result, out, first), c->want[first]);
}

static void run_case(suite *s, const exec_case *c) {
  un__err err = {0};
  s->tests++;
  void *out = un__calloc(c->n, un__dtype_table[c->result].size);
  un_status st = out ? s->backend->run(s->self, c, out, &err) : UN_ERR_NOMEM;
  if (st == UN_OK) {
    report(s, c, out);
  } else if (st == UN_ERR_UNSUPPORTED) {
    s->skipped++;
    printf("ok %d - %s # SKIP %.100s\n", s->tests, c->name, err.text);
  } else {
    s->failures++;
    printf("not ok %d - %s\n# %s: %.400s\n", s->tests, c->name, un_status_str(st), err.text);
  }
  un__free(out);
}

/* ---- the table ---- */

enum { MAX_ROWS = 40, WORD = 24, MAX_LINE = 1024 };

/* A file of the table: rows of bit patterns, first the operands, then what each op gives. */
typedef struct table {
  un_dtype dtype;
  uint32_t nrows;
  char what[MAX_ROWS][WORD];
  size_t n;
  uint64_t *bits; /* nrows x n */
} table;

static un_dtype dtype_named(const char *name) {
  un__dtype dt;
  return un__dtype_by_name(name, strlen(name), &dt) ? un__dt_scalar(dt) : UN_VOID;
}

static uint64_t element(const un__npy *a, size_t i) {
  size_t size = a->size / (size_t)(a->dim[0] * a->dim[1]);
  return un__value_bits(un__value_load(UN__DT(a->dtype), (const char *)a->data + i * size));
}

static un_status read_table(const char *dir, const char *line, table *t, un__err *err) {
  char file[WORD * 2], path[1024];
  int used;
  *t = (table){0};
  if (sscanf(line, "%47s%n", file, &used) != 1) return un__fail(err, UN_ERR_PARSE, "cases.txt has an empty line");
  for (const char *p = line + used; t->nrows < MAX_ROWS && sscanf(p, "%23s%n", t->what[t->nrows], &used) == 1;
       p += used)
    t->nrows++;
  const char *dot = strchr(file, '.');
  t->dtype = dot ? dtype_named(dot + 1) : UN_VOID;
  if (t->dtype == UN_VOID) return un__fail(err, UN_ERR_PARSE, "cases.txt: %s names no dtype", file);
  snprintf(path, sizeof path, "%s/%s.npy", dir, file);
  void *bytes;
  un__npy array;
  UN__TRY(un__npy_load(path, &bytes, &array, err));
  un_status st = UN_OK;
  if (array.rank != 2 || array.dim[0] != t->nrows || array.dim[1] == 0)
    st = un__fail(err, UN_ERR_PARSE, "%s: does not have the rows that cases.txt says", path);
  t->n = st == UN_OK ? (size_t)array.dim[1] : 0;
  t->bits = un__alloc(t->nrows * t->n * sizeof *t->bits);
  if (st == UN_OK && !t->bits) st = un__fail(err, UN_ERR_NOMEM, "no memory for %s", path);
  for (size_t i = 0; st == UN_OK && i < t->nrows * t->n; i++) t->bits[i] = element(&array, i);
  un__free(bytes);
  return st;
}

/* "add", or "cast:i8" for conversions. */
static bool name_case(const table *t, uint32_t row, exec_case *c) {
  char op[WORD];
  snprintf(op, sizeof op, "%s", t->what[row]);
  char *colon = strchr(op, ':');
  if (colon) *colon = '\0';
  if (!un__op_by_name(op, strlen(op), &c->op)) return false;
  bool truth = un__op_table[c->op].dtype_rule == UN__DR_TRUTH;
  c->result = colon ? dtype_named(colon + 1) : truth ? UN_BOOL : t->dtype;
  snprintf(c->name, sizeof c->name, "%s %s%s%s", op, un__dtype_table[t->dtype].name, colon ? " " : "",
           colon ? colon + 1 : "");
  return c->result != UN_VOID;
}

static bool fill_operand(const table *t, uint32_t k, exec_case *c) {
  c->operand[k] = c->op == UN__OP_WHERE && k == 0 ? UN_BOOL : t->dtype;
  size_t size = un__dtype_table[c->operand[k]].size;
  c->data[k] = un__alloc(c->n * size);
  for (size_t i = 0; c->data[k] && i < c->n; i++)
    un__value_store(un__value_from_bits(UN__DT(c->operand[k]), t->bits[k * t->n + i]), (char *)c->data[k] + i * size);
  return c->data[k] != NULL;
}

static un_status run_table(suite *s, const table *t, un__err *err) {
  uint32_t operands = 0;
  while (operands < t->nrows && strlen(t->what[operands]) == 1) operands++;
  if (operands == 0 || operands > EXEC_OPERANDS) return un__fail(err, UN_ERR_PARSE, "a table without operands");
  for (uint32_t row = operands; row < t->nrows; row++) {
    exec_case c = {.noperands = operands, .n = t->n, .want = t->bits + row * t->n};
    if (!name_case(t, row, &c)) return un__fail(err, UN_ERR_PARSE, "cases.txt: no op %s", t->what[row]);
    bool ok = true;
    for (uint32_t k = 0; k < operands; k++) ok = ok && fill_operand(t, k, &c);
    if (ok) run_case(s, &c);
    for (uint32_t k = 0; k < operands; k++) un__free(c.data[k]);
    if (!ok) return un__fail(err, UN_ERR_NOMEM, "no memory for operands");
  }
  return UN_OK;
}

static un_status run_all(suite *s, const char *dir, un__err *err) {
  char path[1024], line[MAX_LINE];
  snprintf(path, sizeof path, "%s/cases.txt", dir);
  FILE *f = fopen(path, "r");
  if (!f) return un__fail(err, UN_ERR_IO, "%s: cannot be opened", path);
  un_status st = UN_OK;
  while (st == UN_OK && fgets(line, sizeof line, f)) {
    table t;
    st = read_table(dir, line, &t, err);
    if (st == UN_OK) st = run_table(s, &t, err);
    un__free(t.bits);
  }
  fclose(f);
  return st;
}

static const exec_backend *const backends[] = {
    &exec_eval,       &exec_tensor,  &exec_kernel,
#ifdef UN_EXEC_LOWER
    &exec_kernel_opt, &exec_interp,  &exec_interp_opt, &exec_cc_opt, &exec_cuda, &exec_cuda_opt, &exec_cuda_compiled,
#ifdef UN_EXEC_CPU
    &exec_cpu,        &exec_cpu_opt,
#endif
#endif
};

int main(int argc, char **argv) {
  un__err err = {0};
  suite s = {0};
  for (size_t i = 0; argc == 3 && i < sizeof backends / sizeof *backends; i++)
    if (strcmp(backends[i]->name, argv[2]) == 0) s.backend = backends[i];
  if (!s.backend) {
    fprintf(stderr, "usage: exec_ops <reference directory> <backend>\n");
    return 2;
  }
  un_status st = s.backend->open(&s.self, &err);
  if (st == UN_ERR_DEVICE && s.backend->may_miss) return printf("1..0 # SKIP ops on %s: %s\n", s.backend->name, err.text), 0;
  if (st == UN_OK) {
    st = run_all(&s, argv[1], &err);
    s.backend->close(s.self);
  }
  if (st != UN_OK) printf("Bail out! %s\n", err.text);
  printf("1..%d\n# %s: %d failed, %d skipped\n", s.tests, s.backend->name, s.failures, s.skipped);
  return st != UN_OK || s.failures > 0;
}
