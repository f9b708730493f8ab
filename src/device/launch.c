/* launch.c - the bytecode that says how many tasks a kernel has. */
#include "device.h"

#include "base/intmath.h"

/* False: overflow or division by zero. */
static bool apply(un__launch_op op, int64_t a, int64_t b, int64_t *out) {
  switch (op) {
  case UN__LAUNCH_ADD: return !__builtin_add_overflow(a, b, out);
  case UN__LAUNCH_SUB: return !__builtin_sub_overflow(a, b, out);
  case UN__LAUNCH_MUL: return !__builtin_mul_overflow(a, b, out);
  case UN__LAUNCH_FLOORDIV:
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    return *out = un__floor_div(a, b), true;
  case UN__LAUNCH_MAX_OF: return *out = a > b ? a : b, true;
  case UN__LAUNCH_MIN_OF: return *out = a < b ? a : b, true;
  default: return false;
  }
}

un_status un__launch_eval(const un__launch_formula *f, const int64_t *vars, uint32_t nvars, int64_t *out, un__err *err) {
  int64_t stack[UN__LAUNCH_MAX];
  uint32_t n = 0;
  for (uint32_t i = 0; i < f->n && i < UN__LAUNCH_MAX; i++) {
    int64_t arg = f->code[i].arg;
    if (f->code[i].op == UN__LAUNCH_CONST) {
      stack[n++] = arg;
    } else if (f->code[i].op == UN__LAUNCH_VAR) {
      if (arg < 0 || arg >= nvars) return un__fail(err, UN_ERR_INVALID_ARG, "launch: no variable %lld", (long long)arg);
      stack[n++] = vars[arg];
    } else {
      if (n < 2 || !apply(f->code[i].op, stack[n - 2], stack[n - 1], &stack[n - 2]))
        return un__fail(err, UN_ERR_INVALID_ARG, "launch: the number of tasks overflows");
      n--;
    }
  }
  if (n != 1 || stack[0] < 0) return un__fail(err, UN_ERR_INVALID_ARG, "launch: the number of tasks is not a count");
  *out = stack[0];
  return UN_OK;
}
