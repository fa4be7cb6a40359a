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
    views:                                 # more names, in other units; and numbers that never change
      - {name: "SR:RF:MHZ", of: sr/rf/frequency/setpoint, scale: 1.0e-6, offset: 499.654, unit: MHz}
      - {name: "SR:BPMS", value: 168}
    magnets: …                             # magnets.py
    injection: {put: ring/event, value: "event: injection", turn: ring/event_turn}   # injection.py
    properties: [{device: sr/ring/1, name: RingFile, value: ring.m}]   # in a TANGO database

All keys may be left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ringmaster.gateways.magnets import magnet_views
from ringmaster.gateways.names import NameRule
from ringmaster.gateways.parts import number, part, parts, text, texts
from ringmaster.gateways.rights import PutRule
from ringmaster.gateways.views import View
from ringmaster.machine.server_file import Part, place_of, read_marked_yaml

KEYS = (
    *("workspace", "every_ms", "names", "puts", "streams", "windows"),
    *("views", "magnets", "injection", "properties"),
)
EVERY_MS = (1.0, 60_000.0)
RECORDS = (16, 65_536)
ANY = 1e300


@dataclass(frozen=True)
class InjectionRule:
    """How an injection is asked for."""

    put: str
    """A parameter, and what is put to it."""
    value: str
    turn: str
    """The parameter that says at which turn it was."""


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
    injection: InjectionRule | None = None


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
    magnets = part(whole, "magnets", "{lattice: elettra2_like, families: […]}")
    return Settings(
        workspace=None if workspace is None else str(workspace),
        every_s=number(whole, "every_ms", usual.every_s * 1e3, *EVERY_MS) / 1e3,
        names=tuple(_name(part) for part in parts(whole, "names")),
        puts=tuple(_put(part) for part in parts(whole, "puts")),
        streams=texts(whole, "streams", usual.streams),
        windows=windows,
        window_records=records,
        views=(*(_view(entry) for entry in parts(whole, "views")), *(magnet_views(magnets) if magnets else ())),
        properties=_properties(whole),
        injection=_injection(whole),
    )


def _windows(whole: Part, usual: Settings) -> tuple[tuple[str, ...], int]:
    written = part(whole, "windows", '{streams: ["*/turn"], records: 1024}')
    if written is None:
        return usual.windows, usual.window_records
    written.check_keys(("streams", "records"))
    records = number(written, "records", usual.window_records, *RECORDS)
    return texts(written, "streams", usual.windows), int(records)


def _name(part: Part) -> NameRule:
    part.check_keys(("match", "name", "choices", "precision"))
    precision = part.values.get("precision")
    return NameRule(
        match=text(part, "match"),
        name=text(part, "name"),
        choices=texts(part, "choices", ()),
        precision=None if precision is None else int(number(part, "precision", 0, 0, 15)),
        place=place_of(part.path, part.values, "name"),
    )


def _put(part: Part) -> PutRule:
    part.check_keys(("to", "users", "hosts"))
    if "to" not in part.values:
        raise part.error("to", "is missing; expected names that may be put, as shell patterns")
    return PutRule(texts(part, "to", ()), texts(part, "users", ("*",)), texts(part, "hosts", ("*",)))


def _view(part: Part) -> View:
    part.check_keys(("name", "of", "value", "unit", "scale", "offset", "description"))
    if ("of" in part.values) == ("value" in part.values):
        raise part.error("name", "expected one of `of`, a name of ours, and `value`, a number")
    constant = number(part, "value", 0.0, -ANY, ANY) if "value" in part.values else None
    scale = number(part, "scale", 1.0, -ANY, ANY)
    if scale == 0:
        raise part.error("scale", "0, expected another number")
    return View(
        name=text(part, "name"),
        of="" if constant is not None else text(part, "of"),
        constant=constant,
        scale=scale,
        offset=number(part, "offset", 0.0, -ANY, ANY),
        unit=text(part, "unit") if "unit" in part.values else None,
        description=text(part, "description") if "description" in part.values else None,
        place=place_of(part.path, part.values, "name"),
    )


def _injection(whole: Part) -> InjectionRule | None:
    written = part(whole, "injection", '{put: ring/event, value: "event: injection", turn: ring/event_turn}')
    if written is None:
        return None
    written.check_keys(("put", "value", "turn"))
    return InjectionRule(text(written, "put"), text(written, "value"), text(written, "turn"))


def _properties(whole: Part) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for entry in parts(whole, "properties"):
        entry.check_keys(("device", "name", "value"))
        found.setdefault(text(entry, "device"), {})[text(entry, "name")] = text(entry, "value")
    return found
