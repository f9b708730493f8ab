/* unir/ctx.h - contexts, errors, scopes, statistics.
 *
 * A context is used by one thread at a time (it may move between threads). Contexts made by un_ctx_create are
 * independent. The first error of a context stays until un_clear_error; calls that get NULL return NULL without
 * touching it.
 */
#ifndef UNIR_CTX_H
#define UNIR_CTX_H

#include <unir/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct un_ctx un_ctx;

typedef enum un_numerics { UN_PRECISE = 0, UN_STRICT = 1, UN_FAST = 2 } un_numerics;

/* What to do with a log line; NULL: silence. `line` has no newline and lives for the call. */
typedef void (*un_log_fn)(void *data, const char *line);

typedef struct un_ctx_options {
  size_t struct_size;        /* sizeof(un_ctx_options), set by UN_CTX_OPTIONS_INIT */
  const char *device;        /* default "cpu" */
  un_numerics numerics;
  un_log_fn log;
  void *log_data;
} un_ctx_options;

#define UN_CTX_OPTIONS_INIT { sizeof(un_ctx_options), "cpu", UN_PRECISE, NULL, NULL }

/* Creates a context. options may be NULL. *out is NULL on failure.
 * Errors: INVALID_ARG (out is NULL, bad options), NOMEM, DEVICE (unknown device). */
UN_API UN_NODISCARD un_status un_ctx_create(const un_ctx_options *options, UN_GIVE un_ctx **out);

/* Frees the context and every handle of its scopes; NULL is allowed. Handles taken out with un_keep and not yet
 * released are freed too; using them afterwards is undefined. */
UN_API void un_ctx_destroy(UN_TAKE un_ctx *cx);

/* The first error since creation or un_clear_error: UN_OK and "" when there is none. The text says what was expected and
 * what was given and, where UN_HERE recorded it, file:line of the caller. Valid until the next call on cx. */
UN_API un_status un_error_status(const un_ctx *cx);
UN_API UN_KEEP const char *un_error(const un_ctx *cx);
UN_API void un_clear_error(un_ctx *cx);

/* Results of calls belong to the innermost open scope; popping frees those not taken out by un_keep. A context starts
 * with one scope that cannot be popped. Errors: INVALID_ARG (nothing to pop), NOMEM. */
UN_API un_status un_scope_push(un_ctx *cx);
UN_API un_status un_scope_pop(un_ctx *cx);

typedef struct un_stats {
  size_t struct_size;
  uint64_t live_nodes, live_handles, kernels_launched, kernels_compiled, schedule_hits, schedule_misses;
  uint64_t bytes_live, bytes_peak;
} un_stats;

/* Fills the first struct_size bytes. */
UN_API un_status un_get_stats(un_ctx *cx, un_stats *out);

#ifdef __cplusplus
}
#endif
#endif
