/* crash.c - what was being compiled when something inside went wrong, as a .un file for the bug report. */
#include "engine_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uop/text.h"

/* Not the program's fault, nor memory's, nor the device's. */
static bool is_ours(un_status s) { return s == UN_ERR_INTERNAL || s == UN_ERR_COMPILE || s == UN_ERR_FUEL; }

static bool write_file(const char *path, const un__strbuf *text) {
  FILE *f = text->failed ? NULL : fopen(path, "w");
  if (!f) return false;
  bool whole = fwrite(un__sb_str(text), 1, text->n, f) == text->n;
  return (fclose(f) == 0) & whole;
}

void un__crash_file(const un_uop *root, un__stage stage, un__err *err) {
  const char *folder = getenv("UNIR_CRASH_DIR");
  char path[512];
  un__key key;
  if (!is_ours(err->status) || !folder || !*folder || !un__structural_key(root, &key)) return;
  /* Named by the graph: the same fault again is the same file. */
  int n = snprintf(path, sizeof path, "%s/unir-%016" PRIx64 ".un", folder, key.lo);
  if (n < 0 || (size_t)n >= sizeof path) return;
  un__strbuf text;
  un__sb_init(&text);
  un__sb_printf(&text, "# unir %d.%d.%d: %s: %s\n", UN_VERSION_MAJOR, UN_VERSION_MINOR, UN_VERSION_PATCH,
                un_status_str(err->status), err->text);
  for (char *at = text.at; at && (at = strchr(at, '\n')) && at[1]; at++) *at = ' ';     /* a comment is one line */
  un__print_text(&text, root, "crash", stage, false);
  size_t used = strlen(err->text);
  if (write_file(path, &text)) snprintf(err->text + used, sizeof err->text - used, "; the graph is in %s", path);
  un__sb_finish(&text);
}
