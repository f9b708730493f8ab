/* program.c - programs: captured once, run with other inputs. */
#include "api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- types ---- */

static un__type type_of(const un_tensor *t) { return (un__type){un_dtype_of(t), un_shape_of(t)}; }

static int64_t count_of(const un__type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->shape.rank; i++) n *= t->shape.dim[i];
  return n;
}

static size_t bytes_of(const un__type *t) { return (size_t)count_of(t) * un_dtype_size(t->dtype); }

static bool same_shape(const un_dims *a, const un_dims *b) {
  return a->rank == b->rank && memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim) == 0;
}

/* As what a tensor is given, and whether it can be that. */
static bool check_type(un__call *c, const char *role, size_t i, const un__type *want, const un_tensor *t) {
  un__type have = type_of(t);
  bool shape = same_shape(&want->shape, &have.shape);
  if (shape && want->dtype == have.dtype) return true;
  un__fail(&c->cx->err, shape ? UN_ERR_DTYPE : UN_ERR_SHAPE, "%s: %s %zu: expected %s %s, got %s %s", c->what, role, i,
           un_dtype_name(want->dtype), un__tensor_show(&want->shape).at, un_dtype_name(have.dtype), un__tensor_show(&have.shape).at);
  return false;
}

static bool check_index(un__call *c, const char *role, size_t i, size_t n) {
  if (i < n) return true;
  un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: no %s %zu: the program has %zu", c->what, role, i, n);
  return false;
}

/* ---- capture ---- */

/* The lists that the engine is given; values are pinned. */
typedef struct capture {
  un__call *c;
  un__capture lists;
  UN__VEC(const un_uop *) inputs;
  UN__VEC(const un_uop *) states;
  UN__VEC(const un_uop *) results;     /* and the values of the updates */
  size_t pinned;                       /* of the values */
} capture;

static un_status nomem(un__call *c) { return un__fail(&c->cx->err, UN_ERR_NOMEM, "%s: no memory for a program", c->what); }

/* The buffer of a tensor with data; NULL where it has no elements. */
static un_status add_buffer(capture *cap, const char *role, size_t i, un_tensor *t, const un_uop **out) {
  un__call *c = cap->c;
  if (!un__api_check_one(c, t, i)) return c->cx->err.status;
  *out = un_numel(t) ? un__stored_buffer(t->node) : NULL;
  if (!*out && un_numel(t))
    return un__fail(&c->cx->err, UN_ERR_INVALID_ARG,
                    "%s: %s %zu: expected a tensor with data (un_from_data, or realised), got an expression", c->what, role, i);
  for (size_t k = 0; *out && k < cap->inputs.n; k++)
    if (cap->inputs.at[k] == *out)
      return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: %s %zu is the same tensor as input %zu: un_clone gives it data of its own", c->what, role, i, k);
  for (size_t k = 0; *out && k < cap->states.n; k++)
    if (cap->states.at[k] == *out)
      return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: %s %zu is the same tensor as state %zu: un_clone gives it data of its own", c->what, role, i, k);
  return UN_OK;
}

static un_status add_inputs(capture *cap, size_t n, un_tensor *const *inputs) {
  for (size_t i = 0; i < n; i++) {
    const un_uop *buffer;
    UN__TRY(add_buffer(cap, "input", i, inputs[i], &buffer));
    cap->inputs.at[cap->inputs.n++] = buffer;
  }
  return UN_OK;
}

static un_status add_results(capture *cap, size_t n, un_tensor *const *results) {
  if (!un__api_check(cap->c, results, n)) return cap->c->cx->err.status;
  for (size_t i = 0; i < n; i++) cap->results.at[cap->results.n++] = results[i]->node;
  return UN_OK;
}

