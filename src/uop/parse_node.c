/* parse_node.c - one line of a graph: `%n = op dtype %a, %b [name=value ...]`. What the line says is checked against
 * ops.def by the constructor; its refusal is reported at the op. */
#include "parse.h"

#include <string.h>

/* `%.*s` of a token that came from the input. */
#define TOKEN(t) (int)((t).len < 64 ? (t).len : 64), (t).at

/* ---- values ---- */

bool un__parse_value_name(un__parser *p, un__token *out) {
  const char *at = p->at;
  if (!un__expect(p, '%', "and a value's name")) return false;
  const char *first = p->at;
  *out = un__take_word(p);
  /* `%0..%9`: two dots end a name. */
  for (size_t i = 0; i + 1 < out->len && out->at == first; i++)
    if (first[i] == '.' && first[i + 1] == '.') {
      p->at = first + i;
      out->len = i;
      break;
    }
  if (out->at != first || out->len == 0) return un__parse_fail(p, at, "expected a name or number after `%%`");
  if (out->len > UN__VALUE_NAME_MAX) return un__parse_fail(p, at, "a name has at most %d bytes", UN__VALUE_NAME_MAX);
  return true;
}

static bool parse_use(un__parser *p, uint32_t *out_index) {
  un__skip_spaces(p);
  const char *at = p->at;
  un__token name;
  if (!un__parse_value_name(p, &name)) return false;
  if (un__find_value(p, name, out_index)) return true;
  return un__parse_fail(p, at, "`%%%.*s` is not defined above", TOKEN(name));
}

static bool push_source(un__parser *p, const char *at, uint32_t index) {
  if (p->src.n == UN__PARSE_MAX_SOURCES)
    return un__parse_fail(p, at, "more than %d sources", UN__PARSE_MAX_SOURCES);
  if (p->edges++ == UN__PARSE_MAX_EDGES) return un__parse_fail(p, at, "more than %d sources in all", UN__PARSE_MAX_EDGES);
  return un__vec_push(&p->src, p->values.at[index].node) || un__parse_nomem(p);
}

/* The values defined from `first` to the one named next, in their order. */
static bool parse_run(un__parser *p, uint32_t first) {
  const char *at = p->at;
  uint32_t last;
  if (!parse_use(p, &last)) return false;
  if (last < first) return un__parse_fail(p, at, "the end of the run is defined before its start");
  for (uint32_t i = first + 1; i <= last; i++)
    if (!push_source(p, at, i)) return false;
  return true;
}

static bool at_dots(un__parser *p) {
  if (p->end - p->at < 2 || p->at[0] != '.' || p->at[1] != '.') return false;
  p->at += 2;
  return true;
}

bool un__parse_sources(un__parser *p, bool ranges) {
  un__skip_spaces(p);
  if (p->at == p->end || *p->at != '%') return true;
  do {
    un__skip_spaces(p);
    const char *at = p->at;
    uint32_t index;
    if (!parse_use(p, &index) || !push_source(p, at, index)) return false;
    if (ranges && at_dots(p) && !parse_run(p, index)) return false;
  } while (un__take(p, ','));
  return true;
}

/* ---- attributes ---- */

typedef struct attrs {
  const un__op_info *info;
  un__dtype dtype;
  uint32_t given;                          /* bit i: attribute i was written */
  uint32_t n;                              /* words */
  int64_t word[UN__MAX_ATTR_WORDS];
} attrs;

static bool is_atom_char(char c) { return un__is_name_char(c) || c == '+' || c == ':'; }

static un__token take_atom(un__parser *p) {
  un__skip_spaces(p);
  const char *from = p->at;
  while (p->at < p->end && is_atom_char(*p->at)) p->at++;
  return (un__token){from, (size_t)(p->at - from)};
}

