# SPDX-License-Identifier: Apache-2.0
"""An event's streams as evidence, and the commands that look at them."""

import json
from pathlib import Path

import pytest
from command import ringmaster
from postmortem_memory import BEAM, INTERLOCK, Machine, finish, settings

from ringmaster.postmortem.compare import compare
from ringmaster.postmortem.event import Event, load
from ringmaster.postmortem.event_evidence import NothingKept, evidence_of
from ringmaster.postmortem.watch import Watch

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def events(machine: Machine, root: Path) -> list[Event]:
    """Two beam losses; the beam is smaller before the second one."""
    watch = Watch(settings(root, INTERLOCK))
    watch.look()
    found = []
    for current in (400.0, 100.0):
        machine.current = current
        machine.run(3000)
        machine.lose_beam()
        machine.run(10)
        (event,) = watch.look()
        finish(watch, machine)
        found.append(load(event.folder))
    watch.close()
    return found


def test_the_streams_of_an_event_are_whole_and_within_its_windows(events: list[Event]) -> None:
    event = events[0]
    evidence = evidence_of(event)
    assert [series.name for series in evidence.series] == ["bpm01/turn", "bpm02/turn", "mps/turn"]
    series = evidence.series[0]
    assert (int(series.turn[0]), int(series.turn[-1])) == (event.first_turn, event.last_turn)
    assert series.ok.all()
    sums = series.lane("sum1")
    assert sums[series.turn < event.zero.turn].min() == BEAM
    assert sums[series.turn >= event.zero.turn].max() == 0


def test_what_differs_between_two_events_is_told(events: list[Event]) -> None:
    levels, alone = compare(*(evidence_of(event) for event in events))
    assert "bpm turn sum1" in [level.one.name for level in levels]
    assert "bpm turn x1" not in [level.one.name for level in levels]
    assert alone == []


def test_the_commands_open_compare_and_time_events(events: list[Event], root: Path) -> None:
    where = ("-d", str(root / "archive"))
    opened = ringmaster("postmortem", "open", "--no-browser", *where).stdout
    assert opened.splitlines()[1].startswith("first cause: ")
    told = json.loads(ringmaster("postmortem", "open", "--json", *where).stdout)
    assert (told["id"], told["first_cause"]) == (events[1].id, opened.splitlines()[1].removeprefix("first cause: "))
    assert load(events[1].folder).cause == opened.splitlines()[1].removeprefix("first cause: ")
    told = json.loads(ringmaster("postmortem", "compare", events[0].id, "last", "--json", *where).stdout)
    assert told["ids"] == [event.id for event in events]
    same = ringmaster("postmortem", "compare", events[1].id, "last", *where, expect=1).stderr
    assert f"{events[1].id}: both are this event" in same
    listed = ringmaster("postmortem", "ls", *where).stdout.splitlines()
    assert events[0].reason in listed[1]  # on one line, whatever the terminal
    assert listed[-1].startswith("2 events, 2 to review")
    assert json.loads(ringmaster("postmortem", "ls", "--times", "--json", *where).stdout)["events"] == 2


def test_of_a_released_event_nothing_is_looked_at(events: list[Event], root: Path) -> None:
    where = ("-d", str(root / "archive"))
    ringmaster("postmortem", "reviewed", events[0].id, "--by", "A. Name", *where)
    ringmaster("postmortem", "release", events[0].id, *where)
    with pytest.raises(NothingKept, match="as they were released"):
        evidence_of(load(events[0].folder))
    assert "released" in ringmaster("postmortem", "open", events[0].id, *where, expect=1).stderr
