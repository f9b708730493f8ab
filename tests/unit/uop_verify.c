/* The verifier: what each check finds, that good graphs pass, and that all faults are reported at their nodes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "uop/text.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(verify, ws);

static un__parsed_graph parsed(const char *text) {
  un__parsed_graph g;
  size_t n;
  cr_assert_eq(un__parse_text(ws, "t", text, strlen(text), &g, 1, &n), UN_OK, "%s\n%s", err.text, text);
  return g;
}

#define TENSOR                                                                                                         \
  "unir 1\ngraph @g stage=tensor {\n %0 = const index [val=0]\n %1 = const index [val=1]\n %4 = const index [val=4]\n" \
  " %x = buffer f32 %4, %4 [slot=0]\n"
#define KERNEL                                                                                                         \
  "unir 1\ngraph @g stage=kernel {\n %0 = const index [val=0]\n %4 = const index [val=4]\n"                            \
  " %p = param ptr.f32 %4 [slot=0]\n %q = param ptr.f32 %4 [slot=1]\n %one = const f32 [val=1]\n"                      \
  " %r0 = range index %4 [id=0 axis=loop]\n %i0 = index ptr.f32 %p, %r0\n"
#define LINEAR                                                                                                         \
  "unir 1\ngraph @g stage=linear {\n %4 = const i32 [val=4]\n %p = param ptr.f32 %4 [slot=0]\n"                        \
  " %one = const f32 [val=1]\n %r = range i32 %4 [id=0 axis=loop]\n %i = index ptr.f32 %p, %r\n"
#define THREADS                                                                                                        \
  "unir 1\ngraph @g stage=linear {\n %4 = const i32 [val=4]\n %8 = const i32 [val=8]\n %p = param ptr.f32 %4 [slot=0]\n" \
  " %t = special i32 %4 [axis=local]\n %i = index ptr.f32 %p, %t\n"
#define SHARED                                                                                                         \
  " %x = load f32 %i\n %m = define_local ptr.local.f32 %4 [id=0]\n %n = index ptr.local.f32 %m, %t\n %s = store void %n, %x\n"
/* A ring of two parts that a loop turns: what a list may do with it, in some order. */
#define RING                                                                                                                  \
  THREADS " %z = const i32 [val=0]\n %v = load f32 %i\n %m = define_local ptr.local.f32 %8 [id=0]\n"                             \
  " %c0 = slot ptr.local.f32 %m, %z [offset=0 parts=2]\n %d0 = index ptr.local.f32 %c0, %t\n %y0 = copy_async void %d0, %i [lanes=1]\n" \
  " %k0 = commit void\n %r = range i32 %4 [id=0 axis=loop]\n %w0 = wait void %r [pending=0]\n %w1 = wait void %r [pending=1]\n"  \
  " %b = barrier void %r\n %c1 = slot ptr.local.f32 %m, %r [offset=1 parts=2]\n %d1 = index ptr.local.f32 %c1, %t\n"             \
  " %y1 = copy_async void %d1, %i [lanes=1]\n %k1 = commit void %r\n %c2 = slot ptr.local.f32 %m, %r [offset=0 parts=2]\n"       \
  " %d2 = index ptr.local.f32 %c2, %t\n %l = load f32 %d2\n %l1 = load f32 %d1\n %s1 = store void %d1, %v\n %e = end void %r, %r\n" \
  " linear %4, %8, %p, %t, %i, %z, %v, %m, %c0, %d0, "
#define TURN " %r, %c1, %d1, %c2, %d2, "
/* The same of four parts, of which the loop begins to copy the last. */
#define LONG_RING                                                                                                             \
  THREADS " %z = const i32 [val=0]\n %m = define_local ptr.local.f32 %8 [id=0]\n %r = range i32 %8 [id=0 axis=loop]\n"            \
  " %w = wait void %r [pending=2]\n %b = barrier void %r\n %c = slot ptr.local.f32 %m, %r [offset=3 parts=4]\n"                  \
  " %d = index ptr.local.f32 %c, %z\n %y = copy_async void %d, %i [lanes=1]\n %k = commit void %r\n"                             \
  " %c2 = slot ptr.local.f32 %m, %r [offset=0 parts=4]\n %d2 = index ptr.local.f32 %c2, %z\n %l = load f32 %d2\n"                \
  " %e = end void %r, %r\n linear %4, %8, %p, %t, %i, %z, %m, %r, %c, %d, %c2, %d2, "
/* A part of shared memory that something turns. */
#define SLOT(elements, turn, attributes)                                                                                      \
  THREADS " %z = const i32 [val=0]\n %neg = const i32 [val=-1]\n %m = define_local ptr.local.f32 " elements " [id=0]\n"         \
  " %c = slot ptr.local.f32 %m, " turn " [" attributes "]\n %d = index ptr.local.f32 %c, %t\n"                                  \
  " %l = load f32 %d\n linear %4, %8, %p, %t, %i, %z, %neg, %m, %c, %d, %l\n}\n"
/* What a warp multiplies. */
#define CORE(a, b, c, wmma)                                                                                                   \
  "unir 1\ngraph @g stage=linear {\n %32 = const i32 [val=32]\n %t = special i32 %32 [axis=local]\n %a = const " a " [val=0.0]\n" \
  " %b = const " b "\n %c = const " c "\n %w = wmma " wmma "\n linear %32, %t, %a, %b, %c, %w\n}\n"
/* Rows of shared memory, which hold something. */
#define ROWS                                                                                                                  \
  "unir 1\ngraph @g stage=linear {\n %32 = const i32 [val=32]\n %t = special i32 %32 [axis=local]\n %n = const i32 [val=1024]\n"   \
  " %m = define_local ptr.local.f16 %n [id=0]\n %8 = const i32 [val=8]\n %u = mul i32 %t, %8\n %i = index ptr.local.f16 %m, %u\n"
#define SCHEDULE                                                                                                       \
  "unir 1\ngraph @g stage=schedule {\n %0 = const index [val=0]\n %4 = const index [val=4]\n"                          \
  " %p = param ptr.f32 %4 [slot=0]\n %i = index ptr.f32 %p, %0\n %one = const f32 [val=1]\n %s = store void %i, "      \
  "%one\n"                                                                                                             \
  " %k = sink void %s\n %b = buffer f32 %4 [slot=0]\n"

