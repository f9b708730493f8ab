#!/usr/bin/env python3
"""The architecture, checked: who may include whom, where foreign headers may appear, where C may build nodes.

usage: check.py ROOT [--update]

ROOT is the source tree. --update rewrites the counts in constructors.txt; a new site still needs its reason by hand.
Prints one line a fault and exits 1 when there is one.
"""
import os
import re
import sys

BASE = {"base"}
TARGET = {"target"} | BASE
UOP = {"uop", "hashcons"} | BASE
REWRITE = {"rewrite", "pat"} | UOP
SIMPLIFY = {"simplify"} | REWRITE
DEVICE = {"device"} | TARGET
STAGES = SIMPLIFY | TARGET
INTERP = {"interp"} | DEVICE | UOP

# folder -> what it may include besides the public headers (docs/design.md, section 1)
MAY_INCLUDE = {
    "base": BASE,
    "hashcons": {"hashcons"} | BASE,
    "target": TARGET,
    "uop": UOP,
    "pat": {"pat", "uop"} | BASE,
    "rewrite": REWRITE,
    "simplify": SIMPLIFY | TARGET,
    "tensor": {"tensor"} | SIMPLIFY,
    "rangeify": {"rangeify"} | SIMPLIFY,
    "opt": {"opt"} | STAGES,
    "codegen": {"codegen"} | STAGES,
    "render_llvm": {"render_llvm"} | UOP | TARGET,
    "render_c": {"render_c"} | UOP | TARGET,
    "render_cuda": {"render_cuda", "render_c"} | UOP | TARGET,
    "device": DEVICE,
    "interp": INTERP,
    "engine": {"engine", "rangeify", "opt", "codegen", "render_llvm", "render_c", "render_cuda", "tensor"} | STAGES | INTERP,
    "api": {"api", "engine", "tensor"} | UOP,
}
# pat sees the tables of uop, not its code: patgen is built before it.
PAT_UOP_FILES = {"uop/ops.def", "uop/dtypes.def", "uop/axis.def"}
FOREIGN = [(re.compile(r"<llvm-c/"), "src/device/cpu/"), (re.compile(r"<cuda|<nvrtc"), "src/device/cuda/")]
CONSTRUCTOR = re.compile(r"\bun__(?:uop|unary|binary|ternary|cast|const_[if]|const_bits|idx|range|sink|with_src|with_dtype|fold_op)\s*\(")
NODE_STAGES = ("rangeify", "opt", "codegen")
MAX_C_BLOCKS = 25
MAX_LINES = 900


def sources(root, folder, suffixes):
    for base, folders, files in os.walk(os.path.join(root, folder)):
        folders[:] = [f for f in folders if not f.startswith((".", "build"))]
        for name in sorted(files):
            if name.endswith(suffixes):
                path = os.path.join(base, name)
                yield os.path.relpath(path, root), open(path, encoding="utf-8").read()


def check_includes(root, faults):
    for path, text in sources(root, "src", (".c", ".h", ".pat")):
        folder = path.split("/")[1]
        for include in re.findall(r'^\s*(?:#\s*|c_)include "([^"]+)"', text, re.M):
            if "/" not in include:
                continue
            other = include.split("/")[0]
            if other not in MAY_INCLUDE.get(folder, set()):
                faults.append(f"{path}: src/{folder} may not include {include}")
            if folder == "pat" and other == "uop" and include not in PAT_UOP_FILES:
                faults.append(f"{path}: src/pat may include only the tables of uop, not {include}")
            if ".." in include:
                faults.append(f"{path}: include paths start at src/, not at {include}")
    for path, text in sources(root, ".", (".c", ".h")):
        for pattern, home in FOREIGN:
            if pattern.search(text) and not os.path.normpath(path).startswith(home):
                faults.append(f"{path}: headers {pattern.pattern} belong to {home}")


def check_public(root, faults):
    for path, text in sources(root, "include", (".h",)):
        for include in re.findall(r'^\s*#\s*include ["<]([^">]+)[">]', text, re.M):
            if "/" in include and not include.startswith("unir/"):
                faults.append(f"{path}: a public header includes {include}")
        text = re.sub(r"^\s*#.*$", "", strip_comments(text), flags=re.M)
        for name in re.findall(r"\bUN_API\b[^;{]*?\b([A-Za-z_]\w*)\s*\(", text):
            if not name.startswith(("un_", "UN__PRINTF")):
                faults.append(f"{path}: public name {name} does not start with un_")


