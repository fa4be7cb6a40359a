# SPDX-License-Identifier: Apache-2.0
"""What tests of the ranking of sources share: where programs and the trial are."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # the tests' own modules, whatever import mode pytest runs in

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def programs() -> Iterator[None]:
    """Those of the checkout, unless the environment names others."""
    with pytest.MonkeyPatch.context() as patch:
        if "RINGMASTER_LIBEXEC" not in os.environ:
            patch.setenv("RINGMASTER_LIBEXEC", str(ROOT / "build/libexec"))
        yield
