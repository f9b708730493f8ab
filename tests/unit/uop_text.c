/* .un text and trees: what is printed, what reads back, what is refused and how, and that nothing hostile gets through.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uop/text.h"
#include "workspace_suite.h"

WORKSPACE_SUITE(text, ws);

/* The only graph of `text`, or NULL with err set. */
static const un_uop *parse_one(const char *text, un__parsed_graph *out) {
  size_t n;
  un_status s = un__parse_text(ws, "t.un", text, strlen(text), out, 1, &n);
  cr_assert_eq(s, err.status);
  cr_assert_eq(n, s == UN_OK ? 1u : 0u);
  return s == UN_OK ? out->root : NULL;
}

static char *printed(const un_uop *root, const char *name, un__stage stage) {
  un__strbuf out = {0};
  un__print_text(&out, root, name, stage, false);
  cr_assert_not(out.failed);
  return out.at;
}

/* ---- canonical texts: parsed, they are one graph; printed, that graph is the same text ---- */

static const char *const canonical[] = {
    "unir 1\ngraph @g stage=tensor {\n  sink\n}\n",
    "unir 1\ngraph @empty stage=linear {\n  linear\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const f32 [val=1.5]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const f32x8 [val=-0.0]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const f32 [val=nan:0xffc00001]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const f16 [val=-inf]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const bf16 [val=0.1]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const f8e4m3 [val=450.0]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const f64 [val=5e-324]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const bool [val=true]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const i8 [val=-128]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const u64 [val=18446744073709551615]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const i64 [val=-9223372036854775808]\n  root %0\n}\n",
    "unir 1\ngraph @c stage=tensor {\n  %0 = const index [val=-3]\n  root %0\n}\n",
    "unir 1\ngraph @v stage=tensor {\n  %0 = const index [val=1]\n  %1 = const index [val=64]\n"
    "  %2 = var index %0, %1 [name=batch]\n  %3 = buffer f32 %2, %1 [slot=0]\n  sink %3\n}\n",
    "unir 1\ngraph @v stage=tensor {\n  %0 = const index [val=1]\n  %1 = const index [val=64]\n"
    "  %2 = var index %0, %1 [name=\"a b\\\"\\\\\\xff\"]\n  root %2\n}\n",
    "unir 1\ngraph @device stage=tensor {\n  %0 = const index [val=4]\n  %1 = buffer f32 %0 [slot=7 device=2]\n  sink "
    "%1\n}\n",
    "unir 1\ngraph @scalar stage=tensor {\n  %0 = buffer i32 [slot=0]\n  sink %0\n}\n",
    "unir 1\ngraph @move stage=tensor {\n  %0 = const index [val=2]\n  %1 = const index [val=3]\n"
    "  %2 = buffer f32 %0, %1 [slot=0]\n  %3 = permute f32 %2 [perm=(1,0)]\n  %4 = flip f32 %3 [axes=3]\n"
    "  %5 = reduce_axis f32 %4 [op=max axes=(0,1)]\n  %6 = stack f32 %5, %5\n  sink %5, %6\n}\n",
    "unir 1\ngraph @pad stage=tensor {\n  %0 = const index [val=2]\n  %1 = buffer f32 %0 [slot=0]\n"
    "  %2 = const index [val=0]\n  %3 = const index [val=1]\n  %4 = pad f32 %1, %2, %3\n  %5 = shrink f32 %4, %2, %0\n"
    "  sink %5\n}\n",
    "unir 1\ngraph @rank0 stage=tensor {\n  %0 = buffer f32 [slot=0]\n  %1 = permute f32 %0\n  sink %1\n}\n",
    "unir 1\ngraph @k stage=kernel {\n  %0 = const index [val=16]\n  %1 = param ptr.f32 %0 [slot=0]\n"
    "  %2 = range index %0 [id=3 axis=group_reduce]\n  %3 = index ptr.f32 %1, %2\n  %4 = load f32x4 %3\n"
    "  %5 = gep f32x2 %4 [lanes=(3,0)]\n  root %5\n}\n",
    "unir 1\ngraph @mem stage=kernel {\n  %0 = const index [val=8]\n  %1 = define_local ptr.local.f32 %0 [id=0]\n"
    "  %2 = define_reg ptr.reg.f32x8 %0 [id=1]\n  sink %1, %2\n}\n",
    "unir 1\ngraph @list stage=linear {\n  %0 = const i32 [val=1]\n  %1 = const i32 [val=2]\n  %2 = const i32 [val=3]\n"
    "  %3 = const i32 [val=4]\n  linear %0..%3\n}\n",
    "unir 1\ngraph @list stage=linear {\n  %0 = const i32 [val=1]\n  %1 = const i32 [val=2]\n  %2 = const i32 [val=3]\n"
    "  linear %0, %1, %0, %2, %0\n}\n",
    "unir 1\ngraph @sched stage=schedule {\n  %0 = const index [val=4]\n  %1 = param ptr.f32 %0 [slot=0]\n"
    "  %2 = const index [val=0]\n  %3 = index ptr.f32 %1, %2\n  %4 = const f32 [val=1.0]\n  %5 = store void %3, %4\n"
    "  %6 = sink void %5\n  %7 = buffer f32 %0 [slot=0]\n  %8 = kernel void %6, %7\n  linear %8\n}\n",
    "unir 1\ngraph @special stage=linear {\n  %0 = const index [val=4]\n  %1 = special index %0 [axis=thread]\n"
    "  %2 = special index %0 [axis=global dim=2]\n  linear %0..%2\n}\n",
    "unir 1\ngraph @expand stage=kernel {\n  %0 = const i32x8 [val=1]\n  %1 = unroll i32 %0 [ranges=(0,4,2,2)]\n  root "
    "%1\n}\n",
};

