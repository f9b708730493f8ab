/* describe.c - which GPUs there are, and what each is as a target. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"
#include "nvrtc.h"

enum { OLDEST_CAPABILITY = 80 };

static int attribute(const un__cu_driver *cu, cu_device d, int which) {
  int value = 0;
  return cu->device_attribute(&value, which, d) ? 0 : value;
}

static int capability(const un__cu_driver *cu, cu_device d) {
  return attribute(cu, d, CU_DEVICE_MAJOR) * 10 + attribute(cu, d, CU_DEVICE_MINOR);
}

/* From Hopper on, what makes an architecture fast exists for that one only: the names end in "a". */
static void name_arch(int cc, char *out, size_t size) { snprintf(out, size, "sm_%d%s", cc, cc >= 90 ? "a" : ""); }

/* f32 operations of one multiprocessor in a cycle. */
static int lanes_of(int cc) { return cc == 80 ? 64 : 128; }

un_status un__cuda_find(const un__cu_driver *cu, int ordinal, cu_device *out, un__err *err) {
  char device[32];
  int n = 0;
  snprintf(device, sizeof device, "cuda:%d", ordinal);
  cu_result r = cu->device_count(&n);
  if (r) return un__cu_fail(cu, r, device, "counting the devices", err);
  if (ordinal >= n) return un__fail(err, UN_ERR_DEVICE, "%s: the driver shows %d device%s, counted from 0", device, n, n == 1 ? "" : "s");
  r = cu->device_get(out, ordinal);
  if (r) return un__cu_fail(cu, r, device, "finding the device", err);
  int cc = capability(cu, *out);
  if (cc < OLDEST_CAPABILITY)
    return un__fail(err, UN_ERR_DEVICE, "%s: its compute capability is %d.%d, %d.%d or newer is needed", device, cc / 10, cc % 10,
                    OLDEST_CAPABILITY / 10, OLDEST_CAPABILITY % 10);
  return UN_OK;
}

/* Newer drivers may hide the clocks: then the description of the same architecture has to do. */
static void read_rates(const un__cu_driver *cu, cu_device d, un__gpu *g) {
  const un__target *known = un__target_by_name(g->arch);
  double memory = attribute(cu, d, CU_DEVICE_MEMORY_KHZ), bits = attribute(cu, d, CU_DEVICE_MEMORY_BITS);
  double clock = attribute(cu, d, CU_DEVICE_CLOCK_KHZ);
  g->bytes_per_second = memory * 1e3 * 2 * bits / 8;
  g->f32_flops = clock * 1e3 * 2 * g->units * lanes_of(capability(cu, d));
  if (!known) known = un__target_gpu(0);
  if (!memory || !bits) g->bytes_per_second = known->gpu.bytes_per_second;
  if (!clock) g->f32_flops = known->gpu.f32_flops;
}

un_status un__cuda_read_target(un__cuda *c, un__err *err) {
  static const struct { int attribute; size_t offset; } fields[] = {
    {CU_DEVICE_UNITS, offsetof(un__gpu, units)},
    {CU_DEVICE_WARP, offsetof(un__gpu, warp)},
    {CU_DEVICE_MAX_THREADS, offsetof(un__gpu, max_group)},
    {CU_DEVICE_UNIT_THREADS, offsetof(un__gpu, unit_threads)},
    {CU_DEVICE_UNIT_REGISTERS, offsetof(un__gpu, unit_registers)},
    {CU_DEVICE_SHARED_OPTIN, offsetof(un__gpu, shared_bytes)},
    {CU_DEVICE_UNIT_SHARED, offsetof(un__gpu, unit_shared_bytes)},
  };
  name_arch(capability(c->cu, c->device), c->arch, sizeof c->arch);
  un__gpu g;
  memset(&g, 0, sizeof g);
  g.arch = c->arch;
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    int value = attribute(c->cu, c->device, fields[i].attribute);
    if (value <= 0)
      return un__fail(err, UN_ERR_DEVICE, "%s: the driver does not answer what the device is (attribute %d)", c->base.name,
                      fields[i].attribute);
    *(uint32_t *)((char *)&g + fields[i].offset) = (uint32_t)value;
  }
  g.l2_bytes = (uint64_t)attribute(c->cu, c->device, CU_DEVICE_L2_BYTES);
  read_rates(c->cu, c->device, &g);
  un__target_of_gpu(&g, c->target_name, &c->target);
  c->base.target = &c->target;
  return UN_OK;
}

un_status un__cuda_count(int *out, un__err *err) {
  const un__cu_driver *cu;
  *out = 0;
  UN__TRY(un__cu_driver_get(&cu, err));
  cu_result r = cu->device_count(out);
  if (r) return un__cu_fail(cu, r, "cuda", "counting the devices", err);
  return *out ? UN_OK : un__fail(err, UN_ERR_DEVICE, "cuda: the driver shows no device");
}

un_status un__cuda_describe(int ordinal, un__strbuf *out, un__err *err) {
  const un__cu_driver *cu;
  cu_device d;
  char name[128] = "";
  size_t bytes = 0;
  UN__TRY(un__cu_driver_get(&cu, err));
  UN__TRY(un__cuda_find(cu, ordinal, &d, err));
  char arch[16];
  name_arch(capability(cu, d), arch, sizeof arch);
  if (cu->device_name(name, sizeof name - 1, d)) snprintf(name, sizeof name, "a GPU without a name");
  if (cu->device_memory(&bytes, d)) bytes = 0;
  un__sb_printf(out, "%s, %s, %d multiprocessors, %zu MiB, driver for CUDA %d.%d", name, arch, attribute(cu, d, CU_DEVICE_UNITS),
                bytes >> 20, cu->version / 1000, cu->version % 1000 / 10);
  int major, minor;
  un__err none = {0};
  if (un__nvrtc_version(cu->version, &major, &minor, &none) == UN_OK) un__sb_printf(out, ", NVRTC %d.%d", major, minor);
  else un__sb_printf(out, "; kernels cannot be compiled: %s", none.text);
  return out->failed ? un__fail(err, UN_ERR_NOMEM, "no memory for a device's description") : UN_OK;
}
