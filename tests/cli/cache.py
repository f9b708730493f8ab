"""`unir cache`: kernels of one process for the next, and what the folder is good for when somebody was at it."""
import os
import re
import stat
import struct
import subprocess
import zlib

import kit


class Base(kit.Case):
    def setUp(self):
        super().setUp()
        self.npy("x.npy", "<f4", [4], [1, 2, 3, 4])
        self.cache = self.path("kernels")
        self.env = {"UNIR_CACHE": "", "UNIR_CACHE_DIR": self.cache}

    def files(self):
        return sorted(os.path.join(self.cache, n) for n in os.listdir(self.cache))

    def compute(self, device="cpu"):
        self.assertEqual(self.ok("run", f"--device={device}", "-i", "x.npy", "-o", "y.npy", "double.un", env=self.env), "")
        self.assertEqual(kit.read_npy(self.path("y.npy")), ("<f4", (4,), [2, 4, 6, 8]))

    def cache_says(self, *args):
        return self.ok("cache", *args, env=self.env)



class Folder(Base):
    def test_empty(self):
        self.assertEqual(self.cache_says(), f"{self.cache}: 0 kernels, 0 bytes\n")
        self.assertEqual(self.cache_says("list"), "")
        self.assertEqual(self.cache_says("verify"), "0 kernels, 0 damaged\n")
        self.assertEqual(self.cache_says("clear"), "0 kernels removed\n")

    def test_off(self):
        self.env["UNIR_CACHE"] = "0"
        self.assertEqual(self.cache_says("size"), "the cache is off: UNIR_CACHE=0\n")
        self.compute("interp")
        self.assertFalse(os.path.exists(self.cache))

    def test_interp_keeps_nothing(self):
        self.compute("interp")
        self.assertFalse(os.path.exists(self.cache))

    def test_folders(self):
        home, xdg = self.path("home"), self.path("xdg")
        self.env = {"UNIR_CACHE": "", "UNIR_CACHE_DIR": "", "HOME": home, "XDG_CACHE_HOME": xdg}
        self.assertIn(f"{xdg}/unir: 0 kernels", self.cache_says())
        self.env["XDG_CACHE_HOME"] = "relative"
        self.assertIn(f"{home}/.cache/unir: 0 kernels", self.cache_says())
        self.env["HOME"] = ""
        self.fails("cache", env=self.env, says="UNIR_CACHE_DIR names one")

    def test_strange_folders(self):
        self.env["UNIR_CACHE_DIR"] = "/proc/nothing"
        self.fails("cache", env=self.env, says=["/proc/nothing", "No such file"])
        self.write("file", "")
        self.env["UNIR_CACHE_DIR"] = self.path("file")
        self.fails("cache", env=self.env, says="Not a directory")


