/* The rule language with every allocation failing once: no crash, no leak, no false error. Built with -Dtorture. */
#include <criterion/criterion.h>
#include <string.h>

#include "pat/pat.h"

static const char text[] =
    "opset Assoc = ADD | MUL\n"
    "extern fn f(x: node): node\n"
    "fn g(x: node): node = x + 1\n"
    "ruleset a ctx T {\n"
    "  /// doc\n"
    "  @fp(reassoc) for op in Assoc { rule r1: op[op[x, #a], #b] => op(x, #eval(op, a, b)) }\n"
    "  rule r2: CAST<'B>(CAST<'A>(x:int)) if bits('A) >= bits(x) let k = vmin(x) if k > 0 ~> CAST<'B>(x)\n"
    "    test CAST<i64>(CAST<i32>(v:i16)) -> nomatch\n"
    "  rule r3: INDEX(m = {RESHAPE|EXPAND}(x, ..), *i) if nsrc(m) > 1 => { return root; }\n"
    "  rule r4: NEG(x:i32) => g(f(x))\n"
    "}\n"
    "stage s { use a walk once }\n";

Test(pat, every_allocation_fails_once) {
  for (uint64_t n = 0;; n++) {
    un__torture_arm(n, false);
    un__pat *p = un__calloc(1, sizeof *p);
    if (!p) continue;
    un__pat_init(p);
    bool loaded = un__pat_load_text(p, "t.pat", text, strlen(text));
    if (loaded && !p->oom) un__pat_check(p);
    bool done = loaded && !p->oom;
    cr_assert(!p->errors, "allocation %llu: an error that is none", (unsigned long long)n);
    un__pat_finish(p);
    un__free(p);
    if (done) break;
    cr_assert(n < 100000);
  }
  un__torture_arm(UINT64_MAX, false);
}
