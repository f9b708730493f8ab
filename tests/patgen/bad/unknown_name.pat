include "nowhere.pat"
opset Set = ADD | Other
ruleset a : nothing {
  for op in Missing { rule r: op(x, y) ~> x }
  rule axis: r = RANGE<_, ax>(_) if ax == SIDEWAYS ~> r
}
stage s { use a, b }
