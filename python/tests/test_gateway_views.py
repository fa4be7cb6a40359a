# SPDX-License-Identifier: Apache-2.0
"""Names in other units, magnets of a lattice, and the turns after an injection, as a gateway's file asks for them."""

from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

import fabric
import numpy as np
import pytest
from conftest import MakeOwner

from ringmaster import Limits
from ringmaster.fabric.layout import ElementType
from ringmaster.fabric.owner import Owner
from ringmaster.gateways.gateway import Gateway
from ringmaster.gateways.point import Point, State
from ringmaster.gateways.rights import Client
from ringmaster.gateways.settings import Settings, read_settings
from ringmaster.gateways.tango_names import LEGAL
from ringmaster.gateways.views import View
from ringmaster.twin.elements import Kind
from ringmaster.twin.lattice import load_lattice
from ringmaster.twin.shipped import lattice_path

ROOT = Path(__file__).parents[2]
TWIN = ROOT / "configs/gateways/elettra2-tango.yaml"
ALICE = Client("", "10.1.0.7", "10.1.0.7", "TANGO")


@pytest.fixture(scope="module")
def shipped() -> dict[str, View]:
    """The views of the file that has the names of Elettra 2.0's twin, by name."""
    return {view.name: view for view in read_settings(TWIN).views}


# ---- views


def test_a_view_is_linear_both_ways_with_its_limits() -> None:
    view = View("a/b/c/d", of="x", scale=-2.0, offset=1.0, unit="rad")
    point = view.point(Point("", "x", np.dtype("f4"), unit="A", limits=Limits(control_low=-10, control_high=5)))
    assert (point.unit, point.dtype.str, point.limits.control_low) == ("rad", "<f8", -9.0)
    assert point.limits.control_high == 21.0
    assert view.state(State(3.0)).value == -5.0
    assert view.asked(-5.0) == 3.0
    assert np.array_equal(view.state(State(np.array([0.0, 1.0]))).value, [1.0, -1.0])  # type: ignore[arg-type]
    assert view.state(State("text")).value == "text"


def gateway_of(settings: Settings) -> Gateway:
    return Gateway(settings, "demo", LEGAL, lambda _: None)


def test_a_view_of_what_is_not_there_is_named_with_its_line(make_owner: MakeOwner, tmp_path: Path) -> None:
    make_owner([fabric.parameter("server/turn_rate_hz", np.array([1.0]), "Hz", ElementType.F64)])
    file = tmp_path / "gateway.yaml"
    file.write_text("views:\n  - {name: a/b/c/d, of: server/nothing}\n")
    with pytest.raises(ValueError, match=r"gateway.yaml:2:12: a/b/c/d is to show server/nothing, which is not there"):
        gateway_of(read_settings(file))


def test_a_view_that_clashes_is_refused(make_owner: MakeOwner, tmp_path: Path) -> None:
    make_owner([fabric.parameter("server/rate", np.array([1.0]), "Hz", ElementType.F64)])
    file = tmp_path / "gateway.yaml"
    file.write_text("views:\n  - {name: demo/server/server/Rate, of: server/rate}\n")
    with pytest.raises(ValueError, match="server/rate and server/rate would both be 'demo/server/server/Rate'"):
        gateway_of(read_settings(file))


class _Heard:
    """A sink, and what it was told."""

    def __init__(self, *wanted: str) -> None:
        self.wanted = set(wanted)
        self.told: list[tuple[str, object]] = []

    def offer(self, points: Mapping[str, Point]) -> None:
        """It takes any."""

    def show(self, point: Point, state: State) -> None:
        self.told.append((point.name, state.value))

    def flush(self) -> None:
        """It was told already."""


def test_who_looks_is_told_of_what_another_client_read_before(make_owner: MakeOwner, root: Path) -> None:
    make_owner([])
    owner = Owner("bump", str(root / "demo"), answers=False)
    current = owner.parameter("bump/current", 1.0, "A")
    with owner:
        views = "views: [{name: a/b/c/mA, of: bump/current, scale: 1000}]"
        gateway = gateway_of(read_text(root / "file.yaml", views))
        names = ("demo/application/bump/current", "a/b/c/mA")
        one, other = _Heard(*names), _Heard(*names)
        for sink in (one, other):
            gateway.add(sink)
        gateway.look()
        for value in (2.0, 3.0):
            current.value = value
            assert [gateway.state(name).value for name in names] == [value, 1000 * value]
            for _ in range(2):
                gateway.look()
        expected = [pair for value in (1.0, 2.0, 3.0) for pair in zip(names, (value, 1000 * value), strict=True)]
        assert sorted(one.told) == sorted(expected)
        assert one.told == other.told
        gateway.close()


