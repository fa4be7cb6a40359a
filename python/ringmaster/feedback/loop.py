# SPDX-License-Identifier: Apache-2.0
"""A running feedback: its parameters by their short names, and what its rows and actuators are called."""

import os
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.parameter import Parameter
from ringmaster.fabric.request import Requester
from ringmaster.fabric.workspace import ANSWER_TIMEOUT_S, Workspace
from ringmaster.feedback.matrix import Matrix, load_csv
from ringmaster.feedback.names import WITHDRAWN, State, Withdrawal
from ringmaster.machine.server_file import applications

Floats = NDArray[np.float64]
MOST_VALUES = 512
"""In one request: request.h, RM_REQUEST_VALUE_BYTES."""
CONFIG_FILE = re.compile(r"(.*\.ya?ml)(?:@[\w-]+)?", re.DOTALL)
"""A server's file on its command line: FILE, or FILE@NAME of one of two."""


class FeedbackAbsent(ObjectNotFound):
    """The workspace has no such application, or it has not opened yet. The text says what to do."""


@dataclass
class Feedback:
    """The application ``name`` of an attached workspace; ``configuration`` is its own file, where that was given."""

    ws: Workspace
    name: str = "feedback"
    configuration: Path | None = None
    timeout_s: float = ANSWER_TIMEOUT_S

    def __post_init__(self) -> None:
        """Raises FeedbackAbsent; WorkspaceDead or WorkspaceStopped where it says nothing of now."""
        if not runs(self.ws, self.name):
            raise FeedbackAbsent(absent(self.ws, self.name))
        self.ws.check(self.ws.parameters[f"{self.name}/state"].owner)

    def parameter(self, short: str) -> Parameter:
        """``parameter("state")`` is feedback/state."""
        return self.ws.parameters[f"{self.name}/{short}"]

    def number(self, short: str) -> float:
        """A reading or setting that is one number; NaN where this application has none of that name."""
        whole = f"{self.name}/{short}"
        return self.ws.parameters[whole].number if whole in self.ws.parameters else float("nan")

    def array(self, short: str) -> Floats:
        """A reading or setting of several elements."""
        return np.atleast_1d(np.asarray(self.parameter(short).value, np.float64)).ravel()

    @property
    def state(self) -> State:
        """Now."""
        return State(int(self.number("state")))

    @property
    def withdrawn(self) -> str:
        """Why it may not act any more, in words; empty where nothing was taken back."""
        number = self.number("withdrawn")
        return WITHDRAWN.get(Withdrawal(int(number)), "") if number in set(Withdrawal) else ""

    def put(self, short: str, value: float) -> None:
        """Asks it to set one of its settings."""
        self.ws.put(f"{self.name}/{short}", value, timeout=self.timeout_s)

    def put_array(self, short: str, values: Floats) -> None:
        """Sets what differs of an array, in as few requests as that takes."""
        now = self.array(short)
        if len(values) != len(now):
            raise ValueError(f"{self.name}/{short}: {len(now)} values are needed, {len(values)} given")
        changed = np.flatnonzero(values != now)
        if not len(changed):
            return
        first, last = int(changed[0]), int(changed[-1]) + 1
        for begin in range(first, last, MOST_VALUES):
            part = values[begin : min(begin + MOST_VALUES, last)]
            self.ws.put(f"{self.name}/{short}", part, timeout=self.timeout_s, first=begin)

    # ---- names

    @cached_property
    def configuration_path(self) -> Path | None:
        """The feedback's own file: as given, or as the server's configuration names it; None where nobody can say."""
        return self.configuration or find_configuration(self.ws, self.name)

    @cached_property
    def matrix(self) -> Matrix | None:
        """The response matrix that it was configured with; None where its file cannot be found."""
        if self.configuration_path is None:
            return None
        from ringmaster.feedback.configuration import matrix_path, rf_actuator

        return replace(load_csv(matrix_path(self.configuration_path)), rf=rf_actuator(self.configuration_path))

    def moved_by_loop(self) -> NDArray[np.bool_]:
        """By column: actuators of families that are in use; the RF only while its setting is on."""
        from ringmaster.feedback.configuration import read_configuration

        both = self.need_matrix()
        assert self.configuration_path is not None
        read = read_configuration(self.configuration_path, self.ws.parameters["server/turn_rate_hz"].number)
        owned = [
            self.number("rf") == 1 if name == both.rf else read.family_of(name) is not None for name in both.columns
        ]
        used: NDArray[np.bool_] = np.array(owned) & (self.array("actuator_state") == 0)
        return used

    def need_matrix(self) -> Matrix:
        """The same. Raises ValueError where there is none, or another one than the application runs with."""
        if self.matrix is None:
            raise ValueError(
                f"the configuration of {self.name} is not known: name its file by --configuration FEEDBACK.yaml"
            )
        rows, columns = len(self.array("bpm_state")), len(self.array("actuator_state"))
        if (len(self.matrix.rows), len(self.matrix.columns)) != (rows, columns):
            raise ValueError(
                f"{self.configuration_path}: its matrix has {len(self.matrix.rows)} rows and "
                f"{len(self.matrix.columns)} actuators; the running {self.name} has {rows} and {columns}: is it "
                f"another file, or was it changed since?"
            )
        return self.matrix

    @cached_property
    def rows(self) -> tuple[str, ...]:
        """Names of the rows; numbers where nobody can say them."""
        return self._named("bpm_state", "row", () if self._fitting is None else self._fitting.rows)

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Names of the actuators, as the rows'."""
        return self._named("actuator_state", "actuator", () if self._fitting is None else self._fitting.columns)

    @cached_property
    def _fitting(self) -> Matrix | None:
        try:
            return self.need_matrix()
        except (OSError, ValueError):
            return None

    def _named(self, reading: str, word: str, names: tuple[str, ...]) -> tuple[str, ...]:
        if names:
            return names
        count = len(self.array(reading)) if f"{self.name}/{reading}" in self.ws.parameters else 0
        return tuple(f"{word} {i}" for i in range(count))


