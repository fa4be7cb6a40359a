# SPDX-License-Identifier: Apache-2.0
"""Hold the walls between the rooms: who may include whom, by tools/rooms.toml.

Prints each offence with file, line and what is allowed; exit 1 when there is one.
"""

from __future__ import annotations

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from repository import ROOT, tracked_files

PUBLIC = "include/ringmaster"
INCLUDE_ROOTS = ("src", "include", "")
SYSTEM_HEADERS = (Path("/usr/include"), Path("/usr/include/x86_64-linux-gnu"))
COMPILER_HEADERS = {"float.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h", "stddef.h"}


@dataclass(frozen=True)
class Rules:
    """The tables of rooms.toml."""

    rooms: dict[str, list[str]]
    """Room → rooms it may include; "*" is any."""
    standard_headers: list[str]
    """What public headers may include besides public headers."""
    libraries: dict[str, list[str]]
    """First characters of a library's headers → the only rooms that may include them."""
    generated: dict[str, str]
    """Header made by the build → its room."""
    namesakes: dict[str, str]
    """Header that may be named like a system's → why."""

    @classmethod
    def load(cls, path: Path = ROOT / "tools/rooms.toml") -> Rules:
        """Read rooms.toml."""
        tables = tomllib.loads(path.read_text())
        standard_headers = tables["public"]["standard_headers"]
        return cls(tables["rooms"], standard_headers, tables["libraries"], tables["generated"], tables["namesakes"])

    def room_of(self, file: Path) -> str | None:
        """The room a file lies in; `file` is relative to the repository's root."""
        return next((parent.as_posix() for parent in file.parents if parent.as_posix() in self.rooms), None)


@dataclass(frozen=True)
class Include:
    """One #include line."""

    file: Path
    line: int
    name: str
    quoted: bool


def includes(root: Path, file: Path) -> list[Include]:
    """The #include lines of a file."""
    found = []
    for number, text in enumerate((root / file).read_text().splitlines(), 1):
        if match := re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', text):
            found.append(Include(file, number, match[2], match[1] == '"'))
    return found


def target(root: Path, include: Include) -> Path | None:
    """The file of this repository that the line takes, relative to its root; None for a library's.

    A header that Meson makes from a NAME.h.in counts as that file.
    """
    places = [include.file.parent] if include.quoted else []
    for place in [*places, *map(Path, INCLUDE_ROOTS)]:
        path = (root / place / include.name).resolve()
        if path.is_relative_to(root) and (path.is_file() or path.with_name(f"{path.name}.in").is_file()):
            return path.relative_to(root)
    return None


def offence(rules: Rules, root: Path, include: Include) -> str | None:
    """What is wrong with an #include line, or None."""
    room = rules.room_of(include.file)
    if room is None:
        return f"lies in no room; the rooms are {', '.join(rules.rooms)}"
    file = target(root, include)
    other = rules.room_of(file) if file else rules.generated.get(include.name)
    if other is not None:
        allowed = {room, PUBLIC, *rules.rooms[room]}
        if other in allowed or "*" in allowed:
            return None
        return f"includes {include.name} of room {other}; {room} may include {', '.join(sorted(allowed))}"
    if include.quoted:
        return f'includes "{include.name}", which is no file of this repository; a library\'s header stands in <>'
    if room == PUBLIC and include.name not in rules.standard_headers:
        standard = ", ".join(rules.standard_headers)
        return f"includes <{include.name}>; public headers include public headers and {standard}"
    for prefix, rooms in rules.libraries.items():
        if include.name.startswith(prefix) and room not in rooms and "*" not in rules.rooms[room]:
            return f"includes <{include.name}>; only {', '.join(rooms)} may"
    return None


def hides_system_header(rules: Rules, file: Path) -> bool:
    """Meson puts the directory of every target on the search path, so <time.h> would find src/…/time.h first."""
    if file.suffix != ".h" or file.parent.as_posix() == PUBLIC or file.as_posix() in rules.namesakes:
        return False
    return file.name in COMPILER_HEADERS or any((place / file.name).exists() for place in SYSTEM_HEADERS)


def offences(rules: Rules, root: Path, files: list[Path]) -> list[str]:
    """All that is wrong, one line each."""
    found = []
    for file in files:
        if hides_system_header(rules, file):
            found.append(f"{file}:1: hides the system's <{file.name}> from its neighbours; give it another name")
        for include in includes(root, file):
            if problem := offence(rules, root, include):
                found.append(f"{file}:{include.line}: {problem}")
    return found


def main() -> int:
    """Returns the exit status."""
    found = offences(Rules.load(), ROOT, tracked_files(".c", ".cpp", ".h"))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
