#include "use.inc"
