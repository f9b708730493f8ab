/* run.c - executes a program, one task, checking everything an access can get wrong: bounds, missing arguments,
 * registers read before they were written, index arithmetic that overflows, and races where it is asked to. */
#include "cores.h"
#include "interp.h"
#include "look.h"
#include "program.h"
#include "races.h"

#include <string.h>

/* GLOBAL memory is the argument's bytes; the rest is cells, whose dtype is 0 until they are written. */
typedef struct object {
  unsigned char *bytes;
  un__value *cell;
  int64_t n; /* scalars */
} object;

/* An element that a thread copies; done when a WAIT sees its group. */
typedef struct copy {
  uint32_t thread, mem, group;
  int64_t at;
  un__value value;
} copy;

typedef struct machine {
  const un__iprog *p;
  un__err *err;
  un__iraces *races;      /* or NULL */
  un__ilook *look;        /* or NULL */
  uint32_t threads;
  un__value *slots;       /* of all threads */
  object *objects;        /* by thread, then by memory number; all but REG memory is that of thread 0 */
  uint8_t *active;        /* by thread: takes part in the step */
  UN__VEC(copy) copies;   /* under way, in order */
  UN__VEC(uint8_t) saved; /* `active` as it was before each open loop and branch */
  uint32_t pc;
  un__value *slot;        /* of the thread whose turn it is */
  uint32_t thread;
} machine;

static un_status fault(machine *m, const un__istep *s, const char *what) {
  return un__fail(m->err, UN_ERR_INTERNAL, "interp: %s (node %u) %s", un__op_table[s->op].name, s->node, what);
}

static un__ioperand operand(const machine *m, const un__istep *s, uint32_t i) { return m->p->operand.at[s->src + i]; }

static uint32_t slot_of(const machine *m, const un__istep *s, uint32_t i, uint32_t lane) {
  un__ioperand o = operand(m, s, i);
  return o.slot + lane * o.stride;
}

static const un__value *value(const machine *m, const un__istep *s, uint32_t i, uint32_t lane) {
  return &m->slot[slot_of(m, s, i, lane)];
}

static void turn_to(machine *m, uint32_t thread) {
  m->thread = thread;
  m->slot = m->slots + (size_t)thread * m->p->slot.n;
}

static object *object_of(const machine *m, uint32_t mem) {
  bool own = m->p->mem.at[mem].space == UN__SPACE_REG;
  return &m->objects[(own ? m->thread * m->p->mem.n : 0) + mem];
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
    if (!m->look) continue;
    uint32_t from[3] = {0};
    for (uint32_t i = 0; i < s->nsrc; i++) from[i] = slot_of(m, s, i, lane);
    un__ilook_alu(m->look, s, lane, from, args, *out);
  }
  return UN_OK;
}

/* What comes from elsewhere by address: it is as it is there, or anything. */
static bool is_certain(const machine *m, const un__istep *s, uint32_t first, uint32_t lane) {
  for (uint32_t i = first; i < s->nsrc; i++)
    if (!un__ilook_is_certain(m->look, slot_of(m, s, i, i > first ? lane : 0))) return false;
  return true;
}

static void look_at_address(machine *m, const un__istep *s, uint32_t first, uint32_t lane) {
  un__ilook_set(m->look, s->dst + lane, is_certain(m, s, first, lane));
}

static bool look_at_store(machine *m, const un__istep *s, uint32_t lane, int64_t at, un__value v) {
  return un__ilook_store(m->look, m->p->mem.at[s->mem].arg, at, v, slot_of(m, s, 0, lane), is_certain(m, s, 1, lane));
}

static un_status step_valid(machine *m, const un__istep *s) {
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    if (m->look) look_at_address(m, s, 0, lane);
    m->slot[s->dst + lane].i = value(m, s, 1, lane)->i ? value(m, s, 0, lane)->i : UN__INVALID_INDEX;
  }
  return UN_OK;
}

