#include "verdict.h"

#include "engine_parts.h"
#include "opt/work.h"
#include "trial.h"

/* ---- numbers ---- */

/* Three digits, or all before the point. */
static void put_digits(un__strbuf *out, double v) {
  int digits = v < 9.995 ? 2 : v < 99.95 ? 1 : 0;
  int64_t scale = digits == 2 ? 100 : digits == 1 ? 10 : 1, n = v < 1e15 ? (int64_t)(v * (double)scale + 0.5) : INT64_MAX;
  un__sb_puti64(out, n / scale);
  if (digits) un__sb_printf(out, ".%0*lld", digits, (long long)(n % scale));
}

void un__put_scaled(un__strbuf *out, double v) {
  static const char *const prefix[] = {"n", "u", "m", "", "k", "M", "G", "T", "P"};
  enum { ONE = 3, PREFIXES = sizeof prefix / sizeof *prefix };
  int p = ONE;
  while (v >= 999.5 && p + 1 < PREFIXES) v /= 1000, p++;
  while (v > 0 && v < 0.9995 && p > 0) v *= 1000, p--;
  put_digits(out, v);
  un__sb_printf(out, " %s", prefix[p]);
}

/* "memory at 4.80 TB/s takes 26.1 us" */
static double put_bound(un__strbuf *out, const char *what, double amount, double rate, const char *unit) {
  un__sb_printf(out, "%s at ", what);
  un__put_scaled(out, rate);
  un__sb_printf(out, "%s/s takes ", unit);
  un__put_scaled(out, amount / rate);
  un__sb_putc(out, 's');
  return amount / rate;
}

/* ---- roofline ---- */

static bool uses_tensor_cores(const un_uop *linear) {
  for (uint32_t i = 0; i < linear->nsrc; i++)
    if (un__is(linear->src[i], UN__OP_WMMA)) return true;
  return false;
}

/* Narrower elements are computed in f32; how fast wider ones are, only CPUs tell, and how fast tensor cores are nobody. */
static double peak_of_arithmetic(const un__target *t, const un__opt_work *w, const un_uop *linear) {
  double f32 = un__target_peak(t).f32_flops;
  if (uses_tensor_cores(linear)) return 0;
  return w->width <= 4 ? f32 : t->gpu.arch ? 0 : f32 / 2;
}

/* The seconds that the work takes at best; 0: not known. */
static double put_roofline(const un__target *t, const un__opt_work *w, const un_uop *linear, un__strbuf *out) {
  double bytes = (double)w->read + (double)w->written, operations = (double)w->operations;
  double bandwidth = un__target_peak(t).bytes_per_second, rate = peak_of_arithmetic(t, w, linear), memory = 0, arithmetic = 0;
  un__sb_printf(out, "roofline: %llu bytes read and %llu written, each element once; %llu operations, ", (unsigned long long)w->read,
                (unsigned long long)w->written, (unsigned long long)w->operations);
  put_digits(out, bytes > 0 ? operations / bytes : 0);
  un__sb_puts(out, " a byte\nroofline: ");
  if (bandwidth > 0) memory = put_bound(out, "memory", bytes, bandwidth, "B");
  if (bandwidth > 0 && rate > 0) un__sb_puts(out, ", ");
  if (rate > 0) arithmetic = put_bound(out, "arithmetic", operations, rate, "flop");
  if (bandwidth > 0 && rate > 0) {
    un__sb_printf(out, ": bound by %s, expected ", memory >= arithmetic ? "memory" : "arithmetic");
    un__put_scaled(out, memory >= arithmetic ? memory : arithmetic);
    un__sb_puts(out, "s\n");
    return memory >= arithmetic ? memory : arithmetic;
  }
  if (bandwidth > 0 || rate > 0) un__sb_puts(out, "; ");
  un__sb_printf(out, "%s of this target %s not known, so neither is what bounds it\n",
                bandwidth > 0 ? (uses_tensor_cores(linear) ? "the rate of tensor cores" : "the rate of arithmetic") : rate > 0 ? "the bandwidth of memory" : "the bandwidth of memory and the clock",
                bandwidth > 0 || rate > 0 ? "is" : "are");
  return 0;
}

/* ---- occupancy and code ---- */

