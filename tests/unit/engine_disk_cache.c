/* engine_disk_cache.c - the folder of compiled kernels: what is put is found, damage and strangers are not believed, it stays
 * within its limit, and contexts that find their kernels there compile nothing. */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <unir/unir.h>

#include "base/folder.h"
#include "base/mem.h"
#include "engine/disk_cache.h"
#include "engine/engine_parts.h"
#include "engine/kept.h"
#include "target/target.h"

static char folder[256];

static void setup(void) {
  cr_assert(un__temp_folder("test-cache", folder, sizeof folder));
  unsetenv("UNIR_CACHE");
  setenv("UNIR_CACHE_DIR", folder, 1);
}

static void teardown(void) { un__remove_folder(folder); }
TestSuite(disk_cache, .init = setup, .fini = teardown);

static un__disk_cache *open_cache(void) {
  un__err why = {0};
  un__disk_cache *c = un__disk_cache_open(true, &why);
  cr_assert(c, "%s", why.text);
  return c;
}

static un__bytes text(const char *s) { return (un__bytes){(void *)s, strlen(s)}; }

static bool finds(un__disk_cache *c, const char *key, const char *want) {
  un__bytes value;
  if (!un__disk_cache_get(c, text(key), &value)) return false;
  bool same = value.n == strlen(want) && memcmp(value.at, want, value.n) == 0;
  cr_expect(same, "%s has another value", key);
  un__free(value.at);
  return same;
}

/* The only file's path. */
static const char *file_of(un__disk_cache *c) {
  static char path[512];
  un__disk_entries list = {0};
  cr_assert_eq(un__disk_cache_list(c, &list, NULL), UN_OK);
  cr_assert_eq(list.n, 1);
  snprintf(path, sizeof path, "%s/%s", folder, list.at[0].name);
  un__vec_finish(&list);
  return path;
}

static size_t count(un__disk_cache *c, uint64_t *out_bytes) {
  un__disk_entries list = {0};
  cr_assert_eq(un__disk_cache_list(c, &list, NULL), UN_OK);
  size_t n = list.n;
  *out_bytes = 0;
  for (size_t i = 0; i < n; i++) *out_bytes += list.at[i].bytes;
  un__vec_finish(&list);
  return n;
}

/* ---- what is put ---- */

Test(disk_cache, finds_what_was_put_also_after_opening_anew) {
  un__disk_cache *c = open_cache();
  cr_expect(!finds(c, "a", ""));
  cr_expect(un__disk_cache_put(c, text("a"), text("first")));
  cr_expect(un__disk_cache_put(c, text("b"), text("")));
  cr_expect(finds(c, "a", "first"));
  cr_expect(un__disk_cache_put(c, text("a"), text("second")));
  un__disk_cache_close(c);
  c = open_cache();
  cr_expect(finds(c, "a", "second"));
  cr_expect(finds(c, "b", ""));
  cr_expect(!finds(c, "ab", ""));
  struct stat s;
  cr_expect(stat(folder, &s) == 0 && (s.st_mode & 0777) == 0700);
  un__disk_cache_close(c);
}

Test(disk_cache, makes_its_folder_for_its_user_alone) {
  char deep[512], middle[512];
  snprintf(middle, sizeof middle, "%s/.d", folder);
  snprintf(deep, sizeof deep, "%s/.d/e", folder);
  setenv("UNIR_CACHE_DIR", deep, 1);
  un__err why = {0};
  cr_expect_null(un__disk_cache_open(false, &why));
  cr_expect(strstr(why.text, deep), "%s", why.text);
  un__disk_cache *c = open_cache();
  struct stat s;
  cr_expect(stat(deep, &s) == 0 && (s.st_mode & 0777) == 0700);
  un__disk_cache_close(c);
  rmdir(deep), rmdir(middle);
}

Test(disk_cache, can_be_off) {
  un__err why = {0};
  setenv("UNIR_CACHE", "0", 1);
  cr_expect_null(un__disk_cache_open(true, &why));
  cr_expect_eq(why.status, UN_OK, "off is no fault: %s", why.text);
}

/* ---- what is not believed ---- */

/* Every byte of a file changed, every length of it: not once is there a wrong value. */
Test(disk_cache, damage_is_found_wherever_it_is) {
  un__disk_cache *c = open_cache();
  char bytes[512];
  cr_assert(un__disk_cache_put(c, text("the key"), text("the value")));
  const char *path = file_of(c);
  FILE *f = fopen(path, "rb");
  size_t n = fread(bytes, 1, sizeof bytes, f);
  fclose(f);
  for (size_t i = 0; i < 2 * n; i++) {
    size_t length = i < n ? n : i - n;
    if (i < n) bytes[i] ^= 4;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert(fd >= 0 && write(fd, bytes, length) == (ssize_t)length && close(fd) == 0);
    if (i < n) bytes[i] ^= 4;
    cr_expect(!finds(c, "the key", "the value"), "byte %zu of %zu", i, n);
    cr_expect_neq(access(path, F_OK), 0, "a damaged file stays: %zu", i);
  }
  cr_expect(un__disk_cache_put(c, text("the key"), text("the value")));
  cr_expect(finds(c, "the key", "the value"));
  un__disk_cache_close(c);
}