static un_status step_gather(machine *m, const un__istep *s) {
  for (uint32_t lane = 0; lane < s->nsrc; lane++) {
    m->slot[s->dst + lane] = *value(m, s, lane, 0);
    if (m->look) un__ilook_copy(m->look, s, lane, slot_of(m, s, lane, 0));
  }
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

/* What an access touches, and where its operands are: an index, then perhaps a gate. */
typedef struct access {
  uint32_t mem, part, first, nsrc;
} access;

static access access_of(const un__istep *s, uint32_t first) { return (access){s->mem, s->part, first, s->nsrc - first}; }

/* The gate of one lane, and its address in scalars; *out_skip where the access is not made. */
static un_status address(machine *m, const un__istep *s, access a, uint32_t lane, int64_t *out, bool *out_skip) {
  int64_t index = value(m, s, a.first, 0)->i;
  bool gated = a.nsrc > 1 && !value(m, s, a.first + 1, lane)->i;
  *out_skip = gated || is_invalid(value(m, s, a.first, 0));
  if (*out_skip) return UN_OK;
  const un__imem *mem = &m->p->mem.at[a.mem];
  int64_t n = object_of(m, a.mem)->n, at;
  bool fits = !__builtin_add_overflow(index, m->slot[a.part].i, &index) &&
              !__builtin_mul_overflow(index, (int64_t)mem->lanes, &at) && !__builtin_add_overflow(at, (int64_t)lane, &at);
  if (fits && at >= 0 && at < n) {
    *out = at;
    return UN_OK;
  }
  return un__fail(
      m->err, UN_ERR_INTERNAL, "interp: %s (node %u) lane %u of index %lld is outside of %s %u with %lld elements",
      un__op_table[s->op].name, s->node, lane, (long long)index, mem->space == UN__SPACE_GLOBAL ? "argument" : "memory",
      mem->space == UN__SPACE_GLOBAL ? mem->arg : a.mem, (long long)(n / mem->lanes));
}

static un_status race(machine *m, const un__istep *s, int64_t at) {
  return un__fail(m->err, UN_ERR_INTERNAL,
                  "interp: %s (node %u) by thread %u: another thread touches element %lld of memory %u, and no barrier is between",
                  un__op_table[s->op].name, s->node, m->thread, (long long)at, s->mem);
}

static bool is_shared(const machine *m, uint32_t mem) { return m->races && m->p->mem.at[mem].space != UN__SPACE_REG; }

static un_status step_load(machine *m, const un__istep *s) {
  const object *o = object_of(m, s->mem);
  size_t size = un__dt_info(s->dtype)->size;
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    un__value *out = &m->slot[s->dst + lane];
    int64_t at;
    bool skip;
    UN__TRY(address(m, s, access_of(s, 0), lane, &at, &skip));
    if (m->look) look_at_address(m, s, 0, lane);
    if (!skip && is_shared(m, s->mem) && !un__iraces_read(m->races, s->mem, at, m->thread)) return race(m, s, at);
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

/* Whether a store would leave an element as it is. */
static bool is_stored(const object *o, int64_t at, un__value v) {
  if (o->cell) return o->cell[at].dtype == v.dtype && un__value_bits(o->cell[at]) == un__value_bits(v);
  return un__value_bits(un__value_load(v.dtype, o->bytes + (size_t)at * un__dt_info(v.dtype)->size)) == un__value_bits(v);
}

static un_status step_store(machine *m, const un__istep *s) {
  const object *o = object_of(m, s->mem);
  size_t size = un__dt_info(s->dtype)->size;
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    un__value v = *value(m, s, 0, lane);
    int64_t at;
    bool skip;
    UN__TRY(address(m, s, access_of(s, 1), lane, &at, &skip));
    if (skip) continue;
    if (m->look) {
      if (!look_at_store(m, s, lane, at, v)) return un__fail(m->err, UN_ERR_NOMEM, "interp: no memory for what a kernel stores");
      continue;
    }
    if (is_shared(m, s->mem) && !is_stored(o, at, v) && !un__iraces_change(m->races, s->mem, at, m->thread))
      return race(m, s, at);
    if (o->cell)
      o->cell[at] = v;
    else
      un__value_store(v, o->bytes + (size_t)at * size);
  }
  return UN_OK;
}

/* ---- copies that are under way ---- */

static un_status step_slot(machine *m, const un__istep *s) {
  int64_t turn = (value(m, s, 0, 0)->i + s->slot.offset) % s->slot.parts;
  m->slot[s->dst] = un__value_i(UN__DT(UN_INDEX), turn * s->slot.size);
  return UN_OK;
}

/* Until it is done its elements hold nothing. */
static un_status begin_copy(machine *m, const un__istep *s, int64_t at, un__value v) {
  object *o = object_of(m, s->mem);
  if (!o->cell) return fault(m, s, "copies into memory of the device");
  if (is_shared(m, s->mem) && !un__iraces_change(m->races, s->mem, at, m->thread)) return race(m, s, at);
  o->cell[at].dtype = 0;
  copy c = {.thread = m->thread, .mem = s->mem, .at = at, .value = v};
  return un__vec_push(&m->copies, c) ? UN_OK : un__fail(m->err, UN_ERR_NOMEM, "interp: no memory for copies that are under way");
}

static un_status step_copy(machine *m, const un__istep *s) {
  access from = {s->from.mem, s->from.part, 0, s->from.nsrc}, to = access_of(s, s->from.nsrc);
  size_t size = un__dt_info(s->dtype)->size;
  for (uint32_t lane = 0; lane < s->lanes; lane++) {
    int64_t at, source;
    bool skip, zero;
    UN__TRY(address(m, s, to, lane, &at, &skip));
    if (skip) continue;
    UN__TRY(address(m, s, from, lane, &source, &zero));
    if (!zero && is_shared(m, s->from.mem) && !un__iraces_read(m->races, s->from.mem, source, m->thread)) return race(m, s, source);
    un__value v = zero ? un__value_i(s->dtype, 0) : un__value_load(s->dtype, object_of(m, s->from.mem)->bytes + (size_t)source * size);
    UN__TRY(begin_copy(m, s, at, v));
  }
  return UN_OK;
}

/* Groups of a thread are counted back from its last one: 1. Copies in none yet are in 0. */
static un_status step_commit(machine *m, const un__istep *s) {
  (void)s;
  for (size_t i = 0; i < m->copies.n; i++) m->copies.at[i].group += m->copies.at[i].thread == m->thread;
  return UN_OK;
}

static un_status end_copy(machine *m, const un__istep *s, const copy *c) {
  if (is_shared(m, c->mem) && !un__iraces_change(m->races, c->mem, c->at, c->thread)) return race(m, s, c->at);
  object_of(m, c->mem)->cell[c->at] = c->value;
  return UN_OK;
}

static un_status step_wait(machine *m, const un__istep *s) {
  size_t left = 0;
  for (size_t i = 0; i < m->copies.n; i++) {
    const copy *c = &m->copies.at[i];
    if (c->thread == m->thread && c->group > s->mask) UN__TRY(end_copy(m, s, c));
    else m->copies.at[left++] = *c;
  }
  m->copies.n = left;
  return UN_OK;
}

static un_status step_fresh(machine *m, const un__istep *s) {
  object *o = object_of(m, s->mem);
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
  if (is_shared(m, s->mem) && !un__iraces_fresh(m->races, s->mem, n))
    return un__fail(m->err, UN_ERR_NOMEM, "interp: no memory to look for races");
  return UN_OK;
}

/* ---- control: steps of the block as a whole ---- */

static un_status save_active(machine *m) {
  for (uint32_t t = 0; t < m->threads; t++)
    if (!un__vec_push(&m->saved, m->active[t])) return un__fail(m->err, UN_ERR_NOMEM, "interp: no memory to run a kernel");
  return UN_OK;
}

static void restore_active(machine *m) {
  m->saved.n -= m->threads;
  memcpy(m->active, m->saved.at + m->saved.n, m->threads);
}

static bool all_active(const machine *m) { return !memchr(m->active, 0, m->threads); }

/* Goes to the target when no thread is left. */
static void skip_if_none(machine *m, const un__istep *s) {
  if (memchr(m->active, 1, m->threads)) return;
  restore_active(m);
  m->pc = s->target;
}

#define ACTIVE_THREADS(m, t) \
  for (uint32_t t = 0; t < (m)->threads; t++) \
    if ((m)->active[t] && (turn_to((m), t), true))

static un_status step_loop(machine *m, const un__istep *s) {
  UN__TRY(save_active(m));
  ACTIVE_THREADS(m, t) {
    int64_t size = value(m, s, 0, 0)->i;
    bool pinned = m->look && s->of_result && size > 0;
    m->slot[s->dst] = un__value_i(s->dtype, pinned ? un__ilook_round(m->look, s->node, size) : 0);
    m->active[t] = size > 0;
  }
  skip_if_none(m, s);
  return UN_OK;
}

static un_status step_next(machine *m, const un__istep *s) {
  bool again = false;
  ACTIVE_THREADS(m, t) {
    int64_t next = m->slot[s->dst].i + 1;
    m->active[t] = next < value(m, s, 0, 0)->i && !(m->look && s->of_result);
    if (m->active[t]) m->slot[s->dst] = un__value_i(s->dtype, next);
    again |= m->active[t];
  }
  if (again)
    m->pc = s->target;
  else
    restore_active(m);
  return UN_OK;
}

static un_status step_if(machine *m, const un__istep *s) {
  UN__TRY(save_active(m));
  ACTIVE_THREADS(m, t) m->active[t] = value(m, s, 0, 0)->i != 0;
  skip_if_none(m, s);
  return UN_OK;
}

static un_status step_join(machine *m, const un__istep *s) {
  (void)s;
  restore_active(m);
  return UN_OK;
}

static un_status step_barrier(machine *m, const un__istep *s) {
  if (!all_active(m)) return fault(m, s, "is not passed by every thread of the block");
  if (m->races) un__iraces_barrier(m->races);
  return UN_OK;
}

static un_status step_shuffle(machine *m, const un__istep *s) {
  if (!all_active(m)) return fault(m, s, "is not passed by every thread of the block");
  for (uint32_t t = 0; t < m->threads; t++) {
    uint32_t other = t ^ s->mask;
    if (other >= m->threads) return fault(m, s, "takes a value from a thread that the block does not have");
    turn_to(m, other);
    for (uint32_t lane = 0; lane < s->lanes; lane++) m->slots[(size_t)t * m->p->slot.n + s->dst + lane] = *value(m, s, 0, lane);
  }
  return UN_OK;
}

/* ---- what a warp does ---- */

static un__value *result(machine *m, const un__istep *s, uint32_t thread) { return &m->slots[(size_t)thread * m->p->slot.n + s->dst]; }

static un_status step_wmma(machine *m, const un__istep *s) {
  if (!all_active(m)) return fault(m, s, "is not passed by every thread of the block");
  if (m->threads % UN__IWARP) return fault(m, s, "needs whole warps");
  un__icore x = {.operand = s->operand_dtype, .sum = s->dtype};
  for (uint32_t first = 0; first < m->threads; first += UN__IWARP) {
    for (uint32_t t = 0; t < UN__IWARP; t++) {
      turn_to(m, first + t);
      for (uint32_t i = 0; i < UN__ICORE_LEFT; i++) x.left[t][i] = *value(m, s, 0, i % un__icore_lanes(&x, true));
      for (uint32_t i = 0; i < UN__ICORE_LEFT / 2; i++) x.right[t][i] = *value(m, s, 1, i % un__icore_lanes(&x, false));
      for (uint32_t i = 0; i < 4; i++) x.result[t][i] = *value(m, s, 2, i);
    }
    un__icore_multiply(&x);
    for (uint32_t t = 0; t < UN__IWARP; t++) memcpy(result(m, s, first + t), x.result[t], sizeof x.result[t]);
  }
  return UN_OK;
}

/* The row that a thread gives: from[0 .. n), read by it. */
static un_status read_row(machine *m, const un__istep *s, uint32_t n, un__value *from) {
  const object *o = object_of(m, s->mem);
  for (uint32_t i = 0; i < n; i++) {
    int64_t first, at;
    bool skip;
    UN__TRY(address(m, s, access_of(s, 0), 0, &first, &skip));
    if (first % n) return fault(m, s, "reads a row that begins inside of 16 bytes");
    at = first + i;
    if (at >= o->n || !o->cell || o->cell[at].dtype == 0) return fault(m, s, "reads memory that was never written");
    if (is_shared(m, s->mem) && !un__iraces_read(m->races, s->mem, at, m->thread)) return race(m, s, at);
    from[i] = o->cell[at];
  }
  return UN_OK;
}

static un_status step_ldmatrix(machine *m, const un__istep *s) {
  uint32_t word = 4 / un__dt_info(s->dtype)->size, n = 4 * word, rows = s->lanes / word * 8;
  un__value row[UN__IWARP][16];
  if (!all_active(m)) return fault(m, s, "is not passed by every thread of the block");
  if (m->threads % UN__IWARP) return fault(m, s, "needs whole warps");
  for (uint32_t first = 0; first < m->threads; first += UN__IWARP) {
    for (uint32_t t = 0; t < rows; t++) {
      turn_to(m, first + t);
      UN__TRY(read_row(m, s, n, row[t]));
    }
    for (uint32_t t = 0; t < UN__IWARP; t++)
      for (uint32_t i = 0; i < s->lanes; i++) {
        uint32_t at = t % 4 * word + i % word, line = t / 4, matrix = i / word * 8;
        result(m, s, first + t)[i] = s->mask ? row[matrix + at][line] : row[matrix + line][at];
      }
  }
  return UN_OK;
}

/* ---- steps ---- */

typedef un_status (*step_fn)(machine *m, const un__istep *s);

/* What every active thread does, and what the block does. */
static const step_fn thread_steps[UN__ISTEP_KINDS] = {
    [UN__ISTEP_ALU] = step_alu,         [UN__ISTEP_VALID] = step_valid, [UN__ISTEP_GATHER] = step_gather,
    [UN__ISTEP_HREDUCE] = step_hreduce, [UN__ISTEP_LOAD] = step_load,   [UN__ISTEP_STORE] = step_store,
    [UN__ISTEP_SLOT] = step_slot,       [UN__ISTEP_COPY] = step_copy,   [UN__ISTEP_COMMIT] = step_commit,
    [UN__ISTEP_WAIT] = step_wait,
};
static const step_fn block_steps[UN__ISTEP_KINDS] = {
    [UN__ISTEP_LOOP] = step_loop, [UN__ISTEP_NEXT] = step_next,       [UN__ISTEP_IF] = step_if,
    [UN__ISTEP_JOIN] = step_join, [UN__ISTEP_BARRIER] = step_barrier, [UN__ISTEP_SHUFFLE] = step_shuffle,
    [UN__ISTEP_WMMA] = step_wmma, [UN__ISTEP_LDMATRIX] = step_ldmatrix,
};

/* REG memory is made new for every thread, the rest once. */
static un_status make_fresh(machine *m, const un__istep *s) {
  ACTIVE_THREADS(m, t) {
    UN__TRY(step_fresh(m, s));
    if (m->p->mem.at[s->mem].space != UN__SPACE_REG) break;
  }
  return UN_OK;
}

static un_status run(machine *m) {
  while (m->pc < m->p->step.n) {
    const un__istep *s = &m->p->step.at[m->pc++];
    if (m->look && !un__ilook_goes_on(m->look))
      return un__fail(m->err, UN_ERR_UNSUPPORTED, "interp: the kernel takes more steps than it may");
    if (s->kind == UN__ISTEP_FRESH)
      UN__TRY(make_fresh(m, s));
    else if (block_steps[s->kind])
      UN__TRY(block_steps[s->kind](m, s));
    else
      ACTIVE_THREADS(m, t) UN__TRY(thread_steps[s->kind](m, s));
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
    m->objects[i] = (object){.bytes = args[mem->arg], .n = mem->declared >= 0 ? mem->declared : sizes[mem->arg]};
  }
  return UN_OK;
}

static un_status bind_numbers(machine *m, const int64_t *vars, uint32_t nvars, int64_t task) {
  const un__iprog *p = m->p;
  if (p->var_slot.n > nvars)
    return un__fail(m->err, UN_ERR_INVALID_ARG, "interp: the kernel has %zu variables, %u values were given",
                    p->var_slot.n, nvars);
  ACTIVE_THREADS(m, t) {
    memcpy(m->slot, p->slot.at, p->slot.n * sizeof *m->slot);
    for (size_t i = 0; i < p->var_slot.n; i++) m->slot[p->var_slot.at[i]].i = vars[i];
    for (size_t i = 0; i < p->task_slot.n; i++) m->slot[p->task_slot.at[i]].i = task;
    for (size_t i = 0; i < p->thread_slot.n; i++) m->slot[p->thread_slot.at[i]].i = t;
  }
  return UN_OK;
}

static un_status run_task(machine *m, void *const *args, const int64_t *sizes, uint32_t nargs, const int64_t *vars, uint32_t nvars,
                          int64_t task) {
  const un__iprog *p = m->p;
  m->threads = p->threads;
  m->slots = un__alloc(p->threads * p->slot.n * sizeof *m->slots);
  m->objects = un__calloc(p->threads * p->mem.n, sizeof *m->objects);
  m->active = un__alloc(p->threads);
  un_status st = UN_OK;
  if (!m->slots || !m->objects || !m->active) st = un__fail(m->err, UN_ERR_NOMEM, "interp: no memory to run a kernel");
  if (st == UN_OK) {
    memset(m->active, 1, p->threads);
    turn_to(m, 0);
    st = bind_args(m, args, sizes, nargs);
  }
  if (st == UN_OK) st = bind_numbers(m, vars, nvars, task);
  if (st == UN_OK && m->races) un__iraces_block(m->races, task);
  if (st == UN_OK) st = run(m);
  for (size_t i = 0; m->objects && i < p->threads * p->mem.n; i++) un__free(m->objects[i].cell);
  un__vec_finish(&m->saved);
  un__vec_finish(&m->copies);
  un__free(m->objects);
  un__free(m->slots);
  un__free(m->active);
  return st;
}

un_status un__iprog_run(const un__iprog *p, void *const *args, const int64_t *sizes, uint32_t nargs,
                        const int64_t *vars, uint32_t nvars, int64_t task, un__iraces *races, un__err *err) {
  machine m = {.p = p, .err = err, .races = races};
  return run_task(&m, args, sizes, nargs, vars, nvars, task);
}

un_status un__iprog_look(const un__iprog *p, void *const *args, const int64_t *sizes, uint32_t nargs, un__ilook *look, un__err *err) {
  machine m = {.p = p, .err = err, .look = look};
  return run_task(&m, args, sizes, nargs, NULL, 0, 0);
}

un_status un__interp_kernel(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs,
                            const int64_t *vars, int64_t task, un__err *err) {
  un__iprog *p;
  UN__TRY(un__iprog_create(kernel, &p, err));
  un_status st = un__iprog_run(p, args, sizes, nargs, vars, vars ? (uint32_t)p->var_slot.n : 0, task, NULL, err);
  un__iprog_destroy(p);
  return st;
}

un_status un__interp_grid(const un_uop *kernel, void *const *args, const int64_t *sizes, uint32_t nargs,
                          const int64_t *vars, int64_t blocks, un__err *err) {
  un__iprog *p;
  UN__TRY(un__iprog_create(kernel, &p, err));
  un__iraces *races = un__iraces_create(p);
  un_status st = UN_OK;
  if (!races || !un__iraces_watch(races, p, sizes, nargs)) st = un__fail(err, UN_ERR_NOMEM, "interp: no memory to look for races");
  for (int64_t block = 0; st == UN_OK && block < blocks; block++)
    st = un__iprog_run(p, args, sizes, nargs, vars, vars ? (uint32_t)p->var_slot.n : 0, block, races, err);
  un__iraces_destroy(races);
  un__iprog_destroy(p);
  return st;
}
