/* values.h - rules compared by value: terms that a rule fires on are evaluated before and after. Private to the test
 * programs of .pat files (values*.c); rewrite/match_test.h says what patgen hands over. */
#ifndef UN_TESTS_VALUES_H
#define UN_TESTS_VALUES_H

#include "rewrite/match_test.h"

/* ---- values_eval.c ---- */

enum { MV_LANES = 16, MV_UNKNOWNS = 24 };

/* What a node is worth. */
typedef enum mv_kind {
  MV_BEYOND,  /* index arithmetic left int64: another form of it may not */
  MV_NOBODY,  /* a value made of no index: nobody may look at it */
  MV_FOREIGN, /* an operation this evaluator does not know */
  MV_NUMBER,  /* lanes of numbers */
  MV_INVALID, /* no index */
  MV_ADDRESS, /* of an element: slot, v[0]; or, `on` false, of none */
  MV_STORE    /* a number written to an address */
} mv_kind;

typedef struct mv_value {
  mv_kind kind;
  uint32_t lanes;
  bool on;
  int64_t slot, at;
  un__value v[MV_LANES];
} mv_value;

/* The free leaves of some terms, and what each is worth at this point. */
typedef struct mv_point {
  const un_uop *leaf[MV_UNKNOWNS];
  mv_value value[MV_UNKNOWNS];
  uint32_t n;
  uint64_t memory; /* what loads find there */
  uint64_t steps;  /* of evaluation, to stop one that is too long */
} mv_point;

/* The leaves, or what lies in memory, have changed. */
void mv_changed(mv_point *p);
void mv_eval(mv_point *p, const un_uop *n, mv_value *out);
/* Adds the free leaves below n; false when there are too many. */
bool mv_leaves(mv_point *p, const un_uop *n);

/* ---- values_make.c ---- */

typedef struct mv_random {
  uint64_t state;
} mv_random;
uint64_t mv_next(mv_random *r);
uint32_t mv_below(mv_random *r, uint32_t n);

/* A term on which the rule may fire; NULL: none could be built (then the graph's error says why). `small`: only dtypes of
 * 8 bits, as far as the rule lets them. */
const un_uop *mv_make(un__graph *g, const un__mt_variant *v, mv_random *r, bool small, bool exact);
/* A value that finds faults: ends of ranges, signed zeros, infinities, NaN; now and then anything. exact: floats that
 * are small whole numbers, so that every order of adding them up gives the same. */
un__value mv_special(un__dtype dt, mv_random *r, bool exact);

#endif
