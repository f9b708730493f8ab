"""What the tests of the command line share: calls of `unir` in an empty folder, programs, .npy files.

Each test file is a unittest program:  FILE.py UNIR HAVE...      HAVE: parts of this build, such as cpu
"""
import os
import struct
import subprocess
import sys
import tempfile
import unittest

UNIR = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "unir"
HAVE = sys.argv[2:]

# y = x + x, and z = x w: two programs of stage tensor.
DOUBLE = """unir 1
graph @double stage=tensor {
  %n = const index [val=4]
  %x = buffer f32 %n [slot=0]
  %y = add f32 %x, %x
  sink %y
}
"""
TWO_INPUTS = """unir 1
graph @two stage=tensor {
  %n = const index [val=2]
  %m = const index [val=3]
  %x = buffer f32 %n, %m [slot=0]
  %w = buffer i32 %n, %m [slot=1]
  %v = cast f32 %w
  %y = add f32 %x, %v
  sink %y, %w
}
"""
MATMUL = """unir 1
graph @matmul stage=tensor {
  %n = const index [val=64]
  %one = const index [val=1]
  %a = buffer f32 %n, %n [slot=0]
  %b = buffer f32 %n, %n [slot=1]
  %a1 = reshape f32 %a, %n, %one, %n
  %ae = expand f32 %a1, %n, %n, %n
  %bt = permute f32 %b [perm=(1,0)]
  %b1 = reshape f32 %bt, %one, %n, %n
  %be = expand f32 %b1, %n, %n, %n
  %p = mul f32 %ae, %be
  %c = reduce_axis f32 %p [op=add axes=(2)]
  sink %c
}
"""

FORMATS = {"<f4": "f", "<i4": "i", "<f8": "d", "<f2": "e", ">f4": "f", "|b1": "?", "<i8": "q"}


def npy_bytes(descr, shape, values=(), fortran=False):
    header = "{'descr': %s, 'fortran_order': %s, 'shape': (%s), }" % (
        descr if descr.startswith("[") else repr(descr), fortran, "".join("%d, " % d for d in shape))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    order = ">" if descr.startswith(">") else "<"
    data = struct.pack(f"{order}{len(values)}{FORMATS.get(descr, 'f')}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def read_npy(path):
    """descr, shape and values of a file that unir wrote."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    size = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:10 + size], {"__builtins__": {}})
    body = data[10 + size:]
    return head["descr"], head["shape"], list(struct.unpack(f"<{len(body) // struct.calcsize(FORMATS[head['descr']])}"
                                                            f"{FORMATS[head['descr']]}", body))


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("double.un", DOUBLE)
        self.write("two.un", TWO_INPUTS)
        self.write("matmul.un", MATMUL)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    def npy(self, name, *args, **more):
        self.write(name, npy_bytes(*args, **more))

    def call(self, *args, stdin="", stdout=subprocess.PIPE, env=None):
        p = subprocess.run([UNIR, *args], cwd=self.folder.name, input=stdin if isinstance(stdin, bytes) else stdin.encode(),
                           stdout=stdout, stderr=subprocess.PIPE, timeout=120, env={**os.environ, **(env or {})})
        self.assertGreaterEqual(p.returncode, 0, f"unir {args} was killed: {p.stderr}")
        return p.returncode, (p.stdout or b"").decode(), p.stderr.decode()

    def ok(self, *args, **more):
        """Standard output of a call that does its work in silence."""
        code, out, err = self.call(*args, **more)
        self.assertEqual((code, err), (0, ""), out)
        return out

    def fails(self, *args, says, **more):
        """The input is at fault: 1, nothing on standard output, and the words on standard error."""
        return self.refused(1, args, says, more)

    def usage(self, *args, says, **more):
        """The call is at fault: 2, and where help is."""
        err = self.refused(2, args, says, more)
        self.assertIn("--help", err)

    def refused(self, want, args, says, more):
        code, out, err = self.call(*args, **more)
        self.assertEqual((code, out), (want, ""), err)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, err)
        return err


def main():
    unittest.main(argv=sys.argv[:1], verbosity=1)
