/* cuda.h - what the files of the device "cuda" share. Private to src/device/cuda.
 *
 * Everything of a device runs on one stream, so the order of calls is the order of work, and memory freed by one call may be
 * given to the next: no event, no waiting. Locks are held for look-ups and for transfers, never around a launch. */
#ifndef UN_DEVICE_CUDA_CUDA_H
#define UN_DEVICE_CUDA_CUDA_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "device/device.h"
#include "device/size_class.h"
#include "driver.h"

struct un__mem { cu_ptr at; size_t size, rounded; un__mem *next; };

/* Memory of the device. Freed blocks are kept by size class until the driver, or the limit, has no other. */
typedef struct un__cuda_heap {
  pthread_mutex_t lock;
  un__mem *kept[UN__SIZE_CLASSES];
  size_t held_bytes, kept_bytes;   /* asked of the driver; of these free */
  size_t limit;                    /* of held_bytes; SIZE_MAX: none */
} un__cuda_heap;

enum { UN__CUDA_SLOTS = 2 };

/* What goes to or from the host passes through memory that the GPU reads by itself while the host goes on. */
typedef struct un__cuda_slot {
  void *at;                        /* pinned; NULL: not yet */
  bool pinned;                     /* false: pinned memory was refused, this is plain memory */
  bool busy;                       /* `done` has been recorded and not been waited for */
  cu_event done;
} un__cuda_slot;

typedef struct un__cuda_staging {
  pthread_mutex_t lock;            /* one transfer at a time */
  un__cuda_slot slot[UN__CUDA_SLOTS];
  unsigned next;
} un__cuda_staging;

typedef struct un__cuda {
  un__device base;
  const un__cu_driver *cu;
  int ordinal;
  cu_device device;
  cu_context context;
  uint64_t life;                   /* how often the device's context had been reset when this one was retained */
  cu_stream stream;
  pid_t process;
  _Atomic cu_result lost;          /* the error after which nothing works any more */
  un__cuda_heap heap;
  un__cuda_staging staging;
  un__target target;
  char target_name[UN__GPU_NAME], arch[16];
} un__cuda;

static inline un__cuda *un__cuda_of(const un__device *d) { return (un__cuda *)d; }

/* ---- context.c ---- */

/* Retains the context and makes the stream; a context that was lost before is reset once. */
un_status un__cuda_context_open(un__cuda *c, un__err *err);
void un__cuda_context_close(un__cuda *c);
/* Fails when the context is lost, or was opened before a fork. */
un_status un__cuda_alive(const un__cuda *c, un__err *err);
/* Makes the device's context the thread's, when it is alive, until the leave that goes with every success. */
un_status un__cuda_enter(un__cuda *c, un__err *err);
void un__cuda_leave(un__cuda *c);
/* The status of a driver call; remembers that the context is lost. */
un_status un__cuda_check(un__cuda *c, cu_result r, const char *what, un__err *err);

/* ---- memory.c ---- */

un_status un__cuda_heap_init(un__cuda *c, un__err *err);
void un__cuda_heap_finish(un__cuda *c);
/* Gives what is kept back to the driver; false: nothing was. Inside enter and leave. */
bool un__cuda_trim(un__cuda *c);
/* The result of `call`, tried again without the kept memory when memory is what is missing. */
#define UN__CUDA_WITH_MEMORY(c, r, call)                                            \
  do {                                                                              \
    (r) = (call);                                                                   \
    if ((r) == CU_OUT_OF_MEMORY && un__cuda_trim(c)) (r) = (call);                  \
  } while (0)
un_status un__cuda_alloc(un__device *d, size_t size, un__mem **out, un__err *err);
void un__cuda_free(un__device *d, un__mem *m);

/* ---- transfer.c ---- */

void un__cuda_staging_init(un__cuda *c);
void un__cuda_staging_finish(un__cuda *c);
un_status un__cuda_wrap(un__device *d, void *host, size_t size, un__mem **out, un__err *err);
un_status un__cuda_write(un__device *d, un__mem *m, size_t offset, const void *src, size_t size, un__err *err);
un_status un__cuda_read(un__device *d, const un__mem *m, size_t offset, void *dst, size_t size, un__err *err);
un_status un__cuda_copy(un__device *d, un__mem *dst, const un__mem *src, size_t size, un__err *err);

/* ---- code.c ---- */

un_status un__cuda_compile(un__device *d, const un__artifact *a, un__code **out, un__err *err);
un_status un__cuda_identity(un__device *d, un__strbuf *out, un__err *err);
void un__cuda_code_release(un__device *d, un__code *code);
void un__cuda_code_facts(const un__device *d, const un__code *code, un__code_facts *out);
un_status un__cuda_launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err);

enum { UN__CUDA_ON_STACK = 64 };
/* A launch in the driver's terms; no blocks: nothing to launch. Filled by prepare, and to be given to prepared in any case. */
typedef struct un__cuda_launching {
  cu_kernel_node node;
  bool overlaps;             /* it may begin before the kernel in front of it has ended */
  void *on_stack[UN__CUDA_ON_STACK], **params;
} un__cuda_launching;
un_status un__cuda_prepare(const un__cuda *c, const un__code *code, un__mem *const *args, const int64_t *vars, un__cuda_launching *out,
                           un__err *err);
void un__cuda_prepared(un__cuda_launching *l);

/* ---- record.c ---- */

un_status un__cuda_record(un__device *d, const un__launch *launches, uint32_t n, un__recording **out, un__err *err);
un_status un__cuda_update(un__device *d, un__recording *r, uint32_t i, un__err *err);
un_status un__cuda_replay(un__device *d, un__recording *r, un__err *err);
void un__cuda_recording_release(un__device *d, un__recording *r);

/* ---- describe.c ---- */

/* What the driver says of a device, as a target; the texts lie in c. */
un_status un__cuda_read_target(un__cuda *c, un__err *err);
/* Finds the device of a number. */
un_status un__cuda_find(const un__cu_driver *cu, int ordinal, cu_device *out, un__err *err);

#endif