/* A gather of x by column %v, made of a stored index %c: %l says c < limit, %a also that 0 <= c. */
#define GATHER(dtype, limit, wrapped)                                                                                  \
  TENSOR " %j = buffer " dtype " %4 [slot=1]\n %c = cast index %j\n %o = reshape index " limit ", %1\n"                \
         " %f = expand index %o, %4\n %l = lt bool %c, %f\n %y = reshape index %0, %1\n %z = expand index %y, %4\n"     \
         " %k = lt bool %c, %z\n %h = not bool %k\n %a = and bool %h, %l\n" wrapped                                     \
         " %n = iota index %4\n %g = index f32 %x, %v, %n\n sink %g\n}\n"
#define NOT_ON_AXIS(index)                                                                                             \
  "index: gather: index 0 (%" index ") is neither in range by its bounds nor wrapped in a valid that makes it so"

static const char *const good[] = {
    TENSOR " sink %x\n}\n",
    TENSOR " %n = iota index %4\n %g = index f32 %x, %n, %n\n sink %g\n}\n",
    GATHER("u8", "%4", " %v = valid index %c, %l\n"),
    GATHER("i32", "%4", " %v = valid index %c, %a\n"),
    GATHER("i32", "%4", " %w = valid index %c, %a\n %v = flip index %w [axes=1]\n"),
    GATHER("i32", "%4", " %m = min index %c, %z\n %v = max index %m, %z\n"),
    GATHER("i32", "%0", " %u = const bool [val=false]\n %p = reshape bool %u, %1\n %q = expand bool %p, %4\n"
           " %v = valid index %c, %q\n"),
    TENSOR " %t = tuple void %x, %x\n %y = get f32 %t [i=1]\n sink %y\n}\n",
    KERNEL " %s = store void %i0, %one\n %e = end void %s, %r0\n sink %e\n}\n",
    KERNEL " %i = index ptr.f32 %p, %0\n %s = store void %i, %one\n sink %s\n}\n",
    /* two reductions over one range, side by side */
    KERNEL " %k = range index %4 [id=1 axis=reduce]\n %i = index ptr.f32 %q, %k\n %l = load f32 %i\n %a = reduce f32 "
           "%l, %k [op=add]\n"
           " %m = reduce f32 %l, %k [op=max]\n %d = sub f32 %a, %m\n %s = store void %i0, %d\n %e = end void %s, %r0\n "
           "sink %e\n}\n",
    LINEAR " %s = store void %i, %one\n %e = end void %s, %r\n linear %4, %p, %one, %r, %i, %s, %e\n}\n",
    THREADS SHARED " %k = barrier void %s\n %y = load f32 %n\n linear %4, %p, %t, %i, %x, %m, %n, %s, %k, %y\n}\n",
    /* a barrier before the store, one behind it */
    THREADS SHARED " %r = range i32 %4 [id=0 axis=loop]\n %b = barrier void %r\n %k = barrier void %s\n %y = load f32 %n\n %e = end void %y, %r\n"
                   " linear %4, %p, %t, %i, %x, %m, %n, %r, %b, %s, %k, %y, %e\n}\n",
    /* a round waits for its own part, meets the others, begins the next part, reads its own */
    RING "%y0, %k0, " TURN "%w0, %b, %y1, %k1, %l, %e\n}\n",
    /* three groups are under way: two may stay so */
    LONG_RING "%w, %b, %y, %k, %l, %e\n}\n",
    CORE("f16x8", "f16x4 [val=0.0]", "f32x4 [val=0.0]", "f32x4 %a, %b, %c [form=0]"),
    ROWS " %l = ldmatrix f16x8 %i [trans=1]\n linear %32, %t, %n, %m, %8, %u, %i, %l\n}\n",
    SCHEDULE " %n = kernel void %k, %b\n %m = kernel void %k, %b\n linear %n, %m\n}\n",
};

Test(verify, good_graphs_pass) {
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    un__parsed_graph g = parsed(good[i]);
    un__strbuf out = {0};
    cr_expect_eq(un__verify(g.root, g.stage, &err, &out), UN_OK, "%s\n%s", err.text, good[i]);
    cr_expect_eq(out.n, 0u);
    un__err_clear(&err);
  }
}