def test_a_put_of_a_view_reaches_the_owner_in_its_unit(make_owner: MakeOwner, root: Path) -> None:
    make_owner([])
    over, ready = Event(), Event()
    asked: list[float] = []

    def serve() -> None:
        owner = Owner("bump", str(root / "demo"))
        owner.parameter("bump/current", 0.0, "A", writable=True)
        with owner:
            ready.set()
            while not over.is_set():
                asked.extend(float(request.values[0]) for request in owner.serve(timeout=0.02))

    thread = Thread(target=serve)
    thread.start()
    assert ready.wait(60)
    try:
        settings = read_text(
            root / "file.yaml",
            'puts: [{to: "*"}]\nviews:\n'
            "  - {name: a/b/c/kick, of: bump/current, scale: 1.0e-5, offset: 1, unit: rad}\n"
            "  - {name: a/b/c/design, value: 1, unit: rad}\n",
        )
        gateway = gateway_of(settings)
        done: list[str] = []
        for name, value in (("a/b/c/kick", 1.00002), ("a/b/c/design", 2.0)):
            told: SimpleQueue[str] = SimpleQueue()
            gateway.put(name, value, ALICE, told.put)
            done.append(told.get(timeout=60))
        assert done == ["", "a/b/c/design: it is a reading, which nothing sets"]
        assert asked == [pytest.approx(2.0)]
        assert gateway.state("a/b/c/kick").value == pytest.approx(1.00002)
        assert gateway.state("demo/application/bump/current").value == pytest.approx(2.0)
        gateway.close()
    finally:
        over.set()
        thread.join()


def read_text(file: Path, text: str) -> Settings:
    file.write_text(text)
    return read_settings(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("views: [{name: a}]", "expected one of `of`, a name of ours, and `value`, a number"),
        ("views: [{name: a, of: b, value: 1}]", "expected one of `of`"),
        ("views: [{name: a, of: b, scale: 0}]", "views[0].scale: 0, expected another number"),
        ("views: [{name: a, of: b, scale: much}]", "views[0].scale: 'much', expected a number"),
        ("injection: kick", "injection: 'kick', expected a mapping such as"),
        ("injection: {put: a, value: b}", "injection.turn: None, expected text"),
        ("properties: [{device: a/b/c, name: d}]", "properties[0].value: None, expected text"),
        ("magnets: {lattice: elettra2_like, sector: '(.)', device: d, families: [{family: q}]}", "elements: None"),
        ("magnets: {colour: red}", "there is no key 'colour'"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match="gateway.yaml") as told:
        read_text(tmp_path / "gateway.yaml", text)
    assert words in str(told.value)


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("{family: q, elements: XY_*}", "no element of elettra2_like is named XY_*"),
        ("{family: q, elements: D}", "is no magnet; of a corrector say rad_per_unit"),
        ("{family: q, elements: QF*, sets: a, relative_per_unit: 1}", "1 names for 48 magnets named QF*"),
        ("{family: q, elements: QF*, sets: 'a{element}'}", "expected one of rad_per_unit and relative_per_unit"),
        ("{family: q, elements: CS_*, sets: 'a{element}', rad_per_unit: 1}", "None, expected x or y"),
    ],
)
def test_families_that_do_not_fit_the_lattice_are_refused(tmp_path: Path, family: str, words: str) -> None:
    text = f"magnets:\n  lattice: elettra2_like\n  sector: '_S([0-9]+)_'\n  device: d\n  families:\n    - {family}\n"
    with pytest.raises(ValueError, match="gateway.yaml:6:") as told:
        read_text(tmp_path / "gateway.yaml", text)
    assert words in str(told.value)


# ---- the names of Elettra 2.0's twin


def test_the_shipped_file_names_all_magnets(shipped: dict[str, View]) -> None:
    devices = {name.rpartition("/")[0] for name in shipped if name.startswith("sr/magnet/")}
    families = [device.removeprefix("sr/magnet/").partition("_")[0] for device in devices]
    counts = {family: families.count(family) for family in sorted(set(families))}
    assert counts == {"ch": 264, "cv": 264, "qab": 96, "qd": 48, "qf": 48, "sd": 120, "sf": 72, "sh": 24}
    assert {f"sr/magnet/ch_s{sector:02}.{number:02}" for sector in range(1, 13) for number in range(1, 23)} <= devices


