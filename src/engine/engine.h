/* engine.h - the only layer that sees every stage: schedule, compile, cache, allocate, launch. */
#ifndef UN_ENGINE_ENGINE_H
#define UN_ENGINE_ENGINE_H

#include "device/device.h"
#include "target/target.h"
#include "rewrite/rewrite.h"

typedef struct un__engine un__engine;      /* one per world: devices, caches, storage of buffers; thread-safe */

typedef struct un__engine_stats {
  uint64_t kernels_launched, kernels_compiled, schedule_hits, schedule_misses, artifact_hits, disk_hits;
  size_t bytes_live, bytes_peak;
} un__engine_stats;

un_status un__engine_create(un__world *w, un__engine **out, un__err *err);
void un__engine_destroy(un__engine *e);
un__engine_stats un__engine_stats_of(un__engine *e);

/* Opens (or finds) a device by name: a kind, "cpu", "cc", "cuda", "interp" or "null", "kind:target" with a name of target.h, or
 * "cuda:1". */
un_status un__engine_device(un__engine *e, const char *name, int *out_device, un__err *err);
const un__device *un__engine_device_at(un__engine *e, int device);
/* The name of the i-th kind of device that this build has, from 0; NULL after the last. */
const char *un__engine_device_kind(size_t i);
/* How many devices of a kind this machine has, without opening one; when there is none, err says why. */
un_status un__engine_device_count(const char *kind, int *out, un__err *err);

/* Who optimises a kernel: the heuristics, unless a search or a test does it. Gives the optimised kernel; NULL on failure. To
 * be set before anything is compiled, since kernels are kept by what they compute. */
typedef const un_uop *(*un__planner)(void *data, un__graph *g, const un_uop *kernel, const un__target *t, uint32_t licences);
void un__engine_plan_with(un__engine *e, un__planner planner, void *data);

/* Storage behind BUFFER serials. Copied in, or borrowed until the node dies. */
un_status un__engine_buffer_from(un__engine *e, int device, int64_t serial, const void *data, size_t size, bool borrow,
                                 un__err *err);
/* The same bytes in storage of its own. */
un_status un__engine_buffer_copy(un__engine *e, int64_t from, int64_t serial, un__err *err);
un_status un__engine_buffer_read(un__engine *e, int64_t serial, void *dst, size_t size, un__err *err);

/* Realises tensors of the persistent graph (they are pinned by the caller for the call): out[i] is a BUFFER node with
 * the value of tensors[i] in storage, pinned once for the caller (who is outside an epoch, so a sweep could take it
 * before he looks); nothing is pinned on failure. Called without the world's lock and outside an epoch. */
un_status un__engine_realize(un__engine *e, un__session *s, const un_uop *const *tensors, uint32_t n,
                             int device, uint32_t licences, const un_uop **out, un__err *err);

/* The tensors under a SINK in a workspace, as realising would see them: what is stored already is a BUFFER. inputs receives
 * the BUFFER of each slot, pinned for the caller. */
const un_uop *un__engine_import(un__graph *ws, un__session *s, const un_uop *const *tensors, uint32_t n, int device,
                                uint32_t licences, un__nodes *inputs);

/* What would run, as text: for un_print_tree and `unir show`. */
typedef enum un__show { UN__SHOW_TENSOR, UN__SHOW_SCHEDULE, UN__SHOW_KERNEL, UN__SHOW_OPT, UN__SHOW_LINEAR, UN__SHOW_SOURCE,
                        UN__SHOW_ASM } un__show;
typedef struct un__show_options {
  un__show stage;
  un__stage from;              /* of the root (0: tensor); only it and the stages behind it can be shown */
  bool text, why, notes;       /* .un instead of a tree; what decided the optimiser; shapes and bounds as comments */
  int device;
  uint32_t licences;
} un__show_options;
bool un__show_by_name(const char *name, un__show *out);     /* "tensor" ... "asm" */
un_status un__engine_show(un__engine *e, un__graph *ws, const un_uop *root, const un__show_options *opt,
                          un__strbuf *out, un__err *err);

#endif
