# SPDX-License-Identifier: Apache-2.0
"""A screen for windows, without a display: Xvfb, as large as a window of a test."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SIZE = (800, 700)


@contextmanager
def screen() -> Iterator[str]:
    """Its name for DISPLAY. Skips where there is no Xvfb, or no Tk for Python."""
    pytest.importorskip("tkinter", reason="NO TK FOR PYTHON HERE, so windows are not tested: install python3-tk")
    if not shutil.which("Xvfb"):
        pytest.skip("NO XVFB HERE, so windows are not tested: install xvfb")
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", f"{SIZE[0]}x{SIZE[1]}x24", "-nolisten", "tcp"]
    with subprocess.Popen(command, pass_fds=[tells], stderr=subprocess.DEVNULL) as server:
        os.close(tells)
        try:
            number = os.read(told, 16).decode().strip()
            assert number, "Xvfb has ended"
            yield f":{number}"
        finally:
            os.close(told)
            server.terminate()
