/* opt.c - `unir opt`: text in, passes, text out. The driver of the goldens. */
#include <string.h>

#include "base/mem.h"
#include "engine/passes.h"
#include "unir.h"

typedef struct settings {
  const char *passes;
  un__pass_env env;
  un__opt_plan plan;
  bool tree, notes, why, trust, list;
} settings;

static const char *set_passes(void *s, const char *arg) { return ((settings *)s)->passes = arg, NULL; }
static const char *set_numerics(void *s, const char *arg) { return tool_set_licences(&((settings *)s)->env.licences, arg); }
static const char *set_tree(void *s, const char *arg) { return ((settings *)s)->tree = true, NULL; }
static const char *set_notes(void *s, const char *arg) { return ((settings *)s)->notes = true, NULL; }
static const char *set_why(void *s, const char *arg) { return ((settings *)s)->why = true, NULL; }
static const char *set_trust(void *s, const char *arg) { return ((settings *)s)->trust = true, NULL; }
static const char *set_list(void *s, const char *arg) { return ((settings *)s)->list = true, NULL; }

static const char *set_plan(void *s, const char *arg) {
  un__strbuf steps;
  un__sb_init(&steps);
  for (; *arg; arg++) un__sb_putc(&steps, *arg == ',' ? '\n' : *arg);
  un__sb_putc(&steps, '\n');
  un_status status = un__opt_plan_parse(un__sb_str(&steps), steps.n, &((settings *)s)->plan, &(un__err){0});
  un__sb_finish(&steps);
  ((settings *)s)->env.plan = &((settings *)s)->plan;
  return status == UN_OK ? NULL : "--plan: expected steps, such as \"split 0 inner 8 upcast,stage 2 ring 2\"";
}

static const char *set_target(void *s, const char *arg) {
  const un__target *t = un__target_by_name(arg);
  if (t) ((settings *)s)->env.target = t;
  return t ? NULL : "--target: expected generic, avx512, host, interp or a GPU such as sm_90a";
}

static const tool_option options[] = {
  {"pass", "NAME[,NAME..]", 0, set_passes, "passes, by name, in this order"},
  {"target", "NAME", 0, set_target, "generic (default), avx512, host or interp: the machine the optimiser has in mind"},
  {"plan", "STEP[,STEP..]", 0, set_plan, "what pass opt does in place of what the heuristics choose (docs/search.md)"},
  {"numerics", "NAME", 0, set_numerics, "precise (default), strict or fast"},
  {"tree", NULL, 0, set_tree, "print trees instead of text"},
  {"notes", NULL, 0, set_notes, "print shapes, bounds and open ranges as comments"},
  {"why", NULL, 0, set_why, "print what decided each choice of the optimiser, as comments"},
  {"no-verify", NULL, 0, set_trust, "do not check graphs against their stage before and after each pass"},
  {"list", NULL, 0, set_list, "list the passes"},
};

/* ---- one graph ---- */

static un_status check(const settings *s, const un__parsed_graph *g, un__err *err) {
  return s->trust ? UN_OK : tool_verify(g->root, g->stage, err);
}

static un_status apply(const settings *s, un__graph *ws, un__parsed_graph *g, const char *pass, un__strbuf *why, un__err *err) {
  un__pass_env env = s->env;
  env.why = s->why ? why : NULL;
  g->root = un__run_named_pass(ws, g->root, &g->stage, pass, &env);
  if (g->root) return check(s, g, err);
  return un__fail(err, un__graph_status(ws), "%s", un__graph_err(ws)->text);
}

static void print_graph(const settings *s, const un__parsed_graph *g, const un__strbuf *why, un__strbuf *out) {
  for (const char *line = un__sb_str(why); *line;) {
    size_t n = strcspn(line, "\n");
    un__sb_puts(out, s->tree ? "" : "# ");
    un__sb_putn(out, line, n);
    un__sb_putc(out, '\n');
    line += n + (line[n] == '\n');
  }
  if (s->tree) un__print_tree(out, g->root, s->env.target->has_threads);
  else un__print_text(out, g->root, g->name, g->stage, s->notes);
}

/* Applies the comma-separated passes to a graph and prints the result. */
static un_status process(const settings *s, un__graph *ws, un__parsed_graph *g, un__strbuf *out, un__err *err) {
  UN__TRY(check(s, g, err));
  char *names = un__strdup(s->passes ? s->passes : ""), *save = NULL;
  if (!names) return un__fail(err, UN_ERR_NOMEM, "no memory");
  un_status status = UN_OK;
  un__strbuf why;
  un__sb_init(&why);
  for (char *name = strtok_r(names, ",", &save); name && status == UN_OK; name = strtok_r(NULL, ",", &save))
    status = apply(s, ws, g, name, &why, err);
  if (status == UN_OK) print_graph(s, g, &why, out);
  un__sb_finish(&why);
  un__free(names);
  return status;
}

/* ---- a file ---- */

enum { MAX_GRAPHS = 1024 };

static un_status process_file(const settings *s, const char *path, un__strbuf *out, un__err *err) {
  un__graph *ws = un__workspace_create(err);
  un__parsed_graph *graphs = un__calloc(MAX_GRAPHS, sizeof *graphs);
  size_t n = 0;
  un_status status = ws && graphs ? tool_read_graphs(ws, path, graphs, MAX_GRAPHS, &n, err)
                                  : un__fail(err, UN_ERR_NOMEM, "no memory");
  for (size_t i = 0; i < n && status == UN_OK; i++) status = process(s, ws, &graphs[i], out, err);
  un__free(graphs);
  un__workspace_destroy(ws);
  return status;
}

static int print_list(void) {
  un__strbuf out;
  un__sb_init(&out);
  un__list_passes(&out);
  int code = tool_print(&out);
  un__sb_finish(&out);
  return code;
}

static int run(int argc, char **argv) {
  settings s = {.env = {.target = un__target_generic(), .licences = UN__LIC_PRECISE}};
  const char *path;
  int code;
  if (!tool_parse(&tool_opt, argc, argv, &s, &path, &code)) return code;
  if (!path == !s.list) return tool_usage(&tool_opt, "expected one FILE, or --list", NULL);
  if (s.list) return print_list();
  un__err err = {.log = tool_log};
  un__strbuf out;
  un__sb_init(&out);
  code = process_file(&s, path, &out, &err) == UN_OK ? tool_print(&out) : tool_fail(&err);
  un__sb_finish(&out);
  return code;
}

const tool_command tool_opt = {
  .name = "opt", .summary = "apply named passes to .un graphs and print them",
  .usage = "[--pass=NAME[,NAME..]] [options] FILE\n       unir opt --list", .operand = "FILE", .optional = true,
  .about = "Reads .un graphs from FILE (- for standard input), applies the passes in order to each, prints .un.\n"
           "Without --pass it checks and prints in canonical form.\n",
  .options = options, .noptions = sizeof options / sizeof *options, .run = run,
};
