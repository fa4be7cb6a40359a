# SPDX-License-Identifier: Apache-2.0
"""Questions to a small day of reductions: archive and h5py give the same answers, and figures are made of rounds."""

import json
from pathlib import Path

import h5py
import pytest
from command import ringmaster

from ringmaster.archive.archive import Archive
from ringmaster.bench.archive_day import write_day
from ringmaster.bench.archive_queries import ArchiveQueries, Options, Window, ask_archive, ask_hdf5, forget, questions
from ringmaster.report.verdicts import as_json


def test_both_give_the_same_answers(tmp_path: Path) -> None:
    day = write_day(tmp_path, 3, 1.5)
    forget(day.files)
    with Archive(day.archive) as archive, h5py.File(day.hdf5) as hdf5:
        assert not archive.damages
        asked = questions(day, 1.5, 50, seed=3)
        assert len({question.bpm for question in asked}) == 3
        for question in asked:
            assert ask_archive(archive, question) == ask_hdf5(hdf5, question)


def test_figures_are_those_of_the_peers() -> None:
    bench = ArchiveQueries(Options())
    bench.rows = [Window("archive", 0.01, 0.02 * i, 1.0) for i in (1, 2, 3)] + [Window("h5py", 0.02, 0.5, 1.0)]
    figures = as_json(bench.headlines())
    assert figures["query_p99_s"] == pytest.approx(0.04)
    assert figures["h5py_query_p99_s"] == 0.5


def test_it_runs_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ArchiveQueries, "probe", lambda _: None)
    words = ["--bpms", "2", "--hours", "0.2", "--rounds", "1", "--queries", "5", "--folder", str(tmp_path), "--json"]
    said = json.loads(ringmaster("bench", "archive", *words).stdout)
    assert [row["peer"] for row in said["data"]["windows"]] == ["archive", "h5py"]
    assert not said["notes"]
    assert not list(tmp_path.iterdir())
