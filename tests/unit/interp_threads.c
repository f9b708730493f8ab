/* The interpreter as a GPU: the threads of a block in step, shared memory, barriers and shuffles, and races that it finds. */
#include <criterion/criterion.h>
#include <string.h>

#include "interp/interp.h"
#include "uop/text.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(interp_threads, ws);

static const un_uop *parsed(const char *text) {
  un__parsed_graph g;
  size_t n;
  un_status st = un__parse_text(ws, "test", text, strlen(text), &g, 1, &n);
  cr_assert_eq(st, UN_OK, "%s", un__graph_err(ws)->text);
  return g.root;
}

/* Two blocks of 4 threads: out[block, thread] from in[block, thread]. `BODY` gives %v from the element %x. */
#define KERNEL(body, list)                                                                                                      \
  "unir 1\ngraph @k stage=linear {\n"                                                                                           \
  "  %0 = const i32 [val=0]\n  %1 = const i32 [val=1]\n  %2 = const i32 [val=2]\n  %3 = const i32 [val=3]\n  %4 = const i32 [val=4]\n"                    \
  "  %n = const i64 [val=8]\n  %o = param ptr.i32 %n [slot=0]\n  %a = param ptr.i32 %n [slot=1]\n"                              \
  "  %b = special i32 %2 [axis=global dim=0]\n  %t = special i32 %4 [axis=local dim=0]\n"                                       \
  "  %r = mul i32 %b, %4\n  %i = add i32 %r, %t\n  %p = index ptr.i32 %a, %i\n  %x = load i32 %p\n" body                        \
  "  %q = index ptr.i32 %o, %i\n  %s = store void %q, %v\n"                                                                     \
  "  linear %0, %1, %2, %3, %4, %n, %o, %a, %b, %t, %r, %i, %p, %x, " list ", %q, %s\n}\n"

#define SCRATCH "  %m = define_local ptr.local.i32 %4 [id=0]\n"
#define OTHER "  %w = xor i32 %t, %3\n"

static const char butterfly[] = KERNEL("  %h = shuffle i32 %x [mask=1]\n  %y = add i32 %x, %h\n  %g = shuffle i32 %y [mask=2]\n"
                                       "  %v = add i32 %y, %g\n", "%h, %y, %g, %v");
static const char reversed[] = KERNEL(SCRATCH OTHER "  %c = index ptr.local.i32 %m, %t\n  %d = store void %c, %x\n  %e = barrier void %d\n"
                                      "  %f = after ptr.local.i32 %m, %e\n  %g = index ptr.local.i32 %f, %w\n  %v = load i32 %g\n",
                                      "%m, %w, %c, %d, %e, %f, %g, %v");
static const char no_barrier[] = KERNEL(SCRATCH OTHER "  %c = index ptr.local.i32 %m, %t\n  %d = store void %c, %x\n"
                                        "  %f = after ptr.local.i32 %m, %d\n  %g = index ptr.local.i32 %f, %w\n  %v = load i32 %g\n",
                                        "%m, %w, %c, %d, %f, %g, %v");
static const char one_place[] = KERNEL(SCRATCH "  %c = index ptr.local.i32 %m, %0\n  %d = store void %c, %x\n  %e = barrier void %d\n"
                                       "  %f = after ptr.local.i32 %m, %e\n  %g = index ptr.local.i32 %f, %0\n  %v = load i32 %g\n",
                                       "%m, %c, %d, %e, %f, %g, %v");
/* Thread t goes t rounds. */
static const char rounds[] = KERNEL("  %m = define_reg ptr.reg.i32 %1 [id=0]\n  %c = index ptr.reg.i32 %m, %0\n  %d = store void %c, %x\n"
                                    "  %f = after ptr.reg.i32 %m, %d\n  %k = range i32 %t [id=0 axis=loop]\n  %g = index ptr.reg.i32 %f, %0\n"
                                    "  %h = load i32 %g\n  %y = add i32 %h, %4\n  %l = store void %g, %y\n  %e = end void %l, %k\n"
                                    "  %j = after ptr.reg.i32 %m, %e\n  %u = index ptr.reg.i32 %j, %0\n  %v = load i32 %u\n",
                                    "%m, %c, %d, %f, %k, %g, %h, %y, %l, %e, %j, %u, %v");
