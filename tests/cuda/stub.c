#include "stub.h"

#include "device/cuda/driver.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { OK = 0, INVALID_VALUE = 1, NO_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101, INVALID_CONTEXT = 201, INVALID_HANDLE = 400,
       NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };

typedef struct stream stream;
typedef struct context { int device, uses, poison; stream *streams; } context;
typedef enum op_kind { COPY, LAUNCH, EVENT } op_kind;
typedef struct event { int pending; bool dropped; double at; } event;
typedef struct op {
  op_kind kind;
  void *to;
  const void *from;
  size_t size;
  event *event;
  char text[32];
  stub_launch shape;
  struct op *next;
} op;
struct stream { context *in; op *first, **last; };
typedef struct module { char text[4096]; } module;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stub_state state;
static context contexts[STUB_DEVICES];
static _Thread_local context *stack[16];
static _Thread_local int depth;

static int number(const char *name, int otherwise) { return getenv(name) ? atoi(getenv(name)) : otherwise; }

EXPORT stub_state *stub(void) { return &state; }

__attribute__((constructor)) static void start(void) {
  state.version = number("STUB_VERSION", 13000);
  state.devices = number("STUB_DEVICES", 2);
  state.capability = number("STUB_CAPABILITY", 90);
  state.memory = 64u << 20;
}

/* ---- what the driver owns: of a context that is reset it stays here, out of everybody's reach ---- */

typedef struct owned { struct owned *next, **at; char bytes[48]; } owned;
static owned *all_owned;
static pthread_mutex_t owned_lock = PTHREAD_MUTEX_INITIALIZER;

/* The beginning is zeroed. */
static void *get(size_t size) {
  owned *o = malloc(sizeof *o + size);
  pthread_mutex_lock(&owned_lock);
  *o = (owned){.next = all_owned, .at = &all_owned};
  if (all_owned) all_owned->at = &o->next;
  all_owned = o;
  pthread_mutex_unlock(&owned_lock);
  memset(o + 1, 0, size < 8192 ? size : 8192);
  return o + 1;
}

static void put(void *p) {
  owned *o = (owned *)p - 1;
  pthread_mutex_lock(&owned_lock);
  *o->at = o->next;
  if (o->next) o->next->at = o->at;
  pthread_mutex_unlock(&owned_lock);
  free(o);
}

/* ---- failing on demand ---- */

static int injected(const char *call) {
  if (strcmp(state.fail, call) != 0 || state.failed) return OK;
  if (state.fail_after-- > 0) return OK;
  state.failed = true;
  return state.fail_with;
}

static int sticky(int r) { return r >= 700 && r < 800; }

static context *current(void) { return depth ? stack[depth - 1] : NULL; }

/* What a call on a context answers before it does anything. */
static int on_context(const char *call) {
  context *c = current();
  if (!c || !c->uses) return state.errors++, INVALID_CONTEXT;
  if (c->poison) return c->poison;
  int r = injected(call);
  if (sticky(r)) c->poison = r;
  return r;
}

#define LOCKED(body)              \
  do {                            \
    pthread_mutex_lock(&lock);    \
    int r_ = body;                \
    pthread_mutex_unlock(&lock);  \
    return r_;                    \
  } while (0)

/* ---- driver ---- */

EXPORT int cuInit(unsigned flags) { return injected("cuInit") ? state.fail_with : state.devices ? OK : NO_DEVICE; }
EXPORT int cuDriverGetVersion(int *out) { return *out = state.version, injected("cuDriverGetVersion"); }

