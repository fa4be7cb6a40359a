# SPDX-License-Identifier: Apache-2.0
"""What the bench of plans makes of its windows: of those that nobody measured, by arithmetic."""

from pathlib import Path

import pytest

from ringmaster.bench import plan
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.plan import WINDOWS, Loaded, Options, PlannedRoles, compared, fitted, large_plan, server_file
from ringmaster.plan.demand import read_demand
from ringmaster.plan.roles import bursts_per_s, written_roles
from ringmaster.report.verdicts import Headline

RATE_HZ = 1e5


def window(roles: int, measured: float, instruments: int = 8, distance: str = "near") -> Loaded:
    """On one core, whose sender had its own: packets cost 50 ns by default, and each role has a burst a turn."""
    packets = instruments * RATE_HZ
    return Loaded(roles, instruments, 1, 50e-9 * packets, roles * RATE_HZ, measured, packets, 0.99, 60.0, distance)


def load(roles: int, instruments: int = 8, packet_ns: float = 60.0, burst_ns: float = 150.0) -> float:
    """That a machine of these costs has."""
    return RATE_HZ * 1e-9 * (instruments * packet_ns + roles * burst_ns)


def one_role(distance: str = "near", **costs: float) -> list[Loaded]:
    """Both windows that give the costs."""
    return [window(1, load(1, count, **costs), count, distance) for count in (1, 8)]


def made_of(*rows: Loaded) -> PlannedRoles:
    """Measured so far."""
    made = PlannedRoles(Options())
    made.rows += rows
    return made


def headline(made: PlannedRoles, name: str) -> Headline:
    """By its name."""
    return next(one for one in made.headlines() if one.name == name)


def test_one_role_tells_what_a_packet_and_what_a_burst_cost() -> None:
    """Of each class of windows its own; the middle of several windows."""
    rows = [*one_role(), *one_role(), window(1, 0.9), *one_role("far", burst_ns=400.0)]
    near, far = fitted(rows)["near"], fitted(rows)["far"]
    assert (near.scale, near.burst_ns) == pytest.approx((1.2, 150.0))
    assert (far.scale, far.burst_ns) == pytest.approx((1.2, 400.0))


def test_more_roles_are_predicted_with_these_costs() -> None:
    """Of the window's own class."""
    rows = [*one_role(), window(4, load(4)), window(8, 1.2 * load(8))]
    four, eight = compared(rows)
    assert [four.error, eight.error] == pytest.approx([0.0, 0.2])


def test_classes_without_costs_are_not_compared() -> None:
    """Both windows of one role are wanted, and costs above 0."""
    assert not compared([*one_role(), window(2, 0.4, distance="far"), window(1, 0.3, distance="far")])
    assert not compared([window(1, 0.5, 1), window(1, 0.1), window(2, 0.4)])


def test_a_prediction_within_a_quarter_is_held() -> None:
    """By the median over the windows; the costs make the plan of 256 cores."""
    made = made_of(*one_role(), window(2, 1.2 * load(2)), window(8, 1.3 * load(8)))
    assert headline(made, "error_of_2_roles").verdict == "held"
    assert headline(made, "error_of_4_roles").verdict == "not measured"
    assert headline(made, "error_of_8_roles").verdict == "missed"
    assert [table.title for table in made.tables()][1].startswith("Elettra 2.0 on 256 cores")
    assert made_of().is_empty()
    assert made_of().tables() == []


def test_twice_the_costs_take_more_cores_of_256() -> None:
    """Which the large plan's table says."""
    once, twice = large_plan(1.0).prediction, large_plan(2.0).prediction
    assert twice.receive_cores > once.receive_cores
    assert len(large_plan(1.0).plan.machine.cores) == 256


@pytest.mark.parametrize("peer", WINDOWS)
def test_all_numbers_of_roles_share_the_same_packets(tmp_path: Path, peer: str) -> None:
    """Over the cores that there are; each role has a burst a turn, of which the planner knows."""
    roles, instruments = WINDOWS[peer]
    path = tmp_path / "server.yaml"
    path.write_text(server_file("w", tmp_path, (1, 2, 3), roles, RATE_HZ, instruments))
    demand = read_demand(path)
    assert demand.packets_per_s == pytest.approx(instruments * RATE_HZ)
    assert len(demand.ports) == roles
    assert {role.core for role in written_roles(demand)} == set((1, 2, 3)[:roles])
    bursts = sum(bursts_per_s(demand, port.senders, demand.packets_per_s) for port in demand.ports)
    assert bursts == pytest.approx(roles * RATE_HZ)


def test_a_window_without_its_core_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to do."""
    disturbed = Loaded(1, 8, 1, 0.1, 1e5, 0.2, 8e5, 0.5, 60.0, "near")
    monkeypatch.setattr(plan, "measured", lambda *_: disturbed)
    with pytest.raises(NotMeasured, match="50 % of its core, expected 90 % at least: measure on an idle machine"):
        made_of().take("1")
