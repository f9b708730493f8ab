/* opt.c - `unir opt`: text in, passes, text out. The driver of the goldens. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "codegen/codegen.h"
#include "engine/passes.h"
#include "unir.h"
#include "uop/text.h"

static const char help[] =
  "usage: unir opt [--pass=NAME[,NAME...]] [options] FILE\n\n"
  "Reads .un graphs from FILE (- for standard input), applies the passes in order to each, prints .un.\n"
  "Without --pass it checks and prints in canonical form.\n\n"
  "  --pass=NAMES     passes, by name\n"
  "  --target=NAME    generic (default), host or interp: the machine the optimiser has in mind\n"
  "  --numerics=NAME  precise (default), strict or fast\n"
  "  --tree           print trees instead of text\n"
  "  --notes          print shapes, bounds and open ranges as comments\n"
  "  --why            print what decided each choice of the optimiser\n"
  "  --no-verify      do not check graphs against their stage before and after each pass\n"
  "  --list           list the passes\n";

typedef struct settings {
  char *passes;
  un__pass_env env;
  bool tree, notes, verify, why;
} settings;

static int list_passes(void) {
  size_t n;
  const un__named_pass *p = un__named_passes(&n);
  for (size_t i = 0; i < n; i++) printf("%-12s %s\n", p[i].name, p[i].doc);
  for (size_t i = 0; i < un__codegen_npasses; i++)
    printf("%-12s lower, step %zu: %s\n", un__codegen_passes[i].name, i + 1, un__codegen_passes[i].doc);
  for (size_t i = 0; un__all_passes[i]; i++) printf("%-12s rules\n", un__all_passes[i]->name);
  return EXIT_OK;
}

static bool pick_target(const char *name, const un__target **out) {
  static const struct { const char *name; const un__target *(*get)(void); } targets[] = {
    {"generic", un__target_generic}, {"host", un__target_host}, {"interp", un__target_interp}};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
    if (strcmp(targets[i].name, name) == 0) return *out = targets[i].get(), true;
  return false;
}

static un_status check(const settings *s, const un_uop *root, un__stage stage, un__err *err) {
  if (!s->verify) return UN_OK;
  un__strbuf annotated;
  un__sb_init(&annotated);
  un_status status = un__verify(root, stage, err, &annotated);
  if (status != UN_OK) fputs(un__sb_str(&annotated), stderr);
  un__sb_finish(&annotated);
  return status;
}

/* Applies the comma-separated passes to one graph and prints the result. */
static un_status process(const settings *s, un__graph *ws, un__parsed_graph *g, un__strbuf *out, un__err *err) {
  UN__TRY(check(s, g->root, g->stage, err));
  char *names = un__strdup(s->passes ? s->passes : ""), *save = NULL;
  if (!names) return un__fail(err, UN_ERR_NOMEM, "no memory");
  un_status status = UN_OK;
  un__strbuf why;
  un__sb_init(&why);
  un__pass_env env = s->env;
  env.why = s->why ? &why : NULL;
  for (char *name = strtok_r(names, ",", &save); name && status == UN_OK; name = strtok_r(NULL, ",", &save)) {
    g->root = un__run_named_pass(ws, g->root, &g->stage, name, &env);
    status = g->root ? check(s, g->root, g->stage, err) : err->status;
  }
  un__free(names);
  if (status == UN_OK) {
    un__sb_puts(out, un__sb_str(&why));
    if (s->tree) un__print_tree(out, g->root, env.target->has_threads);
    else un__print_text(out, g->root, g->name, g->stage, s->notes);
  }
  un__sb_finish(&why);
  return status;
}

enum { MAX_GRAPHS = 1024 };

static int run(const settings *s, const char *path) {
  un__err err = {0};
  un__strbuf text, out;
  un__sb_init(&text);
  un__sb_init(&out);
  un__graph *ws = un__workspace_create(&err);
  un__parsed_graph *graphs = un__calloc(MAX_GRAPHS, sizeof *graphs);
  size_t n = 0;
  un_status status = ws && graphs ? tool_read_file(path, &text, &err) : un__fail(&err, UN_ERR_NOMEM, "no memory");
  if (status == UN_OK) status = un__parse_text(ws, path, un__sb_str(&text), text.n, graphs, MAX_GRAPHS, &n);
  for (size_t i = 0; i < n && status == UN_OK; i++) status = process(s, ws, &graphs[i], &out, &err);
  if (status == UN_OK) fputs(un__sb_str(&out), stdout);
  un__free(graphs);
  un__workspace_destroy(ws);
  un__sb_finish(&text);
  un__sb_finish(&out);
  return status == UN_OK ? EXIT_OK : tool_fail(&err);
}

int tool_opt(int argc, char **argv) {
  enum { PASS = 1, TARGET, NUMERICS, TREE, NOTES, WHY, NO_VERIFY, LIST, HELP };
  static const struct option options[] = {
    {"pass", required_argument, NULL, PASS}, {"target", required_argument, NULL, TARGET},
    {"numerics", required_argument, NULL, NUMERICS}, {"tree", no_argument, NULL, TREE}, {"notes", no_argument, NULL, NOTES},
    {"why", no_argument, NULL, WHY}, {"no-verify", no_argument, NULL, NO_VERIFY}, {"list", no_argument, NULL, LIST},
    {"help", no_argument, NULL, HELP}, {0}};
  settings s = {.env = {.target = un__target_generic(), .licences = UN__LIC_PRECISE}, .verify = true};
  int o;
  while ((o = getopt_long(argc, argv, "h", options, NULL)) != -1) switch (o) {
    case PASS: s.passes = optarg; break;
    case TARGET: if (!pick_target(optarg, &s.env.target)) return tool_usage("opt", "no such target", optarg); break;
    case NUMERICS: if (!tool_numerics(optarg, &s.env.licences)) return tool_usage("opt", "no such numerics", optarg); break;
    case TREE: s.tree = true; break;
    case NOTES: s.notes = true; break;
    case WHY: s.why = true; break;
    case NO_VERIFY: s.verify = false; break;
    case LIST: return list_passes();
    case 'h': case HELP: fputs(help, stdout); return EXIT_OK;
    default: return tool_usage("opt", "wrong usage", NULL);
    }
  if (optind + 1 != argc) return tool_usage("opt", "expected one FILE", NULL);
  return run(&s, argv[optind]);
}
