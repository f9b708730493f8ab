/* lex.c - the lexer. It copies what it must keep and never reads past the text. */
#include "lex.h"

#include <string.h>

#include "base/number.h"

void un__lex_init(un__lexer *lx, un__pat *p, uint32_t file) {
  const un__pat_file *f = &p->files.at[file];
  *lx = (un__lexer){.p = p, .file = file, .text = f->text, .len = f->len, .line = 1};
}

static int at(const un__lexer *lx, size_t k) { return lx->at + k < lx->len ? (unsigned char)lx->text[lx->at + k] : -1; }

static un__pat_loc here(const un__lexer *lx) {
  return (un__pat_loc){.file = lx->file,
                       .off = (uint32_t)lx->at,
                       .len = 1,
                       .line = lx->line,
                       .col = (uint32_t)(lx->at - lx->line_start) + 1};
}

static void step(un__lexer *lx) {
  if (lx->text[lx->at++] == '\n') {
    lx->line++;
    lx->line_start = lx->at;
  }
}

static bool is_space(int c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(int c) { return c >= '0' && c <= '9'; }
static bool is_upper(int c) { return c >= 'A' && c <= 'Z'; }
static bool is_lower(int c) { return c >= 'a' && c <= 'z'; }
static bool is_word(int c) { return is_digit(c) || is_upper(c) || is_lower(c) || c == '_'; }

/* Blanks and comments; stops at a doc comment (three slashes, not four). */
static void skip(un__lexer *lx) {
  for (;;) {
    if (is_space(at(lx, 0))) {
      step(lx);
    } else if (at(lx, 0) == '/' && at(lx, 1) == '/' && !(at(lx, 2) == '/' && at(lx, 3) != '/')) {
      while (at(lx, 0) >= 0 && at(lx, 0) != '\n') step(lx);
    } else if (at(lx, 0) == '/' && at(lx, 1) == '*') {
      un__pat_loc open = here(lx);
      while (at(lx, 0) >= 0 && !(at(lx, 0) == '*' && at(lx, 1) == '/')) step(lx);
      if (at(lx, 0) < 0) {
        un__pat_error(lx->p, open, "lex", "comment is not closed");
        return;
      }
      step(lx);
      step(lx);
    } else {
      return;
    }
  }
}

static un__token finish(un__lexer *lx, un__token t, size_t start) {
  t.loc.len = (uint32_t)(lx->at - start);
  return t;
}

static un__token word(un__lexer *lx) {
  un__token t = {.kind = UN__T_OPNAME, .loc = here(lx)};
  size_t start = lx->at;
  if (!is_upper(at(lx, 0))) t.kind = UN__T_NAME;
  while (is_word(at(lx, 0))) {
    if (is_lower(at(lx, 0))) t.kind = UN__T_NAME;
    step(lx);
  }
  t.text = un__pat_textn(lx->p, lx->text + start, lx->at - start);
  return finish(lx, t, start);
}

static int digit_value(int c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

static un__token number_error(un__lexer *lx, un__token t, size_t start, const char *what) {
  while (is_word(at(lx, 0))) step(lx);
  t = finish(lx, t, start);
  un__pat_error(lx->p, t.loc, "lex", "%s", what);
  return t;
}

static bool exponent(un__lexer *lx, int *out) {
  step(lx);
  bool minus = at(lx, 0) == '-';
  if (at(lx, 0) == '-' || at(lx, 0) == '+') step(lx);
  if (!is_digit(at(lx, 0))) return false;
  int e = 0;
  for (; is_digit(at(lx, 0)); step(lx)) e = e < 9999 ? e * 10 + at(lx, 0) - '0' : e;
  *out = minus ? -e : e;
  return true;
}

/* Hexadecimal floats (0x1.8p3) of at most 64 bits are exact. */
static un__token hex_float(un__lexer *lx, un__token t, size_t start) {
  double mant = (double)t.num, unit = 1;
  int e = 0;
  if (at(lx, 0) == '.') step(lx);
  for (; digit_value(at(lx, 0)) < 16; step(lx)) mant += (unit /= 16) * digit_value(at(lx, 0));
  if (at(lx, 0) == 'p' && !exponent(lx, &e)) return number_error(lx, t, start, "exponent has no digits");
  if (e > 4000 || e < -4000) return number_error(lx, t, start, "exponent is out of range");
  for (; e > 0; e--) mant *= 2;
  for (; e < 0; e++) mant /= 2;
  t.fnum = mant;
  return is_word(at(lx, 0)) ? number_error(lx, t, start, "malformed number") : finish(lx, t, start);
}

static un__token decimal_float(un__lexer *lx, un__token t, size_t start) {
  int e = 0;
  if (at(lx, 0) == '.') step(lx);
  while (is_digit(at(lx, 0))) step(lx);
  if (at(lx, 0) == 'e' && !exponent(lx, &e)) return number_error(lx, t, start, "exponent has no digits");
  if (is_word(at(lx, 0)) || un__parse_f64(lx->text + start, lx->at - start, &t.fnum) != UN__NUM_OK)
    return number_error(lx, t, start, "malformed number");
  return finish(lx, t, start);
}

static un__token number(un__lexer *lx) {
  un__token t = {.kind = UN__T_INT, .loc = here(lx)};
  size_t start = lx->at;
  int base = 10;
  if (at(lx, 0) == '0' && at(lx, 1) == 'x') {
    base = 16;
    step(lx);
    step(lx);
    if (digit_value(at(lx, 0)) >= 16) return number_error(lx, t, start, "malformed number");
  }
  for (; digit_value(at(lx, 0)) < base; step(lx)) {
    if (base == 10 && at(lx, 0) == 'e') break;
    uint64_t d = (uint64_t)digit_value(at(lx, 0));
    if (t.num > (UINT64_MAX - d) / (uint64_t)base) return number_error(lx, t, start, "number does not fit 64 bits");
    t.num = t.num * (uint64_t)base + d;
  }
  bool point = at(lx, 0) == '.' && digit_value(at(lx, 1)) < base;
  if (point || at(lx, 0) == (base == 16 ? 'p' : 'e')) {
    t.kind = UN__T_FLOAT;
    return base == 16 ? hex_float(lx, t, start) : decimal_float(lx, t, start);
  }
  if (is_word(at(lx, 0))) return number_error(lx, t, start, "malformed number");
  return finish(lx, t, start);
}

static un__token string(un__lexer *lx) {
  un__token t = {.kind = UN__T_STRING, .loc = here(lx)};
  size_t start = lx->at;
  step(lx);
  size_t body = lx->at;
  while (at(lx, 0) >= 0 && at(lx, 0) != '"' && at(lx, 0) != '\n') step(lx);
  t.text = un__pat_textn(lx->p, lx->text + body, lx->at - body);
  if (at(lx, 0) == '"')
    step(lx);
  else
    un__pat_error(lx->p, t.loc, "lex", "string is not closed");
  return finish(lx, t, start);
}

static un__token doc(un__lexer *lx) {
  un__token t = {.kind = UN__T_DOC, .loc = here(lx)};
  size_t start = lx->at;
  for (int i = 0; i < 3; i++) step(lx);
  if (at(lx, 0) == ' ') step(lx);
  size_t body = lx->at;
  while (at(lx, 0) >= 0 && at(lx, 0) != '\n') step(lx);
  size_t end = lx->at;
  while (end > body && is_space((unsigned char)lx->text[end - 1])) end--;
  t.text = un__pat_textn(lx->p, lx->text + body, end - body);
  return finish(lx, t, start);
}

/* Longest first. */
static const struct {
  char text[3];
  un__tok kind;
} punct[] = {{"~>", UN__T_TILDE_ARROW}, {"=>", UN__T_FAT_ARROW}, {"->", UN__T_ARROW}, {"..", UN__T_DOTDOT},
             {"||", UN__T_OROR},        {"&&", UN__T_ANDAND},    {"==", UN__T_EQ},    {"!=", UN__T_NE},
             {"<=", UN__T_LE},          {">=", UN__T_GE},        {"<<", UN__T_SHL},   {">>", UN__T_SHR},
             {"(", UN__T_LPAREN},       {")", UN__T_RPAREN},     {"[", UN__T_LBRACK}, {"]", UN__T_RBRACK},
             {"{", UN__T_LBRACE},       {"}", UN__T_RBRACE},     {",", UN__T_COMMA},  {":", UN__T_COLON},
             {"#", UN__T_HASH},         {"@", UN__T_AT},         {"?", UN__T_QUEST},  {"=", UN__T_ASSIGN},
             {"|", UN__T_OR},           {"^", UN__T_XOR},        {"&", UN__T_AND},    {"<", UN__T_LT},
             {">", UN__T_GT},           {"+", UN__T_PLUS},       {"-", UN__T_MINUS},  {"*", UN__T_STAR},
             {"/", UN__T_SLASH},        {"%", UN__T_PERCENT},    {"!", UN__T_BANG},   {"~", UN__T_TILDE}};
enum { NPUNCT = sizeof punct / sizeof *punct };

un__token un__lex_next(un__lexer *lx) {
  skip(lx);
  int c = at(lx, 0);
  if (c < 0 || lx->p->oom) return (un__token){.kind = UN__T_EOF, .loc = here(lx)};
  if (c == '/' && at(lx, 1) == '/') return doc(lx);
  if (is_digit(c)) return number(lx);
  if (is_upper(c) || is_lower(c) || c == '_') return word(lx);
  if (c == '"') return string(lx);
  size_t start = lx->at;
  un__token t = {.kind = UN__T_BAD, .loc = here(lx)};
  if (c == '\'' && (is_upper(at(lx, 1)) || is_lower(at(lx, 1)))) {
    step(lx);
    un__token w = word(lx);
    w.kind = UN__T_TYVAR;
    w.loc = t.loc;
    return finish(lx, w, start);
  }
  for (int i = 0; i < NPUNCT; i++) {
    size_t n = strlen(punct[i].text);
    if (lx->len - lx->at < n || memcmp(lx->text + lx->at, punct[i].text, n)) continue;
    lx->at += n;
    t.kind = punct[i].kind;
    return finish(lx, t, start);
  }
  un__pat_error(lx->p, t.loc, "lex", c >= 32 && c < 127 ? "stray '%c'" : "stray byte %d", c);
  do step(lx);
  while (at(lx, 0) >= 128 || (at(lx, 0) >= 0 && at(lx, 0) < 32 && !is_space(at(lx, 0))));
  return finish(lx, t, start);
}

static void skip_quoted(un__lexer *lx, int quote) {
  step(lx);
  while (at(lx, 0) >= 0 && at(lx, 0) != quote && at(lx, 0) != '\n') {
    if (at(lx, 0) == '\\' && at(lx, 1) >= 0) step(lx);
    step(lx);
  }
  if (at(lx, 0) == quote) step(lx);
}

static void skip_c_comment(un__lexer *lx) {
  if (at(lx, 1) == '/') {
    while (at(lx, 0) >= 0 && at(lx, 0) != '\n') step(lx);
    return;
  }
  step(lx);
  step(lx);
  while (at(lx, 0) >= 0 && !(at(lx, 0) == '*' && at(lx, 1) == '/')) step(lx);
  for (int i = 0; i < 2 && at(lx, 0) >= 0; i++) step(lx);
}

const char *un__lex_c_block(un__lexer *lx, un__pat_loc open, un__pat_loc *out_loc) {
  size_t start = lx->at;
  *out_loc = here(lx);
  for (int depth = 1; at(lx, 0) >= 0;) {
    int c = at(lx, 0);
    if (c == '"' || c == '\'') {
      skip_quoted(lx, c);
    } else if (c == '/' && (at(lx, 1) == '/' || at(lx, 1) == '*')) {
      skip_c_comment(lx);
    } else {
      if (c == '\0') break;
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      step(lx);
      if (!depth) return un__pat_textn(lx->p, lx->text + start, lx->at - 1 - start);
    }
  }
  un__pat_error(lx->p, open, "lex", "C block is not closed");
  lx->at = lx->len;
  return NULL;
}

const char *un__tok_text(un__tok t) {
  static const char *const names[] = {
      [UN__T_EOF] = "end of file",       [UN__T_NAME] = "a name",       [UN__T_OPNAME] = "an operation",
      [UN__T_INT] = "a number",          [UN__T_FLOAT] = "a number",    [UN__T_STRING] = "a string",
      [UN__T_TYVAR] = "a type variable", [UN__T_DOC] = "a doc comment", [UN__T_BAD] = "a stray character"};
  if (t <= UN__T_DOC || t == UN__T_BAD) return names[t];
  for (int i = 0; i < NPUNCT; i++)
    if (punct[i].kind == t) return punct[i].text;
  return "?";
}
