# SPDX-License-Identifier: Apache-2.0
"""tools/unpack_packages: what it does on pretended machines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from repository import ROOT

FAKES = {
    "sudo": 'exec "$@"',
    "dpkg": 'mkdir -p "$3/usr/lib"; cp "$2" "$3/usr/lib"',
    "apt-get": """
case "$*" in
*update*) touch "$FAKE/updated"; exit 0 ;;
esac
[ -e "$FAKE/never" ] && { echo "E: Unable to fetch some archives" >&2; exit 100; }
[ -e "$FAKE/stale" ] && [ ! -e "$FAKE/updated" ] && exit 100
for word; do case $word in Dir::Cache::archives=*) echo content > "${word#*=}/tango-db.deb" ;; esac; done
""",
}


def unpack(tmp_path: Path, machine: str = "") -> subprocess.CompletedProcess[str]:
    """Runs it on such a machine."""
    for name, body in FAKES.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    if machine:
        (tmp_path / machine).touch()
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "FAKE": str(tmp_path)}
    command: list[str | Path] = [ROOT / "tools/unpack_packages", tmp_path / "into", "tango"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)


@pytest.mark.parametrize("machine", ["", "stale"])
def test_packages_are_unpacked(tmp_path: Path, machine: str) -> None:
    unpack(tmp_path, machine)
    assert (tmp_path / "into/usr/lib/tango-db.deb").read_text() == "content\n"
    assert sorted(path.name for path in (tmp_path / "into").iterdir()) == ["made", "usr"]
    assert (tmp_path / "updated").exists() == (machine == "stale")


def test_packages_that_cannot_be_had_are_told_and_nothing_fails(tmp_path: Path) -> None:
    said = unpack(tmp_path, "never")
    assert "Not to be had: E: Unable to fetch some archives; what needs these packages is not tested" in said.stderr
    assert "tango-db" in said.stderr
    assert not (tmp_path / "into/made").exists()
