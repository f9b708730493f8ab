/* main.c - the program `unir`: commands, help, files. */
#include "unir.h"

#include <errno.h>
#include <string.h>

#include <unir/base.h>

#include "rewrite/rewrite.h"

static const struct { const char *name, *help; int (*run)(int argc, char **argv); } commands[] = {
  {"opt", "apply named passes to .un graphs and print them", tool_opt},
  {"show", "print a program at any stage: tree, text, source or assembly", tool_show},
  {"run", "run a .un program on .npy files", tool_run},
  {"devices", "list the devices of this build", tool_devices},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out) {
  fputs("usage: unir COMMAND [options]\n\n", out);
  for (size_t i = 0; i < COMMANDS; i++) fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
  fputs("\n`unir COMMAND --help` describes each. Exit codes: 0 done, 1 the input or the run failed, 2 wrong usage.\n", out);
}

bool tool_numerics(const char *name, uint32_t *out) {
  static const struct { const char *name; uint32_t licences; } levels[] = {
    {"precise", UN__LIC_PRECISE}, {"strict", UN__LIC_STRICT}, {"fast", UN__LIC_FAST}};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strcmp(levels[i].name, name) == 0) return *out = levels[i].licences, true;
  return false;
}

int tool_fail(const un__err *err) {
  fprintf(stderr, "unir: %s\n", err->text[0] ? err->text : un_status_str(err->status));
  return EXIT_FAILED;
}

int tool_usage(const char *command, const char *what, const char *arg) {
  fprintf(stderr, "unir %s: %s%s%s\ntry `unir %s --help`\n", command, what, arg ? ": " : "", arg ? arg : "", command);
  return EXIT_USAGE;
}

un_status tool_read_file(const char *path, un__strbuf *out, un__err *err) {
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!f) return un__fail(err, UN_ERR_IO, "%s: %s", path, strerror(errno));
  char chunk[65536];
  size_t n;
  while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) un__sb_putn(out, chunk, n);
  bool bad = ferror(f) != 0;
  if (f != stdin) fclose(f);
  if (bad) return un__fail(err, UN_ERR_IO, "%s: cannot be read", path);
  return out->failed ? un__fail(err, UN_ERR_NOMEM, "%s: no memory for the file", path) : UN_OK;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    help(stderr);
    return EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
    help(stdout);
    return EXIT_OK;
  }
  if (strcmp(argv[1], "--version") == 0) {
    printf("unir %d.%d.%d\n", UN_VERSION_MAJOR, UN_VERSION_MINOR, UN_VERSION_PATCH);
    return EXIT_OK;
  }
  for (size_t i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i].name, argv[1]) == 0) return commands[i].run(argc - 1, argv + 1);
  fprintf(stderr, "unir: no command '%s'\n", argv[1]);
  help(stderr);
  return EXIT_USAGE;
}
