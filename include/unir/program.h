/* unir/program.h - programs: captured once, run again and again with other inputs.
 *
 * Building a graph and looking its schedule up costs more than small kernels do. A program does both once, allocates everything
 * that it needs, and then runs its kernels in a loop (on a GPU: in one launch):
 *
 *     un_tensor *loss = ..., *next = un_sub(w, un_mul(rate, gradient));       // lazy, from x, w, rate: tensors with data
 *     un_program *step = un_program_capture(cx, 2, (un_tensor *[]){x, rate}, 1, &loss, 1, &(un_update){w, next});
 *     for (int i = 0; i < 1000; i++) {
 *       un_program_write(step, 0, batch(i), batch_bytes);                     // or un_program_run(step, 2, tensors)
 *       un_program_run(step, 0, NULL);
 *     }
 *     un_assign(w, un_program_state(step, 0));                                // what 1000 steps have made of w
 *
 *   inputs     tensors with data (un_from_data, un_wrap_data, or realised) that the results were built from. Where they were
 *              used the program has a parameter; any other data it read then (weights) are constants, which the program keeps.
 *              Tensors that begin alike, such as two un_zeros, are one; un_clone gives each data of its own.
 *   updates    a training step changes its weights: `state`, a tensor with data, is replaced by `value` after every run, for the
 *              runs to come. The program works on a copy: handles, the one of `state` too, never change under their readers.
 *   results    lie in memory of the program, and are good until its next run. un_program_read copies them out,
 *              un_program_result gives a tensor of its own.
 *   memory     temporaries share memory by lifetime. All of it is allocated by un_program_capture; un_program_run with
 *              tensors that have data, un_program_write and un_program_read allocate nothing (the interpreter excepted).
 *   lifetime   a program belongs to its context, not to a scope: it lives until un_program_destroy or un_ctx_destroy. The
 *              tensors that it was captured from can be released.
 *   threads    as for the handles of its context: one thread at a time.
 *   failure    the context keeps the first error, with the caller's line. After a run that failed the states are as before
 *              it, and there are no results. NULL for a program gives INVALID_ARG or NULL.
 */
#ifndef UNIR_PROGRAM_H
#define UNIR_PROGRAM_H

#include <unir/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct un_program un_program;

/* After every run `state` is `value` (broadcast to its shape, converted to its dtype as by un_assign). */
typedef struct un_update { un_tensor *state, *value; } un_update;

/* Compiles a program that computes `results` from `inputs`. What the tensors hold now are the first inputs and the first
 * states. Lists of no entries may be NULL. Errors: INVALID_ARG (a NULL entry; an input or state without data; one that is
 * listed twice; an input that neither results nor values were built from), SHAPE and DTYPE (of an update), and those of un_realize. */
UN_API UN_GIVE un_program *un_program_capture(un_ctx *cx, size_t ninputs, un_tensor *const *inputs, size_t nresults,
                                              un_tensor *const *results, size_t nupdates, const un_update *updates);
/* NULL is allowed. */
UN_API void un_program_destroy(UN_TAKE un_program *p);

/* Runs it. inputs: none (0, NULL) to run with the present ones, or one for each input of the capture, of the same shape and
 * dtype; NULL entries keep the present one. The program reads their data in place from now on and keeps it. Inputs that are not
 * stored yet are realised. Errors: INVALID_ARG (another number of inputs), SHAPE, DTYPE, CTX_MISMATCH, and those of un_realize. */
UN_API un_status un_program_run(un_program *p, size_t ninputs, un_tensor *const *inputs);

/* Input i is a copy of these elements, row-major, from now on. Errors: INVALID_ARG (no such input, data is NULL, size is not
 * that of the input). */
UN_API un_status un_program_write(un_program *p, size_t i, const void *data, size_t size);

/* Copies the elements of result i of the last run. Errors: INVALID_ARG (no such result, out is NULL, not exactly its size, the
 * program has not run). */
UN_API un_status un_program_read(un_program *p, size_t i, void *out, size_t size);
/* The same as a tensor that belongs to the innermost scope, and that later runs leave as it is. */
UN_API un_tensor *un_program_result(un_program *p, size_t i);

/* State i (of update i) as it is now, as a tensor of its own. Errors: INVALID_ARG (no such state). */
UN_API un_tensor *un_program_state(un_program *p, size_t i);
/* State i is a copy of t from now on. Errors: INVALID_ARG (no such state), SHAPE, DTYPE, CTX_MISMATCH, those of un_realize. */
UN_API un_status un_program_set_state(un_program *p, size_t i, un_tensor *t);

/* How many kernels and copies a run launches; 0 for NULL. */
UN_API size_t un_program_launches(const un_program *p);

/* As un_at, for calls whose first argument is a program. */
UN_API un_program *un_program_at(un_program *p, const char *file, int line);

#ifdef __cplusplus
}
#endif

#ifndef UN_NO_HERE
#define UN__PROGRAM(p) un_program_at((p), __FILE__, __LINE__)
#define un_program_capture(cx, ...) un_program_capture(UN__CX(cx), __VA_ARGS__)
#define un_program_run(p, ...) un_program_run(UN__PROGRAM(p), __VA_ARGS__)
#define un_program_write(p, ...) un_program_write(UN__PROGRAM(p), __VA_ARGS__)
#define un_program_read(p, ...) un_program_read(UN__PROGRAM(p), __VA_ARGS__)
#define un_program_result(p, ...) un_program_result(UN__PROGRAM(p), __VA_ARGS__)
#define un_program_state(p, ...) un_program_state(UN__PROGRAM(p), __VA_ARGS__)
#define un_program_set_state(p, ...) un_program_set_state(UN__PROGRAM(p), __VA_ARGS__)
#endif

#endif
