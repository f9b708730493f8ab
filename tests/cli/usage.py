"""Help, options, files and exit codes: what is the same for every command."""
import os

import kit

COMMANDS = {"opt": "FILE", "show": "FILE", "run": "PROGRAM", "devices": None, "cache": "ACTION"}
WITH_FILE = ["opt", "show", "run"]


class Help(kit.Case):
    def test_program(self):
        out = self.ok("--help")
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", out)
        self.assertIn("Exit codes: 0 done, 1 the input or the run failed, 2 wrong usage.", out)
        self.assertIn("UNIR_SEARCH=beam:N (1 to 64)", out)
        self.assertEqual(self.ok("-h"), out)
        self.assertEqual(self.ok("help"), out)

    def test_commands(self):
        for command in COMMANDS:
            out = self.ok(command, "--help")
            self.assertTrue(out.startswith(f"usage: unir {command}"), out)
            self.assertIn("-h, --help", out)
            self.assertEqual(self.ok(command, "-h"), out)
            self.assertEqual(self.ok("help", command), out)

    def test_every_option_is_in_the_help(self):
        for command, options in {"opt": "pass target numerics tree notes why no-verify list", "devices": "", "cache": "",
                                 "show": "stage device numerics text notes why", "run": "input output device numerics"}.items():
            out = self.ok(command, "--help")
            for option in options.split():
                self.assertIn("--" + option, out)

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^unir \d+\.\d+\.\d+\n$")


class Environment(kit.Case):
    def test_search(self):
        self.npy("x.npy", "<f4", [4], [1, 2, 3, 4])
        for bad in ["beam", "beam:", "beam:0", "beam:65", "beam:-1", "beam:4x", "beam: 4", "Off", "on"]:
            for command in [["show", "--device=interp", "double.un"], ["run", "--device=interp", "-i", "x.npy", "double.un"]]:
                self.fails(*command, env={"UNIR_SEARCH": bad}, says=["UNIR_SEARCH: expected off, or beam:N with N from 1 to 64", f'got "{bad}"'])
        plain = self.ok("show", "--device=interp", "double.un")
        for good in ["off", "", "beam:1", "beam:64"]:
            self.assertEqual(self.ok("show", "--device=interp", "double.un", env={"UNIR_SEARCH": good}), plain)


class Usage(kit.Case):
    def test_no_command(self):
        code, out, err = self.call()
        self.assertEqual((code, out), (2, ""))
        self.assertIn("usage: unir COMMAND", err)

    def test_unknown_command(self):
        self.usage("compile", says="no command 'compile'")
        self.usage("help", "compile", says="no command 'compile'")
        self.usage("--bad", says="no command '--bad'")

    def test_unknown_option(self):
        for command in COMMANDS:
            self.usage(command, "--bad", "double.un", says=f"unir {command}: no such option: --bad")
            self.usage(command, "-z", "double.un", says=f"unir {command}: no such option: -z")

    def test_missing_value(self):
        self.usage("show", "double.un", "--stage", says="a value is missing after: --stage")
        self.usage("opt", "double.un", "--pass", says="a value is missing after: --pass")
        self.usage("run", "double.un", "-i", says="a value is missing after: -i")

    def test_flags_take_no_value(self):
        self.usage("show", "--text=yes", "double.un", says="takes no value: --text=yes")
        self.usage("opt", "--tree=yes", "double.un", says="takes no value: --tree=yes")

    def test_values(self):
        self.usage("show", "--stage=middle", "double.un", says=["--stage: expected tensor, schedule, kernel", "middle"])
        self.usage("opt", "--target=z80", "double.un", says=["--target: expected generic, avx512, host, interp or a GPU such as sm_90a", "z80"])
        for command in WITH_FILE:
            self.usage(command, "--numerics=sloppy", "double.un", says=["expected precise, strict or fast", "sloppy"])

    def test_number_of_files(self):
        self.usage("show", says="expected one FILE, got 0")
        self.usage("run", says="expected one PROGRAM, got 0")
        self.usage("opt", says="expected one FILE")
        for command, operand in COMMANDS.items():
            if operand:
                self.usage(command, "double.un", "two.un", says=f"expected one {operand}, got 2: two.un")
        self.usage("devices", "cpu", says="takes no operand: cpu")
        self.usage("cache", "empty", says="expected list, size, plans, clear or verify: empty")

    def test_double_dash_ends_options(self):
        self.write("--odd.un", kit.DOUBLE)
        self.assertIn("graph @double", self.ok("opt", "--", "--odd.un"))


