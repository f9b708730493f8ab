/* verdict.h - what `unir show --why` says of a kernel as a whole, below the choices: roofline, occupancy, what the compiler made of
 * it, and how long it takes where the device is there. */
#ifndef UN_ENGINE_VERDICT_H
#define UN_ENGINE_VERDICT_H

#include "device/device.h"
#include "uop/graph.h"

/* Appends lines to `out`; what cannot be known is said instead. body: the kernel before the optimiser; linear: its list. Fails only
 * where memory is short. */
un_status un__verdict(un__device *d, const un_uop *body, const un_uop *linear, un__strbuf *out, un__err *err);

/* A number with three digits and the prefix that suits it: "4.80 T", "26.1 u". */
void un__put_scaled(un__strbuf *out, double v);

#endif
