/* cuda_parts.h - what the files of this folder share. */
#ifndef UN_RENDER_CUDA_CUDA_PARTS_H
#define UN_RENDER_CUDA_CUDA_PARTS_H

#include "render_c/cstyle.h"

typedef struct un__cuda {
  un__cstyle c;                    /* first: hooks get it */
  un__ptrmap powers;               /* integer node -> k > 0: it is a multiple of 2^k */
  un__ptrmap data;                 /* nodes computed from what is in memory */
  uint32_t vectors;                /* bits of the vector types that are used */
  uint32_t copy_functions;         /* bits of the functions of cuda_copies.c that are used */
  uint32_t core_functions;         /* bits of the functions of cuda_cores.c that are used */
  int64_t local_bytes;             /* shared memory given out so far */
  int64_t group;                   /* threads of a block */
} un__cuda;

static inline un__cuda *un__cuda_of(un__cstyle *r) { return (un__cuda *)r; }

/* Finds out what is a multiple of a power of two; before the list is rendered. False: no memory. */
bool un__cuda_find_powers(un__cuda *r, const un_uop *linear);
/* Vectors in one access of up to 16 bytes, where the address is a multiple of it (hooks of the dialect). */
bool un__cuda_load(un__cstyle *c, const un_uop *n);
bool un__cuda_store(un__cstyle *c, const un_uop *n);
/* The types that these accesses use. */
void un__cuda_put_vector_types(const un__cuda *r, un__strbuf *out);

/* Whether a node behind the one that is written now has n as a source k for which `how` holds. */
bool un__cuda_is_taken(const un__cstyle *c, const un_uop *n, bool (*how)(const un_uop *user, uint32_t k));

/* Words whose origin the compiler must not see (cuda_hidden.c). Before the list is rendered; false: no memory. */
bool un__cuda_find_data(un__cuda *r, const un_uop *linear);
/* "u32 t5 = ": the word follows, then the end. */
un__c_ref un__cuda_begin_hidden(un__cstyle *c, const char *type);
void un__cuda_end_hidden(un__cstyle *c, un__c_ref t, uint32_t size);
/* Whether lanes of n, some to a word, are to be cut out of hidden words: signed bytes or halves that something other
 * than a tensor core computes with. */
bool un__cuda_is_cut(const un__cstyle *c, const un_uop *n);
/* The first operand of n as the compiler may see it (hook of the dialect). */
un__c_ref un__cuda_operand(un__cstyle *c, const un_uop *n, un__c_ref first);

/* Asynchronous copies (cuda_copies.c). */
bool un__cuda_put_copy_async(un__cstyle *c, const un_uop *n);
bool un__cuda_put_commit(un__cstyle *c, const un_uop *n);
bool un__cuda_put_wait(un__cstyle *c, const un_uop *n);
void un__cuda_put_copy_functions(const un__cuda *r, un__strbuf *out);
/* k: an index is a multiple of 2^k, as far as is known. */
uint32_t un__cuda_power_of(const un__cuda *r, const un_uop *index);

/* Tensor cores (cuda_cores.c): matrices from shared memory, products, and the functions that do it. */
bool un__cuda_put_ldmatrix(un__cstyle *c, const un_uop *n);
bool un__cuda_put_wmma(un__cstyle *c, const un_uop *n);
void un__cuda_put_core_functions(const un__cuda *r, un__strbuf *out);

#endif
