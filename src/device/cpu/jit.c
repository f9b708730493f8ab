/* jit.c - LLVM-C and ORC.
 *
 * A compilation has its own LLVMContext and takes a TargetMachine from a list of idle ones, so compilations do not
 * meet; the object it emits is then added to the one LLJIT under a resource tracker, which frees the code. Every object has a
 * JITDylib of its own, so that all may call their entry the same and an object can be used again in another process. ORC never
 * frees a JITDylib: those of released code wait for other code. */
#include "jit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "base/mem.h"

/* The renderer emits explicit vectors; what is left is to put accumulators in registers and to share addresses. */
static const char passes[] = "function(sroa,early-cse<memssa>,loop-mssa(licm),early-cse)";

typedef struct machine { LLVMTargetMachineRef tm; struct machine *next; } machine;

struct un__jit {
  const un__target *target;
  LLVMOrcLLJITRef lljit;
  pthread_mutex_t lock;        /* guards what follows */
  machine *idle;
  un__jit_code *empty;         /* released code, for its JITDylib */
  uint64_t serial;             /* of the next JITDylib */
};

struct un__jit_code {
  LLVMOrcJITDylibRef lib;
  LLVMOrcResourceTrackerRef tracker;
  un__jit_code *next;
};

static un_status orc_fail(LLVMErrorRef e, const char *what, un__err *err) {
  char *text = LLVMGetErrorMessage(e);
  un_status status = un__fail(err, UN_ERR_COMPILE, "%s: %s", what, text);
  LLVMDisposeErrorMessage(text);
  return status;
}

static void initialize_native(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
  LLVMInitializeNativeAsmParser();
}

/* What ORC reports also comes back from the call that failed; by default it would go to stderr. */
static void swallow(void *data, LLVMErrorRef e) { LLVMConsumeError(e); }

/* Whatever this LLVM was built with: only for code that is looked at on another machine than it is for. */
static void initialize_others(void) {
  LLVMInitializeAllTargetInfos();
  LLVMInitializeAllTargets();
  LLVMInitializeAllTargetMCs();
  LLVMInitializeAllAsmPrinters();
}

un_status un__jit_create(const un__target *t, un__jit **out, un__err *err) {
  static pthread_once_t native = PTHREAD_ONCE_INIT, others = PTHREAD_ONCE_INIT;
  pthread_once(&native, initialize_native);
  if (!un__target_runs_here(t)) pthread_once(&others, initialize_others);
  *out = NULL;
  un__jit *j = un__calloc(1, sizeof *j);
  if (!j) return un__fail(err, UN_ERR_NOMEM, "no memory for the compiler");
  j->target = t;
  LLVMErrorRef e = LLVMOrcCreateLLJIT(&j->lljit, NULL);
  if (e) {
    un__free(j);
    return orc_fail(e, "cannot start ORC", err);
  }
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(j->lljit), swallow, NULL);
  pthread_mutex_init(&j->lock, NULL);
  *out = j;
  return UN_OK;
}

void un__jit_destroy(un__jit *j) {
  if (!j) return;
  for (machine *m = j->idle, *next; m; m = next) {
    next = m->next;
    LLVMDisposeTargetMachine(m->tm);
    un__free(m);
  }
  for (un__jit_code *c = j->empty, *next; c; c = next) {
    next = c->next;
    un__free(c);
  }
  LLVMErrorRef e = LLVMOrcDisposeLLJIT(j->lljit);
  if (e) LLVMConsumeError(e);
  pthread_mutex_destroy(&j->lock);
  un__free(j);
}

/* ---- target machines ---- */

static bool is_native(const un__target *t) { return strcmp(t->cpu, "native") == 0; }

