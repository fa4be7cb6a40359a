# SPDX-License-Identifier: Apache-2.0
"""A running server beside its prediction: what is read from counters, and which move is proposed."""

from pathlib import Path

import click
import pytest
from test_plan import demand, machine

from ringmaster.cli.plan_watch import _apply
from ringmaster.plan.costs import DEFAULT
from ringmaster.plan.demand import Demand
from ringmaster.plan.place import Rules, linux_cpus
from ringmaster.plan.predict import predict
from ringmaster.plan.roles import Role, dealt_by_file
from ringmaster.plan.show import move_lines
from ringmaster.plan.topology import Core, Device, Machine
from ringmaster.plan.watch import Move, Observed, agreement, compare, moved, observed, propose, propose_for


def core(number: int, busy: int, idle: int, packets: int, bursts: int) -> dict[str, int]:
    """Counters of a core."""
    return {"core": number, "busy_ticks": busy, "idle_ticks": idle, "packets": packets, "bursts": bursts}


def proposed(known: Machine, asked: Demand, roles: list[Role], busy: dict[int, float]) -> Move | None:
    """With these measured loads."""
    seen = {number: Observed(share, 1e6, 4.0) for number, share in busy.items()}
    rows = compare(predict(known, asked, DEFAULT, roles, dealt_by_file(asked)), seen)
    return propose(known, asked, rows, linux_cpus(known, Rules()), Rules())


def test_loads_are_read_from_two_looks() -> None:
    """By the cores' own clock."""
    before, after = {"core/0": core(3, 100, 900, 0, 0)}, {"core/0": core(3, 350, 1650, 500, 100)}
    seen = observed(before, after, tsc_hz=1000.0, seconds=9.0)
    assert seen[3].busy == pytest.approx(0.25)
    assert seen[3].packets_per_s == pytest.approx(500.0)
    assert seen[3].packets_per_burst == 5.0


def test_a_prediction_is_judged_by_the_packets_that_came() -> None:
    """Half of the load, half of the packets: they agree."""
    asked = demand(4)
    prediction = predict(machine(2), asked, DEFAULT, [Role("receive", 1, (("p0", 0),))], {"p0": 1})
    half = Observed(prediction.cores[0].load / 2, asked.packets_per_s / 2, 4.0)
    assert agreement(compare(prediction, {1: half})) == pytest.approx(1.0)
    assert agreement(compare(prediction, {})) is None


def test_a_core_that_is_too_busy_gives_a_role_to_an_empty_one() -> None:
    """One move, with its reason."""
    asked = demand(4, 4)
    roles = [Role("receive", 1, (("p0", 0),)), Role("receive", 1, (("p1", 0),))]
    move = proposed(machine(4), asked, roles, {1: 0.9})
    assert move is not None
    assert move.core in (2, 3)
    assert "90 %" in move.reason
    after = moved(roles, move)
    assert sorted(role.core for role in after) == sorted([1, move.core])
    assert proposed(machine(4), asked, list(after), {1: 0.45, move.core: 0.45}) is None


def test_a_move_goes_to_a_core_that_the_server_keeps_where_there_is_one() -> None:
    """Else it says that the server has to be started anew, with that core."""
    known, asked = machine(4), demand(4, 4)
    roles = [Role("receive", 1, (("p0", 0),)), Role("receive", 1, (("p1", 0),))]
    busy, idle = Observed(0.9, 1e6, 4.0), Observed(0.0, 0.0, 0.0)
    for seen, kept, cores in (({1: busy, 3: idle}, True, {3}), ({1: busy}, False, {2, 3})):
        rows = compare(predict(known, asked, DEFAULT, roles, dealt_by_file(asked)), seen)
        move = propose_for(known, asked, rows, seen, linux_cpus(known, Rules()), Rules())
        assert move is not None
        assert (move.kept, move.core in cores) == (kept, True)
        said = " ".join(line.plain for line in move_lines(rows, move))
        assert ("ringmaster reload" in said) == kept
        assert not any("ringmaster reload" in line.plain for line in move_lines(rows, move, is_made=True))


def test_nothing_moves_where_no_core_would_be_better() -> None:
    """Two cores of which one is Linux's."""
    roles = [Role("receive", 1, (("p0", 0),)), Role("receive", 1, (("p1", 0),))]
    assert proposed(machine(2), demand(4, 4), roles, {1: 0.9}) is None


def test_a_second_thread_of_a_polling_core_is_left() -> None:
    """Both are slower than on a core each."""
    roles = [Role("receive", 1, (("p0", 0),)), Role("receive", 5, (("p1", 0),))]
    move = proposed(machine(4, threads=2), demand(4, 4), roles, {1: 0.3, 5: 0.3})
    assert move is not None
    assert (move.role.core, move.core in (2, 3)) == (5, True)
    assert "second hardware thread" in move.reason


def test_a_core_far_from_its_card_is_left_and_so_is_one_of_linux() -> None:
    """To the card's socket."""
    cores = tuple(Core(i, i // 4, i // 4, i // 4) for i in range(8))
    known = Machine("two", cores, (Device("0000:41:00.0", socket=1),))
    asked = demand(4, kind="pci")
    asked = Demand(
        **{**vars(asked), "ports": (type(asked.ports[0])(**{**vars(asked.ports[0]), "device": "0000:41:00.0"}),)}
    )
    move = proposed(known, asked, [Role("receive", 1, (("p0", 0),))], {1: 0.3})
    assert move is not None
    assert move.core == 4
    assert "socket 1" in move.reason
    linux = proposed(machine(4), demand(4), [Role("receive", 0, (("p0", 0),))], {0: 0.3})
    assert linux is not None
    assert "Linux" in linux.reason


def test_what_waits_for_others_gets_an_idle_core() -> None:
    """The transmit role, beside a receive role."""
    roles = [Role("receive", 1, (("p0", 0),)), Role("transmit", 1)]
    move = proposed(machine(4), demand(4), roles, {1: 0.3})
    assert move is not None
    assert move.role.kind == "transmit"
    assert "waits" in move.reason


def test_a_file_is_as_it_was_where_no_server_makes_the_move(tmp_path: Path) -> None:
    """Here none runs."""
    path, roles = tmp_path / "ring.yaml", (Role("receive", 1, (("p0", 0),)),)
    text = "workspace: no-such-server\nports: [{name: p0, kind: memif}]\n"
    text += "roles:\n  - {role: receive, core: 1, ports: [p0]}\n"
    path.write_text(text)
    move = Move(roles[0], 2, "why")
    with pytest.raises(click.ClickException, match="is as it was: the server did not make the move"):
        _apply(path, moved(roles, move), {"p0": 1}, move)
    assert path.read_text() == text
    assert list(tmp_path.iterdir()) == [path]
