/* kinds.c - what an expression denotes by itself: a number, a node, a dtype, ...; the builtin functions. */
#include <string.h>

#include "infer.h"
#include "lex.h"

/* ---- builtins ---- */

/* args: ends at NONE. DTYPE arguments take a node too. `c` is the function in match.h; guards use it as an int. */
static const un__builtin builtins[] = {
    {"vmin", UN__K_INT, {UN__K_NODE}, "un__m_vmin"},
    {"vmax", UN__K_INT, {UN__K_NODE}, "un__m_vmax"},
    {"nsrc", UN__K_INT, {UN__K_NODE}, "un__m_nsrc"},
    {"is_const", UN__K_INT, {UN__K_NODE}, "un__is_const"},
    {"is_invalid", UN__K_INT, {UN__K_NODE}, "un__m_is_invalid"},
    {"depends_on", UN__K_INT, {UN__K_NODE, UN__K_NODE}, "un__depends_on"},
    {"lanes", UN__K_INT, {UN__K_DTYPE}, "un__m_lanes"},
    {"bits", UN__K_INT, {UN__K_DTYPE}, "un__m_bits"},
    {"is_float", UN__K_INT, {UN__K_DTYPE}, "un__dt_is_float"},
    {"is_int", UN__K_INT, {UN__K_DTYPE}, "un__dt_is_int"},
    {"is_sint", UN__K_INT, {UN__K_DTYPE}, "un__m_is_sint"},
    {"is_uint", UN__K_INT, {UN__K_DTYPE}, "un__m_is_uint"},
    {"is_bool", UN__K_INT, {UN__K_DTYPE}, "un__dt_is_bool"},
    {"is_index", UN__K_INT, {UN__K_DTYPE}, "un__dt_is_index"},
    {"is_ptr", UN__K_INT, {UN__K_DTYPE}, "un__dt_is_ptr"},
    {"dtype_min", UN__K_INT, {UN__K_DTYPE}, "un__m_dtype_min"},
    {"dtype_max", UN__K_INT, {UN__K_DTYPE}, "un__m_dtype_max"},
    {"fdiv", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_fdiv"},
    {"fmod", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_fmod"},
    {"tdiv", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_tdiv"},
    {"tmod", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_tmod"},
    {"min", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_min"},
    {"max", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_max"},
    {"abs", UN__K_INT, {UN__K_INT}, "un__m_abs"},
    {"gcd", UN__K_INT, {UN__K_INT, UN__K_INT}, "un__m_gcd"},
    {"log2", UN__K_INT, {UN__K_INT}, "un__m_log2"},
    {"is_pow2", UN__K_INT, {UN__K_INT}, "un__m_is_pow2"},
    {"len", UN__K_INT, {UN__K_NODES}, NULL},
    {"fresh", UN__K_INT, {UN__K_NONE}, "un__m_fresh"},
    {"attr", UN__K_INT, {UN__K_NODE, UN__K_NONE}, NULL},
    {"dtype", UN__K_DTYPE, {UN__K_NODE}, NULL},
    {"scalar_of", UN__K_DTYPE, {UN__K_DTYPE}, "un__m_scalar_of"},
    {"vec", UN__K_DTYPE, {UN__K_DTYPE, UN__K_INT}, "un__m_vec"},
    {"with_lanes", UN__K_DTYPE, {UN__K_DTYPE, UN__K_INT}, "un__m_vec"},
    {"with_scalar", UN__K_DTYPE, {UN__K_DTYPE, UN__K_DTYPE}, "un__m_with_scalar"},
    {"with_src", UN__K_NODE, {UN__K_NODE}, NULL},
    {"with_dtype", UN__K_NODE, {UN__K_NODE, UN__K_DTYPE}, NULL},
    {"src", UN__K_NODE, {UN__K_NODE, UN__K_INT}, NULL},
    {"first", UN__K_NODES, {UN__K_NODES, UN__K_INT}, "un__m_first"},
    {"rest", UN__K_NODES, {UN__K_NODES, UN__K_INT}, "un__m_rest"},
};

const un__builtin *un__infer_builtin(const char *name) {
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
    if (!strcmp(builtins[i].name, name)) return &builtins[i];
  return NULL;
}

void un__infer_suggest_call(un__pat *p, un__diag *d, const char *name) {
  size_t n = p->decls.n, all = n + sizeof builtins / sizeof *builtins;
  const char **names = un__pat_alloc(p, all * sizeof *names);
  if (p->oom) return;
  for (size_t i = 0; i < all; i++) names[i] = i < n ? p->decls.at[i]->name : builtins[i - n].name;
  size_t before = d->notes.n;
  un__pat_suggest(p, d, name, names, all);
  if (d->notes.n == before) un__pat_note_plain(p, d, "declare it: extern fn %s(...): ...", name);
}

bool un__infer_partial(const char *name) {
  static const char *const partial[] = {"with_src", "with_dtype", "src", "first", "rest"};
  for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
    if (!strcmp(partial[i], name)) return true;
  return false;
}

/* ---- kinds ---- */

un__kind un__infer_kind(const un__infer *in, const un__ex *e) {
  const un__name *n;
  const un__decl *d;
  const un__builtin *b;
  un__kind k;
  switch (e->kind) {
  case UN__EX_FLOAT:
    return UN__K_NODE;
  case UN__EX_INT:
  case UN__EX_IN:
    return in->in_test || e->type ? UN__K_NODE : UN__K_INT;
  case UN__EX_NAME:
    n = un__infer_name(in, e->name);
    return n ? n->kind : in->in_test ? UN__K_NODE : UN__K_NONE;
  case UN__EX_UPPER:
    return UN__K_INT;
  case UN__EX_TYPE:
  case UN__EX_TYVAR:
    return UN__K_DTYPE;
  case UN__EX_SPLICE:
    return UN__K_NODES;
  case UN__EX_CALL:
    b = un__infer_builtin(e->name);
    d = un__pat_find_decl(in->p, e->name);
    return d ? d->result : b ? b->result : UN__K_NONE;
  case UN__EX_UNARY:
    return e->args.n ? un__infer_kind(in, e->args.at[0]) : UN__K_NONE;
  case UN__EX_COND:
    return e->args.n == 3
               ? un__infer_kind(in, e->args.at[1]) == UN__K_NODE ? UN__K_NODE : un__infer_kind(in, e->args.at[2])
               : UN__K_NONE;
  case UN__EX_BINARY:
    k = e->args.n == 2 ? un__infer_kind(in, e->args.at[0]) : UN__K_NONE;
    if (k == UN__K_NODE || (e->args.n == 2 && un__infer_kind(in, e->args.at[1]) == UN__K_NODE)) return UN__K_NODE;
    return UN__K_INT;
  default:
    return UN__K_NODE;
  }
}