Test(disk_cache, a_file_of_another_key_is_no_answer) {
  un__disk_cache *c = open_cache();
  char b[512];
  cr_assert(un__disk_cache_put(c, text("b"), text("value of b")));
  strcpy(b, file_of(c));
  cr_assert_eq(unlink(b), 0);
  cr_assert(un__disk_cache_put(c, text("a"), text("value of a")));
  cr_assert_eq(rename(file_of(c), b), 0);
  cr_expect(!finds(c, "b", ""));
  un__disk_cache_close(c);
}

Test(disk_cache, files_and_folders_that_others_may_write_are_not_believed) {
  un__disk_cache *c = open_cache();
  cr_assert(un__disk_cache_put(c, text("a"), text("value")));
  char path[512], other[600];
  strcpy(path, file_of(c));
  chmod(path, 0622);
  cr_expect(!finds(c, "a", "value"));
  chmod(path, 0644);
  cr_expect(finds(c, "a", "value"));
  snprintf(other, sizeof other, "%s.real", path);
  cr_assert(rename(path, other) == 0 && symlink(other, path) == 0);
  cr_expect(!finds(c, "a", "value"), "a symbolic link");
  unlink(path);
  cr_assert_eq(mkfifo(path, 0600), 0);
  cr_expect(!finds(c, "a", "value"), "a pipe");
  if (geteuid() == 0) {
    unlink(path);
    cr_assert(rename(other, path) == 0 && chown(path, 12345, 12345) == 0);
    cr_expect(!finds(c, "a", "value"), "another user's");
  }
  un__disk_cache_close(c);
  un__err why = {0};
  chmod(folder, 0770);
  cr_expect_null(un__disk_cache_open(true, &why));
  cr_expect(strstr(why.text, "nobody else may write") && strstr(why.text, "mode 770"), "%s", why.text);
  chmod(folder, 0700);
}

/* ---- the limit ---- */

Test(disk_cache, what_was_not_used_for_longest_goes) {
  enum { SIZE = 150000, KEYS = 10 };
  setenv("UNIR_CACHE_LIMIT", "1", 1);
  un__disk_cache *c = open_cache();
  char *big = calloc(1, SIZE), key[16];
  for (int i = 0; i < KEYS; i++) {
    snprintf(key, sizeof key, "key %d", i);
    cr_assert(un__disk_cache_put(c, text(key), (un__bytes){big, SIZE}));
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  }
  un__bytes value;
  cr_assert(un__disk_cache_get(c, text("key 0"), &value));
  un__free(value.at);
  un__disk_cache_close(c);
  c = open_cache();
  uint64_t bytes;
  cr_expect_eq(count(c, &bytes), 6);
  cr_expect_leq(bytes, (1 << 20) - (1 << 17));
  for (int i = 0; i < KEYS; i++) {
    snprintf(key, sizeof key, "key %d", i);
    bool found = un__disk_cache_get(c, text(key), &value);
    cr_expect_eq(found, i == 0 || i >= 5, "%s", key);
    if (found) un__free(value.at);
  }
  char *huge = calloc(1, 2 << 20);
  cr_expect(!un__disk_cache_put(c, text("huge"), (un__bytes){huge, 2 << 20}), "larger than the cache");
  free(big), free(huge);
  un__disk_cache_close(c);
}

/* ---- at once ---- */

enum { WRITERS = 4, ROUNDS = 100, SHARED = 5 };

/* Reads and writes the same few keys; every value that is found is whole. */
static int work(void) {
  un__disk_cache *c = open_cache();
  char key[16], want[3000];
  int wrong = 0;
  for (int i = 0; i < ROUNDS; i++) {
    int k = i % SHARED;
    snprintf(key, sizeof key, "k%d", k);
    memset(want, 'a' + k, sizeof want);
    un__bytes value;
    if (un__disk_cache_get(c, text(key), &value)) {
      wrong += value.n != sizeof want || memcmp(value.at, want, sizeof want) != 0;
      un__free(value.at);
    }
    un__disk_cache_put(c, text(key), (un__bytes){want, sizeof want});
  }
  un__disk_cache_close(c);
  return wrong;
}

