/* fuzz.c - random tensor programs, run by the interpreter and by a device, compared.
 *
 * usage: fuzz [--programs=N] [--seed=S] [--size=N] [--device=NAME] [--strict] [--plans] [--products] [--coverage=N]
 *             [--jobs=N] [--second=NAME] [--replay=FILE]
 *
 * Prints the seed first, so that a crash can be repeated. A program that fails is shrunk (each trial in a child process, so
 * that crashes shrink too) and printed as .un, ready for tests/golden or --replay. --coverage=N: every op of the tensor stage
 * must have been reached N times. --plans: each kernel is optimised by a random legal plan, not by the heuristics. --products:
 * each program is a few products of matrices (products.c). --jobs=N: N threads,
 * each with an engine of its own; what fails is then looked at alone. --second=NAME: some tensors go to this device and back. Exit 0: all agree. */
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/program.h"
#include "opt/opt.h"
#include "program.h"
#include "uop/text.h"

typedef struct settings {
  unsigned programs, size, jobs;
  uint64_t seed, coverage;
  const char *device, *second, *replay;
  bool strict, plans, products;
} settings;

/* The side that is tested: one engine for all programs, as a long-lived process would have it. */
typedef struct bench {
  un__world *world;
  un__session *session;
  un__engine *engine;
  int device;
  uint32_t licences;
  uint64_t plans;         /* seed of the plans, where they are random */
  un__err err;
} bench;

/* Up to eight random steps, each taken when it is legal. The kernel and the seed alone decide. */
/* What a step may make of a range; COUNT: an operand is staged, on a GPU for some rounds at once too. */
static const un__axis cpu_axes[] = {UN__AXIS_LOOP,   UN__AXIS_THREAD, UN__AXIS_UPCAST, UN__AXIS_UPCAST,
                                    UN__AXIS_UNROLL, UN__AXIS_UNROLL, UN__AXIS_REDUCE, UN__AXIS_COUNT};
static const un__axis gpu_axes[] = {UN__AXIS_GLOBAL, UN__AXIS_LOCAL,  UN__AXIS_UPCAST,       UN__AXIS_WARP,
                                    UN__AXIS_UNROLL, UN__AXIS_REDUCE, UN__AXIS_GROUP_REDUCE, UN__AXIS_COUNT};

static un__opt_step random_step(rng *r, const un__target *t) {
  static const int64_t factors[] = {0, 2, 3, 4, 5, 8, 16}, rounds[] = {0, 2, 3, 4};
  un__axis axis = (t->gpu.arch ? gpu_axes : cpu_axes)[rng_below(r, 8)];
  int64_t id = (int64_t)rng_below(r, 6);
  if (axis == UN__AXIS_COUNT) return (un__opt_step){.range_id = id, .factor = t->gpu.arch ? rounds[rng_below(r, 4)] : 0, .kind = UN__OPT_STAGE};
  bool outer = axis == UN__AXIS_THREAD || axis == UN__AXIS_GLOBAL;
  return (un__opt_step){id, axis, factors[rng_below(r, 7)], !outer, UN__OPT_SPLIT};
}

static const un_uop *random_plan(void *data, un__graph *g, const un_uop *kernel, const un__target *t, uint32_t licences) {
  un__key key;
  if (!un__structural_key(kernel, &key)) return NULL;
  rng r = {*(const uint64_t *)data ^ key.lo};
  for (int tries = 0; kernel && tries < (t->gpu.arch ? 16 : 8); tries++) {
    un__opt_plan one = {1, {random_step(&r, t)}};
    if (un__opt_legal(kernel, &one.step[0], t, licences, NULL)) kernel = un__opt_apply(g, kernel, &one, t, licences);
  }
  return kernel;
}

