"""`unir run`: programs on .npy files, good ones and bad ones."""
import os

import kit


class Run(kit.Case):
    device = "--device=interp"

    def setUp(self):
        super().setUp()
        self.npy("x.npy", "<f4", [4], [1, 2, 3, 4])
        self.npy("m.npy", "<f4", [2, 3], [1, 2, 3, 4, 5, 6])
        self.npy("i.npy", "<i4", [2, 3], [10, 20, 30, 40, 50, 60])

    def run_ok(self, *args, **more):
        return self.ok("run", self.device, *args, **more)

    def run_fails(self, *args, says, **more):
        return self.fails("run", self.device, *args, says=says, **more)

    def test_one(self):
        self.assertEqual(self.run_ok("-i", "x.npy", "-o", "y.npy", "double.un"), "")
        self.assertEqual(kit.read_npy(self.path("y.npy")), ("<f4", (4,), [2, 4, 6, 8]))

    def test_long_options_and_standard_input(self):
        self.run_ok("--input=x.npy", "--output", "y.npy", "-", stdin=kit.DOUBLE)
        self.assertEqual(kit.read_npy(self.path("y.npy"))[2], [2, 4, 6, 8])

    def test_results_without_a_file_are_described(self):
        self.assertEqual(self.run_ok("-i", "x.npy", "double.un"), "result 0: f32 (4)\n")
        self.assertEqual(self.run_ok("-i", "m.npy", "-i", "i.npy", "-o", "a.npy", "two.un"), "result 1: i32 (2,3)\n")
        self.assertEqual(self.run_ok("-i", "m.npy", "-i", "i.npy", "-o", "a.npy", "-o", "b.npy", "two.un"), "")
        self.assertEqual(kit.read_npy(self.path("a.npy")), ("<f4", (2, 3), [11, 22, 33, 44, 55, 66]))
        self.assertEqual(kit.read_npy(self.path("b.npy")), ("<i4", (2, 3), [10, 20, 30, 40, 50, 60]))

    def test_result_over_its_input(self):
        self.run_ok("-i", "x.npy", "-o", "x.npy", "double.un")
        self.assertEqual(kit.read_npy(self.path("x.npy"))[2], [2, 4, 6, 8])

    # ---- which files ----

    def test_every_missing_buffer_is_named(self):
        self.run_fails("two.un", says="two.un: the inputs do not fit the program\n"
                                      "  buffer 0: expected f32 (2,3), no file is given\n"
                                      "  buffer 1: expected i32 (2,3), no file is given\n")
        self.run_fails("-i", "m.npy", "two.un", says="program\n  buffer 1: expected i32 (2,3), no file is given\n")

    def test_wrong_dtypes_and_shapes(self):
        self.run_fails("-i", "i.npy", "-i", "x.npy", "two.un",
                       says="  buffer 0: expected f32 (2,3), i.npy is i32 (2,3)\n"
                            "  buffer 1: expected i32 (2,3), x.npy is f32 (4)\n")

    def test_too_many(self):
        self.run_fails("-i", "x.npy", "-i", "m.npy", "double.un", says="  m.npy: the program has no buffer 1\n")
        self.run_fails("-i", "x.npy", "-o", "a.npy", "-o", "b.npy", "double.un",
                       says="double.un has 1 result, 2 --output files are given")
        self.assertFalse(os.path.exists(self.path("a.npy")))

    def test_a_slot_left_out_takes_any_file(self):
        self.write("gap.un", kit.DOUBLE.replace("slot=0", "slot=1"))
        self.run_ok("-i", "i.npy", "-i", "x.npy", "-o", "y.npy", "gap.un")
        self.assertEqual(kit.read_npy(self.path("y.npy"))[2], [2, 4, 6, 8])

    def test_hundreds_of_buffers_are_all_named(self):
        lines = "".join(f"  %b{i} = buffer f32 %n [slot={i}]\n" for i in range(200))
        self.write("many.un", "unir 1\ngraph @many {\n  %n = const index [val=4]\n" + lines + "  sink "
                   + ", ".join(f"%b{i}" for i in range(200)) + "\n}\n")
        self.run_fails("many.un", says=[f"  buffer {i}: expected f32 (4), no file is given\n" for i in range(200)])

    def test_names(self):
        self.usage("run", "-o", "y.npy", "-o", "y.npy", "two.un", says="--output: two results for one file: y.npy")
        self.usage("run", "-i", "-", "double.un", says="--input: expected the name of a file, such as /dev/stdin: -")
        self.usage("run", "-o", "-", "double.un", says="--output: expected the name of a file, such as /dev/stdout: -")
        self.usage("run", *["-i", "x.npy"] * 257, "double.un", says="--input: too many files")

    def test_unreadable(self):
        os.mkdir(self.path("folder"))
        self.run_fails("-i", "none.npy", "double.un", says="none.npy: cannot be opened: No such file or directory")
        self.run_fails("-i", "folder", "double.un", says="folder: cannot be read: Is a directory")

    def test_unwritable(self):
        os.mkdir(self.path("folder"))
        self.run_fails("-i", "x.npy", "-o", "none/y.npy", "double.un", says="none/y.npy: cannot be written: No such file")
        self.run_fails("-i", "x.npy", "-o", "folder", "double.un", says="folder: cannot be written: Is a directory")
        self.run_fails("-i", "x.npy", "-o", "/dev/full", "double.un", says="/dev/full: cannot be written: No space left")

    def test_not_a_tensor_program(self):
        self.write("kernel.un", self.ok("opt", "--pass=rangeify", "double.un"))
        self.run_fails("-i", "x.npy", "kernel.un", says="kernel.un: expected a graph at stage tensor, it is at stage kernel")

    # ---- .npy files ----

    def bad_npy(self, content, says):
        self.write("bad.npy", content)
        self.run_fails("-i", "bad.npy", "double.un", says="bad.npy: " + says)

    def test_not_npy(self):
        for content in [b"", b"hello", bytes(range(256)), b"\x93NUMPY"]:
            self.bad_npy(content, "not a usable .npy file: it does not begin like one")

    def test_cut_off(self):
        whole = kit.npy_bytes("<f4", [4], [1, 2, 3, 4])
        for size in range(10, len(whole), 9):
            self.bad_npy(whole[:size], "not a usable .npy file: ")
        self.bad_npy(whole + b"!", "not a usable .npy file: its header says 16 bytes of data, there are 17")

    def test_orders(self):
        self.bad_npy(kit.npy_bytes("<f4", [4], [1, 2, 3, 4], fortran=True), "the array is in Fortran order; save it in C order")
        self.bad_npy(kit.npy_bytes(">f4", [4], [1, 2, 3, 4]), "dtype '>f4' is not supported; save it little-endian")

    def test_dtypes(self):
        self.bad_npy(kit.npy_bytes("[('a', '<f4')]", [4], [1, 2, 3, 4]), "structured dtypes are not supported")
        for descr in ["<c8", "|O", "<U4", "<M8[s]", "|S4"]:
            self.bad_npy(kit.npy_bytes(descr, [4], [1, 2, 3, 4]), f"dtype '{descr}' is not supported")

    def test_huge_shape(self):
        self.bad_npy(kit.npy_bytes("<f4", [1 << 40, 1 << 40]), "not a usable .npy file: its shape is too large")
        self.bad_npy(kit.npy_bytes("<f4", [1] * 17, [1]), "more than 16 axes")

    def test_version(self):
        self.bad_npy(b"\x93NUMPY\x04\x00" + bytes(64), ".npy version 4.0 is not supported")

    def test_scalar(self):
        self.write("scalar.un", kit.DOUBLE.replace("buffer f32 %n", "buffer f32"))
        self.npy("s.npy", "<f4", [], [21])
        self.run_ok("-i", "s.npy", "-o", "y.npy", "scalar.un")
        self.assertEqual(kit.read_npy(self.path("y.npy")), ("<f4", (), [42]))
        self.run_fails("-i", "x.npy", "scalar.un", says="buffer 0: expected f32 (), x.npy is f32 (4)")

    def test_empty(self):
        self.write("empty.un", kit.DOUBLE.replace("val=4", "val=0"))
        self.npy("e.npy", "<f4", [0])
        self.run_ok("-i", "e.npy", "-o", "y.npy", "empty.un")
        self.assertEqual(kit.read_npy(self.path("y.npy")), ("<f4", (0,), []))

    def test_small_dtypes(self):
        for dtype, descr, values, twice in [("f16", "<f2", [0.5, 1, 2, 4], [1, 2, 4, 8]), ("i64", "<i8", [1, -2, 3, 4], [2, -4, 6, 8]),
                                            ("f64", "<f8", [0.5, 1, 2, 4], [1, 2, 4, 8])]:
            self.write("d.un", kit.DOUBLE.replace("f32", dtype))
            self.npy("d.npy", descr, [4], values)
            self.run_ok("-i", "d.npy", "-o", "y.npy", "d.un")
            self.assertEqual(kit.read_npy(self.path("y.npy")), (descr, (4,), twice))

    def test_bool(self):
        self.write("b.un", kit.DOUBLE.replace("f32", "bool").replace("add", "or"))
        self.npy("b.npy", "|b1", [4], [True, False, True, False])
        self.run_ok("-i", "b.npy", "-o", "y.npy", "b.un")
        self.assertEqual(kit.read_npy(self.path("y.npy")), ("|b1", (4,), [True, False, True, False]))


class OnCpu(Run):
    device = "--device=cpu"


if __name__ == "__main__":
    if "cpu" not in kit.HAVE:
        del OnCpu
    kit.main()
