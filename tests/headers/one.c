#include "one.inc"