EXPORT int cuGetErrorName(int r, const char **out) {
  static const struct { int r; const char *name; } names[] = {
    {1, "CUDA_ERROR_INVALID_VALUE"}, {2, "CUDA_ERROR_OUT_OF_MEMORY"}, {100, "CUDA_ERROR_NO_DEVICE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"}, {400, "CUDA_ERROR_INVALID_HANDLE"}, {500, "CUDA_ERROR_NOT_FOUND"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {719, "CUDA_ERROR_LAUNCH_FAILED"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].r == r) return *out = names[i].name, injected("cuGetErrorName");
  return INVALID_VALUE;
}

EXPORT int cuGetErrorString(int r, const char **out) { return *out = "as asked for", injected("cuGetErrorString"); }

/* ---- devices ---- */

EXPORT int cuDeviceGetCount(int *out) { return *out = state.devices, injected("cuDeviceGetCount"); }
EXPORT int cuDeviceGet(int *out, int n) { return *out = n, n < state.devices ? injected("cuDeviceGet") : INVALID_DEVICE; }
EXPORT int cuDeviceGetName(char *out, int size, int d) {
  snprintf(out, (size_t)size, "Stub %d", d);
  return injected("cuDeviceGetName");
}
EXPORT int cuDeviceTotalMem_v2(size_t *out, int d) { return *out = state.memory, injected("cuDeviceTotalMem_v2"); }

EXPORT int cuDeviceGetAttribute(int *out, int which, int d) {
  static const struct { int which, value; } values[] = {
    {1, 1024}, {10, 32}, {13, 1980000}, {16, 132}, {36, 3201000}, {37, 6144}, {38, 60 << 20}, {39, 2048}, {81, 233472}, {82, 65536},
    {97, 232448}};
  if (which == 75) *out = state.capability / 10;
  else if (which == 76) *out = state.capability % 10;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i].which == which) *out = values[i].value;
  return injected("cuDeviceGetAttribute");
}

/* ---- contexts ---- */

EXPORT int cuDevicePrimaryCtxRetain(void **out, int d) {
  int r = state.for_good && state.faulted ? ILLEGAL_ADDRESS : injected("cuDevicePrimaryCtxRetain");
  if (r) return r;
  contexts[d].uses++;
  state.retained++;
  contexts[d].device = d;
  *out = &contexts[d];
  return OK;
}

/* The last one's work ends, and everything of the context is gone. */
static void clear(context *c) {
  for (stream *s = c->streams; s; s = NULL)
    for (op *o = s->first, *next; o; o = next) {
      next = o->next;
      put(o);
    }
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int d) {
  if (!contexts[d].uses) return state.errors++, INVALID_CONTEXT;
  contexts[d].uses--;
  state.retained--;
  return injected("cuDevicePrimaryCtxRelease_v2");
}

EXPORT int cuDevicePrimaryCtxReset_v2(int d) {
  clear(&contexts[d]);
  state.resets++;
  state.retained -= contexts[d].uses;
  contexts[d] = (context){0};
  return injected("cuDevicePrimaryCtxReset_v2");
}

EXPORT int cuCtxPushCurrent_v2(void *c) {
  int r = injected("cuCtxPushCurrent_v2");
  if (r) return r;
  stack[depth++] = c;
  return OK;
}

EXPORT int cuCtxPopCurrent_v2(void **out) {
  if (!depth) return state.errors++, INVALID_CONTEXT;
  *out = stack[--depth];
  return injected("cuCtxPopCurrent_v2");
}

/* ---- streams: lists of what is still to be done ---- */

static void do_launch(stream *s, const op *o) {
  if (strcmp(o->text, "FAULT") == 0) {
    s->in->poison = ILLEGAL_ADDRESS;
    state.faulted = true;
  }
  if (strcmp(o->text, "ADD_ONE") == 0)
    for (size_t i = 0; i < o->size; i++) ((int32_t *)o->to)[i]++;
}

static void free_event(event *e) {
  state.events--;
  put(e);
}

static void do_event(event *e, double now) {
  e->pending--;
  e->at = now;
  if (!e->pending && e->dropped) free_event(e);
}

static void do_op(stream *s, op *o) {
  static double clock;
  clock += 1;
  if (o->kind == COPY) memcpy(o->to, o->from, o->size);
  if (o->kind == LAUNCH) do_launch(s, o);
  if (o->kind == EVENT) do_event(o->event, clock);
}

