/* nvrtc.c - the real compiler: kernels become code for each architecture, without a GPU. TAP output; every test is skipped, by
 * name, where there is no NVRTC; one that UNIR_NVRTC names must be there. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "device/cuda/nvrtc.h"
#include "render_cuda/render_cuda.h"
#include "uop/text.h"

static int tests, failures;

static void report(bool ok, const char *name, const char *arch, const char *why) {
  printf("%sok %d - %s %s\n", ok ? "" : "not ", ++tests, name, arch);
  for (size_t n; !ok && why && *why; why += n + (why[n] == '\n')) {
    n = strcspn(why, "\n");
    fputs("# ", stdout);
    fwrite(why, 1, n, stdout);
    putchar('\n');
  }
  failures += !ok;
}

static const char elementwise[] =
  "extern \"C\" __global__ void f(float *p0, const float *p1, long long n) {\n"
  "  long long i = blockIdx.x * 256ll + threadIdx.x;\n"
  "  if (i < n) p0[i] = p1[i] * 3.0f + 1.0f;\n}\n";
static const char reduction[] =
  "extern \"C\" __global__ void __launch_bounds__(256) f(float *p0, const float *p1) {\n"
  "  __shared__ float part[8];\n"
  "  extern __shared__ float more[];\n"
  "  float x = p1[blockIdx.x * 256 + threadIdx.x];\n"
  "  for (int m = 16; m; m >>= 1) x += __shfl_xor_sync(0xffffffffu, x, m);\n"
  "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;\n"
  "  more[threadIdx.x] = x;\n"
  "  __syncthreads();\n"
  "  if (threadIdx.x == 0) p0[blockIdx.x] = part[0] + part[7] + more[255];\n}\n";
static const char array_of_a_thread[] =
  "extern \"C\" __global__ void f(int *p0, const int *p1) {\n"
  "  int a[64];\n"
  "  for (int i = 0; i < 64; i++) a[i] = p1[i];\n"
  "  for (int i = 0; i < 64; i++) p0[i] = a[p1[i] & 63];\n}\n";

static void check_cubin(const char *name, const char *text, const char *arch, bool local) {
  un__err err = {0};
  char *cubin = NULL;
  size_t size = 0;
  un__code_facts f = {0};
  un_status status = un__nvrtc_cubin(&(un__cu_source){text, "f", arch, 0}, &cubin, &size, &f, &err);
  bool elf = status == UN_OK && size > 64 && memcmp(cubin, "\177ELF", 4) == 0;
  bool facts = f.registers >= 4 && f.registers <= 255 && (f.local_bytes >= 256) == local;
  if (elf && !facts) un__fail(&err, UN_ERR_COMPILE, "%u registers, %u bytes of local memory", f.registers, f.local_bytes);
  report(elf && facts, name, arch, err.text);
  un__free(cubin);
}

/* The only multiply-add is one that the text asks for. */
static void check_no_contraction(const char *arch) {
  un__err err = {0};
  char *ptx = NULL, target[32];
  snprintf(target, sizeof target, ".target %s", arch);
  bool ok = un__nvrtc_ptx(&(un__cu_source){elementwise, "f", arch, 0}, &ptx, &err) == UN_OK && strstr(ptx, target) &&
            strstr(ptx, "mul.rn.f32") && strstr(ptx, "add.rn.f32") && !strstr(ptx, "fma.");
  report(ok, "assembly without contraction", arch, ptx ? ptx : err.text);
  un__free(ptx);
}

/* Sums of products of bytes, or of halves, of one word each (src/render_cuda/cuda_hidden.c). */
#define BYTES(middle, last) \
  "unir 1\ngraph @k stage=linear {\n  %0 = const i64 [val=1]\n  %1 = param ptr.i32 %0 [slot=0]\n  %2 = const i32 [val=0]\n" \
  "  %3 = const i64 [val=4]\n  %4 = param ptr.i8 %3 [slot=2]\n  %5 = param ptr.i8 %3 [slot=1]\n  %6 = index ptr.i32 %1, %2\n" \
  "  %7 = index ptr.i8 %4, %2\n  %8 = load i8x4 %7\n  %9 = cast i32x4 %8\n" middle \
  " = hreduce i32 " last " [op=add]\n"
