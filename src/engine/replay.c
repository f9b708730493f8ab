/* replay.c - a program in one piece: plan, memory, arguments, launches.
 *
 * Slots are those of the plan (inputs, results, temporaries), and behind them one "place" for every value that a copy makes at
 * the end of a run: a result or a state that is an input as it stands, or the same as another one. */
#include "replay.h"

#include "engine_parts.h"

enum { NO_SLOT = UINT32_MAX, PHASES = 2 };

typedef struct input {
  uint32_t slot;              /* NO_SLOT: no elements */
  size_t bytes;
  un__mem *own;               /* what un__replay_write writes */
  const un_uop *bound;        /* the BUFFER whose memory is read, pinned; NULL: own */
} input;

typedef struct state {
  size_t bytes;
  int device;
  un__mem *mem[PHASES];       /* phase p reads mem[p] and writes the other */
} state;

typedef struct copy { uint32_t place, from; } copy;

typedef struct owned { un__mem *mem; size_t bytes; int device; } owned;

struct un__replay {
  un__engine *e;
  un__session *s;
  un__plan *plan;
  uint32_t ninputs, nstates, nresults, nphases, nslots, nargs, nlaunches;
  input *inputs;
  state *states;
  uint32_t *result_slot;      /* of each result: a slot or a place that nothing else changes before the next run */
  un__nodes constants;        /* BUFFERs that are no input, pinned */
  UN__VEC(copy) copies;
  UN__VEC(owned) owned;       /* all memory of its own */
  uint32_t *arg_slot;         /* of every argument of every launch */
  size_t *slot_bytes;
  int *slot_device;
  un__mem **slot[PHASES];     /* memory of every slot and place */
  un__mem **args[PHASES];     /* slot[arg_slot[k]] */
  un__launch *launches[PHASES];
  un__recording *recording[PHASES];
  uint32_t phase, last;       /* of the next run; of the last one */
  bool ran;
};

static un_status nomem(un__err *err) { return un__fail(err, UN_ERR_NOMEM, "no memory for a program"); }

/* ---- memory ---- */

static un__device *home_of(const un__replay *r) { return r->e->device[r->plan->home]; }
static un__device *device_of(const un__replay *r, uint32_t slot) { return r->e->device[r->slot_device[slot]]; }
static int place_of(const un_uop *buffer) { return (int)un__attr(buffer, 1); }

static un__mem *own(un__replay *r, int device, size_t bytes, un__err *err) {
  un__device *d = r->e->device[device];
  un__mem *m;
  if (!un__vec_reserve(&r->owned, r->owned.n + 1)) return nomem(err), NULL;
  if (d->vt->alloc(d, bytes, &m, err) != UN_OK) return NULL;
  r->owned.at[r->owned.n++] = (owned){m, bytes, device};
  un__count_bytes(r->e, bytes, 0);
  return m;
}

static un__mem *memory_of(un__replay *r, const un_uop *buffer, int want, un__err *err) {
  int device;
  int64_t serial = un__attr(buffer, 0);
  un__mem *m = un__storage_find(r->e, serial, &device, NULL);
  if (!m) un__fail(err, UN_ERR_INTERNAL, "buffer %lld has no storage", (long long)serial);
  else if (device != want) {
    un__fail(err, UN_ERR_DEVICE, "a tensor on %s cannot be an input on %s: expected one there, to which un_to copies",
             r->e->device[device]->name, r->e->device[want]->name);
    return NULL;
  }
  return m;
}

static void set_slot(un__replay *r, uint32_t slot, un__mem *even, un__mem *odd) {
  r->slot[0][slot] = even;
  if (r->nphases > 1) r->slot[1][slot] = odd;
}

/* A block of memory that temporaries share one after the other. */
typedef struct block { size_t bytes; uint32_t free_from; int device; } block;
typedef UN__VEC(block) blocks;

/* The smallest free block that is large enough, else the largest free one, which grows, else a new one. */
static bool choose_block(blocks *list, int device, size_t bytes, uint32_t step, size_t *out) {
  size_t best = list->n;
  for (size_t i = 0; i < list->n; i++) {
    const block *b = &list->at[i], *have = best < list->n ? &list->at[best] : NULL;
    if (b->free_from > step || b->device != device) continue;
    bool fits = b->bytes >= bytes, better = !have || (fits ? have->bytes < bytes || b->bytes < have->bytes
                                                          : have->bytes < bytes && b->bytes > have->bytes);
    if (better) best = i;
  }
  *out = best;
  return best < list->n || un__vec_push(list, ((block){.device = device}));
}

