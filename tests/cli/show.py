"""`unir show`: every stage in every form."""
import kit

STAGES = ["tensor", "schedule", "kernel", "opt", "linear", "source", "asm"]
FIXED = "--device=null:generic"


class Stages(kit.Case):
    def show(self, stage, *more, device=FIXED, file="matmul.un"):
        return self.ok("show", "--stage=" + stage, device, *more, file)

    def test_trees(self):
        self.assertTrue(self.show("tensor").startswith("[11] SINK : void\n└── [10] REDUCE_AXIS(ADD, axes=(2)) : f32 (64,64)\n"))
        self.assertIn("KERNEL : void", self.show("schedule"))
        self.assertIn("RANGE(2, Reduce) : index", self.show("kernel"))
        self.assertIn("Thread) : index", self.show("opt"))
        self.assertTrue(self.show("linear").startswith("LINEAR : "))
        self.assertEqual(self.ok("show", FIXED, "matmul.un"), self.show("kernel"))

    def test_text_reads_back(self):
        for stage in ["tensor", "schedule", "kernel", "opt", "linear"]:
            text = self.show(stage, "--text")
            self.assertEqual(self.ok("opt", "-", stdin=text), text, stage)
            notes = self.show(stage, "--text", "--notes")
            self.assertEqual(self.ok("opt", "-", stdin=notes), text, stage)

    def test_a_later_stage_from_an_earlier_one(self):
        """What is shown as text is a program for show again, with the same code in the end."""
        source = self.show("source")
        for stage in ["schedule", "kernel", "linear"]:
            self.write("stage.un", self.show(stage, "--text"))
            self.assertEqual(self.show("source", file="stage.un"), source, stage)

    def test_no_way_back(self):
        for stage, later in [("kernel", ["tensor", "schedule"]), ("linear", ["tensor", "schedule", "kernel", "opt"]),
                             ("schedule", ["tensor"])]:
            self.write("stage.un", self.show(stage, "--text"))
            for back in later:
                self.fails("show", "--stage=" + back, FIXED, "stage.un",
                           says=f"stage {back}: expected a stage from {stage} on, where the graph is")

    def test_source(self):
        self.assertIn("define void @kernel(", self.show("source"))
        self.assertTrue(self.show("source", device="--device=interp").startswith("unir 1\ngraph "))
        self.assertEqual(self.show("source", "--text"), self.show("source"))

    def test_c(self):
        """C as a stage: the source for the device cc."""
        for text in [self.show("c", "--target=generic", device="--device=cc"), self.ok("show", "--stage=c", "--target=generic", "matmul.un")]:
            self.assertIn("\nvoid kernel(void *const *args, const i64 *vars, i64 task) {\n", text)
            self.assertEqual(text, self.show("source", device="--device=cc:generic"))
        self.write("nothing.un", kit.DOUBLE.replace("sink %y", "sink %x"))
        self.assertEqual(self.ok("show", "--stage=c", "nothing.un"), "// no kernel: nothing is to be computed\n")
        self.assertRegex(self.show("c", "--why", device="--device=cc:generic"), r"^// lanes: ")
        self.assertIn("kernel:", self.show("asm", device="--device=cc"))
        self.usage("show", "--stage=c", "--device=cpu:generic", "matmul.un", says="this language is not what the device takes: cpu:generic")
        self.usage("show", "--stage=fortran", "matmul.un", says="--stage: expected tensor, schedule, kernel, opt, linear, source, asm, c or cuda")

    def test_cuda(self):
        """CUDA C as a stage: for a GPU that need not be there."""
        text = self.ok("show", "--stage=cuda", "matmul.un")
        self.assertIn('\nextern "C" __global__ void __launch_bounds__(', text)
        self.assertEqual(text, self.show("source", device="--device=cuda:sm_90a"))
        self.assertIn("__global__", self.ok("show", "--stage=cuda", "--target=sm_80", "matmul.un"))
        self.usage("show", "--stage=cuda", "--device=cpu", "matmul.un", says="this language is not what the device takes: cpu")
        self.usage("show", "--stage=cuda", "--target=generic", "matmul.un", says="this language is not for the target: generic")
        self.usage("show", "--stage=c", "--target=sm_80", "matmul.un", says="this language is not for the target: sm_80")

    def test_assembly(self):
        for device in ["interp", "null", "null:generic"]:
            self.fails("show", "--stage=asm", "--device=" + device, "matmul.un", says="there is no machine code")
        if "cpu" in kit.HAVE:
            asm = self.show("asm", device="--device=cpu")
            self.assertIn("kernel:", asm)
            self.assertIn("ret", asm)

    def test_target(self):
        """Assembly for another machine than this one."""
        if "cpu" in kit.HAVE:
            self.assertIn("%zmm", self.show("asm", "--target=avx512", device="--device=cpu"))
            generic = self.show("asm", "--target=generic", device="--device=cpu")
            self.assertIn("%ymm", generic)
            self.assertNotIn("%zmm", generic)
            self.assertEqual(generic, self.show("asm", device="--device=cpu:generic"))
        self.assertEqual(self.show("opt", "--target=generic", device="--device=null"), self.show("opt"))
        self.usage("show", "--target=z80", "matmul.un", says="--target: expected host, generic, avx512 or, with --device=cuda, a GPU such as sm_90a")
        self.fails("show", "--device=null:z80", "matmul.un", says='no target "z80": expected one of host, generic, avx512, interp')
        self.assertEqual(self.show("linear", "--target=generic", device="--device=interp"), self.show("linear"))

    def test_why(self):
        for stage in ["opt", "linear", "source"]:
            plain, why = self.show(stage), self.show(stage, "--why")
            self.assertTrue(why.endswith(plain), stage)
            self.assertRegex(why[:len(why) - len(plain)], r"^(; )?lanes: .*\n(.*\n)*(; )?threads: .*\n(; )?roofline: .*\n(; )?roofline: .*\n$")
        if "cpu" in kit.HAVE:
            self.assertRegex(self.show("asm", "--why", device="--device=cpu"), r"^# ")
            self.assertRegex(self.show("opt", "--why", device="--device=cpu"), r"\nmeasured: [0-9.]+ [num]?s, [0-9.]+ .?B/s, [0-9.]+ .?flop/s")
        for stage in ["tensor", "schedule", "kernel"]:
            self.usage("show", "--why", "--stage=" + stage, "matmul.un", says="--why: the optimiser decides at stage opt")

    def test_verdict(self):
        """What the kernel has to do, and what a GPU that is only described makes of it."""
        text = self.show("opt", "--why")
        self.assertIn("roofline: 32768 bytes read and 16384 written, each element once; 524288 operations, 10.7 a byte\n", text)
        self.assertIn("the bandwidth of memory and the clock of this target are not known", text)
        text = self.show("cuda", "--why", device="--device=cuda:sm_90a")
        self.assertRegex(text, r"// roofline: memory at 4.80 TB/s takes [0-9.]+ ns, arithmetic at 67.0 Tflop/s takes [0-9.]+ ns: bound by memory, expected ")
        self.assertRegex(text, r"// occupancy: \d+ threads, (\d+ registers each|registers not known), \d+ bytes of shared memory: \d+ blocks, \d+ of 64 warps")
        self.assertRegex(text, r"// code: (\d+ registers, \d+ bytes spilled, \d+ bytes of local memory, |not compiled: )")

    def test_notes_need_text(self):
        self.usage("show", "--notes", "matmul.un", says="--notes: needs --text")

    def test_sequential(self):
        """A loop is called sequential where the optimiser has left it so on a device with threads; nowhere else."""
        self.assertNotIn("sequential", self.show("kernel", file="double.un"))
        self.assertNotIn("sequential", self.show("kernel"))
        self.assertNotIn("sequential", self.show("opt", device="--device=interp"))
        self.assertIn("Loop) : index", self.show("opt", device="--device=interp"))
        opt = self.show("opt")
        self.assertRegex(opt, r"RANGE\(\d+, Thread\) : index +# r\d+ in \[0,\d+\)\n")
        self.assertRegex(opt, r"RANGE\(\d+, Loop\) : index +# r\d+ in \[0,[^)]*\)*, sequential\n")

    def test_several_kernels(self):
        """A kernel a header, as a comment of what is shown; equal ones once."""
        text = """unir 1
graph @three stage=tensor {
  %n = const index [val=8]
  %x = buffer f32 %n [slot=0]
  %c = contiguous f32 %x
  %a = add f32 %c, %c
  %d = contiguous f32 %a
  %b = add f32 %d, %d
  %e = contiguous f32 %b
  %f = mul f32 %e, %x
  sink %f
}
"""
        self.write("three.un", text)
        self.assertIn("\nkernel 2 of 3, the same as before\n", self.show("kernel", file="three.un"))
        self.assertIn("\n; kernel 3 of 3\n", self.show("source", file="three.un"))
        self.assertIn("\n# kernel 3 of 3\n", self.show("opt", "--text", file="three.un"))

    def test_no_kernel(self):
        self.write("stored.un", kit.DOUBLE.replace("sink %y", "sink %x"))
        self.assertEqual(self.show("kernel", file="stored.un"), "no kernel: nothing is to be computed\n")
        self.assertEqual(self.show("source", file="stored.un"), "; no kernel: nothing is to be computed\n")

    def test_numerics(self):
        self.assertIn("@llvm.fma", self.show("source"))
        self.assertNotIn("@llvm.fma", self.show("source", "--numerics=strict"))

    def test_lone_tensor(self):
        self.write("lone.un", kit.DOUBLE.replace("sink %y", "root %y"))
        self.assertEqual(self.show("kernel", file="lone.un"), self.show("kernel", file="double.un"))

    def test_same_everywhere(self):
        """The fixed machine of the goldens is the one that `unir opt` has in mind."""
        self.assertEqual(self.show("linear", "--text").replace("@k0", "@matmul"),
                         self.ok("opt", "--pass=rangeify,opt,lower", "matmul.un"))


if __name__ == "__main__":
    kit.main()
