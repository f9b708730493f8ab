/* unir/ctx.h - contexts, errors, scopes, statistics.
 *
 * A context is used by one thread at a time (it may move between threads). Contexts made by un_ctx_create are
 * independent. The first error of a context stays until un_clear_error; calls that get NULL return NULL without
 * touching it. A failed call changes nothing else: the context and its handles can be used as before. After fork() the
 * child may go on with the contexts that were in no call at that moment. A thread that realises needs 2 MiB of stack: kernels
 * keep packed operands there.
 */
#ifndef UNIR_CTX_H
#define UNIR_CTX_H

#include <unir/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct un_ctx un_ctx;

/* docs/dtypes.md, "Floats": precise keeps IEEE results of every op and may contract and reorder reductions; strict
 * may not; fast may do more. */
typedef enum un_numerics { UN_PRECISE = 0, UN_STRICT = 1, UN_FAST = 2 } un_numerics;

/* Gets a line of text for every error recorded and for every realisation (how many kernels were compiled and run).
 * `line` has no newline and lives for the call; the function must not call into the context. */
typedef void (*un_log_fn)(void *data, const char *line);

typedef struct un_ctx_options {
  size_t struct_size;        /* sizeof(un_ctx_options), set by UN_CTX_OPTIONS_INIT; later fields may be missing */
  const char *device;        /* NULL: "cpu"; names: unir/device.h */
  un_numerics numerics;
  un_log_fn log;             /* NULL: silence */
  void *log_data;
} un_ctx_options;

#define UN_CTX_OPTIONS_INIT { sizeof(un_ctx_options), "cpu", UN_PRECISE, NULL, NULL }

/* Creates a context. options may be NULL. *out is NULL on failure.
 * Errors: INVALID_ARG (out is NULL, bad options), NOMEM, DEVICE (unknown device). */
UN_API UN_NODISCARD un_status un_ctx_create(const un_ctx_options *options, UN_GIVE un_ctx **out);

/* Frees the context and every handle and program of it, kept ones too; using them afterwards is undefined. NULL is allowed. */
UN_API void un_ctx_destroy(UN_TAKE un_ctx *cx);

/* The first error since creation or un_clear_error: UN_OK and "" when there is none. The text says what was expected
 * and what was given and, where the macros of unir/here.h recorded it, file:line of the caller. Valid until the next
 * call on cx. For NULL: INVALID_ARG. */
UN_API un_status un_error_status(const un_ctx *cx);
UN_API UN_KEEP const char *un_error(const un_ctx *cx);
UN_API void un_clear_error(un_ctx *cx);

/* Results of calls belong to the innermost open scope; popping frees those not taken out by un_keep (unir/tensor.h). A
 * context starts with one scope that cannot be popped. Errors: INVALID_ARG (nothing to pop), NOMEM. */
UN_API un_status un_scope_push(un_ctx *cx);
UN_API un_status un_scope_pop(un_ctx *cx);

typedef struct un_stats {
  size_t struct_size;          /* sizeof(un_stats), set by UN_STATS_INIT */
  uint64_t live_nodes;         /* of the expression graph; nodes just dropped count until the next call */
  uint64_t live_handles;
  uint64_t kernels_launched, kernels_compiled, schedule_hits, schedule_misses;
  uint64_t bytes_live, bytes_peak;      /* storage on the devices, borrowed memory not counted */
  uint64_t kernels_loaded;              /* compiled by another process and kept on disk (docs/programs.md) */
} un_stats;

#define UN_STATS_INIT { sizeof(un_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Fills the first out->struct_size bytes. Errors: INVALID_ARG. */
UN_API un_status un_get_stats(un_ctx *cx, un_stats *out);

/* Frees at once what nothing refers to any more (calls do so now and then by themselves). */
UN_API void un_collect(un_ctx *cx);

#ifdef __cplusplus
}
#endif
#endif
