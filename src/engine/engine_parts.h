/* engine_parts.h - what the files of the engine share. Private to src/engine.
 *
 * Locks: `lock` guards every field below it and is held for look-ups only; nothing is compiled, launched or allocated
 * on a device under it. The world's lock may be held when `lock` is taken (a BUFFER node dies), never the other way. */
#ifndef UN_ENGINE_ENGINE_PARTS_H
#define UN_ENGINE_ENGINE_PARTS_H

#include <pthread.h>

#include "base/ptrmap.h"
#include "base/vec.h"
#include "disk_cache.h"
#include "engine.h"
#include "hashcons/intern.h"
#include "tuning.h"

enum { UN__MAX_DEVICES = 16 };

/* ---- kernels and plans ---- */

/* A compiled kernel, shared by every step of every plan that runs it. */
typedef struct un__kernel {
  un__key key;                /* of the body, the licences and the device */
  int device;
  un__code *code;
  uint32_t nargs;
  bool from_disk;             /* another process compiled it */
  size_t users;               /* plans; under the engine's lock */
} un__kernel;

typedef struct un__step {
  un__kernel *kernel;         /* NULL: args[1] goes to args[0], which is on another device */
  int device;                 /* of args[0] */
  uint32_t nargs;
  uint32_t first_arg;         /* into the plan's args */
} un__step;

/* A schedule, ready to run: what realise does again without looking at the graph. Slots are numbered as rangeify does:
 * inputs, results, temporaries. */
typedef struct un__plan {
  un__key key;
  int device;                 /* of what nothing places */
  int home;                   /* where its first kernel runs; spread: others run elsewhere */
  bool spread;
  uint32_t nsteps, nkernels, nslots, ninputs, nresults;      /* nkernels: steps that are no transfers */
  un__step *steps;
  uint32_t *args;             /* slot of each argument of each step */
  size_t *slot_bytes;
  int *slot_device;
  uint32_t *last_use;         /* slot -> index of the last step that touches it; UINT32_MAX: keep */
  int64_t *result_slot;
  size_t users;               /* runs under way, and 1 while cached; under the engine's lock */
  struct un__plan *older, *newer;
} un__plan;

struct un__engine {
  un__world *world;
  pthread_mutex_t lock;
  un__device *device[UN__MAX_DEVICES];
  int ndevices;
  un__intern kernels, plans;
  un__plan *oldest, *newest;
  size_t nplans;
  un__planner planner;        /* NULL: the heuristics */
  void *planner_data;
  un__search_policy search;   /* of the environment, when the engine was made */
  pthread_mutex_t search_lock;
  un__intern storage;         /* BUFFER serial -> un__stored */
  un__engine_stats stats;
  pthread_mutex_t disk_lock;  /* guards the opening of: */
  un__disk_cache *disk;       /* compiled kernels of other processes; NULL: not opened, off, or not usable */
  bool disk_tried;
};

/* ---- storage.c ---- */

/* Memory behind a serial; freed by the world's callback when the BUFFER node dies. */
un_status un__storage_add(un__engine *e, int64_t serial, int device, un__mem *mem, size_t size, un__err *err);
/* The memory of a serial, or NULL. Valid while the BUFFER node is pinned. */
un__mem *un__storage_find(un__engine *e, int64_t serial, int *out_device, size_t *out_size);
/* The first `size` bytes of `from`, on the same device, behind a new serial. */
un_status un__storage_copy(un__engine *e, int device, const un__mem *from, size_t size, int64_t serial, un__err *err);
/* `size` bytes, the first of each, between two devices. */
un_status un__transfer(un__device *from, const un__mem *src, un__device *to, un__mem *dst, size_t size, un__err *err);
void un__storage_drop(void *engine, int64_t serial);
void un__storage_finish(un__engine *e);
void un__count_bytes(un__engine *e, size_t plus, size_t minus);

/* ---- pipeline.c ---- */

/* Chooses a plan and applies it; NULL on failure (see the workspace's error). */
const un_uop *un__optimise(un__graph *ws, const un_uop *body, const un__target *t, uint32_t licences, un__strbuf *why);
/* The stages of one kernel, each from the one before; NULL on failure (see the workspace's error). plan: NULL where the heuristics,
 * or the engine's planner, choose one. */
typedef struct un__lowered { const un_uop *kernel, *optimised, *linear; } un__lowered;
bool un__lower_kernel(un__engine *e, un__graph *ws, const un_uop *body, const un__target *t, uint32_t licences,
                      const un__opt_found *plan, un__strbuf *why, un__lowered *out);
/* What begins a comment in the device's source. */
const char *un__source_comment(const un__device *d);
/* Text of a linear kernel in the format of the device. */
un_status un__render(const un_uop *linear, const un__device *d, un__format *out_format, un__strbuf *out, un__err *err);
un__artifact un__artifact_of(const un_uop *linear, un__format format, const un__strbuf *text);
/* Tensor graph to schedule; device: of what nothing places, t is its target. */
const un_uop *un__schedule(un__graph *ws, const un_uop *root, int64_t ninputs, int device, const un__target *t, uint32_t licences,
                           int64_t *out_result_slots);
/* All of it: body to code. */
un_status un__compile_kernel(un__engine *e, const un_uop *body, int device, uint32_t licences, un__kernel *out, un__err *err);

extern const char un__kernel_entry[];

/* When the failure in err is ours and UNIR_CRASH_DIR names a folder: writes the graph there and says so in err. */
void un__crash_file(const un_uop *root, un__stage stage, un__err *err);

/* ---- plan.c ---- */

/* The cached plan of a tensor graph, or a new one; counted for the caller. */
un_status un__plan_get(un__engine *e, un__graph *ws, const un_uop *root, uint32_t ninputs, int device, uint32_t licences,
                       un__plan **out, un__err *err);
void un__plan_put(un__engine *e, un__plan *p);
void un__plans_finish(un__engine *e);

#endif
