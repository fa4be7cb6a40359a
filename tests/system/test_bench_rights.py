# SPDX-License-Identifier: Apache-2.0
"""Benches of a person without rights: what needs none is measured, and of the rest it is said what it needs."""

import os
import subprocess
import sys

import pytest
from harness import NOBODY, RING_CORE, SERVER_CORE, ringmaster

pytestmark = [
    pytest.mark.usefixtures("root"),
    pytest.mark.skipif(RING_CORE == SERVER_CORE, reason="ONE CORE HERE: each end needs one"),
    pytest.mark.skipif(os.geteuid() != 0, reason="NOT ROOT HERE: rights that are not there cannot be taken away"),
]

SHORT = ("--rounds", "1", "--seconds", "0.2")


@pytest.fixture(autouse=True, scope="module")
def _readable() -> None:
    """A user without rights can read what is to be run."""
    done = subprocess.run([*NOBODY, sys.executable, "-c", "import ringmaster"], capture_output=True, check=False)
    if done.returncode != 0:
        pytest.skip("NOT READABLE HERE: this checkout is not for everybody")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("rtt", "--kinds", "raw", "--loads", "idle"),
            "raw: cannot make a network namespace: this needs CAP_NET_ADMIN",
        ),
        (("jitter", "--kinds", "udp", "--links", "1", "--instruments", "2", "--rate", "100"), "CAP_SYS_ADMIN, run as"),
        (("interval", "--kinds", "raw", "--rate", "100"), "CAP_SYS_ADMIN, run as root"),
        (("throughput", "--kinds", "raw", "--sizes", "64", "--senders", "1", "--mtu", "1500"), "run as root"),
    ],
)
def test_what_needs_rights_ends_with_the_rights_that_it_needs(words: tuple[str, ...], says: str) -> None:
    done = ringmaster("bench", *words, *SHORT, prefix=NOBODY, expect=1)
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_what_needs_none_is_measured() -> None:
    words = ("--kinds", "memif,raw", "--loads", "idle", "--rate", "500", *SHORT)
    said = ringmaster("bench", "rtt", *words, prefix=NOBODY).stdout
    assert "rtt_us.memif.idle" in said
    assert "note: raw, idle: not measured" in said