static un_status add_updates(capture *cap, size_t n, const un_update *updates) {
  un_ctx *cx = cap->c->cx;
  for (size_t i = 0; i < n; i++) {
    const un_uop *buffer, *value;
    UN__TRY(add_buffer(cap, "state", i, updates[i].state, &buffer));
    cap->states.at[cap->states.n++] = buffer;
    if (!un__api_check_one(cap->c, updates[i].value, i)) return cx->err.status;
    if (!(value = un__tensor_assigned(cap->c->g, cap->c->what, updates[i].state->node, updates[i].value->node))) return cx->err.status;
    un__pin(cx->session, value);
    cap->results.at[cap->results.n++] = value;
    cap->pinned++;
  }
  return UN_OK;
}

static un_status create_once(capture *cap, un__replay **out) {
  un_ctx *cx = cap->c->cx;
  uint32_t unused;
  un__session_leave(cx->session);
  un_status status =
    un__replay_create(cx->engine, cx->session, &cap->lists, cx->device, cx->licences, out, &unused, &cx->err);
  un__session_enter(cx->session);
  if (status != UN_OK || unused == UN__USED) return status;
  return un__fail(&cx->err, UN_ERR_INVALID_ARG,
                  "%s: input %u is used by no result: expected a tensor that they were built from after it had its data",
                  cap->c->what, unused);
}

/* What was dropped may hold the memory that is missing: once more without it. */
static un_status create(capture *cap, un__replay **out) {
  un_ctx *cx = cap->c->cx;
  if (create_once(cap, out) != UN_ERR_NOMEM) return cx->err.status;
  un__collect(cx->session);
  un__err_clear(&cx->err);
  return create_once(cap, out);
}

static un_status check_lists(un__call *c, size_t ninputs, un_tensor *const *inputs, size_t nresults, un_tensor *const *results,
                             size_t nupdates, const un_update *updates) {
  if ((ninputs && !inputs) || (nresults && !results) || (nupdates && !updates))
    return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: the list of %s is NULL", c->what,
                    ninputs && !inputs ? "inputs" : nresults && !results ? "results" : "updates");
  if (!nresults && !nupdates)
    return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: expected a result or an update, got none", c->what);
  if (ninputs > INT32_MAX || nresults > INT32_MAX || nupdates > INT32_MAX)
    return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: too many tensors", c->what);
  return UN_OK;
}

static un_status collect(capture *cap, un_program *p, size_t ninputs, un_tensor *const *inputs, size_t nresults,
                         un_tensor *const *results, size_t nupdates, const un_update *updates) {
  *p = (un_program){.cx = cap->c->cx, .ninputs = ninputs, .nresults = nresults, .nstates = nupdates};
  un__type *type = p->type = un__alloc((ninputs + nresults + nupdates) * sizeof *type);
  if (!type || !un__vec_reserve(&cap->inputs, ninputs) || !un__vec_reserve(&cap->states, nupdates) ||
      !un__vec_reserve(&cap->results, nresults + nupdates))
    return nomem(cap->c);
  UN__TRY(add_inputs(cap, ninputs, inputs));
  UN__TRY(add_results(cap, nresults, results));
  UN__TRY(add_updates(cap, nupdates, updates));
  for (size_t i = 0; i < ninputs; i++) *type++ = type_of(inputs[i]);
  for (size_t i = 0; i < nresults; i++) *type++ = type_of(results[i]);
  for (size_t i = 0; i < nupdates; i++) *type++ = type_of(updates[i].state);
  cap->lists = (un__capture){.inputs = cap->inputs.at, .states = cap->states.at, .results = cap->results.at,
                             .ninputs = (uint32_t)ninputs, .nstates = (uint32_t)nupdates, .nresults = (uint32_t)nresults};
  return UN_OK;
}

static void finish(capture *cap) {
  un__unpin_all(cap->c->cx->session, cap->results.at + cap->results.n - cap->pinned, cap->pinned);
  un__vec_finish(&cap->inputs);
  un__vec_finish(&cap->states);
  un__vec_finish(&cap->results);
}

