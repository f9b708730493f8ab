#include "vec.h"

#include <string.h>

/* The layout of every UN__VEC, whatever T is. Copied in and out, so that no T * is read as a void *. */
typedef UN__VEC(void) raw_vec;

bool un__vec_grow(void *vec, size_t want, size_t size) {
  raw_vec v;
  memcpy(&v, vec, sizeof v);
  size_t cap = v.cap < 8 ? 8 : v.cap;
  while (cap < want) {
    if (cap > SIZE_MAX / 2) return false;
    cap *= 2;
  }
  if (cap > SIZE_MAX / size) return false;
  void *at = un__realloc(v.at, cap * size);
  if (!at) return false;
  v.at = at;
  v.cap = cap;
  memcpy(vec, &v, sizeof v);
  return true;
}
