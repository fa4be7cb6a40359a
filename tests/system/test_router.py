# SPDX-License-Identifier: Apache-2.0
"""Kernel hosts talk through our router as through any other: ping, traceroute, TCP, HTTP, IPv4 and IPv6."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import networks
import pytest
from captures import read_without_warning
from harness import SERVER_CORE, ringmaster, server, unique_name, wait_for
from networks import Host, downloads, hops, pings, running, streams

from ringmaster import Workspace
from ringmaster.fabric.commands import CommandRefused, Commands
from ringmaster.programs.program import attach_to, commands_of

MANY = 2000
"""Routes of a routing daemon."""
FLOOD = 2000
"""Destinations that do not exist."""
SCATTER = (
    "import socket\n"
    "with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as sender:\n"
    f"    for n in range({FLOOD}):\n"
    "        sender.sendto(b'x', (f'2001:db8:2::1:{n:x}', 9))\n"
)
"""Sends to each of them."""
SOUGHT_MAX = 512
"""That are sought at a time: RM_NEIGHBOURS_SOUGHT_MAX."""


@dataclass
class Router:
    """Our router in a host of its own."""

    host: Host
    ws: Workspace
    commands: Commands

    def routes(self) -> dict[str, str]:
        """Prefixes of routes in use, and where each is known from."""
        routes = json.loads("".join(self.commands.run("route show json")))
        return {route["prefix"]: route["source"] for route in routes if route["used"]}

    def neighbours(self) -> dict[str, str]:
        """Addresses, and the state of each."""
        neighbours = json.loads("".join(self.commands.run("neighbour show json")))
        return {neighbour["address"]: neighbour["state"] for neighbour in neighbours}


@contextmanager
def router(host: Host, file: Path, keys: str, kernel_interfaces: bool, kind: str = "af_packet") -> Iterator[Router]:
    """Ours, with the ports p0 and p1 on the interfaces r0 and r1 of the host."""
    name = unique_name(file.stem)
    taps = [f", kernel_interface: rm{end}" if kernel_interfaces else "" for end in (0, 1)]
    ports = "".join(f"  - {{name: p{n}, kind: {kind}, interface: r{n}{taps[n]}}}\n" for n in (0, 1))
    file.write_text(
        f"workspace: {name}\npolling: {{naps: true}}\nports:\n{ports}"
        f"roles:\n  - {{role: forward, core: {SERVER_CORE}, ports: [p0, p1]}}\n"
        f"router:\n  ipv4_routes: 4000\n  ipv6_routes: 1000\n{keys}"
    )
    with server(file, host.enter) as program, attach_to(name, program) as ws, commands_of(ws, program) as commands:
        yield Router(host, ws, commands)


def router_host(stack: ExitStack) -> Host:
    """A host whose kernel keeps out of what its two cables carry: it sees each frame that our ports see, too."""
    there = stack.enter_context(networks.host("router"))
    there.run("echo 1 > /proc/sys/net/ipv4/conf/default/rp_filter; echo 1 > /proc/sys/net/ipv4/conf/all/rp_filter")
    there.run("echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6")
    return there


def let_taps_have_ipv6(there: Host) -> None:
    there.run("echo 0 > /proc/sys/net/ipv6/conf/default/disable_ipv6")


@dataclass
class Network:
    """left (10.0.1.2) - router - right (10.0.2.2)."""

    left: Host
    right: Host
    router: Router


@pytest.fixture(scope="module", params=["af_packet", "af_xdp"])
def plain(root: Path, request: pytest.FixtureRequest) -> Iterator[Network]:
    """The router has no kernel interface, and answers for itself."""
    with ExitStack() as stack:
        left, right = (stack.enter_context(networks.host(name)) for name in ("left", "right"))
        there = router_host(stack)
        for end, host in ((1, left), (2, right)):
            networks.link(host, "eth0", there, f"r{end - 1}")
            networks.address(host, "eth0", f"10.0.{end}.2/24", f"2001:db8:{end}::2/64")
            networks.gateway(host, f"10.0.{end}.1", f"2001:db8:{end}::1")
        keys = (
            "  interfaces:\n"
            '    - {port: p0, addresses: [10.0.1.1/24, "2001:db8:1::1/64"]}\n'
            '    - {port: p1, addresses: [10.0.2.1/24, "2001:db8:2::1/64"]}\n'
        )
        ours = stack.enter_context(router(there, root / "plain.yaml", keys, False, request.param))
        yield Network(left, right, ours)


RIGHT = ("10.0.2.2", "2001:db8:2::2")


@pytest.mark.parametrize("to", ["10.0.1.1", "10.0.2.1", *RIGHT, "2001:db8:1::1", "2001:db8:2::1"])
def test_it_answers_pings_and_forwards_them(plain: Network, to: str) -> None:
    pings(plain.left, to)


@pytest.mark.parametrize(("to", "ours"), [(RIGHT[0], "10.0.1.1"), (RIGHT[1], "2001:db8:1::1")])
def test_traceroute_sees_it(plain: Network, to: str, ours: str) -> None:
    assert hops(plain.left, to) == [ours, to]


@pytest.mark.parametrize("to", RIGHT)
def test_tcp_goes_through_both_ways(plain: Network, to: str) -> None:
    streams(plain.right, plain.left, to)


@pytest.mark.parametrize("to", RIGHT)
def test_a_download_comes_whole(plain: Network, to: str, tmp_path: Path) -> None:
    file = tmp_path / "file.bin"
    file.write_bytes(bytes(range(256)) * 8192)
    assert downloads(plain.right, plain.left, to, file) == hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_capture_has_what_goes_through(plain: Network, tmp_path: Path) -> None:
    """A ping comes and leaves, with a hop less to live; so does its answer."""
    file, commands = tmp_path / "all.pcap", plain.router.commands
    pings(plain.left, RIGHT[0])  # one that waits for a neighbour may be lost
    with pytest.raises(CommandRefused, match='"p2" is no port of the router'):
        commands.run(f"capture p0,p2 {file}")
    with pytest.raises(CommandRefused, match="the capture cannot be written"):
        commands.run(f"capture p0,p1 {tmp_path}/absent/all.pcap")
    commands.run(f"capture p0,p1 {file}")
    pings(plain.left, RIGHT[0])
    assert f"p0 p1 {file}: " in "".join(commands.run("capture show"))
    ended = "".join(commands.run("capture all off"))
    assert commands.run("capture show") == []
    frames = read_without_warning(file)
    assert ended.startswith(f"{file}: {len(frames)} frames")
    assert ended.endswith("lost 0 (the file was behind), 0 (it is full)")
    pinged = [frame["ip.ttl"] for frame in frames if "icmp:" in frame["frame.protocols"]]
    assert pinged
    assert pinged == ["64", "63"] * (len(pinged) // 2)


def test_it_tells_of_its_neighbours(plain: Network) -> None:
    for to in RIGHT:
        pings(plain.left, to)
    neighbours = plain.router.neighbours()
    assert {"10.0.1.2", "10.0.2.2", "2001:db8:1::2", "2001:db8:2::2"} <= neighbours.keys()
    assert set(neighbours.values()) <= {"reachable", "stale", "probe", "incomplete", "failed"}
    plain.router.commands.run("neighbour del 10.0.2.2")
    pings(plain.left, RIGHT[0])
    assert plain.router.neighbours()["10.0.2.2"] == "reachable"


def test_a_route_is_added_and_taken_away_by_command(plain: Network) -> None:
    networks.address(plain.right, "lo", "10.9.0.1/32", "2001:db8:9::1/128")
    assert "Unreachable" in plain.left.run("ping -c 1 -W 10 10.9.0.1", expect=1)
    plain.router.commands.run("route add 10.9.0.0/16 via 10.0.2.2")
    plain.router.commands.run("route add 2001:db8:9::/48 via 2001:db8:2::2")
    assert plain.router.routes()["10.9.0.0/16"] == "configured"
    pings(plain.left, "10.9.0.1")
    pings(plain.left, "2001:db8:9::1")
    assert plain.router.commands.run("route get 10.9.0.1") == ["10.9.0.0/16 via 10.0.2.2 by p1 resolved"]
    plain.router.commands.run("route del 10.9.0.0/16")
    assert "10.9.0.0/16" not in plain.router.routes()

    def is_unreachable() -> bool:  # once the cores have taken it over
        return "Unreachable" in plain.left.run("ping -c 1 -W 10 10.9.0.1", expect=None)

    wait_for(is_unreachable, "the end of the route")


def test_commands_that_cannot_be_done_say_why(plain: Network) -> None:
    for line, why in (
        ("route add 10.9.0.1/16 via 10.0.2.2", "expected a prefix without bits behind its length"),
        ("route add 10.9.0.0/16 via 10.3.0.1", "no interface has a network with 10.3.0.1"),
        ("route add 10.9.0.0/16 via 2001:db8:2::2", "expected the next router's IPv4 address"),
        ("route add 10.9.0.0/16 via 10.0.2.2 weight 0", "expected 1 to 255"),
        ("route add 10.9.0.0/16 nowhere", "expected via ADDRESS, by INTERFACE, blackhole, unreachable or prohibited"),
        ("route del 10.77.0.0/16", "there is no such route of 10.77.0.0/16"),
        ("neighbour add 10.0.2.3 ff:ff:ff:ff:ff:ff", "expected the MAC address of one host"),
        ("neighbour del 10.0.2.99", "there is no neighbour 10.0.2.99"),
        ("route shw", "route show"),
    ):
        with pytest.raises(CommandRefused, match=why):
            plain.router.commands.run(line)


def test_a_host_that_is_not_there_is_told_of(plain: Network) -> None:
    said = plain.left.run("ping -c 1 -W 60 10.0.2.77", expect=1)
    assert "Destination Host Unreachable" in said, said


def test_a_flood_of_destinations_that_do_not_exist_is_bounded(plain: Network) -> None:
    counters = plain.router.ws.counters("router")
    before = counters["waiting_full"]
    plain.left.python(SCATTER)
    wait_for(lambda: counters["waiting_full"] > before, "packets that find no room")
    sought = [state for state in plain.router.neighbours().values() if state in ("incomplete", "failed")]
    assert len(sought) <= SOUGHT_MAX
    pings(plain.left, RIGHT[1])


def test_the_command_starts_a_router(root: Path) -> None:
    with ExitStack() as stack:
        there = router_host(stack)
        networks.link(there, "r0", there, "r1")
        ports = ["--port", "p0=af_packet:r0", "--port", "p1=af_packet:r1"]
        addresses = ["--address", "p0=10.0.1.1/24", "--address", "p1=10.0.2.1/24"]
        words = [*ports, *addresses, "--route", "10.9.0.0/16 via 10.0.2.2", "--naps"]
        done = ringmaster("forward", *words, "--command", "route show", "--seconds", "0", "--json", prefix=there.enter)
    said, _, last = done.stdout.rstrip().rpartition("\n")
    assert "10.9.0.0/16 via 10.0.2.2 by p1 configured" in said
    told = json.loads(last)
    assert [port["name"] for port in told["ports"]] == ["p0", "p1"]
    assert {"10.0.1.0/24", "10.9.0.0/16"} <= {route["prefix"] for route in told["routes"]}
    assert not [path for path in root.iterdir() if path.name.startswith("forward-")]


BIRD = """\
router id {number}.{number}.{number}.{number};
protocol device {{ scan time 1; }}
protocol kernel four {{ scan time 1; ipv4 {{ export all; }}; }}
protocol kernel six {{ scan time 1; ipv6 {{ export all; }}; }}
protocol ospf v2 {{ ipv4 {{ export none; }}; area 0 {{
  interface "{towards}" {{ type ptp; hello 1; dead count 10; }}; interface "{stub}" {{ stub; }}; }}; }}
