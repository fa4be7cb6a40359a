# SPDX-License-Identifier: Apache-2.0
"""What the bench of a pair makes of windows of real servers, without running one."""

from dataclasses import replace

import pytest

from ringmaster.bench import standby as bench
from ringmaster.bench.standby_real import (
    KILL,
    MISSED,
    QUIET,
    SHORTEST_CYCLE_S,
    STALLS,
    STOP,
    SWITCH,
    Counts,
    Round,
    Window,
    carried_cycle_s,
    is_false,
    windows_of,
)
from ringmaster.report.conditions import StallFloor
from ringmaster.report.plain import as_json
from ringmaster.report.text import print_section

FLOOR = StallFloor(1.0, 2000.0, 300.0, 2, 2.6e9)
CYCLE_S = 4e-3
TOOK_OVER = Window(KILL, 0.9, 0.0, "took_over", 4, 4)
SWITCHED = Window(SWITCH, 1.4, 0.0, "switched", missing=0, doubled=0)
NOBODY = Window(QUIET, 5.0, 0.0)
AWAY = MISSED + 1.0
JUDGED = dict.fromkeys(
    ("two_masters", "two_instances", "over_limit", "over_slew", "divided", "swaps", "longest_swap_cycles",
     "longest_gap"), 0)  # fmt: skip


def rounds(*windows: Window, different_bits: int = 0, trouble: str = "", **judged: int) -> bench.Standby:
    made = bench.Standby(bench.Options())
    made.parts[bench.REAL] = [Round(FLOOR, CYCLE_S, windows, {**JUDGED, **judged}, different_bits, trouble)]
    return made


def verdicts(made: bench.Standby) -> dict[str, str]:
    found = as_json(made.section())["targets"]
    return {name.removeprefix("real."): of["verdict"] for name, of in found.items() if name.startswith("real.")}


def real(made: bench.Standby) -> dict[str, object]:
    found: dict[str, object] = as_json(made.section())["real"]
    return found


def test_json_has_the_figures_by_the_names_that_were_agreed() -> None:
    found = real(rounds(NOBODY, TOOK_OVER, replace(TOOK_OVER, what=STOP, swap_cycles=5), SWITCHED))
    assert found["swap_cycles"] == {"median": 4.5, "max": 5.0}
    assert found["swaps"] == 2
    zeros = ("planned_missing_cycles", "planned_duplicate_cycles", "violations", "two_masters", "different_bits")
    assert [found[name] for name in (*zeros, "false_swaps", "disturbed", "not_taken_over")] == [0] * 8
    assert found["cycle_hz"] == pytest.approx(250)
    assert found["stall_floor_cycles"] == pytest.approx(0.5)


def test_nothing_wrong_holds_and_one_of_each_misses() -> None:
    assert set(verdicts(rounds(NOBODY, TOOK_OVER, SWITCHED)).values()) == {"held"}
    wrong = rounds(
        replace(NOBODY, swaps=1, false_swaps=1),
        replace(TOOK_OVER, swap_cycles=MISSED + 3),
        replace(SWITCHED, missing=1, doubled=1),
        different_bits=1,
        over_slew=1,
        two_instances=1,
    )
    assert set(verdicts(wrong).values()) == {"missed"}


def test_nothing_measured_is_said_so() -> None:
    made = bench.Standby(bench.Options())
    assert set(verdicts(made).values()) == {"not measured"}
    assert not made.tables()
    assert not made.more_notes()


def test_a_window_in_which_the_host_took_a_core_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    long = replace(TOOK_OVER, swap_cycles=40, away_cycles=AWAY)
    late = replace(SWITCHED, missing=7, away_cycles=AWAY)
    made = rounds(TOOK_OVER, long, SWITCHED, late)
    found = real(made)
    assert found["swap_cycles"] == {"median": 4.0, "max": 4.0}
    assert found["swaps"] == 1
    assert found["disturbed"] == 2
    assert found["planned_missing_cycles"] == 0
    print_section(made.section())
    row = next(line for line in capsys.readouterr().out.splitlines() if "disturbed" in line and KILL in line)
    assert "40" in row, "it is in the tables nevertheless"


def test_what_must_never_be_counts_in_disturbed_windows_too() -> None:
    made = rounds(replace(NOBODY, away_cycles=AWAY, swaps=2, false_swaps=1), two_masters=1, divided=2)
    found = real(made)
    assert (found["two_masters"], found["violations"], found["false_swaps"]) == (1, 2, 1)
    assert any("1 swaps in quiet windows" in note for note in made.more_notes())


def test_a_standby_that_began_is_no_swap() -> None:
    found = real(rounds(TOOK_OVER, replace(TOOK_OVER, ended="began", swap_cycles=300, away_cycles=1.0)))
    assert found["swap_cycles"] == {"median": 4.0, "max": 4.0}
    assert (found["swaps"], found["not_taken_over"]) == (1, 1)


def test_a_round_that_ended_early_says_why() -> None:
    assert "real, round 1: ended early: gone" in rounds(TOOK_OVER, trouble="gone").more_notes()


@pytest.mark.parametrize(
    ("missed", "false"),
    [([MISSED] * 5, False), ([0] * 5, True), ([0, 0, MISSED, MISSED, MISSED], False), ([0, 0, 0, MISSED, 9], True)],
)
def test_a_swap_is_false_where_a_majority_saw_no_gap(missed: list[int], false: bool) -> None:
    assert is_false(missed) == false


def test_what_the_host_took_is_the_larger_one() -> None:
    before = Counts(True, 2, 1200, {"supply/c01": 1, "supply/c02": 1})
    after = Counts(True, 3, 1680, {"supply/c01": 4, "supply/c02": 5})
    assert after.away_since(before, 120) == 4.0
    assert replace(after, skipped_cycles=9).away_since(before, 120) == 7.0
    assert after.missed_since(before) == [3, 4]


def test_cycles_are_as_short_as_stalls_allow() -> None:
    assert carried_cycle_s(1.0) == SHORTEST_CYCLE_S
    assert MISSED * carried_cycle_s(30_000.0) == pytest.approx(STALLS * 0.03)


def test_kills_and_stops_take_turns_and_switches_lie_between() -> None:
    todo = [str(one) for one in windows_of(4, 1, 2.0)]
    assert [next(word for word in ("quiet", "kill", "STOP", "switch") if word in one) for one in todo] == [
        "quiet", "kill", "STOP", "switch", "kill", "STOP"]  # fmt: skip
