/* check.h - the parts of un__pat_check. Private to src/pat. */
#ifndef UN_PAT_CHECK_H
#define UN_PAT_CHECK_H

#include "lower.h"

#endif
