/* verify_node.c - the laws of single nodes: what ops.def says in columns, and what its documentation column says in
 * words, op by op. */
#include "combine.h"
#include "verify.h"

#include <string.h>

/* ---- small questions ---- */

static bool is_scalar(const un_uop *n) { return un__lanes(n) == 1; }

/* What counts and addresses are made of: index; i32 or i64 in a list and in a kernel on its way there. */
static bool is_count(const un__verifier *v, const un_uop *n) {
  if (un__dt_is_ptr(n->dtype)) return false;
  un_dtype s = un__dt_scalar(n->dtype);
  bool lowered = v->stage == UN__STAGE_KERNEL || v->stage == UN__STAGE_LINEAR;
  return s == UN_INDEX || (lowered && (s == UN_I32 || s == UN_I64));
}

static bool is_value(const un_uop *n) {
  return !un__dt_is_ptr(n->dtype) && un__dt_class(n->dtype) != UN__CLASS_VOID;
}

static bool is_power_of_two(uint32_t n) { return n && (n & (n - 1)) == 0; }

static bool is_assoc(int64_t op) { return op > 0 && op < UN__OP_COUNT && (un__op_table[op].flags & UN__F_ASSOC); }

static const char *name_of(const un_uop *n) { return un__info(n)->text; }

/* ---- basic: arity and attributes, on which everything else relies ---- */

static void check_arity(un__verifier *v, const un_uop *n) {
  const un__op_info *info = un__info(n);
  if (n->nsrc < info->min_src || n->nsrc > info->max_src)
    un__fault_at(v, n, "has %u sources, needs %u%s", n->nsrc, info->min_src,
                 info->max_src == UN__N ? " or more" : info->max_src > info->min_src ? " and a few more" : "");
}

/* Integers in their dtype's own range, bool 0 or 1, no bits beyond a float's width. */
static bool const_is_canonical(un__dtype d, int64_t w) {
  const un__dtype_info *info = un__dt_info(d);
  if (info->cls == UN__CLASS_BOOL) return w == 0 || w == 1;
  if (info->cls == UN__CLASS_FLOAT) return info->size == 8 || (uint64_t)w >> (8 * info->size) == 0;
  if (info->mantissa == 64) return true;
  int64_t limit = INT64_C(1) << (info->cls == UN__CLASS_INT ? info->mantissa - 1 : info->mantissa);
  return w < limit && w >= (info->cls == UN__CLASS_INT ? -limit : 0);
}

static const char *attr_fault(const un_uop *n, un__attr_kind kind, const int64_t *w) {
  switch (kind) {
    case UN__AK_AXIS: return *w >= 0 && *w < UN__AXIS_COUNT ? NULL : "is no AxisType";
    case UN__AK_OP: return *w > 0 && *w < UN__OP_COUNT ? NULL : "is no op";
    case UN__AK_NAME: return un__name_is_packed(w) ? NULL : "is no name";
    case UN__AK_INT: return *w >= 0 ? NULL : "is negative";
    case UN__AK_CONST: return const_is_canonical(n->dtype, *w) ? NULL : "is no value of the dtype";
    default: return NULL;
  }
}

static void check_attributes(un__verifier *v, const un_uop *n) {
  const un__op_info *info = un__info(n);
  uint32_t want = un__attr_first(info, info->nattrs);
  bool open = info->nattrs && info->attrs[info->nattrs - 1].kind == UN__AK_INTS;
  if (open ? n->nattr + 1u < want : n->nattr != want) {
    un__fault_at(v, n, "has %u words of attributes, needs %u", n->nattr, open ? want - 1 : want);
    return;
  }
  for (uint32_t i = 0; i < info->nattrs; i++) {
    const char *fault = attr_fault(n, info->attrs[i].kind, un__attrs(n) + un__attr_first(info, i));
    if (fault) un__fault_at(v, n, "`%s` %s", info->attrs[i].name, fault);
  }
}

/* ---- every op: stage, dtype, operands ---- */

static void check_stage(un__verifier *v, const un_uop *n) {
  if (!(un__info(n)->stages & v->stage)) un__fault_at(v, n, "does not belong to stage %s", un__stage_name(v->stage));
}

