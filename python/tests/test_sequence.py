# SPDX-License-Identifier: Apache-2.0
"""What people see of a file of sequences without a machine: its screen, errors and charts; and what a trace says."""

import json
import xml.etree.ElementTree as ElementTree
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from command import ringmaster

from ringmaster.places import CONFIGS, find_program
from ringmaster.sequence.course import columns_of, ended, marks_of, passages_of
from ringmaster.sequence.described import PROGRAM, SequenceErrors, SequenceFile, read_sequences, words_of
from ringmaster.sequence.layers import Arrow, lay_out
from ringmaster.sequence.names import WORDS, Cause
from ringmaster.sequence.names import words_of as words_of_cause

SHIPPED = CONFIGS / "sequence-elettra2.yaml"
NAMES = ("degauss", "injection_bump", "tune_knob", "bump_scan", "rf_sweep")
GOOD = """
inputs: [{name: x, lane: bpm01/raw.x1}]
variables: [{name: amplitude, value: 1, low: 0, high: 2, unit: A}]
counters: [{name: shot}]
supplies:
  - {name: ch, supplies: [sr/ps/ch_01], low: -5, high: 5}
  - {name: cv, supplies: [sr/ps/cv_01], low: -5, high: 5}
tables: [{name: hump, points: [0, 1.5, 1]}]
sequences:
  - name: cycle
    timeout_s: 10
    abort: home
    states:
      - name: up
        timeout_s: 1
        do: [{ramp: ch, to: amplitude, in_s: 0.1}]
        then: [{when: x > 1e6, to: home}, {to: home}]
      - name: home
        timeout_s: 1
        do: [{ramp: ch, to: 0, in_s: 0.1}]
        then: [{to: finished}]
      - {name: finished, end: done}
"""
WRONG = [
    ("{name: finished, end: done}", "{name: finished, end: done}\n      - {name: lost, end: done}",
     'no way leads to the state "lost"'),
    ("then: [{to: finished}]", "then: [{to: up}]", 'no way leads from the state "home" to an end'),
    ("    timeout_s: 10\n", "    # none\n", None),
    ("to: amplitude, in_s: 0.1}", "to: amplitude, in_s: 0.1}, {set: ch, to: 1}",
     "do[0] moves ch too, expected one action for a supply in a state"),
    ("to: amplitude,", "to: 3 * amplitude,", "it comes to 6 with amplitude = 2, expected -5 to 5"),
    ("to: amplitude,", "to: amplitud,", 'unknown name "amplitud" (did you mean "amplitude"?)'),
    ("ramp: ch, to: amplitude", "ramp: hc, to: amplitude", 'no group of supplies "hc" (did you mean "ch"?)'),
    ("{to: finished}", "{to: finish}", 'no state "finish" (did you mean "finished"?)'),
    ("ramp: ch, to: 0, in_s: 0.1", "let: shots, value: 1", 'no counter "shots" (did you mean "shot"?)'),
    ("x > 1e6", "x > > 1e6", 'character 5: found ">", expected a number or a name'),
    ("x > 1e6", "x + 1", "found a number, expected a condition"),
    ("x > 1e6", "amplitude > 3", "the condition is never true"),
    ("ramp: ch, to: 0, in_s: 0.1", "call: cycle", "expected no circle"),
    ("ramp: ch, to: 0, in_s: 0.1", "ramp: ch, to: 0", 'ramp needs the key "in_s"'),
    ("timeout_s: 10", "timeout: 10", 'unknown key "timeout"'),
]  # fmt: skip
"""What is changed, and what is said."""


@pytest.fixture(scope="module")
def shipped() -> SequenceFile:
    return read_sequences(SHIPPED)


def test_the_shipped_sequences_have_a_way_out_and_limits(shipped: SequenceFile) -> None:
    assert tuple(one.name for one in shipped.sequences) == NAMES
    for one in shipped.sequences:
        assert one.timeout_s is not None
        assert one.abort is not None
        assert {state.end for state in one.states} >= {"done", "failed"}
        for state in one.states:
            assert state.end or state.timeout_s is not None, (one.name, state.name)
    with pytest.raises(ValueError, match="no sequence 'degaus', expected one of: degauss, injection_bump"):
        shipped.sequence("degaus")
    with pytest.raises(ValueError, match="no variable 'hight', expected one of: amplitude"):
        shipped.variable("hight")


