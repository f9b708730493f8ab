/* jit.h - LLVM IR text to callable code, through LLVM-C and ORC. The only door to LLVM: nothing outside device/cpu
 * includes its headers. */
#ifndef UN_DEVICE_CPU_JIT_H
#define UN_DEVICE_CPU_JIT_H

#include "device/device.h"

typedef struct un__jit un__jit;
typedef struct un__jit_code un__jit_code;

/* A compiler for one target, which is borrowed. */
un_status un__jit_create(const un__target *t, un__jit **out, un__err *err);
void un__jit_destroy(un__jit *j);       /* every code must have been released */

/* Compiles one module into an object file, the caller's (un__free). Any thread; compilations run in parallel. */
un_status un__jit_compile(un__jit *j, const char *ir, size_t size, const char *entry, un__blob *out, un__err *err);
/* Links an object and returns the address of its `entry`. Any thread. */
un_status un__jit_load(un__jit *j, const un__blob *object, const char *entry, un__jit_code **out, un__cpu_kernel *out_fn,
                       un__err *err);
void un__jit_release(un__jit *j, un__jit_code *c);

/* What decides, beside the module, which object comes of it. */
void un__jit_identity(const un__target *t, un__strbuf *out);

/* Assembly text of the same code; the caller frees it with un__free. */
un_status un__jit_assembly(un__jit *j, const char *ir, size_t size, char **out, un__err *err);

#endif
