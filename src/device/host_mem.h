/* host_mem.h - device memory that is host memory: cpu, cc, interp and null share it, and a GPU that is not there.
 *
 * Freed blocks are kept up to a limit and reused by size, because fresh pages cost more than most kernels. */
#ifndef UN_DEVICE_HOST_MEM_H
#define UN_DEVICE_HOST_MEM_H

#include "device.h"

struct un__mem { void *data; size_t size; bool borrowed; };

typedef struct un__host_heap un__host_heap;
un__host_heap *un__host_heap_create(void);
void un__host_heap_destroy(un__host_heap *h);
/* Gives back what is kept for reuse. */
void un__host_heap_trim(un__host_heap *h);

/* What a device with such memory starts with, and the memory part of its vtable. */
typedef struct un__host_device { un__device base; un__host_heap *heap; } un__host_device;

/* Allocates such a device, `size` bytes of which the first are a un__host_device and the others 0. NULL: no memory, see err. */
void *un__host_device_create(size_t size, const un__device_vtable *vt, const un__target *t, const char *name, un__err *err);
/* The last that a device does. */
void un__host_device_destroy(un__device *d);

un_status un__host_alloc(un__device *d, size_t size, un__mem **out, un__err *err);
un_status un__host_wrap(un__device *d, void *host, size_t size, un__mem **out, un__err *err);
void un__host_free(un__device *d, un__mem *m);
un_status un__host_write(un__device *d, un__mem *m, size_t offset, const void *src, size_t size, un__err *err);
un_status un__host_read(un__device *d, const un__mem *m, size_t offset, void *dst, size_t size, un__err *err);
un_status un__host_sync(un__device *d, un__err *err);      /* launches return when they are done */
un_status un__host_copy(un__device *d, un__mem *dst, const un__mem *src, size_t size, un__err *err);

void *un__host_address(un__device *d, const un__mem *m);

#define UN__HOST_MEMORY                                                                                \
  .alloc = un__host_alloc, .wrap = un__host_wrap, .free = un__host_free, .write = un__host_write,      \
  .read = un__host_read, .sync = un__host_sync, .copy = un__host_copy, .address = un__host_address

#endif
