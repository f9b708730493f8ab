#include "npy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What NumPy calls our dtypes. One row a dtype; `|` and `<` mean the same for single bytes. */
typedef struct name_of {
  un_dtype dtype;
  const char *descr;
  uint8_t size;
} name_of;

static const name_of names[] = {
    {UN_BOOL, "|b1", 1}, {UN_I8, "|i1", 1},  {UN_U8, "|u1", 1},  {UN_I16, "<i2", 2}, {UN_U16, "<u2", 2},
    {UN_I32, "<i4", 4},  {UN_U32, "<u4", 4}, {UN_I64, "<i8", 8}, {UN_U64, "<u8", 8}, {UN_F16, "<f2", 2},
    {UN_BF16, "<V2", 2}, {UN_F32, "<f4", 4}, {UN_F64, "<f8", 8},
};
enum { NAMES = sizeof names / sizeof *names };

static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { PREFIX = 8, ALIGN = 64 }; /* magic and version; the data of files we write begins at a multiple of ALIGN */

/* ---- the header: a Python dict of three entries ---- */

typedef struct reader {
  const char *name;
  const char *at, *end;
  un__err *err;
} reader;

static un_status bad(reader *r, const char *what) {
  return un__fail(r->err, UN_ERR_PARSE, "%s: not a usable .npy file: %s", r->name, what);
}

static void skip_blanks(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')) r->at++;
}

static bool take(reader *r, char c) {
  skip_blanks(r);
  if (r->at == r->end || *r->at != c) return false;
  r->at++;
  return true;
}

/* A string without escapes, in either kind of quotes. */
static bool take_string(reader *r, const char **out, size_t *out_n) {
  skip_blanks(r);
  if (r->at == r->end || (*r->at != '\'' && *r->at != '"')) return false;
  char quote = *r->at++;
  *out = r->at;
  while (r->at < r->end && *r->at != quote && *r->at != '\\') r->at++;
  if (r->at == r->end || *r->at != quote) return false;
  *out_n = (size_t)(r->at++ - *out);
  return true;
}

static bool is_word(const char *text, size_t n, const char *word) {
  return strlen(word) == n && memcmp(text, word, n) == 0;
}

static const name_of *find_name(const char *text, size_t n) {
  for (size_t i = 0; i < NAMES; i++) {
    const char *d = names[i].descr;
    bool order =
        n == 3 && (text[0] == d[0] || ((names[i].size == 1 || d[1] == 'V') && (text[0] == '<' || text[0] == '|')));
    if (order && memcmp(text + 1, d + 1, 2) == 0) return &names[i];
  }
  return NULL;
}

static un_status read_descr(reader *r, un__npy *out) {
  const char *text;
  size_t n;
  if (take(r, '[')) return un__fail(r->err, UN_ERR_UNSUPPORTED, "%s: structured dtypes are not supported", r->name);
  if (!take_string(r, &text, &n)) return bad(r, "descr is no string");
  const name_of *found = find_name(text, n);
  if (found) {
    out->dtype = found->dtype;
    return UN_OK;
  }
  const char *hint = n > 0 && text[0] == '>' ? "; save it little-endian" : "";
  return un__fail(r->err, UN_ERR_UNSUPPORTED, "%s: dtype '%.*s' is not supported%s", r->name, n < 32 ? (int)n : 32,
                  text, hint);
}

static un_status read_order(reader *r, un__npy *out) {
  (void)out;
  skip_blanks(r);
  static const char yes[] = "True", no[] = "False";
  size_t left = (size_t)(r->end - r->at);
  if (left >= sizeof no - 1 && memcmp(r->at, no, sizeof no - 1) == 0) {
    r->at += sizeof no - 1;
    return UN_OK;
  }
  if (left >= sizeof yes - 1 && memcmp(r->at, yes, sizeof yes - 1) == 0)
    return un__fail(r->err, UN_ERR_UNSUPPORTED, "%s: the array is in Fortran order; save it in C order", r->name);
  return bad(r, "fortran_order is neither True nor False");
}

