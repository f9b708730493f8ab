/* run.c - `unir run`: a .un program on .npy files. */
#include <getopt.h>
#include <string.h>

#include "base/mem.h"
#include "base/npy.h"
#include "engine/program.h"
#include "unir.h"
#include "uop/text.h"

static const char help[] =
  "usage: unir run [-i FILE.npy]... [-o FILE.npy]... [options] PROGRAM.un\n\n"
  "Runs the first graph (stage tensor) of PROGRAM.un (- for standard input). The n-th -i is BUFFER slot n, the n-th -o\n"
  "receives the n-th result. Shapes and dtypes of the files must be those of the buffers.\n\n"
  "  --device=NAME    cpu (default), interp or null\n"
  "  --numerics=NAME  precise (default), strict or fast\n";

enum { MAX_FILES = 256 };

typedef struct job {
  const char *program, *device, *in[MAX_FILES], *out[MAX_FILES];
  uint32_t nin, nout, licences;
  void *bytes[MAX_FILES];                /* of the input files */
  un__itensor input[MAX_FILES], result[MAX_FILES];
  un__err err;
} job;

static un_status load_inputs(job *j) {
  for (uint32_t i = 0; i < j->nin; i++) {
    un__npy a;
    UN__TRY(un__npy_load(j->in[i], &j->bytes[i], &a, &j->err));
    j->input[i] = (un__itensor){.dtype = UN__DT(a.dtype), .rank = a.rank, .data = (void *)a.data};
    memcpy(j->input[i].dim, a.dim, a.rank * sizeof *a.dim);
  }
  return UN_OK;
}

static bool same_shape(const un_uop *buffer, const un__itensor *t) {
  if (buffer->dtype != t->dtype || buffer->shape->rank != t->rank) return false;
  for (uint32_t i = 0; i < t->rank; i++)
    if (un__known_size(buffer->shape->dim[i]) != t->dim[i]) return false;
  return true;
}

/* Every buffer of the program has a file, and the file is what the buffer says. */
static un_status check_inputs(job *j, const un_uop *sink) {
  size_t n;
  const un_uop **order = un__toposort(sink, &n);
  if (!order) return un__fail(&j->err, UN_ERR_NOMEM, "no memory");
  for (size_t i = 0; i < n && j->err.status == UN_OK; i++) {
    if (!un__is(order[i], UN__OP_BUFFER)) continue;
    int64_t slot = un__attr(order[i], 0);
    un__strbuf want;
    un__sb_init(&want);
    un__print_text(&want, order[i], "buffer", UN__STAGE_TENSOR, false);
    if (slot < 0 || slot >= j->nin)
      un__fail(&j->err, UN_ERR_INVALID_ARG, "%s reads buffer %lld: expected %lld -i files, got %u", j->program, (long long)slot,
               (long long)slot + 1, j->nin);
    else if (!same_shape(order[i], &j->input[slot]))
      un__fail(&j->err, UN_ERR_SHAPE, "%s does not have the dtype and shape of buffer %lld:\n%s", j->in[slot], (long long)slot,
               un__sb_str(&want));
    un__sb_finish(&want);
  }
  un__free(order);
  return j->err.status;
}

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

static un_status save_results(job *j, uint32_t n) {
  if (j->nout > n) return un__fail(&j->err, UN_ERR_INVALID_ARG, "the program has %u results, %u -o files are given", n, j->nout);
  for (uint32_t i = 0; i < j->nout; i++)
    UN__TRY(un__npy_save(j->out[i], un__dt_scalar(j->result[i].dtype), j->result[i].rank, j->result[i].dim, j->result[i].data, &j->err));
  return UN_OK;
}

static un_status run(job *j) {
  un__strbuf text;
  un__sb_init(&text);
  un__graph *ws = un__workspace_create(&j->err);
  un__parsed_graph g = {0};
  size_t n = 0;
  un_status status = ws ? tool_read_file(j->program, &text, &j->err) : j->err.status;
  if (status == UN_OK) status = un__parse_text(ws, j->program, un__sb_str(&text), text.n, &g, 1, &n);
  if (status == UN_OK && (n == 0 || g.stage != UN__STAGE_TENSOR))
    status = un__fail(&j->err, UN_ERR_INVALID_ARG, "%s: expected a graph at stage tensor", j->program);
  if (status == UN_OK) status = un__verify(g.root, g.stage, &j->err, NULL);
  const un_uop *sink = status != UN_OK ? NULL : un__is(g.root, UN__OP_SINK) ? g.root : un__sink(ws, &g.root, 1);
  if (status == UN_OK && sink->nsrc > MAX_FILES) status = un__fail(&j->err, UN_ERR_UNSUPPORTED, "more than %d results", MAX_FILES);
  if (status == UN_OK) status = load_inputs(j);
  if (status == UN_OK) status = check_inputs(j, sink);
  if (status == UN_OK) status = execute(j, sink);
  if (status == UN_OK) status = save_results(j, sink->nsrc);
  for (uint32_t i = 0; i < MAX_FILES; i++) {
    un__free(j->bytes[i]);
    un__free(j->result[i].data);
  }
  un__workspace_destroy(ws);
  un__sb_finish(&text);
  return status;
}

int tool_run(int argc, char **argv) {
  enum { DEVICE = 1, NUMERICS, HELP };
  static const struct option options[] = {{"input", required_argument, NULL, 'i'}, {"output", required_argument, NULL, 'o'},
                                          {"device", required_argument, NULL, DEVICE}, {"numerics", required_argument, NULL, NUMERICS},
                                          {"help", no_argument, NULL, HELP}, {0}};
  static job j;     /* large */
  j = (job){.device = "cpu", .licences = UN__LIC_PRECISE};
  int o;
  while ((o = getopt_long(argc, argv, "hi:o:", options, NULL)) != -1) switch (o) {
    case 'i': case 'o':
      if ((o == 'i' ? j.nin : j.nout) == MAX_FILES) return tool_usage("run", "too many files", optarg);
      if (o == 'i') j.in[j.nin++] = optarg;
      else j.out[j.nout++] = optarg;
      break;
    case DEVICE: j.device = optarg; break;
    case NUMERICS: if (!tool_numerics(optarg, &j.licences)) return tool_usage("run", "no such numerics", optarg); break;
    case 'h': case HELP: fputs(help, stdout); return EXIT_OK;
    default: return tool_usage("run", "wrong usage", NULL);
    }
  if (optind + 1 != argc) return tool_usage("run", "expected one PROGRAM", NULL);
  j.program = argv[optind];
  return run(&j) == UN_OK ? EXIT_OK : tool_fail(&j.err);
}