static const struct { const char *name, *list; } byte_sums[] = {
  {"doubled bytes", BYTES("  %10 = const i8x4 [val=2]\n  %11 = index ptr.i8 %5, %2\n  %12 = load i8x4 %11\n  %13 = mul i8x4 %12, %10\n"
                          "  %14 = cast i32x4 %13\n  %15 = mul i32x4 %9, %14\n  %16", "%15")
                    "  %17 = store void %6, %16\n  linear %0..%17\n}\n"},
  {"shifted bytes", BYTES("  %10 = const i8x4 [val=1]\n  %11 = index ptr.i8 %5, %2\n  %12 = load i8x4 %11\n  %13 = shr i8x4 %12, %10\n"
                          "  %14 = cast i32x4 %13\n  %15 = mul i32x4 %9, %14\n  %16", "%15")
                    "  %17 = store void %6, %16\n  linear %0..%17\n}\n"},
  {"bytes by numbers", BYTES("  %10 = const i32 [val=7]\n  %11 = const i32 [val=1]\n  %12 = const i32 [val=100]\n"
                             "  %13 = vectorize i32x4 %10, %11, %12, %11\n  %14 = mul i32x4 %9, %13\n  %15", "%14")
                       "  %16 = store void %6, %15\n  linear %0..%16\n}\n"},
  {"halves of words' bytes",
   BYTES("  %10 = param ptr.i32 %0 [slot=3]\n  %11 = const i32 [val=24]\n  %12 = const i32 [val=16]\n  %13 = const i32 [val=8]\n"
         "  %14 = vectorize i32x4 %11, %12, %13, %2\n  %15 = const i32x4 [val=28]\n  %16 = index ptr.i32 %10, %2\n"
         "  %17 = load i32 %16\n  %18 = vectorize i32x4 %17\n  %19 = shl i32x4 %18, %14\n  %20 = shr i32x4 %19, %15\n"
         "  %21 = param ptr.i32 %0 [slot=4]\n  %22 = index ptr.i32 %21, %2\n  %23 = load i32 %22\n  %24 = vectorize i32x4 %23\n"
         "  %25 = shl i32x4 %24, %14\n  %26 = shr i32x4 %25, %15\n  %27 = mul i32x4 %20, %26\n  %28", "%27")
   "  %29 = store void %6, %28\n  linear %0..%29\n}\n"},
  {"doubled halves of words",
   "unir 1\ngraph @k stage=linear {\n  %0 = const i64 [val=1]\n  %1 = param ptr.i32 %0 [slot=0]\n  %2 = const i32 [val=0]\n"
   "  %3 = const i64 [val=2]\n  %4 = param ptr.i16 %3 [slot=2]\n  %5 = param ptr.u8 %3 [slot=1]\n  %6 = index ptr.i32 %1, %2\n"
   "  %7 = index ptr.i16 %4, %2\n  %8 = load i16x2 %7\n  %9 = const i16x2 [val=2]\n  %10 = mul i16x2 %8, %9\n  %11 = cast i32x2 %10\n"
   "  %12 = index ptr.u8 %5, %2\n  %13 = load u8x2 %12\n  %14 = cast i32x2 %13\n  %15 = mul i32x2 %11, %14\n"
   "  %16 = hreduce i32 %15 [op=add]\n  %17 = store void %6, %16\n  linear %0..%17\n}\n"},
};

/* Whether a sum of products takes a word as it was loaded: then what was done to its bytes is lost. */
static bool takes_a_loaded_word(const char *ptx) {
  for (const char *p = strstr(ptx, "ld.global"); p; p = strstr(p + 1, "ld.global")) {
    char word[16], again[32];
    if (sscanf(p, "%*s %15[%a-z0-9],", word) != 1) continue;
    snprintf(again, sizeof again, " %s,", word);
    for (const char *d = strstr(ptx, "dp"); d; d = strstr(d + 1, "dp")) {
      const char *end = strchr(d, ';'), *use = strstr(d, again);
      if ((strncmp(d, "dp4a", 4) == 0 || strncmp(d, "dp2a", 4) == 0) && use && end && use < end) return true;
    }
  }
  return false;
}