static void check_dtype(un__verifier *v, const un_uop *n) {
  un__dtype want = n->dtype;
  switch (un__info(n)->dtype_rule) {
    case UN__DR_GIVEN: break;
    case UN__DR_FIRST: want = n->src[0]->dtype; break;
    case UN__DR_SECOND: want = n->src[1]->dtype; break;
    case UN__DR_TRUTH: want = un__dt_vec(UN_BOOL, un__lanes(n->src[0])); break;
    case UN__DR_VOID: want = UN__DT(UN_VOID); break;
    case UN__DR_INDEX: want = is_count(v, n) ? n->dtype : UN__DT(UN_INDEX); break;
  }
  un__strbuf text = {0};
  if (want != n->dtype) {
    un__print_dtype(&text, want);
    un__fault_at(v, n, "its dtype should be %s", un__sb_str(&text));
  } else if (un__lanes(n) == 0 || un__dt_scalar(n->dtype) >= UN_DTYPE_COUNT) {
    un__fault_at(v, n, "its dtype is none");
  } else if (un__dt_class(n->dtype) == UN__CLASS_VOID && !is_scalar(n)) {
    un__fault_at(v, n, "void has no lanes");
  }
  v->nomem |= text.failed;
  un__sb_finish(&text);
}

static char class_letter(un__dtype d) {
  static const char letter[] = {
    [UN__CLASS_VOID] = 'v', [UN__CLASS_BOOL] = 'b', [UN__CLASS_INT] = 'i',
    [UN__CLASS_UINT] = 'u', [UN__CLASS_FLOAT] = 'f', [UN__CLASS_INDEX] = 'x',
  };
  return un__dt_is_ptr(d) ? 'p' : letter[un__dt_class(d)];
}

static void check_operands(un__verifier *v, const un_uop *n) {
  const char *allowed = un__info(n)->operands;
  if (allowed[0] == '*' || n->op == UN__OP_VALID) return;
  uint32_t values = n->op == UN__OP_REDUCE ? 1 : n->nsrc;      /* then ranges */
  for (uint32_t i = 0; i < values; i++)
    if (!strchr(allowed, class_letter(n->src[i]->dtype)) && !(strchr(allowed, 'x') && is_count(v, n->src[i])))
      un__fault_at(v, n, "operand %u has a dtype that the op does not take", i);
}

static void check_elementwise(un__verifier *v, const un_uop *n) {
  if (!un__has_flag(n, UN__F_ELEM)) return;
  uint32_t first = n->op == UN__OP_WHERE ? 1 : 0;
  for (uint32_t i = first; i < n->nsrc; i++) {
    if (!is_value(n->src[i])) un__fault_at(v, n, "operand %u is no value", i);
    else if (n->src[i]->dtype != n->src[first]->dtype)
      un__fault_at(v, n, "operands %u and %u differ in dtype", first, i);
  }
  if (first && n->src[0]->dtype != un__dt_vec(UN_BOOL, un__lanes(n)))
    un__fault_at(v, n, "the condition must be bool with as many lanes as the values");
}

static void check_shape(un__verifier *v, const un_uop *n) {
  static const uint8_t without[] = {UN__OP_SINK, UN__OP_TUPLE, UN__OP_GET, UN__OP_CALL};
  if (memchr(without, n->op, sizeof without)) return;
  if (!n->shape) un__fault_at(v, n, "has no shape");
  if (!is_scalar(n) || un__dt_is_ptr(n->dtype)) un__fault_at(v, n, "a tensor has a scalar dtype");
}

static void check_no_index(un__verifier *v, const un_uop *n) {
  if (un__dt_is_index(n->dtype)) un__fault_at(v, n, "dtype index must have been lowered to i32 or i64");
}

static void check_lanes(un__verifier *v, const un_uop *n) {
  uint32_t lanes = un__lanes(n);
  if (lanes != 1 && (!is_power_of_two(lanes) || lanes > 64))
    un__fault_at(v, n, "%u lanes: a vector has 2, 4, 8, 16, 32 or 64", lanes);
}

/* ---- sources of values ---- */

static void check_const(un__verifier *v, const un_uop *n) {
  if (!is_value(n)) un__fault_at(v, n, "a constant has a value");
}

static void check_var(un__verifier *v, const un_uop *n) {
  for (uint32_t i = 0; i < 2; i++)
    if (!is_count(v, n->src[i]) || !is_scalar(n->src[i])) un__fault_at(v, n, "bound %u is no scalar index", i);
  if (n->src[0]->vmin > n->src[1]->vmax) un__fault_at(v, n, "its lower bound is above its upper one");
}

static void check_buffer(un__verifier *v, const un_uop *n) {
  if (un__dt_is_ptr(n->dtype) || !is_scalar(n) || un__dt_info(n->dtype)->size == 0)
    un__fault_at(v, n, "stored tensors have a scalar dtype with a size");
}