def test_correctors_stand_in_the_order_of_the_lattice(shipped: dict[str, View]) -> None:
    sets = [shipped[f"sr/magnet/ch_s01.{number:02}/Strength"].of for number in range(1, 5)]
    lattice = load_lattice(lattice_path("elettra2_like"))
    first = [name for name in lattice.names if name[:3] in ("CL_", "CF_", "CS_")][:4]
    assert [name[:2].lower() for name in first] == [name.removeprefix("sr/ps/")[:2] for name in sets]
    view = shipped["sr/magnet/cv_s01.01/Strength"]
    assert (view.of, view.scale, view.offset, view.unit) == ("sr/ps/cly_01/setpoint", 1.0e-5, 0.0, "rad")


def test_design_strengths_are_those_of_the_lattice(shipped: dict[str, View]) -> None:
    lattice = load_lattice(lattice_path("elettra2_like"))

    def integrated(name: str, order: int) -> float:
        return sum(float(it.PolynomB[order]) * float(it.Length) for it in lattice if name == it.FamName)

    for device, name, order in (("qf_s01.01", "QF1_S01_01", 1), ("sd_s01.01", "SD1_S01_01", 2)):
        design = shipped[f"sr/magnet/{device}/DesignStrength"]
        assert design.constant == pytest.approx(integrated(name, order))
    quadrupole = shipped["sr/magnet/qf_s01.01/Strength"]
    assert quadrupole.of == "machine/QF1_S01_01"
    assert quadrupole.state(State(0.01)).value == pytest.approx(1.01 * integrated("QF1_S01_01", 1))
    sextupole = shipped["sr/magnet/sd_s01.01/Strength"]
    assert sextupole.constant == pytest.approx(integrated("SD1_S01_01", 2))


def test_the_rf_of_the_shipped_file_is_that_of_the_lattice(shipped: dict[str, View]) -> None:
    cavities = [element for element in load_lattice(lattice_path("elettra2_like")) if element.kind == Kind.CAVITY]
    assert shipped["simulator/elettra2/sr/RfFrequency"].offset == pytest.approx(cavities[0].Frequency * 1e-6)
    assert shipped["simulator/elettra2/sr/RfVoltage"].scale == sum(it.Voltage for it in cavities) * 1e-6


# ---- injection


def test_mode_1_asks_for_an_injection_and_shows_its_turns(make_owner: MakeOwner, tmp_path: Path) -> None:
    """The owner says at which turn it was; the turns are shown when all of them have come."""
    server = make_owner(
        [
            fabric.parameter("server/rate", np.array([1.0]), "Hz", ElementType.F64),
            *(fabric.stream(f"{bpm}/turn", capacity=4096) for bpm in ("bpm01", "bpm02")),
        ]
    )
    for bpm in ("bpm01", "bpm02"):
        server.fill(f"{bpm}/turn", 0, 99)
    ring = Owner("ring", str(tmp_path / "demo"))
    event = ring.parameter("ring/event", "", writable=True, room=64)
    turn = ring.parameter("ring/event_turn", 0)
    settings = read_text(
        tmp_path / "file.yaml",
        'puts: [{to: "*"}]\nwindows: {records: 16}\n'
        'injection: {put: ring/event, value: "event: injection", turn: ring/event_turn}\n',
    )
    with ring:
        gateway = gateway_of(settings)

        def x() -> Any:
            return gateway.state("demo/application/injection/x")

        assert x().value[:, -1].tolist() == [99, 99]
        answered: list[str] = []
        gateway.put("demo/application/injection/mode", 1, ALICE, answered.append)
        while not answered:
            ring.serve(timeout=0.02)
        assert (answered, event.value) == ([""], "event: injection")
        assert x().value is None
        turn.value = 120
        for bpm in ("bpm01", "bpm02"):
            server.fill(f"{bpm}/turn", 0, 130)
        assert x().value is None
        for bpm in ("bpm01", "bpm02"):
            server.fill(f"{bpm}/turn", 0, 200)
        assert (x().value[0].tolist(), x().turn) == ([float(turn) for turn in range(120, 136)], 120)
        gateway.put("demo/application/injection/mode", 2, ALICE, answered.append)
        gateway.put("demo/application/injection/mode", 3, ALICE, answered.append)
        assert "expected 1 (turns after an injection) or 3" in answered[1]
        assert (answered[2], x().value[0, -1]) == ("", 200)
        gateway.close()
