/* run.c - executes a program, one task, checking everything an access can get wrong: bounds, missing arguments,
 * registers read before they were written, index arithmetic that overflows. */
#include "interp.h"
#include "program.h"

#include <string.h>

/* GLOBAL memory is the argument's bytes; the rest is cells, whose dtype is 0 until they are written. */
typedef struct object {
  unsigned char *bytes;
  un__value *cell;
  int64_t n; /* scalars */
} object;

typedef struct machine {
  const un__iprog *p;
  un__err *err;
  un__value *slot;
  object *object; /* by memory number */
  uint32_t pc;
} machine;

static un_status fault(machine *m, const un__istep *s, const char *what) {
  return un__fail(m->err, UN_ERR_INTERNAL, "interp: %s (node %u) %s", un__op_table[s->op].name, s->node, what);
}

static un__ioperand operand(const machine *m, const un__istep *s, uint32_t i) { return m->p->operand.at[s->src + i]; }

static const un__value *value(const machine *m, const un__istep *s, uint32_t i, uint32_t lane) {
  un__ioperand o = operand(m, s, i);
  return &m->slot[o.slot + lane * o.stride];
}

/* ---- values ---- */

static bool is_invalid(const un__value *v) { return un__dt_is_index(v->dtype) && v->i == UN__INVALID_INDEX; }

static bool any_invalid(const un__value *args, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (is_invalid(&args[i])) return true;
  return false;
}

static un_status step_alu(machine *m, const un__istep *s) {
  un__value args[3] = {{0}};
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    un__value *out = &m->slot[s->dst + lane];
    for (uint32_t i = 0; i < s->nsrc; i++) args[i] = *value(m, s, i, lane);
    if (s->is_index && s->apply != UN__OP_WHERE && any_invalid(args, s->nsrc)) {
      out->i = UN__INVALID_INDEX;
      continue;
    }
    if (!un__op_table[s->apply].eval(s->dtype, args, out)) return fault(m, s, "has no value: an index left 64 bits");
  }
  return UN_OK;
}

static un_status step_valid(machine *m, const un__istep *s) {
  for (uint32_t lane = 0; lane < s->lanes; lane++)
    m->slot[s->dst + lane].i = value(m, s, 1, lane)->i ? value(m, s, 0, lane)->i : UN__INVALID_INDEX;
  return UN_OK;
}

static un_status step_gather(machine *m, const un__istep *s) {
  for (uint32_t lane = 0; lane < s->nsrc; lane++) m->slot[s->dst + lane] = *value(m, s, lane, 0);
  return UN_OK;
}

static un_status step_hreduce(machine *m, const un__istep *s) {
  un__value *lane = &m->slot[s->dst];
  for (uint32_t i = 0; i < s->lanes; i++) lane[i] = *value(m, s, 0, i);
  for (uint32_t half = s->lanes / 2; half > 0; half /= 2) {
    for (uint32_t i = 0; i < half; i++) {
      un__value pair[2] = {lane[i], lane[i + half]};
      if (!un__eval((un__op)s->apply, s->dtype, pair, &lane[i])) return fault(m, s, "has no value");
    }
  }
  return UN_OK;
}

/* ---- memory ---- */

/* The gate of one lane, and its address in scalars; *out_skip where the access is not made. */
static un_status address(machine *m, const un__istep *s, uint32_t first, uint32_t lane, int64_t *out, bool *out_skip) {
  int64_t index = value(m, s, first, 0)->i;
  bool gated = s->nsrc > first + 1 && !value(m, s, first + 1, lane)->i;
  *out_skip = gated || is_invalid(value(m, s, first, 0));
  if (*out_skip) return UN_OK;
  const un__imem *mem = &m->p->mem.at[s->mem];
  int64_t n = m->object[s->mem].n, at;
  bool fits =
      !__builtin_mul_overflow(index, (int64_t)mem->lanes, &at) && !__builtin_add_overflow(at, (int64_t)lane, &at);
  if (fits && at >= 0 && at < n) {
    *out = at;
    return UN_OK;
  }
  return un__fail(
      m->err, UN_ERR_INTERNAL, "interp: %s (node %u) lane %u of index %lld is outside of %s %u with %lld elements",
      un__op_table[s->op].name, s->node, lane, (long long)index, mem->space == UN__SPACE_GLOBAL ? "argument" : "memory",
      mem->space == UN__SPACE_GLOBAL ? mem->arg : s->mem, (long long)(n / mem->lanes));
}

static un_status step_load(machine *m, const un__istep *s) {
  const object *o = &m->object[s->mem];
  size_t size = un__dt_info(s->dtype)->size;
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    un__value *out = &m->slot[s->dst + lane];
    int64_t at;
    bool skip;
    UN__TRY(address(m, s, 0, lane, &at, &skip));
    if (skip)
      *out = un__value_i(s->dtype, 0);
    else if (o->cell)
      *out = o->cell[at];
    else
      *out = un__value_load(s->dtype, o->bytes + (size_t)at * size);
    if (out->dtype == 0) return fault(m, s, "reads memory that was never written");
  }
  return UN_OK;
}

static un_status step_store(machine *m, const un__istep *s) {
  const object *o = &m->object[s->mem];
  size_t size = un__dt_info(s->dtype)->size;
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    int64_t at;
    bool skip;
    UN__TRY(address(m, s, 1, lane, &at, &skip));
    if (skip) continue;
    if (o->cell)
      o->cell[at] = *value(m, s, 0, lane);
    else
      un__value_store(*value(m, s, 0, lane), o->bytes + (size_t)at * size);
  }
  return UN_OK;
}

