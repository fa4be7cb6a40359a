#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the image of the stick, build/image/ringmaster.img, of the Debian packages in build/packages.

A disk of three partitions: GRUB's for BIOS; one that any computer reads (FAT), with GRUB for UEFI, the kernel and the
packed root; and one for settings (ext4), which takes the rest of the stick at the first boot. The root without our
packages is kept in build/image/base-*.tar, as long as the list of its packages stays the same: without that file the
next image has Debian's newest. Needs root, for the root's files are root's.
"""

import hashlib
import os
import re
import secrets
import shutil
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ROOT / "packaging/image"
WORK = ROOT / "build/image"
PACKAGES = ("libringmaster1", "ringmaster", "ringmaster-doc")
SECTOR = 512
MIB = 1 << 20
SETTINGS_BYTES = 64 * MIB
BIOS_MODULES = "biosdisk part_gpt fat linux normal configfile serial terminal test echo sleep reboot halt"
UNITS = ("ringmaster-stick", "ringmaster-stick-growth", "ringmaster-stick-persistence")
DPKG = (
    "path-exclude=/usr/share/locale/*",
    "path-exclude=/usr/share/man/*",
    "path-exclude=/usr/share/doc/*",
    "path-include=/usr/share/doc/*/copyright",
    "path-include=/usr/share/doc/ringmaster*",
    "path-include=/usr/share/man/man1/ringmaster*",
)
DISABLED = (
    "apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "e2scrub_reap.service",
    "fstrim.timer", "systemd-firstboot.service", "systemd-networkd-wait-online.service", "man-db.timer",
    "systemd-repart.service", "systemd-pstore.service", "systemd-binfmt.service", "systemd-update-utmp.service",
    "systemd-update-utmp-runlevel.service", "systemd-machine-id-commit.service", "systemd-journal-flush.service",
    "systemd-random-seed.service", "systemd-pcrphase.service", "systemd-pcrphase-sysinit.service",
    "proc-sys-fs-binfmt_misc.automount", "sys-fs-fuse-connections.mount", "getty-static.service",
)  # fmt: skip


def run(*command: str | Path, **more: object) -> str:
    """Runs it; ends all of this with what it said where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))[:200]}: failed: {(done.stderr + done.stdout)[-3000:]}")
    return str(done.stdout)


def our_packages() -> list[Path]:
    """Those that `make packages` has left."""
    found = [path for name in PACKAGES for path in (ROOT / "build/packages").glob(f"{name}_*.deb")]
    if len(found) != len(PACKAGES):
        sys.exit(f"build/packages: found {[path.name for path in found]}, expected {PACKAGES}: make packages")
    return found


def needed(packages: list[Path]) -> list[str]:
    """What is in the root besides them: what packages.txt lists, and what they depend on."""
    lines = (PARTS / "packages.txt").read_text().splitlines()
    listed = {line.split()[0] for line in lines if line and not line.startswith("#")}
    for path in packages:
        for field in ("Depends", "Pre-Depends"):
            for part in run("dpkg-deb", "-f", path, field).split(","):
                name = re.split(r"[ (|:]", part.strip())[0]
                listed |= {name} - {"", *PACKAGES}
    return sorted(listed)


def base(packages: list[Path]) -> Path:
    """An archive of a root without our packages."""
    names = needed(packages)
    made_of = hashlib.sha256("\n".join([*names, *DPKG]).encode()).hexdigest()[:12]
    archive = WORK / f"base-{made_of}.tar"
    if not archive.exists():
        print("a root of Debian's packages, in some 3 minutes …", flush=True)
        making = WORK / "making.tar"
        sources = [str(path) for path in Path("/etc/apt/sources.list.d").glob("debian.sources")]
        sources += ["/etc/apt/sources.list"] if not sources else []
        options = ["--variant=minbase", "--format=tar", '--aptopt=Apt::Install-Recommends "false"']
        options += [f"--dpkgopt={option}" for option in DPKG] + [f"--include={','.join(names)}"]
        run("mmdebstrap", *options, "bookworm", making, *sources)
        making.rename(archive)
    return archive


def fill(root: Path, archive: Path, packages: list[Path]) -> None:
    """The stick's root: Debian's packages, ours, and what makes a stick of it."""
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    run("tar", "-xf", archive, "-C", root, "--exclude=./dev/*")
    (root / "usr/share/man/man1").mkdir(parents=True, exist_ok=True)
    for path in packages:
        shutil.copy(path, root / "tmp")
    run("chroot", root, "sh", "-c", "dpkg -i /tmp/*.deb && rm /tmp/*.deb")
    shutil.copytree(PARTS / "root", root, dirs_exist_ok=True)
    # What is unpacked before the root is there: drivers of what a stick is plugged into, and none of networks.
    run("sed", "-i", "s/^MODULES=.*/MODULES=list/", root / "etc/initramfs-tools/initramfs.conf")
    run("chroot", root, "update-initramfs", "-u", "-k", "all")
    run("systemctl", f"--root={root}", "--quiet", "mask", *DISABLED)
    run("systemctl", f"--root={root}", "--quiet", "enable", *UNITS)
    (root / "etc/ringmaster").mkdir(exist_ok=True)
    (root / "etc/hostname").write_text("ringmaster\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost ringmaster\n::1 localhost\n")
    (root / "etc/machine-id").write_text("")
    for place in ("var/lib/apt/lists", "var/cache/apt", "var/log"):
        run("sh", "-c", f"rm -rf {root / place}/*")


