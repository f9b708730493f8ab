/* main.c - the program `unir`: commands and their options. */
#include "unir.h"

#include <getopt.h>
#include <string.h>

#include <unir/base.h>

#include "rewrite/rewrite.h"

static const tool_command *const commands[] = {&tool_opt, &tool_show, &tool_run, &tool_devices, &tool_cache};
enum { COMMANDS = sizeof commands / sizeof *commands, MAX_OPTIONS = 16 };

/* ---- help ---- */

static void help(FILE *out) {
  fputs("usage: unir COMMAND [options]\n\n", out);
  for (size_t i = 0; i < COMMANDS; i++) fprintf(out, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
  fputs("\n`unir COMMAND --help` describes each, `unir --version` says which unir this is.\n"
        "Exit codes: 0 done, 1 the input or the run failed, 2 wrong usage.\n\n"
        "Environment: UNIR_SEARCH=beam:N (1 to 64) times plans for each kernel that has none on disk yet, N wide, and keeps the best;\n"
        "UNIR_SEARCH=off leaves plans to the heuristics alone. UNIR_THREADS=N, UNIR_CC=COMMAND, UNIR_CACHE=0, UNIR_CACHE_DIR=FOLDER,\n"
        "UNIR_CACHE_LIMIT=MIB, UNIR_CRASH_DIR=FOLDER: see the README.\n", out);
}

static void help_option(const tool_option *o) {
  char left[40];
  int n = o->letter ? snprintf(left, sizeof left, "-%c, ", o->letter) : 0;
  snprintf(left + n, sizeof left - (size_t)n, "--%s%s%s", o->name, o->arg ? "=" : "", o->arg ? o->arg : "");
  printf("  %-20s %s\n", left, o->help);
}

static int help_command(const tool_command *c) {
  printf("usage: unir %s%s%s\n\n%s\n", c->name, *c->usage ? " " : "", c->usage, c->about);
  for (size_t i = 0; i < c->noptions; i++) help_option(&c->options[i]);
  printf("  %-20s %s\n", "-h, --help", "this text");
  return tool_flush();
}

/* ---- options ---- */

int tool_fail(const un__err *err) {
  fprintf(stderr, "unir: %s\n", err->text[0] ? err->text : un_status_str(err->status));
  return EXIT_FAILED;
}

int tool_usage(const tool_command *c, const char *what, const char *arg) {
  fprintf(stderr, "unir %s: %s%s%s\ntry `unir %s --help`\n", c->name, what, arg ? ": " : "", arg ? arg : "", c->name);
  return EXIT_USAGE;
}

const char *tool_set_licences(uint32_t *out, const char *name) {
  static const struct { const char *name; uint32_t licences; } levels[] = {
    {"precise", UN__LIC_PRECISE}, {"strict", UN__LIC_STRICT}, {"fast", UN__LIC_FAST}};
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strcmp(levels[i].name, name) == 0) return *out = levels[i].licences, NULL;
  return "--numerics: expected precise, strict or fast";
}

/* getopt's view of a command: option i has the value FIRST + i. */
enum { HELP = 1000, FIRST = 1001 };
typedef struct getopt_view { struct option longs[MAX_OPTIONS + 2]; char shorts[2 * MAX_OPTIONS + 4]; } getopt_view;

static getopt_view view_of(const tool_command *c) {
  getopt_view v = {.shorts = ":h"};
  size_t n = strlen(v.shorts);
  for (size_t i = 0; i < c->noptions; i++) {
    const tool_option *o = &c->options[i];
    v.longs[i] = (struct option){o->name, o->arg ? required_argument : no_argument, NULL, FIRST + (int)i};
    if (o->letter) v.shorts[n++] = o->letter;
    if (o->letter && o->arg) v.shorts[n++] = ':';
  }
  v.longs[c->noptions] = (struct option){"help", no_argument, NULL, HELP};
  return v;
}

static const tool_option *option_of(const tool_command *c, int value) {
  for (size_t i = 0; i < c->noptions; i++)
    if (value == FIRST + (int)i || (c->options[i].letter && value == c->options[i].letter)) return &c->options[i];
  return NULL;
}

static int parse_options(const tool_command *c, int argc, char **argv, void *settings) {
  getopt_view v = view_of(c);
  opterr = 0;
  for (int at = optind, o; (o = getopt_long(argc, argv, v.shorts, v.longs, NULL)) != -1; at = optind) {
    if (o == 'h' || o == HELP) return help_command(c);
    if (o == ':') return tool_usage(c, "a value is missing after", argv[optind - 1]);
    if (o == '?') return tool_usage(c, option_of(c, optopt) ? "takes no value" : "no such option", argv[at < optind ? optind - 1 : at]);
    const char *wrong = option_of(c, o)->set(settings, optarg);
    if (wrong) return tool_usage(c, wrong, optarg);
  }
  return -1;
}

bool tool_parse(const tool_command *c, int argc, char **argv, void *settings, const char **out_operand, int *out_exit) {
  *out_exit = parse_options(c, argc, argv, settings);
  if (*out_exit >= 0) return false;
  int want = c->operand != NULL, have = argc - optind;
  *out_operand = have ? argv[optind] : NULL;
  if (have == want || (have == 0 && c->optional)) return true;
  char what[64];
  if (have > want && !want) snprintf(what, sizeof what, "takes no operand");
  else snprintf(what, sizeof what, "expected one %s, got %d", c->operand, have);
  *out_exit = tool_usage(c, what, have > want ? argv[optind + want] : NULL);
  return false;
}

/* ---- the program ---- */

static const tool_command *find(const char *name) {
  for (size_t i = 0; i < COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0) return commands[i];
  return NULL;
}

static void write_line(void *data, const char *line) { fprintf(stderr, "unir: %s\n", line); }

const un__log tool_log = {.write = write_line};

/* Runs a command, unless the environment asks for what does not exist. */
static int run(const tool_command *c, int argc, char **argv) {
  un__err err = {.log = tool_log};
  return un__rewrite_check_env(un__all_rulesets, &err) ? c->run(argc, argv) : EXIT_USAGE;
}

static int no_command(const char *name) {
  fprintf(stderr, "unir: no command '%s'\n", name);
  help(stderr);
  return EXIT_USAGE;
}

int main(int argc, char **argv) {
  const char *first = argc > 1 ? argv[1] : "";
  if (argc < 2) return help(stderr), EXIT_USAGE;
  if (strcmp(first, "--version") == 0)
    return printf("unir %d.%d.%d\n", UN_VERSION_MAJOR, UN_VERSION_MINOR, UN_VERSION_PATCH), tool_flush();
  bool wants_help = strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0;
  if (wants_help && argc == 2) return help(stdout), tool_flush();
  const tool_command *c = find(wants_help ? argv[2] : first);
  if (!c) return no_command(wants_help ? argv[2] : first);
  return wants_help ? help_command(c) : run(c, argc - 1, argv + 1);
}
