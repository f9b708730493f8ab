#include "passes.h"

#include <string.h>

#include "codegen/codegen.h"
#include "engine_parts.h"
#include "uop/text.h"

/* One more than the largest slot; -1 when memory is short. */
static int64_t count_inputs(const un_uop *root) {
  size_t n;
  const un_uop **order = un__toposort(root, &n);
  int64_t inputs = order ? 0 : -1;
  for (size_t i = 0; order && i < n; i++)
    if (un__is(order[i], UN__OP_BUFFER) && un__attr(order[i], 0) >= inputs) inputs = un__attr(order[i], 0) + 1;
  un__free(order);
  return inputs;
}

static const un_uop *run_schedule(un__graph *ws, const un_uop *root, const un__pass_env *env) {
  int64_t *slots = un__calloc(root->nsrc ? root->nsrc : 1, sizeof *slots);
  int64_t inputs = slots ? count_inputs(root) : -1;
  const un_uop *schedule = inputs < 0 ? NULL : un__schedule(ws, root, inputs, 0, env->target, env->licences, slots);
  if (inputs < 0) un__fail(un__graph_err(ws), UN_ERR_NOMEM, "no memory for a schedule");
  un__free(slots);
  return schedule;
}

/* The kernel of a schedule of one: what most goldens look at. */
static const un_uop *run_rangeify(un__graph *ws, const un_uop *root, const un__pass_env *env) {
  const un_uop *schedule = run_schedule(ws, root, env);
  if (!schedule || schedule->nsrc == 1) return schedule ? schedule->src[0]->src[0] : NULL;
  un__fail(un__graph_err(ws), UN_ERR_UNSUPPORTED, "rangeify: expected a graph that is one kernel, it is %u: use schedule",
           schedule->nsrc);
  return NULL;
}

static const un_uop *run_opt(un__graph *ws, const un_uop *root, const un__pass_env *env) {
  if (env->plan) return un__opt_apply(ws, root, env->plan, env->target, env->licences);
  return un__optimise(ws, root, env->target, env->licences, env->why);
}

static const un_uop *run_lower(un__graph *ws, const un_uop *root, const un__pass_env *env) {
  return un__lower(ws, root, env->target, env->licences);
}

static const un__named_pass passes[] = {
  {"schedule", "tensor graph to a list of kernels", UN__STAGE_TENSOR, UN__STAGE_SCHEDULE, run_schedule},
  {"rangeify", "tensor graph to its one kernel", UN__STAGE_TENSOR, UN__STAGE_KERNEL, run_rangeify},
  {"opt", "choose and apply AxisTypes by heuristics", UN__STAGE_KERNEL, UN__STAGE_KERNEL, run_opt},
  {"lower", "kernel to linear list", UN__STAGE_KERNEL, UN__STAGE_LINEAR, run_lower},
};

/* One step of lowering; the last one makes the list. NULL: no step is called that. */
static const un__codegen_pass *lowering_step(const char *name) {
  for (size_t i = 0; i < un__codegen_npasses; i++)
    if (!strcmp(un__codegen_passes[i].name, name)) return &un__codegen_passes[i];
  return NULL;
}

static bool takes_stage(un__graph *ws, const char *name, un__stage want, un__stage have) {
  if (want == have) return true;
  un__fail(un__graph_err(ws), UN_ERR_INVALID_ARG, "%s: expected a graph at stage %s, it is at stage %s", name,
           un__stage_name(want), un__stage_name(have));
  return false;
}

static const un__pass *rule_pass(const char *name) {
  for (size_t i = 0; un__all_passes[i]; i++) {
    if (strcmp(un__all_passes[i]->name, name) != 0) continue;
    for (uint32_t k = 0; k < un__all_passes[i]->nsets; k++)
      if (un__all_passes[i]->sets[k]->impure) return NULL;
    return un__all_passes[i];
  }
  return NULL;
}

/* A rule pass that shares its name with a step stands behind it. */
void un__list_passes(un__strbuf *out) {
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) un__sb_printf(out, "%-18s %s\n", passes[i].name, passes[i].doc);
  for (size_t i = 0; i < un__codegen_npasses; i++)
    un__sb_printf(out, "%-18s lower, step %zu: %s\n", un__codegen_passes[i].name, i + 1, un__codegen_passes[i].doc);
  for (size_t i = 0; un__all_passes[i]; i++) {
    const char *name = un__all_passes[i]->name;
    if (!lowering_step(name) && rule_pass(name)) un__sb_printf(out, "%-18s rules\n", name);
  }
}

const un_uop *un__run_named_pass(un__graph *ws, const un_uop *root, un__stage *stage, const char *name,
                                 const un__pass_env *env) {
  for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
    const un__named_pass *p = &passes[i];
    if (strcmp(p->name, name) != 0) continue;
    if (!takes_stage(ws, name, p->from, *stage)) return NULL;
    *stage = p->to;
    return p->run(ws, root, env);
  }
  const un__codegen_pass *step = lowering_step(name);
  if (step) {
    if (!takes_stage(ws, name, UN__STAGE_KERNEL, *stage)) return NULL;
    if (step == &un__codegen_passes[un__codegen_npasses - 1]) *stage = UN__STAGE_LINEAR;
    return step->fn(ws, root, env->target, env->licences);
  }
  const un__pass *rules = rule_pass(name);
  if (rules) return un__graph_rewrite(ws, root, rules, &(un__rw_options){.licences = env->licences});
  un__fail(un__graph_err(ws), UN_ERR_INVALID_ARG, "no pass is called %s: see --list", name);
  return NULL;
}
