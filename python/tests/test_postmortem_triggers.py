# SPDX-License-Identifier: Apache-2.0
"""What triggers see, which turn zero an event has, and which triggers are of one event."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from postmortem_memory import INTERLOCK, Machine, finish, settings

from ringmaster.postmortem.event import COMPLETE, Event
from ringmaster.postmortem.watch import Watch

BEAM = "{name: beam, kind: beam_loss, before: 500 turns, after: 1000 turns}"


pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def watching(root: Path, machine: Machine) -> Iterator["Watching"]:
    """Makes a watch that has looked once."""
    made = Watching(root, machine)
    yield made
    for watch in made.all:
        watch.close()


class Watching:
    """Makes watches on the machine, and closes them."""

    def __init__(self, root: Path, machine: Machine) -> None:
        self._root, self._machine = root, machine
        self.all: list[Watch] = []

    def __call__(self, triggers: str, looks: int = 2, **more: str) -> Watch:
        """One that has looked some times, while turns came."""
        watch = Watch(settings(self._root, triggers, **more))
        self.all.append(watch)
        for _ in range(looks):
            watch.look()
            self._machine.run(100)
        return watch


def events(watch: Watch, machine: Machine) -> list[Event]:
    finish(watch, machine)
    return watch.catalogue.events()


def test_the_turn_zero_is_the_one_in_the_interlock_record(machine: Machine, watching: Watching) -> None:
    watch = watching(INTERLOCK)
    turn = machine.lose_beam()
    machine.run(400)  # the trigger sees it late
    (event,) = watch.look()
    assert (event.zero.turn, event.zero.within_turns, event.zero.from_interlock) == (turn, 1, True)
    assert event.zero.how == "lane loss_turn of mps/turn"
    (event,) = events(watch, machine)
    assert (event.state, event.first_turn, event.last_turn) == (COMPLETE, turn - 1000, turn + 1000)


def test_a_loss_that_an_interlock_shows_from_before_is_no_new_one(machine: Machine, watching: Watching) -> None:
    machine.lose_beam()
    machine.run(10)
    assert watching(INTERLOCK).catalogue.events() == []


def test_a_permit_that_is_taken_away_without_a_turn_is_found_in_the_stream(
    machine: Machine, watching: Watching
) -> None:
    watch = watching(INTERLOCK)
    machine.permits = 0b11110111
    turn = machine.turn + 1
    machine.run(300)
    (event,) = watch.look()
    assert event.zero.turn == turn
    assert "permit 3" in event.reason


def test_the_turn_of_a_beam_loss_is_found_in_the_stream(machine: Machine, watching: Watching) -> None:
    watch = watching(BEAM)
    turn = machine.lose_beam(interlock=False)
    machine.run(777)
    (event,) = watch.look()
    assert (event.zero.turn, event.zero.within_turns) == (turn, 1)
    machine.run(2000)
    assert watch.look() == []
    assert len(events(watch, machine)) == 1


def test_a_beam_that_comes_back_can_be_lost_again(machine: Machine, watching: Watching) -> None:
    watch = watching(BEAM)
    machine.lose_beam(interlock=False)
    machine.run(10)
    watch.look()
    machine.current = 400.0
    machine.run(20_000)
    watch.look()
    turn = machine.lose_beam(interlock=False)
    machine.run(10)
    (event,) = watch.look()
    assert event.zero.turn == turn
    assert len(events(watch, machine)) == 2


def test_triggers_close_together_are_one_event_and_the_interlock_has_its_turn_zero(
    machine: Machine, watching: Watching
) -> None:
    watch = watching(f"{BEAM}\n{INTERLOCK}")
    lost = machine.lose_beam(interlock=False)
    machine.run(50)
    (event,) = watch.look()
    assert event.zero.turn == lost
    machine.permits, machine.loss_turn = 254, lost - 3  # its record comes later, and says when it was
    machine.run(50)
    assert watch.look() == []
    (event,) = events(watch, machine)
    assert [seen.trigger for seen in event.triggers] == ["beam", "mps"]
    assert (event.zero.turn, event.zero.from_interlock) == (lost - 3, True)
    assert (event.before_turns, event.after_turns) == (1000, 1000)
    assert event.state == COMPLETE, event.why


def test_a_trigger_outside_of_the_hold_off_is_another_event(machine: Machine, watching: Watching) -> None:
    watch = watching("{name: mps, kind: interlock, before: 100 turns, after: 100 turns, hold_off: 5000 turns}")
    first = machine.lose_beam()
    machine.run(10)
    watch.look()
    finish(watch, machine)
    machine.loss_turn = first + 2000
    machine.run(10)
    assert watch.look() == []
    machine.loss_turn = first + 9000
    machine.run(10)
    assert [event.zero.turn for event in watch.look()] == [first + 9000]
    one, other = events(watch, machine)
    assert [len(event.triggers) for event in (one, other)] == [2, 1]


def test_a_parameter_must_cross_its_limit(machine: Machine, watching: Watching) -> None:
    machine.set_current(50)
    watch = watching("{name: low, kind: parameter, parameter: machine/current_ma, below: 100, after: 0}")
    assert watch.look() == []
    machine.set_current(400)
    watch.look()
    machine.set_current(90)
    (event,) = watch.look()
    assert event.reason == "machine/current_ma is 90 mA, below 100"


def test_an_alarm_is_counted(machine: Machine, watching: Watching) -> None:
    machine.alarm(3)
    watch = watching("{name: alarm, kind: alarm, parameter: premortem/alarms, after: 0}")
    machine.alarm(5)
    (event,) = watch.look()
    assert event.reason == "premortem/alarms counts 5, 2 more"


def test_a_rule_may_compare_parameters_and_lanes(machine: Machine, watching: Watching) -> None:
    rule = "machine/current_ma < 100 and bpm01/turn:sum1 > 5e5"
    watch = watching(f'{{name: rule, kind: rule, rule: "{rule}"}}')
    machine.set_current(50)
    (event,) = watch.look()
    assert event.reason.startswith(rule)
    assert event.zero.turn == machine.turn


def test_what_a_trigger_does_not_find_is_said(machine: Machine, root: Path) -> None:
    said: list[str] = []
    watch = Watch(settings(root, "{name: gone, kind: alarm, parameter: no/such}"), said.append)
    watch.look()
    watch.close()
    assert "gone waits for parameter no/such" in said
