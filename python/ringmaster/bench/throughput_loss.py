# SPDX-License-Identifier: Apache-2.0
"""Where datagrams were lost, of a whole run: all that the sender had to send is received, or in one of the places."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Losses:
    """Datagrams, by place, in the order in which they pass."""

    sender: int = 0
    """Left out on purpose, refused by the kernel or the device, or not sent because the pace could not be held."""
    link: int = 0
    """Sent, and neither received nor counted by the port: what lies between."""
    port: int = 0
    """DPDK's device: it had no free buffer."""
    ring: int = 0
    """The kernel's packet ring or socket buffer was full: the program was too slow."""
    application: int = 0
    """Received, but twice or too late: it does not count."""

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.by_place().values())

    @property
    def on_the_way(self) -> int:
        """All but the sender's own."""
        return self.total - self.sender

    def by_place(self) -> dict[str, int]:
        """Under its name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def _sum(entries: Sequence[Mapping[str, Any]], *names: str) -> int:
    return sum(int(entry[name]) for entry in entries for name in names)


def locate(paced: Sequence[Mapping[str, Any]], received: Mapping[str, Any], instruments: int, polls: bool) -> Losses:
    """Of the last lines of the senders and of the receiver, which counted from the first datagram to the last."""
    sent_links = [link for one in paced for link in one["links"]]
    received_links = received["links"]
    behind = sum(int(one["behind_cycles"]) * instruments * len(one["links"]) for one in paced)
    missing = max(0, _sum(sent_links, "sent") - _sum(received_links, "received"))
    twice = min(missing, _sum(received_links, "duplicate"))
    missed = min(missing - twice, _sum(received_links, "missed"))
    return Losses(
        sender=_sum(sent_links, "dropped", "unsent") + behind,
        link=missing - twice - missed,
        port=missed if polls else 0,
        ring=0 if polls else missed,
        application=twice,
    )
