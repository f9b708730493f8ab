/* print.c - canonical .un text. One graph has one text: positions in post-order are the names of values, attributes
 * come in ops.def order, and everything derived stands in comments only. */
#include "text_parts.h"

/* ---- notes ---- */

/* An expression in a note is cut below this depth, and when it is this long. */
enum { EXPR_DEPTH = 12, EXPR_BYTES = 160 };

typedef struct infix { un__op op; const char *sign; int prec; } infix;

static const infix infixes[] = {
  {UN__OP_MUL, "*", 4},       {UN__OP_FLOORDIV, " // ", 4}, {UN__OP_FLOORMOD, " % ", 4}, {UN__OP_TRUNCDIV, " / ", 4},
  {UN__OP_TRUNCMOD, " rem ", 4}, {UN__OP_ADD, " + ", 3},    {UN__OP_SUB, " - ", 3},      {UN__OP_SHL, " << ", 2},
  {UN__OP_SHR, " >> ", 2},    {UN__OP_LT, " < ", 1},        {UN__OP_EQ, " == ", 1},      {UN__OP_NE, " != ", 1},
  {UN__OP_AND, " & ", 0},     {UN__OP_OR, " | ", 0},
};

static const infix *infix_of(const un_uop *n) {
  for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++)
    if (infixes[i].op == n->op) return &infixes[i];
  return NULL;
}

/* Names of values that have one. */
static bool put_leaf(un__strbuf *out, const un_uop *n) {
  switch (n->op) {
    case UN__OP_CONST: un__put_const(out, n->dtype, un__attr(n, 0)); return true;
    case UN__OP_VAR: un__put_name(out, un__attrs(n)); return true;
    case UN__OP_RANGE: un__sb_printf(out, "r%lld", (long long)un__range_id(n)); return true;
    case UN__OP_PARAM: un__sb_printf(out, "p%lld", (long long)un__attr(n, 0)); return true;
    case UN__OP_DEFINE_LOCAL: un__sb_printf(out, "local%lld", (long long)un__attr(n, 0)); return true;
    case UN__OP_DEFINE_REG: un__sb_printf(out, "reg%lld", (long long)un__attr(n, 0)); return true;
    default: return false;
  }
}

/* Recursion is bounded by `depth`, a constant of this file, not by the graph. `end`: where the text should stop. */
static void put_expr(un__strbuf *out, const un_uop *n, int depth, int prec, size_t end) {
  while (n->op == UN__OP_AFTER || n->op == UN__OP_SLOT) n = n->src[0];     /* an order is no part of the value */
  if (put_leaf(out, n)) return;
  if (depth == 0 || out->n > end) {
    un__sb_puts(out, "..");
    return;
  }
  const infix *in = infix_of(n);
  if (in && n->nsrc == 2) {
    if (in->prec < prec) un__sb_putc(out, '(');
    put_expr(out, n->src[0], depth - 1, in->prec, end);
    un__sb_puts(out, in->sign);
    put_expr(out, n->src[1], depth - 1, in->prec + 1, end);
    if (in->prec < prec) un__sb_putc(out, ')');
    return;
  }
  un__sb_puts(out, un__info(n)->text);
  un__sb_putc(out, '(');
  for (uint32_t i = 0; i < n->nsrc && i < 4; i++) {
    if (i) un__sb_puts(out, ", ");
    put_expr(out, n->src[i], depth - 1, 0, end);
  }
  if (n->nsrc > 4) un__sb_puts(out, ", ..");
  un__sb_putc(out, ')');
}

void un__put_expr(un__strbuf *out, const un_uop *n) { put_expr(out, n, EXPR_DEPTH, 0, out->n + EXPR_BYTES); }

void un__put_shape(un__strbuf *out, const un__shape *shape) {
  if (!shape) return;
  un__sb_putc(out, '(');
  for (uint32_t i = 0; i < shape->rank; i++) {
    if (i) un__sb_putc(out, ',');
    un__put_expr(out, shape->dim[i]);
  }
  un__sb_putc(out, ')');
}

static void put_bound(un__strbuf *out, int64_t v) {
  if (v == UN__NEG_INF) un__sb_puts(out, "-inf");
  else if (v == UN__POS_INF) un__sb_puts(out, "inf");
  else un__sb_puti64(out, v);
}

/* The bounds that the dtype alone gives. */
static bool is_full(const un_uop *n) {
  const un__dtype_info *info = un__dt_info(n->dtype);
  if (info->cls == UN__CLASS_BOOL) return n->vmin == 0 && n->vmax == 1;
  if (info->cls == UN__CLASS_INDEX || info->mantissa == 64)
    return n->vmax == UN__POS_INF && (n->vmin == UN__NEG_INF || (info->cls == UN__CLASS_UINT && n->vmin == 0));
  if (info->cls == UN__CLASS_UINT) return n->vmin == 0 && n->vmax == (1ll << info->mantissa) - 1;
  return n->vmin == -(1ll << (info->mantissa - 1)) && n->vmax == (1ll << (info->mantissa - 1)) - 1;
}

void un__put_bounds(un__strbuf *out, const un_uop *n) {
  un__class c = un__dt_class(n->dtype);
  if (un__dt_is_ptr(n->dtype) || c == UN__CLASS_VOID || c == UN__CLASS_FLOAT || is_full(n)) return;
  un__sb_putc(out, '[');
  put_bound(out, n->vmin);
  un__sb_puts(out, ", ");
  put_bound(out, n->vmax);
  un__sb_putc(out, ']');
}

