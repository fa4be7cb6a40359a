# SPDX-License-Identifier: Apache-2.0
"""What is made of turns of recording that nobody measured: pairs, a verdict, and the words when there are none."""

import shutil
from pathlib import Path

import pytest

from ringmaster.bench.log import NotMeasured
from ringmaster.bench.record import Options, Record, Turn, fio_command, fio_of, ours_of
from ringmaster.report.verdicts import Headline


def made_of(*rates: tuple[float, float]) -> Record:
    """Of pairs: ours, direct, in bytes a second."""
    made = Record(Options())
    for ours, direct in rates:
        made.rows += [Turn("ours", ours, 0.4, 4 << 20), Turn("direct write", direct, 0.1, 4 << 20)]
    return made


def headline(made: Record, name: str) -> Headline:
    return next(one for one in made.headlines() if one.name == name)


def test_the_ratio_is_of_pairs() -> None:
    made = made_of((8e8, 1e9), (1e9, 2e9), (1.8e9, 2e9))
    ratio = headline(made, "ratio_to_direct_write")
    assert ratio.figure is not None
    assert ratio.figure.median == pytest.approx(0.8)
    assert ratio.verdict == "held"
    assert headline(made_of((7e8, 1e9)), "ratio_to_direct_write").verdict == "missed"


def test_a_peer_that_is_not_there_leaves_ours() -> None:
    made = Record(Options())
    made.rows = [Turn("ours", 1e9, 0.4, 4 << 20)]
    assert headline(made, "ratio_to_direct_write").verdict == "not measured"
    ours = headline(made, "ours_bytes_per_s").figure
    assert ours is not None
    assert ours.median == 1e9
    assert len(made.tables()) == 1


def test_nothing_is_nothing() -> None:
    made = Record(Options())
    assert made.is_empty()
    assert made.tables() == []


def test_fio_writes_as_we_do() -> None:
    words = fio_command(Path("/disk"), 2.0, 4 << 20, 1.048576e9)
    assert "--bs=4194304" in words
    assert "--fdatasync=100" in words  # 1 GiB/s in blocks of 4 MiB are 250 a second, and a sync is every 0.4 s
    assert "--direct=1" in words
    assert "--size=10000000000" in words
    assert not any("fixedbufs" in word for word in words)  # its syncs would be refused


def test_what_the_programs_say() -> None:
    ours = ours_of({"bytes": 4e9, "seconds": 2.0, "cpu_seconds": 1.0, "block_bytes": 4 << 20})
    assert (ours.bytes_per_s, ours.cores) == (2e9, 0.5)
    fio = fio_of({"jobs": [{"write": {"bw_bytes": 2e9}, "usr_cpu": 5.0, "sys_cpu": 2.0}]}, 1 << 20)
    assert (fio.bytes_per_s, fio.block_bytes) == (2e9, 1 << 20)
    assert fio.cores == pytest.approx(0.07)
    assert "2000 MB/s" in fio.words


def test_without_fio_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    made = Record(Options())
    made.folder = Path("/nowhere")
    with pytest.raises(NotMeasured, match="fio is not installed"):
        made.take("direct write")
