/* unir/text.h - filled in with the API. */
#ifndef UNIR_TEXT_H
#define UNIR_TEXT_H
#include <unir/tensor.h>
#endif
