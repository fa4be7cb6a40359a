# SPDX-License-Identifier: Apache-2.0
"""The file of a pair: one configuration for two servers, in which `{server}` is the name of one of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmaster.fabric.config_file import split
from ringmaster.machine.server_file import read_yaml

SERVERS = 2


class NoPair(ValueError):
    """The file does not describe two servers. The text says what is missing."""


@dataclass(frozen=True)
class FileServer:
    """One of the two, as the file names it."""

    file: Path
    name: str
    number: int
    """1 or 2: place in the file."""
    workspace: str
    terms: Path | None
    """File of the highest term, where there is one."""

    @property
    def config(self) -> str:
        """What programs are given: FILE@NAME."""
        return f"{self.file}@{self.name}"


def is_file(word: str) -> bool:
    """Whether a word on the command line is FILE or FILE@NAME, and no workspace's name."""
    return split(word)[0].suffix in (".yaml", ".yml")


def read_pair(file: Path) -> tuple[FileServer, FileServer]:
    """Both servers of a file. Raises NoPair, OSError, or ValueError for what is no YAML."""
    read = read_yaml(file)
    section = read.get(SECTION) if isinstance(read, dict) else None
    listed = section.get("servers") if isinstance(section, dict) else None
    if not isinstance(listed, list) or len(listed) != SERVERS:
        raise NoPair(f"{file}: found no `{SECTION}` with two `servers`, expected a file of a pair (docs/standby.md)")
    names = [str(entry.get("name")) for entry in listed]
    a, b = (_server(file, read, name, number) for number, name in enumerate(names, 1))
    return a, b


SECTION = "standby"


def _server(file: Path, read: Mapping[str, Any], name: str, number: int) -> FileServer:
    def said(text: object) -> str:
        return str(text).replace("{server}", name).replace("{number}", str(number))

    terms = (read.get("setpoints") or {}).get("terms")
    path = file.parent / said(terms) if terms else None
    return FileServer(file, name, number, said(read.get("workspace")), path)


def find_server(word: str) -> FileServer:
    """The server that FILE@NAME means. Raises NoPair where the file has none of that name, or no name is given."""
    file, name = split(word)
    servers = read_pair(file)
    found = next((one for one in servers if one.name == name), None)
    if found is None:
        choices = " or ".join(one.config for one in servers)
        raise NoPair(f"{word}: found {'no name' if name is None else f'the name {name!r}'}, expected {choices}")
    return found
