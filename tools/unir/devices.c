/* devices.c - `unir devices`: what this build can run on, and whether it can be opened here. */
#include <string.h>

#include "engine/engine.h"
#include "unir.h"

static const char help[] = "usage: unir devices\n\nLists the devices of this build, one a line, with what is known of each.\n";

static void describe(un__engine *e, const char *name) {
  un__err err = {0};
  int device;
  if (un__engine_device(e, name, &device, &err) != UN_OK) {
    printf("%-8s not available: %s\n", name, err.text);
    return;
  }
  const un__target *t = un__engine_device_at(e, device)->target;
  printf("%-8s %u threads, %u-bit vectors, caches %u KiB / %u KiB / %llu KiB\n", name, t->threads, t->vector_bytes * 8,
         t->l1_bytes / 1024, t->l2_bytes / 1024, (unsigned long long)(t->l3_bytes / 1024));
}

int tool_devices(int argc, char **argv) {
  if (argc > 1) {
    if (strcmp(argv[1], "--help") != 0 && strcmp(argv[1], "-h") != 0) return tool_usage("devices", "takes no arguments", argv[1]);
    fputs(help, stdout);
    return EXIT_OK;
  }
  un__err err = {0};
  un__world *world = un__world_create();
  un__engine *e = NULL;
  if (!world) return tool_fail(&(un__err){.status = UN_ERR_NOMEM});
  un_status status = un__engine_create(world, &e, &err);
  for (size_t i = 0; status == UN_OK && un__engine_device_kind(i); i++) describe(e, un__engine_device_kind(i));
  un__engine_destroy(e);
  un__world_release(world);
  return status == UN_OK ? EXIT_OK : tool_fail(&err);
}
