/* linear.c - a LINEAR list as a program: the list order is what runs.
 *
 * Loops and branches become jumps. The list must be well formed: properly nested, each value computed before it is used
 * and used only inside the loops and branches that compute it.
 */
#include "program.h"

typedef struct block {
  const un_uop *opener; /* RANGE or IF */
  uint32_t step;        /* its LOOP or IF step */
  uint32_t serial;
} block;

typedef struct list_state {
  un__ibuild *b;
  UN__VEC(block) open;
  uint32_t *block_of; /* by position: serial of the innermost block the node was built in */
  bool *is_open;      /* by serial */
  uint32_t blocks;
} list_state;

static un_status no_memory(list_state *s) {
  return un__fail(s->b->err, UN_ERR_NOMEM, "interp: no memory for the program of a kernel");
}

static un_status enter(list_state *s, uint32_t pos, un__istep step, un__ioperand operand) {
  block k = {s->b->order.node[pos], (uint32_t)s->b->prog->step.n, s->blocks++};
  s->is_open[k.serial] = true;
  UN__TRY(un__ibuild_step(s->b, step, &operand));
  return un__vec_push(&s->open, k) ? UN_OK : no_memory(s);
}

static un_status open_loop(list_state *s, uint32_t pos) {
  const un_uop *n = s->b->order.node[pos];
  un__ioperand size;
  UN__TRY(un__ibuild_operand(s->b, n->src[0], 1, &size));
  s->b->slot[pos] = un__ibuild_slots(s->b, un__value_i(n->dtype, 0), 1);
  if (s->b->slot[pos] == UN__NO_SLOT) return UN_ERR_NOMEM;
  un__istep step = {.kind = UN__ISTEP_LOOP,
                    .op = n->op,
                    .dtype = UN__DT(un__dt_scalar(n->dtype)),
                    .nsrc = 1,
                    .dst = s->b->slot[pos],
                    .node = pos};
  return enter(s, pos, step, size);
}

static un_status open_branch(list_state *s, uint32_t pos) {
  un__ioperand condition;
  UN__TRY(un__ibuild_operand(s->b, s->b->order.node[pos]->src[0], 1, &condition));
  return enter(s, pos, (un__istep){.kind = UN__ISTEP_IF, .op = UN__OP_IF, .nsrc = 1, .node = pos}, condition);
}

static un_status leave(list_state *s, uint32_t pos, const un_uop *opener) {
  if (s->open.n == 0 || s->open.at[s->open.n - 1].opener != opener)
    return un__ibuild_fault(s->b, pos, "does not close the innermost open loop or branch");
  block k = un__vec_pop(&s->open);
  s->is_open[k.serial] = false;
  un__istep first = s->b->prog->step.at[k.step];
  if (first.kind == UN__ISTEP_LOOP) {
    un__istep next = first;
    next.kind = UN__ISTEP_NEXT;
    next.node = pos;
    next.target = k.step + 1;
    un__ioperand size = s->b->prog->operand.at[first.src];
    UN__TRY(un__ibuild_step(s->b, next, &size));
  } else {
    UN__TRY(un__ibuild_step(s->b, (un__istep){.kind = UN__ISTEP_JOIN, .op = UN__OP_ENDIF, .node = pos}, NULL));
  }
  s->b->prog->step.at[k.step].target = (uint32_t)s->b->prog->step.n;
  return UN_OK;
}

static un_status close_loop(list_state *s, uint32_t pos) {
  const un_uop *n = s->b->order.node[pos];
  if (n->nsrc != 2) return un__ibuild_fault(s->b, pos, "closes more than one range in a list");
  return leave(s, pos, n->src[1]);
}

/* Tokens order things and carry no value: END after its loop may be named anywhere. */
static bool is_token(const un_uop *n) { return un__dt_scalar(n->dtype) == UN_VOID; }

static un_status check_sources(list_state *s, uint32_t pos) {
  const un_uop *n = s->b->order.node[pos];
  for (uint32_t i = 0; i < n->nsrc; i++) {
    uint32_t at = un__iorder_at(&s->b->order, n->src[i]);
    if (s->block_of[at] == UN__NO_SLOT) return un__ibuild_fault(s->b, at, "is used before its place in the list");
    if (!is_token(n->src[i]) && !s->is_open[s->block_of[at]])
      return un__ibuild_fault(s->b, at, "is used outside of the loop or branch that computes it");
  }
  return UN_OK;
}

static un_status build_one(list_state *s, uint32_t pos) {
  const un_uop *n = s->b->order.node[pos];
  if (s->block_of[pos] != UN__NO_SLOT) return un__ibuild_fault(s->b, pos, "stands twice in the list");
  UN__TRY(check_sources(s, pos));
  un_status st;
  if (n->op == UN__OP_RANGE)
    st = open_loop(s, pos);
  else if (n->op == UN__OP_END)
    st = close_loop(s, pos);
  else if (n->op == UN__OP_IF)
    st = open_branch(s, pos);
  else if (n->op == UN__OP_ENDIF)
    st = leave(s, pos, n->src[0]);
  else
    st = un__ibuild_node(s->b, pos);
  s->block_of[pos] = s->open.n ? s->open.at[s->open.n - 1].serial : 0;
  return st;
}

static un_status build_list(list_state *s, const un_uop *linear) {
  size_t n = s->b->order.n;
  s->block_of = un__alloc(n * sizeof *s->block_of);
  s->is_open = un__calloc(n + 1, sizeof *s->is_open);
  if (!s->block_of || !s->is_open) return no_memory(s);
  for (size_t i = 0; i < n; i++) s->block_of[i] = UN__NO_SLOT;
  s->is_open[0] = true;
  s->blocks = 1;
  for (uint32_t i = 0; i < linear->nsrc; i++) UN__TRY(build_one(s, un__iorder_at(&s->b->order, linear->src[i])));
  if (s->open.n == 0) return UN_OK;
  return un__ibuild_fault(s->b, un__iorder_at(&s->b->order, s->open.at[s->open.n - 1].opener), "is never closed");
}

un_status un__ilinear(un__ibuild *b, const un_uop *linear) {
  list_state s = {.b = b};
  un_status st = build_list(&s, linear);
  un__vec_finish(&s.open);
  un__free(s.block_of);
  un__free(s.is_open);
  return st;
}
