# SPDX-License-Identifier: Apache-2.0
"""Whatever a host's files hold: the doctor says something of everything, and raises nothing."""

import gzip
from pathlib import Path

import pytest
from fake_host import PCI, host, perfect, write
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringmaster.doctor import cpu_list
from ringmaster.doctor.examine import NAMES, examine
from ringmaster.doctor.script import script
from ringmaster.doctor.uses import Use

PERFECT = perfect() | {"/proc/config.gz": gzip.compress(b"CONFIG_HZ=250\n")}
TOKENS = (
    "-1",
    "0",
    "4-7,",
    "7-4",
    "99999999999999999999",
    "0-8191",
    "[",
    "\0",
    "kB",
    ":",
    "nan",
    "²",
    "\n",
    "/../..",
    "'",
)
CONTENT = st.binary(max_size=64) | st.lists(st.sampled_from(TOKENS), max_size=4).map(
    lambda words: " ".join(words).encode()
)
NAMES_OF_FILES = st.dictionaries(st.sampled_from(sorted(PERFECT)), CONTENT, max_size=24)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(garbage=NAMES_OF_FILES, use=st.sampled_from(Use))
def test_garbage_in_any_file_raises_nothing(tmp_path: Path, garbage: dict[str, bytes], use: Use) -> None:
    if not (tmp_path / "proc").exists():
        write(tmp_path, PERFECT)
    try:
        write(tmp_path, garbage)
        findings = examine(host(tmp_path), use)
        assert sorted(finding.name for finding in findings) == sorted(NAMES)
        assert all(finding.is_now for finding in findings)
        assert all(line.isprintable() for line in script(findings, use).split("\n"))
    finally:
        write(tmp_path, {name: PERFECT[name] for name in garbage})


def test_a_folder_in_place_of_every_file_raises_nothing(tmp_path: Path) -> None:
    for name in PERFECT:
        (tmp_path / name.lstrip("/")).mkdir(parents=True)
    assert len(examine(host(tmp_path), Use.FEEDBACK)) == len(NAMES)


def test_an_interface_of_an_evil_name_gets_no_command(tmp_path: Path) -> None:
    write(tmp_path, PERFECT | {f"{PCI}/0000:82:00.0/net/eth1": None, f"{PCI}/0000:82:00.0/net/$(reboot)/mtu": "1500"})
    text = script(examine(host(tmp_path), Use.INGEST), Use.INGEST)
    assert all(line.startswith("#") for line in text.split("\n") if "reboot)" in line)


@settings(deadline=None)
@given(st.sets(st.integers(0, cpu_list.MOST - 1), max_size=50))
def test_a_list_of_cpus_is_read_as_it_was_written(cpus: set[int]) -> None:
    assert cpu_list.parse(cpu_list.write(cpus)) == tuple(sorted(cpus))


@pytest.mark.parametrize("text", ["x", "1-", "3-1", "-1", "9999", "1,,2", "0-3:1/2", "99999"])
def test_what_is_no_list_of_cpus_is_none(text: str) -> None:
    assert cpu_list.parse(text) is None
