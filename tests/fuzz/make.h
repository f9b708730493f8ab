/* make.h - what the makers of random programs share (make.c: ops of the tensor stage; calls.c: calls of the tensor API). */
#ifndef UN_FUZZ_MAKE_H
#define UN_FUZZ_MAKE_H

#include "program.h"

enum { MAX_NUMEL = 2048 };

typedef struct maker {
  program *p;
  rng *r;
  bool strict;
  bool copies;                           /* some tensors go to device 1 and come back */
  rng copies_of;                         /* which: a program without copies is otherwise the same */
  const un_uop *tensor[MAX_TENSORS];     /* none without elements */
  fact fact_of[MAX_TENSORS];
  uint32_t n;
} maker;

int64_t numel(const un_uop *n);
int64_t dim(const un_uop *n, uint32_t i);
double eps_of(un__dtype d);
/* Adds a tensor of the program (NULL: not) and gives it back. */
const un_uop *keep(maker *m, const un_uop *n, fact f);
fact exact_fact(un__dtype d, double scale);
double data_scale(un__dtype d);
uint32_t random_shape(maker *m, int64_t *dims);
const un_uop *make_buffer(maker *m, un__dtype d, uint32_t rank, const int64_t *dims);

/* Numbers of tensors; UINT32_MAX: none can be had. pick: of the dtype classes, exact when asked; pick_like: of that
 * dtype and the shape of `like`. */
uint32_t any(maker *m);
uint32_t pick(maker *m, const char *classes, bool exact);
uint32_t pick_like(maker *m, const un_uop *like, un__dtype d, bool exact);

void make_call(maker *m);
void make_products(maker *m);

#endif
