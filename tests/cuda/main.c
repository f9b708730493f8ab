/* main.c - the cases that need no GPU.   cuda_device STUB [NAME] */
#include <stddef.h>

#include "kit.h"

int main(int argc, char **argv) {
  const test_case *const lists[] = {driver_cases, memory_cases, fault_cases, NULL};
  return use_stub(argc, argv) ? run_cases(lists, argc > 2 ? argv[2] : "") : 2;
}