def check_sizes(root, faults):
    for folder in ("src", "tools", "tests", "include", "examples", "bench"):
        for path, text in sources(root, folder, (".c", ".h", ".py", ".pat")):
            if text.count("\n") > MAX_LINES:
                faults.append(f"{path}: {text.count(chr(10))} lines; a file holds one thing")


def functions(text):
    """(name, body) of every function defined at column 0, and of the text outside them."""
    name, start = None, 0
    lines = text.split("\n")
    for i, line in enumerate(lines):
        head = re.match(r"^[A-Za-z_].*?\b([A-Za-z_]\w*)\([^;]*$", line)
        if head and not line.startswith(("#", "typedef", "struct", "enum", "union")):
            name, start = head.group(1), i
        if line == "}" and name:
            yield name, "\n".join(lines[start:i])
            name = None


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def constructor_sites(root):
    found = {}
    for stage in NODE_STAGES:
        for path, text in sources(root, f"src/{stage}", (".c",)):
            for name, body in functions(strip_comments(text)):
                count = len(CONSTRUCTOR.findall(body))
                if count:
                    found[f"{path}:{name}"] = count
    return found


def c_blocks_and_rules(root):
    """(file, rules, C blocks) of every pattern file."""
    for path, text in sources(root, "src", (".pat",)):
        text = strip_comments(text)
        rules = len(re.findall(r"^\s*rule\s+\w+\s*:", text, re.M))
        blocks = len(re.findall(r"(?:~>|=>)\s*\{", text))
        yield path, rules, blocks


def read_list(path):
    listed = {}
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line and not line.startswith("#"):
            site, count, reason = (line.split(None, 2) + ["", ""])[:3]
            listed[site] = (int(count), reason)
    return listed


HEADER = """\
# constructors.txt - where C outside generated files builds nodes in rangeify, opt and codegen: site, calls, reason.
# Everything else that makes nodes there is a rule. check.py compares this list with the tree; `check.py ROOT --update`
# rewrites the counts, and a new site needs its reason here.
"""


def summary(root, sites):
    lines = []
    for stage in NODE_STAGES:
        by_c = sum(n for site, n in sites.items() if site.startswith(f"src/{stage}/"))
        rules = blocks = 0
        for path, r, b in c_blocks_and_rules(root):
            if path.startswith(f"src/{stage}/"):
                rules, blocks = rules + r, blocks + b
        lines.append(f"# {stage}: {rules - blocks} rules with templates, {blocks} rules with a C block, {by_c} constructor calls in C")
    return "\n".join(lines) + "\n"


def check_constructors(root, update, faults):
    path = os.path.join(root, "tests/arch/constructors.txt")
    sites = constructor_sites(root)
    listed = read_list(path) if os.path.exists(path) else {}
    if update:
        with open(path, "w", encoding="utf-8") as out:
            out.write(HEADER + summary(root, sites))
            for site in sorted(sites):
                out.write(f"{site} {sites[site]} {listed.get(site, (0, ''))[1]}".rstrip() + "\n")
        listed = read_list(path)
    for site, count in sorted(sites.items()):
        have, reason = listed.get(site, (0, ""))
        if have != count:
            faults.append(f"constructors.txt: {site} builds nodes at {count} places, the list says {have}")
        elif not reason:
            faults.append(f"constructors.txt: {site} has no reason")
    for site in sorted(set(listed) - set(sites)):
        faults.append(f"constructors.txt: {site} builds no nodes any more")


def check_c_blocks(root, faults):
    total = sum(blocks for _, _, blocks in c_blocks_and_rules(root))
    if total > MAX_C_BLOCKS:
        faults.append(f"{total} rules have a C block; the tree may have {MAX_C_BLOCKS}")


def main():
    root, update = sys.argv[1], "--update" in sys.argv[2:]
    faults = []
    check_includes(root, faults)
    check_public(root, faults)
    check_sizes(root, faults)
    check_constructors(root, update, faults)
    check_c_blocks(root, faults)
    for fault in faults:
        print(fault)
    print(f"architecture: {len(faults)} faults")
    print(summary(root, constructor_sites(root)), end="")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