static void log_capture(un__call *c, const un_program *p) {
  un__log log = c->cx->err.log;
  if (!log.write) return;
  char line[160];
  snprintf(line, sizeof line, "%s: %zu inputs, %zu results, %zu states, %u launches a run", c->what, p->ninputs, p->nresults,
           p->nstates, un__replay_launches(p->replay));
  log.write(log.data, line);
}

un_program *un_program_capture(un_ctx *cx, size_t ninputs, un_tensor *const *inputs, size_t nresults, un_tensor *const *results,
                               size_t nupdates, const un_update *updates) {
  un__call c;
  if (!un__api_open_cx(&c, "program_capture", cx)) return NULL;
  capture cap = {.c = &c};
  un_program *p = NULL;
  un_status status = check_lists(&c, ninputs, inputs, nresults, results, nupdates, updates);
  if (status == UN_OK && !(p = un__calloc(1, sizeof *p))) status = nomem(&c);
  if (status == UN_OK) status = collect(&cap, p, ninputs, inputs, nresults, results, nupdates, updates);
  if (status == UN_OK) status = create(&cap, &p->replay);
  finish(&cap);
  if (status == UN_OK) {
    un__link_append(&cx->programs, &p->link);
    log_capture(&c, p);
  } else if (p) {
    un__free(p->type);
    un__free(p);
    p = NULL;
  }
  un__api_close_status(&c);
  return p;
}

void un__program_free(un_program *p) {
  un__link_remove(&p->link);
  un__replay_destroy(p->replay);
  un__free(p->type);
  un__free(p);
}

void un_program_destroy(un_program *p) {
  if (!p) return;
  un__session *s = p->cx->session;
  un__session_enter(s);
  un__program_free(p);
  un__session_leave(s);
}

/* ---- run ---- */

static bool check_inputs(un__call *c, const un_program *p, size_t n, un_tensor *const *inputs) {
  if (n && n != p->ninputs) {
    un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: expected %zu inputs, or none to keep the present ones, got %zu", c->what,
             p->ninputs, n);
    return false;
  }
  if (n && !inputs) return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: the list of inputs is NULL", c->what), false;
  for (size_t i = 0; i < n; i++)
    if (inputs[i] && (!un__api_check_one(c, inputs[i], i) || !check_type(c, "input", i, &p->type[i], inputs[i]))) return false;
  return true;
}

/* All are stored before the first is bound: a call that fails changes nothing. */
static un_status bind(un__call *c, un_program *p, size_t n, un_tensor *const *inputs) {
  for (size_t i = 0; i < n; i++)
    if (inputs[i] && un_numel(inputs[i]) && !un__api_need_buffer(c, inputs[i])) return c->cx->err.status;
  for (size_t i = 0; i < n; i++)
    if (inputs[i] && un_numel(inputs[i]))
      UN__TRY(un__replay_bind(p->replay, (uint32_t)i, un__stored_buffer(inputs[i]->node), &c->cx->err));
  return UN_OK;
}

un_status un_program_run(un_program *p, size_t ninputs, un_tensor *const *inputs) {
  un__call c;
  if (!un__api_open_program(&c, "program_run", p)) return UN_ERR_INVALID_ARG;
  un_ctx *cx = c.cx;
  if (check_inputs(&c, p, ninputs, inputs) && bind(&c, p, ninputs, inputs) == UN_OK) {
    un__session_leave(cx->session);
    un__replay_run(p->replay, &cx->err);
    un__session_enter(cx->session);
  }
  return un__api_close_status(&c);
}

static bool check_room(un__call *c, const char *role, size_t i, const un__type *type, const void *data, size_t size) {
  size_t want = bytes_of(type);
  if (size == want && (data || !size)) return true;
  char got[32] = "NULL";
  if (size != want) snprintf(got, sizeof got, "%zu bytes", size);
  un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: %s %zu, %s %s: expected exactly %zu bytes, got %s", c->what, role, i,
           un_dtype_name(type->dtype), un__tensor_show(&type->shape).at, want, got);
  return false;
}

