#include "use.inc"

#include <cstddef>

/* Sizes of the C++ library are size_t: un_shape and un_list take any integer type. */
un_dims sizes_of_any_type(std::size_t rows, unsigned columns, short axis);
un_dims sizes_of_any_type(std::size_t rows, unsigned columns, short axis) {
  return axis ? un_list(axis, columns) : un_shape(2, rows, columns);
}
