/* verify_threads.c - what the threads of a block may do in a list: they come by every BARRIER and all that a warp does
 * together (SHUFFLE, LDMATRIX, WMMA), and what one
 * of them stores in shared memory (DEFINE_LOCAL) is read by another only after a BARRIER, and stored over only after one.
 *
 * A value varies when threads may have different ones of it. A loop or branch whose size or condition varies is not passed by all.
 * Memory is followed as a whole: since the last barrier it was stored to, or read. Around the back edge of a loop comes what the
 * loop leaves behind where no barrier in it forgets that. A ring (SLOT) is followed part by part: a part is named by its distance
 * from the one where the loop that turns the ring stands, so from one round to the next all parts are one nearer. What a thread
 * copies asynchronously it waits for before the barrier: of each part the youngest copy is known by how many groups ago it was. */
#include "verify.h"

#include <string.h>

enum { STORED = 1, READ = 2, COPIED = UINT8_MAX, MAX_PARTS = 64, WARP = 32 };

/* Of a part of memory: STORED | READ since the last barrier; the youngest copy that may be under way: 0 no COMMIT came after it, 1
 * one did, ..; COPIED: none is. */
typedef struct mark { uint8_t touched, copy; } mark;
typedef UN__VEC(mark) marks;

/* A DEFINE_LOCAL: its marks, and the loop that turns it. */
typedef struct local {
  uint32_t first, parts;
  const un_uop *turns;     /* a RANGE; NULL: none does */
  bool whole;              /* what its SLOTs say makes no ring of it */
} local;

typedef struct loop {
  const un_uop *opener;
  bool varies;     /* it or a block around it is not passed by all threads */
  size_t summary;  /* of a RANGE: its number among them; else SIZE_MAX */
  marks before;    /* a loop may have no round, a branch none of the threads */
} loop;

typedef struct threads {
  un__verifier *v;
  bool *varies;             /* by position */
  uint32_t *number;         /* by position of a DEFINE_LOCAL: its number in `local` + 1 */
  UN__VEC(local) local;
  uint32_t stored;          /* v->mark of memory that is stored to */
  UN__VEC(loop) open;
  UN__VEC(marks) left;      /* by number of a RANGE: what one round leaves behind */
  size_t ranges;            /* seen in this pass */
  marks now;
  int64_t count;            /* of threads */
  bool report, learned;     /* learned: this walk, something new about what a round leaves behind */
} threads;

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
    if (n->op == UN__OP_STORE) s->v->mark[un__pos(s->v, un__memory_of(n->src[0]))] = s->stored;
  }
}

static void find_varying(threads *s) {
  for (uint32_t i = 0; i < s->v->root->nsrc; i++) {
    const un_uop *n = s->v->root->src[i];
    bool special = n->op == UN__OP_SPECIAL && un__attr(n, 0) == UN__AXIS_LOCAL;
    bool loaded = (n->op == UN__OP_LOAD && !is_constant_memory(s, un__memory_of(n->src[0]))) || n->op == UN__OP_LDMATRIX || n->op == UN__OP_WMMA;
    bool pointer = un__dt_is_ptr(n->dtype) && n->op != UN__OP_INDEX && n->op != UN__OP_AFTER;
    s->varies[un__pos(s->v, n)] = special || loaded || (!pointer && any_source_varies(s, n));
  }
}

/* ---- one walk over the list ---- */

/* The SLOT on the way from a pointer to its memory, or NULL. */
static const un_uop *slot_of(const un_uop *pointer) {
  while (pointer->op == UN__OP_AFTER || pointer->op == UN__OP_INDEX) pointer = pointer->src[0];
  return pointer->op == UN__OP_SLOT ? pointer : NULL;
}

static const un_uop *past_casts(const un_uop *n) {
  while (n->op == UN__OP_CAST) n = n->src[0];
  return n;
}

/* Of how many rounds before or behind the loop's beginning a SLOT is. */
static int64_t constant_turn(const un_uop *slot) {
  const un_uop *by = past_casts(slot->src[1]);
  return un__is_const(by) ? un__const_int(by) : 0;
}

static uint32_t part_of(const un_uop *slot, uint32_t parts) {
  return (uint32_t)((un__attr(slot, 0) % parts + constant_turn(slot) % parts) % parts);
}

/* The marks that an access touches: of one part, or of the whole memory. */
static mark *marks_of(threads *s, const un_uop *index, uint32_t *n) {
  uint32_t number = s->number[un__pos(s->v, un__memory_of(index))];
  *n = 0;
  if (!number) return NULL;
  const local *l = &s->local.at[number - 1];
  const un_uop *slot = slot_of(index);
  bool one = slot && l->parts > 1;
  *n = one ? 1 : l->parts;
  return &s->now.at[l->first + (one ? part_of(slot, l->parts) : 0)];
}

