# SPDX-License-Identifier: Apache-2.0
"""What parameters say of themselves, groups, setpoint vectors, grants, supplies and chains."""

import math
from dataclasses import replace
from pathlib import Path

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

import ringmaster
from ringmaster.fabric import layout
from ringmaster.fabric.conversion import Conversion, same_unit
from ringmaster.fabric.layout import ApplicationState, ElementType, ParameterFlags, Refusal, StopAction, SupplyState

LIMITS = {"control_low": -10.0, "control_high": 10.0}
SETPOINT = fabric.parameter(
    "sr/ps/ch_s01_01/setpoint",
    np.array([2.0]),
    "A",
    ElementType.F64,
    LIMITS,
    ("µrad", [1, 12.5, 0, 0]),
    flags=ParameterFlags.WRITABLE | ParameterFlags.SETTING,
)


def test_a_parameter_says_what_may_be_done_with_it(make_owner: MakeOwner) -> None:
    make_owner([SETPOINT, fabric.parameter("p", np.array([1.0]), "", ElementType.F64, group=b"g")])
    with ringmaster.attach("demo") as ws:
        setpoint, plain = ws.parameters["sr/ps/ch_s01_01/setpoint"], ws.parameters["p"]
        assert (setpoint.writable, setpoint.setting, setpoint.group, setpoint.units) == (
            True,
            True,
            None,
            ("A", "µrad"),
        )
        assert (plain.writable, plain.setting, plain.group, plain.units) == (False, False, "g", ("",))


@pytest.mark.parametrize("unit", ["µrad", "urad", "\N{GREEK SMALL LETTER MU}rad"])
def test_a_value_is_read_in_its_other_unit_however_that_is_written(make_owner: MakeOwner, unit: str) -> None:
    make_owner([SETPOINT])
    with ringmaster.attach("demo") as ws:
        reading = ws.parameters["sr/ps/ch_s01_01/setpoint"].read(unit)
    assert (reading.value, reading.unit) == (26.0, "µrad")


def test_an_array_is_read_in_its_other_unit_too(make_owner: MakeOwner) -> None:
    values = np.arange(6, dtype="<f8").reshape(2, 3)
    make_owner([fabric.parameter("m", values, "A", ElementType.F64, LIMITS, ("T", [0, 2, 0.5, 0]))])
    with ringmaster.attach("demo") as ws:
        assert np.array_equal(ws.parameters["m"].read("T").value, 2 * values + 0.5 * values**2)


def test_a_unit_that_it_does_not_have_is_reported(make_owner: MakeOwner) -> None:
    make_owner([SETPOINT])
    with (
        ringmaster.attach("demo") as ws,
        pytest.raises(ringmaster.UnitUnknown, match="'A' and 'µrad'; 'mm' is not"),
    ):
        ws.parameters["sr/ps/ch_s01_01/setpoint"].read("mm")


def test_prefixes_are_no_matter_of_taste() -> None:
    assert same_unit("um", "µm")
    assert not same_unit("mm", "µm")


def test_the_way_back_keeps_to_the_control_limits() -> None:
    cubic = Conversion("T", (0.1, 1.0, 0.0, 0.5), -2.0, 3.0)
    assert cubic.back(cubic.there(1.2345)) == pytest.approx(1.2345, abs=1e-15)
    assert cubic.back(cubic.there(-2.0)) == -2.0
    assert math.isnan(cubic.back(cubic.there(3.0) + 1e-9))
    assert math.isnan(cubic.back(math.nan))
    falling = Conversion("T", (0.0, -2.0, 0.0, 0.0), -2.0, None)
    assert falling.back(-1e6) == 5e5
    assert math.isnan(falling.back(5.0))


def test_names_are_found_by_pattern(make_owner: MakeOwner) -> None:
    make_owner([SETPOINT, fabric.parameter("server/x", np.array([1.0]), "", ElementType.F64)])
    with ringmaster.attach("demo") as ws:
        assert list(ws.parameters.match("sr/*/setpoint")) == ["sr/ps/ch_s01_01/setpoint"]
        assert list(ws.parameters.match("server/?", "sr/*")) == ["sr/ps/ch_s01_01/setpoint", "server/x"]
        assert ws.parameters.match("nothing/*") == {}


RAMP = [
    fabric.group("ramp/settings", sequence=8, member_count=2),
    fabric.parameter("ramp/a", np.array([1.0]), "", ElementType.F64, group=b"ramp/settings"),
    fabric.parameter("ramp/b", np.array([2], "<u4"), "", ElementType.U32, group=b"ramp/settings"),
    fabric.parameter("ramp/c", np.array([3.0]), "", ElementType.F64),
]


