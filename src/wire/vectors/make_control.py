#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write test vectors of ARP, neighbour discovery, ICMP and IGMP, by an implementation that shares nothing with C's.

make_control.py                write control.txt and control.pcap beside this script
make_control.py --check        exit 1 when one of them is not what this script makes
make_control.py --seeds DIR    write every received frame to a file of its own, for the fuzzer
"""

import struct
import sys
from dataclasses import dataclass
from ipaddress import IPv6Address
from pathlib import Path

from make_vectors import internet_checksum, write_files, write_pcap

HERE = Path(__file__).resolve().parent
OUR_MAC = bytes.fromhex("020000000001")
THEIR_MAC = bytes.fromhex("020000000002")
EVERYBODY = b"\xff" * 6
OURS = bytes([10, 0, 0, 1])
THEIRS = bytes([10, 0, 0, 7])
OURS6 = IPv6Address("2001:db8::1").packed
THEIRS6 = IPv6Address("2001:db8::7").packed
ALL_NODES = IPv6Address("ff02::1").packed
GROUP = bytes([239, 192, 1, 2])
OTHER_GROUP = bytes([239, 192, 1, 3])
NOBODY = bytes(4)
ROUTER_ALERT = bytes.fromhex("94040000")
TAG = bytes.fromhex("8100 6064")

HEADING = """\
# SPDX-License-Identifier: Apache-2.0
# Test vectors of what a port answers: ARP, neighbour discovery, ICMP echo, IGMP. Made by make_control.py.
#
# A block is a frame that arrives (`received`), and what the server makes of it: the frame it sends back (`answer`),
# the query it understands (`query VERSION GROUP LONGEST_WAIT_MS`), or `nothing`. Blocks without `received` hold a frame
# that the server sends unasked. The server is 10.0.0.1 and 2001:db8::1 with the MAC address 02:00:00:00:00:01. The
# frames of control.pcap are those of the blocks, in their order.
"""


@dataclass(frozen=True)
class Exchange:
    """What comes, and what it leads to; `sent` is an answer, or what is sent unasked."""

    name: str
    about: str
    received: bytes = b""
    sent: bytes = b""
    query: str = ""


def ethernet(destination: bytes, source: bytes, ethertype: int, content: bytes, tag: bytes = b"") -> bytes:
    """A frame, padded as on a wire."""
    frame = destination + source + tag + struct.pack(">H", ethertype) + content
    return frame + bytes(max(0, 60 - len(frame)))


def arp(operation: int, sender: tuple[bytes, bytes], target: tuple[bytes, bytes]) -> bytes:
    """An ARP packet; a machine is its MAC and its IPv4 address."""
    return struct.pack(">HHBBH", 1, 0x0800, 6, 4, operation) + b"".join(sender) + b"".join(target)


def asks(target: bytes = OURS, sender: bytes = THEIRS, *, tag: bytes = b"", mac: bytes = THEIR_MAC) -> bytes:
    """An ARP request."""
    return ethernet(EVERYBODY, THEIR_MAC, 0x0806, arp(1, (mac, sender), (bytes(6), target)), tag)


def tells(target: bytes = THEIRS, *, tag: bytes = b"") -> bytes:
    """Our reply."""
    return ethernet(THEIR_MAC, OUR_MAC, 0x0806, arp(2, (OUR_MAC, OURS), (THEIR_MAC, target)), tag)


def ipv4(
    protocol: int,
    source: bytes,
    destination: bytes,
    content: bytes,
    *,
    ttl: int = 64,
    tos: int = 0,
    flags: int = 0x4000,
    options: bytes = b"",
) -> bytes:
    """An IPv4 packet."""
    words, total = 5 + len(options) // 4, 20 + len(options) + len(content)

    def header(checksum: int) -> bytes:
        fixed = struct.pack(">BBHHHBBH", 0x40 | words, tos, total, 0, flags, ttl, protocol, checksum)
        return fixed + source + destination + options

    return header(internet_checksum(header(0))) + content


def with_checksum(content: bytes) -> bytes:
    """The checksum stands in bytes 2 and 3 in ICMP and IGMP."""
    return content[:2] + struct.pack(">H", internet_checksum(content[:2] + bytes(2) + content[4:])) + content[4:]


def echo(kind: int, content: bytes, *, wrong: int = 0) -> bytes:
    """An ICMP echo request (8) or reply (0), with an identifier and a sequence number."""
    packet = with_checksum(struct.pack(">BBHHH", kind, 0, 0, 0x1234, 7) + content)
    return packet[:2] + bytes([packet[2] ^ wrong]) + packet[3:]


def ping(
    content: bytes,
    *,
    tag: bytes = b"",
    source: bytes = THEIRS,
    destination: bytes = OURS,
    mac: bytes = OUR_MAC,
    flags: int = 0x4000,
    options: bytes = b"",
    wrong: int = 0,
) -> bytes:
    """An echo request, with 33 hops left."""
    packet = ipv4(1, source, destination, echo(8, content, wrong=wrong), ttl=33, flags=flags, options=options)
    return ethernet(mac, THEIR_MAC, 0x0800, packet, tag)


def pong(content: bytes, *, tag: bytes = b"", options: bytes = b"") -> bytes:
    """Our reply."""
    return ethernet(THEIR_MAC, OUR_MAC, 0x0800, ipv4(1, OURS, THEIRS, echo(0, content), options=options), tag)


def igmp(source: bytes, destination: bytes, content: bytes) -> bytes:
    """The IPv4 packet, one hop far."""
    return ipv4(2, source, destination, with_checksum(content), ttl=1, tos=0xC0, options=ROUTER_ALERT)


def multicast_mac(group: bytes) -> bytes:
    """The MAC address of a group: its low 23 bits."""
    return bytes.fromhex("01005e") + bytes([group[1] & 0x7F]) + group[2:]


def asks_groups(code: int, group: bytes, more: bytes = b"", *, kind: int = 0x11) -> bytes:
    """A membership query, to all or to the group's members."""
    destination = group if any(group) else bytes([224, 0, 0, 1])
    packet = igmp(THEIRS, destination, bytes([kind, code]) + bytes(2) + group + more)
    return ethernet(multicast_mac(destination), THEIR_MAC, 0x0800, packet)


