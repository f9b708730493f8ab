/* engine.c - an engine's life, and its devices. */
#include "engine_parts.h"

#include <stdio.h>
#include <string.h>

#include "interp/interp.h"

un_status un__engine_create(un__world *w, un__engine **out, un__err *err) {
  *out = NULL;
  un__search_policy search;
  UN__TRY(un__search_policy_get(&search, err));
  un__engine *e = un__calloc(1, sizeof *e);
  if (!e) return un__fail(err, UN_ERR_NOMEM, "no memory for an engine");
  pthread_mutex_init(&e->lock, NULL);
  pthread_mutex_init(&e->disk_lock, NULL);
  pthread_mutex_init(&e->search_lock, NULL);
  e->search = search;
  e->world = w;
  un__world_on_buffer_free(w, un__storage_drop, e);
  *out = e;
  return UN_OK;
}

void un__engine_destroy(un__engine *e) {
  if (!e) return;
  un__world_on_buffer_free(e->world, NULL, NULL);
  un__plans_finish(e);
  un__storage_finish(e);
  for (int i = 0; i < e->ndevices; i++) e->device[i]->vt->destroy(e->device[i]);
  un__disk_cache_close(e->disk);
  pthread_mutex_destroy(&e->disk_lock);
  pthread_mutex_destroy(&e->search_lock);
  pthread_mutex_destroy(&e->lock);
  un__free(e);
}

void un__engine_plan_with(un__engine *e, un__planner planner, void *data) {
  e->planner = planner;
  e->planner_data = data;
}

un__engine_stats un__engine_stats_of(un__engine *e) {
  pthread_mutex_lock(&e->lock);
  un__engine_stats s = e->stats;
  pthread_mutex_unlock(&e->lock);
  return s;
}

/* ---- devices ---- */

/* t: NULL when the name says nothing of it. */
typedef un_status open_fn(const un__target *t, un__device **out, un__err *err);
/* which: what the name says behind the colon. */
typedef un_status open_one_fn(const char *which, un__device **out, un__err *err);

#ifdef UN_HAVE_CPU
static un_status open_cpu(const un__target *t, un__device **out, un__err *err) { return un__cpu_open(t, 0, out, err); }
#endif

static un_status open_cc(const un__target *t, un__device **out, un__err *err) { return un__cc_open(t, 0, out, err); }

/* There is one of a kind, for some target, or there are several, of which the kind's name alone means the first. */
typedef struct kind {
  const char *name;
  open_fn *open;
  bool gpus;                     /* it takes a GPU for a target */
  open_one_fn *open_one;
  un_status (*count)(int *out, un__err *err);
} kind;

static const kind kinds[] = {
#ifdef UN_HAVE_CPU
  {"cpu", open_cpu},
#endif
  {"cc", open_cc},
  {"cuda", .open_one = un__cuda_open, .count = un__cuda_count},
  {"interp", un__interp_open, .gpus = true},
  {"null", un__null_open},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *un__engine_device_kind(size_t i) { return i < KINDS ? kinds[i].name : NULL; }

/* The kind that a name begins with; NULL: none. */
static const kind *find_kind(const char *name) {
  size_t n = strcspn(name, ":");
  for (size_t i = 0; i < KINDS; i++)
    if (strlen(kinds[i].name) == n && strncmp(kinds[i].name, name, n) == 0) return &kinds[i];
  return NULL;
}

static un_status no_kind(const char *name, un__err *err) {
  char known[128] = "";
  for (size_t i = 0; i < KINDS; i++) {
    strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
    strncat(known, kinds[i].name, sizeof known - strlen(known) - 1);
  }
  return un__fail(err, UN_ERR_DEVICE, "no device \"%s\": this build has %s", name, known);
}

un_status un__engine_device_count(const char *name, int *out, un__err *err) {
  const kind *k = find_kind(name);
  *out = 0;
  if (!k || name[strlen(k->name)]) return no_kind(name, err);
  if (k->count) return k->count(out, err);
  *out = 1;
  return UN_OK;
}

static un_status find_target(const kind *k, const char *name, const un__target **out, un__err *err) {
  *out = un__target_by_name(name);
  if (*out && (*out)->gpu.arch && !k->gpus)
    return un__fail(err, UN_ERR_DEVICE, "target \"%s\" is a GPU: expected device \"cuda:%s\"", name, name);
  if (*out) return UN_OK;
  char known[128] = "";
  for (size_t i = 0; un__target_name(i); i++) {
    if (un__target_by_name(un__target_name(i))->gpu.arch && !k->gpus) continue;
    strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
    strncat(known, un__target_name(i), sizeof known - strlen(known) - 1);
  }
  return un__fail(err, UN_ERR_DEVICE, "no target \"%s\": expected one of %s", name, known);
}

/* "kind", "kind:target" or "kind:number". */
static un_status open_device(const char *name, un__device **out, un__err *err) {
  const un__target *t = NULL;
  const kind *k = find_kind(name);
  if (!k) return no_kind(name, err);
  const char *colon = strchr(name, ':');
  if (k->open_one) return k->open_one(colon + 1, out, err);
  if (colon) UN__TRY(find_target(k, colon + 1, &t, err));
  UN__TRY(k->open(t, out, err));
  snprintf((*out)->name, sizeof (*out)->name, "%s", name);
  return UN_OK;
}

/* The name under which a device is known: of several the first one has a number, too. */
static const char *full_name(const char *name, char *buffer, size_t size) {
  const kind *k = find_kind(name);
  if (!k || !k->open_one || strchr(name, ':')) return name;
  snprintf(buffer, size, "%s:0", name);
  return buffer;
}

static int find_device(const un__engine *e, const char *name) {
  for (int i = 0; i < e->ndevices; i++)
    if (strcmp(e->device[i]->name, name) == 0) return i;
  return -1;
}

/* Two threads may open the same device at once; the second one's is closed again. */
un_status un__engine_device(un__engine *e, const char *name, int *out_device, un__err *err) {
  char buffer[sizeof e->device[0]->name];
  name = full_name(name, buffer, sizeof buffer);
  pthread_mutex_lock(&e->lock);
  *out_device = find_device(e, name);
  pthread_mutex_unlock(&e->lock);
  if (*out_device >= 0) return UN_OK;
  un__device *d;
  UN__TRY(open_device(name, &d, err));
  pthread_mutex_lock(&e->lock);
  *out_device = find_device(e, name);
  bool room = e->ndevices < UN__MAX_DEVICES, added = *out_device < 0 && room;
  if (added) {
    *out_device = e->ndevices;
    e->device[e->ndevices++] = d;
  }
  pthread_mutex_unlock(&e->lock);
  if (!added) d->vt->destroy(d);
  return *out_device >= 0 ? UN_OK : un__fail(err, UN_ERR_DEVICE, "more than %d devices", UN__MAX_DEVICES);
}

const un__device *un__engine_device_at(un__engine *e, int device) { return e->device[device]; }
