# SPDX-License-Identifier: Apache-2.0
"""The demonstration's loop at a fraction of its rate, for hosts with few cores: all of its law is slower by as much."""

import re
from pathlib import Path

SLOWER = 10


def make_slow(path: Path, slower: int = SLOWER) -> None:
    """All that is in Hz of a feedback's file is slower, and lines are not for it."""
    text = re.sub(
        r"(integral_hz|crossover_hz): ([\d.]+)", lambda at: f"{at[1]}: {float(at[2]) / slower}", path.read_text()
    )
    path.write_text(re.sub(r"^    resonators: .*\n", "", text, flags=re.MULTILINE))
