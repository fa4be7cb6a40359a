# SPDX-License-Identifier: Apache-2.0
"""Room for packets in the kernel's sockets: for ports of kind udp and af_packet, and for peers in measurements."""

from collections.abc import Callable

from ringmaster.doctor.check import HINT, Answer, Check, Look, bad_sysctl, good, unknown

BUFFER_BYTES = 16_777_216
BACKLOG_PACKETS = 250_000


def _at_least(name: str, least: int) -> Callable[[Look], Answer]:
    def ask(look: Look) -> Answer:
        now = look.host.number(f"/proc/sys/{name.replace('.', '/')}")
        if now is None:
            return unknown()
        return good(str(now)) if now >= least else bad_sysctl(str(now), f"{least} or more", name, least)

    return ask


SOURCE = "FPGA slides, page 18"
WHY_BUFFER = "A socket's buffer must hold what comes while its program does not run: 16 MiB are 13 ms of 10 Gb/s."
CHECKS = (
    Check("rmem-max", _at_least("net.core.rmem_max", BUFFER_BYTES), HINT, WHY_BUFFER, SOURCE),
    Check("wmem-max", _at_least("net.core.wmem_max", BUFFER_BYTES), HINT, "The same for what is sent.", SOURCE),
    Check(
        "backlog",
        _at_least("net.core.netdev_max_backlog", BACKLOG_PACKETS),
        HINT,
        "Packets between interrupt and protocol: what is above this is dropped without a word.",
        SOURCE,
    ),
)
