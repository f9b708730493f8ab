"""The command line of patgen: cli.py PATGEN WORKDIR"""
import json
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
patgen, work = sys.argv[1], pathlib.Path(sys.argv[2]) / "cli"
work.mkdir(exist_ok=True)
failed = 0


def run(*args):
    done = subprocess.run([patgen, *map(str, args)], capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def check(what, good, detail=""):
    global failed
    failed += not good
    print(("ok - " if good else "not ok - ") + what + ("" if good else f"\n{detail}"))


def compile_sample(to):
    to.mkdir(exist_ok=True)
    names = {"-o": "s.c", "-H": "s.h", "-t": "s.t.c", "-d": "s.d", "--json": "s.json"}
    args = [part for flag, name in names.items() for part in (flag, to / name)]
    status, _, err = run("--quiet", "-I", here, *args, here / "sample.pat")
    check(f"sample in {to.name}", status == 0, err)
    return {name: (to / name).read_text() for name in names.values()}


first, second = compile_sample(work / "a"), compile_sample(work / "b")
for name in first:
    same = first[name].replace(str(work / "a"), "") == second[name].replace(str(work / "b"), "")
    check(f"{name} depends on nothing but its input", same)

before = {name: os.stat(work / "a" / name).st_mtime_ns for name in first}
compile_sample(work / "a")
check("unchanged outputs are left alone", all(os.stat(work / "a" / n).st_mtime_ns == t for n, t in before.items()))

check("the dependency file names its input", "sample.pat" in first["s.d"] and first["s.d"].startswith(str(work / "a" / "s.c")))
sets = {s["name"]: s for s in json.loads(first["s.json"])["rulesets"]}
rule = {r["name"]: r for r in sets["fold"]["rules"]}["add_zero"]
check("the list of rules", rule["file"] == "sample.pat" and rule["tests"] == 4 and rule["proof"] == "smt" and rule["licences"] == 8, rule)
check("C blocks point into the rules", '#line' in first["s.c"] and str(here / "sample.pat") in first["s.c"])

(work / "block.pat").write_text('ruleset a {\n  rule r: NEG(_) => {\n    no_such_name;\n    return root;\n  }\n}\n')
status, out, err = run("--list", "--quiet", work / "block.pat")
check("--list", status == 0 and out.startswith("a.r\t") and out.rstrip().endswith("C"), out + err)
status, _, err = run("--registry", "-o", work / "registry.c", here / "sample.pat", work / "block.pat")
text = (work / "registry.c").read_text() if status == 0 else err
check("--registry", "&un__ruleset_fold,\n" in text and "&un__ruleset_a,\n" in text and "&un__pass_simplify,\n" in text, text)

check("--help", run("--help")[0] == 0 and "usage: patgen" in run("--help")[1])
for args in ([], ["--nonsense"], ["-o"], ["a.pat", "b.pat"]):
    check("wrong use: " + " ".join(args), run(*args)[0] == 2)
check("a file that is not there", run(work / "nowhere.pat")[0] == 1)
check("an output that cannot be written", run("--quiet", "-o", work / "no" / "such" / "folder.c", here / "sample.pat", "-I", here)[0] == 2)
sys.exit(1 if failed else 0)
