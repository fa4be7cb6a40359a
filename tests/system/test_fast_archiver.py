# SPDX-License-Identifier: Apache-2.0
"""Live data of the fast-archiver gateway, by the client that its users have, and by the bytes; and what clients do."""

import json
import os
import signal
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest
from fa import falib
from fast_archiver import IDS, TURN_RATE_HZ, Gateway, Site, ends, exactly, frames_of, gateway, site
from harness import TIMEOUT_S, kill_at_once, server, terminate, wait_for
from numpy.typing import NDArray

from ringmaster.programs.program import Program
from ringmaster.values.time_format import tai_minus_utc_s

CLIENTS = 8
MANY = 1000
LINES = 400


@pytest.fixture(scope="module")
def live(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("fast-archiver"), f"clients: {CLIENTS}\nevent: 12\nname: demo\n") as found:
        yield found


def server_of(found: Gateway) -> falib.Server:
    return falib.Server("127.0.0.1", found.port)


def missing_records(found: Gateway) -> int:
    """Records that had not come when their frame was made."""
    return int(found.words("CS")[0].split()[3])


def assert_is_the_stream(live: Site, frames: NDArray[np.int32], rate: str, period: int) -> None:
    """Frames of ids 0, 1, 2, 11, 12 have the values of the streams, turn by turn. Zeros: what a starved host lost."""
    counter = frames[:, 0, 0, 0].astype(np.int64)
    assert (np.diff(counter) == 1).all()
    first = int(counter[0]) * period
    for column, (name, x, y) in enumerate(
        (("bpm01", "x1", "y1"), ("bpm02", "x1", "y1"), ("bpm01", "x2", "y2"), ("bpm02", "x2", "y2")), 1
    ):
        window = live.workspace.streams[f"{name}/{rate}"].read(first, len(frames))
        missing = ~window.ok | ~frames[:, column, 0].any(axis=1)
        assert missing.sum() <= missing_records(live.gateway)
        for plane, lane in enumerate((x, y)):
            away = frames[:, column, 0, plane] - window.values(lane)
            assert np.abs(away[~missing]).max() <= 0.5  # f32 to whole nm


@pytest.mark.parametrize(("options", "rate", "period"), [("", "turn", 1), ("U", "turn", 1), ("D", "fast", 12)])
def test_frames_are_the_records_of_the_streams(live: Site, options: str, rate: str, period: int) -> None:
    data = live.gateway.take(f"S0-2,11-12{options}", 1 + 300 * 40)
    assert data[:1] == b"\0"
    assert_is_the_stream(live, frames_of(data[1:], 5), rate, period)


