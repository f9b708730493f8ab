/* movement.c - movement ops of the tensor stage as affine maps from result index to source element. */
#include "tensor.h"

void un__itensor_strides(const un__itensor *t, int64_t stride[UN__MAX_RANK]) {
  int64_t step = 1;
  for (uint32_t d = t->rank; d-- > 0;) {
    stride[d] = step;
    step *= t->dim[d];
  }
}

typedef void (*view_fn)(const un_uop *n, const un__itensor *src, const int64_t *src_stride, un__iview *v);

static void view_permute(const un_uop *n, const un__itensor *src, const int64_t *src_stride, un__iview *v) {
  (void)src;
  for (uint32_t d = 0; d < v->rank; d++) v->stride[d] = src_stride[un__attr(n, d)];
}

static void view_expand(const un_uop *n, const un__itensor *src, const int64_t *src_stride, un__iview *v) {
  (void)n;
  for (uint32_t d = 0; d < v->rank; d++) v->stride[d] = src->dim[d] == v->dim[d] ? src_stride[d] : 0;
}

static void view_flip(const un_uop *n, const un__itensor *src, const int64_t *src_stride, un__iview *v) {
  for (uint32_t d = 0; d < v->rank; d++) {
    bool flipped = un__attr(n, 0) >> d & 1;
    v->stride[d] = flipped ? -src_stride[d] : src_stride[d];
    if (flipped) v->offset += (src->dim[d] - 1) * src_stride[d];
  }
}

static void view_shrink(const un_uop *n, const un__itensor *src, const int64_t *src_stride, un__iview *v) {
  (void)src;
  for (uint32_t d = 0; d < v->rank; d++) {
    v->stride[d] = src_stride[d];
    v->offset += un__const_int(n->src[1 + d]) * src_stride[d];
  }
}

static void view_pad(const un_uop *n, const un__itensor *src, const int64_t *src_stride, un__iview *v) {
  for (uint32_t d = 0; d < v->rank; d++) {
    int64_t before = un__const_int(n->src[1 + d]);
    v->stride[d] = src_stride[d];
    v->offset -= before * src_stride[d];
    v->lo[d] = before;
    v->hi[d] = before + src->dim[d];
  }
}

static const view_fn view_table[UN__OP_COUNT] = {
    [UN__OP_PERMUTE] = view_permute, [UN__OP_EXPAND] = view_expand, [UN__OP_FLIP] = view_flip,
    [UN__OP_SHRINK] = view_shrink,   [UN__OP_PAD] = view_pad,
};

bool un__iview_of(const un_uop *n, const un__itensor *out, const un__itensor *src, un__iview *view) {
  if (!view_table[n->op]) return false;
  int64_t src_stride[UN__MAX_RANK];
  un__itensor_strides(src, src_stride);
  *view = (un__iview){.rank = out->rank};
  for (uint32_t d = 0; d < out->rank; d++) view->dim[d] = view->hi[d] = out->dim[d];
  view_table[n->op](n, src, src_stride, view);
  return true;
}

static bool inside(const un__iview *v, const int64_t *idx) {
  for (uint32_t d = 0; d < v->rank; d++)
    if (idx[d] < v->lo[d] || idx[d] >= v->hi[d]) return false;
  return true;
}

void un__iview_walk(const un__iview *v, un__iview_fn fn, void *data) {
  int64_t idx[UN__MAX_RANK] = {0}, from = v->offset;
  for (uint32_t d = 0; d < v->rank; d++)
    if (v->dim[d] == 0) return;
  for (int64_t to = 0;; to++) {
    fn(data, to, inside(v, idx) ? from : -1);
    uint32_t d = v->rank;
    while (d > 0 && ++idx[d - 1] == v->dim[d - 1]) {
      from -= v->stride[d - 1] * (v->dim[d - 1] - 1);
      idx[--d] = 0;
    }
    if (d == 0) return;
    from += v->stride[d - 1];
  }
}