/* Until the event is there; NULL: all. */
static int run(stream *s, const event *until) {
  while (s->first && !s->in->poison && !(until && !until->pending)) {
    op *o = s->first;
    s->first = o->next;
    if (!s->first) s->last = &s->first;
    do_op(s, o);
    put(o);
  }
  return s->in->poison;
}

static int add(stream *s, op o) {
  op *mine = get(sizeof *mine);
  *mine = o;
  mine->next = NULL;
  *s->last = mine;
  s->last = &mine->next;
  return OK;
}

EXPORT int cuStreamCreate(stream **out, unsigned flags) {
  int r = on_context("cuStreamCreate");
  if (r) return r;
  *out = get(sizeof **out);
  (*out)->in = current();
  (*out)->last = &(*out)->first;
  current()->streams = *out;
  state.streams++;
  return OK;
}

static int stream_destroy(stream *s) {
  int r = on_context("cuStreamDestroy_v2");
  if (!r) run(s, NULL);
  if (s->in->streams == s) s->in->streams = NULL;
  put(s);
  state.streams--;
  return r;
}
EXPORT int cuStreamDestroy_v2(stream *s) { LOCKED(stream_destroy(s)); }

static int stream_sync(stream *s) {
  int r = on_context("cuStreamSynchronize");
  return r ? r : run(s, NULL);
}
EXPORT int cuStreamSynchronize(stream *s) { LOCKED(stream_sync(s)); }

EXPORT int cuEventCreate(event **out, unsigned flags) {
  int r = on_context("cuEventCreate");
  if (r) return r;
  *out = get(sizeof **out);
  state.events++;
  return OK;
}

static int event_destroy(event *e) {
  int r = on_context("cuEventDestroy_v2");
  if (e->pending) e->dropped = true;
  else free_event(e);
  return r;
}
EXPORT int cuEventDestroy_v2(event *e) { LOCKED(event_destroy(e)); }

static int event_record(event *e, stream *s) {
  int r = on_context("cuEventRecord");
  if (r) return r;
  e->pending++;
  return add(s, (op){.kind = EVENT, .event = e});
}
EXPORT int cuEventRecord(event *e, stream *s) { LOCKED(event_record(e, s)); }

static int event_sync(event *e) {
  int r = on_context("cuEventSynchronize");
  return r ? r : run(current()->streams, e);
}
EXPORT int cuEventSynchronize(event *e) { LOCKED(event_sync(e)); }

EXPORT int cuEventElapsedTime(float *out, event *a, event *b) {
  *out = (float)(b->at - a->at);
  return on_context("cuEventElapsedTime");
}

/* ---- memory: each block knows its size, in front of itself ---- */

enum { HEAD = 64 };

static int mem_alloc(unsigned long long *out, size_t size) {
  int r = on_context("cuMemAlloc_v2");
  if (r) return r;
  if (state.bytes + size > state.memory) return NO_MEMORY;
  char *p = get(size + HEAD);
  *(size_t *)(void *)p = size;
  memset(p + HEAD, 0xa5, size < 4096 ? size : 4096);
  state.bytes += size;
  state.blocks++;
  state.allocations++;
  *out = (uintptr_t)(p + HEAD);
  return OK;
}
EXPORT int cuMemAlloc_v2(unsigned long long *out, size_t size) { LOCKED(mem_alloc(out, size)); }

static int mem_free(unsigned long long at) {
  int r = on_context("cuMemFree_v2");
  char *p = (char *)(uintptr_t)at - HEAD;
  if (current() && current()->streams && current()->streams->first && !r) state.errors++;     /* work may still use it */
  state.bytes -= *(size_t *)(void *)p;
  state.blocks--;
  put(p);
  return r;
}
EXPORT int cuMemFree_v2(unsigned long long at) { LOCKED(mem_free(at)); }

