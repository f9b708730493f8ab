/* bound.c - error bounds of single operations: given how far the operands may be off, how far may the result be?
 *
 * Two roundings are counted where the operands are not exact, the interpreter's and the backend's; none where they are
 * and the operation is correctly rounded, so such results must agree to the bit. On top come the licences of `precise`:
 *
 *   contract       a product may reach a sum unrounded, a bf16 whatever reads it: they are half a step off for that
 *   reduce_order   any order of n terms: (n - 1) roundings of at most the sum of absolute terms, on both sides
 *
 * and the functions that are not correctly rounded, by the steps that the numerics contract allows them. A comparison,
 * a conversion to an integer or a WHERE that the error could tip gives a bound that says so, up to INFINITY: anything.
 */
#include "bound.h"

#include <math.h>

/* An operation, wherever it stands. */
typedef struct applied_op { un__op op; un__dtype dtype; uint32_t nsrc; } applied_op;

static double most(double a, double b) { return a > b ? a : b; }

/* The distance between neighbours of the dtype near v. */
static double step_at(un__dtype dt, double v) {
  const un__dtype_info *d = un__dt_info(dt);
  int emin = 2 - (1 << (d->exponent - 1));
  int e = v == 0 || !isfinite(v) ? emin : ilogb(v);
  return ldexp(1.0, (e > emin ? e : emin) - d->mantissa);
}

static double number(const un__value *v) {
  if (un__dt_is_float(v->dtype)) return v->f;
  return un__dt_class(v->dtype) == UN__CLASS_UINT ? (double)(uint64_t)v->i : (double)v->i;
}

/* Whether r, computed from numbers, is that of the dtype which is next to it: then what reads it may have the digits that were cut
 * off, or a number beyond the dtype's largest. Of bf16 all arithmetic and conversions do that, of others products. */
static double cut_steps(const applied_op *n, const un__value *x, double r) {
  un__value wide[3], exact;
  bool narrow = un__dt_scalar(n->dtype) == UN_BF16;
  if (!narrow && (n->op != UN__OP_MUL || fma(x[0].f, x[1].f, -r) == 0)) return 0;
  if (!narrow) return isinf(r) && isfinite(x[0].f) && isfinite(x[1].f) ? (double)INFINITY : 0.5;
  if (n->op == UN__OP_WHERE || n->op == UN__OP_BITCAST) return 0;
  for (uint32_t i = 0; i < n->nsrc && i < 3; i++) wide[i] = un__value_f(UN__DT(UN_F64), number(&x[i]));
  if (!un__eval(n->op, UN__DT(UN_F64), wide, &exact) || exact.f == r || isnan(r)) return 0;
  return isinf(r) ? (double)INFINITY : 0.5;
}

/* Steps that the contract lets a backend's function be off, and one for the interpreter's own; half a step for what was rounded
 * but may be read as it was before. */
static double own_steps(const applied_op *n, const un__value *x, double r) {
  switch (n->op) {
  case UN__OP_EXP:
  case UN__OP_EXP2:
  case UN__OP_LOG:
  case UN__OP_LOG2:
  case UN__OP_SIN:
  case UN__OP_COS:
  case UN__OP_TANH:
    return 3;
  case UN__OP_POW:
    return 5;
  default:
    return cut_steps(n, x, r);
  }
}

/* From the propagated error to the bound of a rounded float result. */
static double rounded(un__dtype dt, double r, double propagated, double steps) {
  if (propagated == 0 && steps == 0) return 0;
  if (isnan(propagated) || isinf(steps)) return (double)INFINITY;
  if (!isfinite(r)) return propagated > 0 ? (double)INFINITY : 0;
  double step = step_at(dt, fabs(r) + propagated);
  double total = propagated + steps * step + (propagated > 0 ? step : 0);
  return fabs(r) + total > un__float_max(un__dt_scalar(dt)) ? (double)INFINITY : total;
}

/* ---- float functions: |f(x') - f(x)| where |x' - x| <= e ---- */

typedef double (*spread_fn)(const double *x, const double *e, double r);

static double spread_same(const double *x, const double *e, double r) { return (void)x, (void)r, e[0]; }
static double spread_sum(const double *x, const double *e, double r) { return (void)x, (void)r, e[0] + e[1]; }
static double spread_most(const double *x, const double *e, double r) { return (void)x, (void)r, most(e[0], e[1]); }
static double spread_sin(const double *x, const double *e, double r) { return (void)x, (void)r, e[0] < 2 ? e[0] : 2; }
/* The slope is steepest where the operand may be nearest to 0. */
static double spread_tanh(const double *x, const double *e, double r) {
  double t = fabs(x[0]) > e[0] ? tanh(fabs(x[0]) - e[0]) : 0;
  return (void)r, e[0] * (1 - t * t);
}
static double spread_exp(const double *x, const double *e, double r) { return (void)x, fabs(r) * expm1(e[0]); }
static double spread_exp2(const double *x, const double *e, double r) {
  return (void)x, fabs(r) * expm1(e[0] * log(2));
}