static bool bench_open(bench *b, const settings *s) {
  *b = (bench){0};
  b->licences = s->strict ? UN__LIC_STRICT : UN__LIC_PRECISE;
  b->world = un__world_create();
  b->session = b->world ? un__session_create(b->world, &b->err) : NULL;
  if (!b->session || un__engine_create(b->world, &b->engine, &b->err) != UN_OK) return false;
  b->plans = s->seed;
  if (s->plans) un__engine_plan_with(b->engine, random_plan, &b->plans);
  int second;
  if (un__engine_device(b->engine, s->device, &b->device, &b->err) != UN_OK) return false;
  return !s->second || un__engine_device(b->engine, s->second, &second, &b->err) == UN_OK;
}

static void bench_close(bench *b) {
  if (b->session) un__session_destroy(b->session);
  un__engine_destroy(b->engine);
  if (b->world) un__world_release(b->world);
}

static void free_results(un__itensor *t, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) un__free(t[i].data);
}

/* Fills the inputs that the graph names. */
static bool fill_all(program *p) {
  size_t n;
  const un_uop **order = un__toposort(p->sink, &n);
  bool ok = order != NULL;
  for (size_t i = 0; ok && i < n; i++) {
    if (!un__is(order[i], UN__OP_BUFFER)) continue;
    int64_t slot = un__attr(order[i], 0);
    ok = slot < MAX_INPUTS && (p->input[slot].data || fill_input(order[i], &p->input[slot]));
    if (slot >= p->ninputs) p->ninputs = (uint32_t)slot + 1;
  }
  un__free(order);
  return ok;
}

/* True when both sides agree; else what differs in `why`. */
static bool compare(program *p, bench *b, char *why, size_t size) {
  un__itensor want[MAX_RESULTS] = {0}, have[MAX_RESULTS] = {0};
  double *bound[MAX_RESULTS] = {NULL};
  un__err err = {0};
  bool ok = fill_all(p);
  uint32_t n = p->sink->nsrc;
  if (!ok) snprintf(why, size, "inputs cannot be made");
  if (ok && un__verify(p->sink, UN__STAGE_TENSOR, &err, NULL) != UN_OK) ok = (snprintf(why, size, "verifier: %s", err.text), false);
  if (ok && un__interp_tensor_bounded(p->sink->src, n, p->input, p->ninputs, want, bound, &err) != UN_OK)
    ok = (snprintf(why, size, "interp: %s", err.text), false);
  if (ok && un__engine_run(b->engine, b->session, p->sink, p->input, p->ninputs, b->device, b->licences, have, &err) != UN_OK)
    ok = (snprintf(why, size, "engine: %s", err.text), false);
  for (uint32_t i = 0; ok && i < n; i++) {
    char difference[128];
    ok = tensors_agree(&want[i], &have[i], &p->result[i], bound[i], difference, sizeof difference);
    if (!ok) snprintf(why, size, "result %u, %s", i, difference);
  }
  free_results(want, n);
  free_results(have, n);
  for (uint32_t i = 0; i < n; i++) un__free(bound[i]);
  return ok;
}

/* ---- shrinking ---- */

/* Whether the program with this sink fails, in a child: crashes count as failures. */
static bool fails(const program *p, const un_uop *sink, const settings *s) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    program q = *p;
    q.sink = sink;
    memset(q.input, 0, sizeof q.input);
    /* Facts are of the results as they were made; the interpreter's bounds are of what is left of them. */
    for (int i = 0; i < MAX_RESULTS; i++) q.result[i].exact = false;
    bench b;
    char why[512];
    un__err err = {0};
    bool sound = un__verify(sink, UN__STAGE_TENSOR, &err, NULL) == UN_OK && bench_open(&b, s);
    /* A program that the reference refuses is not one that a device can fail. */
    _exit(sound && !compare(&q, &b, why, sizeof why) && strncmp(why, "interp:", 7) != 0);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && (!WIFEXITED(status) || WEXITSTATUS(status) == 1);
}

