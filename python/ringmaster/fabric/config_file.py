# SPDX-License-Identifier: Apache-2.0
"""A server's configuration by its path: FILE, or FILE@NAME for one of the two servers of a pair's file."""

import re
from pathlib import Path

NAMED = re.compile(r"(.+)@([a-z0-9_-]{1,24})", re.DOTALL)
"""As the programs take it apart: the end of "ring@site.yaml" is no name."""


def split(path: str | Path) -> tuple[Path, str | None]:
    """FILE, and the server's name where one is given."""
    named = NAMED.fullmatch(str(path))
    return (Path(named[1]), named[2]) if named else (Path(path), None)


def read_text(path: str | Path) -> str:
    """The file's text; of FILE@NAME with {server} and {number} replaced, as the server reads it.

    Raises OSError, and ValueError where the file has no such server, or is no YAML.
    """
    file, name = split(path)
    text = file.read_text()
    if name is None:
        return text
    names = _names(file, text)
    if name not in names:
        choices = " or ".join(f"{file}@{one}" for one in names) or f"{file} alone, which is of one server"
        raise ValueError(f"{file}: found no server {name!r}, expected {choices}")
    return text.replace("{server}", name).replace("{number}", str(names.index(name) + 1))


def _names(file: Path, text: str) -> list[str]:
    """Of the two servers; none where the file is of one."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        read = YAML(typ="safe").load(text)
    except YAMLError as error:
        raise ValueError(f"{file}: {' '.join(str(error).split())}") from None
    standby = read.get("standby") if isinstance(read, dict) else None
    servers = standby.get("servers") if isinstance(standby, dict) else None
    return [str(entry.get("name")) for entry in servers or () if isinstance(entry, dict)]
