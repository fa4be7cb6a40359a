# SPDX-License-Identifier: Apache-2.0
"""The file of a gateway: names, who may put, which streams.

::

    workspace: demo                        # without it the only one that runs
    every_ms: 100                          # how often it looks for changes
    names:                                 # the first that matches; without it {workspace}:{name}
      - {match: "sr/ps/*/setpoint", name: "SR:PS:{1}:SP"}
      - {match: "*/closed", name: "{workspace}:{name}", choices: [open, closed]}
      - {match: "server/*", name: ""}      # not shown
      - {match: "*", name: "RM:{name}"}
    puts:                                  # without it the gateway is read-only
      - {to: "SR:PS:*:SP", users: [alice, "op*"], hosts: "10.1.*"}
    streams: ["*/slow"]                    # each lane a number
    windows: {streams: ["*/turn"], records: 1024}   # each lane an array, and its spectrum, on request

All keys may be left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringmaster.feedback.server_file import Part, place_of, read_marked_yaml
from ringmaster.gateways.names import NameRule
from ringmaster.gateways.rights import PutRule
from ringmaster.gateways.views import View

KEYS = ("workspace", "every_ms", "names", "puts", "streams", "windows")
EVERY_MS = (1.0, 60_000.0)
RECORDS = (16, 65_536)


@dataclass(frozen=True)
class Settings:
    """All of it."""

    workspace: str | None = None
    """As in ``attach``."""
    every_s: float = 0.1
    names: tuple[NameRule, ...] = ()
    """Empty: as the protocol's usual rule has it."""
    puts: tuple[PutRule, ...] = ()
    streams: tuple[str, ...] = ("*/slow",)
    """Shell patterns of streams of which each lane is a number."""
    windows: tuple[str, ...] = ("*/turn",)
    """And of those of which each lane is a window and a spectrum, on request."""
    window_records: int = 1024
    views: tuple[View, ...] = ()
    """More names, in other units."""
    properties: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Of TANGO's devices, by their names."""


def read_settings(path: Path) -> Settings:
    """Raises ValueError with file, line, key and what was expected; OSError."""
    given = read_marked_yaml(path)
    if given is None:
        return Settings()
    if not isinstance(given, dict):
        raise ValueError(f"{path}: no mapping; expected keys of {', '.join(KEYS)}")
    whole = Part(path, "", given)
    whole.check_keys(KEYS)
    usual = Settings()
    windows, records = _windows(whole, usual)
    workspace = given.get("workspace")
    return Settings(
        workspace=None if workspace is None else str(workspace),
        every_s=_number(whole, "every_ms", usual.every_s * 1e3, *EVERY_MS) / 1e3,
        names=tuple(_name(part) for part in _parts(whole, "names")),
        puts=tuple(_put(part) for part in _parts(whole, "puts")),
        streams=_texts(whole, "streams", usual.streams),
        windows=windows,
        window_records=records,
    )


def _windows(whole: Part, usual: Settings) -> tuple[tuple[str, ...], int]:
    written = whole.values.get("windows")
    if written is None:
        return usual.windows, usual.window_records
    if not isinstance(written, dict):
        raise whole.error("windows", f'{written!r}, expected a mapping such as {{streams: ["*/turn"], records: 1024}}')
    part = Part(whole.path, "windows", written)
    part.check_keys(("streams", "records"))
    records = _number(part, "records", usual.window_records, *RECORDS)
    return _texts(part, "streams", usual.windows), int(records)


def _parts(whole: Part, key: str) -> list[Part]:
    listed = whole.values.get(key)
    if listed is None:
        return []
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise whole.error(key, f"{listed!r}, expected a list of mappings")
    return [Part(whole.path, f"{key}[{i}]", entry) for i, entry in enumerate(listed)]


def _name(part: Part) -> NameRule:
    part.check_keys(("match", "name", "choices", "precision"))
    precision = part.values.get("precision")
    return NameRule(
        match=_text(part, "match"),
        name=_text(part, "name"),
        choices=_texts(part, "choices", ()),
        precision=None if precision is None else int(_number(part, "precision", 0, 0, 15)),
        place=place_of(part.path, part.values, "name"),
    )


def _put(part: Part) -> PutRule:
    part.check_keys(("to", "users", "hosts"))
    if "to" not in part.values:
        raise part.error("to", "is missing; expected names that may be put, as shell patterns")
    return PutRule(_texts(part, "to", ()), _texts(part, "users", ("*",)), _texts(part, "hosts", ("*",)))


def _text(part: Part, key: str) -> str:
    written = part.values.get(key)
    if not isinstance(written, str):
        raise part.error(key, f"{written!r}, expected text")
    return written


def _texts(part: Part, key: str, usual: tuple[str, ...]) -> tuple[str, ...]:
    written = part.values.get(key)
    if written is None:
        return usual
    listed = written if isinstance(written, list) else [written]
    if not all(isinstance(one, str) for one in listed):
        raise part.error(key, f"{written!r}, expected texts; write numbers between quotes")
    return tuple(str(one) for one in listed)


def _number(part: Part, key: str, usual: float, low: float, high: float) -> float:
    written = part.values.get(key, usual)
    if isinstance(written, bool) or not isinstance(written, int | float) or not low <= written <= high:
        raise part.error(key, f"{written!r}, expected a number from {low:g} to {high:g}")
    return float(written)
