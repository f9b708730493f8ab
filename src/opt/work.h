/* work.h - how much a kernel has to do, whatever the plan: what a roofline is drawn from. */
#ifndef UN_OPT_WORK_H
#define UN_OPT_WORK_H

#include "opt.h"

typedef struct un__opt_work {
  uint64_t read, written; /* bytes of arguments, each element once however often it is accessed */
  uint64_t operations;    /* scalar arithmetic on elements, a division or a function as many as it takes; saturating */
  uint32_t width;         /* bytes of the widest element that is computed with */
} un__opt_work;

/* UN_ERR_UNSUPPORTED with the reason when the kernel cannot be described. A symbolic size counts as its largest value. */
un_status un__opt_work_of(const un_uop *kernel, const un__target *t, un__opt_work *out, un__err *err);

#endif