static un_status read_dim(reader *r, un__npy *out) {
  int64_t v = 0;
  const char *first = r->at;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
    if (__builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_add_overflow(v, (int64_t)(*r->at - '0'), &v))
      return bad(r, "a dim does not fit 64 bits");
    r->at++;
  }
  if (r->at == first) return bad(r, "shape holds something that is no size");
  if (r->at < r->end && *r->at == 'L') r->at++; /* Python 2 wrote long integers like that */
  if (out->rank == UN__NPY_MAX_RANK)
    return un__fail(r->err, UN_ERR_UNSUPPORTED, "%s: more than %d axes", r->name, UN__NPY_MAX_RANK);
  out->dim[out->rank++] = v;
  return UN_OK;
}

static un_status read_shape(reader *r, un__npy *out) {
  if (!take(r, '(')) return bad(r, "shape is no tuple");
  while (!take(r, ')')) {
    skip_blanks(r);
    UN__TRY(read_dim(r, out));
    if (take(r, ',')) continue;
    if (!take(r, ')')) return bad(r, "shape does not end");
    return out->rank == 1 ? bad(r, "shape is no tuple") : UN_OK;
  }
  return UN_OK;
}

typedef struct entry {
  const char *key;
  un_status (*read)(reader *r, un__npy *out);
} entry;

static const entry entries[] = {{"descr", read_descr}, {"fortran_order", read_order}, {"shape", read_shape}};
enum { ENTRIES = sizeof entries / sizeof *entries };

static un_status read_entry(reader *r, un__npy *out, uint32_t *seen) {
  const char *key;
  size_t n;
  if (!take_string(r, &key, &n) || !take(r, ':')) return bad(r, "the header is no dict");
  for (uint32_t i = 0; i < ENTRIES; i++) {
    if (!is_word(key, n, entries[i].key)) continue;
    if (*seen >> i & 1) return bad(r, "the header has a key twice");
    *seen |= 1u << i;
    return entries[i].read(r, out);
  }
  return bad(r, "the header has an unknown key");
}

static un_status read_dict(reader *r, un__npy *out) {
  uint32_t seen = 0;
  if (!take(r, '{')) return bad(r, "the header is no dict");
  while (!take(r, '}')) {
    UN__TRY(read_entry(r, out, &seen));
    if (take(r, ',')) continue;
    if (!take(r, '}')) return bad(r, "the header is no dict");
    break;
  }
  skip_blanks(r);
  if (r->at != r->end) return bad(r, "something follows the header's dict");
  return seen == (1u << ENTRIES) - 1 ? UN_OK : bad(r, "the header lacks a key");
}

/* ---- the file ---- */

/* Where the header's text begins and ends; *out_data is where the data begins. */
static un_status find_header(reader *r, const unsigned char *bytes, size_t size, size_t *out_data) {
  if (size < PREFIX + 2 || memcmp(bytes, magic, sizeof magic) != 0) return bad(r, "it does not begin like one");
  unsigned version = bytes[6];
  if (version < 1 || version > 3 || bytes[7] != 0)
    return un__fail(r->err, UN_ERR_UNSUPPORTED, "%s: .npy version %u.%u is not supported", r->name, version, bytes[7]);
  size_t head = PREFIX + (version == 1 ? 2 : 4);
  if (size < head) return bad(r, "it is cut short");
  size_t n = bytes[8] | (size_t)bytes[9] << 8;
  if (version > 1) n |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
  if (n > size - head) return bad(r, "its header is cut short");
  r->at = (const char *)bytes + head;
  r->end = r->at + n;
  *out_data = head + n;
  return UN_OK;
}

static size_t element_size(un_dtype dtype) {
  for (size_t i = 0; i < NAMES; i++)
    if (names[i].dtype == dtype) return names[i].size;
  return 0;
}

/* Bytes of such an array; false where they do not fit memory (an empty array has no dim that may overflow either). */
static bool array_size(un_dtype dtype, uint32_t rank, const int64_t *dim, size_t *out) {
  uint64_t n = element_size(dtype);
  bool empty = false;
  for (uint32_t i = 0; i < rank; i++) {
    empty = empty || dim[i] == 0;
    uint64_t factor = dim[i] == 0 ? 1 : (uint64_t)dim[i];
    if (dim[i] < 0 || __builtin_mul_overflow(n, factor, &n)) return false;
  }
  *out = empty ? 0 : (size_t)n;
  return n <= SIZE_MAX / 2;
}