static bool parse_int(un__parser *p, int64_t *out) {
  un__token t = take_atom(p);
  switch (un__parse_i64(t.at, t.len, out)) {
    case UN__NUM_OK: return true;
    case UN__NUM_RANGE: return un__parse_fail(p, t.at, "the integer does not fit in 64 bits");
    default: return un__parse_fail(p, t.at, "expected an integer");
  }
}

/* Numbers that are names (slots, ids) and counts: small and not negative. */
static bool parse_number(un__parser *p, int64_t *out) {
  un__skip_spaces(p);
  const char *at = p->at;
  if (!parse_int(p, out)) return false;
  return (*out >= 0 && *out <= UN__PARSE_MAX_INT) || un__parse_fail(p, at, "the number must lie in [0, 2^48)");
}

static bool parse_ints(un__parser *p, attrs *a, uint32_t first) {
  uint32_t n = first;
  if (!un__expect(p, '(', "to open a list of integers")) return false;
  if (!un__take(p, ')')) {
    do {
      if (n == UN__MAX_ATTR_WORDS) return un__parse_fail(p, p->at, "the list has too many integers");
      if (!parse_int(p, &a->word[n++])) return false;
    } while (un__take(p, ','));
    if (!un__expect(p, ')', "to close the list")) return false;
  }
  a->n = n;
  return true;
}

/* Whether v is a value of the integer dtype. */
static bool int_fits(un__dtype d, int64_t v) {
  const un__dtype_info *info = un__dt_info(d);
  if (info->mantissa == 64) return true;
  int64_t limit = INT64_C(1) << (info->cls == UN__CLASS_INT ? info->mantissa - 1 : info->mantissa);
  return v < limit && v >= (info->cls == UN__CLASS_INT ? -limit : 0);
}

static un__numeral read_const(un__token t, un__dtype d, int64_t *out) {
  uint64_t bits = 0;
  un__numeral r = UN__NUM_BAD;
  switch (un__dt_class(d)) {
    case UN__CLASS_BOOL:
      *out = un__token_is(t, "true");
      return *out || un__token_is(t, "false") ? UN__NUM_OK : UN__NUM_BAD;
    case UN__CLASS_FLOAT:
      r = un__parse_float(t.at, t.len, un__dt_format(d), &bits);
      *out = (int64_t)bits;
      return r;
    case UN__CLASS_UINT:
      if (t.len && t.at[0] == '-') return un__parse_i64(t.at, t.len, out) == UN__NUM_BAD ? UN__NUM_BAD : UN__NUM_RANGE;
      r = un__parse_u64(t.at, t.len, &bits);
      *out = (int64_t)bits;
      break;
    case UN__CLASS_INT: case UN__CLASS_INDEX: r = un__parse_i64(t.at, t.len, out); break;
    case UN__CLASS_VOID: return UN__NUM_BAD;
  }
  return r == UN__NUM_OK && !int_fits(d, *out) ? UN__NUM_RANGE : r;
}

