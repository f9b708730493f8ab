/* cstyle.c - the statements of a list: memory, loops and branches, in order. */
#include "cstyle.h"

#include <string.h>

/* ---- memory ---- */

const un_uop *un__c_gate_of(const un_uop *index) { return index->nsrc > 2 ? index->src[2] : NULL; }

/* An INDEX counts elements of its pointer's dtype, which may be vectors. */
static void put_offset(un__cstyle *r, const un_uop *index) {
  uint32_t lanes = un__dt_lanes(index->dtype);
  const un_uop *i = index->src[1];
  if (un__is_const(i)) {
    un__c_emit(r, "%d", un__const_int(i) * lanes);
    return;
  }
  un__c_put_ref(r, un__c_lane(r, i, 0));
  if (lanes > 1) un__c_emit(r, " * %d", (int64_t)lanes);
}

void un__c_put_address(un__cstyle *r, const un_uop *index) {
  un__c_emit(r, "(%R + ", un__c_lane(r, index->src[0], 0));
  put_offset(r, index);
  un__c_emit(r, ")");
}

/* "p[i]". Where the dtype of the number might not hold the sum, lanes are counted from the address. */
static void put_element(un__cstyle *r, const un_uop *index, uint32_t lane) {
  const un_uop *i = index->src[1];
  uint32_t lanes = un__dt_lanes(index->dtype);
  int64_t most = un__dt_info(i->dtype)->mantissa == 32 ? INT32_MAX : INT64_MAX;
  un__c_ref p = un__c_lane(r, index->src[0], 0);
  if (un__is_const(i)) {
    un__c_emit(r, "%R[%d]", p, un__const_int(i) * lanes + lane);
  } else if (lane && i->vmax > most / lanes - lane) {
    un__c_put_address(r, index);
    un__c_emit(r, "[%d]", (int64_t)lane);
  } else {
    un__c_emit(r, "%R[", p);
    put_offset(r, index);
    if (lane) un__c_emit(r, " + %d", (int64_t)lane);
    un__c_emit(r, "]");
  }
}

un__c_ref un__c_gate_lane(un__cstyle *r, const un_uop *gate, uint32_t lane) {
  return un__c_lane(r, gate, un__lanes(gate) > 1 ? lane : 0);
}

static bool put_load(un__cstyle *r, const un_uop *n) {
  const un_uop *index = n->src[0], *gate = un__c_gate_of(index);
  if (!un__c_define(r, n, 'v', r->at)) return false;
  if (un__lanes(n) > 1 && r->dialect->load && r->dialect->load(r, n)) return true;
  for (uint32_t lane = 0; lane < un__lanes(n); lane++) {
    un__c_begin(r, n->dtype, un__c_lane(r, n, lane));
    if (gate) un__c_emit(r, "%R ? ", un__c_gate_lane(r, gate, lane));
    put_element(r, index, lane);
    un__c_emit(r, gate ? " : 0;\n" : ";\n");
  }
  return true;
}

/* The PARAM behind an address, NULL for memory of the kernel's own. */
static const un_uop *param_of(const un_uop *index) {
  const un_uop *p = un__memory_of(index);
  return un__is(p, UN__OP_PARAM) ? p : NULL;
}

static bool put_store(un__cstyle *r, const un_uop *n) {
  const un_uop *index = n->src[0], *value = n->src[1], *gate = un__c_gate_of(index);
  if (un__lanes(value) > 1 && r->dialect->store && r->dialect->store(r, n)) return true;
  for (uint32_t lane = 0; lane < un__lanes(value); lane++) {
    un__c_line(r);
    if (gate) un__c_emit(r, "if (%R) ", un__c_gate_lane(r, gate, lane));
    put_element(r, index, lane);
    un__c_emit(r, " = %R;\n", un__c_lane(r, value, lane));
  }
  return true;
}

/* An INDEX is written where it is used. */
static bool put_nothing(un__cstyle *r, const un_uop *n) { return true; }

enum { MAX_SCRATCH = 1 << 20 };

