# SPDX-License-Identifier: Apache-2.0
"""What tshark says of capture files."""

import subprocess
from pathlib import Path

from harness import TIMEOUT_S

WARNING = 0x600000
"""Of tshark's expert notes: from this severity on."""
FIELDS = (
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "frame.protocols",
    "ip.ttl",
    "_ws.malformed",
    "_ws.expert.severity",
)


def read_without_warning(file: Path) -> list[dict[str, str]]:
    """Fields of each frame: all are whole, in order of time, and none is worth a warning."""
    done = subprocess.run(
        ["tshark", "-r", str(file), "-T", "fields", *(word for name in FIELDS for word in ("-e", name))],
        capture_output=True,
        text=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    said = [line for line in done.stderr.splitlines() if "Running as user" not in line]
    assert said == []
    frames = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]
    times = [float(frame["frame.time_epoch"]) for frame in frames]
    assert times == sorted(times)
    for frame in frames:
        assert frame["_ws.malformed"] == ""
        assert frame["frame.len"] == frame["frame.cap_len"]
        assert all(int(severity) < WARNING for severity in frame["_ws.expert.severity"].split(",") if severity)
    return frames
