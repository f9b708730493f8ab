/* rewrite.h - the engine that applies generated rule tables to graphs.
 *
 * patgen turns each `ruleset` of a .pat file into an un__ruleset: one matcher function per root op. A `stage` there
 * becomes an un__pass: rulesets in order of preference, a walk, and fuel. un__graph_rewrite drives a pass over a
 * graph to its fixpoint. It never recurses on graph depth, never enters a KERNEL or CALL body, and visits a shared
 * node once.
 *
 * What a matcher function must hold (patgen's output does; C blocks must too):
 *   1. it returns NULL for "no rule fires", or a node equal in meaning to `n` in the sense of its stage;
 *   2. returning `n` itself is "no change" and counts as declined;
 *   3. it keeps the dtype, and at the tensor stage the shape;
 *   4. it builds nodes only in rw->g and keeps no state outside rw->ctx;
 *   5. it is deterministic: no addresses, no node ids in any choice.
 */
#ifndef UN_REWRITE_REWRITE_H
#define UN_REWRITE_REWRITE_H

#include "uop/graph.h"
#include "base/strbuf.h"

/* Licences a rule may need (design 7); the pass run states which are granted. */
enum un__licence {
  UN__LIC_CONTRACT = 1,       /* fma */
  UN__LIC_REDUCE_ORDER = 2,   /* reductions in any fixed order */
  UN__LIC_ONLINE = 4,         /* rescaled reductions */
  UN__LIC_NSZ = 8,            /* sign of zero may change */
  UN__LIC_NNAN = 16,          /* no NaN among the operands */
  UN__LIC_NINF = 32,          /* no infinity among the operands */
  UN__LIC_REASSOC = 64,       /* float arithmetic may be reassociated */
  UN__LIC_APPROX = 128,       /* approximate functions and reciprocals */
  UN__LIC_STRICT = 0,
  UN__LIC_PRECISE = UN__LIC_CONTRACT | UN__LIC_REDUCE_ORDER | UN__LIC_ONLINE,
  UN__LIC_FAST = 255
};

typedef enum un__proof { UN__PROOF_NONE, UN__PROOF_SMT, UN__PROOF_EVAL, UN__PROOF_FUZZ, UN__PROOF_INST,
                         UN__PROOF_TRUSTED } un__proof;

typedef struct un__rule_info {
  const char *name, *ruleset, *file, *doc;
  int line;
  uint32_t licences;           /* needed */
  un__proof proof;
  bool c_block;                /* the right side is C */
} un__rule_info;

/* A run of nodes: what `*xs` binds to. Spans that functions return live in the workspace's arena; a span whose `at` is
 * NULL means "declined". */
typedef struct un__span { const un_uop *const *at; uint32_t n; } un__span;

/* How pattern files see C, by name:
 *   extern pred p(x: node, r: nodes)    bool un__pred_p(un__rw *, const un_uop *x, un__span r)
 *   extern fn f(x: node): int           bool un__fn_f(un__rw *, const un_uop *x, int64_t *out)      false: no match
 *   extern fn g(x: node): node          const un_uop *un__fn_g(un__rw *, const un_uop *x)            NULL: no match
 *   extern fn h(i: nodes): nodes        un__span un__fn_h(un__rw *, un__span i)                      at NULL: no match
 *   dtype arguments are un__dtype, attr arguments and int arguments int64_t (INTS: un__ints)
 * Their prototypes come from headers named by `c_include "folder/file.h"` at the top of the .pat file.
 * A C block is the body of a function (un__rw *rw, T *cx, const un_uop *root, one parameter per capture) that returns
 * const un_uop *; DECLINE; leaves it without a match. */
typedef struct un__ints { const int64_t *at; uint32_t n; } un__ints;
#define DECLINE return NULL

typedef struct un__rw un__rw;
typedef const un_uop *(*un__match_fn)(un__rw *rw, const un_uop *n);

typedef struct un__ruleset {
  const char *name;
  const un__rule_info *rules;           /* numbered from 0 inside the ruleset */
  uint32_t nrules;
  bool impure;                          /* declares a ctx: results may depend on it, so no memo across runs */
  un__match_fn match[UN__OP_COUNT];     /* by root op; NULL: no rule */
} un__ruleset;

