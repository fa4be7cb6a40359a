#!/usr/bin/python3 -P
# SPDX-License-Identifier: Apache-2.0
"""Finds cards, writes a configuration for them where there is none, and sets this host up for it.

/run/ringmaster-stick/cards says what came of it. A card that must stay with Linux is left out, and one that DPDK does
not drive. Servers whose names stand in /etc/ringmaster/start are started then. Run again, as after a change of the
configuration, it sets the host up anew.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = ["/usr/share/ringmaster/python", "/usr/lib/ringmaster/python"]

from ringmaster.doctor.cards import DPDK_DRIVERS, Card, find_cards  # noqa: E402
from ringmaster.doctor.host import Host  # noqa: E402
from ringmaster.setup.journal import JOURNAL  # noqa: E402
from ringmaster.setup.staying import why_it_stays  # noqa: E402

CONFIG = Path("/etc/ringmaster/stick.yaml")
START = Path("/etc/ringmaster/start")
SAID = Path("/run/ringmaster-stick/cards")
SETUP = SAID.with_name("setup")
DRIVEN = (
    *("atlantic", "bnx2x", "bnxt_en", "cxgb4", "e1000", "e1000e", "ena", "enic", "fm10k", "gve", "hns3", "i40e"),
    *("iavf", "ice", "igb", "igc", "ixgbe", "ixgbevf", "mlx4_core", "mlx5_core", "nfp", "qede", "sfc", "virtio-pci"),
    *("vmxnet3", *DPDK_DRIVERS),
)
"""Kernel drivers of cards that DPDK drives too."""
USAGE = 2
HEAD = """\
# Made by the stick for the cards that it found, each with one instrument as an example. Change it as you like: it is
# made once. Then: systemctl restart ringmaster-stick. Every key: /usr/share/doc/ringmaster/docs/configuration.md
"""


def configuration(cards: Sequence[Card], cores: Sequence[int]) -> str:
    """A server that has all cards. Linux and housekeeping have the first core."""
    ports = "".join(
        f'  - {{name: card{n}, kind: pci, device: "{card.address}", answer: 10.{n}.0.254}}\n'
        for n, card in enumerate(cards, 1)
    )
    instruments = "".join(
        f"  - {{name: bpm{n}, kind: bpm, id: {n}, port: card{n}, source: 10.{n}.0.1}}\n"
        for n in range(1, len(cards) + 1)
    )
    polling = (cores[1:] or cores)[: len(cards)]
    roles = "".join(
        f"  - {{role: receive, core: {core}, ports: [{', '.join(names)}]}}\n"
        for k, core in enumerate(polling)
        if (names := [f"card{n}" for n in range(1 + k, len(cards) + 1, len(polling))])
    )
    housekeeping = f"  - {{role: housekeeping, core: {cores[0]}}}\n"
    return f"{HEAD}workspace: stick\nports:\n{ports}instruments:\n{instruments}roles:\n{roles}{housekeeping}"


def write(text: str) -> None:
    """The configuration, whole or not at all."""
    new = CONFIG.with_suffix(".new")
    with new.open("w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    new.rename(CONFIG)


def left(host: Host, cards: Sequence[Card]) -> dict[str, str]:
    """Cards that the stick does not take, and why. What shares an IOMMU group with one of them is left too."""
    why = {
        card.address: f"{card.address} ({card.name}) stays with Linux: DPDK drives no card of {card.driver}"
        for card in cards
        if card.driver is not None and card.driver not in DRIVEN
    }
    for _ in range(2):  # the second time for those that share a group with one of the first
        taken = {card.address: card for card in cards if card.address not in why}
        for address, card in taken.items():
            if reason := why_it_stays(host, card, beside=taken):
                why[address] = reason
    return why


def state(host: Host, card: Card) -> str:
    """Whose a card is in the end."""
    if not card.bound and host.target(f"{card.folder}/iommu_group") is None:
        return f"{card.address}: no IOMMU, so VFIO cannot have it; turn on VT-d or AMD-Vi in the firmware"
    return f"{card.address} {card.driver or 'without a driver'}"


def set_up() -> tuple[str, bool]:
    """What there is to say at the end, and whether servers may start."""
    host = Host()
    cards = find_cards(host)
    staying = left(host, cards)
    free = [card for card in cards if card.address not in staying]
    lines = list(staying.values())
    if not free and not CONFIG.exists():
        return "\n".join([*lines, "none that DPDK may have; the virtual ring needs none: ringmaster demo"]), True
    if not CONFIG.exists():
        write(configuration(free, host.online))
    if Path(JOURNAL).exists():
        subprocess.run(["/usr/bin/ringmaster", "setup", "--undo"], capture_output=True, check=False)
    command = ["/usr/bin/ringmaster", "setup", str(CONFIG), "--apply"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    SETUP.write_text(done.stdout + done.stderr)
    if done.returncode == USAGE:
        lines += [done.stderr.strip().splitlines()[-1], f"is {CONFIG} of another machine? mv it away, and then"]
        return "\n".join([*lines, "systemctl restart ringmaster-stick"]), False
    if done.returncode != 0:
        lines.append(f"not all is set up for {CONFIG}; all of it: less {SETUP}")
        lines += [line for line in SETUP.read_text().splitlines() if line.startswith(("✗", "Error"))]
    lines += [state(host, card) for card in find_cards(host) if card.address not in staying]
    return "\n".join(lines), True


def start() -> None:
    """The servers that this stick starts at each boot."""
    for name in START.read_text().split() if START.exists() else []:
        subprocess.run(["systemctl", "start", "--no-block", f"ringmaster@{name}"], check=False)


if __name__ == "__main__":
    try:
        said, may_start = set_up()
    except (OSError, ValueError) as error:
        said, may_start = f"not set up: {error}", False
    SAID.write_text(said + "\n")
    print(said)
    if may_start:
        start()
