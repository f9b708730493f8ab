/* .npy files: what NumPy writes is read, what we write reads back, and no header is believed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/npy.h"

static un__err err;
static un__npy npy;
static unsigned char file[1024];
static size_t file_n;

/* A file with this version, header text and so many bytes of data (0, 1, 2, ...). */
static void make(int version, const char *header, size_t data) {
  size_t n = strlen(header), head = version == 1 ? 10 : 12;
  memcpy(file, "\x93NUMPY", 6);
  file[6] = (unsigned char)version;
  file[7] = 0;
  memset(file + 8, 0, 4);
  file[8] = (unsigned char)(n & 0xff);
  file[9] = (unsigned char)(n >> 8);
  memcpy(file + head, header, n);
  for (size_t i = 0; i < data; i++) file[head + n + i] = (unsigned char)i;
  file_n = head + n + data;
}

static un_status parse(void) {
  un__err_clear(&err);
  return un__npy_parse("x.npy", file, file_n, &npy, &err);
}

static void refused(int version, const char *header, size_t data, un_status status, const char *says) {
  make(version, header, data);
  cr_assert_eq(parse(), status, "%s: %s", header, err.text);
  cr_assert(strstr(err.text, says), "%s: %s", header, err.text);
}

Test(base_npy, headers_as_numpy_writes_them) {
  make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                  \n", 24);
  cr_assert_eq(parse(), UN_OK, "%s", err.text);
  cr_assert(npy.dtype == UN_F32 && npy.rank == 2 && npy.dim[0] == 2 && npy.dim[1] == 3 && npy.size == 24);
  cr_assert_eq(((const unsigned char *)npy.data)[5], 5);
  make(2, "{'shape': (3,), 'descr': \"|b1\", 'fortran_order': False}", 3);
  cr_assert_eq(parse(), UN_OK, "%s", err.text);
  cr_assert(npy.dtype == UN_BOOL && npy.rank == 1);
  make(3, "{'descr':'<f2','fortran_order':False,'shape':()}", 2);
  cr_assert_eq(parse(), UN_OK, "%s", err.text);
  cr_assert(npy.dtype == UN_F16 && npy.rank == 0 && npy.size == 2);
  make(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (0L, 5L), }\n", 0);
  cr_assert_eq(parse(), UN_OK, "%s", err.text);
  cr_assert(npy.dtype == UN_BF16 && npy.size == 0);
}

Test(base_npy, malformed_headers_are_refused) {
  refused(1, "", 0, UN_ERR_PARSE, "no dict");
  refused(1, "{", 0, UN_ERR_PARSE, "no dict");
  refused(1, "{}", 0, UN_ERR_PARSE, "lacks a key");
  refused(1, "{'descr': '<f4'", 0, UN_ERR_PARSE, "no dict");
  refused(1, "{'descr': '<f4, shape: (1,)}", 4, UN_ERR_PARSE, "no string");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", 4, UN_ERR_PARSE, "unknown key");
  refused(1, "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, UN_ERR_PARSE, "twice");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", 4, UN_ERR_PARSE, "follows");
  refused(1, "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}", 4, UN_ERR_PARSE, "neither");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4, UN_ERR_PARSE, "no tuple");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': 1}", 4, UN_ERR_PARSE, "no tuple");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, UN_ERR_PARSE, "no size");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,,)}", 4, UN_ERR_PARSE, "no size");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2", 4, UN_ERR_PARSE, "does not end");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}", 4, UN_ERR_PARSE, "64 bits");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807)}", 4,
          UN_ERR_PARSE, "too large");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387905, 4, 0)}", 0, UN_ERR_PARSE,
          "too large");
}

Test(base_npy, sizes_must_agree) {
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7, UN_ERR_PARSE,
          "8 bytes of data, there are 7");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 9, UN_ERR_PARSE, "there are 9");
  make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
  size_t whole = file_n;
  for (file_n = 0; file_n < whole; file_n++) cr_assert_eq(parse(), UN_ERR_PARSE, "cut at %zu", file_n);
}

Test(base_npy, what_we_do_not_take_is_said) {
  refused(1, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4, UN_ERR_UNSUPPORTED, "little-endian");
  refused(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, UN_ERR_UNSUPPORTED, "<c8");
  refused(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, UN_ERR_UNSUPPORTED, "|O");
  refused(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, UN_ERR_UNSUPPORTED, "structured");
  refused(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16, UN_ERR_UNSUPPORTED, "Fortran");
  refused(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}", 4,
          UN_ERR_UNSUPPORTED, "axes");
  refused(4, "{}", 0, UN_ERR_UNSUPPORTED, "version 4");
  memcpy(file, "\x92NUMPY", 6);
  cr_assert_eq(parse(), UN_ERR_PARSE);
}

/* Any single byte may be wrong; whatever happens, it stays inside the file (run under ASan and valgrind). */
Test(base_npy, every_byte_may_be_anything) {
  for (size_t i = 0; i < 10 + 54; i++) {
    for (int v = 0; v < 256; v++) {
      make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 8);
      file[i] = (unsigned char)v;
      if (parse() == UN_OK) cr_assert(npy.size <= file_n);
    }
  }
}

Test(base_npy, what_we_write_reads_back) {
  static const un_dtype dtypes[] = {UN_BOOL, UN_I8,  UN_U8,  UN_I16,  UN_U16, UN_I32, UN_U32,
                                    UN_I64,  UN_U64, UN_F16, UN_BF16, UN_F32, UN_F64};
  static const int64_t dim[3] = {2, 0, 7};
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
    for (uint32_t rank = 0; rank <= 3; rank++) {
      un__strbuf s = {0};
      un__err_clear(&err);
      cr_assert_eq(un__npy_header(&s, dtypes[k], rank, dim, &err), UN_OK);
      cr_assert_eq(s.n % 64, 0);
      memcpy(file, s.at, s.n);
      memset(file + s.n, 0, 64);
      static const size_t count[4] = {1, 2, 0, 0};
      for (size_t size = 1; size <= 8; size *= 2) {
        file_n = s.n + count[rank] * size;
        if (parse() != UN_OK) continue;
        cr_assert(npy.dtype == dtypes[k] && npy.rank == rank);
        file_n = 0;
        break;
      }
      cr_assert_eq(file_n, 0, "some element size fits");
      un__sb_finish(&s);
    }
  }
  un__strbuf s = {0};
  cr_assert_eq(un__npy_header(&s, UN_F8E4M3, 1, dim, &err), UN_ERR_UNSUPPORTED);
  un__sb_finish(&s);
}

Test(base_npy, files) {
  char path[] = "unir-npy-XXXXXX";
  int fd = mkstemp(path);
  cr_assert_neq(fd, -1);
  close(fd);
  float data[6] = {1, 2, 3, 4, 5, 6};
  void *bytes;
  cr_assert_eq(un__npy_save(path, UN_F32, 2, (int64_t[]){3, 2}, data, &err), UN_OK, "%s", err.text);
  cr_assert_eq(un__npy_load(path, &bytes, &npy, &err), UN_OK, "%s", err.text);
  cr_assert_eq(memcmp(npy.data, data, sizeof data), 0);
  un__free(bytes);
  remove(path);
  cr_assert_eq(un__npy_load(path, &bytes, &npy, &err), UN_ERR_IO);
  cr_assert_null(bytes);
}
