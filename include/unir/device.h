/* unir/device.h - filled in with the API. */
#ifndef UNIR_DEVICE_H
#define UNIR_DEVICE_H
#include <unir/tensor.h>
#endif
