# SPDX-License-Identifier: Apache-2.0
"""The model of the standby protocol is checked, can fail, and plays as the core does.

`spin` looks at each state that two faults at any moments can lead to. A model without one of its rules must fail, so
that the check says something. What the model plays from a seed, the core of the server plays too.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STANDBY = ROOT / "src/standby"
TRACES = STANDBY / "traces"
PLAYER = ROOT / os.environ.get("BUILD_DIR", "build") / "src/standby/test_standby_trace"
MUTANTS = {
    "NO_CONFIRM": "divided",
    "NO_PARITY": "term",
    "NO_SILENCE": "gap",
    "NO_RAISE": "role",
    "NO_BEGIN": "role",
    "NO_VAIN": "term",
}
"""Rule that is left out → what an assertion that fails then speaks of."""

pytestmark = pytest.mark.skipif(shutil.which("spin") is None, reason="spin is not installed (Debian's package spin)")


def verify(folder: Path, optimisation: str, *macros: str) -> str:
    """What the exhaustive search of the model says, compiled in `folder`."""
    subprocess.run(["spin", *macros, "-a", str(STANDBY / "model.pml")], check=True, cwd=folder, capture_output=True)
    compiler = ["cc", optimisation, "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"]
    subprocess.run(compiler, check=True, cwd=folder, capture_output=True)
    return subprocess.run(["./pan", "-m100000"], check=True, cwd=folder, capture_output=True, text=True).stdout


def make_traces(folder: Path, *seeds: int) -> list[Path]:
    """The model's traces from these seeds."""
    maker = [sys.executable, str(TRACES / "make_traces.py"), "--into", str(folder), *map(str, seeds)]
    subprocess.run(maker, check=True)
    return [folder / f"{seed}.txt" for seed in seeds]


def test_two_faults_break_nothing(tmp_path: Path) -> None:
    said = verify(tmp_path, "-O2")
    assert "errors: 0" in said, said
    assert "too small" not in said
    stored = re.search(r"(\d+) states, stored", said)
    assert stored is not None
    assert int(stored[1]) > 1_000_000


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_missing_rule_is_found(mutant: str, tmp_path: Path) -> None:
    # Most fail within a second of search, and to compile it well takes seven. The try in vain takes long to find.
    said = verify(tmp_path, "-O2" if mutant == "NO_VAIN" else "-O0", f"-D{mutant}")
    violated = re.search(r"assertion violated (.*)", said)
    assert violated is not None, said
    assert MUTANTS[mutant] in violated[1]


def test_kept_traces_are_fresh(tmp_path: Path) -> None:
    kept = sorted(TRACES.glob("*.txt"))
    assert len(kept) >= 4
    for fresh in make_traces(tmp_path, *(int(trace.stem) for trace in kept)):
        assert fresh.read_text() == (TRACES / fresh.name).read_text(), "run src/standby/traces/make_traces.py"


def test_the_core_plays_what_the_model_plays(tmp_path: Path) -> None:
    traces = make_traces(tmp_path, *range(101, 126))
    played = subprocess.run([str(PLAYER), *map(str, traces)], capture_output=True, text=True)
    assert played.returncode == 0, played.stdout + played.stderr
