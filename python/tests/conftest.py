# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a root for workspaces, and owners that end with the test."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the tests' own helper, whatever import mode pytest runs in

from fabric import Owner, Spec

MakeOwner = Callable[..., Owner]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty root of workspaces, found by everything under test."""
    monkeypatch.setenv("RINGMASTER_WORKSPACES", str(tmp_path))
    return tmp_path


@pytest.fixture
def make_owner(root: Path) -> Iterator[MakeOwner]:
    """Makes owners of segments in the workspace "demo"; they die with the test."""
    owners: list[Owner] = []

    def make(objects: Sequence[Spec] = (), workspace: str = "demo", **more: object) -> Owner:
        owners.append(Owner(root / workspace, objects, **more))  # type: ignore[arg-type]
        return owners[-1]

    yield make
    for owner in owners:
        owner.die()
