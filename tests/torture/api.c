/* api.c - a program with most kinds of calls, run once for every allocation it makes, with that one failing. Each run must end
 * without a crash or a leak (run it under ASan to see leaks), and a failure must be reported as a lack of memory. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <unir/unir.h>

#include "base/mem.h"

typedef struct outcome { bool done; un_status error; char text[256]; } outcome;

static bool body(un_ctx *cx) {
  const float v[] = {1, 2, 3, 4};
  const uint8_t flags[] = {1, 0};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 2), v), *b = un_from_data(cx, UN_BOOL, un_shape(1, 2), flags);
  bool ok = un_scope_push(cx) == UN_OK;
  un_tensor *y = un_softmax(un_matmul(x, x), -1), *parts[] = {x, y, un_where(b, x, y)};
  un_tensor *z = un_cat(cx, 3, parts, 0), *s = un_stack(cx, 2, parts, 1);
  ok &= un_assign(x, un_gelu(x)) != NULL;
  float out[12];
  ok &= un_realize(cx, 3, (un_tensor *[]){z, s, x}) == UN_OK;
  ok &= un_read(z, out, sizeof out) == UN_OK;
  char *text = un_to_text(y, UN_STAGE_KERNEL, UN_FORM_TREE);
  ok &= text != NULL;
  un_text_free(text);
  return ok;
}

static outcome run(void) {
  outcome o = {0};
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  opt.device = "interp";
  un_ctx *cx;
  o.error = un_ctx_create(&opt, &cx);
  if (o.error != UN_OK) return o;
  o.done = body(cx);
  o.error = un_error_status(cx);
  snprintf(o.text, sizeof o.text, "%s", un_error(cx));
  un_ctx_destroy(cx);
  return o;
}

int main(void) {
  un__torture_arm(UINT64_MAX);
  if (!run().done) return puts("fails with all the memory there is"), 1;
  uint64_t n = un__torture_count(), bad = 0, survived = 0;
  for (uint64_t i = 0; i < n; i++) {
    un__torture_arm(i);
    outcome o = run();
    survived += o.done;
    if (o.done || o.error == UN_ERR_NOMEM) continue;
    printf("allocation %" PRIu64 ": status %d, \"%s\"\n", i, (int)o.error, o.text);
    bad++;
  }
  un__torture_arm(UINT64_MAX);
  printf("%" PRIu64 " allocations, %" PRIu64 " of them done without, %" PRIu64 " wrong\n", n, survived, bad);
  return bad != 0;
}
