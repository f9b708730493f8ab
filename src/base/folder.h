/* folder.h - a folder for a while: made where the user has such things (TMPDIR, else /tmp), removed with the files in it. */
#ifndef UN_BASE_FOLDER_H
#define UN_BASE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* What TMPDIR names; "/tmp". */
const char *un__temp_place(void);
/* Makes <place>/unir-<name>-<six letters>, for this user alone, and puts its path into out. False: errno says why. */
bool un__temp_folder(const char *name, char *out, size_t size);
/* The files in it and the folder; folders inside stay, and then it stays, too. */
void un__remove_folder(const char *path);

#endif
