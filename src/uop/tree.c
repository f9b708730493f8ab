/* tree.c - graphs for people: box-drawing trees and, for LINEAR, listings.
 *
 * Numbers in brackets are those of the .un text (post-order), so a tree and a text of one graph can be read side by
 * side. Each node is drawn once, so the size is linear in the number of edges; a branch deeper than MAX_DEPTH is cut
 * and drawn below the tree, so that indentation cannot make it quadratic.
 */
#include "text_parts.h"

#include <string.h>

enum { MAX_DEPTH = 48, NOTE_COLUMN = 48 };

typedef struct frame {
  uint32_t node;          /* position */
  uint32_t next;          /* source to draw next */
} frame;

typedef struct tree {
  un__strbuf *out;
  un__order order;
  bool parallel;
  bool *drawn;            /* by position */
  UN__VEC(frame) stack;
  UN__VEC(uint32_t) cut;  /* positions whose branches are drawn below the tree */
} tree;

/* ---- one node ---- */

/* group_reduce -> GroupReduce */
static void put_axis(un__strbuf *out, int64_t axis) {
  if (axis < 0 || axis >= UN__AXIS_COUNT) return;
  bool up = true;
  for (const char *p = un__axis_table[axis].name; *p; p++) {
    if (*p != '_') un__sb_putc(out, up && *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A') : *p);
    up = *p == '_';
  }
}

static void put_title(un__strbuf *out, const un_uop *n, uint32_t i) {
  uint32_t first = un__attr_first(un__info(n), i);
  int64_t w = first < n->nattr ? un__attr(n, first) : 0;
  switch (un__info(n)->attrs[i].kind) {
    case UN__AK_AXIS: put_axis(out, w); return;
    case UN__AK_OP: un__sb_puts(out, w > 0 && w < UN__OP_COUNT ? un__op_table[w].name : "?"); return;
    default: un__put_attr(out, n, i); return;
  }
}

/* REDUCE_AXIS(ADD, axes=(2)), PERMUTE(1,0), RANGE(0, Loop): the first attribute and axes need no name. */
static void put_attrs(un__strbuf *out, const un_uop *n) {
  const un__op_info *info = un__info(n);
  bool any = false;
  for (uint32_t i = 0; i < info->nattrs; i++) {
    if (un__attr_is_default(n, i)) continue;
    bool bare = i == 0 || info->attrs[i].kind == UN__AK_AXIS;
    bool ints = info->attrs[i].kind == UN__AK_INTS;
    if (any || !(bare && ints)) un__sb_puts(out, any ? ", " : "(");
    if (!bare) un__sb_printf(out, "%s=", info->attrs[i].name);
    put_title(out, n, i);
    if (i == 0 && bare && ints) return;
    any = true;
  }
  if (any) un__sb_putc(out, ')');
}

static bool sizes_known(const un_uop *n, uint32_t from) {
  for (uint32_t i = from; i < n->nsrc; i++)
    if (!un__is_const(n->src[i])) return false;
  return true;
}

/* First source that is a size which the line itself shows; nsrc when every source is to be drawn. */
static uint32_t drawn_sources(const un_uop *n) {
  uint32_t from = n->nsrc;
  switch (un__info(n)->shape_rule) {
    case UN__SR_DIMS0: from = 0; break;
    case UN__SR_DIMS1: case UN__SR_PAD: case UN__SR_SHRINK: from = 1; break;
    default: if (n->op == UN__OP_PARAM) from = 0; break;
  }
  return from <= n->nsrc && sizes_known(n, from) ? from : n->nsrc;
}

/* PAD and SHRINK: their amounts axis by axis, which the shape alone does not tell. */
static void put_box(un__strbuf *out, const un_uop *n) {
  un__shape_rule rule = un__info(n)->shape_rule;
  if ((rule != UN__SR_PAD && rule != UN__SR_SHRINK) || drawn_sources(n) == n->nsrc) return;
  uint32_t rank = (n->nsrc - 1) / 2;
  for (uint32_t i = 0; i < rank; i++)
    un__sb_printf(out, "%s%lld%s%lld", i ? ", " : "(", (long long)un__const_int(n->src[1 + i]),
                  rule == UN__SR_PAD ? "+" : ":", (long long)un__const_int(n->src[1 + rank + i]));
  if (rank) un__sb_putc(out, ')');
}

static void put_label(un__strbuf *out, const un_uop *n) {
  un__sb_puts(out, un__info(n)->name);
  put_attrs(out, n);
  put_box(out, n);
}

static void put_type(un__strbuf *out, const un_uop *n) {
  un__sb_puts(out, " : ");
  un__print_dtype(out, n->dtype);
  if (!n->shape || un__info(n)->shape_rule == UN__SR_SCALAR) return;
  if (n->shape->rank == 0 && un__dt_scalar(n->dtype) == UN_INDEX) return;     /* a size, not a tensor */
  un__sb_putc(out, ' ');
  un__put_shape(out, n->shape);
}

/* ---- notes at the end of a line ---- */

static void note_range(un__strbuf *out, const tree *t, const un_uop *n) {
  un__sb_printf(out, "r%lld in [0,", (long long)un__range_id(n));
  un__put_expr(out, n->src[0]);
  un__sb_putc(out, ')');
  if (t->parallel && un__range_axis(n) == UN__AXIS_LOOP) un__sb_puts(out, ", sequential");
}

static void note_param(un__strbuf *out, const tree *t, const un_uop *n) {
  (void)t;
  un__put_expr(out, n->src[0]);
  un__sb_puts(out, " elements");
}

static void note_index(un__strbuf *out, const tree *t, const un_uop *n) {
  (void)t;
  if (n->nsrc < 2 || !un__dt_is_ptr(n->src[0]->dtype)) return;
  un__put_expr(out, n->src[0]);
  un__sb_putc(out, '[');
  un__put_expr(out, n->src[1]);
  un__sb_putc(out, ']');
  if (n->nsrc < 3) return;
  un__sb_puts(out, " where ");
  un__put_expr(out, n->src[2]);
}

static const struct { un__op op; void (*note)(un__strbuf *, const tree *, const un_uop *); } notes[] = {
  {UN__OP_RANGE, note_range}, {UN__OP_SPECIAL, note_param}, {UN__OP_PARAM, note_param},
  {UN__OP_DEFINE_LOCAL, note_param}, {UN__OP_DEFINE_REG, note_param}, {UN__OP_INDEX, note_index},
};

/* Columns, not bytes: box characters are three bytes of UTF-8. */
static size_t columns(const un__strbuf *s, size_t from) {
  size_t n = 0;
  for (size_t i = from; i < s->n; i++) n += ((unsigned char)s->at[i] & 0xc0) != 0x80;
  return n;
}

static void put_note(const tree *t, const un_uop *n, size_t line) {
  for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
    if (notes[i].op != n->op || (n->nsrc == 0 && n->op != UN__OP_INDEX)) continue;
    un__strbuf text = {0};
    notes[i].note(&text, t, n);
    if (text.n) {
      for (size_t c = columns(t->out, line); c < NOTE_COLUMN; c++) un__sb_putc(t->out, ' ');
      un__sb_puts(t->out, "  # ");
      un__sb_puts(t->out, un__sb_str(&text));
    }
    t->out->failed |= text.failed;
    un__sb_finish(&text);
    return;
  }
}