static void put_occupancy(const un__target *t, const un__artifact *a, const un__code_facts *facts, un__strbuf *out) {
  uint32_t shared = facts && facts->shared_bytes > a->local_bytes ? facts->shared_bytes : a->local_bytes;
  un__occupancy o = un__gpu_occupancy(&t->gpu, a->group, facts ? facts->registers : 0, shared);
  un__sb_printf(out, "occupancy: %u threads, ", a->group);
  if (facts) un__sb_printf(out, "%u registers each, ", facts->registers);
  else un__sb_puts(out, "registers not known, ");
  un__sb_printf(out, "%u bytes of shared memory: %u blocks, %u of %u warps a multiprocessor (limit: %s); %lld blocks on %u multiprocessors\n",
                shared, o.blocks, o.warps, o.max_warps, o.limit, (long long)a->tasks.code[0].arg, t->gpu.units);
}

static void put_code(const un__code_facts *f, un__strbuf *out) {
  un__sb_printf(out, "code: %u registers, %u bytes spilled, %u bytes of local memory, %u bytes of shared memory\n", f->registers,
                f->spill_bytes, f->local_bytes, f->shared_bytes);
}

/* ---- the device ---- */

static void put_measured(const un__opt_work *w, double seconds, double expected, un__strbuf *out) {
  un__sb_puts(out, "measured: ");
  un__put_scaled(out, seconds);
  un__sb_puts(out, "s, ");
  un__put_scaled(out, ((double)w->read + (double)w->written) / seconds);
  un__sb_puts(out, "B/s, ");
  un__put_scaled(out, (double)w->operations / seconds);
  un__sb_puts(out, "flop/s");
  if (expected > 0) un__sb_printf(out, ": %d %% of what is expected at best", (int)(100 * expected / seconds + 0.5));
  un__sb_putc(out, '\n');
}

/* A device that cannot run is no failure; a kernel that cannot be run is said. */
static un_status measure(un__device *d, const un_uop *body, const un__opt_work *w, un__code *code, double expected, un__strbuf *out) {
  un__trial t;
  un__err why = {0};
  double seconds;
  un_status status = un__trial_init(&t, d, body, &why);
  if (status == UN_OK) status = un__trial_time(&t, code, 1, &seconds, &why);
  if (status == UN_OK) put_measured(w, seconds, expected, out);
  else if (status != UN_ERR_UNSUPPORTED) un__sb_printf(out, "measured: not: %s\n", why.text);
  un__trial_finish(&t);
  return status == UN_ERR_NOMEM ? status : UN_OK;
}

/* Compiles the kernel for what the compiler and a clock say of it. */
static un_status try_code(un__device *d, const un_uop *body, const un__opt_work *w, const un__artifact *a, double expected,
                          un__strbuf *out) {
  un__code *code = NULL;
  un__code_facts facts;
  un__err why = {0};
  un_status status = d->vt->compile(d, a, &code, &why);
  bool known = status == UN_OK && d->vt->facts;
  if (known) d->vt->facts(d, code, &facts);
  if (d->target->gpu.arch) put_occupancy(d->target, a, known ? &facts : NULL, out);
  if (known) put_code(&facts, out);
  if (status == UN_OK) status = measure(d, body, w, code, expected, out);
  else un__sb_printf(out, "code: not compiled: %s\n", why.text);
  if (code) d->vt->code_release(d, code);
  return status == UN_ERR_NOMEM ? status : UN_OK;
}

un_status un__verdict(un__device *d, const un_uop *body, const un_uop *linear, un__strbuf *out, un__err *err) {
  un__opt_work w = {0};
  un__err why = {0};
  un__strbuf text;
  un__format format;
  double expected = 0;
  un_status status = un__opt_work_of(body, d->target, &w, &why);
  if (status == UN_OK) expected = put_roofline(d->target, &w, linear, out);
  else un__sb_printf(out, "roofline: none: %s\n", why.text);
  un__sb_init(&text);
  if (status == UN_ERR_UNSUPPORTED) status = UN_OK;
  if (status == UN_OK) status = un__render(linear, d, &format, &text, &why);
  if (status == UN_OK) {
    un__artifact a = un__artifact_of(linear, format, &text);
    status = try_code(d, body, &w, &a, expected, out);
  }
  un__sb_finish(&text);
  if (out->failed) status = UN_ERR_NOMEM;
  return status == UN_OK ? UN_OK : un__fail(err, status, "%s", why.text[0] ? why.text : "no memory to judge a kernel");
}
