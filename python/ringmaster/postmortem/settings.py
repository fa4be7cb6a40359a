# SPDX-License-Identifier: Apache-2.0
"""The key ``postmortem`` of a recorder's file: which triggers there are, what they keep, and how much in all.

::

    workspace: feedback
    directory: /data/archive
    postmortem:
      quota: 20 GB
      machine: machine.yaml         # which reading is where in the lattice, for the report
      triggers:
        - {name: interlock, kind: interlock, before: 50 ms, after: 10 ms}
        - {name: beam, kind: beam_loss, streams: "bpm*/turn", lanes: "sum*", below: 0.5}
        - {name: current, kind: parameter, parameter: machine/current_ma, below: 50, before: 1 s, after: 1 s}
        - {name: orbit, kind: rule, rule: "bpm01/fast:x1 > 200000 and machine/current_ma > 10", hold_off: 10 s}
        - {name: alarm, kind: alarm, parameter: premortem/alarms}
        - {name: server, kind: server}

Windows are turns, or times with a unit. All but the trigger's own keys may be left out.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringmaster.machine.server_file import Part, read_marked_yaml
from ringmaster.postmortem import rule

KEY = "postmortem"
COMMON_KEYS = ("name", "kind", "before", "after", "hold_off")
OWN_KEYS: Mapping[str, tuple[str, ...]] = {
    "parameter": ("parameter", "above", "below"),
    "beam_loss": ("streams", "lanes", "below"),
    "interlock": ("streams",),
    "rule": ("rule",),
    "alarm": ("parameter",),
    "server": (),
}
"""By the kind of a trigger."""
NEEDED = {"parameter": ("parameter",), "rule": ("rule",), "alarm": ("parameter",)}
NUMBERS = ("above", "below")
SECONDS = {"turns": 0.0, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}
BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


@dataclass(frozen=True)
class Span:
    """A number of turns, or a time."""

    turns: int = 0
    seconds: float = 0.0

    def in_turns(self, turn_rate_hz: float) -> int:
        """At a turn rate."""
        return self.turns + round(self.seconds * turn_rate_hz)

    def in_seconds(self, turn_rate_hz: float) -> float:
        """At a turn rate."""
        return self.seconds + (self.turns / turn_rate_hz if turn_rate_hz > 0 else 0.0)


BEFORE, AFTER = Span(seconds=0.05), Span(seconds=0.01)
DEFAULT_QUOTA = 10 * 10**9


@dataclass(frozen=True)
class TriggerSettings:
    """One entry of the list."""

    name: str
    kind: str
    own: Mapping[str, Any]
    """The keys of its kind."""
    before: Span = BEFORE
    after: Span = AFTER
    hold_off: Span = Span()
    """From the turn zero on: what is seen within belongs to the same event. Never shorter than ``after``."""


@dataclass(frozen=True)
class Settings:
    """All of it."""

    workspace: str | None
    """As in ``attach``."""
    directory: Path
    """Of the archive, or for the events alone where there is none."""
    quota_bytes: int
    triggers: tuple[TriggerSettings, ...]
    machine: Path | None = None
    """A description of the machine for the report: ringmaster.postmortem.machine."""


def read_settings(path: Path) -> Settings:
    """Reads a recorder's file. Raises ValueError with file, line, key and what was expected; OSError."""
    given = read_marked_yaml(path)
    if not isinstance(given, dict) or not isinstance(given.get(KEY), dict):
        raise ValueError(f"{path}: it has no mapping {KEY!r}; docs/postmortem.md shows one")
    whole, mine = Part(path, "", given), Part(path, KEY, given[KEY])
    if not isinstance(given.get("directory"), str):
        raise whole.error("directory", f"{given.get('directory')!r}, expected the folder of the archive")
    mine.check_keys(("quota", "machine", "triggers"))
    workspace = given.get("workspace")
    directory = path.parent / Path(given["directory"]).expanduser()
    return Settings(
        workspace=None if workspace is None else str(workspace),
        directory=directory,
        quota_bytes=_bytes(mine, mine.values.get("quota")),
        triggers=_triggers(mine, mine.values.get("triggers")),
        machine=_machine(mine, mine.values.get("machine")),
    )


def _machine(mine: Part, written: object) -> Path | None:
    if written is None:
        return None
    machine = mine.path.parent / str(written)
    if not machine.is_file():
        raise mine.error("machine", f"there is no file {machine}")
    return machine


def _triggers(mine: Part, listed: object) -> tuple[TriggerSettings, ...]:
    if not isinstance(listed, list) or not listed:
        raise mine.error("triggers", "expected a list of triggers, one at least")
    for i, entry in enumerate(listed):
        if not isinstance(entry, dict):
            raise mine.error("triggers", f"[{i}]: {entry!r}, expected a mapping such as {{kind: interlock}}")
    triggers = tuple(_trigger(Part(mine.path, f"{KEY}.triggers[{i}]", entry)) for i, entry in enumerate(listed))
    names = [trigger.name for trigger in triggers]
    if len(set(names)) < len(names):
        raise mine.error("triggers", f"two have the same name; names: {', '.join(names)}")
    return triggers


def _trigger(part: Part) -> TriggerSettings:
    entry = part.values
    if entry.get("kind") not in OWN_KEYS:
        raise part.error("kind", f"{entry.get('kind')!r}, expected one of {', '.join(OWN_KEYS)}")
    kind = str(entry["kind"])
    part.check_keys((*COMMON_KEYS, *OWN_KEYS[kind]))
    for key in NEEDED.get(kind, ()):
        if not isinstance(entry.get(key), str):
            raise part.error(key, f"{entry.get(key)!r}, expected text; a trigger of kind {kind} needs it")
    for key in NUMBERS:
        if not isinstance(entry.get(key, 0.0), int | float):
            raise part.error(key, f"{entry[key]!r}, expected a number")
    if kind == "parameter" and not set(NUMBERS) & set(entry):
        raise part.error("kind", "a trigger of kind parameter needs 'above' or 'below', or both")
    if kind == "rule":
        _check_rule(part)
    own = {key: entry[key] for key in OWN_KEYS[kind] if key in entry}
    spans = {key: _span(part, key) for key in ("before", "after", "hold_off") if key in entry}
    return TriggerSettings(str(entry.get("name", kind)), kind, own, **spans)


def _check_rule(part: Part) -> None:
    try:
        rule.parse(part.values["rule"])
    except ValueError as error:
        raise part.error("rule", str(error)) from None


def _span(part: Part, key: str) -> Span:
    try:
        return parse_span(part.values[key])
    except ValueError as error:
        raise part.error(key, str(error)) from None


def parse_span(written: object) -> Span:
    """``20000``, ``20000 turns``, ``50 ms``. Raises ValueError."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(turns|µs|us|ms|s|min)?", str(written).strip())
    if match is None or (match[2] in (None, "turns") and "." in match[1]):
        raise ValueError(f"{written!r}, expected turns or a time: 20000, 50 ms, 2 s")
    scale = SECONDS[match[2] or "turns"]
    return Span(seconds=float(match[1]) * scale) if scale else Span(turns=int(match[1]))


def _bytes(mine: Part, written: object) -> int:
    if written is None:
        return DEFAULT_QUOTA
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(B|kB|MB|GB|TB)", str(written).strip())
    if match is None:
        raise mine.error("quota", f"{written!r}, expected bytes with a unit: 20 GB, 500 MB")
    return round(float(match[1]) * BYTES[match[2]])