/* Every byte of a stored bool is 0 or 1. */
static void write_bools(un_program *p, size_t i, const uint8_t *data, size_t size, un__err *err) {
  uint8_t clean[4096];
  for (size_t at = 0; at < size && err->status == UN_OK; at += sizeof clean) {
    size_t n = size - at < sizeof clean ? size - at : sizeof clean;
    for (size_t k = 0; k < n; k++) clean[k] = data[at + k] != 0;
    un__replay_write(p->replay, (uint32_t)i, at, clean, n, err);
  }
}

un_status un_program_write(un_program *p, size_t i, const void *data, size_t size) {
  un__call c;
  if (!un__api_open_program(&c, "program_write", p)) return UN_ERR_INVALID_ARG;
  if (check_index(&c, "input", i, p->ninputs) && check_room(&c, "input", i, &p->type[i], data, size)) {
    if (p->type[i].dtype == UN_BOOL) write_bools(p, i, data, size, &c.cx->err);
    else un__replay_write(p->replay, (uint32_t)i, 0, data, size, &c.cx->err);
  }
  return un__api_close_status(&c);
}

/* ---- results and states ---- */

static bool check_result(un__call *c, const un_program *p, size_t i) {
  if (!check_index(c, "result", i, p->nresults)) return false;
  if (un__replay_has_run(p->replay)) return true;
  un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: there are no results: expected a run that succeeded before", c->what);
  return false;
}

un_status un_program_read(un_program *p, size_t i, void *out, size_t size) {
  un__call c;
  if (!un__api_open_program(&c, "program_read", p)) return UN_ERR_INVALID_ARG;
  if (check_result(&c, p, i) && check_room(&c, "result", i, &p->type[p->ninputs + i], out, size))
    un__replay_read(p->replay, UN__OF_RESULT, (uint32_t)i, out, size, &c.cx->err);
  return un__api_close_status(&c);
}

static un_tensor *as_tensor(un__call *c, un_program *p, un__replay_value what, size_t i) {
  const un__type *type = &p->type[p->ninputs + (what == UN__OF_STATE ? p->nresults : 0) + i];
  const un_uop *node = NULL;
  int64_t serial;
  if (!count_of(type)) node = un__tensor_full(c->g, type->dtype, &type->shape, 0);
  else if ((node = un__api_new_buffer(c, type->dtype, &type->shape, un__replay_device(p->replay, what, (uint32_t)i), &serial)) &&
           un__replay_store(p->replay, what, (uint32_t)i, serial, &c->cx->err) != UN_OK)
    node = NULL;
  return un__api_close(c, node);
}

un_tensor *un_program_result(un_program *p, size_t i) {
  un__call c;
  if (!un__api_open_program(&c, "program_result", p)) return NULL;
  return check_result(&c, p, i) ? as_tensor(&c, p, UN__OF_RESULT, i) : un__api_close(&c, NULL);
}

un_tensor *un_program_state(un_program *p, size_t i) {
  un__call c;
  if (!un__api_open_program(&c, "program_state", p)) return NULL;
  return check_index(&c, "state", i, p->nstates) ? as_tensor(&c, p, UN__OF_STATE, i) : un__api_close(&c, NULL);
}

un_status un_program_set_state(un_program *p, size_t i, un_tensor *t) {
  un__call c;
  if (!un__api_open_program(&c, "program_set_state", p)) return UN_ERR_INVALID_ARG;
  const un_uop *buffer;
  if (check_index(&c, "state", i, p->nstates) && un__api_check_one(&c, t, 0) &&
      check_type(&c, "state", i, &p->type[p->ninputs + p->nresults + i], t) && un_numel(t) && (buffer = un__api_need_buffer(&c, t)))
    un__replay_set_state(p->replay, (uint32_t)i, buffer, &c.cx->err);
  return un__api_close_status(&c);
}

size_t un_program_launches(const un_program *p) { return p ? un__replay_launches(p->replay) : 0; }
