# SPDX-License-Identifier: Apache-2.0
"""Archives that were cut, overwritten or mixed up: what is good is read, and the rest is named."""

import random
import uuid
from pathlib import Path

import numpy as np
import pytest
from archive_writer import ArchiveWriter
from archives import STREAM, add, simple
from command import ringmaster as ringmaster_command

import ringmaster
from ringmaster.fabric.window import ReadResult


def three_blocks(path: Path, sealed: bool) -> tuple[Path, list[int]]:
    """Turns 0–299 in three blocks: the file, and where they are."""
    file = ArchiveWriter(path).file("turns")
    number = file.describe(STREAM)
    offsets = [add(file, number, 100 * i, 100) for i in range(3)]
    return file.seal() if sealed else file.save(), offsets


def overwrite(file: Path, offset: int, what: bytes) -> None:
    data = bytearray(file.read_bytes())
    data[offset : offset + len(what)] = what
    file.write_bytes(data)


@pytest.mark.parametrize("sealed", [True, False])
def test_a_damaged_payload_costs_its_block(tmp_path: Path, sealed: bool) -> None:
    file, offsets = three_blocks(tmp_path / "archive", sealed)
    overwrite(file, offsets[1] + 1000, b"?")
    archive = ringmaster.Archive(tmp_path / "archive")
    window = archive["bpm01/turn"][0:300]
    wanted = ReadResult.DAMAGED if sealed else ReadResult.NOT_RECORDED
    assert (window.result == [ReadResult.OK] * 100 + [wanted] * 100 + [ReadResult.OK] * 100).all()
    assert (window["x1"][~window.ok] == 0).all()
    (damage,) = archive.damages
    assert (damage.path, damage.offset, damage.bytes) == (str(file), offsets[1], offsets[2] - offsets[1])
    assert archive["bpm01/turn"][0:300].ok.sum() == 200
    assert len(archive.damages) == 1
    told = ringmaster_command("archive", "get", str(tmp_path / "archive"), "bpm01/turn", "--from", "99").stdout
    why = "damaged" if sealed else "not recorded"
    assert [line.split(",")[3:5] for line in told.splitlines()[1:3]] == [["1", ""], ["0", why]]


@pytest.mark.parametrize("sealed", [True, False])
def test_a_damaged_header_costs_its_block(tmp_path: Path, sealed: bool) -> None:
    file, offsets = three_blocks(tmp_path / "archive", sealed)
    overwrite(file, offsets[1] + 20, b"?")
    archive = ringmaster.Archive(tmp_path / "archive")
    assert archive["bpm01/turn"][0:300].ok.sum() == 200
    assert [damage.offset for damage in archive.damages] == [offsets[1]]


def test_a_damaged_index_costs_nothing(tmp_path: Path) -> None:
    file, offsets = three_blocks(tmp_path / "archive", True)
    overwrite(file, offsets[2] + 64 + 6400 + 64 + 10, b"?")
    archive = ringmaster.Archive(tmp_path / "archive")
    assert not archive.files[0].sealed
    assert archive["bpm01/turn"][0:300].ok.all()
    assert [damage.what for damage in archive.damages] != []


def test_a_cut_file_is_read_up_to_the_cut(tmp_path: Path) -> None:
    file, offsets = three_blocks(tmp_path / "archive", True)
    file.write_bytes(file.read_bytes()[: offsets[2] + 500])
    archive = ringmaster.Archive(tmp_path / "archive")
    assert len(archive["bpm01/turn"][:]) == 200
    (damage,) = archive.damages
    assert (damage.offset, damage.bytes) == (offsets[2], 500)
    assert "cut" in damage.what


def test_what_an_older_file_left_behind_is_not_taken(tmp_path: Path) -> None:
    file, offsets = three_blocks(tmp_path / "archive", False)
    older = ArchiveWriter(tmp_path / "older").file("turns", 9)
    add(older, older.describe(STREAM), 300, 100)
    file.write_bytes(file.read_bytes() + older.data[4096:])
    archive = ringmaster.Archive(tmp_path / "archive")
    assert len(archive["bpm01/turn"][:]) == 300
    assert [damage.offset for damage in archive.damages] == [offsets[2] + 64 + 6400]