un_status un__npy_parse(const char *name, const void *bytes, size_t size, un__npy *out, un__err *err) {
  reader r = {.name = name, .err = err};
  size_t data;
  *out = (un__npy){0};
  UN__TRY(find_header(&r, bytes, size, &data));
  UN__TRY(read_dict(&r, out));
  if (!array_size(out->dtype, out->rank, out->dim, &out->size)) return bad(&r, "its shape is too large");
  if (out->size != size - data)
    return un__fail(err, UN_ERR_PARSE, "%s: not a usable .npy file: its header says %zu bytes of data, there are %zu",
                    name, out->size, size - data);
  out->data = (const char *)bytes + data;
  return UN_OK;
}

un_status un__npy_header(un__strbuf *out, un_dtype dtype, uint32_t rank, const int64_t *dim, un__err *err) {
  const char *descr = NULL;
  for (size_t i = 0; i < NAMES; i++)
    if (names[i].dtype == dtype) descr = names[i].descr;
  if (!descr) return un__fail(err, UN_ERR_UNSUPPORTED, "npy: the dtype has no name in NumPy");
  if (rank > UN__NPY_MAX_RANK) return un__fail(err, UN_ERR_UNSUPPORTED, "npy: more than %d axes", UN__NPY_MAX_RANK);
  size_t start = out->n;
  un__sb_putn(out, magic, sizeof magic);
  un__sb_putn(out, "\x01\x00\x00\x00", 4);
  un__sb_printf(out, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
  for (uint32_t i = 0; i < rank; i++) un__sb_printf(out, i + 1 < rank ? "%lld, " : "%lld", (long long)dim[i]);
  un__sb_puts(out, rank == 1 ? ",), }" : "), }");
  while ((out->n - start + 1) % ALIGN != 0 && !out->failed) un__sb_putc(out, ' ');
  un__sb_putc(out, '\n');
  if (out->failed) return un__fail(err, UN_ERR_NOMEM, "npy: no memory for a header");
  size_t n = out->n - start - PREFIX - 2;
  out->at[start + PREFIX] = (char)(n & 0xff);
  out->at[start + PREFIX + 1] = (char)(n >> 8);
  return UN_OK;
}

static un_status read_all(FILE *f, const char *path, char **out, size_t *out_n, un__err *err) {
  size_t n = 0, cap = 0;
  char *bytes = NULL;
  for (;;) {
    if (n == cap) {
      cap = cap ? cap * 2 : 64 * 1024;
      char *more = un__realloc(bytes, cap);
      if (!more) {
        un__free(bytes);
        return un__fail(err, UN_ERR_NOMEM, "%s: no memory for the file", path);
      }
      bytes = more;
    }
    size_t got = fread(bytes + n, 1, cap - n, f);
    n += got;
    if (got == 0) break;
  }
  *out = bytes;
  *out_n = n;
  if (!ferror(f)) return UN_OK;
  un__free(bytes);
  *out = NULL;
  return un__fail(err, UN_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
}

un_status un__npy_load(const char *path, void **out_bytes, un__npy *out, un__err *err) {
  *out_bytes = NULL;
  FILE *f = fopen(path, "rb");
  if (!f) return un__fail(err, UN_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  char *bytes;
  size_t n;
  un_status st = read_all(f, path, &bytes, &n, err);
  fclose(f);
  UN__TRY(st);
  st = un__npy_parse(path, bytes, n, out, err);
  if (st == UN_OK)
    *out_bytes = bytes;
  else
    un__free(bytes);
  return st;
}

un_status un__npy_save(const char *path, un_dtype dtype, uint32_t rank, const int64_t *dim, const void *data,
                       un__err *err) {
  un__strbuf head = {0};
  size_t size;
  un_status st = un__npy_header(&head, dtype, rank, dim, err);
  if (st == UN_OK && !array_size(dtype, rank, dim, &size))
    st = un__fail(err, UN_ERR_INVALID_ARG, "npy: impossible shape");
  FILE *f = st == UN_OK ? fopen(path, "wb") : NULL;
  if (st == UN_OK) {
    bool ok = f && fwrite(head.at, 1, head.n, f) == head.n && fwrite(data, 1, size, f) == size;
    ok = f && fclose(f) == 0 && ok;
    if (!ok) st = un__fail(err, UN_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
  }
  un__sb_finish(&head);
  return st;
}
