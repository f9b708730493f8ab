/* unir.h - the command line's parts. Each command is a function of its arguments; exit codes are the same everywhere. */
#ifndef UNIR_TOOL_H
#define UNIR_TOOL_H

#include <stdio.h>

#include "base/status.h"
#include "base/strbuf.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

int tool_opt(int argc, char **argv);
int tool_show(int argc, char **argv);
int tool_run(int argc, char **argv);
int tool_devices(int argc, char **argv);

/* Reads a whole file, "-" for standard input. */
un_status tool_read_file(const char *path, un__strbuf *out, un__err *err);
/* The licences of a numerics level by name; false when there is no such level. */
bool tool_numerics(const char *name, uint32_t *out);
/* "unir: <message>" on standard error; EXIT_FAILED. */
int tool_fail(const un__err *err);
/* "unir <command>: <what>: <arg>" and where help is; EXIT_USAGE. */
int tool_usage(const char *command, const char *what, const char *arg);

#endif
