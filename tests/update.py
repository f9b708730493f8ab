#!/usr/bin/env python3
"""Rewrites what the tests compare with, from what the code does now: `ninja -C build update`. Look at the diff.

usage: update.py SOURCE_ROOT NAME=PATH...        the programs: unir, matmul_stages, golden_tensor, opman, workloads
"""
import os
import subprocess
import sys

GOLDENS = ["text", "errors", "simplify", "rangeify", "opt", "linear", "llvm", "walkthrough"]


def main():
    root = os.path.abspath(sys.argv[1])
    program = dict(a.split("=", 1) for a in sys.argv[2:])
    tests = os.path.join(root, "tests")
    folder = lambda name: os.path.join(tests, "golden", name)
    commands = [
        [program["golden_tensor"], folder("tensor"), "--update"],
        [sys.executable, os.path.join(tests, "golden", "run.py"), "--update", "--have", program["have"], "--unir", program["unir"],
         "--program", "matmul_stages=" + program["matmul_stages"], *map(folder, GOLDENS)],
        [sys.executable, os.path.join(tests, "docs", "check.py"), "--update", root, program["build"]],
        [sys.executable, os.path.join(tests, "perf", "counts.py"), program["workloads"],
         os.path.join(tests, "perf", "counts.txt"), "--update"],
    ]
    manual = subprocess.run([program["opman"]], stdout=subprocess.PIPE, check=True).stdout
    with open(os.path.join(root, "docs", "ops.md"), "wb") as f:
        f.write(manual)
    return max(subprocess.run(c).returncode for c in commands)


if __name__ == "__main__":
    sys.exit(main())
