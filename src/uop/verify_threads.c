/* verify_threads.c - what the threads of a block may do in a list: they come by every BARRIER and all that a warp does
 * together (SHUFFLE, LDMATRIX, WMMA), and what one
 * of them stores in shared memory (DEFINE_LOCAL) is read by another only after a BARRIER, and stored over only after one.
 *
 * A value varies when threads may have different ones of it. A loop or branch whose size or condition varies is not passed by all.
 * Memory is followed as a whole: since the last barrier it was stored to, or read. Around the back edge of a loop comes what the
 * loop leaves behind where no barrier in it forgets that. */
#include "verify.h"

enum { STORED = 1, READ = 2 };

typedef UN__VEC(uint8_t) marks; /* by number of a DEFINE_LOCAL: STORED | READ since the last barrier */

typedef struct loop {
  const un_uop *opener;
  bool varies;     /* it or a block around it is not passed by all threads */
  size_t summary;  /* of a RANGE: its number among them */
  marks before;    /* a loop may have no round, a branch none of the threads */
} loop;

typedef struct threads {
  un__verifier *v;
  bool *varies;             /* by position */
  uint32_t *local;          /* by position of a DEFINE_LOCAL: its number + 1 */
  uint32_t stored;          /* v->mark of memory that is stored to */
  UN__VEC(loop) open;
  UN__VEC(marks) left;      /* by number of a RANGE: what one round leaves behind */
  size_t ranges;            /* seen in this pass */
  marks now;
  bool report;
} threads;

static const un_uop *memory_of(const un_uop *n) {
  while (n->op == UN__OP_AFTER || n->op == UN__OP_INDEX) n = n->src[0];
  return n;
}

/* ---- what varies ---- */

static bool any_source_varies(const threads *s, const un_uop *n) {
  for (uint32_t i = 0; i < n->nsrc; i++)
    if (s->varies[un__pos(s->v, n->src[i])]) return true;
  return false;
}

/* Memory of arguments that the kernel does not change holds the same for all. */
static bool is_constant_memory(const threads *s, const un_uop *memory) {
  return memory->op == UN__OP_PARAM && s->v->mark[un__pos(s->v, memory)] != s->stored;
}

static void find_stored(threads *s) {
  s->stored = un__fresh_mark(s->v);
  for (uint32_t i = 0; i < s->v->root->nsrc; i++) {
    const un_uop *n = s->v->root->src[i];
    if (n->op == UN__OP_STORE) s->v->mark[un__pos(s->v, memory_of(n->src[0]))] = s->stored;
  }
}

static void find_varying(threads *s) {
  for (uint32_t i = 0; i < s->v->root->nsrc; i++) {
    const un_uop *n = s->v->root->src[i];
    bool special = n->op == UN__OP_SPECIAL && un__attr(n, 0) == UN__AXIS_LOCAL;
    bool loaded = (n->op == UN__OP_LOAD && !is_constant_memory(s, memory_of(n))) || n->op == UN__OP_LDMATRIX || n->op == UN__OP_WMMA;
    bool pointer = un__dt_is_ptr(n->dtype) && n->op != UN__OP_INDEX && n->op != UN__OP_AFTER;
    s->varies[un__pos(s->v, n)] = special || loaded || (!pointer && any_source_varies(s, n));
  }
}

/* ---- one walk over the list ---- */

static uint8_t *mark_of(threads *s, const un_uop *memory) {
  uint32_t number = s->local[un__pos(s->v, memory)];
  return number ? &s->now.at[number - 1] : NULL;
}

static bool copy_marks(threads *s, marks *to, const marks *from) {
  to->n = 0;
  for (size_t i = 0; i < from->n; i++)
    if (!un__vec_push(to, from->at[i])) s->v->nomem = true;
  return !s->v->nomem;
}

static void join_marks(marks *into, const marks *from) {
  for (size_t i = 0; i < from->n && i < into->n; i++) into->at[i] |= from->at[i];
}

static void access_memory(threads *s, const un_uop *n) {
  uint8_t *mark = mark_of(s, memory_of(n->src[0]));
  if (!mark) return;
  bool reads = n->op != UN__OP_STORE;
  if (s->report && reads && *mark & STORED)
    un__fault_at(s->v, n, "reads shared memory that threads have stored to since the last barrier");
  if (s->report && !reads && *mark & READ)
    un__fault_at(s->v, n, "stores to shared memory that threads have read since the last barrier");
  *mark |= reads ? READ : STORED;
}

static bool is_left_out(const threads *s) { return s->open.n && s->open.at[s->open.n - 1].varies; }