Test(text, canonical_text_is_a_fixpoint) {
  for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
    un__parsed_graph g;
    const un_uop *root = parse_one(canonical[i], &g);
    cr_assert_not_null(root, "%s\n%s", err.text, canonical[i]);
    char *text = printed(root, g.name, g.stage);
    cr_expect_str_eq(text, canonical[i]);
    un__free(text);
  }
}

Test(text, parsing_what_was_printed_gives_the_same_node) {
  for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
    un__parsed_graph g, h;
    const un_uop *root = parse_one(canonical[i], &g);
    char *text = printed(root, "again", g.stage);
    cr_expect_eq(parse_one(text, &h), root, "%s", text);
    cr_expect_str_eq(h.name, "again");
    cr_expect_eq(h.stage, g.stage);
    un__free(text);
  }
}

Test(text, the_persistent_graph_reads_back_too) {
  un__world *w = un__world_create();
  un__session *s = un__session_create(w, &err);
  un__session_enter(s);
  for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++) {
    un__parsed_graph g, h;
    size_t n;
    un__graph *graph = un__session_graph(s);
    cr_assert_eq(un__parse_text(graph, "t", canonical[i], strlen(canonical[i]), &g, 1, &n), UN_OK, "%s", err.text);
    char *text = printed(g.root, g.name, g.stage);
    cr_expect_str_eq(text, canonical[i]);
    cr_assert_eq(un__parse_text(graph, "t", text, strlen(text), &h, 1, &n), UN_OK);
    cr_expect_eq(h.root, g.root);
    un__free(text);
  }
  un__session_leave(s);
  un__session_destroy(s);
  un__world_release(w);
}

/* ---- free writing is canonicalised ---- */

static const struct {
  const char *in, *out;
} loose[] = {
    /* names, comments, blanks, no stage, attributes in any order, defaults written out */
    {"# head\n\n unir 1 # v\ngraph @x { # open\n\t%n = const index [val=2] # two\r\n\n  %b=buffer f32 %n,%n [ device=0 "
     "slot=5 ]\n  sink %b\n} # end",
     "unir 1\ngraph @x stage=tensor {\n  %0 = const index [val=2]\n  %1 = buffer f32 %0, %0 [slot=5]\n  sink %1\n}\n"},
    /* nodes that nothing uses vanish, equal nodes are one */
    {"unir 1\ngraph @x {\n %7 = const i32 [val=1]\n %8 = const i32 [val=1]\n %9 = const i32 [val=2]\n %a = sub i32 %7, "
     "%8\n root %a\n}",
     "unir 1\ngraph @x stage=tensor {\n  %0 = const i32 [val=1]\n  %1 = sub i32 %0, %0\n  root %1\n}\n"},
    /* values are rounded to the dtype */
    {"unir 1\ngraph @x {\n %0 = const f16 [val=0.1000001]\n root %0\n}",
     "unir 1\ngraph @x stage=tensor {\n  %0 = const f16 [val=0.1]\n  root %0\n}\n"},
    {"unir 1\ngraph @x {\n %0 = const f32 [val=7]\n root %0\n}",
     "unir 1\ngraph @x stage=tensor {\n  %0 = const f32 [val=7.0]\n  root %0\n}\n"},
    /* a sink may be written as a node */
    {"unir 1\ngraph @x {\n %0 = const f32 [val=7]\n %s = sink void %0\n root %s\n}",
     "unir 1\ngraph @x stage=tensor {\n  %0 = const f32 [val=7.0]\n  sink %0\n}\n"},
    /* runs follow the order of definition, with any names */
    {"unir 1\ngraph @x stage=linear {\n %a = const i8 [val=1]\n %b = const i8 [val=2]\n %c = const i8 [val=3]\n linear "
     "%a..%c, %a..%a\n}",
     "unir 1\ngraph @x stage=linear {\n  %0 = const i8 [val=1]\n  %1 = const i8 [val=2]\n  %2 = const i8 [val=3]\n  "
     "linear %0..%2, %0\n}\n"},
};

Test(text, free_writing_is_canonicalised) {
  for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
    un__parsed_graph g;
    const un_uop *root = parse_one(loose[i].in, &g);
    cr_assert_not_null(root, "%s\n%s", err.text, loose[i].in);
    char *text = printed(root, g.name, g.stage);
    cr_expect_str_eq(text, loose[i].out);
    un__free(text);
  }
}

