# SPDX-License-Identifier: Apache-2.0
"""The files of this repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tracked_files(*suffixes: str) -> list[Path]:
    """What git tracks or would, relative to ROOT, ending in one of the suffixes; all of it when none is given."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    files = sorted({Path(name) for name in listed.split("\0") if name})
    return [file for file in files if (ROOT / file).is_file() and (not suffixes or file.name.endswith(suffixes))]