def test_check_is_one_screen_and_json() -> None:
    screen = ringmaster("sequence", "check", str(SHIPPED)).stdout
    for words in ("1 degauss, at most 300 s", "→ up when share * amplitude > 0.01", "end: failed", "-8 … 8",
                  "share ← 0.8 * share", "any of them aborts when sum < 1e5", "0.5 mm, -1 … 1"):  # fmt: skip
        assert words in screen
    assert max(map(len, screen.split("to think about")[0].splitlines())) <= 130
    compiled = json.loads(ringmaster("sequence", "check", str(SHIPPED), "--json").stdout)
    assert [one["name"] for one in compiled["sequences"]] == list(NAMES)


@pytest.mark.parametrize(("old", "new", "said"), WRONG, ids=lambda value: None if value is None else value[:24])
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, said: str | None, tmp_path: Path) -> None:
    path = tmp_path / "cycle.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    if said is None:
        read_sequences(path)
        return
    refused = ringmaster("sequence", "check", str(path), expect=1).stderr.splitlines()
    assert any(line.startswith(f"{path}:") and said in line for line in refused[:-1]), refused
    assert refused[-1].endswith(", listed above")
    assert json.loads(ringmaster("sequence", "check", str(path), "--json", expect=1).stdout)["error_count"] > 0
    with pytest.raises(SequenceErrors):
        read_sequences(path)


def test_a_state_needs_a_timeout_or_its_sequence_one(tmp_path: Path) -> None:
    path = tmp_path / "cycle.yaml"
    path.write_text(GOOD.replace("    timeout_s: 10\n", "").replace("        timeout_s: 1\n", "", 1))
    refused = ringmaster("sequence", "check", str(path), expect=1).stderr
    assert 'the state "up" has no timeout, expected timeout_s of it or of its sequence' in refused


def test_midway_is_remarked(tmp_path: Path) -> None:
    """A table that overshoots: where it goes is known when it goes."""
    path = tmp_path / "cycle.yaml"
    path.write_text(GOOD.replace("to: amplitude, in_s: 0.1}", "to: amplitude, in_s: 0.1, table: hump}"))
    assert "midway it may come to" in ringmaster("sequence", "check", str(path)).stdout