static void check_iota(un__verifier *v, const un_uop *n) {
  if (!un__dt_is_int(n->dtype) && !un__dt_is_index(n->dtype)) un__fault_at(v, n, "counts in an integer dtype or index");
}

static void check_pointer(un__verifier *v, const un_uop *n) {
  static const struct { uint8_t op; un__space space; const char *text; } spaces[] = {
    {UN__OP_PARAM, UN__SPACE_GLOBAL, "ptr"}, {UN__OP_DEFINE_LOCAL, UN__SPACE_LOCAL, "ptr.local"},
    {UN__OP_DEFINE_REG, UN__SPACE_REG, "ptr.reg"},
  };
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
    if (spaces[i].op == n->op && spaces[i].space != un__dt_space(n->dtype))
      un__fault_at(v, n, "its dtype must be a pointer: %s.T", spaces[i].text);
  if (un__dt_info(n->dtype)->size == 0) un__fault_at(v, n, "%s cannot be stored", un__dt_info(n->dtype)->name);
  if (!is_count(v, n->src[0]) || !is_scalar(n->src[0])) un__fault_at(v, n, "its number of elements is no scalar index");
}

static void check_define(un__verifier *v, const un_uop *n) {
  check_pointer(v, n);
  if (un__known_size(n->src[0]) <= 0) un__fault_at(v, n, "its number of elements must be a positive constant");
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (n->src[i]->op != UN__OP_RANGE) un__fault_at(v, n, "source %u is not a range", i);
}

/* ---- movement and reductions of tensors ---- */

static void check_perm(un__verifier *v, const un_uop *n) {
  uint64_t seen = 0;
  for (uint32_t i = 0; i < n->nattr; i++) {
    int64_t p = un__attr(n, i);
    if (p < 0 || p >= n->nattr || (seen >> p & 1)) {
      un__fault_at(v, n, "`perm` must name every axis once");
      return;
    }
    seen |= UINT64_C(1) << p;
  }
  if (n->src[0]->shape && n->src[0]->shape->rank != n->nattr) un__fault_at(v, n, "`perm` does not fit the rank");
}

static void check_flip(un__verifier *v, const un_uop *n) {
  if (n->src[0]->shape && un__attr(n, 0) >> n->src[0]->shape->rank)
    un__fault_at(v, n, "`axes` has a bit beyond the rank");
}

static void check_box(un__verifier *v, const un_uop *n) {
  const un__shape *s = n->src[0]->shape;
  if (!s || n->nsrc != 1 + 2 * s->rank) {
    un__fault_at(v, n, "needs two amounts for every axis");
    return;
  }
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (!is_count(v, n->src[i]) || n->src[i]->vmin < 0)
      un__fault_at(v, n, "amount %u may be negative or is no index", i - 1);
}

static void check_reduce_axis(un__verifier *v, const un_uop *n) {
  uint32_t rank = n->src[0]->shape ? n->src[0]->shape->rank : UN__MAX_RANK;
  if (!is_assoc(un__attr(n, 0))) un__fault_at(v, n, "`op` must be associative");
  if (n->nattr < 2) un__fault_at(v, n, "reduces no axis");
  for (uint32_t i = 1; i < n->nattr; i++)
    if (un__attr(n, i) < 0 || un__attr(n, i) >= rank || (i > 1 && un__attr(n, i) <= un__attr(n, i - 1)))
      un__fault_at(v, n, "`axes` must ascend and lie in the shape");
}

/* ---- gathers: every position is proved to lie on its axis ---- */

/* What a node is before views rearranged its elements; *padded: they also put zeros between them. */
static const un_uop *below_views(const un_uop *n, bool *padded) {
  for (; un__has_flag(n, UN__F_VIEW) || n->op == UN__OP_CONTIGUOUS || n->op == UN__OP_DETACH; n = n->src[0])
    *padded |= n->op == UN__OP_PAD;
  return n;
}

/* What is known of a position on an axis: its bounds, and whether it was compared with the size itself. */
typedef struct position { const un_uop *index, *size; int64_t lo, hi; bool below_size; } position;

static bool is_size(const position *p, const un_uop *n) {
  bool padded = false;
  return below_views(n, &padded) == p->size && !padded;
}

/* `a < b`, or its opposite, holds. */
static void learn_less(position *p, const un_uop *a, const un_uop *b, bool holds) {
  if (a == p->index) {
    if (holds && !un__is_inf(b->vmax) && b->vmax - 1 < p->hi) p->hi = b->vmax - 1;
    if (holds) p->below_size |= is_size(p, b);
    else if (b->vmin > p->lo) p->lo = b->vmin;
  } else if (b == p->index) {
    if (holds && !un__is_inf(a->vmin) && a->vmin + 1 > p->lo) p->lo = a->vmin + 1;
    else if (!holds && a->vmax < p->hi) p->hi = a->vmax;
  }
}