/* Which block each temporary gets: slots without memory so far, in the order of their first use. */
static bool plan_blocks(const un__replay *r, blocks *list, uint32_t *block_of) {
  const un__plan *p = r->plan;
  for (uint32_t i = 0; i < p->nslots; i++) block_of[i] = NO_SLOT;
  for (uint32_t step = 0; step < p->nsteps; step++)
    for (uint32_t k = 0; k < p->steps[step].nargs; k++) {
      uint32_t slot = p->args[p->steps[step].first_arg + k];
      size_t chosen;
      if (r->slot[0][slot] || block_of[slot] != NO_SLOT) continue;
      if (!choose_block(list, p->slot_device[slot], p->slot_bytes[slot], step, &chosen)) return false;
      block *b = &list->at[chosen];
      if (b->bytes < p->slot_bytes[slot]) b->bytes = p->slot_bytes[slot];
      b->free_from = p->last_use[slot] + 1;
      block_of[slot] = (uint32_t)chosen;
    }
  return true;
}

static un_status allocate_temporaries(un__replay *r, un__err *err) {
  blocks list = {0};
  uint32_t *block_of = un__alloc(r->plan->nslots * sizeof *block_of);
  un__mem **mem = NULL;
  un_status status = block_of && plan_blocks(r, &list, block_of) && (mem = un__calloc(list.n, sizeof *mem)) ? UN_OK : nomem(err);
  for (size_t i = 0; status == UN_OK && i < list.n; i++)
    if (!(mem[i] = own(r, list.at[i].device, list.at[i].bytes, err))) status = err->status;
  for (uint32_t i = 0; status == UN_OK && i < r->plan->nslots; i++)
    if (block_of[i] != NO_SLOT) set_slot(r, i, mem[block_of[i]], mem[block_of[i]]);
  un__free(block_of);
  un__free(mem);
  un__vec_finish(&list);
  return status;
}

/* ---- inputs and states ---- */

static uint32_t slot_of(const un__nodes *buffers, const un_uop *buffer) {
  for (size_t i = 0; buffer && i < buffers->n; i++)
    if (buffers->at[i] == buffer) return (uint32_t)i;
  return NO_SLOT;
}

static size_t bytes_of(const un_uop *buffer) {
  return buffer ? (size_t)un__shape_known_numel(buffer->shape) * un__dt_info(buffer->dtype)->size : 0;
}

static un_status make_inputs(un__replay *r, const un__capture *c, const un__nodes *buffers, un__err *err) {
  for (uint32_t i = 0; i < c->ninputs; i++) {
    input *in = &r->inputs[i];
    const un_uop *buffer = c->inputs[i];
    *in = (input){.slot = slot_of(buffers, buffer), .bytes = bytes_of(buffer)};
    if (!buffer) continue;
    if (!(in->own = own(r, place_of(buffer), in->bytes, err))) return err->status;
    un__mem *m = memory_of(r, buffer, place_of(buffer), err);
    if (!m) return err->status;
    un__pin(r->s, in->bound = buffer);
    set_slot(r, in->slot, m, m);
  }
  return UN_OK;
}

static un_status make_states(un__replay *r, const un__capture *c, const un__nodes *buffers, un__err *err) {
  for (uint32_t i = 0; i < c->nstates; i++) {
    state *st = &r->states[i];
    st->bytes = bytes_of(c->states[i]);
    st->device = c->states[i] ? place_of(c->states[i]) : r->plan->device;
    for (int p = 0; p < PHASES; p++)
      if (!(st->mem[p] = own(r, st->device, st->bytes, err))) return err->status;
    uint32_t slot = slot_of(buffers, c->states[i]);
    if (slot != NO_SLOT) set_slot(r, slot, st->mem[0], st->mem[1]);
    if (c->states[i]) UN__TRY(un__replay_set_state(r, i, c->states[i], err));
  }
  return UN_OK;
}

