/* digits.c - trains a classifier of handwritten digits (data/digits.csv.gz) and says how good it is.
 *
 * A network with one hidden layer: 64 pixels, HIDDEN rectified units, softmax over 10 classes. Gradients are written
 * out by hand with the tensor API; gradient descent with momentum over all rows at once. The last 360 rows are held out
 * and looked at once, at the end; the learning rate is chosen on training rows only. Training rows are also shown moved
 * by one pixel in each direction.
 *
 *     digits [--device=NAME] [--kernels] [FILE]
 */
#include <unir/unir.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, HIDDEN = 64, HELD_OUT = 360, STEPS = 150, PARAMS = 4 };
static const double MOMENTUM = 0.9, DECAY = 1e-3;

static double seconds(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- data ---- */

typedef struct rows { int n; uint8_t *pixels, *labels; } rows;

/* 64 pixels of 0 to 16 and a label, separated by commas. */
static bool parse_line(const char *line, uint8_t *pixels, uint8_t *label) {
  for (int i = 0; i <= PIXELS; i++) {
    char *end;
    long v = strtol(line, &end, 10);
    if (end == line || v < 0 || v > (i < PIXELS ? 16 : CLASSES - 1)) return false;
    if (i < PIXELS) pixels[i] = (uint8_t)v;
    else *label = (uint8_t)v;
    line = *end == ',' ? end + 1 : end;
  }
  return true;
}

static bool load(const char *path, rows *out) {
  char line[1024];
  int cap = 0;
  gzFile f = gzopen(path, "rb");
  if (!f) return false;
  bool ok = true;
  while (ok && gzgets(f, line, sizeof line)) {
    if (out->n == cap) {
      cap = cap ? 2 * cap : 512;
      uint8_t *p = realloc(out->pixels, (size_t)cap * PIXELS), *l = realloc(out->labels, (size_t)cap);
      if (p) out->pixels = p;
      if (l) out->labels = l;
      if (!p || !l) break;
    }
    ok = parse_line(line, out->pixels + (size_t)out->n * PIXELS, out->labels + out->n);
    out->n += ok;
  }
  ok = ok && gzeof(f) && out->n > 2 * HELD_OUT;
  gzclose(f);
  return ok;
}

/* Images (n, 64) with values 0 to 1 and labels (n). */
typedef struct set { un_tensor *x, *y; } set;

static set part(set s, int64_t first, int64_t end) {
  return (set){un_slice(s.x, 0, first, end, 1), un_slice(s.y, 0, first, end, 1)};
}

/* Every image moved by dy rows and dx columns; what comes in is 0. */
static un_tensor *moved(un_tensor *x, int dy, int dx) {
  un_tensor *image = un_reshape(x, un_shape(3, -1, SIDE, SIDE));
  un_tensor *frame = un_pad(image, un_list(0, 1, 1), un_list(0, 1, 1));
  un_tensor *window = un_shrink(frame, un_list(0, 1 + dy, 1 + dx), un_list(un_dim(x, 0), 1 + dy + SIDE, 1 + dx + SIDE));
  return un_reshape(window, un_shape(2, -1, PIXELS));
}

static set with_moved(un_ctx *cx, set s) {
  un_tensor *x[] = {s.x, moved(s.x, 0, 1), moved(s.x, 0, -1), moved(s.x, 1, 0), moved(s.x, -1, 0)};
  un_tensor *y[] = {s.y, s.y, s.y, s.y, s.y};
  return (set){un_cat(cx, 5, x, 0), un_cat(cx, 5, y, 0)};
}

/* ---- the network ---- */

/* Weights and biases of both layers, and their velocities. */
typedef struct net { un_tensor *p[PARAMS], *v[PARAMS]; } net;

/* Uniform numbers in (-limit, limit), the same on every machine. */
static un_tensor *random_tensor(un_ctx *cx, uint64_t *state, int rows_, int columns, double limit) {
  float *values = malloc(sizeof *values * (size_t)(rows_ * columns));
  if (!values) return NULL;
  for (int i = 0; i < rows_ * columns; i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    values[i] = (float)(((double)(*state >> 40) / 8388608.0 - 1.0) * limit);
  }
  un_tensor *t = un_from_data(cx, UN_F32, un_shape(2, rows_, columns), values);
  free(values);
  return t;
}

/* With data of its own: tensors that begin alike would be one. */
static un_tensor *new_zeros(un_ctx *cx, un_dims shape) { return un_clone(un_zeros(cx, UN_F32, shape)); }

static net new_net(un_ctx *cx) {
  uint64_t state = 1;
  net n;
  n.p[0] = random_tensor(cx, &state, PIXELS, HIDDEN, sqrt(6.0 / PIXELS));
  n.p[1] = new_zeros(cx, un_shape(1, HIDDEN));
  n.p[2] = random_tensor(cx, &state, HIDDEN, CLASSES, sqrt(6.0 / HIDDEN));
  n.p[3] = new_zeros(cx, un_shape(1, CLASSES));
  for (int i = 0; i < PARAMS; i++) n.v[i] = new_zeros(cx, un_shape_of(n.p[i]));
  return n;
}

/* One line a kernel: its loops and what is in them, read from the `.un` text of what will run. */
static void print_kernels(un_ctx *cx, size_t n, un_tensor *const *tensors) {
  char *text = un_run_to_text(cx, n, tensors, UN_STAGE_KERNEL, UN_FORM_TEXT);
  long long size[1024] = {0}, value;
  unsigned from, to, loads = 0, exps = 0;
  char axis[16], op[16];
  for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : line + strlen(line)) {
    if (sscanf(line, " %%%u = const index [val=%lld", &to, &value) == 2 && to < 1024) size[to] = value;
    if (!strncmp(line, "graph @", 7)) printf("  %.*s:", (int)strcspn(line + 7, " "), line + 7), loads = exps = 0;
    if (sscanf(line, " %%%u = range index %%%u [id=%*d axis=%15[a-z]", &to, &from, axis) == 3 && from < 1024)
      printf(" %s %lld,", axis, size[from]);
    if (sscanf(line, " %%%*u = %15s", op) == 1) loads += !strcmp(op, "load"), exps += !strcmp(op, "exp");
    if (*line == '}') printf(" %u loads%s\n", loads, exps ? ", exp" : "");
  }
  un_text_free(text);
}

