# SPDX-License-Identifier: Apache-2.0
"""Do card, slot and cable carry the rate?"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from ringmaster.doctor.binding import without_cards
from ringmaster.doctor.cards import Card
from ringmaster.doctor.check import NEVER, SERVER_HINT, SERVER_NEEDS, Answer, Check, Look, absent, bad, good, unknown
from ringmaster.doctor.host import Host

ROOM = 1.15
"""A slot must carry so much more than its ports: packets on PCIe have heads, too."""
LINE_CODES = {2.5: 0.8, 5.0: 0.8, 8.0: 128 / 130, 16.0: 128 / 130, 32.0: 128 / 130, 64.0: 242 / 256}
"""What is left of a lane's transfers a second for bytes, by GT/s."""


@dataclass(frozen=True)
class Slot:
    """A PCIe link."""

    lanes: int
    gt_s: float

    @property
    def gbit_s(self) -> float:
        """After line code."""
        return self.lanes * self.gt_s * LINE_CODES[self.gt_s]

    def __str__(self) -> str:
        return f"x{self.lanes} at {self.gt_s:g} GT/s ({self.gbit_s:.0f} Gb/s)"


def slot(host: Host, card: Card, which: str) -> Slot | None:
    """The ``which`` ("current" or "max") link of a card; None for one that is on no PCIe."""
    lanes = host.number(f"{card.folder}/{which}_link_width")
    speed = re.match(r"([0-9]{1,3}(?:\.[0-9])?) GT/s", host.text(f"{card.folder}/{which}_link_speed") or "")
    if speed is None or lanes is None or not 0 < lanes <= 32 or float(speed[1]) not in LINE_CODES:
        return None
    return Slot(lanes, float(speed[1]))


def speed_gbit_s(host: Host, card: Card) -> float | None:
    """Of a port, as its interface says; None where it has none, or no link."""
    if not card.interfaces:
        return None
    mbit_s = host.number(f"/sys/class/net/{card.interfaces[0]}/speed")
    return mbit_s / 1000 if mbit_s is not None and 0 < mbit_s < 10_000_000 else None


def pcie(look: Look) -> Answer:
    """Width and speed against the ports' rates."""
    shown, slow, narrow, asked = [], [], [], False
    for card in look.cards:
        now, most = slot(look.host, card, "current"), slot(look.host, card, "max")
        if now is None:
            continue
        asked = True
        place = card.address.rsplit(".", 1)[0]  # all functions of a card share its slot
        rate = sum(speed_gbit_s(look.host, other) or 0.0 for other in look.cards if other.address.startswith(place))
        shown.append(f"{card.name} {now}" + (f" for {rate:g} Gb/s" if rate else ""))
        if now.gbit_s < rate * ROOM:
            slow.append(f"{card.name} {now} for ports of {rate:g} Gb/s")
        elif most is not None and now.gbit_s < most.gbit_s:
            narrow.append(f"{card.name} {now} of {most}")
    if not look.cards:
        return without_cards(look)
    if not asked:
        return absent("no card is on PCIe: the hypervisor has it") if look.host.virtual else unknown()
    if slow or narrow:
        hand = "Put the card into a slot with all its lanes, and look for its generation and bifurcation in the setup."
        return bad("; ".join(slow + narrow), "all lanes, and 15 % above the ports", by_hand=hand, mild=not slow)
    return good("; ".join(shown))


def link(look: Look) -> Answer:
    """Speed, duplex, carrier."""
    if not look.cards:
        return without_cards(look)
    shown, wrong = [], []
    for card in look.cards:
        for name in card.interfaces:
            folder = f"/sys/class/net/{name}"
            speed, duplex = speed_gbit_s(look.host, card), look.host.text(f"{folder}/duplex")
            if look.host.number(f"{folder}/carrier") != 1:
                wrong.append(f"{name}: no link")
            elif duplex == "half":
                wrong.append(f"{name}: half duplex")
            else:
                shown.append(f"{name}: {f'{speed:g} Gb/s' if speed else 'up, speed not told'}")
    if not shown and not wrong:
        return unknown("the cards are DPDK's; `ringmaster top` shows their links")
    if wrong:
        hand = "Cable, transceiver, switch port; ip link set dev INTERFACE up."
        mild = not any(card.wanted for card in look.cards)
        return bad("; ".join(wrong + shown), "up, full duplex", by_hand=hand, mild=mild)
    return good("; ".join(shown))


