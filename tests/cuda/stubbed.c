/* stubbed.c - how a test uses the stand-in for the driver. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kit.h"

static const char *stub_file;

stub_state *the_stub(void) {
  void *lib = dlopen(stub_file, RTLD_NOW | RTLD_LOCAL);
  CHECK(lib, "%s", dlerror());
  stub_fn *fn;
  *(void **)&fn = dlsym(lib, "stub");
  return fn();
}

/* Beside it, with "_old" in its name. */
void use_old_stub(void) {
  static char file[512];
  const char *dot = strrchr(stub_file, '.');
  CHECK(dot, "%s has no suffix", stub_file);
  snprintf(file, sizeof file, "%.*s_old%s", (int)(dot - stub_file), stub_file, dot);
  stub_file = file;
  setenv("UNIR_CUDA_DRIVER", file, 1);
  setenv("UNIR_NVRTC", file, 1);
}

void fail_call(const char *call, int after, int with) {
  stub_state *s = the_stub();
  snprintf(s->fail, sizeof s->fail, "%s", call);
  s->fail_after = after;
  s->fail_with = with;
  s->failed = false;
}

void check_clean(void) {
  stub_state *s = the_stub();
  CHECK(!s->errors, "%d calls of the driver were wrong", s->errors);
  CHECK(!s->blocks && !s->pinned && !s->events && !s->modules && !s->graphs && !s->streams && !s->retained && !s->programs,
        "%d blocks, %d pinned, %d events, %d modules, %d graphs, %d streams, %d contexts, %d programs are alive", s->blocks, s->pinned, s->events,
        s->modules, s->graphs, s->streams, s->retained, s->programs);
}

bool use_stub(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: %s STUB [NAME]\n", argv[0]), false;
  stub_file = argv[1];
  setenv("UNIR_CUDA_DRIVER", stub_file, 1);
  setenv("UNIR_NVRTC", stub_file, 1);
  unsetenv("UNIR_CUDA_MEMORY_LIMIT");
  return true;
}