static double spread_product(const double *x, const double *e, double r) {
  (void)r;
  return fabs(x[0]) * e[1] + fabs(x[1]) * e[0] + e[0] * e[1];
}

static double spread_mulacc(const double *x, const double *e, double r) { return spread_product(x, e, r) + e[2]; }

static double spread_quotient(const double *x, const double *e, double r) {
  double room = fabs(x[1]) - e[1];
  return room > 0 ? (e[0] + fabs(x[0] / x[1]) * e[1]) / room : (double)(r != r ? NAN : INFINITY);
}

static double spread_recip(const double *x, const double *e, double r) {
  return spread_quotient((const double[]){1, x[0]}, (const double[]){0, e[0]}, r);
}

static double spread_sqrt(const double *x, const double *e, double r) {
  (void)r;
  return x[0] - e[0] < 0 ? (double)INFINITY : e[0] / (sqrt(x[0]) + sqrt(x[0] - e[0]));
}

static double spread_log(const double *x, const double *e, double r) {
  (void)r;
  return x[0] - e[0] <= 0 ? (double)INFINITY : -log1p(-e[0] / x[0]);
}

static double spread_log2(const double *x, const double *e, double r) { return spread_log(x, e, r) / log(2); }
static double spread_floor(const double *x, const double *e, double r) {
  return (void)r, floor(x[0] + e[0]) - floor(x[0] - e[0]);
}
static double spread_trunc(const double *x, const double *e, double r) {
  return (void)r, trunc(x[0] + e[0]) - trunc(x[0] - e[0]);
}

/* Monotone in each operand while the base stays positive, so the corners have the extremes. */
static double spread_pow(const double *x, const double *e, double r) {
  double worst = 0;
  if (x[0] - e[0] <= 0) return (double)INFINITY;
  for (int corner = 0; corner < 4; corner++) {
    double p = pow(x[0] + (corner & 1 ? e[0] : -e[0]), x[1] + (corner & 2 ? e[1] : -e[1]));
    if (isnan(p)) return (double)INFINITY;
    worst = most(worst, fabs(p - r));
  }
  return worst;
}

static const spread_fn spread_table[UN__OP_COUNT] = {
    [UN__OP_NEG] = spread_same,    [UN__OP_CAST] = spread_same,     [UN__OP_ADD] = spread_sum,
    [UN__OP_SUB] = spread_sum,     [UN__OP_MAX] = spread_most,      [UN__OP_MIN] = spread_most,
    [UN__OP_MUL] = spread_product, [UN__OP_MULACC] = spread_mulacc, [UN__OP_FDIV] = spread_quotient,
    [UN__OP_RECIP] = spread_recip, [UN__OP_SQRT] = spread_sqrt,     [UN__OP_EXP] = spread_exp,
    [UN__OP_EXP2] = spread_exp2,   [UN__OP_LOG] = spread_log,       [UN__OP_LOG2] = spread_log2,
    [UN__OP_SIN] = spread_sin,     [UN__OP_COS] = spread_sin,       [UN__OP_TANH] = spread_tanh,    [UN__OP_FLOOR] = spread_floor,   [UN__OP_TRUNC] = spread_trunc,
    [UN__OP_POW] = spread_pow,
};

/* ---- everything else ---- */

/* An uncertain condition may take either branch. */
static double bound_where(const un__value *x, const double *err) {
  if (err[0] == 0) return x[0].i ? err[1] : err[2];
  double a = number(&x[1]), b = number(&x[2]);
  double apart = a == b || (isnan(a) && isnan(b)) ? 0 : fabs(a - b);
  return isnan(apart) ? (double)INFINITY : apart + most(err[1], err[2]);
}

static double bound_compare(const un__value *x, const double *err) {
  double distance = fabs(number(&x[0]) - number(&x[1]));
  return distance > err[0] + err[1] ? 0 : 1;
}

/* Float to integer or bool: what the two ends of the operand's interval differ by. */
static double bound_to_integer(un__dtype dt, const un__value *x, const double *err) {
  un__value low, high, below = un__value_f(x->dtype, x->f - err[0]), above = un__value_f(x->dtype, x->f + err[0]);
  if (!isfinite(err[0]) || isnan(x->f)) return (double)INFINITY;
  if (un__dt_is_bool(dt)) return fabs(x->f) > err[0] ? 0 : 1;
  if (!un__eval(UN__OP_CAST, dt, &below, &low) || !un__eval(UN__OP_CAST, dt, &above, &high))
    return (double)INFINITY;
  return number(&high) - number(&low);
}

