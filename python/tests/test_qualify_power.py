# SPDX-License-Identifier: Apache-2.0
"""Power of machines that were written by hand: their energy counters, frequencies and idle states."""

from dataclasses import replace
from pathlib import Path

import pytest

from ringmaster.bench import energy, measurement, power
from ringmaster.bench.core_state import frequencies_mhz, residency_shares, residency_us
from ringmaster.bench.cpu_time import Shares
from ringmaster.bench.log import NotMeasured
from ringmaster.bench.power import Power
from ringmaster.bench.power_meter import Meter, Taken
from ringmaster.bench.power_section import headlines, published_table, states_table, work_table
from ringmaster.bench.power_windows import STATES, Window
from ringmaster.programs.program import ProgramFailed
from ringmaster.report.section import Section

RANGE_UJ = 262_143_328_850
STAT = "cpu0 {0} 0 0 100 0 0 0 0 0 0\ncpu1 0 0 0 {0} 0 0 0 0 0 0\n"


def package(sys: Path, folder: str, name: str, uj: int, range_uj: int = RANGE_UJ) -> Path:
    path = sys / "class/powercap" / folder
    path.mkdir(parents=True, exist_ok=True)
    (path / "name").write_text(name + "\n")
    (path / "energy_uj").write_text(f"{uj}\n")
    (path / "max_energy_range_uj").write_text(f"{range_uj}\n")
    return path


def idle_state(sys: Path, core: int, number: int, name: str, us: int) -> None:
    path = sys / f"devices/system/cpu/cpu{core}/cpuidle/state{number}"
    path.mkdir(parents=True, exist_ok=True)
    (path / "name").write_text(name + "\n")
    (path / "time").write_text(f"{us}\n")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """Two packages, of which one is shown by two drivers; parts of packages; two cores with frequencies and states."""
    package(tmp_path, "intel-rapl:0", "package-0", 1_000_000)
    package(tmp_path, "intel-rapl:0:0", "core", 777)
    package(tmp_path, "intel-rapl:1", "package-1", RANGE_UJ - 500_000)
    package(tmp_path, "intel-rapl:2", "psys", 5)
    package(tmp_path, "intel-rapl-mmio:0", "package-0", 3)
    (tmp_path / "class/powercap/intel-rapl").mkdir()
    for core in (0, 1):
        cpufreq = tmp_path / f"devices/system/cpu/cpu{core}/cpufreq"
        cpufreq.mkdir(parents=True)
        (cpufreq / "scaling_cur_freq").write_text(f"{1_200_000 + core}\n")
        for number, name in enumerate(["POLL", "C1", "C6"]):
            idle_state(tmp_path, core, number, name, 0)
    return tmp_path


def meter(sys: Path, ticks: int = 0) -> Meter:
    stat = sys / "stat"
    stat.write_text(STAT.format(ticks))
    return Meter((0, 1), sys, stat, sys / "cpuinfo")


def test_each_package_is_counted_once_and_its_parts_are_not(machine: Path) -> None:
    found = [(one.name, one.path.name, one.range_uj) for one in energy.counters(machine)]
    assert found == [("package-0", "intel-rapl:0", RANGE_UJ), ("package-1", "intel-rapl:1", RANGE_UJ)]


@pytest.mark.parametrize(
    ("before", "after", "expected_j"),
    [(0, 0, 0.0), (1_000_000, 36_000_000, 35.0), (RANGE_UJ - 500_000, 500_000, 1.0), (RANGE_UJ, 0, 0.0)],
)
def test_a_counter_that_begins_again_loses_nothing(before: int, after: int, expected_j: float) -> None:
    assert energy.joules(before, after, RANGE_UJ) == pytest.approx(expected_j)


def test_the_meter_adds_the_packages_up_across_the_wrap(machine: Path) -> None:
    meters = meter(machine)
    assert meters.has_energy
    assert meters.missing == []
    before = meters.look()
    package(machine, "intel-rapl:0", "package-0", 31_000_000)
    package(machine, "intel-rapl:1", "package-1", 4_500_000)
    for core in (0, 1):
        idle_state(machine, core, 2, "C6", 500_000)
    (machine / "stat").write_text(STAT.format(100))
    taken = meters.between(before, replace(meters.look(), when_s=before.when_s + 1.0))
    assert taken.package_w == pytest.approx(30.0 + 5.0)
    assert taken.shares[0] == Shares(user=1.0)
    assert taken.shares[1] == Shares(idle=1.0)
    assert taken.mhz == {0: 1200.0, 1: pytest.approx(1200.001)}
    assert taken.residency[0] == {"POLL": 0.0, "C1": 0.0, "C6": pytest.approx(0.5)}


def test_a_machine_without_anything_says_what_it_has_not(tmp_path: Path) -> None:
    meters = meter(tmp_path)
    assert not meters.has_energy
    assert [line.split(":")[0] for line in meters.missing] == ["package energy", "frequency", "idle states"]
    taken = meters.between(meters.look(), meters.look())
    assert taken.package_w is None
    assert taken.mhz == {}
    assert taken.residency == {0: {}, 1: {}}


def test_a_counter_that_is_no_number_is_named(machine: Path) -> None:
    (machine / "class/powercap/intel-rapl:1/energy_uj").write_text("nan\n")
    with pytest.raises(NotMeasured, match="intel-rapl:1/energy_uj"):
        energy.counters(machine)