def test_a_file_that_is_none(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text("ports: []\n")
    assert "unknown key" in ringmaster("sequence", "check", str(path), expect=1).stderr
    assert "does not exist" in ringmaster("sequence", "check", str(tmp_path / "none.yaml"), expect=2).stderr
    assert find_program(PROGRAM)


@pytest.mark.parametrize("name", ["injection_bump", "rf_sweep"])
def test_a_chart_has_every_state_and_condition(name: str, shipped: SequenceFile, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / f"{name}.svg"
    assert str(path) in ringmaster("sequence", "plot", str(SHIPPED), name, "-o", str(path)).stdout
    root = ElementTree.parse(path).getroot()
    comments = path.read_text()  # letters are paths; each text stands beside them as a comment
    assert root.tag.endswith("svg")
    for state in shipped.sequence(name).states:
        assert f"<!-- {state.name} -->" in comments


def test_boxes_stand_apart_and_arrows_lead_from_edge_to_edge() -> None:
    sizes = {name: (40.0 + 3 * number, 20.0 + number) for number, name in enumerate("abcdefg")}
    pairs = [(pair[0], pair[1]) for pair in ("ab", "bc", "ca", "bd", "de", "eb", "ae", "ee", "fg")]
    arrows = [Arrow(source, target, (30.0, 10.0)) for source, target in pairs]
    made = lay_out(sizes, arrows)
    for one, other in combinations(sizes, 2):
        (x0, y0), (x1, y1) = made.boxes[one], made.boxes[other]
        apart = (
            abs(x0 - x1) >= (sizes[one][0] + sizes[other][0]) / 2
            or abs(y0 - y1) >= (sizes[one][1] + sizes[other][1]) / 2
        )
        assert apart, (one, other)
    assert made.boxes["a"][1] < made.boxes["b"][1] < made.boxes["d"][1] < made.boxes["e"][1]
    assert made.boxes["f"][0] > max(made.boxes[name][0] for name in "abcde"), "what is not joined stands beside"
    for number, (source, target) in enumerate(pairs):
        way = made.ways[number]
        assert abs(way[0][1] - made.boxes[source][1]) == pytest.approx(sizes[source][1] / 2)
        if source != target:
            assert abs(way[-1][1] - made.boxes[target][1]) == pytest.approx(sizes[target][1] / 2)
    assert all(0 <= x <= made.width and 0 <= y <= made.height for x, y in made.boxes.values())


def test_a_chart_without_need_has_no_crossing() -> None:
    """Two ways that part and meet again: the texts do not change sides."""
    sizes = dict.fromkeys("abcd", (40.0, 20.0))
    arrows = [Arrow(pair[0], pair[1], (30.0, 10.0)) for pair in ("ab", "ac", "bd", "cd")]
    made = lay_out(sizes, arrows)
    left = made.boxes["b"][0] < made.boxes["c"][0]
    assert (made.labels[0][0] < made.labels[1][0]) == left
    assert (made.labels[2][0] < made.labels[3][0]) == left


def trace(shipped: SequenceFile, *stays: tuple[str, int], cause: dict[int, Cause] | None = None) -> dict[str, object]:
    """A run of degauss in these states, for so many steps each; "" is none."""
    numbers = {state.name: state.number for state in shipped.sequence("degauss").states}
    state = np.concatenate([np.full(steps, numbers.get(name, 0)) for name, steps in stays])
    causes = np.zeros(len(state))
    for step, why in (cause or {}).items():
        causes[step:] = why
    return {
        "sequence": (state > 0) * 1.0,
        "state": state * 1.0,
        "depth": (state > 0) * 1.0,
        "result": state * 0.0,
        "cause": causes,
        "marks": np.cumsum(np.diff(state, prepend=0) > 0) * 1.0,
    }


def test_a_trace_says_which_states_and_why(shipped: SequenceFile) -> None:
    lanes = columns_of(trace(shipped, ("", 3), ("up", 10), ("down", 10), ("less", 2), ("up", 5), ("", 4)))  # type: ignore[arg-type]
    found = passages_of(shipped, lanes, 1000 + 120 * np.arange(len(lanes["state"])))
    assert [(one.state.name, one.steps, one.turn) for one in found] == [
        ("up", 10, 1360), ("down", 10, 2560), ("less", 2, 3760), ("up", 5, 4000)]  # fmt: skip
    assert [one.why for one in found] == ["begin", "done", "done", "share * amplitude > 0.01"]
    assert ended(lanes) == 30
    assert ended({"sequence": np.zeros(4)}) is None
    assert ended({"sequence": np.ones(4)}) is None
    assert [mark.step for mark in marks_of(shipped, lanes, np.arange(len(lanes["state"])))] == [3, 13, 23]


def test_a_trace_says_what_made_it_abort(shipped: SequenceFile) -> None:
    lanes = columns_of(
        trace(shipped, ("", 1), ("up", 5), ("back", 5), ("stopped", 1), ("", 1), cause={6: Cause.BEAM_LOST})  # type: ignore[arg-type]
    )
    found = passages_of(shipped, lanes, np.arange(len(lanes["state"])))
    assert [(one.state.name, one.why, one.is_way_out) for one in found] == [
        ("up", "begin", False), ("back", "the beam was lost", True), ("stopped", "done", False)]  # fmt: skip


def test_actions_are_told_in_words() -> None:
    assert words_of({"kind": "ramp", "supplies": "qf", "to": "base", "in_s": "0.5", "shape": "linear"}) == (
        "ramp qf to base in 0.5 s, linear"
    )
    assert words_of({"kind": "ramp", "supplies": "qf", "to": "base", "in_s": "t", "table": "hump"}) == (
        "ramp qf to base in t, by hump"
    )
    sine = {"kind": "excite", "supplies": "c", "amplitude": "0.1", "hz": "7", "in_s": "2", "ramp_s": 0.1}
    assert words_of(sine) == "excite c by 0.1 at 7 Hz for 2 s"
    assert words_of({"kind": "put", "put": "feedback/gain", "value": "0.5"}) == "put feedback/gain to 0.5"
    assert words_of({"kind": "call", "call": "cycle"}) == "call cycle"


def test_every_cause_has_words() -> None:
    assert set(WORDS) == set(Cause) - {Cause.NONE}
    assert words_of_cause(0) == ""
    assert words_of_cause(99) == "cause 99"


@pytest.mark.parametrize("given", ["qx", "qx=", "qx=much", "=1"])
def test_what_is_set_is_a_number(given: str) -> None:
    words = ("sequence", "simulate", str(CONFIGS / "sequence.yaml"), str(CONFIGS / "sequence-ring.yaml"), "tune_knob")
    assert "expected VARIABLE=NUMBER" in ringmaster(*words, "--set", given, expect=2).stderr
