# SPDX-License-Identifier: Apache-2.0
"""What is left behind is found and removed; what lives, and what belongs to others, stays."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import MakeOwner

from ringmaster.cli.main import cli
from ringmaster.programs import remains
from ringmaster.programs.remains import Remains, StillOwned, find_remains, remove_remains, scratch_folder


@pytest.fixture(autouse=True)
def places(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scratch folders of this test alone."""
    folder = tmp_path_factory.mktemp("scratch")
    monkeypatch.setattr(remains, "SHARED_MEMORY", folder / "shm")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(remains, "_dpdk_run_folders", lambda: [folder / "dpdk"])
    return folder


def ended_process() -> int:
    """The number of a process that there was."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_the_workspace_of_a_dead_server_is_found_and_removed(root: Path, make_owner: MakeOwner) -> None:
    make_owner(workspace="dead").die()
    make_owner(workspace="alive")
    (found,) = find_remains()
    assert (found.what, found.path, found.owners) == ("workspace", root / "dead", ("server",))
    assert found.bytes == (root / "dead/server.segment").stat().st_size
    remove_remains(found)
    assert not found.path.exists()
    assert (root / "alive/server.segment").exists()


def test_one_living_owner_keeps_the_whole_workspace(root: Path, make_owner: MakeOwner) -> None:
    make_owner().die()
    make_owner(name="ring")
    assert find_remains() == []
    with pytest.raises(StillOwned, match="ring lives"):
        remove_remains(Remains("workspace", root / "demo", ("server", "ring"), 0))
    assert (root / "demo/server.segment").exists()


def test_a_link_to_what_is_none_of_ours_is_not_followed(root: Path, make_owner: MakeOwner, tmp_path: Path) -> None:
    treasure = tmp_path / "treasure"
    treasure.write_text("gold")
    make_owner().die()
    (root / "demo/evil.segment").symlink_to(treasure)
    for found in find_remains():
        remove_remains(found)
    assert treasure.read_text() == "gold"
    assert not (root / "demo").exists()


def test_folders_of_processes_go_with_them(places: Path) -> None:
    gone = ended_process()
    for name in (f"ringmaster-bench-{gone}-x1y2", f"dpdk/ringmaster-ring-{gone}", f"ringmaster-bench-{os.getpid()}-z"):
        (places / name).mkdir(parents=True)
    (places / "ringmaster-bench-notes").mkdir()  # a person's
    found = find_remains()
    assert {one.path.name for one in found} == {f"ringmaster-bench-{gone}-x1y2", f"ringmaster-ring-{gone}"}
    for one in found:
        remove_remains(one)
    assert {path.name for path in places.glob("ringmaster*")} == {
        f"ringmaster-bench-{os.getpid()}-z",
        "ringmaster-bench-notes",
    }


def test_scratch_folders_are_named_after_their_process(places: Path) -> None:
    with scratch_folder("bench") as name:
        assert remains.OF_A_PROCESS.fullmatch(Path(name).name)
        assert find_remains() == []
    assert not Path(name).exists()


def test_nothing_is_removed_unasked(root: Path, make_owner: MakeOwner) -> None:
    make_owner().die()
    listed = CliRunner().invoke(cli, ["clean", "--list"])
    assert listed.exit_code == 0
    assert f"workspace       {root}/demo  of server" in listed.output
    assert CliRunner().invoke(cli, ["clean"]).exit_code != 0
    assert (root / "demo").exists()
    removed = CliRunner().invoke(cli, ["clean", "--yes"])
    assert removed.output.splitlines()[-1].startswith("removed 1 of 1")
    assert not (root / "demo").exists()
    assert CliRunner().invoke(cli, ["clean"]).output == "nothing was left behind\n"
