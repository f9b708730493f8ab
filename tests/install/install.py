#!/usr/bin/env python3
"""Installs the library and writes the program of the README against it, in every language the headers promise.

usage: install.py SOURCE_ROOT BUILD_ROOT MESON LANGUAGE=COMPILER...       LANGUAGE: c or cpp
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, BUILD, MESON = sys.argv[1:4]
COMPILERS = dict(a.split("=", 1) for a in sys.argv[4:])
STANDARDS = [(lang, std) for lang, std in [("c", "c11"), ("c", "c17"), ("cpp", "c++17")] if lang in COMPILERS]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def run(*words, **more):
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    assert p.returncode == 0, f"{' '.join(words)}\n{p.stdout}{p.stderr}"
    return p.stdout


def readme_block(language, after):
    """The first block of the language behind some words of the README."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        text = f.read()
    return re.search(r"```%s\n(.*?)```" % language, text[text.index(after):], re.S).group(1)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.stage = os.path.join(cls.temporary.name, "root")
        run(MESON, "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.stage)
        found = {}
        for base, _, files in os.walk(cls.stage):
            found.update((f, os.path.join(base, f)) for f in files)
        cls.found = found
        cls.headers = os.path.dirname(found["unir.h"])
        cls.lib = os.path.dirname(found["libunir.a"])
        cls.env = {**os.environ, "PKG_CONFIG_PATH": os.path.dirname(found["unir.pc"]), "PKG_CONFIG_SYSROOT_DIR": cls.stage,
                   "LD_LIBRARY_PATH": cls.lib, "PKG_CONFIG_ALLOW_SYSTEM_CFLAGS": "1", "PKG_CONFIG_ALLOW_SYSTEM_LIBS": "1"}

    def test_lies_where_it_is_looked_for(self):
        self.assertEqual(os.path.basename(self.lib), "lib")
        self.assertEqual(os.path.dirname(self.found["unir.pc"]), os.path.join(self.lib, "pkgconfig"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def flags(self, *ask):
        """As pkg-config says; what it puts below the stage although it lies outside (LLVM) is put back."""
        words = run("pkg-config", *ask, "unir", env=self.env).split()
        outside = lambda w: w.startswith(self.stage) and not os.path.exists(w)
        return [w[len(self.stage):] if outside(w) else w for w in words]

    def compile(self, lang, std, source, *more):
        path = os.path.join(self.temporary.name, "mine." + {"c": "c", "cpp": "cc"}[lang])
        with open(path, "w", encoding="utf-8") as f:
            f.write(source)
        run(*COMPILERS[lang].split(), "-std=" + std, *WARNINGS, path, *more, env=self.env)

    def test_what_is_installed(self):
        for name in ["unir", "unir.pc", "libunir.a", "libunir.so." + self.flags("--modversion")[0]]:
            self.assertIn(name, self.found)
        public = {f for f in os.listdir(os.path.join(ROOT, "include", "unir"))}
        self.assertEqual(set(os.listdir(self.headers)), public)
        self.assertEqual(run(self.found["unir"], "--version"), "unir " + self.flags("--modversion")[0] + "\n")

    def test_readme_program(self):
        """With the shared and with the static library."""
        source, shown = readme_block("c", "multiplies two matrices"), readme_block("", "It prints")
        program = os.path.join(self.temporary.name, "mine")
        static = self.flags("--static", "--cflags", "--libs")
        static = [w if w != "-lunir" else "-l:libunir.a" for w in static]
        for lang, std in STANDARDS:
            for kind, flags in [("shared", self.flags("--cflags", "--libs")), ("static", static)]:
                with self.subTest(std=std, kind=kind):
                    self.compile(lang, std, source, *flags, "-o", program)
                    needed = run("readelf", "-d", program)
                    self.assertEqual("libunir.so" in needed, kind == "shared")
                    self.assertEqual(run(program, env=self.env), shown)

    def test_headers_alone(self):
        for name in sorted(os.listdir(self.headers)):
            for lang, std in STANDARDS if name.endswith(".h") else []:
                with self.subTest(header=name, std=std):
                    self.compile(lang, std, f"#include <unir/{name}>\n", "-DUN_USE_UNSTABLE", *self.flags("--cflags"),
                                 "-fsyntax-only")

    def test_exported_symbols(self):
        """All that the headers declare, and nothing else."""
        so = self.found["libunir.so." + self.flags("--modversion")[0]]
        exported = {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", so).splitlines()}
        declared = set()
        for name in os.listdir(self.headers):
            with open(os.path.join(self.headers, name), encoding="utf-8") as f:
                text = f.read()
            declared |= set(re.findall(r"\bUN_API\b[^;{#]*?\b(un_\w+)\)?\(", text))
            for macro in re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M):
                self.assertRegex(macro, r"^(UN_|UNIR_|un_)|^STATUS$", name)
        self.assertEqual({s for s in exported if not re.match(r"un_[a-z]", s)}, set())
        self.assertLessEqual(declared, exported)
        self.assertGreater(len(declared), 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
