# SPDX-License-Identifier: Apache-2.0
"""A server in a guest, on cards that its programs alone have, and the instruments that stream to them from the host."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from guest import Card, Guest
from initramfs import ROOT
from networks import Host, host

from ringmaster.places import find_program

WORKSPACE = f"guest-{os.getpid()}"
SERVER_LOG = "/tmp/server.log"
TURN_RATE_HZ = 200
INSTRUMENTS = 8
"""Of each card, each with an address of its own."""


def configuration(cards: Sequence[Card], roles: str, more: str = "") -> str:
    """A server whose ports are the guest's cards."""
    ports = "".join(
        f'  - {{name: {card.name}, kind: pci, device: "{card.address}", queues: {card.queues}}}\n' for card in cards
    )
    instruments = "".join(
        f"  - {{name: {card.name}_bpm{place}, kind: bpm, id: {1 + index * INSTRUMENTS + place},"
        f" port: {card.name}, source: 10.{card.number}.0.{1 + place}}}\n"
        for index, card in enumerate(cards)
        for place in range(INSTRUMENTS)
    )
    return (
        f"workspace: {WORKSPACE}\nturn_rate_hz: {TURN_RATE_HZ}\npolling: {{naps: true}}\ndpdk_telemetry: true\n{more}"
        f"buffers: {{turn_records: 16384, fast_records: 1024}}\n"
        f"ports:\n{ports}instruments:\n{instruments}roles:\n{roles}"
    )


def ring(cards: Sequence[Card]) -> str:
    """The same instruments as the host has them, at the other ends of the cards' cables."""
    ports = "".join(
        f"  - {{name: {card.name}, kind: af_packet, interface: {card.name},"
        f' destination: 10.{card.number}.0.254, destination_mac: "{card.mac}"}}\n'
        for card in cards
    )
    return f"ports:\n{ports}"


@contextmanager
def cables_of(*cards: Card) -> Iterator[Host]:
    """A namespace with the other ends of the cards' cables, in which nothing else is said."""
    with host("cables") as there:
        there.run("sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1")
        for card in cards:
            there.run(card.make_tap())
        yield there


@contextmanager
def served(guest: Guest, config: str) -> Iterator[None]:
    """A server in the guest that has started. It ends with the block, and well where the block does."""
    guest.write("/tmp/server.yaml", config)
    guest.run(f"{find_program('ringmaster-server')} run /tmp/server.yaml >{SERVER_LOG} 2>&1 & echo $! >/tmp/pid")
    there = f"[ -S /var/run/dpdk/rm-{WORKSPACE}/dpdk_telemetry.v2 ] && [ -d /dev/shm/ringmaster/{WORKSPACE} ]"
    guest.run(f"until {there} || ! kill -0 $(cat /tmp/pid); do sleep 0.2; done; cat {SERVER_LOG}; {there}")
    status = None
    try:
        yield
        status = 0
    finally:
        guest.run("kill $(cat /tmp/pid); wait $(cat /tmp/pid)", expect=status)


def asked(guest: Guest, *commands: str) -> list[Any]:
    """Answers of the server's telemetry socket."""
    ask = f"{sys.base_prefix}/bin/python3 -I -S {ROOT}/tests/guest/ask.py"
    said = guest.run(" ".join([ask, WORKSPACE, *commands]))
    return [next(iter(json.loads(line).values())) for line in said.splitlines() if line.startswith("{")]


def counted(guest: Guest, cards: Sequence[Card]) -> list[tuple[dict[str, int], dict[str, int]]]:
    """What the server counted of each card's port, and what the card's driver did. Asked at once, for it takes seconds.

    ``cards``: all of the server's, as the bus has them.
    """
    ports = asked(
        guest,
        *(f"/ringmaster/counters,port/{card.name}" for card in cards),
        *(f"/ethdev/xstats,{place}" for place in range(len(cards))),
    )
    return list(zip(ports[: len(cards)], ports[len(cards) :], strict=True))


def stream(host: Host, folder: Path, config: str, cards: Sequence[Card], turns: int) -> dict[str, Any]:
    """Sends so many turns of every instrument from the host; returns the summary."""
    (folder / "server.yaml").write_text(config)
    (folder / "ring.yaml").write_text(ring(cards))
    program = find_program("ringmaster-instruments")
    files = [str(folder / "server.yaml"), str(folder / "ring.yaml")]
    command = [*host.enter, str(program), "run", *files, "--turns", str(turns), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    summary: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return summary


def cable_counts(host: Host, card: Card) -> dict[str, int]:
    """What went into a cable on the host's side: frames that QEMU read, and that the tap had no room for."""
    said = json.loads(host.run(f"ip -j -s link show {card.name}"))[0]["stats64"]["tx"]
    return {"sent": said["packets"], "dropped": said["dropped"]}
