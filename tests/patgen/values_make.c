/* values_make.c - terms in the shape of a left side. Sites whose operation the rule names get it; the others become
 * leaves or small expressions. Dtypes are drawn once for each class of sites that must agree. */
#include "values.h"

#include "pat/lower.h"

uint64_t mv_next(mv_random *r) {
  r->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = r->state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
uint32_t mv_below(mv_random *r, uint32_t n) { return (uint32_t)((mv_next(r) >> 16) % n); }

static int64_t between(mv_random *r, int64_t lo, int64_t hi) {
  return lo + (int64_t)mv_below(r, (uint32_t)(hi - lo + 1));
}

un__value mv_special(un__dtype dt, mv_random *r, bool exact) {
  static const double reals[] = {0.0,       -0.0, 1.0,     -1.0, 0.5, 2.0,    INFINITY,
                                 -INFINITY, NAN,  65504.0, 1e-7, 3.5, -255.0, 3e9};
  static const int64_t ints[] = {0, 1, -1, 2, 3, 7, 127, -128, 255, 32767, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  if (un__dt_is_float(dt) && exact) return un__value_f(dt, (double)between(r, -4, 4));
  if (un__dt_is_float(dt)) {
    double any = (double)(int64_t)mv_next(r) / (double)((uint64_t)1 << mv_below(r, 63));
    return un__value_f(dt, mv_below(r, 3) ? reals[mv_below(r, 14)] : any);
  }
  if (un__dt_is_index(dt)) return un__value_i(dt, mv_below(r, 4) ? between(r, -9, 9) : between(r, -1000, 1000));
  return un__value_i(dt, mv_below(r, 3) ? ints[mv_below(r, 14)] : (int64_t)mv_next(r) >> mv_below(r, 64));
}

/* ---- one term ---- */

enum { MAX_SITES = 64, MAX_SOURCES = 8 };

typedef struct making {
  un__graph *g;
  const un__mt_variant *v;
  mv_random *r;
  bool small, exact;
  un__dtype dtype[MAX_SITES]; /* by class */
  uint8_t scalar[MAX_SITES];  /* by scalar class */
  const un_uop *node[MAX_SITES];
  bool open[MAX_SITES]; /* being built: a site inside itself */
  int unknowns, ranges;
} making;

static const un__mt_cons *cons_of(const making *m, int site, int kind) {
  for (size_t i = 0; i < m->v->ncons; i++)
    if (m->v->cons[i].site == site && m->v->cons[i].kind == kind) return &m->v->cons[i];
  return NULL;
}

/* ---- dtypes ---- */

static bool wanted(const making *m, int dt) {
  static const uint8_t all[] = {UN_BOOL, UN_I8,  UN_U8,   UN_I16, UN_U16, UN_I32,    UN_U32,    UN_I64,
                                UN_U64,  UN_F16, UN_BF16, UN_F32, UN_F64, UN_F8E4M3, UN_F8E5M2, UN_INDEX};
  bool narrow = dt == UN_F16 || dt == UN_BF16 || dt == UN_F8E4M3 || dt == UN_F8E5M2;
  if (m->exact && narrow) return false; /* whole numbers would not stay whole */
  if (m->small) return dt == UN_BOOL || dt == UN_I8 || dt == UN_U8 || (m->exact && (dt == UN_F32 || dt == UN_F64));
  for (size_t i = 0; i < sizeof all; i++)
    if (all[i] == dt) return true;
  return false;
}

/* A scalar of the mask: one that is wanted when there is one. */
static uint8_t draw_scalar(making *m, uint32_t mask) {
  int can[UN_DTYPE_COUNT], n = 0;
  for (int pass = 0; pass < 2 && !n; pass++)
    for (int dt = 0; dt < UN_DTYPE_COUNT; dt++)
      if (mask >> dt & 1 && dt != UN_VOID && (pass || wanted(m, dt))) can[n++] = dt;
  if (!n) return UN_VOID;
  if (mask >> UN_INDEX & 1 && !m->small && mv_below(m->r, 3) == 0) return UN_INDEX;
  return (uint8_t)can[mv_below(m->r, (uint32_t)n)];
}

static void draw_dtypes(making *m) {
  for (size_t i = 0; i < m->v->nsites; i++) m->scalar[i] = draw_scalar(m, m->v->sites[i].mask);
  for (size_t i = 0; i < m->v->nsites; i++) {
    uint32_t lanes = 1;
    for (size_t k = 0; k < m->v->nsites; k++) {
      const un__mt_cons *c = m->v->sites[k].dtype == m->v->sites[i].dtype ? cons_of(m, (int)k, UN__CK_LANES) : NULL;
      if (c && c->a == UN__PAT_LANES_MANY) lanes = 4;
    }
    int of = m->v->sites[i].scalar < (int)m->v->nsites ? m->v->sites[i].scalar : (int)i;
    m->dtype[i] = un__dt_vec((un_dtype)m->scalar[of], lanes);
  }
}

static un__dtype dtype_of(const making *m, int site) {
  int c = m->v->sites[site].dtype;
  return m->dtype[c < (int)m->v->nsites ? c : site];
}

/* ---- leaves ---- */

static const un_uop *variable(making *m, int64_t lo, int64_t hi) {
  const un_uop *src[2] = {un__idx(m->g, lo), un__idx(m->g, hi)};
  int64_t name[UN__NAME_WORDS] = {'a' + m->unknowns++, 0};
  return un__uop(m->g, UN__OP_VAR, 0, src, 2, name, UN__NAME_WORDS);
}

static const un_uop *some_range(making *m, un__axis axis) {
  const un_uop *n = mv_below(m->r, 4) ? un__idx(m->g, between(m->r, 1, 6)) : variable(m, 0, between(m->r, 0, 4));
  return un__range(m->g, n, axis, 100 + m->ranges++);
}

static const un_uop *index_leaf(making *m) {
  int64_t lo = between(m->r, -9, 9);
  switch (mv_below(m->r, 8)) {
  case 0:
    return un__idx(m->g, between(m->r, -5, 12));
  case 1:
    return some_range(m, UN__AXIS_LOOP);
  case 2:
    return variable(m, -1000, 1000);
  case 3:
  case 4:
    return variable(m, 0, between(m->r, 0, 11));
  default:
    return variable(m, lo, lo + between(m->r, 0, 12));
  }
}

static const un_uop *constant(making *m, un__dtype dt) {
  un__value v = mv_special(UN__DT(un__dt_scalar(dt)), m->r, m->exact);
  if (!un__dt_is_float(dt) && mv_below(m->r, 2)) v.i = between(m->r, 0, 12);
  return un__dt_is_float(dt) ? un__const_bits(m->g, dt, un__value_bits(v)) : un__const_i(m->g, dt, v.i);
}

static const un_uop *leaf(making *m, un__dtype dt) {
  for (size_t i = 0; i < m->v->nsites && !mv_below(m->r, 5); i++) /* a node that stands elsewhere too */
    if (m->node[i] && m->node[i]->dtype == dt) return m->node[i];
  if (un__dt_lanes(dt) > 1) {
    const un_uop *x = leaf(m, un__dt_with_lanes(dt, 1)), *y = leaf(m, un__dt_with_lanes(dt, 1));
    const un_uop *src[4] = {x, y, y, x};
    return un__uop(m->g, UN__OP_VECTORIZE, dt, src, 4, NULL, 0);
  }
  if (un__dt_is_index(dt)) return index_leaf(m);
  if (mv_below(m->r, 10) == 0) return constant(m, dt);
  if (un__dt_is_int(dt) && !m->small && mv_below(m->r, 6) == 0) return un__cast(m->g, dt, index_leaf(m));
  return un__uop(m->g, UN__OP_BUFFER, dt, NULL, 0, (const int64_t[]){m->unknowns++, 0}, 2);
}

/* What a rule says nothing about: a leaf, or a little arithmetic. */
static const un_uop *anything(making *m, un__dtype dt, int depth) {
  static const un__op index_ops[] = {UN__OP_ADD, UN__OP_ADD, UN__OP_MUL, UN__OP_MUL, UN__OP_FLOORDIV, UN__OP_FLOORMOD};
  const un_uop *x = leaf(m, dt);
  if (depth == 0 || m->small || mv_below(m->r, 5) < 3 || !x) return x;
  if (un__dt_is_index(dt)) {
    un__op op = index_ops[mv_below(m->r, 6)];
    bool sum = op == UN__OP_ADD && mv_below(m->r, 2);
    const un_uop *y = sum ? anything(m, dt, depth - 1) : un__idx(m->g, between(m->r, op == UN__OP_MUL ? -4 : 1, 12));
    return un__binary(m->g, op, anything(m, dt, depth - 1), y);
  }
  if (un__dt_is_bool(dt)) {
    const un_uop *i = anything(m, UN__DT(UN_INDEX), depth - 1);
    return mv_below(m->r, 2) ? un__binary(m->g, UN__OP_LT, i, un__idx(m->g, between(m->r, -3, 12)))
                             : un__unary(m->g, UN__OP_NOT, x);
  }
  return un__dt_is_int(dt) ? un__binary(m->g, UN__OP_ADD, x, leaf(m, dt)) : un__unary(m->g, UN__OP_NEG, x);
}

/* ---- sites ---- */

static const un_uop *build(making *m, int site);

static const un_uop *meaning(making *m, un__dtype dt, const un__mt_cons *c) {
  static const un__m_sem sems[] = {
      [UN__SEM_ZERO] = UN__M_ZERO, [UN__SEM_ONE] = UN__M_ONE,     [UN__SEM_MINUS_ONE] = UN__M_MINUS_ONE,
      [UN__SEM_TRUE] = UN__M_TRUE, [UN__SEM_FALSE] = UN__M_FALSE, [UN__SEM_MIN] = UN__M_MIN,
      [UN__SEM_MAX] = UN__M_MAX,   [UN__SEM_INF] = UN__M_INF_,    [UN__SEM_NAN] = UN__M_NAN};
  if (c->a == UN__SEM_IDENT) return un__m_identity(m->g, dt, (un__op)c->b);
  return un__m_make(m->g, dt, sems[c->a]);
}

static const un_uop *build_const(making *m, int site) {
  un__dtype dt = dtype_of(m, site);
  const un__mt_cons *c = cons_of(m, site, UN__CK_SEM);
  if (c) return meaning(m, dt, c);
  if ((c = cons_of(m, site, UN__CK_INT)))
    return un__dt_is_float(dt) ? un__const_f(m->g, dt, (double)c->a) : un__const_i(m->g, dt, c->a);
  if ((c = cons_of(m, site, UN__CK_FLOAT))) return un__const_f(m->g, dt, un__m_double(c->bits));
  c = cons_of(m, site, UN__CK_SAME_CONST);
  const un_uop *twin = c ? build(m, c->site2) : NULL;
  if (!twin) return constant(m, dt);
  return un__dt_is_float(dt) ? un__const_bits(m->g, dt, (uint64_t)un__attr(twin, 0))
                             : un__const_i(m->g, dt, un__const_int(twin));
}

static int child(const making *m, int site, uint32_t index) {
  for (size_t i = (size_t)site + 1; i < m->v->nsites; i++)
    if (m->v->sites[i].parent == site && m->v->sites[i].index == index) return (int)i;
  return -1;
}

/* A source about which the rule says nothing. */
static const un_uop *filler(making *m, int site, un__op op, uint32_t i) {
  un__dtype dt = dtype_of(m, site);
  if (op == UN__OP_INDEX && i == 0)
    return un__uop(m->g, UN__OP_PARAM, un__dt_ptr(un__dt_scalar(dt) ? un__dt_scalar(dt) : UN_F32, UN__SPACE_GLOBAL),
                   (const un_uop *[]){un__idx(m->g, 1000)}, 1, (const int64_t[]){mv_below(m->r, 2)}, 1);
  if (op == UN__OP_INDEX) return anything(m, UN__DT(i == 1 ? UN_INDEX : UN_BOOL), 2);
  if ((op == UN__OP_REDUCE && i > 0) || op == UN__OP_END) return some_range(m, UN__AXIS_REDUCE);
  if (op == UN__OP_RANGE || op == UN__OP_VAR) return un__idx(m->g, between(m->r, 1, 6));
  if (op == UN__OP_VALID) return anything(m, UN__DT(i ? UN_BOOL : UN_INDEX), 2);
  if (op == UN__OP_WHERE && i == 0) return anything(m, UN__DT(UN_BOOL), 2);
  return anything(m, dt, 1);
}

/* A pointer, a gate or an index whose class says nothing takes what its place wants. */
static bool takes_place(const making *m, int kid, un__op op) {
  return kid >= 0 && !m->v->sites[kid].op && op == UN__OP_INDEX;
}

static uint32_t sources(making *m, int site, un__op op, const un_uop **src) {
  const un__op_info *info = &un__op_table[op];
  uint32_t n = info->min_src;
  for (size_t i = (size_t)site + 1; i < m->v->nsites; i++)
    if (m->v->sites[i].parent == site && m->v->sites[i].index >= n) n = m->v->sites[i].index + 1;
  const un__mt_cons *c = cons_of(m, site, UN__CK_NSRC);
  if (c && !c->b) n = (uint32_t)c->a;
  uint32_t room = info->max_src - n < 2 ? info->max_src - n : 2;
  if (info->max_src > n && (!c || c->b)) n += mv_below(m->r, room + 1);
  if (op == UN__OP_INDEX && n < 2) n = 2;
  if (op == UN__OP_INDEX && n > 3) n = 3;
  if (n > MAX_SOURCES) return UINT32_MAX;
  for (uint32_t i = 0; i < n; i++) {
    int kid = child(m, site, i);
    src[i] = kid < 0 || takes_place(m, kid, op) ? filler(m, site, op, i) : build(m, kid);
    if (kid >= 0 && !m->node[kid]) m->node[kid] = src[i];
    if (!src[i]) return UINT32_MAX;
  }
  return n;
}

/* Attributes; false: of a kind that nothing is known about. */
static bool attributes(making *m, int site, un__op op, int64_t *words, uint32_t *n) {
  static const un__op reductions[] = {UN__OP_ADD, UN__OP_ADD, UN__OP_MUL, UN__OP_MAX,
                                      UN__OP_MIN, UN__OP_AND, UN__OP_OR};
  const un__op_info *info = &un__op_table[op];
  *n = info->nattrs;
  for (uint32_t i = 0; i < info->nattrs; i++) {
    un__attr_kind k = info->attrs[i].kind;
    if (k == UN__AK_INTS || k == UN__AK_NAME || k == UN__AK_CONST) return false;
    words[i] = k == UN__AK_OP     ? (int64_t)reductions[mv_below(m->r, 7)]
               : k == UN__AK_AXIS ? UN__AXIS_REDUCE
                                  : 100 + m->ranges++;
  }
  for (size_t i = 0; i < m->v->ncons; i++) {
    const un__mt_cons *c = &m->v->cons[i];
    if (c->site != site || (uint32_t)c->a >= info->nattrs) continue;
    if (c->kind == UN__CK_ATTR) words[c->a] = c->b;
    if (c->kind == UN__CK_ATTR_EQ && build(m, c->site2)) words[c->a] = un__attr(m->node[c->site2], (uint32_t)c->b);
  }
  return true;
}

static const un_uop *build_op(making *m, int site, un__op op) {
  const un_uop *src[MAX_SOURCES];
  int64_t words[4];
  uint32_t nattr, n = sources(m, site, op, src);
  if (n == UINT32_MAX) return NULL;
  un__dtype dt = 0;
  if (op == UN__OP_GEP) {
    words[0] = mv_below(m->r, un__lanes(src[0])), nattr = 1;
    dt = un__dt_with_lanes(src[0]->dtype, 1);
  } else if (!attributes(m, site, op, words, &nattr)) {
    un__fail(un__graph_err(m->g), UN_ERR_DTYPE, "%s: attributes", un__op_table[op].name);
    return NULL;
  }
  if (un__op_table[op].dtype_rule == UN__DR_GIVEN && !dt) dt = op == UN__OP_INDEX ? src[0]->dtype : dtype_of(m, site);
  if (op == UN__OP_VECTORIZE) dt = un__dt_with_lanes(src[0]->dtype, n == 1 ? 4 : n);
  if ((op == UN__OP_CAST || op == UN__OP_BITCAST) && n) dt = un__dt_with_lanes(dt, un__lanes(src[0]));
  if (op == UN__OP_LOAD) dt = UN__DT(un__dt_scalar(src[0]->dtype));
  return un__uop(m->g, op, dt, src, n, nattr ? words : NULL, nattr);
}

static const un_uop *build(making *m, int site) {
  if (m->node[site] || m->open[site]) return m->node[site];
  m->open[site] = true;
  const un__mt_cons *same = cons_of(m, site, UN__CK_SAME);
  un__op op = (un__op)m->v->sites[site].op;
  const un_uop *n = same                 ? build(m, same->site2)
                    : op == UN__OP_CONST ? build_const(m, site)
                    : op                 ? build_op(m, site, op)
                                         : anything(m, dtype_of(m, site), 2);
  m->open[site] = false;
  return m->node[site] = n;
}

const un_uop *mv_make(un__graph *g, const un__mt_variant *v, mv_random *r, bool small, bool exact) {
  making m = {.g = g, .v = v, .r = r, .small = small, .exact = exact};
  if (v->nsites > MAX_SITES) return NULL;
  draw_dtypes(&m);
  return build(&m, 0);
}