/* "T r5[8];": elements of all lanes. */
static bool put_array(un__cstyle *r, const un_uop *n, char prefix) {
  int64_t count = un__known_size(n->src[0]), lanes = un__dt_lanes(n->dtype);
  if (count < 0 || count > MAX_SCRATCH / (lanes * un__dt_info(n->dtype)->size)) return false;
  if (!un__c_define(r, n, prefix, r->at)) return false;
  un__c_line(r);
  un__c_emit(r, "%M %R[%d];\n", n->dtype, un__c_lane(r, n, 0), count * lanes);
  return true;
}

static bool put_registers(un__cstyle *r, const un_uop *n) { return put_array(r, n, 'r'); }

static bool put_local(un__cstyle *r, const un_uop *n) {
  return r->dialect->local ? r->dialect->local(r, n) : put_array(r, n, 's');
}

/* ---- numbers from outside ---- */

static bool put_param(un__cstyle *r, const un_uop *n) {
  return un__c_define(r, n, 'p', (uint32_t)un__attr(n, 0));
}

/* Variables are numbered in the order of the list. */
static bool put_var(un__cstyle *r, const un_uop *n) {
  if (!un__c_define(r, n, 'v', r->at)) return false;
  un__c_begin(r, n->dtype, un__c_lane(r, n, 0));
  un__c_emit(r, "(%T)n%d;\n", n->dtype, (int64_t)r->nvars++);
  return true;
}

static bool put_special(un__cstyle *r, const un_uop *n) {
  const char *number = r->dialect->special[un__attr(n, 0)];
  if (!number || un__attr(n, 1) != 0 || !un__c_define(r, n, 'v', r->at)) return false;
  un__c_begin(r, n->dtype, un__c_lane(r, n, 0));
  un__c_emit(r, "(%T)%s;\n", n->dtype, number);
  return true;
}

/* ---- blocks ---- */

enum { FEW_ROUNDS = 16, FEW_STATEMENTS = 1024 };

/* Such a loop costs more than its rounds, and one round waits for its loads before the next one's begin. Of many statements
 * each would be fetched to run once, unless a loop is around. */
static bool is_short(const un__cstyle *r, const un_uop *range) {
  int64_t rounds = un__known_size(range->src[0]), statements = 0;
  if (rounds < 0 || rounds > FEW_ROUNDS) return false;
  for (uint32_t i = r->at + 1; i < r->list->nsrc; i++) {
    const un_uop *n = r->list->src[i];
    if (un__is(n, UN__OP_RANGE)) return false;
    if (un__is(n, UN__OP_END)) return true;
    statements += un__lanes(n);
    if (!r->depth && statements * rounds > FEW_STATEMENTS) return false;
  }
  return false;
}

static bool put_range(un__cstyle *r, const un_uop *n) {
  if (!un__c_define(r, n, 'v', r->at)) return false;
  un__c_ref v = un__c_lane(r, n, 0);
  const char *line = is_short(r, n) ? r->dialect->short_loop : r->dialect->loop;
  if (*line) {
    un__c_line(r);
    un__c_emit(r, "%s\n", line);
  }
  un__c_line(r);
  un__c_emit(r, "for (%T %R = 0; %R < %R; %R++) {\n", n->dtype, v, v, un__c_lane(r, n->src[0], 0), v);
  r->depth++;
  return true;
}

static bool put_if(un__cstyle *r, const un_uop *n) {
  un__c_line(r);
  un__c_emit(r, "if (%R) {\n", un__c_lane(r, n->src[0], 0));
  r->depth++;
  return true;
}

static bool close_block(un__cstyle *r, const un_uop *n) {
  if (!r->depth) return false;
  r->depth--;
  un__c_line(r);
  un__c_emit(r, "}\n");
  return true;
}

static bool put_barrier(un__cstyle *r, const un_uop *n) {
  if (!*r->dialect->barrier) return true;
  un__c_line(r);
  un__c_emit(r, "%s\n", r->dialect->barrier);
  return true;
}

/* What stands for another value or pointer. */
static bool put_alias(un__cstyle *r, const un_uop *n) {
  const un_uop *of = n->src[0];
  if (un__is(of, UN__OP_INDEX)) return false;
  un__c_ref lane[UN__C_LANES];
  uint32_t lanes = un__dt_is_ptr(of->dtype) ? 1 : un__lanes(of);
  for (uint32_t i = 0; i < lanes; i++) lane[i] = un__c_lane(r, of, i);
  return un__c_bind(r, n, lane, lanes);
}

