# SPDX-License-Identifier: Apache-2.0
"""Windows that nobody measured, for the tests of what is made of them."""

from ringmaster.bench.receivers import Received


def window(peer: str = "ringmaster", rate_pps: float = 10e6, **more: object) -> Received:
    """One that counts, near and without loss, unless told otherwise."""
    fields: dict[str, object] = {
        "peer": peer,
        "load": "106-byte frames of 8",
        "rate_pps": rate_pps,
        "turn_rate_hz": 1e5,
        "core_to_core_ns": 65.0,
        "distance": "near",
        "sender_share": 1.0,
        "receiver_share": 1.0,
        "lost": 0 if peer == "ringmaster" else None,
        "faults": {} if peer == "ringmaster" else None,
        "busy_share": 0.9,
        "busy_ns_per_packet": 1e9 / rate_pps,
        "busy_cycles_per_packet": 2.6e9 / rate_pps,
        "latency_ns": None,
        "longest_wait_us": 1000.0,
    }
    return Received(**(fields | more))  # type: ignore[arg-type]