Test(text, a_file_holds_several_graphs_and_texts_can_be_joined) {
  const char *text = "unir 1\ngraph @a {\n sink\n}\ngraph @b stage=kernel {\n sink\n}\nunir 1\ngraph @c {\n %0 = const "
                     "i8 [val=1]\n root %0\n}\n";
  un__parsed_graph g[3];
  size_t n;
  cr_assert_eq(un__parse_text(ws, "t", text, strlen(text), g, 3, &n), UN_OK, "%s", err.text);
  cr_assert_eq(n, 3);
  cr_expect_str_eq(g[1].name, "b");
  cr_expect_eq(g[1].stage, UN__STAGE_KERNEL);
  cr_expect_eq(g[0].root, g[1].root, "one graph: equal is the same node");
  cr_expect_eq(un__parse_text(ws, "t", text, strlen(text), g, 2, &n), UN_ERR_PARSE);
  cr_expect_eq(n, 0);
  cr_expect(strstr(err.text, "t:9:1: more than 2 graphs"), "%s", err.text);
}

Test(text, three_dashes_end_the_text) {
  un__parsed_graph g;
  cr_expect_not_null(parse_one("unir 1\ngraph @a {\n sink\n}\n---\nanything ] at % all", &g), "%s", err.text);
  cr_expect_not_null(parse_one("unir 1\ngraph @a {\n sink\n}\n---", &g), "%s", err.text);
  cr_expect_null(parse_one("unir 1\ngraph @a {\n sink\n}\n----\n", &g), "only three");
  un__err_clear(&err);
  cr_expect_null(parse_one("unir 1\ngraph @a {\n---\n sink\n}\n", &g), "not inside a graph");
  un__err_clear(&err);
}

Test(text, range_ids_are_reserved) {
  un__parsed_graph g;
  cr_assert_not_null(
      parse_one("unir 1\ngraph @x stage=kernel {\n %0 = const index [val=4]\n %1 = range index %0 [id=41 axis=loop]\n"
                " root %1\n}",
                &g));
  cr_expect_eq(un__graph_fresh_range(ws), 42);
}

Test(text, names_that_cannot_stand_are_replaced) {
  const un_uop *sink = un__sink(ws, NULL, 0);
  char *text = printed(sink, "a b/\n{", UN__STAGE_TENSOR);
  cr_expect_str_eq(text, "unir 1\ngraph @a_b___ stage=tensor {\n  sink\n}\n");
  un__free(text);
  text = printed(sink, "", UN__STAGE_TENSOR);
  cr_expect_str_eq(text, "unir 1\ngraph @g stage=tensor {\n  sink\n}\n");
  un__free(text);
}

Test(text, notes_are_comments) {
  un__parsed_graph g;
  const char *in =
      "unir 1\ngraph @x stage=kernel {\n  %0 = const index [val=4]\n  %1 = range index %0 [id=0 axis=loop]\n"
      "  %2 = mul index %1, %0\n  root %2\n}\n";
  const un_uop *root = parse_one(in, &g);
  un__strbuf out = {0};
  un__print_text(&out, root, "x", g.stage, true);
  cr_expect_str_eq(un__sb_str(&out), "unir 1\ngraph @x stage=kernel {\n  %0 = const index [val=4]  # ()\n"
                                     "  %1 = range index %0 [id=0 axis=loop]  # [0, 3] {r0}\n"
                                     "  %2 = mul index %1, %0  # [0, 12] {r0}\n  root %2\n}\n");
  cr_expect_eq(parse_one(un__sb_str(&out), &g), root, "%s", err.text);
  un__sb_finish(&out);
}

/* ---- refusals: the place, and what was wrong ---- */

