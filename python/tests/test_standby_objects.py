# SPDX-License-Identifier: Apache-2.0
"""What two servers of one machine say of themselves, as Python reads it."""

import fabric
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.fabric import layout
from ringmaster.fabric.layout import StandbyReason, StandbyRole
from ringmaster.values.inventory import read


def test_what_a_server_is_can_be_read(make_owner: MakeOwner) -> None:
    spec = fabric.standby_state(
        server=2, chains=5, majority=3, missed_cycles=3, role=StandbyRole.ACTIVE, reason=2, term=6, swap_cycles=5
    )
    make_owner([spec])
    with ringmaster.attach("demo") as ws:
        state = ws.standby["standby/state"]
        reading = state.read()
        plain = read(ws, ws.objects["standby/state"])
    assert (state.server, state.chains, state.majority, state.missed_cycles) == (2, 5, 3, 3)
    assert reading is not None
    assert (reading.role, reading.reason) == (StandbyRole.ACTIVE, StandbyReason.TOOK_OVER)
    assert (reading.term, reading.swap_cycles, reading.switch_turn) == (6, 5, None)
    assert (plain["role"], plain["reason"], plain["term"]) == ("active", "took_over", 6)


def test_a_server_that_is_alone_says_nothing_of_it(make_owner: MakeOwner) -> None:
    make_owner([fabric.clock(turn=7)])
    with ringmaster.attach("demo") as ws:
        assert not ws.standby
        assert not ws.standby_orders
        assert not ws.states


def test_what_was_not_written_yet_is_none(make_owner: MakeOwner) -> None:
    specs = [
        fabric.standby_state(sequence=0),
        fabric.standby_orders(sequence=0),
        fabric.state("state/a", b"", sequence=0),
    ]
    make_owner(specs)
    with ringmaster.attach("demo") as ws:
        assert ws.standby["standby/state"].read() is None
        assert ws.standby_orders["standby/orders"].read() is None
        assert ws.states["state/a"].read() is None
        assert [read(ws, ws.objects[spec.name]) for spec in specs] == [{"written": False}] * 2 + [{"turn": None}]


def test_orders_can_be_read(make_owner: MakeOwner) -> None:
    make_owner([fabric.standby_orders(hold=1, peer_role=StandbyRole.READY + 1, peer_term=4, switch_turn=2400, beat=9)])
    with ringmaster.attach("demo") as ws:
        orders = ws.standby_orders["standby/orders"].read()
        plain = read(ws, ws.objects["standby/orders"])
    assert orders is not None
    assert (orders.hold, orders.synchronised, orders.refused) == (True, False, False)
    assert (orders.peer_role, orders.peer_term, orders.switch_turn, orders.beat) == (StandbyRole.READY, 4, 2400, 9)
    assert plain["peer_role"] == "ready"


def test_a_state_is_copied_whole(make_owner: MakeOwner) -> None:
    make_owner([fabric.state("peer/state/ramp", b"as it was", turn=120, steps=10, checksum=255)])
    with ringmaster.attach("demo") as ws:
        reading = ws.states["peer/state/ramp"].read()
        plain = read(ws, ws.objects["peer/state/ramp"])
    assert reading is not None
    assert (reading.turn, reading.steps, reading.content.tobytes()) == (120, 10, b"as it was")
    assert plain == {"turn": 120, "steps": 10, "bytes": 9, "checksum": "00000000000000ff"}


@pytest.mark.parametrize("spec", [fabric.standby_state(sequence=3), fabric.standby_orders(sequence=3)])
def test_what_its_owner_left_half_written_is_damaged(make_owner: MakeOwner, spec: fabric.Spec) -> None:
    make_owner([spec])
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="killed"):
        (ws.standby or ws.standby_orders)[spec.name].read()


def test_a_role_that_does_not_exist_is_damaged(make_owner: MakeOwner) -> None:
    make_owner([fabric.standby_state(role=77)])
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="77 is no role"):
        ws.standby["standby/state"].read()


def test_a_state_that_contradicts_itself_is_damaged(make_owner: MakeOwner) -> None:
    make_owner([fabric.state("state/ramp", b"x", bytes_offset=layout.STATE.itemsize + 64)])
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="contradicts itself"):
        ws.states["state/ramp"]
