#include "races.h"

#include <string.h>

enum { NOBODY = 0, MANY = UINT32_MAX };

/* When and by whom: its thread + 1, or MANY. Times count barriers and blocks. */
typedef struct touch {
  int64_t block;
  uint64_t time;
  uint32_t who;
} touch;

typedef struct element {
  touch changed, read;
} element;

typedef struct memory {
  element *at;
  int64_t n;
} memory;

struct un__iraces {
  uint32_t nmem;
  int64_t block;
  uint64_t time;
  memory mem[];
};

un__iraces *un__iraces_create(const un__iprog *p) {
  un__iraces *r = un__calloc(1, sizeof *r + p->mem.n * sizeof *r->mem);
  if (r) r->nmem = (uint32_t)p->mem.n;
  return r;
}

void un__iraces_destroy(un__iraces *r) {
  for (uint32_t i = 0; r && i < r->nmem; i++) un__free(r->mem[i].at);
  un__free(r);
}

void un__iraces_block(un__iraces *r, int64_t block) {
  r->block = block;
  r->time++;
}

void un__iraces_barrier(un__iraces *r) { r->time++; }

bool un__iraces_fresh(un__iraces *r, uint32_t mem, int64_t n) {
  memory *m = &r->mem[mem];
  if (m->n != n || !m->at) {
    un__free(m->at);
    m->at = un__calloc((size_t)n, sizeof *m->at);
    m->n = m->at ? n : 0;
  } else {
    memset(m->at, 0, (size_t)n * sizeof *m->at);
  }
  return m->at != NULL;
}

bool un__iraces_watch(un__iraces *r, const un__iprog *p, const int64_t *sizes, uint32_t nargs) {
  for (uint32_t i = 0; i < p->mem.n; i++) {
    const un__imem *m = &p->mem.at[i];
    if (m->space != UN__SPACE_GLOBAL || m->arg >= nargs) continue;
    if (!un__iraces_fresh(r, i, m->declared >= 0 ? m->declared : sizes[m->arg])) return false;
  }
  return true;
}

/* Whether nothing orders what t does now and that touch of another one. */
static bool races(const un__iraces *r, const touch *x, uint32_t t) {
  if (x->who == NOBODY) return false;
  return x->block != r->block || (x->time == r->time && x->who != t + 1);
}

bool un__iraces_read(un__iraces *r, uint32_t mem, int64_t at, uint32_t t) {
  element *e = &r->mem[mem].at[at];
  if (races(r, &e->changed, t)) return false;
  bool others = races(r, &e->read, t);
  e->read = (touch){others && e->read.block != r->block ? -1 : r->block, r->time, others ? MANY : t + 1};
  return true;
}

bool un__iraces_change(un__iraces *r, uint32_t mem, int64_t at, uint32_t t) {
  element *e = &r->mem[mem].at[at];
  if (races(r, &e->changed, t) || races(r, &e->read, t)) return false;
  e->changed = (touch){r->block, r->time, t + 1};
  return true;
}
