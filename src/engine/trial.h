/* trial.h - one kernel on a device with data of its own: how long it takes, and what it gives.
 *
 * The data are small whole numbers above zero: sums and products of them are exact in floats as long as they stay small, so that most
 * kernels must give the same bits whatever the order, and logarithms, roots and divisions have values. They repeat, so that large
 * buffers are filled quickly. */
#ifndef UN_ENGINE_TRIAL_H
#define UN_ENGINE_TRIAL_H

#include "device/device.h"
#include "uop/graph.h"

/* An argument of the kernel, by slot. */
typedef struct un__trial_arg {
  un__dtype dtype;
  int64_t n;                  /* elements */
  size_t bytes;
  bool is_read, is_written;
  un__mem *mem;
  void *data;                 /* of what is only read: a copy on the host. Else NULL */
} un__trial_arg;

typedef struct un__trial {
  un__device *device;
  uint32_t nargs;
  un__trial_arg *arg;
  un__mem **mem;              /* by slot, for launches */
} un__trial;

/* Whether a device runs machine code, so that its time says something. */
bool un__trial_means(const un__device *d);
/* UN_ERR_UNSUPPORTED with the reason where the kernel cannot be run this way: sizes that are not constants, too much memory, a
 * device that only acts as if. Out is to be finished in any case. */
un_status un__trial_init(un__trial *out, un__device *d, const un_uop *body, un__err *err);
void un__trial_finish(un__trial *t);

/* Seconds of one launch: the median of several samples of a few launches each; no more than two where those take longer than `enough`. */
un_status un__trial_time(const un__trial *t, un__code *code, double enough, double *out_seconds, un__err *err);

/* What the kernel stores, all results one behind the other; what it leaves out keeps the bytes that it found, never those of a
 * right result. `out` has room for un__trial_result_bytes. For kernels that read nothing that they write. */
size_t un__trial_result_bytes(const un__trial *t);
un_status un__trial_run(const un__trial *t, un__code *code, void *out, un__err *err);
bool un__trial_updates(const un__trial *t);

#endif
