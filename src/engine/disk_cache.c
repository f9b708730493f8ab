#define _GNU_SOURCE
#include "disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"
#include "hashcons/intern.h"

enum { PATH = 1024, VERSION = 1, PUTS_BETWEEN_SWEEPS = 256, LIMIT_MIB = 256, STALE_SECONDS = 3600 };
static const char magic[8] = "unircach", suffix[] = ".bin", unfinished[] = ".new-";
static const uint64_t largest_file = (uint64_t)1 << 30;

struct un__disk_cache {
  char folder[PATH];
  int fd;                       /* of the folder: what its name means later does not matter */
  uint64_t limit;               /* bytes */
  pthread_mutex_t lock;         /* guards the counts */
  uint64_t puts, names;
};

/* In the byte order of the machine: another one's magic does not fit the version. The checksum covers all that follows it. */
typedef struct header {
  char magic[sizeof magic];
  uint32_t version, checksum;
  uint64_t key, value;          /* bytes of each, which follow */
} header;

/* ---- the folder ---- */

static const char *given_folder(void) {
  const char *own = getenv("UNIR_CACHE_DIR");
  return own && *own ? own : NULL;
}

/* False: no name. A process with more rights than its user has must not believe its environment. */
static bool find_folder(char *out) {
  const char *own = given_folder(), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  int n = -1;
  if (geteuid() != getuid() || getegid() != getgid()) return false;
  if (own) n = snprintf(out, PATH, "%s", own);
  else if (xdg && *xdg == '/') n = snprintf(out, PATH, "%s/unir", xdg);
  else if (home && *home == '/') n = snprintf(out, PATH, "%s/.cache/unir", home);
  return n > 0 && n < PATH;
}

static void make_folders(const char *path) {
  char part[PATH];
  for (size_t i = 1; path[i - 1]; i++) {
    if (path[i] != '/' && path[i]) continue;
    memcpy(part, path, i);
    part[i] = '\0';
    mkdir(part, 0700);      /* opening says what went wrong */
  }
}

/* Ours, and nobody else may write it. */
static bool is_trusted(const struct stat *s) { return s->st_uid == geteuid() && (s->st_mode & (S_IWGRP | S_IWOTH)) == 0; }

static un_status open_folder(un__disk_cache *c, bool make, un__err *why) {
  struct stat s;
  if (make) make_folders(c->folder);
  c->fd = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (c->fd < 0)
    return un__fail(why, given_folder() ? UN_ERR_IO : UN_ERR_UNSUPPORTED, "cache %s: %s", c->folder, strerror(errno));
  if (fstat(c->fd, &s) == 0 && is_trusted(&s)) return UN_OK;
  close(c->fd);
  return un__fail(why, UN_ERR_IO, "cache %s: expected a folder of user %u that nobody else may write, it is of user %u with mode %03o",
                  c->folder, (unsigned)geteuid(), (unsigned)s.st_uid, (unsigned)s.st_mode & 0777);
}

static uint64_t limit_of_environment(void) {
  const char *text = getenv("UNIR_CACHE_LIMIT");
  char *end;
  long mib = text ? strtol(text, &end, 10) : 0;
  return (uint64_t)(text && *text && !*end && mib > 0 ? mib : LIMIT_MIB) << 20;
}

un__disk_cache *un__disk_cache_open(bool make, un__err *why) {
  const char *off = getenv("UNIR_CACHE");
  if (off && strcmp(off, "0") == 0) return NULL;
  un__disk_cache *c = un__calloc(1, sizeof *c);
  if (!c) return un__fail(why, UN_ERR_NOMEM, "no memory for the cache"), NULL;
  if (!find_folder(c->folder)) un__fail(why, UN_ERR_UNSUPPORTED, "there is no folder for the cache: UNIR_CACHE_DIR names one");
  else if (open_folder(c, make, why) == UN_OK) {
    c->limit = limit_of_environment();
    pthread_mutex_init(&c->lock, NULL);
    return c;
  }
  un__free(c);
  return NULL;
}

const char *un__disk_cache_folder(const un__disk_cache *c) { return c->folder; }

/* ---- files ---- */