#define HEAD "unir 1\ngraph @g {\n"
static const struct {
  const char *in, *message;
} refused[] = {
    {"", "t.un:1:1: expected `unir 1` at the start"},
    {"graph @g {\n sink\n}\n", "t.un:1:1: expected `unir 1` at the start"},
    {"unir 2\n", "t.un:1:6: expected version 1 of the text form"},
    {"unir 1 x\n", "t.un:1:8: expected the end of the line"},
    {"unir 1\nkernel @g {\n", "t.un:2:1: expected `graph`"},
    {"unir 1\ngraph g {\n", "t.un:2:7: expected `@` and the graph's name"},
    {"unir 1\ngraph @ g {\n", "t.un:2:8: expected the graph's name after `@`"},
    {"unir 1\ngraph @g stag=kernel {\n", "t.un:2:10: expected `stage=` or `{`"},
    {"unir 1\ngraph @g stage=cuda {\n", "t.un:2:16: no stage `cuda`: it is tensor, kernel, linear or schedule"},
    {"unir 1\ngraph @g stage=kernel\n", "t.un:2:22: expected `{` to open the graph"},
    {HEAD, "t.un:3:1: expected a node (`%n = ...`), or the root: `sink`, `linear` or `root`"},
    {HEAD "  add f32\n", "t.un:3:3: expected a node (`%n = ...`), or the root: `sink`, `linear` or `root`"},
    {HEAD "  sink\n", "t.un:4:1: expected `}` after the root, to close the graph"},
    {HEAD "  sink\n} }", "t.un:4:3: expected the end of the line"},
    {HEAD "  % = const f32 [val=1]\n", "t.un:3:3: expected a name or number after `%`"},
    {HEAD "  %0 const f32 [val=1]\n", "t.un:3:6: expected `=` after the value's name"},
    {HEAD "  %0 = \n", "t.un:3:8: expected an op"},
    {HEAD "  %0 = konst f32 [val=1]\n", "t.un:3:8: no op `konst`"},
    {HEAD "  %0 = const\n", "t.un:3:13: expected the dtype of the result"},
    {HEAD "  %0 = const f33 [val=1]\n", "t.un:3:14: no dtype `f33`"},
    {HEAD "  %0 = const f32x1 [val=1]\n", "t.un:3:14: no dtype `f32x1`"},
    {HEAD "  %0 = const f32x65536 [val=1]\n", "t.un:3:14: no dtype `f32x65536`"},
    {HEAD "  %0 = const ptr.ptr.f32 [val=1]\n", "t.un:3:14: no dtype `ptr.ptr.f32`"},
    {HEAD "  %0 = const f32 [val=1] x\n", "t.un:3:26: expected the end of the line"},
    {HEAD "  %0 = const f32\n", "t.un:3:8: `const` needs the attribute `val`"},
    {HEAD "  %0 = const f32 []\n", "t.un:3:8: `const` needs the attribute `val`"},
    {HEAD "  %0 = const f32 [value=1]\n", "t.un:3:19: `const` has no attribute `value`"},
    {HEAD "  %0 = const f32 [val=1 val=2]\n", "t.un:3:25: `val` is given twice"},
    {HEAD "  %0 = const f32 [val 1]\n", "t.un:3:23: expected `=` after the attribute's name"},
    {HEAD "  %0 = const f32 [val=one]\n", "t.un:3:23: expected a number, inf or nan:0x and the bits of a NaN"},
    {HEAD "  %0 = const f32 [val=1e39]\n", "t.un:3:23: `1e39` does not fit in f32"},
    {HEAD "  %0 = const i8 [val=128]\n", "t.un:3:22: `128` does not fit in i8"},
    {HEAD "  %0 = const u8 [val=-1]\n", "t.un:3:22: `-1` does not fit in u8"},
    {HEAD "  %0 = const u64 [val=18446744073709551616]\n", "t.un:3:23: `18446744073709551616` does not fit in u64"},
    {HEAD "  %0 = const i32 [val=1.0]\n", "t.un:3:23: expected an integer"},
    {HEAD "  %0 = const bool [val=1]\n", "t.un:3:24: expected true or false"},
    {HEAD "  %0 = const void [val=1]\n", "t.un:3:24: no constant has dtype void"},
    {HEAD "  %0 = const f32 [val=1\n", "t.un:3:24: expected the name of an attribute, or `]`"},
    {HEAD "  %0 = const f32 [val=1]\n  %0 = const f32 [val=2]\n", "t.un:4:3: `%0` is defined twice"},
    {HEAD "  sink %0\n", "t.un:3:8: `%0` is not defined above"},
    {HEAD "  %0 = neg f32 %0\n", "t.un:3:16: `%0` is not defined above"},
    {HEAD "  %0 = const f32 [val=1]\n  %1 = add f32 %0,\n", "t.un:4:19: expected `%` and a value's name"},
    {HEAD "  %0 = const f32 [val=1]\n  %1 = add f32 %0 %0\n", "t.un:4:19: expected the end of the line"},
    {HEAD "  %0 = const f32 [val=1]\n  %1 = add f32 %0\n", "t.un:4:8: add: takes 2 sources, given 1"},
    {HEAD "  %0 = const f32 [val=1]\n  %1 = neg f64 %0\n",
     "t.un:4:8: neg: the dtype is f32, not f64"},
    {HEAD "  %0 = const f32 [val=1]\n  %1 = and f32 %0, %0\n",
     "t.un:4:8: and: operand 0 has dtype f32, which it does not take"},
    {HEAD "  %0 = const index [val=2]\n  %1 = buffer f32 %0 [slot=-1]\n",
     "t.un:4:28: the number must lie in [0, 2^48)"},
    {HEAD "  %0 = const index [val=2]\n  %1 = buffer f32 %0 [slot=99999999999999999999]\n",
     "t.un:4:28: the integer does not fit in 64 bits"},
    {HEAD "  %0 = const index [val=2]\n  %1 = range index %0 [id=0 axis=outer]\n", "t.un:4:34: no AxisType `outer`"},
    {HEAD "  %0 = const f32x4 [val=2]\n  %1 = hreduce f32 %0 [op=plus]\n", "t.un:4:27: no op `plus`"},
    {HEAD "  %0 = const f32x4 [val=2]\n  %1 = gep f32 %0 [lanes=0]\n",
     "t.un:4:26: expected `(` to open a list of integers"},
    {HEAD "  %0 = const f32x4 [val=2]\n  %1 = gep f32 %0 [lanes=(0,]\n", "t.un:4:29: expected an integer"},
    {HEAD "  %0 = const f32x4 [val=2]\n  %1 = gep f32 %0 [lanes=(0 1)]\n", "t.un:4:29: expected `)` to close the list"},
    {HEAD "  %0 = const index [val=2]\n  %1 = var index %0, %0 [name=averylongname.16]\n",
     "t.un:4:31: expected a name of 1 to 15 bytes"},
    {HEAD "  %0 = const index [val=2]\n  %1 = var index %0, %0 [name=\"\"]\n",
     "t.un:4:31: a name is not empty and has no zero byte"},
    {HEAD "  %0 = const index [val=2]\n  %1 = var index %0, %0 [name=\"a\\n\"]\n",
     "t.un:4:33: a string knows the escapes \\\" \\\\ and \\xNN"},
    {HEAD "  %0 = const index [val=2]\n  %1 = var index %0, %0 [name=\"a\n",
     "t.un:4:33: expected `\"` to close the string"},
    {HEAD "  %0 = const f32 [val=1]\n  root\n}\n", "t.un:4:3: `root` takes one value, not 0"},
    {HEAD "  %0 = const f32 [val=1]\n  root %0, %0\n}\n", "t.un:4:3: `root` takes one value, not 2"},
    {HEAD "  %0 = const f32 [val=1]\n  root %0..%0\n}\n", "t.un:4:10: expected the end of the line"},
    {HEAD "  %0 = const f32 [val=1]\n  %1 = const f32 [val=2]\n  sink %1..%0\n}\n",
     "t.un:5:12: the end of the run is defined before its start"},
};

