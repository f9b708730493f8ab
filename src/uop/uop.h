/* uop.h - the node of the one IR, and how to build it.
 *
 * A UOp is (op, dtype, sources, attributes). It is immutable and hash-consed: in one graph, equal means the
 * same pointer. Two kinds of graph exist:
 *
 *   persistent   belongs to a world; nodes are counted (edges and public pins) and freed by sweeps (graph.h)
 *   workspace    private to one realise; an arena, freed whole; commutative operands are ordered structurally
 *
 * Errors: constructors never abort. A NULL source gives NULL; a failed allocation, a node that breaks its op's
 * row in ops.def, or a shape that does not fit gives NULL and leaves the first failure in the graph's un__err.
 * So passes build freely and check `un__graph_status` once.
 */
#ifndef UN_UOP_UOP_H
#define UN_UOP_UOP_H

#include "base/status.h"
#include "dtype.h"

typedef enum un__op {
  UN__OP_NONE,
#define OP(ID, ...) UN__OP_##ID,
#include "ops.def"
#undef OP
  UN__OP_COUNT
} un__op;

typedef enum un__axis {
#define AXIS(ID, ...) UN__AXIS_##ID,
#include "axis.def"
#undef AXIS
  UN__AXIS_COUNT
} un__axis;

/* Stages an op may appear in; also the name of a verifier spec. */
typedef enum un__stage {
  UN__STAGE_TENSOR = 1,
  UN__STAGE_KERNEL = 2,
  UN__STAGE_LINEAR = 4,
  UN__STAGE_SCHEDULE = 8
} un__stage;

enum un__op_flag {
  UN__F_COMM = 1, UN__F_ASSOC = 2, UN__F_CMP = 4, UN__F_VIEW = 8, UN__F_BLOCK = 16, UN__F_MEM = 32,
  UN__F_BODY = 64, UN__F_ELEM = 128
};

typedef enum un__dtype_rule {
  UN__DR_GIVEN, UN__DR_FIRST, UN__DR_SECOND, UN__DR_TRUTH, UN__DR_VOID, UN__DR_INDEX
} un__dtype_rule;

typedef enum un__shape_rule {
  UN__SR_NONE, UN__SR_SCALAR, UN__SR_SAME, UN__SR_FIRST, UN__SR_DIMS0, UN__SR_DIMS1, UN__SR_PERM, UN__SR_PAD,
  UN__SR_SHRINK, UN__SR_STACK, UN__SR_REDUCE, UN__SR_GATHER
} un__shape_rule;

typedef enum un__attr_kind {
  UN__AK_NONE, UN__AK_INT, UN__AK_CONST, UN__AK_AXIS, UN__AK_OP, UN__AK_NAME, UN__AK_INTS
} un__attr_kind;

enum { UN__MAX_ATTRS = 2, UN__MAX_RANK = 16, UN__NAME_WORDS = 2 };
/* Values of one UPCAST or UNROLL range, and copies of one value by all of them: they become code. */
enum { UN__MAX_PART = 256, UN__MAX_COPIES = 1024 };
#define UN__N UINT32_MAX

struct un__value;   /* eval.h */

typedef struct un__attr_spec {
  const char *name;
  un__attr_kind kind;
} un__attr_spec;

/* A row of ops.def. */
typedef struct un__op_info {
  const char *name, *text;           /* "ADD", "add" */
  uint32_t min_src, max_src;
  un__dtype_rule dtype_rule;
  un__shape_rule shape_rule;
  const char *operands;
  /* Reference evaluator on scalars: dt is the result's dtype. False: no defined value (index overflow). */
  bool (*eval)(un__dtype dt, const struct un__value *args, struct un__value *out);
  uint32_t flags, stages;
  const char *doc;
  uint32_t nattrs;
  un__attr_spec attrs[UN__MAX_ATTRS];
} un__op_info;

extern const un__op_info un__op_table[UN__OP_COUNT];

typedef struct un__axis_info {
  const char *name;                  /* "upcast" */
  int order;
  char letter;
  bool special;                      /* becomes a SPECIAL, no loop */
} un__axis_info;

