# SPDX-License-Identifier: Apache-2.0
"""Owners made in Python, who asks them, and what they answer."""

import json
import math
import os
import pwd
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import fabric
import numpy as np
import pytest
from click.testing import CliRunner
from conftest import MakeOwner

import ringmaster
from ringmaster.cli.main import cli
from ringmaster.fabric import layout
from ringmaster.fabric.layout import Severity
from ringmaster.fabric.owner import Owner, Request
from ringmaster.fabric.requesters import find_requesters

LIMITS = ringmaster.Limits(control_low=-10, control_high=10, minor_high=5, major_high=8, hysteresis=1)


@pytest.fixture(autouse=True)
def server(make_owner: MakeOwner) -> fabric.Owner:
    """The server of the workspace "demo", which has nothing."""
    return make_owner([])


def ramp() -> Owner:
    """An owner with something of each kind."""
    owner = Owner("ramp", "demo")
    settings = owner.group("ramp/settings", "what one may choose")
    owner.parameter("ramp/rate", 0.5, "A/s", "how fast", limits=LIMITS, writable=True, setting=True, group=settings)
    owner.parameter("ramp/mode", 1, writable=True, setting=True, group=settings)
    owner.parameter("ramp/kick", 2.0, "A", limits=LIMITS, conversion=("µrad", [1, 12.5]), writable=True, setting=True)
    owner.parameter("ramp/mask", np.ones(600, "u8"), writable=True, setting=True)
    owner.parameter("ramp/comment", "fine", writable=True, room=16)
    owner.parameter("ramp/reading", 7.0, "A")
    return owner


@contextmanager
def serving(owner: Owner, judge: Callable[[Request], str | None] | None = None) -> Iterator[Owner]:
    """Answers requests in a thread of its own until the end."""
    over, ready = Event(), Event()

    def serve() -> None:
        with owner:
            ready.set()
            while not over.is_set():
                owner.serve(timeout=0.05, judge=judge, turn=4711)

    thread = Thread(target=serve)
    thread.start()
    try:
        assert ready.wait(30)
        yield owner
    finally:
        over.set()
        thread.join(30)


def test_what_an_owner_has_is_what_a_reader_finds() -> None:
    with ramp(), ringmaster.attach("demo") as ws:
        rate, kick = ws.parameters["ramp/rate"], ws.parameters["ramp/kick"]
        assert (rate.value, rate.unit, rate.description, rate.owner) == (0.5, "A/s", "how fast", "ramp")
        assert rate.limits == LIMITS
        assert (rate.writable, rate.setting, rate.group) == (True, True, "ramp/settings")
        assert kick.read("urad").value == 26.0
        assert ws.parameters["ramp/mode"].value == 1
        assert ws.parameters["ramp/comment"].value == "fine"
        assert np.asarray(ws.parameters["ramp/mask"].value).sum() == 600
        assert not ws.parameters["ramp/reading"].writable
        assert ws.groups["ramp/settings"].members == ["ramp/rate", "ramp/mode"]


def test_a_write_is_seen_with_its_turn_and_severity() -> None:
    owner = Owner("ramp", "demo")
    rate = owner.parameter("ramp/rate", 0.5, limits=LIMITS)
    row = owner.parameter("ramp/row", [1.0, 2.0, 3.0])
    with owner, ringmaster.attach("demo") as ws:
        seen = ws.parameters["ramp/rate"]
        before = seen.read()
        severities = []
        for value in (8.5, 7.5, 6.5, 4.5, 3.5):
            rate.write(value, turn=100)
            severities.append(seen.read().severity)
        after = seen.read()
        assert severities == [Severity.MAJOR, Severity.MAJOR, Severity.MINOR, Severity.MINOR, Severity.NONE]
        assert (after.value, after.turn, rate.value) == (3.5, 100, 3.5)
        assert after.changes - before.changes == 5
        assert after.timestamp_tai_ns > before.timestamp_tai_ns
        rate.invalidate()
        assert seen.read().severity == Severity.INVALID
        assert seen.value == 3.5
        row.value = [4, 5, 6]
        assert np.asarray(ws.parameters["ramp/row"].value).tolist() == [4, 5, 6]


