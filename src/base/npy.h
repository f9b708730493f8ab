/* npy.h - arrays in NumPy's .npy files, versions 1 to 3: C order, little-endian, the dtypes that tensors have.
 *
 * f16 is NumPy's float16. bf16, which NumPy itself lacks, is the two-byte void that ml_dtypes' bfloat16 is saved as.
 * The two one-byte floats have no descr that tells them apart, so they are neither written nor read. A file is never
 * trusted: what its header claims is checked against its size before anything is believed.
 */
#ifndef UN_BASE_NPY_H
#define UN_BASE_NPY_H

#include <unir/dtype.h>
#include "status.h"
#include "strbuf.h"

enum { UN__NPY_MAX_RANK = 16 };

typedef struct un__npy {
  un_dtype dtype;
  uint32_t rank;
  int64_t dim[UN__NPY_MAX_RANK];
  const void *data;          /* inside the bytes that were parsed; no alignment is promised */
  size_t size;               /* bytes of data */
} un__npy;

/* Reads a whole file that is in memory. UN_ERR_PARSE: it is no such file; UN_ERR_UNSUPPORTED: it is, but with a dtype
 * or an order that we do not take; the message starts with `name`. */
un_status un__npy_parse(const char *name, const void *bytes, size_t size, un__npy *out, un__err *err);

/* Appends the header (version 1) that belongs before the data of such an array. */
un_status un__npy_header(un__strbuf *out, un_dtype dtype, uint32_t rank, const int64_t *dim, un__err *err);

/* The same from and to files. *out_bytes (un__free) holds what out->data points into. */
un_status un__npy_load(const char *path, void **out_bytes, un__npy *out, un__err *err);
un_status un__npy_save(const char *path, un_dtype dtype, uint32_t rank, const int64_t *dim, const void *data,
                       un__err *err);

#endif