EXPORT int cuMemGetInfo_v2(size_t *out_free, size_t *out_total) {
  *out_free = state.memory - state.bytes;
  *out_total = state.memory;
  return on_context("cuMemGetInfo_v2");
}

EXPORT int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
  int r = on_context("cuMemHostAlloc");
  if (r) return r;
  *out = get(size);
  state.pinned++;
  return OK;
}

EXPORT int cuMemFreeHost(void *p) {
  int r = on_context("cuMemFreeHost");
  put(p);
  state.pinned--;
  return r;
}

static int copy(const char *call, void *to, const void *from, size_t size, stream *s) {
  int r = on_context(call);
  return r ? r : add(s, (op){.kind = COPY, .to = to, .from = from, .size = size});
}
EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t size, stream *s) {
  LOCKED(copy("cuMemcpyHtoDAsync_v2", (void *)(uintptr_t)to, from, size, s));
}
EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t size, stream *s) {
  LOCKED(copy("cuMemcpyDtoHAsync_v2", to, (void *)(uintptr_t)from, size, s));
}
EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t size, stream *s) {
  LOCKED(copy("cuMemcpyDtoDAsync_v2", (void *)(uintptr_t)to, (void *)(uintptr_t)from, size, s));
}

/* ---- modules ---- */

static int module_load(module **out, const char *image) {
  int r = on_context("cuModuleLoadData");
  if (r) return r;
  *out = get(sizeof **out);
  snprintf((*out)->text, sizeof (*out)->text, "%s", image);
  state.modules++;
  return OK;
}
EXPORT int cuModuleLoadData(module **out, const void *image) { LOCKED(module_load(out, image)); }

static int module_unload(module *m) {
  int r = on_context("cuModuleUnload");
  put(m);
  state.modules--;
  return r;
}
EXPORT int cuModuleUnload(module *m) { LOCKED(module_unload(m)); }

EXPORT int cuModuleGetFunction(module **out, module *m, const char *name) {
  *out = m;
  int r = on_context("cuModuleGetFunction");
  return r ? r : strstr(m->text, name) ? OK : NOT_FOUND;
}

EXPORT int cuFuncGetAttribute(int *out, int which, module *m) {
  *out = which == 4 ? 40 : which == 3 ? 16 : which == 1 ? 128 : 0;
  return on_context("cuFuncGetAttribute");
}

EXPORT int cuFuncSetAttribute(module *m, int which, int value) {
  state.shared_settings++;
  return on_context("cuFuncSetAttribute");
}

/* What a launch does, from its text and its arguments as they are now. */
static op op_of(const module *m, stub_launch l, void **params) {
  op o = {.kind = LAUNCH, .shape = l};
  if (strstr(m->text, "FAULT")) snprintf(o.text, sizeof o.text, "FAULT");
  if (strstr(m->text, "ADD_ONE")) {
    snprintf(o.text, sizeof o.text, "ADD_ONE");
    o.to = (void *)(uintptr_t) * (unsigned long long *)params[0];
    o.size = strstr(m->text, "ADD_ONE to one") ? 1 : (size_t) * (int64_t *)params[1];
  }
  return o;
}

static int launch(module *m, stub_launch l, stream *s, void **params) {
  int r = on_context("cuLaunchKernelEx");
  if (r) return r;
  state.last = l;
  state.launches++;
  return add(s, op_of(m, l, params));
}
EXPORT int cuLaunchKernelEx(const cu_launch *l, module *m, void **params, void **extra) {
  for (unsigned i = 0; i < l->nattributes; i++) {
    if (l->attributes[i].id == CU_LAUNCH_PROGRAMMATIC && l->attributes[i].value.flag == 1) state.early_launches++;
    else state.errors++;
  }
  LOCKED(launch(m, (stub_launch){l->gx, l->gy, l->gz, l->bx * l->by * l->bz, l->shared}, (stream *)l->stream, params));
}

