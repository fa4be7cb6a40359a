# SPDX-License-Identifier: Apache-2.0
"""Play the model of the standby protocol, and write what it did: a trace for each seed, SEED.txt.

    python src/standby/traces/make_traces.py                    the traces that are kept here
    python src/standby/traces/make_traces.py --into DIR 7 8     others

Needs `spin` (Debian's package of that name). test_standby_trace.c says what the lines mean, and plays them on the core.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODEL = HERE.parent / "model.pml"
KEPT = (3, 6, 20, 39)
"""Seeds of the traces that are kept: each has take-overs, and together they have all reasons to begin."""
FAULTS = 12
LINE = re.compile(r"[SROCAKW]( \d+)*")


def play(seed: int) -> str:
    """What the model does when it draws from this seed, as the lines of a trace."""
    command = ["spin", "-DTRACE", f"-DFAULTS={FAULTS}", "-T", f"-n{seed}", str(MODEL)]
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE).stdout
    lines = [line.strip() for line in said.splitlines()]
    played = f"# make_traces.py: spin -DTRACE -DFAULTS={FAULTS} -T -n{seed} model.pml"
    head = f"# SPDX-License-Identifier: Apache-2.0\n{played}\n"
    return head + "".join(line + "\n" for line in lines if LINE.fullmatch(line))


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(description="Play the model of the standby protocol.")
    parser.add_argument("--into", type=Path, default=HERE, help="folder of the traces")
    parser.add_argument("seed", type=int, nargs="*", default=list(KEPT), help="from which the model draws")
    arguments = parser.parse_args()
    for seed in arguments.seed:
        (arguments.into / f"{seed}.txt").write_text(play(seed))


if __name__ == "__main__":
    main()
