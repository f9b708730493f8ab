/* llvm_text.h - what the files of this folder share: the text under construction and the names of values. */
#ifndef UN_RENDER_LLVM_LLVM_TEXT_H
#define UN_RENDER_LLVM_LLVM_TEXT_H

#include "base/ptrmap.h"
#include "base/strbuf.h"
#include "uop/uop.h"

typedef struct un__llvm {
  un__strbuf decls;          /* intrinsics used */
  un__strbuf entry;          /* parameters and stack slots: the entry block */
  un__strbuf body;           /* everything after it */
  un__ptrmap names;          /* node -> number of its value, %v<number> */
  uint32_t next_value;       /* also numbers values without a node, and blocks */
  uint32_t block;            /* number of the current block (b<n>); 0: entry */
  uint32_t nvars;
  uint32_t zero_bytes, sink_bytes;   /* sizes of the stack slots that gated accesses fall back to */
  un__err *err;
} un__llvm;

/* Types. A bool is i1 as a value and i8 in memory. */
void un__llvm_put_type(un__strbuf *out, un__dtype d);
void un__llvm_put_memory_type(un__strbuf *out, un__dtype d);
/* The suffix of an overloaded intrinsic: f32, v8f32, i64 ... */
void un__llvm_put_suffix(un__strbuf *out, un__dtype d);

/* Something computed: a node, or a numbered value that no node stands for. */
typedef struct un__operand { const un_uop *node; uint32_t number; } un__operand;
static inline un__operand un__llvm_node(const un_uop *n) { return (un__operand){n, 0}; }
static inline un__operand un__llvm_number(uint32_t v) { return (un__operand){NULL, v}; }

/* A node as an operand: %v<number> or a literal. */
void un__llvm_put_value(un__llvm *r, un__strbuf *out, const un_uop *n);
void un__llvm_put_const(un__strbuf *out, un__dtype d, uint64_t bits);
/* Starts the line of a fresh value, "  %v<number> = ", and returns its number. */
uint32_t un__llvm_temp(un__llvm *r);
/* The same, and `n` is that value. */
void un__llvm_define(un__llvm *r, const un_uop *n);
/* `n` is the value with this number. */
void un__llvm_bind(un__llvm *r, const un_uop *n, uint32_t number);
/* Appends a formatted line's pieces: %T type of the next dtype argument, %M its memory type, %S intrinsic suffix, %V a node
 * argument's value, %O an operand's, %t the value of a number, %b block label, %d uint32, %s text. */
void un__llvm_emit(un__llvm *r, const char *fmt, ...);
/* Declares an intrinsic once: "declare <text>". Frees the text. */
void un__llvm_declare(un__llvm *r, un__strbuf *text);

/* Arithmetic, conversions and vectors (llvm_alu.c). False: the op has no form here. */
bool un__llvm_alu(un__llvm *r, const un_uop *n);

#endif