def test_a_group_changes_at_one_turn() -> None:
    owner = Owner("ramp", "demo")
    settings = owner.group("ramp/settings")
    a, b = (owner.parameter(f"ramp/{name}", 0.0, group=settings) for name in "ab")
    with owner, ringmaster.attach("demo") as ws:
        group = ws.groups["ramp/settings"]
        first = group.read().changes
        with settings.change(turn=5000):
            a.value, b.value = 1.0, 2.0
        reading = group.read()
        assert (reading.turn, reading.changes) == (5000, first + 1)
        assert [(r.value, r.turn) for r in reading.readings.values()] == [(1.0, 5000), (2.0, 5000)]
        with owner.group("ramp/settings"):
            b.value = 3.0
        assert group.read().readings["ramp/b"].value == 3.0
        with settings, pytest.raises(RuntimeError, match="do not nest"):
            settings.change().__enter__()


def test_rows_of_setpoints_are_read_whole() -> None:
    owner = Owner("ramp", "demo")
    rows = owner.setpoints(9)
    with owner, ringmaster.attach("demo") as ws:
        assert ws.setpoints["ramp"].read() is None
        for n in range(5):
            rows.commit(np.arange(9) + 100 * n, grant_number=3, input_turn=1200 + n)
            row = ws.setpoints["ramp"].read()
            assert row is not None
            assert (row.number, row.grant_number, row.input_turn) == (n, 3, 1200 + n)
            assert row.values.tolist() == (np.arange(9) + 100 * n).tolist()
        with pytest.raises(ValueError, match="has 9 values, not 2"):
            rows.commit([1, 2], 3, 0)


def test_what_was_left_is_taken_over() -> None:
    owner = ramp()
    with owner:
        assert not owner.adopted
        owner._parameters["ramp/rate"].value = 4.0
    again = ramp()
    with again, ringmaster.attach("demo") as ws:
        assert again.adopted
        assert ws.parameters["ramp/rate"].value == 4.0


def test_two_cannot_own_the_same() -> None:
    with ramp(), pytest.raises(ringmaster.OwnerBusy, match="ramp"):
        ramp().open()


def test_what_is_not_open_says_so() -> None:
    owner = Owner("ramp", "demo")
    parameter = owner.parameter("ramp/x", 1.0)
    with pytest.raises(RuntimeError, match="is not open"):
        parameter.write(2.0)
    owner.close()


@pytest.mark.parametrize("value", [[], np.zeros((2, 2, 2)), "x" * 20, object()])
def test_what_is_no_parameter_is_refused(value: ringmaster.fabric.parameter.Value) -> None:
    owner = Owner("ramp", "demo")
    with pytest.raises(ValueError, match="parameter is a number|longer than"):
        owner.parameter("ramp/x", value, room=10)
    owner.close()


def test_a_bad_plan_is_reported_when_it_is_opened() -> None:
    owner = Owner("ramp", "demo")
    owner.parameter("ramp/x", 1.0, "A", conversion=("T", [0, 1, 1]))
    with pytest.raises(ValueError, match="ramp/x"):
        owner.open()
    owner.close()


def test_who_holds_a_place_to_ask_from_can_be_seen() -> None:
    with serving(ramp()), ringmaster.attach("demo") as ws:
        assert find_requesters(ws.path) == []
        ws.put("ramp/rate", 0.75, timeout=20)
        (place,) = find_requesters(ws.path)
        assert (place.user, place.pid) == (pwd.getpwuid(os.geteuid()).pw_name, os.getpid())
        assert place.program == Path("/proc/self/comm").read_text().strip()
        told = json.loads(CliRunner().invoke(cli, ["ls", "--requesters", "--json"]).stdout)
        assert [one["name"] for one in told["requesters"]] == [place.name]
        assert told["limits"] == {"per_user": 256, "all": 1024}
        shown = CliRunner().invoke(cli, ["ls", "--requesters"]).stdout
        assert "1 programs hold a place" in shown
        assert place.name in shown
        (ws.path / "requests" / f"{place.name}.lock").write_text("1\n")  # a number in a file can be any
        if os.geteuid() == 0:
            os.chown(ws.path / "requests" / f"{place.name}.lock", 65534, -1)
        (place,) = find_requesters(ws.path)
        assert (place.pid, place.program) == (1, "")
    assert find_requesters(ws.path) == []


