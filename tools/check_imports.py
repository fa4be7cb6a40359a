# SPDX-License-Identifier: Apache-2.0
"""Hold the order of the Python packages: which may import which, by [packages] of tools/rooms.toml.

And of packages that are not ours a module imports as it is read only what every installation has: the `dependencies` of
python/pyproject.toml. What only some have is imported where it is needed, which says what to install.

Prints each offence with file, line and what is allowed; exit 1 when there is one.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from repository import ROOT, tracked_files

NAME = "ringmaster"
PACKAGE = Path("python") / NAME
TOP = "top"
"""The modules that lie in no package."""
BROUGHT_ALONG = {"markupsafe", "_cffi_backend"}
"""By Jinja2 and by cffi."""

Arrows = dict[str, list[str]]
"""Package → packages that it may import."""


def load(path: Path = ROOT / "tools/rooms.toml") -> Arrows:
    """Read [packages]."""
    arrows: Arrows = tomllib.loads(path.read_text())["packages"]
    return arrows


def package_of(file: Path) -> str:
    """The package that a file of ours lies in; it is relative to the repository's root."""
    inside = file.relative_to(PACKAGE).parts
    return inside[0] if len(inside) > 1 else TOP


def imported(root: Path, file: Path) -> Iterator[tuple[int, str]]:
    """Line and package of each import of ours, wherever in the file it stands."""
    for node in ast.walk(ast.parse((root / file).read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield node.lineno, "."
        elif isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            within = module[1:2] or [alias.name for alias in node.names]
            yield from ((node.lineno, name) for name in within if module[0] == NAME)
        elif isinstance(node, ast.Import):
            modules = [alias.name.split(".") for alias in node.names]
            yield from ((node.lineno, module[1]) for module in modules if module[0] == NAME and len(module) > 1)


def offences(arrows: Arrows, root: Path, files: list[Path]) -> list[str]:
    """All that is wrong, one line each."""
    order = list(arrows)
    found = [
        f"tools/rooms.toml: {package} may import {other}, expected only packages that stand above it"
        for place, package in enumerate(order)
        if package != TOP
        for other in arrows[package]
        if other not in order[:place]
    ]
    folders = {package_of(file) for file in files} | set(order)
    for file in files:
        package = package_of(file)
        if package not in arrows:
            found.append(f"{file}:1: lies in a package that [packages] of tools/rooms.toml does not have: {package}")
            continue
        for line, other in imported(root, file):
            if other == ".":
                found.append(f"{file}:{line}: imports by dots; write {NAME}.PACKAGE.MODULE")
            elif other in folders and other not in (package, *arrows[package]):
                allowed = ", ".join(arrows[package]) or "none"
                found.append(f"{file}:{line}: imports {NAME}.{other}; {package} may import {allowed}")
    return found


def dependencies(path: Path = ROOT / "python/pyproject.toml") -> set[str]:
    """The names by which every installation imports what is not ours: "ruamel" of "ruamel.yaml>=0.18"."""
    required: list[str] = tomllib.loads(path.read_text())["project"]["dependencies"]
    return {re.split(r"[^a-z0-9_]", one.lower())[0] for one in required} | BROUGHT_ALONG


def strangers(known: set[str], root: Path, files: list[Path]) -> list[str]:
    """Imports at the head of a module that not every installation has."""
    found = []
    for file in files:
        for node in ast.parse((root / file).read_text()).body:
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in (name.partition(".")[0] for name in names):
                if name not in known | {NAME} and name not in sys.stdlib_module_names:
                    found.append(
                        f"{file}:{node.lineno}: imports {name}, which is none of the dependencies in "
                        f"python/pyproject.toml; import it where it is needed, and say there what to install"
                    )
    return found


def main() -> int:
    """Returns the exit status."""
    files = [file for file in tracked_files(".py") if file.is_relative_to(PACKAGE)]
    found = offences(load(), ROOT, files) + strangers(dependencies(), ROOT, files)
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
