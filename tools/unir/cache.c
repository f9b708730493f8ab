/* cache.c - `unir cache`: what is in the folder of compiled kernels and of plans that were measured. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "engine/disk_cache.h"
#include "engine/tuning.h"
#include "unir.h"

typedef struct report { un__disk_cache *cache; un__disk_entries entries; un__strbuf out; un__err err; bool bad; } report;

static uint64_t total(const report *r) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < r->entries.n; i++) bytes += r->entries.at[i].bytes;
  return bytes;
}

static bool is_plan(un__bytes key) {
  size_t n = strlen(un__record_title);
  return key.n > n && memcmp(key.at, un__record_title, n) == 0;
}

/* The device that an entry is for: the word behind "device" in its key. */
static void put_device(report *r, un__bytes key) {
  static const char before[] = "\ndevice ";
  const char *at = key.n ? memmem(key.at, key.n, before, strlen(before)) : NULL;
  size_t left = at ? (size_t)((char *)key.at + key.n - at) - strlen(before) : 0, n = 0;
  while (at && n < left && n < 16 && at[strlen(before) + n] > ' ') n++;
  un__sb_putn(&r->out, at ? at + strlen(before) : "?", at ? n : 1);
}

static void put_kind(report *r, const char *name) {
  un__bytes key;
  if (!un__disk_cache_key(r->cache, name, &key)) {
    un__sb_puts(&r->out, "damaged");
    return;
  }
  put_device(r, key);
  if (is_plan(key)) un__sb_puts(&r->out, " plan");
  un__free(key.at);
}

static size_t count_plans(const report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->entries.n; i++) {
    un__bytes key;
    if (!un__disk_cache_key(r->cache, r->entries.at[i].name, &key)) continue;
    n += is_plan(key);
    un__free(key.at);
  }
  return n;
}

/* "3 kernels", "3 kernels and 2 plans" */
static void put_counts(report *r, size_t kernels, size_t plans) {
  un__sb_printf(&r->out, "%zu kernels", kernels);
  if (plans) un__sb_printf(&r->out, " and %zu plans", plans);
}

static void list(report *r) {
  for (size_t i = 0; i < r->entries.n; i++) {
    const un__disk_entry *e = &r->entries.at[i];
    time_t used = (time_t)(e->used_ns / 1000000000);
    struct tm when;
    char date[32] = "";
    if (gmtime_r(&used, &when)) strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &when);
    un__sb_printf(&r->out, "%s  %8" PRIu64 "  %s  ", date, e->bytes, e->name);
    put_kind(r, e->name);
    un__sb_putc(&r->out, '\n');
  }
}

static void size(report *r) {
  size_t plans = count_plans(r);
  un__sb_printf(&r->out, "%s: ", un__disk_cache_folder(r->cache));
  put_counts(r, r->entries.n - plans, plans);
  un__sb_printf(&r->out, ", %" PRIu64 " bytes\n", total(r));
}

static void clear(report *r) {
  size_t removed = 0, plans = count_plans(r);
  for (size_t i = 0; i < r->entries.n; i++) removed += un__disk_cache_remove(r->cache, r->entries.at[i].name);
  if (removed == r->entries.n) put_counts(r, removed - plans, plans);
  else un__sb_printf(&r->out, "%zu files", removed);
  un__sb_puts(&r->out, " removed\n");
  if (removed < r->entries.n) un__fail(&r->err, UN_ERR_IO, "%zu files cannot be removed", r->entries.n - removed);
}

/* Each record: where it is, how long the kernel takes by it, and its steps. */
static void plans(report *r) {
  for (size_t i = 0; i < r->entries.n; i++) {
    un__bytes key, value;
    if (!un__disk_cache_key(r->cache, r->entries.at[i].name, &key)) continue;
    if (is_plan(key) && un__disk_cache_get(r->cache, key, &value)) {
      un__sb_printf(&r->out, "%s  ", r->entries.at[i].name);
      put_device(r, key);
      un__sb_putc(&r->out, '\n');
      un__sb_putn(&r->out, value.at, value.n);
      un__free(value.at);
    }
    un__free(key.at);
  }
}

static void verify(report *r) {
  size_t bad = 0;
  for (size_t i = 0; i < r->entries.n; i++) {
    un__bytes key;
    if (un__disk_cache_key(r->cache, r->entries.at[i].name, &key)) {
      un__free(key.at);
      continue;
    }
    un__sb_printf(&r->out, "%s is damaged, or others may write it\n", r->entries.at[i].name);
    bad++;
  }
  size_t tuned = count_plans(r);
  put_counts(r, r->entries.n - tuned, tuned);
  un__sb_printf(&r->out, ", %zu damaged\n", bad);
  r->bad = bad != 0;
}

static const struct { const char *name; void (*run)(report *r); } actions[] = {
  {"list", list}, {"size", size}, {"plans", plans}, {"clear", clear}, {"verify", verify}};

static int report_nothing(const report *r) {
  if (r->err.status == UN_OK) return puts("the cache is off: UNIR_CACHE=0"), tool_flush();
  return tool_fail(&r->err);
}

static int run(int argc, char **argv) {
  const char *action = NULL;
  report r = {.cache = NULL};
  int code;
  if (!tool_parse(&tool_cache, argc, argv, NULL, &action, &code)) return code;
  size_t at = 0, n = sizeof actions / sizeof *actions;
  while (at < n && strcmp(actions[at].name, action ? action : "size")) at++;
  if (at == n) return tool_usage(&tool_cache, "expected list, size, plans, clear or verify", action);
  if (!(r.cache = un__disk_cache_open(true, &r.err))) return report_nothing(&r);
  un__sb_init(&r.out);
  if (un__disk_cache_list(r.cache, &r.entries, &r.err) == UN_OK) actions[at].run(&r);
  code = r.err.status == UN_OK ? tool_print(&r.out) : tool_fail(&r.err);
  un__sb_finish(&r.out);
  un__vec_finish(&r.entries);
  un__disk_cache_close(r.cache);
  return code == EXIT_OK && r.bad ? EXIT_FAILED : code;
}

const tool_command tool_cache = {
  .name = "cache", .summary = "look after the compiled kernels and the plans on disk", .usage = "[ACTION]", .operand = "ACTION", .optional = true,
  .about = "Kernels that were compiled, and plans that a search (UNIR_SEARCH) found for them, are kept for other processes, up to\n"
           "UNIR_CACHE_LIMIT MiB (256), in UNIR_CACHE_DIR, else XDG_CACHE_HOME/unir, else ~/.cache/unir. UNIR_CACHE=0 turns that off.\n"
           "ACTION is\n\n"
           "  size                 how many there are, where, and how large (default)\n"
           "  list                 a line each, the last used first: time (UTC), bytes, file, device;\n"
           "                       \"plan\" behind the device of a tuning record\n"
           "  plans                the tuning records: file, device, times and the steps of the plan\n"
           "  clear                removes them all\n"
           "  verify               names those that are damaged; exit code 1 when there are any\n\n",
  .run = run,
};
