/* show.c - `unir show`: a program at any stage. */
#include <getopt.h>
#include <string.h>

#include "base/mem.h"
#include "engine/engine.h"
#include "unir.h"
#include "uop/text.h"

static const char help[] =
  "usage: unir show [--stage=NAME] [options] FILE\n\n"
  "Prints the first graph of a .un FILE (- for standard input) as it is at a stage of the pipeline. The graph is at stage\n"
  "tensor, or at stage kernel: then the stages behind it can be shown.\n\n"
  "  --stage=NAME   tensor, schedule, kernel (default), opt, linear, source or asm\n"
  "  --device=NAME  the device it would run on (default cpu)\n"
  "  --text         .un text instead of trees\n"
  "  --why          what decided each choice of the optimiser\n"
  "  --notes        with --text: shapes, bounds and open ranges as comments\n";

/* A lone tensor is wanted as a result: the pipeline starts from a SINK. */
static const un_uop *as_sink(un__graph *ws, const un__parsed_graph *g) {
  return g->stage != UN__STAGE_TENSOR || un__is(g->root, UN__OP_SINK) ? g->root : un__sink(ws, &g->root, 1);
}

static un_status show(const char *path, const char *device, un__show_options *opt, un__strbuf *out, un__err *err) {
  un__strbuf text;
  un__sb_init(&text);
  un__world *world = un__world_create();
  un__graph *ws = un__workspace_create(err);
  un__engine *engine = NULL;
  un__parsed_graph g = {0};
  size_t n = 0;
  un_status status = world && ws ? tool_read_file(path, &text, err) : un__fail(err, UN_ERR_NOMEM, "no memory");
  if (status == UN_OK) status = un__parse_text(ws, path, un__sb_str(&text), text.n, &g, 1, &n);
  if (status == UN_OK && n == 0) status = un__fail(err, UN_ERR_PARSE, "%s: no graph", path);
  if (status == UN_OK) status = un__verify(g.root, g.stage, err, NULL);
  if (status == UN_OK) status = un__engine_create(world, &engine, err);
  if (status == UN_OK) status = un__engine_device(engine, device, &opt->device, err);
  opt->from = g.stage;
  if (status == UN_OK) status = un__engine_show(engine, ws, as_sink(ws, &g), opt, out, err);
  un__engine_destroy(engine);
  un__workspace_destroy(ws);
  un__world_release(world);
  un__sb_finish(&text);
  return status;
}

int tool_show(int argc, char **argv) {
  enum { STAGE = 1, DEVICE, TEXT, WHY, NOTES, HELP };
  static const struct option options[] = {
    {"stage", required_argument, NULL, STAGE}, {"device", required_argument, NULL, DEVICE}, {"text", no_argument, NULL, TEXT},
    {"why", no_argument, NULL, WHY}, {"notes", no_argument, NULL, NOTES}, {"help", no_argument, NULL, HELP}, {0}};
  un__show_options opt = {.stage = UN__SHOW_KERNEL, .licences = UN__LIC_PRECISE};
  const char *device = "cpu";
  int o;
  while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) switch (o) {
    case STAGE: if (!un__show_by_name(optarg, &opt.stage)) return tool_usage("show", "no such stage", optarg); break;
    case DEVICE: device = optarg; break;
    case TEXT: opt.text = true; break;
    case WHY: opt.why = true; break;
    case NOTES: opt.notes = true; break;
    case 'h': case HELP: fputs(help, stdout); return EXIT_OK;
    default: return tool_usage("show", "wrong usage", NULL);
    }
  if (optind + 1 != argc) return tool_usage("show", "expected one FILE", NULL);
  un__err err = {0};
  un__strbuf out;
  un__sb_init(&out);
  un_status status = show(argv[optind], device, &opt, &out, &err);
  if (status == UN_OK) fputs(un__sb_str(&out), stdout);
  un__sb_finish(&out);
  return status == UN_OK ? EXIT_OK : tool_fail(&err);
}