def test_a_group_is_read_as_of_one_change(make_owner: MakeOwner, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = make_owner(RAMP)
    owner.set_word("ramp/settings", layout.GROUP, "turn", 77)
    with ringmaster.attach("demo") as ws:
        group = ws.groups["ramp/settings"]
        assert group.members == ["ramp/a", "ramp/b"]
        read = ringmaster.Parameter.read
        seen = []

        def read_while_written(self: ringmaster.Parameter) -> ringmaster.ParameterReading:
            seen.append(self.name)
            reading = read(self)
            if len(seen) == 1:  # between the two members the owner changes both
                owner.set_values("ramp/a", np.array([10.0]).tobytes())
                owner.set_values("ramp/b", np.array([20], "<u4").tobytes())
                owner.set_word("ramp/settings", layout.GROUP, "sequence", 10)
            return reading

        monkeypatch.setattr(ringmaster.Parameter, "read", read_while_written)
        reading = group.read()
    assert [reading.readings[name].value for name in group.members] == [10.0, 20]
    assert (reading.turn, reading.changes) == (77, 5)


def test_a_group_whose_owner_was_killed_in_a_change_is_damaged(make_owner: MakeOwner) -> None:
    owner = make_owner(RAMP)
    owner.set_word("ramp/settings", layout.GROUP, "sequence", 9)
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="killed"):
        ws.groups["ramp/settings"].read()


@pytest.mark.parametrize("count", [1, 4, 5, 13])
@pytest.mark.parametrize("rows", [1, 3, 4, 11])
def test_the_newest_row_of_setpoints_is_read(make_owner: MakeOwner, count: int, rows: int) -> None:
    values = [[100.0 * row + i for i in range(count)] for row in range(rows)]
    names = [f"ps{i}" for i in range(count)]
    make_owner([fabric.setpoints("sent", values, grant_number=9), fabric.text("supply/names", "\n".join(names))])
    with ringmaster.attach("demo") as ws:
        row = ws.setpoints["sent"].read()
        assert ws.setpoints["sent"].vectors == rows
    assert row is not None
    assert (row.number, row.grant_number, row.input_turn) == (rows - 1, 9, 999 + rows)
    assert row.values.tolist() == values[-1]
    assert list(row.names) == names


def test_a_row_that_is_being_written_is_not_the_newest(make_owner: MakeOwner) -> None:
    spec = fabric.setpoints("sent", [[1.0], [2.0], [3.0]])
    owner = make_owner([spec])
    with ringmaster.attach("demo") as ws:
        sent = ws.setpoints["sent"]
        owner.set_bytes("setpoints/sent", 64, (7).to_bytes(8, "little"))  # row 3 begins in buffer 0
        row = sent.read()
        assert row is not None
        assert (row.number, row.values.tolist()) == (2, [3.0])
        assert row.names == ()
        owner.set_bytes("setpoints/sent", 64, bytes(3 * 64))
        assert sent.read() is None


def test_rows_that_reach_beyond_their_object_are_damaged(make_owner: MakeOwner) -> None:
    spec = fabric.setpoints("ramp", [[1.0] * 5])
    owner = make_owner([spec])
    owner.set_word("setpoints/ramp", layout.SETPOINTS, "actuator_count", 500)
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged, match="contradict themselves"):
        ws.setpoints["ramp"]


@pytest.mark.parametrize(
    ("offence", "reason"),
    [
        (
            {"refusal": Refusal.HIGH, "actuator": 1, "value": 12.5, "limit": 10.0},
            "ps1: 12.5 is above the upper limit, 10",
        ),
        ({"refusal": Refusal.NUMBER, "actuator": 0, "value": math.nan}, "ps0: nan is no number that can be set"),
        (
            {"refusal": Refusal.STALE, "actuator": 2**64 - 1, "value": 5.0, "limit": 240.0, "vector": 8},
            "vector 8: answers turn 5; turns before 240 are too old",
        ),
    ],
)
def test_a_grant_says_why_the_guard_refused(
    make_owner: MakeOwner, offence: dict[str, int | float], reason: str
) -> None:
    spec = fabric.grant(
        "ramp", offence, grant_number=4, pid=33, state=ApplicationState.STALLED, stop=1, actuator_count=2
    )
    make_owner([spec, fabric.text("ramp/supplies", "ps0\nps1\n"), fabric.grant("operator")])
    with ringmaster.attach("demo") as ws:
        grant = ws.grants["ramp"]
        reading = grant.read()
        assert ws.grants["operator"].read().offence is None
    assert (grant.application, grant.stop) == ("ramp", StopAction.RAMP)
    assert (reading.grant_number, reading.pid, reading.state) == (4, 33, ApplicationState.STALLED)
    assert reading.offence is not None
    assert reading.offence.reason == reason