protocol ospf v3 {{ ipv6 {{ export none; }}; area 0 {{
  interface "{towards}" {{ type ptp; hello 1; dead count 10; }}; interface "{stub}" {{ stub; }}; }}; }}
"""


@dataclass
class Chain:
    """left (10.0.1.2) - our router - kernel's router - right (10.0.3.2); both routers have BIRD."""

    left: Host
    kernels: Host
    right: Host
    router: Router


def bird(stack: ExitStack, host: Host, folder: Path, number: int, towards: str, stub: str) -> None:
    file = folder / f"bird{number}.conf"
    file.write_text(BIRD.format(number=number, towards=towards, stub=stub))
    stack.enter_context(running(host, f"bird -f -c {file} -s {folder}/bird{number}.ctl -P {folder}/bird{number}.pid"))


@pytest.fixture(scope="module")
def chain(root: Path) -> Iterator[Chain]:
    """Of our router's routes only those of its own interfaces are in its file: BIRD finds the others."""
    with ExitStack() as stack:
        left, kernels, right = (stack.enter_context(networks.host(name)) for name in ("left", "kernels", "right"))
        there = router_host(stack)
        networks.link(left, "eth0", there, "r0")
        networks.link(there, "r1", kernels, "k0")
        networks.link(kernels, "k1", right, "eth0")
        networks.address(left, "eth0", "10.0.1.2/24", "2001:db8:1::2/64")
        networks.gateway(left, "10.0.1.1", "2001:db8:1::1")
        networks.address(kernels, "k0", "10.0.2.2/24", "2001:db8:2::2/64")
        networks.address(kernels, "k1", "10.0.3.1/24", "2001:db8:3::1/64")
        kernels.run("echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding")
        networks.address(right, "eth0", "10.0.3.2/24", "2001:db8:3::2/64")
        networks.gateway(right, "10.0.3.1", "2001:db8:3::1")
        let_taps_have_ipv6(there)
        keys = (
            "  interfaces:\n"
            '    - {port: p0, addresses: [10.0.1.1/24, "2001:db8:1::1/64"]}\n'
            '    - {port: p1, addresses: [10.0.2.1/24, "2001:db8:2::1/64"]}\n'
        )
        ours = stack.enter_context(router(there, root / "chain.yaml", keys, kernel_interfaces=True))
        bird(stack, there, root, 1, "rm1", "rm0")
        bird(stack, kernels, root, 2, "k0", "k1")
        yield Chain(left, kernels, right, ours)


