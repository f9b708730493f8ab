/* assembly.h - counts instructions in x86-64 assembly text (AT&T syntax, as LLVM prints it), by what they do. */
#ifndef UN_TESTS_ASSEMBLY_H
#define UN_TESTS_ASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>

/* Instructions of the innermost loops: those are where the time goes. */
typedef struct asm_counts {
  int loops;    /* innermost loops */
  int math;     /* arithmetic on registers of the widest class the caller asked for */
  int narrower; /* arithmetic on shorter vectors */
  int scalar;   /* arithmetic on one float, and one lane of a vector put in or taken out */
  int loads;    /* whole vectors read, also as an operand of arithmetic */
  int stores;   /* whole vectors written */
  int splats;   /* one element read into every lane */
  int single;   /* one float read or written */
  int shuffles; /* lanes moved between vectors */
  int spills;   /* vectors read from or written to the stack */
  int calls;
} asm_counts;

/* widest: "%ymm" or "%zmm". False: no memory. */
bool asm_count(const char *text, const char *widest, asm_counts *out);

#endif