/* From one round of the loop to the next. */
static void turn(threads *s, const un_uop *range) {
  for (size_t i = 0; i < s->local.n; i++) {
    const local *l = &s->local.at[i];
    mark *m = &s->now.at[l->first], nearest = *m;
    if (l->turns != range || l->parts < 2) continue;
    memmove(m, m + 1, (l->parts - 1) * sizeof *m);
    m[l->parts - 1] = nearest;
  }
}

static void join_mark(mark *into, mark from) {
  into->touched |= from.touched;
  if (from.copy < into->copy) into->copy = from.copy;
}

/* Behind the loop nobody knows where it stood. */
static void stop_turning(threads *s, const un_uop *range) {
  for (size_t i = 0; i < s->local.n; i++) {
    const local *l = &s->local.at[i];
    mark *m = &s->now.at[l->first], all = *m;
    if (l->turns != range) continue;
    for (uint32_t k = 1; k < l->parts; k++) join_mark(&all, m[k]);
    for (uint32_t k = 0; k < l->parts; k++) m[k] = all;
  }
}

static bool copy_marks(threads *s, marks *to, const marks *from) {
  to->n = 0;
  for (size_t i = 0; i < from->n; i++)
    if (!un__vec_push(to, from->at[i])) s->v->nomem = true;
  return !s->v->nomem;
}

static void join_marks(marks *into, const marks *from) {
  for (size_t i = 0; i < from->n && i < into->n; i++) join_mark(&into->at[i], from->at[i]);
}

static void report_access(threads *s, const un_uop *n, mark m, bool reads) {
  if (reads && m.copy != COPIED) un__fault_at(s->v, n, "reads shared memory whose asynchronous copy may be under way");
  else if (reads && m.touched & STORED) un__fault_at(s->v, n, "reads shared memory that threads have stored to since the last barrier");
  else if (!reads && m.touched & READ) un__fault_at(s->v, n, "stores to shared memory that threads have read since the last barrier");
  else if (!reads && m.copy != COPIED) un__fault_at(s->v, n, "stores to shared memory whose asynchronous copy may be under way");
}

static void access_memory(threads *s, const un_uop *n) {
  uint32_t count;
  mark *m = marks_of(s, n->src[0], &count);
  bool reads = n->op == UN__OP_LOAD || n->op == UN__OP_LDMATRIX;
  for (uint32_t i = 0; i < count; i++) {
    /* A part is copied by several accesses of one group. */
    mark seen = {m[i].touched, n->op == UN__OP_COPY_ASYNC && m[i].copy == 0 ? COPIED : m[i].copy};
    if (s->report) report_access(s, n, seen, reads);
    m[i].touched |= reads ? READ : STORED;
    if (n->op == UN__OP_COPY_ASYNC) m[i].copy = 0;
  }
}

/* A group ends, or is waited for. */
static void commit(threads *s) {
  for (size_t i = 0; i < s->now.n; i++)
    if (s->now.at[i].copy < COPIED - 1) s->now.at[i].copy++;
}

static void wait_for(threads *s, int64_t pending) {
  for (size_t i = 0; i < s->now.n; i++)
    if (s->now.at[i].copy > pending) s->now.at[i].copy = COPIED;
}

static bool is_left_out(const threads *s) { return s->open.n && s->open.at[s->open.n - 1].varies; }

/* What others copy is theirs to wait for before it. */
static void pass_barrier(threads *s) {
  for (size_t i = 0; i < s->now.n; i++) s->now.at[i].touched = s->now.at[i].copy == COPIED ? 0 : s->now.at[i].touched & STORED;
}

static void meet(threads *s, const un_uop *n) {
  if (s->report && is_left_out(s))
    un__fault_at(s->v, n, "stands where not all threads of the block come by");
  if (s->report && (n->op == UN__OP_WMMA || n->op == UN__OP_LDMATRIX) && s->count % WARP)
    un__fault_at(s->v, n, "needs whole warps of %d threads, not %lld", WARP, (long long)s->count);
  if (n->op == UN__OP_BARRIER) pass_barrier(s);
}

static void enter(threads *s, const un_uop *n) {
  loop k = {.opener = n, .varies = is_left_out(s) || any_source_varies(s, n), .summary = SIZE_MAX};
  if (!un__spend(s->v, s->now.n) || !copy_marks(s, &k.before, &s->now)) return;
  if (n->op == UN__OP_RANGE) {
    k.summary = s->ranges++;
    if (k.summary == s->left.n && !(un__vec_push(&s->left, (marks){0}) && copy_marks(s, &s->left.at[k.summary], &s->now))) s->v->nomem = true;
    if (!s->v->nomem) join_marks(&s->now, &s->left.at[k.summary]);
  }
  if (!un__vec_push(&s->open, k)) s->v->nomem = true;
}

/* What one more round leaves behind. */
static void learn(threads *s, marks *left) {
  for (size_t i = 0; i < left->n; i++) {
    mark before = left->at[i];
    join_mark(&left->at[i], s->now.at[i]);
    s->learned |= left->at[i].touched != before.touched || left->at[i].copy != before.copy;
  }
}

