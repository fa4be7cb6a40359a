# SPDX-License-Identifier: Apache-2.0
"""A person without rights, where the common folder of workspaces is root's: a folder of his own, found by name."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import NOBODY, SERVER_CORE, free_udp_port, ringmaster, server, terminate, unique_name

from ringmaster.fabric.workspace import COMMON_ROOT
from ringmaster.programs.program import attach_to

OWN_ROOT = COMMON_ROOT.with_name(f"{COMMON_ROOT.name}-65534")

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="NOT ROOT HERE: nobody can be another user")


@pytest.fixture(scope="module", autouse=True)
def _readable() -> None:
    """A user without rights can read what is to be run."""
    done = subprocess.run([*NOBODY, sys.executable, "-c", "import ringmaster"], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("NOT READABLE HERE: this checkout is not for everybody")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that all can read, and the places of every day, the common one root's."""
    monkeypatch.delenv("RINGMASTER_WORKSPACES", raising=False)
    COMMON_ROOT.mkdir(exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="ringmaster-test-"))
    path.chmod(0o755)
    try:
        yield path
    finally:
        shutil.rmtree(path)
        if OWN_ROOT.is_dir() and not any(OWN_ROOT.iterdir()):
            OWN_ROOT.rmdir()


def test_who_may_not_write_in_the_common_folder_has_one_of_his_own(folder: Path) -> None:
    name, config = unique_name("own"), folder / "server.yaml"
    config.write_text(
        f'workspace: {name}\nports: [{{name: door, kind: udp, address: "127.0.0.1:{free_udp_port()}"}}]\n'
        "instruments: [{name: bpm01, kind: bpm, id: 1, port: door, source: 127.0.0.1}]\n"
        f"roles: [{{role: receive, core: {SERVER_CORE}, ports: [door]}}]\n"
        "buffers: {turn_records: 16384, fast_records: 1024}\n"
    )
    config.chmod(0o644)
    with server(config, prefix=NOBODY) as running:
        with attach_to(str(OWN_ROOT / name), running):
            assert not (COMMON_ROOT / name).exists()
        assert str(OWN_ROOT / name) in ringmaster("ls", "-w", name, prefix=NOBODY).stdout
        ringmaster("get", "-w", name, "server/turn_rate_hz", prefix=NOBODY)
        assert "no server has made a workspace" in ringmaster("ls", "-w", name, expect=3).stderr, "it is not root's"
        (COMMON_ROOT / name).mkdir()
        try:
            for command in (("ls", "-w", name), ("put", "-w", name, "server/turn_rate_hz", "1")):
                said = ringmaster(*command, prefix=NOBODY, expect=3).stderr
                assert f"workspace '{name}' is in two places, {COMMON_ROOT} and {OWN_ROOT}" in said
            with server(config, prefix=NOBODY) as second:
                assert second.wait(60) == 1
                assert f'workspace "{name}" is in two places' in second.words
        finally:
            (COMMON_ROOT / name).rmdir()
        assert terminate(running) == 0
    assert not (OWN_ROOT / name).exists()