class Files(kit.Case):
    def each(self, name, says, **more):
        for command in WITH_FILE:
            self.fails(command, name, says=says, **more)

    def test_missing(self):
        self.each("none.un", "none.un: No such file or directory")

    def test_directory(self):
        os.mkdir(self.path("folder.un"))
        self.each("folder.un", "folder.un: Is a directory")

    def test_empty(self):
        self.write("empty.un", "")
        self.each("empty.un", "empty.un:1:1: ")
        self.each("-", "<stdin>:1:1: ", stdin="")

    def test_no_graph(self):
        self.write("head.un", "unir 1\n")
        self.each("head.un", "head.un: no graph")

    def test_garbage(self):
        self.write("bytes.un", bytes(range(256)) * 64)
        self.each("bytes.un", "bytes.un:1:1: ")
        self.write("late.un", kit.DOUBLE.encode() + b"\0\xff" * 999)
        self.each("late.un", "late.un:8:1: ")
        self.write("elf.un", b"\x7fELF" + bytes(4096))
        self.each("elf.un", "elf.un:1:1: ")

    def test_cut_off(self):
        for size in range(8, len(kit.DOUBLE) - 2, 7):
            self.write("cut.un", kit.DOUBLE[:size])
            self.each("cut.un", "cut.un")

    def test_message_has_line_and_caret(self):
        self.write("bad.un", kit.DOUBLE.replace("add", "plus"))
        self.each("bad.un", ["bad.un:5:8: ", "%y = plus f32 %x, %x\n", "         ^\n"])

    def test_stage_is_checked(self):
        self.write("odd.un", kit.DOUBLE.replace("stage=tensor", "stage=kernel"))
        self.each("odd.un", ["# ^ ", "unir: stage kernel: "])

    def test_standard_input(self):
        self.assertEqual(self.ok("opt", "-", stdin=kit.DOUBLE), self.ok("opt", "double.un"))
        self.assertEqual(self.ok("show", "--device=null", "-", stdin=kit.DOUBLE), self.ok("show", "--device=null", "double.un"))

    def test_several_graphs(self):
        self.write("both.un", kit.DOUBLE + kit.TWO_INPUTS)
        out = self.ok("opt", "both.un")
        self.assertIn("graph @double", out)
        self.assertIn("graph @two", out)
        for command in ["show", "run"]:
            self.fails(command, "both.un", says="both.un:9:1: more than 1 graphs")

    def test_full_disk(self):
        for args in [["opt", "double.un"], ["show", "--device=null", "double.un"], ["opt", "--list"], ["devices"], ["cache"], ["--help"],
                     ["--version"], ["show", "--help"], ["help", "run"]]:
            with open("/dev/full", "wb") as full:
                code, _, err = self.call(*args, stdout=full)
            self.assertEqual(code, 1, args)
            self.assertIn("standard output: No space left on device", err)


class Devices(kit.Case):
    def test_list(self):
        lines = self.ok("devices").splitlines()
        gpus = [line for line in lines if line.startswith("cuda")]
        names = [line.split()[0] for line in lines if line not in gpus]
        self.assertEqual(names, (["cpu"] if "cpu" in kit.HAVE else []) + ["cc", "interp", "null"])
        for number, line in enumerate(gpus):
            self.assertRegex(line, rf"^cuda +not available: |^cuda:{number} ")
        self.assertTrue(gpus)

    def test_no_driver(self):
        os.environ["UNIR_CUDA_DRIVER"] = "/nowhere/libcuda.so.1"
        self.addCleanup(os.environ.pop, "UNIR_CUDA_DRIVER")
        self.assertIn("\ncuda          not available: cuda: no NVIDIA driver: /nowhere/libcuda.so.1: ", "\n" + self.ok("devices"))
        for name in ["cuda", "cuda:0", "cuda:7"]:
            self.fails("show", f"--device={name}", "double.un", says="no NVIDIA driver")

    def test_described_gpu(self):
        self.assertIn("RANGE", self.ok("show", "--device=cuda:sm_90a", "double.un"))
        self.assertEqual(self.ok("show", "--device=cuda", "--target=sm_80", "double.un"), self.ok("show", "--device=cuda:sm_80", "double.un"))
        self.fails("show", "--device=cuda:sm_1", "double.un", says="expected a number, sm_80, sm_90a, sm_100a, sm_120a")
        self.fails("show", "--device=null:sm_80", "double.un", says='expected device "cuda:sm_80"')

    def test_unknown(self):
        for command in ["show", "run"]:
            self.npy("x.npy", "<f4", [4], [1, 2, 3, 4])
            more = ["-i", "x.npy"] if command == "run" else []
            self.fails(command, *more, "--device=tpu", "double.un", says=['no device "tpu"', "interp, null"])


if __name__ == "__main__":
    kit.main()
