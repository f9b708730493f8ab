#include "agree.h"
#define un__rw_enabled agree_enabled
#define un__rw_fire agree_fire
#define un__ruleset_everything agree_linear
#include "agree_linear.inc.h"
