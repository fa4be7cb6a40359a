# SPDX-License-Identifier: Apache-2.0
"""Measuring a response matrix: what is measured, what is said of it, and how it ends, without a machine."""

import os
import signal
import struct
from pathlib import Path

import fabric
import numpy as np
import pytest
from click.testing import CliRunner
from conftest import MakeOwner

from ringmaster import Workspace, attach
from ringmaster.cli.main import cli
from ringmaster.errors import ObjectNotFound
from ringmaster.fabric.layout import ElementType, InstrumentKind, LaneType, ParameterFlags, SupplyState
from ringmaster.feedback import by_hand, readings
from ringmaster.feedback.matrix import Matrix
from ringmaster.feedback.measured import Response, collect
from ringmaster.feedback.readings import Readings, mean_of_records
from ringmaster.moving import hand
from ringmaster.moving.follower import NotFollowed, wait_until
from ringmaster.moving.stopping import stopped_at_pauses

FREE = {"ps/h1": "A", "ps/v1": "A", "ps/rf": "Hz"}
OWNED = "ps/quad"
CYCLES = 1000
"""That a played server has sent in a second."""


def bpm(name: str, unit: str = "nm", period: int = 100, kind: InstrumentKind = InstrumentKind.BPM) -> fabric.Spec:
    lanes = [("x1", unit, LaneType.I32), ("y1", unit, LaneType.I32), ("sum1", "counts", LaneType.I32)]
    return fabric.stream(name, period=period, kind=kind, lanes=lanes, capacity=4096)


def supply(name: str, unit: str, owner: str) -> list[fabric.Spec]:
    flags = ParameterFlags.WRITABLE if owner == "operator" else 0
    zero = np.zeros(1)
    setpoint = fabric.parameter(f"{name}/setpoint", zero, unit, ElementType.F64, flags=flags)
    setpoint.description = f"sent to chain c, set by {owner}"
    return [setpoint, fabric.parameter(f"{name}/readback", zero, unit, ElementType.F64)]


def play(make_owner: MakeOwner, streams: list[fabric.Spec], supplies: dict[str, str] | None = None) -> fabric.Owner:
    """A server with these streams, supplies of the operator, and one of an application."""
    named = FREE if supplies is None else supplies
    specs = [
        fabric.parameter("server/turn_rate_hz", np.array([100_000.0]), "Hz", ElementType.F64),
        fabric.parameter("supply/state", np.zeros(len(named) + 1, np.uint32), "bits", ElementType.U32),
        fabric.text("supply/names", "\n".join([*named, OWNED])),
        fabric.counters("transmit", "transmit"),
        fabric.grant("operator", period_turns=100),
        *(spec for name, unit in named.items() for spec in supply(name, unit, "operator")),
        *supply(OWNED, "A", "ramp"),
        *streams,
    ]
    return make_owner(specs)


@pytest.fixture
def played(make_owner: MakeOwner) -> fabric.Owner:
    return play(make_owner, [bpm("bpm1/raw"), bpm("bpm2/raw")])


def measure(*options: str) -> str:
    """What the command says, which is to fail."""
    command = ["feedback", "matrix", "measure", "-w", "demo", "-o", "response.csv", *options]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code != 0
    return f"{done.output}{done.exception}"


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--amplitude", "0.1"], "ps/h1 is in A, ps/rf in Hz; say that of each, such as --amplitude ps/rf=0.1"),
        (["--amplitude", "ps/rf=100"], "--amplitude: none is said of ps/h1"),
        (["--amplitude", "0"], "found '0', expected a number above 0"),
        (["--amplitude", "ps/rf=many"], "found 'ps/rf=many', expected a number"),
        (["--amplitude", "1", "--amplitude", "2"], "more than one number stands alone"),
        (["--amplitude", "1", "--supplies", "ps/h1", "--rf", "ps/rf"], "ps/rf is none of the 1 supplies"),
        (["--amplitude", "1", "--sine", "8"], "the feedback makes the sine, and none runs"),
        (["--amplitude", "1", "--supplies", "ps/x*"], "'ps/x*' is no BPM reading and no supply"),
        (["--amplitude", "1", "--supplies", OWNED], "ps/quad is sent to chain c, set by ramp"),
        (["--amplitude", "1", "--supplies", "ps/h1", "--readings", "bpm9"], "'bpm9' is no BPM reading"),
    ],
)
def test_what_cannot_be_measured_is_reported_before_anything_moves(options: list[str], expected: str) -> None:
    assert expected in measure(*options)


def test_a_workspace_without_supplies_or_bpms_says_what_is_missing(make_owner: MakeOwner) -> None:
    play(make_owner, [])
    assert "needs `instruments` of kind bpm" in measure("--amplitude", "1", "--supplies", "ps/h1")
    make_owner([fabric.parameter("server/turn_rate_hz", np.ones(1), "Hz", ElementType.F64)], workspace="bare")
    with attach("bare") as ws, pytest.raises(ObjectNotFound, match="needs `chains`"):
        by_hand.choose(ws, ())


def test_a_loop_that_is_on_is_refused(make_owner: MakeOwner) -> None:
    play(make_owner, [bpm("bpm1/raw"), fabric.parameter("ramp/loop", np.ones(1), "", ElementType.F64)])
    assert "the loop of ramp is on" in measure("--amplitude", "1", "--supplies", "ps/h1")