Test(text, refusals_say_where_and_why) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    un__parsed_graph g;
    cr_expect_null(parse_one(refused[i].in, &g), "%s", refused[i].in);
    cr_expect_eq(err.status, UN_ERR_PARSE);
    size_t n = strlen(refused[i].message);
    cr_expect(strncmp(err.text, refused[i].message, n) == 0 && err.text[n] == '\n', "wanted\n%s\ngot\n%s\nfor\n%s",
              refused[i].message, err.text, refused[i].in);
    un__err_clear(&err);
  }
}

Test(text, the_caret_stands_below_the_fault) {
  un__parsed_graph g;
  cr_assert_null(parse_one("unir 1\ngraph @g {\n\t%0 = const\x01 f33 [val=1]\n", &g));
  cr_expect_str_eq(err.text, "t.un:3:12: expected the dtype of the result\n"
                             "   %0 = const? f33 [val=1]\n"
                             "             ^");
}

Test(text, long_lines_are_cut_around_the_fault) {
  un__strbuf in = {0};
  un__sb_puts(&in, HEAD "  %0 = const f32 [val=1]\n  sink ");
  for (int i = 0; i < 5000; i++) un__sb_puts(&in, "%0, ");
  un__sb_puts(&in, "%1\n}\n");
  un__parsed_graph g;
  cr_assert_null(parse_one(in.at, &g));
  cr_expect(strstr(err.text, "t.un:4:20008: `%1` is not defined above\n"), "%s", err.text);
  cr_expect_lt(strlen(err.text), 300u);
  cr_expect_eq(err.text[strlen(err.text) - 1], '^');
  un__sb_finish(&in);
}

Test(text, an_earlier_error_is_kept) {
  un__fail(&err, UN_ERR_SHAPE, "earlier");
  un__parsed_graph g;
  size_t n;
  cr_expect_eq(un__parse_text(ws, "t", "unir 1\n", 7, &g, 1, &n), UN_ERR_SHAPE);
  cr_expect_str_eq(err.text, "earlier");
}

/* ---- limits ---- */

static void put_values(un__strbuf *in, int n) {
  un__sb_puts(in, HEAD "  %0 = const i32 [val=0]\n");
  for (int i = 1; i < n; i++) un__sb_printf(in, "  %%%d = not i32 %%%d\n", i, i - 1);
}

Test(text, a_deep_chain_costs_linear_time_and_no_stack) {
  un__strbuf in = {0}, tree = {0};
  enum { DEEP = 200000 };
  put_values(&in, DEEP);
  un__sb_printf(&in, "  root %%%d\n}\n", DEEP - 1);
  un__parsed_graph g, h;
  const un_uop *root = parse_one(in.at, &g);
  cr_assert_not_null(root, "%s", err.text);
  char *text = printed(root, "g", g.stage);
  cr_expect_eq(parse_one(text, &h), root);
  un__print_tree(&tree, root, false);
  cr_expect_not(tree.failed);
  cr_expect_lt(tree.n, (size_t)DEEP * 300, "indentation is bounded");
  cr_expect_eq(un__verify(root, UN__STAGE_TENSOR, &err, NULL), UN_OK, "%s", err.text);
  un__free(text);
  un__sb_finish(&in);
  un__sb_finish(&tree);
}

