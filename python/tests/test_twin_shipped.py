# SPDX-License-Identifier: Apache-2.0
"""The lattice that comes with us, by its short name."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ringmaster.errors import LatticeAbsent
from ringmaster.twin import load_lattice, shipped

PACKAGE = Path(__file__).parents[1]
NAME = "elettra2_like"
SOURCE = PACKAGE.parent / f"twin/lattices/{NAME}.m"


def ringmaster(*arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Runs the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "ringmaster", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(PACKAGE)} | environment,
    )


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package in no checkout, Python in no prefix that has lattices; a folder for shared data."""
    monkeypatch.setattr(shipped, "CHECKOUT", tmp_path / "checkout")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("XDG_DATA_DIRS", f"{tmp_path}/nothing:{tmp_path}/share")
    return tmp_path / "share/ringmaster/lattices"


def test_it_is_found_in_a_checkout() -> None:
    assert shipped.lattice_path(NAME).samefile(SOURCE)
    assert load_lattice(NAME).name == NAME


def test_it_is_found_where_it_was_installed(elsewhere: Path) -> None:
    elsewhere.mkdir(parents=True)
    shutil.copy(SOURCE, elsewhere)
    assert shipped.lattice_path(NAME) == elsewhere / SOURCE.name
    assert len(load_lattice(NAME)) == len(load_lattice(SOURCE))


@pytest.mark.usefixtures("elsewhere")
def test_an_error_says_that_there_is_none() -> None:
    with pytest.raises(LatticeAbsent, match="none: is it installed"):
        load_lattice(NAME)


def test_a_file_of_this_name_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / NAME).touch()
    assert shipped.lattice_path(NAME) == Path(NAME)
    assert shipped.lattice_path("ring.m") == Path("ring.m")
    assert shipped.lattice_path("folder/ring") == Path("folder/ring")


def test_the_command_takes_the_name() -> None:
    done = ringmaster("twin", NAME, "--json", "--at", "LS_S01_01")
    told = json.loads(done.stdout)
    assert (told["lattice"]["name"], told["is_6d"], len(told["at"])) == (NAME, True, 1)


def test_the_command_names_what_there_is() -> None:
    done = ringmaster("twin", "elettra")
    assert done.returncode == 1
    assert done.stderr == f"ringmaster: elettra is neither a file nor a lattice that comes with Ringmaster ({NAME})\n"


@pytest.mark.parametrize(("begun", "completed"), [("ele", [f"plain,{NAME}", "file,ele"]), ("ring", ["file,ring"])])
def test_the_shell_completes_the_name_and_files(begun: str, completed: list[str]) -> None:
    words = {"_RINGMASTER_COMPLETE": "bash_complete", "COMP_WORDS": f"ringmaster twin {begun}", "COMP_CWORD": "2"}
    assert ringmaster(**words).stdout.split() == completed
