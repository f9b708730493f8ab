/* number.h - numbers as text, in every float format the IR knows. Exact and independent of the locale: a host may
 * have called setlocale, so strtod and printf("%g") cannot be trusted with a program that must read back.
 *
 * Printing gives the shortest decimal that reads back as the same bits; reading rounds once, to nearest even, however
 * many digits there are. Infinities are `inf` and `-inf`; a NaN is `nan:0x` and its bits in hexadecimal, so payloads
 * and signs survive. A finite number always has a `.` or an `e`, which tells it from an integer.
 */
#ifndef UN_BASE_NUMBER_H
#define UN_BASE_NUMBER_H

#include "strbuf.h"

/* An IEEE-like binary format: sign, exponent bits, mantissa bits. finite: there is no infinity, and only the all-ones
 * pattern is NaN (f8e4m3). mantissa at most 52, exponent 2 to 11. */
typedef struct un__float_format {
  uint8_t mantissa, exponent;
  bool finite;
} un__float_format;

#define UN__FORMAT_F64 ((un__float_format){52, 11, false})

enum { UN__FLOAT_TEXT = 40 };   /* room for any printed float and its NUL */

/* Writes the text of the number with these bits; returns its length. */
size_t un__float_text(char out[UN__FLOAT_TEXT], un__float_format fmt, uint64_t bits);
void un__sb_putfloat(un__strbuf *s, un__float_format fmt, uint64_t bits);
void un__sb_putf64(un__strbuf *s, double v);

typedef enum un__numeral { UN__NUM_BAD, UN__NUM_OK, UN__NUM_RANGE } un__numeral;

/* Reads all of text[0..len): decimal digits with an optional point and exponent, `inf`, `nan` (the quiet one) or
 * `nan:0x...`, each with an optional sign (not before nan:0x, whose bits have one). BAD: not a number. RANGE: a finite
 * numeral too large for the format; *out_bits is then the infinity (the NaN of a finite format) of that sign. */
un__numeral un__parse_float(const char *text, size_t len, un__float_format fmt, uint64_t *out_bits);
un__numeral un__parse_f64(const char *text, size_t len, double *out);

/* Decimal integers with an optional minus sign, all of text[0..len). */
un__numeral un__parse_i64(const char *text, size_t len, int64_t *out);
un__numeral un__parse_u64(const char *text, size_t len, uint64_t *out);

#endif
