# SPDX-License-Identifier: Apache-2.0
"""Frames of cameras in files of others: what HDF5, an MCAP reader and tshark find is what was recorded."""

import base64
import json
import shutil
import subprocess
from pathlib import Path

import h5py
import hdf5plugin  # noqa: F401 readers of compressed files need it
import numpy as np
import pytest
from archive_writer import ArchiveWriter, Image
from archived_images import CAMERA, HEIGHT, MONO8, MONO12P, WIDTH, frame, packed, two_files, values
from archives import STREAM, add
from command import ringmaster
from mcap.reader import make_reader

from ringmaster.fabric.layout import TURN_NONE
from ringmaster.recordings.recording import read_recording

NUMBERS = [0, 1, 2, 3, 4, 7]
UTC_NS = 10**18 - 37 * 10**9


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(two_files(tmp_path / "archive"))


@pytest.mark.parametrize("compress", [[], ["--compress"]])
def test_hdf5_has_all_frames_unpacked(path: str, tmp_path: Path, compress: list[str]) -> None:
    said = ringmaster("archive", "export", path, "cam*", "-o", str(tmp_path / "out.nxs"), *compress)
    assert "6 frames of 1 camera\n" in said.stdout
    with h5py.File(tmp_path / "out.nxs") as file:
        data = file["cam01/images"]
        assert [file.attrs["NX_class"], file["cam01"].attrs["NX_class"], data.attrs["NX_class"]] == [
            *("NXroot", "NXentry", "NXdata")
        ]
        assert file[file.attrs["default"]].attrs["default"] == "images"
        pixels = data[data.attrs["signal"]]
        assert (pixels.shape, pixels.dtype) == ((6, HEIGHT, WIDTH), np.uint16)
        assert (pixels[:] == [values(number) for number in NUMBERS]).all()
        assert list(data["number"]) == NUMBERS
        assert list(data["turn"]) == [1000 * number for number in NUMBERS]
        assert list(data["utc"]) == [UTC_NS + number * 10**8 for number in NUMBERS]
        assert list(data["status"]) == [0, 0, 0, 1, 0, 0]
        assert list(data["missing"]) == [0, 0, 0, 1, 0, 0]
        assert (data.attrs["pixel_format"], data.attrs["bits"]) == ("Mono12p", 12)
        assert bool(compress) == bool(pixels._filters)
        detector = file["cam01/instrument/detector"]
        assert detector.attrs["NX_class"] == "NXdetector"
        assert detector["data"] == pixels


def test_hdf5_begins_another_group_where_the_geometry_changes(tmp_path: Path) -> None:
    file = ArchiveWriter(tmp_path / "archive").file("frames")
    camera = file.describe(CAMERA)
    frame(file, camera, 1)
    file.image(camera, Image(2, pixel_format=MONO8), bytes(range(32)))
    file.image(camera, Image(3, pixel_format=0), bytes(32))
    file.seal()
    said = ringmaster("archive", "export", str(tmp_path / "archive"), "cam01", "-o", str(tmp_path / "out.h5"))
    assert "2 frames of 1 camera; 1 frame of pixels that are not known left out" in said.stdout
    with h5py.File(tmp_path / "out.h5") as written:
        assert written["cam01/images/data"].shape == (1, HEIGHT, WIDTH)
        assert (written["cam01/images_2/data"][:] == np.arange(32).reshape(1, 4, 8)).all()
        assert written["cam01/images_2/data"].dtype == np.uint8
        assert list(written["cam01/images_2/turn"]) == [TURN_NONE]


def test_streams_and_frames_in_one_file(path: str, tmp_path: Path) -> None:
    file = ArchiveWriter(Path(path)).file("turns")
    add(file, file.describe(STREAM), 0, 100)
    file.seal()
    ringmaster("archive", "export", path, "*", "-o", str(tmp_path / "out.h5"))
    with h5py.File(tmp_path / "out.h5") as written:
        assert len(written["bpm01/turn/turn"]) == 100
        assert len(written["cam01/images/number"]) == 6
    (read,) = read_recording(tmp_path / "out.h5")
    assert read.name == "bpm01"


