# SPDX-License-Identifier: Apache-2.0
"""Debian packages of this build, and clean roots that they are installed in."""

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S

NAMES = ("libringmaster1", "libringmaster-dev", "ringmaster", "ringmaster-doc")
VERSION = "0.1.0~test1"
LONG_S = TIMEOUT_S * 10
KEPT = ROOT / "build/packages-test"
NOT_REACHED = re.compile("Could not|Temporary failure|Failed to fetch|Unable to connect")
OF_DPKG = (
    *("var/lib/dpkg", "var/log", "var/cache", "etc/ld.so.cache"),
    *("proc", "sys", "dev", "tmp", "run"),
)
"""What dpkg and its helpers keep of their own doings; and what is not a file of a package."""


def without(*tools: str) -> str:
    """Why tests are skipped: tools that are not there. Empty where all are."""
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return f"{', '.join(missing)} not there: tools/dependencies packages roots" if missing else ""


def make(out: Path, version: str, options: str = "") -> dict[str, Path]:
    """The packages of this build under a version, by their names."""
    environment = os.environ | {"VERSION": version, "DEB_BUILD_OPTIONS": options}
    command = [ROOT / "tools/make_packages", out]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    return {path.name.split("_")[0]: path for path in out.glob("*.deb")}


def depends(package: Path) -> list[str]:
    """What a package needs, as others are named."""
    told = subprocess.check_output(["dpkg-deb", "--field", package, "Depends"], text=True)
    return [word.split("|")[0].strip() for word in told.split(",") if word.strip()]


class CleanRoot:
    """A folder with a Debian system, into which commands are sent."""

    def __init__(self, top: Path) -> None:
        self.top = top

    def run(self, *command: str) -> str:
        """With processes, mounts, shared memory and a network of its own: what it leaves ends with it."""
        prepare = f"""ip link set lo up; mount -t proc proc {self.top}/proc; mount --rbind /dev {self.top}/dev
            mount --rbind /sys {self.top}/sys
            mount -t tmpfs tmpfs {self.top}/dev/shm; exec chroot {self.top} "$@" """
        words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-ec", prepare, "sh"]
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
        done = subprocess.run(
            words + list(command), capture_output=True, text=True, check=False, env=environment, timeout=LONG_S
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def install(self, packages: dict[str, Path]) -> None:
        """Or upgrade, or downgrade."""
        for package in packages.values():
            shutil.copy(package, self.top / "tmp")
        there = [f"/tmp/{package.name}" for package in packages.values()]
        self.run("dpkg", "--force-downgrade", "--install", *there)
        self.run("rm", *there)

    def version(self) -> str:
        """Of the package that is installed."""
        return self.run("dpkg-query", "--show", "--showformat=${Version}", "ringmaster")

    def files(self) -> set[str]:
        """All but what dpkg keeps of its own doings."""
        every = (path.relative_to(self.top).as_posix() for path in self.top.rglob("*"))
        return {path for path in every if not path.startswith(OF_DPKG)}


def sources() -> Path:
    """Debian's own list of this host: where its packages come from."""
    places = (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list"))
    return next(place for place in places if place.exists())


def archive_of_root(packages: dict[str, Path]) -> Path:
    """Of a root with all that the packages depend on, made from Debian's archive: once."""
    every = {word.split()[0] for package in packages.values() for word in depends(package)}
    needed = ",".join(sorted(every - set(NAMES)))
    kept = KEPT / f"root-{hashlib.sha256(needed.encode()).hexdigest()[:12]}.tar"
    if kept.exists():
        return kept
    KEPT.mkdir(parents=True, exist_ok=True)
    making = Path(f"{kept}.part")
    options = ["--variant=minbase", f"--include={needed}", "--format=tar"]
    command: list[str | Path] = ["mmdebstrap", *options, "bookworm", making, sources()]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONG_S)
    if done.returncode != 0 and NOT_REACHED.search(done.stderr):
        pytest.skip(f"Debian's archive is not reached: {done.stderr[-300:]}")
    assert done.returncode == 0, done.stderr
    making.rename(kept)
    return kept


@contextmanager
def clean_root(packages: dict[str, Path], folder: Path) -> Iterator[CleanRoot]:
    """With all that the packages depend on, without them."""
    top = folder / "root"
    top.mkdir()
    subprocess.run(["tar", "-C", top, "-xf", archive_of_root(packages)], check=True)
    try:
        yield CleanRoot(top)
    finally:
        shutil.rmtree(top)
