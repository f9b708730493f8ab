#!/usr/bin/env python3
"""Rewrites what the tests compare with, from what the code does now: `ninja -C build update`. Look at the diff.

usage: update.py SOURCE_ROOT NAME=VALUE...
    build: the build root; goldens: folders; have: parts of this build; unir, matmul_stages, golden_tensor, opman,
    workloads: paths of programs
"""
import os
import subprocess
import sys


def main():
    root = os.path.abspath(sys.argv[1])
    given = dict(a.split("=", 1) for a in sys.argv[2:])
    tests = os.path.join(root, "tests")
    folder = lambda name: os.path.join(tests, "golden", name)
    commands = [
        [given["golden_tensor"], folder("tensor"), "--update"],
        [sys.executable, os.path.join(tests, "golden", "run.py"), "--update", "--have", given["have"], "--unir", given["unir"],
         "--program", "matmul_stages=" + given["matmul_stages"], *map(folder, given["goldens"].split(","))],
        [sys.executable, os.path.join(tests, "docs", "check.py"), "--update", root, given["build"]],
        [sys.executable, os.path.join(tests, "perf", "counts.py"), given["workloads"],
         os.path.join(tests, "perf", "counts.txt"), "--update"],
    ]
    manual = subprocess.run([given["opman"]], stdout=subprocess.PIPE, check=True).stdout
    with open(os.path.join(root, "docs", "ops.md"), "wb") as f:
        f.write(manual)
    return max(subprocess.run(c).returncode for c in commands)


if __name__ == "__main__":
    sys.exit(main())