/* ---- the tree ---- */

/* Whether frame `f`'s node has another source to draw after the current one. */
static bool has_more(const tree *t, const frame *f) {
  return f->next < drawn_sources(t->order.node[f->node]);
}

static void put_branch(const tree *t) {
  for (size_t d = 0; d + 1 < t->stack.n; d++) un__sb_puts(t->out, has_more(t, &t->stack.at[d]) ? "│   " : "    ");
  if (t->stack.n) un__sb_puts(t->out, has_more(t, &t->stack.at[t->stack.n - 1]) ? "├── " : "└── ");
}

/* Draws one line and opens the node when its sources are to follow. False: no memory. */
static bool draw(tree *t, uint32_t at) {
  const un_uop *n = t->order.node[at];
  size_t line = t->out->n;
  put_branch(t);
  un__sb_printf(t->out, "[%u] ", at);
  if (t->drawn[at]) {
    un__sb_puts(t->out, "-> (same as above)\n");
    return true;
  }
  t->drawn[at] = true;
  put_label(t->out, n);
  put_type(t->out, n);
  bool cut = t->stack.n >= MAX_DEPTH && drawn_sources(n) > 0;
  if (cut) un__sb_puts(t->out, " -> (continued below)");
  else put_note(t, n, line);
  un__sb_putc(t->out, '\n');
  if (cut) return un__vec_push(&t->cut, at);
  return drawn_sources(n) == 0 || un__vec_push(&t->stack, ((frame){at, 0}));
}