/* ---- graphs: the operations in order. Nodes are numbered from 1; the executable is the graph. ---- */

enum { MAX_NODES = 64 };
typedef struct graph { int nodes, uses; op op[MAX_NODES]; bool tied[MAX_NODES]; } graph;      /* tied: to the node before */

EXPORT int cuGraphCreate(graph **out, unsigned flags) {
  int r = on_context("cuGraphCreate");
  if (r) return r;
  *out = get(sizeof **out);
  (*out)->uses = 1;
  state.graphs++;
  return OK;
}

static int graph_drop(const char *call, graph *g) {
  int r = on_context(call);
  state.graphs--;
  if (!--g->uses) put(g);
  return r;
}
EXPORT int cuGraphDestroy(graph *g) { return graph_drop("cuGraphDestroy", g); }
EXPORT int cuGraphExecDestroy(graph *g) { return graph_drop("cuGraphExecDestroy", g); }

/* Each node waits for the one before, from the start or by an edge that is added. */
static int graph_add(const char *call, size_t *out, graph *g, const size_t *after, size_t n, op o) {
  int r = on_context(call);
  if (r) return r;
  if (n > (g->nodes > 0) || (n && after[0] != (size_t)g->nodes) || g->nodes == MAX_NODES) return state.errors++, INVALID_VALUE;
  g->tied[g->nodes] = n || !g->nodes;
  g->op[g->nodes++] = o;
  *out = (size_t)g->nodes;
  return OK;
}

static op kernel_op(const cu_kernel_node *k) {
  return op_of((const module *)k->function, (stub_launch){k->gx, k->gy, k->gz, k->bx * k->by * k->bz, k->shared}, k->params);
}
static op copy_op(const cu_copy_node *k) {
  if (k->from.memory != CU_MEMORY_DEVICE || k->to.memory != CU_MEMORY_DEVICE || k->height != 1 || k->depth != 1) state.errors++;
  return (op){.kind = COPY, .to = (void *)(uintptr_t)k->to.at, .from = (void *)(uintptr_t)k->from.at, .size = k->bytes};
}

EXPORT int cuGraphAddKernelNode_v2(size_t *out, graph *g, const size_t *after, size_t n, const cu_kernel_node *k) {
  return graph_add("cuGraphAddKernelNode_v2", out, g, after, n, kernel_op(k));
}
EXPORT int cuGraphAddMemcpyNode(size_t *out, graph *g, const size_t *after, size_t n, const cu_copy_node *k, void *c) {
  return graph_add("cuGraphAddMemcpyNode", out, g, after, n, copy_op(k));
}

#ifndef STUB_OLD
/* An edge from the end of a node, or from where a kernel lets the next one begin; that only between kernels. */
EXPORT int cuGraphAddDependencies_v2(graph *g, const size_t *from, const size_t *to, const cu_edge *e, size_t n) {
  int r = on_context("cuGraphAddDependencies_v2");
  if (r) return r;
  bool early = e->type == CU_EDGE_PROGRAMMATIC && e->from_port == CU_PORT_PROGRAMMATIC, late = !e->type && !e->from_port;
  bool in_order = n == 1 && *to == *from + 1 && *to <= (size_t)g->nodes && !g->tied[*to - 1];
  if (!in_order || e->to_port || !(early || late)) return state.errors++, INVALID_VALUE;
  if (early && (g->op[*from - 1].kind != LAUNCH || g->op[*to - 1].kind != LAUNCH)) return state.errors++, INVALID_VALUE;
  g->tied[*to - 1] = true;
  state.early_edges += early;
  return OK;
}
#endif

EXPORT int cuGraphInstantiateWithFlags(graph **out, graph *g, unsigned long long flags) {
  int r = on_context("cuGraphInstantiateWithFlags");
  if (r) return r;
  for (int i = 0; i < g->nodes; i++) state.errors += !g->tied[i];
  g->uses++;
  state.graphs++;
  *out = g;
  return OK;
}

