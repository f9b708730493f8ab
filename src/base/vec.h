/* vec.h - growable arrays.
 *
 *   UN__VEC(int) v = {0};
 *   if (!un__vec_push(&v, 7)) return un__fail(err, UN_ERR_NOMEM, "...");
 *   for (size_t i = 0; i < v.n; i++) use(v.at[i]);
 *   un__vec_finish(&v);
 */
#ifndef UN_BASE_VEC_H
#define UN_BASE_VEC_H

#include "mem.h"

#define UN__VEC(T) struct { T *at; size_t n, cap; }

/* Makes room for `want` elements of `size` bytes; false when memory is short (the array is unchanged). */
bool un__vec_grow(void *vec, size_t want, size_t size);

#define un__vec_reserve(v, want) ((want) <= (v)->cap || un__vec_grow((v), (want), sizeof *(v)->at))
#define un__vec_push(v, x) (un__vec_reserve((v), (v)->n + 1) ? ((v)->at[(v)->n++] = (x), true) : false)
#define un__vec_pop(v) ((v)->at[--(v)->n])
#define un__vec_finish(v) (un__free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

#endif
