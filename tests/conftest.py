# SPDX-License-Identifier: Apache-2.0
"""What all tests that cross rooms share: where the programs are."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session", autouse=True)
def programs() -> Iterator[None]:
    """Those of the checkout, unless the environment names others."""
    with pytest.MonkeyPatch.context() as patch:
        if "RINGMASTER_LIBEXEC" not in os.environ:
            patch.setenv("RINGMASTER_LIBEXEC", str(ROOT / "build/libexec"))
        yield