/* Simpler nodes of the same dtype and shape that could stand for n: its sources, a fresh input. */
static uint32_t simpler(program *p, const un_uop *n, const un_uop **out, uint32_t cap) {
  uint32_t k = 0;
  for (uint32_t i = 0; i < n->nsrc && k < cap; i++)
    if (n->src[i]->dtype == n->dtype && n->src[i]->shape == n->shape) out[k++] = n->src[i];
  if (k < cap && !un__is(n, UN__OP_BUFFER) && n->dtype != UN__DT(UN_INDEX) && p->ninputs < MAX_INPUTS) {
    out[k] = un__uop(p->ws, UN__OP_BUFFER, n->dtype, n->shape->dim, n->shape->rank, (int64_t[]){p->ninputs, 0}, 2);
    if (out[k]) k++;
  }
  return k;
}

static bool shrink_once(program *p, const settings *s) {
  size_t n;
  const un_uop **order = un__toposort(p->sink, &n);
  bool shrunk = false;
  for (size_t i = n; i-- > 0 && !shrunk;) {
    const un_uop *candidate[8], *node = order[i];
    uint32_t k = node->shape ? simpler(p, node, candidate, 8) : 0;
    for (uint32_t c = 0; c < k && !shrunk; c++) {
      const un_uop *smaller = un__substitute(p->ws, p->sink, &node, &candidate[c], 1);
      if (!smaller || smaller == p->sink || !fails(p, smaller, s)) continue;
      if (un__is(candidate[c], UN__OP_BUFFER) && un__attr(candidate[c], 0) == p->ninputs) p->ninputs++;
      p->sink = smaller;
      shrunk = true;
    }
  }
  un__free(order);
  return shrunk;
}

static void shrink(program *p, const settings *s) {
  for (uint32_t i = 0; i < p->sink->nsrc && p->sink->nsrc > 1; i++) {
    const un_uop *alone = un__sink(p->ws, &p->sink->src[i], 1);
    if (!alone || !fails(p, alone, s)) continue;
    p->result[0] = p->result[i];
    p->sink = alone;
  }
  for (int rounds = 0; rounds < 200 && shrink_once(p, s); rounds++) {}
}

static void report(program *p, const settings *s, uint64_t seed, const char *why) {
  printf("FAILED seed %llu: %s\n", (unsigned long long)seed, why);
  if (!p->sink) return;
  printf("shrinking...\n");
  fflush(stdout);
  if (strncmp(why, "interp:", 7) != 0) shrink(p, s);
  un__strbuf text;
  un__sb_init(&text);
  un__print_text(&text, p->sink, "fuzz", UN__STAGE_TENSOR, false);
  printf("# fails on %s: fuzz --replay=FILE%s", s->device, s->strict ? " --strict" : "");
  if (s->second) printf(" --second=%s", s->second);
  if (s->plans) printf(" --plans --seed=%llu", (unsigned long long)s->seed);
  printf("\n%s", un__sb_str(&text));
  un__sb_finish(&text);
}

/* ---- runs ---- */

enum { MAX_JOBS = 64, MAX_FAILURES = 5 };

typedef struct failure { uint64_t seed; char why[1200]; } failure;

/* What the threads share, under the lock. */
typedef struct run {
  const settings *s;
  pthread_mutex_t lock;
  unsigned next, nfailures;
  failure failed[MAX_FAILURES + MAX_JOBS];
  uint64_t counts[UN__OP_COUNT];
  bool closed;                 /* a device could not be opened */
} run;

/* Makes the program of a seed and compares. p is to be finished in any case. */
static bool try_seed(const settings *s, bench *b, program *p, uint64_t *counts, char *why, size_t size) {
  un__err err = {0};
  rng r = {s->seed};
  *p = (program){0};
  if (!program_make(p, &r, s->size / 2 + rng_below(&r, s->size), (program_kind){s->strict, s->second != NULL, s->products}, &err))
    return snprintf(why, size, "the program cannot be made: %s", err.text), false;
  count_ops(p->sink, counts);
  return compare(p, b, why, size);
}

/* A program that failed, once more, alone. */
static void report_seed(const settings *s, const failure *f) {
  uint64_t counts[UN__OP_COUNT] = {0};
  settings one = *s;
  program p = {0};
  bench b;
  char why[1200] = "";
  one.seed = f->seed;
  bool same = bench_open(&b, &one) && !try_seed(&one, &b, &p, counts, why, sizeof why);
  if (same) report(&p, &one, one.seed, why);
  else printf("FAILED seed %llu, but not alone: %s\n", (unsigned long long)f->seed, f->why);
  program_finish(&p);
  bench_close(&b);
}

