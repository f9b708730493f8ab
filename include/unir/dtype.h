/* unir/dtype.h - element types of tensors. */
#ifndef UNIR_DTYPE_H
#define UNIR_DTYPE_H

#include <unir/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Stable values; append only. UN_VOID, UN_INDEX: never the dtype of a tensor with data. */
typedef enum un_dtype {
  UN_VOID = 0,
  UN_BOOL = 1,
  UN_I8 = 2,
  UN_U8 = 3,
  UN_I16 = 4,
  UN_U16 = 5,
  UN_I32 = 6,
  UN_U32 = 7,
  UN_I64 = 8,
  UN_U64 = 9,
  UN_F16 = 10,
  UN_BF16 = 11,
  UN_F32 = 12,
  UN_F64 = 13,
  UN_F8E4M3 = 14,
  UN_F8E5M2 = 15,
  UN_INDEX = 16,
  UN_DTYPE_COUNT = 17
} un_dtype;

/* "f32" and so on; "?" for a value outside the enum. Static storage, any thread. */
UN_API UN_KEEP const char *un_dtype_name(un_dtype dtype);

/* Bytes of one element; 0 for UN_VOID, UN_INDEX and values outside the enum. Any thread. */
UN_API size_t un_dtype_size(un_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
