/* compiler.h - the system's C compiler as a function: text in, shared object or assembly out.
 *
 * The compiler is the program that UNIR_CC names, else `cc`; what follows the name in UNIR_CC are options, which come after
 * this library's own. It runs in a private directory under TMPDIR (else /tmp) that is gone when a call returns, whatever
 * happened. Any number of threads may call. */
#ifndef UN_DEVICE_CC_COMPILER_H
#define UN_DEVICE_CC_COMPILER_H

#include "device/device.h"

/* Compiles and loads; *out_handle is for dlclose. keep: the shared object, the caller's (un__free; bytes NULL: no memory for it);
 * NULL: not wanted. */
un_status un__cc_compile(const char *text, size_t size, const un__target *t, void **out_handle, un__blob *keep, un__err *err);
/* Loads what was kept. */
un_status un__cc_load(const un__blob *object, void **out_handle, un__err *err);
/* The assembly of it; the text is the caller's (un__free). */
un_status un__cc_assembly(const char *text, size_t size, const un__target *t, char **out, un__err *err);

/* UNIR_CC, or its default. */
const char *un__cc_name(void);
/* What decides, beside text and target, what it makes: its name, what it says of its version, the options. Runs it. */
un_status un__cc_identity(un__strbuf *out, un__err *err);

#endif
