// random.pat - THREEFRY as 32-bit additions, rotations and exclusive ors.
c_include "codegen/decompose.h"

extern fn threefry_rounds(counter: node, key: node): node

ruleset decompose_random {
  /// Twenty rounds over two words that need each other's last value: a loop says it, a template would be 20 deep.
  @proof(fuzz)
  rule threefry: THREEFRY(counter:u64, key) => threefry_rounds(counter, key)
    test THREEFRY(v:u64, w:u64) -> fires
}
