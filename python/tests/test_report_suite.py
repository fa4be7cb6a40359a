# SPDX-License-Identifier: Apache-2.0
"""The suite over benches that do as they are told: time, failures, interrupts."""

import json
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import getdoc
from pathlib import Path
from time import monotonic, sleep

import pytest
from click.testing import CliRunner
from report_sections import section

from ringmaster.bench.benches import BENCHES, Bench
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.measurement import AROUND_S, Say, Step, fitted
from ringmaster.bench.suite import PLANNED, Outcome, Watch, run_suite
from ringmaster.cli import bench_suite
from ringmaster.cli.bench import bench as command
from ringmaster.cli.bench_suite import NAMES
from ringmaster.report import findings
from ringmaster.report.section import Section

Measure = Callable[[Say, Step], Section]
Planned = tuple[int, Measure]


class Made(Bench):
    """A bench of the suite."""

    def __init__(self, name: str, share: float, plan: Callable[[float], Planned]) -> None:
        super().__init__(name, "", share, "")
        object.__setattr__(self, "plan", plan)


def bench(name: str, measure: Measure | None = None, share: float = 1.0) -> Made:
    """One that gives a section, or does something else."""
    return Made(name, share, lambda _seconds: (2, measure or (lambda _say, _step: section(name))))


def raising(error: BaseException) -> Measure:
    def measure(_say: Say, _step: Step) -> Section:
        raise error

    return measure


def endless(name: str, seconds: float = 60.0) -> Measure:
    """Measures for so long, and ends in good order when it is interrupted, as all benches do."""

    def measure(say: Say, step: Step) -> Section:
        end = monotonic() + seconds
        try:
            while monotonic() < end:
                step()
                sleep(0.01)
        except KeyboardInterrupt:
            say("interrupted")
            return replace(section(name), interrupted=True)
        return section(name)

    return measure


@dataclass
class Said:
    """What a suite told on its way."""

    lines: list[str]
    begun: list[tuple[str, int]]
    steps: int = 0

    def watch(self) -> Watch:
        """That keeps it here."""

        def step() -> None:
            self.steps += 1

        return Watch(self.lines.append, lambda name, steps: self.begun.append((name, steps)), step)


@pytest.fixture
def said() -> Said:
    return Said([], [])


def names(outcome: Outcome) -> list[str]:
    return [one.name for one in outcome.sections]


def test_all_are_run_in_their_order(said: Said) -> None:
    outcome = run_suite([bench("a"), bench("b", endless("b", 0.05))], 20.0, said.watch())
    assert (names(outcome), outcome.notes, outcome.failed, outcome.interrupted) == (["a", "b"], [], [], False)
    assert said.begun == [("a", 2), ("b", 2)]
    assert said.steps > 0


def test_each_gets_its_share_and_what_others_left(said: Said) -> None:
    given: list[float] = []

    def plan(seconds: float) -> Planned:
        given.append(seconds)
        return 1, lambda _say, _step: section()

    run_suite([Made("a", 3.0, plan), Made("b", 1.0, plan), Made("c", 1.0, plan)], 100.0, said.watch())
    assert given == pytest.approx([PLANNED * 60.0, PLANNED * 50.0, PLANNED * 100.0], rel=0.1)


def test_one_that_takes_too_long_is_stopped_and_gives_what_it_has(said: Said) -> None:
    begin = monotonic()
    outcome = run_suite([bench("slow", endless("slow")), bench("next", share=1.0)], 4.0, said.watch())
    assert 1.9 < monotonic() - begin < 30.0
    assert names(outcome) == ["slow", "next"]
    assert outcome.notes == ["slow: stopped after its 2 s: what it had is below"]
    assert (outcome.interrupted, outcome.failed) == (False, [])


def test_one_that_gives_nothing_when_stopped_is_noted(said: Said) -> None:
    def deaf(_say: Say, _step: Step) -> Section:
        sleep(60.0)
        return section("deaf")

    outcome = run_suite([bench("deaf", deaf), bench("next")], 3.0, said.watch())
    assert names(outcome) == ["next"]
    assert "it had nothing yet" in outcome.notes[0]


def test_where_no_time_is_left_benches_are_left_out(said: Said) -> None:
    outcome = run_suite([bench("a"), bench("b")], 0.5, said.watch())
    assert names(outcome) == []
    assert outcome.notes[0].startswith("a: left out: no time was left")


def test_one_that_fails_does_not_stop_the_others(said: Said) -> None:
    benches = [bench("a", raising(RuntimeError("broken"))), bench("b", raising(SystemExit(3))), bench("c")]
    outcome = run_suite(benches, 30.0, said.watch())
    assert names(outcome) == ["c"]
    assert outcome.failed == ["a", "b"]
    assert outcome.notes == ["a: failed: RuntimeError: broken", "b: failed: SystemExit: 3"] == said.lines