static un_tensor *hidden(const net *n, un_tensor *x) { return un_add(un_matmul(x, n->p[0]), n->p[1]); }
static un_tensor *logits(const net *n, un_tensor *h) { return un_add(un_matmul(h, n->p[2]), n->p[3]); }
static un_tensor *turned(un_tensor *m) { return un_transpose(m, 0, 1); }

/* One step down the gradient of the mean cross entropy, as a program: every run of it replaces weights and velocities. rate
 * is a tensor, so that every rate runs the same kernels. */
static un_program *new_step(un_ctx *cx, const net *n, set s, un_tensor *rate, bool show) {
  un_tensor *z = hidden(n, s.x), *h = un_relu(z);
  un_tensor *chance = un_softmax(logits(n, h), -1), *truth = un_one_hot(s.y, CLASSES, UN_F32);
  un_tensor *d2 = un_divs(un_sub(chance, truth), (double)un_dim(s.x, 0));
  un_tensor *d1 = un_where(un_gts(z, 0), un_matmul(d2, turned(n->p[2])), un_scalar_like(z, 0));
  un_tensor *g[PARAMS] = {un_matmul(turned(s.x), d1), un_sum(d1, un_list(0), false), un_matmul(turned(h), d2),
                          un_sum(d2, un_list(0), false)};
  un_update updates[2 * PARAMS];
  un_tensor *values[2 * PARAMS];
  for (int i = 0; i < PARAMS; i++) {
    un_tensor *down = un_mul(rate, un_add(g[i], un_muls(n->p[i], DECAY)));
    values[PARAMS + i] = un_sub(un_muls(n->v[i], MOMENTUM), down);
    values[i] = un_add(n->p[i], values[PARAMS + i]);
    updates[i] = (un_update){n->p[i], values[i]};
    updates[PARAMS + i] = (un_update){n->v[i], values[PARAMS + i]};
  }
  if (show) print_kernels(cx, 2 * PARAMS, values);
  return un_program_capture(cx, 0, NULL, 0, NULL, 2 * PARAMS, updates);
}

static un_tensor *prediction(const net *n, un_tensor *x) {
  return un_argmax(logits(n, un_relu(hidden(n, x))), -1, false);
}

/* The share of rows whose class is found; negative after an error. */
static double accuracy(const net *n, set s) {
  double share;
  un_tensor *hits = un_eq(prediction(n, s.x), s.y);
  return un_item(un_mean(hits, un_every_axis(), false), &share) == UN_OK ? share : -1;
}

