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
    3: "path",
    4: "core",
    5: "clock",
    6: "sender",
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
            "frames of another protocol: ARP, IPv6, LLDP; or with more than two VLAN tags",
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
            "IPv4 fragments put by; the one that makes its datagram whole counts as that datagram",
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
            "UDP payloads shorter than their format allows",
        ),
        Counter(
            "too_long",
            "count",
            "packets",
            "UDP payloads longer than their format allows",
        ),
        Counter(
            "bad_length",
            "count",
            "packets",
            "UDP payloads that end in the middle of a lane or of an entry",
        ),
        Counter(
            "bad_magic",
            "count",
            "packets",
            "UDP payloads without the constants of their format",
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
            "datagrams from an address that no instrument of theirs sends from",
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
        Counter(
            "wrong_vlan",
            "count",
            "packets",
            "frames of another VLAN than the port's",
        ),
        Counter(
            "bad_fragment",
            "count",
            "packets",
            "fragments that overlap, contradict or overflow their datagram, which is dropped whole",
        ),
        Counter(
            "reassembled",
            "count",
            "datagrams",
            "made whole out of fragments",
        ),
        Counter(
            "fragment_expired",
            "count",
            "datagrams",
            "given up: a fragment was missing for too long, or newer datagrams needed the room",
        ),
        Counter(
            "records",
            "count",
            "records",
            "in decoded datagrams, handed to streams",
        ),
        Counter(
            "unknown_record",
            "count",
            "records",
            "in decoded datagrams, of an id that is not configured",
        ),
        Counter(
            "set_aside",
            "count",
            "packets",
            "of those that no instrument sent: handed to the slow path",
        ),
        Counter(
            "set_aside_full",
            "count",
            "packets",
            "of those: dropped, because the slow path was behind",
        ),
        Counter(
            "answered",
            "count",
            "packets",
            "ARP requests, pings and IGMP queries that the slow path answered itself",
        ),
        Counter(
            "to_kernel",
            "count",
            "packets",
            "set aside and given to the kernel",
        ),
        Counter(
            "from_kernel",
            "count",
            "packets",
            "sent out for the kernel",
        ),
        Counter(
            "kernel_full",
            "count",
            "packets",
            "lost between port and kernel, either way, or answers lost, because the other side was full",
        ),
        Counter(
            "spread_full",
            "count",
            "packets",
            "dropped by software spreading, because the role behind a queue was behind",
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
            "refused: the turn lies above the accepted window around the turn clock, where most instruments are not",
        ),
        Counter(
            "turn_behind",
            "count",
            "records",
            "refused: the turn lies below the accepted window, is too late, or before the stream's first",
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
            "records that the first decimators had to replace by the last value",
        ),
        Counter(
            "mirrored",
            "count",
            "records",
            "second copies, of the other of two mirrored networks",
        ),
        Counter(
            "unanchored",
            "count",
            "records",
            "refused: a short counter, and no turn clock yet to tell its turn by",
        ),
    ),
    "path": (
        Counter(
            "received",
            "count",
            "records",
            "with a turn in the accepted window",
        ),
        Counter(
            "first",
            "count",
            "records",
            "stored: no other network had brought them",
        ),
        Counter(
            "second",
            "count",
            "records",
            "not stored: the other network had brought them",
        ),
        Counter(
            "duplicate",
            "count",
            "records",
            "dropped: this network had brought them",
        ),
        Counter(
            "lost",
            "gauge",
            "records",
            "that this network has not brought, up to the head less the late window",
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
        Counter(
            "wait_ticks",
            "count",
            "ticks",
            "of the idle ticks: waited on purpose, so that packets gather",
        ),
        Counter(
            "wait_ns",
            "gauge",
            "ns",
            "the wait after an empty or small burst that polling has settled on",
        ),
        Counter(
            "longest_wait_ns",
            "gauge",
            "ns",
            "the longest wait that the configuration allows",
        ),
        Counter(
            "target_packets",
            "gauge",
            "packets",
            "packets per burst that polling aims at",
        ),
    ),
    "clock": (
        Counter(
            "anchors",
            "count",
            "times",
            "times the clock was set anew: at the first turn, by each quorum, and when most were ahead of its window",
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
        Counter(
            "fragments_dropped",
            "count",
            "fragments",
            "not sent on purpose: their datagram never gets whole",
        ),
        Counter(
            "fragments_duplicated",
            "count",
            "fragments",
            "sent twice on purpose",
        ),
        Counter(
            "fragments_overlapped",
            "count",
            "fragments",
            "sent on purpose with bytes that another fragment has too",
        ),
        Counter(
            "fragments_reordered",
            "count",
            "datagrams",
            "whose fragments were sent in another order on purpose",
        ),
    ),
}
