#define _GNU_SOURCE
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *un__temp_place(void) {
  const char *place = getenv("TMPDIR");
  return place && *place ? place : "/tmp";
}

bool un__temp_folder(const char *name, char *out, size_t size) {
  int n = snprintf(out, size, "%s/unir-%s-XXXXXX", un__temp_place(), name);
  if (n > 0 && (size_t)n < size) return mkdtemp(out) != NULL;
  errno = ENAMETOOLONG;
  return false;
}

void un__remove_folder(const char *path) {
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d));) unlinkat(dirfd(d), e->d_name, 0);
  if (d) closedir(d);
  rmdir(path);
}
