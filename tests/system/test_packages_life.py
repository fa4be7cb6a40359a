# SPDX-License-Identifier: Apache-2.0
"""What becomes of the Debian packages in a clean root: installed, run, upgraded, downgraded, purged; and lintian.

`make packages-test` runs it, in minutes. The root is made by mmdebstrap from Debian's archive, with what the packages
depend on, and is kept in build/packages-test for the next time.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaged import LONG_S, NAMES, VERSION, CleanRoot, clean_root, make, without

NEWER = "0.1.0~test2"
MISSING = without("dh", "dpkg-buildpackage", "lintian", "mmdebstrap")
SETTINGS = "workspace: mine\n"
DEMO = ("runuser", "-u", "ringmaster", "--", "ringmaster", "demo", "--ring", "loop", "--seconds", "1")

pytestmark = [
    pytest.mark.skipif("RINGMASTER_PACKAGES" not in os.environ, reason="minutes: `make packages-test` runs it"),
    pytest.mark.skipif(os.geteuid() != 0, reason="root alone may enter another root: sudo make packages-test"),
    pytest.mark.skipif(bool(MISSING), reason=MISSING),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    out = tmp_path_factory.mktemp("packages")
    yield make(out, VERSION)
    shutil.rmtree(out)


@pytest.fixture
def root(packages: dict[str, Path], tmp_path: Path) -> Iterator[CleanRoot]:
    with clean_root(packages, tmp_path) as made:
        yield made


def test_lintian_has_no_errors(packages: dict[str, Path]) -> None:
    command = ["lintian", "--allow-root", "--fail-on", "error", *map(str, packages.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONG_S)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def raised(package: Path, folder: Path) -> Path:
    """The same package under the newer version."""
    there = folder / package.stem
    subprocess.run(["dpkg-deb", "--raw-extract", package, there], check=True)
    control = there / "DEBIAN/control"
    control.write_text(control.read_text().replace(VERSION, NEWER))
    out = folder / package.name.replace(VERSION, NEWER)
    subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Zgzip", "-z1", there, out], check=True)
    shutil.rmtree(there)
    return out


def test_a_life_of_the_packages(root: CleanRoot, packages: dict[str, Path], tmp_path: Path) -> None:
    before = root.files()
    begun_s = time.monotonic()
    root.install(packages)
    installed_s = time.monotonic()
    report = root.run(*DEMO)
    reported_s = time.monotonic()
    print(f"installed in {installed_s - begun_s:.0f} s; a second of the demo, {reported_s - installed_s:.0f} s later")
    print(report)
    assert '"lost": 0' in report
    assert root.run("id", "--name", "--groups", "ringmaster").split() == ["ringmaster"]

    mine = root.top / "etc/ringmaster/mine.yaml"
    mine.write_text(SETTINGS)
    newer = {name: raised(package, tmp_path) for name, package in packages.items()}
    for version, some in ((NEWER, newer), (VERSION, packages)):
        root.install(some)
        assert root.version() == version
        assert mine.read_text() == SETTINGS
        assert "demo" in root.run("ringmaster", "--help")  # as root, which could leave compiled modules

    root.run("dpkg", "--remove", *reversed(NAMES))
    state = {"var/lib/ringmaster", "var/lib/ringmaster/setup"}
    assert root.files() - before == state | {"etc/ringmaster", "etc/ringmaster/mine.yaml"}
    root.run("dpkg", "--purge", *reversed(NAMES))
    assert root.files() - before == {"etc/ringmaster", "etc/ringmaster/mine.yaml"}
