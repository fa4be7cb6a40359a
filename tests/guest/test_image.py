# SPDX-License-Identifier: Apache-2.0
"""The stick's image boots, by BIOS and by UEFI, and its server counts what comes to its cards."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from time import monotonic

import pytest
from cards import INSTRUMENTS, cable_counts, cables_of, configuration, stream
from console import Console, booted
from guest import Card, virtio
from harness import came, port_sum, wait_for
from initramfs import ROOT
from networks import Host

IMAGE = ROOT / "build/image/ringmaster.img"
OVMF = Path("/usr/share/OVMF")
CARDS = (virtio("virtio", 1, 1), Card("e1000e", "e1000e", 2))
ROLES = "  - {role: receive, core: 1, ports: [virtio, e1000e]}\n  - {role: housekeeping, core: 0}\n"
TURNS = 100

pytestmark = pytest.mark.skipif("RINGMASTER_IMAGE" not in os.environ, reason="minutes: `make image-test` runs it")
VIRTIO = ("-device", "virtio-blk-pci,drive=stick,bootindex=0")
NVME = ("-device", "nvme,drive=stick,serial=stick,bootindex=0")
USB = ("-device", "qemu-xhci", "-device", "usb-storage,drive=stick,bootindex=0")
MOST_BYTES = 1.5e9


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """A stick: the image, and 32 GiB behind it."""
    assert IMAGE.exists(), f"no {IMAGE}: make image"
    assert IMAGE.stat().st_size <= MOST_BYTES
    copy = tmp_path / "stick.img"
    subprocess.run(["cp", "--sparse=always", IMAGE, copy], check=True)
    os.truncate(copy, copy.stat().st_size + (32 << 30))
    choose(copy, 0)
    return copy


def choose(disk: Path, entry: int) -> None:
    """Edits the stick's settings for its menu. An emulated core has nothing to guard against, and its timer may seem to
    stand still, where the host has taken its core away.
    """
    settings = disk.with_name("ringmaster.cfg")
    settings.write_text(f'set default={entry}\nset more="mitigations=off no_timer_check"\n')
    subprocess.run(["mcopy", "-o", "-i", f"{disk}@@2M", settings, "::ringmaster.cfg"], check=True)


def disk_to_recover(file: Path) -> tuple[str, ...]:
    """A disk of the computer's own, which a mount would change, even one that only reads: its journal is not empty."""
    file.touch()
    os.truncate(file, 64 << 20)
    subprocess.run(["mke2fs", "-q", "-t", "ext4", file], check=True)
    subprocess.run(["debugfs", "-w", "-R", "feature needs_recovery", file], check=True, capture_output=True)
    return ("-drive", f"file={file},format=raw,if=none,id=other", "-device", "virtio-blk-pci,drive=other,addr=0x10")


def secure_boot(folder: Path) -> tuple[str, ...]:
    """UEFI that boots only what Microsoft or those whom it trusts have signed, as computers are sold."""
    variables = folder / "variables"
    shutil.copy(OVMF / "OVMF_VARS_4M.ms.fd", variables)
    flash = f"if=pflash,format=raw,readonly=on,file={OVMF}/OVMF_CODE_4M.secboot.fd"
    locked = ("-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on")
    return (*locked, "-drive", flash, "-drive", f"if=pflash,format=raw,file={variables}")


def settings_partition(disk: Path) -> tuple[int, int]:
    """Where it begins, and how long it is, in bytes."""
    said = subprocess.run(["sfdisk", "--json", disk], capture_output=True, text=True, check=True).stdout
    part = json.loads(said)["partitiontable"]["partitions"][2]
    assert part["name"] == "persistence"
    return 512 * part["start"], 512 * part["size"]


def reached(console: Console, begun_s: float, what: str) -> str:
    """All that is shown until the prompt, and then once the cards are set up; tells how long it took to the prompt."""
    shown = console.reach_prompt()
    uptime_s = float(console.run("cat /proc/uptime").split()[0])
    print(f"{what}: {monotonic() - begun_s:.0f} s to the prompt, {uptime_s:.0f} s of it since the kernel began")
    assert "ringmaster qualify" in shown
    found = console.run("until [ -s /run/ringmaster-stick/cards ]; do sleep 1; done; /usr/lib/ringmaster-stick/welcome")
    print(found)
    return found


def ports_of(console: Console) -> dict[str, dict[str, int]]:
    """The server's counters of both cards, as a person reads them."""
    said = console.run("ringmaster get counters/port/virtio counters/port/e1000e --json")
    found = json.loads(re.sub(r"\n", "", said[said.index("{") :]))
    return {card.name: found[f"counters/port/{card.name}"] for card in CARDS}


