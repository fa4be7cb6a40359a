# SPDX-License-Identifier: Apache-2.0
"""A plan in simulated time: the application and the virtual ring in lock-step, as `ringmaster simulate` runs them."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import SimulationError
from ringmaster.response.analysis import Taken
from ringmaster.response.plan import SETTLE_S, Plan
from ringmaster.response.run import Ran
from ringmaster.simulation.run import Simulation, simulate

Floats = NDArray[np.float64]
_BEGIN_S = 0.05
_BETWEEN_S = 0.05
_EVENTS = "excitation.yaml"


def run(
    config: Path,
    overlay: Path,
    plan: Plan,
    rows: Sequence[str],
    out: Path,
    *,
    application: str = "excite",
    supplies: Sequence[str],
    truth: Path | None = None,
    quiet: bool = True,
) -> tuple[Ran, Simulation]:
    """All groups, one after the other. ``supplies``: of the application, in their order. Raises SimulationError."""
    out.mkdir(parents=True, exist_ok=True)
    events = out / _EVENTS
    seconds = _write_events(events, plan, application, supplies)
    simulation = simulate(
        config, overlay, application, out, events=events, seconds=seconds, record="readings,reported", truth=truth,
        quiet=quiet,
    )  # fmt: skip
    return Ran(tuple(_windows(simulation, plan, rows))), simulation


def _write_events(path: Path, plan: Plan, application: str, supplies: Sequence[str]) -> float:
    """What is set, and when; and how long it all takes."""
    place = {name: i for i, name in enumerate(supplies)}
    now, events = _BEGIN_S, []

    def at(name: str, value: float) -> None:
        events.append({"at": round(now, 9), "set": f"{application}/{name}={value!r}"})

    at("ramp_s", plan.ramp_s)
    at("seconds", plan.full_s)
    for group in plan.groups:
        for tone in group:
            i = place[tone.supply]
            for name, value in (("amplitude", tone.amplitude), ("hz", plan.hz(tone)), ("phase", tone.phase)):
                at(f"{name}[{i}]", value)
        now += _BETWEEN_S
        at("run", 1.0)
        now += plan.full_s + 2 * plan.ramp_s + _BETWEEN_S
        at("run", 0.0)
        for tone in group:
            at(f"amplitude[{place[tone.supply]}]", 0.0)
        now += _BETWEEN_S
    path.write_text(json.dumps({"events": events}), encoding="utf-8")
    return now


def _windows(simulation: Simulation, plan: Plan, rows: Sequence[str]) -> list[Taken]:
    """Of each run, by what the application says of itself."""
    state, begin = np.asarray(simulation.reported("state")), np.asarray(simulation.reported("begin_turn"))
    first_turn, period = int(simulation.summary["first_turn"]), int(simulation.summary["period_turns"])
    full = np.flatnonzero((state == 2) & (np.concatenate([[0.0], state[:-1]]) != 2))
    if len(full) != len(plan.groups):
        raise SimulationError(
            f"{simulation.folder}: {len(full)} of {len(plan.groups)} groups were moved: {_refused(simulation)}"
        )
    place = _places(simulation, rows)
    instruments, lanes = [i for i, _ in place], [lane for _, lane in place]
    settle = round(0.9 * SETTLE_S * plan.rate_hz)
    made = []
    for at in full:
        part = slice(int(at) + settle, int(at) + settle + plan.records)
        values = simulation.readings[part][:, instruments, lanes].T.astype(np.float64)
        values[simulation.missing[part][:, instruments].T] = np.nan
        made.append(Taken(values, first_turn + (int(at) + settle) * period, int(begin[at])))
    return made


def _refused(simulation: Simulation) -> str:
    """Words of the summary, where a setting was refused."""
    told = simulation.summary.get("refused") or simulation.summary.get("refusals")
    return str(told) if told else "a setting may have been refused; look at what the program said"


def _places(simulation: Simulation, rows: Sequence[str]) -> list[tuple[int, int]]:
    """Input and lane of each row."""
    found = {}
    for number, item in enumerate(simulation.summary["inputs"]):
        for lane, name in enumerate(item["lanes"]):
            found[f"{item['name'].split('/')[0]}/{name}"] = (number, lane)
    absent = [row for row in rows if row not in found]
    if absent:
        raise SimulationError(f"{absent[0]} is no input of {simulation.summary['application']}, so it is not recorded")
    return [found[row] for row in rows]


def true_response(simulation: Simulation, rows: Sequence[str], columns: Sequence[str]) -> Floats:
    """[row, column] what the machine truly answered at the end, nm per unit."""
    described = simulation.summary.get("response")
    if described is None:
        raise SimulationError(f"{simulation.folder}: the ring had no living machine, so there is no true response")
    names = list(described["rows"])
    values = np.fromfile(simulation.folder / "response.f64").reshape(len(names), -1)
    at = [simulation.actuators.index(name) for name in columns]
    return np.asarray(values[np.ix_([names.index(row) for row in rows], at)], np.float64)
