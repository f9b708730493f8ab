/* decompose.h - what the decomposition rules (decompose*.pat, random.pat) ask of C. */
#ifndef UN_CODEGEN_DECOMPOSE_H
#define UN_CODEGEN_DECOMPOSE_H

#include "rewrite/rewrite.h"

/* x (f64, any lanes) less the nearest multiple of pi, negated when that multiple is odd: an angle in [-pi/2, pi/2] with
 * the same sine. For |x| >= 2^20; NaN for infinities and NaN. */
const un_uop *un__fn_sin_f64_large(un__rw *rw, const un_uop *x);
/* The same for the cosine: an angle whose sine is the cosine of x. */
const un_uop *un__fn_cos_f64_large(un__rw *rw, const un_uop *x);
/* The Threefry-2x32 block function with 20 rounds on u64s, low word first. */
const un_uop *un__fn_threefry_rounds(un__rw *rw, const un_uop *counter, const un_uop *key);

#endif
