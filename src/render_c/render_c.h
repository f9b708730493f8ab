/* render_c.h - a linear kernel as C11 that needs no header.
 *
 * The function is `void <entry>(void *const *args, const long long *vars, long long task)` (un__cpu_kernel of device.h). To be
 * compiled without contraction of floats and without assumptions about what pointers of other types point to. */
#ifndef UN_RENDER_C_RENDER_C_H
#define UN_RENDER_C_RENDER_C_H

#include "base/strbuf.h"
#include "target/target.h"
#include "uop/uop.h"

un_status un__render_c(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err);

#endif
