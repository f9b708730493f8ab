#include "mem.h"

#include <stdlib.h>
#include <string.h>

#ifdef UN_TORTURE
#include <stdatomic.h>
static _Atomic uint64_t torture_left = UINT64_MAX, torture_asked;
static _Atomic int64_t torture_live;
static _Atomic bool torture_once;

void un__torture_arm(uint64_t n, bool once) {
  atomic_store(&torture_once, once);
  atomic_store(&torture_left, n);
  atomic_store(&torture_asked, 0);
}

uint64_t un__torture_count(void) { return atomic_load(&torture_asked); }
int64_t un__torture_live(void) { return atomic_load(&torture_live); }

bool un__may_allocate(void) {
  atomic_fetch_add(&torture_asked, 1);
  uint64_t left = atomic_load(&torture_left);
  while (left != UINT64_MAX) {
    if (left == 0 && !atomic_load(&torture_once)) return false;
    if (atomic_compare_exchange_weak(&torture_left, &left, left ? left - 1 : UINT64_MAX)) return left != 0;
  }
  return true;
}

static void *counted(void *p) {
  if (p) atomic_fetch_add(&torture_live, 1);
  return p;
}

static void uncount(const void *p) {
  if (p) atomic_fetch_sub(&torture_live, 1);
}
#else
static void *counted(void *p) { return p; }
static void uncount(const void *p) {}
#endif

void *un__alloc(size_t size) { return un__may_allocate() ? counted(malloc(size ? size : 1)) : NULL; }

void *un__calloc(size_t count, size_t size) {
  return un__may_allocate() ? counted(calloc(count ? count : 1, size ? size : 1)) : NULL;
}

void *un__realloc(void *p, size_t size) {
  if (!un__may_allocate()) return NULL;
  void *q = realloc(p, size ? size : 1);
  return p ? q : counted(q);
}

void *un__alloc_aligned(size_t align, size_t size) {
  void *p = NULL;
  return un__may_allocate() && posix_memalign(&p, align, size ? size : 1) == 0 ? counted(p) : NULL;
}

void un__free(void *p) {
  uncount(p);
  free(p);
}

char *un__strdup(const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = un__alloc(n);
  return copy ? memcpy(copy, s, n) : NULL;
}

enum { ARENA_ALIGN = 16, ARENA_FIRST = 64 * 1024, ARENA_MAX = 4 * 1024 * 1024 };

struct un__arena_block {
  un__arena_block *next;
  size_t size;                       /* bytes of `data` */
  _Alignas(ARENA_ALIGN) char data[];
};

void un__arena_init(un__arena *a) { *a = (un__arena){0}; }

void un__arena_finish(un__arena *a) {
  for (un__arena_block *b = a->blocks, *next; b; b = next) {
    next = b->next;
    un__free(b);
  }
  *a = (un__arena){0};
}

static void *arena_fail(un__arena *a) {
  a->failed = true;
  return NULL;
}

static bool arena_grow(un__arena *a, size_t size) {
  size_t want = a->blocks ? a->blocks->size * 2 : ARENA_FIRST;
  if (want > ARENA_MAX) want = ARENA_MAX;
  if (want < size) want = size;
  if (want > SIZE_MAX - sizeof(un__arena_block)) return false;
  un__arena_block *b = un__alloc(sizeof *b + want);
  if (!b) return false;
  b->next = a->blocks;
  b->size = want;
  a->blocks = b;
  a->at = b->data;
  a->end = b->data + want;
  return true;
}

void *un__arena_alloc(un__arena *a, size_t size) {
  if (size > SIZE_MAX - ARENA_ALIGN || !un__may_allocate()) return arena_fail(a);
  size = (size ? size + ARENA_ALIGN - 1 : ARENA_ALIGN) & ~(size_t)(ARENA_ALIGN - 1);
  if ((size_t)(a->end - a->at) < size && !arena_grow(a, size)) return arena_fail(a);
  void *p = a->at;
  a->at += size;
  a->used += size;
  return p;
}
