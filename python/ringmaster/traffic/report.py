# SPDX-License-Identifier: Apache-2.0
"""What a generator sent and received, for the end of a run without a page."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ringmaster.console import units
from ringmaster.traffic.watch import PortLook

SCHEMA = 1
"""Goes up when a key is taken away or changes its meaning; new keys may come any time."""


def as_json(ports: Sequence[PortLook], seconds: float) -> dict[str, Any]:
    """Counters, settings and flows of each port."""
    return {
        "schema": SCHEMA,
        "seconds": seconds,
        "ports": [
            {
                "name": port.settings.name,
                "counts": dict(port.counts),
                "sent_max": port.sent_max._asdict(),
                "received_max": port.received_max._asdict(),
                "settings": asdict(port.settings),
            }
            for port in ports
        ],
    }


def as_text(ports: Sequence[PortLook], seconds: float) -> list[str]:
    """A few lines for each port."""
    lines = []
    for port in ports:
        counts = port.counts
        told = [f"sent {counts['sent']}", f"received {counts['received']}"]
        told += [f"{name} {counts[name]}" for name in ("refused", "skipped", "late", "foreign") if counts[name]]
        rate = f"{counts['sent'] / seconds:.0f}" if seconds > 0 else units.NOTHING
        lines.append(f"{port.settings.name}: {', '.join(told)} in {seconds:.1f} s ({rate} packets/s sent)")
        for number, flow in enumerate(port.settings.flows):
            times = ", ".join(f"{name} {units.duration_ns(flow.latency_ns[name])}" for name in ("p50", "p99", "max"))
            lines.append(
                f"  flow {number}: sent {flow.sent}, received {flow.received}, lost {flow.lost}, "
                f"duplicate {flow.duplicate}, reordered {flow.reordered}" + (f"; {times}" if flow.received else "")
            )
    return lines
