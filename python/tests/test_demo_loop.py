# SPDX-License-Identifier: Apache-2.0
"""What the demo's loop is made from: its configurations fit together, and its report says what is wrong."""

import os
from dataclasses import replace
from pathlib import Path
from typing import cast

import fabric
import pytest
from conftest import MakeOwner
from ruamel.yaml import YAML

import ringmaster
from ringmaster.console.watch import Watch
from ringmaster.demo.closed import Closed
from ringmaster.places import CONFIGS
from ringmaster.programs.program import Program
from ringmaster.virtual import loop as virtual_loop
from ringmaster.virtual import rate as virtual_rate
from ringmaster.virtual.loop import Loop

GOOD = Closed(
    simulated_time=False,
    real_time_ratio=1.0,
    whole_share=1.0,
    turn_rate_hz=1.157e6,
    full_turn_rate_hz=1.157e6,
    cycle_hz=9642.0,
    bpms=336,
    actuators=529,
    state="on",
    why="",
    orbit_rms_um_open={"x": 40.0, "y": 42.0},
    orbit_rms_um_closed={"x": 17.0, "y": 13.0},
    motion_rms_um_open={"x": 20.0, "y": 36.0},
    motion_rms_um_closed={"x": 0.7, "y": 1.1},
    mains_50_hz_um_open={"x": 22.0, "y": 43.0},
    mains_50_hz_um_closed={"x": 0.4, "y": 0.6},
    attenuation_50_hz_db={"x": 34.0, "y": 37.0},
    steps=100_000,
    skipped=0,
    late=0,
    lost=0,
    skipped_turns=0,
    cycles=100_000,
    cycles_skipped=0,
    unanswered=0,
    refused=0,
    seconds=10.0,
)


def test_a_loop_that_is_on_and_attenuates_is_well() -> None:
    assert GOOD.faults == []
    assert GOOD.as_json()["attenuation_50_hz_db"] == {"x": 34.0, "y": 37.0}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (replace(GOOD, state="hold", why="no beam"), "the loop is hold, not on: no beam"),
        (replace(GOOD, lost=7), "7 records of instruments lost"),
        (replace(GOOD, attenuation_50_hz_db={"x": -3.0, "y": 37.0}), "does not attenuate 50 Hz in x: -3.0 dB"),
        (replace(GOOD, attenuation_50_hz_db={"x": 34.0, "y": float("nan")}), "does not attenuate 50 Hz in y"),
    ],
)
def test_faults_are_reported_in_words(wrong: Closed, words: str) -> None:
    assert words in "\n".join(wrong.faults)


def test_what_a_late_host_does_to_a_loop_in_real_time_is_no_fault_of_it() -> None:
    late = replace(GOOD, state="hold", attenuation_50_hz_db={"x": -3.0, "y": 37.0}, whole_share=0.8)
    assert late.host_was_late
    assert late.faults == []
    assert replace(late, lost=7).faults == ["7 records of instruments lost"]
    simulated = replace(late, simulated_time=True)
    assert not simulated.host_was_late
    assert len(simulated.faults) == 2


def test_the_matrix_has_the_names_of_the_servers_configuration(tmp_path: Path) -> None:
    """Every row is an input and every column a supply, so that the feedback starts."""
    from ringmaster.feedback.matrix import load_csv
    from ringmaster.machine.server_file import instruments, read_yaml, supplies

    matrix = load_csv(virtual_loop.make_matrix(tmp_path, virtual_loop.ELETTRA2))
    server = read_yaml(CONFIGS / "feedback.yaml")
    bpms = {name for name in instruments(server, "bpm") if name.startswith("bpm")}
    assert {row.partition("/")[0] for row in matrix.rows} == bpms
    operators = {"sr/ps/qf1_01", "sr/ps/qf1_02", "sr/ps/qd1_01", "sr/ps/qd1_02"}
    assert set(matrix.columns) == set(supplies(server)) - operators
    assert len(matrix.rows) == 336
    assert abs(matrix.values).max(axis=0).min() > 0


class Running:
    """Of a program, that it has not ended."""

    def check(self) -> None:
        """It has not."""


def test_a_console_lets_go_of_what_it_was_given_alone(make_owner: MakeOwner) -> None:
    """The loop is still looked at afterwards, and closed in the end."""
    make_owner()
    make_owner([fabric.counters("sender/bpm01", "sender", turns=7)], name="ring")
    program = cast(Program, Running())
    with ringmaster.attach("demo") as ws:
        loop = Loop(program, program, ws, 1e6)
        watch = Watch(loop.attach())
        make_owner(name="feedback")
        loop.follow()
        watch.close()
        assert loop.ws is not ws
        assert list(loop.ws.segments) == ["server", "feedback", "ring"]
        assert loop.turns() == 7
        loop.ws.close()


def delays(path: Path) -> list[float]:
    return [family["plant"]["delay_us"] for family in YAML(typ="safe").load(path)["families"]]


def test_every_plant_of_the_shipped_loops_gets_the_machines_own_delay(tmp_path: Path) -> None:
    for shipped in (virtual_loop.ELETTRA2, virtual_loop.ELETTRA):
        path = tmp_path / shipped.feedback
        path.write_text((CONFIGS / shipped.feedback).read_text())
        before = delays(path)
        virtual_rate.add_delay(path, 120.04)
        after = delays(path)
        assert after == pytest.approx([delay + 120.0 for delay in before], abs=0.06)


@pytest.mark.parametrize(("cores", "asked"), [(2, [("gain", virtual_loop.SHARED_GAIN)]), (16, [])])
def test_the_loop_is_gentle_where_cores_are_shared(
    cores: int, asked: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, float]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)))
    monkeypatch.setattr(Loop, "put", lambda _, name, value: said.append((name, value)))
    Loop.__new__(Loop).soften()
    assert said == asked


def test_what_is_under_way_is_not_lost_and_hides_no_loss(make_owner: MakeOwner) -> None:
    """Also where the host holds it up for longer than one looks."""
    sender = fabric.counters("sender/bpm", "sender", sent=100, turns=100)
    under_way = fabric.counters("stream/bpm01", "stream", accepted=90)
    lacks = fabric.counters("stream/bpm02", "stream", accepted=98, skipped=2)
    streams = [fabric.stream(f"bpm{number}/turn", capacity=64) for number in ("01", "02")]
    make_owner([*streams, sender, under_way, lacks])
    with ringmaster.attach("demo") as ws:
        nobody = cast(Program, None)
        assert Loop(nobody, nobody, ws, 1e6).lost() == 2
