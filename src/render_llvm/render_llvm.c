/* render_llvm.c - a linear kernel as LLVM IR: the function, its loops and its memory.
 *
 * Values are SSA; loops are rotated (body first, guarded when they may be empty); an accumulator is a stack slot that
 * the compiler's sroa turns into a register. A gated scalar access goes to a slot of zeros (loads) or a slot nobody reads
 * (stores) when its gate is false, so that it needs no branch; a vector access with a gate a lane is masked. */
#include "render_llvm.h"

#include "llvm_text.h"

/* ---- memory ---- */

static uint32_t access_bytes(un__dtype d) { return un__dt_info(d)->size * un__dt_lanes(d); }

static void grow(uint32_t *have, uint32_t want) {
  if (*have < want) *have = want;
}

/* The pointer an access really uses, given its gate (a scalar bool, or NULL). */
static uint32_t put_guarded_pointer(un__llvm *r, const un_uop *index, const un_uop *gate, const char *fallback) {
  uint32_t p = un__llvm_temp(r);
  un__llvm_emit(r, "select i1 %V, ptr %V, ptr %%%s\n", gate, index, fallback);
  return p;
}

/* How a dtype is declared for the masked intrinsics: "<8 x float> @llvm.masked.load.v8f32.p0(...)". */
static void declare_masked(un__llvm *r, un__dtype memory, bool load) {
  un__strbuf s;
  un__sb_init(&s);
  un__dtype truth = un__dt_vec(UN_BOOL, un__dt_lanes(memory));
  if (load) un__llvm_put_type(&s, memory);
  else un__sb_puts(&s, "void");
  un__sb_printf(&s, " @llvm.masked.%s.", load ? "load" : "store");
  un__llvm_put_suffix(&s, memory);
  un__sb_puts(&s, load ? ".p0(ptr, i32, " : ".p0(");
  if (!load) {
    un__llvm_put_type(&s, memory);
    un__sb_puts(&s, ", ptr, i32, ");
  }
  un__llvm_put_type(&s, truth);
  if (load) {
    un__sb_puts(&s, ", ");
    un__llvm_put_type(&s, memory);
  }
  un__sb_putc(&s, ')');
  un__llvm_declare(r, &s);
}

static const un_uop *gate_of(const un_uop *index) { return index->nsrc > 2 ? index->src[2] : NULL; }

/* The dtype that is really loaded and stored. bool lives in memory as i8. f16 is moved under a mask as an integer: where
 * the target lacks it, LLVM would take the vector apart by way of f32. */
static un__dtype memory_dtype(un__dtype d, const un_uop *gate) {
  if (un__dt_is_bool(d)) return un__dt_with_scalar(d, UN_U8);
  return un__dt_scalar(d) == UN_F16 && gate && un__lanes(gate) > 1 ? un__dt_with_scalar(d, UN_U16) : d;
}

static uint32_t put_raw_load(un__llvm *r, const un_uop *n) {
  const un_uop *index = n->src[0], *gate = gate_of(index);
  un__dtype d = memory_dtype(n->dtype, gate);
  uint32_t align = un__dt_info(d)->size;
  if (!gate) {
    uint32_t v = un__llvm_temp(r);
    un__llvm_emit(r, "load %T, ptr %V, align %d\n", d, index, align);
    return v;
  }
  if (un__lanes(gate) > 1) {
    declare_masked(r, d, true);
    uint32_t v = un__llvm_temp(r);
    un__llvm_emit(r, "call %T @llvm.masked.load.%S.p0(ptr %V, i32 %d, %T %V, %T zeroinitializer)\n", d, d, index, align,
                  gate->dtype, gate, d);
    return v;
  }
  grow(&r->zero_bytes, access_bytes(d));
  uint32_t p = put_guarded_pointer(r, index, gate, "zero");
  uint32_t v = un__llvm_temp(r);
  un__llvm_emit(r, "load %T, ptr %t, align %d\n", d, p, align);
  return v;
}

