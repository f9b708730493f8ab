ruleset base {
  rule any: NEG(NEG(x)) ~> x
    test NEG(NEG(v:i32)) -> v
}
ruleset a : base {
  rule one: NEG(NEG(x:i32)) ~> x
    test NEG(NEG(v:i32)) -> v
  rule later: NOT(NOT(x:bool|u8)) ~> x
    test NOT(NOT(v:u8)) -> v
  rule never: NOT(NOT(NOT(x:bool))) ~> NOT(x)
    test NOT(NOT(NOT(v:bool))) -> NOT(v)
  rule guarded: XOR[x:u8, #c] if c == 0 ~> x
    test XOR(v:u8, 0) -> v
  rule fires: XOR[x:u8, @zero] ~> x
    test XOR(v:u8, 0) -> v
}
