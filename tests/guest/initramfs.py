# SPDX-License-Identifier: Apache-2.0
"""The kernel that test guests boot, and its first file system: Debian's packages as `make test` has unpacked them."""

import lzma
import re
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ROOT / "build/guest/packages"
INITRAMFS = ROOT / "build/guest/initramfs"
VMLINUX = ROOT / "build/guest/vmlinux"
SETUP_SECTORS, PAYLOAD, SECTOR_BYTES = 0x1F1, 0x248, 512
"""Of Linux's boot protocol for x86: places in the header of a packed kernel."""
XZ = b"\xfd7zXZ\0"
INIT = Path(__file__).with_name("init")
MODULES = ("virtio_pci", "9pnet_virtio", "9p", "vfio_pci", "vfio_iommu_type1", "uio_pci_generic", "tun")
"""What the guest needs of the kernel. Drivers of network cards are not among it: no card is ever the kernel's."""
DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def packed_kernel() -> Path:
    """The newest kernel that is there; skips where there is none."""
    found = sorted(PACKAGES.glob("boot/vmlinuz-*"))
    if not found or not (PACKAGES / "bin/busybox").exists():
        pytest.skip(f"NO KERNEL FOR A GUEST in {PACKAGES}, so no network card is tested: `make guests` says why")
    return found[-1]


def _newer(file: Path, *sources: Path) -> bool:
    return file.exists() and all(file.stat().st_mtime > one.stat().st_mtime for one in sources)


def kernel() -> Path:
    """The kernel as QEMU starts it at once; the guest's emulated core would take ten seconds to unpack it."""
    source = packed_kernel()
    if _newer(VMLINUX, source, Path(__file__)):
        return VMLINUX
    packed = source.read_bytes()
    sectors = packed[SETUP_SECTORS] or 4
    offset, length = struct.unpack_from("<II", packed, PAYLOAD)
    begin = (sectors + 1) * SECTOR_BYTES + offset
    if not packed.startswith(XZ, begin):
        return source
    with tempfile.TemporaryDirectory(dir=VMLINUX.parent) as name:
        made = Path(name) / "vmlinux"
        made.write_bytes(lzma.LZMADecompressor().decompress(packed[begin : begin + length]))
        made.rename(VMLINUX)
    return VMLINUX


def _in_order(folder: Path) -> list[Path]:
    """Modules, each behind those that it needs."""
    by_name = {path.stem.replace("-", "_"): path for path in folder.rglob("*.ko")}
    order: list[Path] = []

    def add(name: str) -> None:
        path = by_name.get(name.replace("-", "_"))
        if path is None or path in order:
            return  # built into the kernel
        needs = DEPENDS.search(path.read_bytes())
        for need in needs[1].decode().split(",") if needs and needs[1] else ():
            add(need)
        order.append(path)

    for name in MODULES:
        add(name)
    return order


def initramfs() -> Path:
    """The archive for that kernel; made where it is missing or older than what it is made from."""
    source = packed_kernel()
    version = source.name.removeprefix("vmlinuz-")
    if _newer(INITRAMFS, source, INIT, Path(__file__)):
        return INITRAMFS
    with tempfile.TemporaryDirectory(dir=INITRAMFS.parent) as name:
        stage = Path(name) / "stage"
        for folder in ("bin", "modules"):
            (stage / folder).mkdir(parents=True)
        busybox = stage / "bin/busybox"
        shutil.copy(PACKAGES / "bin/busybox", busybox)
        shutil.copy(INIT, stage / "init")
        (stage / "init").chmod(0o755)
        order = _in_order(PACKAGES / "lib/modules" / version)
        for path in order:
            shutil.copy(path, stage / "modules")
        (stage / "modules/order").write_text("".join(f"{path.name}\n" for path in order))
        names = "\n".join(str(path.relative_to(stage)) for path in sorted(stage.rglob("*")))
        packed = subprocess.run(
            [busybox, "cpio", "-o", "-H", "newc"], input=names.encode(), stdout=subprocess.PIPE, check=True, cwd=stage
        )
        made = Path(name) / "initramfs"
        made.write_bytes(packed.stdout)
        made.rename(INITRAMFS)
    return INITRAMFS
