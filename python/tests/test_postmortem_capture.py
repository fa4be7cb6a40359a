# SPDX-License-Identifier: Apache-2.0
"""What of an event is kept, from memory: whole, through a restart of turns, of a killed server, under a quota."""

import json
from dataclasses import replace
from pathlib import Path
from time import sleep

import fabric
import h5py
import numpy as np
import pytest
from command import ringmaster
from conftest import MakeOwner
from postmortem_memory import INTERLOCK, START, Machine, finish, lose_beam, settings

from ringmaster.fabric.layout import InstrumentKind, LaneType, SegmentState
from ringmaster.postmortem.catalogue import Catalogue, EventAbsent
from ringmaster.postmortem.event import CAPTURING, COMPLETE, INCOMPLETE, Event, load
from ringmaster.postmortem.quota import kept_bytes
from ringmaster.postmortem.watch import Watch
from ringmaster.values import time_format

WANTED_BYTES = 3 * 4096 * 64
"""What the windows of three streams may take: their whole rings, as something before them is copied, too."""
SENT = "feedback/sent0"
SERVER = "{name: server, kind: server, before: 500 turns}"


pytestmark = pytest.mark.usefixtures("patient")


def turns_of(event: Event, stream: str) -> list[int]:
    """Turns of all records that were saved, part after part."""
    turns: list[int] = []
    for number in range(1, 1 + len(list(event.folder.glob("memory/*.h5")))):
        with h5py.File(event.folder / f"memory/{number}.h5") as file:
            if stream in file:
                turns += np.asarray(file[stream]["turn"])[np.asarray(file[stream]["ok"])].tolist()
    return turns


def test_all_streams_are_saved_over_the_windows(machine: Machine, root: Path) -> None:
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == COMPLETE, event.why
    for stream in ("bpm01/turn", "bpm02/turn", "mps/turn"):
        turns = turns_of(event, stream)
        assert turns == list(range(turns[0], turns[-1] + 1))  # each once, in their order
        assert turns[0] <= event.first_turn
        assert turns[-1] == event.last_turn
        assert event.streams[stream].where == "memory"
    assert json.loads((event.folder / "texts.json").read_text())["server/config"] == "workspace: demo\n"
    assert "machine/current_ma" in json.loads((event.folder / "parameters.json").read_text())["parameters"]


def test_a_ring_that_is_too_short_is_said(make_owner: MakeOwner, root: Path) -> None:
    machine = Machine(make_owner, capacity=512)
    machine.run(3000)
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == INCOMPLETE
    assert "not whole: 3 of 3 streams: bpm01/turn: its ring reached" in event.why


def with_sent(make_owner: MakeOwner, capacity: int) -> Machine:
    """A machine with an application that says what was sent where that changes."""
    lanes = [("value0", "A", LaneType.F32)]
    kind = InstrumentKind.APPLICATION
    sent = fabric.stream(SENT, capacity=capacity, margin=8, kind=kind, lanes=lanes, filter=b"on-change")
    machine = Machine(make_owner, more=[sent])
    machine.run(3000)
    return machine


def send(machine: Machine) -> None:
    """Something else than before was sent in the newest turn."""
    machine.owner.store(SENT, machine.turn, b"")
    machine.owner.publish(SENT, machine.turn, first=START)


def test_a_stream_that_speaks_on_change_alone_is_whole_in_silence(make_owner: MakeOwner, root: Path) -> None:
    machine = with_sent(make_owner, capacity=4096)
    send(machine)
    watch = Watch(settings(root, INTERLOCK))
    watch.look()
    machine.run(700)
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == COMPLETE, event.why
    kept = event.streams[SENT]
    assert (kept.where, kept.records, kept.missing, kept.why) == ("memory", 1, 0, "")


def test_what_such_a_stream_may_have_lost_is_said(make_owner: MakeOwner, root: Path) -> None:
    machine = with_sent(make_owner, capacity=256)
    send(machine)  # its ring has no turn of before
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    assert event.state == INCOMPLETE
    assert "not whole: 1 of 4 streams: feedback/sent0: its ring reached" in event.why


