#!/usr/bin/env python3
"""Holds docs/from-python.md to the names on both sides.

Every name of python_names.txt is in the first column of a table, and every C++ name in the second column is declared by a
header of include/parley: a qualified name by a header that declares its owner. `none` means that there is none, and the third
column then says what to do instead, or nothing.

  from_python_test.py ROOT
"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
bad = []


def rows():
    """The cells of each row of the page's tables, without the heads."""
    for number, line in enumerate((root / "docs/from-python.md").read_text().splitlines(), 1):
        if line.startswith("|") and not line.startswith(("| Python", "|---")):
            yield number, [cell.strip() for cell in line.strip("|").split("|")]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


headers = {path: re.sub(r"//[^\n]*", "", path.read_text()) for path in (root / "include/parley").rglob("*.h")}


def declares(text, name):
    if name.startswith("operator"):
        return name in text
    return re.search(r"\b%s\b" % re.escape(name), text) is not None


def exists(name):
    if name.startswith("parley/"):
        return (root / "include" / name).exists()
    if name.startswith('"'):
        # The name of a filter, or of anything that is looked up by a string.
        return any(name in path.read_text() for path in (root / "src/guard").glob("*.cc"))
    *owners, last = name.split("::")
    owner = owners[-1] if owners else None
    owns = re.compile(r"\b(class|struct|enum class|namespace) ([\w:]*::)?%s\b(?!;)" % owner) if owner else None
    return any(declares(text, last) and (owns is None or owns.search(text)) for text in headers.values())


known = set()
count = 0
for number, cells in rows():
    if len(cells) != 3:
        bad.append(f"line {number}: {len(cells)} cells, not 3")
        continue
    known.update(quoted(cells[0]))
    names = quoted(cells[1])
    if not names and cells[1] != "none":
        bad.append(f"line {number}: neither a C++ name nor none")
    for name in names:
        count += 1
        if not exists(name):
            bad.append(f"line {number}: no header declares {name}")

names = [name for line in (root / "tests/docs/python_names.txt").read_text().splitlines() if not line.startswith("#")
         for name in line.split()]
for name in names:
    if name not in known:
        bad.append(f"no row for {name}")
if len(names) < 150 or count < 150:
    bad.append(f"only {len(names)} Python and {count} C++ names")

for line in bad:
    print("docs/from-python.md: " + line)
print(f"{len(names)} Python names, {count} C++ names, {len(bad)} wrong")
sys.exit(1 if bad else 0)
