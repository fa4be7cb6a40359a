# SPDX-License-Identifier: Apache-2.0
"""What a server's configuration says of names and of power supplies."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from ringmaster.fabric.config_file import read_text
from ringmaster.fabric.workspace import Workspace

CONFIG = "server/config"


def read_yaml(path: Path) -> Any:
    """A YAML file, a server's by FILE@NAME too. Raises ValueError, with line and column, for what is none."""
    try:
        return YAML(typ="safe").load(read_text(path))
    except YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None


def read_marked_yaml(path: Path) -> Any:
    """The same, whose mappings and lists know their places in the file: see ``place_of``."""
    try:
        return YAML(typ="rt").load(path.read_text())
    except YAMLError as error:
        raise ValueError(f"{path}: {' '.join(str(error).split())}") from None


def place_of(path: Path, mapping: Any, key: str) -> str:
    """The place of a key's value, or of the mapping where it has no such key, as FILE:LINE:COLUMN."""
    places = mapping.lc
    line, column = places.value(key) if key in mapping else (places.line, places.col)
    return f"{path}:{line + 1}:{column + 1}"


@dataclass(frozen=True)
class Part:
    """A mapping of a marked YAML file, which knows its place in it."""

    path: Path
    key: str
    """ "postmortem.triggers[1]"; empty of the whole file."""
    values: Mapping[str, Any]

    def error(self, key: str, text: str) -> ValueError:
        """What is wrong with the value of a key, with its place."""
        whole = ".".join(part for part in (self.key, key) if part)
        return ValueError(f"{place_of(self.path, self.values, key)}: {whole}: {text}")

    def check_keys(self, known: tuple[str, ...]) -> None:
        """Raises ValueError for a key that is none of these."""
        for key in self.values:
            if key not in known:
                raise self.error(key, f"there is no key {key!r}; there are: {', '.join(known)}")


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


DEFAULT_TURN_RATE_HZ = 1157000.0
"""As docs/configuration.md has it."""


def cycle_rate_hz(own: Path, server: Path | None) -> float:
    """Cycles per second of the feedback whose own file is ``own``: of this server, or of the one beside that names it.

    Raises ValueError where no server's configuration, or several with different rates, name it.
    """
    candidates = [server] if server is not None else sorted(own.resolve().parent.glob("*.y*ml"))
    rates = {path: rate for path in candidates for rate in _cycle_rates(path, own, quiet=server is None)}
    if not rates:
        where = f"{server} has no application whose `configuration` is {own.name}" if server else (
            f"no server's configuration in the folder of {own} names it"
        )  # fmt: skip
        raise ValueError(f"{where}, so the rate of its cycles is not known: give --server SERVER.yaml or --rate HZ")
    if len(set(rates.values())) > 1:
        told = ", ".join(f"{path.name} {rate:.6g} Hz" for path, rate in rates.items())
        raise ValueError(f"{own} is named by servers of different rates: {told}; choose one by --server or --rate")
    return next(iter(rates.values()))


def _cycle_rates(path: Path, own: Path, quiet: bool) -> Iterator[float]:
    """Of the applications of a server's file whose own file is ``own``; ``quiet``: nothing where it is no such file."""
    try:
        read = read_yaml(path)
    except (OSError, ValueError):
        if quiet:
            return
        raise
    listed = read.get("applications") if isinstance(read, dict) else None
    for entry in listed if isinstance(listed, list) else []:
        named = entry.get("configuration") if isinstance(entry, dict) else None
        if isinstance(named, str) and (path.parent / named).resolve() == own.resolve():
            setpoints = read.get("setpoints") or {}
            period_turns = entry.get("period_turns", setpoints.get("period_turns", 1))
            yield float(read.get("turn_rate_hz", DEFAULT_TURN_RATE_HZ)) / float(period_turns)


def supplies(config: Mapping[str, Any]) -> list[str]:
    """Names of all supplies, in their order: what docs/configuration.md says of `count` and `{chain}`."""
    return [name for name, _ in _supplies(config)]


def supplies_of(supplies: Sequence[str], application: Mapping[str, Any]) -> list[str]:
    """Of all supplies those of an application, in its own order: entry by entry, where * stands for any characters."""
    patterns = [re.compile(".*".join(map(re.escape, str(entry).split("*")))) for entry in application["supplies"]]
    return [name for pattern in patterns for name in supplies if pattern.fullmatch(name)]


def slew_of(config: Mapping[str, Any], name: str) -> float | None:
    """How fast a supply's setpoint moves, in its unit per second; None where the configuration does not say it."""
    slew = next((entry.get("slew") for found, entry in _supplies(config) if found == name), None)
    return float(slew) if isinstance(slew, int | float) else None


def supplies_by_chain(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Names of the supplies of each daisy chain, in its order."""
    return {chain: [name for name, _ in _of_chain(entry, number)] for chain, entry, number in _chains(config)}


def limits_of(config: Mapping[str, Any], name: str) -> tuple[float, float]:
    """Between which a supply's setpoint may be; ± infinity where the configuration does not say it."""
    limits = next((entry.get("limits") for found, entry in _supplies(config) if found == name), None)
    low, high = limits if limits is not None else (-math.inf, math.inf)
    return float(low), float(high)


def _supplies(config: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Name and entry of each supply."""
    for _, entry, number in _chains(config):
        yield from _of_chain(entry, number)


def _of_chain(entry: Mapping[str, Any], number: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for supply in entry.get("supplies") or []:
        name = str(supply["name"]).replace("{chain}", number)
        yield from ((name + own, supply) for own in _numbers(supply))


def _chains(config: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], str]]:
    """Name, entry and number of each daisy chain."""
    for entry in config.get("chains") or []:
        yield from ((str(entry["name"]) + number, entry, number) for number in _numbers(entry))


def chains(config: Mapping[str, Any]) -> list[str]:
    """Names of all daisy chains, in their order."""
    return [name for name, _, _ in _chains(config)]


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
    from ringmaster.machine.mapping import rows_of_bpms

    if not isinstance(config, dict):
        raise ValueError("the server's configuration has no keys")
    return rows_of_bpms(instruments(config, "bpm")), supplies(config)