def test_put_sets_what_it_should(root: Path) -> None:
    with serving(ramp()), ringmaster.attach("demo") as ws:
        reading = ws.put("ramp/rate", 0.75, timeout=20)
        assert (reading.value, reading.turn) == (0.75, 4711)
        assert ws.put("ramp/kick", 126, "urad", timeout=20).value == 126.0
        assert ws.parameters["ramp/kick"].value == 10.0
        assert ws.put("ramp/comment", "µ and so on", timeout=20).value == "µ and so on"
        ws.put("ramp/mask", [7, 8], timeout=20, first=598)
        assert np.asarray(ws.parameters["ramp/mask"].value)[595:].tolist() == [1, 1, 1, 7, 8]
        ws.put("ramp/mask", np.arange(600), timeout=20)  # more than fits into one request
        assert np.array_equal(np.asarray(ws.parameters["ramp/mask"].value), np.arange(600))
        assert ws.groups["ramp/settings"].read().turn == 4711
        assert len(list((root / "demo/requests").glob("*.segment"))) == 1
        assert ws.replies["ramp/replies"].read() == {"answered": 6, "refused": 0, "missed": 0}
    assert not list((root / "demo/requests").glob("*.segment"))


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("ramp/rate", 10.5, "ramp/rate: 10.5 A/s is above the control limit of 10 A/s"),
        ("ramp/rate", -11, "is below the control limit"),
        ("ramp/rate", math.nan, "NaN is no number"),
        ("ramp/reading", 1.0, "its owner alone sets it"),
        ("ramp/mode", 5, "ramp/mode: not five"),
    ],
)
def test_a_refusal_comes_with_its_reason(name: str, value: float, reason: str) -> None:
    def judge(request: Request) -> str | None:
        assert request.uid == os.getuid()
        return "not five" if request.parameter == "ramp/mode" and request.values[0] == 5 else None

    with serving(ramp(), judge), ringmaster.attach("demo") as ws:
        before = ws.parameters[name].value
        with pytest.raises(ringmaster.RequestRefused, match=reason):
            ws.put(name, value, timeout=20)
        assert ws.parameters[name].value == before
        assert ws.replies["ramp/replies"].read()["refused"] == 1


@pytest.mark.parametrize(
    ("name", "value", "unit", "first", "error", "words"),
    [
        ("ramp/kick", 200, "µrad", 0, ringmaster.RequestRefused, "200 µrad is outside of -124 … 126 µrad"),
        ("ramp/kick", 200, "mm", 0, ringmaster.UnitUnknown, "'A' and 'µrad'"),
        ("ramp/kick", "fast", None, 0, ValueError, "'fast' is not a number"),
        ("ramp/kick", None, None, 0, ValueError, "None is not a number"),
        ("ramp/kick", [1, 2], None, 0, ValueError, "has 1 elements"),
        ("ramp/mask", [1], None, 600, ValueError, "1 from 600 on"),
        ("ramp/mask", 1.5, None, 0, ValueError, "whole numbers from 0 to"),
        ("ramp/mask", -1, None, 0, ValueError, "whole numbers from 0 to"),
        ("ramp/comment", "x" * 16, None, 0, ValueError, "room for 15 bytes"),
        ("ramp/kik", 1, None, 0, ringmaster.ObjectNotFound, "did you mean 'ramp/kick'"),
    ],
)
def test_what_cannot_be_is_not_asked_for(
    name: str, value: object, unit: str | None, first: int, error: type[Exception], words: str
) -> None:
    with ramp(), ringmaster.attach("demo") as ws, pytest.raises(error, match=words):
        ws.put(name, value, unit, first=first)  # type: ignore[arg-type]