Test(text, sources_are_counted) {
  un__strbuf in = {0};
  un__parsed_graph g;
  put_values(&in, 40000);
  for (int i = 0; i < 27; i++) un__sb_puts(&in, i ? ", %0..%39999" : "  sink %0..%39999");
  un__sb_puts(&in, "\n}\n");
  cr_assert_null(parse_one(in.at, &g));
  cr_expect(strstr(err.text, "more than 1048576 sources"), "%s", err.text);
  un__sb_finish(&in);
}

Test(text, sources_are_counted_over_all_graphs) {
  un__strbuf in = {0};
  un__parsed_graph g[20];
  size_t n;
  un__sb_puts(&in, "unir 1\n");
  for (int i = 0; i < 17; i++) {
    un__sb_printf(&in, "graph @g%d stage=tensor {\n  %%0 = const i32 [val=0]\n", i);
    for (int k = 1; k < 1000; k++) un__sb_printf(&in, "  %%%d = not i32 %%%d\n", k, k - 1);
    for (int k = 0; k < 1000; k++) un__sb_puts(&in, k ? ", %0..%999" : "  sink %0..%999");
    un__sb_puts(&in, "\n}\n");
  }
  cr_assert_neq(un__parse_text(ws, "t.un", in.at, in.n, g, 20, &n), UN_OK);
  cr_expect(strstr(err.text, "more than 16777216 sources in all"), "%s", err.text);
  un__sb_finish(&in);
}

Test(text, a_file_has_at_most_1_mi_nodes) {
  un__strbuf in = {0};
  un__sb_puts(&in, HEAD "  %a = const i32 [val=0]\n");
  for (int i = 0; i < 1 << 20; i++) un__sb_printf(&in, "  %%%d = not i32 %%a\n", i);
  un__sb_puts(&in, "  sink\n}\n");
  un__parsed_graph g;
  cr_assert_null(parse_one(in.at, &g));
  cr_expect(strstr(err.text, ": more than 1048576 nodes"), "%s", err.text);
  un__sb_finish(&in);
}

Test(text, a_node_has_at_most_128_open_ranges) {
  un__strbuf in = {0};
  un__sb_puts(&in, HEAD "  %c = const index [val=4]\n  %s = range index %c [id=0 axis=loop]\n");
  for (int i = 1; i < 200; i++)
    un__sb_printf(&in, "  %%r%d = range index %%c [id=%d axis=loop]\n  %%s%d = add index %%s%s, %%r%d\n", i, i, i,
                  i > 1 ? "x" : "", i);
  un__parsed_graph g;
  cr_assert_null(parse_one(in.at, &g), "names of the chain are wrong on purpose from the second on");
  cr_expect(strstr(err.text, "`%sx` is not defined above"), "%s", err.text);
  un__err_clear(&err);
  in.n = 0;
  un__sb_puts(&in, HEAD "  %c = const index [val=4]\n  %s0 = range index %c [id=0 axis=loop]\n");
  for (int i = 1; i < 200; i++)
    un__sb_printf(&in, "  %%r%d = range index %%c [id=%d axis=loop]\n  %%s%d = add index %%s%d, %%r%d\n", i, i, i,
                  i - 1, i);
  cr_assert_null(parse_one(in.at, &g));
  cr_expect(strstr(err.text, "t.un:260:11: depends on more than 128 open ranges"), "%s", err.text);
  un__sb_finish(&in);
}

Test(text, names_have_at_most_63_bytes) {
  char in[400], name[80];
  memset(name, 'n', sizeof name);
  un__parsed_graph g;
  snprintf(in, sizeof in, HEAD "  %%%.63s = const f32 [val=1]\n  root %%%.63s\n}\n", name, name);
  cr_expect_not_null(parse_one(in, &g), "%s", err.text);
  snprintf(in, sizeof in, HEAD "  %%%.64s = const f32 [val=1]\n", name);
  cr_expect_null(parse_one(in, &g));
  cr_expect(strstr(err.text, "t.un:3:3: a name has at most 63 bytes"), "%s", err.text);
  un__err_clear(&err);
  snprintf(in, sizeof in, "unir 1\ngraph @%.64s {\n", name);
  cr_expect_null(parse_one(in, &g));
  cr_expect(strstr(err.text, "t.un:2:8: a name has at most 63 bytes"), "%s", err.text);
}

/* ---- mutations: whatever the bytes, an answer; and what is accepted obeys the laws ---- */

static uint64_t seed = UINT64_C(88172645463325252);
static size_t pick(size_t n) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return n ? (size_t)((seed >> 20) % n) : 0;
}