static bool (*const put[UN__OP_COUNT])(un__cstyle *r, const un_uop *n) = {
  [UN__OP_GROUP] = put_nothing, [UN__OP_SINK] = put_nothing, [UN__OP_INDEX] = put_nothing, [UN__OP_BARRIER] = put_barrier,
  [UN__OP_AFTER] = put_alias, [UN__OP_PARAM] = put_param, [UN__OP_VAR] = put_var, [UN__OP_SPECIAL] = put_special,
  [UN__OP_DEFINE_REG] = put_registers, [UN__OP_DEFINE_LOCAL] = put_local, [UN__OP_LOAD] = put_load,
  [UN__OP_STORE] = put_store, [UN__OP_RANGE] = put_range, [UN__OP_END] = close_block, [UN__OP_IF] = put_if,
  [UN__OP_ENDIF] = close_block,
};

/* ---- the list ---- */

static bool add_param(un__cstyle *r, const un_uop *n) {
  size_t slot = (size_t)un__attr(n, 0);
  while (r->params.n <= slot)
    if (!un__vec_push(&r->params, NULL) || !un__vec_push(&r->written, false)) return false;
  r->params.at[slot] = n;
  return true;
}

/* What the signature says must be known before the first statement: a dialect may ask which arguments are only read. */
static void collect_params(un__cstyle *r, const un_uop *linear) {
  bool ok = true;
  for (uint32_t i = 0; i < linear->nsrc && ok; i++)
    if (un__is(linear->src[i], UN__OP_PARAM)) ok = add_param(r, linear->src[i]);
  for (uint32_t i = 0; i < linear->nsrc && ok; i++) {
    const un_uop *n = linear->src[i], *p = un__is(n, UN__OP_STORE) ? param_of(n->src[0]) : NULL;
    if (p) r->written.at[un__attr(p, 0)] = true;
  }
  if (!ok) un__fail(r->err, UN_ERR_NOMEM, "no memory for %s", r->dialect->name);
}

static void put_node(un__cstyle *r, const un_uop *n) {
  bool done = put[n->op] ? put[n->op](r, n) : un__c_alu(r, n) || (r->dialect->own && r->dialect->own(r, n));
  if (!done)
    un__fail(r->err, UN_ERR_INTERNAL, "%s: %s of dtype %s with %u lanes has no form", r->dialect->name, un__info(n)->name,
             un__dt_info(n->dtype)->name, un__lanes(n));
}

un_status un__cstyle_render(un__cstyle *r, const un__c_dialect *dialect, const un_uop *linear, un__err *err) {
  *r = (un__cstyle){.dialect = dialect, .err = err};
  collect_params(r, linear);
  r->list = linear;
  for (r->at = 0; r->at < linear->nsrc && err->status == UN_OK; r->at++) put_node(r, linear->src[r->at]);
  if (r->body.failed) un__fail(err, UN_ERR_NOMEM, "no memory for %s", dialect->name);
  return err->status;
}

void un__cstyle_finish(un__cstyle *r) {
  un__sb_finish(&r->body);
  un__ptrmap_finish(&r->places);
  un__vec_finish(&r->refs);
  un__vec_finish(&r->params);
  un__vec_finish(&r->written);
}

void un__cstyle_put_types(un__strbuf *out) {
  un__sb_puts(out, "typedef signed char i8;\n"
                   "typedef unsigned char u8;\n"
                   "typedef short i16;\n"
                   "typedef unsigned short u16;\n"
                   "typedef int i32;\n"
                   "typedef unsigned int u32;\n"
                   "typedef long long i64;\n"
                   "typedef unsigned long long u64;\n"
                   "typedef float f32;\n"
                   "typedef double f64;\n");
}

void un__cstyle_put_functions(const un__cstyle *r, un__strbuf *out) {
  for (int f = 0; f < UN__C_FUNCTIONS; f++)
    if (r->functions >> f & 1 && r->dialect->function[f].definition) un__sb_puts(out, r->dialect->function[f].definition);
}
