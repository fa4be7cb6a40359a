# SPDX-License-Identifier: Apache-2.0
"""How much memory on large pages a configuration takes: `ringmaster-server check` knows its rings."""

import re
import subprocess
from pathlib import Path

from ringmaster.doctor import cpu_list
from ringmaster.doctor.host import Host
from ringmaster.places import ProgramNotFound, find_program

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
BASE_BYTES = 64 << 20
"""Packet buffers without cards."""
CARD_BYTES = 256 << 20
"""Packet buffers of a card with several queues."""
LONGEST_S = 20.0


def huge_bytes(config: Path, host: Host, cards: int) -> int:
    """Rings and packet buffers; 0 where the program is not there, or has something to say against the configuration."""
    try:
        check = [find_program("ringmaster-server"), "check", str(config)]
        if host.online:  # isolated cores are in no process's mask that does not ask
            check = ["taskset", "-c", cpu_list.write(host.online), *check]
        done = subprocess.run(check, capture_output=True, text=True, check=False, timeout=LONGEST_S)
    except (ProgramNotFound, OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r"^streams: [0-9]+, ([0-9.]+) ([KMG]iB) of shared memory$", done.stdout, re.MULTILINE)
    return int(float(found[1]) * UNITS[found[2]]) + BASE_BYTES + cards * CARD_BYTES if found else 0