def test_an_mcap_reader_finds_every_frame(path: str, tmp_path: Path) -> None:
    said = ringmaster("archive", "export", path, "cam01", "-o", str(tmp_path / "out.mcap"))
    assert "6 frames of 1 camera\n" in said.stdout
    with (tmp_path / "out.mcap").open("rb") as file:
        found = list(make_reader(file).iter_messages(topics=["/cam01"]))
    assert len(found) == 6
    for (schema, channel, message), number in zip(found, NUMBERS, strict=True):
        assert schema is not None
        assert (schema.name, schema.encoding, channel.message_encoding) == ("foxglove.RawImage", "jsonschema", "json")
        assert message.log_time == UTC_NS + number * 10**8
        said_of = json.loads(message.data)
        assert set(said_of) == set(json.loads(schema.data)["properties"])
        assert (said_of["width"], said_of["height"], said_of["encoding"]) == (WIDTH, HEIGHT, "mono16")
        pixels = np.frombuffer(base64.b64decode(said_of["data"]), "<u2").reshape(HEIGHT, WIDTH)
        assert said_of["step"] == 2 * WIDTH
        assert (pixels == values(number)).all()
        assert (said_of["number"], said_of["turn"]) == (number, 1000 * number)
        assert (said_of["status"], said_of["missing"]) == (("incomplete", 1) if number == 3 else ("whole", 0))


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_the_packets(path: str, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    ringmaster("archive", "export", path, "cam01", "-o", str(out))
    names = ["_ws.malformed", "frame.time_epoch", "frame.interface_name", "gvsp.format", "gvsp.blockid64"]
    names += ["gvsp.packetid32", "gvsp.pixel", "gvsp.sizex", "gvsp.sizey", "gvsp.paddingx", "gvsp.payloaddata"]
    command = ["tshark", "-r", str(out), "-d", "udp.port==20202,gvsp", "-T", "fields", "-E", "occurrence=f"]
    command += ["-o", "ip.check_checksum:TRUE", *(word for name in names for word in ("-e", name))]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    packets = [dict(zip(names, line.split("\t"), strict=True)) for line in lines]
    assert all(not packet["_ws.malformed"] and packet["frame.interface_name"] == "cam01" for packet in packets)
    for number in NUMBERS:
        of_frame = [packet for packet in packets if int(packet["gvsp.blockid64"], 0) == number]
        leader, *payload, trailer = of_frame
        assert [int(packet["gvsp.format"], 0) & 0x7F for packet in of_frame] == [1, *(3 for _ in payload), 2]
        assert int(leader["gvsp.pixel"], 0) == MONO12P
        assert (int(leader["gvsp.sizex"]), int(leader["gvsp.sizey"]), int(leader["gvsp.paddingx"])) == (
            *(WIDTH, HEIGHT, 2),
        )
        seconds, _, rest = leader["frame.time_epoch"].partition(".")
        assert int(seconds) * 10**9 + int(rest[:9]) == UTC_NS + number * 10**8
        places = [int(packet["gvsp.packetid32"], 0) for packet in payload]
        assert (places, int(trailer["gvsp.packetid32"], 0)) == ([2] if number == 3 else [1, 2], 3)
        pixels, half = packed(values(number), 2), len(packed(values(number), 2)) // 2
        sent = b"".join(bytes.fromhex(packet["gvsp.payloaddata"].replace(":", "")) for packet in payload)
        assert sent == (pixels[half:] if number == 3 else pixels)


def test_what_is_refused(path: str, tmp_path: Path) -> None:
    there = tmp_path / "there.mcap"
    there.write_text("mine")
    for output, why in ((there, "not overwritten"), (tmp_path / "out.parquet", "expected one of .h5")):
        assert why in ringmaster("archive", "export", path, "cam01", "-o", str(output), expect=1).stderr
    assert there.read_text() == "mine"
    out = str(tmp_path / "out.h5")
    said = ringmaster("archive", "export", path, "cam01", "--from", "99999999", "-o", out, expect=1)
    assert "nothing was recorded in this span" in said.stderr
    assert not Path(out).exists()
    said = ringmaster("archive", "export", path, "cam01", "--live", "-o", out, expect=2)
    assert "leave out --step, --compress, and cameras" in said.stderr


def test_ls_shows_cameras(path: str) -> None:
    said = ringmaster("archive", "ls", path).stdout
    assert "frames 0–7" in said
    (camera,) = json.loads(ringmaster("archive", "ls", path, "--json").stdout)["cameras"]
    assert (camera["name"], camera["frames"], camera["last_number"]) == ("cam01", 6, 7)
    assert camera["first_utc_ns"] == UTC_NS
    assert json.loads(ringmaster("archive", "ls", path, "bpm*", "--json").stdout)["cameras"] == []