Test(disk_cache, processes_share_it) {
  pid_t child[WRITERS];
  for (int i = 0; i < WRITERS; i++)
    if ((child[i] = fork()) == 0) _exit(work() != 0);
  for (int i = 0; i < WRITERS; i++) {
    int status = 1;
    cr_expect(waitpid(child[i], &status, 0) == child[i] && status == 0);
  }
  un__disk_cache *c = open_cache();
  uint64_t bytes;
  cr_expect_eq(count(c, &bytes), SHARED);
  un__disk_cache_close(c);
}

/* ---- keys ---- */

/* A description that is made when a GPU is opened has the same bytes wherever it lies. */
Test(disk_cache, descriptions_have_no_bytes_by_chance) {
  un__target a, b;
  char name[2][UN__GPU_NAME];
  const un__gpu *gpu = &un__target_by_name("sm_90a")->gpu;
  memset(&a, 0x00, sizeof a), memset(&b, 0xff, sizeof b);
  un__target_of_gpu(gpu, name[0], &a), un__target_of_gpu(gpu, name[1], &b);
  cr_expect_str_eq(a.name, b.name);
  a.name = b.name = NULL;
  cr_expect_eq(memcmp(&a, &b, sizeof a), 0);
}

/* ---- contexts ---- */

typedef struct outcome { un_stats stats; float values[6]; char log[512]; } outcome;

static void append_line(void *data, const char *line) { strncat(data, line, 500 - strlen(data)); }

/* A softmax of a product, in a context of its own. */
static outcome start_on(const char *device, un_numerics numerics) {
  outcome o = {.stats = UN_STATS_INIT};
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  un_ctx *cx;
  opt.device = device;
  opt.numerics = numerics;
  opt.log = append_line;
  opt.log_data = o.log;
  cr_assert_eq(un_ctx_create(&opt, &cx), UN_OK);
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 3, 2), (float[]){1, 2, 3, -4, 5, 6});
  un_tensor *y = un_softmax(un_matmul(x, un_from_data(cx, UN_F32, un_shape(2, 2, 2), (float[]){0.5, 1, -1, 2})), 1);
  cr_assert_eq(un_read(y, o.values, sizeof o.values), UN_OK, "%s", un_error(cx));
  cr_assert_eq(un_get_stats(cx, &o.stats), UN_OK);
  un_ctx_destroy(cx);
  return o;
}

/* In a process of its own: what the first one has loaded is of no use to the second. */
static outcome start_process(const char *device, un_numerics numerics) {
  outcome o = {.stats = UN_STATS_INIT};
  int ends[2], status = 1;
  cr_assert_eq(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    o = start_on(device, numerics);
    _exit(write(ends[1], &o, sizeof o) != (ssize_t)sizeof o);
  }
  close(ends[1]);
  cr_assert_eq(read(ends[0], &o, sizeof o), (ssize_t)sizeof o, "the process failed");
  close(ends[0]);
  cr_assert(waitpid(child, &status, 0) == child && status == 0);
  return o;
}

static void check_second_start(const char *device) {
  outcome first = start_process(device, UN_PRECISE), second = start_process(device, UN_PRECISE), strict = start_process(device, UN_STRICT);
  cr_expect_gt(first.stats.kernels_compiled, 0);
  cr_expect_eq(first.stats.kernels_loaded, 0);
  cr_expect_eq(second.stats.kernels_compiled, 0);
  cr_expect_eq(second.stats.kernels_loaded, first.stats.kernels_compiled);
  cr_expect_eq(memcmp(first.values, second.values, sizeof first.values), 0);
  cr_expect_eq(strict.stats.kernels_loaded, 0, "other licences, other kernels");
  cr_expect(strstr(second.log, " 0 compiled, "), "%s", second.log);
}

/* ---- what is kept of a kernel ---- */

static un__artifact seen;

static un_status see_artifact(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  seen = *a;
  return UN_OK;
}

/* A kernel that does not wait for the one in front of it must not be launched as if it did. */
Test(disk_cache, a_kernel_is_launched_as_it_was) {
  static const un__device_vtable vt = {.compile = see_artifact};
  un__device d = {.vt = &vt};
  un__engine e = {.disk = open_cache()};
  for (int waits = 0; waits < 2; waits++) {
    un__strbuf key = {0};
    un__kernel k = {0};
    un__artifact a = {.format = UN__FORMAT_CUDA_C, .nargs = 3, .nvars = 1, .group = 64, .local_bytes = 128, .waits = waits == 1};
    a.tasks.n = 1;
    a.tasks.code[0].op = UN__LAUNCH_CONST;
    a.tasks.code[0].arg = 77;
    un__sb_printf(&key, "kernel %d", waits);
    un__kept_save(&e, &key, &a, &(un__blob){.bytes = "code", .size = 4});
    cr_assert(un__kept_load(&e, &d, &key, &k));
    cr_expect(k.nargs == 3 && seen.nvars == 1 && seen.group == 64 && seen.local_bytes == 128 && seen.tasks.code[0].arg == 77);
    cr_expect_eq(seen.waits, waits == 1, "%d", waits);
    un__sb_finish(&key);
  }
  un__disk_cache_close(e.disk);
}

