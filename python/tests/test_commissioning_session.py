# SPDX-License-Identifier: Apache-2.0
"""A commissioning session: its steps are plain commands, it ends and goes on at a step, and keeps what is scored."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import ringmaster
from conftest import MakeOwner
from supplies_memory import NAMES, Machine, in_memory

from ringmaster.commissioning import session as of_sessions
from ringmaster.commissioning.running import Ring, prepare
from ringmaster.commissioning.session import Session, Step, StepFailed, states
from ringmaster.commissioning.steps import Machine as Commissioned
from ringmaster.commissioning.steps import steps_of
from ringmaster.machine.server_file import read_yaml
from ringmaster.moving.change import Change, Move

SHOW = ("change", "show", "one.yaml")
STEPS = (
    Step("first", "it shows", SHOW),
    Step("second", "it would move", ("change", "show", "two.yaml"), ("change", "undo")),
    Step("third", "it shows once more", SHOW),
)


@pytest.fixture
def machine(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    monkeypatch.setattr(of_sessions, "_AVERAGED_S", 0.0)
    with in_memory(make_owner, monkeypatch) as made:
        yield made


def write(folder: Path, name: str) -> None:
    Change(name, "", (Move("ps/qf", 0, 1, "A"),)).save(folder / f"{name}.yaml")


def test_it_ends_at_a_step_that_fails_and_goes_on_there(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "session"
    said: list[str] = []
    session = Session(folder, "demo", STEPS, said.append)
    write(folder, "one")
    session.begin()
    with pytest.raises(StepFailed, match="step second ended with status 2: .*run .*session --from second"):
        session.run()
    assert [one.name for one in session.done()] == ["first"]
    assert "$ ringmaster change show one.yaml" in said
    assert any("one, made by nothing" in line for line in said)
    assert "one, made by" in (folder / "log/01-first.txt").read_text()
    write(folder, "two")
    machine.stand("ps/qf", 1.5)
    session.run()
    assert [(one.name, one.undo, one.status) for one in session.done()] == [
        ("first", "", 0),
        ("second", "ringmaster change undo", 0),
        ("third", "", 0),
    ]
    kept = states(folder)
    assert list(kept) == ["00-before", "02-second"]
    assert set(kept["00-before"]) == set(NAMES)
    assert (kept["00-before"]["ps/qf"], kept["02-second"]["ps/qf"]) == (0.0, 1.5)
    assert read_yaml(folder / "server.yaml")["applications"][0]["name"] == "kick"


def test_it_goes_from_a_step_to_a_step(machine: Machine, tmp_path: Path) -> None:
    session = Session(tmp_path / "session", "demo", STEPS, lambda _: None)
    write(session.folder, "one")
    session.begin()
    assert session.begun
    assert [one.name for one in session.run(last="first")] == ["first"]
    assert [one.name for one in session.run("third")] == ["first", "third"]
    with pytest.raises(ValueError, match="there is no step 'fourth'; there are: first, second, third"):
        session.run("fourth")
    assert machine.puts == []


def test_it_goes_on_behind_a_step_that_was_jumped_to(machine: Machine, tmp_path: Path) -> None:
    session = Session(tmp_path / "session", "demo", STEPS, lambda _: None)
    for name in ("one", "two"):
        write(session.folder, name)
    session.begin()
    session.run("second", "second")
    assert [one.name for one in session.run()] == ["second", "third"]
    with pytest.raises(ValueError, match="nothing to do: the session begins after third"):
        session.run()


def test_a_machine_stands_still_while_a_step_computes(machine: Machine, tmp_path: Path) -> None:
    told: list[str] = []

    @contextmanager
    def standing() -> Iterator[None]:
        told.append("it stands")
        yield
        told.append("it goes on")

    steps = (Step("ask", "it shows", SHOW), Step("think", "it shows", SHOW, computes=True))
    session = Session(tmp_path / "session", "demo", steps, told.append, standing)
    write(session.folder, "one")
    session.begin()
    session.run()
    assert told.index("it stands") > told.index("\n── 2. think: it shows")
    assert any("one, made by nothing" in line for line in told[told.index("it stands") : told.index("it goes on")])
    assert [step.name for step in steps_of(Commissioned("x", "y", "")) if step.computes] == [
        "fit-1", "correct-1", "centres", "fit-2", "correct-2", "fit-3", "correct-3",
    ]  # fmt: skip


def test_states_of_an_earlier_pass_are_not_scored(machine: Machine, tmp_path: Path) -> None:
    steps = (STEPS[1], Step("again", "it would move", SHOW, ("change", "undo")))
    session = Session(tmp_path / "session", "demo", steps, lambda _: None)
    for name in ("one", "two"):
        write(session.folder, name)
    session.begin()
    session.run()
    assert list(states(session.folder)) == ["00-before", "01-second", "02-again"]
    machine.stand("ps/qf", 0.5)
    session.run("second", "second")
    assert list(states(session.folder)) == ["00-before", "01-second"]
    session.begin()
    assert list(states(session.folder)) == ["00-before"]


def test_its_commands_are_known_and_each_that_moves_has_an_undo() -> None:
    steps = steps_of(Commissioned("optics", "elettra2_like", "feedback"))
    assert len({step.name for step in steps}) == len(steps)
    moving = "apply-1 apply-golden orbit-1 apply-2 orbit-2 apply-3 orbit-3 close"
    assert [step.name for step in steps if step.moves] == moving.split()
    for words in {step.words[:2] for step in steps} | {step.undo[:2] for step in steps if step.undo}:
        assert "Usage:" in ringmaster(*words, "--help").stdout, words
    listed = json.loads(ringmaster("commissioning", "run", "x", "--list", "--json").stdout)
    assert listed[-1]["command"].startswith("ringmaster feedback on")


def test_a_ring_of_a_seed_has_its_own_files(tmp_path: Path) -> None:
    server, overlay = prepare(Ring(), 11, tmp_path, "mine", tmp_path / "x.sock")
    read, ring = read_yaml(server), read_yaml(overlay)
    assert read["workspace"] == "mine"
    assert {port["socket"] for port in read["ports"]} == {str(tmp_path / "x.sock")}
    assert read["polling"] == {"naps": True}
    assert ring["machine"]["seed"] == 11
    assert {(tmp_path / name).exists() for name in ("mapping.yaml", "feedback-optics.yaml", "optics-response.csv")} == {
        True
    }