enum { MAX_TERMS = 16 };

/* Takes a condition that holds apart into the comparisons it is the conjunction of; others say nothing. */
static void learn(position *p, const un_uop *condition) {
  const un_uop *term[MAX_TERMS] = {condition};
  for (uint32_t n = 1; n > 0;) {
    const un_uop *c = term[--n];
    bool negated = c->op == UN__OP_NOT && c->src[0]->op == UN__OP_LT;
    if (negated) c = c->src[0];
    if (c->vmax == 0 && !negated) p->hi = -1, p->lo = 0;     /* it never holds */
    else if (c->op == UN__OP_LT) learn_less(p, c->src[0], c->src[1], !negated);
    else if (c->op == UN__OP_AND && n + 2 <= MAX_TERMS) term[n++] = c->src[0], term[n++] = c->src[1];
  }
}

/* Whether every element of `index` lies on an axis of that size or is no index. */
static bool is_on_axis(const un_uop *index, const un_uop *size) {
  bool padded = false;
  const un_uop *from = below_views(index, &padded);
  if (from->op == UN__OP_INVALID) return true;
  position p = {from->op == UN__OP_VALID ? from->src[0] : from, size, from->vmin, from->vmax, false};
  if (from->op == UN__OP_VALID) learn(&p, from->src[1]);
  if (padded && size->vmin < 1) return false;
  if (p.lo > p.hi) return true;
  return p.lo >= 0 && (p.below_size || p.hi < size->vmin);
}

static void check_gather(un__verifier *v, const un_uop *n) {
  const un__shape *s = n->src[0]->shape;
  if (un__dt_is_ptr(n->src[0]->dtype)) return;
  if (n->dtype != n->src[0]->dtype) un__fault_at(v, n, "a gather has the dtype of what it reads");
  if (!s || n->nsrc != s->rank + 1) {
    un__fault_at(v, n, "a gather needs one index for every axis");
    return;
  }
  for (uint32_t i = 0; i < s->rank; i++) {
    const un_uop *index = n->src[i + 1];
    if (!un__dt_is_index(index->dtype)) un__fault_at(v, n, "index %u has not dtype index", i);
    else if (!is_on_axis(index, s->dim[i]))
      un__fault_at(v, n, "index %u (%%%u) is neither in range by its bounds nor wrapped in a valid that makes it so", i,
                   un__pos(v, index));
  }
}

/* ---- loops ---- */

static void check_reduce(un__verifier *v, const un_uop *n) {
  bool tuple = un__attr(n, 0) == UN__OP_COMBINE;
  if (!tuple && !is_assoc(un__attr(n, 0))) un__fault_at(v, n, "`op` must be associative, or combine");
  if (tuple != (n->src[0]->op == UN__OP_COMBINE))
    un__fault_at(v, n, tuple ? "op combine needs a combine" : "a combine needs op combine");
  else if (!tuple && !is_value(n->src[0])) un__fault_at(v, n, "combines no value");
}

/* What END, REDUCE and STAGE name after source 0. */
static void check_closed_ranges(un__verifier *v, const un_uop *n) {
  uint32_t mine = un__fresh_mark(v);
  for (uint32_t i = 1; i < n->nsrc; i++) {
    if (n->src[i]->op != UN__OP_RANGE) {
      un__fault_at(v, n, "source %u is not a range", i);
      continue;
    }
    uint32_t at = un__pos(v, n->src[i]);
    if (v->mark[at] == mine) un__fault_at(v, n, "closes range %lld twice", (long long)un__range_id(n->src[i]));
    v->mark[at] = mine;
  }
}

static void check_hreduce(un__verifier *v, const un_uop *n) {
  if (!is_assoc(un__attr(n, 0))) un__fault_at(v, n, "`op` must be associative");
  if (un__lanes(n->src[0]) < 2) un__fault_at(v, n, "combines the lanes of a vector, its source has one");
  if (n->dtype != un__dt_with_lanes(n->src[0]->dtype, 1)) un__fault_at(v, n, "gives one lane of its source's dtype");
}

