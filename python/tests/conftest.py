# SPDX-License-Identifier: Apache-2.0
"""What the tests share: a root for workspaces, and owners that end with the test."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from interrupts import hear_interrupts

sys.path.insert(0, str(Path(__file__).parent))  # the tests' own helper, whatever import mode pytest runs in

from fabric import Owner, Spec

if TYPE_CHECKING:
    from postmortem_memory import Machine

hear_interrupts()

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


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns of a test of the post-mortem may come late, on a host that is starved."""
    monkeypatch.setattr("ringmaster.postmortem.capture.GRACE_NS", 60 * 10**9)


@pytest.fixture
def machine(make_owner: MakeOwner) -> "Machine":
    """A machine in memory with 3000 turns of beam."""
    from postmortem_memory import Machine

    made = Machine(make_owner)
    made.run(3000)
    return made
