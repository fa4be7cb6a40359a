# SPDX-License-Identifier: Apache-2.0
"""Every example, on a small server and its virtual ring, or on a short simulation."""

import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S, ringmaster, wait_for

import ringmaster as package
from ringmaster.places import CONFIGS
from ringmaster.simulation import Simulation, simulate
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual import ring


@pytest.fixture(scope="module")
def live(root: Path) -> Iterator[ring.VirtualRing]:
    with ring.start(40_000, naps=True) as running:
        wait_for(lambda: running.ws.streams["bpm01/fast"].head, "the first records")
        yield running


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=10 * TIMEOUT_S)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def test_orbits_in_python_and_in_c(live: ring.VirtualRing) -> None:
    lines = run(sys.executable, "examples/orbit_rms.py", "demo", "--prints", "2", "--lane", "y1").splitlines()
    assert [bool(re.fullmatch(r"turn \d+: \d+\.\d nm RMS", line)) for line in lines] == [True, True]
    line = run("build/examples/orbit_rms", "demo", "1", "turn", "y1")
    assert re.fullmatch(r"turn \d+ +7 of 7 BPMs  y1 RMS +\d+\.\d+ nm\n", line)


def test_a_float_is_not_read_as_an_integer(live: ring.VirtualRing) -> None:
    """Of one turn, as they have other types: i32 at full rate, f32 filtered."""
    for rate in ("turn", "fast"):
        line = run("build/examples/orbit_rms", "demo", "1", rate)
        assert 1e3 < float(line.split()[8]) < 1e6, line


@pytest.mark.parametrize("command", [[sys.executable, "examples/bump.py"], ["build/examples/bump"]])
def test_bumps(live: ring.VirtualRing, command: list[str]) -> None:
    with subprocess.Popen([*command, "demo"], cwd=ROOT) as running:
        try:
            wait_for(_has_bump, "the bump's parameters")
            ringmaster("put", "bump/current", "3")
        finally:
            running.kill()


def _has_bump() -> bool:
    with package.attach("demo") as ws:
        return "bump/current" in ws.parameters and bool(ws.parameters["bump/current"].value)


def test_the_spectrum_of_a_loop(tmp_path: Path) -> None:
    with virtual_loop.prepare() as folder:
        for name in ("feedback.yaml", "feedback-ring.yaml"):
            shutil.copy(CONFIGS / name, folder)
        files = (folder / "feedback.yaml", folder / "feedback-ring.yaml")
        options = ("--seconds", "1.2", "--out", tmp_path / "run", "--at", "0.5:feedback/loop=1")
        ringmaster("simulate", *files, "feedback", *options)
    table = run(sys.executable, "examples/loop_spectrum.py", tmp_path / "run", "0.5")
    found = re.search(r"x  line +50 Hz .* ([-\d.]+) dB", table)
    assert found is not None
    assert float(found[1]) > 10


def test_a_table_of_the_shipped_loop(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In a fortieth of the time, of which its figures are none, but whose table is whole."""
    example = runpy.run_path(str(ROOT / "examples/loop_figures.py"))

    def shorter(*names: str | Path, seconds: float, at: Sequence[str], **options: str) -> Simulation:
        settings = [f"{float(time) / 40:g}:{setting}" for time, _, setting in (word.partition(":") for word in at)]
        whole = simulate(*names, seconds=seconds / 40, at=settings, **options)  # type: ignore[arg-type]
        return Simulation(whole.folder, {**whole.summary, "rate_hz": whole.rate_hz / 40})

    monkeypatch.setitem(example["run"].__globals__, "simulate", shorter)
    monkeypatch.setattr(sys, "argv", ["loop_figures.py", "unload"])
    example["main"]()
    rows = capsys.readouterr().out.splitlines()
    assert [row[:4] for row in rows] == ["| pl", "|---", "| x ", "| y "]


def test_what_no_feedback_can_take_away() -> None:
    table = run(sys.executable, "examples/orbit_floor.py", "elettra2_like", "--family", "fast=CF_*")
    assert re.search(r" 72 correctors \(fast\): +-\d+\.\d dB x", table)
