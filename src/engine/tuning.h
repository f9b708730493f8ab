/* tuning.h - plans that were measured: where they come from, and where they are kept.
 *
 * UNIR_SEARCH says how kernels get their plans:
 *   beam:N   a kernel without a tuning record is searched for one, N plans wide (1 to 64), before it is compiled
 *   off      records are neither used nor made: the heuristics alone
 *   unset    records are used, none is made
 * Under strict numerics it is always the heuristics. A record is a value of the disk cache: its key is a text of the kernel, the target,
 * the licences, the kind of device and the digest of the sources and rules; its value is the plan as text. It is believed as far as
 * its steps are legal on the kernel; one that is not is removed. */
#ifndef UN_ENGINE_TUNING_H
#define UN_ENGINE_TUNING_H

#include "base/status.h"
#include "base/strbuf.h"
#include "opt/search.h"

typedef struct un__search_policy {
  bool off;
  uint32_t width;      /* of the beam; 0: no search */
} un__search_policy;

/* What the environment asks for; UN_ERR_INVALID_ARG when that is nothing. */
un_status un__search_policy_get(un__search_policy *out, un__err *err);

/* The value of a record. */
void un__record_print(const un__opt_found *found, un__strbuf *out);
un_status un__record_parse(const char *text, size_t n, un__opt_found *out, un__err *err);
/* The beginning of a record's key. */
extern const char un__record_title[];

#endif
