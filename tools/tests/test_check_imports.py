# SPDX-License-Identifier: Apache-2.0
"""The order of the Python packages must hold, and must let through what it allows."""

from __future__ import annotations

from pathlib import Path

import pytest
from check_imports import PACKAGE, Arrows, dependencies, load, offences, strangers
from repository import ROOT, tracked_files

ARROWS: Arrows = {"fabric": [], "beam": ["fabric"], "cli": ["fabric", "beam"], "top": ["cli"]}


def found(root: Path, file: str, text: str, arrows: Arrows = ARROWS) -> list[str]:
    """What is wrong in a repository with this file alone."""
    path = PACKAGE / file
    (root / path).parent.mkdir(parents=True)
    (root / path).write_text(text)
    return offences(arrows, root, [path])


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        (
            "fabric/a.py",
            "from ringmaster.beam.tune import find_tune",
            ":1: imports ringmaster.beam; fabric may import none",
        ),
        ("fabric/a.py", "from ringmaster import beam", ":1: imports ringmaster.beam"),
        ("fabric/a.py", "import ringmaster.beam.tune as tune", ":1: imports ringmaster.beam"),
        (
            "beam/a.py",
            "def f():\n    from ringmaster.cli import main",
            ":2: imports ringmaster.cli; beam may import fabric",
        ),
        ("beam/a.py", "from . import tune", ":1: imports by dots"),
        ("new/a.py", "", "does not have: new"),
    ],
)
def test_wrong_import_is_found(tmp_path: Path, file: str, text: str, says: str) -> None:
    problems = found(tmp_path, file, text)
    assert len(problems) == 1
    assert says in problems[0]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("beam/a.py", "from ringmaster.fabric.stream import Stream"),
        ("beam/a.py", "from ringmaster.beam.tune import find_tune"),
        ("fabric/a.py", "from ringmaster.errors import WorkspaceError"),
        ("fabric/a.py", "from ringmaster import __version__"),
        ("fabric/a.py", "from beam import x"),
        ("__main__.py", "from ringmaster.cli.main import main"),
    ],
)
def test_right_import_passes(tmp_path: Path, file: str, text: str) -> None:
    assert found(tmp_path, file, text) == []


def test_circle_of_packages_is_refused(tmp_path: Path) -> None:
    problems = found(tmp_path, "beam/a.py", "", {"fabric": ["beam"], "beam": ["fabric"]})
    assert problems == ["tools/rooms.toml: fabric may import beam, expected only packages that stand above it"]


def test_this_repository_holds_it() -> None:
    assert offences(load(), ROOT, [file for file in tracked_files(".py") if file.is_relative_to(PACKAGE)]) == []


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("import scipy.special", 1),
        ("from scipy.special import logsumexp", 1),
        ("import os, numpy, ruamel.yaml\nfrom ringmaster import errors", 0),
        ("def f() -> None:\n    import scipy", 0),
        ("from __future__ import annotations", 0),
    ],
)
def test_what_not_every_installation_has_is_imported_where_it_is_needed(
    tmp_path: Path, text: str, problems: int
) -> None:
    path = PACKAGE / "beam/a.py"
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).write_text(text)
    assert len(strangers({"numpy", "ruamel"}, tmp_path, [path])) == problems


def test_the_dependencies_are_those_of_the_project() -> None:
    assert {"numpy", "ruamel", "jinja2", "h5py"} < dependencies()
    assert "matplotlib" not in dependencies()
