# SPDX-License-Identifier: Apache-2.0
"""What the bench of plans makes of its windows: of those that nobody measured, by arithmetic."""

from pathlib import Path

import pytest

from ringmaster.bench import plan
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.plan import ROLES, Loaded, Options, PlannedRoles, compared, large_plan, server_file
from ringmaster.plan.demand import read_demand
from ringmaster.plan.roles import written_roles
from ringmaster.report.verdicts import Headline

RATE_HZ = 1e5


def window(round_: int, roles: int, predicted: float, measured: float, distance: str = "near") -> Loaded:
    """On one core, whose sender had its own."""
    return Loaded(round_, roles, 1, predicted, measured, 2e6, 0.99, 60.0, distance)


def made_of(*rows: Loaded) -> PlannedRoles:
    """Measured so far."""
    made = PlannedRoles(Options())
    made.rows += rows
    return made


def headline(made: PlannedRoles, name: str) -> Headline:
    """By its name."""
    return next(one for one in made.headlines() if one.name == name)


def test_costs_are_those_of_the_same_rounds_one_role() -> None:
    """Twice the default's in one round, thrice in the next."""
    rows = [window(0, 1, 0.2, 0.4), window(0, 4, 0.25, 0.5), window(1, 1, 0.2, 0.6), window(1, 4, 0.25, 0.6)]
    first, second = compared(rows)
    assert [first.predicted, second.predicted] == pytest.approx([0.5, 0.75])
    assert [first.error, second.error] == pytest.approx([0.0, -0.2])


def test_rounds_of_two_classes_and_rounds_without_one_role_are_not_compared() -> None:
    """Costs and load come from one class of windows."""
    assert not compared([window(0, 1, 0.2, 0.4), window(0, 2, 0.2, 0.4, "far"), window(1, 2, 0.2, 0.4)])


def test_a_prediction_within_a_quarter_is_held() -> None:
    """By the median over the rounds; the costs make the plan of 256 cores."""
    made = made_of(window(0, 1, 0.2, 0.4), window(0, 2, 0.2, 0.48), window(0, 8, 0.2, 0.6))
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


@pytest.mark.parametrize("roles", ROLES)
def test_all_numbers_of_roles_share_the_same_packets(tmp_path: Path, roles: int) -> None:
    """Over the cores that there are."""
    path = tmp_path / "server.yaml"
    path.write_text(server_file("w", tmp_path, (1, 2, 3), roles, RATE_HZ))
    demand = read_demand(path)
    assert demand.packets_per_s == pytest.approx(8 * RATE_HZ)
    assert len(demand.ports) == roles
    assert {role.core for role in written_roles(demand)} == set((1, 2, 3)[:roles])


def test_a_window_without_its_core_is_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says what to do."""
    disturbed = Loaded(0, 1, 1, 0.2, 0.4, 2e6, 0.5, 60.0, "near")
    monkeypatch.setattr(plan, "measured", lambda *_: disturbed)
    with pytest.raises(NotMeasured, match="50 % of its core, expected 90 % at least: measure on an idle machine"):
        made_of().take("1")
