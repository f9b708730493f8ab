/* compiler.c - a child process, its directory, and what it left there. */
#define _GNU_SOURCE
#include "compiler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/mem.h"
#include "base/vec.h"

extern char **environ;

/* ---- a private directory ---- */

enum { PATH_SIZE = 512 };

/* Files are named by a number that no other compilation of the process has: the loader takes two libraries of one name for
 * one. */
typedef struct place {
  char folder[PATH_SIZE];
  char source[PATH_SIZE + 64], output[PATH_SIZE + 64], messages[PATH_SIZE + 64];
} place;

static un_status place_make(place *p, un__err *err) {
  static _Atomic uint64_t count;
  if (!un__temp_folder("cc", p->folder, sizeof p->folder))
    return un__fail(err, UN_ERR_DEVICE, "cc: no directory can be made in %.300s: %s", un__temp_place(), strerror(errno));
  unsigned long long id = atomic_fetch_add(&count, 1);
  snprintf(p->source, sizeof p->source, "%s/kernel%llu.c", p->folder, id);
  snprintf(p->output, sizeof p->output, "%s/kernel%llu.out", p->folder, id);
  snprintf(p->messages, sizeof p->messages, "%s/messages", p->folder);
  return UN_OK;
}

/* Also what a compiler that was killed left behind. */
static void place_remove(const place *p) { un__remove_folder(p->folder); }

static un_status write_file(const char *path, const char *what, const void *bytes, size_t size, un__err *err) {
  FILE *f = fopen(path, "we");
  bool ok = f && fwrite(bytes, 1, size, f) == size;
  int reason = errno;
  if (f && fclose(f) != 0) ok = false, reason = errno;
  return ok ? UN_OK : un__fail(err, UN_ERR_DEVICE, "cc: %s of %zu bytes cannot be written to %s: %s", what, size, path, strerror(reason));
}

/* All of a file, with a NUL behind it; bytes NULL: it cannot be read, or memory is short. */
static un__blob read_bytes(const char *path) {
  FILE *f = fopen(path, "re");
  long size = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
  char *text = size >= 0 ? un__alloc((size_t)size + 1) : NULL;
  size_t n = 0;
  if (text) {
    rewind(f);
    n = fread(text, 1, (size_t)size, f);
    text[n] = '\0';
  }
  if (f) fclose(f);
  return (un__blob){text, n};
}

static char *read_file(const char *path) { return read_bytes(path).bytes; }

/* ---- its command line and environment ---- */

static const char *const options[] = {
  "-x", "c", "-std=c11", "-O2", "-w", "-fPIC",
  /* Values to the bit: one rounding an operation, and no assumptions about integers and memory. */
  "-ffp-contract=off", "-fno-math-errno", "-fwrapv", "-fno-strict-aliasing"};

typedef UN__VEC(const char *) words;

/* The strings of a command, and their texts. */
typedef struct command {
  words argv, env;
  char *compiler;                   /* UNIR_CC, cut into words */
  char machine[80], folder[PATH_SIZE + 16];
} command;

static bool push(words *w, const char *word) { return un__vec_push(w, word); }

/* What a compiler is asked for. */
typedef enum product { OBJECT, ASSEMBLY, VERSION } product;

const char *un__cc_name(void) {
  const char *given = getenv("UNIR_CC");
  return given && given[strspn(given, " ")] ? given : "cc";
}

static bool fill_own_options(command *c, const un__target *t) {
  bool ok = true;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) ok = ok && push(&c->argv, options[i]);
#if defined(__x86_64__)
  snprintf(c->machine, sizeof c->machine, "-march=%s", t->cpu);
#else
  snprintf(c->machine, sizeof c->machine, "-mcpu=%s", t->cpu);
#endif
  return ok && (!*t->cpu || push(&c->argv, c->machine));
}