static const char some_at_barrier[] = KERNEL("  %c = lt bool %t, %2\n  %d = if void %c\n  %e = barrier void\n  %f = endif void %d\n"
                                             "  %v = add i32 %x, %0\n", "%c, %d, %e, %f, %v");
static const char beyond_the_block[] = KERNEL("  %v = shuffle i32 %x [mask=4]\n", "%v");
/* Only threads 0 and 1 add 4 more. */
static const char branch[] = KERNEL("  %m = define_reg ptr.reg.i32 %1 [id=0]\n  %g = index ptr.reg.i32 %m, %0\n  %d = store void %g, %x\n"
                                    "  %c = lt bool %t, %2\n  %f = if void %c\n  %h = load i32 %g\n  %y = add i32 %h, %4\n"
                                    "  %l = store void %g, %y\n  %e = endif void %f\n  %j = after ptr.reg.i32 %m, %e\n"
                                    "  %u = index ptr.reg.i32 %j, %0\n  %v = load i32 %u\n",
                                    "%m, %g, %d, %c, %f, %h, %y, %l, %e, %j, %u, %v");
/* Both blocks store to elements 0 to 3. */
static const char two_blocks_one_place[] = KERNEL("  %c = index ptr.i32 %o, %t\n  %d = store void %c, %x\n  %v = add i32 %x, %0\n", "%c, %d, %v");

/* Every thread copies its element to shared memory; TAIL reads it as the thread opposite. */
#define COPIED(order, pending)                                                                                                  \
  KERNEL(SCRATCH OTHER "  %c = index ptr.local.i32 %m, %t\n  %d = copy_async void %c, %p [lanes=1]\n  %k = commit void\n"         \
         "  %j = wait void [pending=" pending "]\n  %e = barrier void\n  %g = index ptr.local.i32 %m, %w\n  %v = load i32 %g\n",     \
         "%m, %w, %c, %d, " order ", %g, %v")
static const char copied[] = COPIED("%k, %j, %e", "0");
static const char not_waited_for[] = COPIED("%k, %e", "0");
static const char not_committed[] = COPIED("%j, %e", "0");
static const char pending[] = COPIED("%k, %j, %e", "1");
static const char waited_for_late[] = COPIED("%k, %e, %j", "0");
static const char not_met[] = COPIED("%k, %j", "0");

/* Source or target of the copy under a gate; what it does not touch is 9. */
#define GATED(gates, to, from)                                                                                                  \
  KERNEL(SCRATCH "  %nine = const i32 [val=9]\n  %u = lt bool %t, %2\n  %c = index ptr.local.i32 %m, %t\n  %h = store void %c, %nine\n" \
         gates "  %d = copy_async void " to ", " from " [lanes=1]\n  %k = commit void %d\n  %j = wait void %k [pending=0]\n"        \
         "  %q0 = barrier void %j\n  %v = load i32 %c\n", "%m, %nine, %u, %c, %h, %l, %d, %k, %j, %q0, %v")
static const char from_gated[] = GATED("  %l = index ptr.i32 %a, %i, %u\n", "%c", "%l");
static const char to_gated[] = GATED("  %l = index ptr.local.i32 %m, %t, %u\n", "%l", "%p");

/* Two groups into two parts of shared memory, of which block b calls part (b + 1) mod 2 its second one (what a block's number turns
 * the verifier takes as a whole). */
#define PARTS(pending, read)                                                                                                    \
  KERNEL("  %eight = const i32 [val=8]\n  %m = define_local ptr.local.i32 %eight [id=0]\n"                                        \
         "  %c0 = slot ptr.local.i32 %m, %b [offset=0 parts=2]\n  %d0 = index ptr.local.i32 %c0, %t\n  %y0 = copy_async void %d0, %p [lanes=1]\n" \
         "  %k0 = commit void %y0\n  %w = xor i32 %i, %4\n  %z = index ptr.i32 %a, %w\n"                                          \
         "  %c1 = slot ptr.local.i32 %m, %b [offset=1 parts=2]\n  %d1 = index ptr.local.i32 %c1, %t\n  %y1 = copy_async void %d1, %z [lanes=1]\n" \
         "  %k1 = commit void %y1\n  %j = wait void %k1 [pending=" pending "]\n  %f = index ptr.local.i32 %m, %t\n  %v = load i32 " read "\n", \
         "%eight, %m, %c0, %d0, %y0, %k0, %w, %z, %c1, %d1, %y1, %k1, %j, %f, %v")