FAR = ("10.0.3.2", "2001:db8:3::2")


def test_a_route_is_learnt_from_bird(chain: Chain) -> None:
    wanted = {"10.0.3.0/24": "kernel", "2001:db8:3::/64": "kernel"}
    wait_for(lambda: wanted.items() <= chain.router.routes().items(), lambda: f"BIRD: {chain.router.routes()}")
    for to in FAR:
        pings(chain.left, to)
    assert hops(chain.left, FAR[0]) == ["10.0.1.1", "10.0.2.2", FAR[0]]
    assert hops(chain.left, FAR[1]) == ["2001:db8:1::1", "2001:db8:2::2", FAR[1]]
    for to in FAR:
        streams(chain.right, chain.left, to)


def test_pings_to_the_router_are_the_kernels_to_answer(chain: Chain) -> None:
    pings(chain.left, "10.0.1.1")
    pings(chain.left, "2001:db8:2::1")
    assert chain.router.ws.counters("router")["to_kernel"] > 0
    assert chain.router.ws.counters("router")["answered"] == 0


def test_what_ip_says_is_what_it_does(chain: Chain) -> None:
    host, router = chain.router.host, chain.router

    def used(prefix: str) -> bool:
        return router.routes().get(prefix) == "kernel"

    host.run("ip route add 10.7.0.0/16 via 10.0.2.2; ip route add blackhole 10.8.0.0/16")
    host.run("ip -6 route add 2001:db8:7::/48 nexthop via 2001:db8:2::2 nexthop via 2001:db8:1::2")
    for prefix in ("10.7.0.0/16", "10.8.0.0/16", "2001:db8:7::/48"):
        wait_for(lambda: used(prefix), lambda: f"{prefix}: {router.routes()}")  # noqa: B023
    host.run("ip route del 10.7.0.0/16; ip route del blackhole 10.8.0.0/16; ip -6 route del 2001:db8:7::/48")
    for prefix in ("10.7.0.0/16", "10.8.0.0/16", "2001:db8:7::/48"):
        wait_for(lambda: prefix not in router.routes(), lambda: f"{prefix}: {router.routes()}")  # noqa: B023

    host.run("ip addr add 10.5.0.1/24 dev rm1; ip neigh add 10.5.0.9 lladdr 02:00:00:00:05:09 dev rm1")
    wait_for(lambda: router.routes().get("10.5.0.0/24") == "connected", lambda: f"{router.routes()}")
    wait_for(lambda: router.neighbours().get("10.5.0.9") == "permanent", lambda: f"{router.neighbours()}")
    host.run("ip neigh del 10.5.0.9 dev rm1; ip addr del 10.5.0.1/24 dev rm1")
    wait_for(lambda: "10.5.0.0/24" not in router.routes(), lambda: f"{router.routes()}")
    wait_for(lambda: "10.5.0.9" not in router.neighbours(), lambda: f"{router.neighbours()}")