static un_status step_fresh(machine *m, const un__istep *s) {
  object *o = &m->object[s->mem];
  int64_t n = value(m, s, 0, 0)->i, lanes = m->p->mem.at[s->mem].lanes;
  if (n < 0 || __builtin_mul_overflow(n, lanes, &n)) return fault(m, s, "has an impossible size");
  if (n != o->n || !o->cell) {
    un__free(o->cell);
    o->n = 0;
    o->cell = (uint64_t)n <= SIZE_MAX / sizeof *o->cell ? un__alloc((size_t)n * sizeof *o->cell) : NULL;
    if (!o->cell) return un__fail(m->err, UN_ERR_NOMEM, "interp: no memory for %lld elements", (long long)n);
    o->n = n;
  }
  memset(o->cell, 0, (size_t)n * sizeof *o->cell);
  return UN_OK;
}

/* ---- control ---- */

static un_status step_loop(machine *m, const un__istep *s) {
  m->slot[s->dst] = un__value_i(s->dtype, 0);
  if (value(m, s, 0, 0)->i <= 0) m->pc = s->target;
  return UN_OK;
}

static un_status step_next(machine *m, const un__istep *s) {
  int64_t next = m->slot[s->dst].i + 1;
  if (next >= value(m, s, 0, 0)->i) return UN_OK;
  m->slot[s->dst] = un__value_i(s->dtype, next);
  m->pc = s->target;
  return UN_OK;
}

static un_status step_if(machine *m, const un__istep *s) {
  if (!value(m, s, 0, 0)->i) m->pc = s->target;
  return UN_OK;
}

static un_status (*const step_table[UN__ISTEP_KINDS])(machine *m, const un__istep *s) = {
    [UN__ISTEP_ALU] = step_alu,         [UN__ISTEP_VALID] = step_valid, [UN__ISTEP_GATHER] = step_gather,
    [UN__ISTEP_HREDUCE] = step_hreduce, [UN__ISTEP_LOAD] = step_load,   [UN__ISTEP_STORE] = step_store,
    [UN__ISTEP_FRESH] = step_fresh,     [UN__ISTEP_LOOP] = step_loop,   [UN__ISTEP_NEXT] = step_next,
    [UN__ISTEP_IF] = step_if,
};

static un_status run(machine *m) {
  while (m->pc < m->p->step.n) {
    const un__istep *s = &m->p->step.at[m->pc++];
    UN__TRY(step_table[s->kind](m, s));
  }
  return UN_OK;
}

/* ---- start ---- */

static un_status bind_args(machine *m, void *const *args, const int64_t *sizes, uint32_t nargs) {
  for (size_t i = 0; i < m->p->mem.n; i++) {
    const un__imem *mem = &m->p->mem.at[i];
    if (mem->space != UN__SPACE_GLOBAL) continue;
    if (mem->arg >= nargs)
      return un__fail(m->err, UN_ERR_INVALID_ARG, "interp: the kernel uses argument %u, %u were given", mem->arg,
                      nargs);
    if (sizes[mem->arg] < mem->declared)
      return un__fail(m->err, UN_ERR_INVALID_ARG, "interp: argument %u has %lld elements, the kernel expects %lld",
                      mem->arg, (long long)sizes[mem->arg], (long long)mem->declared);
    m->object[i] = (object){.bytes = args[mem->arg], .n = mem->declared >= 0 ? mem->declared : sizes[mem->arg]};
  }
  return UN_OK;
}

static un_status bind_numbers(machine *m, const int64_t *vars, uint32_t nvars, int64_t task) {
  if (m->p->var_slot.n > nvars)
    return un__fail(m->err, UN_ERR_INVALID_ARG, "interp: the kernel has %zu variables, %u values were given",
                    m->p->var_slot.n, nvars);
  for (size_t i = 0; i < m->p->var_slot.n; i++) m->slot[m->p->var_slot.at[i]].i = vars[i];
  for (size_t i = 0; i < m->p->task_slot.n; i++) m->slot[m->p->task_slot.at[i]].i = task;
  return UN_OK;
}

un_status un__iprog_run(const un__iprog *p, void *const *args, const int64_t *sizes, uint32_t nargs,
                        const int64_t *vars, uint32_t nvars, int64_t task, un__err *err) {
  machine m = {.p = p, .err = err};
  m.slot = un__alloc(p->slot.n * sizeof *m.slot);
  m.object = un__calloc(p->mem.n, sizeof *m.object);
  un_status st = UN_OK;
  if (!m.slot || !m.object) st = un__fail(err, UN_ERR_NOMEM, "interp: no memory to run a kernel");
  if (st == UN_OK) memcpy(m.slot, p->slot.at, p->slot.n * sizeof *m.slot);
  if (st == UN_OK) st = bind_args(&m, args, sizes, nargs);
  if (st == UN_OK) st = bind_numbers(&m, vars, nvars, task);
  if (st == UN_OK) st = run(&m);
  for (size_t i = 0; m.object && i < p->mem.n; i++) un__free(m.object[i].cell);
  un__free(m.object);
  un__free(m.slot);
  return st;
}

un_status un__interp_kernel(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs,
                            const int64_t *vars, int64_t task, un__err *err) {
  un__iprog *p;
  UN__TRY(un__iprog_create(kernel, &p, err));
  un_status st = un__iprog_run(p, args, sizes, nargs, vars, vars ? (uint32_t)p->var_slot.n : 0, task, err);
  un__iprog_destroy(p);
  return st;
}
