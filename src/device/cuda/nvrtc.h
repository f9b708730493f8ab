/* nvrtc.h - CUDA C to machine code, in process, with or without a GPU.
 *
 * NVRTC is loaded by the first compilation and stays: the file that UNIR_NVRTC names, or the newest that the driver can load
 * code of, of the loader's path, CUDA_HOME and /usr/local/cuda. */
#ifndef UN_DEVICE_CUDA_NVRTC_H
#define UN_DEVICE_CUDA_NVRTC_H

#include "device/device.h"

/* What is to be compiled. */
typedef struct un__cu_source {
  const char *text;           /* NUL-terminated */
  const char *entry;          /* for messages */
  const char *arch;           /* "sm_90a" */
  int driver;                 /* the driver's version, as 13000; 0: none */
} un__cu_source;

/* Machine code, the caller's (un__free); any thread, several at once. UN_ERR_DEVICE: no NVRTC, or none that knows the
 * architecture. UN_ERR_COMPILE: what it says of the text. */
un_status un__nvrtc_cubin(const un__cu_source *s, char **out, size_t *out_size, un__code_facts *facts, un__err *err);
/* Its assembly as text, the caller's (un__free). */
un_status un__nvrtc_ptx(const un__cu_source *s, char **out, un__err *err);
/* What every compilation is told, for keys: " --fmad=false ...". */
extern const char un__nvrtc_options[];
/* The version that is there, or why there is none. */
un_status un__nvrtc_version(int driver, int *out_major, int *out_minor, un__err *err);

#endif
