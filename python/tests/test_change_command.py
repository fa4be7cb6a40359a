# SPDX-License-Identifier: Apache-2.0
"""`ringmaster change` and its journal, on a machine in memory."""

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import ringmaster
from conftest import MakeOwner
from supplies_memory import Machine, in_memory

from ringmaster.cli import tune_options
from ringmaster.moving.change import Change, Move, load, propose
from ringmaster.moving.change_journal import APPLIED, APPLYING, UNDONE, Journal


@pytest.fixture
def machine(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    with in_memory(make_owner, monkeypatch) as made:
        yield made


@pytest.fixture
def file(machine: Machine, tmp_path: Path) -> Path:
    path = tmp_path / "files" / "optics.yaml"
    path.parent.mkdir()
    propose(machine.ws, "the optics", "a test", {"ps/qf": 1.0, "ps/qd": 2.0, "ps/cx": -2.0}).save(path)
    return path


def standing(machine: Machine) -> list[float]:
    return [machine.number(name) for name in ("ps/qf", "ps/qd", "ps/cx")]


@pytest.mark.usefixtures("machine")
def test_it_is_shown_with_its_families(file: Path) -> None:
    said = ringmaster("change", "show", str(file)).stdout
    assert "the optics, made by a test: 3 moves" in said
    assert "NOW" not in said
    said = ringmaster("change", "show", str(file), "-w", "demo").stdout
    assert "it can be applied" in said
    told = json.loads(ringmaster("change", "show", str(file), "-w", "demo", "--json").stdout)
    assert told["problems"] == []
    assert told["moves"][2] == {"name": "ps/cx", "before": 0.0, "after": -2.0, "unit": "A"}


def test_many_moves_are_shown_by_their_largest(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    Change("many", "", tuple(Move(f"ps/q{i}", 0, i, "A") for i in range(1, 31))).save(path)
    said = ringmaster("change", "show", str(path)).stdout
    assert "ps/q*" in said
    assert "ps/q30" in said
    assert "ps/q10" not in said
    assert "ps/q10" in ringmaster("change", "show", str(path), "--all").stdout


def test_it_is_applied_listed_and_undone_without_its_file(
    machine: Machine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(file.parent)
    said = ringmaster("change", "apply", file.name, "--steps", "2").stdout
    assert said.splitlines() == ["applied 1: the optics, 3 moves", "undo it by: ringmaster change undo"]
    assert standing(machine) == [1.0, 2.0, -2.0]
    assert "applied" in ringmaster("change", "ls").stdout
    assert ringmaster("change", "undo").stdout == "undone 1: the optics, 3 moves\n"
    assert standing(machine) == [0.0, 0.0, 0.0]
    listed = json.loads(ringmaster("change", "ls", "--json").stdout)
    assert [(entry["number"], entry["state"]) for entry in listed] == [(1, UNDONE)]
    assert "no change of workspace 'demo' to undo" in ringmaster("change", "undo", expect=1).stderr
    assert "is undone already" in ringmaster("change", "undo", "1", expect=1).stderr


def test_the_last_is_undone_first(machine: Machine, file: Path) -> None:
    journal = str(file.parent / "kept")
    ringmaster("change", "apply", str(file), "--journal", journal)
    second = file.with_name("second.yaml")
    propose(machine.ws, "more", "a test", {"ps/qf": 0.5}, relative=True).save(second)
    ringmaster("change", "apply", str(second), "--journal", journal)
    assert standing(machine) == [1.5, 2.0, -2.0]
    said = ringmaster("change", "undo", "1", "--journal", journal, expect=1).stderr
    assert "nothing was moved: ps/qf: it stands at 1.5 A, expected 1 A" in said
    assert ringmaster("change", "undo", "--journal", journal).stdout.startswith("undone 2: more")
    assert ringmaster("change", "undo", str(file), "--journal", journal).stdout.startswith("undone 1: the optics")
    assert standing(machine) == [0.0, 0.0, 0.0]


def test_a_dry_run_moves_nothing(machine: Machine, file: Path) -> None:
    assert "all of it could be" in ringmaster("change", "apply", str(file), "--dry-run").stdout
    machine.stand("ps/qd", 1.0)
    said = ringmaster("change", "apply", str(file), "--dry-run", expect=1).stdout
    assert "ps/qd: it stands at 1 A, expected 0 A" in said
    assert "1 could not be" in said
    assert not machine.puts
    assert not (file.parent / "change-journal").exists()


def test_what_was_refused_is_not_in_the_journal(machine: Machine, file: Path) -> None:
    machine.stand("ps/qd", 1.0)
    ringmaster("change", "apply", str(file), expect=1)
    assert not (file.parent / "change-journal").exists()
    ringmaster("change", "apply", str(file), "--force")
    assert standing(machine) == [1.0, 2.0, -2.0]


def test_a_ctrl_c_behind_the_last_pause_leaves_what_was_applied_in_the_journal(
    machine: Machine, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def late(_title: str) -> Iterator[Callable[[float], None]]:
        yield lambda _share: None
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tune_options, "progress_bar", late)
    kept = Journal(file.parent / "change-journal")
    ringmaster("change", "apply", str(file))
    assert standing(machine) == [1.0, 2.0, -2.0]
    assert [entry.state for entry in kept.entries()] == [APPLIED]
    ringmaster("change", "undo", str(file))
    assert [entry.state for entry in kept.entries()] == [UNDONE]


def test_a_change_that_was_cut_off_takes_force(machine: Machine, file: Path) -> None:
    kept = Journal(file.parent / "kept")
    kept.begin(load(file), "demo")
    assert kept.last("demo").state == APPLYING
    machine.stand("ps/qf", 0.3)  # it was on its way
    said = ringmaster("change", "undo", "--journal", str(kept.folder), expect=1).stderr
    assert "change 1, the optics, was cut off while it was applied" in said
    ringmaster("change", "undo", "--force", "--journal", str(kept.folder))
    assert standing(machine) == [0.0, 0.0, 0.0]


def test_entries_of_other_workspaces_are_left_alone(tmp_path: Path) -> None:
    kept = Journal(tmp_path / "kept")
    one = Change("one", "", (Move("a", 0, 1, "A"),))
    first = kept.applied(kept.begin(one, "here"))
    kept.applied(kept.begin(one, "there"))
    assert kept.last("here").number == first.number == 1
    assert [entry.state for entry in kept.entries()] == [APPLIED, APPLIED]
    kept.undone(first)
    assert kept.of(one, "here") is None
    with pytest.raises(ValueError, match="there is no change 3; it has 1 to 2"):
        kept.entry(3)
    (kept.folder / "0003-x.yaml").write_text("change: 1\nmoves: []\n")
    with pytest.raises(ValueError, match="state: found '', expected applying, applied or undone"):
        kept.entries()