static bool put_load(un__llvm *r, const un_uop *n) {
  uint32_t v = put_raw_load(r, n);
  un__dtype d = memory_dtype(n->dtype, gate_of(n->src[0]));
  if (d != n->dtype) {
    uint32_t raw = v;
    v = un__llvm_temp(r);
    un__llvm_emit(r, un__dt_is_bool(n->dtype) ? "trunc %T %t to %T\n" : "bitcast %T %t to %T\n", d, raw, n->dtype);
  }
  un__llvm_bind(r, n, v);
  return true;
}

static bool put_store(un__llvm *r, const un_uop *n) {
  const un_uop *index = n->src[0], *gate = gate_of(index);
  un__dtype from = n->src[1]->dtype, d = memory_dtype(from, gate);
  un__operand value = un__llvm_node(n->src[1]);
  if (d != from) {
    value = un__llvm_number(un__llvm_temp(r));
    un__llvm_emit(r, un__dt_is_bool(from) ? "zext %T %V to %T\n" : "bitcast %T %V to %T\n", from, n->src[1], d);
  }
  uint32_t align = un__dt_info(d)->size;
  if (gate && un__lanes(gate) > 1) {
    declare_masked(r, d, false);
    un__llvm_emit(r, "  call void @llvm.masked.store.%S.p0(%T %O, ptr %V, i32 %d, %T %V)\n", d, d, value, index, align,
                  gate->dtype, gate);
    return true;
  }
  if (!gate) {
    un__llvm_emit(r, "  store %T %O, ptr %V, align %d\n", d, value, index, align);
    return true;
  }
  grow(&r->sink_bytes, access_bytes(d));
  uint32_t p = put_guarded_pointer(r, index, gate, "sink");
  un__llvm_emit(r, "  store %T %O, ptr %t, align %d\n", d, value, p, align);
  return true;
}

static bool put_index(un__llvm *r, const un_uop *n) {
  un__llvm_define(r, n);
  un__llvm_emit(r, "getelementptr %M, ptr %V, %T %V\n", n->dtype & 0x00ffffffu, n->src[0], n->src[1]->dtype, n->src[1]);
  return true;
}

/* Stack slots stand in the entry block, wherever the list has them. */
static bool put_slot(un__llvm *r, const un_uop *n) {
  int64_t count = un__known_size(n->src[0]);
  un__dtype element = n->dtype & 0x00ffffffu;
  if (count < 0 || count > (1 << 20) / (int64_t)access_bytes(element)) return false;
  un__llvm_bind(r, n, r->next_value);
  un__sb_printf(&r->entry, "  %%v%u = alloca [%lld x ", r->next_value++, (long long)count);
  un__llvm_put_memory_type(&r->entry, element);
  un__sb_puts(&r->entry, "], align 64\n");
  return true;
}

/* ---- parameters ---- */

static bool put_param(un__llvm *r, const un_uop *n) {
  un__llvm_bind(r, n, r->next_value);
  un__sb_printf(&r->entry, "  %%v%u = bitcast ptr %%p%lld to ptr\n", r->next_value++, (long long)un__attr(n, 0));
  return true;
}

/* Variables are numbered in the order of the list. */
static bool put_var(un__llvm *r, const un_uop *n) {
  uint32_t place = un__llvm_temp(r);
  un__llvm_emit(r, "getelementptr i64, ptr %%vars, i64 %d\n", r->nvars++);
  uint32_t wide = un__llvm_temp(r);
  un__llvm_emit(r, "load i64, ptr %t, align 8\n", place);
  if (un__dt_info(n->dtype)->mantissa == 64) return un__llvm_bind(r, n, wide), true;
  un__llvm_define(r, n);
  un__llvm_emit(r, "trunc i64 %t to %T\n", wide, n->dtype);
  return true;
}