def test_many_routes_come_and_go_at_once(chain: Chain, tmp_path: Path) -> None:
    host, router, counters = chain.router.host, chain.router, chain.router.ws.counters("router")
    before = counters["routes"]
    lines = [f"route add 10.{128 + n // 256}.{n % 256}.0/24 via 10.0.2.2 proto 99" for n in range(MANY)]
    batch = tmp_path / "routes.txt"
    batch.write_text("\n".join(lines) + "\n")
    host.run(f"ip -batch {batch}")
    wait_for(lambda: counters["routes"] >= before + MANY, lambda: f"{counters['routes'] - before} of {MANY} routes")
    assert router.routes()["10.129.7.0/24"] == "kernel"
    host.run("ip route flush proto 99")
    wait_for(lambda: "10.129.7.0/24" not in router.routes(), "the end of the routes")
    wait_for(lambda: counters["routes"] <= before + 8, lambda: f"{counters['routes'] - before} routes left")


def test_a_route_goes_with_its_interface(chain: Chain) -> None:
    host, router = chain.router.host, chain.router
    host.run("ip route add 10.6.0.0/16 via 10.0.1.2")
    wait_for(lambda: "10.6.0.0/16" in router.routes(), "the route")
    host.run("ip link set rm0 down")
    wait_for(lambda: "10.6.0.0/16" not in router.routes(), lambda: f"the end of the route: {router.routes()}")
    host.run("ip link set rm0 up")
    wait_for(lambda: "10.0.1.0/24" in router.routes(), "the network")
    pings(chain.left, "10.0.1.1")