static un_status make_machine(const un__target *t, machine **out, un__err *err) {
  char *triple = *t->triple ? LLVMCreateMessage(t->triple) : LLVMGetDefaultTargetTriple(), *text = NULL;
  char *cpu = is_native(t) ? LLVMGetHostCPUName() : LLVMCreateMessage(t->cpu);
  char *features = is_native(t) ? LLVMGetHostCPUFeatures() : LLVMCreateMessage(t->features);
  LLVMTargetRef target;
  machine *m = un__calloc(1, sizeof *m);
  un_status status = m ? UN_OK : un__fail(err, UN_ERR_NOMEM, "no memory for the compiler");
  if (m && LLVMGetTargetFromTriple(triple, &target, &text)) {
    status = un__fail(err, UN_ERR_COMPILE, "no code generator for %s: %s", triple, text);
  } else if (m) {
    m->tm = LLVMCreateTargetMachine(target, triple, cpu, features, LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelJITDefault);
    if (!m->tm) status = un__fail(err, UN_ERR_COMPILE, "no target machine for %s, cpu %s", triple, cpu);
  }
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  if (text) LLVMDisposeMessage(text);
  if (status != UN_OK) {
    un__free(m);
    m = NULL;
  }
  *out = m;
  return status;
}

static un_status take_machine(un__jit *j, machine **out, un__err *err) {
  pthread_mutex_lock(&j->lock);
  machine *m = j->idle;
  if (m) j->idle = m->next;
  pthread_mutex_unlock(&j->lock);
  *out = m;
  return m ? UN_OK : make_machine(j->target, out, err);
}

static void return_machine(un__jit *j, machine *m) {
  pthread_mutex_lock(&j->lock);
  m->next = j->idle;
  j->idle = m;
  pthread_mutex_unlock(&j->lock);
}

/* ---- compiling ---- */

/* LLVM reports what it cannot do through the context; kept here instead of printed. */
static void keep_diagnostic(LLVMDiagnosticInfoRef info, void *data) {
  if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
  char *text = LLVMGetDiagInfoDescription(info);
  un__fail(data, UN_ERR_COMPILE, "LLVM: %s", text);
  LLVMDisposeMessage(text);
}

static un_status parse_module(LLVMContextRef cx, const char *ir, size_t size, LLVMModuleRef *out, un__err *err) {
  /* The reader wants a NUL behind the text, which is why the text is copied. */
  LLVMMemoryBufferRef buf = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, size, "kernel");
  char *text = NULL;
  if (LLVMParseIRInContext(cx, buf, out, &text)) {
    un_status status = un__fail(err, UN_ERR_COMPILE, "LLVM IR: %s", text ? text : "cannot be parsed");
    if (text) LLVMDisposeMessage(text);
    return status;
  }
  if (LLVMVerifyModule(*out, LLVMReturnStatusAction, &text)) {
    un__fail(err, UN_ERR_COMPILE, "LLVM IR does not verify: %s", text ? text : "");
    LLVMDisposeModule(*out);
    *out = NULL;
  }
  if (text) LLVMDisposeMessage(text);
  return *out ? UN_OK : UN_ERR_COMPILE;
}

