/* show.c - any stage of a tensor program, as a tree, as .un text, as source or as assembly. */
#include "engine_parts.h"

#include <stdio.h>
#include <string.h>

#include "passes.h"
#include "tuned.h"
#include "uop/text.h"
#include "verdict.h"

/* In the order of the pipeline: what a graph can be shown as is its own stage and those behind it. */
static const struct { un__show show; const char *name; un__stage stage; } stages[] = {
  {UN__SHOW_TENSOR, "tensor", UN__STAGE_TENSOR},   {UN__SHOW_SCHEDULE, "schedule", UN__STAGE_SCHEDULE},
  {UN__SHOW_KERNEL, "kernel", UN__STAGE_KERNEL},   {UN__SHOW_OPT, "opt", UN__STAGE_KERNEL},
  {UN__SHOW_LINEAR, "linear", UN__STAGE_LINEAR},   {UN__SHOW_SOURCE, "source", 0},
  {UN__SHOW_ASM, "asm", 0},
};
enum { STAGES = sizeof stages / sizeof *stages };

bool un__show_by_name(const char *name, un__show *out) {
  for (size_t i = 0; i < STAGES; i++)
    if (strcmp(stages[i].name, name) == 0) {
      *out = stages[i].show;
      return true;
    }
  return false;
}

static un__show first_show(un__stage from) {
  for (size_t i = 0; from && i < STAGES; i++)
    if (stages[i].stage == from) return stages[i].show;
  return UN__SHOW_TENSOR;
}

typedef struct shower {
  un__engine *e;
  un__graph *ws;
  const un__show_options *opt;
  un__device *device;
  un__strbuf *out;
  un__err *err;
} shower;

/* Until the optimiser has run no loop was left sequential. */
static void show_graph(shower *s, const un_uop *root, const char *name) {
  bool parallel = s->device->target->has_threads && s->opt->stage >= UN__SHOW_OPT;
  if (s->opt->text) un__print_text(s->out, root, name, stages[s->opt->stage].stage, s->opt->notes);
  else un__print_tree(s->out, root, parallel);
}

static un_status show_code(shower *s, const un_uop *linear) {
  un__strbuf text;
  un__sb_init(&text);
  un__format format;
  un_status status = un__render(linear, s->device, &format, &text, s->err);
  if (status == UN_OK && s->opt->stage == UN__SHOW_SOURCE) un__sb_puts(s->out, un__sb_str(&text));
  if (status == UN_OK && s->opt->stage == UN__SHOW_ASM) {
    un__artifact a = un__artifact_of(linear, format, &text);
    char *assembly = NULL;
    status = s->device->vt->disassemble(s->device, &a, &assembly, s->err);
    if (status == UN_OK) un__sb_puts(s->out, assembly);
    un__free(assembly);
  }
  un__sb_finish(&text);
  return status;
}

/* What makes a line between kernels a comment of the form that is shown; trees need none. */
static const char *comment_mark(const shower *s) {
  if (s->opt->stage == UN__SHOW_ASM) return s->device->target->gpu.arch ? "// " : "# ";
  if (s->opt->stage == UN__SHOW_SOURCE) return un__source_comment(s->device);
  return s->opt->text ? "# " : "";
}

static void show_why(shower *s, const un__strbuf *why) {
  const char *mark = comment_mark(s);
  for (const char *line = un__sb_str(why); *line;) {
    const char *end = strchr(line, '\n');
    size_t n = end ? (size_t)(end - line) : strlen(line);
    un__sb_puts(s->out, mark);
    un__sb_putn(s->out, line, n);
    un__sb_putc(s->out, '\n');
    line += n + (end ? 1 : 0);
  }
}

static un_status show_linear(shower *s, const un_uop *linear, const char *name) {
  if (s->opt->stage == UN__SHOW_LINEAR) return show_graph(s, linear, name), UN_OK;
  return show_code(s, linear);
}

