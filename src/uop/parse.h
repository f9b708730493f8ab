/* parse.h - the reader that parse.c and parse_node.c share: a cursor over one text, and errors at a place in it.
 * Private to src/uop/. Tokens never span lines, and every byte is looked at a bounded number of times. */
#ifndef UN_UOP_PARSE_H
#define UN_UOP_PARSE_H

#include "text_parts.h"

enum {
  UN__PARSE_MAX_NODES = 1 << 20,
  UN__PARSE_MAX_SOURCES = 1 << 20,  /* of a node; and of all: a run names many in a few bytes */
  UN__PARSE_MAX_EDGES = 1 << 24,
  UN__PARSE_MAX_RANGES = 128,    /* open at one node: their set is kept with it, so it must not grow with the text */
  UN__VALUE_NAME_MAX = 63
};
#define UN__PARSE_MAX_INT ((INT64_C(1) << 48) - 1)

typedef struct un__token { const char *at; size_t len; } un__token;

/* A value of the graph being read: its name points into the text. */
typedef struct un__named { un__token name; const un_uop *node; } un__named;

typedef struct un__parser {
  un__graph *g;
  const char *file, *text, *end;
  const char *at;                    /* the next byte */
  un_status status;                  /* of the first error */
  UN__VEC(un__named) values;         /* of this graph, in order of definition */
  UN__VEC(uint32_t) slots;           /* names, open addressing: index of value + 1; n is a power of two or 0 */
  UN__VEC(const un_uop *) src;       /* sources of the node being read */
  size_t nodes, edges;               /* read so far, in all graphs */
} un__parser;

/* Records `file:line:col: message`, the line and a caret; always false, so that callers return it. */
bool un__parse_fail(un__parser *p, const char *at, const char *fmt, ...) UN__PRINTF(3, 4);
bool un__parse_nomem(un__parser *p);

void un__skip_spaces(un__parser *p);      /* blanks and comments of this line */
void un__skip_lines(un__parser *p);       /* and line ends */
bool un__take(un__parser *p, char c);     /* consumes c, after blanks, when it is next */
bool un__expect(un__parser *p, char c, const char *where);
bool un__expect_line_end(un__parser *p);
/* The run of name characters that comes next, after blanks; may be empty. */
un__token un__take_word(un__parser *p);
bool un__token_is(un__token t, const char *word);

/* %name: the token after the percent sign. */
bool un__parse_value_name(un__parser *p, un__token *out);
bool un__define_value(un__parser *p, un__token name, const un_uop *n);
/* NULL: not defined. */
const un_uop *un__find_value(const un__parser *p, un__token name, uint32_t *out_index);
/* `%a, %b, ...` up to the first thing that is none, appended to p->src. ranges: `%a..%b` is allowed too. */
bool un__parse_sources(un__parser *p, bool ranges);
/* One `%n = op dtype sources [attributes]` line, from the percent sign to the end of the line. */
bool un__parse_node(un__parser *p);
/* Builds a node; a refusal by the constructor becomes an error at `at`. */
const un_uop *un__parse_build(un__parser *p, const char *at, un__op op, un__dtype dtype, const int64_t *attrs,
                              uint32_t nattr);

#endif
