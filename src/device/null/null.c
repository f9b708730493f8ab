/* null.c - the device "null": compiles nothing and runs nothing, for goldens, fuzzing and timing of the front half.
 * Its memory is real, so programs that read results get zeros. */
#include <string.h>

#include "base/mem.h"
#include "device/host_mem.h"

struct un__code { char unused; };

/* Nobody writes what is read here, and the heap gives blocks back with what they held before. */
static un_status alloc_zeros(un__device *d, size_t size, un__mem **out, un__err *err) {
  UN__TRY(un__host_alloc(d, size, out, err));
  memset((*out)->data, 0, size);
  return UN_OK;
}

static un_status compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  *out = un__calloc(1, sizeof **out);
  return *out ? UN_OK : un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
}

static void code_release(un__device *d, un__code *code) { un__free(code); }
static un_status launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) { return UN_OK; }
static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  *out = NULL;
  return un__fail(err, UN_ERR_UNSUPPORTED, "null: there is no machine code");
}

static const un__device_vtable vtable = {
  .kind = "null", .compile = compile, .code_release = code_release, .launch = launch, .disassemble = disassemble,
  .destroy = un__host_device_destroy, UN__HOST_MEMORY, .alloc = alloc_zeros,
};

un_status un__null_open(const un__target *t, un__device **out, un__err *err) {
  *out = un__host_device_create(sizeof(un__host_device), &vtable, t ? t : un__target_host(), "null", err);
  return *out ? UN_OK : UN_ERR_NOMEM;
}
