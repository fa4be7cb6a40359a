# SPDX-License-Identifier: Apache-2.0
"""The server on network cards that its programs have for themselves: emulated ones, most behind an emulated IOMMU."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cards import INSTRUMENTS, SERVER_LOG, cable_counts, cables_of, configuration, counted, served, stream
from guest import Card, Guest, Machine, guest, virtio
from harness import came, port_sum, wait_for
from networks import Host

LONG = "RINGMASTER_LONG_GUESTS" in os.environ
long_form = pytest.mark.skipif(not LONG, reason="needs a guest of its own: `make guests` boots it")
CARDS = (virtio("virtio", 1, queues=4), Card("e1000e", "e1000e", 2)) + (
    (Card("vmxnet3", "vmxnet3", 3),) if LONG else ()
)
ROLES = "  - {role: receive, core: 1, ports: [%s]}\n  - {role: housekeeping, core: 0}\n"
TURNS, MORE_TURNS = 300, 100


def server_of(*cards: Card) -> str:
    """A server of some cards."""
    return configuration(cards, ROLES % ", ".join(card.name for card in cards))


@pytest.fixture(scope="module")
def cables() -> Iterator[Host]:
    with cables_of(*CARDS) as there:
        yield there


@pytest.fixture(scope="module")
def running(cables: Host) -> Iterator[Guest]:
    with guest(Machine(CARDS, enter=cables.enter)) as machine:
        for card in CARDS:
            machine.bind(card)
        yield machine


def assert_all_counted(machine: Guest, cables: Host, turns: Mapping[Card, int]) -> None:
    """What went into each cable was decoded, once, by whichever queue it came, or missed by the card, which says so.

    ``turns``: how many were sent to each of the server's cards, as the bus has them.
    """
    answers: list[tuple[dict[str, int], dict[str, int]]] = []

    def all_read() -> bool:
        answers[:] = counted(machine, list(turns))
        sent = [INSTRUMENTS * count for count in turns.values()]
        return all(came(port) >= count for (port, _), count in zip(answers, sent, strict=True))

    wait_for(all_read, lambda: f"every datagram: {answers}")
    for card, (port, driver) in zip(turns, answers, strict=True):
        cable = cable_counts(cables, card)
        assert cable["sent"] + cable["dropped"] == INSTRUMENTS * turns[card], (card, cable)
        assert port["received"] == port_sum(port) == port["decoded"], (card, port)
        assert came(port) == cable["sent"], (card, port, cable)
        assert port["received"], (card, port)
        if card.queues > 1:
            queues = [driver[f"rx_q{queue}_good_packets"] for queue in range(card.queues)]
            assert sum(queues) == port["received"] > max(queues), (card, queues)


def test_every_datagram_that_reaches_a_card_is_counted(running: Guest, cables: Host, tmp_path: Path) -> None:
    """And when cards are unplugged then, their ports say so and keep their counts; another's datagrams still come."""
    config = server_of(*CARDS)
    turns = dict.fromkeys(CARDS, TURNS)
    stays, *gone = CARDS
    with served(running, config):
        stream(cables, tmp_path, config, CARDS, TURNS)
        assert_all_counted(running, cables, turns)
        for card in gone:
            running.unplug(card)
        stream(cables, tmp_path, server_of(stays), [stays], MORE_TURNS)
        assert_all_counted(running, cables, turns | {stays: TURNS + MORE_TURNS})
        said = running.run(f"cat {SERVER_LOG}")
        for card in gone:
            assert f"port '{card.name}' has lost its card {card.address}" in said, said


@long_form
def test_a_card_without_iommu_is_served_by_uio(tmp_path: Path) -> None:
    card = Card("e1000e", "e1000e", 1)
    config = server_of(card)
    with cables_of(card) as cables, guest(Machine([card], cables.enter, iommu=False)) as machine:
        machine.bind(card, "uio_pci_generic")
        with served(machine, config):
            stream(cables, tmp_path, config, [card], TURNS)
            assert_all_counted(machine, cables, {card: TURNS})


@long_form
@pytest.mark.parametrize("default", ["", "default_hugepagesz=1G "])
def test_a_page_of_1_gib_holds_the_buffers(tmp_path: Path, default: str) -> None:
    """Be that the size of the kernel's pages where none is named, or not."""
    card = CARDS[0]
    config = server_of(card)
    free = "cat /sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages"
    pages = default + "hugepagesz=1G hugepages=1"
    with cables_of(card) as cables, guest(Machine([card], cables.enter, memory_mib=2560, pages=pages)) as machine:
        machine.bind(card)
        assert machine.run(free) == "1"
        with served(machine, config):
            assert machine.run(free) == "0"
            stream(cables, tmp_path, config, [card], TURNS)
            assert_all_counted(machine, cables, {card: TURNS})