static bool put_special(un__llvm *r, const un_uop *n) {
  if (un__attr(n, 0) != UN__AXIS_THREAD) return false;
  un__llvm_define(r, n);
  if (un__dt_info(n->dtype)->mantissa == 64) un__llvm_emit(r, "bitcast i64 %%task to i64\n");
  else un__llvm_emit(r, "trunc i64 %%task to %T\n", n->dtype);
  return true;
}

/* ---- blocks ---- */

static void open_block(un__llvm *r, uint32_t label) {
  un__llvm_emit(r, "b%d:\n", label);
  r->block = label;
}

/* Four numbers in a row belong to a loop: the variable, the block of its body, the block behind it, the next value. */
enum { LOOP_VALUE, LOOP_BODY, LOOP_EXIT, LOOP_NEXT, LOOP_NUMBERS };

static bool put_range(un__llvm *r, const un_uop *n) {
  uint32_t base = r->next_value, before = r->block;
  r->next_value += LOOP_NUMBERS;
  un__llvm_bind(r, n, base + LOOP_VALUE);
  if (n->src[0]->vmin >= 1) {
    un__llvm_emit(r, "  br label %b\n", base + LOOP_BODY);
  } else {
    uint32_t some = un__llvm_temp(r);
    un__llvm_emit(r, "icmp sgt %T %V, 0\n  br i1 %t, label %b, label %b\n", n->dtype, n->src[0], some, base + LOOP_BODY,
                  base + LOOP_EXIT);
  }
  open_block(r, base + LOOP_BODY);
  /* The block that jumps back is known only at the END: LLVM accepts the name before it exists. */
  un__llvm_emit(r, "  %t = phi %T [ 0, %b ], [ %t, %%latch%d ]\n", base + LOOP_VALUE, n->dtype, before, base + LOOP_NEXT, base);
  return true;
}

static bool put_end(un__llvm *r, const un_uop *n) {
  const un_uop *range = n->src[1];
  const uintptr_t *number = un__ptrmap_get(&r->names, range);
  if (n->nsrc != 2 || !number) return false;
  uint32_t base = (uint32_t)*number;
  uint32_t more = r->next_value++;
  un__llvm_emit(r, "  br label %%latch%d\nlatch%d:\n", base, base);
  un__llvm_emit(r, "  %t = add nuw nsw %T %t, 1\n", base + LOOP_NEXT, range->dtype, base + LOOP_VALUE);
  un__llvm_emit(r, "  %t = icmp slt %T %t, %V\n", more, range->dtype, base + LOOP_NEXT, range->src[0]);
  un__llvm_emit(r, "  br i1 %t, label %b, label %b\n", more, base + LOOP_BODY, base + LOOP_EXIT);
  open_block(r, base + LOOP_EXIT);
  return true;
}

static bool put_if(un__llvm *r, const un_uop *n) {
  uint32_t base = r->next_value;
  r->next_value += 2;
  un__llvm_bind(r, n, base);
  un__llvm_emit(r, "  br i1 %V, label %b, label %b\n", n->src[0], base, base + 1);
  open_block(r, base);
  return true;
}

static bool put_endif(un__llvm *r, const un_uop *n) {
  const uintptr_t *number = un__ptrmap_get(&r->names, n->src[0]);
  if (!number) return false;
  un__llvm_emit(r, "  br label %b\n", (uint32_t)*number + 1);
  open_block(r, (uint32_t)*number + 1);
  return true;
}

static bool put_nothing(un__llvm *r, const un_uop *n) { return true; }

/* What stands for another value. */
static bool put_alias(un__llvm *r, const un_uop *n) {
  const uintptr_t *number = un__ptrmap_get(&r->names, n->src[0]);
  if (number) un__llvm_bind(r, n, (uint32_t)*number);
  return number != NULL;
}