/* False: there is none left, or enough has failed. */
static bool next_seed(run *r, settings *one) {
  pthread_mutex_lock(&r->lock);
  bool more = r->next < r->s->programs && r->nfailures < MAX_FAILURES && !r->closed;
  one->seed = r->s->seed + r->next;
  if (more) r->next++;
  pthread_mutex_unlock(&r->lock);
  return more;
}

static void note(run *r, uint64_t seed, const char *why) {
  pthread_mutex_lock(&r->lock);
  failure *f = &r->failed[r->nfailures++];
  f->seed = seed;
  snprintf(f->why, sizeof f->why, "%s", why);
  pthread_mutex_unlock(&r->lock);
}

static void cannot_open(run *r, const bench *b) {
  pthread_mutex_lock(&r->lock);
  if (!r->closed) printf("FAILED: %s\n", b->err.text);
  r->closed = true;
  pthread_mutex_unlock(&r->lock);
}

/* Alone, a failure is reported at once: a later program may crash. */
static void *work(void *data) {
  run *r = data;
  bench b;
  program p;
  char why[1200];
  uint64_t counts[UN__OP_COUNT] = {0};
  settings one = *r->s;
  bool open = bench_open(&b, &one);
  while (open && next_seed(r, &one)) {
    /* Kernels are kept by what they compute: other plans need another engine. */
    if (one.plans) bench_close(&b);
    if (one.plans && !(open = bench_open(&b, &one))) break;
    bool ok = try_seed(&one, &b, &p, counts, why, sizeof why);
    if (!ok) note(r, one.seed, why);
    if (!ok && one.jobs == 1) report(&p, &one, one.seed, why);
    program_finish(&p);
  }
  if (!open) cannot_open(r, &b);
  bench_close(&b);
  pthread_mutex_lock(&r->lock);
  for (int op = 0; op < UN__OP_COUNT; op++) r->counts[op] += counts[op];
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

static int by_seed(const void *a, const void *b) {
  const failure *x = a, *y = b;
  return (x->seed > y->seed) - (x->seed < y->seed);
}

static void work_in_threads(run *r) {
  pthread_t thread[MAX_JOBS];
  unsigned n = 0;
  while (n + 1 < r->s->jobs && !pthread_create(&thread[n], NULL, work, r)) n++;
  work(r);
  for (unsigned i = 0; i < n; i++) pthread_join(thread[i], NULL);
}

static bool check_coverage(const settings *s, const uint64_t *counts) {
  bool ok = true;
  printf("coverage:");
  for (int op = 1; op < UN__OP_COUNT; op++) {
    bool wanted = (un__op_table[op].stages & UN__STAGE_TENSOR) != 0;
    /* What a program of one device over known sizes cannot hold. */
    bool unreachable = op == UN__OP_COPY || op == UN__OP_CALL || op == UN__OP_TUPLE || op == UN__OP_GET || op == UN__OP_VAR || op == UN__OP_INVALID;
    if (!wanted || unreachable) continue;
    printf(" %s %llu", un__op_table[op].text, (unsigned long long)counts[op]);
    if (counts[op] < s->coverage) {
      printf("(!)");
      ok = false;
    }
  }
  printf("\n");
  if (!ok) printf("FAILED: ops marked (!) were reached fewer than %llu times\n", (unsigned long long)s->coverage);
  return ok;
}

static int run_all(const settings *s) {
  static run r;
  r = (run){.s = s};
  pthread_mutex_init(&r.lock, NULL);
  printf("fuzz: device %s, %u programs, seed %llu%s\n", s->device, s->programs, (unsigned long long)s->seed, s->strict ? ", strict" : s->plans ? ", random plans" : "");
  fflush(stdout);
  work_in_threads(&r);
  pthread_mutex_destroy(&r.lock);
  qsort(r.failed, r.nfailures, sizeof *r.failed, by_seed);
  for (unsigned i = 0; s->jobs > 1 && i < r.nfailures; i++) report_seed(s, &r.failed[i]);
  bool covered = !s->coverage || check_coverage(s, r.counts);
  printf("fuzz: %u failures\n", r.nfailures + !covered + r.closed);
  return r.nfailures || !covered || r.closed;
}

static int replay(const settings *s) {
  un__err err = {0};
  program p = {.ws = un__workspace_create(&err)};
  FILE *f = fopen(s->replay, "rb");
  un__strbuf text;
  un__sb_init(&text);
  char chunk[4096], why[1200] = "cannot be read";
  size_t n;
  while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0) un__sb_putn(&text, chunk, n);
  if (f) fclose(f);
  un__parsed_graph g = {0};
  bool ok = un__parse_text(p.ws, s->replay, un__sb_str(&text), text.n, &g, 1, &n) == UN_OK && n == 1;
  p.sink = ok ? (un__is(g.root, UN__OP_SINK) ? g.root : un__sink(p.ws, &g.root, 1)) : NULL;
  /* Nothing is known of a program from a file: results are compared as what went through a few rounded operations. */
  for (int i = 0; i < MAX_RESULTS; i++) p.result[i] = (fact){false, 64, 0x1p-24};
  bench b;
  ok = ok && bench_open(&b, s) && compare(&p, &b, why, sizeof why);
  if (!ok) printf("FAILED: %s\n", err.status != UN_OK ? err.text : why);
  un__sb_finish(&text);
  return !ok;
}

