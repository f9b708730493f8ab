/* replay.h - a tensor program that is captured once and run again and again, without a graph.
 *
 * A replay has its plan, the memory of everything that runs, and the arguments of every launch, prepared. A state is a
 * tensor that each run replaces: it has two buffers, a run reads one and writes the other, so every replay with states has two
 * phases, each with arguments of its own, and a run that fails leaves the states as they were. */
#ifndef UN_ENGINE_REPLAY_H
#define UN_ENGINE_REPLAY_H

#include "engine.h"

typedef struct un__replay un__replay;

/* All nodes are of the session's graph and pinned by the caller for the call. inputs and states are BUFFERs, NULL where a
 * tensor has no elements; no BUFFER comes twice. */
typedef struct un__capture {
  const un_uop *const *inputs, *const *states;
  const un_uop *const *results;    /* nresults tensors, then the next value of each state */
  uint32_t ninputs, nstates, nresults;
} un__capture;

enum { UN__USED = UINT32_MAX };

/* Compiles, allocates, and copies the states. *out_unused: the first input that nothing depends on, else UN__USED; then there
 * is no replay. Called as un__engine_realize is. */
un_status un__replay_create(un__engine *e, un__session *s, const un__capture *c, int device, uint32_t licences, un__replay **out,
                            uint32_t *out_unused, un__err *err);
/* Inside a call of the session: what is pinned goes. NULL is allowed. */
void un__replay_destroy(un__replay *r);

/* Input i is this BUFFER (pinned by the replay) from now on. Inside a call. */
un_status un__replay_bind(un__replay *r, uint32_t i, const un_uop *buffer, un__err *err);
/* Bytes of input i, into memory of the replay's own. Whoever writes the first part of them writes all. Inside a call. */
un_status un__replay_write(un__replay *r, uint32_t i, size_t offset, const void *data, size_t size, un__err *err);
/* State i is a copy of this BUFFER from now on. */
un_status un__replay_set_state(un__replay *r, uint32_t i, const un_uop *buffer, un__err *err);

/* Allocates nothing on the host, on a device whose launches do not. */
un_status un__replay_run(un__replay *r, un__err *err);
uint32_t un__replay_launches(const un__replay *r);
bool un__replay_has_run(const un__replay *r);

/* Result i of the last run; state i as it is now. */
typedef enum un__replay_value { UN__OF_RESULT, UN__OF_STATE } un__replay_value;
un_status un__replay_read(un__replay *r, un__replay_value what, uint32_t i, void *dst, size_t size, un__err *err);
int un__replay_device(const un__replay *r, un__replay_value what, uint32_t i);
/* A copy in storage behind a new serial, which the caller gives to a BUFFER node. */
un_status un__replay_store(un__replay *r, un__replay_value what, uint32_t i, int64_t serial, un__err *err);

#endif
