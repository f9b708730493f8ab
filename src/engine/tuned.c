#include "tuned.h"

#include "judge.h"
#include "kept.h"
#include "trial.h"
#include "uop/text.h"
#include "verdict.h"

static void say(const un__log *log, un__strbuf *text) {
  if (log->write && !text->failed) log->write(log->data, un__sb_str(text));
  un__sb_finish(text);
}

/* ---- records ---- */

static bool key_of(const un__device *d, const un_uop *body, uint32_t licences, un__strbuf *out) {
  un__sb_printf(out, "%ssource %s\ndevice %s", un__record_title, un__source_digest, d->vt->kind);
  un__kept_put_terms(d, licences, out);
  un__print_text(out, body, un__kernel_entry, UN__STAGE_KERNEL, false);
  return !out->failed;
}

/* Applied in a workspace of its own, which may fail: *out_nomem says that it was for want of memory. */
static bool is_legal(const un_uop *body, const un__opt_plan *plan, const un__target *t, uint32_t licences, bool *out_nomem) {
  un__err err = {0};
  un__graph *ws = un__workspace_create(&err);
  const un_uop *own = ws ? un__copy(ws, body) : NULL;
  bool legal = own && un__opt_apply(ws, own, plan, t, licences);
  un__workspace_destroy(ws);
  *out_nomem = !legal && err.status == UN_ERR_NOMEM;
  return legal;
}

static bool find_record(un__disk_cache *c, un__device *d, const un_uop *body, uint32_t licences, const un__strbuf *key,
                        un__opt_found *out) {
  un__bytes value;
  if (!un__disk_cache_get(c, un__kept_bytes(key), &value)) return false;
  bool nomem = false;
  bool good = un__record_parse(value.at, value.n, out, NULL) == UN_OK && is_legal(body, &out->plan, d->target, licences, &nomem);
  if (!good && !nomem) un__disk_cache_forget(c, un__kept_bytes(key));
  un__free(value.at);
  return good;
}

static void keep_record(un__disk_cache *c, const un__strbuf *key, const un__opt_found *found) {
  un__strbuf value;
  un__sb_init(&value);
  un__record_print(found, &value);
  if (!value.failed) un__disk_cache_put(c, un__kept_bytes(key), un__kept_bytes(&value));
  un__sb_finish(&value);
}

/* ---- searching ---- */

static un_status search_with(un__judge *j, un__device *d, const un_uop *body, uint32_t licences, uint32_t width, un__opt_found *out,
                             un__err *err) {
  un__graph *ws = un__workspace_create(err);
  const un_uop *own = ws ? un__copy(ws, body) : NULL;
  un__opt_judge judge = un__judge_callbacks(j);
  un__opt_search_options options = {width, width * UN__SEARCH_CANDIDATES};
  un_status status = own ? un__opt_search(ws, own, d->target, licences, &options, &judge, out, err) : UN_ERR_NOMEM;
  un__workspace_destroy(ws);
  return status;
}

static void say_found(const un__log *log, const un__opt_found *f) {
  un__strbuf text;
  un__sb_init(&text);
  un__sb_printf(&text, "search: %u candidates, ", f->candidates);
  un__put_scaled(&text, f->heuristic_seconds);
  un__sb_puts(&text, "s by heuristics, ");
  un__put_scaled(&text, f->seconds);
  un__sb_puts(&text, "s by the plan found");
  say(log, &text);
}

static void say_nothing_found(const un__log *log, const un__err *why) {
  un__strbuf text;
  un__sb_init(&text);
  un__sb_printf(&text, "search: none: %s", why->text);
  say(log, &text);
}

/* One search at a time, since it measures. */
static bool search(un__engine *e, un__device *d, const un_uop *body, uint32_t licences, un__opt_found *out, const un__log *log) {
  un__judge j;
  un__err err = {0};
  pthread_mutex_lock(&e->search_lock);
  un_status status = un__judge_init(&j, d, body, licences, &err);
  if (status == UN_OK) status = search_with(&j, d, body, licences, e->search.width, out, &err);
  un__judge_finish(&j);
  pthread_mutex_unlock(&e->search_lock);
  if (status == UN_OK) say_found(log, out);
  else say_nothing_found(log, &err);
  return status == UN_OK;
}

bool un__tuned_plan(un__engine *e, un__device *d, const un_uop *body, uint32_t licences, un__opt_found *out, const un__log *log) {
  if (e->search.off || !un__trial_means(d) || licences == UN__LIC_STRICT || !un__kept_allowed(e)) return false;
  un__disk_cache *c = un__kept_cache(e, log);
  if (!c && !e->search.width) return false;
  un__strbuf key;
  un__sb_init(&key);
  bool known = key_of(d, body, licences, &key), found = known && c && find_record(c, d, body, licences, &key, out);
  if (known && !found && e->search.width) {
    found = search(e, d, body, licences, out, log);
    if (found && c) keep_record(c, &key, out);
  }
  un__sb_finish(&key);
  return found;
}

void un__tuned_forget(un__engine *e, un__device *d, const un_uop *body, uint32_t licences, const un__log *log) {
  un__disk_cache *c = un__kept_cache(e, log);
  un__strbuf key;
  un__sb_init(&key);
  if (c && key_of(d, body, licences, &key)) un__disk_cache_forget(c, un__kept_bytes(&key));
  un__sb_finish(&key);
}
