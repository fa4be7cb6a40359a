# SPDX-License-Identifier: Apache-2.0
"""What a generator's ports send, as its command `show json` tells it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FrameSettings:
    """One frame: that of `set`, or one of a sequence."""

    size: int
    type: str
    """ "ipv4" or "ipv6"."""
    proto: str
    """ "udp" or "tcp"."""
    pattern: str
    src_mac: str
    dst_mac: str
    src_ip: str
    dst_ip: str
    sport: int
    dport: int
    vlan: int
    tagged: bool
    cos: int
    tos: int
    ttl: int


@dataclass(frozen=True)
class RangeSettings:
    """A field that goes through a range, or is drawn from one, once that is enabled."""

    field: str
    changes: str
    """ "range" or "random"."""
    start: str
    min: str
    max: str
    inc: int


@dataclass(frozen=True)
class FlowFigures:
    """One flow of a port: what became of its stamped frames."""

    template: int
    sent: int
    received: int
    lost: int
    duplicate: int
    reordered: int
    latency_ns: Mapping[str, int]
    """min, p50, p99, p99.9 and max of the way there; all 0 while none has come."""


@dataclass(frozen=True)
class PortSettings:
    """One port: what it is, and what was said of it."""

    name: str
    kind: str
    device: str
    mac: str
    link_up: bool
    sending: bool
    frame: FrameSettings
    pace: str
    """ "percent", "pps" or "max"."""
    rate: float
    line_bits_per_s: float
    count: int
    """0: until it is stopped."""
    burst: int
    features: tuple[str, ...]
    """Those that are enabled, of ``FEATURES``."""
    ranges: tuple[RangeSettings, ...]
    sequence: tuple[FrameSettings, ...]
    mix: tuple[tuple[int, int], ...]
    """Sizes and weights; sent where "imix" is enabled."""
    flows: tuple[FlowFigures, ...]
    capture: str
    """The file; empty where there is none."""
    captured: int
    """Frames in it."""
    source: str
    """What is sent instead of the described frames; empty where that is nothing."""
    asked: str
    """What came of the last ARP request or ping; empty where there was none."""

    @property
    def rate_text(self) -> str:
        """As it is said: "99%", "20000 pps", "max"."""
        if self.pace == "max":
            return "max"
        return f"{self.rate:g}%" if self.pace == "percent" else f"{self.rate:g} pps"


AS_TOLD = (
    *("name", "kind", "device", "mac", "link_up", "sending", "capture", "captured", "source", "asked"),
    *("pace", "rate", "line_bits_per_s", "count", "burst"),
)
"""Members that have their keys' names."""
FEATURES = ("range", "random", "imix", "latency", "process")


def read_settings(answer: Sequence[str]) -> tuple[PortSettings, ...]:
    """All ports, in their order, out of the answer to `show json`."""
    return tuple(map(_port, json.loads("".join(answer))["ports"]))


def _port(told: Mapping[str, Any]) -> PortSettings:
    return PortSettings(
        **{name: told[name] for name in AS_TOLD},
        frame=_frame(told),
        features=tuple(name for name in FEATURES if told[name]),
        ranges=tuple(RangeSettings(**one) for one in told["ranges"]),
        sequence=tuple(map(_frame, told["sequence"])),
        mix=tuple((size, weight) for size, weight in told["mix"]),
        flows=tuple(FlowFigures(**one) for one in told["flows"]),
    )


def _frame(told: Mapping[str, Any]) -> FrameSettings:
    return FrameSettings(**{name: told[name] for name in FrameSettings.__dataclass_fields__})
