# SPDX-License-Identifier: Apache-2.0
"""What is seen of the machine while something is measured."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ringmaster.report.conditions import run_times_ns


def test_a_thread_that_has_ended_since_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Path.iterdir

    def with_one_that_has_gone(folder: Path) -> Iterator[Path]:
        yield folder / "4194305"  # there is no such thread
        yield from listed(folder)

    monkeypatch.setattr(Path, "iterdir", with_one_that_has_gone)
    assert set(run_times_ns(os.getpid())) >= {os.getpid()}
    assert 4194305 not in run_times_ns(os.getpid())
