/* status.h - the error record that every layer fills in.
 *
 * A status code travels as `un_status` (public, unir/base.h). The text that goes with it travels in an
 * `un__err`: one per context, one per workspace. The first failure wins; later ones are consequences.
 * Nothing here prints, exits or allocates: a message that does not fit is cut.
 */
#ifndef UN_BASE_STATUS_H
#define UN_BASE_STATUS_H

#include <stdbool.h>
#include <stdarg.h>
#include <unir/base.h>

enum { UN__ERR_TEXT = 1024 };

/* Where lines that are no failure (traces) go; `write` NULL: nowhere. The line has no newline at its end. */
typedef struct un__log {
  void (*write)(void *data, const char *line);
  void *data;
} un__log;

typedef struct un__err {
  un_status status;          /* UN_OK while nothing has failed */
  char text[UN__ERR_TEXT];   /* what was expected and what was given */
  un__log log;               /* set by whoever owns the record; clearing a failure keeps it */
} un__err;

/* Records a failure unless one is recorded already; returns the status that is now in force.
 * `err` may be NULL: then only the code is returned. */
un_status un__fail(un__err *err, un_status status, const char *fmt, ...) UN__PRINTF(3, 4);
un_status un__vfail(un__err *err, un_status status, const char *fmt, va_list ap);

/* Copies a failure from one record to another (first wins there too). */
un_status un__err_copy(un__err *to, const un__err *from);

static inline void un__err_clear(un__err *err) { err->status = UN_OK; err->text[0] = '\0'; }

/* Returns from the calling function when `expr` is not UN_OK. */
#define UN__TRY(expr)                                  \
  do {                                                 \
    un_status un__try_status = (expr);                 \
    if (un__try_status != UN_OK) return un__try_status; \
  } while (0)

#endif