def reports_v2(group: bytes) -> bytes:
    """A membership report of version 2."""
    packet = igmp(OURS, group, bytes([0x16, 0]) + bytes(2) + group)
    return ethernet(multicast_mac(group), OUR_MAC, 0x0800, packet)


def reports_v3(*groups: bytes, tag: bytes = b"") -> bytes:
    """A membership report of version 3: every group, from all sources."""
    records = b"".join(bytes([2, 0, 0, 0]) + group for group in groups)
    destination = bytes([224, 0, 0, 22])
    packet = igmp(OURS, destination, bytes([0x22, 0, 0, 0, 0, 0, 0, len(groups)]) + records)
    return ethernet(multicast_mac(destination), OUR_MAC, 0x0800, packet, tag)


def icmp6(
    source: bytes, destination: bytes, content: bytes, *, mac: bytes, tag: bytes = b"", hops: int = 255, wrong: int = 0
) -> bytes:
    """A frame with an ICMPv6 message, whose checksum is filled in; to or from us."""
    pseudo = source + destination + struct.pack(">II", len(content), 58)
    checksum = internet_checksum(pseudo + content[:2] + bytes(2) + content[4:]) ^ wrong
    packet = struct.pack(">IHBB", 6 << 28, len(content), 58, hops) + source + destination
    packet += content[:2] + struct.pack(">H", checksum) + content[4:]
    return ethernet(mac, OUR_MAC if source == OURS6 else THEIR_MAC, 0x86DD, packet, tag)


def solicited_group(address: bytes) -> bytes:
    """The group that is asked for an address."""
    return IPv6Address("ff02::1:ff00:0").packed[:13] + address[13:]


def multicast_mac6(group: bytes) -> bytes:
    """The MAC address of an IPv6 group."""
    return b"\x33\x33" + group[12:]


def solicits(
    target: bytes = OURS6,
    source: bytes = THEIRS6,
    *,
    option: bytes = b"\x01\x01" + THEIR_MAC,
    destination: bytes = b"",
    tag: bytes = b"",
    hops: int = 255,
    wrong: int = 0,
) -> bytes:
    """A neighbour solicitation, to us."""
    group = destination or solicited_group(OURS6)
    mac = multicast_mac6(group) if group[0] == 0xFF else OUR_MAC
    content = bytes([135]) + bytes(7) + target + option
    return icmp6(source, group, content, mac=mac, tag=tag, hops=hops, wrong=wrong)


def advertises(destination: bytes = THEIRS6, *, tag: bytes = b"") -> bytes:
    """Our advertisement: a router, solicited or to all, overriding."""
    flags, mac = (0xA0, multicast_mac6(ALL_NODES)) if destination == ALL_NODES else (0xE0, THEIR_MAC)
    content = bytes([136, 0, 0, 0, flags, 0, 0, 0]) + OURS6 + b"\x02\x01" + OUR_MAC
    return icmp6(OURS6, destination, content, mac=mac, tag=tag)