/* What a check says, as `op: check: text`; each text has that fault and, unless it ends in `...`, no other. */
static const struct {
  const char *in, *fault;
} bad[] = {
    /* stage tensor */
    {TENSOR " %r = range index %4 [id=0 axis=loop]\n %y = mul index %r, %r\n root %y\n}\n",
     "range: stage: does not belong to stage tensor..."},
    {TENSOR " %y = define_reg ptr.reg.f32 %4 [id=0]\n sink %y\n}\n",
     "define_reg: stage: does not belong to stage tensor..."},
    {TENSOR " %y = flip f32 %x [axes=4]\n sink %y\n}\n", "flip: flip: `axes` has a bit beyond the rank"},
    {TENSOR " %y = reduce_axis f32 %x [op=sub axes=(0)]\n sink %y\n}\n",
     "reduce_axis: reduction: `op` must be associative"},
    {TENSOR " %y = reduce_axis f32 %x [op=add]\n sink %y\n}\n", "reduce_axis: reduction: reduces no axis"},
    {TENSOR " %j = buffer i32 %4 [slot=1]\n %c = cast index %j\n %n = iota index %4\n %g = index f32 %x, %c, %n\n sink "
            "%g\n}\n",
     NOT_ON_AXIS("3")},
    {GATHER("i32", "%4", " %v = valid index %c, %l\n"), NOT_ON_AXIS("8")},
    {GATHER("i32", "%4", " %b = or bool %h, %l\n %v = valid index %c, %b\n"), NOT_ON_AXIS("14")},
    {GATHER("i32", "%4", " %d = add index %c, %c\n %v = valid index %d, %a\n"), NOT_ON_AXIS("15")},
    {GATHER("i32", "%4", " %w = valid index %c, %a\n %v = add index %w, %c\n"), NOT_ON_AXIS("15")},
    {TENSOR " %5 = const index [val=5]\n" " %n = iota index %5\n %m = iota index %5\n %g = index f32 %x, %n, %m\n"
            " sink %g\n}\n", "index: gather: index 0..."},
    {TENSOR " %n = iota i32 %4\n %g = index f32 %x, %n, %n\n sink %g\n}\n",
     "index: gather: index 0 has not dtype index..."},
    {TENSOR " %n = iota f32 %4\n sink %n\n}\n", "iota: iota: counts in an integer dtype or index"},
    {TENSOR " %n = buffer ptr.f32 %4 [slot=3]\n sink %n\n}\n",
     "buffer: buffer: stored tensors have a scalar dtype with a size..."},
    {TENSOR " %n = buffer index %4 [slot=3]\n sink %n\n}\n",
     "buffer: buffer: stored tensors have a scalar dtype with a size"},
    {TENSOR " %n = buffer f32 %4 [slot=0]\n sink %n, %x\n}\n", "buffer: name: another buffer has the slot 0"},
    {TENSOR " %n = var index %4, %1 [name=n]\n sink %n\n}\n", "var: variable: its lower bound is above its upper one"},
    {TENSOR " %t = tuple void %x\n %y = get f32 %t [i=1]\n sink %y\n}\n", "get: tuple: value 1 of 1..."},
    {TENSOR " %t = tuple void %x\n %y = get f64 %t [i=0]\n sink %y\n}\n",
     "get: tuple: has not the dtype of that value..."},
    {TENSOR " %c = const u32 [val=1]\n %y = threefry u32 %c, %c\n sink %y\n}\n", "threefry: threefry: works on u64"},
    {TENSOR " %c = const ptr.f32 [val=1]\n sink %c\n}\n", "const: constant: a constant has a value..."},
    {TENSOR " %c = const f32x4 [val=1]\n sink %c\n}\n", "const: shape: a tensor has a scalar dtype"},
    /* stage kernel */
    {KERNEL " %s = store void %i0, %one\n root %s\n}\n", "store: root: the root must be a sink..."},
    {KERNEL " %s = store void %i0, %one\n %e = end void %s, %r0\n sink %e, %one\n}\n",
     "sink: root: source 1 is no end, store or group"},
    {KERNEL " %s = store void %i0, %one\n sink %s\n}\n", "range: open: range 0 is not closed at the root"},
    {KERNEL " %s = store void %i0, %one\n %e = end void %s, %r0, %r0\n sink %e\n}\n",
     "end: closed: closes range 0 twice"},
    {KERNEL " %s = store void %i0, %one\n %e = end void %s, %r0, %4\n sink %e\n}\n",
     "end: closed: source 2 is not a range"},
    {KERNEL " %b = range index %4 [id=0 axis=thread]\n %a = add index %r0, %b\n %i = index ptr.f32 %p, %a\n %s = store "
            "void %i, %one\n"
            " %e = end void %s, %b, %r0\n sink %e\n}\n",
     "range: name: another range has the id 0"},
    {KERNEL " %b = range index %4 [id=1 axis=thread]\n %a = add index %r0, %b\n %i = index ptr.f32 %p, %a\n %s = store "
            "void %i, %one\n"
            " %e = end void %s, %r0, %b\n sink %e\n}\n",
     "end: thread: the thread range is not outermost"},
    {KERNEL " %b = range index %4 [id=1 axis=thread]\n %c = range index %4 [id=2 axis=thread]\n %a = add index %c, %b\n"
            " %i = index ptr.f32 %p, %a\n %s = store void %i, %one\n %e = end void %s, %b, %c\n sink %e\n}\n",
     "range: thread: a second thread range..."},
    {KERNEL " %k = range index %4 [id=0 axis=reduce]\n %i = index ptr.f32 %p, %k\n %s = store void %i, %one\n %e = end "
            "void %s, %k\n sink %e\n}\n",
     "end: axis: cannot close range 0 of AxisType reduce"},
    {KERNEL
     " %i = index ptr.f32 %q, %r0\n %l = load f32 %i\n %a = reduce f32 %l, %r0 [op=add]\n %o = index ptr.f32 %p, %0\n"
     " %s = store void %o, %a\n sink %s\n}\n",
     "reduce: axis: cannot close range 0 of AxisType loop"},
    {KERNEL " %k = range index %4 [id=1 axis=reduce]\n %i = index ptr.f32 %q, %k\n %l = load f32 %i\n %a = reduce f32 "
            "%l, %k [op=sub]\n"
            " %s = store void %i0, %a\n %e = end void %s, %r0\n sink %e\n}\n",
     "reduce: reduction: `op` must be associative"},
    {KERNEL " %k = range index %4 [id=1 axis=unroll]\n %i = index ptr.f32 %q, %k\n %l = load f32 %i\n %a = reduce f32 "
            "%l, %k [op=add]\n"
            " %s = store void %i0, %a\n %e = end void %s, %r0, %k\n sink %e\n}\n",
     "reduce: closer: range 1 is closed by an end too"},
    {KERNEL " %k = range index %4 [id=1 axis=reduce]\n %i = index ptr.f32 %q, %k\n %l = load f32 %i\n %a = reduce f32 "
            "%l, %k [op=add]\n"
            " %m = mul f32 %l, %a\n %b = reduce f32 %m, %k [op=add]\n %s = store void %i0, %b\n %e = end void %s, "
            "%r0\n sink %e\n}\n",
     "reduce: sharing: depends on another reduction over range 1"},
    {KERNEL " %k = range index %4 [id=1 axis=reduce]\n %j = range index %4 [id=2 axis=reduce]\n %ij = add index %k, "
            "%j\n %i = index ptr.f32 %q, %k\n"
            " %i2 = index ptr.f32 %q, %ij\n %l = load f32 %i\n %l2 = load f32 %i2\n %a = reduce f32 %l, %k [op=add]\n"
            " %b = reduce f32 %l2, %k, %j [op=add]\n %m = mul f32 %a, %b\n %s = store void %i0, %m\n %e = end void %s, "
            "%r0\n sink %e\n}\n",
     "reduce: sharing: range 1 belongs to a reduction over other ranges"},
    {KERNEL
     " %r1 = range index %4 [id=1 axis=loop]\n %k = range index %4 [id=2 axis=reduce]\n %a = add index %r1, %k\n %i = "
     "index ptr.f32 %q, %a\n"
     " %l = load f32 %i\n %b = reduce f32 %l, %k [op=add]\n %o = add index %r0, %r1\n %w = index ptr.f32 %p, %o\n"
     " %s = store void %w, %b\n %e = end void %s, %r0, %r1\n sink %e\n}\n",
     "reduce: placement: depends on range 1 but not on range 0, which is outside it..."},
    {KERNEL " %c = lt bool %r0, %4\n %v = valid index %r0, %c\n %i = index ptr.f32 %p, %v\n %s = store void %i, %one\n "
            "%e = end void %s, %r0\n sink %e\n}\n",
     "index: gate: valid below an index: it should be the gate"},
    {KERNEL " %z = param ptr.f32 %0 [slot=0]\n %i = index ptr.f32 %z, %r0\n %l = load f32 %i\n %s = store void %i0, "
            "%l\n %e = end void %s, %r0\n sink %e\n}\n",
     "param: name: another param has the slot 0"},
    {KERNEL " %s = store void %i0, %r0\n %e = end void %s, %r0\n sink %e\n}\n",
     "store: store: a value of dtype index cannot be stored"},
    {KERNEL " %d = const f64 [val=1]\n %s = store void %i0, %d\n %e = end void %s, %r0\n sink %e\n}\n",
     "store: store: the value has not the dtype of what the pointer points to"},
    {KERNEL " %s = store void %p, %one\n sink %s\n}\n", "store: store: writes at an index, not at a param"},
    {KERNEL " %l = load f64 %i0\n %d = cast f32 %l\n %s = store void %i0, %d\n %e = end void %s, %r0\n sink %e\n}\n",
     "load: load: has not the dtype of what the pointer points to"},
    {KERNEL " %l = load f32 %p\n %s = store void %i0, %l\n %e = end void %s, %r0\n sink %e\n}\n",
     "load: load: reads at an index, not at a param"},
    {KERNEL " %i = index ptr.f32 %p, %one\n %s = store void %i, %one\n sink %s\n}\n",
     "index: address: the element's number is no index"},
    {KERNEL " %i = index ptr.f32 %p, %0, %0\n %s = store void %i, %one\n sink %s\n}\n",
     "index: address: the gate is not bool"},
    {KERNEL " %i = index ptr.f64 %p, %0\n %d = const f64 [val=1]\n %s = store void %i, %d\n sink %s\n}\n",
     "index: address: has the dtype of its pointer"},
    {KERNEL
     " %l = load f32 %i0\n %i = index f32 %l, %0\n %s = store void %i, %one\n %e = end void %s, %r0\n sink %e\n}\n",
     "index: address: source 0 is not a pointer..."},
    {KERNEL " %z = param f32 %4 [slot=3]\n %i = index f32 %z, %0\n %s = store void %i, %one\n sink %s\n}\n",
     "param: pointer: its dtype must be a pointer: ptr.T..."},
    {KERNEL " %z = define_reg ptr.local.f32 %4 [id=0]\n %i = index ptr.local.f32 %z, %0\n %s = store void %i, %one\n "
            "sink %s\n}\n",
     "define_reg: pointer: its dtype must be a pointer: ptr.reg.T"},
    {KERNEL
     " %z = define_reg ptr.reg.f32 %0 [id=0]\n %i = index ptr.reg.f32 %z, %0\n %s = store void %i, %one\n sink %s\n}\n",
     "define_reg: pointer: its number of elements must be a positive constant"},
    {KERNEL " %v = vectorize f32x4 %one, %one\n %g = gep f32 %v [lanes=(0)]\n %i = index ptr.f32 %p, %0\n %s = store "
            "void %i, %g\n sink %s\n}\n",
     "vectorize: lanes: 2 sources for 4 lanes"},
    {KERNEL " %d = const f64 [val=1]\n %v = vectorize f32x4 %d\n %i = index ptr.f32 %p, %0\n %s = store void %i, %v\n "
            "sink %s\n}\n",
     "vectorize: lanes: source 0 is no lane of the result"},
    {KERNEL " %v = vectorize f32x4 %one\n %g = gep f32 %v [lanes=(4)]\n %i = index ptr.f32 %p, %0\n %s = store void "
            "%i, %g\n sink %s\n}\n",
     "gep: lanes: lane 4 of 4"},
    {KERNEL " %v = vectorize f32x4 %one\n %g = gep f32x2 %v [lanes=(1)]\n %i = index ptr.f32 %p, %0\n %s = store void "
            "%i, %g\n sink %s\n}\n",
     "gep: lanes: 1 lanes listed for 2 lanes"},
    {KERNEL " %g = hreduce f32 %one [op=add]\n %i = index ptr.f32 %p, %0\n %s = store void "
            "%i, %g\n sink %s\n}\n",
     "hreduce: reduction: combines the lanes of a vector, its source has one"},
    {KERNEL " %v = vectorize f32x4 %one\n %g = unroll f32 %v [ranges=(0,3)]\n %i = index ptr.f32 %p, %0\n %s = store "
            "void %i, %g\n sink %s\n}\n",
     "unroll: lanes: the sizes do not make up 4 lanes"},
    {KERNEL " %v = vectorize f32x4 %one\n %w = vectorize f32x8 %one\n %c = const boolx2 [val=true]\n %i = index "
            "ptr.f32 %p, %0, %c\n"
            " %s = store void %i, %v\n sink %s\n}\n",
     "store: store: its gate has 2 lanes, the access 4"},
    {KERNEL " %n = var index %0, %4 [name=n]\n %b = range index %n [id=0 axis=upcast]\n %i = index ptr.f32 %p, %b\n %s "
            "= store void %i, %one\n"
            " %e = end void %s, %b\n sink %e\n}\n",
     "range: range: upcast ranges have a constant size"},
    {KERNEL " %m = const index [val=-1]\n %b = range index %m [id=0 axis=loop]\n %i = index ptr.f32 %p, %b\n %s = "
            "store void %i, %one\n"
            " %e = end void %s, %b\n sink %e\n}\n",
     "range: range: its size may be negative"},
    /* stage linear */
    {LINEAR " %s = store void %i, %one\n %e = end void %s, %r\n root %e\n}\n", "end: root: the root must be a linear"},
    {LINEAR " %s = store void %i, %one\n %e = end void %s, %r\n linear %4, %p, %r, %i, %s, %e\n}\n",
     "store: list: source 1 does not come before it in the list..."},
    {LINEAR " %s = store void %i, %one\n %e = end void %s, %r\n linear %4, %p, %r, %i, %one, %s, %s, %e\n}\n",
     "linear: list: %5 is listed twice"},
    {LINEAR " %s = store void %i, %one\n linear %4, %p, %one, %r, %i, %s\n}\n", "range: list: is not closed"},
    {LINEAR
     " %j = range i32 %4 [id=1 axis=loop]\n %s = store void %i, %one\n %e = end void %s, %r\n %f = end void %e, %j\n"
     " linear %4, %p, %one, %j, %r, %i, %s, %f, %e\n}\n",
     "end: list: does not close the innermost open block..."},
    {LINEAR " %j = range i32 %4 [id=1 axis=loop]\n %s = store void %i, %one\n %e = end void %s, %r, %j\n linear %4, "
            "%p, %one, %j, %r, %i, %s, %e\n}\n",
     "end: list: closes exactly one range..."},
    {LINEAR " %l = load f32 %i\n %s = store void %i, %one\n %e = end void %s, %r\n %z = const i32 [val=0]\n %o = index "
            "ptr.f32 %p, %z\n"
            " %t = store void %o, %l\n linear %4, %p, %one, %r, %i, %l, %s, %e, %z, %o, %t\n}\n",
     "store: list: source 1 was computed in a block that is closed"},
    {LINEAR
     " %u = range i32 %4 [id=1 axis=upcast]\n %s = store void %i, %one\n %e = end void %s, %r\n %f = end void %e, %u\n"
     " linear %4, %p, %one, %u, %r, %i, %s, %e, %f\n}\n",
     "range: axis: AxisType upcast must have been lowered"},
    {LINEAR " %x = const index [val=4]\n %s = store void %i, %one\n %e = end void %s, %r\n linear %4, %x, %p, %one, "
            "%r, %i, %s, %e\n}\n",
     "const: index: dtype index must have been lowered to i32 or i64"},
    {LINEAR " %w = sin f32 %one\n %s = store void %i, %w\n %e = end void %s, %r\n linear %4, %p, %one, %w, %r, %i, %s, "
            "%e\n}\n",
     "sin: stage: does not belong to stage linear"},
    {LINEAR " %w = vectorize f32x3 %one\n %s = store void %i, %w\n %e = end void %s, %r\n linear %4, %p, %one, %w, %r, "
            "%i, %s, %e\n}\n",
     "vectorize: lanes: 3 lanes: a vector has 2, 4, 8, 16, 32 or 64"},
    {LINEAR " %c = const boolx4 [val=true]\n %f = if void %c\n %s = store void %i, %one\n %g = endif void %f\n %e = "
            "end void %s, %r\n"
            " linear %4, %p, %one, %c, %r, %i, %f, %s, %g, %e\n}\n",
     "if: branch: its condition must be one bool"},
    {LINEAR " %c = const bool [val=true]\n %f = if void %c\n %s = store void %i, %one\n %g = endif void %s\n %e = end "
            "void %s, %r\n"
            " linear %4, %p, %one, %c, %r, %i, %f, %s, %g, %e\n}\n",
     "endif: branch: closes an if, not a store..."},
    {LINEAR " %y = special i32 %4 [axis=reduce]\n %s = store void %i, %one\n %e = end void %s, %r\n linear %4, %y, %p, "
            "%one, %r, %i, %s, %e\n}\n",
     "special: special: `axis` must be global, local or thread"},
    {LINEAR " %y = special i32 %4 [axis=global dim=3]\n %s = store void %i, %one\n %e = end void %s, %r\n linear %4, "
            "%y, %p, %one, %r, %i, %s, %e\n}\n",
     "special: special: `dim` is 0, 1 or 2..."},
    {THREADS " %y = special i32 %4 [axis=local dim=1]\n linear %4, %p, %t, %y\n}\n",
     "special: threads: blocks and threads are numbered in one dimension..."},
    {THREADS " %b = special i32 %4 [axis=global]\n %y = special i32 %8 [axis=global]\n linear %4, %8, %p, %t, %b, %y\n}\n",
     "special: threads: a second number of the block"},
    {THREADS " %y = special i32 %8 [axis=local]\n linear %4, %8, %p, %t, %y\n}\n", "special: threads: a second number of the thread"},
    {THREADS " %x = load f32 %i\n %y = shuffle f32 %x [mask=32]\n linear %4, %p, %t, %i, %x, %y\n}\n",
     "shuffle: shuffle: `mask` is 1 to 31: the threads of a warp"},
    {THREADS " %c = lt bool %t, %8\n %f = if void %c\n %y = barrier void\n %e = endif void %f\n linear %4, %8, %p, %t, %c, %f, %y, %e\n}\n",
     "barrier: threads: stands where not all threads of the block come by"},
    {THREADS " %x = load f32 %i\n %r = range i32 %t [id=0 axis=loop]\n %y = shuffle f32 %x [mask=1]\n %e = end void %y, %r\n"
             " linear %4, %p, %t, %i, %x, %r, %y, %e\n}\n",
     "shuffle: threads: stands where not all threads of the block come by"},
    {THREADS SHARED " %y = load f32 %n\n linear %4, %p, %t, %i, %x, %m, %n, %s, %y\n}\n",
     "load: threads: reads shared memory that threads have stored to since the last barrier"},
    {THREADS SHARED " %k = barrier void %s\n %y = load f32 %n\n %o = index ptr.local.f32 %m, %8\n %z = store void %o, %y\n"
                    " linear %4, %8, %p, %t, %i, %x, %m, %n, %s, %k, %y, %o, %z\n}\n",
     "store: threads: stores to shared memory that threads have read since the last barrier"},
    {THREADS SHARED " %r = range i32 %4 [id=0 axis=loop]\n %k = barrier void\n %y = load f32 %n\n %e = end void %y, %r\n"
                    " linear %4, %p, %t, %i, %x, %m, %n, %r, %s, %k, %y, %e\n}\n",
     "store: threads: stores to shared memory that threads have read since the last barrier"},
    {THREADS SHARED " %r = range i32 %4 [id=0 axis=loop]\n %k = barrier void\n %y = load f32 %n\n %e = end void %y, %r\n"
                    " linear %4, %p, %t, %i, %x, %m, %n, %r, %y, %k, %s, %e\n}\n",
     "load: threads: reads shared memory that threads have stored to since the last barrier"},
    /* a part is read while its copy may be under way */
    {RING "%y0, %k0, " TURN "%b, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way..."},
    /* one group too many is left */
    {RING "%y0, %k0, " TURN "%w1, %b, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way..."},
    /* nothing ends the first group */
    {RING "%y0, " TURN "%w0, %b, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way"},
    /* nothing ends the others */
    {RING "%y0, %k0, " TURN "%w0, %b, %y1, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way..."},
    /* the others have not come by */
    {RING "%y0, %k0, " TURN "%w0, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory that threads have stored to since the last barrier..."},
    /* ... but not waited for theirs */
    {RING "%y0, %k0, " TURN "%b, %w0, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory that threads have stored to since the last barrier"},
    /* the part that is read is the one that is begun */
    {RING "%y0, %k0, " TURN "%w0, %b, %y1, %k1, %l1, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way"},
    {RING "%y0, %k0, " TURN "%w0, %b, %y1, %k1, %s1, %e\n}\n",
     "store: threads: stores to shared memory whose asynchronous copy may be under way"},
    {RING "%y0, %k0, " TURN "%w0, %b, %l1, %y1, %k1, %e\n}\n",
     "copy_async: threads: stores to shared memory that threads have read since the last barrier"},
    /* two groups copy to a part */
    {RING "%y0, %k0, " TURN "%y1, %k1, %e\n}\n",
     "copy_async: threads: stores to shared memory whose asynchronous copy may be under way"},
    /* what a round begins, the third one behind it reads */
    {LONG_RING "%w, %b, %k, %y, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way"},
    /* no ring: parts of two kinds, or turned by two things */
    {THREADS " %m = define_local ptr.local.f32 %8 [id=0]\n %r = range i32 %4 [id=0 axis=loop]\n %w = wait void %r [pending=0]\n %b = barrier void %r\n"
            " %c1 = slot ptr.local.f32 %m, %r [offset=1 parts=2]\n %d1 = index ptr.local.f32 %c1, %t\n %y1 = copy_async void %d1, %i [lanes=1]\n"
            " %k1 = commit void %r\n %c2 = slot ptr.local.f32 %m, %r [offset=0 parts=4]\n %d2 = index ptr.local.f32 %c2, %t\n %l = load f32 %d2\n"
            " %e = end void %r, %r\n linear %4, %8, %p, %t, %i, %m, %r, %c1, %d1, %c2, %d2, %w, %b, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way..."},
    {THREADS " %m = define_local ptr.local.f32 %8 [id=0]\n %r = range i32 %4 [id=0 axis=loop]\n %w = wait void %r [pending=0]\n %b = barrier void %r\n"
            " %c1 = slot ptr.local.f32 %m, %r [offset=1 parts=2]\n %d1 = index ptr.local.f32 %c1, %t\n %y1 = copy_async void %d1, %i [lanes=1]\n"
            " %k1 = commit void %r\n %c2 = slot ptr.local.f32 %m, %t [offset=0 parts=2]\n %d2 = index ptr.local.f32 %c2, %t\n %l = load f32 %d2\n"
            " %e = end void %r, %r\n linear %4, %8, %p, %t, %i, %m, %r, %c1, %d1, %c2, %d2, %w, %b, %y1, %k1, %l, %e\n}\n",
     "load: threads: reads shared memory whose asynchronous copy may be under way..."},
    {SLOT("%8", "%z", "offset=2 parts=2"), "slot: copy: `offset` is below `parts`, of which there are 2 at least"},
    {SLOT("%8", "%z", "offset=0 parts=1"), "slot: copy: `offset` is below `parts`, of which there are 2 at least"},
    {SLOT("%8", "%z", "offset=0 parts=0"), "slot: copy: `offset` is below `parts`, of which there are 2 at least"},
    {SLOT("%8", "%z", "offset=0 parts=3"), "slot: copy: 8 elements are not 3 equal parts"},
    {SLOT("%8", "%neg", "offset=0 parts=2"), "slot: copy: what turns it may be negative"},
    {THREADS " %z = const i32 [val=0]\n %m = define_reg ptr.reg.f32 %8 [id=0]\n %c = slot ptr.reg.f32 %m, %z [offset=0 parts=2]\n linear %4, %8, %p, %t, %z, %m, %c\n}\n",
     "slot: copy: is a part of shared memory, not of a define_reg"},
    {THREADS SHARED " %o = load f32 %n\n %c = slot ptr.local.f32 %m, %x [offset=0 parts=2]\n linear %4, %p, %t, %i, %x, %m, %n, %c\n}\n",
     "slot: copy: what turns it is no scalar index"},
    {THREADS SHARED " %y = copy_async void %i, %i [lanes=1]\n linear %4, %8, %p, %t, %i, %y\n}\n", "copy_async: copy: copies to an index of shared memory"},
    {THREADS SHARED " %y = copy_async void %n, %n [lanes=1]\n linear %4, %8, %p, %t, %i, %m, %n, %y\n}\n", "copy_async: copy: copies from an index of the device's memory"},
    {THREADS SHARED " %y = copy_async void %n, %i [lanes=0]\n linear %4, %8, %p, %t, %i, %m, %n, %y\n}\n", "copy_async: copy: `lanes` is 1, 2, 4, 8, 16, 32 or 64"},
    {THREADS SHARED " %y = copy_async void %n, %i [lanes=65]\n linear %4, %8, %p, %t, %i, %m, %n, %y\n}\n", "copy_async: copy: `lanes` is 1, 2, 4, 8, 16, 32 or 64"},
    {THREADS SHARED " %g = const boolx2 [val=true]\n %j = index ptr.f32 %p, %t, %g\n %y = copy_async void %n, %j [lanes=4]\n"
                    " linear %4, %p, %t, %i, %m, %n, %g, %j, %y\n}\n",
     "copy_async: copy: its gate has 2 lanes, the access 4"},
    {THREADS SHARED " %g = const boolx2 [val=true]\n %j = index ptr.local.f32 %m, %t, %g\n %y = copy_async void %j, %i [lanes=4]\n"
                    " linear %4, %p, %t, %i, %m, %g, %j, %y\n}\n",
     "copy_async: copy: its gate has 2 lanes, the access 4"},
    {THREADS " %h = define_local ptr.local.f16 %4 [id=0]\n %n = index ptr.local.f16 %h, %t\n %y = copy_async void %n, %i [lanes=1]\n"
             " linear %4, %p, %t, %i, %h, %n, %y\n}\n",
     "copy_async: copy: keeps the dtype"},
    {KERNEL " %y = async ptr.f32 %p\n %i = index ptr.f32 %y, %0\n %s = store void %i, %one\n sink %s\n}\n",
     "async: copy: stands for a value"},
    {CORE("f16x8", "f16x4 [val=0.0]", "f32x4 [val=0.0]", "f32x4 %a, %b, %c [form=1]"), "wmma: tensor core: `form` is 0"},
    {CORE("f16x8", "f32x4 [val=1.0]", "f32x4 [val=0.0]", "f32x4 %a, %b, %c [form=0]"), "wmma: tensor core: its operands have elements of 1, 2 or 4 bytes, alike"},
    {CORE("f64x8", "f64x4 [val=0.0]", "f32x4 [val=0.0]", "f32x4 %a, %b, %c [form=0]"), "wmma: tensor core: its operands have elements of 1, 2 or 4 bytes, alike"},
    {CORE("f16x4", "f16x4 [val=1.0]", "f32x4 [val=0.0]", "f32x4 %a, %b, %c [form=0]"), "wmma: tensor core: its operands have 8 and 4 lanes, not 4 and 4"},
    {CORE("f32x4", "f32x4 [val=1.0]", "f32x4 [val=2.0]", "f32x4 %a, %b, %c [form=0]"), "wmma: tensor core: its operands have 4 and 2 lanes, not 4 and 4"},
    {CORE("f16x8", "f16x4 [val=0.0]", "f64x4 [val=0.0]", "f64x4 %a, %b, %c [form=0]"), "wmma: tensor core: adds up 4 lanes of f32 or i32"},
    {CORE("f16x8", "f16x4 [val=0.0]", "f32x2 [val=0.0]", "f32x2 %a, %b, %c [form=0]"), "wmma: tensor core: adds up 4 lanes of f32 or i32"},
    {THREADS " %a = const f16x8 [val=0.0]\n %b = const f16x4 [val=0.0]\n %c = const f32x4 [val=0.0]\n %w = wmma f32x4 %a, %b, %c [form=0]\n"
             " linear %4, %t, %a, %b, %c, %w\n}\n",
     "wmma: threads: needs whole warps of 32 threads, not 4"},
    {THREADS " %n = const i32 [val=64]\n %m = define_local ptr.local.f32 %n [id=0]\n %j = index ptr.local.f32 %m, %t\n %l = ldmatrix f32x4 %j [trans=0]\n"
             " linear %4, %t, %n, %m, %j, %l\n}\n",
     "ldmatrix: threads: needs whole warps of 32 threads, not 4"},
    {"unir 1\ngraph @g stage=linear {\n %32 = const i32 [val=32]\n %t = special i32 %32 [axis=local]\n %8 = const i32 [val=8]\n"
     " %a = const f16x8 [val=0.0]\n %b = const f16x4 [val=0.0]\n %c = const f32x4 [val=0.0]\n %l = lt bool %t, %8\n %f = if void %l\n"
     " %w = wmma f32x4 %a, %b, %c [form=0]\n %e = endif void %f\n linear %32, %t, %8, %a, %b, %c, %l, %f, %w, %e\n}\n",
     "wmma: threads: stands where not all threads of the block come by"},
    {ROWS " %l = ldmatrix f16x8 %i [trans=2]\n linear %32, %t, %n, %m, %8, %u, %i, %l\n}\n",
     "ldmatrix: tensor core: `trans` is 0, or 1 for elements of 2 bytes"},
    {ROWS " %l = ldmatrix f16x16 %i [trans=0]\n linear %32, %t, %n, %m, %8, %u, %i, %l\n}\n",
     "ldmatrix: tensor core: gives 1, 2 or 4 words of 4 bytes"},
    {ROWS " %l = ldmatrix bf16x8 %i [trans=0]\n linear %32, %t, %n, %m, %8, %u, %i, %l\n}\n",
     "ldmatrix: tensor core: has not the dtype of what the pointer points to"},
    {ROWS " %g = lt bool %t, %8\n %j = index ptr.local.f16 %m, %u, %g\n %l = ldmatrix f16x8 %j [trans=0]\n linear %32, %t, %n, %m, %8, %u, %i, %g, %j, %l\n}\n",
     "ldmatrix: tensor core: reads at an index of shared memory without a gate"},
    {"unir 1\ngraph @g stage=linear {\n %32 = const i32 [val=32]\n %t = special i32 %32 [axis=local]\n %m = define_local ptr.local.i8 %32 [id=0]\n"
     " %i = index ptr.local.i8 %m, %t\n %l = ldmatrix i8x16 %i [trans=1]\n linear %32, %t, %m, %i, %l\n}\n",
     "ldmatrix: tensor core: `trans` is 0, or 1 for elements of 2 bytes"},
    {THREADS " %32 = const i32 [val=32]\n %l = ldmatrix f32x4 %i [trans=0]\n linear %4, %p, %t, %i, %l\n}\n",
     "ldmatrix: tensor core: reads at an index of shared memory without a gate..."},
    {ROWS " %x = const f16 [val=0.0]\n %s = store void %i, %x\n %l = ldmatrix f16x8 %i [trans=0]\n linear %32, %t, %n, %m, %8, %u, %i, %x, %s, %l\n}\n",
     "ldmatrix: threads: reads shared memory that threads have stored to since the last barrier"},
    {KERNEL " %v = vectorize f32x4 %one\n %x = extract f32 %one, %0\n %i = index ptr.f32 %p, %0\n %s = store void %i, %x\n sink %s\n}\n", "extract: lanes: takes a lane of a vector, its source has one..."},
    {KERNEL " %v = vectorize f32x4 %one\n %x = extract f32x2 %v, %0\n %i = index ptr.f32 %p, %0\n %s = store void %i, %x\n sink %s\n}\n", "extract: lanes: gives one lane of its source's dtype"},
    {KERNEL " %v = vectorize f32x4 %one\n %x = extract f32 %v, %4\n %i = index ptr.f32 %p, %0\n %s = store void %i, %x\n sink %s\n}\n", "extract: lanes: the lane's number may lie outside of 4 lanes"},
    {KERNEL " %v = vectorize f32x4 %one\n %x = extract f32 %v, %one\n %i = index ptr.f32 %p, %0\n %s = store void %i, %x\n sink %s\n}\n", "extract: lanes: the lane's number is no scalar index"},
    {LINEAR " %y = vectorize i32x4 %r\n %o = index ptr.f32 %p, %y\n %s = store void %o, %one\n %e = end void %s, %r\n"
            " linear %4, %p, %one, %r, %y, %o, %s, %e\n}\n",
     "index: address: the element's number must be scalar: lanes are at consecutive addresses"},
    /* stage schedule */
    {SCHEDULE " sink %b\n}\n", "sink: root: the root must be a linear"},
    {SCHEDULE " linear %b\n}\n", "linear: root: source 0 is no kernel"},
    {SCHEDULE " %n = kernel void %k\n linear %n\n}\n", "kernel: argument: param 0 has no argument"},
    {SCHEDULE " %n = kernel void %k, %4\n linear %n\n}\n", "kernel: kernel: argument 0 is no buffer..."},
    {SCHEDULE " %i8 = buffer i8 %4 [slot=1]\n %n = kernel void %k, %i8\n linear %n\n}\n",
     "kernel: argument: argument 0 has another dtype than its param"},
    {SCHEDULE " %r = range index %4 [id=1 axis=loop]\n %j = index ptr.f32 %p, %r\n %t = store void %j, %one\n %e = end "
              "void %t, %r\n"
              " %m = sink void %e\n %n = kernel void %m, %b\n linear %n\n}\n",
     "range: numbering: id 1: ids number the 1 ranges of a kernel from 0"},
    {SCHEDULE " %n = kernel void %s, %b\n linear %n\n}\n", "store: root: the root must be a sink..."},
    {SCHEDULE " %z = store void %p, %one\n %m = sink void %z\n %n = kernel void %m, %b\n linear %n\n}\n",
     "store: store: writes at an index, not at a param"},
};

