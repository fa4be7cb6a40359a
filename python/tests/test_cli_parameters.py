# SPDX-License-Identifier: Apache-2.0
"""get, put, monitor, save, diff and restore, as a person uses them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import cast

import fabric
import numpy as np
import pytest
from command import PACKAGE, in_a_process, ringmaster
from conftest import MakeOwner
from ruamel.yaml import YAML

from ringmaster.cli.put import _moving
from ringmaster.fabric.layout import ElementType
from ringmaster.fabric.owner import Judge, Owner, Request
from ringmaster.fabric.parameter import Limits, ParameterReading
from ringmaster.fabric.workspace import Workspace
from ringmaster.values import snapshot
from ringmaster.values.snapshot import Snapshot, SnapshotInvalid, Tolerance

LIMITS = Limits(control_low=-10, control_high=10, minor_high=5, major_high=8)


class Ramp:
    """An owner that answers, in a thread of its own."""

    def __init__(self) -> None:
        self.owner = Owner("ramp", "demo")
        settings = self.owner.group("ramp/settings")
        own = self.owner.parameter
        self.rate = own("ramp/rate", 0.5, "A/s", limits=LIMITS, writable=True, setting=True, group=settings)
        self.mode = own("ramp/mode", 1, writable=True, setting=True, group=settings)
        self.kick = own(
            "ramp/kick", 2.0, "A", limits=LIMITS, conversion=("µrad", [0, 12.5]), writable=True, setting=True
        )
        self.mask = own("ramp/mask", np.ones(8, "u4"), writable=True, setting=True)
        self.comment = own("ramp/comment", "fine", writable=True, setting=True, room=64)
        self.own_choice = own("ramp/own", 3.0, setting=True)
        self.reading = own("ramp/reading", 7.25, "A", limits=LIMITS)
        self.judge: Judge | None = None
        self._over = Event()
        self.owner.open()
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while not self._over.is_set():
            self.owner.serve(timeout=0.02, judge=self._judge, turn=4711)

    def _judge(self, request: Request) -> str | None:
        """By the judge that there is when the request comes, not when the owner began to wait for it."""
        return self.judge(request) if self.judge else None

    def stop(self) -> None:
        """Ends answering: from now on only the test touches the owner."""
        self._over.set()
        self._thread.join()

    def close(self) -> None:
        """Ends the owner."""
        self.stop()
        self.owner.close()


@pytest.fixture
def ramp(make_owner: MakeOwner) -> Iterator[Ramp]:
    """The workspace "demo" with a server and an owner "ramp"."""
    make_owner([fabric.parameter("server/rate", np.array([1.0]), "Hz", ElementType.F64, flags=1)])
    made = Ramp()
    yield made
    made.close()


def put(*arguments: str, expect: int = 0) -> str:
    """What `ringmaster put` says; waits for a busy machine."""
    done = ringmaster("put", "--timeout", "30", *arguments, expect=expect)
    return done.stderr if expect else done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ramp/rate", "0.75"), "ramp/rate: 0.5 → 0.75 A/s\n"),
        (("ramp/rate", "-0.75"), "ramp/rate: 0.5 → -0.75 A/s\n"),
        (("ramp/kick", "25", "--unit", "urad"), "ramp/kick: 25.0 → 25.0 µrad\n"),
        (("ramp/mask[3]", "0"), "ramp/mask[3]: 1 → 0\n"),
        (("ramp/mask[2:4]", "8,9"), "ramp/mask[2:4]: [1, 1] → [8, 9]\n"),
        (("ramp/mask", *"12345678"), "ramp/mask: [1, 1, 1, 1, 1, 1, 1, 1] → [1, 2, 3, 4, 5, 6, 7, 8]\n"),
        (("ramp/comment", "after", "µ"), 'ramp/comment: "fine" → "after µ"\n'),
    ],
)
def test_put_says_what_was_and_what_is(ramp: Ramp, arguments: tuple[str, ...], said: str) -> None:
    assert put(*arguments) == said


@pytest.mark.parametrize(
    ("arguments", "expect", "said"),
    [
        (("ramp/rate", "12"), 1, "ramp/rate: 12 A/s is above the control limit of 10 A/s"),
        (("ramp/reading", "1"), 1, "ramp/reading: its owner alone sets it"),
        (("ramp/kick", "300", "--unit", "µrad"), 1, "outside of -125 … 125 µrad"),
        (("ramp/kick", "3", "--unit", "mm"), 1, "'A' and 'µrad'; 'mm' is not"),
        (("ramp/rate", "fast"), 1, "'fast' is none"),
        (("ramp/mask", "1"), 2, "8 values are needed, 1 given; ramp/mask[3] sets one of them"),
        (("ramp/mask[8]", "1"), 1, "has 8 elements, from 0 on"),
        (("ramp/raet", "1"), 7, "did you mean 'ramp/rate'"),
        (("server/rate", "1"), 7, "server/rate"),
    ],
)
def test_put_says_why_not(ramp: Ramp, arguments: tuple[str, ...], expect: int, said: str) -> None:
    words = put(*arguments, expect=expect)
    assert said in words
    assert words.count("\n") == 1
    assert ramp.rate.value == 0.5


def test_put_tells_scripts_the_same(ramp: Ramp) -> None:
    done = json.loads(put("ramp/rate", "6", "--json"))
    assert (done["old"], done["new"], done["unit"], done["turn"], done["severity"]) == (0.5, 6.0, "A/s", 4711, "minor")
    refused = ringmaster("put", "ramp/rate", "60", "--json", "--timeout", "30", expect=1)
    assert "above the control limit" in json.loads(refused.stdout)["refused"]


def test_put_of_a_setpoint_that_moves_shows_its_target_and_the_way() -> None:
    """Just after the request it stands where it stood."""
    config = "chains: [{name: c, count: 2, supplies: [{name: 'sr/ch{chain}_', count: 3, slew: 1.5}]}]"
    unit = SimpleNamespace(unit="A")
    ws = SimpleNamespace(
        supplies={"sr/ch02_03": None}, parameters={"sr/ch02_03/setpoint": unit}, texts={"server/config": config}
    )
    before = SimpleNamespace(value=-2.85)
    moving = _moving(cast(Workspace, ws), "sr/ch02_03/setpoint", 2.0, cast(ParameterReading, before))
    assert moving == "it moves there at 1.5 A/s: `ringmaster monitor sr/ch02_03/setpoint` shows it"
    there = SimpleNamespace(value=float(np.float32(2.1)))
    assert _moving(cast(Workspace, ws), "sr/ch02_03/setpoint", 2.1, cast(ParameterReading, there)) == ""
    assert _moving(cast(Workspace, ws), "ramp/rate", 2.0, cast(ParameterReading, before)) == ""


def test_an_owner_that_has_ended_is_reported(ramp: Ramp) -> None:
    ramp.close()
    assert "ramp" in put("ramp/rate", "1", expect=6)


def test_get_converts_and_picks_elements(ramp: Ramp) -> None:
    shown = ringmaster("get", "ramp/kick", "--unit", "urad").stdout
    assert shown == "ramp/kick = 25.0 µrad\n"
    assert (
        ringmaster("get", "ramp/mask[3]", "ramp/reading").stdout
        == "ramp/mask[3] = 1\nramp/reading = 7.25 A  (minor alarm)\n"
    )
    assert "have" not in ringmaster("get", "ramp/rate", "--unit", "m", expect=1).stderr
    assert "9 is none of them" in ringmaster("get", "ramp/mask[9]", expect=7).stderr
    assert ringmaster("get", "ramp/[kr]*", "--unit", "urad").stdout.splitlines()[:2] == [
        "ramp/rate = 0.5 A/s",
        "ramp/kick = 25.0 µrad",
    ]
    got = json.loads(ringmaster("get", "ramp/settings", "ramp/rate", "ramp/replies", "--json").stdout)
    assert got["ramp/settings"]["members"]["ramp/rate"]["value"] == 0.5
    assert (got["ramp/rate"]["writable"], got["ramp/rate"]["limits"]["control_high"]) == (True, 10.0)
    assert got["ramp/replies"] == {"answered": 0, "refused": 0, "missed": 0}


def test_ls_takes_patterns_and_says_what_may_be_set(ramp: Ramp) -> None:
    lines = ringmaster("ls", "ramp/r*").stdout.splitlines()
    rate = next(line for line in lines if line.startswith("ramp/rate"))
    assert "put save" in rate
    assert not any("ramp/kick" in line for line in lines)
    assert "no object named 'nothing'" in ringmaster("ls", "nothing", expect=7).stderr


@pytest.mark.parametrize(("command", "names"), [("put", ["rate"]), ("monitor", ["rate", "reading"])])
def test_names_are_completed(ramp: Ramp, command: str, names: list[str]) -> None:
    done = in_a_process(_RINGMASTER_COMPLETE="bash_complete", COMP_WORDS=f"ringmaster {command} ramp/r", COMP_CWORD="2")
    assert done.stdout.splitlines() == [f"plain,ramp/{name}" for name in names]


def test_monitor_shows_every_change_that_it_sees_and_counts_the_others(ramp: Ramp) -> None:
    ramp.stop()
    command = [sys.executable, "-m", "ringmaster", "monitor", "ramp/rate", "ramp/m*", "--json", "--every", "0.01"]
    environment = os.environ | {"PYTHONPATH": str(PACKAGE)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as monitor:
        assert monitor.stdout is not None
        assert monitor.stderr is not None
        present = [json.loads(monitor.stdout.readline()) for _ in range(3)]
        assert [line["name"] for line in present] == ["ramp/rate", "ramp/mode", "ramp/mask"]
        written = seen = 0
        for value in np.linspace(0, 1, 100):
            ramp.rate.write(value, turn=written)
            written += 1
        while seen < written:
            line = json.loads(monitor.stdout.readline())
            seen += 1 + line["missed"]
        assert (line["name"], line["value"], line["turn"]) == ("ramp/rate", 1.0, 99)
        assert seen == written
        monitor.send_signal(signal.SIGINT)
        assert monitor.stdout.read() == ""
        assert monitor.stderr.read().startswith("stopped: ")
    assert monitor.returncode == 0


def test_monitor_ends_by_itself(ramp: Ramp) -> None:
    done = ringmaster("monitor", "ramp/reading", "--seconds", "0")
    assert "ramp/reading  7.25 A  minor" in done.stdout
    assert "done: 0 changes of 1 parameter shown" in done.stderr
    assert "did you mean" in ringmaster("monitor", "ramp/raet", expect=7).stderr


def test_a_snapshot_comes_back(ramp: Ramp, tmp_path: Path) -> None:
    file = str(tmp_path / "monday.yaml")
    assert "6 parameters of demo" in ringmaster("save", file).stderr
    assert "exists; --force" in ringmaster("save", file, expect=1).stderr
    content = YAML(typ="safe").load(Path(file))
    assert content["parameters"]["ramp/rate"].keys() == {"value", "unit", "group", "time"}
    assert "ramp/reading" not in content["parameters"]
    assert ringmaster("diff", file).stdout == ""
    put("ramp/rate", "0.75")
    put("ramp/mask[3]", "5")
    put("ramp/comment", "other")
    differs = ringmaster("diff", file, expect=1).stdout.splitlines()
    assert differs == [
        'ramp/comment  "fine" → "other"',
        "ramp/mask     [3] 1 → 5",
        "ramp/rate     0.5 → 0.75 A/s  (+0.25)",
    ]
    assert ringmaster("diff", file, "live", "ramp/rate", "--tolerance", "0.25").stdout == ""
    assert ringmaster("diff", file, "ramp/rate", expect=1).stdout == "ramp/rate  0.5 → 0.75 A/s  (+0.25)\n"
    assert "no parameter in the snapshot matches" in ringmaster("diff", file, "tuesday.yaml", expect=7).stderr
    assert "nowhere.yaml" in ringmaster("diff", "nowhere.yaml", expect=2).stderr
    assert ringmaster("diff", file, "live", "ramp/rate", "--tolerance", "30%", expect=1).stdout != ""
    dry = ringmaster("restore", file, "--dry-run").stdout
    assert "would set   ramp/rate: 0.75 → 0.5 A/s" in dry
    assert ramp.rate.value == 0.75
    restored = ringmaster("restore", file, "--timeout", "30")
    assert restored.stdout.count("set  ") == 3
    assert all(words in restored.stderr for words in ("3 unchanged", "3 set"))
    assert (ramp.rate.value, ramp.comment.value) == (0.5, "fine")
    assert ringmaster("diff", file).stdout == ""


def test_restore_says_what_is_refused_and_what_is_gone(ramp: Ramp, tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    entries: dict[str, snapshot.Entry] = {
        "ramp/rate": {"value": 12.0, "unit": "A/s"},
        "ramp/kick": {"value": 3.0, "unit": "mA"},
        "ramp/own": {"value": 4.0},
        "ramp/gone": {"value": 5.0, "unit": "V"},
        "ramp/mode": {"value": 2},
    }
    snapshot.write(Snapshot("demo", "2026-03-01T00:00:00Z", 5, entries), file)
    done = ringmaster("restore", str(file), "--json", "--timeout", "30", expect=1)
    steps = {step["name"]: (step["outcome"], step["words"]) for step in json.loads(done.stdout)["steps"]}
    assert steps["ramp/mode"][0] == "set"
    assert steps["ramp/gone"] == ("gone", "there is no such parameter now; it was 5.0 V")
    for name, reason in (("rate", "above the control limit"), ("kick", "saved in 'mA'"), ("own", "ramp, alone does")):
        outcome, words = steps[f"ramp/{name}"]
        assert outcome == "refused"
        assert reason in words
    only = ringmaster("restore", str(file), "ramp/mode")
    assert "1 unchanged" in only.stderr


def test_restore_asks_once_more_for_what_the_rest_of_its_group_stood_in_the_way_of(ramp: Ramp, tmp_path: Path) -> None:
    """An owner of this kind takes one request after the other: the mode goes only with the rate, which comes later."""
    file = tmp_path / "pair.yaml"
    group = {"group": "ramp/settings"}
    entries: dict[str, snapshot.Entry] = {
        "ramp/mode": {"value": 2, **group},
        "ramp/rate": {"value": 2.0, "unit": "A/s", **group},
    }
    snapshot.write(Snapshot("demo", "2026-03-01T00:00:00Z", 5, entries), file)
    asked: list[str] = []

    def judge(request: Request) -> str | None:
        asked.append(request.parameter)
        return "the rate is low" if request.parameter == "ramp/mode" and ramp.rate.value != 2.0 else None

    ramp.judge = judge
    assert "2 set" in ringmaster("restore", str(file), "--timeout", "30").stderr
    assert asked == ["ramp/mode", "ramp/rate", "ramp/mode"]
    assert (ramp.mode.value, ramp.rate.value) == (2, 2.0)


def test_restore_gives_no_permission_and_asks_no_owner_that_has_ended(ramp: Ramp, tmp_path: Path) -> None:
    """A file that was written by hand: `save` leaves permissions out."""
    file = tmp_path / "hand.yaml"
    entries: dict[str, snapshot.Entry] = {"square/enable": {"value": 1.0}, "ramp/mode": {"value": 1}}
    snapshot.write(Snapshot("demo", "2026-03-01T00:00:00Z", 5, entries), file)
    square = Owner("square", "demo")
    square.parameter("square/enable", 0.0, writable=True)
    square.parameter("square/withdrawn", 1.0)
    with square:
        done = ringmaster("restore", str(file), expect=1)
        assert "refused     square/enable: it is a permission to act, which no file gives" in done.stdout
        assert "1 unchanged, 1 refused" in done.stderr
    ramp.stop()
    ramp.owner.close()
    done = ringmaster("restore", str(file), expect=1)
    assert "unanswered  ramp/mode: 'ramp' of workspace 'demo' has ended" in done.stdout


def test_two_snapshots_are_compared(tmp_path: Path) -> None:
    nan = float("nan")
    both: snapshot.Entry = {"value": [1.0, nan]}
    before: dict[str, snapshot.Entry] = {"a": {"value": 1.0}, "b": both, "c": {"value": 1, "unit": "A"}}
    after: dict[str, snapshot.Entry] = {"a": {"value": 1.0 + 1e-12}, "b": both, "d": {"value": "text"}}
    one, other = Snapshot("demo", "then", None, before), Snapshot("demo", "now", None, after)
    for name, taken in (("one.yaml", one), ("other.json", other)):
        snapshot.write(taken, tmp_path / name)
        assert list(snapshot.compare(snapshot.read(tmp_path / name).parameters, taken.parameters)) == []
    arguments = ("diff", str(tmp_path / "one.yaml"), str(tmp_path / "other.json"))
    shown = ringmaster(*arguments, expect=1).stdout.splitlines()
    assert shown == ["a  1.0 → 1.000000000001  (+1.00009e-12)", "c  gone; it was 1 A", 'd  new; it is "text"']
    listed = json.loads(ringmaster(*arguments, "--json", expect=1).stdout)
    assert (listed["compared"], len(listed["differences"])) == (4, 3)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: [", "neither YAML nor JSON"),
        ("{", "neither YAML nor JSON"),
        ("- 1", "no snapshot"),
        ("snapshot: 2", "version 2, this program reads 1"),
        ("snapshot: 1\nparameters: {a: 1}", "not names with a value each"),
    ],
)
def test_what_is_no_snapshot_says_so(tmp_path: Path, content: str, words: str) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(content)
    with pytest.raises(SnapshotInvalid, match=words):
        snapshot.read(file)


def test_a_tolerance_is_absolute_or_a_share() -> None:
    assert Tolerance().holds(float("nan"), float("nan"))
    assert not Tolerance(absolute=1.0).holds(1.0, float("nan"))
    assert Tolerance(absolute=0.5).holds(1.0, 1.5)
    assert not Tolerance(absolute=0.5).holds(1.0, 1.6)
    assert Tolerance(share=0.1).holds(-100.0, -90.0)
    assert not Tolerance(share=0.1).holds(-100.0, -89.0)


def test_nothing_to_save_is_reported(ramp: Ramp, tmp_path: Path) -> None:
    file = str(tmp_path / "x.yaml")
    assert "--all takes readings, too" in ringmaster("save", file, "ramp/reading", expect=7).stderr
    assert "no parameter matching no/*" in ringmaster("save", file, "no/*", expect=7).stderr
    ringmaster("save", file, "ramp/reading", "--all")
    assert "ramp/reading: {value: 7.25, unit: A" in Path(file).read_text()
    assert "found 'x'" in ringmaster("diff", file, "--tolerance", "x", expect=2).stderr
