/* unir.h - the command line's parts. A command is a row of text and options and a function; exit codes are the same
 * everywhere: 0 done, 1 the input or the run failed, 2 wrong usage. */
#ifndef UNIR_TOOL_H
#define UNIR_TOOL_H

#include <stdio.h>

#include "base/strbuf.h"
#include "uop/text.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* ---- commands and their options ---- */

/* --name, or --name=ARG when it takes a value. */
typedef struct tool_option {
  const char *name;
  const char *arg;                                      /* what the help calls the value; NULL: takes none */
  char letter;                                          /* -x, or 0 */
  const char *(*set)(void *settings, const char *arg);  /* NULL, or what is wrong with the value */
  const char *help;
} tool_option;

typedef struct tool_command {
  const char *name, *summary;
  const char *usage;                     /* what follows the name */
  const char *about;                     /* whole lines */
  const char *operand;                   /* the one operand; NULL: takes none */
  bool optional;                         /* it may be missing */
  const tool_option *options;
  size_t noptions;
  int (*run)(int argc, char **argv);     /* argv[0] is the command */
} tool_command;

extern const tool_command tool_opt, tool_show, tool_run, tool_devices, tool_cache;

/* Sets what the command line says. False: nothing is left to do but to exit with *out_exit (help, or wrong usage).
 * *out_operand is NULL where none is given. */
bool tool_parse(const tool_command *c, int argc, char **argv, void *settings, const char **out_operand, int *out_exit);

/* `set` of options that commands share. */
const char *tool_set_licences(uint32_t *out, const char *name);

/* Traces of the rewrite engine, on standard error: what an un__err of the tool logs to. */
extern const un__log tool_log;
/* "unir: <message>" on standard error; EXIT_FAILED. */
int tool_fail(const un__err *err);
/* "unir <command>: <what>: <arg>" and where help is; EXIT_USAGE. */
int tool_usage(const tool_command *c, const char *what, const char *arg);

/* ---- input and output ---- */

/* The graphs of a .un file ("-": standard input); none, or more than `cap`, is an error. */
un_status tool_read_graphs(un__graph *ws, const char *path, un__parsed_graph *out, size_t cap, size_t *out_n, un__err *err);
/* The one graph of a file, which holds to its stage. */
un_status tool_read_graph(un__graph *ws, const char *path, un__parsed_graph *out, un__err *err);
/* Faults are shown in the graph, on standard error. */
un_status tool_verify(const un_uop *root, un__stage stage, un__err *err);
/* Whether what was written to standard output has got there: an exit code. */
int tool_flush(void);
/* All of it on standard output: an exit code. */
int tool_print(const un__strbuf *text);

#endif
