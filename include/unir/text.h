/* unir/text.h - look at what will run, at any stage, as a tree for people or as `.un` text.
 *
 * `what` says for each tensor: its expression (UN_STAGE_TENSOR), or what its realisation would run, down to the
 * assembly. Nothing is run and the tensor stays lazy. Stages SOURCE and ASM have one form only; ASM may be UNSUPPORTED
 * on a device.
 */
#ifndef UNIR_TEXT_H
#define UNIR_TEXT_H

#include <unir/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum un_form {
  UN_FORM_TREE = 0,        /* box lines, shared nodes shown once */
  UN_FORM_TEXT = 1         /* `.un` (docs/text-format.md): parses back to the same graph */
} un_form;

/* Prints to `out`. Errors also: INVALID_ARG (t or out is NULL, no such stage), IO. */
UN_API un_status un_print_tree(un_tensor *t, un_stage stage, FILE *out);
UN_API un_status un_print_text(un_tensor *t, un_stage stage, FILE *out);

/* The same as a NUL-terminated string; NULL on failure. Free it with un_text_free. */
UN_API UN_GIVE char *un_to_text(un_tensor *t, un_stage stage, un_form form);
/* What one un_realize of these n tensors would run. Errors also: INVALID_ARG (a NULL among them). */
UN_API UN_GIVE char *un_run_to_text(un_ctx *cx, size_t n, un_tensor *const *tensors, un_stage stage, un_form form);
UN_API void un_text_free(UN_TAKE char *text);

#ifdef __cplusplus
}
#endif

#ifndef UN_NO_HERE
#define un_print_tree(x, ...) un_print_tree(UN__AT(x), __VA_ARGS__)
#define un_print_text(x, ...) un_print_text(UN__AT(x), __VA_ARGS__)
#define un_to_text(x, ...) un_to_text(UN__AT(x), __VA_ARGS__)
#define un_run_to_text(cx, ...) un_run_to_text(UN__CX(cx), __VA_ARGS__)
#endif

#endif
