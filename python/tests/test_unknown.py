# SPDX-License-Identifier: Apache-2.0
"""A command that asks a server says that it does not know, and ends with a status of its own, where no answer is of
now: no server, several to choose from, one that has ended, one whose process is stopped.
"""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import fabric
import numpy as np
import pytest
from click.testing import CliRunner
from conftest import MakeOwner

from ringmaster import Workspace, WorkspaceDead, WorkspaceStopped, attach
from ringmaster.cli.main import EXIT_CODES, cli
from ringmaster.errors import ObjectNotFound, WorkspaceAbsent, WorkspaceError
from ringmaster.fabric.layout import ElementType

ASKING: dict[str, tuple[str, ...]] = {
    "ls": (),
    "get": ("server/turn_rate_hz",),
    "put": ("server/turn_rate_hz", "1"),
    "monitor": ("server/turn_rate_hz", "--seconds", "0.1"),
    "save": ("saved.yaml", "--all"),
    "diff": ("before.yaml",),
    "restore": ("before.yaml",),
    "change apply": ("change.yaml",),
    "change undo": (),
    "orbit show": (),
    "orbit correct": ("--response", "response.csv", "-o", "orbit.yaml"),
    "commissioning run": ("session",),
    "bba measure": ("elettra2_like", "--mapping", "bpms.yaml", "-o", "bba.h5"),
    "top": ("--json",),
    "align": ("--timeout", "0.1"),
    "calibration show": ("bpm01",),
    "twin follow": ("elettra2_like", "--as", "model", "--map", "mapping.yaml", "--seconds", "0.1"),
    "premortem mask": ("0", "--seconds", "1"),
    "premortem thresholds": ("--per-day", "1", "--seconds", "0.1"),
    "tunefeedback status": (),
    "tunefeedback on": (),
    "tunefeedback off": (),
    "tunefeedback target": ("now",),
    "response plan": ("elettra2_like", "--mapping", "bpms.yaml"),
    "response measure": ("elettra2_like", "--mapping", "bpms.yaml", "-o", "response.h5"),
    "sequence run": ("degauss",),
    "sequence status": (),
    "sequence abort": (),
    "standby status": (),
    "standby why": (),
    "standby switch": (),
    "standby hold": (),
    "standby release": (),
    "standby acknowledge": (),
    "feedback status": (),
    "feedback why": (),
    "feedback on": (),
    "feedback off": (),
    "feedback hold": (),
    "feedback reset": (),
    "feedback set": ("gain", "1"),
    "feedback mask": ("bpm01",),
    "feedback golden": ("current",),
    "feedback bump": ("bpm01", "--x", "1um"),
    "feedback sensitivity": (),
    "feedback spectrum": (),
    "spectrum": ("bpm01/turn/x1",),
    "correlate modes": ("bpm01/turn",),
    "correlate pair": ("bpm01/turn/x1", "bpm01/turn/y1"),
    "correlate sources": ("--at", "50", "--matrix", "response.csv"),
    "optics": ("elettra2_like", "--mapping", "bpms.yaml"),
    "gateway epics": (),
    "gateway tango": ("--port", "10001"),
    "tune chromaticity": ("elettra2_like", "--mapping", "bpms.yaml"),
    "tune synchrotron": ("elettra2_like", "--mapping", "bpms.yaml"),
    "tune coupling": ("elettra2_like", "--mapping", "bpms.yaml", "--quadrupoles", "q*", "--most", "1"),
    "tune damping": ("elettra2_like", "--mapping", "bpms.yaml", "--timeout", "0.1"),
    "feedback matrix measure": ("--amplitude", "0.1", "-o", "matrix.csv"),
}
"""Every command that asks a server, and what it needs besides."""
ELSEWHERE = {
    *("change show", "change ls", "commissioning score", "commissioning rehearse", "response show", "response compare"),
    *("bba report", "bba correct", "plan", "setup", "qualify"),
    *("demo", "run", "check", "virtual", "application", "simulate", "doctor", "completion", "replay", "clean", "flags"),
    *("calibration template", "calibration check", "calibration convert", "measure", "bench", "twin"),
    *("reload", "generate", "record", "archive", "postmortem", "loco", "gateway fast-archiver", "gateway metrics"),
    *(
        "plan",
        "reload",
        "generate",
        "record",
        "archive",
        "postmortem",
        "loco",
        "gateway fast-archiver",
        "gateway metrics",
    ),
    *("feedback predict", "feedback matrix twin", "feedback matrix convert", "feedback matrix show"),
    *(
        "standby run",
        "standby reset",
        "tunefeedback matrix",
        "forward",
        "sequence check",
        "sequence simulate",
        "sequence plot",
        "cameras",
        "view",
    ),
}
"""Those that ask none; of a group its name means all that are not above."""
FILES = {
    "response.csv": ",ps/a\nbpm01/x1,1.0\n",
    "bpms.yaml": 'bpms: "BPM_*"\nrows: "bpm[01-84]/{x1,y1,x2,y2}"\n',
    "before.yaml": "snapshot: 1\nworkspace: demo\ntime: now\nturn: 1\nparameters: {}\n",
    "change.yaml": "change: 1\nmoves: []\n",
    "mapping.yaml": "bpms: BPM_*\nrows: bpm[01-84]/{x1,y1}\ncorrectors: []\n",
}