enum { SKIPPED = 77 };     /* the exit status by which meson knows it */

int main(int argc, char **argv) {
  enum { PROGRAMS = 1, SEED, SIZE, DEVICE, STRICT, PLANS, PRODUCTS, COVERAGE, JOBS, SECOND, REPLAY };
  static const struct option options[] = {
    {"programs", required_argument, NULL, PROGRAMS}, {"seed", required_argument, NULL, SEED}, {"size", required_argument, NULL, SIZE},
    {"device", required_argument, NULL, DEVICE}, {"strict", no_argument, NULL, STRICT}, {"plans", no_argument, NULL, PLANS}, {"products", no_argument, NULL, PRODUCTS}, {"coverage", required_argument, NULL, COVERAGE},
    {"jobs", required_argument, NULL, JOBS}, {"second", required_argument, NULL, SECOND}, {"replay", required_argument, NULL, REPLAY}, {0}};
  settings s = {.programs = 100, .size = 14, .jobs = 1, .seed = 1, .device = "cpu"};
  int o;
  while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) switch (o) {
    case PROGRAMS: s.programs = (unsigned)strtoul(optarg, NULL, 10); break;
    case SEED: s.seed = strtoull(optarg, NULL, 10); break;
    case SIZE: s.size = (unsigned)strtoul(optarg, NULL, 10); break;
    case DEVICE: s.device = optarg; break;
    case STRICT: s.strict = true; break;
    case PLANS: s.plans = true; break;
    case PRODUCTS: s.products = true; break;
    case COVERAGE: s.coverage = strtoull(optarg, NULL, 10); break;
    case JOBS: s.jobs = (unsigned)strtoul(optarg, NULL, 10); break;
    case SECOND: s.second = optarg; break;
    case REPLAY: s.replay = optarg; break;
    default: return 2;
    }
  if (s.size < 2) s.size = 2;
  if (s.jobs < 1 || s.jobs > MAX_JOBS) return fprintf(stderr, "fuzz: expected 1 to %d jobs, got %u\n", MAX_JOBS, s.jobs), 2;
  int devices;
  un__err none = {0};
  if (!strncmp(s.device, "cuda", 4) && un__engine_device_count("cuda", &devices, &none) != UN_OK)
    return printf("fuzz on %s skipped: %s\n", s.device, none.text), SKIPPED;
  return s.replay ? replay(&s) : run_all(&s);
}