def test_a_counter_that_only_root_may_read_is_reported(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    counter = energy.counters(machine)[0]
    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(NotMeasured, match="root alone"):
        counter.read_uj()


def test_frequencies_are_those_of_cpuinfo_where_there_is_no_cpufreq(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\ncpu MHz\t\t: 2596.152\nflags\t: a b\n\nprocessor\t: 3\ncpu MHz\t\t: 800\n")
    assert frequencies_mhz(tmp_path, cpuinfo) == {0: 2596.152, 3: 800.0}
    path = tmp_path / "devices/system/cpu/cpu3/cpufreq"
    path.mkdir(parents=True)
    (path / "scaling_cur_freq").write_text("3100000\n")
    assert frequencies_mhz(tmp_path, cpuinfo) == {0: 2596.152, 3: 3100.0}


def test_idle_states_are_reported_shallowest_first(tmp_path: Path) -> None:
    for number in range(11):
        idle_state(tmp_path, 0, number, f"C{number}", number)
    assert list(residency_us(0, tmp_path)) == [f"C{number}" for number in range(11)]
    assert residency_us(1, tmp_path) == {}
    assert residency_shares({"C1": 100, "C6": 0}, {"C1": 600_100, "C6": 9_000_000}, 1.0) == {"C1": 0.6, "C6": 1.0}


def windows(watts: tuple[float | None, ...]) -> list[Window]:
    """One of each state, with these watts; a million datagrams a second where loaded."""
    made = []
    for state, watt in zip(STATES, watts, strict=True):
        shares = {0: Shares(idle=1.0), 1: Shares(poll_busy=0.3, poll_idle=0.7)}
        taken = Taken(1.0, watt, shares, {0: 2000.0, 1: 2000.0}, {0: {"C6": 0.9}, 1: {}})
        rate = 1e6 if state.loaded else 0.0
        made.append(Window(state.name, taken, rate, 0, 2e6 if state.governor else 2e7, 0.3, 0.5))
    return made


def test_joules_per_datagram_are_of_known_energy_alone() -> None:
    known = windows((35.0, 60.0, 99.0, 80.0, 111.0))
    figures = {row.name: row.figure for row in headlines(known, True)}
    loaded_on, loaded_off = figures["nj_per_datagram.loaded.on"], figures["nj_per_datagram.loaded.off"]
    assert loaded_on is not None
    assert loaded_off is not None
    assert (loaded_on.median, loaded_off.median) == pytest.approx((80_000.0, 111_000.0))  # 80 W / 1 MHz
    assert known[0].nanojoules_per_datagram is None
    row = states_table(known).rows[3]
    assert row[:6] == ("loaded", "on", "80", "45", "1,000", "80,000")
    assert [row[1:3] for row in published_table(known).rows] == [("35 W", "35"), ("99 W", "60"), ("111 W", "80")]


def test_without_energy_there_are_no_watts_but_work() -> None:
    unknown = windows((None,) * 5)
    assert not any("package_w" in row.name or "nj_" in row.name for row in headlines(unknown, False))
    assert all(row[2:4] == ("–", "–") for row in states_table(unknown).rows)
    head, *rows = (work_table(unknown, (0, 1)).head, *work_table(unknown, (0, 1)).rows)
    assert list(head) == ["state", "governor", "core", "poll-busy", "poll-idle", "idle", "MHz", "asleep"]
    assert len(rows) == 2 * len(STATES)
    assert list(rows[0][-2:]) == ["2,000", "C6 90%"]


def on_two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """At which nobody looks."""
    for module in (power, measurement):
        monkeypatch.setattr(module, "cores", lambda: (0, 1))
    monkeypatch.setattr(Power, "probe", lambda _: None)


def measured(monkeypatch: pytest.MonkeyPatch, sys: Path, options: power.Options, fails_at: int) -> Section:
    """The whole of it on windows that were made; the so-many-th is interrupted."""
    made = iter(range(1000))

    def window(state: object, *_: object) -> Window:
        if next(made) == fails_at:
            raise KeyboardInterrupt
        return next(one for one in windows((None,) * 5) if one.state == state.name)  # type: ignore[attr-defined]

    monkeypatch.setattr(power, "measure_window", window)
    on_two_cores(monkeypatch)
    steps: list[None] = []
    section = Power(options, lambda _: None, lambda: steps.append(None), sys=sys).run()
    assert len(steps) == min(fails_at, Power.steps(options))
    return section


def test_an_interrupt_leaves_what_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    section = measured(monkeypatch, tmp_path, power.Options(rounds=2), fails_at=3)
    assert section.interrupted
    assert [row[:2] for row in section.tables[0].rows] == [("idle", "–"), ("waiting", "on"), ("waiting", "off")]
    assert any("interrupted" in note for note in section.notes)


def test_the_section_says_its_command_and_what_cannot_be_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    section = measured(monkeypatch, tmp_path, power.Options(seconds=0.5, rounds=2, load=0.25), fails_at=99)
    assert not section.interrupted
    assert section.command == "ringmaster bench power --seconds 0.5 --rounds 2 --load 0.25"
    assert any("no RAPL package" in note for note in section.notes)
    assert len(section.data["windows"]) == 10  # type: ignore[arg-type]


def test_no_state_at_all_is_an_error_with_the_reasons(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def window(*_: object) -> Window:
        raise ProgramFailed("ringmaster-server ended with status 1: no room")

    monkeypatch.setattr(power, "measure_window", window)
    on_two_cores(monkeypatch)
    with pytest.raises(NotMeasured, match="power: .*idle: not measured: ringmaster-server ended .* no room"):
        Power(power.Options(rounds=1), sys=tmp_path).run()


def test_one_core_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "cores", lambda: (0, 0))
    with pytest.raises(NotMeasured, match="two cores"):
        Power(power.Options()).run()