Test(disk_cache, a_second_start_compiles_nothing_on_cc) {
  check_second_start("cc");
  setenv("UNIR_CC", "cc -DOTHER", 1);
  outcome other = start_on("cc", UN_PRECISE);
  cr_expect_eq(other.stats.kernels_loaded, 0, "another command, other kernels");
}

/* The compiler is not even there. */
Test(disk_cache, kernels_of_cc_need_no_compiler) {
  char script[512];
  snprintf(script, sizeof script, "%s/.cc", folder);
  FILE *f = fopen(script, "w");
  cr_assert(f && fputs("#!/bin/sh\ncase $* in *--version) echo mine; exit;; esac\n[ -e $0.gone ] || exec cc \"$@\"\n", f) >= 0 && fclose(f) == 0);
  cr_assert_eq(chmod(script, 0700), 0);
  setenv("UNIR_CC", script, 1);
  outcome first = start_on("cc", UN_PRECISE);
  cr_assert_gt(first.stats.kernels_compiled, 0);
  strcat(script, ".gone");
  cr_assert_not_null(f = fopen(script, "w"));
  fclose(f);
  outcome second = start_on("cc", UN_PRECISE);
  cr_expect_eq(second.stats.kernels_loaded, first.stats.kernels_compiled);
  cr_expect_eq(memcmp(first.values, second.values, sizeof first.values), 0);
}

#ifdef UN_HAVE_CPU
static outcome start(un_numerics numerics) { return start_on("cpu", numerics); }

Test(disk_cache, a_second_start_compiles_nothing) { check_second_start("cpu"); }

/* Another processor, other threads: another target. */
Test(disk_cache, what_decides_a_kernel_is_in_its_key) {
  outcome first = start(UN_PRECISE);
  un__disk_cache *c = open_cache();
  un__disk_entries list = {0};
  cr_assert_eq(un__disk_cache_list(c, &list, NULL), UN_OK);
  cr_assert_eq(list.n, first.stats.kernels_compiled);
  static const char *const parts[] = {"source ", "device cpu LLVM ", "\ntarget cpu-", "licences ", "stage=kernel", "sink"};
  un__bytes key;
  cr_assert(un__disk_cache_key(c, list.at[0].name, &key));
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    cr_expect(memmem(key.at, key.n, parts[i], strlen(parts[i])), "\"%s\" is not in %.*s", parts[i], (int)key.n, (char *)key.at);
  un__free(key.at);
  un__vec_finish(&list);
  un__disk_cache_close(c);
}

/* Files whose checksum is right and whose code is none: the kernels are compiled. */
Test(disk_cache, code_that_cannot_be_loaded_is_compiled_again) {
  outcome first = start(UN_PRECISE);
  un__disk_cache *c = open_cache();
  un__disk_entries list = {0};
  cr_assert_eq(un__disk_cache_list(c, &list, NULL), UN_OK);
  for (size_t i = 0; i < list.n; i++) {
    un__bytes key, value;
    cr_assert(un__disk_cache_key(c, list.at[i].name, &key));
    cr_assert(un__disk_cache_get(c, key, &value));
    memset((char *)value.at + value.n / 2, 0x5a, value.n - value.n / 2);
    cr_assert(un__disk_cache_put(c, key, (un__bytes){value.at, i % 2 ? value.n : 3}));
    un__free(key.at), un__free(value.at);
  }
  un__vec_finish(&list);
  un__disk_cache_close(c);
  outcome second = start(UN_PRECISE), third = start(UN_PRECISE);
  cr_expect_eq(second.stats.kernels_compiled, first.stats.kernels_compiled);
  cr_expect_eq(memcmp(first.values, second.values, sizeof first.values), 0);
  cr_expect_eq(third.stats.kernels_compiled, 0);
}

Test(disk_cache, a_folder_that_cannot_be_used_is_said_once_and_harmless) {
  setenv("UNIR_CACHE_DIR", "/proc/unir", 1);
  outcome o = start(UN_PRECISE);
  cr_expect_eq(o.stats.kernels_loaded, 0);
  char *said = strstr(o.log, "cache /proc/unir: ");
  cr_expect(said, "%s", o.log);
  cr_expect(said && !strstr(said + 1, "cache /proc/unir: "), "%s", o.log);
}
#endif
