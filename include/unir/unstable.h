/* unir/unstable.h - looks behind the handles. No promise: names and meanings may change in any version.
 * Define UN_USE_UNSTABLE before including it to say that you know. */
#ifndef UNIR_UNSTABLE_H
#define UNIR_UNSTABLE_H

#ifndef UN_USE_UNSTABLE
#error "unir/unstable.h may change in any version: define UN_USE_UNSTABLE to use it"
#endif

#include <unir/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A node of the expression graph. In one context equal expressions are the same pointer. */
typedef struct un_uop un_uop;

/* The node that t stands for now; NULL for NULL. Valid while t is, and until t is assigned or realised. */
UN_API UN_KEEP const un_uop *un_node(const un_tensor *t);

/* Where the call that made t was written: file (NULL: not recorded) and line. */
UN_API UN_KEEP const char *un_origin(const un_tensor *t, int *out_line);

/* Recomputes the reference counts of all nodes of cx. Errors: INTERNAL (a count was wrong). */
UN_API un_status un_audit(un_ctx *cx);

#ifdef __cplusplus
}
#endif
#endif
