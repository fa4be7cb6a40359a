# SPDX-License-Identifier: Apache-2.0
"""What the bench of a pair makes of its figures, without running one."""

import json
from pathlib import Path
from typing import Any

import pytest

from ringmaster.bench import standby as bench
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.standby_ring import LARGE, PERIOD_TURNS, SMALL
from ringmaster.machine.server_file import read_yaml
from ringmaster.report.plain import as_json
from ringmaster.report.text import print_section


def swaps(count: int, longest: float) -> dict[str, float]:
    return {"count": count, "median": min(longest, 3.97), "max": longest}


def said(**others: Any) -> dict[str, Any]:
    """What the program prints, as far as it is read."""
    none = swaps(0, 0.0)
    counts = dict.fromkeys(
        ("planned_missing_cycles", "planned_duplicate_cycles", "violations", "two_masters", "different_bits",
         "false_swaps", "swaps", "rounds", "followed", "copies", "unsettled"), 0)  # fmt: skip
    return {
        **counts,
        "cycles": 1000,
        "chains": 8,
        "swap_cycles": none,
        "late_cycles": none,
        "begin_cycles": none,
        "planned_cycles": none,
        "orbit_nm": {"mean": 1e3, "max": 2e3, "max_after_swap": 1500.0},
        "after": {"kill": swaps(2, 4.0), "stop": none, "two": swaps(1, 4.5)},
        **others,
    }


def measured(**runs: dict[str, Any]) -> bench.Standby:
    made = bench.Standby(bench.Options())
    made.parts = {part: [bench.run_of(part, json.dumps(words))] for part, words in runs.items()}
    return made


def targets(made: bench.Standby) -> dict[str, str]:
    found = as_json(made.section())["targets"]
    return {name: of["verdict"] for name, of in found.items() if name.startswith("simulated.")}


def test_json_has_the_figures_by_the_names_that_were_agreed() -> None:
    found = as_json(measured(swaps=said(swap_cycles=swaps(900, 4.02), swaps=950), planned=said()).section())
    simulated = found["simulated"]
    assert simulated["swap_cycles"] == {"median": 3.97, "max": 4.02}
    assert simulated["swaps"] == 900
    zeros = ("planned_missing_cycles", "planned_duplicate_cycles", "violations", "two_masters", "different_bits")
    assert [simulated[name] for name in (*zeros, "false_swaps")] == [0] * 6


def test_nothing_wrong_holds_and_one_of_each_misses() -> None:
    assert set(targets(measured(swaps=said(swap_cycles=swaps(9, 4.99)), planned=said())).values()) == {"held"}
    wrong = dict.fromkeys(("violations", "two_masters", "different_bits", "false_swaps", "planned_missing_cycles",
                           "planned_duplicate_cycles"), 1)  # fmt: skip
    bad = said(swap_cycles=swaps(9, 5.01), **wrong)
    assert set(targets(measured(swaps=bad, planned=bad)).values()) == {"missed"}


def test_what_is_wrong_in_one_run_of_many_is_not_lost() -> None:
    made = measured(swaps=said(), bits=said(different_bits=1), quiet=said(false_swaps=2))
    assert made.total("different_bits").median == 1  # type: ignore[union-attr]
    assert made.total("false_swaps").median == 2  # type: ignore[union-attr]


def test_the_longest_swap_is_of_all_runs_and_the_median_of_the_large_ring() -> None:
    large = swaps(5, 3.5)
    found = as_json(measured(swaps=said(swap_cycles=swaps(9, 4.5)), large=said(swap_cycles=large)).section())
    assert found["simulated"]["swap_cycles"] == {"median": 3.5, "max": 4.5}


def test_the_tables_say_what_befell_the_pair(capsys: pytest.CaptureFixture[str]) -> None:
    made = measured(swaps=said(swap_cycles=swaps(3, 4.5), unsettled=2))
    made.note("nothing")
    print_section(made.section())
    shown = capsys.readouterr().out
    assert "kill" in shown
    assert "two faults" in shown
    assert "stop" not in shown
    assert "2 times the pair did not come to rest" in shown


def test_what_is_no_figure_is_refused() -> None:
    with pytest.raises(NotMeasured, match="printed no figures"):
        bench.run_of("swaps", "{}")
    with pytest.raises(NotMeasured, match="printed no figures"):
        bench.run_of("swaps", "killed")


def test_less_time_means_fewer_of_each() -> None:
    short, usual = bench.Standby.fitted(5.0), bench.Options()
    assert 0 < short.swaps < usual.swaps
    assert 1000 <= short.cycles < usual.cycles
    assert bench.Standby.steps(short) == len(bench.PARTS)


@pytest.mark.parametrize("ring", [SMALL, LARGE])
def test_a_ring_has_as_many_chains_as_it_says(ring: Any, tmp_path: Path) -> None:
    server = tmp_path / "server.yaml"
    server.write_text("\n".join(ring._server()) + "\n")
    read = read_yaml(server)
    assert sum(chain.get("count", 1) for chain in read["chains"]) == ring.chains
    assert read["setpoints"]["period_turns"] == PERIOD_TURNS
    assert len(read["applications"][0]["supplies"]) == 2 * ring.places