static void check_range(un__verifier *v, const un_uop *n) {
  un__axis axis = un__range_axis(n);
  if (!is_count(v, n->src[0]) || !is_scalar(n->src[0]) || !is_scalar(n))
    un__fault_at(v, n, "its size is no scalar index");
  else if (n->src[0]->vmin < 0) un__fault_at(v, n, "its size may be negative");
  if (axis != UN__AXIS_UPCAST && axis != UN__AXIS_UNROLL) return;
  int64_t size = un__known_size(n->src[0]);
  if (size < 0) un__fault_at(v, n, "%s ranges have a constant size", un__axis_table[axis].name);
  if (size > UN__MAX_PART)
    un__fault_at(v, n, "%s ranges have at most %d values, not %lld", un__axis_table[axis].name, UN__MAX_PART, (long long)size);
}

static void check_branch(un__verifier *v, const un_uop *n) {
  if (n->op == UN__OP_IF && n->src[0]->dtype != UN__DT(UN_BOOL)) un__fault_at(v, n, "its condition must be one bool");
  if (n->op == UN__OP_ENDIF && n->src[0]->op != UN__OP_IF)
    un__fault_at(v, n, "closes an if, not a %s", name_of(n->src[0]));
}

static void check_special(un__verifier *v, const un_uop *n) {
  int64_t axis = un__attr(n, 0);
  if (axis != UN__AXIS_GLOBAL && axis != UN__AXIS_LOCAL && axis != UN__AXIS_THREAD)
    un__fault_at(v, n, "`axis` must be global, local or thread");
  if (un__attr(n, 1) > 2) un__fault_at(v, n, "`dim` is 0, 1 or 2");
}

static void check_shuffle(un__verifier *v, const un_uop *n) {
  if (un__attr(n, 0) < 1 || un__attr(n, 0) > 31) un__fault_at(v, n, "`mask` is 1 to 31: the threads of a warp");
}

/* ---- memory ---- */

static void check_index(un__verifier *v, const un_uop *n) {
  if (!un__dt_is_ptr(n->src[0]->dtype)) {
    un__fault_at(v, n, "source 0 is not a pointer");
    return;
  }
  if (n->nsrc < 2 || n->nsrc > 3) un__fault_at(v, n, "takes a pointer, an element and perhaps a gate");
  if (n->dtype != n->src[0]->dtype) un__fault_at(v, n, "has the dtype of its pointer");
  if (n->nsrc > 1 && !is_count(v, n->src[1])) un__fault_at(v, n, "the element's number is no index");
  if (n->nsrc > 2 && !un__dt_is_bool(n->src[2]->dtype)) un__fault_at(v, n, "the gate is not bool");
  if (v->stage == UN__STAGE_LINEAR && n->nsrc > 1 && !is_scalar(n->src[1]))
    un__fault_at(v, n, "the element's number must be scalar: lanes are at consecutive addresses");
}

static void check_valid(un__verifier *v, const un_uop *n) {
  if (!un__dt_is_index(n->src[0]->dtype) || !un__dt_is_bool(n->src[1]->dtype))
    un__fault_at(v, n, "needs an index and a bool");
}

/* The gate of an access has one lane, or as many as the access. */
static void check_gate(un__verifier *v, const un_uop *n, const un_uop *index, uint32_t lanes) {
  if (index->nsrc < 3) return;
  uint32_t gate = un__lanes(index->src[2]);
  if (gate != 1 && gate != lanes) un__fault_at(v, n, "its gate has %u lanes, the access %u", gate, lanes);
}

static void check_load(un__verifier *v, const un_uop *n) {
  const un_uop *index = n->src[0];
  if (index->op != UN__OP_INDEX) {
    un__fault_at(v, n, "reads at an index, not at a %s", name_of(index));
    return;
  }
  if (!is_value(n) || un__dt_scalar(n->dtype) != un__dt_scalar(index->dtype))
    un__fault_at(v, n, "has not the dtype of what the pointer points to");
  check_gate(v, n, index, un__lanes(n));
}

static void check_store(un__verifier *v, const un_uop *n) {
  const un_uop *index = n->src[0], *value = n->src[1];
  if (index->op != UN__OP_INDEX) {
    un__fault_at(v, n, "writes at an index, not at a %s", name_of(index));
    return;
  }
  if (un__dt_is_index(value->dtype)) un__fault_at(v, n, "a value of dtype index cannot be stored");
  else if (!is_value(value) || un__dt_scalar(value->dtype) != un__dt_scalar(index->dtype))
    un__fault_at(v, n, "the value has not the dtype of what the pointer points to");
  check_gate(v, n, index, un__lanes(value));
}

/* ---- conversions and vectors ---- */