/* What is left of the buffers is constant. The pins of `buffers` go over, those of inputs and states go. */
static un_status bind_constants(un__replay *r, un__nodes *buffers, un__err *err) {
  r->constants = *buffers;
  *buffers = (un__nodes){0};
  for (uint32_t i = 0; i < r->constants.n; i++) {
    if (r->slot[0][i]) {
      un__unpin(r->s, r->constants.at[i]);
      r->constants.at[i] = NULL;
      continue;
    }
    un__mem *m = memory_of(r, r->constants.at[i], place_of(r->constants.at[i]), err);
    if (!m) return err->status;
    set_slot(r, i, m, m);
  }
  return UN_OK;
}

/* ---- what a run leaves ---- */

/* Where a value that the plan leaves in `slot` goes that must lie in memory of its own: there, if nobody has that slot yet,
 * else to a place of its own, by a copy. */
static un_status keep_value(un__replay *r, uint32_t slot, un__mem *even, un__mem *odd, uint32_t *out, un__err *err) {
  *out = slot;
  if (slot >= r->plan->ninputs && !r->slot[0][slot]) return set_slot(r, slot, even, odd), UN_OK;
  *out = r->plan->nslots + (uint32_t)r->copies.n;
  if (!un__vec_push(&r->copies, ((copy){*out, slot}))) return nomem(err);
  r->slot_bytes[*out] = r->plan->slot_bytes[slot];
  r->slot_device[*out] = r->slot_device[slot];
  set_slot(r, *out, even, odd);
  return UN_OK;
}

static un_status keep_states(un__replay *r, un__err *err) {
  for (uint32_t i = 0; i < r->nstates; i++) {
    uint32_t place, slot = (uint32_t)r->plan->result_slot[r->nresults + i];
    if (r->states[i].bytes && r->states[i].device != r->slot_device[slot])
      return un__fail(err, UN_ERR_DEVICE, "state %u is on %s and its next value on %s: expected one device, to which un_to copies", i,
                      r->e->device[r->states[i].device]->name, device_of(r, slot)->name);
    UN__TRY(keep_value(r, slot, r->states[i].mem[1], r->states[i].mem[0], &place, err));
    r->slot_bytes[place] = r->states[i].bytes;
  }
  return UN_OK;
}

/* Results of one slot share what the first of them has. */
static un_status keep_results(un__replay *r, const un__capture *c, un__err *err) {
  for (uint32_t i = 0; i < r->nresults; i++) {
    uint32_t same = 0, slot = (uint32_t)r->plan->result_slot[i];
    while (same < i && r->plan->result_slot[same] != slot) same++;
    if (same < i) {
      r->result_slot[i] = r->result_slot[same];
      continue;
    }
    size_t bytes = bytes_of(c->results[i]);
    un__mem *m = own(r, r->slot_device[slot], bytes, err);
    if (!m) return err->status;
    UN__TRY(keep_value(r, slot, m, m, &r->result_slot[i], err));
    r->slot_bytes[r->result_slot[i]] = bytes;
  }
  return UN_OK;
}

/* ---- launches ---- */

static uint32_t plan_args(const un__plan *p) {
  return p->nsteps ? p->steps[p->nsteps - 1].first_arg + p->steps[p->nsteps - 1].nargs : 0;
}

static void fill_launches(un__replay *r, uint32_t phase) {
  const un__plan *p = r->plan;
  un__mem **args = r->args[phase];
  un__launch *at = r->launches[phase];
  for (uint32_t i = 0; i < r->nargs; i++) args[i] = r->slot[phase][r->arg_slot[i]];
  for (uint32_t i = 0; i < p->nsteps; i++) {
    const un__step *s = &p->steps[i];
    *at = (un__launch){.code = s->kernel ? s->kernel->code : NULL, .args = args + s->first_arg, .nargs = s->nargs};
    if (!at->code) at->bytes = p->slot_bytes[p->args[s->first_arg]];
    at++;
  }
  args += plan_args(p);
  for (size_t i = 0; i < r->copies.n; i++, args += 2)
    *at++ = (un__launch){.args = args, .nargs = 2, .bytes = r->slot_bytes[r->copies.at[i].place]};
}