/* A network trained on `s`; its handles belong to the caller's scope. */
static un_status train(un_ctx *cx, set s, double rate, bool show, net *out) {
  *out = new_net(cx);
  un_tensor *r = un_from_data(cx, UN_F32, un_shape(0), &(float){(float)rate});
  un_status status = un_realize(cx, 2, (un_tensor *[]){s.x, s.y});
  if (status != UN_OK) return status;
  un_scope_push(cx);
  un_program *step = new_step(cx, out, s, r, show);
  un_scope_pop(cx);
  status = step ? UN_OK : un_error_status(cx);
  for (int i = 0; i < STEPS && status == UN_OK; i++) status = un_program_run(step, 0, NULL);
  for (int i = 0; i < PARAMS && status == UN_OK; i++)
    if (!un_assign(out->p[i], un_program_state(step, (size_t)i))) status = un_error_status(cx);
  un_program_destroy(step);
  return status;
}

/* ---- the whole ---- */

/* The rate that does best on the last fifth of the training rows when the others teach. Negative after an error. */
static double choose_rate(un_ctx *cx, set training) {
  static const double rates[] = {0.25, 0.5, 1};
  int64_t n = un_dim(training.y, 0), cut = n - n / 5;
  double best = -1, best_share = -1;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    net candidate;
    un_scope_push(cx);
    double share = train(cx, with_moved(cx, part(training, 0, cut)), rates[i], false, &candidate) == UN_OK
                     ? accuracy(&candidate, part(training, cut, n)) : -1;
    un_scope_pop(cx);
    if (share < 0) return -1;
    printf("  learning rate %-4g  %.1f %% of %d validation rows\n", rates[i], 100 * share, (int)(n - cut));
    if (share > best_share) best = rates[i], best_share = share;
  }
  return best;
}

static un_status run(un_ctx *cx, const rows *r, bool kernels) {
  double begin = seconds();
  set all = {un_divs(un_cast(un_from_data(cx, UN_U8, un_shape(2, r->n, PIXELS), r->pixels), UN_F32), 16),
             un_from_data(cx, UN_U8, un_shape(1, r->n), r->labels)};
  set training = part(all, 0, r->n - HELD_OUT), held = part(all, r->n - HELD_OUT, UN_OPEN);
  printf("%d rows: %d to train on, %d held out. Device: %s\n", r->n, r->n - HELD_OUT, HELD_OUT, un_device(cx));
  double rate = choose_rate(cx, training);
  net n;
  printf("\nThe kernels of a step of the final training:\n");
  if (rate < 0 || train(cx, with_moved(cx, training), rate, true, &n) != UN_OK) return un_error_status(cx);
  double share = accuracy(&n, held), end = seconds();
  if (share < 0) return un_error_status(cx);
  if (kernels) {
    printf("\nThe kernels of a prediction:\n\n");
    un_status status = un_print_tree(prediction(&n, held.x), UN_STAGE_OPT, stdout);
    if (status != UN_OK) return status;
    printf("\n");
  }
  un_stats s = UN_STATS_INIT;
  un_get_stats(cx, &s);
  printf("\nAccuracy on the held-out rows: %.1f %%\n", 100 * share);
  printf("Time: %.2f s; %llu kernels ran, %llu were compiled, %llu loaded from the cache.\n", end - begin,
         (unsigned long long)s.kernels_launched, (unsigned long long)s.kernels_compiled, (unsigned long long)s.kernels_loaded);
  printf("\nTry next: digits --kernels (what ran, as trees); digits --device=interp (the reference, slow);\n"
         "change HIDDEN or the rates in examples/digits.c; examples/matmul.c is the shortest program there is.\n");
  return UN_OK;
}

int main(int argc, char **argv) {
  const char *path = DIGITS_FILE;
  bool kernels = false;
  un_ctx_options opt = UN_CTX_OPTIONS_INIT;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--kernels")) kernels = true;
    else if (!strncmp(argv[i], "--device=", 9)) opt.device = argv[i] + 9;
    else if (argv[i][0] != '-') path = argv[i];
    else return fprintf(stderr, "usage: digits [--device=NAME] [--kernels] [FILE]\n"), 2;
  }
  rows r = {0};
  un_ctx *cx = NULL;
  un_status status = UN_ERR_IO;
  if (!load(path, &r)) fprintf(stderr, "digits: cannot read rows of digits from %s\n", path);
  else if ((status = un_ctx_create(&opt, &cx)) != UN_OK)
    fprintf(stderr, "digits: device %s: %s\n", opt.device, un_status_str(status));
  else if ((status = run(cx, &r, kernels)) != UN_OK) fprintf(stderr, "digits: %s\n", un_error(cx));
  un_ctx_destroy(cx);
  free(r.pixels);
  free(r.labels);
  return status != UN_OK;
}
