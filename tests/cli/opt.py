"""`unir opt`: passes by name."""
import kit

# A kernel that scales 64 values, and stages of its own.
KERNEL = """unir 1
graph @scale stage=kernel {
  %n = const index [val=64]
  %p = param ptr.f32 %n [slot=0]
  %i = range index %n [id=0 axis=loop]
  %o = index ptr.f32 %p, %i
  %q = param ptr.f32 %n [slot=1]
  %a = index ptr.f32 %q, %i
  %x = load f32 %a
  %two = const f32 [val=2.0]
  %y = mul f32 %x, %two
  %s = store void %o, %y
  %e = end void %s, %i
  sink %e
}
"""


class Opt(kit.Case):
    def setUp(self):
        super().setUp()
        self.write("kernel.un", KERNEL)
        self.write("linear.un", self.ok("opt", "--pass=opt,lower", "kernel.un"))
        self.write("schedule.un", self.ok("opt", "--pass=schedule", "two.un"))

    def names(self):
        return [line.split()[0] for line in self.ok("opt", "--list").splitlines()]

    def test_list(self):
        names = self.names()
        for name in ["schedule", "rangeify", "opt", "lower", "linearize", "simplify"]:
            self.assertIn(name, names)
        self.assertEqual(len(names), len(set(names)))
        self.usage("opt", "--list", "double.un", says="expected one FILE, or --list")

    def test_every_listed_pass_answers(self):
        """On a graph of any stage: a graph, or words about the stage; never "no such pass", never a crash."""
        done = set()
        for name in self.names():
            for stage in ["double", "kernel", "linear", "schedule"]:
                code, out, err = self.call("opt", "--pass=" + name, stage + ".un")
                self.assertIn(code, (0, 1), (name, stage, err))
                self.assertNotIn("no pass is called", err)
                if code == 0:
                    done.add(name)
                    self.assertEqual(self.ok("opt", "--no-verify", "-", stdin=out), out, (name, stage))
        self.assertEqual(done, set(self.names()) - {"linearize"})     # it takes what the other steps have made

    def test_unknown_pass(self):
        self.fails("opt", "--pass=polish", "double.un", says="no pass is called polish: see --list")
        self.fails("opt", "--pass=simplify,polish", "double.un", says="no pass is called polish")

    def test_stage_does_not_fit(self):
        self.fails("opt", "--pass=lower", "double.un",
                   says="lower: expected a graph at stage kernel, it is at stage tensor")
        self.fails("opt", "--pass=rangeify", "kernel.un",
                   says="rangeify: expected a graph at stage tensor, it is at stage kernel")
        self.fails("opt", "--pass=rangeify,opt,lower,opt", "double.un",
                   says="opt: expected a graph at stage kernel, it is at stage linear")

    def test_steps_are_lower(self):
        steps = "expand,accumulate,gates,index,narrow,decompose,fma,linearize"
        self.assertEqual(self.ok("opt", "--pass=" + steps, "kernel.un"), self.ok("opt", "--pass=lower", "kernel.un"))

    def test_canonical_text(self):
        out = self.ok("opt", "double.un")
        self.assertIn("  %2 = add f32 %1, %1\n", out)
        self.assertEqual(self.ok("opt", "-", stdin=out), out)

    def test_tree_notes_and_why(self):
        self.assertTrue(self.ok("opt", "--tree", "double.un").startswith("[3] SINK : void\n└── [2] ADD : f32 (4)\n"))
        self.assertIn("# (4)", self.ok("opt", "--notes", "double.un"))
        why = self.ok("opt", "--pass=rangeify,opt", "--why", "matmul.un")
        self.assertTrue(why.startswith("# lanes: "), why)
        self.assertEqual(self.ok("opt", "-", stdin=why), self.ok("opt", "--pass=rangeify,opt", "matmul.un"))

    def test_sequential(self):
        """A LOOP is called sequential only where the machine has threads."""
        words = "r0 in [0,64), sequential"
        self.assertIn(words, self.ok("opt", "--tree", "kernel.un"))
        self.assertNotIn(words, self.ok("opt", "--tree", "--target=interp", "kernel.un"))

    def test_plan(self):
        """A plan of the user's own in place of the heuristics'."""
        out = self.ok("opt", "--pass=opt", "--plan=split 0 inner 4 upcast,split 0 outer 2 thread", "kernel.un")
        self.assertIn("axis=upcast", out)
        self.assertIn("axis=thread", out)
        self.fails("opt", "--pass=opt", "--plan=split 9 inner 4 upcast", "kernel.un", says="there is no such range")
        for plan in ["", "split 0", "split 0 inner 4 upcast,", "stage 0 ring 1"]:
            self.usage("opt", "--plan=" + plan, "kernel.un", says="--plan: expected steps")

    def test_target_and_numerics(self):
        run = ["opt", "--pass=rangeify,opt,lower"]
        self.assertNotIn("f32x", self.ok(*run, "--target=interp", "matmul.un"))
        self.assertIn("mulacc f32x8", self.ok(*run, "--target=generic", "matmul.un"))
        self.assertNotIn("mulacc f32", self.ok(*run, "--numerics=strict", "matmul.un"))

    def test_no_verify(self):
        odd = kit.DOUBLE.replace("stage=tensor", "stage=kernel")
        self.fails("opt", "-", stdin=odd, says="unir: stage kernel: ")
        self.assertIn("stage=kernel", self.ok("opt", "--no-verify", "-", stdin=odd))


if __name__ == "__main__":
    kit.main()
