# SPDX-License-Identifier: Apache-2.0
"""Where a supply is set: the one place that knows which parameter moves it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ringmaster.fabric.grant import OPERATOR
from ringmaster.fabric.workspace import Workspace
from ringmaster.machine.server_file import of_workspace, supplies_of

EXCITE = "excite"
"""The code of the application whose supplies stand where its setting `position` says."""
STAY = 1e29
"""A position of so much means: where it stood. Parameters of a host are finite."""
_IDLE = 0
"""Of its reading `state`."""


@dataclass(frozen=True)
class Place:
    """The parameter that says where a supply stands, or one element of it."""

    supply: str
    parameter: str
    index: int | None = None

    def __str__(self) -> str:
        return self.parameter if self.index is None else f"{self.parameter}[{self.index}]"

    def check(self, ws: Workspace) -> None:
        """Raises ValueError while an excitation moves it."""
        if self.index is None:
            return
        application = self.parameter.rpartition("/")[0]
        state = ws.parameters.get(f"{application}/state")
        if state is not None and state.number != _IDLE:
            raise ValueError(
                f"{self.supply}: an excitation of {application} is running; wait until {application}/state is 0, or "
                f"end it by `ringmaster put {application}/run 0`"
            )

    def stands(self, ws: Workspace) -> float:
        """Where it stands; NaN where that is not known. A position that was never given is where the supply is."""
        if self.index is not None:
            position = float(np.atleast_1d(np.asarray(ws.parameters[self.parameter].value))[self.index])
            if abs(position) < STAY:
                return position
        return ws.supplies[self.supply].setpoint.number


class Places:
    """Of the supplies of one workspace."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._applications: dict[str, tuple[str, dict[str, int]]] | None = None

    def of(self, supply: str) -> Place:
        """Raises ObjectNotFound for no supply, ValueError for one of another application."""
        setpoint = self._ws.supplies[supply].setpoint
        if setpoint.writable:
            return Place(supply, setpoint.name)
        if self._applications is None:
            self._applications = _excitations(self._ws)
        for application, (parameter, index) in self._applications.items():
            if supply in index:
                if parameter not in self._ws.parameters:
                    raise ValueError(
                        f"{supply} is set by {application}, which does not run: there is no {parameter}. Start "
                        f"{application}, or take the supply out of its `supplies`"
                    )
                return Place(supply, parameter, index[supply])
        raise ValueError(
            f"{supply} is not the operator's to move: it is {setpoint.description}. Take it out of the `supplies` of "
            f"that application, or give it to one of code `{EXCITE}`, which sets what it is asked for"
        )


def _excitations(ws: Workspace) -> dict[str, tuple[str, dict[str, int]]]:
    """By name of each application of that code: its parameter, and the element of each of its supplies."""
    config = of_workspace(ws)
    listed = [entry for entry in config.get("applications") or [] if isinstance(entry, dict)]
    return {
        str(entry["name"]): (
            f"{entry['name']}/position",
            {name: i for i, name in enumerate(supplies_of(list(ws.supplies), entry))},
        )
        for entry in listed
        if entry.get("code") == EXCITE and entry.get("name") != OPERATOR
    }


def where_to_put(ws: Workspace, supply: str) -> Place:
    """Of one supply. Of many, ask one ``Places``."""
    return Places(ws).of(supply)


def places_of(ws: Workspace, supplies: Iterable[str]) -> dict[str, Place]:
    """Of each of these."""
    places = Places(ws)
    return {name: places.of(name) for name in supplies}
