/* devices.c - `unir devices`: what this build can run on, and whether it can be opened here. */
#include "engine/engine.h"
#include "unir.h"

#include <string.h>

static void describe(un__engine *e, const char *name, un__strbuf *out) {
  un__err err = {0};
  int device;
  if (un__engine_device(e, name, &device, &err) != UN_OK) {
    un__sb_printf(out, "%-13s not available: %s\n", name, err.text);
    return;
  }
  const un__target *t = un__engine_device_at(e, device)->target;
  un__sb_printf(out, "%-13s %u threads, %u-bit vectors, caches %u KiB / %u KiB / %llu KiB\n", name, t->threads, t->vector_bytes * 8,
                t->l1_bytes / 1024, t->l2_bytes / 1024, (unsigned long long)(t->l3_bytes / 1024));
}

/* One line a GPU, none of which is opened for it. */
static void describe_gpus(un__strbuf *out) {
  int n;
  un__err err = {0};
  if (un__engine_device_count("cuda", &n, &err) != UN_OK) un__sb_printf(out, "%-13s not available: %s\n", "cuda", err.text);
  for (int i = 0; i < n; i++) {
    char name[32];
    un__err why = {0};
    un__strbuf text;
    un__sb_init(&text);
    snprintf(name, sizeof name, "cuda:%d", i);
    if (un__cuda_describe(i, &text, &why) == UN_OK) un__sb_printf(out, "%-13s %s\n", name, un__sb_str(&text));
    else un__sb_printf(out, "%-13s not available: %s\n", name, why.text);
    un__sb_finish(&text);
  }
}

static void describe_kind(un__engine *e, const char *kind, un__strbuf *out) {
  if (strcmp(kind, "cuda") == 0) describe_gpus(out);
  else describe(e, kind, out);
}

static int run(int argc, char **argv) {
  const char *none;
  int code;
  if (!tool_parse(&tool_devices, argc, argv, NULL, &none, &code)) return code;
  un__err err = {0};
  un__strbuf out;
  un__sb_init(&out);
  un__world *world = un__world_create();
  un__engine *e = NULL;
  un_status status = world ? un__engine_create(world, &e, &err) : un__fail(&err, UN_ERR_NOMEM, "no memory");
  for (size_t i = 0; status == UN_OK && un__engine_device_kind(i); i++) describe_kind(e, un__engine_device_kind(i), &out);
  un__engine_destroy(e);
  un__world_release(world);
  code = status == UN_OK ? tool_print(&out) : tool_fail(&err);
  un__sb_finish(&out);
  return code;
}

const tool_command tool_devices = {
  .name = "devices", .summary = "list the devices of this build", .usage = "",
  .about = "Lists the devices of this build, one a line, with the machine each has in mind, or why there is none.\n", .run = run,
};
