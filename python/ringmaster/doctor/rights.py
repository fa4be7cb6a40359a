# SPDX-License-Identifier: Apache-2.0
"""What this user may do."""

import re

from ringmaster.doctor.check import HINT, Answer, Check, Look, bad, good, unknown
from ringmaster.doctor.host import Host

NEEDED = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_IPC_LOCK": 14, "CAP_SYS_ADMIN": 21}
"""Bits in the kernel's sets."""


def held(host: Host) -> frozenset[str] | None:
    """Those of NEEDED that this process has."""
    found = re.search(r"^CapEff:\s*([0-9a-fA-F]{1,16})$", host.text("/proc/self/status") or "", re.MULTILINE)
    return None if found is None else frozenset(name for name, bit in NEEDED.items() if int(found[1], 16) >> bit & 1)


def capabilities(look: Look) -> Answer:
    """Of this process."""
    ours = held(look.host)
    if ours is None:
        return unknown()
    missing = [name for name in NEEDED if name not in ours]
    if not missing:
        return good("all that ports need")
    hand = f"Run the server as root, or by a unit of systemd with AmbientCapabilities={' '.join(NEEDED)}."
    return bad(f"without {', '.join(missing)}", "those for ports and large pages", by_hand=hand)


CHECKS = (
    Check(
        "capabilities",
        capabilities,
        HINT,
        "Cards, af_xdp, af_packet and tap ports, and large pages, need them; memif and udp ports need none. This is "
        "about who runs the doctor: run it as who runs the server.",
    ),
)