static bool parse_const(un__parser *p, un__dtype d, int64_t *out) {
  static const char *const wanted[] = {
    [UN__CLASS_VOID] = "no constant has dtype void", [UN__CLASS_BOOL] = "expected true or false",
    [UN__CLASS_INT] = "expected an integer", [UN__CLASS_UINT] = "expected an integer",
    [UN__CLASS_FLOAT] = "expected a number, inf or nan:0x and the bits of a NaN",
    [UN__CLASS_INDEX] = "expected an integer",
  };
  un__token t = take_atom(p);
  switch (read_const(t, d, out)) {
    case UN__NUM_OK: return true;
    case UN__NUM_RANGE: return un__parse_fail(p, t.at, "`%.*s` does not fit in %s", TOKEN(t), un__dt_info(d)->name);
    default: return un__parse_fail(p, t.at, "%s", wanted[un__dt_class(d)]);
  }
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* After the opening quote: bytes up to the closing one, with \" \\ and \xNN. */
static bool parse_quoted(un__parser *p, char *out, size_t *out_n) {
  size_t n = 0;
  while (p->at < p->end && *p->at != '"' && *p->at != '\n') {
    int c = (unsigned char)*p->at;
    size_t used = 1;
    if (c == '\\') {
      ptrdiff_t left = p->end - p->at;
      c = left > 1 ? p->at[1] : 0;
      used = 2;
      if (c == 'x' && left > 3 && hex_digit(p->at[2]) >= 0 && hex_digit(p->at[3]) >= 0) {
        c = hex_digit(p->at[2]) * 16 + hex_digit(p->at[3]);
        used = 4;
      } else if (c != '"' && c != '\\') {
        return un__parse_fail(p, p->at, "a string knows the escapes \\\" \\\\ and \\xNN");
      }
    }
    if (n == UN__NAME_MAX) return un__parse_fail(p, p->at, "a name has at most %d bytes", UN__NAME_MAX);
    out[n++] = (char)c;
    p->at += used;
  }
  *out_n = n;
  if (p->at == p->end || *p->at != '"') return un__parse_fail(p, p->at, "expected `\"` to close the string");
  p->at++;
  return true;
}

static bool parse_name(un__parser *p, int64_t *out) {
  char text[UN__NAME_MAX];
  size_t n = 0;
  un__skip_spaces(p);
  const char *at = p->at;
  if (un__take(p, '"')) {
    if (!parse_quoted(p, text, &n)) return false;
    return un__name_pack(text, n, out) || un__parse_fail(p, at, "a name is not empty and has no zero byte");
  }
  un__token t = un__take_word(p);
  if (un__name_pack(t.at, t.len, out)) return true;
  return un__parse_fail(p, at, "expected a name of 1 to %d bytes", UN__NAME_MAX);
}

static bool parse_axis(un__parser *p, int64_t *out) {
  un__token t = un__take_word(p);
  un__axis axis;
  if (!un__axis_by_name(t.at, t.len, &axis)) return un__parse_fail(p, t.at, "no AxisType `%.*s`", TOKEN(t));
  *out = axis;
  return true;
}

static bool parse_op_name(un__parser *p, int64_t *out) {
  un__token t = un__take_word(p);
  un__op op;
  if (!un__op_by_name(t.at, t.len, &op)) return un__parse_fail(p, t.at, "no op `%.*s`", TOKEN(t));
  *out = op;
  return true;
}

static bool parse_value(un__parser *p, attrs *a, uint32_t i) {
  uint32_t first = un__attr_first(a->info, i);
  switch (a->info->attrs[i].kind) {
    case UN__AK_CONST: return parse_const(p, a->dtype, &a->word[first]);
    case UN__AK_AXIS: return parse_axis(p, &a->word[first]);
    case UN__AK_OP: return parse_op_name(p, &a->word[first]);
    case UN__AK_NAME: return parse_name(p, &a->word[first]);
    case UN__AK_INTS: return parse_ints(p, a, first);
    default: return parse_number(p, &a->word[first]);
  }
}

static bool parse_attr(un__parser *p, attrs *a) {
  un__token name = un__take_word(p);
  uint32_t i = 0;
  if (name.len == 0) return un__parse_fail(p, name.at, "expected the name of an attribute, or `]`");
  while (i < a->info->nattrs && !un__token_is(name, a->info->attrs[i].name)) i++;
  if (i == a->info->nattrs)
    return un__parse_fail(p, name.at, "`%s` has no attribute `%.*s`", a->info->text, TOKEN(name));
  if (a->given >> i & 1) return un__parse_fail(p, name.at, "`%s` is given twice", a->info->attrs[i].name);
  a->given |= 1u << i;
  return un__expect(p, '=', "after the attribute's name") && parse_value(p, a, i);
}

/* What may be left out: a list (empty), and an integer after the first attribute (0). */
static bool may_be_absent(const un__op_info *info, uint32_t i) {
  un__attr_kind kind = info->attrs[i].kind;
  return kind == UN__AK_INTS || (kind == UN__AK_INT && i > 0);
}

static bool parse_attrs(un__parser *p, attrs *a, const char *line) {
  uint32_t last = a->info->nattrs;
  a->n = un__attr_first(a->info, last);
  if (last && a->info->attrs[last - 1].kind == UN__AK_INTS) a->n--;
  if (un__take(p, '['))
    while (!un__take(p, ']'))
      if (!parse_attr(p, a)) return false;
  for (uint32_t i = 0; i < last; i++)
    if (!(a->given >> i & 1) && !may_be_absent(a->info, i))
      return un__parse_fail(p, line, "`%s` needs the attribute `%s`", a->info->text, a->info->attrs[i].name);
  return true;
}

/* ---- the line ---- */

const un_uop *un__parse_build(un__parser *p, const char *at, un__op op, un__dtype dtype, const int64_t *words,
                              uint32_t nwords) {
  if (p->nodes == UN__PARSE_MAX_NODES) {
    un__parse_fail(p, at, "more than %d nodes", UN__PARSE_MAX_NODES);
    return NULL;
  }
  p->nodes++;
  const un_uop *n = un__uop(p->g, op, dtype, p->src.at, (uint32_t)p->src.n, words, nwords);
  if (n && un__open_ranges(n) && un__open_ranges(n)->n > UN__PARSE_MAX_RANGES) {
    un__parse_fail(p, at, "depends on more than %d open ranges", UN__PARSE_MAX_RANGES);
    return NULL;
  }
  if (n) return n;
  un__err *err = un__graph_err(p->g);
  if (err->status == UN_ERR_NOMEM) {
    p->status = UN_ERR_NOMEM;
    return NULL;
  }
  un__err why = *err;
  un__err_clear(err);
  un__parse_fail(p, at, "%s", why.status == UN_OK ? "the node is not allowed" : why.text);
  return NULL;
}

/* Later fresh ids of the workspace must not meet those of the text. */
static void reserve_ranges(un__parser *p, const un_uop *n) {
  if (!un__graph_is_workspace(p->g)) return;
  if (n->op == UN__OP_RANGE) un__graph_reserve_range(p->g, un__range_id(n));
  if (n->op != UN__OP_UNROLL && n->op != UN__OP_CONTRACT) return;
  for (uint32_t i = 0; i < n->nattr; i += 2) un__graph_reserve_range(p->g, un__attr(n, i));
}

static bool parse_op(un__parser *p, un__op *op, const char **at) {
  un__token t = un__take_word(p);
  *at = t.at;
  if (un__op_by_name(t.at, t.len, op)) return true;
  if (t.len == 0) return un__parse_fail(p, t.at, "expected an op");
  return un__parse_fail(p, t.at, "no op `%.*s`", TOKEN(t));
}

static bool parse_dtype(un__parser *p, un__dtype *out) {
  un__token t = un__take_word(p);
  if (un__dtype_by_name(t.at, t.len, out)) return true;
  if (t.len == 0) return un__parse_fail(p, t.at, "expected the dtype of the result");
  return un__parse_fail(p, t.at, "no dtype `%.*s`", TOKEN(t));
}

bool un__parse_node(un__parser *p) {
  const char *line = p->at, *at;
  un__token name;
  un__op op;
  attrs a = {0};
  if (!un__parse_value_name(p, &name)) return false;
  if (un__find_value(p, name, NULL)) return un__parse_fail(p, line, "`%%%.*s` is defined twice", TOKEN(name));
  if (!un__expect(p, '=', "after the value's name")) return false;
  if (!parse_op(p, &op, &at) || !parse_dtype(p, &a.dtype)) return false;
  a.info = &un__op_table[op];
  p->src.n = 0;
  if (!un__parse_sources(p, false) || !parse_attrs(p, &a, at) || !un__expect_line_end(p)) return false;
  const un_uop *n = un__parse_build(p, at, op, a.dtype, a.word, a.n);
  if (!n || !un__define_value(p, name, n)) return false;
  reserve_ranges(p, n);
  return true;
}
