# SPDX-License-Identifier: Apache-2.0
"""What a MAD-X file does before it is a lattice: conditions, loops, macros, and the editing of sequences.

The places of elements are MAD-X's own: cpymad says them again where it is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compare import elements, read
from library import ROOT

PROGRAM = ROOT / "twin/read/examples/program.madx"
ELEMENTS = """beam, particle = electron, energy = 1;
b: sbend, l = 1, angle = 0.1, e1 = 0.01, e2 = 0.02;  q: quadrupole, l = 0.4;  long: quadrupole, l = 1;
d: drift, l = 1.5;  m: marker;
"""
SEQUENCE = "s: sequence, l = 10; m, at = 1; q, at = 3; m, at = 5; m, at = 7; endsequence;\n"
BY_ENTRY = SEQUENCE.replace("l = 10;", "l = 10, refer = entry;")
INNER = """i: sequence, l = 2, refer = entry; q, at = 0.2; m, at = 1; endsequence;
s: sequence, l = 10; i, at = 3; b, at = 5; endsequence;
"""

Places = list[tuple[str, float]]
EDITS: dict[str, tuple[str, str, Places]] = {
    "remove the first": (SEQUENCE, "remove, element = m;", [("q", 2.8), ("m", 5), ("m", 7)]),
    "remove the second": (SEQUENCE, "remove, element = m[2];", [("m", 1), ("q", 2.8), ("m", 7)]),
    "move to": (SEQUENCE, "move, element = q, to = 8;", [("m", 1), ("m", 5), ("m", 7), ("q", 7.8)]),
    "move by": (SEQUENCE, "move, element = m[2], by = 0.5;", [("m", 1), ("q", 2.8), ("m", 5.5), ("m", 7)]),
    "move from": (SEQUENCE, "move, element = q, to = 1, from = m[3];", [("m", 1), ("m", 5), ("m", 7), ("q", 7.8)]),
    "install": (BY_ENTRY, "install, element = long, at = 8;",
                [("m", 1), ("q", 3), ("m", 5), ("m", 7), ("long", 8)]),
    "install from": (BY_ENTRY, "install, element = x, class = q, at = 0.5, from = m[2];",
                     [("m", 1), ("q", 3), ("m", 5), ("x", 5.5), ("m", 7)]),
    "install at all": (
        "select, flag = seqedit, class = marker; select, flag = seqedit, pattern = \"^Q$\";" + SEQUENCE,
        "install, element = x, class = m, at = 0.5, from = selected;",
        [("m", 1), ("x", 1.5), ("q", 2.8), ("x", 3.5), ("m", 5), ("x", 5.5), ("m", 7), ("x", 7.5)]),
    "remove all": ("select, flag = seqedit, class = marker;" + SEQUENCE, "remove, element = selected;", [("q", 2.8)]),
    "replace by entry": (BY_ENTRY, "replace, element = q, by = long;", [("m", 1), ("long", 3), ("m", 5), ("m", 7)]),
    "replace by centre": (SEQUENCE, "replace, element = q, by = long;", [("m", 1), ("long", 2.5), ("m", 5), ("m", 7)]),
    "reflect": (SEQUENCE, "reflect;", [("m", 3), ("m", 5), ("q", 6.8), ("m", 9)]),
    "reflect an inner one": (INNER, "reflect;", [("b", 4.5), ("q", 6.2), ("m", 7)]),
    "cycle": (SEQUENCE.replace("m, at = 5", "x: m, at = 5"), "flatten; cycle, start = x;",
              [("x", 0), ("m", 2), ("m", 6), ("q", 7.8)]),
    "a line": ("s: line = (d, b, q, d, m); use, sequence = s;", "remove, element = q;",
               [("d", 0), ("b", 1.5), ("d", 2.9), ("m", 4.4)]),
}  # fmt: skip


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "ring.madx"
    path.write_text(text)
    return path


def places(path: Path, **chosen: str) -> Places:
    """Names and begins of all but the drifts between."""
    s_m, found = 0.0, []
    for element in elements(read(path, **chosen)):
        if not element["name"].startswith("drift_"):
            found.append((element["name"].lower(), s_m))
        s_m += element["length_m"]
    return found


def edited(tmp_path: Path, name: str) -> Path:
    before, edits, _ = EDITS[name]
    text = f"{ELEMENTS}{before}\nseqedit, sequence = s;\n{edits}\nendedit;\nuse, sequence = s;\n"
    return write(tmp_path, text.replace("; ", ";\n"))


def assert_same_places(found: Places, expected: Places) -> None:
    assert [name for name, _ in found] == [name for name, _ in expected]
    np.testing.assert_allclose([s for _, s in found], [s for _, s in expected], atol=1e-12)


@pytest.mark.parametrize("name", EDITS)
def test_edits_a_sequence(name: str, tmp_path: Path) -> None:
    path = edited(tmp_path, name)
    assert_same_places(places(path), EDITS[name][2])
    assert sum(e["length_m"] for e in elements(read(path))) == pytest.approx(10 if name != "a line" else 4.4, abs=1e-12)


def madx_places(path: Path, sequence: str) -> Places:
    """By MAD-X itself."""
    madx: Any = pytest.importorskip("cpymad.madx").Madx(stdout=False)
    try:
        madx.call(str(path))
        madx.use(sequence)
        expanded = madx.sequence[sequence].expanded_elements
        names = [(e.name.split("[")[0], float(e.position)) for e in expanded if "$" not in e.name]
    finally:
        madx.quit()
    return [(name, s) for name, s in names if not name.startswith("drift_") and not name.endswith("_p_")]


@pytest.mark.parametrize("name", EDITS)
def test_edits_a_sequence_as_madx_does(name: str, tmp_path: Path) -> None:
    path = edited(tmp_path, name)
    assert_same_places(places(path), madx_places(path, "s"))


def test_divides_the_drifts_of_a_line(tmp_path: Path) -> None:
    """Which MAD-X refuses to do."""
    line = "s: line = (d, d, b);\nseqedit, sequence = s;\n"
    edits = "install, element = m, at = 0.5; install, element = q, at = 1.5; endedit;"
    found = elements(read(write(tmp_path, ELEMENTS + line + edits)))
    assert [e["name"] for e in found] == ["d", "m", "d", "q", "d", "b"]
    assert [e["length_m"] for e in found] == pytest.approx([0.5, 0.0, 0.8, 0.4, 1.3, 1.0], abs=1e-15)


def test_the_program_is_what_madx_makes_of_it() -> None:
    assert_same_places(places(PROGRAM), madx_places(PROGRAM, "ring"))


def test_runs_a_program() -> None:
    found = {e["name"]: e for e in elements(read(PROGRAM))}
    assert places(PROGRAM)[:4] == [("m2", 0), ("bpm", pytest.approx(0.1)), ("bend", pytest.approx(0.6)),
                                   ("qf.1", pytest.approx(2.45))]  # fmt: skip
    assert [found[f"qf.{i}"]["polynom_b"][1] for i in (1, 2, 3)] == pytest.approx([1.313, 1.326, 1.339], abs=1e-15)
    assert found["cav"]["frequency_hz"] == pytest.approx(4 * 299792458 / 12, rel=1e-6)


@pytest.mark.parametrize(
    ("program", "length"),
    [
        ("if (1 < 2) { x = 2; } else { x = 3; }", 2),
        ("if (1 > 2) { x = 2; } elseif (2 <> 2) { x = 3; } elseif (x >= 1) { x = 4; } else { x = 5; };", 4),
        ("if (x == 2 || x <= 1 && 3 > 2) { x = 6; }", 6),
        ("if ((x == 2 || x <= 1) && (3 < 2)) { x = 6; }", 1),
        ("while (x < 100) { x = 2 * x; if (x > 10) { x = x + 100; } }", 116),
        ("n = 3; i = 0; while (i < n) { i = i + 1; j = 0; while (j < i) { j = j + 1; x = x + 1; } }", 7),
        ("f(aa, bb): macro = { y.aa = bb; if (aa > 2) { x = y.aa; } }; exec, f(1, 5); exec, f(3, 2 * (1 + 2));", 6),
        ("f: macro = { x = x + 1; }; exec, f; exec, f();", 3),
        ("n0 = 3.9; f(zz): macro = { x = zz; }; exec, f($n0);", 3),
        ("f(zz): macro = { g.zz: macro = { x = zz; }; }; exec, f(8); exec, g.8;", 8),
        ('t = 0; if (t == 0) { title, "a } in quotes; /* and ! more"; x = 9; /* } */ } ! }', 9),
    ],
)
def test_conditions_loops_and_macros(program: str, length: float, tmp_path: Path) -> None:
    path = write(tmp_path, f"x = 1;\n{program}\ndd: drift, l = x; r: line = (dd); use, sequence = r;\n")
    assert [e["length_m"] for e in elements(read(path))] == [length]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1;\n\nwhile (x > 0) {\n x = x + 1;\n}\n", r"ring\.madx: line 3: .*have not ended.*WHILE"),
        ("f: macro = {\n exec, f;\n};\nexec, f;", "line 2: .* 64 deep"),
        ("x = 1;\nif (x = 1) { x = 2; }", 'line 2: "x = 1" is no comparison'),
        ("\nif (1 < 2) { x = 2; }; else { x = 3; }", "line 2: ELSE without an IF right before it"),
        ("\n\nwhile (1 < 2) { x = 1;", "line 3: the { of this WHILE is not closed"),
        ("\nexec, f(1);", "line 2: EXEC of f, which is no macro"),
        ("f(aa): macro = { x = aa; };\nexec, f(1, 2);", "line 2: macro f is given 2 arguments; expected 1"),
        ("seqedit, sequence = s;", "no line or sequence"),
        (ELEMENTS + SEQUENCE + "seqedit, sequence = s;\nremove, element = z;", r"line 6 \(remove\): z does not"),
        (ELEMENTS + SEQUENCE + "seqedit, sequence = s;\n", "ends between SEQEDIT and ENDEDIT"),
        (SEQUENCE + "move, element = q, by = 1;", "stands between SEQEDIT and ENDEDIT"),
        (ELEMENTS + SEQUENCE + "seqedit, sequence = s;\nmove, element = q, to = 9.9; endedit;", "begins 0.1 m before"),
        (ELEMENTS + SEQUENCE + "seqedit, sequence = s;\nmove, element = q;\nendedit;", "line 6 .*to = m is missing"),
    ],
)
def test_tells_what_is_wrong_with_a_program(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=words):
        read(write(tmp_path, text))


def test_names_the_file_that_is_called(tmp_path: Path) -> None:
    (tmp_path / "magnets.madx").write_text("\nq: quadrupole, l = 1, k1 := strength;\n")
    path = write(tmp_path, "call, file = magnets.madx;\n\n\nr: line = (q); use, sequence = r;\n")
    with pytest.raises(RuntimeError, match=r"magnets\.madx: line 2 \(q\): strength is not defined"):
        read(path)
