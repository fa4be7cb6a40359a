# SPDX-License-Identifier: Apache-2.0
"""The wheel for readers, in a Python of its own: it reads with the libraries that it brings, and has no programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S

SITE = next((ROOT / ".venv/lib").glob("python3.*/site-packages"))
READS = """
import ringmaster
from ringmaster.places import find_library

owner = ringmaster.Owner("server", "WORKSPACE")
owner.parameter("ramp/rate", 0.5, unit="A/s")
with owner, ringmaster.attach("WORKSPACE") as ws:
    print(ws.parameters["ramp/rate"].read().value)
try:
    ringmaster.Archive("/nowhere")
except ringmaster.ArchiveAbsent:
    print("no archive")
print(*map(find_library, ("libringmaster.so", "libringmaster-archive.so", "libringmaster-twin.so")), sep="\\n")
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an environment with the wheel alone; what it needs of others is that of .venv."""
    top = tmp_path_factory.mktemp("wheel")
    made = [sys.executable, str(ROOT / "tools/make_wheel.py"), str(top / "made")]
    subprocess.run(made, check=True, capture_output=True, timeout=TIMEOUT_S)
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", str(top / "venv")], check=True)
    here = top / "venv/bin/python"
    install = [sys.executable, "-m", "pip", "--python", str(here), "install", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*install, *map(str, (top / "made").glob("*.whl"))], check=True, capture_output=True)
    return here


def test_the_wheel_reads_a_workspace_and_looks_for_archives(python: Path, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "RINGMASTER_LIBEXEC"}
    environment["PYTHONPATH"] = str(SITE)
    script = READS.replace("WORKSPACE", str(tmp_path / "workspace"))
    told = subprocess.check_output([python, "-c", script], text=True, env=environment, cwd=tmp_path, timeout=TIMEOUT_S)
    value, archive, *libraries = told.splitlines()
    assert (value, archive) == ("0.5", "no archive")
    assert all(Path(library).is_relative_to(python.parents[1]) for library in libraries), libraries
