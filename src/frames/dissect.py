# SPDX-License-Identifier: Apache-2.0
"""What tshark's dissectors find in the captures beside the vectors; for the tests that compare them."""

import os
import subprocess
import tempfile
from pathlib import Path

VECTORS = Path(__file__).resolve().parent / "vectors"


def vectors(name: str) -> list[dict[str, str]]:
    """The blocks of a file: key to value."""
    blocks = (VECTORS / name).read_text().split("\n\n")
    lines = [[line for line in block.splitlines() if not line.startswith("#")] for block in blocks]
    return [dict([*line.split(" ", 1), ""][:2] for line in block) for block in lines if block]


def tshark(*arguments: str) -> str:
    """What it prints, without anybody's own preferences."""
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home}
        command = ["tshark", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def dissected(name: str, fields: list[str], *options: str) -> list[dict[str, list[str]]]:
    """One dictionary per packet of a capture: tshark's field name to its values."""
    chosen = [word for field in fields for word in ("-e", field)]
    rows = tshark("-r", str(VECTORS / name), *options, "-T", "fields", *chosen).splitlines()
    values = [[value.split(",") if value else [] for value in row.split("\t")] for row in rows]
    return [dict(zip(fields, row, strict=True)) for row in values]
