/* engine.c - an engine's life, and its devices. */
#include "engine_parts.h"

#include <stdio.h>
#include <string.h>

#include "interp/interp.h"

un_status un__engine_create(un__world *w, un__engine **out, un__err *err) {
  *out = NULL;
  un__engine *e = un__calloc(1, sizeof *e);
  if (!e) return un__fail(err, UN_ERR_NOMEM, "no memory for an engine");
  pthread_mutex_init(&e->lock, NULL);
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

#ifdef UN_HAVE_CPU
static un_status open_cpu(const un__target *t, un__device **out, un__err *err) { return un__cpu_open(t, 0, out, err); }
#endif

static un_status open_cc(const un__target *t, un__device **out, un__err *err) { return un__cc_open(t, 0, out, err); }

static const struct { const char *name; open_fn *open; } kinds[] = {
#ifdef UN_HAVE_CPU
  {"cpu", open_cpu},
#endif
  {"cc", open_cc},
  {"interp", un__interp_open},
  {"null", un__null_open},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const char *un__engine_device_kind(size_t i) { return i < KINDS ? kinds[i].name : NULL; }

static un_status find_target(const char *name, const un__target **out, un__err *err) {
  *out = un__target_by_name(name);
  if (*out) return UN_OK;
  char known[128] = "";
  for (size_t i = 0; un__target_name(i); i++) {
    strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
    strncat(known, un__target_name(i), sizeof known - strlen(known) - 1);
  }
  return un__fail(err, UN_ERR_DEVICE, "no target \"%s\": expected one of %s", name, known);
}

/* "kind" or "kind:target". */
static un_status open_device(const char *name, un__device **out, un__err *err) {
  const un__target *t = NULL;
  size_t kind = strcspn(name, ":");
  if (name[kind]) UN__TRY(find_target(name + kind + 1, &t, err));
  for (size_t i = 0; i < KINDS; i++) {
    if (strlen(kinds[i].name) != kind || strncmp(kinds[i].name, name, kind) != 0) continue;
    UN__TRY(kinds[i].open(t, out, err));
    snprintf((*out)->name, sizeof (*out)->name, "%s", name);
    return UN_OK;
  }
  char known[128] = "";
  for (size_t i = 0; i < KINDS; i++) {
    strncat(known, i ? ", " : "", sizeof known - strlen(known) - 1);
    strncat(known, kinds[i].name, sizeof known - strlen(known) - 1);
  }
  return un__fail(err, UN_ERR_DEVICE, "no device \"%s\": this build has %s", name, known);
}

static int find_device(const un__engine *e, const char *name) {
  for (int i = 0; i < e->ndevices; i++)
    if (strcmp(e->device[i]->name, name) == 0) return i;
  return -1;
}

/* Two threads may open the same device at once; the second one's is closed again. */
un_status un__engine_device(un__engine *e, const char *name, int *out_device, un__err *err) {
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
