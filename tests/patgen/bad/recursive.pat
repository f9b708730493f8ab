fn f(x: node): node = g(x)
fn g(x: node): node = f(x)
ruleset a {
  rule r: NEG(x:i32) => f(x)
}
