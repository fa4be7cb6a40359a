# SPDX-License-Identifier: Apache-2.0
"""The TANGO gateway with a real TANGO database, and PyTango's client, which finds devices there."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import fabric
import numpy as np
import pytest
from gateway_clients import Program, program, wait_for
from tango_clients import code_of
from tango_database import TangoDatabase, tango_database

from ringmaster.fabric import layout
from ringmaster.fabric.layout import ElementType

pytest.importorskip("tango", reason="pytango is not installed: `make gateways` installs it")

FILE = """
every_ms: 20
names:
  - {match: "magnet/*", name: "sr/magnet/{1}/Strength"}
  - {match: "*", name: "{device}/{attribute}"}
properties:
  - {device: sr/magnet/ch_1, name: RingFile, value: ring.m}
"""
READS = """
database = tango.Database()
names = list(database.get_device_exported("sr/magnet/*").value_string)
print(names, [device(name).Strength for name in names], flush=True)
"""


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TangoDatabase]:
    """One for all tests."""
    with tango_database(tmp_path_factory.mktemp("tango")) as made:
        yield made


@pytest.fixture
def server(tmp_path: Path) -> Iterator[fabric.Owner]:
    """A workspace with two magnets."""
    magnets = [fabric.parameter(f"magnet/ch_{i}", np.array([float(i)]), "rad", ElementType.F64) for i in (1, 2)]
    made = fabric.Owner(tmp_path / "demo", magnets)
    yield made
    made.die()


def environment(database: TangoDatabase, folder: Path) -> dict[str, str]:
    return os.environ | {"RINGMASTER_WORKSPACES": str(folder), "TANGO_HOST": database.host, "PYTHONUNBUFFERED": "1"}


def gateway_of(folder: Path, *more: str, text: str = FILE) -> list[str]:
    file = folder / "gateway.yaml"
    file.write_text(text)
    words = ["gateway", "tango", str(file), "--address", "127.0.0.1", *more]
    return [sys.executable, "-m", "ringmaster", *words]


def client(code: str) -> list[str]:
    return [sys.executable, "-c", code_of("%s", code)]


def said(code: str, variables: dict[str, str]) -> str:
    """What a client says to its end."""
    with program(client(code), variables) as running:
        running.process.wait()
    assert running.process.returncode == 0, running.text
    return running.text


def test_devices_are_found_in_the_database_and_leave_it(
    database: TangoDatabase, server: fabric.Owner, tmp_path: Path
) -> None:
    variables = environment(database, tmp_path)
    with program(gateway_of(tmp_path), variables) as gateway:
        gateway.wait_for("2 devices with 2 attributes of demo, read-only; Ringmaster/demo in the database of")
        assert said(READS, variables) == "['sr/magnet/ch_1', 'sr/magnet/ch_2'] [1.0, 2.0]"
        code = 'print(device("sr/magnet/ch_1").get_property("RingFile"), device("sr/magnet/ch_1").info().dev_class)'
        assert said(code, variables) == "{'RingFile': ['ring.m']} Ringmaster"
        code = 'print(list(tango.Database().get_device_attribute_property("sr/magnet/ch_1", "Strength")["Strength"]))'
        assert said(code, variables) == "[]"  # no unit is written there for good
    assert gateway.process.returncode == 0, gateway.text
    assert said(READS, variables) == "[] []"


def test_devices_that_are_not_any_more_leave_the_database(
    database: TangoDatabase, server: fabric.Owner, tmp_path: Path
) -> None:
    variables = environment(database, tmp_path)
    for text, names in ((FILE, ["ch_1", "ch_2"]), (FILE.replace("magnet/*", "magnet/ch_*"), ["1", "2"])):
        if "ch_*" in text:
            text = text.replace("sr/magnet/ch_1,", "sr/magnet/1,")
        with program(gateway_of(tmp_path, text=text), variables) as gateway:
            gateway.wait_for("2 devices")
            code = 'print(list(tango.Database().get_device_member("sr/magnet/*").value_string))'
            assert said(code, variables) == str(names)


def test_a_device_of_another_server_is_not_taken(database: TangoDatabase, server: fabric.Owner, tmp_path: Path) -> None:
    variables = environment(database, tmp_path)
    taken = """
info = tango.DbDevInfo()
info.name, info._class, info.server = "sr/magnet/ch_2", "Magnet", "Magnets/1"
tango.Database().add_device(info)
"""
    said(taken, variables)
    try:
        with program(gateway_of(tmp_path), variables) as gateway:
            gateway.process.wait()
        assert "sr/magnet/ch_2 is a device of Magnets/1 already; give it another name" in gateway.text
        assert gateway.process.returncode == 1
    finally:
        said('tango.Database().delete_device("sr/magnet/ch_2")', variables)


def test_a_database_that_is_not_there_is_named(tmp_path: Path, server: fabric.Owner) -> None:
    variables = os.environ | {"RINGMASTER_WORKSPACES": str(tmp_path), "TANGO_HOST": "127.0.0.1:1"}
    with program(gateway_of(tmp_path), variables) as gateway:
        gateway.process.wait()
    assert "the TANGO database (127.0.0.1:1) does not answer" in gateway.text
    assert "or serve without one by --port" in gateway.text
    assert gateway.process.returncode == 1


def test_a_database_that_goes_away_leaves_clients_and_is_found_again(
    database: TangoDatabase, server: fabric.Owner, tmp_path: Path
) -> None:
    """Of a client that is connected, reading and events go on; when it is there again, a new client finds devices."""
    variables = environment(database, tmp_path)
    code = """
magnet = device("sr/magnet/ch_1")
events = heard(magnet, "Strength")
print("first", magnet.Strength, flush=True)
wait_for(lambda: magnet.Strength == 5.0 and (5.0, "ATTR_VALID") in events)
print("second", magnet.Strength, flush=True)
"""
    with program(gateway_of(tmp_path), variables) as gateway:
        gateway.wait_for("2 devices")
        with program(client(code), variables) as connected:
            connected.wait_for("first 1.0")
            database.end()
            try:
                changed(server, "magnet/ch_1", 5.0)
                connected.process.wait()
                assert_said(connected, gateway, "second 5.0")
            finally:
                database.start()
        wait_for(lambda: said(READS, variables) == "['sr/magnet/ch_1', 'sr/magnet/ch_2'] [5.0, 2.0]", gateway.text)
        assert gateway.process.poll() is None


def changed(server: fabric.Owner, name: str, value: float) -> None:
    """The owner publishes another value, and counts the change."""
    server.set_values(name, np.array([value]).tobytes())
    server.set_word(name, layout.PARAMETER, "sequence", 2)


def assert_said(client: Program, gateway: Program, words: str) -> None:
    assert words in client.text, f"{client.text}\n{gateway.text}"