Test(verify, each_fault_is_found) {
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    un__parsed_graph g = parsed(bad[i].in);
    un__strbuf out = {0};
    cr_expect_eq(un__verify(g.root, g.stage, &err, &out), UN_ERR_VERIFY, "nothing found, wanted %s in\n%s",
                 bad[i].fault, bad[i].in);
    char wanted[256];
    size_t n = strlen(bad[i].fault);
    bool more = n > 3 && strcmp(bad[i].fault + n - 3, "...") == 0;
    snprintf(wanted, sizeof wanted, " %.*s", (int)(more ? n - 3 : n), bad[i].fault);
    cr_expect(strstr(err.text, wanted), "wanted%s\ngot %s\nfor\n%s", wanted, err.text, bad[i].in);
    cr_expect(more || strstr(err.text, ": 1 fault\n"), "only one fault wanted:\n%s\nfor\n%s", err.text, bad[i].in);
    cr_expect(strstr(un__sb_str(&out), wanted), "not annotated:\n%s", un__sb_str(&out));
    un__sb_finish(&out);
    un__err_clear(&err);
  }
}

Test(verify, faults_stand_below_their_nodes_in_text_that_parses) {
  un__parsed_graph g =
      parsed(KERNEL " %k = range index %4 [id=1 axis=reduce]\n %i = index ptr.f32 %q, %k\n %l = load f64 %i\n"
                    " %a = reduce f64 %l, %k [op=sub]\n %s = store void %i0, %a\n sink %s\n}\n");
  un__strbuf out = {0};
  cr_expect_eq(un__verify(g.root, g.stage, &err, &out), UN_ERR_VERIFY);
  cr_expect_str_eq(err.text, "stage kernel: 4 faults\n"
                             "  %2 range: open: range 0 is not closed at the root\n"
                             "  %7 load: load: has not the dtype of what the pointer points to\n"
                             "  %8 reduce: reduction: `op` must be associative, or combine\n"
                             "  %9 store: store: the value has not the dtype of what the pointer points to");
  cr_expect(
      strstr(out.at, "  %7 = load f64 %6\n  # ^ %7 load: load: has not the dtype of what the pointer points to\n"),
      "%s", out.at);
  un__err_clear(&err);
  un__parsed_graph again = parsed(out.at);
  cr_expect_eq(again.root, g.root);
  un__sb_finish(&out);
}

