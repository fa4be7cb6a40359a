# SPDX-License-Identifier: Apache-2.0
"""tools/dependencies asks Debian for what is missing, and for nothing else."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from repository import ROOT

FAKES = {
    "id": "echo 1000",
    "sudo": 'exec "$@"',
    "dpkg-query": 'case "$FAKE_INSTALLED" in *" $3 "*) printf installed ;; *) exit 1 ;; esac',
    "apt-get": 'echo "$DEBIAN_FRONTEND $*" >> "$FAKE_LOG"; case "$*" in *--simulate*) exit "$FAKE_STALE" ;; esac',
}


def packages(group: str) -> list[str]:
    """The packages of one group."""
    lines = (line.split() for line in (ROOT / "tools/packages.txt").read_text().splitlines())
    return [fields[1] for fields in lines if fields and fields[0] == group]


def calls(tmp_path: Path, installed: list[str], *, stale: bool = False) -> list[str]:
    """What `tools/dependencies build` asks of apt-get on a pretended machine."""
    for name, body in FAKES.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    log.touch()
    environment = os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "FAKE_INSTALLED": f" {' '.join(installed)} ",
        "FAKE_STALE": "100" if stale else "0",
        "FAKE_LOG": str(log),
    }
    subprocess.run([ROOT / "tools/dependencies", "build"], env=environment, check=True)
    return log.read_text().splitlines()


def test_nothing_missing_asks_nothing(tmp_path: Path) -> None:
    assert calls(tmp_path, packages("build")) == []


@pytest.mark.parametrize("stale", [False, True])
def test_what_is_missing_is_installed(tmp_path: Path, *, stale: bool) -> None:
    wanted = packages("build")
    made = calls(tmp_path, wanted[2:], stale=stale)
    assert any(call.endswith(" update") for call in made) == stale
    assert made[-1] == f"noninteractive -qq install --no-install-recommends --yes {wanted[0]} {wanted[1]}"
