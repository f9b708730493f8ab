/* intern.h - a set of items found by hash and equality: the heart of hash-consing.
 *
 * Open addressing with linear probing; removal shifts entries back, so there are no tombstones and a table that
 * lives for ever does not decay. Iterating the table is not offered: its order depends on history. */
#ifndef UN_HASHCONS_INTERN_H
#define UN_HASHCONS_INTERN_H

#include "base/mem.h"

typedef struct un__intern_slot { uint64_t hash; void *item; } un__intern_slot;
typedef struct un__intern { un__intern_slot *slot; size_t cap, n; } un__intern;     /* all zero: empty */

/* Whether `item` is what `key` describes; called only when the hashes agree. */
typedef bool (*un__intern_eq)(const void *key, const void *item);

void un__intern_finish(un__intern *t);
/* The item, or NULL. */
void *un__intern_find(const un__intern *t, uint64_t hash, un__intern_eq eq, const void *key);
/* Adds an item known to be absent; false when memory is short. */
bool un__intern_add(un__intern *t, uint64_t hash, void *item);
void un__intern_remove(un__intern *t, uint64_t hash, const void *item);

/* Folds one word into a hash; a chain of these is the hash of a record. */
static inline uint64_t un__hash_mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 32;
}

#endif
