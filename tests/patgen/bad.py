"""Diagnostics of patgen: bad.py PATGEN WORKDIR [--update]

Every bad/NAME.pat must give exactly the text in bad/NAME.txt (whose first line is the exit status). Then hostile
files: whatever the bytes are, patgen must end by itself with status 0, 1 or 2.
"""
import json
import pathlib
import random
import re
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
patgen, work = sys.argv[1], pathlib.Path(sys.argv[2])
update = "--update" in sys.argv
failed = 0


def run(path, *more):
    args = [patgen, "-I", str(path.parent), "-o", str(work / "bad.c"), "-t", str(work / "bad.t.c"), *more, str(path)]
    done = subprocess.run(args, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def check(what, good, detail=""):
    global failed
    failed += not good
    print(("ok - " if good else "not ok - ") + what)
    if not good:
        print(detail)


for pat in sorted((here / "bad").glob("*.pat")):
    status, text = run(pat, *(["-Woverlap"] if pat.stem == "overlap" else []))
    got = f"status {status}\n{text}"
    want = pat.with_suffix(".txt")
    if update:
        want.write_text(got)
    check(pat.name, want.exists() and want.read_text() == got, got)

# The same diagnostics as data: as many, at the same places, and JSON whatever the file holds.
for pat in sorted((here / "bad").glob("*.pat")):
    more = ["-Woverlap"] if pat.stem == "overlap" else []
    status, text = run(pat, "--diagnostics=json", *more)
    said = [f"{d['file']}:{d['line']}:{d['column']}: {d['severity']}: {d['text']} [{d['code']}]" for d in json.loads(text)]
    plain = [line for line in run(pat, *more)[1].split("\n") if re.match(r"[^ ]*:\d+:\d+: (error|warning): ", line)]
    check(f"{pat.name} as JSON", said == plain, "\n".join(said))

for code in ("unproved", "untested-guard"):
    status, text = run(here / "bad" / "nonterm.pat", f"-W{code}")
    check(f"-W{code}", f"[{code}]" in text and f"[{code}]" not in run(here / "bad" / "nonterm.pat")[1], text)
for wrong in ("-Werror=nonsense", "-Wnonsense", "-Werror"):
    status, text = run(here / "bad" / "untested.pat", wrong)
    check(wrong, status == 2 and "no such warning" in text, text)
status, text = run(here / "bad" / "untested.pat", "-Werror=untested")
check("-Werror=untested", status == 1 and "error:" in text, text)
status, text = run(here / "bad" / "overlap.pat", "-Werror=all", "-Woverlap")
check("-Werror=all", status == 1 and "[overlap]" in text, text)

sample = (here / "sample.pat").read_bytes()
rng = random.Random(1)
hostile = {
    "empty": b"",
    "nul": b"ruleset a {\0 rule x: NEG(x) ~> x }",
    "all bytes": bytes(range(256)) * 8,
    "deep pattern": b"ruleset a { rule r: " + b"NEG(" * 100000 + b"x",
    "deep expression": b"ruleset a { rule r: NEG(x) if " + b"(" * 100000,
    "long sum": b"ruleset a { rule r: NEG(x) if 1" + b" + 1" * 100000 + b" ~> x }",
    "minus signs": b"ruleset a { rule r: NEG(x) if " + b"- ! ~" * 50000 + b"1 ~> x }",
    "deep loops": b"opset O = ADD ruleset a { " + b"for op in O { " * 5000,
    "deep C": b"ruleset a { rule r: NEG(x) => " + b"{" * 100000,
    "long name": b"ruleset a { rule " + b"r" * 1000000 + b": NEG(x) ~> x }",
    "long type": b"ruleset a { rule r: NEG(x:" + b"i32|" * 100000 + b"i32) ~> x }",
    "many orders": b"ruleset a { rule r: " + b"ADD[" * 20 + b"x" + b", y]" * 20 + b" => #eval(ADD, x, y) }",
    "many fields": b"ruleset a { rule r: SINK(" + b"_, " * 50000 + b"_) ~> root }",
    "many rules": b"ruleset a { " + b"".join(b"rule r%d: NEG(NEG(x)) ~> x " % i for i in range(3000)) + b"}",
    "call chain": b"".join(b"fn f%d(x: node): node = f%d(x)\n" % (i, i + 1) for i in range(3000)),
    "too large": b"/" * (5 << 20),
    "include itself": b'include "hostile.pat"\n',
    "directory": b'include "."\n',
}
for i in range(150):
    data = bytearray(sample)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            del data[at:at + rng.randint(1, 30)]
        elif kind == 2:
            other = rng.randrange(len(data))
            data[at:at] = data[other:other + rng.randint(1, 60)]
        else:
            del data[at + 2000:]
    hostile[f"mutation {i}"] = bytes(data)
for name, data in hostile.items():
    path = work / "hostile.pat"
    path.write_bytes(data)
    try:
        status, text = run(path)
        check(f"hostile: {name}", status in (0, 1, 2), f"status {status}\n{text[-500:]}")
    except subprocess.TimeoutExpired:
        check(f"hostile: {name}", False, "no end after 60 s")
sys.exit(1 if failed else 0)
