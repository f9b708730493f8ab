/* verify.h - what the parts of the verifier share. Private to src/uop/.
 *
 * A verifier looks at regions: the graph below the root without bodies, the body of each KERNEL as a region of its
 * own stage, and the body of each COMBINE, whose nodes obey the laws of stage kernel. Two tables of named checks run on a region: one on every node, one on the region as a whole. A check
 * reports by un__fault and goes on; nothing stops at the first fault. */
#ifndef UN_UOP_VERIFY_H
#define UN_UOP_VERIFY_H

#include "text_parts.h"

typedef struct un__fault {
  uint32_t at;              /* position of the node */
  uint32_t seq;             /* order of discovery */
  const char *check;
  size_t text;              /* offset in `texts` */
} un__fault;

/* `kind` is an un__stage, or UN__REGION_BODY for what a COMBINE says. */
enum { UN__REGION_BODY = 16 };
typedef struct un__region { const un_uop *root; uint32_t kind; } un__region;

typedef struct un__verifier {
  un__order order;                 /* of the whole graph, bodies included */
  un__stage stage;                 /* of the region being checked */
  const un_uop *root;              /* of that region */
  UN__VEC(uint32_t) nodes;         /* of that region: positions, sources before users */
  UN__VEC(un__region) regions;     /* found so far */
  UN__VEC(un__fault) faults;
  un__strbuf texts;                /* messages, each with its NUL */
  const char *check;               /* name of the running check */
  uint32_t *mark;                  /* by position; scratch of the running check, see un__fresh_mark */
  uint32_t last_mark;
  uint8_t *done;                   /* by position: kinds of region in which the node was checked */
  uint8_t *queued;                 /* by position: kinds of region of which the node is the root */
  uint64_t budget;                 /* node visits left: hostile graphs must not cost quadratic time */
  bool nomem;
} un__verifier;

typedef struct un__node_check {
  const char *name;
  uint32_t stages;
  un__op op;                       /* NONE: every op */
  void (*run)(un__verifier *v, const un_uop *n);
} un__node_check;

typedef struct un__region_check {
  const char *name;
  uint32_t kinds;
  void (*run)(un__verifier *v);
} un__region_check;

/* The laws of every node come first; a node that breaks one of the first `un__basic_checks` is looked at no further,
 * since the others read its sources and attributes. */
extern const un__node_check un__node_checks[];
extern const size_t un__node_check_count, un__basic_check_count;
extern const un__region_check un__region_checks[];
extern const size_t un__region_check_count;
void un__verify_linear(un__verifier *v);    /* verify_linear.c: the list itself */
void un__verify_threads(un__verifier *v);   /* verify_threads.c: what the threads of a block may do in it */
/* verify_combine.c: COMBINE, GET of a tuple REDUCE, the region of a body, and ARGs, which stand in bodies only. */
void un__check_combine(un__verifier *v, const un_uop *n);
void un__check_get_reduced(un__verifier *v, const un_uop *n);
void un__check_body_region(un__verifier *v);
void un__check_args(un__verifier *v);

void un__fault_at(un__verifier *v, const un_uop *n, const char *fmt, ...) UN__PRINTF(3, 4);
static inline uint32_t un__pos(const un__verifier *v, const un_uop *n) { return un__order_at(&v->order, n); }
static inline const un_uop *un__region_node(const un__verifier *v, size_t i) { return v->order.node[v->nodes.at[i]]; }
/* A value that no element of v->mark has. */
uint32_t un__fresh_mark(un__verifier *v);
/* False, and a fault once, when the budget is spent. */
bool un__spend(un__verifier *v, uint64_t visits);

#endif