def test_what_the_operator_was_refused_is_reported_by_the_supplys_name(make_owner: MakeOwner) -> None:
    offence = {"refusal": Refusal.HIGH, "actuator": 2, "value": 12.0, "limit": 10.0}
    make_owner([fabric.grant("operator", offence, actuator_count=1), fabric.text("supply/names", "a\nb\nc\n")])
    with ringmaster.attach("demo") as ws:
        found = ws.grants["operator"].read().offence
    assert found is not None
    assert found.reason == "c: 12 is above the upper limit, 10"


def test_every_refusal_has_its_words() -> None:
    from ringmaster.fabric.grant import Offence

    for refusal in Refusal:
        assert Offence(refusal, 3, None, 1.5, 2.5, 0, 0, 0).reason.startswith("actuator 3: ")


def test_what_a_chain_is_intended_to_be_sent_is_read(make_owner: MakeOwner) -> None:
    make_owner([fabric.intended([(7, 7, [[0.0, 0.0], [1.5, -2.0]]), (6, 5, [[0.25], [0.5]])])])
    with ringmaster.attach("demo") as ws:
        assert len(ws.intended) == 2
        sure, doubtful = ws.intended.read(0), ws.intended.read(1)
    assert (sure.intended, sure.transmitted, sure.setpoints.tolist(), sure.doubtful) == (7, 7, [1.5, -2.0], None)
    assert (doubtful.intended, doubtful.transmitted, doubtful.setpoints.tolist()) == (6, 5, [0.5])
    assert doubtful.doubtful is not None
    assert doubtful.doubtful.tolist() == [0.25]


@pytest.mark.parametrize("chains", [2, 1])
def test_intended_setpoints_that_cannot_be_are_damaged(make_owner: MakeOwner, chains: int) -> None:
    spec = fabric.intended([(1, 1, [[0.0], [1.0]])])
    owner = make_owner([replace(spec, shape=(chains, 44))])
    owner.set_word("setpoints/intended", layout.INTENDED, "supplies", 41)
    with ringmaster.attach("demo") as ws, pytest.raises(ringmaster.WorkspaceDamaged):
        ws.intended.read(0)


def test_a_supply_has_setpoint_readback_and_state(make_owner: MakeOwner) -> None:
    state = SupplyState.TRIPPED | SupplyState.LOST
    make_owner(
        [
            SETPOINT,
            fabric.parameter("sr/ps/ch_s01_01/readback", np.array([1.9]), "A", ElementType.F64),
            fabric.parameter("supply/state", np.array([state, 0], "<u4"), "", ElementType.U32),
            fabric.parameter("b/setpoint", np.array([0.5]), "A", ElementType.F64),
            fabric.text("supply/names", "sr/ps/ch_s01_01\nb\n"),
        ]
    )
    with ringmaster.attach("demo") as ws:
        first, second = ws.supplies.values()
        assert first.readback is not None
        assert (first.setpoint.value, first.readback.value, first.words) == (2.0, 1.9, "tripped, lost")
        assert (second.name, second.readback, second.state, second.words) == ("b", None, [], "good")


def test_a_chain_has_its_counters_and_the_status_of_its_readbacks(make_owner: MakeOwner) -> None:
    lanes = (("sequence", "", layout.LaneType.I32),)
    owner = make_owner(
        [
            fabric.counters("chain/c01", "chain"),
            *(fabric.stream(f"c01_{part}/raw", lanes=lanes) for part in "ab"),
            fabric.clock(tsc_hz_bits=2e9),
        ]
    )
    owner.store("c01_b/raw", 100, tag=(4 | 1) << 48)
    owner.publish("c01_b/raw", 100, 100)
    with ringmaster.attach("demo") as ws:
        chain = ws.chains["c01"]
        assert len(chain.streams) == 2
        assert chain.status == ["tripped", "stopped"]


def test_an_owner_with_a_folder_of_its_own_is_found_and_who_asks_is_not(make_owner: MakeOwner, root: Path) -> None:
    parameter = fabric.parameter("ramp/a", np.array([1.0]), "", ElementType.F64)
    make_owner([])
    with ringmaster.attach("demo") as before:
        make_owner([parameter], name="ramp", folder="ramp")
        make_owner([fabric.parameter("x", np.array([1.0]), "", ElementType.F64)], name="put-1", folder="requests")
        make_owner([fabric.parameter("y", np.array([1.0]), "", ElementType.F64)], name="other", folder="ramp")
        assert before.outdated
    with ringmaster.attach("demo") as ws:
        assert list(ws.parameters) == ["ramp/a"]
        assert ws.segments["ramp"].alive
        assert not ws.outdated


def test_no_owner_hides_what_the_server_publishes(make_owner: MakeOwner) -> None:
    make_owner([fabric.parameter("x", np.array([1.0]), "", ElementType.F64)])
    make_owner([fabric.parameter("x", np.array([2.0]), "", ElementType.F64)], name="rogue")
    with ringmaster.attach("demo") as ws:
        assert ws.parameters["x"].value == 1.0
        assert ws.objects["x"].owner == "server"