Test(verify, a_fault_at_the_root_is_annotated) {
  un__parsed_graph g = parsed(SCHEDULE " linear %b\n}\n");
  un__strbuf out = {0};
  cr_expect_eq(un__verify(g.root, g.stage, &err, &out), UN_ERR_VERIFY);
  cr_expect(strstr(out.at, "  linear %1\n  # ^ root linear: root: source 0 is no kernel\n}\n"), "%s", out.at);
  un__sb_finish(&out);
}

Test(verify, nothing_is_no_graph) {
  cr_expect_eq(un__verify(NULL, UN__STAGE_TENSOR, &err, NULL), UN_ERR_VERIFY);
  cr_expect_str_eq(err.text, "stage tensor: there is no graph");
}

/* Many kernels over one deep body would cost quadratic time without a budget. */
Test(verify, hostile_sharing_ends_with_a_fault_not_with_patience) {
  enum { DEEP = 20000, KERNELS = 20000 };
  un__strbuf in = {0};
  un__sb_puts(&in, "unir 1\ngraph @g stage=schedule {\n %x = const i32 [val=0]\n %0 = not i32 %x\n");
  for (int i = 1; i < DEEP; i++) un__sb_printf(&in, " %%%d = not i32 %%%d\n", i, i - 1);
  for (int i = 0; i < KERNELS; i++)
    un__sb_printf(&in, " %%s%d = sink void %%%d, %%%d\n %%k%d = kernel void %%s%d\n", i, DEEP - 1, i, i, i);
  un__sb_puts(&in, " linear");
  for (int i = 0; i < KERNELS; i++) un__sb_printf(&in, "%s%%k%d", i ? ", " : " ", i);
  un__sb_puts(&in, "\n}\n");
  un__parsed_graph g = parsed(in.at);
  un__strbuf out = {0};
  cr_expect_eq(un__verify(g.root, g.stage, &err, &out), UN_ERR_VERIFY);
  cr_expect(strstr(out.at, "the graph is too large to check this completely"));
  un__sb_finish(&in);
  un__sb_finish(&out);
}
