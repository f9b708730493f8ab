/* run.c - `unir run`: a .un program on .npy files. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/npy.h"
#include "engine/program.h"
#include "unir.h"

enum { MAX_FILES = 256 };

typedef struct job {
  const char *program, *device, *in[MAX_FILES], *out[MAX_FILES];
  uint32_t nin, nout, licences;
  void *bytes[MAX_FILES];                /* of the input files */
  un__itensor input[MAX_FILES], result[MAX_FILES];
  un__strbuf text;                       /* what the run has to say; after a failure, its details */
  un__err err;
} job;

static const char *set_input(void *s, const char *arg) {
  job *j = s;
  if (j->nin == MAX_FILES) return "--input: too many files";
  if (strcmp(arg, "-") == 0) return "--input: expected the name of a file, such as /dev/stdin";
  return j->in[j->nin++] = arg, NULL;
}

static const char *set_output(void *s, const char *arg) {
  job *j = s;
  if (j->nout == MAX_FILES) return "--output: too many files";
  if (strcmp(arg, "-") == 0) return "--output: expected the name of a file, such as /dev/stdout";
  for (uint32_t i = 0; i < j->nout; i++)
    if (strcmp(j->out[i], arg) == 0) return "--output: two results for one file";
  return j->out[j->nout++] = arg, NULL;
}

static const char *set_device(void *s, const char *arg) { return ((job *)s)->device = arg, NULL; }
static const char *set_numerics(void *s, const char *arg) { return tool_set_licences(&((job *)s)->licences, arg); }

static const tool_option options[] = {
  {"input", "FILE.npy", 'i', set_input, "the values of the next BUFFER slot, from 0; its dtype and shape"},
  {"output", "FILE.npy", 'o', set_output, "receives the next result, from the first; others are only described"},
  {"device", "NAME", 0, set_device, "where it runs (default cpu): `unir devices` lists them"},
  {"numerics", "NAME", 0, set_numerics, "precise (default), strict or fast"},
};

/* ---- inputs ---- */

static un_status load_inputs(job *j) {
  for (uint32_t i = 0; i < j->nin; i++) {
    un__npy a;
    UN__TRY(un__npy_load(j->in[i], &j->bytes[i], &a, &j->err));
    j->input[i] = (un__itensor){.dtype = UN__DT(a.dtype), .rank = a.rank, .data = (void *)a.data};
    memcpy(j->input[i].dim, a.dim, a.rank * sizeof *a.dim);
  }
  return UN_OK;
}

static void put_type(un__strbuf *out, un__dtype dtype, uint32_t rank, const int64_t *dim) {
  char name[UN__DTYPE_TEXT];
  un__sb_printf(out, "%s (", un__dtype_text(dtype, name));
  for (uint32_t i = 0; i < rank; i++) un__sb_printf(out, "%s%lld", i ? "," : "", (long long)dim[i]);
  un__sb_putc(out, ')');
}

static void put_buffer(un__strbuf *out, const un_uop *buffer) {
  int64_t dim[UN__MAX_RANK];
  for (uint32_t i = 0; i < buffer->shape->rank; i++) dim[i] = un__known_size(buffer->shape->dim[i]);
  put_type(out, buffer->dtype, buffer->shape->rank, dim);
}

static bool same_type(const un_uop *buffer, const un__itensor *t) {
  if (buffer->dtype != t->dtype || buffer->shape->rank != t->rank) return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (un__known_size(buffer->shape->dim[i]) != t->dim[i]) return false;
  return true;
}

static int by_slot(const void *a, const void *b) {
  int64_t x = un__attr(*(const un_uop *const *)a, 0), y = un__attr(*(const un_uop *const *)b, 0);
  return (x > y) - (x < y);
}

/* The buffers of a program by their slots, in the caller's array (un__free); NULL: no memory. */
static const un_uop **buffers_of(const un_uop *sink, size_t *out_n) {
  size_t n;
  const un_uop **order = un__toposort(sink, &n);
  *out_n = 0;
  for (size_t i = 0; order && i < n; i++)
    if (un__is(order[i], UN__OP_BUFFER)) order[(*out_n)++] = order[i];
  if (order) qsort(order, *out_n, sizeof *order, by_slot);
  return order;
}

/* Says about one buffer what is wrong with its file, if anything is. */
static void check_input(job *j, const un_uop *buffer) {
  un__strbuf *faults = &j->text;
  int64_t slot = un__attr(buffer, 0);
  bool given = slot >= 0 && slot < j->nin;
  if (given && same_type(buffer, &j->input[slot])) return;
  un__sb_printf(faults, "  buffer %lld: expected ", (long long)slot);
  put_buffer(faults, buffer);
  if (given) {
    un__sb_printf(faults, ", %s is ", j->in[slot]);
    put_type(faults, j->input[slot].dtype, j->input[slot].rank, j->input[slot].dim);
  } else un__sb_puts(faults, ", no file is given");
  un__sb_putc(faults, '\n');
}

