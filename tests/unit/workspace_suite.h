/* workspace_suite.h - a Criterion suite whose tests have a workspace of their own. */
#ifndef UN_TESTS_WORKSPACE_SUITE_H
#define UN_TESTS_WORKSPACE_SUITE_H

#include <criterion/criterion.h>

#include "uop/graph.h"

/* Defines the suite, and for its tests `err` and the workspace `graph`. */
#define WORKSPACE_SUITE(suite, graph)                                        \
  static un__err err;                                                        \
  static un__graph *graph;                                                   \
  static void setup(void) {                                                  \
    un__err_clear(&err);                                                     \
    graph = un__workspace_create(&err);                                      \
    cr_assert(graph);                                                        \
  }                                                                          \
  static void teardown(void) { un__workspace_destroy(graph); }               \
  TestSuite(suite, .init = setup, .fini = teardown)

#endif