def test_all_commands_are_here() -> None:
    """A new command is one that asks a server, or is said not to be."""
    known = set(ASKING) | ELSEWHERE
    for command in cli.commands.values():
        if command.name in known:
            continue
        names = {f"{command.name} {name}" for name in getattr(command, "commands", {})}
        assert names, f"{command.name}: does it ask a server?"
        deeper = {name for name in names if any(one.startswith(f"{name} ") for one in known)}
        assert names - deeper <= known, names - deeper - known


def server(make_owner: MakeOwner, workspace: str = "demo", **more: object) -> fabric.Owner:
    rate = fabric.parameter("server/turn_rate_hz", np.array([1157000.0]), "Hz", ElementType.F64)
    return make_owner([rate], workspace=workspace, **more)


def none(_make_owner: MakeOwner, _stopped: int) -> None:
    """No server."""


def several(make_owner: MakeOwner, _stopped: int) -> None:
    """Two that live."""
    server(make_owner)
    server(make_owner, "other")


def dead(make_owner: MakeOwner, _stopped: int) -> None:
    """One that was killed."""
    server(make_owner).die()


def stopped(make_owner: MakeOwner, process: int) -> None:
    """One whose process is stopped."""
    server(make_owner, header={"owner_pid": process})


SITUATIONS: dict[Callable[[MakeOwner, int], None], type[WorkspaceError]] = {
    none: WorkspaceAbsent,
    several: WorkspaceAbsent,
    dead: WorkspaceDead,
    stopped: WorkspaceStopped,
}


@pytest.fixture
def process() -> Iterator[int]:
    """A process that is stopped."""
    with subprocess.Popen(["sleep", "infinity"]) as sleeper:
        os.kill(sleeper.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED | os.WNOWAIT)
        yield sleeper.pid
        sleeper.kill()


@pytest.mark.parametrize("command", ASKING)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_unknown_is_unknown(
    command: str,
    situation: Callable[[MakeOwner, int], None],
    make_owner: MakeOwner,
    process: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    situation(make_owner, process)
    folder = tmp_path / "files"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name, words in FILES.items():
        (folder / name).write_text(words)
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    done = CliRunner().invoke(cli, [*command.split(), *ASKING[command]], standalone_mode=False)
    assert {number: signal.getsignal(number) for number in handlers} == handlers
    assert type(done.exception) is SITUATIONS[situation], done
    assert done.stdout == ""
    assert EXIT_CODES[type(done.exception)] > 2
    assert not (folder / "saved.yaml").exists()


def test_every_error_of_a_workspace_has_a_code_of_its_own() -> None:
    kinds = {kind for kind in WorkspaceError.__subclasses__() if kind.__module__ == WorkspaceError.__module__}
    assert kinds == set(EXIT_CODES)
    assert len(set(EXIT_CODES.values())) == len(kinds)


def test_what_is_stopped_can_be_read_on_request(make_owner: MakeOwner, process: int) -> None:
    stopped(make_owner, process)
    with pytest.raises(WorkspaceStopped, match=f"kill -CONT {process}"):
        attach("demo")
    with attach("demo", dead=True) as ws:
        assert ws.parameters["server/turn_rate_hz"].number == 1157000.0


def owner(make_owner: MakeOwner, name: str = "ramp", **more: object) -> fabric.Owner:
    target = fabric.parameter(f"{name}/target", np.array([4.0]), "A", ElementType.F64)
    target.content = target.content.replace(b"server".ljust(32, b"\0"), name.encode().ljust(32, b"\0"))
    return make_owner([target], name=name, **more)


@pytest.mark.parametrize("how", ["dead", "stopped"])
def test_an_owner_that_says_nothing_of_now(make_owner: MakeOwner, process: int, how: str, tmp_path: Path) -> None:
    """The server lives; the application has ended, or is stopped."""
    before = tmp_path / "before.yaml"
    before.write_text(
        "snapshot: 1\nworkspace: demo\ntime: now\nturn: 1\nparameters: {ramp/target: {value: 1.0, unit: A}}\n"
    )
    server(make_owner)
    it = owner(make_owner, header={"owner_pid": process if how == "stopped" else os.getpid()})
    if how == "dead":
        it.die()
    wanted = WorkspaceDead if how == "dead" else WorkspaceStopped
    asking = (
        ["get", "ramp/target"],
        ["monitor", "ramp/target", "--seconds", "0.1"],
        ["save", "-", "--all"],
        ["diff", str(before)],
    )
    for words in asking:
        done = CliRunner().invoke(cli, words, standalone_mode=False)
        assert type(done.exception) is wanted, done
    done = CliRunner().invoke(cli, ["get", "*"], standalone_mode=False)
    assert type(done.exception) is wanted
    assert "server/turn_rate_hz" in done.stdout
    assert "ramp/target" not in done.stdout
    for words in (["get", "--dead", "ramp/target"], ["save", "--dead", "--all", "-"], ["diff", "--dead", str(before)]):
        assert "4.0" in CliRunner().invoke(cli, words, standalone_mode=False).stdout


def test_an_owner_that_is_not_there(make_owner: MakeOwner) -> None:
    server(make_owner)
    with attach("demo") as ws:
        assert isinstance(ws, Workspace)
        with pytest.raises(ObjectNotFound, match="ramp"):
            ws.check("ramp")