def test_what_such_a_stream_may_have_lost_between_two_looks_is_said(make_owner: MakeOwner, root: Path) -> None:
    machine = with_sent(make_owner, capacity=256)
    watch = Watch(settings(root, INTERLOCK))
    watch.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(10)
    send(machine)
    (event,) = watch.look()
    machine.run(10)
    watch.look()
    for _ in range(2):
        machine.run(400)
        send(machine)
    watch.look()
    finish(watch, machine)
    watch.close()
    assert "overwritten before they were copied: " in load(event.folder).streams[SENT].why


def test_a_restart_of_the_turn_counter_within_the_windows_is_followed_by_time(
    machine: Machine, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ringmaster.postmortem.capture.GRACE_NS", 0)
    monkeypatch.setattr("ringmaster.postmortem.capture.TURNS_GRACE_NS", 0)
    watch = Watch(settings(root, "{kind: interlock, before: 1000 turns, after: 1500 ms}"))
    watch.look()
    machine.run(10)
    lost = machine.lose_beam()
    machine.run(300)
    machine.to_now()
    (event,) = watch.look()
    assert event.zero.turn == lost
    machine.restart_turns()
    machine.run(400)
    watch.look()
    finish(watch, machine)
    watch.close()
    event = load(event.folder)
    assert any("turn counter restarted within the windows" in note for note in event.notes)
    with h5py.File(event.folder / "memory/1.h5") as before:
        assert before["bpm01/turn"].attrs["turn_epoch"] == 0
        assert before["bpm01/turn/turn"][-1] == lost + 299
    with h5py.File(event.folder / "memory/2.h5") as after:
        assert after["bpm01/turn"].attrs["turn_epoch"] == 1
        assert after["bpm01/turn/turn"][0] == 100


def test_turns_that_come_late_are_waited_for(machine: Machine, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ringmaster.postmortem.capture.GRACE_NS", 0)
    watch = Watch(settings(root, INTERLOCK))
    watch.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(10)
    (event,) = watch.look()
    while time_format.now_tai_ns() < event.span_tai_ns[1]:
        sleep(0.001)
    watch.look()  # the windows have passed by the clock alone
    assert watch.busy
    finish(watch, machine)
    watch.close()
    assert load(event.folder).state == COMPLETE, load(event.folder).why


def test_the_memory_of_a_killed_server_is_saved(machine: Machine, root: Path) -> None:
    watch = Watch(settings(root, SERVER))
    watch.look()
    machine.owner.die()
    (event,) = watch.look()
    watch.close()
    assert event.zero.turn == machine.turn
    event = load(event.folder)
    assert event.reason == "the server was killed"
    assert event.state == COMPLETE, event.why
    turns = turns_of(event, "bpm01/turn")
    assert turns[-1] == machine.turn
    assert len(turns) >= 501


def test_a_server_that_ends_in_good_order_is_no_event(machine: Machine, root: Path) -> None:
    watch = Watch(settings(root, SERVER))
    watch.look()
    machine.owner.set_state(SegmentState.CLOSED)
    machine.owner.die()
    assert watch.look() == []
    watch.close()


def test_a_server_that_dies_within_the_windows_leaves_what_there_was(machine: Machine, root: Path) -> None:
    watch = Watch(settings(root, f"{INTERLOCK}\n{SERVER}"))
    watch.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(100)
    (event,) = watch.look()
    machine.run(200)
    machine.owner.die()
    watch.look()
    watch.close()
    event = load(event.folder)
    assert [seen.kind for seen in event.triggers] == ["interlock", "server"]
    assert event.state == INCOMPLETE
    assert "the server was killed within the windows" in event.why
    assert turns_of(event, "bpm01/turn")[-1] == machine.turn


def test_a_watch_that_starts_again_goes_on_with_what_was_captured(machine: Machine, root: Path) -> None:
    setting = settings(root, INTERLOCK)
    first = Watch(setting)
    first.look()
    machine.run(10)
    machine.lose_beam()
    machine.run(100)
    (event,) = first.look()  # and it is killed: nothing is closed, but for the segment that the test's process owns
    assert first._own is not None
    first._own.close()
    assert load(event.folder).state == CAPTURING
    machine.run(100)
    second = Watch(setting)
    second.look()
    assert second.busy
    finish(second, machine)
    second.close()
    event = load(event.folder)
    assert event.state == COMPLETE, event.why
    assert set(range(event.first_turn, event.last_turn + 1)) <= set(turns_of(event, "bpm01/turn"))
    assert len(second.catalogue.events()) == 1


def test_the_oldest_reviewed_events_go_first_and_others_never(machine: Machine, root: Path) -> None:
    setting = settings(root, INTERLOCK)
    watch = Watch(setting)
    catalogue = watch.catalogue
    ids = []
    for _ in range(3):
        ids.append(lose_beam(watch, machine).id)
        machine.run(2500)
    watch.close()
    catalogue.review(ids[1], "somebody", "a test")
    too_little = kept_bytes(catalogue.folder / ids[1]) // 2
    tight = Watch(replace(setting, quota_bytes=kept_bytes(catalogue.folder) + WANTED_BYTES - too_little))
    fourth = lose_beam(tight, machine)
    assert fourth.state == COMPLETE, fourth.why
    assert [event.released for event in catalogue.events()] == [False, True, False, False]
    assert not (catalogue.folder / ids[1] / "memory").exists()
    assert (catalogue.folder / ids[1] / "event.json").exists()
    machine.run(2500)
    fifth = lose_beam(tight, machine)
    tight.close()
    assert fifth.state == INCOMPLETE
    assert fifth.refused["bpm01/turn"] == "the quota is full of events that are not reviewed"
    assert [event.released for event in catalogue.events()] == [False, True, False, False, False]


def test_the_catalogue_on_the_command_line(machine: Machine, root: Path) -> None:
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    assert event.id in ringmaster("postmortem", "ls").stdout  # the watch of the workspace says where they are
    where = ("-d", str(root / "archive"))
    (told,) = json.loads(ringmaster("postmortem", "ls", "--json", *where).stdout)
    assert (told["id"], told["zero"]["turn"]) == (event.id, event.zero.turn)
    assert "lane loss_turn of mps/turn" in ringmaster("postmortem", "show", "last", "--streams", *where).stdout
    ringmaster("postmortem", "release", event.id, *where, expect=1)
    ringmaster("postmortem", "reviewed", event.id[:12], "--by", "A. Name", "--note", "known", *where)
    assert ringmaster("postmortem", "ls", "--to-review", *where).stdout.startswith("0 events")
    ringmaster("postmortem", "release", "last", *where)
    assert "by A. Name, released" in ringmaster("postmortem", "show", "last", *where).stdout
    watch.close()


def test_an_event_that_cannot_be_read_is_named_and_the_others_work(machine: Machine, root: Path) -> None:
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    broken = event.folder.parent / "20200101T000000.000000Z"
    broken.mkdir()
    (broken / "event.json").write_text('{"version": 1}')
    catalogue = Catalogue(root / "archive")
    assert [one.id for one in catalogue.events()] == [event.id]
    assert "is no event" in catalogue.damaged[broken.name]
    with pytest.raises(EventAbsent, match=event.id):
        catalogue.find("1999")


def test_the_first_turns_of_a_machine_are_enough_where_there_are_no_more(make_owner: MakeOwner, root: Path) -> None:
    machine = Machine(make_owner)
    machine.run(100)
    watch = Watch(settings(root, INTERLOCK))
    event = lose_beam(watch, machine)
    watch.close()
    assert turns_of(event, "bpm01/turn")[0] == START
    assert event.state == INCOMPLETE
