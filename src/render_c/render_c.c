/* render_c.c - the C dialect: arguments in an array, a task a call, lanes one by one. */
#include "render_c.h"

#include "cstyle.h"

/* gcc and clang know these functions without a header, and turn them into instructions where the machine has them. */
static const un__c_dialect dialect = {
  .name = "C",
  .function = {
    [UN__C_SQRT_F32] = {"__builtin_sqrtf"}, [UN__C_SQRT_F64] = {"__builtin_sqrt"},
    [UN__C_TRUNC_F32] = {"__builtin_truncf"}, [UN__C_TRUNC_F64] = {"__builtin_trunc"},
    [UN__C_FLOOR_F32] = {"__builtin_floorf"}, [UN__C_FLOOR_F64] = {"__builtin_floor"},
    [UN__C_FMA_F32] = {"__builtin_fmaf"}, [UN__C_FMA_F64] = {"__builtin_fma"},
    [UN__C_F32_OF_BITS] = {"f32_of_bits",
      "static inline f32 f32_of_bits(u32 bits) { f32 x; __builtin_memcpy(&x, &bits, sizeof x); return x; }\n"},
    [UN__C_F64_OF_BITS] = {"f64_of_bits",
      "static inline f64 f64_of_bits(u64 bits) { f64 x; __builtin_memcpy(&x, &bits, sizeof x); return x; }\n"},
    [UN__C_BITS_OF_F32] = {"bits_of_f32",
      "static inline u32 bits_of_f32(f32 x) { u32 bits; __builtin_memcpy(&bits, &x, sizeof bits); return bits; }\n"},
    [UN__C_BITS_OF_F64] = {"bits_of_f64",
      "static inline u64 bits_of_f64(f64 x) { u64 bits; __builtin_memcpy(&bits, &x, sizeof bits); return bits; }\n"},
  },
  .loop = "", .short_loop = "", .barrier = "", .special = {[UN__AXIS_THREAD] = "task"},
};

/* Results are written to buffers of their own, so no two arguments overlap. */
static void put_function(const un__cstyle *r, const char *entry, un__strbuf *out) {
  un__sb_printf(out, "\nvoid %s(void *const *args, const i64 *vars, i64 task) {\n", entry);
  for (size_t i = 0; i < r->params.n; i++)
    if (r->params.at[i])
      un__sb_printf(out, "  %s%s *restrict p%zu = args[%zu];\n", r->written.at[i] ? "" : "const ",
                    un__c_memory_type(r->params.at[i]->dtype), i, i);
  for (uint32_t i = 0; i < r->nvars; i++) un__sb_printf(out, "  const i64 n%u = vars[%u];\n", i, i);
  un__sb_puts(out, un__sb_str(&r->body));
  un__sb_puts(out, "}\n");
}

un_status un__render_c(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err) {
  un__err local = {0};
  un__cstyle r;
  if (un__cstyle_render(&r, &dialect, linear, &local) == UN_OK) {
    un__sb_puts(out, "typedef _Bool bool;\n");
    un__cstyle_put_types(out);
    un__cstyle_put_functions(&r, out);
    put_function(&r, entry, out);
  }
  if (out->failed) un__fail(&local, UN_ERR_NOMEM, "no memory for C");
  un__cstyle_finish(&r);
  return un__err_copy(err, &local);
}
