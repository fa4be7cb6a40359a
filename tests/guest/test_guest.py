# SPDX-License-Identifier: Apache-2.0
"""The guest itself: it boots, its shell answers, and what runs in it reaches no file of the host."""

from collections.abc import Iterator

import pytest
from guest import PAGES, Guest, Machine, guest
from initramfs import ROOT


@pytest.fixture(scope="module")
def booted() -> Iterator[Guest]:
    with guest(Machine()) as machine:
        yield machine


def test_its_shell_answers(booted: Guest) -> None:
    assert booted.run("hostname") == "guest"
    assert booted.run("echo one; false", expect=1) == "one"
    with pytest.raises(AssertionError, match="exit status 1: out of order"):
        booted.run("echo out of order; false")
    booted.write("/tmp/file", "two\nlines")
    assert booted.run("cat /tmp/file") == "two\nlines"


def test_it_has_an_iommu_and_huge_pages(booted: Guest) -> None:
    assert booted.run("ls /sys/kernel/iommu_groups")
    assert booted.run("cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages") == str(PAGES)


def test_it_runs_programs_of_this_checkout_and_writes_none(booted: Guest) -> None:
    assert "Read-only file system" in booted.run(f"touch {ROOT}/README.md", expect=1)
    assert booted.run(f"{ROOT}/build/libexec/ringmaster-server --help")