def menu(folder: Path) -> str:
    """Writes GRUB's menu; returns the number of the file system that it will lie on, by which the kernel finds it."""
    number = secrets.token_hex(4).upper()
    text = (PARTS / "grub.cfg").read_text().replace("medium=MEDIUM", f"medium={number[:4]}-{number[4:]}")
    (folder / "EFI/debian/grub.cfg").write_text(text)
    shutil.copy(PARTS / "ringmaster.cfg", folder)
    return number


def files(folder: Path, root: Path) -> None:
    """What lies on the partition that GRUB reads, but for its menu."""
    shutil.rmtree(folder, ignore_errors=True)
    for place in ("EFI/BOOT", "EFI/debian", "live"):
        (folder / place).mkdir(parents=True)
    kernel = sorted((root / "boot").glob("vmlinuz-*"))[-1]
    shutil.copy(kernel, folder / "live/vmlinuz")
    shutil.copy(root / "boot" / kernel.name.replace("vmlinuz", "initrd.img"), folder / "live/initrd.img")
    left_out = ["boot/*", "tmp/*", "dev/*", "proc/*", "sys/*", "run/*"]
    packed = folder / "live/filesystem.squashfs"
    run("mksquashfs", root, packed, "-comp", "zstd", "-Xcompression-level", "12", "-wildcards", "-e", *left_out)
    signed = WORK / "signed/usr/lib"
    shutil.copy(signed / "shim/shimx64.efi.signed", folder / "EFI/BOOT/BOOTX64.EFI")
    shutil.copy(signed / "grub/x86_64-efi-signed/grubx64.efi.signed", folder / "EFI/BOOT/grubx64.efi")


def bios_parts(first_sector: int) -> tuple[bytes, bytes]:
    """GRUB for BIOS: the code of the disk's first sector, and the image that it loads from `first_sector` on."""
    folder = Path("/usr/lib/grub/i386-pc")
    core_file = WORK / "core.img"
    run("grub-mkimage", "-O", "i386-pc", "-d", folder, "-o", core_file, "-p", "(,gpt2)/EFI/debian",
        *BIOS_MODULES.split())  # fmt: skip
    boot, core = bytearray((folder / "boot.img").read_bytes()[:440]), bytearray(core_file.read_bytes())
    boot[0x5C:0x64] = struct.pack("<Q", first_sector)
    boot[0x66:0x68] = b"\x90\x90"  # the drive that BIOS names is taken, of any kind
    core[500:508] = struct.pack("<Q", first_sector + 1)  # the rest of it, behind its first sector
    core[508:510] = struct.pack("<H", -(-len(core) // SECTOR) - 1)
    return bytes(boot), bytes(core)


def disk(image: Path, folder: Path, number: str) -> None:
    """Puts it all together. ``number``: of the file system that GRUB reads."""
    fat, settings = WORK / "fat.img", WORK / "settings.img"
    size = sum(path.stat().st_size for path in folder.rglob("*"))
    fat_bytes = (size + 48 * MIB) // MIB * MIB
    for path, length in ((fat, fat_bytes), (settings, SETTINGS_BYTES)):
        path.unlink(missing_ok=True)
        with path.open("wb") as empty:
            empty.truncate(length)
    run("mkfs.vfat", "-F", "32", "-n", "RINGMASTER", "-i", number, fat)
    run("mcopy", "-s", "-i", fat, *sorted(folder.iterdir()), "::")
    # For a partition that grows to that of a large stick: blocks of 4 KiB, and few inodes, which growing writes.
    run("mke2fs", "-q", "-t", "ext4", "-b", "4096", "-N", "1024", "-L", "persistence", "-m", "0", settings)
    starts = MIB, 2 * MIB, 2 * MIB + fat_bytes
    table = "label: gpt\n" + "".join(
        f"start={start // SECTOR}, size={length // SECTOR}, type={kind}, name={name}\n"
        for start, length, kind, name in (
            (starts[0], MIB, "21686148-6449-6E6F-744E-656564454649", "bios"),
            (starts[1], fat_bytes, "C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "ringmaster"),
            (starts[2], SETTINGS_BYTES, "0FC63DAF-8483-4772-8E79-3D69D8477DE4", "persistence"),
        )
    )
    making = image.with_suffix(".making")
    making.unlink(missing_ok=True)
    with making.open("wb") as empty:
        empty.truncate(starts[2] + SETTINGS_BYTES + MIB)
    run("sfdisk", "--quiet", making, input=table)
    boot, core = bios_parts(starts[0] // SECTOR)
    with making.open("r+b") as out:
        out.write(boot)
        out.seek(starts[0])
        out.write(core)
    for start, path in ((starts[1], fat), (starts[2], settings)):
        run("dd", f"if={path}", f"of={making}", "bs=1M", f"seek={start // MIB}", "conv=notrunc,sparse", "status=none")
        path.unlink()
    making.rename(image)


def main() -> None:
    """Makes it, and says how large it is."""
    if os.geteuid() != 0:
        sys.exit("making an image needs root: sudo make image")
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    if not (WORK / "signed/made").exists():
        sys.exit(
            f"{WORK}/signed: no shim and GRUB of Debian's, expected by `make image`; it says why they are not there"
        )
    image = WORK / "ringmaster.img"
    WORK.mkdir(parents=True, exist_ok=True)
    packages = our_packages()
    archive = base(packages)
    print("our packages, packed with it in some 2 minutes …", flush=True)
    fill(WORK / "root", archive, packages)
    files(WORK / "files", WORK / "root")
    disk(image, WORK / "files", menu(WORK / "files"))
    shutil.rmtree(WORK / "root")
    shutil.rmtree(WORK / "files")
    if "SUDO_UID" in os.environ:
        run("chown", "-R", f"{os.environ['SUDO_UID']}:{os.environ['SUDO_GID']}", WORK, WORK.parent / "packages")
    print(f"{image}: {image.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
