/* device.c - the device "interp": an artifact is the .un text of one linear kernel, and a launch interprets it task by
 * task. Memory is host memory. */
#include <pthread.h>

#include "device/host_mem.h"
#include "interp.h"
#include "program.h"
#include "races.h"
#include "uop/text.h"

typedef struct interp {
  un__host_device host;
  pthread_mutex_t lock; /* launches run one after another */
} interp;

struct un__code {
  un__iprog *program;
  uint32_t nargs, nvars;
  un__launch_formula tasks;
};

/* The graph is needed until the program is made. */
static un_status parse(const un__artifact *a, un__graph *ws, un__iprog **out, un__err *err) {
  un__parsed_graph g;
  size_t n;
  UN__TRY(un__parse_text(ws, a->entry ? a->entry : "kernel", a->bytes, a->size, &g, 1, &n));
  if (n != 1 || g.stage != UN__STAGE_LINEAR || g.root->op != UN__OP_LINEAR)
    return un__fail(err, UN_ERR_COMPILE, "interp: an artifact is one graph at stage linear");
  return un__iprog_create(g.root, out, err);
}

static un_status check_counts(const un__artifact *a, const un__iprog *p, un__err *err) {
  for (size_t i = 0; i < p->mem.n; i++)
    if (p->mem.at[i].space == UN__SPACE_GLOBAL && p->mem.at[i].arg >= a->nargs)
      return un__fail(err, UN_ERR_COMPILE, "interp: the kernel uses argument %u of %u", p->mem.at[i].arg, a->nargs);
  if (p->var_slot.n > a->nvars)
    return un__fail(err, UN_ERR_COMPILE, "interp: the kernel has %zu variables, the artifact says %u", p->var_slot.n,
                    a->nvars);
  return UN_OK;
}

static void code_release(un__device *d, un__code *code) {
  (void)d;
  if (!code) return;
  un__iprog_destroy(code->program);
  un__free(code);
}

static un_status compile(un__device *d, const un__artifact *a, un__code **out, un__err *err) {
  *out = NULL;
  if (a->format != UN__FORMAT_UN_LINEAR)
    return un__fail(err, UN_ERR_UNSUPPORTED, "interp: artifacts are .un text of linear kernels");
  un__code *code = un__calloc(1, sizeof *code);
  un__graph *ws = code ? un__workspace_create(err) : NULL;
  if (!ws) {
    un__free(code);
    return un__fail(err, UN_ERR_NOMEM, "interp: no memory for a kernel");
  }
  un_status st = parse(a, ws, &code->program, err);
  un__workspace_destroy(ws);
  if (st == UN_OK) st = check_counts(a, code->program, err);
  if (st != UN_OK) {
    code_release(d, code);
    return st;
  }
  code->nargs = a->nargs;
  code->nvars = a->nvars;
  code->tasks = a->tasks;
  *out = code;
  return UN_OK;
}

/* Where the arguments are and how many elements each has, in the dtype its PARAM gives it. */
static void bind(const un__code *code, un__mem *const *args, void **data, int64_t *sizes) {
  for (uint32_t i = 0; i < code->nargs; i++) {
    data[i] = args[i]->data;
    sizes[i] = (int64_t)args[i]->size;
  }
  for (size_t i = 0; i < code->program->mem.n; i++) {
    const un__imem *m = &code->program->mem.at[i];
    if (m->space == UN__SPACE_GLOBAL) sizes[m->arg] = (int64_t)(args[m->arg]->size / un__dt_info(m->dtype)->size);
  }
}

static un_status launch(un__device *d, un__code *code, un__mem *const *args, const int64_t *vars, un__err *err) {
  interp *self = (interp *)d;
  int64_t tasks;
  UN__TRY(un__launch_eval(&code->tasks, vars, code->nvars, &tasks, err));
  void **data = un__alloc(code->nargs * sizeof *data);
  int64_t *sizes = un__alloc(code->nargs * sizeof *sizes);
  bool alone = code->program->threads == 1;
  un__iraces *races = alone ? NULL : un__iraces_create(code->program);
  bool ok = data && sizes && (alone || races);
  if (ok) bind(code, args, data, sizes);
  if (ok && races) ok = un__iraces_watch(races, code->program, sizes, code->nargs);
  un_status st = ok ? UN_OK : un__fail(err, UN_ERR_NOMEM, "interp: no memory to launch a kernel");
  pthread_mutex_lock(&self->lock);
  for (int64_t task = 0; st == UN_OK && task < tasks; task++)
    st = un__iprog_run(code->program, data, sizes, code->nargs, vars, code->nvars, task, races, err);
  pthread_mutex_unlock(&self->lock);
  un__iraces_destroy(races);
  un__free(data);
  un__free(sizes);
  return st;
}

static un_status disassemble(un__device *d, const un__artifact *a, char **out, un__err *err) {
  (void)d, (void)a;
  *out = NULL;
  return un__fail(err, UN_ERR_UNSUPPORTED, "interp: there is no machine code");
}

static void destroy(un__device *d) {
  interp *self = (interp *)d;
  pthread_mutex_destroy(&self->lock);
  un__host_device_destroy(d);
}

static const un__device_vtable vtable = {
    .kind = "interp",
    .compile = compile,
    .code_release = code_release,
    .launch = launch,
    .disassemble = disassemble,
    .destroy = destroy,
    UN__HOST_MEMORY,
};

un_status un__interp_open(const un__target *t, un__device **out, un__err *err) {
  interp *d = un__host_device_create(sizeof *d, &vtable, t ? t : un__target_interp(), "interp", err);
  *out = NULL;
  if (!d) return UN_ERR_NOMEM;
  pthread_mutex_init(&d->lock, NULL);
  *out = &d->host.base;
  return UN_OK;
}
