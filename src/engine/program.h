/* program.h - runs a tensor program given as a graph and host arrays. */
#ifndef UN_ENGINE_PROGRAM_H
#define UN_ENGINE_PROGRAM_H

#include "engine.h"
#include "interp/interp.h"

/* `sink` is a SINK of tensors in any graph; BUFFER slot i is inputs[i]. out[i] receives the value of source i; its data is the
 * caller's (un__free), also those already written when the call fails (others are zero). Outside an epoch. */
un_status un__engine_run(un__engine *e, un__session *s, const un_uop *sink, const un__itensor *inputs, uint32_t ninputs,
                         int device, uint32_t licences, un__itensor *out, un__err *err);

#endif
