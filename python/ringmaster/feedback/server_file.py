# SPDX-License-Identifier: Apache-2.0
"""What a server's configuration says, as far as people of the feedback want to know it: names."""

from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ringmaster.workspace import Workspace

CONFIG = "server/config"


def read_yaml(path: Path) -> Any:
    """A YAML file. Raises ValueError, with line and column, for what is none."""
    try:
        return YAML(typ="safe").load(path.read_text())
    except YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None


def of_workspace(ws: Workspace) -> dict[str, Any]:
    """The running server's configuration; empty where it is not published."""
    try:
        read = YAML(typ="safe").load(StringIO(ws.texts[CONFIG])) if CONFIG in ws.texts else None
    except YAMLError:
        return {}
    return read if isinstance(read, dict) else {}


def applications(ws: Workspace) -> dict[str, dict[str, Any]]:
    """The applications that the server was configured with, by name."""
    listed = of_workspace(ws).get("applications") or []
    return {str(entry["name"]): entry for entry in listed if isinstance(entry, dict) and "name" in entry}


def supplies(config: Mapping[str, Any]) -> list[str]:
    """Names of all supplies, in their order: what docs/configuration.md says of `count` and `{chain}`."""
    return [name for chain in config.get("chains") or [] for name in _supplies_of(chain)]


def _supplies_of(entry: Mapping[str, Any]) -> Iterator[str]:
    for number in _numbers(entry):
        for supply in entry.get("supplies") or []:
            name = str(supply["name"]).replace("{chain}", number)
            yield from (name + own for own in _numbers(supply))


def instruments(config: Mapping[str, Any], kind: str) -> list[str]:
    """Names of all instruments of a kind."""
    listed = config.get("instruments") or []
    chosen = [entry for entry in listed if entry.get("kind") == kind]
    return [str(entry["name"]) + number for entry in chosen for number in _numbers(entry)]


def _numbers(entry: Mapping[str, Any]) -> list[str]:
    """What follows the name of each: nothing without `count`."""
    if "count" not in entry:
        return [""]
    count = int(entry["count"])
    digits = max(2, len(str(count)))
    return [f"{i:0{digits}d}" for i in range(1, count + 1)]


def names_of_server(config: Any) -> tuple[list[str], list[str]]:
    """Readings of its BPMs, two in each electronics, and names of its supplies."""
    from ringmaster.feedback.mapping import rows_of_bpms

    if not isinstance(config, dict):
        raise ValueError("the server's configuration has no keys")
    return rows_of_bpms(instruments(config, "bpm")), supplies(config)
