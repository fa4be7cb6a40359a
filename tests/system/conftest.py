# SPDX-License-Identifier: Apache-2.0
"""What the system tests share: a root of their own for workspaces, and a link between two network namespaces."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from interrupts import hear_interrupts

sys.path.append(str(Path(__file__).parent))  # the tests' own helper, whatever import mode pytest runs in
sys.path.append(str(Path(__file__).parents[2] / "python/tests"))  # clients of gateways

from bench_runs import check_folders_gone, watched
from harness import VethPair, veth_pair

hear_interrupts()


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """An empty root of workspaces in shared memory, found by everything that the tests start."""
    with pytest.MonkeyPatch.context() as patch:
        path = Path(tempfile.mkdtemp(prefix="ringmaster-test-", dir="/dev/shm"))
        patch.setenv("RINGMASTER_WORKSPACES", str(path))
        try:
            yield path
        finally:
            shutil.rmtree(path)


@pytest.fixture(scope="module")
def link() -> Iterator[VethPair]:
    """A veth pair between two network namespaces, or a reason why there is none."""
    with veth_pair() as pair:
        yield pair


@pytest.fixture
def nothing_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All that the test starts has ended with it, and has taken its folders along."""
    with watched() as (_, environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        yield
        check_folders_gone(environment)