def nd_exchanges() -> list[Exchange]:
    """Neighbour discovery, and ICMPv6 echo."""
    ask = bytes([135]) + bytes(7) + THEIRS6 + b"\x01\x01" + OUR_MAC
    group = solicited_group(THEIRS6)
    request, reply = (bytes([kind, 0, 0, 0]) + bytes.fromhex("12340007") + bytes(range(56)) for kind in (128, 129))
    return [
        Exchange("nd-solicitation", "Who has our address?", solicits(), advertises()),
        Exchange("nd-vlan", "The same in a VLAN.", solicits(tag=TAG), advertises(tag=bytes.fromhex("8100 0064"))),
        Exchange("nd-to-us", "Still there?", solicits(destination=OURS6), advertises()),
        Exchange(
            "nd-other-option",
            "Options that we do not know.",
            solicits(option=b"\x0e\x01" + bytes(6) + b"\x01\x01" + THEIR_MAC),
            advertises(),
        ),
        Exchange(
            "nd-test", "Before it takes the address.", solicits(source=bytes(16), option=b""), advertises(ALL_NODES)
        ),
        Exchange("nd-test-option", "Without an address it has no MAC to tell.", solicits(source=bytes(16))),
        Exchange("nd-other", "Who has another address?", solicits(THEIRS6)),
        Exchange("nd-far", "A router has forwarded it.", solicits(hops=254)),
        Exchange("nd-wrong", "A wrong checksum.", solicits(wrong=1)),
        Exchange("nd-option-empty", "An option of length 0.", solicits(option=bytes([1, 0]) + THEIR_MAC)),
        Exchange("nd-option-long", "An option longer than the packet.", solicits(option=bytes([1, 2]) + THEIR_MAC)),
        Exchange("nd-group-mac", "The answer would go to a group.", solicits(option=b"\x01\x01" + EVERYBODY)),
        Exchange("nd-from-group", "A group asks.", solicits(source=ALL_NODES)),
        Exchange("nd-ask", "Unasked.", sent=icmp6(OURS6, group, ask, mac=multicast_mac6(group))),
        Exchange("nd-probe", "Asked of the machine that had it.", sent=icmp6(OURS6, THEIRS6, ask, mac=THEIR_MAC)),
        Exchange("nd-announce", "Unasked.", sent=advertises(ALL_NODES)),
        Exchange(
            "ping6",
            "56 bytes, as ping sends.",
            icmp6(THEIRS6, OURS6, request, mac=OUR_MAC, hops=33),
            icmp6(OURS6, THEIRS6, reply, mac=THEIR_MAC, hops=64),
        ),
        Exchange("ping6-other", "Another address.", icmp6(THEIRS6, ALL_NODES, request, mac=OUR_MAC, hops=33)),
        Exchange("ping6-wrong", "A wrong checksum.", icmp6(THEIRS6, OURS6, request, mac=OUR_MAC, hops=33, wrong=1)),
        Exchange(
            "ping6-from-group",
            "The answer would go to a group.",
            icmp6(ALL_NODES, OURS6, request, mac=OUR_MAC, hops=33),
        ),
        Exchange("ping6-reply", "A reply.", icmp6(THEIRS6, OURS6, reply, mac=OUR_MAC, hops=33)),
    ]


def arp_exchanges() -> list[Exchange]:
    """ARP."""
    request = asks()
    announcement, question = (arp(1, (OUR_MAC, OURS), (bytes(6), target)) for target in (OURS, THEIRS))
    return [
        Exchange("arp-request", "Who has our address?", request, tells()),
        Exchange("arp-request-vlan", "The same in a VLAN.", asks(tag=TAG), tells(tag=TAG)),
        Exchange("arp-probe", "Asked by who has no address yet.", asks(sender=NOBODY), tells(NOBODY)),
        Exchange("arp-other", "Who has another address?", asks(bytes([10, 0, 0, 2]))),
        Exchange("arp-conflict", "Another host announces our address as its own.", asks(sender=OURS)),
        Exchange("arp-reply", "An answer, not a question.", tells()),
        Exchange("arp-to-all", "The answer would go to everybody.", asks(mac=EVERYBODY)),
        Exchange("arp-ipv6", "Of another protocol.", request[:16] + b"\x86\xdd" + request[18:]),
        Exchange("arp-cut", "Ends before the target's address does.", request[:41]),
        Exchange("arp-announce", "Unasked.", sent=ethernet(EVERYBODY, OUR_MAC, 0x0806, announcement)),
        Exchange("arp-ask", "Who has theirs?", sent=ethernet(EVERYBODY, OUR_MAC, 0x0806, question)),
    ]


