#!/usr/bin/env python3
"""What the documents show is what the programs print.

usage: check.py [--update] SOURCE_ROOT BUILD_ROOT

Every fenced block of the documents below says, in a comment above it, where it comes from:

    <!-- file: layer.un -->                      a file: later commands of the document can read it
    <!-- canonical: layer.un -->                 the same, and `unir opt` prints it as it is
    <!-- same as: examples/matmul.c, from /#include/, as mine.c -->
                                                 that file of the source tree (from the first line that matches), also
                                                 for later commands
    <!-- output of: unir show layer.un -->       what the command prints; programs are those of the build. More lines:
             part: /REGEX/ to /REGEX/            only these lines, one `part:` a run of lines; between two stands `...`
             exit: 1                             its exit status; then standard error is shown, too
    <!-- runs -->                                each line is a command that ends well
    <!-- by hand -->                             no program's text

--update rewrites the blocks of `same as` and `output of`.
"""
import difflib
import os
import re
import subprocess
import sys
import tempfile

DOCUMENTS = ["README.md", "docs/life-of-a-tensor.md", "docs/text-format.md", "docs/gpu.md"]
PROGRAMS = ["tools/unir", "examples"]        # folders of the build whose programs are called by name
BLOCK = re.compile(r"(?:^<!--(?P<source>(?:(?!-->).)*)-->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)


class Bad(Exception):
    pass


class Document:
    """One document, its blocks looked at in order in a folder of its own."""

    def __init__(self, root, build, name, folder):
        self.root, self.build, self.name, self.folder = root, build, name, folder
        with open(os.path.join(root, name), encoding="utf-8") as f:
            self.text = f.read()
        for link, target in [("build", build), ("include", os.path.join(root, "include")), ("data", os.path.join(root, "data"))]:
            os.symlink(target, os.path.join(folder, link))

    def check(self, update):
        """The messages; with update, the document is rewritten instead."""
        messages = []

        def replace(match):
            line = self.text.count("\n", 0, match.start("text"))
            try:
                wanted = self.wanted(match)
            except Bad as e:
                messages.append(f"{self.name}:{line}: {e}")
                return match.group(0)
            if wanted != match.group("text") and not update:
                lines = difflib.unified_diff(match.group("text").splitlines(), wanted.splitlines(), "shown", "printed", lineterm="")
                messages.append(f"{self.name}:{line}: the block is not what is printed now; see --update\n" + "\n".join(lines))
            head = match.group(0)[:match.start("text") - match.start()]
            return head + wanted + "```"

        text = BLOCK.sub(replace, self.text)
        if update and text != self.text:
            with open(os.path.join(self.root, self.name), "w", encoding="utf-8") as f:
                f.write(text)
        return messages

    def wanted(self, match):
        """What the block should hold; what it is has been used (files written, commands run)."""
        source, shown = match.group("source"), match.group("text")
        kind, _, rest = (source or "").strip().partition(":")
        if not source:
            raise Bad("a block without a comment that says where it comes from (tests/docs/check.py)")
        if kind in ("file", "canonical"):
            self.save(rest.strip(), shown)
            return self.run("unir opt " + rest, 0) if kind == "canonical" else shown
        if kind == "same as":
            return self.same_as(rest.strip())
        if kind == "output of":
            return self.output_of(rest.strip().splitlines())
        if kind == "runs":
            for line in shown.splitlines():
                self.run(line, 0)
        elif kind != "by hand":
            raise Bad(f"unknown kind of block: {kind}")
        return shown

    def save(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)
        return text

    def same_as(self, rest):
        path, first, name = re.fullmatch(r"(.*), from /(.*)/, as (.*)", rest).groups()
        with open(os.path.join(self.root, path), encoding="utf-8") as f:
            return self.save(name, "".join(part(f.read().splitlines(keepends=True), first, None)))

    def output_of(self, lines):
        command, status, parts = lines[0], 0, []
        for line in lines[1:]:
            key, _, value = line.strip().partition(": ")
            if key == "exit":
                status = int(value)
            elif key == "part":
                parts.append([p.strip().strip("/") for p in value.split(" to ")])
            else:
                raise Bad(f"unknown line: {line}")
        printed = self.run(command, status).splitlines(keepends=True)
        if not parts:
            return "".join(printed)
        return "...\n".join("".join(part(printed, p[0], p[1] if len(p) > 1 else None)) for p in parts)

    def run(self, command, status):
        path = os.pathsep.join([os.path.join(self.build, f) for f in PROGRAMS] + [os.environ["PATH"]])
        p = subprocess.run(["sh", "-c", command], cwd=self.folder, env={**os.environ, "PATH": path}, encoding="utf-8", timeout=120,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if p.returncode != status or (p.stderr and status == 0):
            raise Bad(f"`{command}`: exit status {p.returncode}, expected {status}\n{p.stdout}{p.stderr}")
        return p.stdout + (p.stderr if status else "")


def part(lines, first, last):
    """The lines from one that matches `first` to the next that matches `last` (to the end without it)."""
    begin = next((i for i, line in enumerate(lines) if re.search(first, line)), None)
    if begin is None:
        raise Bad(f"no line matches /{first}/")
    if last is None:
        return lines[begin:]
    end = next((i for i in range(begin, len(lines)) if re.search(last, lines[i])), None)
    if end is None:
        raise Bad(f"no line behind /{first}/ matches /{last}/")
    return lines[begin:end + 1]


def main():
    arguments = [a for a in sys.argv[1:] if a != "--update"]
    root, build = map(os.path.abspath, arguments)
    messages = []
    for name in DOCUMENTS:
        with tempfile.TemporaryDirectory() as folder:
            messages += Document(root, build, name, folder).check("--update" in sys.argv)
    print("\n".join(messages) if messages else f"{len(DOCUMENTS)} documents show what is printed")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
