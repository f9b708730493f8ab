#include "intern.h"

enum { FIRST_CAP = 256 };   /* powers of two only */

void un__intern_finish(un__intern *t) {
  un__free(t->slot);
  *t = (un__intern){0};
}

void *un__intern_find(const un__intern *t, uint64_t hash, un__intern_eq eq, const void *key) {
  if (!t->cap) return NULL;
  size_t mask = t->cap - 1;
  for (size_t i = hash & mask;; i = (i + 1) & mask) {
    const un__intern_slot *s = &t->slot[i];
    if (!s->item) return NULL;
    if (s->hash == hash && eq(key, s->item)) return s->item;
  }
}

static void place(un__intern_slot *slot, size_t mask, un__intern_slot s) {
  size_t i = s.hash & mask;
  while (slot[i].item) i = (i + 1) & mask;
  slot[i] = s;
}

static bool grow(un__intern *t) {
  size_t cap = t->cap ? t->cap * 2 : FIRST_CAP;
  un__intern_slot *slot = un__calloc(cap, sizeof *slot);
  if (!slot) return false;
  for (size_t i = 0; i < t->cap; i++)
    if (t->slot[i].item) place(slot, cap - 1, t->slot[i]);
  un__free(t->slot);
  t->slot = slot;
  t->cap = cap;
  return true;
}

bool un__intern_add(un__intern *t, uint64_t hash, void *item) {
  if (t->n >= t->cap / 2 && !grow(t)) return false;
  place(t->slot, t->cap - 1, (un__intern_slot){hash, item});
  t->n++;
  return true;
}

void un__intern_remove(un__intern *t, uint64_t hash, const void *item) {
  if (!t->cap) return;
  size_t mask = t->cap - 1, hole = hash & mask;
  while (t->slot[hole].item != item) {
    if (!t->slot[hole].item) return;
    hole = (hole + 1) & mask;
  }
  /* Move back every later entry of the cluster whose home lies at or before the hole. */
  for (size_t i = (hole + 1) & mask; t->slot[i].item; i = (i + 1) & mask) {
    size_t home = t->slot[i].hash & mask;
    if (((i - home) & mask) >= ((i - hole) & mask)) {
      t->slot[hole] = t->slot[i];
      hole = i;
    }
  }
  t->slot[hole].item = NULL;
  t->n--;
}
