# SPDX-License-Identifier: Apache-2.0
"""What the twin's bench makes of its figures, without measuring."""

import json
from typing import Any

import numpy as np
import pytest

from ringmaster.bench import twin as bench
from ringmaster.bench.log import Log, NotMeasured
from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import of_all
from ringmaster.report.plain import as_json
from ringmaster.report.text import print_section


def row(function: str) -> bench.Row:
    spread = of_all([1.0, 2.0, 4.0], "rounds")
    return bench.Row(
        "ring", function, True, 0.1, 5.0, 50.0, spread, spread, spread, 1e-9, {"beta": 1e-9}, "3 points", None
    )


def measured(*rows: bench.Row) -> bench.TwinBesidePyAt:
    made = bench.TwinBesidePyAt(bench.Options(rounds=3))
    made.rows = list(rows)
    return made


def test_the_command_knows_the_functions_that_there_are() -> None:
    assert set(bench.MAKERS) == set(bench.FUNCTIONS)


def test_json_is_by_lattice_and_function() -> None:
    said = json.loads(json.dumps(as_json(measured(row("linopt6"), row("tracking")).section())["data"]))
    assert list(said["lattices"]["ring"]) == ["linopt6", "tracking"]
    of = said["lattices"]["ring"]["linopt6"]
    assert (of["ours_s"], of["pyat_s"], of["ratio"], of["max_relative_difference"]) == (0.1, 5.0, 50.0, 1e-9)
    assert of["ratios"] == {"median": 2.0, "low": 1.0, "high": 4.0, "quantiles": [0.0, 1.0], "count": 3, "of": "rounds"}


def test_differences_are_relative_to_the_reference() -> None:
    assert bench.relative(np.array([1.0, 2.2]), np.array([1.0, 2.0])) == pytest.approx(0.1)
    assert bench.relative(np.zeros(3), np.zeros(3)) == 0.0
    assert bench.relative(np.full(3, 0.5), np.zeros(3)) == 0.5


def test_without_pyat_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "find_spec", lambda _: None)
    with pytest.raises(NotMeasured, match="pip install accelerator-toolbox==0.9.0"):
        bench.TwinBesidePyAt(bench.Options()).run()


def test_the_table_has_a_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    made = measured(row("linopt6"))
    made.floors = [StallFloor(0.5, 812.0, 350.0, 2, 2.5e9)]
    made.note("xyz: not measured")
    print_section(made.section())
    shown = capsys.readouterr().out
    assert "linopt6" in shown
    assert "stall floor: longest 812 µs" in shown
    assert "note: xyz: not measured" in shown


def test_an_xtrack_that_does_not_run_costs_its_own_figure_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses() -> Any:
        raise ImportError("Xsuite is required to load prebuilt kernels. Please install it.")

    monkeypatch.setattr(bench, "find_spec", lambda _name: object())
    log = Log(lambda _line: None)
    contest = bench.Contest(lambda: None, lambda: None, lambda _a, _b: {}, "1000 particles, 5 turns", lambda: refuses)
    assert bench._xtrack_s(contest, 1, log) is None
    assert "does not run (Xsuite is required to load prebuilt kernels)" in log.notes[0]
