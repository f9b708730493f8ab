#include "compile.h"

#include <string.h>

#include "base/mem.h"
#include "nvrtc.h"

un_status un__cuda_check_artifact(const un__artifact *a, const un__target *t, un__err *err) {
  if (a->format != UN__FORMAT_CUDA_C) return un__fail(err, UN_ERR_UNSUPPORTED, "cuda: artifacts are CUDA C text");
  if (a->group < 1 || a->group > t->gpu.max_group)
    return un__fail(err, UN_ERR_UNSUPPORTED, "cuda: %s has blocks of %u threads, expected 1 to %u", a->entry, a->group, t->gpu.max_group);
  if (a->local_bytes > t->gpu.shared_bytes)
    return un__fail(err, UN_ERR_UNSUPPORTED, "cuda: %s needs %u bytes of shared memory, a block of %s has %u", a->entry, a->local_bytes,
                    t->gpu.arch, t->gpu.shared_bytes);
  return UN_OK;
}

static un_status source_of(const un__artifact *a, const un__target *t, int driver, char **out_text, un__cu_source *out, un__err *err) {
  *out_text = NULL;
  UN__TRY(un__cuda_check_artifact(a, t, err));
  char *text = *out_text = un__alloc(a->size + 1);
  if (!text) return un__fail(err, UN_ERR_NOMEM, "no memory for a kernel's text");
  memcpy(text, a->bytes, a->size);
  text[a->size] = '\0';
  *out = (un__cu_source){text, a->entry, t->gpu.arch, driver};
  return UN_OK;
}

un_status un__cuda_cubin(const un__artifact *a, const un__target *t, int driver, un__blob *out, un__code_facts *facts, un__err *err) {
  char *text, *cubin = NULL;
  size_t size = 0;
  un__cu_source s;
  un_status status = source_of(a, t, driver, &text, &s, err);
  if (status == UN_OK) status = un__nvrtc_cubin(&s, &cubin, &size, facts, err);
  facts->shared_bytes += a->local_bytes;
  *out = (un__blob){cubin, size};
  un__free(text);
  return status;
}

un_status un__cuda_assembly(const un__artifact *a, const un__target *t, int driver, char **out, un__err *err) {
  char *text, *ptx = NULL, *cubin = NULL;
  size_t size;
  un__cu_source s;
  un__code_facts f;
  un__strbuf all;
  un__sb_init(&all);
  un_status status = source_of(a, t, driver, &text, &s, err);
  if (status == UN_OK) status = un__nvrtc_cubin(&s, &cubin, &size, &f, err);
  if (status == UN_OK) status = un__nvrtc_ptx(&s, &ptx, err);
  if (status == UN_OK) {
    un__sb_printf(&all, "// %s: %u registers, %u bytes spilled, %u bytes of local memory, %u bytes of shared memory\n", t->gpu.arch,
                  f.registers, f.spill_bytes, f.local_bytes, f.shared_bytes + a->local_bytes);
    un__sb_puts(&all, ptx);
    if (all.failed) status = un__fail(err, UN_ERR_NOMEM, "no memory for assembly text");
  }
  un__free(text);
  un__free(cubin);
  un__free(ptx);
  if (status == UN_OK) return *out = all.at, UN_OK;
  un__sb_finish(&all);
  return status;
}
