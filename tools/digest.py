#!/usr/bin/env python3
"""A digest of the sources that decide what a kernel becomes: part of the key of compiled kernels on disk.

usage: digest.py ROOT OUT.c DEPFILE

Everything below src/ and tools/patgen/ counts, so a change that does not matter costs a recompilation, and one that does
is never missed.
"""
import hashlib
import os
import sys

FOLDERS = ["src", "tools/patgen"]
SUFFIXES = (".c", ".h", ".def", ".pat", "meson.build")


def main():
    root, out, depfile = sys.argv[1:]
    paths = sorted(os.path.join(base, name) for folder in FOLDERS for base, _, names in os.walk(os.path.join(root, folder))
                   for name in names if name.endswith(SUFFIXES))
    digest = hashlib.sha256()
    for path in paths:
        data = open(path, "rb").read()
        digest.update(f"{os.path.relpath(path, root)} {len(data)}\n".encode() + data)
    with open(out, "w", encoding="utf-8") as f:
        f.write(f'const char un__source_digest[] = "{digest.hexdigest()[:32]}";\n')
    with open(depfile, "w", encoding="utf-8") as f:
        f.write(f"{out}: {' '.join(paths)}\n")


if __name__ == "__main__":
    main()
