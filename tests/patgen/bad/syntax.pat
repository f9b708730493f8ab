ruleset a {
  rule no_colon NEG(NEG(x)) ~> x
  rule no_arrow: NEG(NEG(x)) x
  rule fine: NEG(NEG(x)) ~> x
    test NEG(NEG(v:i32)) -> v
  rule bad_pattern: NEG(NEG()) ~> + x
}
nonsense
stage s { use a walk sideways }
