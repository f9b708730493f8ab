/* render_llvm.h - a linear kernel as LLVM IR text. Knows no LLVM header.
 *
 * The function is `void <entry>(ptr args, ptr vars, i64 task)` (un__cpu_kernel of device.h). Only a restricted subset of
 * IR is emitted, so that the in-process compiler cannot be brought down by what a graph says. */
#ifndef UN_RENDER_LLVM_RENDER_LLVM_H
#define UN_RENDER_LLVM_RENDER_LLVM_H

#include "base/strbuf.h"
#include "target/target.h"
#include "uop/uop.h"

un_status un__render_llvm(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err);

#endif
