# SPDX-License-Identifier: Apache-2.0
"""Where the programs are that tests of explanations run."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # the tests' own modules, whatever import mode pytest runs in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def programs() -> Iterator[None]:
    """Those of the checkout, unless somebody says otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        if "RINGMASTER_LIBEXEC" not in os.environ:
            patch.setenv("RINGMASTER_LIBEXEC", str(ROOT / "build/libexec"))
        yield
