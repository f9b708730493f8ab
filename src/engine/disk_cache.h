/* disk_cache.h - values by key, in a folder that processes share: compiled kernels between starts.
 *
 * The folder is UNIR_CACHE_DIR, else XDG_CACHE_HOME/unir, else ~/.cache/unir; UNIR_CACHE=0 turns the cache off,
 * UNIR_CACHE_LIMIT is its size in MiB. A file holds the whole key and a checksum of all it holds, and is written beside its place
 * and renamed into it, so readers see it whole or not at all, whoever writes, and whenever somebody dies. Only files in a folder, and only
 * a folder, that belong to this user and that nobody else may write are believed. Whatever goes wrong is a value that is not there.
 * Any thread. */
#ifndef UN_ENGINE_DISK_CACHE_H
#define UN_ENGINE_DISK_CACHE_H

#include "base/status.h"
#include "base/vec.h"

typedef struct un__disk_cache un__disk_cache;
typedef struct un__bytes { void *at; size_t n; } un__bytes;

/* NULL: off (why is left as it is), or not usable: IO for what the user set up and should know of, UNSUPPORTED where there is
 * no place for a cache. make: the folder is made if it is missing. */
un__disk_cache *un__disk_cache_open(bool make, un__err *why);
/* Makes room if something was put. NULL is allowed. */
void un__disk_cache_close(un__disk_cache *c);
const char *un__disk_cache_folder(const un__disk_cache *c);

/* The value is the caller's (un__free). A file that is found damaged is removed. */
bool un__disk_cache_get(un__disk_cache *c, un__bytes key, un__bytes *out);
bool un__disk_cache_put(un__disk_cache *c, un__bytes key, un__bytes value);
/* The value turned out to be worthless. */
void un__disk_cache_forget(un__disk_cache *c, un__bytes key);

/* ---- for `unir cache` ---- */

enum { UN__DISK_NAME = 48 };
typedef struct un__disk_entry { char name[UN__DISK_NAME]; uint64_t bytes; int64_t used_ns; } un__disk_entry;
typedef UN__VEC(un__disk_entry) un__disk_entries;

/* Last used first. */
un_status un__disk_cache_list(un__disk_cache *c, un__disk_entries *out, un__err *err);
/* The key of an entry, the caller's; false: the file is damaged or not to be believed. */
bool un__disk_cache_key(un__disk_cache *c, const char *name, un__bytes *out);
bool un__disk_cache_remove(un__disk_cache *c, const char *name);

#endif
