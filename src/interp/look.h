/* look.h - looks on while a kernel runs: how far each value may be off, and what is stored. Private to interp.
 *
 * The rules are those of bound.h. A simple reduction is bounded by the sum of its absolute terms; one of several values at once is not
 * bounded where its body rounds, since another order may round anything. */
#ifndef UN_INTERP_LOOK_H
#define UN_INTERP_LOOK_H

#include "bound.h"
#include "program.h"

struct un__ilook {
  uint32_t number;          /* of the sample */
  uint64_t left;            /* steps that may be taken */
  double *bound;            /* by slot */
  un__iterms *terms;        /* by slot: of the sum that it holds */
  un__isamples *out;
};

bool un__ilook_goes_on(un__ilook *l);
/* Lane `lane` of a step was computed, from operands in those slots. */
void un__ilook_alu(un__ilook *l, const un__istep *s, uint32_t lane, const uint32_t *from, const un__value *args, un__value result);
void un__ilook_copy(un__ilook *l, const un__istep *s, uint32_t lane, uint32_t from);
bool un__ilook_is_certain(const un__ilook *l, uint32_t slot);
void un__ilook_set(un__ilook *l, uint32_t slot, bool certain);
/* certain: the place is. False: no memory. */
bool un__ilook_store(un__ilook *l, uint32_t arg, int64_t at, un__value v, uint32_t from, bool certain);
/* The only round of a result's loop, of `size` rounds. */
int64_t un__ilook_round(const un__ilook *l, uint32_t node, int64_t size);

#endif
