#!/usr/bin/env python3
"""Instruction counts of the compile side, gated.

usage: counts.py WORKLOADS COUNTS.txt [--update]

Runs every workload under callgrind and compares with the checked-in count: more than 3 % above fails, more than 3 % below asks
for --update. Counts depend on the compiler and the C library, so the file names those it was made with; with others, the
comparison is printed and does not fail.
"""
import os
import platform
import re
import subprocess
import sys
import tempfile

NAMES = ["build", "parse", "simplify", "schedule", "lower"]
LIMIT = 0.03
# What makes malloc do more than a program asks for (meson test sets it) is not counted.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}


def environment():
    cc = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    return f"{cc}, {' '.join(platform.libc_ver())}, {platform.machine()}"


def count(workloads, name):
    with tempfile.NamedTemporaryFile(prefix="callgrind.") as out:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", "--collect-atstart=no",
             "--toggle-collect=measured", workloads, name], capture_output=True, text=True, env=ENVIRONMENT)
    match = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not match:
        sys.exit(f"counts: {name} failed:\n{run.stderr}")
    return int(match.group(1))


def main():
    workloads, path, update = sys.argv[1], sys.argv[2], "--update" in sys.argv[3:]
    if not update:
        lines = open(path, encoding="utf-8").read().split("\n")
        made_with = lines[0].removeprefix("# ")
        want = {line.split()[0]: int(line.split()[1]) for line in lines[1:] if line and not line.startswith("#")}
    have = {name: count(workloads, name) for name in NAMES}
    if update:
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"# {environment()}\n# workload instructions; see counts.py\n")
            out.writelines(f"{name} {have[name]}\n" for name in NAMES)
        return 0
    same, failed = environment() == made_with, 0
    if not same:
        print(f"counts: made with {made_with}\ncounts: this is  {environment()}: not gated")
    for name in NAMES:
        ratio = have[name] / want[name]
        bad = same and ratio > 1 + LIMIT
        failed += bad
        note = "FAILED" if bad else "lower: ./dev update" if ratio < 1 - LIMIT else ""
        print(f"{name:10} {have[name]:>12} of {want[name]:>12} ({ratio:.3f}) {note}")
    print(f"{len(NAMES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
