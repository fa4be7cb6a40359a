# SPDX-License-Identifier: Apache-2.0
"""What the bench of the closed loop makes of gaps and seconds that nobody measured."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from ringmaster.bench import measurement
from ringmaster.bench.bare_clock import Bare, watches_of
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.loop import WAITS_S, ClosedLoop, Options, Second
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.conditions import StallFloor
from ringmaster.report.plain import as_json
from ringmaster.report.text import print_section
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual import rate as virtual_rate

TSC_HZ = 2e9
WHOLE = 10**10
"""Ticks of a watch: 5 s."""
LONG = round(WAITS_S * TSC_HZ) + 1
"""Ticks of the shortest gap that counts."""
FLOOR = StallFloor(5.0, 812.0, 350.0, 2, TSC_HZ)


def watched(cpu: int, *gaps: int) -> list[tuple[int, int, int]]:
    """Rows of one core: the whole, then gaps of so many ticks."""
    begin = 10**15
    return [
        (cpu, begin, begin + WHOLE),
        *((cpu, begin + i * 10**8, begin + i * 10**8 + gap) for i, gap in enumerate(gaps)),
    ]


def away_share(rows: "np.ndarray[tuple[int, int], np.dtype[np.int64]]") -> float:
    return Bare(FLOOR, watches_of(rows)).away_share(WAITS_S)


@pytest.mark.parametrize(
    ("rows", "share"),
    [
        (watched(0), 0.0),
        (watched(0, LONG - 1, 7), 0.0),
        (watched(0, WHOLE // 100, 7, WHOLE // 50), 0.03),
        (watched(0, WHOLE // 100) + watched(1, WHOLE // 20, LONG - 1), 0.05),
        (watched(0, WHOLE // 100) + watched(1, 7, WHOLE // 50), 0.03),
        (watched(0, WHOLE // 50) + watched(1, 7, WHOLE // 50), 0.03),
        (watched(0, WHOLE) + watched(1, WHOLE), 1.0),
        (watched(3, LONG), LONG / WHOLE),
    ],
)
def test_only_gaps_that_no_cycle_outlasts_are_away_and_those_of_both_cores_count_once(
    rows: list[tuple[int, int, int]], share: float
) -> None:
    assert away_share(np.array(rows, dtype=np.int64)) == pytest.approx(share, rel=1e-9)


def test_rows_of_cores_may_alternate() -> None:
    rows = np.array(watched(0, WHOLE // 100) + watched(1, WHOLE // 20), dtype=np.int64)
    mixed = rows[[0, 2, 1, 3]]  # of each core its own order
    assert away_share(mixed) == pytest.approx(0.05)


def second(late: int, skipped: int, skipped_turns: float = 0.01, on: float = 1.0) -> Second:
    return Second(cycles=10_000.0, late=late, skipped=skipped, skipped_turns=skipped_turns, unsent=0, on=on)


def seen(options: Options, *seconds: Second) -> ClosedLoop:
    made = ClosedLoop(options)
    made.rows, made.floors, made.away = list(seconds), [FLOOR, FLOOR], [0.01, 0.03]
    made.probes_ns, made.waited, made.lost = [100.0, 120.0], 0.2, 0
    made.motion_um = {"open": {"x": 20.0, "y": 40.0}, "closed": {"x": 2.0, "y": 0.4}}
    return made


def test_the_section_tells_what_was_missed_beside_what_no_program_can_help() -> None:
    made = seen(Options(seconds=3.0), second(50, 50), second(100, 200), second(0, 0)).section()
    said = json.loads(json.dumps(as_json(made)))
    assert said["missed_share"] == pytest.approx(0.01)
    assert said["stall_floor_share"] == pytest.approx(0.02)
    assert (said["lost_records"], said["waited_share"], said["on_share"]) == (0, 0.2, 1.0)
    assert said["targets"]["lost_records"]["verdict"] == "held"
    assert [row[3] for row in said["tables"][0]["rows"]] == ["-20.0", "-40.0"]
    assert said["charts"][0]["series"]["cycles missed"] == [[0.0, 0.01], [1.0, 0.03], [2.0, 0.0]]
    assert said["conditions"]["core_to_core_ns"]["median"] == 110.0
    assert said["command"] == "ringmaster bench loop --ring elettra --seconds 3"


def test_a_rate_that_was_asked_for_is_in_the_command_to_the_digit() -> None:
    options = Options("elettra2", 20.0, 1_157_407.0)
    assert seen(options).section().command.endswith("--turn-rate 1157407")


def test_a_run_that_was_interrupted_at_once_has_a_section_still(capsys: pytest.CaptureFixture[str]) -> None:
    made = ClosedLoop(Options()).section()
    print_section(made)
    assert "not measured" in capsys.readouterr().out
    assert as_json(made)["missed_share"] is None


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Two cores, and nothing that takes time."""

    @contextmanager
    def prepare(_: object) -> Iterator[Path]:
        yield Path()

    def look(measured: ClosedLoop) -> None:
        measured.floors.append(FLOOR)

    monkeypatch.setattr(measurement, "cores", lambda: (0, 1))
    monkeypatch.setattr(ClosedLoop, "_look_at_floor", look)
    monkeypatch.setattr(virtual_loop, "prepare", prepare)
    return monkeypatch


def starting(error: BaseException) -> object:
    """Of a loop that does not come up."""

    def start(*_: object) -> None:
        raise error

    return start


def test_a_loop_that_never_starts_is_no_result(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(virtual_rate, "start", starting(ProgramFailed("ringmaster-server ended with status 1: no room")))
    with pytest.raises(NotMeasured, match="no room"):
        ClosedLoop(Options(turn_rate_hz=1e6)).run()


def test_ctrl_c_before_the_first_second_ends_in_good_order(machine: pytest.MonkeyPatch) -> None:
    machine.setattr(virtual_rate, "start", starting(KeyboardInterrupt()))
    made = ClosedLoop(Options(turn_rate_hz=1e6)).run()
    assert made.interrupted
    assert len(made.conditions.stall_floors if made.conditions else ()) == 1


def test_one_core_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "cores", lambda: (0, 0))
    with pytest.raises(NotMeasured, match="two cores"):
        ClosedLoop(Options()).run()
