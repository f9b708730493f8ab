#include "status.h"

#include <stdio.h>

un_status un__vfail(un__err *err, un_status status, const char *fmt, va_list ap) {
  if (!err) return status;
  if (err->status != UN_OK) return err->status;
  err->status = status;
  vsnprintf(err->text, sizeof err->text, fmt, ap);
  return status;
}

un_status un__fail(un__err *err, un_status status, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  status = un__vfail(err, status, fmt, ap);
  va_end(ap);
  return status;
}

un_status un__err_copy(un__err *to, const un__err *from) {
  if (from->status == UN_OK) return UN_OK;
  return un__fail(to, from->status, "%s", from->text);
}

const char *un_status_str(un_status status) {
  switch (status) {
#define STATUS(id, value, text) case id: return text;
#include <unir/status.def>
#undef STATUS
  }
  return "unknown status";
}

int un_version(void) { return UN_VERSION_MAJOR * 10000 + UN_VERSION_MINOR * 100 + UN_VERSION_PATCH; }
