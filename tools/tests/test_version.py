# SPDX-License-Identifier: Apache-2.0
"""The C library and the Python package carry one version."""

from __future__ import annotations

import re

from repository import ROOT


def test_meson_and_python_agree() -> None:
    meson = re.search(r"version: '([^']+)'", (ROOT / "meson.build").read_text())
    python = re.search(r'__version__ = "([^"]+)"', (ROOT / "python/ringmaster/__init__.py").read_text())
    assert meson is not None
    assert python is not None
    assert meson[1] == python[1]
