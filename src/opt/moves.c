#include "moves.h"

#include "legal.h"

/* ---- one step more ---- */

enum { MAX_FACTORS = 8, END = -1 };

/* A part of a range that is given an AxisType, by these factors; 0: all of the range. */
typedef struct move {
  un__axis axis;
  bool inner, gpu, cpu;
  int16_t factor[MAX_FACTORS];
} move;

static const move moves[] = {
  {UN__AXIS_THREAD, false, false, true, {4, 8, 16, 32, END}},
  {UN__AXIS_GLOBAL, false, true, false, {0, END}},
  {UN__AXIS_LOCAL, true, true, false, {8, 16, 32, 64, 128, 256, END}},
  {UN__AXIS_WARP, true, true, false, {8, 16, 32, END}},
  {UN__AXIS_GROUP_REDUCE, true, true, false, {32, 64, 128, 256, 512, 1024, END}},
  {UN__AXIS_TENSOR, true, true, false, {8, 16, 32, END}},
  {UN__AXIS_UPCAST, true, true, true, {2, 4, 8, 16, 32, 64, END}},
  {UN__AXIS_UNROLL, true, true, true, {2, 4, 6, 8, 16, 32, END}},
  {UN__AXIS_LOOP, true, false, true, {8, 16, 32, 64, 128, END}},
  {UN__AXIS_REDUCE, true, true, true, {8, 16, 32, 64, 128, 256, END}},
};

/* How many staged values are there at once; on a CPU one. */
static const int16_t rings[] = {0, 2, 3, 4};

typedef struct finder {
  const un__opt_kernel *k;
  const un__target *t;
  uint32_t licences;
  un__opt_steps *out;
} finder;

static bool add_if_legal(finder *f, un__opt_step s) {
  const char *why = un__opt_illegal(f->k, &s, f->t, f->licences);
  return why ? why != un__opt_nomem : un__vec_push(f->out, s);
}

static bool add_splits(finder *f, int64_t id, const move *m) {
  bool gpu = f->t->gpu.arch != NULL, ok = true;
  for (int i = 0; ok && (gpu ? m->gpu : m->cpu) && m->factor[i] != END; i++)
    ok = add_if_legal(f, (un__opt_step){id, m->axis, m->factor[i], m->inner, UN__OPT_SPLIT});
  return ok;
}

static bool add_stages(finder *f, int64_t id) {
  bool ok = true;
  for (size_t i = 0; ok && i < (f->t->gpu.arch ? sizeof rings / sizeof *rings : 1); i++)
    ok = add_if_legal(f, (un__opt_step){.range_id = id, .factor = rings[i], .kind = UN__OPT_STAGE});
  return ok;
}

un_status un__opt_moves(const un_uop *kernel, const un__target *t, uint32_t licences, un__opt_steps *out, un__err *err) {
  un__opt_kernel k;
  UN__TRY(un__opt_kernel_of(&k, kernel, t, err));
  finder f = {&k, t, licences, out};
  bool ok = true;
  for (uint32_t a = 0; ok && a < k.naxes; a++) {
    for (size_t i = 0; ok && i < sizeof moves / sizeof *moves; i++) ok = add_splits(&f, k.axis[a].id, &moves[i]);
    ok = ok && add_stages(&f, k.axis[a].id);
  }
  un__opt_kernel_finish(&k);
  return ok ? UN_OK : un__fail(err, UN_ERR_NOMEM, "optimise: no memory");
}

/* ---- one step otherwise ---- */

static bool makes_range(const un__opt_step *s) { return s->kind == UN__OPT_SPLIT && s->factor != 0; }

static bool rescale(un__opt_plan *p, uint32_t step, int64_t factor) {
  un__opt_step *s = &p->step[step];
  if (s->factor < 2 || factor < 2 || factor == s->factor) return false;
  s->factor = factor;
  return true;
}

static bool twice(un__opt_plan *p, uint32_t step, int64_t next_id) { return rescale(p, step, p->step[step].factor * 2); }
static bool half(un__opt_plan *p, uint32_t step, int64_t next_id) { return rescale(p, step, p->step[step].factor / 2); }
static bool more(un__opt_plan *p, uint32_t step, int64_t next_id) { return rescale(p, step, p->step[step].factor + 1); }
static bool less(un__opt_plan *p, uint32_t step, int64_t next_id) { return rescale(p, step, p->step[step].factor - 1); }

/* Later steps name ranges by ids that count on it; what is done to the range that it makes goes with it. */
static bool drop(un__opt_plan *p, uint32_t step, int64_t next_id) {
  int64_t made = next_id;
  for (uint32_t i = 0; i < step; i++) made += makes_range(&p->step[i]);
  bool renames = makes_range(&p->step[step]);
  for (uint32_t i = step + 1; i < p->n; i++) {
    if (renames && p->step[i].range_id == made) return false;
    p->step[i - 1] = p->step[i];
    p->step[i - 1].range_id -= renames && p->step[i].range_id > made;
  }
  p->n--;
  return true;
}

static bool (*const ways[])(un__opt_plan *p, uint32_t step, int64_t next_id) = {twice, half, more, less, drop};

bool un__opt_vary(const un__opt_plan *plan, uint32_t step, uint32_t i, int64_t next_id, un__opt_plan *out, bool *out_differs) {
  if (i >= sizeof ways / sizeof *ways) return false;
  *out = *plan;
  *out_differs = ways[i](out, step, next_id);
  return true;
}