/* Every buffer of the program has a file, every file a buffer (or a slot that the program left out), and they agree. All
 * faults are listed. */
static un_status check_inputs(job *j, const un_uop *sink) {
  size_t n;
  const un_uop **buffer = buffers_of(sink, &n);
  if (!buffer) return un__fail(&j->err, UN_ERR_NOMEM, "no memory");
  for (size_t i = 0; i < n; i++) check_input(j, buffer[i]);
  int64_t slots = n ? un__attr(buffer[n - 1], 0) + 1 : 0;
  for (uint32_t i = 0; i < j->nin; i++)
    if (i >= slots) un__sb_printf(&j->text, "  %s: the program has no buffer %u\n", j->in[i], i);
  un__free(buffer);
  if (!j->text.n && !j->text.failed) return UN_OK;
  return un__fail(&j->err, UN_ERR_SHAPE, "%s: the inputs do not fit the program", j->program);
}

/* ---- the run ---- */

static un_status execute(job *j, const un_uop *sink) {
  un__world *world = un__world_create();
  if (!world) return un__fail(&j->err, UN_ERR_NOMEM, "no memory");
  un__err graph_err = {0};
  un__session *session = un__session_create(world, &graph_err);
  un__engine *engine = NULL;
  int device;
  un_status status = session ? un__engine_create(world, &engine, &j->err) : un__fail(&j->err, UN_ERR_NOMEM, "no memory");
  if (status == UN_OK) status = un__engine_device(engine, j->device, &device, &j->err);
  if (status == UN_OK)
    status = un__engine_run(engine, session, sink, j->input, j->nin, device, j->licences, j->result, &j->err);
  un__session_destroy(session);
  un__engine_destroy(engine);
  un__world_release(world);
  return status;
}

static un_status put_results(job *j, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const un__itensor *t = &j->result[i];
    if (i < j->nout) UN__TRY(un__npy_save(j->out[i], un__dt_scalar(t->dtype), t->rank, t->dim, t->data, &j->err));
    if (i < j->nout) continue;
    un__sb_printf(&j->text, "result %u: ", i);
    put_type(&j->text, t->dtype, t->rank, t->dim);
    un__sb_putc(&j->text, '\n');
  }
  return UN_OK;
}

static un_status check_program(job *j, const un__parsed_graph *g, uint32_t results) {
  if (g->stage != UN__STAGE_TENSOR)
    return un__fail(&j->err, UN_ERR_INVALID_ARG, "%s: expected a graph at stage tensor, it is at stage %s", j->program,
                    un__stage_name(g->stage));
  if (results > MAX_FILES) return un__fail(&j->err, UN_ERR_UNSUPPORTED, "%s: more than %d results", j->program, MAX_FILES);
  if (j->nout <= results) return UN_OK;
  return un__fail(&j->err, UN_ERR_INVALID_ARG, "%s has %u result%s, %u --output files are given", j->program, results,
                  results == 1 ? "" : "s", j->nout);
}

static un_status run_graph(job *j, un__graph *ws, const un__parsed_graph *g) {
  bool whole = un__is(g->root, UN__OP_SINK);
  UN__TRY(check_program(j, g, whole ? g->root->nsrc : 1));
  const un_uop *sink = whole ? g->root : un__sink(ws, &g->root, 1);
  if (!sink) return un__fail(&j->err, UN_ERR_NOMEM, "no memory");
  UN__TRY(load_inputs(j));
  UN__TRY(check_inputs(j, sink));
  UN__TRY(execute(j, sink));
  return put_results(j, sink->nsrc);
}

static void finish(job *j) {
  for (uint32_t i = 0; i < MAX_FILES; i++) {
    un__free(j->bytes[i]);
    un__free((void *)j->result[i].data);
  }
  un__sb_finish(&j->text);
}

static int run(int argc, char **argv) {
  static job j;     /* large */
  int code;
  j = (job){.device = "cpu", .licences = UN__LIC_PRECISE, .err = {.log = tool_log}};
  if (!tool_parse(&tool_run, argc, argv, &j, &j.program, &code)) return code;
  un__graph *ws = un__workspace_create(&j.err);
  un__parsed_graph g = {0};
  un_status status = ws ? tool_read_graph(ws, j.program, &g, &j.err) : un__fail(&j.err, UN_ERR_NOMEM, "no memory");
  if (status == UN_OK) status = run_graph(&j, ws, &g);
  un__workspace_destroy(ws);
  code = status == UN_OK ? tool_print(&j.text) : tool_fail(&j.err);
  if (status != UN_OK) fputs(un__sb_str(&j.text), stderr);
  finish(&j);
  return code;
}

const tool_command tool_run = {
  .name = "run", .summary = "run a .un program on .npy files",
  .usage = "[-i FILE.npy].. [-o FILE.npy].. [options] PROGRAM.un", .operand = "PROGRAM",
  .about = "Runs the graph (stage tensor) of PROGRAM.un (- for standard input).\n",
  .options = options, .noptions = sizeof options / sizeof *options, .run = run,
};