static void check_conversion(un__verifier *v, const un_uop *n) {
  if (!is_value(n)) un__fault_at(v, n, "gives no value");
  if (un__lanes(n) != un__lanes(n->src[0])) un__fault_at(v, n, "keeps the number of lanes");
  if (n->op == UN__OP_BITCAST && un__dt_info(n->dtype)->size != un__dt_info(n->src[0]->dtype)->size)
    un__fault_at(v, n, "keeps the size of the dtype");
}

static void check_vectorize(un__verifier *v, const un_uop *n) {
  if (n->nsrc != 1 && n->nsrc != un__lanes(n)) un__fault_at(v, n, "%u sources for %u lanes", n->nsrc, un__lanes(n));
  for (uint32_t i = 0; i < n->nsrc; i++)
    if (n->src[i]->dtype != un__dt_with_lanes(n->dtype, 1)) un__fault_at(v, n, "source %u is no lane of the result", i);
}

static void check_gep(un__verifier *v, const un_uop *n) {
  if (n->nattr != un__lanes(n)) un__fault_at(v, n, "%u lanes listed for %u lanes", n->nattr, un__lanes(n));
  if (n->dtype != un__dt_with_lanes(n->src[0]->dtype, un__lanes(n))) un__fault_at(v, n, "changes the dtype");
  for (uint32_t i = 0; i < n->nattr; i++)
    if (un__attr(n, i) < 0 || un__attr(n, i) >= un__lanes(n->src[0]))
      un__fault_at(v, n, "lane %lld of %u", (long long)un__attr(n, i), un__lanes(n->src[0]));
}

static void check_expansion(un__verifier *v, const un_uop *n) {
  uint32_t lanes = n->op == UN__OP_UNROLL ? un__lanes(n->src[0]) : un__lanes(n);
  int64_t product = 1;
  if (n->nattr % 2) un__fault_at(v, n, "`ranges` lists pairs of id and size");
  for (uint32_t i = 1; i < n->nattr; i += 2)
    if (un__attr(n, i) < 1 || __builtin_mul_overflow(product, un__attr(n, i), &product)) product = -1;
  if (product < 1 || product > lanes || lanes % product) un__fault_at(v, n, "the sizes do not make up %u lanes", lanes);
}

static void check_threefry(un__verifier *v, const un_uop *n) {
  if (un__dt_scalar(n->dtype) != UN_U64) un__fault_at(v, n, "works on u64");
}

static void check_extract(un__verifier *v, const un_uop *n) {
  if (un__lanes(n->src[0]) < 2) un__fault_at(v, n, "takes a lane of a vector, its source has one");
  if (n->dtype != un__dt_with_lanes(n->src[0]->dtype, 1)) un__fault_at(v, n, "gives one lane of its source's dtype");
  if (!is_count(v, n->src[1]) || !is_scalar(n->src[1])) un__fault_at(v, n, "the lane's number is no scalar index");
  else if (n->src[1]->vmin < 0 || n->src[1]->vmax >= un__lanes(n->src[0]))
    un__fault_at(v, n, "the lane's number may lie outside of %u lanes", un__lanes(n->src[0]));
}

/* ---- tensor cores ---- */

/* In 32 bits of a fragment. */
static uint32_t elements_in_word(un__dtype d) { return un__dt_info(d)->size ? 4u / un__dt_info(d)->size : 0; }

static void check_wmma(un__verifier *v, const un_uop *n) {
  const un_uop *a = n->src[0], *b = n->src[1], *c = n->src[2];
  uint32_t word = elements_in_word(a->dtype);
  if (un__attr(n, 0)) un__fault_at(v, n, "`form` is 0");
  if (un__dt_info(b->dtype)->size != un__dt_info(a->dtype)->size || !word)
    un__fault_at(v, n, "its operands have elements of 1, 2 or 4 bytes, alike");
  else if (un__lanes(a) != 4 * word || un__lanes(b) != 2 * word)
    un__fault_at(v, n, "its operands have %u and %u lanes, not %u and %u", 4 * word, 2 * word, un__lanes(a), un__lanes(b));
  if (n->dtype != c->dtype || un__lanes(c) != 4 || un__dt_info(c->dtype)->size != 4)
    un__fault_at(v, n, "adds up 4 lanes of f32 or i32");
}

