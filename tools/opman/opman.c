/* opman.c - prints the manual of operations (docs/ops.md) from ops.def, axis.def and dtypes.def.
 *
 *   opman              writes it to standard output
 *   opman --check FILE exits 1 when FILE is not what would be written: run by the tests, so that the manual stays
 * current
 */
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "uop/uop.h"

/* The families of ops.def, by their first op. */
static const struct {
  un__op first;
  const char *title, *text;
} families[] = {
    {UN__OP_CONST, "Sources of values", NULL},
    {UN__OP_RESHAPE, "Movement", "No data moves, indices do."},
    {UN__OP_REDUCE_AXIS, "Reductions", NULL},
    {UN__OP_RANGE, "Control", NULL},
    {UN__OP_INDEX, "Memory", NULL},
    {UN__OP_NEG, "Unary arithmetic", NULL},
    {UN__OP_ADD, "Binary arithmetic", NULL},
    {UN__OP_WHERE, "Ternary arithmetic and conversions", NULL},
    {UN__OP_VECTORIZE, "Vectors and special forms", NULL},
    {UN__OP_SINK, "Structure", NULL},
    {UN__OP_COS, "Of later date", "Of any kind: a new op goes last in the table."},
};

static const char head[] =
    "# The operations\n\n"
    "Generated from `src/uop/ops.def` by `tools/opman`; a test checks that it is current. To add one, see\n"
    "[adding-an-op.md](adding-an-op.md); [stages.md](stages.md) says what combinations of them mean, and\n"
    "[text-format.md](text-format.md) how they are written.\n\n"
    "Columns: **sources** how many, and in brackets the dtype classes their values may have (b bool, i signed, u "
    "unsigned,\n"
    "f float, x index, p pointer; any when nothing is said). **dtype** of the result: *given* when it is stated, "
    "*first* and\n"
    "*second* that of a source, *truth* bool with the lanes of source 0. **attributes** in the order of printing.\n"
    "**flags**: C commutative, A associative, = comparison, E elementwise, V movement, L opens or closes a block, M "
    "touches\n"
    "memory, B source 0 is a closed body. **stages**: T tensor, K kernel, L linear, S schedule. An op whose name is "
    "followed\n"
    "by \xe2\x80\xa0 has a reference evaluator: constants fold, and every device is compared with it.\n";

static void put_sources(un__strbuf *s, const un__op_info *o) {
  un__sb_printf(s, "%u", o->min_src);
  if (o->max_src == UN__N)
    un__sb_puts(s, "..");
  else if (o->max_src != o->min_src)
    un__sb_printf(s, "..%u", o->max_src);
  if (o->operands[0] && o->operands[0] != '*') un__sb_printf(s, " (%s)", o->operands);
}

static void put_attrs(un__strbuf *s, const un__op_info *o) {
  static const char *const kinds[] = {
      [UN__AK_NONE] = "", [UN__AK_INT] = "integer", [UN__AK_CONST] = "value", [UN__AK_AXIS] = "AxisType",
      [UN__AK_OP] = "op", [UN__AK_NAME] = "name",   [UN__AK_INTS] = "list",
  };
  for (uint32_t i = 0; i < o->nattrs; i++)
    un__sb_printf(s, "%s`%s` %s", i ? ", " : "", o->attrs[i].name, kinds[o->attrs[i].kind]);
}

static void put_letters(un__strbuf *s, uint32_t set, const char *letters, const uint32_t *bits) {
  for (int i = 0; letters[i]; i++)
    if (set & bits[i]) un__sb_putc(s, letters[i]);
}