static bool fill_files(command *c, const place *p, product what) {
  bool ok = push(&c->argv, what == ASSEMBLY ? "-S" : "-shared") && push(&c->argv, "-o") && push(&c->argv, p->output) && push(&c->argv, p->source);
  return ok && (what == ASSEMBLY || push(&c->argv, "-lm"));
}

/* The compiler's name, our options, the user's, the files. */
static bool fill_arguments(command *c, const place *p, const un__target *t, product what) {
  char *rest, *word = strtok_r(c->compiler, " ", &rest);
  bool ok = push(&c->argv, word) && (what == VERSION || fill_own_options(c, t));
  while ((word = strtok_r(NULL, " ", &rest))) ok = ok && push(&c->argv, word);
  ok = ok && (what == VERSION ? push(&c->argv, "--version") : fill_files(c, p, what));
  return ok && push(&c->argv, NULL);
}

/* Ours, but its messages are in English and its own files lie where they are removed with the rest. */
static bool fill_environment(command *c, const place *p) {
  snprintf(c->folder, sizeof c->folder, "TMPDIR=%s", p->folder);
  bool ok = push(&c->env, "LC_ALL=C") && push(&c->env, c->folder);
  for (char **e = environ; ok && *e; e++)
    if (strncmp(*e, "LC_ALL=", 7) != 0 && strncmp(*e, "TMPDIR=", 7) != 0) ok = push(&c->env, *e);
  return ok && push(&c->env, NULL);
}

static un_status command_make(command *c, const place *p, const un__target *t, product what, un__err *err) {
  *c = (command){.compiler = un__strdup(un__cc_name())};
  if (c->compiler && fill_arguments(c, p, t, what) && fill_environment(c, p)) return UN_OK;
  return un__fail(err, UN_ERR_NOMEM, "no memory to run a compiler");
}

static void command_finish(command *c) {
  un__free(c->compiler);
  un__vec_finish(&c->argv);
  un__vec_finish(&c->env);
}

/* ---- the child ---- */

/* What a host may have set for itself and a compiler cannot work with. */
static int set_signals(posix_spawnattr_t *a) {
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGCHLD);
  sigaddset(&defaults, SIGPIPE);
  int bad = posix_spawnattr_setsigmask(a, &none) | posix_spawnattr_setsigdefault(a, &defaults);
  return bad | posix_spawnattr_setflags(a, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int set_files(posix_spawn_file_actions_t *f, const place *p) {
  int bad = posix_spawn_file_actions_addopen(f, 0, "/dev/null", O_RDONLY, 0);
  bad |= posix_spawn_file_actions_addopen(f, 1, p->messages, O_WRONLY | O_CREAT | O_APPEND, 0600);
  bad |= posix_spawn_file_actions_adddup2(f, 1, 2);
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 34)
  bad |= posix_spawn_file_actions_addclosefrom_np(f, 3);     /* a host's pipes are none of its business */
#endif
#endif
  return bad;
}

/* 0, or why there is no child. */
static int start(const command *c, const place *p, pid_t *out) {
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t files;
  if (posix_spawnattr_init(&attributes)) return ENOMEM;
  if (posix_spawn_file_actions_init(&files)) {
    posix_spawnattr_destroy(&attributes);
    return ENOMEM;
  }
  int reason = set_signals(&attributes) || set_files(&files, p) ? ENOMEM : 0;
  if (!reason)
    reason = posix_spawnp(out, c->argv.at[0], &files, &attributes, (char **)c->argv.at, (char **)c->env.at);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return reason;
}

static un_status fail_with_messages(const place *p, un__err *err, const char *what, int number) {
  char *messages = read_file(p->messages);
  un_status status = un__fail(err, UN_ERR_COMPILE, "cc: %s %d: %s", what, number, messages && *messages ? messages : "it said nothing");
  un__free(messages);
  return status;
}