static void check_ldmatrix(un__verifier *v, const un_uop *n) {
  const un_uop *index = n->src[0];
  uint32_t words = elements_in_word(n->dtype) ? un__lanes(n) / elements_in_word(n->dtype) : 0;
  if (index->op != UN__OP_INDEX || un__dt_space(index->dtype) != UN__SPACE_LOCAL || index->nsrc > 2)
    un__fault_at(v, n, "reads at an index of shared memory without a gate");
  else if (un__dt_scalar(index->dtype) != un__dt_scalar(n->dtype)) un__fault_at(v, n, "has not the dtype of what the pointer points to");
  if ((words != 1 && words != 2 && words != 4) || un__lanes(n) != words * elements_in_word(n->dtype))
    un__fault_at(v, n, "gives 1, 2 or 4 words of 4 bytes");
  if (un__attr(n, 0) > 1 || (un__attr(n, 0) && un__dt_info(n->dtype)->size != 2))
    un__fault_at(v, n, "`trans` is 0, or 1 for elements of 2 bytes");
}

/* ---- parts of shared memory, and copies into them ---- */

static void check_slot(un__verifier *v, const un_uop *n) {
  const un_uop *memory = un__memory_of(n->src[0]);
  int64_t parts = un__attr(n, 1), size = memory->op == UN__OP_DEFINE_LOCAL ? un__known_size(memory->src[0]) : -1;
  if (memory->op != UN__OP_DEFINE_LOCAL) un__fault_at(v, n, "is a part of shared memory, not of a %s", name_of(memory));
  else if (parts < 2 || un__attr(n, 0) < 0 || un__attr(n, 0) >= parts) un__fault_at(v, n, "`offset` is below `parts`, of which there are 2 at least");
  else if (size < 0 || size % parts) un__fault_at(v, n, "%lld elements are not %lld equal parts", (long long)size, (long long)parts);
  if (!is_count(v, n->src[1]) || !is_scalar(n->src[1])) un__fault_at(v, n, "what turns it is no scalar index");
  else if (n->src[1]->vmin < 0) un__fault_at(v, n, "what turns it may be negative");
}

static void check_async(un__verifier *v, const un_uop *n) {
  if (!is_value(n)) un__fault_at(v, n, "stands for a value");
}

static void check_copy_async(un__verifier *v, const un_uop *n) {
  const un_uop *to = n->src[0], *from = n->src[1];
  if (to->op != UN__OP_INDEX || un__dt_space(to->dtype) != UN__SPACE_LOCAL) un__fault_at(v, n, "copies to an index of shared memory");
  else if (from->op != UN__OP_INDEX || un__dt_space(from->dtype) != UN__SPACE_GLOBAL)
    un__fault_at(v, n, "copies from an index of the device's memory");
  else if (un__dt_scalar(to->dtype) != un__dt_scalar(from->dtype)) un__fault_at(v, n, "keeps the dtype");
  int64_t lanes = un__attr(n, 0);
  if (lanes < 1 || lanes > 64 || !is_power_of_two((uint32_t)lanes)) un__fault_at(v, n, "`lanes` is 1, 2, 4, 8, 16, 32 or 64");
  for (int i = 0; i < 2 && lanes >= 1 && lanes <= 64; i++)
    if (n->src[i]->op == UN__OP_INDEX) check_gate(v, n, n->src[i], (uint32_t)lanes);
}

/* ---- structure ---- */

static void check_get(un__verifier *v, const un_uop *n) {
  if (un__is_combined(n->src[0])) {
    un__check_get_reduced(v, n);
    return;
  }
  if (n->src[0]->op != UN__OP_TUPLE) {
    if (v->stage == UN__STAGE_KERNEL) un__fault_at(v, n, "takes a value from a tuple, not from a %s", name_of(n->src[0]));
    return;
  }
  if (un__attr(n, 0) >= n->src[0]->nsrc)
    un__fault_at(v, n, "value %lld of %u", (long long)un__attr(n, 0), n->src[0]->nsrc);
  else if (n->dtype != n->src[0]->src[un__attr(n, 0)]->dtype) un__fault_at(v, n, "has not the dtype of that value");
}

static void check_stage_op(un__verifier *v, const un_uop *n) {
  if (un__attr(n, 1) > 1) un__fault_at(v, n, "`local` is 0 or 1");
  if (!is_value(n)) un__fault_at(v, n, "stores no value");
}

static const un_uop *buffer_of(const un_uop *n) {
  while (n->op == UN__OP_AFTER) n = n->src[0];
  return n;
}

static void check_kernel(un__verifier *v, const un_uop *n) {
  if (n->src[0]->op != UN__OP_SINK && n->src[0]->op != UN__OP_LINEAR)
    un__fault_at(v, n, "its body is a sink or a linear, not a %s", name_of(n->src[0]));
  for (uint32_t i = 1; i < n->nsrc; i++)
    if (buffer_of(n->src[i])->op != UN__OP_BUFFER) un__fault_at(v, n, "argument %u is no buffer", i - 1);
}

