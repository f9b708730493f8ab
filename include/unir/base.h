/* unir/base.h - visibility, ownership words, status codes, version.
 *
 * Ownership words in signatures (they expand to nothing; binding generators read them):
 *   UN_GIVE   the caller owns the result and must release it as the function says
 *   UN_KEEP   the argument or result is borrowed
 *   UN_TAKE   the argument is consumed, also when the call fails
 */
#ifndef UNIR_BASE_H
#define UNIR_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define UN_API __attribute__((visibility("default")))
#define UN_NODISCARD __attribute__((warn_unused_result))
#define UN__PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define UN_API
#define UN_NODISCARD
#define UN__PRINTF(f, a)
#endif

#define UN_GIVE
#define UN_KEEP
#define UN_TAKE

#define UN_VERSION_MAJOR 0
#define UN_VERSION_MINOR 1
#define UN_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* Every outcome of a call that works or does input and output. */
typedef enum un_status {
#define STATUS(id, value, text) id = value,
#include <unir/status.def>
#undef STATUS
} un_status;

/* A short English text for a status; never NULL, static storage, any thread. */
UN_API UN_KEEP const char *un_status_str(un_status status);

/* The version of the library that is running, as major * 10000 + minor * 100 + patch. Any thread. */
UN_API int un_version(void);

#ifdef __cplusplus
}
#endif
#endif
