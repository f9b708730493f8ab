/* files.c - what every command reads and prints. */
#include <errno.h>
#include <string.h>

#include "unir.h"

static un_status read_file(const char *path, un__strbuf *out, un__err *err) {
  FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!f) return un__fail(err, UN_ERR_IO, "%s: %s", path, strerror(errno));
  char chunk[65536];
  size_t n;
  errno = 0;
  while (!out->failed && (n = fread(chunk, 1, sizeof chunk, f)) > 0) un__sb_putn(out, chunk, n);
  if (ferror(f)) un__fail(err, UN_ERR_IO, "%s: %s", path, errno ? strerror(errno) : "cannot be read");
  if (f != stdin) fclose(f);
  return out->failed ? un__fail(err, UN_ERR_NOMEM, "%s: no memory for the file", path) : err->status;
}

un_status tool_read_graphs(un__graph *ws, const char *path, un__parsed_graph *out, size_t cap, size_t *out_n, un__err *err) {
  un__strbuf text;
  un__sb_init(&text);
  const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
  un_status status = read_file(path, &text, err);
  if (status == UN_OK) status = un__parse_text(ws, name, un__sb_str(&text), text.n, out, cap, out_n);
  if (status != UN_OK) un__fail(err, status, "%s", un__graph_err(ws)->text);
  else if (*out_n == 0) status = un__fail(err, UN_ERR_PARSE, "%s: no graph", name);
  un__sb_finish(&text);
  return status;
}

un_status tool_read_graph(un__graph *ws, const char *path, un__parsed_graph *out, un__err *err) {
  size_t n;
  UN__TRY(tool_read_graphs(ws, path, out, 1, &n, err));
  return tool_verify(out->root, out->stage, err);
}

un_status tool_verify(const un_uop *root, un__stage stage, un__err *err) {
  un__strbuf annotated;
  un__sb_init(&annotated);
  un_status status = un__verify(root, stage, err, &annotated);
  if (status != UN_OK) fputs(un__sb_str(&annotated), stderr);
  un__sb_finish(&annotated);
  return status;
}

int tool_flush(void) {
  un__err err = {0};
  if (!ferror(stdout)) errno = 0;       /* else it says what failed then */
  if (fflush(stdout) == 0 && !ferror(stdout)) return EXIT_OK;
  un__fail(&err, UN_ERR_IO, "standard output: %s", errno ? strerror(errno) : "cannot be written");
  return tool_fail(&err);
}

int tool_print(const un__strbuf *text) {
  if (text->failed) return tool_fail(&(un__err){.status = UN_ERR_NOMEM});
  fwrite(un__sb_str(text), 1, text->n, stdout);
  return tool_flush();
}