/* Logic on bools of which some are uncertain: does any choice of those change the result? */
static double bound_logic(const applied_op *n, const un__value *x, const double *err, un__value r) {
  for (uint32_t choice = 1; choice < 1u << n->nsrc; choice++) {
    un__value y[3] = {{0}}, other;
    bool possible = true;
    for (uint32_t i = 0; i < n->nsrc; i++) {
      bool flip = choice >> i & 1;
      possible = possible && (!flip || err[i] > 0);
      y[i] = un__value_i(x[i].dtype, flip ? !x[i].i : x[i].i);
    }
    if (possible && un__eval(n->op, n->dtype, y, &other) && other.i != r.i) return 1;
  }
  return 0;
}

/* The result is no float, or the operands are none, and some operand is uncertain. */
static double bound_discrete(const applied_op *n, const un__value *x, const double *err, un__value r) {
  if (n->op == UN__OP_CAST && un__dt_is_float(x->dtype)) return bound_to_integer(n->dtype, x, err);
  if (n->op == UN__OP_CAST && un__dt_is_float(n->dtype)) return rounded(n->dtype, r.f, err[0], 0);
  if (un__dt_is_bool(x->dtype) && un__dt_is_bool(n->dtype)) return bound_logic(n, x, err, r);
  if (un__op_table[n->op].flags & UN__F_CMP) return bound_compare(x, err);
  if (n->op == UN__OP_CAST && un__dt_is_bool(x->dtype)) return 1;
  return (double)INFINITY;
}

double un__ibound_element(un__op op, un__dtype dtype, uint32_t nsrc, const un__value *x, const double *err, un__value r) {
  const applied_op applied = {op, dtype, nsrc}, *n = &applied;
  bool uncertain = false;
  for (uint32_t i = 0; i < n->nsrc; i++) uncertain = uncertain || err[i] > 0;
  bool is_float = un__dt_is_float(n->dtype);
  if (!uncertain) return is_float ? rounded(n->dtype, r.f, 0, own_steps(n, x, r.f)) : 0;
  if (n->op == UN__OP_WHERE) return bound_where(x, err);
  spread_fn spread = spread_table[n->op];
  if (!is_float || !un__dt_is_float(x->dtype) || !spread) return bound_discrete(n, x, err, r);
  double v[3] = {0};
  for (uint32_t i = 0; i < n->nsrc; i++) {
    v[i] = number(&x[i]);
    if (!isfinite(err[i])) return (double)INFINITY;
  }
  return rounded(n->dtype, r.f, spread(v, err, r.f), own_steps(n, x, r.f));
}

void un__iterms_add(un__iterms *t, un__value v, double err) {
  double x = un__dt_is_float(v.dtype) ? fabs(v.f) : 0;
  if (t->n++ == 0) t->product = t->abs_product = t->growth = t->shrinkage = 1;
  t->fractions |= err > 0 || !isfinite(x) || x != floor(x);
  t->err_sum += err;
  t->err_max = err > t->err_max ? err : t->err_max;
  t->abs_sum += x + err;
  t->product *= x;
  t->abs_product *= x + err;
  if (isfinite(x + err)) t->finite += x + err;
  if (x + err > 1) t->growth *= x + err;
  if (x > 0 && x < 1) t->shrinkage *= x;
}

bool un__iterms_exact(un__dtype dt, const un__iterms *t) {
  return !t->fractions && t->abs_sum <= ldexp(1.0, un__dt_info(dt)->mantissa + 1);
}

/* Whether a term that is no number, or infinite, decides in every order: the others do not reach infinity, or 0, on their own. */
static bool is_decided(un__dtype dt, const un__iterms *t, bool is_sum) {
  if (t->err_max > 0) return false;
  return is_sum ? t->finite <= un__float_max(un__dt_scalar(dt)) : t->shrinkage >= step_at(dt, 0);
}

double un__ibound_reduce(un__op op, un__dtype dt, const un__iterms *t, un__value r) {
  if (!un__dt_is_float(dt)) return t->err_max == 0 ? 0 : un__dt_is_bool(dt) ? 1 : (double)INFINITY;
  if (op == UN__OP_MAX || op == UN__OP_MIN) return t->err_max;
  bool is_sum = op == UN__OP_ADD;
  double all = is_sum ? t->abs_sum : t->abs_product;
  double steps = t->n > 1 ? (double)(t->n - 1) * ldexp(1.0, -un__dt_info(dt)->mantissa) : 0;
  double propagated = is_sum ? t->err_sum : t->abs_product - t->product;
  double total = propagated + steps * all;
  /* What only overflows need not in another order. */
  if (!isfinite(r.f)) return !isfinite(all) && is_decided(dt, t, is_sum) ? 0 : (double)INFINITY;
  if (isnan(total)) return (double)INFINITY;
  /* Large factors first may overflow, small ones first may be subnormal until large ones follow. */
  if (!is_sum && t->growth > un__float_max(un__dt_scalar(dt))) return (double)INFINITY;
  if (!is_sum) total += (double)t->n * step_at(dt, 0) * t->growth;
  return all + total > un__float_max(un__dt_scalar(dt)) ? (double)INFINITY : total;
}
