# SPDX-License-Identifier: Apache-2.0
"""The scores of a session's states, from before it to its end."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ringmaster.commissioning.score import TARGETS, Score, score
from ringmaster.commissioning.session import SERVER, states
from ringmaster.commissioning.truth import Wiring, load, true_twin
from ringmaster.machine.mapping import read_mapping
from ringmaster.machine.server_file import read_yaml, supplies_by_chain


def wiring_of(server: Path, mapping: Path) -> Wiring:
    """Of a server's configuration, and the RF's supply of a mapping."""
    rf = read_mapping(mapping).get("rf")
    named = None if rf is None else (str(rf["actuator"]), float(rf.get("hz_per_unit", 1)))
    return Wiring(supplies_by_chain(read_yaml(server)), named)


def scores(folder: Path, truth: Path, mapping: Path, server: Path | None = None) -> dict[str, Score]:
    """Of each state that the session kept. Raises ValueError, OSError."""
    drawn, wiring = load(truth), wiring_of(server or folder / SERVER, mapping)
    return {name: score(drawn, true_twin(drawn, wiring, values)) for name, values in states(folder).items()}


def as_json(found: Mapping[str, Score]) -> dict[str, Any]:
    """All states, and of the last one whether it reaches the targets."""
    names = list(found)
    last = found[names[-1]]
    return {
        "targets": TARGETS,
        "states": {name: one.as_json() for name, one in found.items()},
        "before": found[names[0]].as_json(),
        "after": last.as_json(),
        "reached": not last.misses(),
    }