static void check_bytes(const char *arch) {
  for (size_t i = 0; i < sizeof byte_sums / sizeof *byte_sums; i++) {
    un__err err = {0};
    un__graph *g = un__workspace_create(&err);
    un__parsed_graph parsed;
    size_t n;
    un__strbuf text;
    char *ptx = NULL;
    un__sb_init(&text);
    bool ok = un__parse_text(g, "test", byte_sums[i].list, strlen(byte_sums[i].list), &parsed, 1, &n) == UN_OK &&
              un__render_cuda(parsed.root, "f", NULL, &text, &err) == UN_OK &&
              un__nvrtc_ptx(&(un__cu_source){un__sb_str(&text), "f", arch, 0}, &ptx, &err) == UN_OK && !takes_a_loaded_word(ptx);
    report(ok, byte_sums[i].name, arch, ptx ? ptx : err.text);
    un__free(ptx);
    un__sb_finish(&text);
    un__workspace_destroy(g);
  }
}

static void check_messages(const char *arch) {
  un__err err = {0};
  char *cubin = NULL;
  size_t size;
  un__code_facts f;
  un_status status = un__nvrtc_cubin(&(un__cu_source){"extern \"C\" __global__ void f(float *p) {\n  *p = nonsense;\n}\n", "f", arch, 0}, &cubin,
                                     &size, &f, &err);
  report(status == UN_ERR_COMPILE && !cubin && strstr(err.text, "CUDA C of f cannot be compiled for") &&
           strstr(err.text, "f(2): error: identifier \"nonsense\" is undefined"), "a message of the compiler", arch, err.text);
}

static void check_unknown(void) {
  un__err err = {0};
  char *cubin = NULL;
  size_t size;
  un__code_facts f;
  un_status status = un__nvrtc_cubin(&(un__cu_source){elementwise, "f", "sm_999", 0}, &cubin, &size, &f, &err);
  report(status == UN_ERR_DEVICE && strstr(err.text, "does not know sm_999: one that is newer is needed"), "an architecture of the future", "sm_999",
         err.text);
}

static void *compile_some(void *data) {
  for (int i = 0; i < 3; i++) {
    un__err err = {0};
    char *cubin = NULL;
    size_t size;
    un__code_facts f;
    if (un__nvrtc_cubin(&(un__cu_source){reduction, "f", "sm_90a", 0}, &cubin, &size, &f, &err) == UN_OK) ++*(int *)data;
    un__free(cubin);
  }
  return NULL;
}

static void check_threads(void) {
  enum { N = 4 };
  pthread_t thread[N];
  int done[N] = {0}, all = 0;
  for (int i = 0; i < N; i++) pthread_create(&thread[i], NULL, compile_some, &done[i]);
  for (int i = 0; i < N; i++) {
    pthread_join(thread[i], NULL);
    all += done[i];
  }
  report(all == 3 * N, "several threads", "sm_90a", "a compilation failed");
}

int main(void) {
  static const char *const archs[] = {"sm_80", "sm_90a", "sm_120a"};
  un__err none = {0};
  int major, minor;
  if (un__nvrtc_version(0, &major, &minor, &none) != UN_OK) {
    bool named = getenv("UNIR_NVRTC") && *getenv("UNIR_NVRTC");
    printf(named ? "Bail out! %s\n" : "1..0 # SKIP cuda_nvrtc: %s\n", none.text);
    return named;
  }
  printf("# NVRTC %d.%d\n", major, minor);
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
    check_cubin("elementwise", elementwise, archs[i], false);
    check_cubin("reduction", reduction, archs[i], false);
    check_cubin("an array that is no register", array_of_a_thread, archs[i], true);
    check_no_contraction(archs[i]);
    check_bytes(archs[i]);
    check_messages(archs[i]);
  }
  check_unknown();
  check_threads();
  printf("1..%d\n", tests);
  return failures != 0;
}