static const char *const scraps[] = {
    "%0",
    "%1",
    "%..%",
    "..",
    "[",
    "]",
    "(",
    ")",
    "9223372036854775807",
    "-1",
    "99999999999999999999",
    "inf",
    "nan:0x",
    "1e400",
    "\n",
    "range index %1 [id=5 axis=loop]",
    "const bool [val=true]",
    "sink",
    "linear",
    "root %1\n",
    "ptr.",
    "x8",
    "x65535",
    "index",
    "i64",
    "f32",
    "\"",
    "\\x",
    "#",
    "{",
    "}",
    " ",
    "buffer",
    "reshape",
    "expand",
    "shrink",
    "pad",
    "stack",
    "permute",
    "unroll",
    "reduce_axis",
    "gep",
    "kernel",
    "call",
    "reduce",
    "end",
    "valid",
    "iota",
    "tuple",
    "get",
    "where",
    "cast",
    "flip",
    "graph @",
};

static void insert(un__strbuf *s, size_t at, const char *what, size_t n) {
  char *copy = un__alloc(n + 1);
  memcpy(copy, what, n);
  un__sb_putn(s, copy, n);
  memmove(s->at + at + n, s->at + at, s->n - n - at);
  memcpy(s->at + at, copy, n);
  un__free(copy);
}

static void mutate(un__strbuf *s) {
  size_t at = pick(s->n), other = pick(s->n), len = pick(60);
  if (other + len > s->n) len = s->n - other;
  const char *scrap = scraps[pick(sizeof scraps / sizeof *scraps)];
  switch (pick(6)) {
  case 0:
    if (s->n) s->at[at] = (char)pick(256);
    break;
  case 1:
    insert(s, at, scrap, strlen(scrap));
    break;
  case 2:
    memmove(s->at + other, s->at + other + len, s->n - other - len);
    s->n -= len;
    break;
  case 3:
    s->n = at;
    break;
  case 4:
    insert(s, at, s->at + other, len);
    break;
  default:
    if (s->n && s->at[at] >= '0' && s->at[at] <= '9') s->at[at] = (char)('0' + pick(10));
    break;
  }
}

/* Parses exactly s->n bytes from a block of that size, so that a sanitiser sees one byte too many. */
static void try_text(const un__strbuf *s, size_t *accepted) {
  char *exact = un__alloc(s->n + !s->n);
  memcpy(exact, s->at, s->n);
  un__parsed_graph g[4], h;
  size_t n, m;
  un_status status = un__parse_text(ws, "t", exact, s->n, g, 4, &n);
  if (status != UN_OK) {
    cr_assert_eq(status, UN_ERR_PARSE);
    cr_assert(strncmp(err.text, "t:", 2) == 0 && strchr(err.text, '^'), "%s", err.text);
    un__err_clear(&err);
  }
  for (size_t i = 0; i < n; i++) {
    char *text = printed(g[i].root, g[i].name, g[i].stage);
    cr_assert_eq(un__parse_text(ws, "t", text, strlen(text), &h, 1, &m), UN_OK, "%s\n%s", err.text, text);
    cr_assert_eq(h.root, g[i].root, "%s", text);
    un__strbuf tree = {0}, faults = {0};
    un__print_tree(&tree, g[i].root, true);
    if (un__verify(g[i].root, g[i].stage, &err, &faults) != UN_OK) un__err_clear(&err);
    cr_assert_not(tree.failed || faults.failed);
    un__sb_finish(&tree);
    un__sb_finish(&faults);
    un__free(text);
    ++*accepted;
  }
  un__free(exact);
}

Test(text, mutated_texts_get_an_answer) {
  size_t accepted = 0, count = sizeof canonical / sizeof *canonical;
  for (int i = 0; i < 30000; i++) {
    un__strbuf s = {0};
    un__sb_puts(&s, canonical[pick(count)]);
    for (size_t k = 1 + pick(4); k > 0; k--) mutate(&s);
    try_text(&s, &accepted);
    un__sb_finish(&s);
    if (i % 1000 == 999) { /* so that one workspace does not keep them all */
      teardown();
      setup();
    }
  }
  cr_expect_gt(accepted, 1000u, "mutations that are too wild test nothing: %zu accepted", accepted);
}

/* ---- trees ---- */

static void expect_tree(const char *in, bool parallel, const char *want) {
  un__parsed_graph g;
  const un_uop *root = parse_one(in, &g);
  cr_assert_not_null(root, "%s", err.text);
  un__strbuf out = {0};
  un__print_tree(&out, root, parallel);
  cr_expect_str_eq(un__sb_str(&out), want);
  un__sb_finish(&out);
}