def test_what_cannot_be_measured_here_is_no_failure(said: Said) -> None:
    def absent(_seconds: float) -> Planned:
        raise ModuleNotFoundError("No module named 'ringmaster.bench.x'")

    outcome = run_suite([bench("a", raising(NotMeasured("no card"))), Made("b", 1.0, absent)], 30.0, said.watch())
    assert outcome.failed == []
    assert outcome.notes == ["a: not measured: no card", "b: not measured: No module named 'ringmaster.bench.x'"]


@pytest.mark.parametrize("keeps", [True, False])
def test_an_interrupt_ends_it_with_what_there_is(said: Said, keeps: bool) -> None:
    def interrupted(_say: Say, _step: Step) -> Section:
        if keeps:
            return replace(section("b"), interrupted=True)
        raise KeyboardInterrupt

    outcome = run_suite([bench("a"), bench("b", interrupted), bench("c")], 30.0, said.watch())
    assert names(outcome) == (["a", "b"] if keeps else ["a"])
    assert outcome.interrupted
    assert outcome.notes == ["interrupted in b: what follows is what was measured until then"]


def test_the_alarm_of_somebody_else_is_kept(said: Said) -> None:
    rung: list[int] = []
    handler = signal.signal(signal.SIGALRM, lambda number, _frame: rung.append(number))
    before = signal.setitimer(signal.ITIMER_REAL, 100.0)
    try:
        run_suite([bench("a")], 10.0, said.watch())
        left_s, _ = signal.setitimer(signal.ITIMER_REAL, *before)
        assert 90.0 < left_s < 100.0
        assert not rung
    finally:
        signal.signal(signal.SIGALRM, handler)


@dataclass(frozen=True)
class Options:
    """As every bench of that kind has them."""

    seconds: float = 2.0
    rounds: int = 3


def steps(options: Options) -> int:
    return 4 * options.rounds


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (12 * (2.0 + AROUND_S), Options(2.0, 3)),
        (12 * (0.5 + AROUND_S), Options(0.5, 3)),
        (8 * (0.5 + AROUND_S), Options(0.5, 2)),
        (4 * (0.4 + AROUND_S), Options(0.4, 1)),
        (0.0, Options(0.3, 1)),
        (1e6, Options(10.0, 3)),
    ],
)
def test_a_bench_is_fitted_into_its_time(seconds: float, expected: Options) -> None:
    assert fitted(Options(), steps, seconds) == expected


def test_the_shares_are_of_a_quarter_of_an_hour() -> None:
    assert sum(one.share for one in BENCHES) == 900


@pytest.mark.parametrize("one", BENCHES, ids=lambda one: one.name)
def test_the_line_of_a_bench_says_what_the_bench_says(one: Bench) -> None:
    kind = one.load()
    assert (one.name, one.about) == (kind.name, str(getdoc(kind)).partition("\n")[0])


@pytest.mark.parametrize("one", BENCHES, ids=lambda one: one.name)
def test_every_bench_that_is_there_can_be_planned(one: Bench) -> None:
    try:
        assert one.plan(30.0)[0] >= 1
    except NotMeasured as error:
        pytest.skip(str(error))


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Callable[..., "tuple[int, str]"]:
    """Runs the command over these benches, in the place of rtt, jitter and the others."""
    monkeypatch.setattr(findings, "of_this_host", list)

    def run(measures: list[Measure | None], *arguments: str) -> tuple[int, str]:
        made = [bench(name, measure) for name, measure in zip(NAMES, measures, strict=False)]
        monkeypatch.setattr(bench_suite, "BENCHES", made)
        done = CliRunner().invoke(command, ["suite", "--minutes", "0.5", *arguments])
        return done.exit_code, done.output

    return run


def test_the_command_writes_the_page_whatever_failed(runner: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    code, output = runner([None, raising(RuntimeError("broken")), None], "--report", str(tmp_path / "out"))
    assert code == 1
    assert "Title of rtt" in output
    assert "jitter failed" in output
    assert f"the page is {tmp_path / 'out' / 'report.html'}" in output
    assert "jitter: failed: RuntimeError: broken" in (tmp_path / "out" / "report.html").read_text()
    said = json.loads((tmp_path / "out" / "report.json").read_text())
    assert [one["name"] for one in said["sections"]] == ["rtt", "throughput"]
    assert said["notes"] == ["jitter: failed: RuntimeError: broken"]


def test_the_command_ends_an_interrupted_suite_in_good_order(
    runner: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    code, output = runner([None, raising(KeyboardInterrupt()), None], "--report", str(tmp_path / "out"))
    assert code == 130
    assert "Title of rtt" in output
    assert "Title of throughput" not in output
    assert (tmp_path / "out" / "rtt.json").exists()


def test_bad_input_is_refused(runner: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    assert runner([None], "--benches", "rtt,nonsense")[0] == 2
    assert runner([None], "--minutes", "0")[0] == 2
    (tmp_path / "file").write_text("")
    assert runner([None], "--report", str(tmp_path / "file"))[0] == 2
    code, output = runner([None], "--report", str(tmp_path / "file" / "below"))
    assert code == 2
    assert "expected a directory to write to" in " ".join(output.split())
