# SPDX-License-Identifier: Apache-2.0
"""A program written against Elettra 2.0's digital twin, on our virtual ring, through the file shipped for it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gateway_clients import free_ports
from harness import RING_CORE, ROOT, SERVER_CORE, TIMEOUT_S, server, unique_name, wait_for
from tango_database import tango_database

from ringmaster import attach
from ringmaster.programs.program import Program, attach_to
from ringmaster.twin import Twin, load_lattice
from ringmaster.twin.response import orbit_response

pytest.importorskip("tango", reason="pytango is not installed: `make gateways` installs it")
pytestmark = pytest.mark.skipif(
    RING_CORE == SERVER_CORE, reason="ONE CORE HERE: the virtual ring needs one, and its server another"
)

TOOL = Path(__file__).with_name("commissioning_tool.py")
CORRECTOR, ELEMENT = "ch_s03.01", "CL_S03_01"
MM = 1e3


@dataclass
class Commissioned:
    """A virtual ring with its server, running."""

    name: str
    running: Program


def adapted(file: str, folder: Path, name: str, core: int) -> Path:
    """A shipped file with a workspace, socket and core of this test's own."""
    text = (ROOT / "configs" / file).read_text().replace("/run/ringmaster", str(folder))
    text = re.sub(r"^workspace: .*$", f"workspace: {name}", text, flags=re.MULTILINE)
    path = folder / file
    path.write_text(re.sub(r"\bcore: \d+", f"core: {core}", text))
    return path


@pytest.fixture(scope="module")
def ring(root: Path) -> Iterator[Commissioned]:
    """The one that is shipped."""
    name = unique_name("commissioning")
    config = adapted("commissioning.yaml", root, name, SERVER_CORE)
    overlay = adapted("commissioning-ring.yaml", root, name, RING_CORE)
    with server(config) as running:
        attach_to(name, running).close()
        with Program("ringmaster-instruments", "run", config, overlay) as instruments:
            attach_to(name, running, ("server", "ring")).close()
            with attach(name) as ws:
                wait_for(lambda: ws.streams["bpm168/turn"].head, lambda: f"turns: {running.words} {instruments.words}")
                supply = ws.supplies["sr/ps/clx_01"]
                wait_for(lambda: supply.words == "good", lambda: f"the chains to join: {supply.words}")
            yield Commissioned(name, running)


@contextmanager
def gateway(name: str, variables: Mapping[str, str], *more: str) -> Iterator[str]:
    """Runs it meanwhile; what it said when it was ready."""
    words = ("gateway", "tango", str(ROOT / "configs/gateways/elettra2-tango.yaml"), "-w", name, *more)
    command = [sys.executable, "-u", "-m", "ringmaster", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | variables) as running:
        assert running.stdout is not None
        try:
            yield running.stdout.readline()
            assert running.poll() is None
        finally:
            running.terminate()
            running.wait(TIMEOUT_S)


def tool(pattern: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """What the program finds."""
    command = [sys.executable, str(TOOL), pattern, CORRECTOR]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | variables, timeout=6 * TIMEOUT_S
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(found: Mapping[str, Any]) -> None:
    """All that the program needs is there, and does to the beam what the lattice says."""
    measured = np.array(found["column"])
    assert measured.shape == (2, 168)
    assert np.corrcoef(measured[0], expected())[0, 1] > 0.9
    assert 0.6 < measured[0].std() / expected().std() < 1.6
    assert measured[1].std() < 0.3 * measured[0].std()
    assert found["quadrupole"] == pytest.approx(1.001)
    assert (found["frequency"], found["voltage"]) == (pytest.approx(499.654, abs=1e-3), 2.0)
    assert found["injection"]["shape"] == [168, 1000]
    assert found["injection"]["first_rms"] > 0.1
    assert found["injection"]["mode"] == 3
    assert "not writable" in found["sextupole"]
    assert "expected 1 (turns after an injection) or 3 (closed orbit)" in found["mode"]
    assert "above the maximum authorized" in found["too_much"]
    assert found["states"] == ["ON", "ON", "ON"]
    assert found["unit"] == "mm"


def expected() -> "np.ndarray[Any, np.dtype[np.float64]]":
    """The column of the lattice without errors, mm/rad."""
    lattice = load_lattice("elettra2_like")
    twin = Twin(lattice)
    twin.enable_6d()
    steerer = (int(lattice.find(ELEMENT)[0]), "x")
    response = orbit_response(twin, lattice.get_bpms(), [steerer])
    column: np.ndarray[Any, np.dtype[np.float64]] = response[0, :, 0] * MM
    return column


def test_it_runs_without_a_database(ring: Commissioned) -> None:
    (port,) = free_ports(1)
    with gateway(ring.name, {}, "--port", str(port)) as words:
        assert "939 devices with" in words
        found = tool(f"tango://127.0.0.1:{port}/%s#dbase=no", {})
    check(found)


def test_it_finds_the_magnets_in_a_database(ring: Commissioned, tmp_path: Path) -> None:
    with tango_database(tmp_path) as database:
        variables = {"TANGO_HOST": database.host}
        with gateway(ring.name, variables, "--address", "127.0.0.1") as words:
            assert f"Ringmaster/{ring.name} in the database of" in words
            found = tool("%s", variables)
    check(found)
    assert len(found["magnets"]) == 936
    kinds = {name.removeprefix("sr/magnet/").partition("_")[0] for name in found["magnets"]}
    assert kinds == {"ch", "cv", "qf", "qd", "sf", "sd", "sh", "qab"}
