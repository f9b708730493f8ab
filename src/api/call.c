/* call.c - the frame of a public call: notes, checks, handles. */
#include "api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <unir/here.h>

#include "base/mem.h"

/* ---- notes ---- */

/* Arguments of the noted call may be calls themselves, noted and made meanwhile: a stack. When it is full the oldest
 * note, that of the outermost call, is forgotten. */
static void note(un_ctx *cx, const void *first, const char *file, int line) {
  if (cx->nnotes == UN__NOTES) memmove(cx->notes, cx->notes + 1, --cx->nnotes * sizeof *cx->notes);
  cx->notes[cx->nnotes++] = (un__note){first, file, line};
}

static void take_note(un__call *c, const void *first) {
  un_ctx *cx = c->cx;
  if (!cx->nnotes || cx->notes[cx->nnotes - 1].first != first) return;
  c->file = cx->notes[--cx->nnotes].file;
  c->line = cx->notes[cx->nnotes].line;
}

un_tensor *un_at(un_tensor *first, const char *file, int line) {
  if (first) note(first->cx, first, file, line);
  return first;
}

un_ctx *un_ctx_at(un_ctx *first, const char *file, int line) {
  if (first) note(first, first, file, line);
  return first;
}

un_program *un_program_at(un_program *first, const char *file, int line) {
  if (first) note(first->cx, first, file, line);
  return first;
}

/* ---- open ---- */

static void begin(un__call *c, const char *what, un_ctx *cx, const void *first) {
  *c = (un__call){.cx = cx, .g = cx->graph, .what = what};
  un__err_clear(&cx->err);
  take_note(c, first);
}

/* A failure of this call gets the caller's line, and goes to the log. */
static void finish_error(un__call *c) {
  un__err *err = &c->cx->err;
  if (err->status == UN_OK) return;
  size_t n = strlen(err->text);
  if (c->file) snprintf(err->text + n, sizeof err->text - n, " at %s:%d", c->file, c->line);
  if (err->log.write) err->log.write(err->log.data, err->text);
  un__err_copy(&c->cx->first, err);
}

static bool check_context(un__call *c, const un_tensor *t, size_t i) {
  if (t->cx == c->cx) return true;
  un__fail(&c->cx->err, UN_ERR_CTX_MISMATCH, "%s: operand %zu belongs to another context", c->what, i);
  return false;
}

bool un__api_open(un__call *c, const char *what, un_tensor *const *in, size_t n) {
  size_t nulls = 0;
  const un_tensor *owner = NULL;
  for (size_t i = 0; i < n; i++) {
    if (!in[i]) nulls++;
    else if (!owner) owner = in[i];
  }
  if (!owner) return false;
  begin(c, what, owner->cx, in[0]);
  if (nulls) return false;
  for (size_t i = 0; i < n; i++)
    if (!check_context(c, in[i], i)) return finish_error(c), false;
  un__session_enter(c->cx->session);
  return true;
}

bool un__api_open_cx(un__call *c, const char *what, un_ctx *cx) {
  if (!cx) return false;
  begin(c, what, cx, cx);
  un__session_enter(cx->session);
  return true;
}

bool un__api_open_program(un__call *c, const char *what, un_program *p) {
  if (!p) return false;
  begin(c, what, p->cx, p);
  un__session_enter(p->cx->session);
  return true;
}

bool un__api_check_one(un__call *c, const un_tensor *t, size_t i) {
  if (!t) return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: tensor %zu is NULL", c->what, i), false;
  return check_context(c, t, i);
}

bool un__api_check(un__call *c, un_tensor *const *in, size_t n) {
  if (!in && n) return un__fail(&c->cx->err, UN_ERR_INVALID_ARG, "%s: the list of tensors is NULL", c->what), false;
  for (size_t i = 0; i < n; i++)
    if (!un__api_check_one(c, in[i], i)) return false;
  return true;
}

/* ---- close ---- */

static un_tensor *new_handle(un__call *c, const un_uop *node) {
  un_tensor *t = un__alloc(sizeof *t);
  if (!t) {
    un__fail(&c->cx->err, UN_ERR_NOMEM, "%s: no memory for a handle", c->what);
    return NULL;
  }
  *t = (un_tensor){.cx = c->cx, .node = node, .file = c->file, .line = c->line};
  un__pin(c->cx->session, node);
  un__link_append(&c->cx->scope->handles, &t->link);
  c->cx->live_handles++;
  return t;
}

un_tensor *un__api_close(un__call *c, const un_uop *node) {
  un_tensor *t = node ? new_handle(c, node) : NULL;
  finish_error(c);
  un__session_leave(c->cx->session);
  return t;
}

un_status un__api_close_status(un__call *c) {
  finish_error(c);
  un__session_leave(c->cx->session);
  return c->cx->err.status;
}

/* ---- handles ---- */

void un__handle_free(un_tensor *t) {
  un_ctx *cx = t->cx;
  un__link_remove(&t->link);
  un__unpin(cx->session, t->node);
  cx->live_handles--;
  un__free(t);
}

void un__handle_set(un_tensor *t, const un_uop *node, bool pinned) {
  if (!pinned) un__pin(t->cx->session, node);
  un__unpin(t->cx->session, t->node);
  t->node = node;
}

un_tensor *un_keep(un_tensor *t) {
  if (!t) return NULL;
  un__link_remove(&t->link);
  un__link_append(&t->cx->kept, &t->link);
  return t;
}

void un_release(un_tensor *t) {
  if (!t) return;
  un__session *s = t->cx->session;
  un__session_enter(s);
  un__handle_free(t);
  un__session_leave(s);
}