/* ---- the table ---- */

enum {
  ALL = UN__STAGE_TENSOR | UN__STAGE_KERNEL | UN__STAGE_LINEAR | UN__STAGE_SCHEDULE,
  TENSOR = UN__STAGE_TENSOR, LOOPS = UN__STAGE_KERNEL | UN__STAGE_LINEAR, LINEAR = UN__STAGE_LINEAR
};

const un__node_check un__node_checks[] = {
  {"arity", ALL, UN__OP_NONE, check_arity},
  {"attribute", ALL, UN__OP_NONE, check_attributes},
  {"stage", ALL, UN__OP_NONE, check_stage},
  {"dtype", ALL, UN__OP_NONE, check_dtype},
  {"operand", ALL, UN__OP_NONE, check_operands},
  {"elementwise", ALL, UN__OP_NONE, check_elementwise},
  {"shape", TENSOR, UN__OP_NONE, check_shape},
  {"index", LINEAR, UN__OP_NONE, check_no_index},
  {"lanes", LOOPS, UN__OP_NONE, check_lanes},
  {"constant", ALL, UN__OP_CONST, check_const},
  {"variable", ALL, UN__OP_VAR, check_var},
  {"buffer", ALL, UN__OP_BUFFER, check_buffer},
  {"iota", ALL, UN__OP_IOTA, check_iota},
  {"pointer", ALL, UN__OP_PARAM, check_pointer},
  {"pointer", ALL, UN__OP_DEFINE_LOCAL, check_define},
  {"pointer", ALL, UN__OP_DEFINE_REG, check_define},
  {"perm", ALL, UN__OP_PERMUTE, check_perm},
  {"flip", ALL, UN__OP_FLIP, check_flip},
  {"box", ALL, UN__OP_PAD, check_box},
  {"box", ALL, UN__OP_SHRINK, check_box},
  {"reduction", ALL, UN__OP_REDUCE_AXIS, check_reduce_axis},
  {"gather", TENSOR, UN__OP_INDEX, check_gather},
  {"reduction", ALL, UN__OP_REDUCE, check_reduce},
  {"closed", ALL, UN__OP_REDUCE, check_closed_ranges},
  {"closed", ALL, UN__OP_END, check_closed_ranges},
  {"closed", ALL, UN__OP_STAGE, check_closed_ranges},
  {"reduction", ALL, UN__OP_HREDUCE, check_hreduce},
  {"range", ALL, UN__OP_RANGE, check_range},
  {"branch", ALL, UN__OP_IF, check_branch},
  {"branch", ALL, UN__OP_ENDIF, check_branch},
  {"special", ALL, UN__OP_SPECIAL, check_special},
  {"shuffle", ALL, UN__OP_SHUFFLE, check_shuffle},
  {"tensor core", ALL, UN__OP_WMMA, check_wmma},
  {"copy", ALL, UN__OP_SLOT, check_slot},
  {"copy", ALL, UN__OP_ASYNC, check_async},
  {"copy", ALL, UN__OP_COPY_ASYNC, check_copy_async},
  {"tensor core", ALL, UN__OP_LDMATRIX, check_ldmatrix},
  {"address", LOOPS, UN__OP_INDEX, check_index},
  {"valid", ALL, UN__OP_VALID, check_valid},
  {"load", ALL, UN__OP_LOAD, check_load},
  {"store", ALL, UN__OP_STORE, check_store},
  {"conversion", ALL, UN__OP_CAST, check_conversion},
  {"conversion", ALL, UN__OP_BITCAST, check_conversion},
  {"lanes", ALL, UN__OP_VECTORIZE, check_vectorize},
  {"lanes", ALL, UN__OP_GEP, check_gep},
  {"lanes", ALL, UN__OP_EXTRACT, check_extract},
  {"lanes", ALL, UN__OP_UNROLL, check_expansion},
  {"lanes", ALL, UN__OP_CONTRACT, check_expansion},
  {"threefry", ALL, UN__OP_THREEFRY, check_threefry},
  {"tuple", ALL, UN__OP_GET, check_get},
  {"combine", ALL, UN__OP_COMBINE, un__check_combine},
  {"storage", ALL, UN__OP_STAGE, check_stage_op},
  {"kernel", ALL, UN__OP_KERNEL, check_kernel},
};
const size_t un__node_check_count = sizeof un__node_checks / sizeof *un__node_checks;
const size_t un__basic_check_count = 2;
