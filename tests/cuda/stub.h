/* stub.h - a driver and a compiler that stand in for libcuda.so.1 and libnvrtc, so that the device "cuda" is tested without a
 * GPU. Work on a stream waits until somebody waits for it, so what relies on too early an end is seen; each call can be made to
 * fail; what is allocated is counted.
 *
 * A kernel's text is its code: ADD_ONE adds 1 to elements 0 to v0 - 1 of the i32 at p0, "ADD_ONE to one" to the first; FAULT is an illegal access; BAD is not
 * compiled. */
#ifndef UN_TESTS_CUDA_STUB_H
#define UN_TESTS_CUDA_STUB_H

#include <stdbool.h>
#include <stddef.h>

enum { STUB_DEVICES = 4 };

typedef struct stub_launch { unsigned x, y, z, threads, shared; } stub_launch;

typedef struct stub_state {
  int version, devices, capability;     /* 13000, 2, 90 unless the environment says otherwise (STUB_VERSION, ...) */
  size_t memory;                        /* of each device, in bytes */
  /* The call `fail`, after `fail_after` good ones, gives fail_with, once; "": none does. */
  char fail[64];
  int fail_after, fail_with;
  bool failed;                          /* it happened */
  bool for_good, faulted;               /* for_good: once a kernel faulted the process gets no context any more, as with real drivers */
  /* Alive now, on all devices. */
  int blocks, pinned, events, modules, graphs, streams, retained, programs;
  size_t bytes;
  /* Since the start. */
  int allocations, launches, replays, resets, shared_settings, errors;   /* errors: what a driver would not have taken well */
  int early_launches, early_edges;      /* which may begin before the kernel in front of them has ended */
  stub_launch last;
} stub_state;

/* dlsym(library, "stub") */
typedef stub_state *stub_fn(void);

#endif