static void put_op(un__strbuf *s, const un__op_info *o) {
  static const char *const rules[] = {
      [UN__DR_GIVEN] = "given", [UN__DR_FIRST] = "first", [UN__DR_SECOND] = "second",
      [UN__DR_TRUTH] = "truth", [UN__DR_VOID] = "void",   [UN__DR_INDEX] = "index",
  };
  static const uint32_t flags[] = {UN__F_COMM, UN__F_ASSOC, UN__F_CMP, UN__F_ELEM,
                                   UN__F_VIEW, UN__F_BLOCK, UN__F_MEM, UN__F_BODY};
  static const uint32_t stages[] = {UN__STAGE_TENSOR, UN__STAGE_KERNEL, UN__STAGE_LINEAR, UN__STAGE_SCHEDULE};
  un__sb_printf(s, "| `%s`%s | ", o->text, o->eval ? " \xe2\x80\xa0" : "");
  put_sources(s, o);
  un__sb_printf(s, " | %s | ", rules[o->dtype_rule]);
  put_attrs(s, o);
  un__sb_puts(s, " | ");
  put_letters(s, o->flags, "CA=EVLMB", flags);
  un__sb_puts(s, " | ");
  put_letters(s, o->stages, "TKLS", stages);
  un__sb_puts(s, " | ");
  for (const char *p = o->doc; *p; p++) un__sb_printf(s, *p == '|' ? "\\%c" : "%c", *p);
  un__sb_puts(s, " |\n");
}

static void put_family(un__strbuf *s, const char *title, const char *text) {
  un__sb_printf(s, "\n## %s\n\n", title);
  if (text) un__sb_printf(s, "%s\n\n", text);
  un__sb_puts(s, "| op | sources | dtype | attributes | flags | stages | meaning |\n|---|---|---|---|---|---|---|\n");
}

static void put_axes(un__strbuf *s) {
  un__sb_puts(s, "\n## AxisTypes\n\nHow a RANGE runs. A smaller order stands further out in a loop nest.\n\n"
                 "| AxisType | order | letter |\n|---|---|---|\n");
  for (int i = 0; i < UN__AXIS_COUNT; i++)
    un__sb_printf(s, "| `%s` | %d | %c |\n", un__axis_table[i].name, un__axis_table[i].order, un__axis_table[i].letter);
}

static void put_dtypes(un__strbuf *s) {
  static const char *const classes[] = {
      [UN__CLASS_VOID] = "nothing",
      [UN__CLASS_BOOL] = "bool",
      [UN__CLASS_INT] = "signed integer, wraps",
      [UN__CLASS_UINT] = "unsigned integer, wraps",
      [UN__CLASS_FLOAT] = "float",
      [UN__CLASS_INDEX] = "unbounded integer",
  };
  un__sb_puts(s, "\n## dtypes\n\n| dtype | bytes | class |\n|---|---|---|\n");
  for (int i = 0; i < UN_DTYPE_COUNT; i++) {
    const un__dtype_info *d = &un__dtype_table[i];
    un__sb_printf(s, "| `%s` | %u | %s", d->name, d->size, classes[d->cls]);
    if (d->cls == UN__CLASS_FLOAT) un__sb_printf(s, ", %u mantissa and %u exponent bits", d->mantissa, d->exponent);
    un__sb_puts(s, " |\n");
  }
}

static void put_manual(un__strbuf *s) {
  un__sb_puts(s, head);
  size_t family = 0;
  for (int op = UN__OP_NONE + 1; op < UN__OP_COUNT; op++) {
    if (family < sizeof families / sizeof *families && families[family].first == (un__op)op) {
      put_family(s, families[family].title, families[family].text);
      family++;
    }
    put_op(s, &un__op_table[op]);
  }
  put_axes(s);
  put_dtypes(s);
}

static bool same_as_file(const un__strbuf *s, const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  bool same = true;
  for (size_t i = 0; i <= s->n && same; i++) same = fgetc(f) == (i < s->n ? (unsigned char)s->at[i] : EOF);
  fclose(f);
  return same;
}

int main(int argc, char **argv) {
  un__strbuf s = {0};
  int status = 0;
  bool check = argc == 3 && strcmp(argv[1], "--check") == 0;
  put_manual(&s);
  if (s.failed || (argc != 1 && !check)) {
    fputs(s.failed ? "opman: no memory\n" : "usage: opman [--check FILE]\n", stderr);
    status = 2;
  } else if (!check) {
    fputs(s.at, stdout);
  } else if (!same_as_file(&s, argv[2])) {
    fprintf(stderr, "opman: %s is not current; run: opman > %s\n", argv[2], argv[2]);
    status = 1;
  }
  un__sb_finish(&s);
  return status;
}