static bool draw_below(tree *t) {
  while (t->stack.n) {
    frame *f = &t->stack.at[t->stack.n - 1];
    const un_uop *n = t->order.node[f->node];
    if (f->next >= drawn_sources(n)) {
      t->stack.n--;
      continue;
    }
    const un_uop *src = n->src[f->next++];
    if (!draw(t, un__order_at(&t->order, src))) return false;
  }
  return true;
}

static bool draw_tree(tree *t, uint32_t at) {
  if (!draw(t, at) || !draw_below(t)) return false;
  for (size_t i = 0; i < t->cut.n; i++) {
    uint32_t next = t->cut.at[i];
    un__sb_printf(t->out, "\n[%u] continued:\n", next);
    if (!un__vec_push(&t->stack, ((frame){next, 0})) || !draw_below(t)) return false;
  }
  return true;
}

/* ---- the listing of a LINEAR ---- */

static void list_line(const tree *t, uint32_t at, size_t depth) {
  const un_uop *n = t->order.node[at];
  size_t line = t->out->n;
  for (size_t i = 0; i < depth && i < MAX_DEPTH; i++) un__sb_puts(t->out, "  ");
  un__sb_printf(t->out, "[%u] ", at);
  put_label(t->out, n);
  put_type(t->out, n);
  for (uint32_t i = 0; i < drawn_sources(n); i++)
    un__sb_printf(t->out, "%s[%u]", i ? ", " : " <- ", un__order_at(&t->order, n->src[i]));
  put_note(t, n, line);
  un__sb_putc(t->out, '\n');
}

static bool opens(const un_uop *n) { return n->op == UN__OP_RANGE || n->op == UN__OP_IF; }
static bool closes(const un_uop *n) { return n->op == UN__OP_END || n->op == UN__OP_ENDIF; }

/* Nodes that the list should have but does not: shown, since a listing is read when something is wrong. */
static void list_rest(tree *t) {
  bool any = false;
  for (uint32_t i = 0; i + 1 < t->order.n; i++) {
    if (t->drawn[i]) continue;
    if (!any) un__sb_puts(t->out, "not in the list:\n");
    any = true;
    list_line(t, i, 1);
  }
}

static void draw_list(tree *t, const un_uop *root) {
  un__sb_printf(t->out, "LINEAR : %u nodes\n", root->nsrc);
  size_t depth = 1;
  for (uint32_t i = 0; i < root->nsrc; i++) {
    uint32_t at = un__order_at(&t->order, root->src[i]);
    if (closes(root->src[i]) && depth > 1) depth--;
    list_line(t, at, depth);
    t->drawn[at] = true;
    if (opens(root->src[i])) depth++;
  }
  list_rest(t);
}

static bool is_listing(const un_uop *root) {
  if (root->op != UN__OP_LINEAR) return false;
  for (uint32_t i = 0; i < root->nsrc; i++)
    if (root->src[i]->op == UN__OP_KERNEL) return false;
  return true;
}

void un__print_tree(un__strbuf *out, const un_uop *root, bool parallel) {
  tree t = {.out = out, .parallel = parallel};
  if (!root) return;
  bool ok = un__order_build(&t.order, root);
  if (ok) {
    t.drawn = un__calloc(t.order.n, sizeof *t.drawn);
    ok = t.drawn != NULL;
  }
  if (ok && is_listing(root)) draw_list(&t, root);
  else ok = ok && draw_tree(&t, t.order.n - 1);
  if (!ok) out->failed = true;
  un__free(t.drawn);
  un__vec_finish(&t.stack);
  un__vec_finish(&t.cut);
  un__order_finish(&t.order);
}
