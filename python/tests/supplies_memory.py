# SPDX-License-Identifier: Apache-2.0
"""A machine in memory whose supplies go where they are put: for tests of what moves them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

from ringmaster import Workspace, attach
from ringmaster.fabric.layout import ElementType, ParameterFlags
from ringmaster.fabric.request import Wanted
from ringmaster.moving.place import STAY

CONFIG = """
applications:
  - {name: kick, code: excite, supplies: ["ps/cy", "ps/*x"]}
  - {name: ramp, code: ramp, supplies: [ps/bend]}
"""
OPERATORS = ("ps/qf", "ps/qd")
NAMES = (*OPERATORS, "ps/cx", "ps/cy", "ps/bend")
POSITION = "kick/position"
NOWHERE = 1e30
"""A position that was never given."""
SETTING = ParameterFlags.WRITABLE | ParameterFlags.SETTING


def parameter(name: str, values: list[float], unit: str, flags: int = SETTING, limits: bool = True) -> fabric.Spec:
    """Of ± 5, unless it has no limits."""
    low_high = {"control_low": -5.0, "control_high": 5.0} if limits else None
    return fabric.parameter(name, np.array(values), unit, ElementType.F64, low_high, flags=flags)


@dataclass
class Machine:
    """A server and two applications in memory. What is put is there at once, unless told otherwise."""

    server: fabric.Owner
    application: fabric.Owner
    ws: Workspace
    refuses: Callable[[str, float], str] = lambda _name, _most: ""
    stuck: set[str] = field(default_factory=set)
    puts: list[dict[str, Wanted]] = field(default_factory=list)

    def put_together(self, values: Mapping[str, Wanted]) -> dict[str, str]:
        """As a workspace does it."""
        self.puts.append(dict(values))
        return {name: self._put(name, value) for name, value in values.items()}

    def _put(self, name: str, value: Wanted) -> str:
        numbers = np.atleast_1d(np.asarray(value, np.float64))
        if reason := self.refuses(name, float(numbers.max())):
            return reason
        if name == POSITION:
            self.application.set_values(POSITION, numbers.tobytes())
            for supply, at in zip(("ps/cy", "ps/cx"), numbers, strict=True):
                if abs(at) < STAY:
                    self.stand(supply, at)
        elif name in ("kick/golden", "kick/gain"):
            self.application.set_values(name, numbers.tobytes())
        else:
            self.stand(name.removesuffix("/setpoint"), float(numbers[0]))
        return ""

    def stand(self, supply: str, value: float) -> None:
        """Where it stands from now on; as a supply, in single precision."""
        if supply not in self.stuck:
            for what in ("setpoint", "readback"):
                self.server.set_values(f"{supply}/{what}", np.array([value]).astype("<f4").astype("<f8").tobytes())

    def pause(self, _seconds: float) -> None:
        """The server goes on sending."""
        self.server.set_counter("transmit", "cycles", self.ws.counters("transmit")["cycles"] + 1000)

    def number(self, supply: str) -> float:
        """Where it stands."""
        return self.ws.supplies[supply].setpoint.number

    def golden(self) -> list[float]:
        """The setting that has several elements."""
        return list(np.asarray(self.ws.parameters["kick/golden"].value))


@contextmanager
def in_memory(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Two supplies of the operator, two of an application that excites, one of another application."""
    supplies = [
        spec
        for name in NAMES
        for spec in (
            parameter(f"{name}/setpoint", [0.0], "A", SETTING if name in OPERATORS else 0),
            parameter(f"{name}/readback", [0.0], "A", 0),
        )
    ]
    server = make_owner(
        [
            fabric.parameter("server/turn_rate_hz", np.array([100_000.0]), "Hz", ElementType.F64),
            fabric.parameter("supply/state", np.zeros(len(NAMES), np.uint32), "bits", ElementType.U32),
            fabric.text("supply/names", "\n".join(NAMES)),
            fabric.text("server/config", CONFIG),
            fabric.counters("transmit", "transmit"),
            fabric.grant("operator", period_turns=100),
            *supplies,
        ]
    )
    application = make_owner(
        [
            parameter(POSITION, [NOWHERE, NOWHERE], "", limits=False),
            parameter("kick/golden", [0.0, 0.0, 0.0], "nm"),
            fabric.parameter("kick/gain", np.array([1.0]), "", ElementType.F64, flags=SETTING),
            fabric.parameter("kick/run", np.array([0.0]), "", ElementType.F64, flags=ParameterFlags.WRITABLE),
            fabric.parameter("kick/state", np.array([0.0]), "", ElementType.F64),
            fabric.parameter("server/withdrawn", np.array([0.0]), "", ElementType.F64),
        ],
        name="kick",
    )
    with attach("demo") as ws:
        made = Machine(server, application, ws)
        monkeypatch.setattr(Workspace, "put_together", lambda _ws, values, _timeout=0.0: made.put_together(values))
        monkeypatch.setattr("ringmaster.moving.hand.sleep", made.pause)
        yield made