def assert_all_counted(console: Console, cables: Host) -> None:
    """What went into each card's cable was decoded, or missed by the card, which says so."""

    def all_read() -> bool:
        ports = ports_of(console).values()
        return all(came(port) >= INSTRUMENTS * TURNS for port in ports)

    wait_for(all_read, "the cards' datagrams")
    ports = ports_of(console)
    for card in CARDS:
        port, cable = ports[card.name], cable_counts(cables, card)
        print(f"{card.name}: {cable} into its cable, {port['received']} received, {port['decoded']} decoded")
        assert cable["sent"] + cable["dropped"] == INSTRUMENTS * TURNS, (card, cable)
        assert port["received"] == port_sum(port) == port["decoded"], (card, port)
        assert came(port) == cable["sent"], (card, port, cable)
        assert port["received"], (card, port)


def assert_started_again(console: Console, signal: str) -> None:
    """A server that has ended or hangs is started again by systemd, with its cards."""
    service = "ringmaster@guest"
    killed = console.run(f"systemctl show -P MainPID {service}")
    console.run(f"kill -{signal} {killed}")
    other = f"[ $(systemctl show -P MainPID {service}) -ne {killed} ]"
    console.run(f"until {other} && systemctl -q is-active {service}; do sleep 1; done")
    assert set(ports_of(console)) == {card.name for card in CARDS}


def test_it_serves_its_cards_and_keeps_its_settings(disk: Path, tmp_path: Path) -> None:
    """By BIOS from a disk; the stick itself binds the cards and takes huge pages. Then as a stick of USB by UEFI with
    Secure Boot, with a core isolated: what was set is there, and the server starts by itself.
    """
    config = configuration(CARDS, ROLES)
    own_disk = disk_to_recover(other := tmp_path / "other.img")
    before = other.read_bytes()
    with cables_of(*CARDS) as cables:
        begun_s = monotonic()
        with booted(disk, (*VIRTIO, *own_disk), CARDS, cables.enter) as console:
            found = reached(console, begun_s, "BIOS")
            assert "isolated: none" in found
            assert "kept on" in found
            console.run("until systemctl -q is-active ringmaster-stick-growth; do sleep 1; done")
            for card in CARDS:
                assert f"{card.address} vfio-pci" in found, console.run("cat /run/ringmaster-stick/setup", expect=None)
            console.run("findmnt -no FSTYPE / | grep -x overlay")
            console.write("/etc/ringmaster/guest.yaml", config)
            console.run("echo guest >/etc/ringmaster/start")
            console.run("systemctl start ringmaster@guest || journalctl -n 30 --no-pager -u ringmaster@guest")
            assert console.run("ps -o user= -C ringmaster-server").strip() == "ringmaster"
            stream(cables, tmp_path, config, CARDS, TURNS)
            assert_all_counted(console, cables)
            for signal in ("KILL", "STOP"):
                assert_started_again(console, signal)
            console.run("systemctl stop ringmaster@guest; sed -i 's/core: 1/core: 0/' /etc/ringmaster/stick.yaml")
            found = console.run("systemctl restart ringmaster-stick; cat /run/ringmaster-stick/cards; sync")
            set_up = console.run("cat /run/ringmaster-stick/setup")
            assert "0000:01:00.0 vfio-pci" in found, set_up
            assert "changes made" in set_up, "the changed configuration was not refused"
        assert settings_partition(disk)[1] > 32 << 30, "settings have the rest of the stick"
        assert other.read_bytes() == before, "the computer's own disk is as it was"

        choose(disk, 1)
        begun_s = monotonic()
        with booted(disk, (*USB, *secure_boot(tmp_path)), CARDS, cables.enter) as console:
            found = reached(console, begun_s, "UEFI, Secure Boot")
            assert "isolated: 1" in found
            assert "kept on" in found
            console.run("dmesg | grep -i 'secure boot enabled'")
            console.run("until systemctl is-active ringmaster@guest; do sleep 1; done")
            assert set(ports_of(console)) == {card.name for card in CARDS}


def test_it_boots_without_cards_and_says_that_settings_are_broken(disk: Path) -> None:
    """From an NVMe disk whose partition for settings has rubbish at its beginning."""
    start, _ = settings_partition(disk)
    with disk.open("r+b") as raw:
        raw.seek(start)
        raw.write(b"\xa5" * (8 << 20))
    begun_s = monotonic()
    with booted(disk, NVME) as console:
        found = reached(console, begun_s, "NVMe")
        assert "NOT KEPT" in found
        assert "none that DPDK may have" in found
        assert console.run("ss -Hltnu") == "", "no service that another computer could reach"
        console.write("/etc/ringmaster/stick.yaml", configuration(CARDS, ROLES))
        found = console.run("systemctl restart ringmaster-stick; cat /run/ringmaster-stick/cards")
        assert "is /etc/ringmaster/stick.yaml of another machine?" in found
        assert "report.html" in console.run("ringmaster qualify --quick now && ls now")
