# SPDX-License-Identifier: Apache-2.0
"""`ringmaster record CONFIG --check`: all that a start of the recorder or of the watch would refuse."""

from pathlib import Path

import pytest
from harness import ringmaster

pytestmark = pytest.mark.usefixtures("root")

HEAD = "workspace: nowhere\ndirectory: {directory}\n"
GOOD = (
    "logs:\n  - {name: fast, streams: ['*/fast'], reduce: [{step: 100 ms}, {step: 1 s}, {step: 12000 turns}]}\n"
    "postmortem:\n  triggers:\n    - {kind: rule, rule: a < 1}\n"
)


def checked(folder: Path, rest: str, expect: int = 1, directory: str = "") -> str:
    """What is said of a file with this after its head: on standard error where it is refused."""
    (folder / "record.yaml").write_text(HEAD.format(directory=directory or folder / "archive") + rest)
    done = ringmaster("record", folder / "record.yaml", "--check", expect=expect)
    return done.stderr if expect else done.stdout


def test_a_good_file_is_told_and_nothing_is_made(tmp_path: Path) -> None:
    said = checked(tmp_path, GOOD, expect=0)
    assert "steps of 12000 turns" in said
    assert "rule" in said.splitlines()[-2]
    assert not (tmp_path / "archive").exists()


def test_what_is_wrong_with_logs_is_told_at_once(tmp_path: Path) -> None:
    said = checked(
        tmp_path,
        "logs:\n"
        "  - {name: fast, streams: ['*/fast'], reduce: [{step: 100 ms}, {step: 250 ms}, {step: 1 s}]}\n"
        "  - {name: fast-1s, streams: ['*/turn'], reduce: [{step: 90 turns}, {step: 60 turns}]}\n"
        "  - {name: a_name_of_very_many_letters, streams: ['*/turn'], reduce: [{step: 1000000 turns}]}\n",
    )
    for words in (
        'record.yaml:4:71: logs[0].reduce[1].step: found "250 ms", expected a multiple of the step before, "100 ms"',
        'record.yaml:5:12: logs[1].name: "fast-1s" is the name of the log of logs[0].reduce[2], too',
        'logs[1].reduce[1].step: found "60 turns", expected a multiple of the step before, "90 turns"',
        "is too long for the name of a log, expected at most 31 bytes",
    ):
        assert words in said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("{kind: rule, rule: a << 1}", "record.yaml:7:26: postmortem.triggers[0].rule: rule 'a << 1': at character 4"),
        ("{kind: rule}", "record.yaml:7:7: postmortem.triggers[0].rule: None, expected text"),
        ("{kind: server}\n  machine: gone.yaml", "record.yaml:8:12: postmortem.machine: there is no file"),
        ("{kind: server}\n  machine: record.yaml", "record.yaml: there is no key 'lattice'"),
    ],
)
def test_what_the_watch_refuses_is_refused(tmp_path: Path, wrong: str, words: str) -> None:
    assert words in checked(tmp_path, GOOD.replace("{kind: rule, rule: a < 1}", wrong))


def test_a_directory_that_cannot_be_an_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be made" in checked(tmp_path, GOOD, directory=str(tmp_path / "file/archive"))
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive/archive").write_text("RMARCHIVE 99 00000000-0000-4000-8000-000000000000\n")
    assert "is of version 99" in checked(tmp_path, GOOD)
