/* Numbers as text: shortest, exact, in every float format, whatever the locale. */
#include <criterion/criterion.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define F16 ((un__float_format){10, 5, false})
#define BF16 ((un__float_format){7, 8, false})
#define F32 ((un__float_format){23, 8, false})
#define E4M3 ((un__float_format){3, 4, true})
#define E5M2 ((un__float_format){2, 5, false})

static const char *text_of(un__float_format f, uint64_t bits) {
  static char out[UN__FLOAT_TEXT];
  un__float_text(out, f, bits);
  return out;
}

static uint64_t bits_of(un__float_format f, const char *text) {
  uint64_t bits = 0;
  cr_assert_neq(un__parse_float(text, strlen(text), f, &bits), UN__NUM_BAD, "%s", text);
  return bits;
}

Test(number, f64_text_is_what_people_write) {
  static const struct {
    double v;
    const char *text;
  } cases[] = {
      {0, "0.0"},
      {-0.0, "-0.0"},
      {1, "1.0"},
      {0.1, "0.1"},
      {100, "100.0"},
      {1e16, "1e16"},
      {123456789, "123456789.0"},
      {0.0001, "0.0001"},
      {0.00001, "1e-5"},
      {1e23, "1e23"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e308"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {1.0 / 3, "0.3333333333333333"},
      {-1.5e-7, "-1.5e-7"},
      {9007199254740993.0, "9007199254740992.0"},
      {INFINITY, "inf"},
      {-INFINITY, "-inf"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    un__strbuf s = {0};
    un__sb_putf64(&s, cases[i].v);
    cr_expect_str_eq(un__sb_str(&s), cases[i].text);
    un__sb_finish(&s);
  }
}

Test(number, small_formats_print_few_digits) {
  cr_expect_str_eq(text_of(F32, 0x3dcccccd), "0.1");
  cr_expect_str_eq(text_of(F16, 0x2e66), "0.1");
  cr_expect_str_eq(text_of(BF16, 0x3dcd), "0.1");
  cr_expect_str_eq(text_of(F32, 0x7fc00001), "nan:0x7fc00001");
  cr_expect_str_eq(text_of(F16, 0xfe00), "nan:0xfe00");
  cr_expect_str_eq(text_of(E4M3, 0x7e), "450.0",
                   "448, the largest of a format without infinities: 450 is shorter and reads back");
  cr_expect_str_eq(text_of(E4M3, 0x7f), "nan:0x7f");
  cr_expect_str_eq(text_of(E5M2, 0x7c), "inf");
}

/* Each bit pattern of each format of one or two bytes reads back as itself. */
Test(number, every_small_float_round_trips) {
  const un__float_format formats[] = {F16, BF16, E4M3, E5M2};
  for (int k = 0; k < 4; k++) {
    uint64_t end = UINT64_C(1) << (formats[k].mantissa + formats[k].exponent + 1);
    for (uint64_t bits = 0; bits < end; bits++) {
      uint64_t again = bits_of(formats[k], text_of(formats[k], bits));
      cr_assert_eq(again, bits, "format %d, bits %llx: %s", k, (unsigned long long)bits, text_of(formats[k], bits));
    }
  }
}

static uint64_t next(uint64_t *x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  return *x ^= *x << 17;
}

/* The C library agrees with both directions, and no shorter text reads back. */
Test(number, random_f64_agrees_with_libc) {
  uint64_t seed = 42;
  for (int i = 0; i < 20000; i++) {
    uint64_t bits = next(&seed);
    double v;
    memcpy(&v, &bits, sizeof v);
    if (isnan(v) || isinf(v)) continue;
    const char *text = text_of(UN__FORMAT_F64, bits);
    cr_assert_eq(bits_of(UN__FORMAT_F64, text), bits, "%s", text);
    cr_assert_eq(strtod(text, NULL), v, "%s", text);
    char longer[64];
    snprintf(longer, sizeof longer, "%.25e", v);
    cr_assert_eq(bits_of(UN__FORMAT_F64, longer), bits, "%s", longer);
    int digits = 0;
    for (const char *c = text; *c && *c != 'e'; c++) digits += *c >= '0' && *c <= '9';
    if (strchr(text, 'e') && digits > 1) {
      snprintf(longer, sizeof longer, "%.*e", digits - 2, v);
      cr_assert_neq(strtod(longer, NULL), v, "%s is not the shortest: %s", text, longer);
    }
  }
}

Test(number, random_f32_agrees_with_libc) {
  uint64_t seed = 7;
  for (int i = 0; i < 20000; i++) {
    uint32_t bits = (uint32_t)next(&seed);
    float v;
    memcpy(&v, &bits, sizeof v);
    const char *text = text_of(F32, bits);
    cr_assert_eq(bits_of(F32, text), bits, "%s", text);
    if (!isnan(v)) cr_assert_eq(strtof(text, NULL), v, "%s", text);
  }
}

/* 2^-24 + 1 is half way between two f32; rounding through f64 first would lose the tail that breaks the tie. */
Test(number, reading_rounds_once) {
  cr_expect_eq(bits_of(F32, "1.000000059604644775390625"), 0x3f800000u, "a tie goes to even");
  cr_expect_eq(bits_of(F32, "1.00000005960464477539062500000000000000000000001"), 0x3f800001u);
  cr_expect_eq(bits_of(F32, "1.00000005960464477539062499999999999999999999999"), 0x3f800000u);
  char many[2000];
  snprintf(many, sizeof many, "1.000000059604644775390625%01500d1", 0);
  cr_expect_eq(bits_of(F32, many), 0x3f800001u, "digits beyond those kept still count");
  cr_expect_eq(bits_of(F32, "1e-45"), 1u, "the smallest subnormal");
  cr_expect_eq(bits_of(F32, "0.7e-45"), 0u);
  cr_expect_eq(bits_of(F32, "1.1754943508222875e-38"), 0x00800000u, "the smallest normal");
  cr_expect_eq(bits_of(F32, "1.1754942807573643e-38"), 0x00800000u, "a carry into the normals");
}

Test(number, overflow_is_told_from_infinity) {
  uint64_t bits;
  cr_expect_eq(un__parse_float("1e39", 4, F32, &bits), UN__NUM_RANGE);
  cr_expect_eq(bits, 0x7f800000u);
  cr_expect_eq(un__parse_float("-1e999999999999999999999", 24, F32, &bits), UN__NUM_RANGE);
  cr_expect_eq(bits, 0xff800000u);
  cr_expect_eq(un__parse_float("inf", 3, F32, &bits), UN__NUM_OK);
  cr_expect_eq(un__parse_float("3.4028235e38", 12, F32, &bits), UN__NUM_OK);
  cr_expect_eq(un__parse_float("449", 3, E4M3, &bits), UN__NUM_OK, "rounds to the largest");
  cr_expect_eq(un__parse_float("500", 3, E4M3, &bits), UN__NUM_RANGE);
  cr_expect_eq(un__parse_float("inf", 3, E4M3, &bits), UN__NUM_BAD, "the format has none");
  cr_expect_eq(un__parse_float("1e-999999999999999999999", 24, F32, &bits), UN__NUM_OK);
  cr_expect_eq(bits, 0u);
}

Test(number, what_is_no_float) {
  static const char *const bad[] = {"",
                                    "-",
                                    ".",
                                    "e5",
                                    "1e",
                                    "1e+",
                                    "1.2.3",
                                    "0x10",
                                    "1 ",
                                    " 1",
                                    "nan:",
                                    "nan:0x",
                                    "nan:0x7f800000",
                                    "nan:0x17fc00000",
                                    "-nan:0x7fc00000",
                                    "infinity",
                                    "1f",
                                    "--1",
                                    "1e5.0"};
  uint64_t bits;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    cr_expect_eq(un__parse_float(bad[i], strlen(bad[i]), F32, &bits), UN__NUM_BAD, "%s", bad[i]);
}

Test(number, other_spellings_are_read) {
  cr_expect_eq(bits_of(F32, "+1"), 0x3f800000u);
  cr_expect_eq(bits_of(F32, "1E0"), 0x3f800000u);
  cr_expect_eq(bits_of(F32, "00001.000"), 0x3f800000u);
  cr_expect_eq(bits_of(F32, ".5"), 0x3f000000u);
  cr_expect_eq(bits_of(F32, "5."), 0x40a00000u);
  cr_expect_eq(bits_of(F32, "nan"), 0x7fc00000u);
  cr_expect_eq(bits_of(F32, "-nan"), 0xffc00000u);
  cr_expect_eq(bits_of(F32, "nan:0xFFC0000a"), 0xffc0000au);
}

Test(number, integers) {
  int64_t i;
  uint64_t u;
  cr_expect_eq(un__parse_i64("-9223372036854775808", 20, &i), UN__NUM_OK);
  cr_expect_eq(i, INT64_MIN);
  cr_expect_eq(un__parse_i64("9223372036854775807", 19, &i), UN__NUM_OK);
  cr_expect_eq(un__parse_i64("9223372036854775808", 19, &i), UN__NUM_RANGE);
  cr_expect_eq(un__parse_i64("-9223372036854775809", 20, &i), UN__NUM_RANGE);
  cr_expect_eq(un__parse_u64("18446744073709551615", 20, &u), UN__NUM_OK);
  cr_expect_eq(u, UINT64_MAX);
  cr_expect_eq(un__parse_u64("18446744073709551616", 20, &u), UN__NUM_RANGE);
  cr_expect_eq(un__parse_u64("99999999999999999999999", 23, &u), UN__NUM_RANGE);
  cr_expect_eq(un__parse_i64("", 0, &i), UN__NUM_BAD);
  cr_expect_eq(un__parse_i64("-", 1, &i), UN__NUM_BAD);
  cr_expect_eq(un__parse_i64("+1", 2, &i), UN__NUM_BAD);
  cr_expect_eq(un__parse_i64("1a", 2, &i), UN__NUM_BAD);
}

/* A locale with a decimal comma changes nothing. Skips itself where no such locale is installed. */
Test(number, the_locale_does_not_matter) {
  static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "nl_NL.UTF-8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (setlocale(LC_ALL, names[i])) break;
  cr_expect_str_eq(text_of(F32, 0x3fc00000), "1.5");
  cr_expect_eq(bits_of(F32, "1.5"), 0x3fc00000u);
  setlocale(LC_ALL, "C");
}
