/* names.c - stages, ops, dtypes, axes and NAME attributes to text and back. */
#include "text_parts.h"

#include <stdio.h>
#include <string.h>

static const struct { un__stage stage; const char *name; } stages[] = {
  {UN__STAGE_TENSOR, "tensor"}, {UN__STAGE_KERNEL, "kernel"}, {UN__STAGE_LINEAR, "linear"},
  {UN__STAGE_SCHEDULE, "schedule"},
};

static bool same(const char *text, size_t len, const char *word) {
  return strlen(word) == len && memcmp(text, word, len) == 0;
}

const char *un__stage_name(un__stage s) {
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (stages[i].stage == s) return stages[i].name;
  return "none";
}

bool un__stage_by_name(const char *name, size_t len, un__stage *out) {
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (same(name, len, stages[i].name)) return *out = stages[i].stage, true;
  return false;
}

bool un__op_by_name(const char *text, size_t len, un__op *out) {
  for (int op = UN__OP_NONE + 1; op < UN__OP_COUNT; op++)
    if (same(text, len, un__op_table[op].text)) return *out = (un__op)op, true;
  return false;
}

bool un__axis_by_name(const char *text, size_t len, un__axis *out) {
  for (int a = 0; a < UN__AXIS_COUNT; a++)
    if (same(text, len, un__axis_table[a].name)) return *out = (un__axis)a, true;
  return false;
}

/* ---- dtypes ---- */

static const struct { un__space space; const char *prefix; } spaces[] = {
  {UN__SPACE_LOCAL, "ptr.local."}, {UN__SPACE_REG, "ptr.reg."}, {UN__SPACE_GLOBAL, "ptr."},
};

const char *un__dtype_text(un__dtype d, char out[UN__DTYPE_TEXT]) {
  const char *prefix = "", *name = (d & 0xff) < UN_DTYPE_COUNT ? un__dt_info(d)->name : "?";
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (spaces[i].space == un__dt_space(d)) prefix = spaces[i].prefix;
  if (un__dt_lanes(d) == 1) snprintf(out, UN__DTYPE_TEXT, "%s%s", prefix, name);
  else snprintf(out, UN__DTYPE_TEXT, "%s%sx%u", prefix, name, un__dt_lanes(d));
  return out;
}

void un__print_dtype(un__strbuf *out, un__dtype d) {
  char text[UN__DTYPE_TEXT];
  un__sb_puts(out, un__dtype_text(d, text));
}

/* Lanes are 2 to 65535 without leading zeros, so that each dtype has one text. */
static bool lanes_by_text(const char *text, size_t len, uint32_t *out) {
  uint64_t lanes;
  if (len == 0) return *out = 1, true;
  if (len < 2 || text[0] != 'x' || text[1] == '0') return false;
  if (un__parse_u64(text + 1, len - 1, &lanes) != UN__NUM_OK) return false;
  *out = (uint32_t)lanes;
  return lanes >= 2 && lanes <= UN__MAX_LANES;
}

bool un__dtype_by_name(const char *text, size_t len, un__dtype *out) {
  un__space space = UN__SPACE_NONE;
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces && space == UN__SPACE_NONE; i++) {
    size_t n = strlen(spaces[i].prefix);
    if (len <= n || memcmp(text, spaces[i].prefix, n) != 0) continue;
    space = spaces[i].space;
    text += n;
    len -= n;
  }
  for (int s = 0; s < UN_DTYPE_COUNT; s++) {
    const char *name = un__dtype_table[s].name;
    size_t n = strlen(name);
    uint32_t lanes;
    if (len < n || memcmp(text, name, n) != 0 || !lanes_by_text(text + n, len - n, &lanes)) continue;
    *out = un__dt_with_lanes(un__dt_ptr((un_dtype)s, space), lanes);
    return true;
  }
  return false;
}

un__float_format un__dt_format(un__dtype d) {
  const un__dtype_info *info = un__dt_info(d);
  return (un__float_format){info->mantissa, info->exponent, un__dt_scalar(d) == UN_F8E4M3};
}

/* ---- names ---- */

bool un__is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

