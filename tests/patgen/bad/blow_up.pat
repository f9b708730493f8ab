ruleset a {
  rule many: ADD[ADD[ADD[ADD[ADD[a, b], c], d], e], MUL[f, g]] if vmin(a) < vmin(b) && vmin(c) < vmin(d) && vmin(e) < vmin(f) && vmin(f) < vmin(g) ~> a
}