static un_status optimize(LLVMModuleRef m, LLVMTargetMachineRef tm, un__err *err) {
  char *triple = LLVMGetTargetMachineTriple(tm);
  LLVMSetTarget(m, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(tm);
  LLVMSetModuleDataLayout(m, layout);
  LLVMDisposeTargetData(layout);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef e = LLVMRunPasses(m, passes, tm, options);
  LLVMDisposePassBuilderOptions(options);
  return e ? orc_fail(e, "LLVM passes", err) : UN_OK;
}

/* Parses, optimises and emits. entry NULL: whatever is there. */
static un_status emit(machine *m, const char *ir, size_t size, const char *entry, LLVMCodeGenFileType kind,
                      LLVMMemoryBufferRef *out, un__err *err) {
  un__err local = {0};
  LLVMContextRef cx = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(cx, keep_diagnostic, &local);
  LLVMModuleRef module = NULL;
  un_status status = parse_module(cx, ir, size, &module, err);
  if (status == UN_OK && entry && !LLVMGetNamedFunction(module, entry))
    status = un__fail(err, UN_ERR_COMPILE, "LLVM IR has no function %s", entry);
  if (status == UN_OK) status = optimize(module, m->tm, err);
  char *text = NULL;
  if (status == UN_OK && LLVMTargetMachineEmitToMemoryBuffer(m->tm, module, kind, &text, out))
    status = un__fail(err, UN_ERR_COMPILE, "LLVM: %s", text ? text : "cannot emit code");
  if (text) LLVMDisposeMessage(text);
  if (status == UN_OK && local.status != UN_OK) {
    status = un__err_copy(err, &local);
    LLVMDisposeMemoryBuffer(*out);
  }
  if (module) LLVMDisposeModule(module);
  LLVMContextDispose(cx);
  return status;
}

/* emit on a machine of the target, given back whatever happens. */
static un_status emit_for(un__jit *j, const char *ir, size_t size, const char *entry, LLVMCodeGenFileType kind,
                          LLVMMemoryBufferRef *out, un__err *err) {
  machine *m;
  UN__TRY(take_machine(j, &m, err));
  un_status status = emit(m, ir, size, entry, kind, out, err);
  return_machine(j, m);
  return status;
}

/* The bytes in the caller's memory. */
static un_status take_bytes(LLVMMemoryBufferRef buffer, size_t extra, un__blob *out, un__err *err) {
  size_t n = LLVMGetBufferSize(buffer);
  *out = (un__blob){un__alloc(n + extra), n};
  if (out->bytes) memcpy(out->bytes, LLVMGetBufferStart(buffer), n);
  LLVMDisposeMemoryBuffer(buffer);
  return out->bytes ? UN_OK : un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
}

un_status un__jit_compile(un__jit *j, const char *ir, size_t size, const char *entry, un__blob *out, un__err *err) {
  LLVMMemoryBufferRef object;
  UN__TRY(emit_for(j, ir, size, entry, LLVMObjectFile, &object, err));
  return take_bytes(object, 0, out, err);
}

/* ---- loading ---- */

/* Code generation may call memset, memcpy and soft-float helpers of this process. */
static LLVMErrorRef find_in_process(un__jit *j, LLVMOrcJITDylibRef lib) {
  LLVMOrcDefinitionGeneratorRef process;
  LLVMErrorRef e =
    LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(j->lljit), NULL, NULL);
  if (!e) LLVMOrcJITDylibAddGenerator(lib, process);
  return e;
}

/* Code with an empty JITDylib, used before or new. */
static un_status take_code(un__jit *j, un__jit_code **out, un__err *err) {
  pthread_mutex_lock(&j->lock);
  un__jit_code *c = *out = j->empty;
  uint64_t serial = j->serial;
  if (c) j->empty = c->next;
  else j->serial++;
  pthread_mutex_unlock(&j->lock);
  if (c) return UN_OK;
  if (!(c = un__calloc(1, sizeof *c))) return un__fail(err, UN_ERR_NOMEM, "no memory for compiled code");
  char name[32];
  snprintf(name, sizeof name, "k%llu", (unsigned long long)serial);
  c->lib = LLVMOrcExecutionSessionCreateBareJITDylib(LLVMOrcLLJITGetExecutionSession(j->lljit), name);
  LLVMErrorRef e = find_in_process(j, c->lib);
  if (e) {
    un__free(c);
    return orc_fail(e, "cannot search the process for symbols", err);
  }
  *out = c;
  return UN_OK;
}

/* The answer of a look-up, which ORC may give from another thread. */
typedef struct answer {
  pthread_mutex_t lock;
  pthread_cond_t there;
  bool given;
  LLVMErrorRef error;
  LLVMOrcExecutorAddress address;
} answer;

