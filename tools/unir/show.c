/* show.c - `unir show`: a program at any stage. */
#include <string.h>

#include "engine/engine.h"
#include "unir.h"

/* Languages as stages: the source that a kind of device takes. `device` is opened when none is named: one that is there. */
typedef struct language { const char *name, *kind, *device; bool gpu; } language;
static const language languages[] = {{"c", "cc", "cc", false}, {"cuda", "cuda", "cuda:sm_90a", true}};

static const language *language_named(const char *name) {
  for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
    if (strcmp(languages[i].name, name) == 0) return &languages[i];
  return NULL;
}

typedef struct settings {
  un__show_options show;
  const char *device, *target;
  const language *language;      /* NULL: --stage names a stage */
} settings;

static const char *set_stage(void *s, const char *arg) {
  settings *set = s;
  set->language = language_named(arg);
  if (set->language) return set->show.stage = UN__SHOW_SOURCE, NULL;
  bool ok = un__show_by_name(arg, &set->show.stage);
  return ok ? NULL : "--stage: expected tensor, schedule, kernel, opt, linear, source, asm, c or cuda";
}

static const char *set_device(void *s, const char *arg) { return ((settings *)s)->device = arg, NULL; }
static const char *set_target(void *s, const char *arg) {
  ((settings *)s)->target = arg;
  return un__target_by_name(arg) ? NULL : "--target: expected host, generic, avx512 or, with --device=cuda, a GPU such as sm_90a";
}

static const char *set_numerics(void *s, const char *arg) { return tool_set_licences(&((settings *)s)->show.licences, arg); }
static const char *set_text(void *s, const char *arg) { return ((settings *)s)->show.text = true, NULL; }
static const char *set_why(void *s, const char *arg) { return ((settings *)s)->show.why = true, NULL; }
static const char *set_notes(void *s, const char *arg) { return ((settings *)s)->show.notes = true, NULL; }

static const tool_option options[] = {
  {"stage", "NAME", 0, set_stage, "tensor, schedule, kernel (default), opt, linear, source or asm; or c, cuda: the source for such a device"},
  {"device", "NAME", 0, set_device, "where it would run (default cpu): `unir devices` lists them"},
  {"target", "NAME", 0, set_target, "the machine to compile for, whatever this one is: host (default), generic (AVX2), avx512; sm_90a etc. with --device=cuda"},
  {"numerics", "NAME", 0, set_numerics, "precise (default), strict or fast"},
  {"text", NULL, 0, set_text, ".un text instead of trees; source and asm have one form"},
  {"notes", NULL, 0, set_notes, "with --text: shapes, bounds and open ranges as comments"},
  {"why", NULL, 0, set_why, "what decided each choice of the optimiser, then a verdict: roofline, occupancy, spills, time; from stage opt on"},
};

/* The pipeline starts from a SINK: a lone tensor is wanted as a result. */
static const un_uop *as_sink(un__graph *ws, const un__parsed_graph *g) {
  return g->stage != UN__STAGE_TENSOR || un__is(g->root, UN__OP_SINK) ? g->root : un__sink(ws, &g->root, 1);
}

static bool is_kind(const char *device, const char *kind) {
  size_t n = strcspn(device, ":");
  return strlen(kind) == n && strncmp(kind, device, n) == 0;
}

/* A target is part of a device's name. */
static un_status open_device(un__engine *engine, settings *s, un__err *err) {
  char name[96];
  const char *device = s->device ? s->device : s->language ? s->language->device : "cpu";
  int kind = s->device ? (int)strlen(device) : (int)strcspn(device, ":");
  snprintf(name, sizeof name, "%.*s:%s", kind, device, s->target ? s->target : "");
  return un__engine_device(engine, s->target ? name : device, &s->show.device, err);
}

static un_status show_on(un__engine *engine, settings *s, const char *path, un__strbuf *out, un__err *err) {
  un__graph *ws = un__workspace_create(err);
  un__parsed_graph g = {0};
  un_status status = ws ? tool_read_graph(ws, path, &g, err) : un__fail(err, UN_ERR_NOMEM, "no memory");
  s->show.from = g.stage;
  const un_uop *root = status == UN_OK ? as_sink(ws, &g) : NULL;
  if (status == UN_OK && !root) status = un__fail(err, UN_ERR_NOMEM, "no memory");
  if (status == UN_OK) status = open_device(engine, s, err);
  if (status == UN_OK) status = un__engine_show(engine, ws, root, &s->show, out, err);
  un__workspace_destroy(ws);
  return status;
}

static un_status show(settings *s, const char *path, un__strbuf *out, un__err *err) {
  un__world *world = un__world_create();
  un__engine *engine = NULL;
  un_status status = world ? un__engine_create(world, &engine, err) : un__fail(err, UN_ERR_NOMEM, "no memory");
  if (status == UN_OK) status = show_on(engine, s, path, out, err);
  un__engine_destroy(engine);
  un__world_release(world);
  return status;
}

static int run(int argc, char **argv) {
  settings s = {.show = {.stage = UN__SHOW_KERNEL, .licences = UN__LIC_PRECISE}};
  const char *path;
  int code;
  if (!tool_parse(&tool_show, argc, argv, &s, &path, &code)) return code;
  if (s.show.why && s.show.stage < UN__SHOW_OPT) return tool_usage(&tool_show, "--why: the optimiser decides at stage opt", NULL);
  if (s.show.notes && !s.show.text) return tool_usage(&tool_show, "--notes: needs --text", NULL);
  if (s.language && s.device && !is_kind(s.device, s.language->kind))
    return tool_usage(&tool_show, "--stage: this language is not what the device takes", s.device);
  if (s.language && s.target && (un__target_by_name(s.target)->gpu.arch != NULL) != s.language->gpu)
    return tool_usage(&tool_show, "--stage: this language is not for the target", s.target);
  un__err err = {.log = tool_log};
  un__strbuf out;
  un__sb_init(&out);
  code = show(&s, path, &out, &err) == UN_OK ? tool_print(&out) : tool_fail(&err);
  un__sb_finish(&out);
  return code;
}

const tool_command tool_show = {
  .name = "show", .summary = "print a program at any stage: tree, text, source or assembly",
  .usage = "[--stage=NAME] [options] FILE", .operand = "FILE",
  .about = "Prints the graph of a .un FILE (- for standard input) as it is at a stage of the pipeline: its own, which is\n"
           "tensor, schedule, kernel or linear, or one behind it.\n",
  .options = options, .noptions = sizeof options / sizeof *options, .run = run,
};
