# SPDX-License-Identifier: Apache-2.0
"""Parts of the stick, without its root: its partitions, GRUB and menu, and what it writes for the cards it finds.

`make image-test` boots the whole of it.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from runpy import run_path

import make_image
import pytest
from console import booted
from initramfs import ROOT, initramfs, packed_kernel

from ringmaster.doctor.cards import Card
from ringmaster.places import find_program

NEEDED = ("grub-mkimage", "mcopy", "mkfs.vfat", "sfdisk", "debugfs")
SETTER = ROOT / "packaging/image/root/usr/lib/ringmaster-stick/cards.py"


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stick with a kernel and the first root of test guests, which prints what the kernel was told."""
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/sbin:/sbin")
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing or not Path("/usr/lib/grub/i386-pc/boot.img").exists():
        pytest.skip(f"NO {', '.join(missing) or 'grub-pc-bin'} HERE, so no stick is made: make test-dependencies")
    monkeypatch.setattr(make_image, "WORK", tmp_path)
    files = tmp_path / "files"
    (files / "live").mkdir(parents=True)
    (files / "EFI/debian").mkdir(parents=True)
    shutil.copy(packed_kernel(), files / "live/vmlinuz")
    shutil.copy(initramfs(), files / "live/initrd.img")
    number = make_image.menu(files)
    (files / "ringmaster.cfg").write_text('set default=1\nset isolated=1\nset more="loglevel=7"\n')
    made = tmp_path / "stick.img"
    make_image.disk(made, files, number)
    return made


def test_its_menu_boots_the_kernel_with_the_words_that_its_settings_say(disk: Path) -> None:
    """By BIOS. GRUB finds its menu on the partition that any computer reads, and there the settings."""
    said = subprocess.run(["sfdisk", "--json", disk], capture_output=True, text=True, check=True).stdout
    parts = json.loads(said)["partitiontable"]["partitions"]
    assert [part["name"] for part in parts] == ["bios", "ringmaster", "persistence"]
    listed = ["debugfs", "-R", "show_super_stats -h", f"{disk}?offset={512 * parts[2]['start']}"]
    assert "persistence" in subprocess.run(listed, capture_output=True, text=True, check=True).stdout
    with booted(disk, ("-device", "virtio-blk-pci,drive=stick")) as console:
        shown = console.wait_for("Run /init as init process")
    told = re.findall("Command line: (.*)\n", shown)[-1].split()
    assert told[-1] == "loglevel=7", "words of the settings come last, and win"
    assert {"boot=stick", "isolcpus=managed_irq,domain,1", "nohz_full=1", "rcu_nocbs=1", "irqaffinity=0"} <= set(told)


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("cores", [(0,), (0, 1)])
def test_a_server_takes_what_it_writes_for_its_cards(count: int, cores: tuple[int, ...], tmp_path: Path) -> None:
    found = [Card(f"0000:{place:02x}:00.0", None, (), None) for place in range(count)]
    config = tmp_path / "stick.yaml"
    config.write_text(run_path(str(SETTER))["configuration"](found, cores))
    done = subprocess.run(
        [find_program("ringmaster-server"), "check", config], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, config.read_text() + done.stdout + done.stderr
    for card in found:
        assert card.address in config.read_text()