typedef enum un__walk {
  UN__WALK_POST,      /* sources first; a result is walked again until nothing fires */
  UN__WALK_PRE,       /* the node as it stands to a fixpoint, then the sources of what it became, which are new nodes to
                         the walk; when they changed, the rebuilt node is matched again. So INDEX(ADD(a, b), i) that
                         becomes ADD(INDEX(a, i), INDEX(b, i)) goes on into both, and nothing matches in the result */
  UN__WALK_ONCE       /* sources first, each node rewritten at most once, results not revisited */
} un__walk;

typedef struct un__pass {
  const char *name;
  const un__ruleset *const *sets;       /* in order of preference */
  uint32_t nsets;
  un__walk walk;
  uint32_t fuel;                        /* firings allowed: 10000, and this many for each original node visited; at
                                           one position at most 10000 */
} un__pass;

/* What generated matchers see of a run. */
struct un__rw {
  un__graph *g;
  void *ctx;                            /* the pass's own state: what a ruleset's `ctx T` names */
  uint32_t licences;                    /* granted */
  const un__ruleset *set;               /* being tried now */
  const un_uop *root;                   /* the node being matched */
  struct un__rw_state *state;           /* engine's own */
};

typedef struct un__rw_options {
  void *ctx;
  uint32_t licences;
} un__rw_options;

/* Rewrites everything below `root` in a workspace; opt NULL: no ctx, licences of `precise`. NULL on failure (see the
 * graph's un__err): no memory, or fuel ran out (UN_ERR_FUEL; the message names the cycle of rules and the node; so
 * does a rewriting that arrives at a node it started from). The root itself may be a BODY op; its body stays as it
 * is. Runs may nest: an extern function may start one. In a pass without impure rulesets, nodes found to be in normal
 * form are remembered by the workspace, so the same pass over a graph that hardly changed costs only the change.
 * Environment, read once: UNIR_DISABLE_RULE=a,b (names, or ruleset.name) and UNIR_RULE_LIMIT=N (only the first N
 * firings of the process happen), UNIR_TRACE=rule|stage|all (through the log hook of the graph's un__err, never
 * stdout). */
const un_uop *un__graph_rewrite(un__graph *g, const un_uop *root, const un__pass *pass, const un__rw_options *opt);

/* Called by generated code. un__rw_fire returns `to`, or NULL when the rule is disabled, over the limit, or a no-op;
 * matchers then go on with the next rule. */
const un_uop *un__rw_fire(un__rw *rw, uint32_t rule, const un_uop *from, const un_uop *to);
bool un__rw_enabled(const un__rw *rw, uint32_t rule);     /* not disabled and its licences are granted */
/* How many runs are under way in this workspace: extern functions that start runs bound it. */
uint32_t un__rewrite_depth(const un__graph *g);

/* Replaces from[i] by to[i] everywhere below root at once (a replacement is not searched again). The one way a
 * RANGE is split, renamed or unrolled. Nodes that do not depend on any from[i] stay the same pointers. */
const un_uop *un__substitute(un__graph *g, const un_uop *root, const un_uop *const *from, const un_uop *const *to,
                             uint32_t n);

/* ---- counters, for `unir show --rules`, tests and traces ---- */

typedef struct un__rule_count { uint64_t fired, declined; } un__rule_count;
/* Process-wide totals for a rule of a set (atomic). */
un__rule_count un__rule_counts(const un__ruleset *set, uint32_t rule);
uint64_t un__rewrite_visits(void);       /* node visits so far, firings included */

/* Says through the log hook of `err` what in UNIR_DISABLE_RULE, UNIR_RULE_LIMIT and UNIR_TRACE means nothing: names of
 * no rule of `sets` (which end with NULL), no number, no kind of trace. False: something was said. */
bool un__rewrite_check_env(const un__ruleset *const *sets, un__err *err);

/* Every built-in ruleset and pass, for listing: generated into a table by the build. */
extern const un__ruleset *const un__all_rulesets[];
extern const un__pass *const un__all_passes[];

#endif
