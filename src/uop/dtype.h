/* dtype.h - scalar, vector and pointer dtypes in one word.
 *
 * A scalar is a row of dtypes.def. A vector is a scalar times lanes. A pointer points to a scalar in an
 * address space; INDEX keeps the pointer's dtype, and LOAD's own dtype says how many lanes are read.
 * Text: `f32`, `f32x8`, `ptr.f32` (global), `ptr.local.f32`, `ptr.reg.f32`.
 */
#ifndef UN_UOP_DTYPE_H
#define UN_UOP_DTYPE_H

#include <stdbool.h>
#include <stdint.h>
#include <unir/dtype.h>

typedef uint32_t un__dtype;   /* bits 0-7 un_dtype, 8-23 lanes, 24-31 address space (0: not a pointer) */

typedef enum un__space { UN__SPACE_NONE, UN__SPACE_GLOBAL, UN__SPACE_LOCAL, UN__SPACE_REG } un__space;

typedef enum un__class {
  UN__CLASS_VOID, UN__CLASS_BOOL, UN__CLASS_INT, UN__CLASS_UINT, UN__CLASS_FLOAT, UN__CLASS_INDEX
} un__class;

typedef struct un__dtype_info {
  const char *name;
  uint8_t size;          /* bytes */
  un__class cls;
  uint8_t mantissa, exponent;
} un__dtype_info;

extern const un__dtype_info un__dtype_table[UN_DTYPE_COUNT];

enum { UN__MAX_LANES = 0xffff };

#define UN__DT(scalar) ((un__dtype)(scalar) | 1u << 8)

static inline un_dtype un__dt_scalar(un__dtype d) { return (un_dtype)(d & 0xff); }
static inline uint32_t un__dt_lanes(un__dtype d) { return d >> 8 & 0xffff; }
static inline un__space un__dt_space(un__dtype d) { return (un__space)(d >> 24); }
static inline bool un__dt_is_ptr(un__dtype d) { return un__dt_space(d) != UN__SPACE_NONE; }
static inline un__dtype un__dt_vec(un_dtype s, uint32_t lanes) { return (un__dtype)s | lanes << 8; }
static inline un__dtype un__dt_with_lanes(un__dtype d, uint32_t lanes) { return (d & 0xff0000ffu) | lanes << 8; }
static inline un__dtype un__dt_with_scalar(un__dtype d, un_dtype s) { return (d & 0xffffff00u) | (un__dtype)s; }
static inline un__dtype un__dt_ptr(un_dtype s, un__space space) { return UN__DT(s) | (un__dtype)space << 24; }
static inline const un__dtype_info *un__dt_info(un__dtype d) { return &un__dtype_table[d & 0xff]; }
static inline un__class un__dt_class(un__dtype d) { return un__dt_info(d)->cls; }
static inline bool un__dt_is_float(un__dtype d) { return un__dt_class(d) == UN__CLASS_FLOAT; }
static inline bool un__dt_is_bool(un__dtype d) { return un__dt_class(d) == UN__CLASS_BOOL; }
static inline bool un__dt_is_index(un__dtype d) { return un__dt_class(d) == UN__CLASS_INDEX; }
/* Signed or unsigned fixed-width integer; not bool, not index. */
static inline bool un__dt_is_int(un__dtype d) {
  un__class c = un__dt_class(d);
  return c == UN__CLASS_INT || c == UN__CLASS_UINT;
}

/* The smallest dtype that both convert to, from the promotion lattice (docs/dtypes.md); UN_VOID: none. */
un_dtype un__dt_promote(un_dtype a, un_dtype b);

#endif
