/* size_class.h - what freed memory is sorted by, and the check of every transfer. */
#ifndef UN_DEVICE_SIZE_CLASS_H
#define UN_DEVICE_SIZE_CLASS_H

#include "base/status.h"

enum { UN__SIZE_CLASSES = 512 };

/* Classes are eighths of powers of two, so at most an eighth is wasted. align is a power of two and the smallest size; size
 * is at most SIZE_MAX / 2. */
static inline unsigned un__size_class(size_t size, size_t align, size_t *out_rounded) {
  if (size < align) size = align;
  unsigned log = 63 - (unsigned)__builtin_clzll(size);
  size_t step = (size_t)1 << (log >= 3 ? log - 3 : 0);
  if (step < align) step = align;
  size_t r = (size + step - 1) / step * step;
  *out_rounded = r;
  log = 63 - (unsigned)__builtin_clzll(r);
  return log * 8 + (unsigned)(r >> (log - 3) & 7);
}

static inline un_status un__check_span(size_t have, size_t offset, size_t size, const char *what, un__err *err) {
  if (offset <= have && size <= have - offset) return UN_OK;
  return un__fail(err, UN_ERR_INVALID_ARG, "%s of %zu bytes at %zu leaves a buffer of %zu bytes", what, size, offset, have);
}

#endif