static void meet(threads *s, const un_uop *n) {
  if (s->report && is_left_out(s))
    un__fault_at(s->v, n, "stands where not all threads of the block come by");
  for (size_t i = 0; n->op == UN__OP_BARRIER && i < s->now.n; i++) s->now.at[i] = 0;
}

static void enter(threads *s, const un_uop *n) {
  loop k = {.opener = n, .varies = is_left_out(s) || any_source_varies(s, n), .summary = SIZE_MAX};
  if (!un__spend(s->v, s->now.n) || !copy_marks(s, &k.before, &s->now)) return;
  if (n->op == UN__OP_RANGE) {
    k.summary = s->ranges++;
    if (s->report) join_marks(&s->now, &s->left.at[k.summary]);
    else if (!un__vec_push(&s->left, (marks){0})) s->v->nomem = true;
  }
  if (!un__vec_push(&s->open, k)) s->v->nomem = true;
}

static void leave(threads *s) {
  if (!s->open.n) return;
  loop k = un__vec_pop(&s->open);
  if (k.summary != SIZE_MAX && !s->report) copy_marks(s, &s->left.at[k.summary], &s->now);
  join_marks(&s->now, &k.before);
  un__vec_finish(&k.before);
}

static void step(threads *s, const un_uop *n) {
  switch (n->op) {
  case UN__OP_RANGE: case UN__OP_IF: enter(s, n); break;
  case UN__OP_END: case UN__OP_ENDIF: leave(s); break;
  case UN__OP_LOAD: case UN__OP_STORE: access_memory(s, n); break;
  case UN__OP_BARRIER: case UN__OP_SHUFFLE: case UN__OP_WMMA: meet(s, n); break;
  case UN__OP_LDMATRIX: meet(s, n), access_memory(s, n); break;
  default: break;
  }
}

/* The first walk learns what a round of each loop leaves behind, the second one reports. */
static void walk(threads *s, bool report) {
  s->report = report;
  s->ranges = 0;
  for (size_t i = 0; i < s->now.n; i++) s->now.at[i] = 0;
  for (uint32_t i = 0; i < s->v->root->nsrc && !s->v->nomem; i++) step(s, s->v->root->src[i]);
  while (s->open.n) leave(s);
}

/* ---- numbers ---- */

static bool check_specials(un__verifier *v) {
  const un_uop *seen[UN__AXIS_COUNT] = {NULL};
  for (uint32_t i = 0; i < v->root->nsrc; i++) {
    const un_uop *n = v->root->src[i];
    if (n->op != UN__OP_SPECIAL) continue;
    un__axis axis = (un__axis)un__attr(n, 0);
    if (axis != UN__AXIS_LOCAL && axis != UN__AXIS_GLOBAL) continue;
    if (un__attr(n, 1)) un__fault_at(v, n, "blocks and threads are numbered in one dimension");
    if (seen[axis]) un__fault_at(v, n, "a second number of the %s", axis == UN__AXIS_LOCAL ? "thread" : "block");
    if (axis == UN__AXIS_LOCAL && un__known_size(n->src[0]) < 1)
      un__fault_at(v, n, "the number of threads of a block must be constant");
    seen[axis] = n;
  }
  return seen[UN__AXIS_LOCAL] != NULL;
}

static bool number_locals(threads *s) {
  s->varies = un__calloc(s->v->order.n, sizeof *s->varies);
  s->local = un__calloc(s->v->order.n, sizeof *s->local);
  if (!s->varies || !s->local) return false;
  for (uint32_t i = 0; i < s->v->root->nsrc; i++) {
    const un_uop *n = s->v->root->src[i];
    if (n->op != UN__OP_DEFINE_LOCAL || s->local[un__pos(s->v, n)]) continue;
    if (!un__vec_push(&s->now, 0)) return false;
    s->local[un__pos(s->v, n)] = (uint32_t)s->now.n;
  }
  return true;
}

void un__verify_threads(un__verifier *v) {
  if (v->root->op != UN__OP_LINEAR || !check_specials(v)) return;
  threads s = {.v = v};
  if (number_locals(&s)) {
    find_stored(&s);
    find_varying(&s);
    walk(&s, false);
    walk(&s, true);
  } else {
    v->nomem = true;
  }
  for (size_t i = 0; i < s.left.n; i++) un__vec_finish(&s.left.at[i]);
  un__vec_finish(&s.left);
  un__vec_finish(&s.open);
  un__vec_finish(&s.now);
  un__free(s.local);
  un__free(s.varies);
}
