/* peak.c - what machines reach at best, and how much of a kernel one multiprocessor holds. */
#include "target.h"

#include <stdio.h>

/* ---- peaks ---- */

/* Cycles a second at most; 0: the system does not say. */
static double host_clock(void) {
  long khz = 0;
  FILE *f = fopen("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "r");
  if (!f) return 0;
  if (fscanf(f, "%ld", &khz) != 1 || khz < 0) khz = 0;
  fclose(f);
  return (double)khz * 1e3;
}

enum { FMA_PIPES = 2 };

un__peak un__target_peak(const un__target *t) {
  if (t->gpu.arch) return (un__peak){t->gpu.bytes_per_second, t->gpu.f32_flops};
  bool is_host = !*t->triple && t->vector_bytes;
  double lanes = t->vector_bytes >= 4 ? t->vector_bytes / 4.0 : 1;
  return (un__peak){0, is_host ? host_clock() * t->threads * lanes * FMA_PIPES * (t->fma ? 2 : 1) : 0};
}

/* ---- occupancy ---- */

/* What the hardware gives out at once, alike from sm_80 on: registers to a warp, warps of a block to the four schedulers, shared
 * memory to a block, of which the system keeps some; and a place for a block where it has 64 threads on the average. */
enum { REGISTER_UNIT = 256, WARP_UNIT = 4, SHARED_UNIT = 128, SHARED_KEPT = 1024, THREADS_A_PLACE = 64 };

static uint32_t round_up(uint32_t n, uint32_t unit) { return (n + unit - 1) / unit * unit; }

static void limit_to(un__occupancy *o, uint32_t blocks, const char *what) {
  if (blocks < o->blocks) o->blocks = blocks, o->limit = what;
}

un__occupancy un__gpu_occupancy(const un__gpu *gpu, uint32_t threads, uint32_t registers, uint32_t shared_bytes) {
  uint32_t warps = (threads + gpu->warp - 1) / gpu->warp;
  un__occupancy o = {.blocks = UINT32_MAX, .max_warps = gpu->unit_threads / gpu->warp};
  if (!warps) return o.blocks = 0, o.limit = "threads", o;
  limit_to(&o, o.max_warps / warps, "threads");
  if (registers) {
    uint32_t held = gpu->unit_registers / round_up(registers * gpu->warp, REGISTER_UNIT) / WARP_UNIT * WARP_UNIT;
    limit_to(&o, held / round_up(warps, WARP_UNIT), "registers");
  }
  limit_to(&o, gpu->unit_shared_bytes / round_up(shared_bytes + SHARED_KEPT, SHARED_UNIT), "shared memory");
  limit_to(&o, gpu->unit_threads / THREADS_A_PLACE, "places for blocks");
  o.warps = o.blocks * warps;
  return o;
}
