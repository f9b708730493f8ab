/* driver.h - libcuda.so.1 at run time: its types, its calls and its errors. Nothing of CUDA is needed to build.
 *
 * The driver is loaded once in a process and stays. UNIR_CUDA_DRIVER names another file to load. */
#ifndef UN_DEVICE_CUDA_DRIVER_H
#define UN_DEVICE_CUDA_DRIVER_H

#include "base/status.h"

typedef int cu_result;                  /* CUresult; 0: success */
typedef int cu_device;
typedef unsigned long long cu_ptr;      /* CUdeviceptr */
typedef struct cu_context_ *cu_context;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_event_ *cu_event;
typedef struct cu_module_ *cu_module;
typedef struct cu_function_ *cu_function;
typedef struct cu_graph_ *cu_graph;
typedef struct cu_graph_exec_ *cu_graph_exec;
typedef struct cu_node_ *cu_node;

/* CUDA_KERNEL_NODE_PARAMS_v2 */
typedef struct cu_kernel_node {
  cu_function function;
  unsigned gx, gy, gz, bx, by, bz, shared;
  void **params, **extra;
  void *kernel;
  cu_context context;
} cu_kernel_node;

/* CUlaunchConfig, with CUlaunchAttributes */
typedef struct cu_attribute { int id, unused; union { int flag; char room[64]; } value; } cu_attribute;
typedef struct cu_launch {
  unsigned gx, gy, gz, bx, by, bz, shared;
  cu_stream stream;
  const cu_attribute *attributes;
  unsigned nattributes;
} cu_launch;

/* CUgraphEdgeData */
typedef struct cu_edge { unsigned char from_port, to_port, type, reserved[5]; } cu_edge;

/* CUDA_MEMCPY3D_v2 */
typedef struct cu_copy_end {
  size_t x, y, z, level;
  int memory;                           /* CU_MEMORY_DEVICE */
  void *host;
  cu_ptr at;
  void *array, *reserved;
  size_t pitch, height;
} cu_copy_end;
typedef struct cu_copy_node { cu_copy_end from, to; size_t bytes, height, depth; } cu_copy_node;

/* Values of the driver's enumerations, as far as unir names them. */
enum { CU_OUT_OF_MEMORY = 2, CU_STREAM_NON_BLOCKING = 1, CU_MEMORY_DEVICE = 2 };
/* The launch may overlap the end of the kernel in front of it; the port and the type of an edge that says so in a graph. */
enum { CU_LAUNCH_PROGRAMMATIC = 6, CU_PORT_PROGRAMMATIC = 1, CU_EDGE_PROGRAMMATIC = 1 };
enum {
  CU_DEVICE_MAX_THREADS = 1, CU_DEVICE_WARP = 10, CU_DEVICE_CLOCK_KHZ = 13, CU_DEVICE_UNITS = 16, CU_DEVICE_MEMORY_KHZ = 36,
  CU_DEVICE_MEMORY_BITS = 37, CU_DEVICE_L2_BYTES = 38, CU_DEVICE_UNIT_THREADS = 39, CU_DEVICE_MAJOR = 75, CU_DEVICE_MINOR = 76,
  CU_DEVICE_UNIT_SHARED = 81, CU_DEVICE_UNIT_REGISTERS = 82, CU_DEVICE_SHARED_OPTIN = 97
};
enum { CU_FUNCTION_SHARED = 1, CU_FUNCTION_LOCAL = 3, CU_FUNCTION_REGISTERS = 4, CU_FUNCTION_MAX_DYNAMIC_SHARED = 8 };

typedef struct un__cu_driver {
#define CALL(name, symbol, ...) cu_result (*name)(__VA_ARGS__);
#include "driver.def"
  int version;                          /* the newest CUDA it knows, as 13000 for 13.0 */
} un__cu_driver;

/* Loads and initialises the driver. UN_ERR_DEVICE: there is none, it is too old, or it does not start. */
un_status un__cu_driver_get(const un__cu_driver **out, un__err *err);

/* Whether r means that everything in the context is lost. */
bool un__cu_is_sticky(cu_result r);

/* Records that `what` failed, with the driver's name and text for r; UN_ERR_NOMEM when memory is what was missing. */
un_status un__cu_fail(const un__cu_driver *cu, cu_result r, const char *device, const char *what, un__err *err);
/* The same with what to do when r is sticky. */
un_status un__cu_fail_for_good(const un__cu_driver *cu, cu_result r, const char *device, const char *what, const char *advice,
                               un__err *err);

#endif