def test_an_owner_that_does_not_answer_is_reported_from_one_that_is_dead() -> None:
    owner = ramp()
    with owner, ringmaster.attach("demo") as ws, pytest.raises(ringmaster.RequestUnanswered):
        ws.put("ramp/rate", 1.0, timeout=0.01)
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDead, match="ramp"):
        ws.put("ramp/rate", 1.0, timeout=0.01)


def test_a_request_waits_for_who_answers_later() -> None:
    """What was asked before the owner looked is answered when it does."""
    owner = ramp()
    with owner, ringmaster.attach("demo") as ws:
        with pytest.raises(ringmaster.RequestUnanswered):
            ws.put("ramp/rate", 1.25, timeout=0.01)
        granted = owner.serve(timeout=20)
        assert [(request.parameter, request.values.tolist()) for request in granted] == [("ramp/rate", [1.25])]
        assert ws.parameters["ramp/rate"].value == 1.25


def test_what_a_killed_owner_left_half_written_is_whole_again_with_the_next(root: Path) -> None:
    with ramp():
        pass
    path = root / "demo/ramp.segment"
    with ringmaster.attach("demo") as ws:
        places = {name: ws.objects[name].offset for name in ("ramp/rate", "ramp/settings")}
    layouts = {"ramp/rate": layout.PARAMETER, "ramp/settings": layout.GROUP}
    with path.open("r+b") as file:
        for name, place in places.items():
            file.seek(place + layout.member_offset(layouts[name], "sequence"))
            file.write((7).to_bytes(8, "little"))
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="killed"):
        ws.parameters["ramp/rate"].read()
    with ramp() as again, ringmaster.attach("demo") as ws:
        assert again.adopted
        assert ws.parameters["ramp/rate"].value == 0.5
        assert ws.groups["ramp/settings"].read().changes == 4


def test_a_stream_is_read_as_any_other() -> None:
    owner = Owner("ramp", "demo")
    orbit = owner.stream("ramp/orbit", [("rms_x", "nm"), ("rms_y", "nm")], 120, "what is left", capacity=1024)
    with pytest.raises(RuntimeError, match="not open"):
        orbit.put(120, [1, 2])
    with owner, ringmaster.attach("demo") as ws:
        orbit.put(1200, [1.5, -2.5])
        orbit.put(1320, [3.5, 4.5], tsc=77)
        orbit.put(1560, [5.5, 6.5])
        stream = ws.streams["ramp/orbit"]
        assert stream.instrument_kind == layout.InstrumentKind.APPLICATION
        assert [(lane.name, lane.unit) for lane in stream.lanes] == [("rms_x", "nm"), ("rms_y", "nm")]
        window = stream.read(1200, 4)
        assert window.ok.tolist() == [True, True, False, True]
        assert window.records["rms_x"].tolist() == [1.5, 3.5, 0.0, 5.5]
        assert window.records["rms_y"][1] == 4.5
        with pytest.raises(ValueError, match="2 values, not 3"):
            orbit.put(1680, [1, 2, 3])
    with pytest.raises(ValueError, match="1 to 12 lanes"):
        Owner("ramp", "demo").stream("ramp/none", [], 1)


def test_ls_names_what_is_no_instrument(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock()], name="timed")
    owner = Owner("ramp", "demo")
    orbit = owner.stream("ramp/orbit", [("rms_x", "nm")], 120, capacity=1024)
    with owner:
        orbit.put(1200, [1.5])
        listed = CliRunner().invoke(cli, ["ls", "--workspace", "demo", "stream/ramp/orbit"], catch_exceptions=False)
        assert "application" in listed.output
        assert "rms_x[nm]" in listed.output