/* Whether everything runs on one device, which can then be given all of it at once. */
static bool is_at_home(const un__replay *r) {
  if (r->plan->spread) return false;
  for (size_t i = 0; i < r->copies.n; i++)
    if (r->slot_device[r->copies.at[i].place] != r->plan->home || r->slot_device[r->copies.at[i].from] != r->plan->home) return false;
  return true;
}

static un_status make_launches(un__replay *r, un__err *err) {
  const un__plan *p = r->plan;
  uint32_t n = plan_args(p);
  r->nargs = n + 2 * (uint32_t)r->copies.n;
  r->nlaunches = p->nsteps + (uint32_t)r->copies.n;
  if (!(r->arg_slot = un__alloc(r->nargs * sizeof *r->arg_slot))) return nomem(err);
  for (uint32_t i = 0; i < n; i++) r->arg_slot[i] = p->args[i];
  for (size_t i = 0; i < r->copies.n; i++) {
    r->arg_slot[n++] = r->copies.at[i].place;
    r->arg_slot[n++] = r->copies.at[i].from;
  }
  for (uint32_t phase = 0; phase < r->nphases; phase++) {
    r->args[phase] = un__alloc(r->nargs * sizeof *r->args[phase]);
    r->launches[phase] = un__alloc(r->nlaunches * sizeof *r->launches[phase]);
    if (!r->args[phase] || !r->launches[phase]) return nomem(err);
    fill_launches(r, phase);
    if (home_of(r)->vt->record && is_at_home(r))
      UN__TRY(home_of(r)->vt->record(home_of(r), r->launches[phase], r->nlaunches, &r->recording[phase], err));
  }
  return UN_OK;
}

/* Every launch that has the slot gets its memory anew. */
static un_status refresh(un__replay *r, uint32_t slot, un__err *err) {
  for (uint32_t phase = 0; phase < r->nphases; phase++) {
    uint32_t k = 0;
    for (uint32_t i = 0; i < r->nlaunches; i++) {
      bool changed = false;
      for (uint32_t end = k + r->launches[phase][i].nargs; k < end; k++) {
        if (r->arg_slot[k] != slot) continue;
        r->args[phase][k] = r->slot[phase][slot];
        changed = true;
      }
      if (changed && r->recording[phase]) UN__TRY(home_of(r)->vt->update(home_of(r), r->recording[phase], i, err));
    }
  }
  return UN_OK;
}

/* ---- create ---- */

static bool allocate_tables(un__replay *r) {
  uint32_t places = r->nresults + r->nstates;
  r->nslots = r->plan->nslots + places;
  r->inputs = un__calloc(r->ninputs, sizeof *r->inputs);
  r->states = un__calloc(r->nstates, sizeof *r->states);
  r->result_slot = un__calloc(r->nresults, sizeof *r->result_slot);
  r->slot_bytes = un__calloc(r->nslots, sizeof *r->slot_bytes);
  r->slot_device = un__calloc(r->nslots, sizeof *r->slot_device);
  bool ok = r->inputs && r->states && r->result_slot && r->slot_bytes && r->slot_device;
  for (uint32_t i = 0; ok && i < r->plan->nslots; i++) r->slot_device[i] = r->plan->slot_device[i];
  for (uint32_t phase = 0; phase < r->nphases; phase++)
    ok = (r->slot[phase] = un__calloc(r->nslots, sizeof *r->slot[phase])) && ok;
  return ok;
}

static un_status build(un__replay *r, const un__capture *c, un__nodes *buffers, un__err *err) {
  if (!allocate_tables(r)) return nomem(err);
  for (size_t i = 0; i < buffers->n && i < r->nslots; i++) r->slot_device[i] = place_of(buffers->at[i]);      /* also of what no kernel reads */
  UN__TRY(make_inputs(r, c, buffers, err));
  UN__TRY(make_states(r, c, buffers, err));
  UN__TRY(bind_constants(r, buffers, err));
  UN__TRY(keep_states(r, err));
  UN__TRY(keep_results(r, c, err));
  UN__TRY(allocate_temporaries(r, err));
  return make_launches(r, err);
}