static void leave(threads *s) {
  if (!s->open.n) return;
  loop k = un__vec_pop(&s->open);
  if (k.opener->op == UN__OP_RANGE) turn(s, k.opener);
  if (k.summary < s->left.n) learn(s, &s->left.at[k.summary]);
  join_marks(&s->now, &k.before);
  if (k.opener->op == UN__OP_RANGE) stop_turning(s, k.opener);
  un__vec_finish(&k.before);
}

static void step(threads *s, const un_uop *n) {
  switch (n->op) {
  case UN__OP_RANGE: case UN__OP_IF: enter(s, n); break;
  case UN__OP_END: case UN__OP_ENDIF: leave(s); break;
  case UN__OP_LOAD: case UN__OP_STORE: case UN__OP_COPY_ASYNC: access_memory(s, n); break;
  case UN__OP_COMMIT: commit(s); break;
  case UN__OP_WAIT: wait_for(s, un__attr(n, 0)); break;
  case UN__OP_BARRIER: case UN__OP_SHUFFLE: case UN__OP_WMMA: meet(s, n); break;
  case UN__OP_LDMATRIX: meet(s, n), access_memory(s, n); break;
  default: break;
  }
}

/* Walks learn what the rounds of each loop leave behind, until one learns nothing: what a round of a ring does may be met many
 * rounds later. One more reports. */
static void walk(threads *s, bool report) {
  s->report = report;
  s->learned = false;
  s->ranges = 0;
  for (size_t i = 0; i < s->now.n; i++) s->now.at[i] = (mark){0, COPIED};
  for (uint32_t i = 0; i < s->v->root->nsrc && !s->v->nomem; i++) step(s, s->v->root->src[i]);
  while (s->open.n) leave(s);
}

/* ---- numbers ---- */

/* How many threads a block has; -1: nothing is numbered. */
static int64_t check_specials(un__verifier *v) {
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
  return seen[UN__AXIS_LOCAL] ? un__known_size(seen[UN__AXIS_LOCAL]->src[0]) : -1;
}

/* A memory is a ring where one loop turns it, and constants, which are rounds before that. */
static void find_rings(threads *s) {
  for (uint32_t i = 0; i < s->v->root->nsrc; i++) {
    const un_uop *n = s->v->root->src[i];
    uint32_t number = n->op == UN__OP_SLOT ? s->number[un__pos(s->v, un__memory_of(n))] : 0;
    if (!number) continue;
    local *l = &s->local.at[number - 1];
    const un_uop *by = past_casts(n->src[1]);
    int64_t parts = un__attr(n, 1);
    bool turns = by->op == UN__OP_RANGE;
    l->whole |= parts < 1 || parts > MAX_PARTS || un__attr(n, 0) < 0 || constant_turn(n) < 0 || (l->parts && l->parts != parts) || (turns ? l->turns && l->turns != by : !un__is_const(by));
    l->parts = (uint32_t)parts;
    if (turns) l->turns = by;
  }
}

static bool give_marks(threads *s) {
  for (size_t i = 0; i < s->local.n; i++) {
    local *l = &s->local.at[i];
    if (!l->parts || l->whole) l->parts = 1;
    l->first = (uint32_t)s->now.n;
    for (uint32_t k = 0; k < l->parts; k++)
      if (!un__vec_push(&s->now, ((mark){0, COPIED}))) return false;
  }
  return true;
}

static bool number_locals(threads *s) {
  s->varies = un__calloc(s->v->order.n, sizeof *s->varies);
  s->number = un__calloc(s->v->order.n, sizeof *s->number);
  if (!s->varies || !s->number) return false;
  for (uint32_t i = 0; i < s->v->root->nsrc; i++) {
    const un_uop *n = s->v->root->src[i];
    if (n->op != UN__OP_DEFINE_LOCAL || s->number[un__pos(s->v, n)]) continue;
    if (!un__vec_push(&s->local, (local){0})) return false;
    s->number[un__pos(s->v, n)] = (uint32_t)s->local.n;
  }
  find_rings(s);
  return give_marks(s);
}

void un__verify_threads(un__verifier *v) {
  if (v->root->op != UN__OP_LINEAR) return;
  threads s = {.v = v, .count = check_specials(v)};
  if (s.count < 1) return;
  if (number_locals(&s)) {
    find_stored(&s);
    find_varying(&s);
    do walk(&s, false);
    while (s.learned && !v->nomem);
    walk(&s, true);
  } else {
    v->nomem = true;
  }
  for (size_t i = 0; i < s.left.n; i++) un__vec_finish(&s.left.at[i]);
  un__vec_finish(&s.left);
  un__vec_finish(&s.open);
  un__vec_finish(&s.now);
  un__vec_finish(&s.local);
  un__free(s.number);
  un__free(s.varies);
}
