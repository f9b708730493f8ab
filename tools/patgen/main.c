/* main.c - patgen: .pat files into C. See docs/rules.md for the language and `patgen --help` for the options.
 *
 * Exit status: 0 done, 1 the rules have errors, 2 wrong use or I/O. Outputs are written only when they change, so that
 * what depends on them is not rebuilt. */
#include <stdio.h>
#include <string.h>

#include "gen.h"

typedef struct options {
  const char *out, *header, *dep, *tests, *json;
  bool linear, list, registry, quiet, json_diags;
  UN__VEC(const char *) inputs, dirs, werror, asked;
} options;

static const char help[] = "usage: patgen [options] file.pat\n"
                           "       patgen --registry -o out.c file.pat...\n"
                           "\n"
                           "  -o FILE       matchers in C\n"
                           "  -H FILE       their header\n"
                           "  -t FILE       the test lines as a C program (it includes the -o file)\n"
                           "  -d FILE       dependencies for make or ninja\n"
                           "  --json FILE   what rules there are\n"
                           "  -I DIR        where `include` looks; paths in outputs are relative to it\n"
                           "  -Werror=CODE  make a warning an error (or `all`)\n"
                           "  -Woverlap     warn of rules that accept common nodes\n"
                           "  -Wunproved    warn of rules that do not say how they are known to be true\n"
                           "  -Wuntested-guard  warn of rules with a guard that no test fails\n"
                           "  --quiet       no warnings\n"
                           "  --diagnostics=json  errors and warnings as a JSON list\n"
                           "  --linear      try rules one by one instead of through a decision tree\n"
                           "  --list        print the rules of the file\n"
                           "  --registry    write the tables of all rulesets and passes of the files\n"
                           "  --help        this text\n";

/* ---- files ---- */

static bool same_as_file(const char *path, const un__strbuf *text) {
  FILE *f = fopen(path, "rb");
  if (!f) return false;
  bool same = true;
  size_t at = 0;
  char buf[4096];
  for (size_t n; same && (n = fread(buf, 1, sizeof buf, f)) > 0; at += n)
    same = n <= text->n - at && !memcmp(buf, text->at + at, n);
  same = same && at == text->n && !ferror(f);
  fclose(f);
  return same;
}

static bool write_file(const char *path, const un__strbuf *text) {
  if (text->failed) {
    fprintf(stderr, "patgen: not enough memory\n");
    return false;
  }
  if (same_as_file(path, text)) return true;
  FILE *f = fopen(path, "wb");
  bool good = f && fwrite(un__sb_str(text), 1, text->n, f) == text->n;
  if (f && fclose(f)) good = false;
  if (!good) fprintf(stderr, "patgen: cannot write '%s'\n", path);
  return good;
}

/* ---- outputs ---- */

static bool emit_to(const char *path, un__pat *p, const un__emit_options *o,
                    void (*emit)(un__pat *, const un__emit_options *, un__strbuf *)) {
  if (!path) return true;
  un__strbuf out = {0};
  emit(p, o, &out);
  bool good = !p->errors && !p->oom ? write_file(path, &out) : true;
  un__sb_finish(&out);
  return good;
}

static void json(un__pat *p, const un__emit_options *o, un__strbuf *out) { un__emit_json(p, out); }

static void put_dep_path(un__strbuf *out, const char *path) {
  for (; *path; path++) {
    if (*path == ' ' || *path == '#') un__sb_putc(out, '\\');
    if (*path == '$') un__sb_putc(out, '$');
    un__sb_putc(out, *path);
  }
}

static void dependencies(un__pat *p, const un__emit_options *o, un__strbuf *out) {
  put_dep_path(out, o->c_path);
  un__sb_putc(out, ':');
  for (size_t i = 0; i < p->files.n; i++) {
    un__sb_putc(out, ' ');
    put_dep_path(out, p->files.at[i].path);
  }
  un__sb_putc(out, '\n');
}

static int report(const un__pat *p, bool quiet, bool as_json) {
  un__strbuf text = {0};
  if (as_json)
    un__pat_json_diags(p, &text);
  else if (!quiet || p->errors)
    un__pat_print_diags(p, &text);
  fputs(un__sb_str(&text), stderr);
  un__sb_finish(&text);
  if (p->oom) fprintf(stderr, "patgen: not enough memory\n");
  return p->errors ? 1 : p->oom ? 2 : 0;
}

static void start(un__pat *p, const options *o) {
  un__pat_init(p);
  for (size_t i = 0; i < o->asked.n; i++) un__pat_push(p, &p->asked, o->asked.at[i]);
  for (size_t i = 0; i < o->dirs.n; i++) un__pat_push(p, &p->dirs, o->dirs.at[i]);
  for (size_t i = 0; i < o->werror.n; i++) un__pat_push(p, &p->werror, o->werror.at[i]);
}

static void list(const un__pat *p) {
  for (size_t i = 0; i < p->sets.n; i++)
    for (size_t k = 0; p->sets.at[i]->main_file && k < p->sets.at[i]->rules.n; k++) {
      const un__rule *r = p->sets.at[i]->rules.at[k];
      printf("%s.%s\t%s:%u\t%s\n", r->set->name, r->name, p->files.at[r->loc.file].name, (unsigned)r->loc.line,
             r->c_body        ? "C"
             : r->may_decline ? "=>"
                              : "~>");
    }
}