static void give_answer(LLVMErrorRef e, LLVMOrcCSymbolMapPairs result, size_t n, void *data) {
  answer *a = data;
  pthread_mutex_lock(&a->lock);
  a->error = e;
  if (!e && n) a->address = result[0].Sym.Address;
  a->given = true;
  pthread_cond_signal(&a->there);
  pthread_mutex_unlock(&a->lock);
}

/* LLVMOrcLLJITLookup looks in the main JITDylib only. */
static LLVMErrorRef look_up(un__jit *j, LLVMOrcJITDylibRef lib, const char *name, LLVMOrcExecutorAddress *out) {
  answer a = {.given = false};
  pthread_mutex_init(&a.lock, NULL);
  pthread_cond_init(&a.there, NULL);
  LLVMOrcCJITDylibSearchOrderElement order = {lib, LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly};
  LLVMOrcCLookupSetElement symbol = {LLVMOrcLLJITMangleAndIntern(j->lljit, name), LLVMOrcSymbolLookupFlagsRequiredSymbol};
  LLVMOrcExecutionSessionLookup(LLVMOrcLLJITGetExecutionSession(j->lljit), LLVMOrcLookupKindStatic, &order, 1, &symbol, 1,
                                give_answer, &a);
  pthread_mutex_lock(&a.lock);
  while (!a.given) pthread_cond_wait(&a.there, &a.lock);
  pthread_mutex_unlock(&a.lock);
  pthread_cond_destroy(&a.there);
  pthread_mutex_destroy(&a.lock);
  *out = a.address;
  return a.error;
}

un_status un__jit_load(un__jit *j, const un__blob *object, const char *entry, un__jit_code **out, un__cpu_kernel *out_fn,
                       un__err *err) {
  un__jit_code *c;
  UN__TRY(take_code(j, &c, err));
  c->tracker = LLVMOrcJITDylibCreateResourceTracker(c->lib);
  LLVMOrcExecutorAddress address = 0;
  LLVMMemoryBufferRef copy = LLVMCreateMemoryBufferWithMemoryRangeCopy(object->bytes, object->size, "kernel");
  LLVMErrorRef e = LLVMOrcLLJITAddObjectFileWithRT(j->lljit, c->tracker, copy);     /* takes the object */
  if (!e) e = look_up(j, c->lib, entry, &address);
  if (e) {
    un__jit_release(j, c);
    return orc_fail(e, "ORC", err);
  }
  *out = c;
  *out_fn = (un__cpu_kernel)(uintptr_t)address;
  return UN_OK;
}

void un__jit_release(un__jit *j, un__jit_code *c) {
  if (!c) return;
  LLVMErrorRef e = LLVMOrcResourceTrackerRemove(c->tracker);
  if (e) LLVMConsumeError(e);
  LLVMOrcReleaseResourceTracker(c->tracker);
  pthread_mutex_lock(&j->lock);
  c->next = j->empty;
  j->empty = c;
  pthread_mutex_unlock(&j->lock);
}

un_status un__jit_assembly(un__jit *j, const char *ir, size_t size, char **out, un__err *err) {
  LLVMMemoryBufferRef buffer;
  un__blob text;
  *out = NULL;
  UN__TRY(emit_for(j, ir, size, NULL, LLVMAssemblyFile, &buffer, err));
  UN__TRY(take_bytes(buffer, 1, &text, err));
  *out = text.bytes;
  (*out)[text.size] = '\0';
  return UN_OK;
}

/* ---- identity ---- */

void un__jit_identity(const un__target *t, un__strbuf *out) {
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  char *triple = *t->triple ? LLVMCreateMessage(t->triple) : LLVMGetDefaultTargetTriple();
  char *cpu = is_native(t) ? LLVMGetHostCPUName() : LLVMCreateMessage(t->cpu);
  char *features = is_native(t) ? LLVMGetHostCPUFeatures() : LLVMCreateMessage(t->features);
  un__sb_printf(out, "LLVM %u.%u.%u %s %s %s %s", major, minor, patch, triple, cpu, features, passes);
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
}