static void name_of(un__bytes key, char out[UN__DISK_NAME]) {
  uint64_t lo = key.n, hi = UINT64_C(0x9e3779b97f4a7c15), word;
  for (size_t i = 0; i < key.n; i += sizeof word) {
    word = 0;
    memcpy(&word, (const char *)key.at + i, key.n - i < sizeof word ? key.n - i : sizeof word);
    lo = un__hash_mix(lo, word);
    hi = un__hash_mix(word, hi);
  }
  snprintf(out, UN__DISK_NAME, "%016" PRIx64 "%016" PRIx64 "%s", hi, lo, suffix);
}

static bool is_entry(const char *name) {
  size_t n = strlen(name);
  return n == 32 + strlen(suffix) && strspn(name, "0123456789abcdef") == 32 && strcmp(name + 32, suffix) == 0;
}

static bool read_all(int fd, void *to, size_t n) {
  for (char *at = to; n;) {
    ssize_t got = read(fd, at, n);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    n -= (size_t)got;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t n) {
  for (const char *at = from; n;) {
    ssize_t put = write(fd, at, n);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    at += put;
    n -= (size_t)put;
  }
  return true;
}

static uint32_t checksum_of(const header *h, const void *key, const void *value) {
  uLong crc = crc32_z(0, (const Bytef *)&h->key, sizeof h->key);
  crc = crc32_z(crc, (const Bytef *)&h->value, sizeof h->value);
  crc = crc32_z(crc, key, h->key);
  return (uint32_t)crc32_z(crc, value, h->value);
}

/* A whole file of the cache in the caller's memory: header, key, value. */
typedef enum verdict { MISSING, UNTRUSTED, DAMAGED, WHOLE } verdict;

static verdict read_body(int fd, uint64_t size, un__bytes *out) {
  header h;
  if (size < sizeof h || size > largest_file) return DAMAGED;
  *out = (un__bytes){un__alloc(size), size};
  if (!out->at) return MISSING;
  bool whole = read_all(fd, out->at, size);
  if (whole) memcpy(&h, out->at, sizeof h);
  whole = whole && memcmp(h.magic, magic, sizeof magic) == 0 && h.version == VERSION && h.key <= size - sizeof h &&
          h.value == size - sizeof h - h.key;
  const char *key = (const char *)out->at + sizeof h;
  if (whole && h.checksum == checksum_of(&h, key, key + h.key)) return WHOLE;
  un__free(out->at);
  return DAMAGED;
}

/* used: it was needed, which the file's time says to whoever makes room. */
static verdict read_file(const un__disk_cache *c, const char *name, bool used, un__bytes *out) {
  struct stat s;
  int fd = openat(c->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return errno == ELOOP ? UNTRUSTED : MISSING;
  verdict v = fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && is_trusted(&s) ? read_body(fd, (uint64_t)s.st_size, out) : UNTRUSTED;
  if (v == WHOLE && used) futimens(fd, NULL);
  close(fd);
  return v;
}

/* The place of the key or of the value in a file that was read. */
static un__bytes key_in(un__bytes file) {
  return (un__bytes){(char *)file.at + sizeof(header), ((const header *)file.at)->key};
}

bool un__disk_cache_get(un__disk_cache *c, un__bytes key, un__bytes *out) {
  char name[UN__DISK_NAME];
  un__bytes file;
  name_of(key, name);
  verdict v = read_file(c, name, true, &file);
  if (v == DAMAGED) unlinkat(c->fd, name, 0);
  if (v != WHOLE) return false;
  un__bytes have = key_in(file);
  bool same = have.n == key.n && memcmp(have.at, key.at, key.n) == 0;
  if (same) {
    out->n = file.n - sizeof(header) - key.n;
    memmove(out->at = file.at, (char *)have.at + have.n, out->n);
  } else un__free(file.at);
  return same;
}

void un__disk_cache_forget(un__disk_cache *c, un__bytes key) {
  char name[UN__DISK_NAME];
  name_of(key, name);
  unlinkat(c->fd, name, 0);
}

/* ---- writing ---- */

static void sweep(un__disk_cache *c);

static int create_new(un__disk_cache *c, char name[UN__DISK_NAME]) {
  pthread_mutex_lock(&c->lock);
  uint64_t n = c->names++;
  pthread_mutex_unlock(&c->lock);
  snprintf(name, UN__DISK_NAME, "%s%ld-%" PRIx64 "-%" PRIx64, unfinished, (long)getpid(), n, (uint64_t)time(NULL));
  return openat(c->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool un__disk_cache_put(un__disk_cache *c, un__bytes key, un__bytes value) {
  char name[UN__DISK_NAME], fresh[UN__DISK_NAME];
  header h = {.version = VERSION, .key = key.n, .value = value.n};
  memcpy(h.magic, magic, sizeof magic);
  if (sizeof h + key.n + value.n > largest_file || sizeof h + key.n + value.n > c->limit) return false;
  h.checksum = checksum_of(&h, key.at, value.at);
  name_of(key, name);
  int fd = create_new(c, fresh);
  if (fd < 0) return false;
  bool ok = write_all(fd, &h, sizeof h) && write_all(fd, key.at, key.n) && write_all(fd, value.at, value.n);
  ok = (close(fd) == 0) & ok;
  ok = ok && renameat(c->fd, fresh, c->fd, name) == 0;
  if (!ok) unlinkat(c->fd, fresh, 0);
  pthread_mutex_lock(&c->lock);
  bool due = ok && ++c->puts % PUTS_BETWEEN_SWEEPS == 0;
  pthread_mutex_unlock(&c->lock);
  if (due) sweep(c);
  return ok;
}

/* ---- listing and making room ---- */

static int last_used_first(const void *a, const void *b) {
  const un__disk_entry *x = a, *y = b;
  if (x->used_ns != y->used_ns) return x->used_ns < y->used_ns ? 1 : -1;
  return strcmp(x->name, y->name);
}

/* What a process that died was writing. */
static void remove_stale(const un__disk_cache *c, const char *name, const struct stat *s) {
  if (strncmp(name, unfinished, strlen(unfinished)) == 0 && s->st_mtime + STALE_SECONDS < time(NULL)) unlinkat(c->fd, name, 0);
}

static bool list_one(const un__disk_cache *c, const char *name, un__disk_entries *out) {
  struct stat s;
  if (fstatat(c->fd, name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode)) return true;
  remove_stale(c, name, &s);
  if (!is_entry(name)) return true;
  un__disk_entry e = {.bytes = (uint64_t)s.st_size, .used_ns = (int64_t)s.st_mtim.tv_sec * 1000000000 + s.st_mtim.tv_nsec};
  memcpy(e.name, name, strlen(name) + 1);
  return un__vec_push(out, e);
}

un_status un__disk_cache_list(un__disk_cache *c, un__disk_entries *out, un__err *err) {
  int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (!dir) {
    if (fd >= 0) close(fd);
    return un__fail(err, UN_ERR_IO, "cache %s: %s", c->folder, strerror(errno));
  }
  un_status status = UN_OK;
  for (struct dirent *d; status == UN_OK && (d = readdir(dir));)
    if (!list_one(c, d->d_name, out)) status = un__fail(err, UN_ERR_NOMEM, "no memory to list the cache");
  closedir(dir);
  if (out->n) qsort(out->at, out->n, sizeof *out->at, last_used_first);
  return status;
}

/* Beyond the limit: what was not used for longest goes, until an eighth is free. */
static void sweep(un__disk_cache *c) {
  un__disk_entries list = {0};
  uint64_t total = 0;
  if (un__disk_cache_list(c, &list, NULL) == UN_OK) {
    for (size_t i = 0; i < list.n; i++) total += list.at[i].bytes;
    uint64_t goal = total > c->limit ? c->limit - c->limit / 8 : total;
    for (size_t i = list.n; i-- && total > goal;)
      if (unlinkat(c->fd, list.at[i].name, 0) == 0 || errno == ENOENT) total -= list.at[i].bytes;
  }
  un__vec_finish(&list);
}

void un__disk_cache_close(un__disk_cache *c) {
  if (!c) return;
  if (c->puts) sweep(c);
  close(c->fd);
  pthread_mutex_destroy(&c->lock);
  un__free(c);
}

bool un__disk_cache_key(un__disk_cache *c, const char *name, un__bytes *out) {
  un__bytes file;
  char right[UN__DISK_NAME];
  if (read_file(c, name, false, &file) != WHOLE) return false;
  un__bytes key = key_in(file);
  name_of(key, right);
  memmove(out->at = file.at, key.at, out->n = key.n);
  if (strcmp(right, name) == 0) return true;
  un__free(file.at);
  return false;
}

bool un__disk_cache_remove(un__disk_cache *c, const char *name) { return unlinkat(c->fd, name, 0) == 0; }
