# SPDX-License-Identifier: Apache-2.0
"""Changes: their files, what is refused, and that all is back where it stood when one ends early; without a machine."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import MakeOwner
from supplies_memory import NAMES, NOWHERE, POSITION, Machine, in_memory

from ringmaster.errors import ObjectNotFound, RequestRefused
from ringmaster.fabric.layout import SupplyState
from ringmaster.moving.change import Change, ChangeRefused, Move, apply, load, load_with, propose, undo
from ringmaster.moving.follower import NotFollowed
from ringmaster.moving.hand import NotPutBack
from ringmaster.moving.place import where_to_put


@pytest.fixture
def machine(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    with in_memory(make_owner, monkeypatch) as made:
        yield made


WANTED = {"ps/qf": 1.0, "ps/cx": -2.0, "kick/golden[1]": 3.0}


def wanted(machine: Machine) -> Change:
    return propose(machine.ws, "three", "a test", WANTED)


def standing(machine: Machine) -> list[float]:
    return [machine.number("ps/qf"), machine.number("ps/cx"), machine.golden()[1]]


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "change.yaml"
    change = Change("gradients: one", 'by "hand"', (Move("ps/qf", 0.1, 0.2, "A"), Move("f/golden[3]", math.nan, 1, "")))
    change.save(path, {"applied": "today"})
    again, more = load_with(path)
    assert (again.title, again.made_by, more) == (change.title, change.made_by, {"applied": "today"})
    assert again.moves[0] == change.moves[0]
    assert math.isnan(again.moves[1].before)
    assert len(path.read_text().splitlines()) == 5 + len(change.moves)
    Change("none", "", ()).save(path)
    assert load(path).moves == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("title: a", "no change of version 1"),
        ("[", "change.yaml"),
        ("change: 1\nmoves: 3", r"2:8: moves: found 3, expected a list of moves"),
        (
            "change: 1\nmoves:\n  - {name: a, before: x, after: 1}",
            r"3:23: moves\[0\].before: found 'x', expected a number",
        ),
        ("change: 1\nmoves:\n  - {name: a, after: 1}", r"3:5: moves\[0\].before: found None"),
        ("change: 1\nmoves:\n  - {name: a, before: 0, after: 1, units: A}", "there is no key 'units'; there are: name"),
        ("change: 1\nmoves:\n  - 3", "entry 0: found 3"),
        (
            "change: 1\nmoves:\n  - {name: a, before: 0, after: 1}\n  - {name: a, before: 0, after: 2}",
            r"4:12: moves\[1\].name: a is moved twice",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_reported_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "change.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=expected):
        load(path)


def test_a_supply_is_put_where_it_belongs(machine: Machine) -> None:
    assert str(where_to_put(machine.ws, "ps/qf")) == "ps/qf/setpoint"
    assert str(where_to_put(machine.ws, "ps/cx")) == "kick/position[1]"  # in the order of its own list
    assert str(where_to_put(machine.ws, "ps/cy")) == "kick/position[0]"
    with pytest.raises(ValueError, match="ps/bend is not the operator's to move"):
        where_to_put(machine.ws, "ps/bend")
    with pytest.raises(ObjectNotFound):
        where_to_put(machine.ws, "ps/none")


def test_a_group_is_applied_and_undone(machine: Machine) -> None:
    change = wanted(machine)
    assert change.moves[2] == Move("kick/golden[1]", 0.0, 3.0, "nm")
    apply(machine.ws, change, machine.pause)
    assert standing(machine) == [1.0, -2.0, 3.0]
    assert machine.golden() == [0.0, 3.0, 0.0]
    assert np.asarray(machine.ws.parameters[POSITION].value)[0] == NOWHERE  # the other one was not touched
    undo(machine.ws, change, machine.pause)
    assert standing(machine) == [0.0, 0.0, 0.0]


def test_it_goes_in_equal_steps(machine: Machine) -> None:
    seen, shares = [], []

    def progress(share: float) -> None:
        shares.append(share)
        seen.append(machine.number("ps/qf"))

    apply(machine.ws, wanted(machine), machine.pause, progress, steps=4)
    assert sorted(set(seen)) == [0.25, 0.5, 0.75, 1.0]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_differences_count_from_where_it_stands(machine: Machine) -> None:
    machine.stand("ps/qf", 0.5)
    change = propose(machine.ws, "more", "", {"ps/qf": 0.25, "ps/qd": 0.0}, relative=True)
    assert change.moves == (Move("ps/qf", 0.5, 0.75, "A"),)  # what does not move is left out


@pytest.mark.parametrize(
    ("values", "error", "expected"),
    [
        ({"ps/qf": 6.0}, RequestRefused, "ps/qf: 6 A is above its upper limit of 5 A"),
        ({"ps/cx": -6.0}, RequestRefused, "ps/cx: -6 A is below its lower limit"),
        ({"ps/bend": 1.0}, ValueError, "not the operator's to move"),
        ({"ps/qx": 1.0}, ObjectNotFound, "ps/qx"),
        ({"kick/golden": 1.0}, ValueError, "has 3 elements; say which"),
        ({"kick/golden[3]": 1.0}, ValueError, r"\[0\] to \[2\]; found \[3\]"),
        ({"kick/state": 1.0}, ValueError, "others may not set it"),
        ({"ps/qf": math.nan}, ValueError, "nan is no value to go to"),
    ],
)
def test_what_cannot_be_is_not_proposed(
    machine: Machine, values: dict[str, float], error: type[Exception], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        propose(machine.ws, "", "", values)
    assert not machine.puts


def test_what_another_moved_is_refused_by_name(machine: Machine) -> None:
    change = wanted(machine)
    machine.stand("ps/qf", 0.1)
    with pytest.raises(ChangeRefused, match="three: nothing was moved: ps/qf: it stands at 0.1.* A, expected 0 A"):
        apply(machine.ws, change, machine.pause)
    assert not machine.puts
    apply(machine.ws, change, machine.pause, force=True)
    assert standing(machine) == [1.0, -2.0, 3.0]
    machine.put_together({POSITION: [NOWHERE, 0.1]})
    with pytest.raises(ChangeRefused, match=r"undo three: nothing was moved: ps/cx: it stands at 0.1.* expected -2 A"):
        undo(machine.ws, change, machine.pause)
    assert standing(machine)[0] == 1.0


def test_a_change_in_another_unit_is_refused(machine: Machine) -> None:
    with pytest.raises(ChangeRefused, match="ps/qf: the change is in 'mA', and it has 'A'"):
        apply(machine.ws, Change("", "", (Move("ps/qf", 0, 1, "mA"),)), machine.pause)


def test_an_excitation_that_runs_is_refused(machine: Machine) -> None:
    change = wanted(machine)
    machine.application.set_values("kick/state", np.array([2.0]).tobytes())
    with pytest.raises(ChangeRefused, match="ps/cx: an excitation of kick is running; wait until kick/state is 0"):
        apply(machine.ws, change, machine.pause)


def test_a_refusal_midway_puts_all_back(machine: Machine) -> None:
    machine.refuses = lambda name, most: "not so far" if name == "kick/golden" and most > 2 else ""
    with pytest.raises(RequestRefused, match="not so far"):
        apply(machine.ws, wanted(machine), machine.pause, steps=3)
    assert len(machine.puts) > 4
    assert standing(machine) == [0.0, 0.0, 0.0]


def test_a_supply_that_trips_puts_all_back(machine: Machine) -> None:
    machine.stuck.add("ps/cx")
    states = np.array([SupplyState.TRIPPED if name == "ps/cx" else 0 for name in NAMES], np.uint32)
    machine.server.set_values("supply/state", states.tobytes())
    with pytest.raises(NotFollowed, match="ps/cx: its setpoint is 0 A, expected -2 A; the supply is tripped"):
        apply(machine.ws, wanted(machine), machine.pause)
    assert machine.number("ps/qf") == 0.0


def test_ctrl_c_between_steps_puts_all_back(machine: Machine) -> None:
    def pause(seconds: float) -> None:
        machine.pause(seconds)
        if machine.number("ps/qf") >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        apply(machine.ws, wanted(machine), pause, steps=4)
    assert standing(machine) == [0.0, 0.0, 0.0]


def test_what_cannot_be_put_back_is_named_with_its_remedy(machine: Machine) -> None:
    def pause(seconds: float) -> None:
        machine.pause(seconds)
        if machine.number("ps/qf") >= 0.5:
            machine.stuck.add("ps/qf")
            raise KeyboardInterrupt

    with pytest.raises(NotPutBack, match="put it back by `ringmaster put ps/qf/setpoint 0`"):
        apply(machine.ws, wanted(machine), pause, steps=2)
    assert machine.number("ps/cx") == 0.0
