#!/usr/bin/env python3
"""Runs goldens: files that hold a command, its input and the exact text it must print.

usage: run.py --unir PROGRAM [options] FILE_OR_FOLDER...

    # RUN: %unir opt --pass=rangeify %s      the command; %s is the input, %unir the program under test (--program adds
                                             others). Commands may be joined by `|`; several RUN lines run one after
                                             another. Without %s the input comes on standard input.
    # EXIT: 1                                its exit status (default 0). Other than 0: standard error is expected too
    # REQUIRES: cpu                          runs only when --have names each of these
    # XFAIL: reason                          known to fail; passing is then a failure, so that the line goes away
    unir 1
    ...
    ---
    expected text

The input is what stands above `---`, under the golden's own name in an empty folder, so messages name no path. Where the
output is .un text, it is also read back and must print as itself.

Options:
    --update     writes what the command prints as the new expectation; refuses when it crashes, ends with another
                 status than EXIT says, or prints nothing
    --have A,B   what this build has, for REQUIRES
    --program NAME=PATH
                 what %NAME is in a RUN line
    -j N         goldens at once (default 2)
    -v           names the goldens that pass, too

The last line is `N passed, N failed, N skipped`. Exit status 0: none failed, and there was at least one.
"""
import argparse
import difflib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

TIMEOUT = 120
DIRECTIVE = re.compile(r"#\s*(RUN|EXIT|REQUIRES|XFAIL):\s*(.*?)\s*$")
# Bytes survive as they are, also where an input is no UTF-8 on purpose.
TEXT = {"encoding": "utf-8", "errors": "surrogateescape"}


class Bad(Exception):
    """The golden or its command is broken: there is nothing to compare."""


class Golden:
    def __init__(self, path):
        self.path = path
        with open(path, newline="", **TEXT) as f:
            text = f.read()
        self.input, mark, self.expected = text.partition("\n---\n")
        self.input += "\n" if mark else ""
        self.runs, self.exit, self.requires, self.xfail = [], 0, [], None
        for line in self.input.splitlines():
            match = DIRECTIVE.match(line)
            if match:
                self.directive(*match.groups())
        if not self.runs:
            raise Bad("no RUN line")

    def directive(self, name, value):
        if name == "RUN":
            self.runs.append(value)
        elif name == "EXIT":
            self.exit = int(value)
        elif name == "REQUIRES":
            self.requires += re.split(r"[,\s]+", value)
        else:
            self.xfail = value or "no reason given"

    def write(self, expected):
        with open(self.path, "w", newline="", **TEXT) as f:
            f.write(self.input.rstrip("\n") + "\n---\n" + expected)


def run_one(words, folder, stdin, golden):
    """One command; what it printed, and its status."""
    try:
        p = subprocess.run(words, cwd=folder, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT, **TEXT)
    except subprocess.TimeoutExpired:
        raise Bad(f"{words[0]}: no end after {TIMEOUT} s")
    except OSError as e:
        raise Bad(f"{words[0]}: {e.strerror}")
    if p.returncode < 0 or p.returncode >= 124:
        raise Bad(f"crashed with status {p.returncode}\n{p.stdout}{p.stderr}")
    return p


def run_line(line, programs, folder, golden):
    """A RUN line with its pipes: the output of the last command, of every one the standard error."""
    name = os.path.basename(golden.path)
    stdin, errors, status = (golden.input if "%s" not in line else ""), "", 0
    for part in line.split("|"):
        words = [programs.get(w) or w.replace("%s", name) for w in shlex.split(part)]
        p = run_one(words, folder, stdin, golden)
        stdin, errors, status = p.stdout, errors + p.stderr, status or p.returncode
    return stdin, errors, status


def actual_text(golden, programs):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, os.path.basename(golden.path)), "w", newline="", **TEXT) as f:
            f.write(golden.input)
        text = ""
        for line in golden.runs:
            out, errors, status = run_line(line, programs, folder, golden)
            if status != golden.exit:
                raise Bad(f"exit status {status}, expected {golden.exit}\n{out}{errors}")
            if golden.exit == 0 and errors:
                raise Bad(f"wrote to standard error:\n{errors}")
            text += out + errors
        if not text:
            raise Bad("printed nothing")
        check_reread(text, programs["%unir"], folder, golden)
    return text


def check_reread(text, unir, folder, golden):
    """Canonical text is a fixpoint of reading and printing."""
    if golden.exit != 0 or not text.startswith("unir 1\n") or "#" in text:
        return
    p = run_one([unir, "opt", "--no-verify", "-"], folder, text, golden)
    if p.returncode != 0:
        raise Bad(f"the output does not read back:\n{p.stderr}")
    if p.stdout != text:
        raise Bad("the output reads back as other text:\n" + diff(text, p.stdout))


def diff(expected, actual):
    lines = difflib.unified_diff(expected.splitlines(), actual.splitlines(), "expected", "actual", lineterm="")
    text = "\n".join(lines)
    return text if text else "they differ in blanks at the end only"


def compare(golden, options):
    """"" when the golden holds, else what is wrong with it. With --update: None when it was rewritten."""
    try:
        actual = actual_text(golden, options.programs)
    except Bad as e:
        return ("not updated: " if options.update else "") + str(e)
    if actual == golden.expected:
        return ""
    if options.update:
        golden.write(actual)
        return None
    if not golden.expected:
        return "no expected text: add it with --update"
    return diff(golden.expected, actual)


def check(path, options):
    """What became of a golden (pass, fail, skip or update), and the words about it."""
    try:
        golden = Golden(path)
    except (Bad, ValueError) as e:
        return "fail", str(e)
    missing = [r for r in golden.requires if r not in options.have]
    if missing:
        return "skip", "needs " + ", ".join(missing)
    fault = compare(golden, options)
    if fault is None:
        return "update", ""
    if golden.xfail and not options.update:
        return ("skip", "fails as expected: " + golden.xfail) if fault else ("fail", "passes although XFAIL says: " + golden.xfail)
    return ("fail", fault) if fault else ("pass", "")


def find(paths):
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for base, folders, files in os.walk(path):
            folders.sort()
            for name in sorted(files):
                if name.endswith(".un"):
                    yield os.path.join(base, name)


def main():
    parser = argparse.ArgumentParser(description="runs goldens", epilog="the head of this file describes their form")
    parser.add_argument("--unir", required=True, type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--have", default="", type=lambda s: set(s.split(",")))
    parser.add_argument("--program", action="append", default=[])
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("-v", action="store_true")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    named = [p.split("=", 1) for p in options.program]
    options.programs = {"%unir": options.unir, **{"%" + name: os.path.abspath(path) for name, path in named}}
    goldens = list(find(options.paths))
    counts = {"pass": 0, "fail": 0, "skip": 0, "update": 0}
    with ThreadPoolExecutor(options.j) as pool:
        for path, (what, words) in zip(goldens, pool.map(lambda p: check(p, options), goldens)):
            counts[what] += 1
            if what != "pass" or options.v:
                print(f"{what.upper()} {path}" + (f": {words}" if words else ""), flush=True)
    updated = f", {counts['update']} updated" if options.update else ""
    print(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped{updated}")
    return 1 if counts["fail"] or not goldens else 0


if __name__ == "__main__":
    sys.exit(main())
