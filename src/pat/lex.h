/* lex.h - tokens of a .pat file. Private to src/pat, except un__tok, which expressions carry. */
#ifndef UN_PAT_LEX_H
#define UN_PAT_LEX_H

#include "pat.h"

typedef enum un__tok {
  UN__T_EOF,
  UN__T_NAME,
  UN__T_OPNAME,
  UN__T_INT,
  UN__T_FLOAT,
  UN__T_STRING,
  UN__T_TYVAR,
  UN__T_DOC,
  UN__T_LPAREN,
  UN__T_RPAREN,
  UN__T_LBRACK,
  UN__T_RBRACK,
  UN__T_LBRACE,
  UN__T_RBRACE,
  UN__T_COMMA,
  UN__T_COLON,
  UN__T_HASH,
  UN__T_AT,
  UN__T_QUEST,
  UN__T_TILDE_ARROW,
  UN__T_FAT_ARROW,
  UN__T_ARROW,
  UN__T_DOTDOT,
  UN__T_ASSIGN,
  UN__T_OROR,
  UN__T_ANDAND,
  UN__T_OR,
  UN__T_XOR,
  UN__T_AND,
  UN__T_EQ,
  UN__T_NE,
  UN__T_LT,
  UN__T_LE,
  UN__T_GT,
  UN__T_GE,
  UN__T_SHL,
  UN__T_SHR,
  UN__T_PLUS,
  UN__T_MINUS,
  UN__T_STAR,
  UN__T_SLASH,
  UN__T_PERCENT,
  UN__T_BANG,
  UN__T_TILDE,
  UN__T_BAD
} un__tok;

typedef struct un__token {
  un__tok kind;
  un__pat_loc loc;
  const char *text; /* NAME, OPNAME, TYVAR, STRING, DOC: NUL-terminated copy */
  uint64_t num;
  double fnum;
} un__token;

typedef struct un__lexer {
  un__pat *p;
  uint32_t file;
  const char *text;
  size_t len, at;
  uint32_t line;
  size_t line_start;
} un__lexer;

void un__lex_init(un__lexer *lx, un__pat *p, uint32_t file);
un__token un__lex_next(un__lexer *lx);
/* Raw text of a C block whose `{` has just been read, up to its matching `}` (which is consumed). Strings, character
 * constants and comments are respected. NULL at the end of the file. */
const char *un__lex_c_block(un__lexer *lx, un__pat_loc open, un__pat_loc *out_loc);
const char *un__tok_text(un__tok t); /* "(", "a name" */

#endif
