// tuple.pat - a TUPLE is no thing at run time: what takes a value from one takes the value.
c_include "simplify/simplify.h"

extern fn nth(xs: nodes, i: int): node

ruleset tuple {
  /// The value that was put in.
  @proof(fuzz) @order("what it gives stands below the GET already")
  rule get_of_tuple: GET<i>(TUPLE(*xs)) => nth(xs, i)
    test GET<1>(TUPLE(a:i32, b:f32)):f32 -> b
    test GET<2>(TUPLE(a:i32, b:f32)):f32 -> nomatch

  /// A lane whose number is known.
  @proof(fuzz)
  rule extract_known: EXTRACT(v, #i) => GEP<i>(v):dtype(root)
    test EXTRACT(VECTORIZE(a:f32, b:f32), 1:index):f32 -> GEP<1>(VECTORIZE(a, b)):f32
    test EXTRACT(VECTORIZE(a:f32, b:f32), w:index in [0, 1]):f32 -> nomatch
}
