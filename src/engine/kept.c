#include "kept.h"

#include <string.h>

#include "rewrite/run.h"
#include "uop/text.h"

/* ---- the key ---- */

/* Every field of the description, also those that are added later: its bytes, but for pointers. */
static void put_target(un__strbuf *out, const un__target *t) {
  const char *texts[] = {t->name, t->triple, t->cpu, t->features, t->gpu.arch};
  un__target plain;
  memcpy(&plain, t, sizeof plain);
  plain.name = plain.triple = plain.cpu = plain.features = plain.gpu.arch = NULL;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) un__sb_printf(out, "%s|", texts[i] ? texts[i] : "");
  for (size_t i = 0; i < sizeof plain; i++) un__sb_printf(out, "%02x", ((const unsigned char *)&plain)[i]);
}

bool un__kept_allowed(const un__engine *e) {
  const un__rw_env *env = un__rw_env_get();
  return !e->planner && !env->any_disabled && !env->limited && !env->trace;
}

/* Opened when it is first needed: contexts that compile nothing for this device leave the disk alone. */
un__disk_cache *un__kept_cache(un__engine *e, const un__log *log) {
  pthread_mutex_lock(&e->disk_lock);
  if (!e->disk_tried) {
    un__err why = {0};
    e->disk = un__disk_cache_open(true, &why);
    if (!e->disk && why.status == UN_ERR_IO && log->write) log->write(log->data, why.text);
    e->disk_tried = why.status != UN_ERR_NOMEM;
  }
  un__disk_cache *c = e->disk;
  pthread_mutex_unlock(&e->disk_lock);
  return c;
}

void un__kept_put_terms(const un__device *d, uint32_t licences, un__strbuf *out) {
  un__sb_puts(out, "\ntarget ");
  put_target(out, d->target);
  un__sb_printf(out, "\nlicences %u\n", licences);
}

bool un__kept_key(un__engine *e, const un_uop *body, un__device *d, uint32_t licences, const un__opt_plan *plan, un__strbuf *out,
                  const un__log *log) {
  un__sb_init(out);
  if (!d->vt->identity || !un__kept_allowed(e) || !un__kept_cache(e, log)) return false;
  un__sb_printf(out, "unir kernel 1\nsource %s\ndevice %s ", un__source_digest, d->vt->kind);
  if (d->vt->identity(d, out, NULL) != UN_OK) return false;
  un__kept_put_terms(d, licences, out);
  if (plan) {
    un__sb_puts(out, "planned\n");
    un__opt_plan_print(plan, out);
  }
  un__print_text(out, body, un__kernel_entry, UN__STAGE_KERNEL, false);
  return !out->failed;
}

un__bytes un__kept_bytes(const un__strbuf *text) { return (un__bytes){text->at, text->n}; }

/* ---- the value: what the artifact says of the kernel, then its code ---- */

typedef struct facts {
  un__format format;
  uint32_t nargs, nvars, group, local_bytes;
  bool waits;
  un__launch_formula tasks;
} facts;

void un__kept_save(un__engine *e, const un__strbuf *key, const un__artifact *a, const un__blob *binary) {
  size_t n = sizeof(facts) + binary->size;
  facts f;
  char *value = un__alloc(n);
  if (!value) return;
  memset(&f, 0, sizeof f);
  f.format = a->format;
  f.nargs = a->nargs, f.nvars = a->nvars, f.group = a->group, f.local_bytes = a->local_bytes;
  f.waits = a->waits;
  f.tasks = a->tasks;
  memcpy(value, &f, sizeof f);
  memcpy(value + sizeof f, binary->bytes, binary->size);
  un__disk_cache_put(e->disk, un__kept_bytes(key), (un__bytes){value, n});
  un__free(value);
}

/* Code that the device does not take is as good as none. */
bool un__kept_load(un__engine *e, un__device *d, const un__strbuf *key, un__kernel *out) {
  un__bytes value;
  facts f;
  if (!un__disk_cache_get(e->disk, un__kept_bytes(key), &value)) return false;
  bool whole = value.n > sizeof f;
  if (whole) memcpy(&f, value.at, sizeof f);
  else memset(&f, 0, sizeof f);
  un__artifact a = {.format = f.format, .entry = un__kernel_entry, .nargs = f.nargs, .nvars = f.nvars, .group = f.group,
                    .local_bytes = f.local_bytes, .tasks = f.tasks, .waits = f.waits,
                    .binary = {(char *)value.at + sizeof f, value.n - sizeof f}};
  un__err local = {0};
  whole = whole && d->vt->compile(d, &a, &out->code, &local) == UN_OK;
  if (whole) out->nargs = a.nargs;
  out->from_disk = whole;
  un__free(value.at);
  return whole;
}
