# SPDX-License-Identifier: Apache-2.0
"""What setpoints that were sent did to the orbit: known, and taken off, so that a feedback's answer is no cause."""

from collections.abc import Sequence

import numpy as np

from ringmaster.postmortem.evidence import Evidence, Floats, Turns


def orbit_of_setpoints(evidence: Evidence, rows: Sequence[str], turn: Turns, period_turns: int) -> Floats | None:
    """[record, row], nm, since the first cycle; None where setpoints, their supplies or these BPMs are not known.

    A supply follows as the machine's description says: later by a delay, and as a first order of its bandwidth.
    """
    machine, sent = evidence.machine, evidence.sent
    if machine is None or sent is None or len(sent.turn) < 2 or any(row not in machine.places for row in rows):
        return None
    of_actor = {
        actor.name: i for i, actor in enumerate(machine.actors) if actor.rad_per_unit and len(actor.planes) == 1
    }
    known = [(k, of_actor[name]) for k, name in enumerate(sent.names) if name in of_actor]
    if not known:
        return None
    columns = machine.columns(rows)
    per_unit = np.stack([columns[i][:, 0] * machine.actors[i].rad_per_unit for _, i in known], axis=1)
    values = sent.values[:, [k for k, _ in known]]
    values = np.nan_to_num(values - values[0])
    delay = machine.plant.delay_us * 1e-6 * evidence.turn_rate_hz
    cycle = np.searchsorted(sent.turn.astype(np.float64) + delay, turn.astype(np.float64), side="right") - 1
    told = np.where(cycle[:, None] >= 0, values[np.maximum(cycle, 0)], 0.0)
    share = -np.expm1(-2 * np.pi * machine.plant.bandwidth_hz * period_turns / evidence.turn_rate_hz)
    current, now = np.empty_like(told), np.zeros(told.shape[1])
    for i, wanted in enumerate(told):
        now = now + share * (wanted - now)
        current[i] = now
    result: Floats = current @ per_unit.T
    return result