Test(text, a_tree_of_a_tensor_program) {
  expect_tree("unir 1\ngraph @g {\n %4 = const index [val=4]\n %1 = const index [val=1]\n %0 = const index [val=0]\n"
              " %a = buffer f32 %4, %4 [slot=0]\n %r = reshape f32 %a, %4, %1, %4\n %e = expand f32 %r, %4, %4, %4\n"
              " %p = permute f32 %a [perm=(1,0)]\n %q = reshape f32 %p, %1, %4, %4\n %x = expand f32 %q, %4, %4, %4\n"
              " %m = mul f32 %e, %x\n %s = reduce_axis f32 %m [op=add axes=(2)]\n %t = pad f32 %s, %0, %1, %1, %0\n"
              " %c = const f32 [val=0.5]\n sink %t, %c\n}\n",
              false,
              "[13] SINK : void\n"
              "├── [11] PAD(0+1, 1+0) : f32 (5,5)\n"
              "│   └── [9] REDUCE_AXIS(ADD, axes=(2)) : f32 (4,4)\n"
              "│       └── [8] MUL : f32 (4,4,4)\n"
              "│           ├── [4] EXPAND : f32 (4,4,4)\n"
              "│           │   └── [3] RESHAPE : f32 (4,1,4)\n"
              "│           │       └── [1] BUFFER(0) : f32 (4,4)\n"
              "│           └── [7] EXPAND : f32 (4,4,4)\n"
              "│               └── [6] RESHAPE : f32 (1,4,4)\n"
              "│                   └── [5] PERMUTE(1,0) : f32 (4,4)\n"
              "│                       └── [1] -> (same as above)\n"
              "└── [12] CONST(0.5) : f32\n");
}

static const char loop_nest[] =
    "unir 1\ngraph @g stage=kernel {\n %4 = const index [val=4]\n %p = param ptr.f32 %4 [slot=0]\n"
    " %q = param ptr.f32 %4 [slot=1]\n %r = range index %4 [id=0 axis=loop]\n %k = range index %4 [id=1 "
    "axis=group_reduce]\n"
    " %i = index ptr.f32 %q, %k\n %l = load f32 %i\n %s = reduce f32 %l, %k [op=add]\n %o = index ptr.f32 %p, %r\n"
    " %t = store void %o, %s\n %e = end void %t, %r\n sink %e\n}\n";

Test(text, a_tree_of_a_kernel_shows_loops_and_addresses) {
  expect_tree(loop_nest, true,
              "[11] SINK : void\n"
              "└── [10] END : void\n"
              "    ├── [9] STORE : void\n"
              "    │   ├── [3] INDEX : ptr.f32                   # p0[r0]\n"
              "    │   │   ├── [1] PARAM(0) : ptr.f32            # 4 elements\n"
              "    │   │   └── [2] RANGE(0, Loop) : index        # r0 in [0,4), sequential\n"
              "    │   │       └── [0] CONST(4) : index\n"
              "    │   └── [8] REDUCE(ADD) : f32\n"
              "    │       ├── [7] LOAD : f32\n"
              "    │       │   └── [6] INDEX : ptr.f32           # p1[r1]\n"
              "    │       │       ├── [4] PARAM(1) : ptr.f32    # 4 elements\n"
              "    │       │       └── [5] RANGE(1, GroupReduce) : index  # r1 in [0,4)\n"
              "    │       │           └── [0] -> (same as above)\n"
              "    │       └── [5] -> (same as above)\n"
              "    └── [2] -> (same as above)\n");
}

Test(text, only_a_parallel_device_has_sequential_loops) {
  un__parsed_graph g;
  const un_uop *root = parse_one(loop_nest, &g);
  un__strbuf out = {0};
  un__print_tree(&out, root, false);
  cr_expect_null(strstr(out.at, "sequential"));
  un__sb_finish(&out);
}

Test(text, a_linear_is_a_listing) {
  expect_tree("unir 1\ngraph @g stage=linear {\n %4 = const index [val=4]\n %p = param ptr.f32 %4 [slot=0]\n"
              " %r = range index %4 [id=0 axis=loop]\n %o = index ptr.f32 %p, %r\n %c = const f32 [val=1]\n"
              " %t = store void %o, %c\n %e = end void %t, %r\n linear %4, %p, %r, %o, %t, %e\n}\n",
              false,
              "LINEAR : 6 nodes\n"
              "  [0] CONST(4) : index\n"
              "  [1] PARAM(0) : ptr.f32                          # 4 elements\n"
              "  [2] RANGE(0, Loop) : index <- [0]               # r0 in [0,4)\n"
              "    [3] INDEX : ptr.f32 <- [1], [2]               # p0[r0]\n"
              "    [5] STORE : void <- [3], [4]\n"
              "  [6] END : void <- [5], [2]\n"
              "not in the list:\n"
              "  [4] CONST(1.0) : f32\n");
}

/* Sharing 64 levels deep has 2^64 paths and 66 nodes. */
Test(text, a_shared_graph_prints_in_linear_size) {
  un__strbuf in = {0}, out = {0};
  un__sb_puts(&in, HEAD "  %0 = const u32 [val=3]\n");
  for (int i = 1; i <= 64; i++) un__sb_printf(&in, "  %%%d = mul u32 %%%d, %%%d\n", i, i - 1, i - 1);
  un__sb_puts(&in, "  root %64\n}\n");
  un__parsed_graph g;
  const un_uop *root = parse_one(in.at, &g);
  un__print_tree(&out, root, false);
  cr_expect_lt(out.n, 64u * 500u);
  cr_expect(strstr(out.at, " -> (continued below)\n") && strstr(out.at, "\n\n[16] continued:\n└── ") == NULL);
  cr_expect(strstr(out.at, "] continued:\n├── ["), "%s", out.at);
  un__sb_finish(&in);
  un__sb_finish(&out);
}