bool un__name_pack(const char *text, size_t len, int64_t out[UN__NAME_WORDS]) {
  if (len == 0 || len > UN__NAME_MAX || memchr(text, 0, len)) return false;
  uint64_t w[UN__NAME_WORDS] = {0};
  for (size_t i = 0; i < len; i++) w[i / 8] |= (uint64_t)(unsigned char)text[i] << (8 * (i % 8));
  for (int i = 0; i < UN__NAME_WORDS; i++) out[i] = (int64_t)w[i];
  return true;
}

size_t un__name_unpack(const int64_t words[UN__NAME_WORDS], char out[UN__NAME_MAX + 1]) {
  size_t n = 0;
  for (; n < UN__NAME_MAX; n++) {
    out[n] = (char)((uint64_t)words[n / 8] >> (8 * (n % 8)) & 0xff);
    if (!out[n]) break;
  }
  out[n] = '\0';
  return n;
}

bool un__name_is_packed(const int64_t words[UN__NAME_WORDS]) {
  char text[UN__NAME_MAX + 1];
  int64_t again[UN__NAME_WORDS];
  size_t n = un__name_unpack(words, text);
  return un__name_pack(text, n, again) && memcmp(again, words, sizeof again) == 0;
}

void un__put_name(un__strbuf *out, const int64_t words[UN__NAME_WORDS]) {
  char text[UN__NAME_MAX + 1];
  size_t n = un__name_unpack(words, text);
  bool plain = n > 0;
  for (size_t i = 0; i < n; i++) plain &= un__is_name_char(text[i]);
  if (plain) {
    un__sb_putn(out, text, n);
    return;
  }
  un__sb_putc(out, '"');
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\') un__sb_printf(out, "\\%c", c);
    else if (c >= 32 && c < 127) un__sb_putc(out, (char)c);
    else un__sb_printf(out, "\\x%02x", c);
  }
  un__sb_putc(out, '"');
}

/* ---- attributes ---- */

uint32_t un__attr_first(const un__op_info *info, uint32_t i) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < i; k++) at += info->attrs[k].kind == UN__AK_NAME ? UN__NAME_WORDS : 1;
  return at;
}

bool un__attr_is_default(const un_uop *n, uint32_t i) {
  const un__op_info *info = un__info(n);
  uint32_t first = un__attr_first(info, i);
  if (info->attrs[i].kind == UN__AK_INTS) return first >= n->nattr;
  return info->attrs[i].kind == UN__AK_INT && i > 0 && un__attr(n, first) == 0;
}

void un__put_const(un__strbuf *out, un__dtype dtype, int64_t word) {
  switch (un__dt_class(dtype)) {
    case UN__CLASS_BOOL: un__sb_puts(out, word ? "true" : "false"); return;
    case UN__CLASS_UINT: un__sb_printf(out, "%llu", (unsigned long long)word); return;
    case UN__CLASS_FLOAT: un__sb_putfloat(out, un__dt_format(dtype), (uint64_t)word); return;
    default: un__sb_puti64(out, word); return;
  }
}

static void put_ints(un__strbuf *out, const int64_t *at, uint32_t n) {
  un__sb_putc(out, '(');
  for (uint32_t i = 0; i < n; i++) {
    if (i) un__sb_putc(out, ',');
    un__sb_puti64(out, at[i]);
  }
  un__sb_putc(out, ')');
}

void un__put_attr(un__strbuf *out, const un_uop *n, uint32_t i) {
  const un__op_info *info = un__info(n);
  uint32_t first = un__attr_first(info, i);
  const int64_t *w = un__attrs(n) + first;
  switch (info->attrs[i].kind) {
    case UN__AK_CONST: un__put_const(out, n->dtype, *w); return;
    case UN__AK_AXIS: un__sb_puts(out, *w >= 0 && *w < UN__AXIS_COUNT ? un__axis_table[*w].name : "?"); return;
    case UN__AK_OP: un__sb_puts(out, *w > 0 && *w < UN__OP_COUNT ? un__op_table[*w].text : "?"); return;
    case UN__AK_NAME: un__put_name(out, w); return;
    case UN__AK_INTS: put_ints(out, w, n->nattr - first); return;
    default: un__sb_puti64(out, *w); return;
  }
}