@pytest.mark.usefixtures("played")
def test_supplies_are_the_operators(root: Path) -> None:
    with attach(str(root / "demo")) as ws:
        with pytest.raises(ValueError, match="ps/quad is not the operator's to move: it is sent to"):
            hand.refuse_owned(ws, OWNED)
        for free in FREE:
            hand.refuse_owned(ws, free)
        assert by_hand.choose(ws, ()) == (list(FREE), [OWNED])
        assert by_hand.choose(ws, ["ps/?1"]) == (["ps/h1", "ps/v1"], [])


def test_readings_are_those_of_most_bpms(make_owner: MakeOwner) -> None:
    photons = bpm("xbpm/raw", kind=InstrumentKind.PHOTON_BPM)
    play(make_owner, [bpm("bpm1/raw"), bpm("bpm2/turn", period=1), bpm("bpm3/raw"), photons])
    with attach("demo") as ws:
        found = readings.choose(ws, (), None)
        assert (found.rows, found.rate) == (("bpm1/x1", "bpm1/y1", "bpm3/x1", "bpm3/y1"), "raw")
        assert found.left_out == ("bpm2",)
        assert readings.choose(ws, ["bpm[12]/x1", "xbpm"], "raw").rows == ("bpm1/x1", "bpm2/x1", "xbpm/x1", "xbpm/y1")


def test_readings_of_two_periods_are_no_matrix(make_owner: MakeOwner) -> None:
    play(make_owner, [bpm("bpm1/raw"), bpm("bpm2/raw", period=10)])
    with attach("demo") as ws, pytest.raises(ValueError, match="bpm2/raw has a record every 10 turns"):
        Readings(ws, ("bpm1/x1", "bpm2/x1"), "raw")


def send(owner: fabric.Owner, name: str, head: int, until: int, x: int) -> None:
    """Records up to a turn, of one value."""
    for turn in range(head, until + 1, 100):
        owner.store(name, turn, struct.pack("<iii", x, -x, 0))
    owner.publish(name, until, 0)


def test_readings_are_in_nm_and_a_bpm_that_falls_silent_is_left_out(make_owner: MakeOwner) -> None:
    owner = play(make_owner, [bpm("bpm1/raw", "um"), bpm("bpm2/raw")])
    for name in ("bpm1/raw", "bpm2/raw"):
        send(owner, name, 0, 1000, 3)
    sent = [1000]

    def pause(_seconds: float) -> None:  # bpm2 does not send any more
        send(owner, "bpm1/raw", sent[0], sent[0] + 5000, 3)
        sent[0] += 5000

    with attach("demo") as ws:
        taken = Readings(ws, ("bpm1/x1", "bpm2/x1"), "raw", pause)
        _, values = taken.take(0.05, 0.0)
        np.testing.assert_array_equal(mean_of_records(values), [3000.0, np.nan])


def test_a_supply_that_stands_still_or_trips_does_not_follow(played: fabric.Owner, root: Path) -> None:
    with Workspace(root / "demo") as ws:
        one = ws.supplies["ps/h1"]

        def go_on(_seconds: float) -> None:
            played.set_counter("transmit", "cycles", ws.counters("transmit")["cycles"] + CYCLES)

        with pytest.raises(NotFollowed, match="its setpoint is 0 A, expected 2 A; .* by no more than 0.1 A in 10 s"):
            wait_until(ws, one, one.setpoint, 2.0, 0.1, go_on)
        assert ws.counters("transmit")["cycles"] > 10 * CYCLES  # in cycles: a host that is away is none of its faults
        played.set_values("supply/state", np.full(4, SupplyState.TRIPPED, np.uint32).tobytes())
        with pytest.raises(NotFollowed, match="the supply is tripped"):
            wait_until(ws, one, one.setpoint, 2.0, 0.1, go_on)


def test_columns_that_do_not_follow_and_rows_that_do_not_come_are_reported() -> None:
    def one(i: int) -> list[tuple[np.ndarray, float]]:
        if i == 1:
            raise NotFollowed("b: tripped")
        return [(np.array([1.0, np.nan, 3.0]), 0.5), (np.array([2.0, 5.0, 3.0]), 0.5)]

    found = collect(("p/x", "q/x", "r/x"), ("a", "b", "c"), one, lambda *_: None)
    assert (found.matrix.rows, found.matrix.columns) == (("p/x", "r/x"), ("a", "c"))
    assert (dict(found.refused), found.silent) == ({"b": "b: tripped"}, ("q/x",))
    np.testing.assert_allclose(found.matrix.values, np.array([[1.5, 1.5], [3.0, 3.0]]))
    np.testing.assert_allclose(found.error, np.array([[0.5, 0.5], [0.0, 0.0]]))
    with pytest.raises(RuntimeError, match="none of 1 supplies could be measured: b: tripped"):
        collect(("p/x",), ("b",), lambda _: one(1), lambda *_: None)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_at_a_pause_and_nowhere_else(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with stopped_at_pauses() as pause:
        pause(0)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        for _ in range(2):  # until it is left: what puts things back needs no second reason
            with pytest.raises(KeyboardInterrupt):
                pause(0)
    assert signal.getsignal(number) == before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_at_pauses() as pause:
            os.kill(os.getpid(), signal.SIGHUP)
            pause(0)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_one_average_has_no_standard_error_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    from ringmaster.cli.feedback_matrix_measure import _tell

    matrix = Matrix(("bpm1/x1",), ("ps/h1",), np.array([[1000.0]]))
    _tell(Response(matrix, np.array([[np.nan]]), 5.0), Path("made.csv"))
    assert (
        "RMS of elements 1000 nm per unit, standard error not known: it takes two --averages" in capsys.readouterr().out
    )
    _tell(Response(matrix, np.array([[2.0]]), 5.0), Path("made.csv"))
    assert "standard error 2 nm per unit; noise 5 nm" in capsys.readouterr().out