extern const un__axis_info un__axis_table[UN__AXIS_COUNT];

typedef struct un_uop un_uop;
typedef struct un__graph un__graph;

/* Dims are index-dtype nodes of the same graph: CONST when known. Interned: equal shapes are the same pointer. */
typedef struct un__shape {
  uint32_t rank;
  uint32_t users;                    /* nodes of a world that have it */
  const un_uop *dim[];
} un__shape;

/* The open ranges a node's value depends on, ordered by id; interned, so equal sets are the same pointer.
 * Kept by workspaces; in the persistent graph always the empty set. */
typedef struct un__rangeset {
  uint32_t n;
  const un_uop *range[];
} un__rangeset;

/* Saturating bounds; the two extremes stand for infinities. */
#define UN__NEG_INF INT64_MIN
#define UN__POS_INF INT64_MAX
static inline bool un__is_inf(int64_t bound) { return bound == UN__NEG_INF || bound == UN__POS_INF; }

struct un_uop {
  uint64_t hash;                /* of (op, dtype, attributes, hashes of sources): no address, no creation order */
  uint8_t op;                   /* un__op */
  uint8_t nattr;                /* words of attributes */
  uint8_t flags;                /* private to graph.c */
  uint8_t stored;               /* persistent, private to values.c: whether its value may lie in a buffer */
  un__dtype dtype;
  uint32_t nsrc;
  uint32_t id;                  /* dense number in its graph, for side arrays only: never in an output, key or order */
  uint8_t kop[4];               /* ops of the first four sources, 0 where there is none */
  uint32_t refs;                /* persistent: edges (sources and shape) and pins */
  int64_t vmin, vmax;           /* bool, integer and index values lie in [vmin, vmax]; u64 saturates at INT64_MAX */
  const un__shape *shape;       /* tensor stage; NULL: has none */
  union {
    const un__rangeset *ranges; /* workspace: never NULL */
    un_uop *next_zeroed;        /* world: list of nodes without references */
  };
  uint64_t stamp;               /* persistent: epoch since which refs is 0 */
  const un_uop *src[];          /* nsrc sources, then nattr words */
};

/* un_uop.flags: the node is of a workspace, so `ranges` is what it holds. */
enum { UN__NODE_HAS_RANGES = 0x80 };

/* The open ranges of a node of any graph; NULL in the persistent one, which keeps none. */
static inline const un__rangeset *un__open_ranges(const un_uop *n) {
  return n->flags & UN__NODE_HAS_RANGES ? n->ranges : NULL;
}
static inline const int64_t *un__attrs(const un_uop *n) { return (const int64_t *)(n->src + n->nsrc); }
static inline int64_t un__attr(const un_uop *n, uint32_t i) { return un__attrs(n)[i]; }
static inline const un__op_info *un__info(const un_uop *n) { return &un__op_table[n->op]; }
static inline bool un__is(const un_uop *n, un__op op) { return n->op == op; }
static inline bool un__has_flag(const un_uop *n, uint32_t flag) { return (un__info(n)->flags & flag) != 0; }
/* Walks start here: the body of a BODY op, its source 0, is a graph of its own. */
static inline uint32_t un__first_source(const un_uop *n) { return un__has_flag(n, UN__F_BODY) ? 1 : 0; }
/* Whether two ENDs or REDUCEs close the same ranges, in the same order: their sources from 1 on. */
static inline bool un__same_ranges(const un_uop *a, const un_uop *b) {
  if (a->nsrc != b->nsrc) return false;
  for (uint32_t i = 1; i < a->nsrc; i++)
    if (a->src[i] != b->src[i]) return false;
  return true;
}
static inline uint32_t un__lanes(const un_uop *n) { return un__dt_lanes(n->dtype); }

/* ---- building ----------------------------------------------------------------------------------------- */

/* The one constructor: interns (op, dtype, src, attrs). `dtype` is checked against the op's rule; pass 0 to let the
 * rule decide (not for GIVEN). Sources must belong to `g`. In a workspace the operands of COMM ops are ordered:
 * constants last, else by structural hash and then structure. */
