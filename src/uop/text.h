/* text.h - the .un text form, trees for people, the verifier. */
#ifndef UN_UOP_TEXT_H
#define UN_UOP_TEXT_H

#include "base/strbuf.h"
#include "graph.h"

/* ---- .un ---- */

/* Canonical text of one graph (docs/text-format.md): post-order from root, sources left to right, values renumbered,
 * attributes in ops.def order, defaults omitted, no addresses or ids. `name` and `stage` head it ("@name stage=...");
 * bytes that cannot stand in a name become `_`. The last line is the root: `sink` and `linear` with their sources,
 * `root %n` for any other op. notes: also `#` comments with shapes, bounds and open ranges. Appends; a failed
 * allocation shows in out->failed. NULL prints nothing. */
void un__print_text(un__strbuf *out, const un_uop *root, const char *name, un__stage stage, bool notes);

typedef struct un__parsed_graph { char name[64]; un__stage stage; const un_uop *root; } un__parsed_graph;

/* Parses a whole file into `g`: its graphs in order, at most `cap`; *out_n how many (0 on failure). The text need not
 * end in NUL; `file` is what messages call it. Errors are UN_ERR_PARSE with `file:line:col: message`, the line and a
 * caret in g's un__err; when that holds an error already, it is returned at once. RANGE ids are reserved in a
 * workspace. Limits: 1 Mi nodes a file, 1 Mi sources a node and 16 Mi in all, 128 open ranges a node, names of 63 bytes. */
un_status un__parse_text(un__graph *g, const char *file, const char *text, size_t len, un__parsed_graph *out,
                         size_t cap, size_t *out_n);

const char *un__stage_name(un__stage s);                    /* "tensor" ... */
bool un__stage_by_name(const char *name, size_t len, un__stage *out);
bool un__op_by_name(const char *text, size_t len, un__op *out);       /* lower-case text form */
bool un__dtype_by_name(const char *text, size_t len, un__dtype *out);
enum { UN__DTYPE_TEXT = 32 };                               /* room for any dtype's text and its NUL */
const char *un__dtype_text(un__dtype d, char out[UN__DTYPE_TEXT]);    /* out */
void un__print_dtype(un__strbuf *out, un__dtype d);

/* ---- trees ---- */

/* For people: box lines, `[id] OP(attributes) : dtype shape`, a node seen before as `[id] -> (same as above)`; RANGEs
 * with their AxisType, `sequential` beside a LOOP that a parallel device could have run in parallel (parallel: it
 * could). Constant sizes of movement ops are not drawn: the shape shows them. */
void un__print_tree(un__strbuf *out, const un_uop *root, bool parallel);

/* ---- verifier ---- */

/* Checks every node against ops.def and the stage's spec (docs/stages.md). All faults are collected; the message in
 * `err` is the list of faults and then the graph with each fault as a comment at its node. */
un_status un__verify(const un_uop *root, un__stage stage, un__err *err, un__strbuf *out_annotated);

#endif
