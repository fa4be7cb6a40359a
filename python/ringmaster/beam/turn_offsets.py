# SPDX-License-Identifier: Apache-2.0
"""The ``turn_offset`` of every instrument in a server's configuration: read, and changed in place.

Comments, order and layout of the file stay as they are.
"""

import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

KEY = "turn_offset"


class OffsetsDiffer(ValueError):
    """The configuration is not the one that the server runs on."""


def _yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 16  # lines stay as long as they are
    return yaml


def _load(text: str, name: str) -> Any:
    try:
        content = _yaml().load(text)
    except YAMLError as error:
        raise ValueError(f"{name}: {' '.join(str(error).split())}") from error
    if not isinstance(content, dict) or not isinstance(content.get("instruments"), list):
        raise ValueError(f"{name}: no server configuration: it has no list 'instruments'")
    return content


def _entries(content: Any) -> dict[str, Any]:
    entries = [entry for entry in content["instruments"] if isinstance(entry, dict)]
    return {str(entry.get("name")): entry for entry in entries}


def read(text: str, name: str = "server/config") -> dict[str, int]:
    """The offsets by instrument, 0 where none is given. Raises ValueError when ``text`` is no configuration."""
    return {instrument: int(entry.get(KEY, 0)) for instrument, entry in _entries(_load(text, name)).items()}


def change(text: str, name: str, present: Mapping[str, int], new: Mapping[str, int]) -> str:
    """The configuration ``text`` with ``new`` offsets.

    Raises OffsetsDiffer where it does not have the ``present`` ones, which the new ones were worked out from, and
    ValueError where it has no such instrument, or is no configuration.
    """
    content = _load(text, name)
    entries = _entries(content)
    for instrument, offset in new.items():
        if instrument not in entries:
            raise ValueError(f"{name}: it has no instrument {instrument!r}")
        written = int(entries[instrument].get(KEY, 0))
        if written != present[instrument]:
            raise OffsetsDiffer(
                f"{name}: turn_offset of {instrument} is {written}, but the server runs with {present[instrument]}; "
                f"start it anew with this file, and align again"
            )
        entries[instrument][KEY] = offset
    out = io.StringIO()
    yaml = _yaml()
    yaml.indent(**_indents(text))
    yaml.dump(content, out)
    return out.getvalue()


def _indents(text: str) -> dict[str, int]:
    """How far the file indents its lists: by the first one under ``instruments``."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("instruments:"):
            break
    dash = next((line for line in lines if line.lstrip().startswith("- ")), "  - ")
    offset = len(dash) - len(dash.lstrip())
    return {"mapping": 2, "sequence": offset + 2, "offset": offset}


def write(path: Path, text: str) -> None:
    """Replaces the file in one step: it is the old one or the new one, whatever happens."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(text)
        if path.exists():
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
