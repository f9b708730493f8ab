/* intmath.h - integer division as index arithmetic means it. */
#ifndef UN_BASE_INTMATH_H
#define UN_BASE_INTMATH_H

#include <stdint.h>

/* The floor of a / b. b is not 0, and not -1 when a is INT64_MIN. */
static inline int64_t un__floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

#endif
