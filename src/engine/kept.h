/* kept.h - compiled kernels between processes: what of a kernel goes to the disk cache, and under which key.
 *
 * The key is a text that holds all that decides what a kernel's code is: the kernel as canonical .un text, the description of
 * the target, the licences, the device's identity (compiler, version, options, processor), and a digest of the sources and rules of
 * this library. So a kernel that is found is neither optimised nor lowered, rendered or compiled. Where something else takes part
 * (rules switched off or traced, a planner that is not the heuristics) nothing is kept and nothing is looked for. */
#ifndef UN_ENGINE_KEPT_H
#define UN_ENGINE_KEPT_H

#include "disk_cache.h"
#include "engine_parts.h"
#include "opt/opt.h"

extern const char un__source_digest[];

/* Whether what is compiled now depends on nothing but what keys hold. */
bool un__kept_allowed(const un__engine *e);
/* NULL: none. log: is told why, once. */
un__disk_cache *un__kept_cache(un__engine *e, const un__log *log);
/* What keys of kernels and of tuning records have in common: the target and the licences. */
void un__kept_put_terms(const un__device *d, uint32_t licences, un__strbuf *out);
un__bytes un__kept_bytes(const un__strbuf *text);

/* The key of a kernel's body; false: it is not kept. The text is the caller's (un__sb_finish) either way. plan: NULL where the
 * heuristics choose one. */
bool un__kept_key(un__engine *e, const un_uop *body, un__device *d, uint32_t licences, const un__opt_plan *plan, un__strbuf *out,
                  const un__log *log);
/* Loads the code of a key into `out`; false: compile it. */
bool un__kept_load(un__engine *e, un__device *d, const un__strbuf *key, un__kernel *out);
void un__kept_save(un__engine *e, const un__strbuf *key, const un__artifact *a, const un__blob *binary);

#endif
