# SPDX-License-Identifier: Apache-2.0
"""Write configs/all-keys.yaml and the JSON schemas beside it, from the tables of keys that the parsers have.

The first argument is the program that knows them, build/tools/keys/write_keys. With --check: write nothing, exit 1
when a file differs.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "all-keys": ROOT / "configs/all-keys.yaml",
    "server": ROOT / "configs/schema/server.schema.json",
    "ring": ROOT / "configs/schema/ring.schema.json",
    "virtual-cameras": ROOT / "configs/schema/virtual-cameras.schema.json",
    "events": ROOT / "configs/schema/events.schema.json",
    "record": ROOT / "configs/schema/record.schema.json",
    "fast-archiver": ROOT / "configs/schema/fast-archiver.schema.json",
    "feedback": ROOT / "configs/schema/feedback.schema.json",
    "premortem": ROOT / "configs/schema/premortem.schema.json",
    "tune": ROOT / "configs/schema/tune.schema.json",
    "tunefeedback": ROOT / "configs/schema/tunefeedback.schema.json",
    "sequence": ROOT / "configs/schema/sequence.schema.json",
}


def main() -> int:
    """Write or check; returns the exit status."""
    program = sys.argv[1]
    stale = 0
    for name, path in FILES.items():
        made = subprocess.run([program, name], check=True, capture_output=True, text=True).stdout
        if path.exists() and path.read_text() == made:
            continue
        if "--check" in sys.argv[2:]:
            print(f"{path.relative_to(ROOT)}: not what the schemas say; run `make generate`", file=sys.stderr)
            stale = 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(made)
    return stale


if __name__ == "__main__":
    sys.exit(main())