def icmp_exchanges() -> list[Exchange]:
    """ICMP echo."""
    long = bytes(i % 251 for i in range(1472))
    nops = bytes([1, 1, 1, 0])
    question = ipv4(1, OURS, THEIRS, echo(8, long[:56]))
    ours = ipv4(1, THEIRS, OURS, with_checksum(struct.pack(">BBHI", 13, 0, 0, 7) + bytes(12)))
    return [
        Exchange("ping", "56 bytes, as ping sends.", ping(long[:56]), pong(long[:56])),
        Exchange("ping-empty", "Without content: padded.", ping(b""), pong(b"")),
        Exchange("ping-odd", "An odd number of bytes.", ping(long[:33]), pong(long[:33])),
        Exchange("ping-longest", "As much as a frame holds.", ping(long), pong(long)),
        Exchange("ping-vlan", "In a VLAN.", ping(long[:56], tag=TAG), pong(long[:56], tag=TAG)),
        Exchange("ping-options", "Options are blanked.", ping(b"x", options=nops), pong(b"x", options=bytes(4))),
        Exchange("ping-other", "Another address is pinged.", ping(b"x", destination=bytes([10, 0, 0, 2]))),
        Exchange("ping-wrong", "A wrong checksum.", ping(b"x", wrong=1)),
        Exchange("ping-fragment", "The first piece of a longer one.", ping(long, flags=0x2000)),
        Exchange("ping-broadcast", "Sent to everybody's MAC address.", ping(b"x", mac=EVERYBODY)),
        Exchange("ping-from-group", "The answer would go to a group.", ping(b"x", source=GROUP)),
        Exchange("ping-from-nobody", "The answer would go nowhere.", ping(b"x", source=NOBODY)),
        Exchange("ping-from-us", "Another host claims to be us.", ping(b"x", source=OURS)),
        Exchange("icmp-timestamp", "ICMP, but no echo request.", ethernet(OUR_MAC, THEIR_MAC, 0x0800, ours)),
        Exchange("icmp-reply", "An echo reply.", pong(b"x")),
        Exchange("ping-ask", "Unasked.", sent=ethernet(THEIR_MAC, OUR_MAC, 0x0800, question)),
    ]


def igmp_exchanges() -> list[Exchange]:
    """IGMP."""
    group = ".".join(map(str, GROUP))
    none, one = bytes.fromhex("027d0000"), bytes.fromhex("027d0001") + THEIRS
    return [
        Exchange("igmp-v2", "Who wants which?", asks_groups(100, NOBODY), query="2 0.0.0.0 10000"),
        Exchange("igmp-v2-group", "Who wants this one?", asks_groups(10, GROUP), query=f"2 {group} 1000"),
        Exchange("igmp-v3", "Version 3.", asks_groups(100, NOBODY, none), query="3 0.0.0.0 10000"),
        Exchange("igmp-v3-group", "Of one group.", asks_groups(10, GROUP, none), query=f"3 {group} 1000"),
        Exchange("igmp-v3-source", "And one source.", asks_groups(10, GROUP, one), query=f"3 {group} 1000"),
        Exchange("igmp-v3-long", "A wait that is a float.", asks_groups(0x8F, NOBODY, none), query="3 0.0.0.0 24800"),
        Exchange("igmp-v3-longest", "The longest.", asks_groups(0xFF, NOBODY, none), query="3 0.0.0.0 3174400"),
        Exchange("igmp-v1", "Version 1, which nobody should send.", asks_groups(0, NOBODY)),
        Exchange("igmp-v3-cut", "More sources than there are.", asks_groups(10, GROUP, one[:4])),
        Exchange("igmp-no-group", "About an address that is no group's.", asks_groups(10, THEIRS)),
        Exchange("igmp-report", "Another host's report.", asks_groups(0, GROUP, kind=0x16)),
        Exchange("report-v2", "Unasked, or asked by version 2.", sent=reports_v2(GROUP)),
        Exchange("report-v3", "Of two groups.", sent=reports_v3(GROUP, OTHER_GROUP)),
        Exchange("report-v3-vlan", "In a VLAN.", sent=reports_v3(GROUP, tag=bytes.fromhex("8100 0064"))),
    ]


def block(exchange: Exchange) -> str:
    """One block of control.txt."""
    lines = [f"# {exchange.about}", f"name {exchange.name}"]
    if exchange.received:
        lines.append(f"received {exchange.received.hex(' ')}")
    if exchange.sent:
        lines.append(f"{'answer' if exchange.received else 'sent'} {exchange.sent.hex(' ')}")
    elif exchange.query:
        lines.append(f"query {exchange.query}")
    else:
        lines.append("nothing")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write, compare, or write seeds; returns the exit status."""
    exchanges = arp_exchanges() + icmp_exchanges() + igmp_exchanges() + nd_exchanges()
    if arguments[:1] == ["--seeds"]:
        folder = Path(arguments[1])
        folder.mkdir(parents=True, exist_ok=True)
        for exchange in exchanges:
            (folder / exchange.name).write_bytes(exchange.received or exchange.sent)
        return 0
    text = HEADING + "".join("\n" + block(exchange) for exchange in exchanges)
    frames = [frame for exchange in exchanges for frame in (exchange.received, exchange.sent) if frame]
    files = {HERE / "control.txt": text.encode(), HERE / "control.pcap": write_pcap(frames)}
    return write_files(files, Path(__file__), check="--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