/* Only what is a BUFFER is read: an expression whose value lies somewhere may depend on an input. */
static const un_uop *import(un__graph *ws, un__session *s, const un__capture *c, un__nodes *buffers) {
  un__session_enter(s);
  const un_uop *sink = un__sink(un__session_graph(s), c->results, c->nresults + c->nstates);
  const un_uop *root = sink ? un__import_stored(ws, s, sink, UN__NO_TERMS, buffers) : NULL;
  un__session_leave(s);
  if (!root) un__fail(un__graph_err(ws), UN_ERR_NOMEM, "no memory to import a tensor graph");
  return root;
}

static uint32_t unused_input(const un__capture *c, const un__nodes *buffers) {
  for (uint32_t i = 0; i < c->ninputs; i++)
    if (c->inputs[i] && slot_of(buffers, c->inputs[i]) == NO_SLOT) return i;
  return UN__USED;
}

static un_status make_plan(un__engine *e, un__session *s, const un__capture *c, int device, uint32_t licences, un__nodes *buffers,
                           un__plan **out, uint32_t *out_unused, un__err *err) {
  un__graph *ws = un__workspace_create(err);
  const un_uop *root = ws ? import(ws, s, c, buffers) : NULL;
  if (root && (*out_unused = unused_input(c, buffers)) == UN__USED)
    un__plan_get(e, ws, root, (uint32_t)buffers->n, device, licences, out, err);
  un__workspace_destroy(ws);
  return err->status;
}

un_status un__replay_create(un__engine *e, un__session *s, const un__capture *c, int device, uint32_t licences, un__replay **out,
                            uint32_t *out_unused, un__err *err) {
  un__err local = {.log = err->log};
  un__nodes buffers = {0};
  un__plan *plan = NULL;
  *out = NULL;
  *out_unused = UN__USED;
  make_plan(e, s, c, device, licences, &buffers, &plan, out_unused, &local);
  un__replay *r = plan ? un__calloc(1, sizeof *r) : NULL;
  if (plan && !r) {
    un__plan_put(e, plan);
    nomem(&local);
  }
  if (r) {
    *r = (un__replay){.e = e, .s = s, .plan = plan, .ninputs = c->ninputs, .nstates = c->nstates,
                      .nresults = c->nresults, .nphases = c->nstates ? PHASES : 1};
    build(r, c, &buffers, &local);
  }
  un__unpin_all(s, buffers.at, buffers.n);
  un__vec_finish(&buffers);
  if (local.status == UN_OK) *out = r;
  else un__replay_destroy(r);
  return un__err_copy(err, &local);
}

void un__replay_destroy(un__replay *r) {
  if (!r) return;
  for (size_t i = 0; r->nlaunches && i < r->owned.n; i++) {      /* what runs may read what goes */
    un__device *d = r->e->device[r->owned.at[i].device];
    if (!i || r->owned.at[i].device != r->owned.at[i - 1].device) d->vt->sync(d, &(un__err){0});
  }
  for (uint32_t phase = 0; phase < r->nphases; phase++) {
    if (r->recording[phase]) home_of(r)->vt->recording_release(home_of(r), r->recording[phase]);
    un__free(r->slot[phase]);
    un__free(r->args[phase]);
    un__free(r->launches[phase]);
  }
  for (size_t i = 0; i < r->owned.n; i++) {
    un__device *d = r->e->device[r->owned.at[i].device];
    d->vt->free(d, r->owned.at[i].mem);
    un__count_bytes(r->e, 0, r->owned.at[i].bytes);
  }
  for (uint32_t i = 0; r->inputs && i < r->ninputs; i++)
    if (r->inputs[i].bound) un__unpin(r->s, r->inputs[i].bound);
  un__unpin_all(r->s, r->constants.at, r->constants.n);
  un__vec_finish(&r->constants);
  un__vec_finish(&r->owned);
  un__vec_finish(&r->copies);
  un__free(r->inputs);
  un__free(r->states);
  un__free(r->result_slot);
  un__free(r->slot_bytes);
  un__free(r->slot_device);
  un__free(r->arg_slot);
  un__plan_put(r->e, r->plan);
  un__free(r);
}

/* ---- change ---- */

/* buffer NULL: the input's own memory. */
static un_status rebind(un__replay *r, input *in, const un_uop *buffer, un__mem *m, un__err *err) {
  if (buffer) un__pin(r->s, buffer);
  if (in->bound) un__unpin(r->s, in->bound);
  in->bound = buffer;
  if (r->slot[0][in->slot] == m) return UN_OK;
  set_slot(r, in->slot, m, m);
  return refresh(r, in->slot, err);
}