static int graph_set(const char *call, graph *g, size_t node, op o) {
  int r = on_context(call);
  if (r) return r;
  if (!node || node > (size_t)g->nodes || g->op[node - 1].kind != o.kind) return state.errors++, INVALID_VALUE;
  g->op[node - 1] = o;
  return OK;
}
EXPORT int cuGraphExecKernelNodeSetParams_v2(graph *g, size_t node, const cu_kernel_node *k) {
  return graph_set("cuGraphExecKernelNodeSetParams_v2", g, node, kernel_op(k));
}
EXPORT int cuGraphExecMemcpyNodeSetParams(graph *g, size_t node, const cu_copy_node *k, void *c) {
  return graph_set("cuGraphExecMemcpyNodeSetParams", g, node, copy_op(k));
}

static int graph_launch(const graph *g, stream *s) {
  int r = on_context("cuGraphLaunch");
  if (r) return r;
  state.replays++;
  for (int i = 0; i < g->nodes; i++) add(s, g->op[i]);
  return OK;
}
EXPORT int cuGraphLaunch(graph *g, stream *s) { LOCKED(graph_launch(g, s)); }

/* ---- the compiler ---- */

typedef struct program { char *text; } program;

EXPORT int nvrtcVersion(int *major, int *minor) {
  *major = number("STUB_NVRTC", 13);
  *minor = 0;
  return injected("nvrtcVersion");
}
EXPORT const char *nvrtcGetErrorString(int r) { return "NVRTC_ERROR_AS_ASKED"; }
EXPORT int nvrtcGetNumSupportedArchs(int *out) { return *out = 2, injected("nvrtcGetNumSupportedArchs"); }
EXPORT int nvrtcGetSupportedArchs(int *out) {
  out[0] = 80;
  out[1] = 90;
  return injected("nvrtcGetSupportedArchs");
}

static int program_create(program **out, const char *text) {
  int r = injected("nvrtcCreateProgram");
  if (r) return r;
  *out = get(sizeof **out);
  (*out)->text = strdup(text);
  state.programs++;
  return OK;
}
EXPORT int nvrtcCreateProgram(program **out, const char *text, const char *name, int n, const char *const *headers, const char *const *names) {
  LOCKED(program_create(out, text));
}

static int program_destroy(program **p) {
  free((*p)->text);
  put(*p);
  *p = NULL;
  state.programs--;
  return OK;
}
EXPORT int nvrtcDestroyProgram(program **p) { LOCKED(program_destroy(p)); }
EXPORT int nvrtcCompileProgram(program *p, int n, const char *const *options) {
  int r = injected("nvrtcCompileProgram");
  return r ? r : strstr(p->text, "BAD") ? 6 : OK;
}

static const char compiler_log[] = "f: line 1: this is BAD\n"
                          "ptxas         .     64 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
                          "ptxas info    : Used 17 registers, used 1 barriers, 256 bytes smem\n";
EXPORT int nvrtcGetProgramLogSize(program *p, size_t *out) { return *out = sizeof compiler_log, injected("nvrtcGetProgramLogSize"); }
EXPORT int nvrtcGetProgramLog(program *p, char *out) {
  memcpy(out, compiler_log, sizeof compiler_log);
  return injected("nvrtcGetProgramLog");
}
EXPORT int nvrtcGetCUBINSize(program *p, size_t *out) { return *out = strlen(p->text) + 1, injected("nvrtcGetCUBINSize"); }
EXPORT int nvrtcGetCUBIN(program *p, char *out) { return strcpy(out, p->text), injected("nvrtcGetCUBIN"); }
EXPORT int nvrtcGetPTXSize(program *p, size_t *out) { return *out = strlen(p->text) + 1, injected("nvrtcGetPTXSize"); }
EXPORT int nvrtcGetPTX(program *p, char *out) { return strcpy(out, p->text), injected("nvrtcGetPTX"); }