class Kept(Base):
    def setUp(self):
        super().setUp()
        self.compute()
        self.file, = self.files()

    def test_list(self):
        self.assertRegex(self.cache_says("list"), r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  +\d+  [0-9a-f]{32}\.bin  cpu\n$")
        self.assertIn(f": 1 kernels, {os.path.getsize(self.file)} bytes", self.cache_says("size"))
        self.assertEqual(self.cache_says("verify"), "1 kernels, 0 damaged\n")
        self.assertEqual(self.cache_says("clear"), "1 kernels removed\n")
        self.assertEqual(self.files(), [])

    def test_used_again(self):
        before = os.stat(self.file)
        os.utime(self.file, ns=(0, 0))
        self.compute()
        after = os.stat(self.file)
        self.assertEqual(before.st_ino, after.st_ino)
        self.assertGreater(after.st_mtime_ns, 0)

    def test_damaged(self):
        with open(self.file, "rb") as f:
            data = f.read()
        for bad in [data[:-1], data[:100], b"", data[:-200] + bytes(200), b"x" * len(data)]:
            self.write(self.file, bad)
            code, out, _ = self.call("cache", "verify", env=self.env)
            self.assertEqual(code, 1)
            self.assertIn("is damaged", out)
            self.assertIn("1 kernels, 1 damaged", out)
            self.assertIn("damaged", self.cache_says("list"))
            self.compute()
            self.assertEqual(self.cache_says("verify"), "1 kernels, 0 damaged\n")

    def test_others_may_write(self):
        os.chmod(self.file, 0o666)
        self.assertEqual(self.call("cache", "verify", env=self.env)[0], 1)
        self.compute()
        os.chmod(self.cache, 0o777)
        self.fails("cache", env=self.env, says=["nobody else may write", "mode 777"])
        code, out, err = self.call("run", "-i", "x.npy", "double.un", env=self.env)
        self.assertEqual((code, out), (0, "result 0: f32 (4)\n"))
        self.assertIn("nobody else may write", err)

    def test_nobody_may_write(self):
        self.cache_says("clear")
        os.chmod(self.cache, stat.S_IRUSR | stat.S_IXUSR)
        self.compute()
        os.chmod(self.cache, 0o700)

    def test_at_once(self):
        self.cache_says("clear")
        run = [kit.UNIR, "run", "-i", "x.npy", "double.un"]
        many = [subprocess.Popen(run, cwd=self.folder.name, env={**os.environ, **self.env}, stdout=subprocess.PIPE) for _ in range(4)]
        for p in many:
            self.assertEqual(p.communicate()[0], b"result 0: f32 (4)\n")
            self.assertEqual(p.returncode, 0)
        self.assertEqual(self.cache_says("verify"), "1 kernels, 0 damaged\n")


class Tuned(Base):
    """Tuning records: made by a search, used without one, believed as far as they are legal."""
    def setUp(self):
        super().setUp()
        self.env["UNIR_SEARCH"] = "beam:1"
        code, out, self.said = self.call("run", "-i", "x.npy", "-o", "y.npy", "double.un", env=self.env)
        self.assertEqual((code, out), (0, ""), self.said)
        del self.env["UNIR_SEARCH"]

    def record(self):
        name, = re.findall(r"(\S+\.bin)  cpu plan\n", self.cache_says("list"))
        return os.path.join(self.cache, name)

    def tuned(self, **more):
        return "tuned: best of " in self.ok("show", "--stage=opt", "--why", *more.pop("args", []), "double.un", env={**self.env, **more})

    def test_kept(self):
        self.assertRegex(self.said, r"^unir: search: \d+ candidates, [0-9.]+ [num]?s by heuristics, [0-9.]+ [num]?s by the plan found\n$")
        self.assertIn(": 1 kernels and 1 plans, ", self.cache_says("size"))
        self.assertEqual(self.cache_says("verify"), "1 kernels and 1 plans, 0 damaged\n")
        self.assertRegex(self.cache_says("plans"), r"^[0-9a-f]{32}\.bin  cpu\nnanoseconds \d+\nheuristics \d+\ncandidates \d+\n((split|whole|stage) .*\n)*$")
        self.compute()
        self.assertIn(": 1 kernels and 1 plans, ", self.cache_says("size"))
        self.assertEqual(self.cache_says("clear"), "1 kernels and 1 plans removed\n")

    def test_used(self):
        self.assertTrue(self.tuned())
        self.assertFalse(self.tuned(UNIR_SEARCH="off"))
        self.assertFalse(self.tuned(args=["--numerics=strict"]))
        self.assertFalse(self.tuned(args=["--target=generic"]))
        self.cache_says("clear")
        self.assertFalse(self.tuned())

    def put(self, value):
        """A record whose file is whole, whatever its value is."""
        with open(self.record(), "rb") as f:
            data = f.read()
        head, size = data[:8], struct.unpack("<Q", data[16:24])[0]
        lengths, key = struct.pack("<QQ", size, len(value)), data[32:32 + size]
        crc = zlib.crc32(lengths + key + value)
        self.write(self.record(), head + data[8:12] + struct.pack("<I", crc) + lengths + key + value)
        os.chmod(self.record(), 0o600)

    def test_not_believed(self):
        good = b"nanoseconds 1\nheuristics 2\ncandidates 3\n"
        for bad in [b"", b"nonsense", good + b"split 0 inner 4", good + b"split 0 inner 4 nothing\n", good + b"split 7 inner 2 upcast\n",
                    good + b"split 0 inner 2 local\n", good + b"whole 0 global\n", good + b"stage 0\n", good + b"split 0 inner 128 upcast\n",
                    good.replace(b"3", b"x"), good + b"\0", good + b"split 0 inner 2 upcast\n" * 40]:
            self.put(bad)
            self.assertFalse(self.tuned(), bad)
            self.assertEqual(self.cache_says("plans"), "", "a record that is not believed is removed")
            self.env["UNIR_SEARCH"] = "beam:1"
            self.assertEqual(self.call("show", "--stage=opt", "double.un", env=self.env)[0], 0)
            del self.env["UNIR_SEARCH"]
        self.put(good + b"split 0 inner 2 upcast\n")
        self.assertTrue(self.tuned())
        self.compute()

    def test_damaged(self):
        with open(self.record(), "rb") as f:
            data = f.read()
        self.write(self.record(), data[:-3])
        self.assertFalse(self.tuned())


if "cpu" not in kit.HAVE:
    del Kept, Tuned

if __name__ == "__main__":
    kit.main()
