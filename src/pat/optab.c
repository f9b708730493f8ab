#include "optab.h"

#include <string.h>

/* Columns of ops.def by the names it uses for them. */
#define N UINT32_MAX
#define T 0
#define K 0
#define L 0
#define S 0
#define COMM UN__PF_COMM
#define ASSOC UN__PF_ASSOC
#define CMP UN__PF_CMP
#define VIEW UN__PF_VIEW
#define BLOCK 0
#define MEM 0
#define BODY 0
#define ELEM UN__PF_ELEM
#define ATTR(name, kind)                                                                                               \
  { #name, UN__PAK_##kind }
/* UN__PF_EVAL unless the evaluator is NONE. */
#define NO_EVAL_NONE _, 0
#define PICK_SECOND(a, b, ...) b
#define EVAL_FLAG(...) PICK_SECOND(__VA_ARGS__, 0)
#define OP(ID, text, lo, hi, dt, shape, operands, eval, flags, stages, doc, ...)                                       \
  [UN__POP_##                                                                                                          \
      ID] = {#ID, lo, hi, UN__PDR_##dt, operands, (flags) | EVAL_FLAG(NO_EVAL_##eval, UN__PF_EVAL), {__VA_ARGS__}},
const un__oprow un__optab[UN__POP_COUNT] = {
#include "uop/ops.def"
};
#undef OP
#undef N
#undef T
#undef K
#undef L
#undef S

#define DTYPE(ID, ...) #ID,
const char *const un__pat_dtype_id[UN__PDT_COUNT] = {
#include "uop/dtypes.def"
};
#undef DTYPE
#define DTYPE(ID, text, ...) text,
const char *const un__pat_dtype_text[UN__PDT_COUNT] = {
#include "uop/dtypes.def"
};
#undef DTYPE

enum cls { CLS_VOID, CLS_BOOL, CLS_INT, CLS_UINT, CLS_FLOAT, CLS_INDEX, CLS_COUNT };
#define DTYPE(ID, text, bytes, cls, ...) CLS_##cls,
static const uint8_t dtype_class[UN__PDT_COUNT] = {
#include "uop/dtypes.def"
};
#undef DTYPE

#define AXIS(ID, ...) #ID,
const char *const un__pat_axis_id[UN__PAXIS_COUNT] = {
#include "uop/axis.def"
};
#undef AXIS

const char *const un__sem_text[UN__SEM_COUNT] = {"zero", "one", "minus_one", "true",    "false", "min",
                                                 "max",  "inf", "nan",       "invalid", "ident"};
const char *const un__sem_id[UN__SEM_COUNT] = {"ZERO", "ONE", "MINUS_ONE", "TRUE",    "FALSE", "MIN",
                                               "MAX",  "INF", "NAN",       "INVALID", "IDENT"};

static int find(const char *const *names, size_t n, const char *name) {
  for (size_t i = 0; i < n; i++)
    if (names[i] && !strcmp(names[i], name)) return (int)i;
  return -1;
}

int un__optab_find(const char *name) {
  for (int i = 1; i < UN__POP_COUNT; i++)
    if (!strcmp(un__optab[i].name, name)) return i;
  return -1;
}

int un__optab_axis(const char *name) { return find(un__pat_axis_id, UN__PAXIS_COUNT, name); }

int un__optab_dtype(const char *text) { return find(un__pat_dtype_text, UN__PDT_COUNT, text); }

int un__sem_find(const char *name) { return find(un__sem_text, UN__SEM_COUNT, name); }

static uint32_t of_class(enum cls c) {
  uint32_t m = 0;
  for (int i = 0; i < UN__PDT_COUNT; i++)
    if (dtype_class[i] == c) m |= (uint32_t)1 << i;
  return m;
}

uint32_t un__optab_class(const char *name) {
  if (!strcmp(name, "int")) return of_class(CLS_INT) | of_class(CLS_UINT);
  static const struct {
    const char *name;
    enum cls cls;
  } classes[] = {{"sint", CLS_INT},    {"uint", CLS_UINT}, {"float", CLS_FLOAT},
                 {"index", CLS_INDEX}, {"bool", CLS_BOOL}, {"void", CLS_VOID}};
  for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
    if (!strcmp(name, classes[i].name)) return of_class(classes[i].cls);
  return 0;
}

uint32_t un__optab_letters(const char *letters) {
  static const struct {
    char letter;
    enum cls cls;
  } map[] = {{'b', CLS_BOOL}, {'i', CLS_INT}, {'u', CLS_UINT}, {'f', CLS_FLOAT}, {'x', CLS_INDEX}, {'v', CLS_VOID}};
  uint32_t m = 0;
  for (const char *s = letters; *s; s++) {
    if (*s == '*') return UINT32_MAX;
    if (*s == 'p') m |= (uint32_t)1 << 31;
    for (size_t i = 0; i < sizeof map / sizeof *map; i++)
      if (map[i].letter == *s) m |= of_class(map[i].cls);
  }
  return m;
}

uint32_t un__optab_nattr(const un__oprow *op) {
  uint32_t n = 0;
  while (op->attr[n].kind != UN__PAK_NONE) n++;
  return n;
}

uint32_t un__optab_attr_word(const un__oprow *op, uint32_t i) {
  uint32_t word = 0;
  for (uint32_t k = 0; k < i; k++) word += op->attr[k].kind == UN__PAK_NAME ? 2 : 1;
  return word;
}

int un__optab_attr_by_name(const un__oprow *op, const char *name) {
  for (uint32_t i = 0; op->attr[i].kind != UN__PAK_NONE; i++)
    if (!strcmp(op->attr[i].name, name)) return (int)i;
  return -1;
}
