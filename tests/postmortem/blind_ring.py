# SPDX-License-Identifier: Apache-2.0
"""Events of the real virtual ring in simulated time, as an explanation gets them, and what truly happened beside.

An event is run four times by ``ringmaster simulate``: its BPMs at 10 kHz (96, every 116 turns), and what is sent at
every turn (seven BPM electronics, low-level RF, loss monitors); both with the event and without. The ring is a function
of its seed and of the turn, so the difference of the two is what the event did, to the bit. Only the trial sees it.
"""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringmaster.fabric.layout import InstrumentKind
from ringmaster.machine.server_file import read_yaml
from ringmaster.places import CONFIGS
from ringmaster.postmortem.evidence import Evidence, Series
from ringmaster.postmortem.machine import Machine
from ringmaster.simulation import Simulation, simulate

TURN_RATE_HZ = 1157000
PERIOD = 116
SLOW_BEFORE, SLOW_AFTER = 2100, 140
"""Records at 10 kHz about the event."""
FAST_BEFORE, FAST_AFTER = 22000, 2400
"""Turns about the event."""
EVENT_TURN = 2_000_000 // PERIOD * PERIOD + 36
LOST_TURNS = 5
"""What is lost in these is seen by the loss monitors; then it is missing."""
KINDS = {
    "bpm": InstrumentKind.BPM,
    "tbt": InstrumentKind.BPM,
    "llrf": InstrumentKind.LLRF,
    "blm": InstrumentKind.BLM,
}


@dataclass(frozen=True)
class Happening:
    """What is done to the ring at EVENT_TURN, and what there is before."""

    kind: str
    """ "supply", "rf", "bpm", "kick", "loss"."""
    name: str
    """Of the culprit, as a ranking would call it."""
    seed: int
    strength: str = ""
    """For people."""
    events: tuple[dict[str, Any], ...] = ()
    """Of the overlay."""
    sets: tuple[str, ...] = ()
    """NAME=VALUE, as --at takes them."""
    overlay: Mapping[str, Any] | None = None
    """What its overlay has beside."""
    lost_share: float = 0.0
    """Of the stored beam: missing in the sum signals LOST_TURNS later. The ring has no way to lose so little: a put to
    its beam is a fill, and fills are at rest, as after a kick."""

    @property
    def quiet(self) -> "Happening":
        """The same ring, without the event."""
        return Happening(self.kind, self.name, self.seed, overlay=self.overlay)


def machine() -> Machine:
    """What an operator writes down of this ring; its errors are not known."""
    described = read_yaml(CONFIGS / "feedback-elettra.yaml")["lattice"]
    described["more_bpms"] = [{"bpms": "BPM_S01_*", "rows": "tbt[01-07]/{x1,y1,x2,y2}"}]
    described["kickers"] = [
        {"name": "injection", "element": "start"},
        {"name": "pinger 4", "element": "LS_S04_01"},
        {"name": "pinger 7", "element": "LS_S07_01"},
        {"name": "pinger 10", "element": "LS_S10_01"},
    ]
    return Machine.from_description(described, "elettra2_like")


def _configuration(period: int, inputs: list[str]) -> dict[str, Any]:
    made: dict[str, Any] = read_yaml(CONFIGS / "elettra.yaml")
    blm = {
        "name": "blm01",
        "kind": "blm",
        "id": 1,
        "port": "ring",
        "source": "10.20.1.1",
    }
    made["instruments"].insert(2, blm)
    made["setpoints"] = {"period_turns": period}
    made["applications"] = [
        {
            "name": "ramp",
            "code": "ramp",
            "period_turns": period,
            "freshness_turns": 1000000,
            "inputs": inputs,
            "supplies": ["sr/ps/ch_*", "sr/ps/cv_*"],
        }
    ]
    made["roles"] = [role for role in made["roles"] if role["role"] != "application"]
    return made


def _overlay(happening: Happening, first_turn: int, step_turns: int) -> dict[str, Any]:
    made: dict[str, Any] = read_yaml(CONFIGS / "elettra-ring.yaml")
    made |= {
        "seed": happening.seed,
        "first_turn": first_turn,
        "beam": dict(made["beam"], synchrotron_um=1),
    }
    made["machine"] |= {
        "seed": happening.seed,
        "step_turns": step_turns,
        "current_ma": 310,
    }
    given = dict(happening.overlay or {})
    made["machine"] |= given.pop("machine", {})
    made["supplies"] = made["supplies"] + given.pop("supplies", [])
    made |= given
    made["events"] = [{**event, "at_turn": EVENT_TURN} for event in happening.events]
    return made


def _run(folder: Path, happening: Happening, is_fast: bool) -> tuple[Simulation, int]:
    period, before, after = (1, FAST_BEFORE, FAST_AFTER) if is_fast else (PERIOD, SLOW_BEFORE, SLOW_AFTER)
    first = EVENT_TURN - before * period
    inputs = ["tbt*/turn", "llrf01/turn", "blm01/turn"] if is_fast else ["bpm*/raw"]
    folder.mkdir(parents=True, exist_ok=True)
    config, overlay = folder / "config.yaml", folder / "ring.yaml"
    config.write_text(json.dumps(_configuration(period, inputs)))
    overlay.write_text(json.dumps(_overlay(happening, first, 4 if is_fast else PERIOD)))
    at = before * period / TURN_RATE_HZ
    run = simulate(
        config,
        overlay,
        "ramp",
        folder / "out",
        cycles=before + after,
        at=[f"{at:.9f}:{one}" for one in happening.sets],
        record="readings",
    )
    return run, int(run.summary["first_turn"])


def _series(run: Simulation, first: int, is_fast: bool) -> list[Series]:
    period = 1 if is_fast else PERIOD
    turn = (first + np.arange(run.cycles) * period).astype(np.uint64)
    readings, missing = np.array(run.readings), np.array(run.missing)
    made = []
    for i, item in enumerate(run.summary["inputs"]):
        lanes = tuple(item["lanes"])
        values = readings[:, i, : len(lanes)].astype(np.float64)
        values[missing[:, i]] = np.nan
        kind = KINDS[item["name"].rstrip("/abcdefghijklmnopqrstuvwxyz").rstrip("0123456789")]
        units = tuple("nm" if lane[0] in "xyq" else "" for lane in lanes)
        made.append(Series(item["name"], kind, period, turn, lanes, units, values))
    return made


def record(folder: Path, happening: Happening) -> list[Series]:
    """All streams about the event."""
    made: list[Series] = []
    for is_fast in (False, True):
        made += _series(*_run(folder, happening, is_fast), is_fast)
        shutil.rmtree(folder)
    for series in made:
        _lose(series, happening.lost_share)
    return made


def _lose(series: Series, share: float) -> None:
    """Of the sum signals, as means over a record's turns."""
    since = series.turn.astype(np.float64) - (EVENT_TURN + LOST_TURNS) + 1
    left = 1 - share * np.clip(since / series.period_turns, 0, 1)
    for i, lane in enumerate(series.lanes):
        if lane.startswith("sum"):
            series.values[:, i] = np.round(series.values[:, i] * left)


def evidence_of(series: list[Series], described: Machine, noticed_after_turns: int) -> Evidence:
    """As a trigger would hand it over, so many turns late."""
    return Evidence(
        EVENT_TURN + noticed_after_turns,
        TURN_RATE_HZ,
        tuple(series),
        described,
        title="trial",
    )
