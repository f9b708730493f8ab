ruleset a order nodes(*) { rule r: NEG(NEG(x)) ~> x }
ruleset reduction {
  rule r: NEG(NEG(x)) ~> x
    test NEG(NEG(v:i32)) -> v
}
stage one { use reductions }
stage two { use reduction walk pre fix none }
stage two { use reduction walk once fix node }
stage four { use reduction order depth(*) }
stage five { use reduction order nodes(ADD, lower) }
stage six { use reduction fix all }
stage seven { use reduction fuel 5000000000 }