static bool (*const put[UN__OP_COUNT])(un__llvm *r, const un_uop *n) = {
  [UN__OP_CONST] = put_nothing, [UN__OP_GROUP] = put_nothing, [UN__OP_SINK] = put_nothing, [UN__OP_BARRIER] = put_nothing,
  [UN__OP_AFTER] = put_alias, [UN__OP_PARAM] = put_param, [UN__OP_VAR] = put_var, [UN__OP_SPECIAL] = put_special,
  [UN__OP_DEFINE_REG] = put_slot, [UN__OP_DEFINE_LOCAL] = put_slot, [UN__OP_INDEX] = put_index, [UN__OP_LOAD] = put_load,
  [UN__OP_STORE] = put_store, [UN__OP_RANGE] = put_range, [UN__OP_END] = put_end, [UN__OP_IF] = put_if,
  [UN__OP_ENDIF] = put_endif,
};

/* ---- the function ---- */

static un_status put_node(un__llvm *r, const un_uop *n) {
  bool done = put[n->op] ? put[n->op](r, n) : un__llvm_alu(r, n);
  if (!done)
    un__fail(r->err, UN_ERR_INTERNAL, "llvm: %s of dtype %s with %u lanes has no form in LLVM IR", un__info(n)->name,
             un__dt_info(n->dtype)->name, un__lanes(n));
  return r->err->status;
}

static uint32_t count_params(const un_uop *linear) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < linear->nsrc; i++)
    if (un__is(linear->src[i], UN__OP_PARAM) && un__attr(linear->src[i], 0) >= n) n = (uint32_t)un__attr(linear->src[i], 0) + 1;
  return n;
}

/* The entry loads the arguments and calls the body, whose pointers are known not to overlap: results are written to
 * buffers of their own. */
static void put_function(const un__llvm *r, const char *entry, uint32_t nparams, un__strbuf *out) {
  un__sb_puts(out, "define internal void @body(ptr %vars, i64 %task");
  for (uint32_t i = 0; i < nparams; i++) un__sb_printf(out, ", ptr noalias %%p%u", i);
  un__sb_puts(out, ") #0 {\nb0:\n");
  if (r->zero_bytes) un__sb_printf(out, "  %%zero = alloca [%u x i8], align 64\n  store [%u x i8] zeroinitializer, ptr %%zero, align 64\n",
                                   r->zero_bytes, r->zero_bytes);
  if (r->sink_bytes) un__sb_printf(out, "  %%sink = alloca [%u x i8], align 64\n", r->sink_bytes);
  un__sb_puts(out, un__sb_str(&r->entry));
  un__sb_puts(out, un__sb_str(&r->body));
  un__sb_puts(out, "  ret void\n}\n\n");
  un__sb_printf(out, "define void @%s(ptr %%args, ptr %%vars, i64 %%task) #0 {\n", entry);
  for (uint32_t i = 0; i < nparams; i++)
    un__sb_printf(out, "  %%a%u = getelementptr ptr, ptr %%args, i64 %u\n  %%p%u = load ptr, ptr %%a%u, align 8\n", i, i, i, i);
  un__sb_puts(out, "  call void @body(ptr %vars, i64 %task");
  for (uint32_t i = 0; i < nparams; i++) un__sb_printf(out, ", ptr %%p%u", i);
  un__sb_puts(out, ")\n  ret void\n}\n\n");
  un__sb_puts(out, un__sb_str(&r->decls));
  un__sb_puts(out, "attributes #0 = { nounwind }\n");
}

un_status un__render_llvm(const un_uop *linear, const char *entry, const un__target *t, un__strbuf *out, un__err *err) {
  un__err local = {0};
  un__llvm r = {.next_value = 1, .err = &local};
  for (uint32_t i = 0; i < linear->nsrc && local.status == UN_OK; i++) put_node(&r, linear->src[i]);
  if (local.status == UN_OK) put_function(&r, entry, count_params(linear), out);
  if (r.decls.failed || r.entry.failed || r.body.failed || out->failed)
    un__fail(&local, UN_ERR_NOMEM, "no memory for LLVM IR");
  un__sb_finish(&r.decls);
  un__sb_finish(&r.entry);
  un__sb_finish(&r.body);
  un__ptrmap_finish(&r.names);
  return un__err_copy(err, &local);
}