static void put_ranges(un__strbuf *out, const un__rangeset *s) {
  if (!s || s->n == 0) return;
  un__sb_putc(out, '{');
  for (uint32_t i = 0; i < s->n; i++) un__sb_printf(out, "%sr%lld", i ? "," : "", (long long)un__range_id(s->range[i]));
  un__sb_putc(out, '}');
}

/* `  # shape bounds ranges`, each part only when there is something to say. */
static void put_notes(un__strbuf *out, const un_uop *n) {
  static const char lead[] = "  # ";
  size_t start = out->n, text = start + sizeof lead - 1;
  un__sb_puts(out, lead);
  un__put_shape(out, n->shape);
  if (!un__is_const(n)) {
    if (out->n > text) un__sb_putc(out, ' ');
    un__put_bounds(out, n);
  }
  if (out->n > text && out->at && out->at[out->n - 1] != ' ') un__sb_putc(out, ' ');
  put_ranges(out, un__open_ranges(n));
  if (out->failed) return;
  if (out->at[out->n - 1] == ' ') out->n--;
  if (out->n < text) out->n = start;
  out->at[out->n] = '\0';
}

/* ---- lines ---- */

static void put_value(un__strbuf *out, const un__order *o, const un_uop *n) {
  un__sb_putc(out, '%');
  un__sb_puti64(out, un__order_at(o, n));
}

static void put_sources(un__strbuf *out, const un__order *o, const un_uop *n) {
  for (uint32_t i = 0; i < n->nsrc; i++) {
    un__sb_puts(out, i ? ", " : " ");
    put_value(out, o, n->src[i]);
  }
}

static void put_attrs(un__strbuf *out, const un_uop *n) {
  const un__op_info *info = un__info(n);
  bool any = false;
  for (uint32_t i = 0; i < info->nattrs; i++) {
    if (un__attr_is_default(n, i)) continue;
    un__sb_puts(out, any ? " " : " [");
    un__sb_puts(out, info->attrs[i].name);
    un__sb_putc(out, '=');
    un__put_attr(out, n, i);
    any = true;
  }
  if (any) un__sb_putc(out, ']');
}

static void put_node(un__strbuf *out, const un__order *o, uint32_t i) {
  const un_uop *n = o->node[i];
  un__sb_puts(out, "  %");
  un__sb_puti64(out, i);
  un__sb_puts(out, " = ");
  un__sb_puts(out, un__info(n)->text);
  un__sb_putc(out, ' ');
  un__print_dtype(out, n->dtype);
  put_sources(out, o, n);
  put_attrs(out, n);
}

/* Sources of a LINEAR are mostly consecutive: %0..%41. */
static void put_runs(un__strbuf *out, const un__order *o, const un_uop *n) {
  for (uint32_t i = 0; i < n->nsrc;) {
    uint32_t first = un__order_at(o, n->src[i]), run = 1;
    while (i + run < n->nsrc && un__order_at(o, n->src[i + run]) == first + run) run++;
    un__sb_printf(out, "%s%%%u", i ? ", " : " ", first);
    if (run == 2) un__sb_printf(out, ", %%%u", first + 1);
    if (run > 2) un__sb_printf(out, "..%%%u", first + run - 1);
    i += run;
  }
}

/* The last line: `sink` and `linear` are the root with its sources, anything else is `root %n`. */
static bool root_is_line(const un_uop *root) { return !(root->op == UN__OP_SINK || root->op == UN__OP_LINEAR); }

static void put_root(un__strbuf *out, const un__order *o) {
  const un_uop *root = o->node[o->n - 1];
  if (root_is_line(root)) {
    un__sb_printf(out, "  root %%%u", o->n - 1);
    return;
  }
  un__sb_printf(out, "  %s", un__info(root)->text);
  put_runs(out, o, root);
}

static void put_graph_name(un__strbuf *out, const char *name) {
  size_t n = 0;
  for (; name && name[n] && n < UN__GRAPH_NAME_MAX; n++) un__sb_putc(out, un__is_name_char(name[n]) ? name[n] : '_');
  if (n == 0) un__sb_putc(out, 'g');
}

void un__print_ordered(un__strbuf *out, const un__order *o, const char *name, un__stage stage, bool notes,
                       un__comment_fn after, void *data) {
  un__sb_puts(out, "unir 1\ngraph @");
  put_graph_name(out, name);
  un__sb_printf(out, " stage=%s {\n", un__stage_name(stage));
  for (uint32_t i = 0; i < o->n; i++) {
    bool last = i == o->n - 1;
    if (!last || root_is_line(o->node[i])) {
      put_node(out, o, i);
      if (notes) put_notes(out, o->node[i]);
      un__sb_putc(out, '\n');
    }
    if (last) {
      put_root(out, o);
      un__sb_putc(out, '\n');
    }
    if (after) after(data, out, o->node[i], i);
  }
  un__sb_puts(out, "}\n");
}

void un__print_text(un__strbuf *out, const un_uop *root, const char *name, un__stage stage, bool notes) {
  un__order o;
  if (!root) return;
  if (!un__order_build(&o, root)) {
    out->failed = true;
    return;
  }
  un__print_ordered(out, &o, name, stage, notes, NULL, NULL);
  un__order_finish(&o);
}