def runs(ws: Workspace, name: str) -> bool:
    """Whether the workspace has a feedback of that name."""
    return f"{name}/state" in ws.parameters and f"{name}/loop" in ws.parameters


def absent(ws: Workspace, name: str) -> str:
    """Why there is no such application, and what to do."""
    known = applications(ws)
    named = f"{name!r} is not among the applications of workspace {ws.name!r}"
    if name in known:
        grant = f"grant/{name}"
        process = f"start it with `ringmaster application CONFIG.yaml {name}`" if grant in ws.objects else "wait"
        return (
            f"the application {name!r} of workspace {ws.name!r} is configured but does not run: {process}, or see on "
            f"its standard error why it ended"
        )
    if known:
        return f"{named}: it has {', '.join(known)}; say which one is the feedback by --name"
    return f"{named}: its server's configuration has none (key `applications`; docs/feedback.md shows one)"


def find_configuration(ws: Workspace, name: str) -> Path | None:
    """The path in the server's configuration; relative ones are tried where the server was started from."""
    told = f"{name}/configuration"
    written = ws.texts[told] if told in ws.texts else applications(ws).get(name, {}).get("configuration")
    if not isinstance(written, str):
        return None
    path = Path(written)
    if path.is_absolute():
        return path if path.exists() else None
    return next((folder / path for folder in _folders(ws, name) if (folder / path).exists()), None)


def _folders(ws: Workspace, name: str) -> list[Path]:
    """Where a relative path may begin: the folder of a file on the command line of the server or the application."""
    pids = [ws.segments[owner].owner_pid for owner in (name, "server") if owner in ws.segments]
    folders = [Path.cwd()]
    for pid in pids:
        try:
            start = Path(f"/proc/{pid}/cwd").readlink()
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:  # ended, or another user's
            continue
        files = [start / file[1] for word in words if (file := CONFIG_FILE.fullmatch(os.fsdecode(word)))]
        folders += [file.parent for file in files]
    return folders


def requester(ws: Workspace) -> Requester:
    """For many requests, one after the other."""
    return Requester(ws.path)


def summary(feedback: Feedback) -> dict[str, Any]:
    """All settings and readings that are one number, by their short names; None for what is no number."""
    prefix = f"{feedback.name}/"
    found = {
        whole.removeprefix(prefix): parameter
        for whole, parameter in feedback.ws.parameters.items()
        if whole.startswith(prefix) and whole.count("/") == prefix.count("/")
    }
    return {short: parameter.number for short, parameter in found.items() if parameter.count == 1}