def test_a_block_without_description_is_named(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("turns")
    at = add(file, 5, 0, 100)
    add(file, file.describe(STREAM), 100, 100)
    file.save()
    archive = ringmaster.Archive(tmp_path / "archive")
    assert [(damage.offset, "description" in damage.what) for damage in archive.damages] == [(at, True)]
    assert archive["bpm01/turn"][:].ok.all()


def test_foreign_files_are_named_and_left_alone(tmp_path: Path) -> None:
    path = simple(tmp_path / "archive")
    other = ArchiveWriter(tmp_path / "other", uuid.UUID(int=8)).file("turns", 5)
    other.describe(STREAM)
    (path / "turns/0000000000000005.rmlog").write_bytes(other.data)
    (path / "turns/0000000000000006.rmlog").write_bytes(b"no log" * 1000)
    (path / "turns/0000000000000007.rmlog").write_bytes(b"no log")
    (path / "turns/0000000000000009.rmlog").write_bytes(b"")  # the recorder was killed when it had made them
    (path / "turns/0000000000000010.rmlog").write_bytes(bytes(8192))
    (path / "turns/0000000000000011.rmlog.new").write_bytes(b"half")
    (path / "turns/notes.txt").write_text("mine")
    newer = bytearray(other.data)
    newer[8] = 99
    (path / "turns/0000000000000008.rmlog").write_bytes(newer)
    archive = ringmaster.Archive(path)
    assert {Path(name).name: what for name, what in archive.foreign.items()} == {
        "0000000000000005.rmlog": "it is of another archive",
        "0000000000000006.rmlog": "it is no file of an archive",
        "0000000000000007.rmlog": "it is shorter than the header of a file of an archive",
        "0000000000000008.rmlog": "it is of another version of the archive",
        "notes.txt": "its name does not end in .rmlog",
    }
    assert archive["bpm01/turn"].records == 900


def test_what_events_keep_beside_their_logs_is_not_foreign(tmp_path: Path) -> None:
    path = simple(tmp_path / "archive")
    for name in (".lock", "EVENT/event.json", "EVENT/memory/1.h5", "EVENT/turns/notes.txt"):
        (path / "pinned" / name).parent.mkdir(parents=True, exist_ok=True)
        (path / "pinned" / name).touch()
    assert [Path(name).name for name in ringmaster.Archive(path).foreign] == ["notes.txt"]


def test_a_folder_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ringmaster.ArchiveAbsent, match="no file `archive`"):
        ringmaster.Archive(tmp_path / "empty")
    (tmp_path / "empty/notes").mkdir()
    (tmp_path / "empty/notes/notes.txt").touch()
    with pytest.raises(ringmaster.ArchiveError, match="there is no file `archive` and no log in it"):
        ringmaster.Archive(tmp_path / "empty")
    (tmp_path / "empty/archive").write_text("RMARCHIVE 99 00000000-0000-0000-0000-000000000007\n")
    with pytest.raises(ringmaster.ArchiveError, match="version 99"):
        ringmaster.Archive(tmp_path / "empty")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ringmaster.ArchiveAbsent, match="shorter than the header"):
        ringmaster.Archive(tmp_path / "text")


@pytest.mark.parametrize("sealed", [True, False])
def test_no_damage_gives_a_wrong_value(tmp_path: Path, sealed: bool) -> None:
    file, _ = three_blocks(tmp_path / "archive", sealed)
    whole = file.read_bytes()
    dice = random.Random(4)
    for _ in range(60):
        bad = bytearray(whole[: dice.choice([len(whole), dice.randrange(4096, len(whole))])])
        for _ in range(dice.randrange(4)):
            at, size = dice.randrange(len(bad)), dice.choice([1, 8, 64, 700])
            bad[at : at + size] = dice.randbytes(len(bad[at : at + size]))
        file.write_bytes(bad)
        try:
            archive = ringmaster.Archive(file)
        except ringmaster.ArchiveError:
            continue
        for stream in archive.streams:
            window = stream[:]
            assert (window["x1"][window.ok] == 7 * window.turn[window.ok].astype(np.int64)).all()


def test_archives_of_version_1_are_read(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive", version=1).file("turns")
    add(file, file.describe(STREAM), 0, 100)
    file.seal()
    assert file.data[8] == 1
    archive = ringmaster.Archive(tmp_path / "archive")
    assert archive.foreign == {}
    assert archive["bpm01/turn"][:].ok.all()
