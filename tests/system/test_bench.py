# SPDX-License-Identifier: Apache-2.0
"""What the bench makes for other programs is what they take."""

import subprocess
from pathlib import Path

import pytest

from ringmaster.bench.conditions import core_to_core_ns, stall_floor
from ringmaster.bench.loads import Link, Load, Replayed, Ring, elettra, single
from ringmaster.bench.measure import Setup
from ringmaster.demo import cores
from ringmaster.programs import find_program

pytestmark = pytest.mark.usefixtures("root")

LOADS: list[Load] = [Replayed(96, 12), Replayed(96, 1, queues=16), elettra(), single({"target_packets": 0})]


def check(program: str, config: Path) -> str:
    """What it says of a configuration that it takes."""
    done = subprocess.run([find_program(program), "check", config], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
@pytest.mark.parametrize("turn_rate_hz", [0.0, 1_157_000.0])
def test_the_server_takes_the_configuration_of_every_load(load: Load, turn_rate_hz: float, tmp_path: Path) -> None:
    config = tmp_path / "server.yaml"
    config.write_text(load.server(Link(tmp_path, "bench-test", *cores()), turn_rate_hz))
    check("ringmaster-server", config)


@pytest.mark.parametrize("chain", ["prompt", "both"])
@pytest.mark.parametrize("instruments", [1, 512])
def test_the_server_takes_the_configuration_of_every_measurement(instruments: int, chain: str, tmp_path: Path) -> None:
    config = tmp_path / "measure.yaml"
    config.write_text(Setup(instruments, chain, 1 << 14).configuration())
    check("ringmaster-server", config)


@pytest.mark.parametrize("load", [elettra(), single()], ids=lambda load: load.name)
def test_the_virtual_ring_takes_its_configuration(load: Ring, tmp_path: Path) -> None:
    arguments = load.sender(Link(tmp_path, "bench-test", *cores()), 0.0)
    said = check("ringmaster-instruments", Path(arguments[1]))
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