def coalescing(look: Look) -> Answer:
    """How long received packets wait for their interrupt."""
    most = look.use.coalescing_us

    def judge(name: str) -> tuple[str, bool] | None:
        said = look.host.drivers.coalescing(name)
        if said is None:
            return None
        return f"{name}: {'adaptive' if said.adaptive else f'{said.receive_us} µs'}", (
            said.adaptive or said.receive_us > most
        )

    command = f"ethtool -C {{}} adaptive-rx off rx-usecs {most}"
    return _by_interface(look, judge, f"{most} µs, not adaptive", command, "coalescing")


def rings(look: Look) -> Answer:
    """Descriptors."""

    def judge(name: str) -> tuple[str, bool] | None:
        said = look.host.drivers.rings(name)
        if said is None or said.most == 0:
            return None
        return f"{name}: {said.receive} of {said.most}", said.receive < min(said.most, 4096)

    return _by_interface(look, judge, "4096, or all there are", "ethtool -G {} rx 4096", "rings")


def pause(look: Look) -> Answer:
    """Pause frames."""
    words = {(True, True): "obeyed and sent", (True, False): "obeyed", (False, True): "sent", (False, False): "off"}

    def judge(name: str) -> tuple[str, bool] | None:
        said = look.host.drivers.pause(name)
        return None if said is None else (f"{name}: {words[said]}", False)

    return _by_interface(look, judge, "", "", "pause")


def _by_interface(
    look: Look, judge: Callable[[str], tuple[str, bool] | None], should_be: str, command: str, name: str
) -> Answer:
    """Asks the drivers of the kernel's interfaces."""
    interfaces = [name for card in look.cards for name in card.interfaces]
    if not interfaces:
        return absent("no card of the kernel's") if look.cards else without_cards(look)
    said = {interface: judge(interface) for interface in interfaces}
    known = {interface: answer for interface, answer in said.items() if answer is not None}
    if not known:
        return absent("these cards have none")
    shown = "; ".join(words for words, _ in known.values())
    wrong = [interface for interface, (_, is_bad) in known.items() if is_bad]
    if not wrong:
        return good(shown)
    plain = [interface for interface in wrong if re.fullmatch(r"[\w.-]+", interface)]  # what a shell takes as it is
    commands = tuple(command.format(interface) for interface in plain)
    rules = "\\n".join(
        f'ACTION=="add", SUBSYSTEM=="net", KERNEL=="{interface}", RUN+="/usr/sbin/{command.format(interface)}"'
        for interface in plain
    )
    return bad(
        shown, should_be, mend=commands, keep=(f"printf '{rules}\\n' > /etc/udev/rules.d/90-ringmaster-{name}.rules",)
    )


CHECKS = (
    Check(
        "link",
        link,
        SERVER_NEEDS,
        "A link that came up slower, or half duplex, loses packets under a load that it should carry.",
        "FPGA slides, page 4",
    ),
    Check(
        "pcie",
        pcie,
        SERVER_NEEDS,
        "The bus can be the bottleneck: a card for x8 in a slot of x4 carries half.",
        "FPGA slides, pages 5 and 18; SafetyOrange talk: PCIe bifurcation",
    ),
    Check(
        "coalescing",
        coalescing,
        SERVER_HINT,
        "For the kernel's sockets: gathering spares interrupts and costs latency. Cards of DPDK are polled without.",
        "FPGA slides, page 18: 25 µs",
    ),
    Check("rings", rings, SERVER_HINT, "A longer ring outlasts a longer stall of the core that empties it."),
    Check(
        "pause",
        pause,
        NEVER,
        "Your choice: a receiver that sends them loses nothing, and makes every sender behind the switch port wait.",
    ),
)