static un_status show_kernel(shower *s, const un_uop *body, uint32_t number) {
  char name[32];
  snprintf(name, sizeof name, "k%u", number);
  if (s->opt->stage == UN__SHOW_KERNEL) return show_graph(s, body, name), UN_OK;
  if (s->opt->from == UN__STAGE_LINEAR) return show_linear(s, body, name);
  un__strbuf why;
  un__sb_init(&why);
  un__lowered l;
  un__opt_found found;
  const un_uop *own = un__import(s->ws, body, NULL);      /* as it is compiled: plans of records name its ranges */
  bool tuned = own && un__tuned_plan(s->e, s->device, own, s->opt->licences, &found, &s->err->log);
  if (tuned) body = own;
  bool ok = un__lower_kernel(s->e, s->ws, body, s->device->target, s->opt->licences, tuned ? &found : NULL, s->opt->why ? &why : NULL, &l);
  un_status status = ok || (s->opt->stage == UN__SHOW_OPT && l.optimised) ? UN_OK : un__graph_status(s->ws);
  if (status == UN_OK && s->opt->why && l.linear) status = un__verdict(s->device, body, l.linear, &why, s->err);
  if (status == UN_OK && why.failed) status = un__fail(s->err, UN_ERR_NOMEM, "no memory to show a kernel");
  if (status == UN_OK) show_why(s, &why);
  if (status == UN_OK && s->opt->stage == UN__SHOW_OPT) show_graph(s, l.optimised, name);
  else if (status == UN_OK) status = show_linear(s, l.linear, name);
  un__sb_finish(&why);
  return status;
}

/* Every distinct kernel once, in the order of the schedule; a body shown before is only named. */
static un_status show_kernels(shower *s, const un_uop *schedule) {
  un__ptrmap seen;
  un__ptrmap_init(&seen);
  un_status status = UN_OK;
  uint32_t distinct = 0;
  if (!schedule->nsrc) un__sb_printf(s->out, "%sno kernel: nothing is to be computed\n", comment_mark(s));
  for (uint32_t i = 0; i < schedule->nsrc && status == UN_OK; i++) {
    bool added;
    uintptr_t *number = un__ptrmap_put(&seen, schedule->src[i]->src[0], &added);
    if (!number) {
      status = un__fail(s->err, UN_ERR_NOMEM, "no memory to show a schedule");
      break;
    }
    if (added) *number = distinct++;
    if (schedule->nsrc > 1)
      un__sb_printf(s->out, "%skernel %u of %u%s\n", comment_mark(s), i + 1, schedule->nsrc, added ? "" : ", the same as before");
    if (added) status = show_kernel(s, schedule->src[i]->src[0], (uint32_t)*number);
  }
  un__ptrmap_finish(&seen);
  return status;
}

static const un_uop *schedule_of(shower *s, const un_uop *root) {
  if (s->opt->from == UN__STAGE_SCHEDULE) return root;
  un__stage stage = UN__STAGE_TENSOR;
  un__pass_env env = {.target = s->device->target, .licences = s->opt->licences};
  return un__run_named_pass(s->ws, root, &stage, "schedule", &env);
}

static un_status show_program(shower *s, const un_uop *root) {
  const un_uop *schedule = schedule_of(s, root);
  if (!schedule) return un__graph_status(s->ws);
  return s->opt->stage == UN__SHOW_SCHEDULE ? (show_graph(s, schedule, "g"), UN_OK) : show_kernels(s, schedule);
}

un_status un__engine_show(un__engine *e, un__graph *ws, const un_uop *root, const un__show_options *opt, un__strbuf *out,
                          un__err *err) {
  shower s = {e, ws, opt, e->device[opt->device], out, err};
  if (opt->stage < first_show(opt->from))
    return un__fail(err, UN_ERR_INVALID_ARG, "stage %s: expected a stage from %s on, where the graph is", stages[opt->stage].name,
                    un__stage_name(opt->from));
  if (opt->stage == UN__SHOW_TENSOR) return show_graph(&s, root, "g"), UN_OK;
  bool alone = opt->from == UN__STAGE_KERNEL || opt->from == UN__STAGE_LINEAR;
  un_status status = alone ? show_kernel(&s, root, 0) : show_program(&s, root);
  /* A graph's failure is in its workspace, any other in err already. */
  return status == UN_OK ? UN_OK : un__fail(err, status, "%s", un__graph_err(ws)->text);
}
