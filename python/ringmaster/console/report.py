# SPDX-License-Identifier: Apache-2.0
"""One look at a workspace as plain dictionaries, for scripts: docs/console.md says what stays as it is."""

from dataclasses import asdict
from typing import Any

from ringmaster.beam.orbit import Orbit
from ringmaster.monitor.faults import Fault
from ringmaster.monitor.feedback import FeedbackFigures
from ringmaster.monitor.figures import PathFigures, PortFigures
from ringmaster.monitor.monitor import Snapshot
from ringmaster.monitor.standby import StandbyLook
from ringmaster.standby.figures import as_json as standby_as_json

SCHEMA = 1
"""Goes up when a key is taken away or changes its meaning; new keys may come any time."""
EXCEPTION_PATH = (
    "punted",
    "punt_full",
    "answered",
    "to_kernel",
    "from_kernel",
    "kernel_full",
    "spread_full",
    "fragment",
    "reassembled",
    "fragment_expired",
)
"""Counters of a port that its link has."""


def as_json(snapshot: Snapshot) -> dict[str, Any]:
    """What every page shows."""
    plain = asdict(snapshot)
    del plain["paths"], plain["steering"]
    return {
        "schema": SCHEMA,
        **plain,
        "streams": [
            {**asdict(stream), "streams": [r._asdict() for r in stream.streams]} for stream in snapshot.streams
        ],
        "applications": [{**asdict(one), "state": one.state.name.lower()} for one in snapshot.applications],
        "feedback": _feedback(snapshot.feedback) if snapshot.feedback else None,
        "standby": _standby(snapshot.standby) if snapshot.standby else None,
        "links": {
            "ports": [_link(port) for port in snapshot.ports],
            "networks": [_network(path) for path in snapshot.paths],
            "steering": [row._asdict() for row in snapshot.steering],
        },
        "faults": [_fault(fault) for fault in snapshot.faults],
        "orbit": _orbit(snapshot.orbit) if snapshot.orbit else None,
    }


def _feedback(figures: FeedbackFigures) -> dict[str, Any]:
    named = {state.name.lower(): share for state, share in figures.lately.items()}
    return {**asdict(figures), "state": figures.state.name.lower(), "lately": named}


def _standby(look: StandbyLook) -> dict[str, Any]:
    """As `ringmaster standby status --json` has it."""
    return {**standby_as_json(look.figures), "missing": look.missing}


def _link(port: PortFigures) -> dict[str, Any]:
    return {"name": port.name, **{name: port.counts[name] for name in EXCEPTION_PATH}}


def _network(path: PathFigures) -> dict[str, Any]:
    return {**asdict(path), "loss_share": path.loss_share}


def _fault(fault: Fault) -> dict[str, Any]:
    return {name: value for name, value in asdict(fault).items() if name != "changed_s"}


def _orbit(orbit: Orbit) -> dict[str, Any]:
    return {
        "turn": orbit.turn,
        "turns": orbit.turns,
        "unit": orbit.unit,
        "names": orbit.names,
        "x": orbit.x.tolist(),
        "y": orbit.y.tolist(),
        "rms": orbit.rms,
    }