un_status un__replay_bind(un__replay *r, uint32_t i, const un_uop *buffer, un__err *err) {
  input *in = &r->inputs[i];
  if (in->slot == NO_SLOT || in->bound == buffer) return UN_OK;
  un__mem *m = memory_of(r, buffer, r->slot_device[in->slot], err);
  return m ? rebind(r, in, buffer, m, err) : err->status;
}

un_status un__replay_write(un__replay *r, uint32_t i, size_t offset, const void *data, size_t size, un__err *err) {
  input *in = &r->inputs[i];
  if (in->slot == NO_SLOT) return UN_OK;
  un__device *d = device_of(r, in->slot);
  UN__TRY(d->vt->write(d, in->own, offset, data, size, err));
  return in->bound ? rebind(r, in, NULL, in->own, err) : UN_OK;
}

un_status un__replay_set_state(un__replay *r, uint32_t i, const un_uop *buffer, un__err *err) {
  un__device *d = r->e->device[r->states[i].device];
  un__mem *m = memory_of(r, buffer, r->states[i].device, err);
  return m ? d->vt->copy(d, r->states[i].mem[r->phase], m, r->states[i].bytes, err) : err->status;
}

/* ---- run ---- */

/* slot: of each argument. */
static un_status launch_one(const un__replay *r, const un__launch *l, const uint32_t *slot, un__err *err) {
  un__device *d = device_of(r, slot[0]);
  if (l->code) return d->vt->launch(d, l->code, l->args, NULL, err);
  un__device *from = device_of(r, slot[1]);
  return from == d ? d->vt->copy(d, l->args[0], l->args[1], l->bytes, err) : un__transfer(from, l->args[1], d, l->args[0], l->bytes, err);
}

static un_status launch_all(un__replay *r, un__err *err) {
  const un__launch *l = r->launches[r->phase];
  if (r->recording[r->phase]) return home_of(r)->vt->replay(home_of(r), r->recording[r->phase], err);
  const uint32_t *slot = r->arg_slot;
  for (uint32_t i = 0; i < r->nlaunches; i++, slot += l->nargs, l++) UN__TRY(launch_one(r, l, slot, err));
  return UN_OK;
}

un_status un__replay_run(un__replay *r, un__err *err) {
  r->ran = false;
  UN__TRY(launch_all(r, err));
  r->ran = true;
  r->last = r->phase;
  if (r->nphases > 1) r->phase ^= 1;
  pthread_mutex_lock(&r->e->lock);
  r->e->stats.kernels_launched += r->plan->nkernels;
  pthread_mutex_unlock(&r->e->lock);
  return UN_OK;
}

uint32_t un__replay_launches(const un__replay *r) { return r->nlaunches; }
bool un__replay_has_run(const un__replay *r) { return r->ran; }

/* ---- look ---- */

static const un__mem *value_of(const un__replay *r, un__replay_value what, uint32_t i, size_t *out_bytes) {
  if (what == UN__OF_STATE) return *out_bytes = r->states[i].bytes, r->states[i].mem[r->phase];
  return *out_bytes = r->slot_bytes[r->result_slot[i]], r->slot[r->last][r->result_slot[i]];
}

int un__replay_device(const un__replay *r, un__replay_value what, uint32_t i) {
  return what == UN__OF_STATE ? r->states[i].device : r->slot_device[r->result_slot[i]];
}

un_status un__replay_read(un__replay *r, un__replay_value what, uint32_t i, void *dst, size_t size, un__err *err) {
  size_t bytes;
  const un__mem *m = value_of(r, what, i, &bytes);
  un__device *d = r->e->device[un__replay_device(r, what, i)];
  UN__TRY(d->vt->sync(d, err));
  return size ? d->vt->read(d, m, 0, dst, size, err) : UN_OK;
}

un_status un__replay_store(un__replay *r, un__replay_value what, uint32_t i, int64_t serial, un__err *err) {
  size_t bytes;
  const un__mem *m = value_of(r, what, i, &bytes);
  return un__storage_copy(r->e, un__replay_device(r, what, i), m, bytes, serial, err);
}
