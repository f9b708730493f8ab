/* matmul.c - two matrices multiplied, and what ran. The program of README.md. */
#include <unir/unir.h>

int main(void) {
  un_ctx *cx;
  if (un_ctx_create(NULL, &cx) != UN_OK) return 1;
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12};
  un_tensor *x = un_from_data(cx, UN_F32, un_shape(2, 2, 3), a);    /* 2 axes: 2 x 3; the data is copied */
  un_tensor *y = un_from_data(cx, UN_F32, un_shape(2, 3, 2), b);
  un_tensor *z = un_matmul(x, y);                                   /* lazy: nothing has run */
  un_print_tree(z, UN_STAGE_KERNEL, stdout);                        /* what will run */
  float out[4];
  if (un_read(z, out, sizeof out) != UN_OK) fprintf(stderr, "%s\n", un_error(cx));
  else printf("%g %g\n%g %g\n", out[0], out[1], out[2], out[3]);
  un_ctx_destroy(cx);
  return 0;
}