static const char parts_turn[] = PARTS("0", "%f");
static const char older_group[] = PARTS("1", "%d0");
static const char younger_group[] = PARTS("1", "%d1");
static const char one_target[] = KERNEL(SCRATCH "  %c = index ptr.local.i32 %m, %0\n  %d = copy_async void %c, %p [lanes=1]\n  %v = add i32 %x, %0\n",
                                        "%m, %c, %d, %v");
static const char outside[] = KERNEL(SCRATCH "  %u = add i32 %t, %1\n  %c = index ptr.local.i32 %m, %u\n  %d = copy_async void %c, %p [lanes=1]\n"
                                     "  %v = add i32 %x, %0\n", "%m, %u, %c, %d, %v");

static int32_t in[8] = {1, 2, 4, 8, 3, 5, 7, 11}, out[8];

static un_status run(const char *text) {
  un__err_clear(&err);
  const un_uop *linear = parsed(text);
  memset(out, -1, sizeof out);
  return un__interp_grid(linear, (void *[]){out, in}, (int64_t[]){8, 8}, 2, NULL, 2, &err);
}

static void runs(const char *text, const int32_t *want) {
  cr_assert_eq(run(text), UN_OK, "%s", err.text);
  for (int i = 0; i < 8; i++) cr_expect_eq(out[i], want[i], "element %d: %d, expected %d", i, out[i], want[i]);
}

static void gives(const char *text, const int32_t *want) {
  runs(text, want);
  cr_assert_eq(un__verify(parsed(text), UN__STAGE_LINEAR, &err, NULL), UN_OK, "%s", err.text);
}

static void refused(const char *text, const char *why) {
  cr_expect_eq(run(text), UN_ERR_INTERNAL);
  cr_expect(strstr(err.text, why), "%s", err.text);
}

Test(interp_threads, shuffles_go_around_the_warp) { gives(butterfly, (const int32_t[]){15, 15, 15, 15, 26, 26, 26, 26}); }
Test(interp_threads, shared_memory_turns_the_block_around) { gives(reversed, (const int32_t[]){8, 4, 2, 1, 11, 7, 5, 3}); }
Test(interp_threads, loops_may_differ_in_length) { gives(rounds, (const int32_t[]){1, 6, 12, 20, 3, 9, 15, 23}); }
Test(interp_threads, branches_leave_threads_out) { gives(branch, (const int32_t[]){5, 6, 4, 8, 7, 9, 7, 11}); }

Test(interp_threads, races_are_found) {
  refused(no_barrier, "no barrier is between");
  refused(one_place, "another thread touches element 0");
  refused(two_blocks_one_place, "another thread touches");
}

Test(interp_threads, all_threads_must_come_by) {
  refused(some_at_barrier, "not passed by every thread");
  refused(beyond_the_block, "a thread that the block does not have");
}

Test(interp_threads, copies_are_there_when_a_wait_has_seen_their_group) {
  gives(copied, (const int32_t[]){8, 4, 2, 1, 11, 7, 5, 3});
  refused(not_waited_for, "never written");
  refused(not_committed, "never written");
  refused(pending, "never written");
  refused(waited_for_late, "no barrier is between");
  refused(not_met, "no barrier is between");
}

Test(interp_threads, copies_look_at_both_gates) {
  gives(from_gated, (const int32_t[]){1, 2, 0, 0, 3, 5, 0, 0});
  gives(to_gated, (const int32_t[]){1, 2, 9, 9, 3, 5, 9, 9});
}

Test(interp_threads, groups_of_copies_end_in_order) {
  runs(older_group, in);
  refused(younger_group, "never written");
}

Test(interp_threads, parts_of_shared_memory_turn) { runs(parts_turn, (const int32_t[]){1, 2, 4, 8, 1, 2, 4, 8}); }

Test(interp_threads, copies_race_and_stay_inside) {
  refused(one_target, "another thread touches element 0");
  refused(outside, "is outside of");
}

Test(interp_threads, one_block_runs_alone) {
  memset(out, -1, sizeof out);
  cr_assert_eq(un__interp_kernel(parsed(butterfly), (void *[]){out, in}, (int64_t[]){8, 8}, 2, NULL, 1, &err), UN_OK, "%s", err.text);
  for (int i = 0; i < 8; i++) cr_expect_eq(out[i], i < 4 ? -1 : 26);
}