const un_uop *un__uop(un__graph *g, un__op op, un__dtype dtype, const un_uop *const *src, uint32_t nsrc,
                      const int64_t *attrs, uint32_t nattr);

/* Same op, dtype and attributes with other sources. Returns `n` itself when nothing changed. */
const un_uop *un__with_src(un__graph *g, const un_uop *n, const un_uop *const *src);
/* Same op, sources and attributes with another dtype. */
const un_uop *un__with_dtype(un__graph *g, const un_uop *n, un__dtype dtype);

const un_uop *un__unary(un__graph *g, un__op op, const un_uop *a);
const un_uop *un__binary(un__graph *g, un__op op, const un_uop *a, const un_uop *b);
const un_uop *un__ternary(un__graph *g, un__op op, const un_uop *a, const un_uop *b, const un_uop *c);
const un_uop *un__cast(un__graph *g, un__dtype dtype, const un_uop *a);      /* `a` itself when it has that dtype */

/* The same elements in another shape; `a` itself when it has that shape. */
const un_uop *un__reshape_to(un__graph *g, const un_uop *a, const un__shape *shape);

/* Constants of any dtype, splat when it has lanes. Integers are reduced to the dtype's width; floats are rounded. */
const un_uop *un__const_i(un__graph *g, un__dtype dtype, int64_t value);
const un_uop *un__const_f(un__graph *g, un__dtype dtype, double value);
const un_uop *un__const_bits(un__graph *g, un__dtype dtype, uint64_t bits);  /* the dtype's own bit pattern */
static inline const un_uop *un__idx(un__graph *g, int64_t v) { return un__const_i(g, UN__DT(UN_INDEX), v); }

const un_uop *un__range(un__graph *g, const un_uop *size, un__axis axis, int64_t id);
const un_uop *un__sink(un__graph *g, const un_uop *const *src, uint32_t nsrc);

/* ---- reading ------------------------------------------------------------------------------------------ */

static inline bool un__is_const(const un_uop *n) { return n->op == UN__OP_CONST; }
/* The value of an integer, index or bool constant. */
static inline int64_t un__const_int(const un_uop *n) { return un__attr(n, 0); }
/* The value of a float constant, exactly. */
double un__const_float(const un_uop *n);
bool un__is_const_int(const un_uop *n, int64_t value);      /* integer, index or bool constant of that value */
static inline int64_t un__range_id(const un_uop *r) { return un__attr(r, 0); }
static inline un__axis un__range_axis(const un_uop *r) { return (un__axis)un__attr(r, 1); }
/* The size of a dim or RANGE when it is a constant, else -1. */
static inline int64_t un__known_size(const un_uop *dim) { return un__is_const(dim) ? un__const_int(dim) : -1; }

bool un__depends_on(const un_uop *n, const un_uop *range);              /* range in n->ranges */
bool un__rangeset_has(const un__rangeset *s, const un_uop *range);
bool un__rangeset_subset(const un__rangeset *a, const un__rangeset *b);

/* Number of elements of a shape as a node (product of dims, folded), and when constant as a number (else -1;
 * -1 also on overflow of int64). */
const un_uop *un__shape_numel(un__graph *g, const un__shape *s);
int64_t un__shape_known_numel(const un__shape *s);

/* The same total order on every machine and run: by op, dtype, attributes, then sources. 0 only for equal nodes. */
int un__structural_compare(const un_uop *a, const un_uop *b);

/* The PARAM or DEFINE behind a pointer: an INDEX, a part, an order of events. */
static inline const un_uop *un__memory_of(const un_uop *pointer) {
  while (pointer->op == UN__OP_AFTER || pointer->op == UN__OP_SLOT || pointer->op == UN__OP_INDEX) pointer = pointer->src[0];
  return pointer;
}

/* Nodes reachable from `root`, sources before users, each once; bodies of BODY ops are not entered. The array is
 * the caller's (un__free); NULL when memory is short. Never recurses. */
const un_uop **un__toposort(const un_uop *root, size_t *out_n);

#endif
