# SPDX-License-Identifier: Apache-2.0
"""Made from src/fabric/counters.toml by tools/generate_counters.py: change it there."""

from typing import NamedTuple


class Counter(NamedTuple):
    """One counter of a set."""

    name: str
    kind: str
    unit: str
    text: str


SET_NAMES: dict[int, str] = {
    1: "port",
    2: "stream",
    3: "core",
    4: "clock",
    5: "sender",
}

COUNTERS: dict[str, tuple[Counter, ...]] = {
    "port": (
        Counter(
            "received",
            "count",
            "packets",
            "frames or datagrams that the port gave to the receive role",
        ),
        Counter(
            "decoded",
            "count",
            "packets",
            "whole datagrams of a configured instrument, handed to its stream",
        ),
        Counter(
            "not_ipv4",
            "count",
            "packets",
            "frames of another protocol: ARP, IPv6, LLDP",
        ),
        Counter(
            "not_udp",
            "count",
            "packets",
            "IPv4 of another protocol: ICMP, TCP, IGMP",
        ),
        Counter(
            "not_our_port",
            "count",
            "packets",
            "UDP to a destination port other than the configured one",
        ),
        Counter(
            "fragment",
            "count",
            "packets",
            "IPv4 fragments; the native format never needs them",
        ),
        Counter(
            "truncated",
            "count",
            "packets",
            "frames shorter than their own headers say",
        ),
        Counter(
            "bad_ip_header",
            "count",
            "packets",
            "IPv4 headers of impossible length or wrong checksum",
        ),
        Counter(
            "bad_udp_checksum",
            "count",
            "packets",
            "UDP checksums that are present and wrong",
        ),
        Counter(
            "too_short",
            "count",
            "packets",
            "UDP payloads shorter than the smallest native datagram",
        ),
        Counter(
            "too_long",
            "count",
            "packets",
            "UDP payloads longer than the largest native datagram",
        ),
        Counter(
            "bad_length",
            "count",
            "packets",
            "UDP payloads that end in the middle of a lane",
        ),
        Counter(
            "bad_magic",
            "count",
            "packets",
            "UDP payloads that are not of the native format",
        ),
        Counter(
            "unknown_version",
            "count",
            "packets",
            "native datagrams of a version this server does not know",
        ),
        Counter(
            "unknown_kind",
            "count",
            "packets",
            "native datagrams of an instrument kind that does not exist",
        ),
        Counter(
            "unknown_instrument",
            "count",
            "packets",
            "native datagrams of an instrument id that is not configured on this port",
        ),
        Counter(
            "unknown_source",
            "count",
            "packets",
            "native datagrams of a configured id from an address that is not configured for it",
        ),
        Counter(
            "wrong_kind",
            "count",
            "packets",
            "native datagrams of a configured id that say they are of another kind",
        ),
        Counter(
            "wrong_lanes",
            "count",
            "packets",
            "native datagrams of a configured id with another number of lanes",
        ),
        Counter(
            "kernel_missed",
            "gauge",
            "packets",
            "dropped before this program saw them, as far as the device tells: full queue, no buffer",
        ),
        Counter(
            "bytes",
            "count",
            "bytes",
            "lengths of what was received, as the port saw them",
        ),
    ),
    "stream": (
        Counter(
            "accepted",
            "count",
            "records",
            "stored as the newest turn",
        ),
        Counter(
            "late",
            "count",
            "records",
            "stored in their place after a newer turn: reordered or delayed",
        ),
        Counter(
            "duplicate",
            "count",
            "records",
            "dropped: a record of that turn was there already",
        ),
        Counter(
            "turn_ahead",
            "count",
            "records",
            "refused: the turn lies above the accepted window around the turn clock",
        ),
        Counter(
            "turn_behind",
            "count",
            "records",
            "refused: the turn lies below the accepted window or before the stream's first",
        ),
        Counter(
            "passed_over",
            "count",
            "turns",
            "turns that the head passed without their record, at that moment",
        ),
        Counter(
            "epochs",
            "count",
            "restarts",
            "times the stream began again because the machine's turn counter restarted",
        ),
        Counter(
            "fast_missing",
            "count",
            "records",
            "inputs that the decimators had to replace by the last value",
        ),
    ),
    "core": (
        Counter(
            "core",
            "gauge",
            "number",
            "CPU number this thread is pinned to",
        ),
        Counter(
            "loops",
            "count",
            "loops",
            "turns of the duty cycle",
        ),
        Counter(
            "busy_loops",
            "count",
            "loops",
            "those in which some role had work",
        ),
        Counter(
            "busy_ticks",
            "count",
            "ticks",
            "TSC ticks spent in turns with work",
        ),
        Counter(
            "idle_ticks",
            "count",
            "ticks",
            "TSC ticks spent in turns without work",
        ),
        Counter(
            "longest_gap_ticks",
            "gauge",
            "ticks",
            "longest time from one turn of the cycle to the next: the machine's stalls are in it",
        ),
        Counter(
            "bursts",
            "count",
            "bursts",
            "bursts received that held at least one packet",
        ),
        Counter(
            "packets",
            "count",
            "packets",
            "packets in them",
        ),
    ),
    "clock": (
        Counter(
            "anchors",
            "count",
            "times",
            "times the clock was set anew: at the first turn, and by each quorum",
        ),
        Counter(
            "quorum_votes",
            "gauge",
            "streams",
            "instruments that agree just now on a turn other than the clock's",
        ),
        Counter(
            "quorum_needed",
            "gauge",
            "streams",
            "instruments that must agree to set the clock anew",
        ),
        Counter(
            "streams_live",
            "gauge",
            "streams",
            "streams whose head follows the clock",
        ),
    ),
    "sender": (
        Counter(
            "sent",
            "count",
            "datagrams",
            "handed to the port, duplicates and corrupted ones included",
        ),
        Counter(
            "dropped",
            "count",
            "datagrams",
            "not sent on purpose: injected loss",
        ),
        Counter(
            "duplicated",
            "count",
            "datagrams",
            "sent twice on purpose",
        ),
        Counter(
            "reordered",
            "count",
            "datagrams",
            "sent after a later turn on purpose",
        ),
        Counter(
            "delayed",
            "count",
            "datagrams",
            "sent late on purpose",
        ),
        Counter(
            "corrupted",
            "count",
            "datagrams",
            "sent with a flipped bit on purpose",
        ),
        Counter(
            "truncated",
            "count",
            "datagrams",
            "sent too short on purpose",
        ),
        Counter(
            "wrong_version",
            "count",
            "datagrams",
            "sent with an unknown version on purpose",
        ),
        Counter(
            "turn_jumps",
            "count",
            "times",
            "jumps of the turn counter made on purpose",
        ),
        Counter(
            "turn_resets",
            "count",
            "times",
            "restarts of the turn counter made on purpose",
        ),
        Counter(
            "waits",
            "count",
            "times",
            "times the link was full and the sender waited, as pause frames would make it",
        ),
        Counter(
            "wait_ticks",
            "count",
            "ticks",
            "TSC ticks spent so",
        ),
        Counter(
            "longest_wait_ticks",
            "gauge",
            "ticks",
            "the longest of them",
        ),
        Counter(
            "turns",
            "count",
            "turns",
            "turns sent",
        ),
        Counter(
            "behind_turns",
            "gauge",
            "turns",
            "turns by which the sender is behind its pace",
        ),
    ),
}
