/* unir/unir.h - everything of the public API; declares nothing itself. */
#ifndef UNIR_UNIR_H
#define UNIR_UNIR_H

#include <unir/base.h>
#include <unir/ctx.h>
#include <unir/dtype.h>
#include <unir/tensor.h>
#include <unir/text.h>
#include <unir/program.h>
#include <unir/device.h>

#endif
