// All rules that stages share, in one set: what agree.c runs through a decision tree and one by one.
include "simplify/simplify.pat"

ruleset everything : fold, bounds, arith, where_fold, casts, divmod, recombine, compare, valid, reduce { }
