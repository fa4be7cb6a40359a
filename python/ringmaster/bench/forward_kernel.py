# SPDX-License-Identifier: Apache-2.0
"""Our router beside the Linux kernel's, on the same two veth links: both ends of them in one network namespace, what
forwards in another, with the same addresses and one route. Ours has AF_XDP ports there, and so have the ends.

The kernel forwards on the core that has sent, which is that of the ends: a veth has no other. Ours has a core of its
own.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.forward_peers import SETTLE_S, Offer, Through, ends_between, through_of
from ringmaster.bench.links import Pair, linked
from ringmaster.bench.printed import printed
from ringmaster.bench.workspace import own_workspace
from ringmaster.programs.cores import cores
from ringmaster.programs.program import Program, attach_to
from ringmaster.programs.remains import scratch_folder

ROUTER_MAC, FAR_MAC = "02:00:00:00:00:02", "02:00:00:00:01:01"
"""Of the router's end of the first link, and of the other end of the second: bench/namespaces/veth_pair.h."""
NETWORK, GATEWAY = "16.0.0.0/8", "10.99.1.1"
LIMIT_S = 60.0


@dataclass(frozen=True)
class BesideKernel:
    """A window of each, one after the other, on links of their own."""

    route_pps: float
    kernel_pps: float

    @property
    def ratio(self) -> float:
        """Ours to the kernel's."""
        return self.route_pps / self.kernel_pps

    @property
    def words(self) -> str:
        """On one line."""
        return f"route {self.route_pps / 1e6:.3f} Mpps, kernel {self.kernel_pps / 1e6:.3f} Mpps: {self.ratio:.2f} ×"


def beside_kernel(seconds: float) -> BesideKernel:
    """Measures both. Raises NotMeasured."""
    kernel, ours = _by_kernel(seconds), _by_ours(seconds)
    return BesideKernel(ours.received / ours.seconds, kernel.received / kernel.seconds)


def _by_kernel(seconds: float) -> Through:
    with linked("af_xdp", links=2) as pair:
        words = f"echo 1 > /proc/sys/net/ipv4/ip_forward && ip route add {NETWORK} via {GATEWAY}"
        printed("the kernel's router", [*pair.enter_right, "sh", "-c", words], LIMIT_S)
        return _through(pair, seconds)


def _by_ours(seconds: float) -> Through:
    with linked("af_xdp", links=2) as pair, own_workspace() as workspace, scratch_folder("bench") as folder:
        config = Path(folder) / "server.yaml"
        config.write_text(server_between(workspace, cores()[1], pair))
        with (
            Program("ringmaster-server", "run", config, prefix=pair.enter_right) as program,
            attach_to(workspace, program),
        ):
            through = _through(pair, seconds)
            program.check()
            return through


def _through(pair: Pair, seconds: float) -> Through:
    command = ends_between((pair.left[0], pair.left[1]), cores()[0], ROUTER_MAC, Offer(), SETTLE_S, seconds)
    words = printed("both ends", [*pair.enter_left, *command], LIMIT_S)
    return through_of(words.splitlines()[-1], 1.0, 0.0)


def server_between(workspace: str, core: int, pair: Pair) -> str:
    """A configuration of our router, with the addresses that the links have."""
    names = ("in", "out")
    ports = [
        {"name": name, "kind": "af_xdp", "interface": link.partition(":")[2]}
        for name, link in zip(names, pair.right, strict=True)
    ]
    router = {
        "mode": "route",
        "interfaces": [{"port": name, "addresses": [f"10.99.{link}.2/24"]} for link, name in enumerate(names)],
        "neighbours": [{"interface": "out", "address": GATEWAY, "mac": FAR_MAC}],
        "routes": [{"prefix": NETWORK, "paths": [{"via": GATEWAY}]}],
    }
    roles = [{"role": "forward", "core": core, "ports": list(names)}]
    return json.dumps({"workspace": workspace, "turn_rate_hz": 1e6, "ports": ports, "roles": roles, "router": router})
