/* base_folder.c - temporary folders: where TMPDIR says, for this user alone, and gone with what was in them. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/folder.h"

static char place[128];

static void setup(void) {
  unsetenv("TMPDIR");
  cr_assert(un__temp_folder("test-place", place, sizeof place), "%s", strerror(errno));
  setenv("TMPDIR", place, 1);
}

static void teardown(void) {
  un__remove_folder(place);
  cr_expect(access(place, F_OK) != 0, "%s is left", place);
}
TestSuite(folder, .init = setup, .fini = teardown);

static void put_file(const char *folder, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  cr_assert(f && fclose(f) == 0, "%s", path);
}

Test(folder, lies_where_tmpdir_says) {
  char path[256];
  struct stat s;
  cr_assert(un__temp_folder("name", path, sizeof path), "%s", strerror(errno));
  cr_expect(strncmp(path, place, strlen(place)) == 0 && strncmp(path + strlen(place), "/unir-name-", 11) == 0, "%s", path);
  cr_expect(stat(path, &s) == 0 && S_ISDIR(s.st_mode) && (s.st_mode & 0777) == 0700);
  un__remove_folder(path);
  cr_expect(access(path, F_OK) != 0);
}

Test(folder, lies_in_tmp_without_tmpdir) {
  setenv("TMPDIR", "", 1);
  cr_expect_str_eq(un__temp_place(), "/tmp");
  unsetenv("TMPDIR");
  cr_expect_str_eq(un__temp_place(), "/tmp");
  cr_expect(strncmp(place, "/tmp/unir-test-place-", 21) == 0, "%s", place);
}

Test(folder, two_are_two) {
  char one[256], other[256];
  cr_assert(un__temp_folder("name", one, sizeof one) && un__temp_folder("name", other, sizeof other));
  cr_expect_str_neq(one, other);
  un__remove_folder(one);
  un__remove_folder(other);
}

Test(folder, goes_with_its_files) {
  char path[256];
  cr_assert(un__temp_folder("name", path, sizeof path));
  put_file(path, "a");
  put_file(path, ".hidden");
  un__remove_folder(path);
  cr_expect(access(path, F_OK) != 0);
}

Test(folder, says_why_it_cannot_be) {
  char path[256], small[16];
  errno = 0;
  cr_expect(!un__temp_folder("name", small, sizeof small));
  cr_expect_eq(errno, ENAMETOOLONG);
  setenv("TMPDIR", "/nonexistent/folder", 1);
  cr_expect(!un__temp_folder("name", path, sizeof path));
  cr_expect_eq(errno, ENOENT);
}