/* A host that ignores SIGCHLD or waits for every child itself takes the status away from us: then what is left there decides. */
static un_status wait_for(pid_t child, const place *p, un__err *err) {
  int status = 0;
  pid_t got;
  do got = waitpid(child, &status, 0);
  while (got < 0 && errno == EINTR);
  if (got == child && WIFSIGNALED(status)) return fail_with_messages(p, err, "the compiler was killed by signal", WTERMSIG(status));
  if (got == child && status) return fail_with_messages(p, err, "the compiler failed with status", WEXITSTATUS(status));
  return UN_OK;
}

static un_status run(const place *p, const un__target *t, product what, un__err *err) {
  command c;
  pid_t child;
  un_status status = command_make(&c, p, t, what, err);
  int reason = status == UN_OK ? start(&c, p, &child) : 0;
  if (reason)
    status = un__fail(err, UN_ERR_COMPILE, "cc: the compiler \"%s\" cannot be run: %s; UNIR_CC names another", c.argv.at[0],
                      strerror(reason));
  else if (status == UN_OK) status = wait_for(child, p, err);
  command_finish(&c);
  return status;
}

/* ---- the function ---- */

static un_status load(const place *p, void **out, un__err *err) {
  *out = dlopen(p->output, RTLD_NOW | RTLD_LOCAL);
  return *out ? UN_OK : un__fail(err, UN_ERR_DEVICE, "cc: what the compiler made cannot be loaded: %s", dlerror());
}

static un_status read_assembly(const place *p, char **out, un__err *err) {
  *out = read_file(p->output);
  return *out ? UN_OK : un__fail(err, UN_ERR_DEVICE, "cc: the assembly cannot be read: %s", strerror(errno));
}

static un_status compile_in(const place *p, const char *text, size_t size, const un__target *t, product what, un__err *err) {
  UN__TRY(write_file(p->source, "a source", text, size, err));
  UN__TRY(run(p, t, what, err));
  return access(p->output, R_OK) == 0 ? UN_OK : fail_with_messages(p, err, "the compiler left no output and status", 0);
}

un_status un__cc_compile(const char *text, size_t size, const un__target *t, void **out_handle, un__blob *keep, un__err *err) {
  place p;
  *out_handle = NULL;
  UN__TRY(place_make(&p, err));
  un_status status = compile_in(&p, text, size, t, OBJECT, err);
  if (status == UN_OK) status = load(&p, out_handle, err);
  if (status == UN_OK && keep) *keep = read_bytes(p.output);
  place_remove(&p);
  return status;
}

un_status un__cc_load(const un__blob *object, void **out_handle, un__err *err) {
  place p;
  *out_handle = NULL;
  UN__TRY(place_make(&p, err));
  un_status status = write_file(p.output, "an object", object->bytes, object->size, err);
  if (status == UN_OK) status = load(&p, out_handle, err);
  place_remove(&p);
  return status;
}

un_status un__cc_assembly(const char *text, size_t size, const un__target *t, char **out, un__err *err) {
  place p;
  *out = NULL;
  UN__TRY(place_make(&p, err));
  un_status status = compile_in(&p, text, size, t, ASSEMBLY, err);
  if (status == UN_OK) status = read_assembly(&p, out, err);
  place_remove(&p);
  return status;
}

/* ---- who it is ---- */

un_status un__cc_identity(un__strbuf *out, un__err *err) {
  place p;
  UN__TRY(place_make(&p, err));
  un_status status = run(&p, NULL, VERSION, err);
  char *says = status == UN_OK ? read_file(p.messages) : NULL;
  place_remove(&p);
  if (status == UN_OK && (!says || !*says)) status = un__fail(err, UN_ERR_COMPILE, "cc: the compiler does not say its version");
  if (status == UN_OK) {
    un__sb_printf(out, "%s: %s", un__cc_name(), says);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) un__sb_printf(out, " %s", options[i]);
    if (out->failed) status = un__fail(err, UN_ERR_NOMEM, "no memory for a compiler's identity");
  }
  un__free(says);
  return status;
}
