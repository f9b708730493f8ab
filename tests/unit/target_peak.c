/* target_peak.c - occupancy as NVIDIA's calculator has it, and what is known of peaks. */
#include <criterion/criterion.h>

#include "target/target.h"

#define OCCUPANCY(arch, threads, registers, shared, nblocks, nwarps, what)                                              \
  do {                                                                                                                  \
    un__occupancy o = un__gpu_occupancy(&un__target_by_name(arch)->gpu, threads, registers, shared);                    \
    cr_expect(o.blocks == (nblocks) && o.warps == (nwarps), "%u blocks, %u warps", o.blocks, o.warps);                  \
    cr_expect_str_eq(o.limit, what);                                                                                    \
  } while (0)

Test(occupancy, threads) {
  OCCUPANCY("sm_90a", 1024, 32, 0, 2, 64, "threads");
  OCCUPANCY("sm_90a", 256, 0, 0, 8, 64, "threads");
  OCCUPANCY("sm_120a", 512, 32, 0, 3, 48, "threads");
  OCCUPANCY("sm_90a", 96, 0, 0, 21, 63, "threads");
  OCCUPANCY("sm_90a", 0, 0, 0, 0, 0, "threads");
}

/* Registers are given to a warp 256 at a time: 33 of a thread cost as much as 40. */
Test(occupancy, registers) {
  OCCUPANCY("sm_90a", 256, 64, 0, 4, 32, "registers");
  OCCUPANCY("sm_90a", 256, 33, 0, 6, 48, "registers");
  OCCUPANCY("sm_90a", 256, 40, 0, 6, 48, "registers");
  OCCUPANCY("sm_80", 1024, 255, 0, 0, 0, "registers");
  OCCUPANCY("sm_90a", 256, 255, 0, 1, 8, "registers");
}

/* Of each block's shared memory the system takes 1 KiB. */
Test(occupancy, shared_memory) {
  OCCUPANCY("sm_90a", 128, 0, 227 << 10, 1, 4, "shared memory");
  OCCUPANCY("sm_80", 128, 0, 40 << 10, 4, 16, "shared memory");
  OCCUPANCY("sm_90a", 32, 0, 0, 32, 32, "places for blocks");
}

Test(peak, what_nobody_says_is_not_known) {
  un__peak p = un__target_peak(un__target_generic());
  cr_expect_eq(p.bytes_per_second, 0);
  cr_expect_eq(p.f32_flops, 0);
  cr_expect_eq(un__target_peak(un__target_interp()).f32_flops, 0);
  const un__target *gpu = un__target_by_name("sm_90a");
  p = un__target_peak(gpu);
  cr_expect_eq(p.bytes_per_second, gpu->gpu.bytes_per_second);
  cr_expect_eq(p.f32_flops, gpu->gpu.f32_flops);
}
