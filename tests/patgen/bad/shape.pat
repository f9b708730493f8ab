ruleset a {
  rule rest_first: ADD(*xs, y) ~> y
  rule root_name: x ~> x
  rule span_pattern: SINK(*NEG(x)) ~> root
  rule reserved: NEG(i32) ~> @zero
  rule binds_root: NEG(root) ~> root
  rule deep: NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(NEG(x)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))) ~> x
}