static int compile(const options *o) {
  un__pat *p = un__calloc(1, sizeof *p);
  if (!p) return 2;
  start(p, o);
  un__emit_options eo = {
      .c_path = o->out ? o->out : "rules.c", .h_path = o->header, .test_path = o->tests, .linear = o->linear};
  if (un__pat_load(p, o->inputs.at[0]) && !p->broken && !p->oom) un__pat_check(p);
  bool written = true;
  if (!p->errors && !p->oom) {
    written = emit_to(o->out, p, &eo, un__emit_source);
    if (!p->errors) written &= emit_to(o->tests, p, &eo, un__emit_tests);
    if (!p->errors) written &= emit_to(o->header, p, &eo, un__emit_header);
    if (!p->errors) written &= emit_to(o->json, p, &eo, json);
    if (!p->errors) written &= emit_to(o->dep, p, &eo, dependencies);
    if (o->list && !p->errors) list(p);
  }
  int rc = report(p, o->quiet, o->json_diags);
  un__pat_finish(p);
  un__free(p);
  return rc ? rc : written ? 0 : 2;
}

/* ---- the registry ---- */

typedef struct registry {
  un__strbuf externs, sets, passes;
} registry;

static int register_file(const options *o, const char *path, registry *reg) {
  un__pat *p = un__calloc(1, sizeof *p);
  if (!p) return 2;
  start(p, o);
  un__pat_load(p, path);
  for (size_t i = 0; i < p->sets.n; i++) {
    if (!p->sets.at[i]->main_file) continue;
    un__sb_printf(&reg->externs, "extern const un__ruleset un__ruleset_%s;\n", p->sets.at[i]->name);
    un__sb_printf(&reg->sets, "  &un__ruleset_%s,\n", p->sets.at[i]->name);
  }
  for (size_t i = 0; i < p->stages.n; i++) {
    if (!p->stages.at[i]->main_file) continue;
    un__sb_printf(&reg->externs, "extern const un__pass un__pass_%s;\n", p->stages.at[i]->name);
    un__sb_printf(&reg->passes, "  &un__pass_%s,\n", p->stages.at[i]->name);
  }
  int rc = report(p, true, false);
  un__pat_finish(p);
  un__free(p);
  return rc;
}

static int write_registry(const options *o) {
  registry reg = {0};
  int rc = 0;
  for (size_t i = 0; i < o->inputs.n; i++) {
    int r = register_file(o, o->inputs.at[i], &reg);
    rc = r > rc ? r : rc;
  }
  un__strbuf out = {0};
  un__sb_printf(&out,
                "/* Generated by patgen --registry. Do not edit. */\n#include \"rewrite/rewrite.h\"\n\n%s\n"
                "const un__ruleset *const un__all_rulesets[] = {\n%s  0,\n};\n\nconst un__pass *const un__all_passes[] "
                "= {\n%s  0,\n};\n",
                un__sb_str(&reg.externs), un__sb_str(&reg.sets), un__sb_str(&reg.passes));
  if (!rc && o->out && !write_file(o->out, &out)) rc = 2;
  un__sb_finish(&out);
  un__sb_finish(&reg.externs);
  un__sb_finish(&reg.sets);
  un__sb_finish(&reg.passes);
  return rc;
}

/* ---- the command line ---- */

static int usage(const char *what, const char *arg) {
  fprintf(stderr, "patgen: %s '%s'\n%s", what, arg, help);
  return 2;
}

/* Options that take a value: `-o FILE`, also `-oFILE` for the short ones. */
static const char **valued(options *o, const char *arg) {
  if (!strcmp(arg, "-o")) return &o->out;
  if (!strcmp(arg, "-H")) return &o->header;
  if (!strcmp(arg, "-d")) return &o->dep;
  if (!strcmp(arg, "-t")) return &o->tests;
  if (!strcmp(arg, "--json")) return &o->json;
  return NULL;
}

static bool *flag(options *o, const char *arg) {
  if (!strcmp(arg, "--linear")) return &o->linear;
  if (!strcmp(arg, "--list")) return &o->list;
  if (!strcmp(arg, "--registry")) return &o->registry;
  if (!strcmp(arg, "--quiet")) return &o->quiet;
  if (!strcmp(arg, "--diagnostics=json")) return &o->json_diags;
  return NULL;
}

static int parse_args(options *o, int argc, char **argv) {
  bool room = true;
  for (int i = 1; i < argc && room; i++) {
    const char *a = argv[i], **value = valued(o, a);
    bool *f = flag(o, a);
    if (f)
      *f = true;
    else if (value && i + 1 < argc)
      *value = argv[++i];
    else if (value)
      return usage("no file after", a);
    else if (!strncmp(a, "-Werror=", 8)) {
      if (strcmp(a + 8, "all") && !un__pat_is_code(a + 8)) return usage("no such warning:", a);
      room = un__vec_push(&o->werror, a + 8) && un__vec_push(&o->asked, a + 8);
    } else if (!strncmp(a, "-W", 2)) {
      if (!un__pat_is_code(a + 2)) return usage("no such warning:", a);
      room = un__vec_push(&o->asked, a + 2);
    } else if (!strcmp(a, "-I") && i + 1 < argc)
      room = un__vec_push(&o->dirs, argv[++i]);
    else if (!strncmp(a, "-I", 2) && a[2])
      room = un__vec_push(&o->dirs, a + 2);
    else if (a[0] == '-')
      return usage("unknown option", a);
    else
      room = un__vec_push(&o->inputs, a);
  }
  if (!room) return 2;
  if (!o->inputs.n || (o->inputs.n > 1 && !o->registry))
    return usage("one input is needed, not", o->inputs.n ? o->inputs.at[1] : "none");
  return 0;
}

int main(int argc, char **argv) {
  options o = {0};
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "--help")) {
      fputs(help, stdout);
      return 0;
    }
  int rc = parse_args(&o, argc, argv);
  if (!rc) rc = o.registry ? write_registry(&o) : compile(&o);
  un__vec_finish(&o.inputs);
  un__vec_finish(&o.dirs);
  un__vec_finish(&o.werror);
  un__vec_finish(&o.asked);
  return rc;
}
