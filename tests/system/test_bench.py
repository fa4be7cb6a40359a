# SPDX-License-Identifier: Apache-2.0
"""What the bench makes for other programs is what they take."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
from harness import again_if_starved, ringmaster_json

from ringmaster.bench import latency_setups
from ringmaster.bench.loads import Link, Load, Replayed, Ring, elettra, single
from ringmaster.bench.measure import Setup
from ringmaster.bench.transmit_setups import flooding, led
from ringmaster.places import find_program
from ringmaster.programs.cores import cores
from ringmaster.report.conditions import core_to_core_ns, stall_floor

pytestmark = pytest.mark.usefixtures("root")

LOADS: list[Load] = [Replayed(96, 12), Replayed(96, 1, queues=16), elettra(), single({"target_packets": 0})]


def check(program: str, *config: Path) -> str:
    """What it says of a configuration that it takes."""
    done = subprocess.run([find_program(program), "check", *config], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
@pytest.mark.parametrize("turn_rate_hz", [0.0, 1_157_000.0])
def test_the_server_takes_the_configuration_of_every_load(load: Load, turn_rate_hz: float, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    config.write_text(load.server(Link(tmp_path, "bench-test", *cores()), turn_rate_hz))
    check("ringmaster-server", config)


@pytest.mark.parametrize("chain", ["low_latency", "both"])
@pytest.mark.parametrize("instruments", [1, 512])
def test_the_server_takes_the_configuration_of_every_measurement(instruments: int, chain: str, tmp_path: Path) -> None:
    config = tmp_path / "measure.yaml"
    config.write_text(Setup(instruments, chain, 1 << 14).configuration())
    check("ringmaster-server", config)


@pytest.mark.parametrize("load", [elettra(), single()], ids=lambda load: load.name)
def test_the_virtual_ring_takes_its_configuration(load: Ring, tmp_path: Path) -> None:
    arguments = load.sender(Link(tmp_path, "bench-test", *cores()), 0.0)
    said = check("ringmaster-instruments", *map(Path, arguments[1:3]))
    assert f"{1.157 * load.packets_per_turn:.6g} Mpps" in said


def test_a_replay_is_sent_and_summed_up(tmp_path: Path) -> None:
    link = Link(tmp_path, "bench-test", *cores())
    arguments = Replayed(8, 12).sender(link, 1000.0)
    arguments[arguments.index("memif")] = "null"
    where = arguments.index("--socket")
    command = [find_program("ringmaster-instruments"), *arguments[:where], *arguments[where + 2 :], "--turns", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert '"sent": 8000' in done.stdout


def test_the_machine_can_be_looked_at() -> None:
    floor = stall_floor(0.05, cores())
    assert floor.tsc_hz > 1e8
    assert floor.longest_us >= 0
    if cores()[0] != cores()[1]:
        assert core_to_core_ns(*cores()) > 0


@pytest.mark.parametrize(("chains", "supplies"), [(96, 10), (1, 1), (18, 8)])
def test_the_server_takes_what_it_is_to_send(chains: int, supplies: int, tmp_path: Path) -> None:
    for number, make in enumerate((flooding, led)):
        config = tmp_path / f"{number}.yaml"
        config.write_text(make("bench-test", tmp_path / "supplies.sock", cores()[0], chains, supplies))
        check("ringmaster-server", config)


@pytest.mark.parametrize("variant", latency_setups.VARIANTS, ids=lambda variant: variant.name)
def test_both_ends_take_what_the_latency_test_runs(variant: latency_setups.Variant, tmp_path: Path) -> None:
    config, ring = tmp_path / "server.yaml", tmp_path / "ring.yaml"
    config.write_text(latency_setups.server("bench-test", tmp_path, cores()[1], 200_000.0))
    ring.write_text(latency_setups.ring(cores()[0], variant))
    assert "1 supplies" in check("ringmaster-instruments", config, ring)
    assert "square sets 1" in " ".join(check("ringmaster-server", config).split())


def run_bench(*arguments: str) -> Any:
    """Its JSON."""
    return ringmaster_json("bench", *arguments, "--json")


def test_parameters_are_measured() -> None:
    said = run_bench("parameters", "--windows", "1", "--seconds", "0.1")
    figures = [said["read_ns"], said["write_ns"]]
    if cores()[0] != cores()[1]:
        figures += [said["visible_ratio"] or said["data"]["windows"][0]["visible"]["ratio"]["median"], said["put_ns"]]
    assert all(figure > 0 for figure in figures), said
    assert said["pva_get_ns"] or any("p4p" in note for note in said["notes"])


@again_if_starved
def test_setpoints_are_measured() -> None:
    if cores()[0] == cores()[1]:
        pytest.skip("needs two cores, a sender on one and a receiver on the other")
    said = run_bench("setpoints", "--windows", "1", "--seconds", "0.1")
    assert said["guard.vector_ns"] > 0
    tables = said["data"]["tables"]
    assert {row["peer"] for row in tables["rate"]} >= {"ringmaster", "rows"}, said["notes"]
    assert all(row["rate_pps"] > 0 for row in tables["rate"])
    assert {row["chains"] for row in tables["latency"]} == {1, 18}, said["notes"]
    assert all(row["rows"] > 0 and row["sent_ns"]["p50"] > 0 for row in tables["latency"])


@again_if_starved
def test_latency_is_measured() -> None:
    if cores()[0] == cores()[1]:
        pytest.skip("needs two cores, the ring on one and the server on the other")
    said = run_bench("latency", "--seconds", "1", "--turn-rate", "100000")
    added, source = said["data"]["runs"]
    assert (added["variant"], source["variant"]) == ("added", "source")
    for run in (added, source):
        assert run["all"]["count"] > 0, said["notes"]
        assert 0 < run["all"]["least"] <= run["all"]["median"] <= run["all"]["most"]
        assert run["sent_ns"]["count"] > 0
    quiet = [run["undisturbed"] for run in (added, source)]
    if all(figures and figures["count"] >= 10 for figures in quiet):
        assert quiet[0]["median"] < quiet[1]["median"], "a slow supply takes longer than one that follows at once"
    assert [chart["title"] for chart in said["charts"]][1:3] == ["added: the step", "added: histogram"]
