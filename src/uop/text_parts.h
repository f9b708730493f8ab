/* text_parts.h - what the printer, the parser, the trees and the verifier share. Private to src/uop/. */
#ifndef UN_UOP_TEXT_PARTS_H
#define UN_UOP_TEXT_PARTS_H

#include "base/number.h"
#include "base/ptrmap.h"
#include "text.h"

/* ---- the order of printing: post-order from the root, sources left to right, bodies entered, each node once ---- */

typedef struct un__order {
  const un_uop **node;        /* node[i] is printed as %i */
  uint32_t n;
  un__ptrmap position;
} un__order;

enum { UN__NO_POSITION = UINT32_MAX };

/* False when memory is short (nothing is kept then). Iterative. */
bool un__order_build(un__order *o, const un_uop *root);
void un__order_finish(un__order *o);
/* UN__NO_POSITION: not below the root. */
uint32_t un__order_at(const un__order *o, const un_uop *n);

/* ---- names ---- */

enum { UN__NAME_MAX = 15, UN__GRAPH_NAME_MAX = 63, UN__MAX_ATTR_WORDS = 250 };

bool un__is_name_char(char c);
bool un__axis_by_name(const char *text, size_t len, un__axis *out);
/* NAME attributes: byte i of the name is byte i % 8, from the little end, of word i / 8; the rest is zero. */
bool un__name_pack(const char *text, size_t len, int64_t out[UN__NAME_WORDS]);
size_t un__name_unpack(const int64_t words[UN__NAME_WORDS], char out[UN__NAME_MAX + 1]);
/* Whether the words could come from un__name_pack. */
bool un__name_is_packed(const int64_t words[UN__NAME_WORDS]);
/* Quoted when it is no plain identifier, so that any bytes read back. */
void un__put_name(un__strbuf *out, const int64_t words[UN__NAME_WORDS]);
un__float_format un__dt_format(un__dtype d);

/* ---- attributes ---- */

/* Words that attribute i takes; for INTS what is left of `nattr`. First word of attribute i. */
uint32_t un__attr_first(const un__op_info *info, uint32_t i);
/* Whether attribute i of n is left out of the text: an empty INTS, or an INT after the first that is 0. */
bool un__attr_is_default(const un_uop *n, uint32_t i);
void un__put_attr(un__strbuf *out, const un_uop *n, uint32_t i);
/* A constant in the terms of its dtype: 7, true, 0.5, nan:0x7fc00001. */
void un__put_const(un__strbuf *out, un__dtype dtype, int64_t word);

/* ---- what readers want to know ---- */

/* (4,n+1), or nothing when n has no shape. */
void un__put_shape(un__strbuf *out, const un__shape *shape);
/* Integer arithmetic in infix, cut with `..` below a fixed depth: r0*4 + r1. */
void un__put_expr(un__strbuf *out, const un_uop *n);
/* [0, 15]; nothing when the bounds say no more than the dtype. */
void un__put_bounds(un__strbuf *out, const un_uop *n);

/* ---- printing with comments ---- */

/* Writes the comments of one node; called with the node's position, for each node in order. */
typedef void (*un__comment_fn)(void *data, un__strbuf *out, const un_uop *n, uint32_t position);
/* As un__print_text. `after` (may be NULL) adds whole `#` lines below a node; the root has position o->n - 1. */
void un__print_ordered(un__strbuf *out, const un__order *o, const char *name, un__stage stage, bool notes,
                       un__comment_fn after, void *data);

#endif