@pytest.mark.filterwarnings("ignore:.*socket:pytest.PytestUnraisableExceptionWarning")  # it leaves a refused one open
def test_the_client_of_diamond_reads_all_there_is(live: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = falib.connection.__init__
    monkeypatch.setattr(begin, "__defaults__", (*begin.__defaults__[:-1], TIMEOUT_S))  # it would wait for 1 s
    found = server_of(live.gateway)
    assert abs(found.sample_frequency / TURN_RATE_HZ - 1) < 0.5
    assert (found.decimation, found.fa_id_count) == (12, 256)
    assert found.get_fa_ids() == [
        (0, "FRAME-COUNTER"),
        *((1, "bpm01/x1"), (2, "bpm02/x1"), (11, "bpm01/x2"), (12, "bpm02/x2")),
    ]
    assert found.get_fa_ids(stored=True) == []
    for decimated in (False, True):
        subscription = found.subscription([0, 12, 1, 2, 11], decimated=decimated, uncork=decimated)
        frames = np.concatenate([subscription.read(50) for _ in range(4)])
        subscription.close()
        assert_is_the_stream(live, frames[:, :, None, :], "fast" if decimated else "turn", 12 if decimated else 1)
    with pytest.raises(falib.connection.Error, match="Error parsing subscription"):
        found.subscription([300])


def test_the_first_frame_has_its_time_and_counter(live: Site) -> None:
    data = live.gateway.take("S0TZ", 21)
    now_us = time.time_ns() // 1000
    zero, time_us, id0, counter, _ = struct.unpack("<BQIii", data)
    assert zero == 0
    assert id0 == counter
    assert abs(now_us - time_us) < TIMEOUT_S * 1e6
    window = live.workspace.streams["bpm01/turn"].read(id0, 1)
    tai_ns = live.workspace.clock.read().tai_ns_at(int(window.tsc[0]))
    arrived_us = tai_ns // 1000 - tai_minus_utc_s() * 10**6
    assert abs(arrived_us - time_us) < TIMEOUT_S * 1e6


def test_blocks_have_their_times(live: Site) -> None:
    block = 128
    data = live.gateway.take("S0TEZ", 9 + 3 * (16 + 8 * block))
    assert struct.unpack("<BII", data[:9]) == (0, block, 0)
    begins = []
    for i in range(3):
        at = 9 + i * (16 + 8 * block)
        time_us, duration_us, id0 = struct.unpack("<QII", data[at : at + 16])
        counter = frames_of(data[at + 16 : at + 16 + 8 * block], 1)[:, 0, 0, 0]
        assert (counter == id0 + np.arange(block)).all()
        assert id0 % block == 0
        assert duration_us > 0
        begins.append(time_us)
    assert begins == sorted(set(begins))
    without = live.gateway.take("S0TE", 9 + 12 + 8 * block)
    assert frames_of(without[21:], 1)[0, 0, 0, 0] % block == 0


def test_what_the_gateway_is(live: Site) -> None:
    said = live.gateway.words("CVCKENdDSxI")
    assert said[:7] == ["1.1", "12", "256", "12", "demo", "64", "256"]
    assert len(said[7].split()) == 8
    assert said[8] == "Unknown command 'x'"
    assert any(line.endswith(": CVCKENdDSxI") for line in said[9:])
    assert live.gateway.words("CMT") == ["0" * 64, "No data in archive"]
    assert live.gateway.ask("C") == b""


def test_bad_lines_are_refused(live: Site) -> None:
    assert live.gateway.words("") == ["Invalid command"]
    assert live.gateway.words("GET / HTTP/1.0") == ["Invalid command"]
    assert live.gateway.words("x" * 5000) == ["Invalid command"]
    assert live.gateway.words("RFM1S1N1") == ["No archive"]
    for line, what in {
        "S": "subscription",
        "S1X": "subscription",
        "S1ZT": "subscription",
        "RFM1": "read request",
    }.items():
        (words,) = live.gateway.words(line)
        assert words.startswith(f"Error parsing {what}: "), words


def test_fuzzed_lines_do_no_harm(live: Site) -> None:
    random = Random(21)
    with live.gateway.connect("S0\n") as other:
        exactly(other, 1)
        for _ in range(LINES):
            good = random.choice(
                ["S0-2,11TEZUD", "RDDF15M1-2T2026-11-26T01:02:03.5ZE", "CFdDTUVMCSKENIL", "SR" + "f" * 64]
            )
            line = bytearray(good.encode())
            for _ in range(random.randrange(4)):
                line[random.randrange(len(line))] = random.choice(b"\0\r RSCTEZ019,-.\xff")
            with live.gateway.connect() as connection:
                connection.sendall(bytes(line) + b"\n")
                with suppress(ConnectionResetError):  # where the line ends before its end
                    connection.recv(100)
        exactly(other, 8 * TURN_RATE_HZ // 10)


def test_half_a_line_and_silence_are_closed(live: Site) -> None:
    for line in ("", "S0-", "CF"):
        with live.gateway.connect(line) as connection:
            assert connection.recv(10) == b"", line


def test_a_thousand_clients_do_no_harm(live: Site) -> None:
    with ExitStack() as stack:
        other = stack.enter_context(live.gateway.connect("S0\n"))
        exactly(other, 1)
        answers = [stack.enter_context(live.gateway.connect("S0-12\n")) for _ in range(MANY)]
        refused = 0
        for connection in answers:
            try:
                refused += connection.recv(17) == b"Too many clients\n"
            except ConnectionResetError:  # it had sent its line, which nobody has read
                refused += 1
        assert refused >= MANY - CLIENTS
        counter = frames_of(exactly(other, 8 * 500), 1)[:, 0, 0, 0]
        assert (np.diff(counter) == 1).all()
    wait_for(lambda: live.gateway.takes("S0"), "room for a client again")


def test_a_client_that_stops_reading_is_closed_and_slows_no_other(root: Path, tmp_path: Path) -> None:
    """Of one turn in a file of its own with many ids, whose kept seconds are over soon."""
    with site(tmp_path, "id_count: 1024\n") as found, found.gateway.connect() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(b"S0-1023\n")
        with found.gateway.connect("S0\n") as other:
            exactly(other, 1)
            counters = []
            while "is too slow, and was closed" not in found.gateway.running.words:
                counters.append(frames_of(exactly(other, 8 * 400), 1)[:, 0, 0, 0])
            assert (np.diff(np.concatenate(counters)) == 1).all()
        assert not any(line.endswith(": S0-1023") for line in found.gateway.words("CI"))


def test_a_server_that_goes_ends_subscriptions_and_one_that_comes_is_served(root: Path, tmp_path: Path) -> None:
    with site(tmp_path) as found:
        with found.gateway.connect("S0-2\n") as connection:
            exactly(connection, 1 + 24 * 10)
            kill_at_once(found.server.pid)
            assert ends(connection)
        wait_for(lambda: found.gateway.words("S0") == ["No data currently available"], "the gateway to see it")
        assert found.gateway.words("CV") == ["1.1"]
        with server(found.config):
            wait_for(lambda: found.gateway.takes("S0"), lambda: found.gateway.running.words)
            with found.gateway.connect("S0\n") as again:
                again.shutdown(socket.SHUT_WR)  # it has no more to say, and gets frames all the same
                counter = frames_of(exactly(again, 1 + 8 * 200)[1:], 1)[:, 0, 0, 0]
            assert (np.diff(counter) == 1).all()


def test_it_waits_for_a_server_and_ends_in_good_order(root: Path, tmp_path: Path) -> None:
    with gateway(tmp_path, "nowhere") as found:
        assert found.words("S1") == ["No data currently available"]
        assert found.words("CFV") == ["No data currently available", "1.1"]
        with found.connect("S"):
            assert terminate(found.running) == 0
        assert json.loads(found.running.words.splitlines()[-1])["accepted"] >= 2


def test_a_file_that_is_wrong_is_refused_with_all_that_is(root: Path, tmp_path: Path) -> None:
    config = tmp_path / "fast-archiver.yaml"
    config.write_text(f"workspace: x\naddress: nowhere\nid_count: 100\n{IDS}  - {{id: 2, instrument: bpm02}}\n")
    with Program("ringmaster-fast-archiver", "check", config) as program:
        assert program.wait(TIMEOUT_S) == 1
        assert 'found "nowhere", expected an IPv4 address' in program.words
        assert "found 100, expected a power of two" in program.words
    config.write_text(
        f"workspace: x\n{IDS}  - {{id: 2, instrument: bpm02}}\n  - {{id: 250, instrument: a, count: 9}}\n"
    )
    with Program("ringmaster-fast-archiver", "check", config) as program:
        assert program.wait(TIMEOUT_S) == 1
        assert "id 2 is that of an entry before, too" in program.words
        assert "ends at id 258, expected less than id_count, which is 256" in program.words


def test_a_stopped_gateway_harms_nobody(live: Site) -> None:
    """A client's data has a gap then, and it is closed; the server goes on."""
    with live.gateway.connect("S0\n") as connection:
        exactly(connection, 1)
        stream = live.workspace.streams["bpm01/turn"]
        os.kill(live.gateway.running.pid, signal.SIGSTOP)
        begin = stream.head
        assert begin is not None
        assert stream.wait(begin + 10, TIMEOUT_S)
        os.kill(live.gateway.running.pid, signal.SIGCONT)
        counter = frames_of(exactly(connection, 8 * 200), 1)[:, 0, 0, 0]
        assert (np.diff(counter) == 1).all()
