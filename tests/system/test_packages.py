# SPDX-License-Identifier: Apache-2.0
"""The Debian packages: what is in each of them, and what they need."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import ROOT, TIMEOUT_S
from packaged import NAMES, VERSION, depends, make, without

MULTIARCH = "usr/lib/x86_64-linux-gnu"
HOLDS = {
    "libringmaster1": [f"{MULTIARCH}/libringmaster.so.1", f"{MULTIARCH}/libringmaster-twin.so"],
    "libringmaster-dev": [
        f"{MULTIARCH}/libringmaster.so",
        f"{MULTIARCH}/pkgconfig/ringmaster.pc",
        "usr/include/ringmaster/stream.h",
        "usr/share/man/man3/rm_stream_read.3.gz",
    ],
    "ringmaster": [
        "usr/bin/ringmaster",
        "usr/bin/ringmaster-server",
        "usr/lib/modprobe.d/ringmaster.conf",
        "usr/lib/ringmaster/python/click/__init__.py",
        "usr/lib/systemd/system/ringmaster@.service",
        "usr/lib/sysusers.d/ringmaster.conf",
        "usr/lib/tmpfiles.d/ringmaster.conf",
        "usr/lib/udev/rules.d/60-ringmaster.rules",
        "usr/libexec/ringmaster/feedback.so",
        "usr/libexec/ringmaster/libringmaster-twin.so",
        "usr/share/bash-completion/completions/ringmaster",
        "usr/share/man/man1/ringmaster-plan.1.gz",
        "usr/share/ringmaster/configs/demo.yaml",
        "usr/share/ringmaster/python/ringmaster/cli/main.py",
    ],
    "ringmaster-doc": ["usr/share/doc/ringmaster/docs/install.md", "usr/share/doc/ringmaster/README.md"],
}
"""Some files of each package, which no other may have."""

MISSING = without("dh", "dpkg-buildpackage")
pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Of this build; with one Python package of others, since all take the longest."""
    out = tmp_path_factory.mktemp("packages")
    yield make(out, VERSION, "quick")
    shutil.rmtree(out)


def contents(package: Path) -> set[str]:
    """The files of a package."""
    told = subprocess.check_output(["dpkg-deb", "--contents", package], text=True)
    names = (line.split(maxsplit=5)[5].split(" -> ")[0] for line in told.splitlines())
    return {name.removeprefix("./") for name in names if not name.endswith("/")}


def test_each_package_has_its_own_files(packages: dict[str, Path]) -> None:
    assert sorted(packages) == sorted(NAMES)
    all_of = {name: contents(packages[name]) for name in NAMES}
    for name, some in HOLDS.items():
        assert all_of[name].issuperset(some), set(some) - all_of[name]
    every = [file for files in all_of.values() for file in files]
    assert len(every) == len(set(every))
    assert all(file.startswith(("usr/bin", "usr/include", "usr/lib", "usr/share")) for file in every)


def test_packages_name_what_they_need(packages: dict[str, Path]) -> None:
    assert f"libringmaster1 (= {VERSION})" in depends(packages["libringmaster-dev"])
    needed = depends(packages["ringmaster"])
    assert f"libringmaster1 (= {VERSION})" in needed
    names = {word.split()[0] for word in needed}
    assert names.issuperset({"libc6", "librte-eal23", "librte-meta-net", "libyaml-0-2", "python3", "systemd"})
    assert "libyaml-0-2" in {word.split()[0] for word in depends(packages["libringmaster1"])}


def test_no_file_names_the_checkout(packages: dict[str, Path], tmp_path: Path) -> None:
    for name in ("libringmaster-dev", "ringmaster"):
        subprocess.run(["dpkg-deb", "--raw-extract", str(packages[name]), str(tmp_path / name)], check=True)
    found = subprocess.run(
        ["grep", "-rlIF", f"{ROOT}/", tmp_path], capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    assert found.stdout == ""
    for script in (tmp_path / "ringmaster/DEBIAN").glob("p*"):
        subprocess.run(["sh", "-n", script], check=True)
